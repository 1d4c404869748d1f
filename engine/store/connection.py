"""One guarded SQLite connection to ``.mog/index.db``: safe opening, snapshots for readers, transactions.

Who calls: ``index_db.IndexDB`` inherits from it; nobody else.
What may not come in: tables and what they mean.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import apsw

from mog.engine.errors import IndexMissing
from mog.engine.store import schema

_READER_WAIT_MS = 2_000
_READER_CACHE_KIB, _WRITER_CACHE_KIB = 8_192, 49_152
_MISSING = "run `mog index`"


class Connection:
    """A connection that one thread uses at a time: every call takes the same re-entrant lock.

    A reader never waits for the writer and never writes: it is opened read-only on a WAL database, so only the writer
    can checkpoint (SQLite's WAL-reset fault needs two that do). Threads that must read at the same time open one reader
    each; opening costs about a millisecond. The file is looked at before every snapshot: an ``index.db`` that was
    deleted and written anew is opened again instead of serving the unlinked one.
    """

    def __init__(self, path: Path, *, write: bool, create: bool) -> None:
        self._path = schema.safe_path(path)
        self._where = str(self._path)
        self._write = write
        self._lock = threading.RLock()
        self._depth = 0
        self._in_transaction = False
        self._db: apsw.Connection | None = None
        self._identity = (0, 0)
        self._connect(create and write)

    @property
    def path(self) -> Path:
        """Where the database is."""
        return self._path

    @property
    def directory(self) -> Path:
        """The ``.mog`` folder."""
        return self._path.parent

    def close(self) -> None:
        """Close the connection; closing twice is fine."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def read(self) -> Iterator[None]:
        """Pin one snapshot: every read inside sees the same generation, whatever the writer publishes meanwhile.

        Nests, and does nothing inside ``transaction()``. Other threads that share this object wait; give each its own.

        Raises:
            IndexMissing: the database was deleted. StoreDamaged: it cannot be believed.
        """
        with self._lock:
            outermost = self._depth == 0 and not self._in_transaction
            if outermost:
                self._begin_snapshot()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if outermost and self._db is not None:
                    self._execute("ROLLBACK")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Write inside one transaction: all of it is published at the end, or none of it.

        Raises:
            HeldByOther: another process writes; refused at once, never queued.
            IndexMissing: the database was deleted while it was open; open it again with ``create=True``.
        """
        with self._lock:
            self._begin_writing()
            try:
                yield
                self._require_same_file()
                self._execute("COMMIT")
            except BaseException:
                self._abandon()
                raise
            finally:
                self._in_transaction = False

    def _begin_snapshot(self) -> None:
        self._follow_file()
        self._forget()
        self._execute("BEGIN")
        self._execute("SELECT 1 FROM meta LIMIT 1")

    def _begin_writing(self) -> None:
        if not self._write or self._in_transaction or self._depth:
            raise RuntimeError("transaction() needs a writer outside of read() and of another transaction()")
        self._require_same_file()
        self._forget()
        try:
            self._connection().execute("BEGIN IMMEDIATE")
        except apsw.Error as error:
            raise schema.translate(error, self._where) from error
        self._in_transaction = True

    def _abandon(self) -> None:
        self._forget()
        if self._db is not None and self._db.in_transaction:
            with contextlib.suppress(apsw.Error):
                self._db.execute("ROLLBACK")

    def _forget(self) -> None:
        """Drop what was remembered of rows; the subclass says what that is."""

    def _connection(self) -> apsw.Connection:
        if self._db is None:
            raise IndexMissing("the index was closed", where=self._where, way_out=_MISSING)
        return self._db

    def _execute(self, sql: str, args: Sequence[Any] = ()) -> list[Any]:
        try:
            return self._connection().execute(sql, args).fetchall()
        except (apsw.Error, UnicodeDecodeError) as error:
            raise schema.translate(error, self._where) from error

    def rows(self, sql: str, args: Sequence[Any] = ()) -> list[Any]:
        """All rows of one read; outside of ``read()`` and ``transaction()`` the file is checked first."""
        with self._lock:
            if not self._depth and not self._in_transaction:
                self._follow_file()
            return self._execute(sql, args)

    def _many(self, sql: str, rows: Any) -> None:
        """Run one statement for many rows inside the caller's transaction."""
        if not self._in_transaction:
            raise RuntimeError("writes belong inside transaction()")
        try:
            self._connection().executemany(sql, rows)
        except apsw.Error as error:
            raise schema.translate(error, self._where) from error

    def _follow_file(self) -> None:
        if self._stat() == self._identity and self._db is not None:
            return
        if self._write:
            self._require_same_file()
        self.close()
        self._forget()
        self._connect(False)

    def _require_same_file(self) -> None:
        if self._stat() != self._identity:
            self.close()
            what = "index.db was deleted or replaced while it was open"
            raise IndexMissing(what, where=self._where, way_out=_MISSING)

    def _stat(self) -> tuple[int, int]:
        try:
            found = os.stat(self._path)
        except OSError:
            return (-1, -1)
        return (found.st_dev, found.st_ino)

    def _connect(self, create: bool) -> None:
        fresh = create and _create_file(self._path)
        if not self._path.exists():
            raise IndexMissing("there is no index yet", where=self._where, way_out=_MISSING)
        self._identity = self._stat()
        with schema.mapped(self._where):
            self._db = self._writer(fresh) if self._write else self._reader()
        try:
            with schema.mapped(self._where):
                schema.check(self._db, self._where)
        except BaseException:
            self.close()
            raise

    def _reader(self) -> apsw.Connection:
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI
        db = apsw.Connection(self._where, flags=flags)
        try:
            _configure(db, _READER_WAIT_MS, _READER_CACHE_KIB)
        except apsw.CantOpenError:
            db.close()
            if os.access(self.directory, os.W_OK):
                raise
            return open_immutable(self._path)
        return db

    def _writer(self, fresh: bool) -> apsw.Connection:
        db = apsw.Connection(self._where, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
        _configure(db, 0, _WRITER_CACHE_KIB)
        if fresh or schema.is_empty(db):
            db.pragma("journal_mode", "wal")
            with db:
                schema.create(db)
        db.pragma("synchronous", "normal")
        db.pragma("journal_size_limit", 1 << 20)
        db.pragma("secure_delete", "fast")
        return db


def open_immutable(path: Path) -> apsw.Connection:
    """Open a database in a folder that cannot be written, where SQLite cannot make its ``-shm`` file.

    Safe only because nobody can write there; a ``-wal`` left behind is not read.
    """
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_NOFOLLOW | apsw.SQLITE_OPEN_URI
    db = apsw.Connection(path.as_uri() + "?immutable=1", flags=flags)
    _configure(db, _READER_WAIT_MS, _READER_CACHE_KIB)
    return db


def _configure(db: apsw.Connection, wait_ms: int, cache_kib: int) -> None:
    db.set_busy_timeout(wait_ms)
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    db.pragma("cell_size_check", True)
    db.pragma("mmap_size", 0)
    db.pragma("temp_store", 2)
    db.pragma("cache_size", -cache_kib)
    db.pragma("application_id")


def _create_file(path: Path) -> bool:
    """Make an empty file of mode 0600 in a folder of mode 0700, if there is none; True when it was made.

    A ``-wal`` or ``-shm`` left from a deleted database must go first: live readers of the old one still hold them,
    and a new database that shared them would be read through the old one's index (sqlite.org/howtocorrupt.html, 4.1
    and 4.4).
    """
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if path.exists():
        return False
    for suffix in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    os.close(os.open(path, flags, 0o600))
    return True
