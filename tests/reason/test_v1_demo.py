"""The earlier package's demo corpus, read from the installed package: its questions, its four dead ends, side by side."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest
from v1_kit import demo, earlier, mesh

from mog.engine.reason.dead_ends import Reason
from mog.engine.reason.prose.documents import Document
from mog.engine.reason.prose.pipeline import ingest
from mog.engine.reason.v1.into_mesh import import_graph
from mog.engine.reason.v1.names import import_resolver
from mog.engine.reason.walker import Walker


@functools.cache
def theirs() -> tuple[Any, Any, tuple[str, ...]]:
    """The corpus built by the earlier package alone: graph, walker, every question its demo knows."""
    cm = earlier()
    graph, resolver = cm.Graph(), cm.Resolver()
    cm.Pipeline(graph, resolver).build(cm.documents())
    names = [node.label for node in graph.by_type(cm.N.ENTITY)]
    asked = [*cm.demo.QUESTIONS, *(t.format(name=name) for t in cm.demo.TEMPLATES for name in names)]
    return graph, cm.Walker(graph, resolver, hop_budget=6), tuple(asked)


def documents() -> list[Document]:
    """The corpus as documents of ours, with the names that it declares."""
    return [
        Document(d.id, d.title, d.text, origin=d.origin, retrieved_at=d.retrieved_at, entities=tuple(d.entities))
        for d in earlier().documents()
    ]


def imported(tmp_path: Path) -> Any:
    m = mesh(tmp_path)
    import_graph(m, demo().graph.to_json().encode())
    import_resolver(m, demo().resolver.to_json().encode())
    return m


def test_at_least_as_many_of_its_questions_are_answered_from_its_corpus(tmp_path: Path) -> None:
    _, walker, asked = theirs()
    m = mesh(tmp_path)
    ingest(m, documents())
    ours = Walker(m)
    answered = sum(ours.ask(question).resolved for question in asked)
    assert answered >= sum(walker.ask(question).resolved for question in asked) > 0.9 * len(asked)


def test_its_out_of_scope_questions_stay_unanswered(tmp_path: Path) -> None:
    m = mesh(tmp_path)
    ingest(m, documents())
    for question in earlier().demo.OUT_OF_SCOPE:
        assert theirs()[1].ask(question).dead_end.value == Walker(m).ask(question).dead_end == "entity_unresolved"


def test_at_least_as_many_of_its_own_questions_are_answered_from_its_own_graph(tmp_path: Path) -> None:
    walker = Walker(imported(tmp_path))
    result = demo()
    for question in earlier().demo.QUESTIONS:
        if result.walker.ask(question).resolved:
            assert walker.ask(question).resolved, question


# -- the four dead ends, each in a graph made by the earlier package, asked of both


class Corner:
    """A graph of two things of the earlier package: one that is spoken of, one that may not be."""

    def __init__(self) -> None:
        self.cm = earlier()
        self.graph, self.resolver = self.cm.Graph(), self.cm.Resolver()
        attrs = {"origin": "a.md", "retrieved_at": "2026-01-08"}
        self.source = self.graph.add_node(self.cm.N.SOURCE, "Field notes", attrs=attrs).id

    def entity(self, name: str) -> str:
        node = self.graph.add_node(self.cm.N.ENTITY, name, attrs={"canonical": name, "aliases": []})
        self.resolver.register(node.id, name)
        return str(node.id)

    def claim(self, text: str, about: str) -> str:
        node = self.graph.add_node(self.cm.N.CLAIM, text, provenance=self.cm.Provenance(self.source))
        self.graph.add_edge(node.id, self.cm.E.DERIVED_FROM, self.source)
        self.graph.add_edge(node.id, self.cm.E.MENTIONS, about)
        return str(node.id)

    def both(self, question: str, tmp_path: Path) -> tuple[str, str]:
        m = mesh(tmp_path)
        import_graph(m, self.graph.to_json().encode())
        import_resolver(m, self.resolver.to_json().encode())
        walk = self.cm.Walker(self.graph, self.resolver).ask(question)
        return walk.dead_end.value if walk.dead_end else "", str(Walker(m).ask(question).dead_end or "")


def _no_typed_edge(c: Corner) -> str:
    c.entity("Turbine Hall")
    return "How loud is the Turbine Hall?"


def _entity_unresolved(c: Corner) -> str:
    c.claim("The Turbine Hall hums at fifty hertz.", c.entity("Turbine Hall"))
    return "Who feeds the zoo penguins?"


def _wrong_node_type(c: Corner) -> str:
    c.claim("Visitors arrive on Tuesday mornings.", c.entity("Turbine Hall"))
    return "How loud is the Turbine Hall?"


def _pruned_entity(c: Corner) -> str:
    hall = c.entity("Turbine Hall")
    c.claim("The Turbine Hall is loud.", hall)
    c.graph.nodes[hall].pruned = True
    return "How loud is the Turbine Hall?"


def _pruned_answer(c: Corner) -> str:
    hall = c.entity("Turbine Hall")
    ledger = c.cm.Ledger(c.graph)
    choice = c.cm.Decisions(c.graph).decide(
        "Measure how loud the Turbine Hall is", "it seemed loud", source_id=c.source,
        assumptions=[ledger.assume("The meter works").id], produces=[hall],
    ).id  # fmt: skip
    proof = c.graph.add_node(c.cm.N.EVIDENCE, "The meter was broken", attrs={"kind": "audit"}).id
    ledger.reject(ledger.active()[0].id, evidence_id=proof)
    assert not c.graph.nodes[choice].live
    return "How loud is the Turbine Hall?"


CASES = {
    "no_typed_edge": _no_typed_edge, "entity_unresolved": _entity_unresolved, "wrong_node_type": _wrong_node_type,
    "pruned_too_early": _pruned_entity, "pruned_too_early (fallen)": _pruned_answer,
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_both_end_for_the_same_reason(name: str, tmp_path: Path) -> None:
    corner = Corner()
    question = CASES[name](corner)
    expected = name.partition(" ")[0]
    assert corner.both(question, tmp_path) == (expected, expected)


def test_the_four_reasons_are_the_same_words() -> None:
    earlier()
    from contextmesh.traverse import DeadEnd

    assert {reason.value for reason in DeadEnd} == {reason.value for reason in Reason}
