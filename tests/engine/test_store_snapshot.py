"""Snapshots: edits merged into arrays equal arrays built anew, closures equal networkx, a generation never changes."""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_kit import KINDS, Edge, all_edges, build, edge_blob, edit, node

from mog.engine.errors import IndexMissing, UsageError
from mog.engine.model import Tier
from mog.engine.store import closure, snapshot
from mog.engine.store.index_db import SPACE_EDGE, IndexDB
from mog.engine.store.snapshot import CodeSnapshot

NODES = 14
EDGES = st.lists(
    st.tuples(st.integers(1, NODES), st.integers(1, NODES), st.sampled_from(KINDS), st.integers(0, 3)), max_size=14
)
FILES = st.dictionaries(st.integers(1, 4), EDGES, max_size=4)
WAYS = st.dictionaries(st.sampled_from(KINDS), st.sampled_from(["in", "out", "both", "none"]))


@pytest.fixture(params=["python", "numpy"])
def width(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Force one of the two ways a level can be made."""
    threshold = 0 if request.param == "numpy" else 10**9
    monkeypatch.setattr(closure, "_WIDE", threshold)
    monkeypatch.setattr(closure, "_WORTH_LOADING", threshold)
    return str(request.param)


def expected(
    edges: Counter[Edge], seeds: set[int], ways: dict[str, str], tiers: set[int]
) -> dict[int, tuple[int, int]]:
    """node → (depth, parent) by the plainest search there is; the parent is the smallest of the level before."""
    steps: set[tuple[int, int]] = set()
    for src, dst, kind, tier in edges:
        if tier in tiers and ways.get(kind) in ("out", "both"):
            steps.add((src, dst))
        if tier in tiers and ways.get(kind) in ("in", "both"):
            steps.add((dst, src))
    found: dict[int, tuple[int, int]] = dict.fromkeys(seeds, (0, 0))
    level = set(seeds)
    while level:
        fresh: dict[int, int] = {}
        for near, far in steps:
            if near in level and far not in found:
                fresh[far] = min(near, fresh.get(far, near))
        depth = found[next(iter(level))][0] + 1
        found.update({far: (depth, near) for far, near in fresh.items()})
        level = set(fresh)
    return {key: value for key, value in found.items() if value[0]}


@settings(max_examples=40, deadline=None)
@given(FILES, st.lists(FILES, max_size=3))
def test_edits_over_old_arrays_equal_arrays_built_anew(
    first: dict[int, list[Edge]], edits: list[dict[int, list[Edge]]]
) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        now = dict(first)
        with build(Path(one), NODES, first) as db:
            for change in edits:
                edit(db, change)
                now.update(change)
            merged = all_edges(CodeSnapshot.load(db))
            count = CodeSnapshot.load(db).edge_count
        with build(Path(two), NODES, now) as db:
            rebuilt = all_edges(CodeSnapshot.load(db))
    wanted = Counter(edge for edges in now.values() for edge in edges)
    assert merged == rebuilt == (wanted, wanted)
    assert count == wanted.total()


@settings(max_examples=40, deadline=None)
@given(
    first=FILES,
    change=FILES,
    ways=WAYS,
    tiers=st.sets(st.integers(0, 3)),
    seeds=st.sets(st.integers(1, NODES), max_size=3),
)
@pytest.mark.parametrize("threshold", [0, 10**9])
def test_closures_equal_a_plain_search(
    threshold: int,
    first: dict[int, list[Edge]],
    change: dict[int, list[Edge]],
    ways: dict[str, str],
    tiers: set[int],
    seeds: set[int],
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(closure, "_WIDE", threshold)
        patch.setattr(closure, "_WORTH_LOADING", threshold)
        with build(Path(folder), NODES, first) as db:
            edit(db, change)
            graph = CodeSnapshot.load(db)
        found = graph.closure(seeds, direction_by_kind=ways, tiers=tiers)
        edges = Counter(edge for edges in (first | change).values() for edge in edges)
        wanted = expected(edges, seeds, ways, tiers)
        assert {n: (d, v) for n, d, v in zip(found.nodes, found.depth, found.via, strict=True)} == wanted
        assert (found.total, sum(found.per_depth)) == (len(wanted), len(wanted))
        assert list(zip(found.depth, found.nodes, strict=True)) == sorted((d, n) for n, (d, _) in wanted.items())
        for at, key in enumerate(found.nodes):
            ends = (key, found.via[at]) if found.backward[at] else (found.via[at], key)
            assert edges[(*ends, found.kind[at], int(found.tier[at]))] > 0


@settings(max_examples=40, deadline=None)
@given(first=FILES, change=FILES, seeds=st.sets(st.integers(1, NODES), min_size=1, max_size=2), limit=st.integers(0, 6))
def test_both_ways_of_walking_give_the_same_answer_at_every_limit(
    first: dict[int, list[Edge]], change: dict[int, list[Edge]], seeds: set[int], limit: int
) -> None:
    ways = {"calls": "both", "imports": "in", "tested_by": "out"}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        with build(Path(folder), NODES, first) as db:
            edit(db, change)
            graph = CodeSnapshot.load(db)
        answers = []
        for threshold in (0, 10**9):
            patch.setattr(closure, "_WIDE", threshold)
            patch.setattr(closure, "_WORTH_LOADING", threshold)
            answers.append(
                [graph.closure(seeds, direction_by_kind=ways, tiers=range(4), limit=n) for n in (limit, None)]
            )
        assert answers[0] == answers[1]
        cut, whole = answers[0]
        assert (cut.nodes, cut.via) == (whole.nodes[:limit], whole.via[:limit])
        assert (cut.total, cut.per_depth) == (whole.total, whole.per_depth)


def test_reverse_closure_equals_networkx_on_a_larger_graph(tmp_path: Path, width: str) -> None:
    chosen = random.Random(5)
    edges: list[Edge] = [
        (chosen.randint(1, 3_000), min(int(chosen.paretovariate(0.7)), 3_000), "calls", chosen.choice([0, 0, 2]))
        for _ in range(6_000)
    ]
    with build(tmp_path, 3_000, {1: edges}) as db:
        edit(db, {2: [(7, 2_999, "calls", 0)], 3: [(2_999, 7, "calls", 0)]})
        graph = CodeSnapshot.load(db)
    reference: nx.DiGraph = nx.DiGraph()
    reference.add_nodes_from(range(1, 3_001))
    reference.add_edges_from((src, dst) for src, dst, _, tier in edges if tier == 0)
    reference.add_edges_from([(7, 2_999), (2_999, 7)])
    for seed in (1, 2, 7, 2_999, 1_500):
        found = graph.closure([seed], direction_by_kind={"calls": "reverse"})
        assert set(found.nodes) == nx.ancestors(reference, seed)
        depths = nx.single_source_shortest_path_length(reference.reverse(), seed)
        assert dict(zip(found.nodes, found.depth, strict=True)) == {n: d for n, d in depths.items() if d}


def test_depth_and_unknown_kinds_and_directions(tmp_path: Path, width: str) -> None:
    with build(tmp_path, 5, {1: [(n, n + 1, "calls", 0) for n in range(1, 5)]}) as db:
        graph = CodeSnapshot.load(db)
    assert graph.closure([5], direction_by_kind={"calls": "in"}, max_depth=2).nodes == [4, 3]
    assert graph.closure([5], direction_by_kind={"calls": "in"}, max_depth=0).nodes == []
    assert graph.closure([5], direction_by_kind={"never seen": "in"}).total == 0
    assert graph.closure([5, 10**6, -3], direction_by_kind={"calls": "in"}).total == 4
    with pytest.raises(UsageError):
        graph.closure([5], direction_by_kind={"calls": "sideways"})


def test_edges_carry_kind_and_tier_and_masks_filter(tmp_path: Path) -> None:
    with build(
        tmp_path, 3, {1: [(1, 2, "calls", 0), (1, 2, "calls", 0), (1, 3, "imports", 2), (3, 1, "calls", 3)]}
    ) as db:
        graph = CodeSnapshot.load(db)
    assert graph.out(1) == [(2, "calls", Tier.certain), (2, "calls", Tier.certain), (3, "imports", Tier.candidate)]
    assert graph.in_(1) == [(3, "calls", Tier.unknown)]
    assert graph.out(1, graph.mask(["imports"])) == [(3, "imports", Tier.candidate)]
    assert graph.out(1, graph.mask(tiers=[Tier.certain])) == [(2, "calls", Tier.certain)] * 2
    assert graph.out(1, graph.mask(["never seen"])) == []
    assert graph.degree(1) == (1, 3)
    assert graph.degree(1, graph.mask(["calls"])) == (1, 2)
    assert graph.out(99) == graph.out(-1) == []


def test_a_snapshot_does_not_change_and_shares_arrays_with_the_next(tmp_path: Path) -> None:
    with build(tmp_path, 3, {1: [(1, 2, "calls", 0)]}) as db:
        before = CodeSnapshot.load(db)
        with db.transaction():
            db.nodes_delete([2])
            db.nodes_insert([node(4)])
            db.edges_put([(1, edge_blob(db, [(1, 4, "calls", 0)]))])
            snapshot.publish(db, compact=False)
        after = CodeSnapshot.load(db, before)
        with db.transaction():
            snapshot.publish(db, compact=True)
        compacted = CodeSnapshot.load(db, after)
        snapshot.tidy(db)
    assert before.out(1) == [(2, "calls", Tier.certain)]
    assert after.csr is before.csr and compacted.csr is not after.csr
    for graph in (after, compacted):
        assert graph.out(1) == [(4, "calls", Tier.certain)]
        assert graph.in_(2) == []
        assert list(graph.node_keys()) == [1, 3, 4]
    assert list(before.node_keys()) == [1, 2, 3]
    assert [graph.generation for graph in (before, after, compacted)] == [1, 2, 3]


def test_nothing_published_is_said_so(tmp_path: Path) -> None:
    with IndexDB.open(tmp_path / ".mog" / "index.db", write=True, create=True) as db, pytest.raises(IndexMissing):
        CodeSnapshot.load(db)


def test_compaction_is_due_by_share_and_the_overlay_ends_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "OVERLAY_FLOOR", 4)
    with build(tmp_path, 4, {n: [(1, 2, "calls", 0)] for n in range(1, 4)}) as db:
        edit(db, {1: [(2, 3, "calls", 0)]}, compact=None)
        assert (db.overlay_edges(), db.csr_stamp().generation) == (2, 1)  # type: ignore[union-attr]
        edit(db, {2: [], 3: [(2, 3, "calls", 0)] * 2}, compact=None)
        assert (db.overlay_edges(), db.csr_stamp().generation) == (0, 3)  # type: ignore[union-attr]
        assert CodeSnapshot.load(db).degree(2) == (0, 3)


def test_a_bounded_networkx_graph(tmp_path: Path) -> None:
    with build(tmp_path, 4, {1: [(1, 2, "calls", 0), (1, 2, "imports", 2), (2, 4, "calls", 0)]}) as db:
        graph = CodeSnapshot.load(db)
    made = graph.to_networkx([1, 2, 77], describe=lambda key: {"name": f"n{key}"})
    edges: Any = sorted((tail, head, data["kind"], int(data["tier"])) for tail, head, data in made.edges(data=True))
    assert edges == [(1, 2, "calls", 0), (1, 2, "imports", 2)]
    assert dict(made.nodes(data=True)) == {1: {"name": "n1"}, 2: {"name": "n2"}}
    with pytest.raises(UsageError):
        graph.to_networkx([1, 2, 3], limit=2)


def test_kind_numbers_learned_later_are_understood(tmp_path: Path) -> None:
    with build(tmp_path, 2, {}) as db:
        with db.transaction():
            assert db.code(SPACE_EDGE, "touches") == len(KINDS) + 1
            db.edges_put([(1, edge_blob(db, [(1, 2, "touches", 0)]))])
            snapshot.publish(db, compact=False)
        assert CodeSnapshot.load(db).out(1) == [(2, "touches", Tier.certain)]
