"""LINK and PRUNE: what documents say against what the mesh holds, and the difference written. Called by ``pipeline.py``.

What may not come in: rules of language, reading. Every loop runs in a fixed order, so two runs write the same operations.

A claim is derived from each source that says it, with the span and heading on that edge: independent sources are
alternative grounds. When a text no longer says a claim, only that edge goes; the claim falls when nothing else holds it
up. A sentence that took the place of a close variant supersedes it; what rested on the old words does not move by itself.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from mog.engine import ids
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.prose import analysis, lexicon
from mog.engine.reason.prose.analysis import Reading
from mog.engine.reason.prose.documents import Document
from mog.engine.reason.prose.extract import Statement
from mog.engine.reason.prose.known import Known
from mog.engine.reason.prose.records import Records
from mog.engine.reason.prose.report import IngestReport
from mog.engine.reason.records import GraphEdge, Provenance
from mog.engine.reason.writer import Writer

CHANGED = "the text changed: "
GONE = "no longer said by "
REMOVED = "no longer in "
_ALIKE = 0.6
"""Share of words two sentences of one section have in common for one to be the other's new wording."""


@dataclass(slots=True)
class _Plan:
    """What one document wants in the mesh: claims by id, with the statement and the entities (id → role) of each."""

    source: str
    claims: dict[str, Statement] = field(default_factory=dict)
    mentions: dict[str, dict[str, str]] = field(default_factory=dict)


class Linker:
    """One ingest's writes."""

    def __init__(
        self, mesh: Mesh, writer: Writer, state: Known, found: lexicon.Lexicon, report: IngestReport, extractor: str
    ) -> None:
        self._mesh, self._writer, self._state, self._lexicon = mesh, writer, state, found
        self._tables, self._report, self._extractor = mesh.tables, report, extractor
        self._entity_ids: dict[str, str] = {}
        self._made: set[str] = set()

    def run(
        self, readings: Sequence[Reading], changed: set[str], digests: Mapping[str, str], missing: Sequence[str],
        tell: Callable[[str, int, int], None],
    ) -> None:  # fmt: skip
        """Write the difference."""
        for reading in readings:
            self._source(reading.document, digests[reading.document.key], reading.document.key in changed)
        for key in missing:
            self._writer.retire(self._state.sources[key].id, "withdrawn", reason=f"{REMOVED}{self._state.collection}")
            self._report.documents["removed"] += 1
        for number, reading in enumerate(readings):
            tell("link", number, len(readings))
            moved = reading.document.key in changed
            self._document(reading, self._plan(reading, moved), moved)
        Records(self._mesh, self._writer, self._state, self._report).run(
            readings, changed, self._claim_id, self._mentioned
        )
        self._prune()

    # -- sources

    def _source(self, document: Document, digest: str, changed: bool) -> None:
        if not changed:
            return
        id = self._state.source_id(document.key)
        old = self._tables.nodes.get(id)
        attrs = {
            **document.facts, "key": document.key, "title": document.title, "digest": digest, "form": document.form,
            "chars": len(document.text), "origin": document.origin or document.key, "retrieved_at": document.retrieved_at,
        }  # fmt: skip
        if self._state.collection:
            attrs["collection"] = self._state.collection
        if old is None:
            self._writer.node("source", document.key[:2_000], kind=document.kind, id=id, attrs=attrs)
        else:
            self._writer.attrs(id, attrs)
            if self._state.retired(id) in ("withdrawn", "pruned"):
                self._writer.restore(id)
        self._report.documents["new" if old is None else "changed"] += 1

    # -- what a document wants

    def _plan(self, reading: Reading, changed: bool) -> _Plan:
        plan = _Plan(self._state.source_id(reading.document.key))
        for said in reading.said:
            id = self._claim_id(reading.document, said.statement)
            if id in plan.claims:
                continue
            plan.claims[id] = said.statement
            plan.mentions[id] = self._mentioned(said)
        if not changed:  # a text that is as it was gains what became an entity since, and nothing else
            plan.mentions = {
                id: {entity: role for entity, role in found.items() if entity in self._made}
                for id, found in plan.mentions.items()
            }
        return plan

    def _claim_id(self, document: Document, statement: Statement) -> str:
        """A statement that stands alone is one claim wherever it is said; a bound one belongs to its place."""
        if not statement.bound:
            return ids.node_uid(self._mesh.repo, "claim", statement.kind, "", statement.label).hex()
        place = "\n".join((*statement.heading, statement.topic))
        return ids.node_uid(self._mesh.repo, "claim", statement.kind, document.key, f"{place}\n{statement.label}").hex()

    def _mentioned(self, said: analysis.Said) -> dict[str, str]:
        """Entities of a statement: those it names (role ""), and the one its section is about (role ``topic``).

        The role is ``defines`` for a term it defines, and for the topic when it is the first that is said of it.
        """
        keys = dict.fromkeys(self._lexicon.mentioned(said.statement.label, said.named), "")
        about = analysis.topic(self._lexicon, said.statement)
        if about and said.leads:
            keys[about] = "defines"
        elif about:
            keys.setdefault(about, "topic")
        term = self._lexicon.of(said.defines) if said.defines else None
        if term:
            keys[term.key] = "defines"
        found = {
            self._entity(key): role for key, role in sorted(keys.items(), key=lambda item: (item[1] == "", item[0]))
        }
        return {id: role for id, role in found.items() if id}

    def _entity(self, key: str) -> str:
        """Id of an entity of the lexicon, made when there is none; "" for one that a person retired."""
        if key not in self._entity_ids:
            self._entity_ids[key] = self._entity_found(self._lexicon.entities[key])
        return self._entity_ids[key]

    def _entity_found(self, entity: lexicon.Entity) -> str:
        id = self._state.entity(entity.name)
        if not id:
            id = ids.node_uid(self._mesh.repo, "entity", "thing", "", entity.name).hex()
            if id in self._tables.nodes:  # its name was split off the entity that has this id
                id = ids.node_uid(self._mesh.repo, "entity", "thing", "", entity.name, 1).hex()
            aliases = sorted(entity.aliases)
            attrs = {"canonical": entity.name, "aliases": aliases, "form": entity.form}
            new = id not in self._tables.nodes
            self._writer.node("entity", entity.name, kind="thing", id=id, attrs=attrs)
            self._state.learn(entity.name, aliases, id)
            self._report.entities["new" if new else "known"] += 1
            self._made.add(id)
            return id
        self._report.entities["known"] += 1
        retired = self._state.retired(id)
        if retired == "pruned":
            self._writer.restore(id)
            self._report.entities["restored"] += 1
        return "" if retired in ("withdrawn", "retracted", "superseded") else id

    # -- the difference

    def _document(self, reading: Reading, plan: _Plan, changed: bool) -> None:
        old = self._claims_of(plan.source)
        fresh = [id for id in plan.claims if id not in old]
        for id in plan.claims:
            self._claim(id, plan, old.get(id), changed)
        if changed:
            self._gone([id for id in old if id not in plan.claims], fresh, plan, reading.document, old)
        self._of_source(plan, changed)

    def _claims_of(self, source: str) -> dict[str, GraphEdge]:
        """Claims an ingest derived from a source → the edge, in the order of their spans."""
        edges = self._tables.into.get(source, ())
        found = [(edge.src, edge) for edge in edges if edge.kind == "derived_from" and "heading" in edge.attrs]
        return dict(sorted(found, key=lambda item: (tuple(item[1].attrs["span"]), item[0])))

    def _claim(self, id: str, plan: _Plan, edge: GraphEdge | None, changed: bool) -> None:
        statement = plan.claims[id]
        if id not in self._tables.nodes:
            lifted = Provenance(plan.source, None, self._extractor)
            self._writer.node("claim", statement.label, kind=statement.kind, id=id, provenance=lifted)
            self._report.claims["new"] += 1
        elif edge is None:
            self._said_again(id)
        else:
            self._report.claims["kept"] += 1
        place = {"span": [statement.start, statement.end], "heading": _heading(statement)}
        if edge is None:
            self._edge("derived_from", id, plan.source, attrs=place)
        else:
            self._writer.edge_attrs(edge.id, place)
        self._mentions(id, plan.mentions[id], changed)

    def _mentions(self, id: str, wanted: Mapping[str, str], changed: bool) -> None:
        """What a claim mentions; when the text of its only source changed, no longer what it mentioned in another place."""
        out = self._tables.out.get(id, ())
        if changed and sum(edge.kind == "derived_from" for edge in out) == 1:
            there = [edge for edge in out if edge.kind == "mentions" and wanted.get(edge.dst) != edge.role]
            for edge in sorted(there, key=lambda edge: edge.id):
                self._drop(edge)
        for entity, role in sorted(wanted.items()):
            self._edge("mentions", id, entity, role=role)

    def _said_again(self, id: str) -> None:
        """What a changed text took away comes back with the text; what a person took away does not."""
        retired = self._tables.rows["retired"].get(id)
        if retired is None:
            self._report.claims["kept"] += 1
            return
        if retired.how in ("withdrawn", "pruned") or (
            retired.how == "superseded" and retired.reason.startswith(CHANGED)
        ):
            for edge in [e for e in self._tables.into.get(id, ()) if e.kind == "supersedes" and e.src == retired.by]:
                self._drop(edge)
            self._writer.restore(id)
            self._report.claims["restored"] += 1

    def _gone(
        self, gone: Sequence[str], fresh: Sequence[str], plan: _Plan, document: Document, old: Mapping[str, GraphEdge]
    ) -> None:
        """Claims that the text no longer states: the edge goes; what nothing else holds up is superseded or withdrawn."""
        free = {id: plan.claims[id] for id in fresh}
        for id in gone:
            self._drop(old[id])
            if self._state.retired(id) or self._held_up(id):
                continue
            variant = _variant(self._tables.nodes[id].label, str(old[id].attrs.get("heading", "")), free)
            if variant:
                del free[variant]
                self._edge("supersedes", variant, id)
                self._writer.retire(id, "superseded", reason=f"{CHANGED}{document.key}", by=variant)
                self._report.claims["superseded"] += 1
            else:
                self._writer.retire(id, "withdrawn", reason=f"{GONE}{document.key}")
                self._report.claims["withdrawn"] += 1

    def _held_up(self, id: str) -> bool:
        """Has a claim another source, or a ground that somebody gave it?"""
        others = any(edge.kind == "derived_from" for edge in self._tables.out.get(id, ()))
        return others or id in self._tables.grounds

    def _of_source(self, plan: _Plan, changed: bool) -> None:
        """The source mentions what its claims mention, and each of those entities is derived from it."""
        wanted = {entity for found in plan.mentions.values() for entity in found}
        for entity in sorted(wanted):
            self._edge("mentions", plan.source, entity)
            self._edge("derived_from", entity, plan.source)
        if changed:
            there = [e for e in self._tables.out.get(plan.source, ()) if e.kind == "mentions" and e.dst not in wanted]
            for edge in sorted(there, key=lambda e: e.id):
                self._drop(edge)
                back = ids.edge_uid("derived_from", edge.dst, plan.source).hex()
                if back in self._tables.edges:
                    self._drop(self._tables.edges[back])

    def _edge(
        self, kind: str, src: str, dst: str, *, role: str = "", attrs: Mapping[str, object] | None = None
    ) -> None:
        if ids.edge_uid(kind, src, dst, role).hex() not in self._tables.edges:
            self._writer.edge(kind, src, dst, role=role, attrs=attrs)
            self._report.edges["new"] += 1

    def _drop(self, edge: GraphEdge) -> None:
        self._writer.drop_edge(edge.kind, edge.src, edge.dst, edge.role)
        self._report.edges["dropped"] += 1

    # -- prune

    def _prune(self) -> None:
        """Entities of an ingest that nothing links any more. They come back when something does."""
        stage = self._report.stages["prune"]
        stage.dropped += max(len(self._lexicon) - len(self._entity_ids), 0)
        for id in sorted(self._tables.nodes):
            node = self._tables.nodes[id]
            if node.type == "entity" and "form" in node.attrs and not self._linked(id) and not self._state.retired(id):
                self._writer.retire(id, "pruned", reason="nothing links it")
                self._report.entities["pruned"] += 1
                stage.dropped += 1
        stage.admitted = len(self._entity_ids)

    def _linked(self, id: str) -> bool:
        return bool(self._tables.out.get(id) or self._tables.into.get(id) or self._tables.anchored.get(id))


def _heading(statement: Statement) -> str:
    return " › ".join(statement.heading)[:400]


def _variant(label: str, heading: str, free: Mapping[str, Statement]) -> str:
    """The new sentence of the same section that is nearest in words to an old one; "" when none is near enough."""
    words, best = label.split(), ("", _ALIKE)
    for id, statement in free.items():
        if _heading(statement) == heading:
            alike = difflib.SequenceMatcher(None, words, statement.label.split(), autojunk=False).ratio()
            best = (id, alike) if alike > best[1] else best
    return best[0]
