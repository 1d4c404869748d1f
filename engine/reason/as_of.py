"""A mesh as it was known on a day: a filter that a walker reads like the mesh itself. Called by ``temporal``.

Nothing is copied or rebuilt: a node is there when its source time is not after that day; an edge when both its ends are.
Standing is worked out for what is asked and what that rests on, no further, with the rejections and successions of that
day. What may not come in: today's labels, writes, a date nobody gave.

A rejection counts from the day of its evidence, a succession from the day of its successor. What was withdrawn was never
meant, so it counts on no day; what was retracted without a date still counted then.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING

from mog.engine.errors import NotFound
from mog.engine.graph import GraphEdge, GraphNode
from mog.engine.ontology import Ontology
from mog.engine.reason.compile import Compiled
from mog.engine.reason.records import Ground, Judgement, Label, Retirement
from mog.engine.reason.tables import Tables
from mog.engine.reason.timeline import Horizon, Timeline, recorded_by

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh


class AsOf:
    """What a walker and a resolver read, on one day. To be used while the mesh is held by ``locked()``.

    Attributes:
        day: the day. timeline: where every date comes from.
    """

    def __init__(self, mesh: Mesh, day: date, timeline: Timeline | None = None) -> None:
        self.day = day
        self.timeline = timeline or Timeline(mesh)
        self._mesh = mesh
        self._tables = mesh.tables
        self._held: dict[str, bool] = {}
        self._stands: dict[str, tuple[bool, bool]] = {}  # id → stands, has an unmet ground
        rows = mesh.ontology.edge_types
        self._backward = frozenset(kind for kind, row in rows.items() if row.invalidation == "backward")
        self._forward = frozenset(kind for kind, row in rows.items() if row.invalidation == "forward")

    # -- what was known

    def holds(self, id: str) -> bool:
        """Whether a node was known: dated up to that day, or an assumption that something known was recorded to rest on."""
        found = self._held.get(id)
        if found is None:
            self._held[id] = False  # while it is looked at: a circle of assumptions holds none of them
            found = self._held[id] = self.timeline.horizon(id, self.day) is Horizon.then or self._grounded(id)
        return found

    def _grounded(self, id: str) -> bool:
        node = self._tables.nodes.get(id)
        if node is None or node.type != "assumption":
            return False
        rests = (e for e in self._tables.into.get(id, ()) if e.kind == "depends_on")
        nodes = self._tables.nodes
        return any(self.holds(e.src) and recorded_by(node, nodes[e.src]) for e in rests)

    def get(self, id: str) -> GraphNode | None:
        """The node, or None when it was not known."""
        return self._tables.nodes.get(id) if self.holds(id) else None

    def node(self, id: str) -> GraphNode:
        """The node. Raises NotFound."""
        found = self.get(id)
        if found is None:
            raise NotFound(f"no node {id!r} was known on {self.day}", way_out="ask for a later day")
        return found

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.holds(id)

    def today(self, id: str) -> GraphNode:
        """The node as it is today, known then or not. Raises NotFound."""
        return self._mesh.graph.node(id)

    def nodes(self, type: str = "") -> tuple[GraphNode, ...]:
        """All nodes that were known, or those of one type."""
        return tuple(n for n in self._tables.nodes.values() if (not type or n.type == type) and self.holds(n.id))

    def out_edges(self, id: str, kinds: Collection[str] = ()) -> tuple[GraphEdge, ...]:
        """Edges that leave a node towards nodes that were known."""
        found = self._tables.out.get(id, ())
        return tuple(e for e in found if (not kinds or e.kind in kinds) and self.holds(e.dst))

    def in_edges(self, id: str, kinds: Collection[str] = ()) -> tuple[GraphEdge, ...]:
        """Edges that reach a node from nodes that were known."""
        found = self._tables.into.get(id, ())
        return tuple(e for e in found if (not kinds or e.kind in kinds) and self.holds(e.src))

    # -- what a mesh answers

    @property
    def graph(self) -> AsOf:
        """The nodes and edges: this view itself."""
        return self

    @property
    def ontology(self) -> Ontology:
        """GRAPH.md."""
        return self._mesh.ontology

    @property
    def aliases(self) -> dict[str, str]:
        """Learned names of entities that were known."""
        return {name: id for name, id in self._mesh.aliases.items() if self.holds(id)}

    @property
    def splits(self) -> frozenset[tuple[str, str]]:
        """Names said not to be the same, as today: they correct a reading, not the past."""
        return self._mesh.splits

    @property
    def revision(self) -> int:
        """That of the mesh."""
        return self._mesh.revision

    def changed_since(self, revision: int) -> frozenset[str] | None:
        """That of the mesh."""
        return self._mesh.changed_since(revision)

    @contextlib.contextmanager
    def locked(self) -> Iterator[AsOf]:
        """Several reads of one state."""
        with self._mesh.locked():
            yield self

    def stands(self, id: str) -> bool:
        """Whether a node was believed on that day."""
        return self.holds(id) and self._standing(id)[0]

    def label(self, id: str) -> Label:
        """Its label on that day; ``unverified`` is said of today only."""
        if not self.stands(id):
            return Label.fallen
        if self.contradicting(id):
            return Label.contested
        return Label.weakened if self._standing(id)[1] else Label.standing

    def contradicting(self, id: str) -> tuple[str, ...]:
        """Ids of what stood, contradicted a node and was not judged."""
        judged = {j.evidence for j in self.judgements(id)}
        found = {e.src for e in self.in_edges(id, ("contradicts",)) if e.src not in judged}
        found |= {e.dst for e in self.out_edges(id, ("contradicts",)) if self._tables.nodes[e.src].type == "claim"}
        return tuple(sorted(other for other in found if self.stands(other)))

    def walkable(self, id: str) -> bool:
        """Whether a walk could pass a node: it stood, and is not pruned."""
        return self.stands(id) and self.retired(id) is None

    def live(self, edge: GraphEdge) -> bool:
        """Whether an edge could be walked."""
        # What an edge is bound to was said with the edge, so it counts wherever both ends were known.
        bound = not edge.assumption or self._standing(edge.assumption)[0]
        return bound and self.walkable(edge.src) and self.walkable(edge.dst)

    def retired(self, id: str) -> Retirement | None:
        """Why a node no longer counted, or None."""
        found: Retirement | None = self._tables.rows["retired"].get(id)
        if found is None or found.how in ("pruned", "withdrawn"):
            return found
        successors = {e.src for e in self._tables.into.get(id, ()) if e.kind == "supersedes"} | {found.by}
        return found if any(self.holds(by) for by in successors if by) else None

    def judgements(self, target: str) -> tuple[Judgement, ...]:
        """Judgements about a node whose evidence was known."""
        found = self._tables.judged.get(target, {})
        return tuple(found[id] for id in sorted(found) if self.timeline.horizon(found[id].evidence, self.day) is Horizon.then)

    # -- standing, for what is asked

    def _standing(self, id: str) -> tuple[bool, bool]:
        found = self._stands.get(id)
        if found is None:
            cone = _Cone(self, id)
            for node in cone.made:
                self._stands[node] = cone.standing(node)
            found = self._stands[id]
        return found

    def settled(self, id: str) -> bool | None:
        """Whether a node stood, when that was worked out already."""
        found = self._stands.get(id)
        return found[0] if found is not None else None

    def grounds(self, id: str) -> Iterator[Ground]:
        """Recorded grounds of a node whose premises were all known."""
        for ground in self._tables.grounds.get(id, {}).values():
            if all(map(self.holds, ground.all_of)):
                yield replace(ground, none_of=tuple(p for p in ground.none_of if self.holds(p)))

    def premises(self, id: str) -> Iterator[GraphEdge]:
        """Edges that a node rests on, both ends known."""
        yield from self.out_edges(id, self._backward)
        yield from self.in_edges(id, self._forward)

    def compiled(self, tables: Tables) -> Compiled:
        """Labels of a part of the mesh under its own rules."""
        return Compiled(tables, self._mesh.ontology, worktree=self._mesh.worktree, seed_rule=self._mesh.seed_rule)

    def marks(self, id: str) -> tuple[str, ...]:
        """Of its marks, the one that says it lost its last ground."""
        return tuple(mark for mark in self._tables.rows["mark"].get(id, ()) if mark == "ungrounded")


class _Cone:
    """A node and everything its standing rests on, as tables of their own; what is settled already enters as a fact."""

    def __init__(self, view: AsOf, root: str) -> None:
        self._view = view
        self._tables = Tables()
        self._compiled = view.compiled(self._tables)
        self.made: list[str] = []
        todo = [root]
        while todo:
            id = todo.pop()
            if id not in self._tables.nodes:
                todo.extend(self._take(id))
        self._compiled.flush()

    def standing(self, id: str) -> tuple[bool, bool]:
        """Whether it stands, and whether a ground of it is unmet."""
        return self._compiled.stands(id), self._compiled.standing.unmet(id)

    def _take(self, id: str) -> Iterator[str]:
        view, put = self._view, self._tables.put
        put("node", id, view.today(id))
        known = view.settled(id)
        if known is not None:
            put("retired", id, None if known else Retirement(id, "withdrawn"))
            return
        self.made.append(id)
        put("retired", id, view.retired(id))
        put("mark", id, view.marks(id) or None)
        for judgement in view.judgements(id):
            if judgement.verdict == "contradicts":
                put("judgement", judgement.id, judgement)
                yield judgement.evidence
        for ground in view.grounds(id):
            put("ground", ground.id, ground)
            yield from (*ground.all_of, *ground.none_of)
        for edge in view.premises(id):
            put("edge", edge.id, edge)
            yield from (end for end in (edge.src, edge.dst, edge.assumption) if end)
