"""A mesh over a ledger in a folder, documents in one line, and what a mesh says in plain values."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mog.engine import ontology
from mog.engine.ledgers.events import EventLog
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.prose import pipeline
from mog.engine.reason.prose.documents import Document, Skipped
from mog.engine.reason.prose.report import IngestReport

WHEN = "2026-01-31T12:00:00Z"


def mesh_at(folder: Path) -> Mesh:
    folder.mkdir(parents=True, exist_ok=True)
    return Mesh(EventLog(folder / "ledger.db"), ontology.load(), "repo", clock=lambda: WHEN)


def doc(key: str, text: str, form: str = "markdown", **more: object) -> Document:
    return Document(key, more.pop("title", key), text, form=form, **more)  # type: ignore[arg-type]


def take(mesh: Mesh, *documents: Document | Skipped, **more: object) -> IngestReport:
    return pipeline.ingest(mesh, documents, **more)  # type: ignore[arg-type]


def claims(mesh: Mesh, standing: bool = True) -> dict[str, str]:
    """Label → id of the claims that stand (or of all)."""
    return {node.label: node.id for node in mesh.graph.nodes("claim") if not standing or mesh.stands(node.id)}


def said(mesh: Mesh) -> dict[str, str]:
    """Id → label of the claims that stand; a statement that belongs to its place stands once for each place."""
    return {node.id: node.label for node in mesh.graph.nodes("claim") if mesh.stands(node.id)}


def entities(mesh: Mesh) -> dict[str, str]:
    return {node.label: node.id for node in mesh.graph.nodes("entity") if mesh.walkable(node.id)}


def mentioned(mesh: Mesh, label: str, role: str | None = None) -> set[str]:
    """Names of the entities that a claim mentions."""
    id = claims(mesh, standing=False)[label]
    edges = mesh.graph.out_edges(id, ("mentions",))
    return {mesh.graph.node(edge.dst).label for edge in edges if role is None or edge.role == role}


def sources(mesh: Mesh) -> dict[str, str]:
    return {str(node.attrs["key"]): node.id for node in mesh.graph.nodes("source") if "key" in node.attrs}


def labels_of(readings: Iterable[object]) -> list[str]:
    return [said.statement.label for reading in readings for said in reading.said]  # type: ignore[attr-defined]
