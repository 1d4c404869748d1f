"""An index file read one top-level field at a time, so that no size of it is ever held. Called by ``table`` and ``loaded``.

What may not come in: what stands in a document. A file that ends early or is no index gives what was readable before that, and
the problem; nothing is raised for what it holds.
"""

from __future__ import annotations

import io
import os
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from mog.engine.code.scip import schema
from mog.engine.code.scip.wire import DELIMITED, FIXED32, FIXED64, VARINT

MAX_FIELD = 64 << 20
"""A document beyond this many bytes is left out and counted; the largest real ones have a few megabytes."""
_BUFFER = 1 << 20
_NAMES = {schema.METADATA: "metadata", schema.DOCUMENTS: "documents", schema.EXTERNAL_SYMBOLS: "external_symbols"}


class Part(NamedTuple):
    """One top-level field: its number, and where its bytes lie in the file."""

    number: int
    at: int
    size: int


def opened(path: Path) -> BinaryIO:
    """A regular file for reading, no link followed in its last step. Raises OSError."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError("not a regular file")
        return io.BufferedReader(io.FileIO(handle, "rb"), _BUFFER)
    except OSError:
        os.close(handle)
        raise


def parts(file: BinaryIO, size: int, problems: Counter[tuple[str, str]]) -> Iterator[Part]:
    """Top-level fields of an index of ``size`` bytes that are messages of it; the file may be read between two of them.

    Args:
        problems: (field, reason) → count; what ends the reading early or is left out goes here.
    """
    at = 0
    while at < size:
        file.seek(at)
        key, at = _varint(file, at)
        wire = key & 7
        if key < 8 or wire not in (VARINT, FIXED64, DELIMITED, FIXED32):
            problems["index", "truncated" if key < 0 else "not_an_index"] += 1
            return
        if wire != DELIMITED:  # nothing of today's schema; a later one may have it
            at = _varint(file, at)[1] if wire == VARINT else at + (8 if wire == FIXED64 else 4)
            continue
        length, at = _varint(file, at)
        name = _NAMES.get(key >> 3, "")
        if length < 0 or length > size - at:
            problems[name or "index", "truncated"] += 1
            return
        if name and length > MAX_FIELD:
            problems[name, "too_large"] += 1
        elif name:
            yield Part(key >> 3, at, length)
        at += length


def _varint(file: BinaryIO, at: int) -> tuple[int, int]:
    """A varint and where it ends; -1 for one that is cut short or too long."""
    value = 0
    for step in range(10):
        byte = file.read(1)
        if not byte:
            return -1, at + step
        value |= (byte[0] & 0x7F) << 7 * step
        if byte[0] < 0x80:
            return value, at + step + 1
    return -1, at + 10


def read(file: BinaryIO, part: Part | tuple[int, int, int]) -> bytes:
    """The bytes of a part; fewer when the file was cut meanwhile."""
    _, at, size = part
    file.seek(at)
    return file.read(size)
