"""Taking ``contextmesh.graph v1`` into a mesh: nodes under their own ids, rejections as judgements, bindings as bindings.

Called by the command line and by tests. One commit, all or nothing. What may not come in: what the file says a label is;
standing follows from the grounds here, and where the file's flags differ they are kept beside, for the way back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from mog.engine.errors import UsageError
from mog.engine.reason.ops import MAX_LABEL_BYTES, MAX_TEXT_BYTES
from mog.engine.reason.records import GraphNode, Provenance, thaw
from mog.engine.reason.v1.graph import read_graph
from mog.engine.reason.v1.packing import EXTRAS, OWN, kept, pack_vector, store_attrs
from mog.engine.reason.v1.records import GRAPH_SCHEMA, AssumptionV1, EdgeV1, GraphV1, NodeV1
from mog.engine.reason.v1.state import HOLDER, dead, dead_edge, extras, top_ordinal

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.writer import Writer

AUDITOR = "imported"
_EVIDENCE_KINDS = ("observation", "failure", "correction", "audit")  # drift belongs to an anchor, which a file has not


@dataclass(frozen=True, slots=True)
class GraphImport:
    """What an import did.

    Attributes:
        nodes, edges: taken in. known: nodes that were here already, word for word.
        rejected: assumptions out because of judged evidence. unproven: rejected in the file without evidence, so retracted.
        superseded: assumptions retired. bound: edges that hold under an assumption.
        differ: nodes whose standing here is not what the file's flag says, because here any ground is enough.
    """

    nodes: int
    edges: int
    known: int
    rejected: int
    unproven: int
    superseded: int
    bound: int
    differ: int


def import_graph(mesh: Mesh, data: bytes, where: str = "graph") -> GraphImport:
    """Take a file in; ``where`` is its name for errors. The same file again changes nothing.

    Raises:
        UsageError: another format, or an id that stands for something else here.
        StoreDamaged: the file breaks its format. OntologyError: this repository's GRAPH.md forbids what it holds.
    """
    graph = read_graph(data, where)
    with mesh.writing("imported", format=f"{GRAPH_SCHEMA} v1", file=where) as writer:
        return _Import(writer, graph, where).run()


def kind_of(node: NodeV1) -> str:
    """The kind a node of a file has here; "" for the default of its type."""
    told = node.attrs.get(OWN)
    if isinstance(told, dict) and isinstance(told.get("kind"), str):
        return str(told["kind"])
    kind = node.attrs.get("kind") if node.type == "evidence" else None
    return kind if kind in _EVIDENCE_KINDS else ""


class _Import:
    def __init__(self, writer: Writer, graph: GraphV1, where: str) -> None:
        self.writer, self.graph, self.where = writer, graph, where
        self.mesh = writer.mesh
        self.records = {record.id: record for record in graph.assumptions}
        self.places = {record.id: i for i, record in enumerate(graph.assumptions)}
        self.new: set[str] = set()
        self.counts: Counter[str] = Counter()

    def run(self) -> GraphImport:
        base = top_ordinal(self.mesh) + 1
        for i in sorted(range(len(self.graph.nodes)), key=lambda i: self.graph.nodes[i].type != "source"):
            self._node(self.graph.nodes[i], base + i)
        edges = [self._edge(edge, base + i) for i, edge in enumerate(self.graph.edges)]
        fallen = self._reject([e for e in self.graph.edges if e.type == "contradicts"])
        for record in self.graph.assumptions:
            self._retire(record, fallen)
        self._prune()
        if self.new or any(edges):
            self._hold()
        c = self.counts
        return GraphImport(
            len(self.new), sum(edges), len(self.graph.nodes) - len(self.new), c["rejected"], c["unproven"],
            c["superseded"], c["bound"], c["differ"],
        )  # fmt: skip

    # -- records

    def _node(self, node: NodeV1, at: int) -> None:
        old = self.mesh.tables.nodes.get(node.id)
        said = node.provenance
        more = kept(
            at=at, build=node.build, walks=node.walks, embedding=pack_vector(node.embedding), pruned=node.pruned,
            recorded_at_build=said.recorded_at_build if said else 0, **self._record(node.id),
        )  # fmt: skip
        label, whole = _cut(node)
        if whole:
            more["label"] = whole
        attrs = store_attrs(node.attrs, more)
        if node.type == "assumption":
            attrs["status"] = "active"  # what became of it follows from judgements and retirements
        lifted = Provenance(said.source_id, said.span, said.extractor, said.checks) if said else None
        if old is not None:
            self._same(GraphNode(node.id, node.type, old.kind, label, attrs, lifted, old.at), old)
            return
        self.writer.node(node.type, label, kind=kind_of(node), id=node.id, attrs=attrs, provenance=lifted)
        self.new.add(node.id)

    def _same(self, node: GraphNode, old: GraphNode) -> None:
        mine, theirs = (thaw(n.attrs) for n in (node, old))
        for attrs in (mine, theirs):
            attrs[EXTRAS] = {k: v for k, v in attrs.get(EXTRAS, {}).items() if k not in ("at", "resolver")}
        if replace(node, attrs=mine) != replace(old, attrs=theirs):
            what = f"the id {node.id!r} stands for something else here, or was changed here since"
            raise UsageError(what, where=self.where, way_out="import into a workspace of its own")

    def _record(self, id: str) -> dict[str, Any]:
        r = self.records.get(id)
        if r is None:
            return {}
        said = kept(
            status=r.status, created_by=r.created_by, created_at_build=r.created_at_build, supersedes=r.supersedes,
            superseded_by=r.superseded_by, evidence_ids=list(r.evidence_ids),
        )  # fmt: skip
        if r.rejected_at_build is not None:
            said["rejected_at_build"] = r.rejected_at_build
        return {"assumption": {**said, "at": self.places[id]}}

    def _edge(self, edge: EdgeV1, at: int) -> bool:
        more = kept(
            at=at, build=edge.build, traversals=edge.traversals, evidence_ids=list(edge.evidence_ids),
            weight="" if edge.weight == 1 else repr(edge.weight),
        )  # fmt: skip
        attrs: dict[str, Any] = {EXTRAS: more}
        if edge.assumption_id is not None:
            attrs["assumption"] = edge.assumption_id
        before = len(self.mesh.tables.edges)
        self.writer.edge(edge.type, edge.src, edge.dst, attrs=attrs)
        made = len(self.mesh.tables.edges) > before
        self.counts["bound"] += made and edge.assumption_id is not None
        return made

    # -- what became of assumptions

    def _reject(self, edges: Iterable[EdgeV1]) -> set[str]:
        fallen = set()
        for edge in edges:
            record = self.records.get(edge.dst)
            if record is None or record.status != "rejected":
                continue
            if edge.dst in self.new:
                self.writer.judge(edge.src, edge.dst, "contradicts", auditor=AUDITOR, reason="rejected in the imported file")
            fallen.add(edge.dst)
        self.counts["rejected"] = len(fallen)
        return fallen

    def _retire(self, record: AssumptionV1, fallen: set[str]) -> None:
        if record.id not in self.new:
            return
        if record.status == "superseded":
            self.writer.retire(record.id, "superseded", by=record.superseded_by or "")
            self.counts["superseded"] += 1
        elif record.status == "rejected" and record.id not in fallen:
            self.writer.retire(record.id, "retracted", reason="rejected in the imported file, which names no evidence for it")
            self.counts["unproven"] += 1

    def _prune(self) -> None:
        for node in self.graph.nodes:
            here = node.id in self.new and self.mesh.tables.rows["retired"].get(node.id) is None
            if node.pruned and here and node.type != "evidence":  # GRAPH.md rule 5
                self.writer.retire(node.id, "pruned", reason="pruned in the imported file")

    # -- what the mesh has no place for

    def _hold(self) -> None:
        """One pruned source keeps the counter of builds, and the ids whose flags in the file say otherwise than standing here."""
        old = extras(self.mesh, HOLDER)
        nodes = [n.id for n in self.graph.nodes if n.id in self.new and dead(self.mesh, n.id) != n.invalidated]
        edges = self._edges_that_differ()
        held = {
            "build": max(self.graph.build, old.get("build", 0)),
            "nodes": sorted({*old.get("nodes", ()), *nodes}),
            "edges": sorted({*old.get("edges", ()), *edges}),
        }
        self.counts["differ"] = len(nodes)
        attrs = {"origin": f"{GRAPH_SCHEMA} v1", "retrieved_at": None, EXTRAS: held}
        self.writer.node("source", "What the imported graph says besides", kind="ref", id=HOLDER, attrs=attrs)
        if self.mesh.retired(HOLDER) is None:
            self.writer.retire(HOLDER, "pruned", reason="no part of what is believed")

    def _edges_that_differ(self) -> list[str]:
        flags = {(e.type, e.src, e.dst): e.invalidated for e in self.graph.edges}
        found = []
        for edge in self.mesh.tables.edges.values():
            flag = flags.get((edge.kind, edge.src, edge.dst))
            if flag is not None and not edge.role and dead_edge(self.mesh, edge) != flag:
                found.append(edge.id)
        return found


def _cut(node: NodeV1) -> tuple[str, str]:
    """The label as the mesh takes it, and the whole one when it is longer than that."""
    limit = MAX_TEXT_BYTES if node.type == "evidence" else MAX_LABEL_BYTES
    raw = node.label.encode("utf-8")
    if len(raw) <= limit:
        return node.label, ""
    return raw[: limit - 3].decode("utf-8", "ignore") + "…", node.label
