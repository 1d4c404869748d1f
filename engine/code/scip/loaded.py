"""One file of the repository with its SCIP documents: are they about these bytes, where does each occurrence stand, which of our
symbols does each symbol define. Called by ``overlay``.

What may not come in: edges, the table's loading. A document is used only when it is not late (``table``), every range lies inside
the text, and definitions stand where their names are written; anything else means that other bytes were indexed.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mog.engine.code import facts as facts_schema
from mog.engine.code.content import MAX_BYTES, Reader, normalise
from mog.engine.code.facts import Facts
from mog.engine.code.link_view import is_plain
from mog.engine.code.scip import decode, schema, stream
from mog.engine.code.scip.schema import Document, Occurrence
from mog.engine.code.scip.sources import Source
from mog.engine.code.scip.symbols import is_local, may_be_ours
from mog.engine.code.scip.text import Lines
from mog.engine.store.index_db import IndexDB
from mog.engine.store.scip_rows import DocRow

USED, LATE, CHANGED, NO_FILE, UNREADABLE = "used", "written_later", "other_bytes", "not_indexed", "unreadable"
HELD_FILES, HELD_DEFINITIONS = 16, 4_000
# definitions whose name is not where it is said to be, at most, of those that can be checked
TOLERATED = 0.05
_LAST = re.compile(r"([A-Za-z0-9_+$-]+)(?:#|\.|\([A-Za-z0-9_+$-]*\)\.)\Z")
_GUESSES = (schema.UTF16, schema.UTF32, schema.UTF8)


class Place(NamedTuple):
    """One occurrence at its bytes."""

    start: int
    stop: int
    symbol: str
    roles: int


class Loaded(NamedTuple):
    """What indexes say about one file.

    Attributes:
        data: its text as offsets count in it. places: by start. implements: symbol → what it implements.
        states: document number → what came of it.
    """

    path: str
    data: bytes
    facts: Facts
    places: list[Place]
    implements: dict[str, list[str]]
    states: dict[int, str]

    @property
    def used(self) -> bool:
        """Whether any document speaks of these bytes."""
        return USED in self.states.values()


class Library:
    """Documents by file, read from the index files when asked for; a few are remembered.

    Args:
        facts: path → facts of an indexed file.
    """

    def __init__(
        self, db: IndexDB, root: Path, sources: Sequence[Source], max_bytes: int, facts: Callable[[str], Facts | None]
    ) -> None:
        self._db = db
        self._root = root
        self._sources = sources
        self._facts = facts
        self._reader = Reader(root, max_bytes=max_bytes or MAX_BYTES)
        self._files: dict[int, Any] = {}
        self._loaded: OrderedDict[str, Loaded | None] = OrderedDict()
        self._definitions: OrderedDict[str, dict[str, tuple[int, ...]]] = OrderedDict()

    def close(self) -> None:
        """Close what is open."""
        self._reader.close()
        for file in self._files.values():
            file.close()
        self._files.clear()

    def loaded(self, path: str) -> Loaded | None:
        """A file with what indexes say about it; None when none of them speaks of it."""
        if path in self._loaded:
            self._loaded.move_to_end(path)
            return self._loaded[path]
        rows = self._db.scip_docs_of(path)
        made = self._load(path, rows) if rows else None
        self._loaded[path] = made
        if len(self._loaded) > HELD_FILES:
            self._loaded.popitem(last=False)
        return made

    def definitions(self, path: str) -> dict[str, tuple[int, ...]]:
        """Global symbol → positions of our symbols (in the file's facts) that it defines there; empty for what is not used."""
        held = self._definitions.get(path)
        if held is None:
            made = self.loaded(path)
            held = self._definitions[path] = _definitions(made) if made is not None and made.used else {}
            if len(self._definitions) > HELD_DEFINITIONS:
                self._definitions.popitem(last=False)
        return held

    def _load(self, path: str, rows: Sequence[DocRow]) -> Loaded:
        facts = self._facts(path)
        if facts is None:
            return Loaded(path, b"", {}, [], {}, {row.id: NO_FILE for row in rows})
        data = self._reader.read(path).data
        if data is None:
            return Loaded(path, b"", facts, [], {}, {row.id: NO_FILE for row in rows})
        lines = Lines(data)
        states: dict[int, str] = {}
        places: set[Place] = set()
        implements: dict[str, list[str]] = {}
        for row in rows:
            document = None if row.late else self._document(row)
            states[row.id] = LATE if row.late else UNREADABLE
            if document is None:
                continue
            placed = _placed(document, lines)
            states[row.id] = USED if placed is not None else CHANGED
            places.update(placed or ())
            for symbol, above in document.implements.items() if placed is not None else ():
                implements.setdefault(symbol, []).extend(above)
        return Loaded(path, data, facts, sorted(places), implements, states)

    def _document(self, row: DocRow) -> Document | None:
        try:
            file = self._files.get(row.source)
            if file is None:
                file = self._files[row.source] = stream.opened(self._root / self._sources[row.source].path)
            data = stream.read(file, (schema.DOCUMENTS, row.at, row.size))
        except OSError:
            return None
        document = decode.document(data) if len(data) == row.size else None
        inside = document is not None and os.fsdecode(row.path).endswith(document.path)
        return document if inside else None


def _placed(document: Document, lines: Lines) -> list[Place] | None:
    """The occurrences at their bytes, or None when the document is about other bytes."""
    if document.text is not None and (normalise(document.text) or b"") != lines.data:
        return None
    occurrences = list(dict.fromkeys(document.occurrences))
    if document.encoding != schema.UNSAID:
        return _fitting(occurrences, lines, document.encoding)
    tried = (_fitting(occurrences, lines, encoding) for encoding in _GUESSES)
    return next((places for places in tried if places is not None), None)


def _fitting(occurrences: Sequence[Occurrence], lines: Lines, encoding: int) -> list[Place] | None:
    """The occurrences under one encoding; None when one lies outside, or too many definitions are not where their names are."""
    places, checked, wrong = [], 0, 0
    for line, character, last, behind, symbol, roles in occurrences:
        start = lines.offset(line, character, encoding)
        stop = lines.offset(last, behind, encoding)
        if start < 0 or stop < start:
            return None
        if roles & schema.DEFINITION and stop > start and not is_local(symbol):
            named = _LAST.search(symbol)
            checked += named is not None
            if named is not None and named.group(1).encode() != lines.data[start:stop]:
                wrong += 1
                continue
        places.append(Place(start, stop, symbol, roles))
    return places if wrong <= TOLERATED * checked else None


def _definitions(made: Loaded) -> dict[str, tuple[int, ...]]:
    rows = made.facts["syms"]
    by_name: dict[bytes, list[int]] = {}
    for ord, row in enumerate(rows):
        by_name.setdefault(str(row[facts_schema.NAME]).encode("utf-8", "surrogatepass"), []).append(ord)
    found: dict[str, set[int]] = {}
    for start, stop, symbol, roles in made.places:
        if roles & schema.DEFINITION and may_be_ours(symbol):
            at = _innermost(rows, by_name.get(made.data[start:stop], ()), start, stop)
            if at >= 0:
                found.setdefault(symbol, set()).add(at)
    told = {ord for ords in found.values() for ord in ords}
    chosen = {symbol: _read_of(rows, by_name, ords, told) for symbol, ords in found.items()}
    return {symbol: (ord,) for symbol, ord in chosen.items() if ord >= 0}


def _innermost(rows: Sequence[Sequence[Any]], ords: Sequence[int], start: int, stop: int) -> int:
    """Of our symbols of that name the smallest that holds the place; -1 for none."""
    best, size = -1, 0
    for ord in ords:
        row = rows[ord]
        width = row[facts_schema.STOP] - row[facts_schema.START]
        if row[facts_schema.START] <= start and stop <= row[facts_schema.STOP] and (best < 0 or width < size):
            best, size = ord, width
    return best


def _read_of(rows: Sequence[Sequence[Any]], by_name: dict[bytes, list[int]], ords: set[int], told: set[int]) -> int:
    """Which definition a symbol means; -1 when it names several things (functions of one name in different functions).

    Of overloads and of the halves of an ``if``, indexers tell one or all; a name reads the same one as in our own links. What
    another symbol defines (``told``) is no such other half.
    """
    parents = {rows[ord][facts_schema.PARENT] for ord in ords}
    if len(parents) > 1:
        return -1
    name = str(rows[min(ords)][facts_schema.NAME]).encode("utf-8", "surrogatepass")
    halves = [
        ord for ord in by_name[name] if rows[ord][facts_schema.PARENT] in parents and (ord in ords or ord not in told)
    ]
    kept = [ord for ord in halves if is_plain(rows[ord]) == is_plain(rows[min(ords)])]  # type: ignore[arg-type]
    flags = [rows[ord][facts_schema.META].get("x", ()) for ord in kept]
    return kept[facts_schema.read_of(flags)]
