"""Folding of plain lines at the width of a terminal: at words, with the rest hanging below its text.

Who calls: ``beliefs.py``. What may not come in: meaning of a line, escape sequences, cleaning (it was done before).
"""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterator

from mog.app.plain import Line

NARROWEST = 20
HANG = 4


def columns() -> int:
    """Width to fold at: of the terminal stdout is, or what COLUMNS says; 0 where neither speaks."""
    if not sys.stdout.isatty() and not os.environ.get("COLUMNS", "").isdigit():
        return 0
    return shutil.get_terminal_size((0, 0)).columns


def cells(text: str) -> int:
    """Columns a text takes: wide characters two, marks that combine none (Unicode annex 11)."""
    if text.isascii():
        return len(text)
    return sum(_cells(char) for char in text)


def _cells(char: str) -> int:
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def fold(line: Line, width: int) -> list[Line]:
    """The line in pieces of at most ``width`` columns; one piece where it fits or ``width`` is 0.

    Each piece but the first is indented like the line and four columns more. A word longer than a piece is cut.
    """
    text = "".join(part for part, _ in line)
    if not width or cells(text) <= width:
        return [line]
    width = max(width, NARROWEST)
    hang = min(len(text) - len(text.lstrip(" ")) + HANG, width // 2)
    pieces: list[list[tuple[str, str]]] = [[]]
    room = width
    for word, role in _words(line, width - hang):
        size = cells(word)
        if size > room and word.strip():
            pieces.append([(" " * hang, "")])
            room = width - hang
        if size <= room:
            pieces[-1].append((word, role))
            room -= size
        else:
            room = 0  # blanks at the edge are where the line breaks
    return [_joined(piece) for piece in pieces]


def _words(line: Line, longest: int) -> Iterator[tuple[str, str]]:
    """Words and the blanks between them, with their roles; a word longer than a piece in parts."""
    for text, role in line:
        start = 0
        for at in range(1, len(text) + 1):
            whole = at == len(text) or (text[at] == " ") != (text[at - 1] == " ")
            if whole or cells(text[start : at + 1]) > longest:
                yield text[start:at], role
                start = at


def _joined(piece: list[tuple[str, str]]) -> Line:
    """Neighbours of one role as one span."""
    spans: list[tuple[str, str]] = []
    for text, role in piece:
        if spans and spans[-1][1] == role:
            spans[-1] = (spans[-1][0] + text, role)
        else:
            spans.append((text, role))
    return tuple(spans)
