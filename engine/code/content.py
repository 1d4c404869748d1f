"""Reading one listed file without being led astray, and deciding what its bytes are.

Who calls: the extraction workers, ``workspace.py`` for spans from disk. What may not come in: listing, git, parsing.
Nothing outside the root is opened: every folder of a path is opened without following links. Offsets everywhere in
mog are offsets into ``Content.data``: UTF-8 (UTF-16 and UTF-32 with a byte order mark are decoded, a UTF-8 mark is
dropped), else the bytes as they are.
"""

from __future__ import annotations

import codecs
import hashlib
import os
import stat
import time
from pathlib import Path
from typing import NamedTuple

MAX_BYTES = 5_000_000
"""Larger files are skipped as ``too_large``."""
PARSE_BYTES = 1_000_000
"""Above this many bytes a file is parsed only when its lines look written by hand."""
SNIFF_BYTES = 8192
_LONG_LINE = 500

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Stat(NamedTuple):
    """What tells that a file was not written since: bytes, nanoseconds, nanoseconds, inode. ``mtime_ns`` 0 = not to be
    relied on.
    """

    size: int = 0
    mtime_ns: int = 0
    ctime_ns: int = 0
    inode: int = 0


class Content(NamedTuple):
    """One file as read: ``data`` normalised to UTF-8 where it had a mark, or None and why not; the stat from before the
    read.

    Attributes:
        data: text as bytes, or None.
        reason: "" or one of ``binary too_large special symlink unreadable vanished``.
        blob: what git would call these raw bytes (SHA-1 blob id, 20 bytes), b"" when nothing was read.
        stat: for the next no-change test; its ``mtime_ns`` is 0 when the file was written too recently to tell.
    """

    data: bytes | None
    reason: str
    blob: bytes
    stat: Stat


def settled(info: os.stat_result, now_ns: int) -> Stat:
    """Stat of a file seen at ``now_ns``; as in git, one written within a tick of the clock is marked unreliable by
    ``mtime_ns`` 0.

    A tick is 2 s where both stamps are whole seconds (coarse file systems), else 20 ms.
    """
    coarse = info.st_mtime_ns % 1_000_000_000 == 0 and info.st_ctime_ns % 1_000_000_000 == 0
    tick = 2_000_000_000 if coarse else 20_000_000
    racy = max(info.st_mtime_ns, info.st_ctime_ns) > now_ns - tick
    return Stat(info.st_size, 0 if racy else info.st_mtime_ns, info.st_ctime_ns, info.st_ino)


def sniff(data: bytes) -> tuple[str, str]:
    """(text encoding, "") or ("", "binary"): a byte order mark decides, else a NUL in the first 8 KiB means binary."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, ""
    return ("", "binary") if b"\0" in data[:SNIFF_BYTES] else ("utf-8", "")


def normalise(data: bytes) -> bytes | None:
    """The text as bytes that offsets count in (see the module), or None when it is binary."""
    encoding, reason = sniff(data)
    if reason:
        return None
    if encoding == "utf-8":
        return data
    if encoding == "utf-8-sig":
        return data[3:]
    return data.decode(encoding, "replace").encode("utf-8", "surrogatepass")


def machine_made(data: bytes) -> bool:
    """Is a file beyond ``PARSE_BYTES`` generated or minified (mean line of 500 bytes or more in its first 200 kB), so
    text only?
    """
    head = data[:200_000]
    return len(data) > PARSE_BYTES and len(head) > _LONG_LINE * (head.count(b"\n") + 1)


def blob_id(data: bytes) -> bytes:
    """git's SHA-1 blob id of these bytes, 20 bytes."""
    return hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).digest()


class Reader:
    """Reads files below one root. Keeps the last folder open, so files of one folder are cheapest in a row; close it,
    or use ``with``.

    Not shared between threads.
    """

    def __init__(self, root: Path | str, *, max_bytes: int = MAX_BYTES) -> None:
        self._root = os.fspath(root)
        self._max = max_bytes
        self._folder: str | None = None
        self._descriptor = -1

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the folder kept open."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._folder = -1, None

    def read(self, path: str) -> Content:
        """Content of ``path`` (relative, ``/`` separators). Never raises for what lies there: the reason says it."""
        try:
            descriptor = self._open(path)
        except FileNotFoundError:
            return Content(None, "vanished", b"", Stat())
        except (OSError, ValueError):
            return Content(None, self._why(path), b"", Stat())
        try:
            return self._take(descriptor)
        except OSError:
            return Content(None, "unreadable", b"", Stat())
        finally:
            os.close(descriptor)

    def holding(self, path: str, needle: bytes) -> bytes | None:
        """Bytes as UTF-8 of a file that holds ``needle``, None for any other: of those nothing is decoded or hashed."""
        try:
            descriptor = self._open(path)
        except (OSError, ValueError):
            return None
        try:
            info = os.fstat(descriptor)
            if not stat.S_ISREG(info.st_mode) or info.st_size > self._max:
                return None
            raw = _read_all(descriptor, info.st_size, self._max)
        except OSError:
            return None
        finally:
            os.close(descriptor)
        held = needle in raw or raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        return normalise(raw) if held and len(raw) <= self._max else None

    def _take(self, descriptor: int) -> Content:
        now = time.time_ns()
        info = os.fstat(descriptor)
        seen = settled(info, now)
        if not stat.S_ISREG(info.st_mode):
            return Content(None, "special", b"", seen)
        if info.st_size > self._max:
            return Content(None, "too_large", b"", seen)
        raw = _read_all(descriptor, info.st_size, self._max)
        if len(raw) > self._max:
            return Content(None, "too_large", b"", seen)
        data = normalise(raw)
        return Content(data, "binary" if data is None else "", blob_id(raw), seen)

    def _why(self, path: str) -> str:
        """Reason for a path that would not open, found without stepping over a link."""
        here = self._root
        *folders, name = path.split("/")
        try:
            for part in folders:
                here = os.path.join(here, part)
                if stat.S_ISLNK(os.lstat(here).st_mode):
                    return "symlink"
            mode = os.lstat(os.path.join(here, name)).st_mode
        except (FileNotFoundError, NotADirectoryError):
            return "vanished"
        except (OSError, ValueError):
            return "unreadable"
        if stat.S_ISLNK(mode):
            return "symlink"
        return "unreadable" if stat.S_ISREG(mode) else "special"

    if os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW"):

        def _open(self, path: str) -> int:
            head, _, name = path.rpartition("/")
            if head != self._folder:
                self._enter(head)
            return os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=self._descriptor)

        def _enter(self, folder: str) -> None:
            self.close()
            descriptor = os.open(self._root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            for part in folder.split("/") if folder else ():
                try:
                    inner = os.open(
                        part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor
                    )
                finally:
                    os.close(descriptor)
                descriptor = inner
            self._descriptor, self._folder = descriptor, folder

    else:

        def _open(self, path: str) -> int:
            full = os.path.join(self._root, *path.split("/"))
            expected = os.path.join(os.path.realpath(self._root), *path.split("/"))
            if os.path.normcase(os.path.realpath(full)) != os.path.normcase(expected):
                raise ValueError("a link on the way")
            return os.open(full, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0))


def _read_all(descriptor: int, size: int, limit: int) -> bytes:
    """All bytes, one more than ``limit`` at most, also of a file that grows meanwhile."""
    parts: list[bytes] = []
    left = limit + 1
    want = size + 1
    while left > 0 and (part := os.read(descriptor, min(want, left))):
        parts.append(part)
        left -= len(part)
        want = max(size + 1 - len(part), 65536)
    return b"".join(parts) if len(parts) != 1 else parts[0]
