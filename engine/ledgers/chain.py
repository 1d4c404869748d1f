"""Events and their chain: what one event is, how it is sealed, and whether a row of ``events`` holds. Called by the log.

What may not come in: transactions, files, anything derived from events. One event is one canonical JSON text (RFC
8785), chained by SHA-256 (FIPS 180-4):

    digest(n) = SHA-256("mog.event.1" ‖ digest(n-1) ‖ n as 8 bytes ‖ text(n)),   digest(0) = 32 zero bytes

A stored body that starts with ``{`` is the text itself; one that starts with 0x01 is the text packed: 32 hex digits as
0xFF and 16 bytes, then deflated (RFC 1951) with a dictionary of words that events have in common. Wall time stands beside
the chain, not in it, and is sealed to its event by a short hash that shows damage, not intent.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from binascii import hexlify, unhexlify
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import apsw

from mog.engine.errors import MogError, StoreDamaged, UsageError
from mog.engine.ledgers import files, merkle, state_root
from mog.engine.values import canonical, freeze, parse, plain

MAX_BODY_BYTES = 16 * 1024 * 1024
GENESIS = bytes(32)
FORM = 1
SEAL_BYTES = {1: 32, 2: 8}
_PACKED, _MARK = b"\x01", b"\xff"  # no byte 0xFF is in a text of UTF-8
_WORTH_PACKING = 100
_ID, _MARKED = re.compile(rb"[0-9a-f]{32}"), re.compile(rb"\xff(.{16})", re.DOTALL)
_WORDS = (
    b'"attrs":{},"checks":[],"label":"","reason":"","role":"","kind":"span":null,"anchor":{"locator":"sym:","grammar":"'
    b'"origin":"docs/.md","retrieved_at":"20-01-01","person","auditor","contradicts",["retire","superseded",["judge",'
    b'["ground",["mark",["anchor",["alias",["node","claim","statement","source","document","decision","assumption",'
    b'"entity","thing",["edge","cites",["edge","depends_on",["edge","derived_from",["edge","mentions",'
    b'"",{}],["edge","supports","rule",[]]],[]]}],"type":"","v":1}{"data":{"ops":[["'
)
_TYPE = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){0,3}")
_BEYOND = re.compile("[\ud800-\U0010ffff]")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_FRACTION = re.compile(r"\d[.eE]|\d{17}")
_ROWS = "SELECT seq, body, digest, recorded_at, seal FROM events"

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """Where the log stands. Two heads are equal when their events are.

    Attributes:
        seq: number of the last event, 0 when there is none.
        digest: its chain digest in hex.
        root: Merkle root over all events in hex ("" in a file of format 1).
        state: state root after the last event in hex ("" in a file of format 1).
    """

    seq: int = 0
    digest: str = GENESIS.hex()
    root: str = field(default=merkle.EMPTY.hex(), compare=False)
    state: str = field(default=state_root.EMPTY.hex(), compare=False)


@dataclass(frozen=True, slots=True)
class Event:
    """One event as read back.

    Attributes:
        seq: its number, from 1 without gaps.
        type: such as ``pin.added``.
        data: read-only plain JSON.
        digest: chain digest in hex.
        recorded_at: the wall time told when it was recorded, for people.
    """

    seq: int
    type: str
    data: Mapping[str, Any]
    digest: str
    recorded_at: str


def event_digest(prev: bytes, seq: int, text: bytes) -> bytes:
    """Chain digest of one event, 32 bytes (formula in the module's text)."""
    return hashlib.sha256(b"mog.event.1" + prev + seq.to_bytes(8, "big") + text).digest()


def seal_of(digest: bytes, recorded_at: str, version: int) -> bytes:
    """What ties the wall time to its event; 8 bytes, 32 in a file of format 1."""
    return hashlib.sha256(b"mog.seal.1" + digest + recorded_at.encode("utf-8")).digest()[: SEAL_BYTES[version]]


def leaf_data(digest: bytes, before: bytes, after: bytes) -> bytes:
    """What one event puts into the Merkle tree: its digest, and the state root before and after it."""
    return b"mog.leaf.1" + digest + before + after


def text_of(kind: str, data: Mapping[str, Any]) -> bytes:
    """The canonical text of an event. Raises UsageError for a type or value that cannot be recorded."""
    if not _TYPE.fullmatch(kind) or len(kind) > 64:
        raise UsageError(f"no event type {kind!r}", way_out="use small letters, with dots between: pin.added")
    text = _canonical(plain({"data": data, "type": kind, "v": FORM}))
    if len(text) > MAX_BODY_BYTES:
        raise UsageError("an event beyond 16 MiB", where=kind, way_out="record it as several events of one commit")
    return text


def check_when(when: str) -> None:
    """Raises UsageError for a wall time that is not short printable ASCII."""
    if len(when) > 64 or not (when.isascii() and when.isprintable()):
        raise UsageError(f"{when!r} is not a time", way_out="use ISO 8601, as in 2026-01-31T12:00:00Z")


def stored(text: bytes) -> bytes:
    """The stored form of an event's text: packed where that saves a tenth."""
    if len(text) < _WORTH_PACKING:
        return text
    packer = zlib.compressobj(6, zlib.DEFLATED, -15, 6, zdict=_WORDS)
    raw = _ID.sub(lambda found: _MARK + unhexlify(found[0]), text)
    small = _PACKED + packer.compress(raw) + packer.flush()
    return small if len(small) < len(text) * 9 // 10 else text


def restored(body: bytes) -> bytes:
    """The text of a stored body; what cannot be unpacked comes back as it is, and no digest fits it."""
    if body[:1] != _PACKED:
        return body
    unpacker = zlib.decompressobj(-15, zdict=_WORDS)
    try:
        raw = unpacker.decompress(body[1:], MAX_BODY_BYTES + 1)
    except zlib.error:
        return body
    if not unpacker.eof or unpacker.unused_data:
        return body
    return _MARKED.sub(lambda found: hexlify(found[1]), raw)


# -- rows


def rows(db: apsw.Connection, after: int = 0, limit: int = -1) -> Iterator[Row]:
    """Rows above ``after``; from 0 on all of them, so that a row below 1 does not go unseen."""
    return db.execute(f"{_ROWS} WHERE seq > ? ORDER BY seq LIMIT ?", (after or -1 << 63, limit))


def digest_at(db: apsw.Connection, seq: int, where: str) -> bytes:
    """Chain digest of one event as stored. Raises StoreDamaged."""
    if seq == 0:
        return GENESIS
    row = db.execute("SELECT digest FROM events WHERE seq = ?", (seq,)).fetchone()
    if row is None or not isinstance(row[0], bytes):
        raise StoreDamaged(f"event {seq} is gone", where=where, way_out=files.WAY_OUT)
    return row[0]


def last(db: apsw.Connection) -> tuple[int, bytes]:
    """Number and digest of the last row."""
    row = db.execute("SELECT seq, digest FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    return (row[0], row[1]) if row else (0, GENESIS)


def flaw(row: Row, seq: int, prev: bytes, version: int) -> str:
    """Why a row is not event number ``seq`` after ``prev``; "" when it is."""
    found, body, digest, recorded_at, seal = row
    shapes = ((body, bytes), (digest, bytes), (recorded_at, str), (seal, bytes))
    if found != seq:
        return f"event {found} stands in its place"
    if not all(isinstance(value, shape) for value, shape in shapes):
        return "a column of the wrong type"
    if event_digest(prev, seq, restored(body)) != digest:
        return "its digest is not that of its content and of the event before"
    return "" if seal_of(digest, recorded_at, version) == seal else "its time was changed"


def form_flaw(row: Row, where: str) -> str:
    """Why a row that holds is still not what we write; "" when it is."""
    text = restored(row[1])
    try:
        return "" if _canonical(_value(row[0], text, where)) == text else "its text is not canonical"
    except MogError as error:
        return error.what


def event_of(row: Row, where: str) -> Event:
    """The event of a row that holds. Raises StoreDamaged for a text of no known form."""
    value = _value(row[0], restored(row[1]), where)
    return Event(row[0], value["type"], freeze(value["data"]), row[2].hex(), row[3])


def _value(seq: int, text: bytes, where: str) -> dict[str, Any]:
    value = parse(text, f"{where}, event {seq}")
    known = isinstance(value, dict) and value.keys() == {"data", "type", "v"} and value["v"] == FORM
    if not (known and isinstance(value["data"], dict) and isinstance(value["type"], str)):
        way_out = "upgrade mog, or run `mog doctor`"
        raise StoreDamaged(f"event {seq} is of no known form", where=where, way_out=way_out)
    return dict(value)


def _canonical(value: dict[str, Any]) -> bytes:
    """As ``values.canonical`` for a plain value, quicker where the standard library writes the same text.

    That differs in numbers that are no integers, and in the order of keys beyond U+D7FF (RFC 8785, 3.2.2 and 3.2.3).
    """
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (RecursionError, ValueError, TypeError):
        return canonical(value)
    same = not _BEYOND.search(text) and not _FRACTION.search(_STRING.sub("", text))
    return text.encode("utf-8") if same else canonical(value)


def checked(db: apsw.Connection, where: str, version: int, after: int = 0, limit: int = -1) -> Iterator[Event]:
    """Events above ``after``, each checked against the chain. Raises StoreDamaged at the first that does not hold."""
    prev = digest_at(db, after, where)
    for row in rows(db, after, limit):
        after += 1
        reason = flaw(row, after, prev, version)
        if reason:
            raise StoreDamaged(f"event {after} does not hold: {reason}", where=where, way_out=files.WAY_OUT)
        prev = row[2]
        yield event_of(row, where)
