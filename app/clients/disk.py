"""Files of other programs: looked at, kept beside, replaced in one step. Their mode, links and byte order mark stay.

Who calls: ``entries.py`` and ``githook.py``. What may not come in: what stands in the files.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from mog.engine.errors import ConfigError, HeldByOther, PolicyDenied

MAX_BYTES = 64 * 1024 * 1024
SUFFIX = ".mog-backup"
MAX_BACKUPS = 99


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was looked at.

    Attributes:
        path: as named. target: where its links lead. data: its bytes, None when there is no such file. mode: permission bits.
    """

    path: Path
    target: Path
    data: bytes | None
    mode: int = 0


def look(path: Path, *inside: Path) -> Seen:
    """A file, through its links.

    Raises:
        PolicyDenied: a link leads out of every folder of ``inside``. ConfigError: it is no regular file, or above ``MAX_BYTES``.
        OSError: it cannot be read.
    """
    target = Path(os.path.realpath(path))
    if not any(target.is_relative_to(os.path.realpath(folder)) for folder in inside):
        raise PolicyDenied(
            f"a link leads to {target}, outside of {inside[0]}", where=str(path),
            way_out="edit that file by hand, or put a file in place of the link; nothing was written",
        )  # fmt: skip
    try:
        found = target.stat()
    except FileNotFoundError:
        return Seen(path, target, None)
    if not stat.S_ISREG(found.st_mode):
        raise ConfigError("this is no file", where=str(path), way_out="move it away; nothing was written")
    if found.st_size > MAX_BYTES:
        raise ConfigError(f"larger than {MAX_BYTES:,} bytes", where=str(path), way_out="edit it by hand")
    return Seen(path, target, target.read_bytes(), stat.S_IMODE(found.st_mode))


def replace(seen: Seen, data: bytes | None, *, private: bool = False) -> None:
    """Write ``data`` in one step, or take the file away for None; the mode stays, a new file that is ``private`` gets 0600.

    Raises:
        HeldByOther: somebody wrote it since it was looked at; nothing was written. OSError.
    """
    if (seen.target.read_bytes() if seen.target.exists() else None) != seen.data:
        raise HeldByOther("somebody else wrote this file just now", where=str(seen.path), way_out="run this again")
    if data is None:
        seen.target.unlink()
        return
    seen.target.parent.mkdir(parents=True, exist_ok=True)
    temporary = seen.target.with_name(f".{seen.target.name}.{os.getpid()}.tmp")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    try:
        mode = seen.mode if seen.data is not None else 0o600 if private else 0o666
        _write_new(temporary, data, mode, exact=seen.data is not None)
        os.replace(temporary, seen.target)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


def keep(seen: Seen) -> Path | None:
    """Put the bytes beside the file under a name that is free, with its mode; None when they are kept already, or never were."""
    if seen.data is None or any(path.read_bytes() == seen.data for path in backups(seen.target)):
        return None
    for number in range(1, MAX_BACKUPS + 1):
        path = _backup(seen.target, number)
        with contextlib.suppress(FileExistsError):
            _write_new(path, seen.data, seen.mode, exact=True)
            return path
    raise ConfigError(f"{MAX_BACKUPS} backups lie there", where=str(seen.target), way_out=f"delete old {SUFFIX} files")


def backups(target: Path) -> list[Path]:
    """What ``keep`` put beside a file, the latest first. Links are not followed."""
    return list(_backups(target))


def _backups(target: Path) -> Iterator[Path]:
    for number in range(MAX_BACKUPS, 0, -1):
        path = _backup(target, number)
        if path.is_file() and not path.is_symlink():
            yield path


def _backup(target: Path, number: int) -> Path:
    return target.with_name(target.name + SUFFIX + (f"-{number}" if number > 1 else ""))


def _write_new(path: Path, data: bytes, mode: int, *, exact: bool) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600 if exact else mode)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if exact:
        path.chmod(mode)
