"""The blast radius as v1 counts it: everything that reaches the assumption along propagating edges, whatever else holds it.

Called by tests and by whoever asks for the seed rule on an imported graph. What may not come in: grounds. On a file's own
flags this is exact. ``Mesh(seed_rule=True)`` previews the same nodes wherever logic and reachability agree: no loop that
holds itself up, nothing pruned on the way, and no edge that is bound to the very assumption it leads to (v1 crosses it).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mog.engine.errors import UsageError
from mog.engine.reason.records import GraphEdge
from mog.engine.reason.v1.packing import extras_of
from mog.engine.reason.v1.state import HOLDER, dead, dead_edge, extras

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh

_SHOWN = 48  # characters of the statement in the first link of a chain
_LATER = 1 << 62


@dataclass(frozen=True, slots=True)
class SeedRadius:
    """What falls with an assumption: node id → (the node it was reached from, edge type, whether along the arrow)."""

    root: str
    first: str
    parents: Mapping[str, tuple[str, str, bool]]
    labels: Mapping[str, str]

    def chain(self, id: str) -> tuple[str, ...]:
        """Labels and arrows from the assumption to ``id``: ``<-type-`` against an edge, ``-type->`` along it."""
        links: list[str] = []
        while id != self.root:
            links.append(self.labels[id])
            id, kind, along = self.parents[id]
            links.append(f"-{kind}->" if along else f"<-{kind}-")
        return (self.first, *reversed(links))


def seed_radius(mesh: Mesh, assumption: str) -> SeedRadius:
    """What v1 would invalidate with an assumption; shortest chains, ties by the order of the file.

    Raises:
        NotFound: no such node. UsageError: it is no assumption.
    """
    with mesh.locked():
        return _Search(mesh, assumption).run()


class _Search:
    def __init__(self, mesh: Mesh, root: str) -> None:
        self.mesh = mesh
        node = mesh.graph.node(root)
        if node.type != "assumption":
            raise UsageError(f"a {node.type}, not an assumption", where=root, way_out="name an assumption")
        self.root = root
        self.first = f"assumption({node.label[:_SHOWN]})"
        rows = mesh.ontology.edge_types
        self.way = {kind: row.invalidation for kind, row in rows.items() if row.invalidation != "none"}
        held = extras(mesh, HOLDER)
        self.differ = frozenset(held.get("nodes", ())) | frozenset(held.get("edges", ()))

    def run(self) -> SeedRadius:
        parents: dict[str, tuple[str, str, bool]] = {}
        todo = deque([self.root])
        while todo:
            at = todo.popleft()
            for id, kind, along in self._steps(at):
                if id not in parents and id != self.root:
                    parents[id] = (at, kind, along)
                    todo.append(id)
        nodes = self.mesh.tables.nodes
        return SeedRadius(self.root, self.first, parents, {id: nodes[id].label for id in parents})

    def _steps(self, at: str) -> list[tuple[str, str, bool]]:
        tables = self.mesh.tables
        steps = []
        for edge in self._live(tables.into.get(at, ()), "backward"):
            if tables.nodes[edge.src].type != "assumption" and self._walks(edge.src):
                steps.append((edge.src, edge.kind, False))
        if at != self.root:
            for edge in self._live(tables.out.get(at, ()), "forward"):
                if self._walks(edge.dst):
                    steps.append((edge.dst, edge.kind, True))
        return steps

    def _live(self, edges: Iterable[GraphEdge], way: str) -> list[GraphEdge]:
        found = [e for e in edges if self.way.get(e.kind) == way and dead_edge(self.mesh, e) == (e.id in self.differ)]
        return sorted(found, key=lambda e: (extras_of(e.attrs).get("at", _LATER), e.id))

    def _walks(self, id: str) -> bool:
        retired = self.mesh.tables.rows["retired"].get(id)
        return (retired is None or retired.how != "pruned") and dead(self.mesh, id) == (id in self.differ)
