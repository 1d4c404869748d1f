"""Seed and spread: what lies near the best results, by weighted edges, with the path that led there.

Who calls: ``context``. What may not come in: words, text, budgets of tokens. Works on the arrays of a frozen snapshot.

A step multiplies by the weight of its edge (GRAPH.md), the factor of its tier, the decay of a hop, and a damping by the size of
the row it stands in: what everything uses says little about any one user. Hop by hop the best nodes are expanded, all of one hop
at once; neighbours are scored before any is followed, so a node with fifty thousand of them costs one pass over its row, hands on
the best few, and takes no room from the others. What was left out is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from mog.engine.model import Tier
from mog.engine.retrieval.weights import SPREAD, SpreadWeights

if TYPE_CHECKING:
    from mog.engine.store.snapshot import CodeSnapshot

#: Nodes given back by default; ``Spread.total`` counts all.
LIMIT = 100
#: Stands for an edge that is not in the arrays (``more``).
_EXTRA = 256
_EXTRA_KIND = "co_changed"


class Step(NamedTuple):
    """One edge on a path: from node ``source``, kind, tier, whether it was followed in its own direction, and what it left."""

    source: int
    kind: str
    tier: Tier
    outgoing: bool
    factor: float = 1.0


class Near(NamedTuple):
    """A node that the spread reached.

    Attributes:
        score: of a seed its own, else that of its seed times the ``factor`` of every step. path: from the seed; empty for a seed.
    """

    key: int
    score: float
    path: tuple[Step, ...]


class Spread(NamedTuple):
    """What was reached, best first.

    Attributes:
        capped: neighbours that were scored and not followed, because their node has more than ``fan``.
        stopped: nodes not expanded, because ``expand`` others of their hop were better.
        total: nodes reached, those past the limit included.
        crowds: (node, neighbours left out) of each capped node, largest first.
    """

    near: tuple[Near, ...]
    capped: int
    stopped: int
    total: int = 0
    crowds: tuple[tuple[int, int], ...] = ()


class _Edges(NamedTuple):
    """Edges of one hop as parallel arrays: position of the expanded node, other end, byte, direction, factor, score."""

    at: Any
    end: Any
    code: Any
    outgoing: Any
    factor: Any
    value: Any

    def take(self, which: Any) -> _Edges:
        return _Edges(*(column[which] for column in self))


def spread(
    graph: CodeSnapshot,
    seeds: Sequence[tuple[int, float]],
    edge_weights: Mapping[str, float],
    weights: SpreadWeights = SPREAD,
    *,
    prefer: Mapping[int, float] | None = None,
    more: Mapping[int, Sequence[tuple[int, float]]] | None = None,
    limit: int = LIMIT,
) -> Spread:
    """Spread from seeds in both directions, at most ``weights.hops`` steps.

    Args:
        seeds: (node key, score); scores are divided by the highest. edge_weights: edge type → 0..1; a type that is not there is
            not followed.
        prefer: node key → how relevant it is by other means (0..1): decides who among the neighbours of a crowded node is
            followed, never a score.
        more: node key → (other node, strength 0..1): edges of type ``co_changed`` that the arrays do not hold.

    Returns:
        Every node by its best path. Equal scores are ordered by key. Without a cap each score is the exact maximum over all paths
        of at most ``hops`` steps.
    """
    top = max((score for _, score in seeds), default=0.0)
    start = {key: score / top for key, score in sorted(seeds) if score > 0 and graph.alive(key)} if top > 0 else {}
    if not start:
        return Spread((), 0, 0)
    walk = _Walk(graph, start, edge_weights, weights, prefer or {}, more or {})
    for _ in range(weights.hops):
        walk.hop()
    return walk.result(limit)


class _Walk:
    """State of one spread. ``_best`` holds the best score of each node so far, ``_layer`` the hop at which it was reached."""

    def __init__(
        self, graph: CodeSnapshot, start: Mapping[int, float], edge_weights: Mapping[str, float], weights: SpreadWeights,
        prefer: Mapping[int, float], more: Mapping[int, Sequence[tuple[int, float]]],
    ) -> None:  # fmt: skip
        self._graph, self._weights, self._more = graph, weights, more
        self._meanings = _meanings(graph)
        self._factors = weights.decay * _factors(graph, edge_weights, weights)
        self._extra = weights.decay * edge_weights.get(_EXTRA_KIND, 0.0)
        self._prefer = np.zeros(graph.size)
        for key, value in prefer.items():
            if 0 <= key < graph.size:
                self._prefer[key] = value
        self._frontier = np.fromiter(start, np.int64, len(start))
        self._scores = np.fromiter(start.values(), np.float64, len(start))
        self._best, self._layer = np.zeros(graph.size), np.full(graph.size, -1)
        self._best[self._frontier], self._layer[self._frontier] = self._scores, 0
        self._parents: list[tuple[Any, _Edges]] = []
        self._stopped = 0
        self._crowds: dict[int, int] = {}

    def hop(self) -> None:
        """Expand the best nodes reached last; what they reach better than it was reached so far is the next frontier."""
        order = np.lexsort((self._frontier, -self._scores))
        self._stopped += max(0, len(order) - self._weights.expand)
        order = order[: self._weights.expand]
        near, scores = self._frontier[order], self._scores[order]
        found = self._fanned(near, self._gathered(near, scores))
        order = np.lexsort((found.code, ~found.outgoing, found.at, -found.value, found.end))
        found = found.take(order[_first(found.end[order])])
        found = found.take(found.value > self._best[found.end])
        self._parents.append((near[found.at], found))
        self._frontier, self._scores = found.end, found.value
        self._best[found.end], self._layer[found.end] = found.value, len(self._parents)

    def _gathered(self, near: Any, scores: Any) -> _Edges:
        """All edges of the nodes, both directions, that leave at least ``weights.least``."""
        parts = [_rows(self._graph, near, incoming=incoming) for incoming in (False, True)]
        edges = [self._valued(part, scores, outgoing) for part, outgoing in zip(parts, (True, False), strict=True)]
        edges.append(self._extras(near, scores))
        return _Edges(*(np.concatenate(column) for column in zip(*edges, strict=True)))

    def _valued(self, rows: tuple[Any, Any, Any, Any], scores: Any, outgoing: bool) -> _Edges:
        at, end, code, size = rows
        factor = self._factors[code] * _damping(size, self._weights.crowd)[at]
        return self._worth(_Edges(at, end, code, np.full(len(at), outgoing), factor, scores[at] * factor))

    def _extras(self, near: Any, scores: Any) -> _Edges:
        rows = [
            (at, end, strength)
            for at, key in enumerate(near.tolist())
            for end, strength in self._more.get(key, ())
            if self._graph.alive(end)
        ]
        at, end = (np.array([row[column] for row in rows], np.int64) for column in (0, 1))
        factor = self._extra * np.array([row[2] for row in rows], np.float64)
        return self._worth(_Edges(at, end, np.full(len(at), _EXTRA), np.full(len(at), True), factor, scores[at] * factor))

    def _worth(self, edges: _Edges) -> _Edges:
        return edges.take((edges.value >= self._weights.least) & (edges.value > 0))

    def _fanned(self, near: Any, edges: _Edges) -> _Edges:
        """At most ``fan`` neighbours of each node: the best, of equals those preferred, then those with fewer edges."""
        wide = np.bincount(edges.at, minlength=1) > self._weights.fan
        if not wide.any():
            return edges
        many = wide[edges.at]
        kept = self._best_few(near, _best_of_each(edges.take(many), len(self._best)))
        return _Edges(*(np.concatenate(pair) for pair in zip(edges.take(~many), kept, strict=True)))

    def _best_few(self, near: Any, edges: _Edges) -> _Edges:
        wish = edges.value * (1.0 + self._prefer[edges.end])
        edges = edges.take(np.lexsort((edges.end, _degrees(self._graph, edges.end), -wish, edges.at)))
        starts = np.flatnonzero(_first(edges.at))
        sizes = np.diff(np.append(starts, len(edges.at)))
        rank = np.arange(len(edges.at)) - np.repeat(starts, sizes)
        for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
            if size > self._weights.fan:
                key = int(near[edges.at[start]])
                self._crowds[key] = max(self._crowds.get(key, 0), size - self._weights.fan)
        return edges.take(rank < self._weights.fan)

    def result(self, limit: int) -> Spread:
        """The best ``limit`` nodes with their paths, and what was left out."""
        reached = np.flatnonzero(self._layer >= 0)
        order = np.lexsort((reached, -self._best[reached]))[:limit]
        near = tuple(Near(key, float(self._best[key]), self._path(key)) for key in reached[order].tolist())
        crowds = sorted(self._crowds.items(), key=lambda one: (-one[1], one[0]))
        return Spread(near, sum(self._crowds.values()), self._stopped, len(reached), tuple(crowds))

    def _path(self, key: int) -> tuple[Step, ...]:
        steps: list[Step] = []
        for layer in range(int(self._layer[key]), 0, -1):
            sources, edges = self._parents[layer - 1]
            at = int(edges.end.searchsorted(key))
            kind, tier = self._meanings[int(edges.code[at])]
            key = int(sources[at])
            steps.append(Step(key, kind, tier, bool(edges.outgoing[at]), float(edges.factor[at])))
        return tuple(reversed(steps))


def _meanings(graph: CodeSnapshot) -> tuple[tuple[str, Tier], ...]:
    """By edge byte: kind and tier; the last stands for edges of ``more``."""
    return _words(tuple(sorted(graph.kinds.items())))


@lru_cache(maxsize=4)
def _words(kinds: tuple[tuple[int, str], ...]) -> tuple[tuple[str, Tier], ...]:
    known = dict(kinds)
    return (*((known.get(code & 0x3F, ""), Tier(code >> 6)) for code in range(256)), (_EXTRA_KIND, Tier.certain))


def _factors(graph: CodeSnapshot, edge_weights: Mapping[str, float], weights: SpreadWeights) -> Any:
    """By edge byte: weight of the type times factor of the tier, float64."""
    tiers = [weights.tiers.get(tier.name, 0.0) for tier in Tier]
    return np.array([edge_weights.get(kind, 0.0) * tiers[tier] for kind, tier in _meanings(graph)[:256]])


def _damping(size: Any, crowd: int) -> Any:
    """What a row of so many edges leaves to each: 1 up to ``crowd``, then falling with the logarithm of its size."""
    return 1.0 / (1.0 + np.log2(np.maximum(size, crowd) / crowd))


def _rows(graph: CodeSnapshot, near: Any, *, incoming: bool) -> tuple[Any, Any, Any, Any]:
    """Edges of the nodes on one side: (position in ``near``, other end, byte) per edge, and edges per node; edits applied."""
    rows, changed = graph.csr.arrays()[incoming], graph.changed(incoming=incoming)
    apart = [at for at, key in enumerate(near.tolist()) if key in changed or key >= graph.csr.nodes]
    plain = np.delete(near, apart) if apart else near
    starts = rows.ptr[plain].astype(np.int64)
    counts = rows.ptr[plain + 1] - starts
    which = np.repeat(starts - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
    positions = np.delete(np.arange(len(near)), apart) if apart else np.arange(len(near))
    parts = [(np.repeat(positions, counts), rows.end[which].astype(np.int64), rows.byte[which].astype(np.int64))]
    size = np.zeros(len(near), np.int64)
    size[positions] = counts
    for at in apart:
        ends, codes = graph.row(int(near[at]), incoming=incoming)
        size[at] = len(codes)
        known = np.frombuffer(bytes(codes), np.uint8).astype(np.int64)
        parts.append((np.full(len(codes), at), np.asarray(ends, np.int64), known))
    position, end, code = (np.concatenate(column) for column in zip(*parts, strict=True))
    return position, end, code, size


def _best_of_each(edges: _Edges, size: int) -> _Edges:
    """Of several edges between the same two nodes the best; of equals the outgoing one, then the smallest byte."""
    pair = edges.at * size + edges.end
    order = np.lexsort((edges.code, ~edges.outgoing, -edges.value, pair))
    return edges.take(order[_first(pair[order])])


def _first(values: Any) -> Any:
    """Where a sorted array has another value than just before."""
    flags = np.ones(len(values), bool)
    flags[1:] = values[1:] != values[:-1]
    return flags


def _degrees(graph: CodeSnapshot, keys: Any) -> Any:
    """Edges of each node as the arrays have them: of two equal neighbours the one with fewer says more."""
    inside = np.minimum(keys, graph.csr.nodes - 1)
    total = sum(rows.ptr[inside + 1] - rows.ptr[inside] for rows in graph.csr.arrays())
    return np.where(keys < graph.csr.nodes, total, 0)


# personalised PageRank

_TRANSITIONS: WeakKeyDictionary[CodeSnapshot, tuple[Any, tuple[Any, Any, Any]]] = WeakKeyDictionary()


def ppr(
    graph: CodeSnapshot, seeds: Sequence[tuple[int, float]], edge_weights: Mapping[str, float],
    weights: SpreadWeights = SPREAD, *, alpha: float = 0.85, rounds: int = 15, limit: int = 80,
) -> list[tuple[int, float]]:  # fmt: skip
    """Personalised PageRank over all edges, both directions, by power iteration (Page et al. 1999; Haveliwala 2002).

    Args:
        alpha: share that follows an edge; the rest, and what stands at a node without edges, goes back to the seeds.

    Returns:
        (node key, share) of the best ``limit`` nodes; all shares together are 1.
    """
    kept = [(key, score) for key, score in seeds if score > 0 and graph.alive(key)]
    if not kept:
        return []
    source, target, share = _transitions(graph, edge_weights, weights)
    size = graph.size
    marked = np.bincount([key for key, _ in kept], [score for _, score in kept], size)
    start = marked / marked.sum()
    rank = start.copy()
    for _ in range(rounds):
        flowed = np.bincount(target, rank[source] * share, size)
        rank = alpha * flowed + (1 - alpha * flowed.sum()) * start
    order = np.lexsort((np.arange(size), -rank))[:limit]
    return [(int(key), float(rank[key])) for key in order if rank[key] > 0]


def _transitions(graph: CodeSnapshot, edge_weights: Mapping[str, float], weights: SpreadWeights) -> tuple[Any, Any, Any]:
    """Every edge in both directions as (from, to, share of what stands at ``from``); made once a snapshot."""
    how = (tuple(sorted(edge_weights.items())), tuple(sorted(weights.tiers.items())))
    held = _TRANSITIONS.get(graph)
    if held is not None and held[0] == how:
        return held[1]
    source, target, code = _triples(graph)
    value = _factors(graph, edge_weights, weights)[code]
    keep = value > 0
    source, target, value = source[keep], target[keep], value[keep]
    source, target = np.concatenate([source, target]), np.concatenate([target, source])
    value = np.concatenate([value, value])
    made = (source, target, value / np.bincount(source, value, graph.size)[source])
    _TRANSITIONS[graph] = (how, made)
    return made


def _triples(graph: CodeSnapshot) -> tuple[Any, Any, Any]:
    """Every edge of the generation as (from, to, byte) arrays, edits applied."""
    rows = graph.csr.arrays()[0]
    source = np.repeat(np.arange(len(rows.ptr) - 1, dtype=np.int32), np.diff(rows.ptr))
    changed = graph.changed(incoming=False)
    keep = ~np.isin(source, sorted(changed)) if changed else slice(None)
    parts = [(source[keep], rows.end[keep], rows.byte[keep])]
    for key in sorted(changed):
        ends, codes = graph.row(key)
        parts.append((np.full(len(codes), key, np.int32), np.asarray(ends, np.int32), np.frombuffer(bytes(codes), np.uint8)))
    source, target, code = (np.concatenate(column) for column in zip(*parts, strict=True))
    return source, target, code
