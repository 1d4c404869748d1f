"""Breadth-first closures over a snapshot's arrays: what is reached from some nodes, how far, and by which edge first.

Who calls: ``snapshot.CodeSnapshot`` and the networkx backend.
What may not come in: SQL, words for kinds (edges are bytes here), numpy at import.

Levels are made in plain Python while they are small and in numpy once they are large. Both name the same parent: of all
edges that reach a node first, the one from the smallest key, incoming before outgoing, then the smallest byte.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from mog.engine.errors import StoreDamaged
from mog.engine.store.schema import damaged

if TYPE_CHECKING:
    from mog.engine.store.csr import Rows

#: Levels wider than ``_WIDE`` go to numpy where it is loaded. It is loaded (a tenth of a second) for a level wider than
#: ``_WORTH_LOADING``, or once a process has walked so far in plain Python that it would have paid.
_WIDE, _WORTH_LOADING, _WORTH_BY_NOW = 192, 20_000, 60_000
_NEVER = (1 << 63) - 1
ALL = bytes([1]) * 256
NONE = bytes(256)


class Arrays(Protocol):
    """Rows of both directions, as memoryviews and as numpy arrays (``csr.Csr``, ``nx_snap.MemoryGraph``)."""

    @property
    def nodes(self) -> int:
        """Rows in each direction."""
        ...

    @property
    def outgoing(self) -> Rows:
        """Rows from tail to head."""
        ...

    @property
    def incoming(self) -> Rows:
        """Rows from head to tail."""
        ...

    def arrays(self) -> tuple[Rows, Rows]:
        """(outgoing, incoming) as numpy arrays."""
        ...


class Graph(Protocol):
    """What a closure needs: arrays, how many node keys there may be, and rows that differ from the arrays."""

    @property
    def csr(self) -> Arrays:
        """The arrays."""
        ...

    @property
    def size(self) -> int:
        """One more than the largest key there may be."""
        ...

    def changed(self, *, incoming: bool) -> frozenset[int]:
        """Nodes whose row differs from the arrays."""
        ...

    def row(self, node: int, *, incoming: bool) -> tuple[Any, Any]:
        """Other ends and edge bytes of a node."""
        ...


@dataclass(slots=True)
class Reach:
    """A raw closure: parallel lists up to the limit, in order of (depth, key); seeds are not in it.

    Attributes:
        steps: the byte of the edge each node was first reached by.
        backward: that edge was followed from head to tail.
        total: nodes reached, those past the limit included.
        per_depth: nodes reached at depth 1, 2, …
    """

    nodes: list[int]
    depth: list[int]
    via: list[int]
    steps: list[int]
    backward: list[bool]
    total: int
    per_depth: list[int]


def reach(
    graph: Graph,
    seeds: Iterable[int],
    *,
    out_mask: bytes,
    in_mask: bytes,
    max_depth: int | None = None,
    limit: int | None = None,
) -> Reach:
    """All nodes reached from ``seeds`` along the edges that the masks allow.

    Args:
        out_mask, in_mask: 256 bytes, non-zero where an outgoing or incoming edge of that byte may be followed.
        max_depth: hops at most; None follows to the end.
        limit: nodes named at most; all are counted.
    """
    walk = _Walk(graph, seeds, out_mask, in_mask)
    found = Reach([], [], [], [], [], 0, [])
    while walk.frontier_size and (max_depth is None or len(found.per_depth) < max_depth):
        room = None if limit is None else limit - len(found.nodes)
        level = walk.advance(parents=room is None or room > 0)
        if not level:
            break
        found.total += level
        found.per_depth.append(level)
        _record(found, walk, room)
    return found


def layers(graph: Graph, seeds: Iterable[int], *, out_mask: bytes, in_mask: bytes) -> Iterator[list[int]]:
    """Nodes at distance 0 (the seeds), 1, 2, …, each list ascending and none empty."""
    walk = _Walk(graph, seeds, out_mask, in_mask)
    while walk.frontier_size:
        yield walk.level(None)[0]
        walk.advance(parents=False)


def _record(found: Reach, walk: _Walk, room: int | None) -> None:
    if room is not None and room <= 0:
        return
    nodes, keys = walk.level(room)
    found.nodes += nodes
    found.depth += [len(found.per_depth)] * len(nodes)
    found.via += [key >> 9 for key in keys]
    found.steps += [key & 0xFF for key in keys]
    found.backward += [not key & 0x100 for key in keys]


def _numpy_pays(width: int) -> bool:
    if width <= _WIDE:
        return False
    return width > _WORTH_LOADING or _Walk.walked > _WORTH_BY_NOW or "numpy" in sys.modules


class _Walk:
    """State of one closure: nodes seen, and the current level either as Python lists or as numpy arrays.

    A key packs how a node was reached, ordered as the parent is chosen: parent << 9 | outgoing << 8 | byte.
    """

    #: Nodes this process has reached in plain Python.
    walked = 0

    def __init__(self, graph: Graph, seeds: Iterable[int], out_mask: bytes, in_mask: bytes) -> None:
        self._graph = graph
        self._masks = [(True, in_mask), (False, out_mask)]
        self._masks = [(incoming, mask) for incoming, mask in self._masks if any(mask)]
        self._seen = bytearray(graph.size)
        self._frontier: Any = sorted({seed for seed in seeds if 0 <= seed < graph.size})
        self._keys: Any = []
        self._numpy: _Wide | None = None
        for seed in self._frontier:
            self._seen[seed] = 1

    @property
    def frontier_size(self) -> int:
        return len(self._frontier)

    def level(self, room: int | None) -> tuple[list[int], list[int]]:
        """The nodes found last and their keys, ascending, at most ``room``."""
        nodes, keys = self._frontier[:room], self._keys[:room]
        return (nodes, keys) if isinstance(nodes, list) else (nodes.tolist(), keys.tolist())

    def advance(self, *, parents: bool) -> int:
        """Go one level on; how many nodes were new."""
        if _numpy_pays(len(self._frontier)):
            if self._numpy is None:
                self._numpy = _Wide(self._graph, self._seen, self._masks)
            self._frontier, self._keys = self._numpy.step(self._frontier, parents)
        else:
            if not isinstance(self._frontier, list):
                self._frontier = self._frontier.tolist()
            self._step()
            _Walk.walked += len(self._frontier)
        return len(self._frontier)

    def _step(self) -> None:
        best: dict[int, int] = {}
        try:
            for incoming, mask in self._masks:
                self._follow(best, incoming, mask)
        except IndexError as error:
            raise _outside() from error
        self._frontier = sorted(best)
        if best and self._frontier[0] < 0:
            raise _outside()
        self._keys = [best[node] for node in self._frontier]
        for node in self._frontier:
            self._seen[node] = 1

    def _follow(self, best: dict[int, int], incoming: bool, mask: bytes) -> None:
        """Note for every unseen node the smallest key that reaches it."""
        graph, seen, flag = self._graph, self._seen, 0 if incoming else 0x100
        rows = graph.csr.incoming if incoming else graph.csr.outgoing
        changed, known = graph.changed(incoming=incoming), graph.csr.nodes
        ptr, ends, steps = rows.ptr, rows.end, rows.byte
        for near in self._frontier:
            if near in changed or near >= known:
                row = zip(*graph.row(near, incoming=incoming), strict=True)
            else:
                start, stop = ptr[near], ptr[near + 1]
                if start == stop:
                    continue
                row = zip(ends[start:stop], steps[start:stop], strict=True)
            for far, step in row:
                if mask[step] and not seen[far]:
                    key = near << 9 | flag | step
                    if best.get(far, _NEVER) > key:
                        best[far] = key


def _outside() -> StoreDamaged:
    return damaged("an edge of the arrays leads outside of them", ".mog/csr")


class _Wide:
    """One level at a time in numpy. ``seen`` is shared with the Python steps, byte for byte."""

    def __init__(self, graph: Graph, seen: bytearray, masks: list[tuple[bool, bytes]]) -> None:
        import numpy as np

        self._np = np
        self._graph = graph
        self._seen = np.frombuffer(seen, dtype=np.uint8)
        self._best: Any = None
        outgoing, incoming = graph.csr.arrays()
        self._masks = [
            (backward, _booleans(mask), incoming if backward else outgoing, all(mask)) for backward, mask in masks
        ]

    def step(self, frontier: Any, parents: bool) -> tuple[Any, Any]:
        """New nodes and (with ``parents``) their keys, both ascending by node."""
        np = self._np
        near = np.asarray(frontier, dtype=np.int32)
        found = []
        for backward, mask, rows, everything in self._masks:
            plain, changed = self._split(near, backward)
            found.append(self._gather(plain, rows, mask, everything, backward, parents))
            found.append(self._gather_changed(changed, mask, backward))
        found = [(far, key) for far, key in found if len(far)]
        fresh = self._distinct([far for far, _ in found])
        self._seen[fresh] = 1
        return fresh, (self._smallest(fresh, found) if parents else fresh[:0])

    def _smallest(self, fresh: Any, found: list[tuple[Any, Any]]) -> Any:
        """The smallest key of each fresh node. In a part a node's keys ascend: written backwards, the first stays."""
        if self._best is None:
            self._best = self._np.empty(len(self._seen), dtype=self._np.int64)
        best = self._best
        best[fresh] = _NEVER
        for far, key in found:
            better = best[far] > key
            far, key = far[better][::-1], key[better][::-1]
            best[far] = key
        return best[fresh]

    def _split(self, near: Any, backward: bool) -> tuple[Any, list[int]]:
        """The frontier as nodes whose row stands in the arrays, and those whose row differs."""
        changed = self._graph.changed(incoming=backward)
        beyond = int(self._np.searchsorted(near, self._graph.csr.nodes))
        plain, others = near[:beyond], near[beyond:].tolist()
        if changed:
            differs = self._np.isin(plain, self._np.fromiter(changed, dtype=self._np.int32, count=len(changed)))
            if differs.any():
                others = [*plain[differs].tolist(), *others]
                plain = plain[~differs]
        return plain, others

    def _gather(
        self, near: Any, rows: Any, mask: Any, everything: bool, backward: bool, parents: bool
    ) -> tuple[Any, Any]:
        np = self._np
        starts = rows.ptr[near]
        counts = rows.ptr[near + 1] - starts
        total = int(counts.sum())
        if not total:
            return near[:0], None
        before = np.cumsum(counts, dtype=np.int32) - counts
        at = np.repeat(starts - before, counts)
        at += np.arange(total, dtype=np.int32)
        far = rows.end[at]
        keep = self._seen[far] == 0
        if not everything:
            keep &= mask[rows.byte[at]]
        kept = np.flatnonzero(keep)
        far = far[kept]
        if not parents:
            return far, None
        key = np.repeat(near, counts)[kept].astype(np.int64) << 9
        key |= rows.byte[at[kept]]
        if not backward:
            key |= 0x100
        return far, key

    def _gather_changed(self, near: list[int], mask: Any, backward: bool) -> tuple[Any, Any]:
        far: list[int] = []
        keys: list[int] = []
        flag = 0 if backward else 0x100
        for node in near:
            for other, step in zip(*self._graph.row(node, incoming=backward), strict=True):
                if mask[step] and not self._seen[other]:
                    far.append(other)
                    keys.append(node << 9 | flag | step)
        return self._np.array(far, dtype=self._np.int32), self._np.array(keys, dtype=self._np.int64)

    def _distinct(self, parts: list[Any]) -> Any:
        np = self._np
        if not parts:
            return np.empty(0, dtype=np.int32)
        if sum(map(len, parts)) * 16 < len(self._seen):
            return np.unique(np.concatenate(parts))
        marked = np.zeros(len(self._seen), dtype=bool)
        for part in parts:
            marked[part] = True
        return np.flatnonzero(marked).astype(np.int32)


def _booleans(mask: bytes) -> Any:
    import numpy as np

    return np.frombuffer(mask, dtype=np.uint8) != 0
