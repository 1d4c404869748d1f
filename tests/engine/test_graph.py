"""The reason layer: writes are checked, decisions never change, reads are copies, the feed is complete and in order."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.errors import NotFound, OntologyError, UsageError
from mog.engine.graph import ContextGraph, GraphChange, Provenance
from mog.engine.model import Anchor, Node
from mog.engine.ontology import load, load_project

OURS = load()
CODE = Node(7, "ab" * 16, "symbol", "function", "verify", "C.verify", "src/a\udcff.py", 3, 9)
ANCHOR = Anchor(CODE.locator, "function", "11" * 16, "22" * 16, "python 0.25")


@pytest.fixture
def graph() -> ContextGraph:
    return ContextGraph(OURS, "repo")


def source(graph: ContextGraph, label: str = "ADR 1") -> str:
    return graph.add_node("source", label, attrs={"origin": "docs", "retrieved_at": None}).id


def claim(graph: ContextGraph, label: str = "tokens are checked") -> str:
    return graph.add_node("claim", label, provenance=Provenance(source(graph))).id


def decision(graph: ContextGraph, label: str = "use argon2", **attrs: object) -> str:
    made = {"rationale": "it is slow", **attrs}
    return graph.add_node("decision", label, attrs=made, provenance=Provenance(source(graph))).id


def assumption(graph: ContextGraph, label: str = "CI has no network") -> str:
    return graph.add_node("assumption", label, kind="constraint", attrs={"status": "active", "version": 1}).id


# -- writes


def test_a_node_gets_a_deterministic_id_and_its_default_kind(graph):
    one, other = claim(graph), claim(ContextGraph(OURS, "repo"))
    assert one == other and len(one) == 32
    assert graph.node(one).kind == "statement"
    assert claim(ContextGraph(OURS, "elsewhere")) != one


@pytest.mark.parametrize(
    ("type", "kind", "attrs", "says"),
    [
        ("klaim", "", {}, "node type"),
        ("claim", "rumour", {}, "kind of claim"),
        ("claim", "", {}, "provenance"),
        ("claim", "", {"provenance": "made up"}, "provenance"),
        ("assumption", "", {"status": "active"}, "version"),
        ("symbol", "function", {"locator": "x", "span_hash": "y"}, "id the index gave it"),
    ],
)
def test_a_node_outside_the_ontology_is_refused(graph, type, kind, attrs, says):
    with pytest.raises(OntologyError, match=says):
        graph.add_node(type, "label", kind=kind, attrs=attrs)
    assert len(graph) == 0


def test_provenance_has_to_name_a_source_of_this_graph(graph):
    for wrong in ("nowhere", assumption(graph)):
        with pytest.raises(OntologyError, match="no source"):
            graph.add_node("claim", "x", provenance=Provenance(wrong))


def test_a_second_sighting_merges_attributes(graph):
    first = graph.add_node("entity", "PG", attrs={"canonical": "PG", "aliases": []})
    again = graph.add_node("entity", "PG", attrs={"canonical": "PG", "aliases": ["postgres"], "seen": 2})
    assert again.id == first.id and len(graph) == 1
    assert dict(again.attrs) == {"canonical": "PG", "aliases": ("postgres",), "seen": 2}
    assert first.attrs["aliases"] == ()


def test_an_id_that_stands_for_something_else_is_refused(graph):
    taken = assumption(graph)
    with pytest.raises(OntologyError, match="will not name"):
        graph.add_node("entity", "other", id=taken, attrs={"canonical": "other", "aliases": []})
    with pytest.raises(OntologyError, match="will not name"):
        graph.add_node("assumption", "other", kind="constraint", id=taken, attrs={"status": "active", "version": 1})
    assert graph.node(taken).label == "CI has no network"


def test_the_same_words_twice_are_two_decisions(graph):
    assert decision(graph) != decision(graph)
    assert len(graph.nodes("decision")) == 2


def test_a_decision_is_never_changed(graph):
    made = decision(graph)
    before = graph.node(made)
    for why in ("it is slow", "another"):
        with pytest.raises(OntologyError, match="never changed"):
            graph.add_node("decision", "use argon2", id=made, attrs={"rationale": why}, provenance=before.provenance)
    assert graph.node(made) == before
    with pytest.raises(TypeError):
        before.attrs["rationale"] = "forged"  # type: ignore[index]


def test_attributes_are_copied_and_frozen(graph):
    inner = ["a"]
    made = graph.add_node("entity", "x", attrs={"canonical": "x", "aliases": inner, "deep": {"k": [1]}})
    inner.append("b")
    assert made.attrs["aliases"] == ("a",)
    with pytest.raises(TypeError):
        made.attrs["deep"]["k"] = 2


@pytest.mark.parametrize("bad", [{1, 2}, b"x", float("nan"), float("inf"), 2**60, "\ud800", {1: 2}, object()])
def test_what_json_cannot_hold_is_refused_at_the_write(graph, bad):
    with pytest.raises(UsageError):
        graph.add_node("entity", "x", attrs={"canonical": "x", "aliases": [], "extra": [bad]})
    assert len(graph) == 0


def test_endless_nesting_and_endless_labels_are_refused(graph):
    deep: list[object] = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(UsageError, match="deeper"):
        graph.add_node("entity", "x", attrs={"canonical": "x", "aliases": [], "deep": deep})
    with pytest.raises(UsageError, match="label"):
        graph.add_node("entity", "x" * 20_000, attrs={"canonical": "x", "aliases": []})


def test_an_illegal_pair_is_refused(graph):
    a, c = assumption(graph), claim(graph)
    with pytest.raises(OntologyError, match="not a legal pair"):
        graph.add_edge("depends_on", a, c)
    with pytest.raises(OntologyError, match="edge type"):
        graph.add_edge("", c, a)
    assert graph.edges() == ()


def test_an_edge_needs_both_ends_and_not_the_same(graph):
    made = decision(graph)
    with pytest.raises(NotFound):
        graph.add_edge("depends_on", made, "nowhere")
    with pytest.raises(OntologyError, match="itself"):
        graph.add_edge("depends_on", made, made)


def test_the_same_edge_twice_is_one_and_weighs_the_same(graph):
    made, ground = decision(graph), assumption(graph)
    first = graph.add_edge("depends_on", made, ground)
    assert graph.add_edge("depends_on", made, ground) is first
    assert graph.edges() == (first,)
    assert first.weight == OURS.weight("depends_on")


def test_a_role_makes_another_edge(graph):
    ev = graph.add_node("evidence", "it failed", kind="failure").id
    thing = graph.add_node("entity", "x", attrs={"canonical": "x", "aliases": []}).id
    ids = {graph.add_edge("about", ev, thing, role=role).id for role in ("", "cause")}
    assert len(ids) == 2
    assert {e.role for e in graph.out_edges(ev)} == {"", "cause"}


def test_a_project_type_and_edge_work_without_touching_code(tmp_path):
    (tmp_path / "GRAPH.md").write_text(
        "## Node types\n| Type | Symbol | Must carry |\n|---|---|---|\n| Service | `service` | owner |\n"
        "## Edge types\n| Edge | Legal pairs | Invalidation |\n|---|---|---|\n| `runs_on` | service→service | none |\n"
    )
    graph = ContextGraph(load_project(tmp_path))
    a, b = (graph.add_node("service", name, attrs={"owner": "me"}).id for name in "ab")
    graph.add_edge("runs_on", a, b)
    assert graph.untyped_edges == 0
    assert list(graph.neighborhood(a).edges(data="kind")) == [(a, b, "runs_on")]


# -- the bridge


def test_reasoning_is_bound_to_code_by_id_and_locator(graph):
    ground = assumption(graph)
    edge = graph.bind(ground, CODE, ANCHOR)
    bound = graph.node(CODE.id)
    assert (edge.kind, edge.src, edge.dst) == ("about", ground, CODE.id)
    assert bound.attrs["locator"] == "sym:src/a%FF.py::C.verify"
    assert bound.attrs["span_hash"] == ANCHOR.span_hash
    assert OURS.node(bound.type).layer == "code"


def test_a_bound_symbol_may_be_anchored_anew(graph):
    made = decision(graph)
    graph.bind(made, CODE, ANCHOR)
    later = Anchor(ANCHOR.locator, "function", "33" * 16, "22" * 16, "python 0.25")
    graph.bind(made, CODE, later)
    assert graph.node(CODE.id).attrs["span_hash"] == later.span_hash
    assert len(graph.edges("about")) == 1


def test_a_refused_bridge_leaves_no_code_node(graph):
    with pytest.raises(OntologyError, match="not a legal pair"):
        graph.bind(source(graph), CODE, ANCHOR)
    with pytest.raises(NotFound):
        graph.bind("nowhere", CODE, ANCHOR)
    assert CODE.id not in graph


# -- reads


def test_an_empty_graph_answers(graph):
    assert len(graph) == 0 and "x" not in graph and graph.untyped_edges == 0
    assert graph.nodes() == () and graph.edges() == () and graph.get("x") is None
    for ask in (graph.node, graph.out_edges, graph.in_edges, graph.neighborhood):
        with pytest.raises(NotFound):
            ask("x")


def test_a_neighbourhood_is_a_networkx_graph_of_its_own(graph):
    import networkx as nx

    made, ground = decision(graph), assumption(graph)
    graph.add_edge("depends_on", made, ground, role="main")
    view = graph.neighborhood(ground)
    assert isinstance(view, nx.MultiDiGraph)
    assert set(view) == {made, ground}
    assert view.edges[made, ground, ("depends_on", "main")]["weight"] == 0.9
    assert view.nodes[made]["type"] == "decision" and view.nodes[made]["layer"] == "reason"
    view.nodes[made]["attrs"]["rationale"] = "forged"
    view.remove_node(ground)
    assert graph.node(made).attrs["rationale"] == "it is slow" and ground in graph
    assert nx.is_directed(view)


def test_a_hub_is_bounded_and_says_what_it_left_out(graph):
    hub = assumption(graph)
    for i in range(50):
        graph.add_edge("depends_on", decision(graph, f"d{i}"), hub)
    view = graph.neighborhood(hub, limit=11)
    assert len(view) == 11 and view.graph["omitted"] == 40
    assert graph.neighborhood(hub, limit=51).graph["omitted"] == 0
    assert list(graph.neighborhood(hub, depth=0)) == [hub]
    with pytest.raises(UsageError):
        graph.neighborhood(hub, limit=0)


def test_edges_can_be_picked_by_type(graph):
    made, ground = decision(graph), assumption(graph)
    graph.add_edge("depends_on", made, ground)
    graph.add_edge("cites", made, source(graph))
    assert {e.kind for e in graph.out_edges(made)} == {"depends_on", "cites"}
    assert {e.kind for e in graph.out_edges(made, ("cites",))} == {"cites"}
    assert [e.src for e in graph.in_edges(ground)] == [made]
    assert ground not in graph.neighborhood(made, kinds=("cites",))


# -- the change feed


def test_every_change_is_fed_once_and_in_order(graph):
    seen: list[GraphChange] = []
    claim(graph)
    end = graph.subscribe(seen.append)
    made, ground = decision(graph), assumption(graph)
    graph.add_edge("depends_on", made, ground)
    graph.add_edge("depends_on", made, ground)
    graph.add_node("assumption", "CI has no network", kind="constraint", attrs={"status": "rejected", "version": 1})
    end()
    claim(graph, "unseen")
    assert [c.kind for c in seen] == ["node", "node", "edge", "update"]
    numbers = [c.seq for c in seen]
    assert numbers == list(range(numbers[0], numbers[0] + 4))


def test_a_subscriber_may_write_and_a_failing_one_harms_nobody(graph):
    seen: list[int] = []

    def failing(change: GraphChange) -> None:
        raise RuntimeError("mine")

    def writing(change: GraphChange) -> None:
        seen.append(change.seq)
        if change.seq < 5:
            graph.add_node("evidence", f"saw {change.seq}", kind="observation")

    graph.subscribe(failing)
    graph.subscribe(writing)
    assumption(graph)
    assert seen == [1, 2, 3, 4, 5]
    assert len(graph.feed_failures) == 5 and str(graph.feed_failures[0][1]) == "mine"


def test_writers_and_readers_on_many_threads_see_whole_states(graph):
    hub, errors, fed = assumption(graph), [], []
    graph.subscribe(lambda change: fed.append(change.seq))
    done = threading.Event()

    def write(name: str) -> None:
        for i in range(60):
            graph.add_edge("depends_on", decision(graph, f"{name}{i}"), hub)

    def read() -> None:
        while not done.is_set():
            try:
                view = graph.neighborhood(hub, limit=30)
                assert all("type" in data for _, data in view.nodes(data=True))
                assert graph.untyped_edges == 0
            except Exception as error:
                errors.append(error)
                return

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=write, args=(name,)) for name in "abc"]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join(60)
    done.set()
    for thread in readers:
        thread.join(60)
    assert errors == []
    assert len(graph.in_edges(hub)) == 180
    assert fed == sorted(fed) and fed[-1] - fed[0] + 1 == len(fed)


def test_the_module_imports_no_networkx():
    code = "import sys, mog.engine.graph; print('networkx' in sys.modules)"
    out = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert out.stdout.strip() == b"False", out.stderr


# -- whatever is tried, the graph stays typed

types = st.sampled_from([*OURS.node_types, "nothing"])
kinds = st.sampled_from(["", *sorted({k for n in OURS.node_types.values() for k in n.kinds})])
labels = st.sampled_from(["a", "b", "c"])
writes = st.one_of(
    st.tuples(st.just("node"), types, kinds, labels, st.booleans()),
    st.tuples(st.just("edge"), st.sampled_from([*OURS.edge_types, ""]), st.integers(0, 30), st.integers(0, 30)),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(writes, max_size=40))
def test_no_sequence_of_writes_makes_an_untyped_edge(steps):
    graph = ContextGraph(OURS)
    origin = source(graph)
    full = {name: "x" for row in OURS.node_types.values() for name in row.must_carry}
    fed: list[GraphChange] = []
    graph.subscribe(fed.append)
    expected: set[tuple[str, str, str]] = set()
    for step in steps:
        nodes = graph.nodes()
        try:
            if step[0] == "node":
                _, type, kind, label, complete = step
                attrs, made_in = (full, Provenance(origin)) if complete else ({}, None)
                graph.add_node(type, label, kind=kind, attrs=attrs, provenance=made_in)
            else:
                src, dst = nodes[step[2] % len(nodes)], nodes[step[3] % len(nodes)]
                legal = OURS.legal(step[1], src.type, dst.type) and src.id != dst.id
                graph.add_edge(step[1], src.id, dst.id)
                assert legal
                expected.add((step[1], src.id, dst.id))
        except OntologyError as error:
            assert error.way_out
            assert len(graph.nodes()) == len(nodes)
    assert graph.untyped_edges == 0
    assert {(e.kind, e.src, e.dst) for e in graph.edges()} == expected
    assert sum(c.kind == "edge" for c in fed) == len(expected)
    assert sum(c.kind == "node" for c in fed) == len(graph) - 1
    assert len({n.id for n in graph.nodes()}) == len(graph)
