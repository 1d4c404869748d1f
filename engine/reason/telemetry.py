"""What walks did, counted: bounded, outside the durable events, and never invented. Called by whoever runs a walk.

What may not come in: events, clocks, anything that changes a later answer. Losing the file loses only counts. The numbers
are sums of what walks reported; a rate over nothing is None, never 0.

Which edges and nodes are walked most is kept in two tables of fixed size by Space-Saving (Metwally, Agrawal, El Abbadi,
ICDT 2005): a count may be too high by at most the ``over`` stated with it, and what is walked often is never missing.
"""

from __future__ import annotations

import heapq
import json
import os
import secrets
import stat
import threading
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mog.engine.errors import StoreDamaged

if TYPE_CHECKING:
    from mog.engine.reason.walks import Walk

MAX_BYTES = 256_000
MAX_HOPS = 32  # longer paths are counted as this long
KEPT_EDGES = 512
KEPT_NODES = 512
KEPT_WALKS = 64
KEPT_UNSAVED = 256  # walks that are counted anew on top of what another process saved
KEPT_KINDS = 64  # edge types that one ontology has room for
MAX_QUESTION = 200
_FORMAT = 1
_SUMS = ("walks", "resolved", "tokens_walked", "tokens_read")


@dataclass(frozen=True, slots=True)
class Busy:
    """One edge or node and how often it was walked; the true count is between ``count - over`` and ``count``."""

    id: str
    count: int
    over: int


@dataclass(frozen=True, slots=True)
class TelemetryReport:
    """Every number there is.

    Attributes:
        resolved_rate: share of walks that found an answer, None when nothing was asked.
        hop_histogram: hops → resolved walks. median_hops: upper median of it, None when nothing was resolved.
        dead_ends: reason → walks. traversals: edge type → edges walked.
        tokens_walked, tokens_read: of the answers, and of the whole sources they came from; over walks that say both.
        busiest_edges, busiest_nodes: most walked first.
        recent: (question, dead end or "", hops) of the last walks, oldest first.
        costs: (tokens walked, tokens of the whole sources) of the last walks that say both, oldest first.
    """

    walks: int
    resolved: int
    resolved_rate: float | None
    hop_histogram: Mapping[int, int]
    median_hops: int | None
    dead_ends: Mapping[str, int]
    traversals: Mapping[str, int]
    tokens_walked: int
    tokens_read: int
    busiest_edges: tuple[Busy, ...]
    busiest_nodes: tuple[Busy, ...]
    recent: tuple[tuple[str, str, int], ...]
    costs: tuple[tuple[int, int], ...] = ()


class SpaceSaving:
    """Counts of the most frequent of arbitrarily many keys, in ``room`` places. Not locked."""

    __slots__ = ("_counts", "_rarest", "_room")

    def __init__(self, room: int, rows: Iterable[tuple[str, int, int]] = ()) -> None:
        self._room = room
        self._counts: dict[str, tuple[int, int]] = {key: (count, over) for key, count, over in rows}
        self._rarest = [(count, key) for key, (count, _) in self._counts.items()]  # a heap; counts may lag behind
        heapq.heapify(self._rarest)

    def add(self, key: str) -> None:
        """Count ``key`` once; when there is no place for it, it takes that of the rarest and inherits its count."""
        known = self._counts.get(key)
        if known is not None:
            self._counts[key] = (known[0] + 1, known[1])
        elif len(self._counts) < self._room:
            self._counts[key] = (1, 0)
            heapq.heappush(self._rarest, (1, key))
        else:
            least = self._evict()
            self._counts[key] = (least + 1, least)
            heapq.heappush(self._rarest, (least + 1, key))

    def _evict(self) -> int:
        while True:
            said, key = heapq.heappop(self._rarest)
            count = self._counts[key][0]
            if count == said:
                del self._counts[key]
                return count
            heapq.heappush(self._rarest, (count, key))

    def most(self, limit: int) -> tuple[Busy, ...]:
        """The most frequent keys, ties by key."""
        rows = sorted(self._counts.items(), key=lambda item: (-item[1][0], item[0]))
        return tuple(Busy(key, count, over) for key, (count, over) in rows[:limit])

    def rows(self) -> list[tuple[str, int, int]]:
        """Every key with its count and how much of it is inherited, to be made again from."""
        return [(key, count, over) for key, (count, over) in self._counts.items()]

    def count(self, key: str) -> int:
        """The count of a key, an upper bound; 0 when it has no place."""
        return self._counts.get(key, (0, 0))[0]


class Telemetry:
    """Counts of walks, in memory and, with a path, in one small file. Safe from any thread.

    Attributes:
        lost: why an earlier file was not taken up; "" when it was, or there was none.
    """

    def __init__(self, path: Path | None = None) -> None:
        """``path`` is the file (``.mog/run/telemetry.json``); a file that cannot be believed is begun anew."""
        self._path = path
        self._lock = threading.Lock()
        self.lost = ""
        self._unsaved: deque[Walk] = deque(maxlen=KEPT_UNSAVED)
        self._stamp: tuple[int, int, int] | None = None
        self._clear()
        if path is not None:
            self._stamp = _stamp(path)
            try:
                self._take(_read(path))
            except StoreDamaged as error:
                self._clear()
                self.lost = str(error)

    def _clear(self) -> None:
        self._sums: dict[str, int] = dict.fromkeys(_SUMS, 0)
        self._hops: dict[int, int] = {}
        self._dead: dict[str, int] = {}
        self._kinds: dict[str, int] = {}
        self._edges = SpaceSaving(KEPT_EDGES)
        self._nodes = SpaceSaving(KEPT_NODES)
        self._recent: deque[tuple[str, str, int]] = deque(maxlen=KEPT_WALKS)
        self._costs: deque[tuple[int, int]] = deque(maxlen=KEPT_WALKS)

    def record(self, walk: Walk) -> None:
        """Count one walk: its outcome, and every edge and node of its path and tail."""
        with self._lock:
            self._add(walk)
            if self._path is not None:
                self._unsaved.append(walk)

    def _add(self, walk: Walk) -> None:
        reason, hops = str(walk.dead_end or ""), min(walk.hops, MAX_HOPS)
        self._sums["walks"] += 1
        if walk.resolved:
            self._sums["resolved"] += 1
            _count(self._hops, hops)
        if reason:
            _count(self._dead, reason, KEPT_KINDS)
        if walk.tokens_read > 0:
            self._sums["tokens_walked"] += walk.tokens_walked
            self._sums["tokens_read"] += walk.tokens_read
            self._costs.append((walk.tokens_walked, walk.tokens_read))
        for step in (*walk.path, *walk.tail)[: 2 * MAX_HOPS]:
            self._nodes.add(step.node)
            if step.edge:
                self._edges.add(step.edge)
                _count(self._kinds, step.kind, KEPT_KINDS)
        self._recent.append((walk.question[:MAX_QUESTION], reason, hops))

    def report(self, limit: int = 20) -> TelemetryReport:
        """Every number, with the ``limit`` most walked edges and nodes."""
        with self._lock:
            sums = self._sums
            return TelemetryReport(
                sums["walks"], sums["resolved"], sums["resolved"] / sums["walks"] if sums["walks"] else None,
                dict(sorted(self._hops.items())), _median(self._hops), dict(sorted(self._dead.items())),
                dict(sorted(self._kinds.items())), sums["tokens_walked"], sums["tokens_read"],
                self._edges.most(limit), self._nodes.most(limit), tuple(self._recent),
                tuple(self._costs),
            )  # fmt: skip

    def walked(self, node: str) -> int:
        """How often a node stood on a path; an upper bound, and 0 when it is not among the most walked."""
        with self._lock:
            return self._nodes.count(node)

    # -- the file

    def save(self) -> None:
        """Write the file, whole or not at all, readable by its owner alone, with what others saved meanwhile.

        Without a path this does nothing.

        Raises:
            StoreDamaged: it cannot be written.
        """
        if self._path is None:
            return
        with self._lock:
            self._join(self._path)
            body = self._body()
            try:
                _write(self._path, body)
                self._stamp = _stamp(self._path)
                self._unsaved.clear()
            except OSError as error:
                what, way_out = f"cannot be written ({error.strerror})", "check rights and free space"
                raise StoreDamaged(what, where=str(self._path), way_out=way_out) from error

    def _join(self, path: Path) -> None:
        """What another process saved meanwhile is taken up, and our walks since then are counted on top."""
        if _stamp(path) in (None, self._stamp):
            return
        try:
            found = _read(path)
            self._clear()
            self._take(found)
        except StoreDamaged as error:
            self._clear()
            self.lost = str(error)
        for walk in self._unsaved:
            self._add(walk)

    def _body(self) -> bytes:
        kept = KEPT_EDGES
        while True:
            body = json.dumps(self._content(kept), ensure_ascii=True, separators=(",", ":")).encode()
            if len(body) <= MAX_BYTES or kept == 0:
                return body
            kept //= 2  # ids of an imported graph may be long; the rarest go

    def _content(self, kept: int) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            **self._sums,
            "hops": sorted(self._hops.items()),
            "dead_ends": sorted(self._dead.items()),
            "kinds": sorted(self._kinds.items()),
            "edges": _kept(self._edges, kept),
            "nodes": _kept(self._nodes, kept),
            "recent": list(self._recent),
            "costs": list(self._costs),
        }

    def _take(self, data: Any) -> None:
        if data is None:
            return
        try:
            if data["format"] != _FORMAT:
                raise ValueError(f"format {data['format']!r}")
            self._sums = {name: _whole(data[name]) for name in _SUMS}
            self._hops = {_whole(hops): _whole(n) for hops, n in data["hops"]}
            self._dead, self._kinds = ({str(k): _whole(n) for k, n in data[name]} for name in ("dead_ends", "kinds"))
            self._edges = SpaceSaving(KEPT_EDGES, _rows(data["edges"], KEPT_EDGES))
            self._nodes = SpaceSaving(KEPT_NODES, _rows(data["nodes"], KEPT_NODES))
            self._recent.extend((str(q), str(reason), _whole(hops)) for q, reason, hops in data["recent"])
            costs = data.get("costs", ())  # younger than the form
            self._costs.extend((_whole(walked), _whole(read)) for walked, read in costs)
        except (KeyError, TypeError, ValueError) as error:
            raise StoreDamaged("counts of no known form", where=str(self._path), way_out="they begin anew") from error


def _kept(counts: SpaceSaving, most: int) -> list[tuple[str, int, int]]:
    found = counts.rows()
    return found if len(found) <= most else [(b.id, b.count, b.over) for b in counts.most(most)]


def _count(counts: dict[Any, int], key: Any, room: int = MAX_HOPS + 1) -> None:
    if key in counts or len(counts) < room:
        counts[key] = counts.get(key, 0) + 1


def _median(histogram: Mapping[int, int]) -> int | None:
    total, passed = sum(histogram.values()), 0
    for hops in sorted(histogram):
        passed += histogram[hops]
        if passed > total // 2:
            return hops
    return None


def _whole(value: object) -> int:
    if type(value) is not int or not 0 <= value < 2**53:
        raise ValueError(f"{value!r:.40} is no count")
    return value


def _rows(value: Any, room: int) -> list[tuple[str, int, int]]:
    return [(str(key), _whole(count), _whole(over)) for key, count, over in value[:room]]


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes about the file when somebody saves it; None when it is not there."""
    try:
        at = os.lstat(path)
    except OSError:
        return None
    return at.st_ino, at.st_mtime_ns, at.st_size


def _read(path: Path) -> Any:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise StoreDamaged("no plain file", where=str(path), way_out="remove it; the counts begin anew")
            body = file.read(MAX_BYTES + 1)
        found = json.loads(body) if len(body) <= MAX_BYTES else {}
        return {} if found is None else found
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise StoreDamaged("counts that cannot be read", where=str(path), way_out="they begin anew") from error


def _write(path: Path, body: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(body)
        os.replace(temporary, path)  # no sync: a power cut may cost counts, and nothing else
    finally:
        temporary.unlink(missing_ok=True)
