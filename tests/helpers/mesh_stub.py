"""A mesh without a ledger: nodes and edges of a real graph, with standing said by hand. For tests of walks and names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from mog.engine import ontology
from mog.engine.graph import ContextGraph, GraphEdge, Provenance
from mog.engine.reason.records import Label, Retirement

ONTOLOGY = ontology.load()


class StubMesh:
    """Answers what the resolver and the walker ask of a mesh. ``fallen`` and ``gone`` are changed by hand."""

    def __init__(self) -> None:
        self.ontology = ONTOLOGY
        self.graph = ContextGraph(ONTOLOGY, "stub")
        self.aliases: dict[str, str] = {}
        self.splits: set[tuple[str, str]] = set()
        self.fallen: set[str] = set()
        self.gone: dict[str, str] = {}
        self.contested: dict[str, tuple[str, ...]] = {}
        self.revision = 0
        self._changes: list[tuple[int, str]] = []

    @contextlib.contextmanager
    def locked(self) -> Iterator[StubMesh]:
        yield self

    def stands(self, id: str) -> bool:
        return id not in self.fallen and self.gone.get(id, "pruned") == "pruned"

    def walkable(self, id: str) -> bool:
        return self.stands(id) and id not in self.gone

    def label(self, id: str) -> Label:
        return Label.standing if self.stands(id) else Label.fallen

    def live(self, edge: GraphEdge) -> bool:
        return (
            self.walkable(edge.src)
            and self.walkable(edge.dst)
            and (not edge.assumption or self.stands(edge.assumption))
        )

    def retired(self, id: str) -> Retirement | None:
        return Retirement(id, self.gone[id]) if id in self.gone else None

    def contradicting(self, id: str) -> tuple[str, ...]:
        return self.contested.get(id, ())

    def changed_since(self, revision: int) -> frozenset[str] | None:
        return frozenset(id for at, id in self._changes if at > revision)

    def _changed(self, id: str) -> str:
        self.revision += 1
        self._changes.append((self.revision, id))
        return id

    # -- building

    def entity(self, name: str, *aliases: str, id: str = "") -> str:
        attrs = {"canonical": name, "aliases": list(aliases)}
        return self._changed(self.graph.add_node("entity", name, id=id, attrs=attrs).id)

    def source(self, label: str, **attrs: object) -> str:
        return self._changed(
            self.graph.add_node("source", label, attrs={"origin": label, "retrieved_at": None, **attrs}).id
        )

    def claim(self, label: str, source: str, *mentions: str, id: str = "") -> str:
        claim = self.graph.add_node("claim", label, id=id, provenance=Provenance(source)).id
        self.edge("derived_from", claim, source)
        for entity in mentions:
            self.edge("mentions", claim, entity)
        return self._changed(claim)

    def decision(self, title: str, rationale: str, source: str, *claims: str) -> str:
        decision = self.graph.add_node(
            "decision", title, attrs={"rationale": rationale}, provenance=Provenance(source)
        ).id
        self.edge("cites", decision, source)
        for claim in claims:
            self.edge("supports", claim, decision)
            self.edge("derived_from", decision, claim)
        return self._changed(decision)

    def assumption(self, statement: str) -> str:
        return self._changed(self.graph.add_node("assumption", statement, attrs={"status": "active", "version": 1}).id)

    def evidence(self, text: str) -> str:
        return self._changed(self.graph.add_node("evidence", text, attrs={"kind": "observation"}).id)

    def edge(self, kind: str, src: str, dst: str) -> GraphEdge:
        edge = self.graph.add_edge(kind, src, dst)
        self._changed(src)
        self._changed(dst)
        return edge

    def alias(self, normal: str, entity: str) -> None:
        self.aliases[normal] = self._changed(entity)

    def split(self, normal: str, entity: str) -> None:
        self.splits.add((normal, self._changed(entity)))

    def fell(self, id: str) -> None:
        self.fallen.add(self._changed(id))

    def retire(self, id: str, how: str) -> None:
        self.gone[self._changed(id)] = how
