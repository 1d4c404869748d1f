"""What the streams behind anchors share: their shape, their marks, and how string contents are normalised.

Who calls: ``anchors.py``, ``anchor_python.py``, ``anchor_text.py``. What may not come in: trees, hashing, one language's rules.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# Marks in the text. All are control bytes, which no grammar accepts outside strings; a source that has them is mapped away first.
STMT, INDENT, DEDENT, OPEN, CLOSE, TEXT, NAME, SPAN = (bytes([c]) for c in (2, 3, 4, 5, 6, 7, 8, 14))

_CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x7f]")
_UNMARKED = bytes(0x7F if i in (*range(1, 9), *range(14, 27)) else i for i in range(256))
_ESCAPE = re.compile(rb"\\(?:(['\"`])|(?s:.))")


class Slice(NamedTuple):
    """Where one span lies in the two streams: fragments ``[f0, f1)`` of the text, entries ``[s0, s1)`` of the contents."""

    f0: int
    f1: int
    s0: int
    s1: int


class Streams(NamedTuple):
    """Text fragments, contents taken out of the text (length first), one slice per span asked for, and what joins fragments."""

    fragments: list[bytes]
    contents: list[bytes]
    slices: list[Slice]
    glue: bytes


def unmarked(data: bytes) -> bytes:
    """``data``, as long, without the bytes that serve as marks (they occur only in strings, or in what does not parse)."""
    return data.translate(_UNMARKED) if _CONTROL.search(data) else data


def newlines(content: bytes) -> bytes:
    """Content with LF line ends."""
    return content.replace(b"\r\n", b"\n") if b"\r" in content else content


def unquoted(content: bytes) -> bytes:
    """Content of a quoted string with escapes of quotes and of line ends resolved, all others as written, line ends as LF."""
    content = newlines(content)
    return _ESCAPE.sub(_resolved, content) if b"\\" in content else content


def _resolved(match: re.Match[bytes]) -> bytes:
    return match[1] or (b"" if match[0] == b"\\\n" else match[0])
