"""PRUNE on request: nodes of an ingest that no walk used, once enough walks were observed. Called when a person asks for it.

What may not come in: code, pinned nodes, evidence, what a person made (GRAPH.md rule 5). A prune is an event, and a node
that something links again comes back by itself. Pruning hides from walks; it touches no standing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from mog.engine.errors import UsageError
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.records import GraphNode

MIN_WINDOW = 20
"""Fewest observed walks after which not having been walked says anything."""


def unwalked(
    mesh: Mesh, walked: Mapping[str, int], observed: int, *, window: int = 200, pinned: Collection[str] = ()
) -> list[str]:
    """Ids of what may be pruned: of an ingest, never walked, at most one edge besides the one to its source.

    Args:
        walked: node id → walks that passed it. observed: walks those counts come from. window: walks to wait for.
        pinned: ids that a person pinned.

    Raises:
        UsageError: a window below ``MIN_WINDOW``.
    """
    if window < MIN_WINDOW:
        raise UsageError(f"a window of {window} walks says nothing", way_out=f"wait for {MIN_WINDOW} or more")
    if observed < window:
        return []
    with mesh.locked():
        tables = mesh.tables
        kept = set(pinned)
        return [
            id for id in sorted(tables.nodes)
            if id not in kept and not walked.get(id) and _ours(tables.nodes[id]) and _loose(mesh, id)
        ]  # fmt: skip


def _ours(node: GraphNode) -> bool:
    """Did an ingest find it? People's entities carry no form, people's claims another extractor."""
    if node.type == "entity":
        return "form" in node.attrs
    return node.type == "claim" and node.provenance is not None and node.provenance.extractor.startswith("prose-")


def _loose(mesh: Mesh, id: str) -> bool:
    tables = mesh.tables
    if id in tables.rows["retired"] or id in tables.grounds or id in tables.anchored or id in tables.judged:
        return False
    held = sum(edge.kind != "derived_from" for edge in (*tables.out.get(id, ()), *tables.into.get(id, ())))
    rests = any(edge.kind != "mentions" for edge in tables.into.get(id, ()))
    return held <= 1 and not rests


def prune(
    mesh: Mesh, walked: Mapping[str, int], observed: int, *, window: int = 200, pinned: Collection[str] = ()
) -> tuple[str, ...]:
    """Prune what ``unwalked`` names, in one commit; their ids. Raises as ``unwalked`` and ``Mesh.writing``."""
    found = unwalked(mesh, walked, observed, window=window, pinned=pinned)
    if found:
        with mesh.writing("pruned", observed=observed, window=window) as writer:
            for id in found:
                writer.retire(id, "pruned", reason=f"not walked in {observed} walks")
    return tuple(found)
