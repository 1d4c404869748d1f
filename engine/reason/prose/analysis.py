"""What documents say, before anything is written: statements, names and records, as pure functions over texts.

Called by ``pipeline.py``. What may not come in: the graph, files. The result is the same for the same documents in any order.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from mog.engine.reason.prose import adr, chunk, entities, extract, lexicon, readers
from mog.engine.reason.prose.documents import Document
from mog.engine.reason.prose.entities import Found
from mog.engine.reason.prose.extract import Statement
from mog.engine.reason.prose.lexicon import Lexicon, Tally
from mog.engine.reason.prose.marked import Prose

_NO_CLAIMS = frozenset(("status", "date", "links"))
"""Sections of a decision record that state nothing about the subject."""


@dataclass(frozen=True, slots=True)
class Said:
    """One statement of a document with what it names.

    Attributes:
        section: of a decision record. leads: it is the first statement under its heading and about its topic.
        defines: the term it defines ("A fixture is a collection of …"), "" when it defines none.
    """

    statement: Statement
    named: tuple[Found, ...]
    section: str = ""
    leads: bool = False
    defines: str = ""


@dataclass(slots=True)
class Reading:
    """One document read: its statements, what was turned away and why, its record when it is an ADR."""

    document: Document
    said: list[Said] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    spans: int = 0
    record: adr.Record | None = None
    headings: tuple[Found, ...] = ()
    declared: tuple[str, ...] = ()
    glossary: tuple[str, ...] = ()


def read(document: Document) -> Reading:
    """CHUNK and EXTRACT of one document. Raises UsageError when its text is not what its form says."""
    prose = readers.prose(document)
    out = Reading(
        document, headings=tuple(entities.of_headings(prose)), declared=prose.declared, glossary=prose.glossary
    )
    if document.form == "adr":
        out.record = adr.read(document, prose)
    starts = [mark.start for mark in prose.marks]
    seen: set[tuple[str, tuple[str, ...]]] = set()
    places: set[tuple[tuple[str, ...], str]] = set()
    for sentence in chunk.sentences(prose):
        out.spans += 1
        found = extract.extract(sentence)
        section = out.record.sections.get(sentence.block.start, "") if out.record else ""
        if isinstance(found, str) or section in _NO_CLAIMS or (section == "options" and _bare_option(sentence)):
            out.dropped[found if isinstance(found, str) else "section"] += 1
        elif (found.label, found.heading) in seen:
            out.dropped["repeated"] += 1
        else:
            seen.add((found.label, found.heading))
            leads = (found.heading, found.topic) not in places
            places.add((found.heading, found.topic))
            out.said.append(Said(found, _named(prose, found, starts), section, leads, entities.defined(found.label)))
    return out


def _bare_option(sentence: chunk.Sentence) -> bool:
    """An option that is only named. What is said for or against one is a statement like any other."""
    return sentence.block.role == "item" and not sentence.shown.endswith((".", ")", "。"))


def _named(prose: Prose, statement: Statement, starts: Sequence[int]) -> tuple[Found, ...]:
    low, high = bisect_left(starts, statement.start), bisect_left(starts, statement.end)
    shown = prose.shown[statement.start : statement.end]
    return tuple(entities.in_sentence(statement.label, prose.marks[low:high], statement.start, shown))


def count(readings: Iterable[Reading]) -> Tally:
    """What all documents name, counted."""
    tally = Tally()
    for reading in readings:
        labels = [said.statement.label for said in reading.said]
        defined = [said.defines for said in reading.said if said.defines]
        named = [found for said in reading.said for found in said.named]
        tally.add(named, labels, reading.declared, defined, reading.headings)
        tally.explain(reading.glossary)
    return tally


def settle(
    readings: Sequence[Reading], tally: Tally, known: Iterable[lexicon.Entity], declared: Iterable[str]
) -> Lexicon:
    """The entities of the readings, those that are ``known`` already kept under the key they have."""
    first = Lexicon(_with_known(lexicon.build(tally, declared), known))
    for reading in readings:
        for said in reading.said:
            first.mentioned(said.statement.label, said.named)
    return first.settle(tally)


def _with_known(found: Iterable[lexicon.Entity], known: Iterable[lexicon.Entity]) -> list[lexicon.Entity]:
    old = list(known)
    taken = {lexicon.key(name) for entity in old for name in (entity.name, *entity.aliases)}
    return [*old, *(entity for entity in found if entity.key not in taken)]


def topic(lexicon_: Lexicon, statement: Statement) -> str:
    """Key of the entity that the section or object around a statement is about, "" when it is none."""
    for title in (statement.topic, *reversed(statement.heading[-2:])):
        name = title.strip("`").removesuffix("()")
        entity = lexicon_.of(name) if name else None
        if entity and entity.key not in lexicon_.generic:
            return entity.key
    return ""
