"""One writer per workspace: an exclusive lock on a file, held by the process and let go when it dies.

Who calls: the indexer, the watcher, ``mog doctor --repair``; whoever writes below ``.mog``.
What may not come in: waiting, stale-lock guessing by process id. The kernel holds the lock; the id in the file is
decoration.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from mog.engine.errors import HeldByOther, StoreDamaged

#: On Windows a locked byte cannot be read by others, so it lies far behind the text that names the holder.
_LOCK_AT = 1 << 20
_NOTE_BYTES = 512
_MOMENT = 0.02


class WriterLock:
    """An exclusive lock on ``path``, refused at once when another holds it.

    Use as a context manager, or ``acquire`` and ``release``. Two objects in one process exclude each other as well.
    The file stays behind (deleting it would let two processes lock two files of one name).
    """

    def __init__(self, path: Path, command: str = "") -> None:
        """``command``: what the holder is called in other processes' refusals; by default the program and its verb."""
        self.path = path
        self._command = command or " ".join([Path(sys.argv[0]).name or "python", *sys.argv[1:2]])
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        """Does this object hold the lock?"""
        return self._handle is not None

    def acquire(self) -> None:
        """Take the lock and write process id and command into the file.

        Raises:
            HeldByOther: another process, or another object of this one, holds it.
            StoreDamaged: the lock file is a link, a pipe, a device or a folder, or cannot be opened.
        """
        if self._handle is not None:
            raise HeldByOther(
                "this process holds the lock already", where=str(self.path), way_out="finish the running call first"
            )
        handle = _open(self.path)
        try:
            _require_regular(handle, self.path)
            if not _try_lock(handle) and not _try_again(handle, self.path):
                raise _held(self.path)
            _require_same(handle, self.path)
        except BaseException:
            os.close(handle)
            raise
        self._handle = handle
        _write_note(handle, f"{os.getpid()} {self._command}\n")

    def release(self) -> None:
        """Let go; releasing twice is fine."""
        handle, self._handle = self._handle, None
        if handle is not None:
            _write_note(handle, "")
            with contextlib.suppress(OSError):
                _unlock(handle)
            os.close(handle)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def holder(path: Path) -> str:
    """``pid command`` of whoever holds the lock, "" when nobody does. For people: nothing may be decided by it."""
    try:
        handle = _open(path)
    except StoreDamaged:
        return ""
    try:
        return "" if _try_lock(handle) else _read_note(path)
    finally:
        os.close(handle)


def _try_again(handle: int, path: Path) -> bool:
    """A lock without a note is held for a moment only: by ``holder``, or by one about to write its note."""
    if _read_note(path):
        return False
    time.sleep(_MOMENT)
    return _try_lock(handle)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0) | getattr(os, "O_BINARY", 0)
    try:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if path.parent.is_symlink() or path.is_symlink():
            raise OSError("it is a link")
        return os.open(path, flags, 0o600)
    except OSError as error:
        raise _refused(path, str(error.strerror or error)) from error


def _refused(path: Path, why: str) -> StoreDamaged:
    return StoreDamaged(
        f"the lock file cannot be used: {why}", where=str(path), way_out="remove it and run the command again"
    )


def _require_regular(handle: int, path: Path) -> None:
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode):
        raise _refused(path, "it is not a regular file")
    if found.st_nlink > 1:
        raise _refused(path, "it is linked to another file")


def _require_same(handle: int, path: Path) -> None:
    """The file may have been replaced between opening and locking; then the lock guards nothing."""
    try:
        now = os.stat(path, follow_symlinks=False)
    except OSError:
        now = None
    mine = os.fstat(handle)
    if now is None or (now.st_dev, now.st_ino) != (mine.st_dev, mine.st_ino):
        raise HeldByOther("the lock file was replaced just now", where=str(path), way_out="try again")


def _held(path: Path) -> HeldByOther:
    pid, _, command = _read_note(path).partition(" ")
    who = f"process {pid} ({command})" if pid.isdigit() else "another process"
    return HeldByOther(f"{who} is writing here", where=str(path), way_out="wait for it or stop it, then try again")


def _read_note(path: Path) -> str:
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        return ""
    try:
        raw = os.read(handle, _NOTE_BYTES)
    except OSError:
        return ""
    finally:
        os.close(handle)
    line = raw.decode("utf-8", "replace").partition("\n")[0].strip()
    return "".join(char if char.isprintable() else "?" for char in line)


def _write_note(handle: int, note: str) -> None:
    """Say who holds the lock. A full disk must not cost the lock, so failing to say it is no failure."""
    with contextlib.suppress(OSError):
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, note.encode("utf-8", "replace")[:_NOTE_BYTES])


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        os.lseek(handle, _LOCK_AT, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _unlock(handle: int) -> None:
        os.lseek(handle, _LOCK_AT, os.SEEK_SET)
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


@contextlib.contextmanager
def in_turn(lock: WriterLock, seconds: float) -> Iterator[None]:
    """Hold a lock that others hold for moments only, waiting for it at most so long.

    Raises:
        HeldByOther: it did not come free. StoreDamaged: as from ``acquire``.
    """
    until = time.monotonic() + seconds
    while True:
        try:
            lock.acquire()
            break
        except HeldByOther:
            if time.monotonic() > until:
                raise
            time.sleep(_MOMENT / 2)
    try:
        yield
    finally:
        lock.release()
