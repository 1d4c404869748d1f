"""Opening ``.mog/served.db`` without trusting it, and its transactions. Called by ``served`` only.

What may not come in: what the rows mean. Links are refused, the schema must be ours word for word, the file is 0600 in a
folder of 0700. Several processes may write: a change waits its turn for a few seconds and sees what the others did. A file
that is deleted while it is open is made anew at the next change.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from mog.engine.errors import HeldByOther, MogError, StoreDamaged
from mog.engine.ledgers import files
from mog.engine.store.lock import WriterLock, in_turn

NAME = "served.db"
APPLICATION_ID = 0x6D6F6757  # "mogW"
FORMAT = 1
LARGEST = 16 << 20  # bytes of one value
WAIT_SECONDS = 10.0
WAY_OUT = "delete .mog/served.db: stubs of running sessions lose their bytes, nothing that was remembered is lost"
TABLES = {
    "sessions": (
        "CREATE TABLE sessions(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, used INT NOT NULL, turn INT NOT NULL,"
        " window INT NOT NULL, totals TEXT NOT NULL) STRICT"
    ),
    "entries": (
        "CREATE TABLE entries(session INT NOT NULL, ref TEXT NOT NULL UNIQUE, id BLOB NOT NULL, place INT NOT NULL,"
        " zoom INT NOT NULL, tokens INT NOT NULL, size INT NOT NULL, kind BLOB NOT NULL, title BLOB NOT NULL,"
        " label BLOB NOT NULL, provenance BLOB NOT NULL, freshness TEXT NOT NULL, relevance REAL NOT NULL,"
        " hits INT NOT NULL, first INT NOT NULL, last INT NOT NULL, out INT NOT NULL, pinned INT NOT NULL,"
        " text BLOB NOT NULL) STRICT"
    ),
    "texts": "CREATE TABLE texts(digest BLOB NOT NULL UNIQUE, size INT NOT NULL, body BLOB NOT NULL) STRICT",
    "entries_session": "CREATE INDEX entries_session ON entries(session, place)",
    "entries_text": "CREATE INDEX entries_text ON entries(text)",
}
_UNUSABLE = (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)


class ServedFile:
    """The database of one worktree. Safe from any thread; one transaction at a time."""

    def __init__(self, mog_dir: Path) -> None:
        self.path = mog_dir / NAME
        self.where = str(self.path)
        self._lock = threading.RLock()
        self._db: apsw.Connection | None = None
        self._writes = False
        self._identity: tuple[int, int] | None = None

    def close(self) -> None:
        """Close the connection; closing twice is fine, and the next call opens it again."""
        with self._lock:
            db, self._db = self._db, None
            if db is not None:
                with contextlib.suppress(apsw.Error):
                    db.close()

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection | None]:
        """One snapshot; None while nothing was ever served here.

        Raises:
            StoreDamaged: the file cannot be believed or read.
        """
        with self._lock, mapped(self.where):
            db = self._opened(write=False)
            if db is None:
                yield None
                return
            db.execute("BEGIN")
            try:
                yield db if recognised(db, self.where) else None
            finally:
                _roll_back(db)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One change, all of it or nothing; made the file and its tables where there were none.

        Raises:
            HeldByOther: another process writes all the time. StoreDamaged: the file cannot be believed or written.
        """
        with self._lock, mapped(self.where):
            db = self._opened(write=True)
            assert db is not None
            db.execute("BEGIN IMMEDIATE")
            try:
                if not recognised(db, self.where):
                    _create(db)
                yield db
                self._require_same()
                db.execute("COMMIT")
            except BaseException:
                _roll_back(db)
                raise

    def scrub(self) -> None:
        """Have bytes that were given up leave the write-ahead log too, as far as others let that happen now."""
        with self._lock:
            if self._db is not None and self._writes:
                files.drain(self._db)

    def _opened(self, *, write: bool) -> apsw.Connection | None:
        found = files.examine(self.path)
        if self._db is not None and (found != self._identity or (write and not self._writes)):
            self.close()
        if self._db is None and (write or found is not None):
            self._identity = self._made() if write else found
            self._db = self._connect(write)
            self._writes = write
        return self._db

    def _made(self) -> tuple[int, int]:
        if files.examine(self.path) is not None:
            return files.make(self.path)
        self.path.parent.mkdir(mode=0o700, exist_ok=True)
        with in_turn(WriterLock(self.path.with_suffix(".lock"), "making served.db"), WAIT_SECONDS):
            if files.examine(self.path) is None:
                for suffix in ("-wal", "-shm"):  # of a deleted database; a new one would be read through them
                    self.path.with_name(NAME + suffix).unlink(missing_ok=True)
            return files.make(self.path)

    def _connect(self, write: bool) -> apsw.Connection:
        until = time.monotonic() + WAIT_SECONDS
        while True:
            try:
                db = files.open_writer(self.path, LARGEST) if write else files.open_reader(self.path, LARGEST)
                break
            except apsw.BusyError:  # another process opens or closes it just now
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)
        db.set_busy_timeout(int(WAIT_SECONDS * 1_000))
        if write:
            db.pragma("synchronous", "normal")  # losing the last turns to a power cut loses no fact
            db.pragma("secure_delete", True)
            db.pragma("journal_size_limit", 1 << 20)
        return db

    def _require_same(self) -> None:
        if files.examine(self.path) != self._identity:
            raise StoreDamaged("deleted or replaced while it was written to", where=self.where, way_out="try again")


def _roll_back(db: apsw.Connection) -> None:
    if db.in_transaction:
        with contextlib.suppress(apsw.Error):
            db.execute("ROLLBACK")


def _create(db: apsw.Connection) -> None:
    for statement in TABLES.values():
        db.execute(statement)
    db.pragma("application_id", APPLICATION_ID)
    db.pragma("user_version", FORMAT)


def recognised(db: apsw.Connection, where: str) -> bool:
    """Whether it is ours; False while it is still empty.

    Raises:
        StoreDamaged: any other database, one of a later format, or one with tables, triggers or views that are not ours.
    """
    app, found = db.pragma("application_id"), db.pragma("user_version")
    rows = {str(name): str(sql) for name, sql in db.execute("SELECT name, sql FROM sqlite_schema LIMIT 100")}
    tables = {name: sql for name, sql in rows.items() if not name.startswith("sqlite_autoindex_")}
    if not tables and not app and not found:
        return False
    if app != APPLICATION_ID or found != FORMAT or tables != TABLES:
        raise damaged("not a file that this mog writes", where)
    return True


def damaged(what: str, where: str) -> StoreDamaged:
    """The error for content that cannot be believed."""
    return StoreDamaged(what, where=where, way_out=WAY_OUT)


@contextmanager
def mapped(where: str) -> Iterator[None]:
    """Turn errors of SQLite, and values of another kind than we write, into ours."""
    try:
        yield
    except MogError:
        raise
    except (apsw.BusyError, apsw.LockedError) as error:
        raise HeldByOther("another process is writing what was served", where=where, way_out="try again") from error
    except _UNUSABLE as error:
        raise StoreDamaged(f"cannot be used ({error})", where=where, way_out="check rights and free space") from error
    except (apsw.Error, UnicodeDecodeError) as error:
        raise damaged(f"damaged ({error})", where) from error
    except OSError as error:
        raise StoreDamaged(f"cannot be used ({error.strerror})", where=where, way_out="check rights and free space") from error
