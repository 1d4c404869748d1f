"""One way to lay out the same small graph in mog and in the earlier package, so that both are asked the same questions.

Who calls: ``benchmarks.walks``, ``benchmarks.dead_end_cases`` and tests of the walker. What may not come in: measuring. The
earlier package (contextmesh-graph) is a development dependency and may be missing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from mog.engine import ontology
from mog.engine.ledgers.events import EventLog
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.walker import Walker


class Board(Protocol):
    """What a case may lay out and ask. Methods that make a node return its id.

    A claim links itself, its source and what it mentions as both ingest pipelines do: the claim and the source mention the
    entity, the entity is derived from the source.
    """

    def entity(self, name: str) -> str: ...
    def source(self, label: str) -> str: ...
    def claim(self, label: str, source: str, *mentions: str) -> str: ...
    def decision(self, title: str, rationale: str, source: str, *claims: str, assumption: str = "") -> str: ...
    def assumption(self, statement: str) -> str: ...
    def edge(self, kind: str, src: str, dst: str) -> None: ...
    def fell(self, id: str) -> None: ...
    def retire(self, id: str, how: str) -> None: ...
    def ask(self, question: str) -> tuple[str, str]:
        """(label of the answer, "") or ("", reason of the dead end)."""
        ...


class MogBoard:
    """A mesh over a ledger in ``folder``, written through the writer like any other."""

    def __init__(self, folder: Path) -> None:
        self.mesh = Mesh(EventLog(folder / "ledger.db"), ontology.load(), "board")
        self.walker = Walker(self.mesh)
        self._twins = 0

    def entity(self, name: str) -> str:
        with self.mesh.writing("noted") as w:
            known = self.mesh.graph.nodes("entity")
            self._twins += any(node.label == name for node in known)
            twin = any(node.label == name for node in known)
            return w.entity(name, id=f"{self._twins:032x}" if twin else "")

    def source(self, label: str) -> str:
        with self.mesh.writing("noted") as w:
            return w.source(label, origin=label)

    def claim(self, label: str, source: str, *mentions: str) -> str:
        with self.mesh.writing("noted") as w:
            id = w.claim(label, source=source)
            for entity in mentions:
                w.edge("mentions", id, entity)
                w.edge("mentions", source, entity)
                w.edge("derived_from", entity, source)
            return id

    def decision(self, title: str, rationale: str, source: str, *claims: str, assumption: str = "") -> str:
        with self.mesh.writing("noted") as w:
            id = w.decide(title, rationale, source=source, assumptions=(assumption,) if assumption else ())
            for claim in claims:
                w.edge("supports", claim, id)
            return id

    def assumption(self, statement: str) -> str:
        with self.mesh.writing("noted") as w:
            return w.assume(statement)

    def edge(self, kind: str, src: str, dst: str) -> None:
        with self.mesh.writing("noted") as w:
            w.edge(kind, src, dst)

    def fell(self, id: str) -> None:
        with self.mesh.writing("noted") as w:
            w.judge(w.evidence(f"it is not so: {id}"), id, "contradicts", auditor="person", reason="seen")

    def retire(self, id: str, how: str) -> None:
        with self.mesh.writing("noted") as w:
            w.retire(id, how, reason="said so")

    def ask(self, question: str) -> tuple[str, str]:
        walk = self.walker.ask(question)
        return walk.answer, str(walk.dead_end or "")


class EarlierBoard:
    """The same in contextmesh-graph. Raises ImportError when it is not installed."""

    def __init__(self) -> None:
        from contextmesh.assumptions import AssumptionLedger
        from contextmesh.decisions import DecisionLog
        from contextmesh.embed import embed
        from contextmesh.graph import ContextGraph
        from contextmesh.model import EdgeType, NodeType, Provenance
        from contextmesh.resolve import Resolver
        from contextmesh.traverse import Walker as EarlierWalker

        self.graph: Any = ContextGraph()
        self.resolver: Any = Resolver()
        self.walker: Any = EarlierWalker(self.graph, self.resolver)
        self._node, self._edge, self._provenance, self._embed = NodeType, EdgeType, Provenance, embed
        self._decisions, self._assumptions = DecisionLog(self.graph), AssumptionLedger(self.graph)
        self._count = 0

    def _add(self, type: str, label: str, **more: Any) -> str:
        self._count += 1
        node = self.graph.add_node(self._node(type), label, id=f"{type}:{self._count}", **more)
        if type in ("claim", "decision", "entity"):
            node.embedding = self._embed(label)
        return str(node.id)

    def entity(self, name: str) -> str:
        id = self._add("entity", name, attrs={"canonical": name, "aliases": []})
        self.resolver.register(id, name, [])
        return id

    def source(self, label: str) -> str:
        return self._add("source", label, attrs={"origin": label, "retrieved_at": "2026-01-01"})

    def claim(self, label: str, source: str, *mentions: str) -> str:
        id = self._add("claim", label, provenance=self._provenance(source_id=source))
        self.edge("derived_from", id, source)
        for entity in mentions:
            self.edge("mentions", id, entity)
            self.edge("mentions", source, entity)
            self.edge("derived_from", entity, source)
        return id

    def decision(self, title: str, rationale: str, source: str, *claims: str, assumption: str = "") -> str:
        self._count += 1
        node = self._decisions.decide(
            title, rationale, source_id=source, id=f"decision:{self._count}", supported_by=list(claims),
            assumptions=[assumption] if assumption else [],
        )  # fmt: skip
        found = self.graph.nodes[getattr(node, "decision_id", getattr(node, "id", ""))]
        found.embedding = self._embed(f"{title} {rationale}")
        return str(found.id)

    def assumption(self, statement: str) -> str:
        return str(self._assumptions.assume(statement, created_by="board").id)

    def edge(self, kind: str, src: str, dst: str) -> None:
        self.graph.add_edge(src, self._edge(kind), dst)

    def fell(self, id: str) -> None:
        self.graph.nodes[id].invalidated = True
        for edge in self.graph.in_edges(id, (self._edge("depends_on"), self._edge("derived_from"))):
            far = edge.src if edge.src != id else edge.dst
            self.graph.nodes[far].invalidated = True

    def retire(self, id: str, how: str) -> None:
        self.graph.nodes[id].pruned = how == "pruned"
        self.graph.nodes[id].invalidated = how != "pruned"

    def ask(self, question: str) -> tuple[str, str]:
        walk = self.walker.walk(question)
        return (self.graph.nodes[walk.answer_id].label, "") if walk.answer_id else ("", walk.dead_end.value)
