"""From records to labels: edges and grounds compile to premises (GRAPH.md rule 2), judgements to defeaters. Used by ``mesh``.

What may not come in: writes, files, reports. It listens to the tables, remembers which nodes are touched, and brings
``Standing`` up to them when a label is asked for; what it holds is a function of the tables alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mog.engine.ontology import Ontology
from mog.engine.reason.records import GraphEdge, Ground, Label
from mog.engine.reason.standing import Standing
from mog.engine.reason.tables import Tables

EDGES = "edges"
_MANY = 2000  # from here on one pass over all labels is cheaper than one a node
_TOUCHING = {"ground": "conclusion", "judgement": "target", "retired": "node"}


@dataclass(slots=True)
class _Plan:
    """What a node should have, less what it has already; ``auxiliary``: name → the premise and assumption it stands for."""

    node: str
    grounds: dict[str, Ground]
    auxiliary: dict[str, tuple[str, str]]
    defeaters: set[str]


class Compiled:
    """Labels of the nodes of ``tables``. Not locked: its owner is.

    Args:
        worktree: evidence of another worktree does not count here ("" counts all).
        seed_rule: every propagating edge of a node is a premise of one ground, as in ContextMesh.
    """

    def __init__(self, tables: Tables, ontology: Ontology, *, worktree: str = "", seed_rule: bool = False) -> None:
        self.standing = Standing()
        self.worktree = worktree
        self.seed_rule = seed_rule
        self._tables = tables
        self._backward = frozenset(k for k, row in ontology.edge_types.items() if row.invalidation == "backward")
        self._forward = frozenset(k for k, row in ontology.edge_types.items() if row.invalidation == "forward")
        self._ontology = ontology
        self._dirty: dict[str, None] = {}
        self._auxiliary: dict[str, dict[str, tuple[str, str]]] = {}
        self._unverified: frozenset[str] | None = None
        tables.listener = self._changed

    def _changed(self, table: str, key: str, old: Any, new: Any) -> None:
        self._unverified = None
        record = old if new is None else new
        if table == "edge":
            if record.kind in self._backward:
                self._dirty[record.src] = None
            elif record.kind in self._forward:
                self._dirty[record.dst] = None
        elif table in ("node", "mark"):
            self._dirty[key] = None
        elif table in _TOUCHING:
            self._dirty[getattr(record, _TOUCHING[table])] = None

    # -- bringing labels up to the tables

    def flush(self) -> None:
        """Compile what was touched.

        Raises:
            UsageError: a loop would go through a defeater. Then nothing is settled: roll the tables back and flush again.
        """
        if not self._dirty:
            return
        if len(self._dirty) > _MANY:
            with self.standing.bulk():
                self._settle()
        else:
            self._settle()

    def _settle(self) -> None:
        """First everything that goes, then everything that comes: no order of nodes makes a loop that is not there at the end."""
        known, standing = self._tables.nodes, self.standing
        fresh = dict.fromkeys(node for node in self._dirty if node in known and node not in standing)
        for node in fresh:
            standing.add(node)
        plans = [(self._plan if n in fresh else self._take_out)(n) for n in self._dirty if n in standing]
        for plan in plans:
            self._put_in(plan)
        for node in self._dirty:
            if node not in known and node in standing:
                standing.remove(node)
        self._dirty = {}

    def _ensure(self, node: str) -> None:
        if node not in self.standing:
            self.standing.add(node)

    def _take_out(self, node: str) -> _Plan:
        standing, plan = self.standing, self._plan(node)
        for ground in standing.grounds(node):
            wanted = plan.grounds.get(ground.id)
            if wanted is None or (wanted.all_of, wanted.none_of) != (ground.all_of, ground.none_of):
                standing.unground(ground.id)
            else:
                del plan.grounds[ground.id]
        for name, ends in self._auxiliary.get(node, {}).items():
            if plan.auxiliary.get(name) != ends:
                for ground in standing.grounds(name):
                    standing.unground(ground.id)
                if name not in plan.auxiliary:
                    standing.remove(name)
        for evidence in standing.defeaters(node):
            if evidence in plan.defeaters:
                plan.defeaters.remove(evidence)
            else:
                standing.undefeat(node, evidence)
        return plan

    def _put_in(self, plan: _Plan) -> None:
        standing, node = self.standing, plan.node
        for name, (premise, assumption) in plan.auxiliary.items():
            self._ensure(premise)
            self._ensure(assumption)
            if name not in standing:
                standing.add(name, hidden=True)
            if not standing.grounds(name):
                standing.ground(f"{name}+", name, (premise,))
                standing.ground(f"{name}-", name, (), (assumption,))
        if plan.auxiliary:
            self._auxiliary[node] = plan.auxiliary
        else:
            self._auxiliary.pop(node, None)
        for gid, ground in plan.grounds.items():
            for premise in (*ground.all_of, *ground.none_of):
                self._ensure(premise)
            standing.ground(gid, node, ground.all_of, ground.none_of)
        for evidence in sorted(plan.defeaters):
            self._ensure(evidence)
            standing.defeat(node, evidence)
        out = self.is_out(node)
        if out != standing.forced_out(node):
            standing.force_out(node, out)

    def _plan(self, node: str) -> _Plan:
        if node not in self._tables.nodes:
            return _Plan(node, {}, {}, set())
        judged = self._tables.judged.get(node, {}).values()
        auxiliary: dict[str, tuple[str, str]] = {}
        grounds = {ground.id: ground for ground in self._grounds(node, auxiliary)}
        return _Plan(node, grounds, auxiliary, {j.evidence for j in judged if j.verdict == "contradicts"})

    def is_out(self, id: str) -> bool:
        """Whether a node counts for nothing, whatever its grounds: retired, of another worktree, or without its last ground."""
        rows = self._tables.rows
        retired = rows["retired"].get(id)
        if retired is not None and retired.how != "pruned":
            return True
        node = self._tables.nodes.get(id)
        if node is None or "ungrounded" in rows["mark"].get(id, ()):
            return True
        elsewhere = node.attrs.get("worktree") if node.type == "evidence" else None
        return bool(self.worktree and elsewhere and elsewhere != self.worktree)

    # -- grounds

    def grounds(self, node: str) -> tuple[Ground, ...]:
        """Every ground of a node, compiled ones with the origin ``edges``; premises are nodes, auxiliaries resolved."""
        return tuple(self._named(ground) for ground in self._grounds(node, {}))

    def _grounds(self, node: str, auxiliary: dict[str, tuple[str, str]]) -> list[Ground]:
        """Grounds as they are compiled; ``auxiliary`` gets the auxiliaries they need and what these stand for."""
        joint: list[str] = []
        each: list[tuple[str, str]] = []
        for edge in self._tables.out.get(node, ()):
            if edge.kind in self._backward:
                premise = self._premise(edge, edge.dst, auxiliary)
                if self._is_alternative(edge):
                    each.append((edge.id, premise))
                else:
                    joint.append(premise)
        for edge in self._tables.into.get(node, ()):
            if edge.kind in self._forward:
                each.append((f"{edge.id}>", self._premise(edge, edge.src, auxiliary)))
        return [*self._compiled(node, joint, each), *self._tables.grounds.get(node, {}).values()]

    def _premise(self, edge: GraphEdge, premise: str, auxiliary: dict[str, tuple[str, str]]) -> str:
        """The premise an edge stands for. A bound edge carries only while its assumption stands: an auxiliary says so."""
        if not edge.assumption:
            return premise
        auxiliary[f"{edge.id}?"] = (premise, edge.assumption)
        return f"{edge.id}?"

    def _compiled(self, node: str, joint: list[str], each: list[tuple[str, str]]) -> list[Ground]:
        alternatives = [pair for pair in each if not pair[0].endswith(">")]
        if self.seed_rule and (joint or each):
            return [Ground(f"{node}=", node, tuple(sorted({*joint, *(p for _, p in each)})), (), EDGES)]
        made = [Ground(gid, node, tuple(sorted({*joint, p})), (), EDGES) for gid, p in alternatives]
        made += [Ground(gid, node, (p,), (), EDGES) for gid, p in each if gid.endswith(">")]
        if joint and not alternatives:
            made.append(Ground(f"{node}=", node, tuple(sorted(set(joint))), (), EDGES))
        return made

    def _is_alternative(self, edge: GraphEdge) -> bool:
        pairs = self._ontology.edge_types[edge.kind].alternatives
        nodes = self._tables.nodes
        return bool(pairs) and (nodes[edge.src].type, nodes[edge.dst].type) in pairs

    def _named(self, ground: Ground) -> Ground:
        if ground.origin != EDGES or not any(p.endswith("?") for p in ground.all_of):
            return ground
        real = tuple(self.resolved(p) for p in ground.all_of)
        return Ground(ground.id, ground.conclusion, real, ground.none_of, ground.origin, ground.note)

    def resolved(self, name: str) -> str:
        """The node that a premise stands for: itself, or the far end of the bound edge an auxiliary belongs to."""
        edge = self._tables.edges.get(name[:-1]) if name.endswith("?") else None
        if edge is None:
            return name
        return edge.dst if edge.kind in self._backward else edge.src

    # -- labels

    def stands(self, id: str) -> bool:
        """Whether a node is believed."""
        self.flush()
        return self.standing.stands(id)

    def label(self, id: str) -> Label:
        """The label of a node, first in the order of ``Label``."""
        if not self.stands(id):
            return Label.fallen
        if id in self.unverified():
            return Label.unverified
        if self.contested(id):
            return Label.contested
        return Label.weakened if self.standing.unmet(id) else Label.standing

    def unverified(self) -> frozenset[str]:
        """Nodes that stand, but would not if every node marked failed were out."""
        if self._unverified is None:
            failed = sorted(id for id, marks in self._tables.rows["mark"].items() if "failed" in marks)
            self.flush()
            self._unverified = self.standing.would_fall(failed) if failed else frozenset()
        return self._unverified

    def contested(self, id: str) -> bool:
        """Whether something that stands contradicts it, and no auditor has judged that."""
        return any(True for _ in self.contradicting(id))

    def contradicting(self, id: str) -> Iterable[str]:
        """Nodes that stand, contradict ``id`` and were not judged; two claims contradict each other both ways."""
        judged = {j.evidence for j in self._tables.judged.get(id, {}).values()}
        for edge in self._tables.into.get(id, ()):
            if edge.kind == "contradicts" and edge.src not in judged and self.stands(edge.src):
                yield edge.src
        for edge in self._tables.out.get(id, ()):
            if edge.kind == "contradicts" and self._tables.nodes[edge.src].type == "claim" and self.stands(edge.dst):
                yield edge.dst
