"""The frozen shapes every widget draws: cells with a role, rows with an identity, and the sources that hold them.

Who calls: ``app/tui`` builds them from engine records, ``fit.py`` lays them out, the panes draw them.
What may not come in: the engine, the toolkit, colours, widths of a screen. All text arrives sanitised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

ROLES = "text muted rule key attn reason code standing weakened fallen contested stale unverified".split()
"""Roles of text. ``bg panel cur hot`` are grounds that text stands on (see ``ink.py``)."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A piece of one row.

    Attributes:
        text: what is shown, free of control characters.
        role: one of ``ROLES``.
        bold: weight, for names and marks.
        give: how it shrinks when the row is too long: "" not at all, ``path`` drops leading folders and then all of it,
            ``head`` loses its beginning, ``tail`` its end, ``drop`` goes as a whole.
    """

    text: str
    role: str = "text"
    bold: bool = False
    give: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a pane, or one column's part of it.

    Attributes:
        key: identity the cursor holds on to; "" for a row the cursor passes over.
        cells: from the left, after the two cells of the gutter.
        right: from the right edge.
        mark: the gutter's mark, one cell (``■`` for the node in focus).
        ground: "" or ``panel`` for a band across the pane.
        fill: what stands between ``cells`` and ``right``: "" for space, ``─`` for a rule.
        words: the row in words, for the foot of the pane: one or two sentences.
        copy: what ``y`` copies; "" copies the visible text.
        width: cells it takes in a line that is drawn without rules (a canvas: boxes, and lines between them); 0 for a row
            of a pane or a column of one. Such a row without a key has no gutter.
    """

    key: str
    cells: tuple[Cell, ...]
    right: tuple[Cell, ...] = ()
    mark: str = " "
    ground: str = ""
    fill: str = ""
    words: tuple[str, ...] = ()
    copy: str = ""
    width: int = 0

    @property
    def text(self) -> str:
        """Visible text without layout: cells, then the right part."""
        return "".join(c.text for c in self.cells) + "".join(f"  {c.text}" for c in self.right if c.text)


Line = tuple[Row, ...]
"""A line of a pane: one row, or the rows of its columns from left to right (``BLANK`` where a column has none)."""

BLANK = Row("", ())
_QUIET = frozenset({"text", "muted", "rule", "code", "reason", "standing"})


def quiet(cell: Cell) -> Cell:
    """A cell in the style of its neighbours, unless it says that something is not as it should be.

    For crowded screens: every change of style costs some forty bytes on the line to the terminal.
    """
    return replace(cell, role="text", bold=False) if cell.role in _QUIET else cell


def quiet_row(row: Row) -> Row:
    """A row of quiet cells."""
    return replace(row, cells=tuple(map(quiet, row.cells)), right=tuple(map(quiet, row.right)))


def gone(row: Row) -> Row:
    """The row as it stays under the cursor after its thing vanished."""
    return replace(
        row, right=(Cell("gone", "attn", True),), words=("gone: it is no longer there; move on and the row leaves",)
    )


class Source(Protocol):
    """What a pane draws from; lines are asked for when they come into view."""

    def __len__(self) -> int:
        """Number of lines."""
        ...

    def line(self, index: int) -> Line:
        """The line at ``index``, 0 ≤ index < len."""
        ...

    def find(self, key: str) -> tuple[int, int] | None:
        """(line, column) of the row with that key, ``None`` when it is not there."""
        ...


class Lines:
    """A source over lines already built (tens to thousands)."""

    __slots__ = ("_at", "_lines")

    def __init__(self, lines: Iterable[Line | Row] = ()) -> None:
        self._lines: tuple[Line, ...] = tuple((line,) if isinstance(line, Row) else line for line in lines)
        self._at = {row.key: (i, c) for i, line in enumerate(self._lines) for c, row in enumerate(line) if row.key}

    def __len__(self) -> int:
        return len(self._lines)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lines) and self._lines == other._lines

    def __hash__(self) -> int:
        return hash(self._lines)

    def line(self, index: int) -> Line:
        return self._lines[index]

    def find(self, key: str) -> tuple[int, int] | None:
        return self._at.get(key)

    def all(self) -> Sequence[Line]:
        """Every line, for plain text and for comparing two sources."""
        return self._lines

    def keeping(self, row: Row, index: int, column: int) -> Lines:
        """The same lines with ``row`` marked as gone where it stood, for a cursor that has not left it yet."""
        at = min(index, len(self._lines))
        if column == 0 or at >= len(self._lines):
            return Lines((*self._lines[:at], (gone(row),), *self._lines[at:]))
        line = list(self._lines[at])
        if column < len(line) and not line[column].key:
            line[column] = gone(row)
            return Lines((*self._lines[:at], tuple(line), *self._lines[at + 1 :]))
        return Lines((*self._lines[:at], (*([BLANK] * column), gone(row)), *self._lines[at:]))


@dataclass(frozen=True, slots=True)
class Title:
    """The title line of a pane: ``» 1 Graph  focus ───────── certain + hierarchy (t)``."""

    digit: str
    name: str
    note: str = ""
    right: str = ""
