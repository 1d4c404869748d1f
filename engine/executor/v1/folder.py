"""A folder somebody may have handed us: its files read without following links, replaced whole, and written by one at a time.

Called by ``session_dir`` and ``session_write``. Names are bare, so nothing outside the folder is ever touched. What may not
come in: what the files mean.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from mog.engine.errors import HeldByOther, StoreDamaged, UsageError
from mog.engine.executor.v1.manifest import LOCK, LOCK_NOTE
from mog.engine.ledgers.small_files import sync_folder

MAX_FILE_BYTES = 1 << 30
STAGING_PREFIX, STAGING_SUFFIX = ".staging-", ".tmp"
_SAFE = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NOT_WAITING = getattr(os, "O_NONBLOCK", 0)


def opened(path: Path) -> Path:
    """The real folder behind a path. Raises UsageError when there is none."""
    if not path.is_dir():
        raise UsageError("no such folder", where=str(path), way_out="name a folder that holds a session")
    return path.resolve()


def kind_of(path: Path) -> str:
    """``file``, ``link``, ``folder``, ``other``; "" for what is not there."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return ""
    if stat.S_ISREG(mode):
        return "file"
    return "link" if stat.S_ISLNK(mode) else "folder" if stat.S_ISDIR(mode) else "other"


def read_file(folder: Path, name: str) -> bytes:
    """Content of a plain file of the folder.

    Raises:
        UsageError: a link, a pipe or anything else in its place.
        StoreDamaged: there is none, it cannot be read, or it is beyond 1 GiB.
    """
    path = folder / name
    kind = kind_of(path)
    if not kind:
        raise _gone(path)
    if kind != "file":
        _refuse(path, kind)
    try:
        handle = os.open(path, os.O_RDONLY | _SAFE | _NOT_WAITING)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                _refuse(path, "other")
            data = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError as error:
        raise _gone(path) from error
    except OSError as error:
        raise _unusable(path, "cannot be read", error) from error
    if len(data) > MAX_FILE_BYTES:
        raise StoreDamaged("a file beyond 1 GiB", where=str(path), way_out="no session is that large: name another folder")
    return data


def _refuse(path: Path, kind: str) -> NoReturn:
    what = {"link": "a link", "folder": "a folder"}.get(kind, "no plain file")
    raise UsageError(f"{what} stands where a session has a file", where=str(path), way_out="remove it; no link is followed")


def _gone(path: Path) -> StoreDamaged:
    return StoreDamaged("the file is not there", where=str(path), way_out="take the folder from a backup")


def _unusable(path: Path, what: str, error: OSError) -> StoreDamaged:
    return StoreDamaged(f"{what} ({error.strerror})", where=str(path), way_out="check rights and free space")


def place(folder: Path, name: str, data: bytes) -> None:
    """Put a file in the place of what stands there, whole and synced; a link there is replaced, not followed.

    The name itself is durable after ``settle``. Raises StoreDamaged; what stood there stands then.
    """
    staged = None
    try:
        handle, staged = tempfile.mkstemp(prefix=STAGING_PREFIX, suffix=STAGING_SUFFIX, dir=folder)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(staged, folder / name)
    except OSError as error:
        if staged is not None:
            with contextlib.suppress(OSError):
                os.unlink(staged)
        raise _unusable(folder / name, "cannot be written", error) from error


def settle(folder: Path) -> None:
    """Have the names in the folder on the disk, so that nothing later is found without what came before it."""
    try:
        sync_folder(folder)
    except OSError as error:
        raise _unusable(folder, "cannot be synced", error) from error


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, the one the earlier package takes; refused at once when somebody else does.

    Raises:
        HeldByOther: another process writes there. UsageError: a link or another thing in the place of the lock.
    """
    path = folder / LOCK
    kind = kind_of(path)
    if kind not in ("", "file"):
        _refuse(path, kind)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | _SAFE | _NOT_WAITING, 0o644)
    except OSError as error:
        raise _unusable(path, "cannot be opened", error) from error
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            _refuse(path, "other")
        if not _try_lock(handle):
            raise HeldByOther(f"{_holder(folder)} is writing this session", where=str(folder), way_out="try again later")
        try:
            _note(folder, handle)
            yield
        finally:
            _unlock(handle)
    finally:
        os.close(handle)


def _note(folder: Path, handle: int) -> None:
    """Who writes, in the form the earlier package shows to whoever it refuses. The file stays: it is the lock."""
    note = (json.dumps({"pid": os.getpid(), "host": socket.gethostname()}) + "\n").encode()
    os.ftruncate(handle, 0)
    os.lseek(handle, 0, os.SEEK_SET)
    os.write(handle, note)
    place(folder, LOCK_NOTE, note)


def _holder(folder: Path) -> str:
    try:
        note = json.loads(read_file(folder, LOCK_NOTE)[:512])
        pid, host = note["pid"], note["host"]
    except (StoreDamaged, UsageError, ValueError, RecursionError, KeyError, TypeError):
        return "another process"
    return f"process {pid} on {host}" if type(pid) is int and isinstance(host, str) else "another process"


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        os.lseek(handle, 0, os.SEEK_SET)  # the byte that the earlier package locks
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
