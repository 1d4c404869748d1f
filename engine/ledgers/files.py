"""Opening a ledger file without trusting it. Called by the logs of this folder only.

What may not come in: rows and their meaning. A ledger may come with a repository nobody vouched for, so links are not
followed, pipes are not waited for, the schema must be ours word for word, and no value may be larger than we write.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

import apsw

from mog.engine.errors import HeldByOther, MogError, StoreDamaged

WAY_OUT = "run `mog doctor`; restore the ledger from a copy, or move it away to begin an empty one"
READ_WAIT_MS = 2000  # for another process's crash recovery or last close; a writer never blocks a reader
_UNUSABLE = (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)


def examine(path: Path) -> tuple[int, int] | None:
    """Identity of the file on its disk, or None when there is none.

    Raises:
        StoreDamaged: a link, or something that is no plain file in a real folder.
    """
    found = _lstat(path.parent, stat.S_ISDIR) and _lstat(path, stat.S_ISREG)
    return (found.st_dev, found.st_ino) if found else None


def _lstat(at: Path, wanted: object) -> os.stat_result | None:
    try:
        found = os.lstat(at)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unusable(at, "cannot be looked at", error) from error
    if not callable(wanted) or wanted(found.st_mode):
        return found
    what = "a link" if stat.S_ISLNK(found.st_mode) else "something else"
    what += " stands where the ledger belongs"
    raise StoreDamaged(what, where=str(at), way_out="remove it; no link is followed")


def make(path: Path) -> tuple[int, int]:
    """Identity of the file; if there is none, an empty one is made. Modes are tightened to 0600 in a folder of 0700.

    Raises:
        StoreDamaged: it cannot be made, or ``examine`` refuses what is there.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if examine(path) is None:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
            os.close(os.open(path, flags, 0o600))
    except FileExistsError:
        pass  # another process made it in between; examined below like any other
    except OSError as error:
        raise _unusable(path, "cannot be made", error) from error
    found = examine(path)
    if found is None:
        raise StoreDamaged("vanished while it was opened", where=str(path), way_out="try again")
    _tighten(path)
    return found


def _tighten(path: Path) -> None:
    for at, mode in ((path.parent, 0o700), (path, 0o600)):
        if os.name == "posix" and stat.S_IMODE(os.lstat(at).st_mode) & 0o077:
            try:
                at.chmod(mode)
            except OSError as error:
                raise _unusable(at, "can be read by others and that cannot be changed", error) from error


def _unusable(at: Path, what: str, error: OSError) -> StoreDamaged:
    return StoreDamaged(f"{what} ({error.strerror})", where=str(at), way_out="check rights and free space")


def open_writer(path: Path, largest: int) -> apsw.Connection:
    """A connection that writes, in WAL mode with a full sync at every commit. Raises errors of apsw."""
    db = _open(path, apsw.SQLITE_OPEN_READWRITE, largest)
    db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # waits for a recovery, if there is one
    db.set_busy_timeout(0)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    return db


def open_reader(path: Path, largest: int) -> apsw.Connection:
    """A connection that only reads. Raises errors of apsw."""
    db = _open(path, apsw.SQLITE_OPEN_READONLY, largest)
    try:
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except apsw.CantOpenError:
        db.close()
        if _has_wal(path):
            raise
        # A folder one may not write to, and no log beside the file: nobody is writing, so it is taken as it stands.
        db = _open(path, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, largest)
    return db


def _has_wal(path: Path) -> bool:
    wal = path.with_name(path.name + "-wal")
    return os.path.lexists(wal) and os.lstat(wal).st_size > 0


def _open(path: Path, flags: int, largest: int) -> apsw.Connection:
    # SQLite refuses a link anywhere in the path; only those from the folder inwards are an attack, /tmp may be one.
    real = path.parent.resolve() / path.name
    name = f"{real.as_uri()}?immutable=1" if flags & apsw.SQLITE_OPEN_URI else str(real)
    db = apsw.Connection(name, flags=flags | apsw.SQLITE_OPEN_NOFOLLOW)
    db.set_busy_timeout(READ_WAIT_MS)
    db.limit(apsw.SQLITE_LIMIT_LENGTH, largest)
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    db.execute("PRAGMA cell_size_check = ON")
    return db


def recognised(db: apsw.Connection, where: str, application_id: int, version: int, schema: Mapping[str, str]) -> bool:
    """Whether the file holds exactly our tables (False: it is still empty).

    Raises:
        StoreDamaged: any other file, or one of a later format.
    """
    app, found = db.pragma("application_id"), db.pragma("user_version")
    tables = {str(name): str(sql) for name, sql in db.execute("SELECT name, sql FROM sqlite_schema LIMIT 100")}
    if not tables and not app and not found:
        return False
    if app != application_id:
        raise StoreDamaged("a database, but not a ledger of mog", where=where, way_out="move it away")
    if not isinstance(found, int) or found > version:
        raise StoreDamaged(f"written by a later mog (format {found})", where=where, way_out="upgrade mog")
    if found != version or tables != dict(schema):
        raise StoreDamaged("a ledger with tables that are not ours", where=where, way_out=WAY_OUT)
    return True


def held(where: str) -> HeldByOther:
    """The error for a lock that another process has."""
    return HeldByOther("another process is writing to the ledger", where=where, way_out="try again when it is done")


def mapped(error: Exception, where: str) -> MogError:
    """Our error for one of apsw (or for text in the file that is not UTF-8)."""
    if isinstance(error, apsw.BusyError | apsw.LockedError):
        return held(where)
    if isinstance(error, _UNUSABLE):
        return StoreDamaged(f"cannot be used ({error})", where=where, way_out="check rights and free space")
    return StoreDamaged(f"not a sound ledger ({error})", where=where, way_out=WAY_OUT)
