"""``contextmesh.graph v1`` as records: the strict reader and the writer of its exact bytes.

Called by ``into_mesh`` and ``from_mesh``. Reading refuses whatever the format forbids and more: a field that is not known,
a provenance that names no source. What may not come in: the mesh.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from mog.engine.reason.v1 import fields
from mog.engine.reason.v1.fields import damaged
from mog.engine.reason.v1.records import (
    AUTO_DECISION,
    GRAPH_SCHEMA,
    MUST_CARRY,
    NEEDS_PROVENANCE,
    PAIRS,
    STATUSES,
    VERSION,
    AssumptionV1,
    EdgeV1,
    GraphV1,
    NodeV1,
    ProvenanceV1,
    decision_digest,
    edge_id,
)  # fmt: skip

_GRAPH = ("build", "nodes", "edges", "assumptions")
_NODE = ("id", "type", "label", "attrs", "provenance", "embedded", "embedding", "build", "walks", "pruned", "invalidated")
_PROVENANCE = ("source_id", "span", "extractor", "checks", "recorded_at_build")
_EDGE = (
    "id", "src", "dst", "type", "assumption_id", "evidence_ids", "weight", "build", "traversals", "invalidated",
)  # fmt: skip
_ASSUMPTION = (
    "id", "statement", "status", "version", "created_by", "created_at_build", "supersedes", "superseded_by",
    "rejected_at_build", "evidence_ids",
)  # fmt: skip


def read_graph(data: bytes, where: str = "graph") -> GraphV1:
    """The graph of a ``contextmesh.graph v1`` text; ``where`` is the file's name for errors.

    Raises:
        UsageError: another format or version.
        StoreDamaged: anything the format forbids; the error names the field.
    """
    top = fields.schema(fields.load(data, where), GRAPH_SCHEMA, _GRAPH, where)
    graph = GraphV1(
        fields.count(top["build"], f"{where}: build"),
        tuple(_node(row, f"{where}: nodes[{i}]") for i, row in _each(top["nodes"], f"{where}: nodes")),
        tuple(_edge(row, f"{where}: edges[{i}]") for i, row in _each(top["edges"], f"{where}: edges")),
        tuple(_assumption(r, f"{where}: assumptions[{i}]") for i, r in _each(top["assumptions"], f"{where}: assumptions")),
    )
    _check(graph, where)
    return graph


def _each(value: Any, where: str) -> Iterable[tuple[int, Any]]:
    return enumerate(fields.rows(value, where))


def _node(value: Any, where: str) -> NodeV1:
    row = fields.record(value, _NODE, where)
    embedding = fields.vector(row["embedding"], f"{where}.embedding")
    if fields.flag(row["embedded"], f"{where}.embedded") != (embedding is not None):
        raise damaged("the flag and the vector disagree", f"{where}.embedded")
    node = NodeV1(
        fields.text(row["id"], f"{where}.id"),
        fields.text(row["type"], f"{where}.type"),
        fields.text(row["label"], f"{where}.label"),
        fields.free(row["attrs"], f"{where}.attrs"),
        _provenance(row["provenance"], f"{where}.provenance"),
        embedding,
        fields.count(row["build"], f"{where}.build"),
        fields.count(row["walks"], f"{where}.walks"),
        fields.flag(row["pruned"], f"{where}.pruned"),
        fields.flag(row["invalidated"], f"{where}.invalidated"),
    )
    _check_carried(node, where)
    return node


def _check_carried(node: NodeV1, where: str) -> None:
    if node.type not in MUST_CARRY:
        raise damaged(f"no node type {node.type!r}", f"{where}.type")
    for name in MUST_CARRY[node.type]:
        if name not in node.attrs:
            raise damaged(f"a {node.type} must carry {name!r}", f"{where}.attrs")
    if node.provenance is None and node.type in NEEDS_PROVENANCE:
        raise damaged(f"a {node.type} must carry a provenance", f"{where}.provenance")


def _provenance(value: Any, where: str) -> ProvenanceV1 | None:
    if value is None:
        return None
    row = fields.record(value, _PROVENANCE, where)
    return ProvenanceV1(
        fields.text(row["source_id"], f"{where}.source_id"),
        fields.span(row["span"], f"{where}.span"),
        fields.text(row["extractor"], f"{where}.extractor"),
        fields.texts(row["checks"], f"{where}.checks"),
        fields.count(row["recorded_at_build"], f"{where}.recorded_at_build"),
    )


def _edge(value: Any, where: str) -> EdgeV1:
    row = fields.record(value, _EDGE, where)
    return EdgeV1(
        fields.text(row["id"], f"{where}.id"),
        fields.text(row["src"], f"{where}.src"),
        fields.text(row["dst"], f"{where}.dst"),
        fields.text(row["type"], f"{where}.type"),
        fields.maybe_text(row["assumption_id"], f"{where}.assumption_id"),
        fields.texts(row["evidence_ids"], f"{where}.evidence_ids"),
        fields.number(row["weight"], f"{where}.weight"),
        fields.count(row["build"], f"{where}.build"),
        fields.count(row["traversals"], f"{where}.traversals"),
        fields.flag(row["invalidated"], f"{where}.invalidated"),
    )


def _assumption(value: Any, where: str) -> AssumptionV1:
    row = fields.record(value, _ASSUMPTION, where)
    rejected = row["rejected_at_build"]
    status = fields.text(row["status"], f"{where}.status")
    if status not in STATUSES:
        raise damaged(f"no status {status!r}", f"{where}.status")
    return AssumptionV1(
        fields.text(row["id"], f"{where}.id"),
        fields.text(row["statement"], f"{where}.statement"),
        status,
        fields.count(row["version"], f"{where}.version", 1),
        fields.text(row["created_by"], f"{where}.created_by"),
        fields.count(row["created_at_build"], f"{where}.created_at_build"),
        fields.maybe_text(row["supersedes"], f"{where}.supersedes"),
        fields.maybe_text(row["superseded_by"], f"{where}.superseded_by"),
        None if rejected is None else fields.count(rejected, f"{where}.rejected_at_build"),
        fields.texts(row["evidence_ids"], f"{where}.evidence_ids"),
    )


# -- what only holds between records


def _check(graph: GraphV1, where: str) -> None:
    nodes: dict[str, NodeV1] = {}
    for i, node in enumerate(graph.nodes):
        if nodes.setdefault(node.id, node) is not node:
            raise damaged(f"the id {node.id!r} stands twice", f"{where}: nodes[{i}].id")
    for i, node in enumerate(graph.nodes):
        _check_source(node, nodes, f"{where}: nodes[{i}].provenance")
    records = _check_records(graph, nodes, where)
    _check_edges(graph, nodes, records, where)
    _check_decisions(graph, nodes, where)


def _check_source(node: NodeV1, nodes: Mapping[str, NodeV1], where: str) -> None:
    if node.provenance is not None:
        source = nodes.get(node.provenance.source_id)
        if source is None or source.type != "source":
            raise damaged(f"{node.provenance.source_id!r} is no source of this file", f"{where}.source_id")


def _check_records(graph: GraphV1, nodes: Mapping[str, NodeV1], where: str) -> dict[str, AssumptionV1]:
    records: dict[str, AssumptionV1] = {}
    for i, record in enumerate(graph.assumptions):
        at = f"{where}: assumptions[{i}]"
        if records.setdefault(record.id, record) is not record:
            raise damaged(f"the id {record.id!r} stands twice", f"{at}.id")
        _check_mirror(record, nodes.get(record.id), at)
        _check_evidence(record.evidence_ids, nodes, at)
    for i, node in enumerate(graph.nodes):
        if node.type == "assumption" and node.id not in records:
            raise damaged(f"the assumption {node.id!r} has no record", f"{where}: nodes[{i}]")
    for i, record in enumerate(graph.assumptions):
        _check_lineage(record, records, f"{where}: assumptions[{i}]")
    return records


def _check_mirror(record: AssumptionV1, node: NodeV1 | None, where: str) -> None:
    if node is None or node.type != "assumption":
        raise damaged(f"{record.id!r} is no assumption node of this file", f"{where}.id")
    if node.label != record.statement:
        raise damaged("the statement is not the label of its node", f"{where}.statement")
    if node.attrs["status"] != record.status:
        raise damaged(f"the record says {record.status!r}, its node {node.attrs['status']!r}", f"{where}.status")
    version = node.attrs["version"]
    if type(version) is not int or version != record.version:
        raise damaged(f"the record says {record.version!r}, its node {version!r}", f"{where}.version")


def _check_evidence(named: Iterable[str], nodes: Mapping[str, NodeV1], where: str) -> None:
    for k, id in enumerate(named):
        if id not in nodes:
            raise damaged(f"{id!r} is no node of this file", f"{where}.evidence_ids[{k}]")


def _check_lineage(record: AssumptionV1, records: Mapping[str, AssumptionV1], where: str) -> None:
    for name, back in (("superseded_by", "supersedes"), ("supersedes", "superseded_by")):
        other_id = getattr(record, name)
        if other_id is None:
            continue
        if other_id not in records:
            raise damaged(f"{other_id!r} is no assumption of this file", f"{where}.{name}")
        said = getattr(records[other_id], back)
        if said != record.id:
            raise damaged(f"names {other_id!r}, whose {back} says {said!r}", f"{where}.{name}")


def _check_edges(
    graph: GraphV1, nodes: Mapping[str, NodeV1], records: Mapping[str, AssumptionV1], where: str
) -> None:
    ids: set[str] = set()
    triples: set[tuple[str, str, str]] = set()
    for i, edge in enumerate(graph.edges):
        at = f"{where}: edges[{i}]"
        if edge.id in ids:
            raise damaged(f"the id {edge.id!r} stands twice", f"{at}.id")
        triple = (edge.src, edge.type, edge.dst)
        if triple in triples:
            raise damaged(f"{edge.type} from {edge.src!r} to {edge.dst!r} stands twice", at)
        ids.add(edge.id)
        triples.add(triple)
        _check_pair(edge, nodes, at)
        _check_binding(edge, records, at)
        _check_evidence(edge.evidence_ids, nodes, at)


def _check_pair(edge: EdgeV1, nodes: Mapping[str, NodeV1], where: str) -> None:
    for name, end in (("src", edge.src), ("dst", edge.dst)):
        if end not in nodes:
            raise damaged(f"{end!r} is no node of this file", f"{where}.{name}")
    if edge.type not in PAIRS:
        raise damaged(f"no edge type {edge.type!r}", f"{where}.type")
    pair = (nodes[edge.src].type, nodes[edge.dst].type)
    if edge.src == edge.dst or pair not in PAIRS[edge.type]:
        raise damaged(f"{edge.type} may not join {pair[0]} {edge.src!r} and {pair[1]} {edge.dst!r}", f"{where}.type")
    derived = edge_id(edge.src, edge.type, edge.dst)
    if edge.id != derived:
        raise damaged(f"the format derives {derived!r}, not {edge.id!r}", f"{where}.id")


def _check_binding(edge: EdgeV1, records: Mapping[str, AssumptionV1], where: str) -> None:
    if edge.assumption_id is None:
        return
    bound = records.get(edge.assumption_id)
    if bound is None:
        raise damaged(f"{edge.assumption_id!r} is no assumption of this file", f"{where}.assumption_id")
    if bound.status == "rejected" and not edge.invalidated:
        raise damaged(f"holds under {bound.id!r}, which was rejected, and is not invalidated", f"{where}.invalidated")


def _check_decisions(graph: GraphV1, nodes: Mapping[str, NodeV1], where: str) -> None:
    claimed = {n.id for n in graph.nodes if n.type == "decision" and n.attrs.get("decision_identity") == "explicit"}
    leaving: dict[str, list[EdgeV1]] = {id: [] for id in claimed}
    for edge in graph.edges:
        if edge.src in leaving:
            leaving[edge.src].append(edge)
    types = {id: node.type for id, node in nodes.items()}
    for i, node in enumerate(graph.nodes):
        if node.id not in claimed:
            continue
        at = f"{where}: nodes[{i}]"
        if node.id.startswith(AUTO_DECISION):
            raise damaged("an explicit decision in the space of automatic ids", f"{at}.id")
        if node.attrs.get("decision_payload_digest") != decision_digest(node, leaving[node.id], types):
            raise damaged("the digest is not that of what the decision says", f"{at}.attrs.decision_payload_digest")


# -- writing


def write_graph(graph: GraphV1) -> bytes:
    """The text of a graph, byte for byte as the format has it (``fields.pretty``)."""
    return fields.pretty(
        {
            "schema": GRAPH_SCHEMA,
            "version": VERSION,
            "build": graph.build,
            "nodes": [_node_row(node) for node in graph.nodes],
            "edges": [{name: getattr(edge, name) for name in _EDGE} for edge in graph.edges],
            "assumptions": [{name: getattr(one, name) for name in _ASSUMPTION} for one in graph.assumptions],
        }
    )


def _node_row(node: NodeV1) -> dict[str, object]:
    row = {name: getattr(node, name) for name in _NODE if name != "embedded"}
    said = node.provenance
    row["provenance"] = {name: getattr(said, name) for name in _PROVENANCE} if said else None
    row["embedded"] = node.embedding is not None
    return row
