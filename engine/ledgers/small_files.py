"""Small files outside of the ledger: keys, what a witness remembers; and what opening any file safely has in common.

Called by the rooms of this folder. What may not come in: what the files mean. No link is followed, nothing but plain
files is read, everything made is 0600 in a folder of 0700.
"""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from mog.engine.errors import StoreDamaged

MAX_BYTES = 1 << 20
SECTOR = 512
# no link is followed, no pipe waited for, no child process gets the handle, no line end is changed
_SAFE = sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | _SAFE


def lstat(at: Path | str, wanted: Callable[[int], bool]) -> os.stat_result | None:
    """What stands at a path, None when nothing does.

    Raises:
        StoreDamaged: something of another kind than ``wanted`` (``stat.S_ISREG``, ``stat.S_ISDIR``), a link for example.
    """
    try:
        found = os.lstat(at)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise unusable(at, "cannot be looked at", error) from error
    if wanted(found.st_mode):
        return found
    what = "a link" if stat.S_ISLNK(found.st_mode) else "something else"
    raise StoreDamaged(f"{what} stands where a file of ours belongs", where=str(at), way_out="remove it; no link is followed")


def unusable(at: Path | str, what: str, error: OSError) -> StoreDamaged:
    """The error for one of the operating system."""
    return StoreDamaged(f"{what} ({error.strerror})", where=str(at), way_out="check rights and free space")


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk; does nothing where folders cannot be synced. Raises OSError."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_draft(path: Path, content: bytes, *, sync: bool) -> Path:
    """Write ``content`` to a new file beside ``path``, to be given its name afterwards. Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, _NEW, 0o600), "wb") as file:
        file.write(content)
        if sync:
            file.flush()
            os.fsync(file.fileno())
    return draft


def read(path: Path) -> bytes | None:
    """Content of a small plain file, None when there is none.

    Raises:
        StoreDamaged: a link or something else in its place, more than 1 MiB, or it cannot be read.
    """
    if lstat(path, stat.S_ISREG) is None:
        return None
    try:
        with os.fdopen(os.open(path, os.O_RDONLY | _SAFE), "rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise unusable(path, "cannot be read", error) from error
    if len(raw) > MAX_BYTES:
        raise StoreDamaged("larger than anything we write", where=str(path), way_out="move it away")
    return raw


def write_new(path: Path, content: bytes) -> None:
    """Make a small file durably. Raises StoreDamaged, also when there is one already."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(path, _NEW, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(path.parent)
    except OSError as error:
        raise unusable(path, "cannot be made", error) from error


def replace(path: Path, content: bytes) -> None:
    """Put a small file in the place of what stands there, whole or not at all. Raises StoreDamaged."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_draft(path, content, sync=False).replace(path)
    except OSError as error:
        raise unusable(path, "cannot be written", error) from error


def overwrite(path: Path, content: bytes) -> None:
    """As ``replace``, in place where a file of the same size stands there already: one write of at most a sector.

    Raises:
        StoreDamaged: it cannot be written.
    """
    try:
        handle = os.open(path, os.O_WRONLY | _SAFE)
    except OSError:
        replace(path, content)
        return
    try:
        same = os.fstat(handle).st_size == len(content) <= SECTOR
        if same:
            os.write(handle, content)
    except OSError as error:
        raise unusable(path, "cannot be written", error) from error
    finally:
        os.close(handle)
    if not same:
        replace(path, content)
