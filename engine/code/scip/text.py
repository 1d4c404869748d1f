"""Bytes of a file, and the places SCIP speaks of: line and character in some encoding ↔ byte offset. Called by ``loaded``, ``export``.

What may not come in: files, symbols. Lines end as in most editors: ``\\n``, ``\\r\\n`` or a lone ``\\r``.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from mog.engine.code.scip.schema import UTF8, UTF16, UTF32

_ENDS = re.compile(rb"\r\n|\r|\n")


class Lines:
    """The lines of one text."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.starts = [0]
        ends: list[int] = []
        self._ends = ends
        if b"\r" in data:
            for match in _ENDS.finditer(data):
                ends.append(match.start())
                self.starts.append(match.end())
        else:
            at = data.find(b"\n")
            while at >= 0:
                ends.append(at)
                self.starts.append(at + 1)
                at = data.find(b"\n", at + 1)
        ends.append(len(data))
        self._ascii = data.isascii()
        self._texts: dict[int, str | None] = {}

    def offset(self, line: int, character: int, encoding: int) -> int:
        """Byte offset of a place, or -1 when there is none in this text (behind the end of its line, inside a character)."""
        if line >= len(self.starts):
            return -1
        start, end = self.starts[line], self._ends[line]
        if self._ascii or encoding == UTF8:
            at = start + character
            inside = at <= end and (at == len(self.data) or self._ascii or self.data[at] & 0xC0 != 0x80)
            return at if inside else -1
        text = self._text(line)
        if text is None:  # plain ASCII, so every encoding counts alike
            return start + character if start + character <= end else -1
        if encoding == UTF32:
            return start + len(text[:character].encode("utf-8", "surrogateescape")) if character <= len(text) else -1
        return self._utf16(text, start, character)

    def _text(self, line: int) -> str | None:
        if line not in self._texts:
            raw = self.data[self.starts[line] : self._ends[line]]
            self._texts[line] = None if raw.isascii() else raw.decode("utf-8", "surrogateescape")
        return self._texts[line]

    @staticmethod
    def _utf16(text: str, start: int, character: int) -> int:
        units = size = 0
        for char in text:
            if units >= character:
                break
            units += 2 if char > "\uffff" else 1
            size += len(char.encode("utf-8", "surrogateescape"))
        return start + size if units == character else -1

    def place(self, offset: int) -> tuple[int, int]:
        """Line and UTF-8 character of a byte offset, both from 0."""
        line = bisect_right(self.starts, offset) - 1
        return line, offset - self.starts[line]

    def range(self, start: int, stop: int) -> list[int]:
        """A range as SCIP writes it, in UTF-8 characters: three numbers on one line, else four."""
        first, last = self.place(start), self.place(stop)
        return [*first, last[1]] if first[0] == last[0] else [*first, *last]


__all__ = ["UTF8", "UTF16", "UTF32", "Lines"]
