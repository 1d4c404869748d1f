"""The lines of a blast radius as a source: sections of rows that are made when they come into view, 50,000 as well as 5.

Who calls: ``blast_rows.py`` fills it in, the pane draws from it. What may not come in: what a row says, the toolkit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from mog.widgets.view import BLANK, Line, Row


@dataclass(frozen=True, slots=True)
class Section:
    """Rows of one kind under a heading.

    Attributes:
        name: what its keys begin with. ids: of its rows, in order. head: the heading. row: makes the row at an index.
        place: index of an id.
        shown: rows that are shown; the rest is one line that says how many, opened with enter.
    """

    name: str
    ids: Sequence[str]
    head: Row
    row: Callable[[int], Row]
    shown: int
    place: Callable[[str], int | None]

    def __len__(self) -> int:
        return 1 + self.shown + (self.shown < len(self.ids))

    def line(self, index: int) -> Row:
        """Heading, row, or how many more there are."""
        if index == 0:
            return self.head
        if index <= self.shown:
            return self.row(index - 1)
        return more(self.name, len(self.ids) - self.shown)

    def find(self, id: str) -> int | None:
        """Index of the line of an id, ``None`` when it is not shown."""
        at = self.place(id)
        return None if at is None or at >= self.shown else at + 1


def more(name: str, count: int) -> Row:
    """The line that stands for rows that are not shown."""
    from mog.widgets.view import Cell

    words = (f"{count:,} more rows", "enter shows them all")
    return Row(f"more:{name}", (Cell(f"  +{count:,} hidden", "muted"),), words=words)


class FallSource:
    """Rows at the top, then sections; ``beside`` stands in a second column at the line of that number.

    A row of a section has the key ``<section>:<id>``.
    """

    def __init__(
        self, top: Sequence[Row], sections: Sequence[Section], beside: Mapping[int, Row] | None = None
    ) -> None:
        self._top, self._sections, self._beside = tuple(top), tuple(sections), beside
        self._tops = {row.key: at for at, row in enumerate(top) if row.key}
        self._starts: list[int] = []
        size = len(self._top)
        for section in self._sections:
            self._starts.append(size)
            size += len(section)
        self._size = max(size, max(beside, default=-1) + 1 if beside else 0)

    def __len__(self) -> int:
        return self._size

    def line(self, index: int) -> Line:
        row = self._row(index)
        return (row,) if self._beside is None else (row, self._beside.get(index, BLANK))

    def _row(self, index: int) -> Row:
        if index < len(self._top):
            return self._top[index]
        for start, section in zip(self._starts, self._sections, strict=True):
            if start <= index < start + len(section):
                return section.line(index - start)
        return BLANK

    def find(self, key: str) -> tuple[int, int] | None:
        if key in self._tops:
            return self._tops[key], 0
        name, _, id = key.partition(":")
        for start, section in zip(self._starts, self._sections, strict=True):
            if name == "more" and id == section.name and section.shown < len(section.ids):
                return start + len(section) - 1, 0
            if section.head.key == key:
                return start, 0
            if name == section.name and (at := section.find(id)) is not None:
                return start + at, 0
        return None

    def section_of(self, key: str) -> str:
        """Name of the section that a row, its heading or its last line belongs to."""
        name, _, rest = key.partition(":")
        return rest if name in ("more", "head") else name
