"""Small files and folders of this person alone: made so that nobody else can look, believed only when nobody else could write.

Who calls: whoever keeps something in ``.mog/run``: addresses, tokens, requests that wait. What may not come in: what stands in them.
A repository can bring files with it; a regular file of this person that others may not read is one that no checkout makes.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path

from mog.engine.errors import StoreDamaged

MOST = 4_096  # bytes


def private_folder(path: Path, *, tighten: bool = False) -> Path:
    """Make a folder for this person alone, or check one. ``tighten``: take others' rights to an existing one away.

    Raises:
        StoreDamaged: it is a link, no folder, somebody else's, or others may use it.
    """
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = os.lstat(path)
    if not stat.S_ISDIR(found.st_mode):
        raise StoreDamaged("it is no folder", where=str(path), way_out="remove it and start again")
    if os.name == "nt":
        return path
    if found.st_uid != os.geteuid():
        raise StoreDamaged("it belongs to somebody else", where=str(path), way_out="remove it and start again")
    if tighten and found.st_mode & 0o077:
        os.chmod(path, 0o700)
    return path


def write_private(path: Path, data: bytes) -> None:
    """Put a small file of mode 0600 in place, at once and without following links."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(temporary, flags, 0o600), "wb") as out:
        out.write(data)
    os.replace(temporary, path)


def read_private(path: Path, most: int = MOST) -> bytes:
    """The first ``most`` bytes of a file of this person that nobody else may read. Raises OSError when it is anything else."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as handle:
        found = os.fstat(handle.fileno())
        others = os.name != "nt" and (found.st_uid != os.geteuid() or found.st_mode & 0o077)
        if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1 or others:
            raise OSError(errno.EPERM, "it is not a private file")
        return handle.read(most)
