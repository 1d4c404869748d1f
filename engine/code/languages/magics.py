"""IPython's own lines in the code of a cell (``%magic``, ``!command``, ``name?``), made plain Python. Called by ``notebook.py`` only.

What may not come in: files, JSON, trees. Lines stay lines: a magic becomes a tuple
of its text (a string alone might be taken for documentation). Only the beginning of a statement counts, as in IPython: a line that
goes on with an open bracket, a string or a backslash is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: Cell magics after which the cell is Python all the same.
PYTHON_CELLS = frozenset("time timeit capture prun debug python python3 memit mprun lprun".split())
_TIMED = re.compile(r"(\s*)%(?:time|timeit|prun|memit)\s+(?!-)(?=\S)")
_ASSIGNED = re.compile(r"(\s*[A-Za-z_][\w, .\[\]]{0,200}=\s{0,20})([!%].*)", re.S)
_PIECE = re.compile(r"\"\"\"|'''|#|[()\[\]{}]|\\.|\"|'", re.S)


def plain_lines(lines: Sequence[str]) -> list[str]:
    """The lines of a cell as Python; all blank where its first line names another language (``%%bash``)."""
    first = next((at for at, line in enumerate(lines) if line.strip()), -1)
    if first >= 0 and lines[first].startswith("%%"):
        name = lines[first][2:].split()[:1]
        if not name or name[0] not in PYTHON_CELLS:
            return [""] * len(lines)
        lines = [*lines[:first], "", *lines[first + 1 :]]
    return list(_plain(lines))


def _plain(lines: Iterable[str]) -> Iterable[str]:
    quote, depth, goes_on = "", 0, False
    for line in lines:
        made = line if quote or depth > 0 or goes_on else _statement(line)
        quote, depth = _after(made, quote, depth)
        goes_on = made.rstrip("\r\n").endswith("\\")
        yield made


def _statement(line: str) -> str:
    """One line that begins a statement."""
    text = line.strip()
    if text[:1] in ("%", "!", "?") or (text.endswith("?") and "#" not in text and " " not in text):
        timed = _TIMED.match(line)
        return timed[1] + line[timed.end() :] if timed else f"{line[: len(line) - len(line.lstrip())]}({text!r},)"
    assigned = _ASSIGNED.match(line)
    return assigned[1] + repr(assigned[2].strip()) if assigned and "==" not in assigned[1] else line


def _after(line: str, quote: str, depth: int) -> tuple[str, int]:
    """The string (its quotes) and the depth of brackets that are open at the end of a line."""
    short = ""
    for piece in _PIECE.finditer(line):
        sign = piece[0]
        if quote or short:
            if sign == quote:
                quote = ""
            elif sign == short:
                short = ""
        elif len(sign) == 3:
            quote = sign
        elif sign in ("'", '"'):
            short = sign
        elif sign == "#":
            break
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth = max(0, depth - 1)
    return quote, depth
