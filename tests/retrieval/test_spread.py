"""Spread: best paths by weighted edges, never blinded by a hub, equal to plain search on random graphs; PageRank as
networkx has it."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_kit import build, edit

from mog.engine.retrieval.spread import ppr, spread
from mog.engine.retrieval.weights import SpreadWeights
from mog.engine.store.snapshot import CodeSnapshot

EDGES = {"calls": 0.8, "imports": 0.6, "tested_by": 0.0}
OPEN = SpreadWeights(hops=3, expand=10_000, fan=10_000, least=1e-9)
TIERS = ("certain", "hierarchy", "candidate", "unknown")


def load(folder: Path, count: int, edges: list[tuple[int, int, str, int]]) -> CodeSnapshot:
    db = build(folder, count, {1: edges})
    try:
        return CodeSnapshot.load(db)
    finally:
        db.close()


def test_the_score_of_a_path_is_the_product_of_its_steps(tmp_path: Path) -> None:
    graph = load(tmp_path, 3, [(1, 2, "calls", 0), (3, 2, "imports", 1)])
    near = {one.key: one for one in spread(graph, [(1, 5.0)], EDGES, OPEN).near}
    assert near[1].score == 1.0 and near[1].path == ()
    assert near[2].score == pytest.approx(0.5 * 0.8)
    assert near[3].score == pytest.approx(0.5 * 0.8 * 0.5 * 0.6 * OPEN.tiers["hierarchy"])
    assert [(step.source, step.kind, step.outgoing) for step in near[3].path] == [
        (1, "calls", True),
        (2, "imports", False),
    ]


def test_a_type_without_weight_and_an_unknown_receiver_are_not_followed(tmp_path: Path) -> None:
    graph = load(tmp_path, 3, [(1, 2, "tested_by", 0), (1, 3, "calls", 3)])
    assert [one.key for one in spread(graph, [(1, 1.0)], EDGES, OPEN).near] == [1]


def test_a_hub_does_not_hide_what_lies_behind_it(tmp_path: Path) -> None:
    """Fifty thousand callers of one helper: the one that is near another seed is still found, and the rest is counted."""
    hub, crowd = 1, 50_000
    edges = [(key, hub, "calls", 0) for key in range(10, 10 + crowd)]
    edges += [(2, 3, "calls", 0), (3, 4, "calls", 0), (4, hub, "calls", 0)]
    graph = load(tmp_path, 10 + crowd, edges)
    found = spread(graph, [(hub, 1.0), (2, 0.5)], EDGES)
    assert {3, 4} <= {one.key for one in found.near}
    assert len(found.near) < 1_000 and found.capped > 40_000


graphs = st.lists(
    st.tuples(st.integers(1, 8), st.integers(1, 8), st.sampled_from(["calls", "imports"]), st.integers(0, 2)),
    max_size=24,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=graphs, after=graphs, seeds=st.lists(st.tuples(st.integers(1, 8), st.floats(0.1, 9)), min_size=1, max_size=3)
)
def test_every_node_has_the_score_of_its_best_path(
    tmp_path_factory: pytest.TempPathFactory, before: list, after: list, seeds: list[tuple[int, float]]
) -> None:
    db = build(tmp_path_factory.mktemp("spread"), 8, {1: before})
    edit(db, {1: after})
    graph = CodeSnapshot.load(db)
    db.close()
    top = max(score for _, score in seeds)
    best = {key: score / top for key, score in sorted(seeds)}
    frontier = dict(best)
    for _ in range(OPEN.hops):
        offered: dict[int, float] = {}
        for src, dst, kind, tier in after:
            factor = 0.5 * EDGES[kind] * OPEN.tiers[TIERS[tier]]
            for near, far in ((src, dst), (dst, src)):
                if near in frontier:
                    offered[far] = max(offered.get(far, 0.0), frontier[near] * factor)
        frontier = {key: score for key, score in offered.items() if score > best.get(key, 0.0)}
        best |= frontier
    found = spread(graph, seeds, EDGES, OPEN)
    assert {one.key: pytest.approx(one.score) for one in found.near} == best
    assert [(-one.score, one.key) for one in found.near] == sorted((-one.score, one.key) for one in found.near)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edges=graphs.filter(bool), seed=st.integers(1, 8))
def test_pagerank_is_that_of_networkx(tmp_path_factory: pytest.TempPathFactory, edges: list, seed: int) -> None:
    graph = load(tmp_path_factory.mktemp("ppr"), 8, edges)
    plain: nx.DiGraph = nx.DiGraph()
    plain.add_nodes_from(range(1, 9))
    for src, dst, kind, tier in edges:
        weight = EDGES[kind] * OPEN.tiers[TIERS[tier]]
        for near, far in ((src, dst), (dst, src)):
            old = plain.get_edge_data(near, far, {"weight": 0.0})["weight"]
            plain.add_edge(near, far, weight=old + weight)
    wanted = nx.pagerank(plain, alpha=0.85, personalization={seed: 1.0}, dangling={seed: 1.0}, tol=1e-10, max_iter=500)
    found = dict(ppr(graph, [(seed, 3.0)], EDGES, OPEN, rounds=300))
    assert all(found.get(key, 0.0) == pytest.approx(value, abs=1e-6) for key, value in wanted.items())
