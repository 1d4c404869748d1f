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
from mog.engine.ledgers import small_files
from mog.engine.ledgers.small_files import lstat, unusable

WAY_OUT = "run `mog doctor`; restore the ledger from a copy, or move it away to begin an empty one"
READ_WAIT_MS = 2000  # for another process's crash recovery or last close; a writer never blocks a reader
_UNUSABLE = (apsw.FullError, apsw.IOError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.PermissionsError)


def examine(path: Path) -> tuple[int, int] | None:
    """Identity of the file on its disk, or None when there is none.

    Raises:
        StoreDamaged: a link, or something that is no plain file in a real folder, there or in the place of a file that
            SQLite keeps beside it; or a rollback journal, which our files never have and which SQLite would obey.
    """
    found = lstat(path.parent, stat.S_ISDIR) and lstat(path, stat.S_ISREG)
    for suffix in ("-wal", "-shm"):
        lstat(f"{path}{suffix}", stat.S_ISREG)
    journal = f"{path}-journal"
    if lstat(journal, stat.S_ISREG) is not None:
        raise StoreDamaged("a journal that is not ours stands beside the ledger", where=journal, way_out="remove it")
    return (found.st_dev, found.st_ino) if found else None


def unchanged(path: Path, identity: tuple[int, int] | None) -> bool:
    """Whether a file that is open is still the one with that identity, and only its owner may read it.

    What stands beside it is not looked at: SQLite has it open too. Raises StoreDamaged for a link in its place.
    """
    folder, found = lstat(path.parent, stat.S_ISDIR), lstat(path, stat.S_ISREG)
    if folder is None or found is None or (found.st_dev, found.st_ino) != identity:
        return False
    return os.name != "posix" or not (folder.st_mode | found.st_mode) & 0o077


def make(path: Path) -> tuple[int, int]:
    """Identity of the file; if there is none, an empty one is made. Modes are tightened to 0600 in a folder of 0700.

    Raises:
        StoreDamaged: it cannot be made, or ``examine`` refuses what is there.
    """
    found = examine(path)
    if found is None:
        try:
            folders = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _place(path, _empty_database())
            for folder in [path.parent, *(folder.parent for folder in folders)]:
                small_files.sync_folder(folder)
        except OSError as error:
            raise unusable(path, "cannot be made", error) from error
        found = examine(path)
    if found is None:
        raise StoreDamaged("vanished while it was opened", where=str(path), way_out="try again")
    _tighten(path)
    return found


def _empty_database() -> bytes:
    """A database without tables that is in WAL mode already: switching it on would need a journal beside the file."""
    memory = apsw.Connection(":memory:")
    try:
        for statement in ("PRAGMA page_size = 4096", "CREATE TABLE t(x)", "DROP TABLE t"):
            memory.execute(statement)
        page = bytearray(memory.serialize("main"))
    finally:
        memory.close()
    page[18:20] = b"\2\2"  # write and read version of the file format, section 1.3: WAL
    return bytes(page)


def _place(path: Path, content: bytes) -> None:
    """A new file, whole from the moment it has its name; what another process put there meanwhile is left. Raises OSError."""
    draft = small_files.write_draft(path, content, sync=True)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass  # examined by the caller like any other
    except (OSError, AttributeError):  # a file system without hard links, or a fault that the next line meets too
        if not path.exists():
            small_files.write_new(path, content)
    finally:
        draft.unlink(missing_ok=True)


def _tighten(path: Path) -> None:
    for at, mode in ((path.parent, 0o700), (path, 0o600)):
        if os.name == "posix" and stat.S_IMODE(os.lstat(at).st_mode) & 0o077:
            try:
                at.chmod(mode)
            except OSError as error:
                raise unusable(at, "can be read by others and that cannot be changed", error) from error


def open_writer(path: Path, largest: int) -> apsw.Connection:
    """A connection that writes, in WAL mode with a full sync at every commit.

    Raises:
        StoreDamaged: the folder cannot be synced, so that a commit would not be sure to be found again.
        apsw.Error: anything else.
    """
    db = _open(path, apsw.SQLITE_OPEN_READWRITE, largest)
    try:
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # waits for a recovery, if there is one
        db.set_busy_timeout(0)
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # makes the write-ahead log, if there is none
        small_files.sync_folder(path.parent)  # SQLite does it too, and does not look whether it worked
    except OSError as error:
        db.close()
        raise unusable(path.parent, "cannot be synced", error) from error
    except BaseException:
        db.close()
        raise
    return db


def drain(db: apsw.Connection) -> bool:
    """Copy the write-ahead log into the file and empty it; False when others are in the way, which does no harm.

    Done once for a new ledger, so that the file itself says what it is, whatever becomes of the log beside it.
    """
    try:
        found = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except apsw.Error:
        return False
    return found is not None and found[0] == 0


def settle(path: Path, largest: int) -> bool:
    """Copy the write-ahead log into the file and empty it, so that what it holds is durable and what it half holds is gone.

    False when that could not be done now, because others are reading or the disk refuses.
    """
    try:
        db = open_writer(path, largest)
        try:
            db.set_busy_timeout(READ_WAIT_MS)
            return drain(db)
        finally:
            db.close()
    except (apsw.Error, StoreDamaged):
        return False


def open_reader(path: Path, largest: int) -> apsw.Connection:
    """A connection that only reads. Raises errors of apsw."""
    db = _open(path, apsw.SQLITE_OPEN_READONLY, largest)
    try:
        db.execute("SELECT count(*) FROM sqlite_schema").fetchall()
    except BaseException as error:
        db.close()
        if not isinstance(error, apsw.CantOpenError) or _has_wal(path) or os.access(path.parent, os.W_OK):
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
