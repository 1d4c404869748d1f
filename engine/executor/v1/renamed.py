"""A graph of the earlier package with a node under another id: the format derives the id of a plan's source from its name.

Called by ``engine/executor/session`` for plans that were made here. Ids of edges and digests of decisions follow. What may
not come in: the mesh.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mog.engine.errors import UsageError
from mog.engine.reason.v1.records import EdgeV1, GraphV1, NodeV1, decision_digest, edge_id

DIGEST = "decision_payload_digest"


def renamed(graph: GraphV1, old: str, new: str) -> GraphV1:
    """The graph with the source node ``old`` called ``new``.

    Raises:
        UsageError: another node or edge has the new id already; 24 bits of digest make that possible.
    """
    if old == new:
        return graph
    types = {node.id: node.type for node in graph.nodes}
    if new in types:
        raise UsageError(f"another node has the id {new!r:.80}", where=old, way_out="rename the plan, then export again")
    types[new] = types.pop(old)
    edges = tuple(_edge(edge, old, new) for edge in graph.edges)
    if len({edge.id for edge in edges}) != len(edges):
        what = "two edges would get one id, of which the format keeps 24 bits"
        raise UsageError(what, where=new, way_out="rename the plan, then export again")
    nodes = tuple(_node(node, old, new, edges, types) for node in graph.nodes)
    return replace(graph, nodes=nodes, edges=edges)


def _edge(edge: EdgeV1, old: str, new: str) -> EdgeV1:
    if old not in (edge.src, edge.dst):
        return edge
    src, dst = (new if end == old else end for end in (edge.src, edge.dst))
    return replace(edge, id=edge_id(src, edge.type, dst), src=src, dst=dst)


def _node(node: NodeV1, old: str, new: str, edges: tuple[EdgeV1, ...], types: Mapping[str, str]) -> NodeV1:
    if node.id == old:
        return replace(node, id=new)
    said = node.provenance
    if said is None or said.source_id != old:
        return node
    moved = replace(node, provenance=replace(said, source_id=new))
    if node.attrs.get("decision_identity") != "explicit":
        return moved
    digest = decision_digest(moved, [edge for edge in edges if edge.src == node.id], types)
    return replace(moved, attrs={**node.attrs, DIGEST: digest})
