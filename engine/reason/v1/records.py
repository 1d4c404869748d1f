"""The records of ``contextmesh.graph v1`` and ``contextmesh.resolver v1``, and the names the two formats are made of.

Called by the readers, the writers and the two bridges to the mesh. What may not come in: files, the mesh, our own rules:
here stands only what the formats say, so that a file is judged by them and not by GRAPH.md of today.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

GRAPH_SCHEMA = "contextmesh.graph"
RESOLVER_SCHEMA = "contextmesh.resolver"
VERSION = 1
STATUSES = ("active", "superseded", "rejected")
MUST_CARRY: Mapping[str, tuple[str, ...]] = {
    "entity": ("canonical", "aliases"),
    "claim": (),
    "source": ("origin", "retrieved_at"),
    "decision": ("rationale",),
    "assumption": ("status", "version"),
    "evidence": ("kind",),
}
NEEDS_PROVENANCE = ("claim", "decision")
PAIRS: Mapping[str, frozenset[tuple[str, str]]] = {
    "mentions": frozenset({("source", "entity"), ("claim", "entity")}),
    "derived_from": frozenset({("claim", "source"), ("decision", "claim"), ("entity", "source")}),
    "cites": frozenset({("decision", "source"), ("claim", "claim")}),
    "contradicts": frozenset({("claim", "claim"), ("evidence", "claim"), ("evidence", "assumption")}),
    "supports": frozenset({("evidence", "claim"), ("claim", "decision"), ("evidence", "decision")}),
    "depends_on": frozenset({("decision", "assumption"), ("decision", "decision"), ("claim", "assumption")}),
    "produces": frozenset({("decision", "entity"), ("decision", "source")}),
    "supersedes": frozenset({("decision", "decision"), ("assumption", "assumption"), ("claim", "claim")}),
    "justified_by": frozenset({("decision", "evidence"), ("claim", "evidence"), ("assumption", "evidence")}),
    "resolves_to": frozenset({("entity", "entity")}),
}
BACKWARD = ("depends_on", "derived_from")
FORWARD = ("produces",)
AUTO_DECISION = "decision:auto:"


@dataclass(frozen=True, slots=True)
class ProvenanceV1:
    """Where a node came from; ``span`` in characters of the source's text."""

    source_id: str
    span: tuple[int, int] | None = None
    extractor: str = "rule"
    checks: tuple[str, ...] = ()
    recorded_at_build: int = 0


@dataclass(frozen=True, slots=True)
class NodeV1:
    """One node; ``embedding`` is None or a vector of any length."""

    id: str
    type: str
    label: str
    attrs: Mapping[str, Any]
    provenance: ProvenanceV1 | None = None
    embedding: tuple[float, ...] | None = None
    build: int = 0
    walks: int = 0
    pruned: bool = False
    invalidated: bool = False

    @property
    def live(self) -> bool:
        """Neither pruned nor invalidated."""
        return not (self.pruned or self.invalidated)


@dataclass(frozen=True, slots=True)
class EdgeV1:
    """One edge; ``assumption_id`` names the assumption it holds under, if it is bound to one."""

    id: str
    src: str
    dst: str
    type: str
    assumption_id: str | None = None
    evidence_ids: tuple[str, ...] = ()
    weight: float = 1.0
    build: int = 0
    traversals: int = 0
    invalidated: bool = False


@dataclass(frozen=True, slots=True)
class AssumptionV1:
    """The record beside an assumption's node; ``statement``, ``status`` and ``version`` repeat what the node says."""

    id: str
    statement: str
    status: str = "active"
    version: int = 1
    created_by: str = "system"
    created_at_build: int = 0
    supersedes: str | None = None
    superseded_by: str | None = None
    rejected_at_build: int | None = None
    evidence_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphV1:
    """A whole graph; the order of each list is part of the format."""

    build: int
    nodes: tuple[NodeV1, ...]
    edges: tuple[EdgeV1, ...]
    assumptions: tuple[AssumptionV1, ...]


@dataclass(frozen=True, slots=True)
class ResolutionV1:
    """One mention and what became of it; id and label are both there or both None."""

    mention: str
    canonical_id: str | None
    canonical_label: str | None
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class ResolverV1:
    """A whole resolver: names by entity id, entity ids by alias and by block, and the log of resolutions."""

    threshold: float
    canonical: Mapping[str, str]
    aliases: Mapping[str, str]
    blocks: Mapping[str, tuple[str, ...]]
    log: tuple[ResolutionV1, ...]


def edge_id(src: str, kind: str, dst: str) -> str:
    """The id the format derives for an edge: forty characters of its words and 24 bits of a SHA-1 digest.

    Two different edges can get the same one; a writer has to look.
    """
    text = f"{src}|{kind}|{dst}"
    words = re.sub("[^a-z0-9]+", "-", text.lower()).strip("-")
    short = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:6]
    return "edge:" + "-".join(filter(None, (words[:40], short)))


def decision_digest(node: NodeV1, edges: Iterable[EdgeV1], types: Mapping[str, str]) -> str:
    """SHA-256 over what a decision says, as the format keeps it in ``decision_payload_digest``.

    Args:
        edges: the edges that leave the decision. types: the type of every node by id.
    """
    ends: dict[str, set[str]] = {kind: set() for kind in PAIRS}
    replaced = None
    for edge in edges:
        if edge.type != "depends_on" or types[edge.dst] == "assumption":
            ends[edge.type].add(edge.dst)
        replaced = replaced or (edge.dst if edge.type == "supersedes" else None)
    source = node.provenance.source_id if node.provenance else None
    said = {
        "title": node.label, "rationale": node.attrs.get("rationale"), "source_id": source,
        "cites": sorted(ends["cites"] - {source}), "derived_from": sorted(ends["derived_from"]),
        "depends_on": sorted(ends["depends_on"]), "produces": sorted(ends["produces"]), "supersedes": replaced,
    }  # fmt: skip
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
