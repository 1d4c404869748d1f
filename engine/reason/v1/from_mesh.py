"""Giving ``contextmesh.graph v1`` out of a mesh, so that the earlier package loads it, and saying what it cannot hold.

Called by the command line and by tests. What was imported comes out byte for byte, unless something here changed it. What
may not come in: silent loss. Every record the format has no place for is counted under its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mog.engine.reason.records import GraphEdge, GraphNode
from mog.engine.reason.v1.graph import write_graph
from mog.engine.reason.v1.into_mesh import kind_of
from mog.engine.reason.v1.packing import OWN, extras_of, restore_attrs, unpack_vector
from mog.engine.reason.v1.records import (
    MUST_CARRY,
    PAIRS,
    AssumptionV1,
    EdgeV1,
    GraphV1,
    NodeV1,
    ProvenanceV1,
    decision_digest,
    edge_id,
)
from mog.engine.reason.v1.state import HOLDER, HOLDERS, dead, dead_edge, extras

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh

_AUTHOR = "mog"
_LATER = 1 << 62  # what was made here comes after what was imported


@dataclass(frozen=True, slots=True)
class GraphExport:
    """A file and what is not in it.

    Attributes:
        data: the text of the file.
        nodes, edges, assumptions: how many it holds.
        left_out: reason → how many records of the mesh it has no place for. Empty when it says everything.
        notes: sentences about single records that are said in another way there.
    """

    data: bytes
    nodes: int
    edges: int
    assumptions: int
    left_out: Mapping[str, int]
    notes: tuple[str, ...]


def export_graph(mesh: Mesh) -> GraphExport:
    """The reason layer as a ``contextmesh.graph v1`` file."""
    with mesh.locked():
        out = _Export(mesh)
        graph = out.run()
    counts = {reason: n for reason, n in sorted(out.left_out.items()) if n}
    shape = (len(graph.nodes), len(graph.edges), len(graph.assumptions))
    return GraphExport(write_graph(graph), *shape, counts, tuple(out.notes))


class _Export:
    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.left_out: Counter[str] = Counter()
        self.notes: list[str] = []
        held = extras(mesh, HOLDER)
        self.differ = frozenset(held.get("nodes", ())) | frozenset(held.get("edges", ()))
        self.build: int = held.get("build", 0)

    def run(self) -> GraphV1:
        kept = self._sorted_nodes()
        nodes = [self._node(node) for node in kept]
        types = {node.id: node.type for node in nodes}
        edges = list(self._edges(types))
        records = self._assumptions(kept)
        self._count_the_rest()
        status = {record.id: record.status for record in records}
        nodes = [self._finished(node, status.get(node.id, ""), edges, types) for node in nodes]
        build = max((self.build, *(n.build for n in nodes), *(e.build for e in edges)), default=0)
        return GraphV1(build, tuple(nodes), tuple(edges), tuple(records))

    # -- nodes

    def _sorted_nodes(self) -> list[GraphNode]:
        kept = []
        for node in self.mesh.tables.nodes.values():
            if node.type in MUST_CARRY:
                if node.id not in HOLDERS:
                    kept.append(node)
            else:
                self.left_out[f"node of type {node.type}"] += 1
        return sorted(kept, key=lambda n: (extras_of(n.attrs).get("at", _LATER), n.at, n.id))

    def _node(self, node: GraphNode) -> NodeV1:
        more = extras_of(node.attrs)
        attrs = restore_attrs(node.attrs, more)
        if node.type == "evidence":
            attrs.setdefault("kind", node.kind)
        retired = self.mesh.retired(node.id)
        pruned = retired is not None and (retired.how == "pruned" or bool(more.get("pruned")))
        out = NodeV1(
            node.id, node.type, more.get("label", node.label), attrs, self._provenance(node, more),
            unpack_vector(more.get("embedding")), more.get("build", 0) if "at" in more else node.at, more.get("walks", 0),
            pruned or (node.type == "evidence" and bool(more.get("pruned"))),
            dead(self.mesh, node.id) != (node.id in self.differ),
        )  # fmt: skip
        default = self.mesh.ontology.node(node.type).default_kind
        if node.kind != (kind_of(out) or default):
            out = replace(out, attrs={**attrs, OWN: {"kind": node.kind}})
        return out

    def _provenance(self, node: GraphNode, more: Mapping[str, Any]) -> ProvenanceV1 | None:
        said = node.provenance
        if said is None:
            return None
        build = more.get("recorded_at_build", 0) if "at" in more else node.at
        return ProvenanceV1(said.source_id, said.span, said.extractor, said.checks, build)

    def _finished(self, node: NodeV1, status: str, edges: Iterable[EdgeV1], types: Mapping[str, str]) -> NodeV1:
        if status:
            return replace(node, attrs={**node.attrs, "status": status, "version": _version(node.attrs)})
        if node.attrs.get("decision_identity") != "explicit" or node.type != "decision":
            return node
        digest = decision_digest(node, [e for e in edges if e.src == node.id], types)
        if node.attrs.get("decision_payload_digest") == digest:
            return node
        self.notes.append(f"{node.id}: what it rests on changed since it was imported, so its digest was made anew")
        return replace(node, attrs={**node.attrs, "decision_payload_digest": digest})

    # -- edges

    def _edges(self, types: Mapping[str, str]) -> Iterable[EdgeV1]:
        ids: set[str] = set()
        triples: set[tuple[str, str, str]] = set()
        order = sorted(self.mesh.tables.edges.values(), key=lambda e: (extras_of(e.attrs).get("at", _LATER), e.role, e.id))
        for edge in order:
            triple, id = (edge.src, edge.kind, edge.dst), edge_id(edge.src, edge.kind, edge.dst)
            if (types.get(edge.src, ""), types.get(edge.dst, "")) not in PAIRS.get(edge.kind, ()):
                self.left_out[f"edge {edge.kind} outside the format"] += 1
            elif triple in triples:
                self.left_out["edge that differs from another by its role"] += 1
            elif id in ids:
                self.left_out["edge whose derived id is taken by another"] += 1
            else:
                ids.add(id)
                triples.add(triple)
                self.left_out["role of an edge"] += bool(edge.role)
                yield self._edge(edge, id)

    def _edge(self, edge: GraphEdge, id: str) -> EdgeV1:
        more = extras_of(edge.attrs)
        bound = edge.assumption or None
        fell = dead_edge(self.mesh, edge) != (edge.id in self.differ)
        if bound and _rejected(self.mesh, bound):
            fell = True
        return EdgeV1(
            id, edge.src, edge.dst, edge.kind, bound, tuple(more.get("evidence_ids", ())), float(more.get("weight", 1)),
            more.get("build", 0), more.get("traversals", 0), fell,
        )  # fmt: skip

    # -- assumptions

    def _assumptions(self, nodes: Iterable[GraphNode]) -> list[AssumptionV1]:
        kept = [node for node in nodes if node.type == "assumption"]
        kept.sort(key=lambda n: extras_of(n.attrs).get("assumption", {}).get("at", _LATER))
        successor = self._successors(kept)
        predecessor = {new: old for old, new in successor.items()}
        return [self._assumption(node, successor.get(node.id), predecessor.get(node.id)) for node in kept]

    def _successors(self, nodes: list[GraphNode]) -> dict[str, str]:
        """One successor for each, as the format wants it; others are noted."""
        pairs: dict[str, str] = {}
        for node in nodes:
            said = extras_of(node.attrs).get("assumption", {}).get("superseded_by")
            if said:
                pairs[node.id] = said
        taken = set(pairs.values())
        for node in nodes:
            named = [e.src for e in self.mesh.tables.into.get(node.id, ()) if e.kind == "supersedes"]
            named.sort(key=lambda id: (not self._is_retired_by(node.id, id), self.mesh.tables.nodes[id].at, id))
            free = [id for id in named if id not in taken]
            if node.id not in pairs and free:
                pairs[node.id] = free[0]
                taken.add(free[0])
            for id in named:
                if id != pairs.get(node.id):
                    self.notes.append(f"{node.id}: the format holds one successor, so {id} is said by an edge alone")
        return pairs

    def _is_retired_by(self, old: str, new: str) -> bool:
        retired = self.mesh.retired(old)
        return retired is not None and retired.by == new

    def _assumption(self, node: GraphNode, successor: str | None, predecessor: str | None) -> AssumptionV1:
        more = extras_of(node.attrs)
        said = more.get("assumption", {})
        judged = [j for j in self.mesh.judgements(node.id) if j.verdict == "contradicts" and self.mesh.stands(j.evidence)]
        edges = self.mesh.tables.out.get(node.id, ())
        named = [*said.get("evidence_ids", ()), *(() if said else sorted(e.dst for e in edges if e.kind == "justified_by"))]
        named += sorted({j.evidence for j in judged} - set(named))
        status = self._status(node.id, said)
        rejected = said.get("rejected_at_build", judged[0].at if judged else node.at) if status == "rejected" else None
        build = said.get("created_at_build", 0) if said else node.at
        return AssumptionV1(
            node.id, more.get("label", node.label), status, _version(node.attrs), said.get("created_by", "" if said else _AUTHOR),
            build, predecessor, successor, rejected, tuple(named),
        )  # fmt: skip

    def _status(self, id: str, said: Mapping[str, Any]) -> str:
        retired = self.mesh.retired(id)
        if retired is not None and retired.how == "superseded":
            return "superseded"
        if _rejected(self.mesh, id):
            return "rejected"
        if retired is None or retired.how == "pruned":
            return "active"
        if said.get("status") == "rejected":
            return "rejected"
        self.notes.append(f"{id}: {retired.how} here, said there as superseded by nothing")
        return "superseded"

    # -- what has no place

    def _count_the_rest(self) -> None:
        rows = self.mesh.tables.rows
        nodes = self.mesh.tables.nodes
        self.left_out["recorded ground"] += len(rows["ground"])
        self.left_out["anchor"] += len(rows["anchor"])
        self.left_out["mark"] += len(rows["mark"])
        for j in rows["judgement"].values():
            about = nodes[j.target].type
            if j.verdict == "dismissed" or about != "assumption":
                self.left_out[f"judgement: {about} {j.verdict}"] += 1


def _rejected(mesh: Mesh, id: str) -> bool:
    return any(j.verdict == "contradicts" and mesh.stands(j.evidence) for j in mesh.judgements(id))


def _version(attrs: Mapping[str, Any]) -> int:
    version = attrs.get("version")
    return version if type(version) is int and version >= 1 else 1
