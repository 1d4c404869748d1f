"""Opening a ledger file without trusting it, and small files beside it. Called by the logs of this folder only.

What may not come in: rows and their meaning. A ledger may come with a repository nobody vouched for, so links are not
followed, pipes are not waited for, the schema must be ours word for word, and no value may be larger than we write.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Mapping
from pathlib import Path

import apsw

from mog.engine.errors import HeldByOther, MogError, StoreDamaged

WAY_OUT = "run `mog doctor`; restore the ledger from a copy, or move it away to begin an empty one"
_BESIDE = ("-wal", "-shm", "-journal")
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_SMALL = 1 << 20
READ_WAIT_MS = 2000  # for another process's crash recovery or last close; a writer never blocks a reader
_UNUSABLE = (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)


def examine(path: Path) -> tuple[int, int] | None:
    """Identity of the file on its disk, or None when there is none.

    Raises:
        StoreDamaged: a link, or something that is no plain file in a real folder, there or in the place of a file that
            SQLite keeps beside it.
    """
    found = _lstat(path.parent, stat.S_ISDIR) and _lstat(path, stat.S_ISREG)
    for suffix in _BESIDE:
        _lstat(path.with_name(path.name + suffix), stat.S_ISREG)
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
    found = examine(path)
    if found is not None:
        _tighten(path)
        return found
    try:
        folders = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, _NEW, 0o600))
        for folder in [path.parent, *(folder.parent for folder in folders)]:
            sync_folder(folder)
    except FileExistsError:
        pass  # another process made it in between; examined below like any other
    except OSError as error:
        raise _unusable(path, "cannot be made", error) from error
    found = examine(path)
    if found is None:
        raise StoreDamaged("vanished while it was opened", where=str(path), way_out="try again")
    _tighten(path)
    return found


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk; does nothing where folders cannot be synced. Raises OSError."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


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
    """A connection that writes, in WAL mode with a full sync at every commit.

    Raises:
        StoreDamaged: the folder cannot be synced, so that a commit would not be sure to be found again.
        apsw.Error: anything else.
    """
    db = _open(path, apsw.SQLITE_OPEN_READWRITE, largest)
    db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # waits for a recovery, if there is one
    db.set_busy_timeout(0)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # makes the write-ahead log, if there is none
    try:
        sync_folder(path.parent)  # SQLite does it too, and does not look whether it worked
    except OSError as error:
        db.close()
        raise _unusable(path.parent, "cannot be synced", error) from error
    return db


def settle(path: Path, largest: int) -> bool:
    """Copy the write-ahead log into the file and empty it, so that what it holds is durable and what it half holds is gone.

    False when that could not be done now, because others are reading or the disk refuses.
    """
    try:
        db = open_writer(path, largest)
        try:
            db.set_busy_timeout(READ_WAIT_MS)
            busy, *_ = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return busy == 0
        finally:
            db.close()
    except (apsw.Error, StoreDamaged):
        return False


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


def recognised(db: apsw.Connection, where: str, application_id: int, formats: Mapping[int, Mapping[str, str]]) -> int:
    """Which of the formats (number → table → its SQL, word for word) the file has; 0 while it is still empty.

    Raises:
        StoreDamaged: any other file, or one of a later format.
    """
    app, found = db.pragma("application_id"), db.pragma("user_version")
    tables = {str(name): str(sql) for name, sql in db.execute("SELECT name, sql FROM sqlite_schema LIMIT 100")}
    if not tables and not app and not found:
        return 0
    if app != application_id:
        raise StoreDamaged("a database, but not a ledger of mog", where=where, way_out="move it away")
    if not isinstance(found, int) or found > max(formats):
        raise StoreDamaged(f"written by a later mog (format {found})", where=where, way_out="upgrade mog")
    if tables != formats.get(found):
        raise StoreDamaged("a ledger with tables that are not ours", where=where, way_out=WAY_OUT)
    return found


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


# -- small files: keys, what a witness remembers


def read_small(path: Path) -> bytes | None:
    """Content of a small plain file, None when there is none.

    Raises:
        StoreDamaged: a link or something else in its place, more than 1 MiB, or it cannot be read.
    """
    if _lstat(path, stat.S_ISREG) is None:
        return None
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            raw = file.read(_SMALL + 1)
    except OSError as error:
        raise _unusable(path, "cannot be read", error) from error
    if len(raw) > _SMALL:
        raise StoreDamaged("larger than anything we write", where=str(path), way_out="move it away")
    return raw


def write_new(path: Path, content: bytes) -> None:
    """Make a small file, 0600 in a folder of 0700, durably. Raises StoreDamaged, also when there is one already."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, _NEW | getattr(os, "O_BINARY", 0), 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)
    except OSError as error:
        raise _unusable(path, "cannot be made", error) from error


def replace(path: Path, content: bytes) -> None:
    """Put a small file in the place of what stands there, whole or not at all. Raises StoreDamaged."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft.unlink(missing_ok=True)
        with os.fdopen(os.open(draft, _NEW | getattr(os, "O_BINARY", 0), 0o600), "wb") as file:
            file.write(content)
        draft.replace(path)
    except OSError as error:
        raise _unusable(path, "cannot be written", error) from error


def remove(path: Path) -> None:
    """Remove a small file, if there is one. Raises StoreDamaged."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _unusable(path, "cannot be removed", error) from error
