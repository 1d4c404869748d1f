"""Freshness: do the bytes on disk still match an anchor? Recomputed from the disk each time, never from the index.

Called by ``workspace`` for ``verify``, the drift pane and labels on answers. What may not come in: verdicts (drift informs,
it never rejects), writes of any kind, line numbers as identity, parsers and the rules of secrets at import (most answers are told
by the times of a file).
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mog.engine.code import content
from mog.engine.code import facts as schema
from mog.engine.code.languages_map import language_of
from mog.engine.config import EngineConfig
from mog.engine.errors import NotFound, PolicyDenied
from mog.engine.ids import Locator, locator, parse_locator
from mog.engine.model import Anchor, Freshness, Pin, PinState
from mog.engine.store.schema import FileRow

if TYPE_CHECKING:
    from mog.engine.code import secrets
    from mog.engine.code.gates import Gates

FILE_GRAMMAR = "bytes"
Marks = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Span:
    """A symbol as it stands on disk now."""

    qual: str
    name: str
    kind: str
    line: int
    end_line: int
    span_hash: str
    body_hash: str
    start: int
    end: int
    gated: bool


class Disk:
    """Files and their symbols as they are on disk, parsed on demand and kept while size and times stay the same.

    Used from one thread at a time (``beliefs`` locks).
    """

    def __init__(self, root: Path, key: Callable[[], bytes], config: EngineConfig) -> None:
        self.root = root
        self.key = key
        self._allowed = config.allow_secret_content
        self._reader = content.Reader(root, max_bytes=config.max_file_bytes or content.MAX_BYTES)
        self._lock = threading.RLock()
        self._spans: dict[str, tuple[Marks, dict[str, Span] | None]] = {}
        self._holds: dict[tuple[str, tuple[str, ...]], tuple[Marks, bool]] = {}
        if self._allowed:
            _ = self._gates  # a pattern that is none is said now

    @cached_property
    def _gates(self) -> Gates:
        from mog.engine.code.gates import Gates

        return Gates(self._allowed)

    def close(self) -> None:
        """Let go of the folder kept open."""
        self._reader.close()

    def read(self, path: str) -> content.Content:
        """One file below the root, no link followed."""
        with self._lock:
            return self._reader.read(path)

    def holding(self, path: str, needle: bytes) -> bytes | None:
        """As ``content.Reader.holding``."""
        with self._lock:
            return self._reader.holding(path, needle)

    def load(self, path: str) -> tuple[bytes, secrets.Gate] | None:
        """Bytes as UTF-8 and their gate; None when the file is gone, binary or too large."""
        data = self.read(path).data
        return None if data is None else (data, self._gates.classify(path, data))

    def file_hash(self, path: str) -> str | None:
        """Hash of a whole file (hex, 128 bits), keyed when the file is gated; None when it cannot be read."""
        from mog.engine.code import secrets

        loaded = self.load(path)
        if loaded is None:
            return None
        data, gate = loaded
        if gate.file:
            return secrets.keyed_digest(self.key(), data)[:16].hex()
        return hashlib.blake2b(data.replace(b"\r\n", b"\n"), digest_size=16).hexdigest()

    def gated(self, path: str) -> bool:
        """Whether the file's bytes are withheld as a whole."""
        loaded = self.load(path)
        return loaded is not None and bool(loaded[1].file)

    def file_freshness(self, row: FileRow | None) -> Freshness:
        """Is a file as the index has it? By size and times where they can be relied on, else by content."""
        if row is None:
            return Freshness.unknown
        if row.status == "gated":
            return Freshness.gated
        path = os.fsdecode(row.path)
        marks = self._marks(path)
        if marks is None:
            return Freshness.missing
        if row.mtime_ns and marks == row[6:9]:
            return Freshness.fresh
        return Freshness.fresh if self._same_content(path, row) else Freshness.drifted

    def _same_content(self, path: str, row: FileRow) -> bool:
        from mog.engine.code import ingest

        blob = self.read(path).blob
        if blob == row.oid or ingest.text_digest(blob) == row.digest:
            return True
        return row.facts is not None and ingest.facts_key(blob, row.lang, path) == row.facts

    def marks(self, path: str) -> Marks | None:
        """Size, mtime and ctime of a file (ns); None when it is gone. Equal marks mean equal bytes once they are ``reliable``."""
        return self._marks(path)

    def reliable(self, path: str) -> bool:
        """Whether the file was written long enough ago that another write would have changed its marks."""
        marks = self._marks(path)
        return marks is not None and max(marks[1:]) < time.time_ns() - 20_000_000

    def _marks(self, path: str) -> Marks | None:
        try:
            info = os.lstat(os.path.join(self.root, path))
        except (OSError, ValueError):
            return None
        return (info.st_size, info.st_mtime_ns, info.st_ctime_ns)

    def spans(self, path: str) -> dict[str, Span] | None:
        """Symbols of one file by qualified name; None when the file is gone, gated or has no grammar."""
        marks = self._marks(path)
        if marks is None:
            self._spans.pop(path, None)
            return None
        held = self._spans.get(path)
        if held is None or held[0] != marks:
            held = self._spans[path] = (marks, self._parse(path))
        return held[1]

    def holds(self, path: str, terms: tuple[str, ...]) -> bool:
        """Whether every term stands somewhere in the file's bytes."""
        marks = self._marks(path)
        if marks is None:
            return False
        held = self._holds.get((path, terms))
        if held is None or held[0] != marks:
            data = self.read(path).data or b""
            found = all(term.encode("utf-8", "surrogateescape") in data for term in terms)
            held = self._holds[path, terms] = (marks, found)
        return held[1]

    def source(self, path: str, qual: str) -> str:
        """Text of one symbol (or of the file when ``qual`` is empty) as it is on disk.

        Raises:
            NotFound: the file or the symbol is not there. PolicyDenied: the content is gated.
        """
        from mog.engine.code import extract, secrets

        loaded = self.load(path)
        if loaded is None:
            raise NotFound("this file cannot be read", where=path, way_out="run `mog index` to see what is there now")
        data, gate = loaded
        if gate.file:
            raise PolicyDenied("the content is gated", where=path, way_out="its name and place are all that is shown")
        clean = secrets.redact(data, gate.spans) if gate.spans else data
        if not qual:
            return clean.decode("utf-8", "replace")
        span = (self.spans(path) or {}).get(qual)
        if span is None:
            raise NotFound(f"no symbol {qual!r} in the file as it is now", where=path, way_out="run `mog index`")
        if span.gated:
            raise PolicyDenied("the symbol is gated", where=f"{path}::{qual}", way_out="open the file itself")
        clean = extract.shown(language_of(path, data[:200]), clean)[1]
        start = clean.rfind(b"\n", 0, span.start) + 1
        if clean[start : span.start].strip():
            start = span.start  # something else stands before it on its line
        return clean[start : span.end].decode("utf-8", "replace")

    def _parse(self, path: str) -> dict[str, Span] | None:
        from mog.engine.code import extract, ingest, secrets

        loaded = self.load(path)
        if loaded is None or loaded[1].file:
            return None
        data, gate = loaded
        language = language_of(path, data[:200])
        if language not in extract.LANGUAGES:
            return None
        clean = secrets.redact(data, gate.spans) if gate.spans else data
        facts = ingest.facts_of(language, clean, path, gate.spans)
        return {sym[schema.QUAL]: self._span(sym, data) for sym in facts["syms"]}

    def _span(self, sym: list[Any], data: bytes) -> Span:
        gated = bool(sym[schema.META].get("g"))
        return Span(
            sym[schema.QUAL], sym[schema.NAME], sym[schema.KIND], sym[schema.LINE], sym[schema.END],
            sym[schema.SPAN], sym[schema.BODY], sym[schema.FULL], sym[schema.STOP], gated,
        )  # fmt: skip


def grammar_of(path: str) -> str:
    """Language, grammar version and hash version that an anchor in this file is made with."""
    from mog.engine.code import anchors, extract, grammars

    language = language_of(path)
    read_by = extract.HOSTS.get(language, (language,))
    versions = "/".join(dict.fromkeys(grammars.info(one).version for one in read_by))
    return f"{language} {versions} h{anchors.VERSION}"


def _symbol(path: str, qual: str) -> str:
    return locator("symbol", path, qual)


def make_anchor(disk: Disk, place: Locator, files: Callable[[], Iterable[str]]) -> Anchor:
    """Anchor of a file or symbol as it is on disk at this moment; ``files`` lists where twins of its body may stand.

    Raises:
        NotFound: nothing is there under this locator. PolicyDenied: a gated symbol, whose bytes may leave no trace.
    """
    path, qual = place.path, place.name
    if place.type == "file":
        digest = disk.file_hash(path)
        if digest is None:
            raise NotFound("this file cannot be read", where=path, way_out="check the path, relative to the repository")
        return Anchor(str(place), "file", digest, "", FILE_GRAMMAR)
    span = (disk.spans(path) or {}).get(qual)
    if span is None:
        raise NotFound(f"no symbol {qual!r} in the file on disk", where=path, way_out="`mog search NAME` finds it")
    if span.gated:
        raise PolicyDenied("the symbol is gated", where=str(place), way_out="pin the file: its digest is keyed")
    bare = Anchor(str(place), span.kind, span.span_hash, span.body_hash, grammar_of(path), _terms(disk, path, span))
    twins = tuple(_symbol(where, twin.qual) for where, twin in _same_body(disk, bare, files()))
    return replace(bare, twins=twins)


def _terms(disk: Disk, path: str, span: Span) -> tuple[str, ...]:
    from mog.engine.code import anchors

    loaded = disk.load(path)
    return anchors.rare_terms(loaded[0][span.start : span.end], span.name) if loaded else ()


def judge(disk: Disk, pin: Pin, files: Callable[[], Iterable[str]]) -> PinState:
    """State of one pin against the disk. ``files`` lists candidate paths and is only called when the place is not the same."""
    place = parse_locator(pin.anchor.locator)
    path, qual = place.path, place.name
    if place.type == "file":
        return _judge_file(disk, pin, path, files)
    span = (disk.spans(path) or {}).get(qual)
    if span is not None and span.span_hash == pin.anchor.span_hash:
        return PinState(pin, Freshness.fresh, "same span", pin.anchor.locator, (span.line, span.end_line))
    if disk.gated(path) or (span is not None and span.gated):
        return PinState(pin, Freshness.gated, "it is gated now, so it cannot be compared", pin.anchor.locator)
    if span is not None and grammar_of(path) != pin.anchor.grammar:
        return PinState(pin, Freshness.unknown, f"recorded with {pin.anchor.grammar}, read with {grammar_of(path)}")
    elsewhere = _same_body(disk, pin.anchor, files())
    if span is not None:
        return _drifted(pin, span, elsewhere)
    return _gone(pin, elsewhere, path, disk)


def _judge_file(disk: Disk, pin: Pin, path: str, files: Callable[[], Iterable[str]]) -> PinState:
    digest = disk.file_hash(path)
    if digest == pin.anchor.span_hash:
        return PinState(pin, Freshness.fresh, "same bytes", pin.anchor.locator)
    if digest is not None:
        return PinState(pin, Freshness.drifted, "bytes changed", pin.anchor.locator)
    twins = [other for other in files() if disk.file_hash(other) == pin.anchor.span_hash]
    if len(twins) == 1:
        return PinState(pin, Freshness.moved, "same bytes under another path", locator("file", twins[0]))
    return PinState(pin, Freshness.missing, "the file is gone")


def _drifted(pin: Pin, span: Span, elsewhere: list[tuple[str, Span]]) -> PinState:
    lines = (span.line, span.end_line)
    reason = "span changed"
    if len(elsewhere) == 1:
        reason += f"; the body as recorded now stands at {elsewhere[0][0]}::{elsewhere[0][1].qual}"
    return PinState(pin, Freshness.drifted, reason, pin.anchor.locator, lines)


def _gone(pin: Pin, elsewhere: list[tuple[str, Span]], path: str, disk: Disk) -> PinState:
    likely = _likeliest(pin.anchor, elsewhere, path)
    if likely:
        where, span = likely
        reason = "renamed" if where == path else "moved"
        return PinState(pin, Freshness.moved, reason, _symbol(where, span.qual), (span.line, span.end_line))
    if elsewhere:
        return PinState(pin, Freshness.missing, f"gone; {len(elsewhere)} symbols have this body, none is surely it")
    gone = "the symbol is gone" if disk.read(path).data is not None else "the file is gone"
    return PinState(pin, Freshness.missing, gone)


def _likeliest(anchor: Anchor, found: list[tuple[str, Span]], path: str) -> tuple[str, Span] | None:
    """The one place the body moved to: alone under its old name, else alone in its old file, else alone at all."""
    name = parse_locator(anchor.locator).name.rpartition(".")[2]
    moved = [one for one in found if one[1].name == name]
    renamed = [one for one in found if one[0] == path]
    return next((few[0] for few in (moved, renamed, found) if len(few) == 1), None)


def _same_body(disk: Disk, anchor: Anchor, files: Iterable[str]) -> list[tuple[str, Span]]:
    """Symbols of the same kind with the recorded body, at other places than the recorded one."""
    found = []
    for path in files:
        if not disk.holds(path, anchor.terms):
            continue
        for span in (disk.spans(path) or {}).values():
            here = _symbol(path, span.qual)
            if span.body_hash == anchor.body_hash and here != anchor.locator and here not in anchor.twins:
                found.append((path, span))
    return found
