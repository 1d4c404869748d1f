"""A frozen directed graph for networkx: a snapshot of the index (or a converted graph) seen through a filter of edges.

Who calls: ``nx_backend``; panes and plug-ins through ``nx_backend.view``.
What may not come in: algorithms (``nx_backend``), mutation, node attributes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from typing import Any

from mog.engine.store import closure
from mog.engine.store.csr import Rows


class MemoryGraph:
    """Arrays of a graph that lives in memory only; rows keep the order they are given in."""

    def __init__(self, forward: Sequence[Sequence[int]], backward: Sequence[Sequence[int]]) -> None:
        self.nodes = self.size = len(forward)
        self.outgoing, self.incoming = _rows(forward), _rows(backward)

    @property
    def csr(self) -> MemoryGraph:
        return self

    def arrays(self) -> tuple[Rows, Rows]:
        return _numpy(self.outgoing), _numpy(self.incoming)

    def changed(self, *, incoming: bool) -> frozenset[int]:
        return frozenset()

    def row(self, node: int, *, incoming: bool = False) -> tuple[Any, Any]:
        rows = self.incoming if incoming else self.outgoing
        start, stop = rows.ptr[node], rows.ptr[node + 1]
        return rows.end[start:stop], rows.byte[start:stop]

    def alive(self, node: int) -> bool:
        return 0 <= node < self.nodes


def _rows(lists: Sequence[Sequence[int]]) -> Rows:
    pointers, ends = array("i", [0]), array("i")
    for row in lists:
        ends.extend(row)
        pointers.append(len(ends))
    return Rows(memoryview(pointers), memoryview(ends), memoryview(bytes(len(ends))))


def _numpy(rows: Rows) -> Rows:
    import numpy as np

    ends = np.frombuffer(rows.end, dtype=np.int32) if len(rows.end) else np.empty(0, dtype=np.int32)
    steps = np.frombuffer(rows.byte, dtype=np.uint8) if len(rows.byte) else np.empty(0, dtype=np.uint8)
    return Rows(np.frombuffer(rows.ptr, dtype=np.int32), ends, steps)


class Snap:
    """A read-only simple digraph: parallel edges are one. networkx functions the backend knows run on the arrays.

    ``G[n]``, ``successors``, ``predecessors``, ``in_degree`` and the like answer for one node at a time; a real
    networkx graph is made only of a bounded part (``CodeSnapshot.to_networkx``).
    """

    __networkx_backend__ = "mog"

    def __init__(self, graph: Any, mask: bytes = closure.ALL, labels: Sequence[Hashable] | None = None) -> None:
        """``graph``: a ``CodeSnapshot`` or ``MemoryGraph``. ``labels``: node of each key; without it keys are nodes."""
        self.source = graph
        self.mask = mask
        self.graph: dict[str, Any] = {}
        self._labels = labels
        self._index: dict[Hashable, int] | None = (
            None if labels is None else {label: key for key, label in enumerate(labels)}
        )
        self._keys: list[int] | None = None
        self._dense: tuple[Any, Any] | None = None

    # nodes

    def key(self, node: object) -> int | None:
        """Key of a node, None when it is not in the graph."""
        if self._index is not None:
            return self._index.get(node) if isinstance(node, Hashable) else None
        return node if isinstance(node, int) and self.source.alive(node) else None

    def label(self, key: int) -> Any:
        """Node of a key."""
        return key if self._labels is None else self._labels[key]

    def labels(self, keys: Iterable[int]) -> list[Any]:
        """Nodes of several keys."""
        known = self._labels
        return list(keys) if known is None else [known[key] for key in keys]

    def keys(self) -> list[int]:
        """Keys of all nodes, ascending."""
        if self._keys is None:
            self._keys = [key for key in range(self.source.size) if self.source.alive(key)]
        return self._keys

    def is_directed(self) -> bool:
        return True

    def is_multigraph(self) -> bool:
        return False

    def __contains__(self, node: object) -> bool:
        return self.key(node) is not None

    has_node = __contains__

    def __iter__(self) -> Iterator[Any]:
        return map(self.label, self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    number_of_nodes = order = __len__

    @property
    def nodes(self) -> Collection[Any]:
        return dict.fromkeys(self).keys()

    def nbunch_iter(self, nbunch: Any = None) -> Iterator[Any]:
        """Nodes of ``nbunch`` that are in the graph: all, one, or those of an iterable."""
        if nbunch is None:
            return iter(self)
        if nbunch in self:
            return iter([nbunch])
        return (node for node in nbunch if node in self)

    # edges

    def row(self, key: int, *, incoming: bool = False) -> list[int]:
        """Distinct keys on the other end of a node's edges, in the order of the row."""
        mask = self.mask
        ends, steps = self.source.row(key, incoming=incoming)
        return list(dict.fromkeys(end for end, step in zip(ends, steps, strict=True) if mask[step]))

    def _known(self, node: object) -> int:
        key = self.key(node)
        if key is None:
            import networkx as nx

            raise nx.NetworkXError(f"The node {node!r} is not in the digraph.")
        return key

    def successors(self, node: Any) -> Iterator[Any]:
        return iter(self.labels(self.row(self._known(node))))

    neighbors = successors

    def predecessors(self, node: Any) -> Iterator[Any]:
        return iter(self.labels(self.row(self._known(node), incoming=True)))

    def __getitem__(self, node: Any) -> dict[Any, dict[str, Any]]:
        if node not in self:
            raise KeyError(node)
        return {other: {} for other in self.successors(node)}

    def has_edge(self, tail: Any, head: Any) -> bool:
        start, end = self.key(tail), self.key(head)
        return start is not None and end is not None and end in self.row(start)

    @property
    def edges(self) -> Iterator[tuple[Any, Any]]:
        return ((self.label(key), other) for key in self.keys() for other in self.labels(self.row(key)))

    def number_of_edges(self, tail: Any = None, head: Any = None) -> int:
        if tail is not None:
            return int(self.has_edge(tail, head))
        return len(self.dense()[0])

    size = number_of_edges

    @property
    def in_degree(self) -> Degrees:
        return Degrees(self, lambda key: len(self.row(key, incoming=True)))

    @property
    def out_degree(self) -> Degrees:
        return Degrees(self, lambda key: len(self.row(key)))

    @property
    def degree(self) -> Degrees:
        return Degrees(self, lambda key: len(self.row(key)) + len(self.row(key, incoming=True)))

    def dense(self) -> tuple[Any, Any]:
        """All distinct edges as two int32 numpy arrays (tails, heads), sorted by tail and, within it, by head."""
        if self._dense is None:
            self._dense = _distinct_edges(self.source, self.mask)
        return self._dense


class Degrees:
    """``G.in_degree[n]``, ``G.in_degree(n)``, ``G.in_degree()`` as networkx has them."""

    def __init__(self, graph: Snap, count: Callable[[int], int]) -> None:
        self._graph = graph
        self._count = count

    def __getitem__(self, node: Any) -> int:
        key = self._graph.key(node)
        if key is None:
            raise KeyError(node)
        return self._count(key)

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        return ((self._graph.label(key), self._count(key)) for key in self._graph.keys())  # noqa: SIM118

    def __len__(self) -> int:
        return len(self._graph)

    def __call__(self, nbunch: Any = None, weight: str | None = None) -> Any:
        if nbunch is not None and nbunch in self._graph:
            return self[nbunch]
        return ((node, self[node]) for node in self._graph.nbunch_iter(nbunch))


def _distinct_edges(graph: Any, mask: bytes) -> tuple[Any, Any]:
    import numpy as np

    rows, _ = graph.csr.arrays()
    tails = np.repeat(np.arange(graph.csr.nodes, dtype=np.int64), np.diff(rows.ptr))
    changed = sorted(graph.changed(incoming=False))
    keep = np.frombuffer(mask, dtype=np.uint8).view(bool)[rows.byte]
    if changed:
        keep &= ~np.isin(tails, changed)
    packed = tails[keep] << 32 | rows.end[keep]
    edited = [
        tail << 32 | head
        for tail in changed
        for head, step in zip(*graph.row(tail, incoming=False), strict=True)
        if mask[step]
    ]
    packed = np.unique(np.concatenate([packed, np.array(edited, dtype=np.int64)]))
    return (packed >> 32).astype(np.int32), (packed & 0xFFFFFFFF).astype(np.int32)
