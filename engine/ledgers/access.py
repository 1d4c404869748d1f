"""One ledger file, open for reading and for writing at once. Called by the log.

What may not come in: what is asked or written. Each question sees one committed state; a writer takes the lock now or
not at all; a file that was replaced while it was open is another ledger, and is opened anew.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import apsw

from mog.engine.errors import HeldByOther
from mog.engine.ledgers import files, schema

_T = TypeVar("_T")
Look = Callable[[apsw.Connection, int], None]


class LedgerFile:
    """The connections to one file. Safe from any thread; opens nothing before it is asked, makes nothing before a write."""

    def __init__(self, path: Path, largest: int, look: Look) -> None:
        """``largest``: of a value in the file, in bytes. ``look`` is called once for each time it is opened for reading."""
        self.path = path
        self._largest = largest
        self._look = look
        self._looked = False
        self._reader: apsw.Connection | None = None
        self.writer: apsw.Connection | None = None
        self._identity: dict[str, tuple[int, int] | None] = {}
        self._current: dict[str, int] = {}
        self._reading = threading.RLock()
        self._writing = threading.RLock()

    @property
    def named(self) -> str:
        """The file as errors name it."""
        return str(self.path)

    def close(self) -> None:
        """Give the file back; it is opened again when it is next used."""
        with self._reading:
            connection, self._reader = self._reader, None
            _close(connection)
        with self._writing:
            connection, self.writer = self.writer, None
            _close(connection)

    def read(self, ask: Callable[[apsw.Connection, int], _T], empty: _T, *, look: bool = True) -> _T:
        """``ask`` with the format, on one committed state; ``empty`` when there is no file or nothing in it.

        Without ``look`` a file that was just opened is not looked at first: for questions about damage.

        Raises:
            StoreDamaged: it is not a sound ledger, or cannot be read.
        """
        with self._reading:
            try:
                db = self._readable()
                if db is None:
                    return empty
                db.execute("BEGIN")
                try:
                    version = self.version(db)
                    if look and version and not self._looked:
                        self._look(db, version)
                        self._looked = True
                    return ask(db, version) if version else empty
                finally:
                    _rollback(db)
            except (apsw.Error, UnicodeError) as error:
                _close(self._reader)
                self._reader = None
                raise files.mapped(error, self.named) from error

    def own_reader(self) -> apsw.Connection | None:
        """A connection that the caller closes, None when there is no file. Raises StoreDamaged."""
        if files.examine(self.path) is None:
            return None
        try:
            return files.open_reader(self.path, self._largest)
        except apsw.Error as error:
            raise files.mapped(error, self.named) from error

    def write(self, change: Callable[[apsw.Connection], _T], *, look: bool = True) -> _T:
        """``change`` in a transaction that has the lock and is rolled back unless ``change`` commits it.

        Raises:
            HeldByOther: another process is writing now.
            StoreDamaged: the file is no ledger, or cannot be written.
        """
        with self._writing:
            try:
                db = self._begun() or self._begun_anew(look)
                try:
                    return change(db)
                finally:
                    if self.writer is db:  # after a commit that failed it was closed
                        _rollback(db)
            except (apsw.Error, UnicodeError) as error:
                _close(self.writer)
                self.writer = None
                raise files.mapped(error, self.named) from error

    def settle(self) -> bool:
        """After a commit that failed: close, and make what the file holds certain. False when that is not possible now."""
        self.close()
        return files.settle(self.path, self._largest)

    def version(self, db: apsw.Connection) -> int:
        """Format of the file in the open transaction, 0 while it is empty. Raises StoreDamaged."""
        role = "writer" if db is self.writer else "reader" if db is self._reader else ""
        cookie = db.pragma("schema_version")
        if role and self._current.get(role) == cookie:
            return schema.VERSION
        found = schema.version_of(db, self.named)
        if role and found == schema.VERSION:
            self._current[role] = cookie
        return found

    def glance(self, ask: Callable[[apsw.Connection], _T | None]) -> _T | None:
        """``ask`` on the connection that writes, where it is open, idle and the file still the one it was opened on.

        It has looked at the file just before. None where that is not so, or the file does not let itself be looked at now.
        """
        if self.writer is None or not self._writing.acquire(blocking=False):
            return None
        try:
            db = self.writer
            if db is None or db.in_transaction or not files.unchanged(self.path, self._identity["writer"]):
                return None
            db.pragma("data_version")  # begins a read: that is the look at the file, whatever it says
            return ask(db)
        except apsw.Error:
            return None
        finally:
            self._writing.release()

    def _begun(self) -> apsw.Connection | None:
        """The open connection, in a transaction; None when there is none, or the file is no longer the one it was."""
        db = self.writer
        if db is None:
            return None
        self._lock(db)
        same = False
        try:
            same = files.unchanged(self.path, self._identity["writer"])
        finally:
            if not same:
                _rollback(db)
        return db if same else None

    def _begun_anew(self, look: bool) -> apsw.Connection:
        db = self._writable(look)
        self._lock(db)
        if files.examine(self.path) != self._identity["writer"]:  # replaced before we had the lock: not the file any more
            db.execute("ROLLBACK")
            raise HeldByOther("the ledger was replaced", where=self.named, way_out="read it again and retry")
        return db

    def _lock(self, db: apsw.Connection) -> None:
        try:
            db.execute("BEGIN IMMEDIATE")
        except apsw.BusyError as error:
            raise files.held(self.named) from error

    def _readable(self) -> apsw.Connection | None:
        now = files.examine(self.path)
        if self._reader is not None and self._identity.get("reader") != now:
            self._reader.close()
            self._reader = None
        if self._reader is None and now is not None:
            self._reader = files.open_reader(self.path, self._largest)
            self._opened("reader", now)
            self._looked = False
        return self._reader

    def _writable(self, look: bool) -> apsw.Connection:
        now = files.make(self.path)
        if self.writer is not None and self._identity.get("writer") != now:
            self.writer.close()
            self.writer = None
        if self.writer is None:
            self.read(lambda *_: None, None, look=look)  # is it ours? asked before anything is written
            self.writer = files.open_writer(self.path, self._largest)
            self._opened("writer", now)
        return self.writer

    def _opened(self, role: str, identity: tuple[int, int]) -> None:
        self._identity[role] = identity
        self._current.pop(role, None)


def _close(connection: apsw.Connection | None) -> None:
    if connection is not None:
        connection.close()


def _rollback(db: apsw.Connection) -> None:
    if db.in_transaction:
        db.execute("ROLLBACK")
