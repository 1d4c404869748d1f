"""The append-only event log in ``ledger.db``: what people and agents said, in the order they said it.

Called by pins and, later, by every ledger of the belief engine. What may not come in: anything that can be derived,
updates, deletes, clocks (the caller says when). Two processes never wait for each other: a second writer is refused at
once, a reader reads the last committed state.

One event is one canonical JSON text (RFC 8785), chained by SHA-256 (FIPS 180-4):

    digest(n) = SHA-256("mog.event.1" ‖ digest(n-1) ‖ n as 8 bytes ‖ body(n)),   digest(0) = 32 zero bytes

Wall time stands beside the chain, not in it, and is sealed to its event by a hash of its own. The chain shows whoever
knows the head that a record was changed, dropped, moved or put in; rewriting the whole file leaves no mark in it.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import apsw

from mog.engine.errors import HeldByOther, MogError, StoreDamaged, UsageError
from mog.engine.ledgers import files
from mog.engine.values import canonical, freeze, parse

APPLICATION_ID = 0x6D6F674C  # "mogL"
VERSION = 1
MAX_BODY_BYTES = 1024 * 1024
_LARGEST = MAX_BODY_BYTES + 4096
_GENESIS = bytes(32)
_TYPE = re.compile(r"[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*){0,3}")
_PAGE = 512
_SCHEMA = {
    "events": (
        "CREATE TABLE events(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, digest BLOB NOT NULL, "
        "recorded_at TEXT NOT NULL, seal BLOB NOT NULL) STRICT"
    ),
    "head": (
        "CREATE TABLE head(one INTEGER PRIMARY KEY CHECK(one = 1), seq INTEGER NOT NULL, digest BLOB NOT NULL) STRICT"
    ),
}
_ROWS = "SELECT seq, body, digest, recorded_at, seal FROM events"
_T = TypeVar("_T")
_Bodies = list[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Head:
    """Where the log stands: the number of its last event (0 when empty) and that event's digest in hex."""

    seq: int = 0
    digest: str = _GENESIS.hex()


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


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """Result of a full check.

    Attributes:
        events: how many events hold, from the first on.
        damaged_at: the first that does not, 0 when all do; one past the last when it is the head that is wrong.
        reason: why, in words.
    """

    events: int
    damaged_at: int = 0
    reason: str = ""

    @property
    def ok(self) -> bool:
        return not self.damaged_at


class EventLog:
    """The log of one file. Safe from any thread; opens nothing before it is asked, creates nothing before a write."""

    def __init__(self, path: Path) -> None:
        """``path`` is the file, usually ``.mog/ledger.db``; its folder is made at the first write."""
        self.path = path
        self._reader: apsw.Connection | None = None
        self._writer: apsw.Connection | None = None
        self._identity: dict[str, tuple[int, int] | None] = {}
        self._reading = threading.RLock()
        self._writing = threading.RLock()

    def close(self) -> None:
        """Give the file back. The log opens it again when it is next used."""
        with self._reading:
            connection, self._reader = self._reader, None
            _close(connection)
        with self._writing:
            connection, self._writer = self._writer, None
            _close(connection)

    def __enter__(self) -> EventLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- reading

    def head(self) -> Head:
        """Where the log stands. Raises StoreDamaged."""
        return self._read(_head, Head())

    def events(self, after: int = 0, limit: int = 0) -> Iterator[Event]:
        """Events with numbers above ``after``, in order, each checked against the chain; all, or at most ``limit``.

        Read page by page, each page from one committed state. Raises StoreDamaged at the first that does not hold.
        """
        left = limit or -1
        while left:
            want = _PAGE if left < 0 else min(_PAGE, left)
            page = self._page(after, want)
            yield from page
            if len(page) < want:
                return
            after, left = page[-1].seq, left - len(page) if left > 0 else left

    def _page(self, after: int, want: int) -> list[Event]:
        empty: list[Event] = []
        return self._read(lambda db: _page(db, after, want, self._named), empty)

    def verify(self) -> ChainCheck:
        """Check each event, its canonical form, the chain and the head.

        Raises StoreDamaged only when the file cannot be read as a ledger at all.
        """
        return self._read(lambda db: _check_chain(db, self._named), ChainCheck(0))

    # -- writing

    def append(self, type: str, data: Mapping[str, Any], *, when: str, expected: Head | None = None) -> Event:
        """Record one event; see ``append_all``."""
        return self.append_all([(type, data)], when=when, expected=expected)[0]

    def append_all(
        self, entries: Iterable[tuple[str, Mapping[str, Any]]], *, when: str, expected: Head | None = None
    ) -> tuple[Event, ...]:
        """Record events in one transaction: all are on the disk when this returns, or none is.

        Args:
            entries: (type, data) in order; types look like ``pin.added``, data is a JSON object of at most 1 MiB.
            when: wall time for people, ISO 8601; no part of the chain.
            expected: the head the caller decided on. When the log has moved since, nothing is written.

        Raises:
            HeldByOther: another process is writing now, or has written since ``expected``.
            UsageError: a type or value that cannot be recorded.
            StoreDamaged: the file is damaged, foreign, or cannot be written; then nothing was recorded.
        """
        bodies = [(kind, _body(kind, data)) for kind, data in entries]
        _check_when(when)
        return self._write(lambda db: self._commit(db, bodies, when, expected))

    def repair_head(self) -> Head:
        """Set the head, which is derived, to the last event of a chain that holds; events are never touched.

        Raises:
            StoreDamaged: the chain does not hold.
            HeldByOther: another process is writing now.
        """
        return self._write(self._reset_head)

    def _commit(self, db: apsw.Connection, bodies: _Bodies, when: str, expected: Head | None) -> tuple[Event, ...]:
        _begin(db, self._named)
        try:
            _initialise(db, self._named)
            before = _head(db)
            if expected is not None and before != expected:
                way_out = "read it again and retry"
                raise HeldByOther("the ledger has moved on since it was read", where=self._named, way_out=way_out)
            events = _insert(db, before, bodies, when)
            after = _swap_head(db, before, events, self._named)
        except BaseException:
            _rollback(db)
            raise
        self._finish(db, before, after)
        return events

    def _finish(self, db: apsw.Connection, before: Head, after: Head) -> None:
        """COMMIT. When it fails, the events are there or they are not: close, look again, and say which."""
        try:
            db.execute("COMMIT")
        except apsw.Error as error:
            self.close()
            found = self.head()
            if found == after:
                return
            what = "the commit failed and nothing was recorded" if found == before else "the commit failed; read again"
            way_out = "check free space and the disk, then retry"
            raise StoreDamaged(f"{what} ({error})", where=self._named, way_out=way_out) from error

    def _reset_head(self, db: apsw.Connection) -> Head:
        _begin(db, self._named)
        try:
            check = _check_chain(db, self._named, with_head=False)
            if not check.ok:
                what = f"event {check.damaged_at} does not hold: {check.reason}"
                raise StoreDamaged(what, where=self._named, way_out="restore the ledger from a copy")
            head = Head(check.events, _digest_at(db, check.events, self._named).hex())
            db.execute("DELETE FROM head")
            db.execute("INSERT INTO head VALUES(1, ?, ?)", (head.seq, bytes.fromhex(head.digest)))
            db.execute("COMMIT")
        finally:
            _rollback(db)
        return head

    # -- the file

    @property
    def _named(self) -> str:
        return str(self.path)

    def _read(self, ask: Callable[[apsw.Connection], _T], empty: _T) -> _T:
        """``ask`` on one committed state of the file, or ``empty`` when there is no file or nothing in it."""
        with self._reading:
            try:
                db = self._readable()
                if db is None:
                    return empty
                db.execute("BEGIN")
                try:
                    return ask(db) if _recognised(db, self._named) else empty
                finally:
                    _rollback(db)
            except (apsw.Error, UnicodeError) as error:
                raise files.mapped(error, self._named) from error

    def _write(self, change: Callable[[apsw.Connection], _T]) -> _T:
        with self._writing:
            try:
                return change(self._writable())
            except (apsw.Error, UnicodeError) as error:
                raise files.mapped(error, self._named) from error

    def _readable(self) -> apsw.Connection | None:
        # A file that was moved away or replaced while it was open is another ledger, not this one.
        now = files.examine(self.path)
        if self._reader is not None and self._identity.get("reader") != now:
            self._reader.close()
            self._reader = None
        if self._reader is None and now is not None:
            self._reader = files.open_reader(self.path, _LARGEST)
            self._identity["reader"] = now
        return self._reader

    def _writable(self) -> apsw.Connection:
        now = files.make(self.path)
        if self._writer is not None and self._identity.get("writer") != now:
            self._writer.close()
            self._writer = None
        if self._writer is None:
            self._read(lambda _: None, None)  # is it ours? asked before anything is written
            self._writer = files.open_writer(self.path, _LARGEST)
            self._identity["writer"] = now
        return self._writer


def _close(connection: apsw.Connection | None) -> None:
    if connection is not None:
        connection.close()


def event_digest(prev: bytes, seq: int, body: bytes) -> bytes:
    """Chain digest of one event, 32 bytes (formula in the module's text)."""
    return hashlib.sha256(b"mog.event.1" + prev + seq.to_bytes(8, "big") + body).digest()


def _seal(digest: bytes, recorded_at: str) -> bytes:
    return hashlib.sha256(b"mog.seal.1" + digest + recorded_at.encode("utf-8")).digest()


def _body(kind: str, data: Mapping[str, Any]) -> bytes:
    if not _TYPE.fullmatch(kind) or len(kind) > 64:
        raise UsageError(f"no event type {kind!r}", way_out="use small letters, with dots between: pin.added")
    body = canonical({"data": data, "type": kind, "v": VERSION})
    if len(body) > MAX_BODY_BYTES:
        raise UsageError("an event beyond 1 MiB", where=kind, way_out="keep the text in a file and record its digest")
    return body


def _check_when(when: str) -> None:
    if len(when) > 64 or not (when.isascii() and when.isprintable()):
        raise UsageError(f"{when!r} is not a time", way_out="use ISO 8601, as in 2026-01-31T12:00:00Z")


def _recognised(db: apsw.Connection, where: str) -> bool:
    return files.recognised(db, where, APPLICATION_ID, VERSION, _SCHEMA)


def _initialise(db: apsw.Connection, where: str) -> None:
    """Make the tables in a file that is still empty; part of the first transaction."""
    if _recognised(db, where):
        return
    for statement in _SCHEMA.values():
        db.execute(statement)
    db.execute("INSERT INTO head VALUES(1, 0, ?)", (_GENESIS,))
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")


def _begin(db: apsw.Connection, where: str) -> None:
    """BEGIN IMMEDIATE: the lock now, or not at all."""
    db.set_busy_timeout(0)
    try:
        db.execute("BEGIN IMMEDIATE")
    except apsw.BusyError as error:
        raise files.held(where) from error


def _rollback(db: apsw.Connection) -> None:
    if db.in_transaction:
        db.execute("ROLLBACK")


def _head(db: apsw.Connection) -> Head:
    row = db.execute("SELECT seq, digest FROM head").fetchone()
    last = db.execute(f"{_ROWS} ORDER BY seq DESC LIMIT 1").fetchone() or (0, b"", _GENESIS)
    if row is None or not isinstance(row[1], bytes) or row != (last[0], last[2]):
        raise StoreDamaged("the head is not the last event", where=db.filename, way_out=files.WAY_OUT)
    return Head(int(row[0]), row[1].hex())


def _insert(db: apsw.Connection, head: Head, bodies: _Bodies, when: str) -> tuple[Event, ...]:
    digest, seq, events = bytes.fromhex(head.digest), head.seq, []
    for kind, body in bodies:
        seq += 1
        digest = event_digest(digest, seq, body)
        db.execute("INSERT INTO events VALUES(?, ?, ?, ?, ?)", (seq, body, digest, when, _seal(digest, when)))
        events.append(Event(seq, kind, freeze(parse(body)["data"]), digest.hex(), when))
    return tuple(events)


def _swap_head(db: apsw.Connection, before: Head, events: tuple[Event, ...], where: str) -> Head:
    after = Head(events[-1].seq, events[-1].digest) if events else before
    new = (after.seq, bytes.fromhex(after.digest), before.seq, bytes.fromhex(before.digest))
    db.execute("UPDATE head SET seq = ?, digest = ? WHERE one = 1 AND seq = ? AND digest = ?", new)
    if db.changes() != 1:
        raise files.held(where)
    return after


def _page(db: apsw.Connection, after: int, limit: int, where: str) -> list[Event]:
    prev, page = _digest_at(db, after, where), []
    above = after or -1 << 63  # from the start, so that a row below 1 does not go unseen
    for row in db.execute(f"{_ROWS} WHERE seq > ? ORDER BY seq LIMIT ?", (above, limit)):
        after += 1
        reason = _flaw(row, after, prev)
        if reason:
            raise StoreDamaged(f"event {after} does not hold: {reason}", where=where, way_out=files.WAY_OUT)
        page.append(_event(row, where))
        prev = bytes.fromhex(page[-1].digest)
    if len(page) < limit and _head(db) != Head(after, prev.hex()):
        what = f"the chain ends at event {after}, which is not the head"
        raise StoreDamaged(what, where=where, way_out=files.WAY_OUT)
    return page


def _digest_at(db: apsw.Connection, seq: int, where: str) -> bytes:
    if seq == 0:
        return _GENESIS
    row = db.execute("SELECT digest FROM events WHERE seq = ?", (seq,)).fetchone()
    if row is None or not isinstance(row[0], bytes):
        raise StoreDamaged(f"event {seq} is gone", where=where, way_out=files.WAY_OUT)
    return row[0]


def _flaw(row: tuple[Any, ...], seq: int, prev: bytes) -> str:
    """Why a row is not event number ``seq`` after ``prev``; "" when it is."""
    found, body, digest, recorded_at, seal = row
    shapes = ((body, bytes), (digest, bytes), (recorded_at, str), (seal, bytes))
    if found != seq:
        return f"event {found} stands in its place"
    if not all(isinstance(value, shape) for value, shape in shapes):
        return "a column of the wrong type"
    if event_digest(prev, seq, body) != digest:
        return "its digest is not that of its content and of the event before"
    return "" if _seal(digest, recorded_at) == seal else "its time was changed"


def _event(row: tuple[Any, ...], where: str) -> Event:
    value = parse(row[1], f"{where}, event {row[0]}")
    known = isinstance(value, dict) and value.keys() == {"data", "type", "v"} and value["v"] == VERSION
    if not (known and isinstance(value["data"], dict) and isinstance(value["type"], str)):
        way_out = "upgrade mog, or run `mog doctor`"
        raise StoreDamaged(f"event {row[0]} is of no known form", where=where, way_out=way_out)
    return Event(row[0], value["type"], freeze(value["data"]), row[2].hex(), row[3])


def _check_chain(db: apsw.Connection, where: str, *, with_head: bool = True) -> ChainCheck:
    prev, seq = _GENESIS, 0
    for row in db.execute(f"{_ROWS} ORDER BY seq"):
        reason = _flaw(row, seq + 1, prev) or _form_flaw(row, where)
        if reason:
            return ChainCheck(seq, seq + 1, reason)
        prev, seq = _digest_at(db, seq + 1, where), seq + 1
    found = db.execute("SELECT seq, digest FROM head").fetchall()
    held = not with_head or found == [(seq, prev)]
    return ChainCheck(seq) if held else ChainCheck(seq, seq + 1, "the head is not the last event")


def _form_flaw(row: tuple[Any, ...], where: str) -> str:
    try:
        _event(row, where)
        return "" if canonical(parse(row[1])) == row[1] else "its text is not canonical"
    except MogError as error:
        return error.what
