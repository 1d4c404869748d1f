"""Where the page is written: a file of its own, whole or not at all. Called by ``app/cli/export.py``.

What may not come in: what stands in it, beyond the mark by which an earlier page is known.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterable
from pathlib import Path

from mog.engine.errors import UsageError

MARK = b'<meta name="generator" content="mog '
_LOOKED = 4_096  # bytes of a file that is there, in which the mark stands if it is a page of ours


def write(path: Path, body: bytes | Iterable[bytes], mark: bytes = MARK, what: str = "page") -> None:
    """Write ``body``, readable by its owner alone; an earlier page is replaced in one step, anything else that is there stays.

    Args:
        body: whole or in pieces. mark: bytes by which an earlier one is known. what: the word for it.

    Raises:
        UsageError: a link, a folder or a file of somebody else is there, or it cannot be written.
    """
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(8)}")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        _ours(path, mark, what)
        with open(os.open(temporary, flags, 0o600), "wb") as file:
            file.writelines([body] if isinstance(body, bytes) else body)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        said = f"the {what} cannot be written: {error.strerror or error}"
        raise UsageError(said, where=str(path), way_out="name another file with --out") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _ours(path: Path, mark: bytes, what: str) -> None:
    """Nothing is there, or one written before. Raises UsageError, OSError."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if stat.S_ISLNK(found.st_mode):
        raise UsageError(
            f"a link is there, and a {what} is not written through one",
            where=str(path),
            way_out="name a file with --out",
        )
    if not stat.S_ISREG(found.st_mode):
        raise UsageError("this is no file", where=str(path), way_out="name a file with --out")
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        if found.st_size and mark not in file.read(_LOOKED):
            said = f"a file is there that is no {what} of mog"
            raise UsageError(said, where=str(path), way_out="move it away, or name another with --out")
