"""CHUNK → EXTRACT → RESOLVE → LINK → EMBED → PRUNE: documents into the mesh, in one commit, or, when all is as it was, in none.

Called by the command line, the workbench and tests. What may not come in: reading of files (``readers``), rules of language
(``extract``, ``entities``), logic of standing (the mesh has it), network.

EMBED makes no vectors of its own: what finds a claim by its words is the inverted index over stems that ``index.py`` keeps
up to date from the graph, with weights by rarity. The stage counts what that index will hold; it writes nothing.

The order of the documents does not matter: they are sorted by key, names are counted over all of them, and every choice
has a fixed tie-break. The same documents again write no event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from mog.engine.errors import MogError, UsageError
from mog.engine.ids import digest
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.prose import analysis, known
from mog.engine.reason.prose.analysis import Reading
from mog.engine.reason.prose.documents import MAX_DOCUMENT, Document, Skipped
from mog.engine.reason.prose.link import Linker
from mog.engine.reason.prose.report import IngestReport
from mog.engine.values import plain

Progress = Callable[[str, int, int], None]
VERSION = "prose-1"
"""Extractor recorded with every claim; a change of rules that changes claims changes it."""
_PERSON = b"mog.prose.1"


def ingest(
    mesh: Mesh,
    documents: Iterable[Document | Skipped],
    *,
    collection: str = "",
    complete: bool = False,
    entities: Sequence[str] = (),
    progress: Progress | None = None,
) -> IngestReport:
    """Take documents into the mesh.

    Args:
        documents: what readers give; two with one key: the first by text counts, the other is skipped.
        collection: name of the set they belong to ("docs"), kept with each source.
        complete: these are all documents of the collection: sources of it that are missing here are withdrawn.
        entities: declared names, besides those of the documents' front matter.
        progress: called with the stage, how much of it is done, and how much there is.

    Raises:
        UsageError: ``complete`` without a collection. Whatever ``Mesh.writing`` raises; then nothing was recorded.
    """
    if complete and not collection:
        raise UsageError("complete without a collection", way_out="name the collection that these documents make up")
    report = IngestReport()
    tell = progress or (lambda stage, done, total: None)
    given = _sorted(documents, report)
    digests = {document.key: text_digest(document, collection, entities) for document in given}
    with mesh.locked():
        state = known.Known(mesh, collection)
        if not state.changed(digests) and not (complete and state.missing(digests)):
            report.documents["unchanged"] = len(given)
            return report
    readings = _read(given, report, tell)
    tally = analysis.count(readings)
    names = sorted({*entities, *(name for document in given for name in document.entities)})
    with mesh.writing("ingested", collection=collection, documents=len(given)) as writer:
        state = known.Known(mesh, collection)  # another process may have written since
        changed = state.changed(digests)
        report.documents["unchanged"] = len(given) - len(changed)
        lexicon = analysis.settle(readings, tally, state.entities(), names)
        resolve = report.stages["resolve"]
        resolve.admitted, resolve.dropped = len(lexicon), max(len(tally.spellings) - len(lexicon), 0)
        linker = Linker(mesh, writer, state, lexicon, report, VERSION)
        linker.run(readings, changed, digests, state.missing(digests) if complete else [], tell)
    report.stages["embed"].admitted = report.claims["new"] + report.entities["new"]
    return report


def text_digest(document: Document, collection: str = "", entities: Sequence[str] = ()) -> str:
    """What a source remembers of its text: the same digest, nothing to do."""
    declared = [*document.entities, "", *sorted(entities)]
    facts = [f"{name}={document.facts[name]!r}" for name in sorted(document.facts)]
    parts = (
        VERSION,
        document.title,
        document.origin,
        document.form,
        document.kind,
        document.retrieved_at or "",
        collection,
    )
    return digest(_PERSON, document.text, *parts, *facts, "", *declared).hex()


def _sorted(documents: Iterable[Document | Skipped], report: IngestReport) -> list[Document]:
    """The documents by key, each key once; what cannot be stored is skipped with its reason."""
    found: dict[str, Document] = {}
    for each in documents:
        if isinstance(each, Document):
            reason = _unfit(each)
            if not reason and each.key in found:
                each, found[each.key] = _two(found[each.key], each)
                reason = "another document has its key"
            if not reason:
                found[each.key] = each
                continue
            each = Skipped(each.key, reason)
        report.skipped.append(each)
    report.skipped.sort(key=lambda skipped: (skipped.where, skipped.reason))
    report.documents["skipped"] = len(report.skipped)
    return [found[key] for key in sorted(found)]


def _two(one: Document, other: Document) -> tuple[Document, Document]:
    """The second and the first of two, by what they say."""
    first, second = sorted((one, other), key=lambda each: (each.text, each.title, each.form))
    return second, first


def _unfit(document: Document) -> str:
    if len(document.text) > MAX_DOCUMENT:
        return f"longer than {MAX_DOCUMENT} characters"
    try:
        plain(
            [
                document.key,
                document.title,
                document.text,
                document.origin,
                dict(document.facts),
                list(document.entities),
            ]
        )
    except UsageError as error:
        return error.what
    return ""


def _read(documents: Sequence[Document], report: IngestReport, tell: Progress) -> list[Reading]:
    readings: list[Reading] = []
    chunk, extract = report.stages["chunk"], report.stages["extract"]
    why: Counter[str] = Counter()
    for number, document in enumerate(documents):
        tell("extract", number, len(documents))
        try:
            reading = analysis.read(document)
        except MogError as error:
            report.skipped.append(Skipped(document.key, str(error)))
            continue
        readings.append(reading)
        chunk.admitted += reading.spans
        extract.admitted += len(reading.said)
        why.update(reading.dropped)
    extract.dropped = sum(why.values())
    extract.notes = [f"{count} {reason}" for reason, count in sorted(why.items(), key=lambda item: (-item[1], item[0]))]
    return readings
