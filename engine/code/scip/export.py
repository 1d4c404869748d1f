"""Our graph as a SCIP index, one message at a time. Called by ``workspace`` for ``mog export scip``.

Facts hold no places of calls, so every file is read and parsed again; one whose bytes are no longer those that were indexed gives
its symbols and no places. A call is placed where only one thing can be meant: the one call of that name in its symbol, or
several that are written alike (one chain in the facts). What cannot be placed is counted. What may not come in: writing of files.
"""

from __future__ import annotations

import os
import re
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mog
from mog.engine.code import facts as facts_schema
from mog.engine.code.content import MAX_BYTES, Reader
from mog.engine.code.facts import Facts, chains
from mog.engine.code.ingest import facts_key
from mog.engine.code.link_calls import last_name, spelled
from mog.engine.code.link_view import File
from mog.engine.code.scip import schema, wire
from mog.engine.code.scip.places import Places
from mog.engine.code.scip.symbols import METHOD, TERM, TYPE, Descriptor, Symbol, path_steps, written
from mog.engine.code.scip.text import Lines
from mog.engine.code.view import CodeView
from mog.engine.model import ScipExport
from mog.engine.store import blobs
from mog.engine.store.schema import SPACE_EDGE, FileRow

TOOL = "mog"
#: Bytes at the beginning of every index we write, by which it is known again.
MARK = wire.text(schema.TOOL_NAME, TOOL)
HELD = 500
_SUFFIX = {"class": TYPE, "function": METHOD, "method": METHOD, "test": METHOD}
_PLAIN = re.compile(r"[^A-Za-z0-9_+$-]")
_WORD = r"(?<![\w$\x80-\xff])%s(?![\w$\x80-\xff])"

Group = tuple[int, str]


@dataclass(slots=True)
class _Edges:
    """Edges out of one file by what is written where: targets are node keys."""

    calls: dict[Group, set[int]] = field(default_factory=lambda: defaultdict(set))
    references: dict[Group, set[int]] = field(default_factory=lambda: defaultdict(set))
    bases: dict[int, set[int]] = field(default_factory=lambda: defaultdict(set))


class Exporter:
    """Writes one generation; ``made`` counts while ``messages`` runs.

    Args:
        max_bytes: files beyond this were not indexed (0: the built-in limit).
    """

    def __init__(self, view: CodeView, root: Path, project: str, max_bytes: int) -> None:
        self._view = view
        self._db = view.db
        self._root = root
        self._package = project or root.name or "."
        self._max = max_bytes or MAX_BYTES
        self._names: dict[int, str] = dict(self._db.rows("SELECT id, text FROM names"))
        self._words = self._db.codes(SPACE_EDGE)
        self._symbols: OrderedDict[int, dict[int, str]] = OrderedDict()
        self.made = ScipExport()

    def messages(self) -> Iterator[bytes]:
        """The fields of the index message, metadata first, then documents by path."""
        tool = MARK + wire.text(schema.TOOL_VERSION, mog.__version__)
        about = wire.delimited(schema.TOOL_INFO, tool) + wire.text(schema.PROJECT_ROOT, self._root.resolve().as_uri())
        yield wire.delimited(schema.METADATA, about + wire.number(schema.TEXT_ENCODING, schema.UTF8_TEXT))
        rows = [FileRow._make(row) for row in self._db.file_rows()]
        with Reader(self._root, max_bytes=self._max) as reader:
            for row in sorted((row for row in rows if row.status == "source" and row.facts), key=lambda row: row.path):
                yield wire.delimited(schema.DOCUMENTS, self._document(row, reader))

    def _document(self, row: FileRow, reader: Reader) -> bytes:
        path = os.fsdecode(row.path)
        facts = self._db.facts_get(row.facts or b"")
        content = reader.read(path)
        same = content.data is not None and facts_key(content.blob, row.lang, path) == row.facts
        self.made.documents += 1
        self.made.changed += not same
        edges = self._edges(row)
        parts = [wire.text(schema.PATH, path)]
        if same:
            parts += _Placing(self, row, facts, content.data or b"", edges).occurrences()
        own = self.symbols(row.id)
        keys = [node.key for node in self._db.nodes_of_file(row.id) if node.type == "symbol"]
        for key, sym in zip(keys, facts["syms"], strict=True):
            above = sorted(filter(None, map(self.symbol, edges.bases.get(key, ()))))
            parts.append(wire.delimited(schema.SYMBOLS, _information(own[key], sym, above, row.lang)))
            self.made.symbols += 1
        parts.append(wire.text(schema.LANGUAGE, schema.LANGUAGES.get(row.lang, row.lang)))
        parts.append(wire.number(schema.ENCODING, schema.UTF8))
        return b"".join(parts)

    def _edges(self, row: FileRow) -> _Edges:
        """Certain edges of a file: calls and references by (position of the symbol, name), bases by key."""
        found = _Edges()
        ords = {node.key: node.ord for node in self._db.nodes_of_file(row.id)}
        for src, dst, code, name in blobs.unpack_edges(self._db.edges_get(row.id)):
            kind = self._words.get(code & 0xFF, "")
            if blobs.tier_of(code) or src not in ords:
                continue
            if kind == "calls":
                found.calls[ords[src], self._names.get(name, "")].add(dst)
            elif kind == "references":
                found.references[ords[src], self._names.get(name, "")].add(dst)
            elif kind == "inherits":
                found.bases[src].add(dst)
        return found

    def symbol(self, key: int) -> str:
        """The SCIP symbol of a node; "" for what is no symbol of a source file."""
        places = self._db.node_places([key])
        return self.symbols(places[0][1]).get(key, "") if places and places[0][1] else ""

    def symbols(self, number: int) -> dict[int, str]:
        """Node key → SCIP symbol, for the symbols of one file."""
        held = self._symbols.get(number)
        if held is None:
            held = self._symbols[number] = self._of_file(number)
            if len(self._symbols) > HELD:
                self._symbols.popitem(last=False)
        return held

    def _of_file(self, number: int) -> dict[int, str]:
        row = self._view.file_row(number)
        if row is None or not row.facts:
            return {}
        steps = descriptors(os.fsdecode(row.path), self._db.facts_get(row.facts)["syms"])
        keys = [node.key for node in self._db.nodes_of_file(number) if node.type == "symbol"]
        return {key: written(Symbol(TOOL, "", self._package, "", one)) for key, one in zip(keys, steps, strict=True)}


class _Placing:
    """The occurrences of one file."""

    def __init__(self, exporter: Exporter, row: FileRow, facts: Facts, data: bytes, edges: _Edges) -> None:
        self.exporter = exporter
        self.data = data
        self.syms = facts["syms"]
        self.edges = edges
        self.lines = Lines(data)
        self.places = Places(row.lang, data, self.syms)
        self.keys = [node.key for node in exporter._db.nodes_of_file(row.id) if node.type == "symbol"]
        self.own = exporter.symbols(row.id)
        self.written = _ways(File(os.fsdecode(row.path), facts))
        self.names = {span: ord for ord in range(len(self.syms)) if (span := self.places.name(ord)) is not None}
        self.found: set[tuple[int, int, str, int, tuple[int, int]]] = set()

    def occurrences(self) -> list[bytes]:
        """Encoded occurrences, by place."""
        self._definitions()
        self._calls()
        self._references()
        return [wire.delimited(schema.OCCURRENCES, self._encoded(*one)) for one in sorted(self.found)]

    def _encoded(self, start: int, stop: int, symbol: str, roles: int, around: tuple[int, int]) -> bytes:
        enclosing = self.lines.range(*around) if around[1] > around[0] else ()
        place = wire.delimited(schema.RANGE, b"".join(map(wire.packed_varint, self.lines.range(start, stop))))
        told = wire.text(schema.SYMBOL, symbol) + wire.number(schema.ROLES, roles)
        return place + told + wire.packed(schema.ENCLOSING, enclosing)

    def _definitions(self) -> None:
        for (start, stop), ord in self.names.items():
            row = self.syms[ord]
            roles = schema.DEFINITION | (schema.TEST if row[facts_schema.KIND] == "test" else 0)
            around = (min(row[facts_schema.FULL], start), row[facts_schema.STOP])
            self.found.add((start, stop, self.own[self.keys[ord]], roles, around))
            self.exporter.made.definitions += 1

    def _calls(self) -> None:
        groups: dict[Group, list[tuple[int, int]]] = defaultdict(list)
        for site in self.places.sites:
            name = self.data[site.start : site.stop].decode("utf-8", "replace")
            scope = next((scope for scope in site.scopes if (scope, name) in self.written), site.scopes[0])
            groups[scope, name].append((site.start, site.stop))
        for group, sites in groups.items():
            targets = self._heads(self.edges.calls.get(group, set()))
            alike = len(sites) == 1 or self.written.get(group, 0) == 1
            if targets and alike:
                self.found.update((start, stop, symbol, 0, (0, 0)) for start, stop in sites for symbol in targets)
                self.exporter.made.calls += len(sites)
            elif targets:
                self.exporter.made.unplaced += len(sites)

    def _heads(self, keys: set[int]) -> list[str]:
        """Symbols of targets; of a class and its constructor, which one call leads to, the class."""
        symbols = sorted(filter(None, map(self.exporter.symbol, keys)))
        classes = [symbol for symbol in symbols if symbol.endswith(TYPE)]
        return classes or symbols

    def _references(self) -> None:
        """A reference is placed where its name stands once in its symbol as an identifier that is neither called nor imported."""
        calls = {(site.start, site.stop) for site in self.places.sites}
        for (scope, name), keys in self.edges.references.items():
            symbols = sorted(filter(None, map(self.exporter.symbol, keys)))
            spots = [span for span in self._words(scope, name) if span not in calls and span not in self.names]
            if len(spots) == 1 and len(symbols) == 1:
                self.found.add((*spots[0], symbols[0], schema.READ, (0, 0)))
                self.exporter.made.references += 1
            else:
                self.exporter.made.unplaced += 1

    def _words(self, scope: int, name: str) -> list[tuple[int, int]]:
        """Identifiers of that name in a symbol (and not in one inside it), imports left out."""
        if not name or self.places.tree is None:
            return []
        row = self.syms[scope] if scope >= 0 else None
        first, last = (row[facts_schema.FULL], row[facts_schema.STOP]) if row else (0, len(self.data))
        word = re.compile(_WORD.encode() % re.escape(name.encode("utf-8", "replace")))
        found = []
        for match in word.finditer(self.data, first, last):
            node = self.places.tree.root_node.descendant_for_byte_range(*match.span())
            whole = node is not None and (node.start_byte, node.end_byte) == match.span() and "identifier" in node.type
            if whole and not self.places.in_import(match.start()) and self.places.scopes(*match.span())[0] == scope:
                found.append(match.span())
        return found


def _ways(file: File) -> dict[Group, int]:
    """(symbol, name as written) → in how many different ways a call under that name is written there."""
    found: dict[Group, set[str]] = defaultdict(set)
    for scope, held in file.facts["calls"]:
        for way in chains(held):
            name, equals, _ = way.partition("=")
            found[scope, name if equals else spelled(file, last_name(way.split("|")[0]))].add(way)
    return {group: len(ways) for group, ways in found.items()}


def descriptors(path: str, syms: Sequence[Sequence[Any]]) -> list[tuple[Descriptor, ...]]:
    """The descriptors of every symbol of a file, in order: its path, then one step for each symbol around it, then its own."""
    top = tuple(path_steps(path))
    found: list[tuple[Descriptor, ...]] = []
    for row in syms:
        parent = row[facts_schema.PARENT]
        above = found[parent] if 0 <= parent < len(found) else top
        owner = str(syms[parent][facts_schema.QUAL]) + "." if above is not top else ""
        found.append((*above, _step(row, owner)))
    return found


def _step(row: Sequence[Any], owner: str) -> Descriptor:
    """One symbol as a descriptor; what tells it from others of its name (``#2``, ``@setter``) disambiguates."""
    name, suffix = str(row[facts_schema.NAME]), _SUFFIX.get(row[facts_schema.KIND], TERM)
    last = str(row[facts_schema.QUAL]).removeprefix(owner)
    mark = last.removeprefix(name) if last.startswith(name) else last if last != name else ""
    if suffix == METHOD:
        return Descriptor(name or "?", METHOD, _PLAIN.sub("+", mark))
    return Descriptor((name + mark) or "?", suffix)


def _information(symbol: str, row: Sequence[Any], above: Sequence[str], lang: str) -> bytes:
    """One symbol's message. A gated symbol has only its name."""
    parts = [wire.text(schema.INFO_SYMBOL, symbol), wire.text(schema.DOCUMENTATION, str(row[facts_schema.DOC]))]
    for base in above:
        told = wire.text(schema.REL_SYMBOL, base) + wire.number(schema.IS_IMPLEMENTATION, 1)
        parts.append(wire.delimited(schema.RELATIONSHIPS, told))
    parts.append(wire.number(schema.KIND, schema.KINDS.get(row[facts_schema.KIND], 0)))
    parts.append(wire.text(schema.DISPLAY_NAME, str(row[facts_schema.NAME])))
    if row[facts_schema.SIG]:
        shown = wire.text(schema.LANGUAGE, schema.LANGUAGES.get(lang, lang)) + wire.text(
            schema.TEXT, str(row[facts_schema.SIG])
        )
        parts.append(wire.delimited(schema.SIGNATURE, shown))
    return b"".join(parts)
