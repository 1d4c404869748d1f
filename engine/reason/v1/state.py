"""How a mesh looks to the v1 formats: which node and which edge they would call invalidated. Used by the bridges and ``seed``.

What may not come in: writes. The flags of an imported file are believed where nothing here says otherwise: a node whose
flag differed from its standing at import keeps its flag, every other follows its standing.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from mog.engine.reason.records import GraphEdge
from mog.engine.reason.v1.packing import EXTRAS, extras_of

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh

HOLDER = "contextmesh:graph"
HOLDERS = (HOLDER, "contextmesh:resolver")


def extras(mesh: Mesh, id: str) -> dict[str, Any]:
    """What an import kept of a node; empty when it was made here, or is not there."""
    node = mesh.tables.nodes.get(id)
    return extras_of(node.attrs) if node is not None else {}


def top_ordinal(mesh: Mesh) -> int:
    """The highest place in a file that an imported record remembers; -1 when there is none."""
    attrs = chain((n.attrs for n in mesh.tables.nodes.values()), (e.attrs for e in mesh.tables.edges.values()))
    found = (a[EXTRAS].get("at", -1) for a in attrs if isinstance(a.get(EXTRAS), Mapping))
    return max(found, default=-1)


def dead(mesh: Mesh, id: str) -> bool:
    """Whether a node has fallen as v1 means it. There, what was superseded still counts, and only what rests on it may not."""
    if mesh.stands(id):
        return False
    retired = mesh.retired(id)
    if retired is None or retired.how != "superseded":
        return True
    judged = any(j.verdict == "contradicts" and mesh.stands(j.evidence) for j in mesh.judgements(id))
    grounds = mesh.grounds(id)
    return judged or bool(grounds and not any(map(mesh.met, grounds)))


def dead_edge(mesh: Mesh, edge: GraphEdge) -> bool:
    """Whether an edge has fallen as v1 means it: with the assumption it is bound to, or with both its ends."""
    if edge.assumption and dead(mesh, edge.assumption):
        return True
    ends = (edge.src, edge.dst)
    return all(mesh.tables.nodes[id].type != "assumption" and dead(mesh, id) for id in ends)
