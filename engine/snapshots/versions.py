"""Graph versions: which graph a commit had, and what differs between two. Files below ``.mog/versions`` that can be deleted.

Who calls: ``room``. What may not come in: the index, advice. A version is a line in a small file; of the newest ones the document is
kept too, compressed, under the digest of its facts. Both its arrays are in the order of ids, so two of them are compared like sorted
lists, line by line, in the memory of two lines.
"""

from __future__ import annotations

import gzip
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from mog.engine.errors import NotFound, StoreDamaged, UsageError
from mog.engine.snapshots.document import EDGES, NODES
from mog.engine.snapshots.model import Difference, Version
from mog.engine.snapshots.parts import Part
from mog.engine.store.private import private_folder, read_private, write_private

KEPT, MOST_BYTES = 8, 512 << 20
LEFT_BEHIND = 6 * 3600.0  # seconds after which a file that was never put in place is deleted
RECORDS = 1_000
EXAMPLES = 20
_LARGEST = 4 << 20  # bytes of the list of records
_LONGEST = 1 << 20  # bytes of one line of a document
_WAY_OUT = "delete .mog/versions: all of it is made again by `mog context snapshot`"
#: Where a node or edge stands; that alone is no change.
_PLACE = ("line", "end_line")


class Versions:
    """Recorded versions of one worktree."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> tuple[Version, ...]:
        """Every recorded version, the newest last. Raises StoreDamaged."""
        try:
            data = read_private(self._folder / "versions.json", _LARGEST)
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise _damaged(f"versions cannot be read: {error}", self._folder) from error
        try:
            rows = json.loads(data)
            names = {one.name for one in fields(Version)}
            found = [Version(**{name: value for name, value in row.items() if name in names}) for row in rows]
        except (ValueError, TypeError, AttributeError, RecursionError) as error:
            raise _damaged("the list of versions is of no known form", self._folder) from error
        return tuple(replace(one, kept=self._graph(one.facts_hash).is_file()) for one in found)

    def writer(self) -> Part:
        """Where the document of a new version goes while it is made. Raises StoreDamaged."""
        return Part(private_folder(self._folder, tighten=True) / "next.json.gz", packed=True)

    def record(self, version: Version, keeping: Part) -> Version:
        """Add a version, or renew the one of the same commit and facts; older documents give way. Raises StoreDamaged."""
        keeping.settle(self._graph(version.facts_hash))
        same = (version.commit, version.facts_hash, version.dirty)
        others = [one for one in self.all() if (one.commit, one.facts_hash, one.dirty) != same]
        rows = [*others, version][-RECORDS:]
        text = json.dumps([asdict(one) for one in rows], separators=(",", ":"))
        write_private(self._folder / "versions.json", text.encode())
        self._sweep(rows)
        return version

    def _sweep(self, rows: Sequence[Version]) -> None:
        """Delete documents past the newest ``KEPT``, or past ``MOST_BYTES`` together; the newest always stays."""
        order = list(dict.fromkeys(one.facts_hash for one in reversed(rows)))
        total = 0
        keep: set[str] = set()
        for facts_hash in order[:KEPT]:
            path = self._graph(facts_hash)
            total += path.stat().st_size if path.is_file() else 0
            if total <= MOST_BYTES or not keep:
                keep.add(path.name)
        for path in self._folder.glob("*.gz"):
            if path.name not in keep:
                path.unlink(missing_ok=True)
        for path in self._folder.glob(".*.part"):  # of a process that was ended
            if path.stat().st_mtime < time.time() - LEFT_BEHIND:
                path.unlink(missing_ok=True)

    def find(self, name: str) -> Version:
        """The newest version that a commit, a digest of facts, an identity or ``latest`` means. Raises NotFound, UsageError."""
        found = self.all()
        if name in ("latest", "now"):
            if found:
                return found[-1]
            raise NotFound("no version was recorded yet", way_out="run `mog context snapshot`")
        if len(name) < 4 or not all(char in "0123456789abcdef" for char in name.lower()):
            raise UsageError(
                f"{name!r:.80} names no version", way_out="a commit, a facts hash (4 digits or more), or latest"
            )
        wanted = name.lower()
        meant = [
            one
            for one in found
            if any(value.startswith(wanted) for value in (one.commit, one.facts_hash, one.identity_digest))
        ]
        if not meant:
            raise NotFound(f"no recorded version begins with {name!r:.80}", way_out="`mog context versions` lists them")
        if len({one.facts_hash for one in meant}) > 1 and len({one.commit for one in meant}) > 1:
            raise UsageError(f"{len(meant)} versions begin with {name!r:.80}", way_out="write more digits")
        return meant[-1]

    def compare(self, before: Version, after: Version) -> Difference:
        """What differs between two. Raises NotFound: a document was not kept. StoreDamaged."""
        examples: dict[str, list[str]] = {}
        nodes, edges = Counter(_ZERO), Counter(_ZERO)
        if before.facts_hash != after.facts_hash:
            with self._lines(before) as old, self._lines(after) as new:
                _merge(old.array(NODES), new.array(NODES), nodes, "nodes", examples)
                _merge(old.array(EDGES), new.array(EDGES), edges, "edges", examples)
        return Difference(before, after, nodes, edges, {name: tuple(lines) for name, lines in sorted(examples.items())})

    def _lines(self, version: Version) -> _Lines:
        path = self._graph(version.facts_hash)
        if not path.is_file() or path.is_symlink():
            way_out = f"check out {version.commit[:12] or 'it'} and run `mog context snapshot`"
            raise NotFound(
                "its nodes and edges were not kept", where=version.commit or version.facts_hash, way_out=way_out
            )
        return _Lines(path)

    def _graph(self, facts_hash: str) -> Path:
        safe = "".join(char for char in facts_hash if char in "0123456789abcdef")[:64]
        return self._folder / f"{safe or 'none'}.json.gz"


_ZERO = {"added": 0, "removed": 0, "changed": 0}


class _Lines:
    """A kept document, read once from front to back."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = gzip.open(path, "rb")  # noqa: SIM115 - closed by ``with``

    def __enter__(self) -> _Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def array(self, mark: str) -> Iterator[dict[str, Any]]:
        """The objects of one array, in order. Arrays are read in the order they stand in. Raises StoreDamaged."""
        try:
            yield from self._array(mark)
        except (OSError, EOFError, ValueError) as error:
            raise _damaged(f"a kept graph cannot be read: {error}", self._path) from error

    def _array(self, mark: str) -> Iterator[dict[str, Any]]:
        seen = False
        while line := self._file.readline(_LONGEST):
            text = line.decode("ascii").strip()
            if not seen:
                seen = text == mark
            elif text.startswith("]"):
                return
            elif text:
                row = json.loads(text.removesuffix(","))
                if not isinstance(row, dict):
                    raise ValueError("a line is no object")
                yield row
        raise ValueError("it ends inside of an array")


def _merge(
    old: Iterator[dict[str, Any]],
    new: Iterator[dict[str, Any]],
    counts: Counter[str],
    sort: str,
    examples: dict[str, list[str]],
) -> None:
    """Two sorted lists side by side: what only one has, and what both have and differs."""
    key, body = (_node_key, _node_body) if sort == "nodes" else (_edge_key, _edge_body)

    def told(change: str, row: dict[str, Any]) -> None:
        counts[change] += 1
        held = examples.setdefault(f"{sort}.{change}", [])
        if len(held) < EXAMPLES:
            held.append(_named(row))

    before, after = next(old, None), next(new, None)
    while before is not None or after is not None:
        if after is None or (before is not None and key(before) < key(after)):
            told("removed", before or {})
            before = next(old, None)
        elif before is None or key(after) < key(before):
            told("added", after)
            after = next(new, None)
        else:
            if body(before) != body(after):
                told("changed", after)
            before, after = next(old, None), next(new, None)


def _node_key(row: dict[str, Any]) -> tuple[str, ...]:
    return (str(row.get("node_id", "")),)


def _node_body(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in _PLACE}


def _edge_key(row: dict[str, Any]) -> tuple[str, ...]:
    # the order in which ``stream`` writes them; links of several tiers between the same two come one after the other
    return tuple(str(row.get(name, "")) for name in ("source_node_id", "target_node_id", "edge_type"))


def _edge_body(row: dict[str, Any]) -> object:
    return row.get("tier"), row.get("count")


def _named(row: dict[str, Any]) -> str:
    if "locator" in row:
        return str(row["locator"])
    return f"{row.get('source_node_id')} {row.get('edge_type')} {row.get('target_node_id')} ({row.get('tier')})"


def _damaged(what: str, where: Path) -> StoreDamaged:
    return StoreDamaged(what, where=str(where), way_out=_WAY_OUT)
