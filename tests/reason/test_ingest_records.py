"""Decision records become decisions that supersede each other; models only propose."""

from __future__ import annotations

from pathlib import Path

import pytest
from prose_kit import claims, mesh_at, take

from mog.engine.errors import NotFound, PolicyDenied, UsageError
from mog.engine.graph import GraphNode
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.prose import proposals, readers
from mog.engine.reason.prose.documents import Document
from mog.engine.reason.prose.proposals import Request, Scripted


def adr(number: int, title: str, status: str, decision: str, context: str = "The old way is slow.") -> Document:
    text = f"# {number}. {title}\n\n## Status\n\n{status}\n\n## Context\n\n{context}\n\n## Decision\n\n{decision}\n"
    found = readers.from_bytes(f"docs/adr/{number:04d}-{title.lower().replace(' ', '-')}.md", text.encode())
    assert isinstance(found, Document) and found.form == "adr"
    return found


@pytest.fixture
def mesh(tmp_path: Path) -> Mesh:
    return mesh_at(tmp_path)


def decisions(mesh: Mesh) -> dict[str, GraphNode]:
    return {node.label: node for node in mesh.graph.nodes("decision") if mesh.stands(node.id)}


def test_a_decision_section_makes_a_decision(mesh: Mesh) -> None:
    take(mesh, adr(1, "Use Redis", "Accepted", "We use Redis for sessions because it is fast. It runs on two hosts."))
    (node,) = decisions(mesh).values()
    assert node.label == "Use Redis" and node.attrs["rationale"].startswith("We use Redis for sessions")
    assert node.attrs["number"] == "1" and node.provenance is not None
    rests = [mesh.graph.node(edge.dst).label for edge in mesh.graph.out_edges(node.id, ("derived_from",))]
    supports = {mesh.graph.node(edge.src).label for edge in mesh.graph.in_edges(node.id, ("supports",))}
    assert rests == ["We use Redis for sessions because it is fast."]
    assert {"The old way is slow.", "It runs on two hosts."} <= supports
    assert "Redis" in {mesh.graph.node(edge.dst).label for edge in mesh.graph.out_edges(node.id, ("about",))}


@pytest.mark.parametrize("status", ["Proposed", "Rejected", "Draft"])
def test_what_was_not_decided_is_no_decision(mesh: Mesh, status: str) -> None:
    take(mesh, adr(1, "Use Redis", status, "We use Redis for sessions because it is fast."))
    assert not mesh.graph.nodes("decision") and claims(mesh)


@pytest.mark.parametrize("older_first", [True, False])
def test_superseded_by_a_number_supersedes(mesh: Mesh, older_first: bool) -> None:
    old = adr(
        1, "Use Redis", "Superseded by [ADR 2](0002-use-files.md)", "We use Redis for sessions because it is fast."
    )
    new = adr(2, "Use files", "Accepted", "We use files for sessions because they are simple.")
    for each in (old, new) if older_first else (new, old):
        take(mesh, each)
    assert list(decisions(mesh)) == ["Use files"]
    (edge,) = mesh.graph.edges("supersedes")
    assert mesh.graph.node(edge.dst).label == "Use Redis" and mesh.graph.node(edge.src).label == "Use files"


def test_supersedes_from_the_new_record(mesh: Mesh) -> None:
    old = adr(1, "Use Redis", "Accepted", "We use Redis for sessions because it is fast.")
    new = adr(2, "Use files", "Accepted\n\nSupersedes ADR-0001", "We use files for sessions because they are simple.")
    take(mesh, old, new)
    assert list(decisions(mesh)) == ["Use files"]


def test_a_changed_decision_is_another_event(mesh: Mesh) -> None:
    take(mesh, adr(1, "Use Redis", "Accepted", "We use Redis for sessions because it is fast."))
    first = decisions(mesh)["Use Redis"].id
    take(mesh, adr(1, "Use Redis", "Accepted", "We use Redis for sessions since it is cheap."))
    second = decisions(mesh)["Use Redis"].id
    assert first != second and [(e.src, e.dst) for e in mesh.graph.edges("supersedes") if e.dst == first] == [
        (second, first)
    ]
    head = mesh.head
    take(mesh, adr(1, "Use Redis", "Accepted", "We use Redis for sessions since it is cheap."))
    assert mesh.head == head


def test_a_changed_context_leaves_the_decision_alone(mesh: Mesh) -> None:
    take(mesh, adr(1, "Use Redis", "Accepted", "We use Redis for sessions because it is fast."))
    first = decisions(mesh)["Use Redis"].id
    take(
        mesh,
        adr(
            1,
            "Use Redis",
            "Accepted",
            "We use Redis for sessions because it is fast.",
            context="The old way was too slow.",
        ),
    )
    assert decisions(mesh)["Use Redis"].id == first


def test_a_deprecated_record_is_retracted_and_a_removed_one_falls(mesh: Mesh) -> None:
    kept = adr(1, "Use Redis", "Accepted", "We use Redis for sessions because it is fast.")
    take(mesh, kept, collection="adr", complete=True)
    take(mesh, collection="adr", complete=True)
    assert not decisions(mesh)
    take(mesh, kept, collection="adr", complete=True)
    assert list(decisions(mesh)) == ["Use Redis"]
    take(
        mesh,
        adr(1, "Use Redis", "Deprecated", "We use Redis for sessions because it is fast."),
        collection="adr",
        complete=True,
    )
    assert not decisions(mesh)


# -- proposals: the answers come from a script, there is no model here


def asked(mesh: Mesh, task: str = "annotation") -> Request:
    take(mesh, adr(1, "Use Redis", "Accepted", "We use Redis for sessions because it is fast."))
    id = claims(mesh)["The old way is slow."]
    return Request(task, {id: "The old way is slow."})


def answer(request: Request, **more: object) -> dict[str, object]:
    (target,) = request.targets
    return {"model": "script/1", "items": [{"target": target, "text": "Slow means seconds here.", **more}]}


def test_proposals_are_off_without_a_proposer(mesh: Mesh) -> None:
    with pytest.raises(PolicyDenied):
        proposals.propose(mesh, None, asked(mesh))


def test_a_proposal_enters_as_a_claim_with_its_model(mesh: Mesh) -> None:
    request = asked(mesh, "audit")
    script = Scripted([answer(request, verdict="contradicts")])
    (id,) = proposals.propose(mesh, script, request)
    node = mesh.graph.node(id)
    (target,) = request.targets
    assert node.kind == "proposal" and node.provenance is not None and node.provenance.extractor == "model:script/1"
    assert mesh.graph.node(node.provenance.source_id).kind == "run" and node.attrs["verdict"] == "contradicts"
    assert [edge.dst for edge in mesh.graph.out_edges(id, ("cites",))] == [target]
    assert mesh.stands(target) and not mesh.judgements(), "a proposal judges nothing"
    head = mesh.head
    assert proposals.propose(mesh, Scripted([answer(request, verdict="contradicts")]), request) == (id,)
    assert mesh.head == head


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"extra": 1}, "answer"),
        ({"model": "a b"}, "model"),
        ({"model": 3}, "model"),
        ({"items": {}}, "items"),
        ({"items": [{"target": "x", "text": "y"}]}, "items[0].target"),
        ({"items": [{"text": "y"}]}, "items[0]"),
        ({"items": [{"target": "T", "text": "y", "id": "z"}]}, "items[0]"),
        ({"items": [{"target": "T", "text": " "}]}, "items[0].text"),
        ({"items": [{"target": "T", "text": "x" * 2_001}]}, "items[0].text"),
        ({"items": [{"target": "T", "text": "y", "verdict": "contradicts"}]}, "items[0].verdict"),
        ({"items": [{"target": "T", "text": "y"}] * 33}, "items"),
    ],
)
def test_an_answer_that_is_not_exactly_right_records_nothing(mesh: Mesh, change: dict[str, object], where: str) -> None:
    request = asked(mesh)
    (target,) = request.targets
    bad = answer(request) | change
    if isinstance(bad["items"], list):
        bad["items"] = [item | {"target": target} if item.get("target") == "T" else item for item in bad["items"]]
    head = mesh.head
    with pytest.raises(UsageError) as caught:
        proposals.propose(mesh, Scripted([bad]), request)
    assert caught.value.where == where and mesh.head == head


def test_a_request_is_checked_too(mesh: Mesh) -> None:
    for request in (Request("annotation", {}), Request("verdict", {"x": "y"})):
        with pytest.raises(UsageError):
            proposals.propose(mesh, Scripted([]), request)
    with pytest.raises(NotFound):
        proposals.propose(mesh, Scripted([]), Request("annotation", {"0" * 32: "x"}))
