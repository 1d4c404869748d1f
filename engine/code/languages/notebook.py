"""Jupyter notebooks: their Python code cells as one module whose lines are lines of the file. Called by ``extract.py``.

What may not come in: outputs, other files, a JSON parser (values without places would not do). nbformat writes every line of a
cell on a line of its own, so line *n* of the module is what line *n* of the file holds, and blank where that is no code: an
editor that opens the file as text finds a symbol at its line, and its documentation begins with the number of the cell. Spans are
whole lines of the file. Anchors are those of the Python code, so outputs, counters and the layout of the JSON never move one.
Magics become tuples of their text, which keeps what they say comparable. A cell whose
lines share one line of the file has no lines to lead to and is left out, with the problem ``cell_in_one_line``.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.magics import plain_lines

VERSION = 1
MOST_TOKENS = 400_000
Read = Callable[[str, bytes], Facts]

_TOKEN = re.compile(rb'"((?:[^"\\]++|\\.)*+)"(\s{0,99}+:)?|[{}\[\]]', re.S)
_OPEN, _SHUT = b"{[", b"}]"


@dataclass(slots=True)
class Cell:
    """One cell: its number from 1, its kind, and (line of the file from 0, text) of its source."""

    number: int
    kind: str = ""
    source: list[tuple[int, str]] = field(default_factory=list)

    def in_one_line(self) -> bool:
        """Whether lines of the cell share a line of the file."""
        numbers = [line for line, _ in self.source]
        return len(set(numbers)) < len(numbers) or any("\n" in text[:-1] for _, text in self.source)


@dataclass(slots=True)
class Notebook:
    """What a notebook's file holds: cells in order, the language of its kernel ("" unsaid), whether all of it was read."""

    cells: list[Cell] = field(default_factory=list)
    language: str = ""
    whole: bool = True


def host_facts(lang: str, data: bytes, path: str, read: Read) -> Facts:
    """Facts of the code cells; ``read`` gives those of the Python module they make."""
    book = parsed(data)
    if book.language not in ("", "python") or not book.cells:
        found = schema.empty("python")
        found["problems"].append([f"kernel_of_another_language: {book.language[:40]}" if book.cells else "no_cells", 0])
        return found
    lines, cell_of = _module_lines(book, data.count(b"\n") + 1)
    found = read("python", b"\n".join(lines))
    _place(found, data, lines, cell_of)
    found["problems"] += [["cell_in_one_line", cell.source[0][0] + 1] for cell in book.cells if _left_out(cell)]
    if not book.whole:
        found["problems"].append(["notebook_too_long", 0])
    return found


def parsed(data: bytes) -> Notebook:
    """Cells of a notebook with the lines they stand on; a broken file gives what can be read of it."""
    book = Notebook()
    keys = ["", "", "", ""]  # the key in force at each depth
    depth = line = at = 0
    for count, token in enumerate(_TOKEN.finditer(data)):
        if count >= MOST_TOKENS:
            book.whole = False
            break
        line += data.count(b"\n", at, token.start())
        at = token.start()
        sign = data[at : at + 1]
        if sign in _OPEN:
            depth += 1
            if depth == 3 and keys[1] == "cells" and sign == b"{":
                book.cells.append(Cell(len(book.cells) + 1))
            if depth < len(keys):
                keys[depth] = ""
        elif sign in _SHUT:
            depth -= 1
        elif token[2]:
            if 0 < depth < len(keys):
                keys[depth] = token[1][:40].decode("latin-1")
        else:
            _value(book, keys, depth, line, token[0])
    return book


def _value(book: Notebook, keys: list[str], depth: int, line: int, raw: bytes) -> None:
    """Take a string that stands as a value, if it is one of those that count."""
    if (
        depth == 3
        and keys[1] == "metadata"
        and (keys[2], keys[3]) in (("language_info", "name"), ("kernelspec", "language"))
    ):
        book.language = book.language or _decoded(raw)[:80].lower().removeprefix("i")
    elif keys[1] == "cells" and depth in (3, 4) and book.cells:
        if depth == 3 and keys[3] == "cell_type":
            book.cells[-1].kind = _decoded(raw)
        elif keys[3] == "source":
            book.cells[-1].source.append((line, _decoded(raw)))


def _decoded(raw: bytes) -> str:
    try:
        return str(json.loads(raw.decode("utf-8", "replace"), strict=False))
    except (ValueError, RecursionError):
        return ""


def _left_out(cell: Cell) -> bool:
    return cell.kind == "code" and cell.in_one_line()


def _module_lines(book: Notebook, count: int) -> tuple[list[bytes], dict[int, int]]:
    """The module line by line, and line → number of its cell."""
    lines, cell_of = [b""] * count, {}
    for cell in book.cells:
        if cell.kind == "code" and not cell.in_one_line():
            for (line, _), text in zip(cell.source, plain_lines([text for _, text in cell.source]), strict=True):
                lines[line] = _bytes(text)
                cell_of[line] = cell.number
    return lines, cell_of


def _bytes(text: str) -> bytes:
    return text.rstrip("\r\n").replace("\r", " ").replace("\0", " ").encode("utf-8", "replace")


def _place(found: Facts, data: bytes, lines: list[bytes], cell_of: dict[int, int]) -> None:
    """Move the rows from the module to the file in place: lines stay, offsets become those of the lines in the file."""
    inner = [0, *accumulate(len(line) + 1 for line in lines)]
    outer = [0, *(match.end() for match in re.finditer(rb"\n", data)), len(data) + 1]

    def place(offset: int) -> int:
        line = min(bisect_right(inner, offset), len(lines)) - 1
        return min(outer[line] + offset - inner[line], outer[line + 1] - 1)

    for row in found["syms"]:
        last = min(bisect_right(inner, max(row[schema.STOP] - 1, 0)), len(lines)) - 1
        row[schema.START], row[schema.FULL] = place(row[schema.START]), place(row[schema.FULL])
        row[schema.STOP] = outer[last + 1] - 1
        row[schema.DOC] = f"[cell {cell_of.get(row[schema.LINE] - 1, 0)}] {row[schema.DOC]}".rstrip()


def as_code(data: bytes) -> bytes:
    """The file with its code cells laid out as Python, everything else blank: same length, same lines. ``data`` itself where there
    are no cells.
    """
    book = parsed(data)
    if not book.cells:
        return data
    shown = {
        line: text
        for cell in book.cells
        if cell.kind == "code" and not cell.in_one_line()
        for line, text in cell.source
    }
    rows = data.split(b"\n")
    return b"\n".join(_fitting(_bytes(shown.get(at, "")), len(row)) for at, row in enumerate(rows))


def _fitting(text: bytes, length: int) -> bytes:
    return text[:length].ljust(length)


def cell_text(data: bytes) -> bytes:
    """The sources of all cells, prose too, one after the other: the words a notebook is found by."""
    texts = ("".join(text for _, text in cell.source) for cell in parsed(data).cells)
    return "\n\n".join(texts).encode("utf-8", "replace")
