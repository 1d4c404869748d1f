"""The networkx backend equals networkx on random graphs, runs on snapshots unconverted, refuses what it cannot."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_kit import Edge, build, edit

from mog.engine.errors import UsageError
from mog.engine.store import closure, nx_backend, nx_info
from mog.engine.store.nx_backend import view
from mog.engine.store.nx_snap import Snap
from mog.engine.store.snapshot import CodeSnapshot

LABELS = st.sampled_from(["a", "b", "c", 1, 2, 3, (1, 2), "d", "e", 4, 5, 6])
PAIRS = st.lists(st.tuples(LABELS, LABELS), max_size=24)
BIG = settings(max_examples=60, deadline=None)
pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs:UserWarning")


def made(pairs: list[tuple[Any, Any]]) -> nx.DiGraph:
    graph: nx.DiGraph = nx.DiGraph(pairs)
    graph.add_nodes_from(["a", 1, "lonely"])
    return graph


def outcome(call: Callable[[], Any]) -> Any:
    """The value of a call, generators drawn out, or the class of its exception."""
    try:
        value = call()
        return list(value) if isinstance(value, Iterator) else value
    except (nx.NetworkXException, KeyError, ValueError, TypeError) as error:
        return type(error)


def same(
    name: str, graph: nx.DiGraph, *args: Any, shape: Callable[[Any], Any] = lambda value: value, **kwargs: Any
) -> None:
    function = getattr(nx, name)
    ours = outcome(lambda: function(graph, *args, backend="mog", **kwargs))
    theirs = outcome(lambda: function(graph, *args, **kwargs))
    if isinstance(theirs, type):
        assert ours is theirs, (name, args)
    else:
        assert shape(ours) == shape(theirs), (name, args)


def sets(parts: Any) -> Any:
    return {frozenset(part) for part in parts} if isinstance(parts, list) else parts


def layers(parts: Any) -> Any:
    return [set(part) for part in parts] if isinstance(parts, list) else parts


@BIG
@given(PAIRS, LABELS, LABELS, st.integers(0, 4))
def test_reachability_equals_networkx(pairs: list[tuple[Any, Any]], one: Any, two: Any, number: int) -> None:
    graph = made(pairs)
    for name in ("ancestors", "descendants"):
        same(name, graph, one)
    same("has_path", graph, one, two)
    same("bfs_layers", graph, one, shape=layers)
    same("bfs_layers", graph, [one, two], shape=layers)
    same("descendants_at_distance", graph, one, number)
    for reverse in (False, True):
        same("bfs_edges", graph, one, reverse=reverse, depth_limit=number)
        same("bfs_edges", graph, one, reverse=reverse)


@BIG
@given(PAIRS, LABELS, LABELS, st.integers(0, 4))
def test_shortest_paths_equal_networkx(pairs: list[tuple[Any, Any]], one: Any, two: Any, number: int) -> None:
    graph = made(pairs)
    same("shortest_path_length", graph, one, two)
    same("shortest_path_length", graph, source=one)
    same("shortest_path_length", graph, target=one)
    same("shortest_path_length", graph, shape=dict)
    same("single_source_shortest_path_length", graph, one, cutoff=number)
    same("shortest_path", graph, one, two, shape=len)
    path = outcome(lambda: nx.shortest_path(graph, one, two, backend="mog"))
    if isinstance(path, list):
        assert nx.is_path(graph, path)
        assert (path[0], path[-1]) == (one, two)
    for way in ({"source": one}, {"target": one}):
        same("shortest_path", graph, **way, shape=lambda paths: {end: len(path) for end, path in paths.items()})


@BIG
@given(PAIRS)
def test_components_and_orders_equal_networkx(pairs: list[tuple[Any, Any]]) -> None:
    graph = made(pairs)
    same("weakly_connected_components", graph, shape=sets)
    same("strongly_connected_components", graph, shape=sets)
    same("topological_generations", graph, shape=layers)
    for name in (
        "number_weakly_connected_components",
        "number_strongly_connected_components",
        "is_weakly_connected",
        "is_strongly_connected",
        "is_directed_acyclic_graph",
    ):
        same(name, graph)
    order = outcome(lambda: nx.topological_sort(graph, backend="mog"))
    if isinstance(order, list):
        place = {node: at for at, node in enumerate(order)}
        assert sorted(map(str, order)) == sorted(map(str, graph))
        assert all(place[tail] < place[head] for tail, head in graph.edges)
    same("is_weakly_connected", nx.DiGraph())
    same("topological_generations", nx.DiGraph())


@BIG
@given(PAIRS, st.dictionaries(LABELS, st.floats(0.1, 5), max_size=3))
def test_pagerank_is_the_fixed_point_networkx_approaches(
    pairs: list[tuple[Any, Any]], wanted: dict[Any, float]
) -> None:
    graph = made(pairs)
    personal = {node: weight for node, weight in wanted.items() if node in graph} or None
    ours = nx.pagerank(graph, personalization=personal, tol=1e-12, backend="mog")
    theirs = nx.pagerank(graph, personalization=personal, tol=1e-15, max_iter=1_000)
    assert ours.keys() == theirs.keys()
    assert all(abs(ours[node] - theirs[node]) < 1e-9 for node in ours)
    assert abs(sum(ours.values()) - 1) < 1e-9


def test_strong_components_come_after_those_they_lead_to() -> None:
    graph = nx.DiGraph([(1, 2), (2, 1), (2, 3), (3, 4), (4, 3)])
    assert list(nx.strongly_connected_components(graph, backend="mog")) == [{3, 4}, {1, 2}]


def test_deep_graphs_need_no_recursion() -> None:
    chain = nx.path_graph(20_000, create_using=nx.DiGraph)
    assert nx.number_strongly_connected_components(chain, backend="mog") == 20_000
    assert len(nx.descendants(chain, 0, backend="mog")) == 19_999
    assert list(nx.topological_sort(chain, backend="mog"))[-1] == 19_999
    assert nx.is_weakly_connected(chain, backend="mog")


NODES = 12
FILES = st.dictionaries(
    st.integers(1, 3),
    st.lists(
        st.tuples(
            st.integers(1, NODES), st.integers(1, NODES), st.sampled_from(["calls", "imports"]), st.sampled_from([0, 2])
        ),
        max_size=14,
    ),
)


@settings(max_examples=30, deadline=None)
@given(FILES, FILES, st.integers(1, NODES))
@pytest.mark.parametrize("threshold", [0, 10**9])
def test_a_snapshot_with_edits_answers_as_networkx_does(
    threshold: int, first: dict[int, list[Edge]], change: dict[int, list[Edge]], node: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(closure, "_WIDE", threshold)
        patch.setattr(closure, "_WORTH_LOADING", threshold)
        with build(Path(folder), NODES, first) as db:
            edit(db, change)
            snap = view(CodeSnapshot.load(db), kinds=["calls"], tiers=[0])
        edges = {edge[:2] for file in (first | change).values() for edge in file if edge[2:] == ("calls", 0)}
        plain: nx.DiGraph = nx.DiGraph()
        plain.add_nodes_from(range(1, NODES + 1))
        plain.add_edges_from(sorted(edges))
        assert set(snap) == set(plain) and set(snap.edges) == edges
        assert (len(snap), snap.number_of_edges()) == (NODES, len(edges))
        assert nx.ancestors(snap, node) == nx.ancestors(plain, node)
        assert nx.descendants(snap, node) == nx.descendants(plain, node)
        assert list(nx.bfs_edges(snap, node)) == list(nx.bfs_edges(plain, node))
        assert list(nx.bfs_edges(snap, node, reverse=True)) == list(nx.bfs_edges(plain, node, reverse=True))
        assert sets(list(nx.weakly_connected_components(snap))) == sets(list(nx.weakly_connected_components(plain)))
        assert sets(list(nx.strongly_connected_components(snap))) == sets(list(nx.strongly_connected_components(plain)))
        assert nx.is_directed_acyclic_graph(snap) == nx.is_directed_acyclic_graph(plain)
        ranks = nx.pagerank(plain, tol=1e-15, max_iter=1_000)
        assert all(abs(rank - ranks[key]) < 1e-9 for key, rank in nx.pagerank(snap, tol=1e-12).items())
        for key in plain:
            assert snap.in_degree[key] == plain.in_degree[key]
            assert snap.out_degree(key) == plain.out_degree(key)
            assert snap.degree[key] == plain.degree[key]
            assert set(snap.predecessors(key)) == set(plain.predecessors(key))
            assert set(snap[key]) == set(plain[key])
        assert dict(snap.in_degree()) == dict(plain.in_degree())


@pytest.fixture
def snap(tmp_path: Path) -> Snap:
    with build(tmp_path, 4, {1: [(1, 2, "calls", 0), (1, 2, "calls", 0), (2, 3, "imports", 0)]}) as db:
        return view(CodeSnapshot.load(db))


def test_a_view_is_never_converted_silently(snap: Snap, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nx_backend, "NETWORKX_LIMIT", 3)
    assert nx.ancestors(snap, 3) == {1, 2}
    with pytest.raises((NotImplementedError, TypeError, RuntimeError)):
        nx.betweenness_centrality(snap)
    with pytest.raises(UsageError) as refused:
        nx_backend.convert_to_nx(snap)
    assert refused.value.way_out
    monkeypatch.setattr(nx_backend, "NETWORKX_LIMIT", 4)
    graph = nx_backend.convert_to_nx(snap)
    assert sorted(graph.edges) == [(1, 2), (2, 3)] and sorted(graph) == [1, 2, 3, 4]
    assert nx_backend.convert_to_nx(7) == 7


def test_views_are_frozen_and_know_their_nodes(snap: Snap) -> None:
    assert not hasattr(snap, "add_edge") and not hasattr(snap, "remove_node")
    assert (1 in snap, 5 in snap, "1" in snap, None in snap) == (True, False, False, False)
    assert snap.has_edge(1, 2) and not snap.has_edge(2, 1) and not snap.has_edge(1, 99)
    assert list(snap.successors(1)) == [2]
    assert snap.number_of_edges(1, 2) == 1
    assert sorted(snap.nodes) == [1, 2, 3, 4]
    with pytest.raises(nx.NetworkXError):
        nx.ancestors(snap, 99)
    with pytest.raises(nx.NodeNotFound):
        nx.has_path(snap, 1, 99)
    with pytest.raises(KeyError):
        snap[99]
    with pytest.raises(KeyError):
        snap.in_degree[99]


@pytest.mark.parametrize(
    ("name", "graph", "args", "kwargs"),
    [
        ("has_path", nx.Graph([(1, 2)]), (1, 2), {}),
        ("shortest_path", nx.DiGraph([(1, 2)]), (1, 2), {"weight": "cost"}),
        ("shortest_path_length", nx.DiGraph([(1, 2)]), (1, 2, "cost"), {}),
        ("pagerank", nx.MultiDiGraph([(1, 2), (1, 2)]), (), {}),
        ("pagerank", nx.DiGraph([(1, 2, {"weight": 3})]), (), {}),
        ("pagerank", nx.DiGraph([(1, 2)]), (), {"dangling": {1: 1.0}}),
        ("bfs_edges", nx.DiGraph([(1, 2)]), (1,), {"sort_neighbors": sorted}),
    ],
)
def test_what_the_backend_would_get_wrong_it_does_not_run(name: str, graph: Any, args: Any, kwargs: Any) -> None:
    assert isinstance(nx_backend.can_run(name, (graph, *args), kwargs), str)
    with pytest.raises((NotImplementedError, RuntimeError)):
        getattr(nx, name)(graph, *args, backend="mog", **kwargs)


def test_plain_graphs_stay_with_networkx_unless_asked(snap: Snap) -> None:
    assert nx_backend.should_run("ancestors", (snap, 1), {}) is True
    assert isinstance(nx_backend.should_run("ancestors", (nx.DiGraph(), 1), {}), str)


def test_every_function_that_is_announced_exists() -> None:
    for name in nx_info.FUNCTIONS:
        assert callable(getattr(nx_backend.backend, name))
        assert "mog" in getattr(nx, name).backends
    with pytest.raises(AttributeError):
        nx_backend.backend.betweenness_centrality  # noqa: B018
    assert nx_info.info()["backend_name"] == "mog"
