"""Seed and spread: what lies near the best results, by weighted edges, with the path that led there.

Who calls: ``context``. What may not come in: words, text, budgets of tokens. Works on the arrays of a frozen snapshot.

A step multiplies by the weight of its edge (GRAPH.md), the factor of its tier, and the decay of a hop. Neighbours are
scored before
they are followed, so a node with fifty thousand of them costs one pass over its row and passes on to the best of them. The
share that flows through a crowd is damped by its size: what everything uses says little about any one of them.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mog.engine.model import Tier
from mog.engine.retrieval.weights import SPREAD, SpreadWeights

if TYPE_CHECKING:
    from mog.engine.store.snapshot import CodeSnapshot


class Step(NamedTuple):
    """One edge on a path: from node ``source``, kind, tier, and whether the edge was followed in its own direction."""

    source: int
    kind: str
    tier: Tier
    outgoing: bool


class Near(NamedTuple):
    """A node that the spread reached: score (a seed has its own), and the steps from its seed."""

    key: int
    score: float
    path: tuple[Step, ...]


class Spread(NamedTuple):
    """What was reached, best first. ``capped``: neighbours that were scored and not followed; ``stopped``: nodes not expanded."""

    near: tuple[Near, ...]
    capped: int
    stopped: int


def spread(
    graph: CodeSnapshot,
    seeds: Sequence[tuple[int, float]],
    edge_weights: Mapping[str, float],
    weights: SpreadWeights = SPREAD,
) -> Spread:
    """Best-first spread from seeds in both directions.

    Args:
        seeds: (node key, score); scores are divided by the highest. edge_weights: edge type → 0..1; a type that is not there is
            not followed.

    Returns:
        Every node by the best single path to it. Equal scores are ordered by key.
    """
    top = max((score for _, score in seeds), default=0.0)
    if top <= 0:
        return Spread((), 0, 0)
    best = {key: score / top for key, score in seeds if score > 0 and graph.alive(key)}
    origin: dict[int, Step | None] = dict.fromkeys(best)
    depth = dict.fromkeys(best, 0)
    factors = _factors(graph, edge_weights, weights)
    waiting = [(-score, key) for key, score in best.items()]
    heapq.heapify(waiting)
    done: set[int] = set()
    capped = 0
    while waiting and len(done) < weights.expand:
        minus, key = heapq.heappop(waiting)
        if key in done or -minus < best[key] or depth[key] >= weights.hops:
            continue
        done.add(key)
        offers, cut = _offers(graph, key, -minus * weights.decay, factors, weights)
        capped += cut
        for score, other, step in offers:
            if score > best.get(other, 0.0) and other not in done:
                best[other], origin[other], depth[other] = score, step, depth[key] + 1
                heapq.heappush(waiting, (-score, other))
    stopped = len({key for _, key in waiting if key not in done and depth[key] < weights.hops})
    order = sorted(best, key=lambda key: (-best[key], key))
    return Spread(tuple(Near(key, best[key], _path(origin, key)) for key in order), capped, stopped)


def _factors(
    graph: CodeSnapshot, edge_weights: Mapping[str, float], weights: SpreadWeights
) -> list[tuple[float, str, Tier]]:
    """By edge byte: factor, kind, tier."""
    rows = []
    for code in range(256):
        kind, tier = graph.kinds.get(code & 0x3F, ""), Tier(code >> 6)
        rows.append((edge_weights.get(kind, 0.0) * weights.tiers.get(tier.name, 0.0), kind, tier))
    return rows


def _offers(
    graph: CodeSnapshot, key: int, score: float, factors: Sequence[tuple[float, str, Tier]], weights: SpreadWeights
) -> tuple[list[tuple[float, int, Step]], int]:
    """What a node passes on: (score, neighbour, step) of the best neighbours, and how many were left out."""
    found: dict[int, tuple[float, int, Step]] = {}
    for outgoing in (True, False):
        ends, codes = graph.row(key, incoming=not outgoing)
        damping = 1.0 / (1.0 + math.log2(1 + len(ends) / 16)) if len(ends) > 16 else 1.0
        for end, code in zip(ends, codes, strict=True):
            factor, kind, tier = factors[code]
            value = score * factor * damping
            if value >= weights.least and value > found.get(int(end), (0.0,))[0]:
                found[int(end)] = (value, int(end), Step(key, kind, tier, outgoing))
    kept = heapq.nsmallest(weights.fan, found.values(), key=lambda one: (-one[0], _degree(graph, one[1]), one[1]))
    return kept, len(found) - len(kept)


def _degree(graph: CodeSnapshot, key: int) -> int:
    """Edges of a node: of two equal neighbours the one with fewer says more."""
    return len(graph.row(key)[0]) + len(graph.row(key, incoming=True)[0])


def _path(origin: Mapping[int, Step | None], key: int) -> tuple[Step, ...]:
    steps: list[Step] = []
    step = origin[key]
    while step is not None and len(steps) < 64:
        steps.append(step)
        step = origin[step.source]
    return tuple(reversed(steps))


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
    import numpy as np

    kept = [(key, score) for key, score in seeds if score > 0 and graph.alive(key)]
    if not kept:
        return []
    source, target, weight = _arrays(graph, edge_weights, weights)
    size = graph.size
    marked = np.bincount([key for key, _ in kept], [score for _, score in kept], size)
    start = marked / marked.sum()
    out = np.bincount(source, weight, size)
    share = np.divide(weight, out[source], out=np.zeros_like(weight), where=out[source] > 0)
    rank = start.copy()
    for _ in range(rounds):
        flowed = np.bincount(target, rank[source] * share, size)
        rank = alpha * flowed + (1 - alpha * flowed.sum()) * start
    order = np.lexsort((np.arange(size), -rank))[:limit]
    return [(int(key), float(rank[key])) for key in order if rank[key] > 0]


def _arrays(graph: CodeSnapshot, edge_weights: Mapping[str, float], weights: SpreadWeights) -> tuple[Any, Any, Any]:
    """Every edge in both directions as (from, to, weight) arrays."""
    import numpy as np

    factor = np.array([row[0] for row in _factors(graph, edge_weights, weights)])
    source, target, code = _triples(graph)
    value = factor[code]
    keep = value > 0
    source, target, value = source[keep], target[keep], value[keep]
    return np.concatenate([source, target]), np.concatenate([target, source]), np.concatenate([value, value])


def _triples(graph: CodeSnapshot) -> tuple[Any, Any, Any]:
    """Every edge of the generation as (from, to, byte) arrays, edits applied."""
    import numpy as np

    rows = graph.csr.arrays()[0]
    source = np.repeat(np.arange(len(rows.ptr) - 1), np.diff(rows.ptr))
    changed = graph.changed(incoming=False)
    keep = ~np.isin(source, sorted(changed)) if changed else slice(None)
    parts = [(source[keep], np.asarray(rows.end)[keep], np.asarray(rows.byte)[keep])]
    for key in sorted(changed):
        ends, codes = graph.row(key)
        codes = np.frombuffer(bytes(codes), np.uint8)
        parts.append((np.full(len(codes), key), np.asarray(ends, np.int64), codes))
    return tuple(np.concatenate(column) for column in zip(*parts, strict=True))  # type: ignore[return-value]
