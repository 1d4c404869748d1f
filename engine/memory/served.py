"""The rows of ``.mog/served.db``: sessions, what was served to them, and the served bytes, byte for byte, each kept once.

Who calls: ``working_set``. What may not come in: scores, budgets, the ledger. This is telemetry and no durable event: bounded
in bytes, sessions and entries, the longest unused given up first; it may be deleted at any time, and then only stubs lose
their bytes.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import apsw

from mog.engine.memory.served_file import ServedFile, damaged
from mog.engine.memory.set_records import Entry, Pinned, Place, Totals
from mog.engine.model import Freshness
from mog.engine.retrieval.model import Zoom

MAX_SESSIONS = 64
MAX_ENTRIES = 5_000  # of one session, the held ones apart
MAX_BYTES = 64 << 20  # of the database
MAX_TEXT = 8 << 20  # bytes of one text
_DIGITS = (12, 16, 24, 32)
_AT_ONCE = 200  # names in one question
_COLUMNS = tuple(one.name for one in fields(Entry))
_NAMES = ", ".join(_COLUMNS)


@dataclass(frozen=True, slots=True)
class Session:
    """One session: its row, name, the turn it is in, the client's window (0: not told), sums."""

    row: int
    name: str
    turn: int = 0
    window: int = 0
    totals: Totals = field(default_factory=Totals)


class Store:
    """``served.db`` of one worktree."""

    def __init__(self, mog_dir: Path) -> None:
        self._file = ServedFile(mog_dir)

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        self._file.close()

    @contextmanager
    def reading(self) -> Iterator[Book | None]:
        """One snapshot, None while nothing was ever served. Raises StoreDamaged, HeldByOther."""
        with self._file.reading() as db:
            yield None if db is None else Book(db, self._file.where)

    @contextmanager
    def writing(self) -> Iterator[Book]:
        """One change. Raises StoreDamaged, HeldByOther; then nothing changed."""
        with self._file.writing() as db:
            book = Book(db, self._file.where)
            yield book
        if book.erased:
            self._file.scrub()


class Book:
    """The rows, inside one transaction."""

    def __init__(self, db: apsw.Connection, where: str) -> None:
        self._db = db
        self._where = where
        self.erased = False

    # sessions

    def session(self, name: str) -> Session | None:
        """A session by its name."""
        rows = self._rows("SELECT id, name, turn, window, totals FROM sessions WHERE name = ?", name)
        return self._session(rows[0]) if rows else None

    def sessions(self) -> list[Session]:
        """Every session, the last used first."""
        rows = self._rows("SELECT id, name, turn, window, totals FROM sessions ORDER BY used DESC")
        return [self._session(row) for row in rows]

    def begin(self, name: str) -> Session:
        """The session of that name, made where there is none; the longest unused ones give way."""
        found = self.session(name)
        if found is not None:
            return found
        self._db.execute("INSERT INTO sessions(name, used, turn, window, totals) VALUES (?, 0, 0, 0, '{}')", (name,))
        made = Session(int(self._db.last_insert_rowid()), name)
        others = "SELECT id FROM sessions WHERE id <> ? ORDER BY used DESC LIMIT -1 OFFSET ?"
        for old in self._rows(others, made.row, MAX_SESSIONS - 1):
            self.drop(int(old[0]))
        return made

    def save(self, session: Session) -> None:
        """Keep a session's turn, window and sums, as the last used one."""
        totals = json.dumps(asdict(session.totals), separators=(",", ":"))
        self._db.execute(
            "UPDATE sessions SET turn = ?, window = ?, totals = ?, used = 1 + (SELECT max(used) FROM sessions) WHERE id = ?",
            (session.turn, session.window, totals, session.row),
        )

    def drop(self, row: int) -> None:
        """Forget a session and what was served to it alone."""
        self._db.execute("DELETE FROM entries WHERE session = ?", (row,))
        self._db.execute("DELETE FROM sessions WHERE id = ?", (row,))
        self._sweep()
        self.erased = True

    def _session(self, row: Sequence[Any]) -> Session:
        try:
            totals = Totals(**{name: _whole(value) for name, value in json.loads(row[4]).items()})
            return Session(_whole(row[0]), str(row[1]), _whole(row[2]), _whole(row[3]), totals)
        except (TypeError, ValueError, AttributeError) as error:
            raise damaged(f"a session is of no known form ({error})", self._where) from error

    # entries

    def entries(self, session: int, places: Collection[Place] = tuple(Place)) -> list[Entry]:
        """Entries of a session, by the turn of their first serving."""
        listed = ", ".join(str(int(place)) for place in sorted(places))
        rows = self._rows(
            f"SELECT {_NAMES} FROM entries WHERE session = ? AND place IN ({listed}) ORDER BY first, rowid", session
        )
        return [self._entry(row) for row in rows]

    def held_as(self, session: int, names: Collection[str]) -> list[Entry]:
        """What a session holds under any of these refs or ids."""
        asked, found = sorted(names), dict[str, Entry]()
        for at in range(0, len(asked), _AT_ONCE):
            ids = [name.encode("utf-8", "surrogatepass") for name in asked[at : at + _AT_ONCE]]
            refs = [name if name.isascii() else None for name in asked[at : at + _AT_ONCE]]
            marks = ", ".join("?" * len(ids))
            named = f"(id IN ({marks}) OR ref IN ({marks}))"
            rows = self._rows(f"SELECT {_NAMES} FROM entries WHERE session = ? AND place = 0 AND {named}", session, *ids, *refs)
            found |= {one.ref: one for one in map(self._entry, rows)}
        return list(found.values())

    def used(self, session: int) -> int:
        """Tokens that a session holds; summed where they are, since a set may be large."""
        return self._sum("", session)

    def staying(self, session: int, kinds: Collection[str], since: int, *, pinned: bool) -> int:
        """Tokens held by what is of one of these kinds, was named in that turn or later, or is pinned (if that counts)."""
        marks = ", ".join("?" * len(kinds))
        stored = [kind.encode("utf-8", "surrogatepass") for kind in kinds]
        return self._sum(f" AND (last >= ? OR kind IN ({marks}) OR pinned > ?)", session, since, *stored, 0 if pinned else 9)

    def _sum(self, chosen: str, session: int, *given: Any) -> int:
        sums = "SELECT coalesce(sum(tokens), 0), coalesce(min(tokens), 0) FROM entries WHERE session = ? AND place = 0"
        total, least = self._rows(sums + chosen, session, *given)[0]
        if least < 0:
            raise damaged("an entry costs less than nothing", self._where)
        return int(total)

    def entry(self, ref: str) -> Entry | None:
        """The entry of that ref."""
        rows = self._rows(f"SELECT {_NAMES} FROM entries WHERE ref = ?", ref)
        return self._entry(rows[0]) if rows else None

    def owner(self, ref: str) -> tuple[str, str] | None:
        """Name of the session and whole ref of the one entry whose ref begins so; None for none or several."""
        rows = self._rows(
            "SELECT s.name, e.ref FROM entries e JOIN sessions s ON s.id = e.session WHERE e.ref >= ? AND e.ref < ? LIMIT 2",
            ref, ref + "g",
        )  # fmt: skip
        exact = [row for row in rows if row[1] == ref] or rows
        return (str(exact[0][0]), str(exact[0][1])) if len(exact) == 1 else None

    def put(self, session: int, entry: Entry) -> None:
        """Add an entry, or write it anew under its ref."""
        marks = ", ".join("?" * (len(_COLUMNS) + 1))
        self._db.execute(f"INSERT OR REPLACE INTO entries(session, {_NAMES}) VALUES ({marks})", (session, *_values(entry)))

    def free_ref(self, session: int, name: str, id: str, zoom: Zoom, text: bytes) -> str:
        """The ref of these bytes of this thing in this session; longer where another thing has the same digits."""
        told = json.dumps([name, id, int(zoom), text.hex()]).encode()
        digits = hashlib.sha256(told).hexdigest()
        for length in _DIGITS:
            ref = f"ws_{digits[:length]}"
            rows = self._rows("SELECT session, id, zoom, text FROM entries WHERE ref = ?", ref)
            taken = [(row[0], _text(row[1]), row[2], row[3]) for row in rows]
            if not taken or taken[0] in ((session, id, int(zoom), text), (session, id, int(zoom), b"")):
                return ref
        raise damaged("refs of different things collide", self._where)

    def _entry(self, row: Sequence[Any]) -> Entry:
        one = dict(zip(_COLUMNS, row, strict=True))
        try:
            return Entry(
                ref=str(one["ref"]), id=_text(one["id"]), place=Place(one["place"]), zoom=Zoom(one["zoom"]),
                tokens=_whole(one["tokens"]), size=_whole(one["size"]), kind=_text(one["kind"]), title=_text(one["title"]),
                label=_text(one["label"]), provenance=_text(one["provenance"]), freshness=Freshness(one["freshness"]),
                relevance=min(1.0, max(0.0, float(one["relevance"]))), hits=_whole(one["hits"]), first=_whole(one["first"]),
                last=_whole(one["last"]), out=_whole(one["out"]), pinned=Pinned(one["pinned"]), text=bytes(one["text"]),
            )  # fmt: skip
        except (TypeError, ValueError, AttributeError) as error:
            raise damaged(f"an entry is of no known form ({error})", self._where) from error

    # served bytes

    def keep(self, text: str) -> bytes:
        """Keep a text, once however often it is served; its digest."""
        raw = text.encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(raw).digest()
        self._db.execute(
            "INSERT OR IGNORE INTO texts(digest, size, body) VALUES (?, ?, ?)", (digest, len(raw), zlib.compress(raw, 6))
        )
        return digest

    def text(self, entry: Entry) -> str | None:
        """The bytes that were served; None when they were given up.

        Raises:
            StoreDamaged: what is kept is not what was served.
        """
        rows = self._rows("SELECT body FROM texts WHERE digest = ?", entry.text) if entry.text else []
        if not rows:
            return None
        unpacker = zlib.decompressobj()
        try:
            raw = unpacker.decompress(bytes(rows[0][0]), MAX_TEXT)
            if not unpacker.eof or hashlib.sha256(raw).digest() != entry.text:
                raise ValueError("not the bytes that were served")
            return raw.decode("utf-8", "surrogatepass")
        except (zlib.error, ValueError) as error:
            raise damaged(f"{entry.ref} is not kept as it was served ({error})", self._where) from error

    def give_up(self, session: int, entries: Iterable[Entry]) -> None:
        """Let go of the bytes of entries; the entries stay, so that a stub can still say what it stood for."""
        for entry in entries:
            self.put(session, replace(entry, text=b""))
        self._sweep()
        self.erased = True

    def bound(self, session: int) -> None:
        """Keep the file within its bounds: other sessions go first, then what this one does not hold, the oldest first."""
        gone = self.entries(session, (Place.evicted, Place.replaced)) if self._many(session) else []
        for old in sorted(gone, key=lambda one: (one.last, one.ref))[: max(0, len(gone) - MAX_ENTRIES)]:
            self._db.execute("DELETE FROM entries WHERE ref = ?", (old.ref,))
        if gone:
            self._sweep()
        while self.bytes_used() > MAX_BYTES and (row := self._oldest(session)) is not None:
            self.drop(row)
        if self.bytes_used() > MAX_BYTES:
            self._shrink(session)

    def _shrink(self, session: int) -> None:
        """Give up bytes of this session, the longest unused first, until a tenth of the bound is free."""
        gone = [one for one in self.entries(session, (Place.evicted, Place.replaced)) if one.text]
        gone.sort(key=lambda one: (one.place is Place.evicted, one.last, one.ref))
        at = 0
        while at < len(gone) and self.bytes_used() > MAX_BYTES * 9 // 10:
            self.give_up(session, gone[at : at + 32])
            at += 32

    def bytes_used(self) -> int:
        """Bytes of the database that hold something."""
        pages, free, size = (int(self._db.pragma(name)) for name in ("page_count", "freelist_count", "page_size"))
        return (pages - free) * size

    def _many(self, session: int) -> bool:
        rows = self._rows("SELECT count(*) FROM entries WHERE session = ? AND place <> 0", session)
        return int(rows[0][0]) > MAX_ENTRIES

    def _oldest(self, session: int) -> int | None:
        rows = self._rows("SELECT id FROM sessions WHERE id <> ? ORDER BY used LIMIT 1", session)
        return int(rows[0][0]) if rows else None

    def _sweep(self) -> None:
        self._db.execute("DELETE FROM texts WHERE digest NOT IN (SELECT text FROM entries)")

    def _rows(self, sql: str, *args: Any) -> list[Any]:
        return self._db.execute(sql, args).fetchall()


def _values(entry: Entry) -> list[Any]:
    return [_stored(getattr(entry, name), name) for name in _COLUMNS]


def _stored(value: Any, name: str) -> Any:
    """A value as SQLite can hold it: words as UTF-8 bytes, since half a surrogate pair is no text to it."""
    if name in ("ref", "freshness"):
        return str(value)
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return int(value) if isinstance(value, int) else value


def _text(value: Any) -> str:
    return bytes(value).decode("utf-8", "surrogatepass")


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"{value!r:.40} is no count")
    return value
