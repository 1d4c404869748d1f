"""One page of a layered graph as lines: boxes in columns, the links that can be drawn without ambiguity between them.

Who calls: ``app/tui`` with a layout, the room there is, and the box under the cursor; a pane draws the lines.
What may not come in: the toolkit, what a box means. Nothing scrolls: a page holds what fits, and what it does not hold is counted
by direction. Pages to the right overlap by one column, so every gap is whole on some page.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from mog.widgets.fit import width_of
from mog.widgets.lanes import Gap, Hop, Mark
from mog.widgets.layers import Box, Layout, Route
from mog.widgets.view import Cell, Line, Lines, Row, quiet

LEAST, MOST = 22, 44
TWO = 34
"""Cells from which a page has two columns, however narrow: one alone shows no link."""
GAP, GAP_MOST = 7, 13
CROWDED = 60
"""Boxes from which a page is drawn lean: one style but for marks, and no links but those of the box under the cursor. Every change of
style costs some forty bytes, every cell of a line three."""
_GUTTER = 2


@dataclass(frozen=True, slots=True)
class Frame:
    """The room for a page in cells and lines, and which page it is.

    Attributes:
        at: pages from the left, pages from above; below 0 for none yet.
        middle: column and row that one of the pages has in its middle, as far as the graph has so much around it.
    """

    width: int
    height: int
    at: tuple[int, int] = (0, 0)
    middle: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Page:
    """A page.

    Attributes:
        lines: exactly as many as the graph has rows here, at most the height of the frame.
        at, pages: (right, down): this page, and how many there are.
        columns: first and last column shown, from 0.
        left, right, above, below: boxes not shown, by where they are; above and below count the shown columns only.
        pairs: links drawn, by the keys of their left and right ends. links: how many the graph has, one for each pair of boxes.
    """

    lines: Lines
    at: tuple[int, int]
    pages: tuple[int, int]
    columns: tuple[int, int]
    left: int
    right: int
    above: int
    below: int
    pairs: tuple[tuple[str, str], ...]
    links: int

    @property
    def hidden(self) -> int:
        """Boxes that are not on this page."""
        return self.left + self.right + self.above + self.below


def fitting(layout: Layout, width: int) -> int:
    """How many columns a page of ``width`` cells has."""
    least = 2 if width >= TWO else 1
    return max(1, min(max((width + GAP) // (LEAST + GAP), least), layout.columns))


def pages_of(layout: Layout, frame: Frame) -> tuple[int, int]:
    """How many pages there are: to the right, and down."""
    columns, rows = _starts(layout, frame)
    return len(columns), len(rows)


def page_of(layout: Layout, frame: Frame, key: str) -> tuple[int, int]:
    """The page that shows a box with most around it; the page of the frame where it is shown already or not there at all."""
    number = layout.number(key)
    columns, rows = _starts(layout, frame)
    many, tall = fitting(layout, frame.width), max(1, frame.height)
    if number is None:
        return (_near(columns, frame.at[0]), _near(rows, frame.at[1]))
    return (
        _showing(columns, many, layout.layer[number], frame.at[0]),
        _showing(rows, tall, layout.row[number], frame.at[1]),
    )


def _starts(layout: Layout, frame: Frame) -> tuple[list[int], list[int]]:
    """First columns and first rows of the pages. Pages beside each other share a column, pages above each other nothing."""
    many, tall = fitting(layout, frame.width), max(1, frame.height)
    across = _steps(layout.columns, many, max(1, many - 1), frame.middle[0])
    return across, _steps(layout.rows, tall, tall, frame.middle[1])


def _steps(size: int, shown: int, step: int, middle: int) -> list[int]:
    if size <= shown:
        return [0]
    phase = (middle - shown // 2) % step
    return sorted({min(max(at, 0), size - shown) for at in range(phase - step, size, step)})


def _near(starts: Sequence[int], page: int) -> int:
    return min(max(page, 0), len(starts) - 1)


def _showing(starts: Sequence[int], shown: int, at: int, here: int) -> int:
    """The page that shows ``at``: the one that is shown now if it does, else that with it nearest to the middle."""
    if 0 <= here < len(starts) and starts[here] <= at < starts[here] + shown:
        return here
    return min(range(len(starts)), key=lambda page: (abs(2 * (at - starts[page]) - (shown - 1)), page))


def draw_page(
    layout: Layout, frame: Frame, selected: str = "", *, heads: Sequence[str] = (), faint: bool = True
) -> Page:
    """The page ``frame.at`` (or the nearest there is) of a layout.

    Args:
        selected: the box whose links are drawn strongly, as far as both ends are on the page.
        heads: what stands above each column of the layout, in one line that the height of the frame does not count.
        faint: draw other links too, where nothing stands in their way and the page is not crowded.
    """
    columns, rows = _starts(layout, frame)
    at = (_near(columns, frame.at[0]), _near(rows, frame.at[1]))
    drawing = _Drawing(layout, replace(frame, at=at), (columns[at[0]], rows[at[1]]), layout.number(selected))
    return drawing.page((len(columns), len(rows)), faint, heads)


class _Drawing:
    """One page in the making."""

    def __init__(self, layout: Layout, frame: Frame, start: tuple[int, int], chosen: int | None) -> None:
        self.layout, self.frame, self.chosen = layout, frame, chosen
        self.many = fitting(layout, frame.width)
        self.first, self.top = start
        self.tall = max(0, min(frame.height, layout.rows - self.top))
        self.gap = max(GAP, min(GAP_MOST, (frame.width - self.many * MOST) // max(1, self.many - 1)))
        self.room = min(MOST, (frame.width - self.gap * (self.many - 1)) // self.many)
        self.gaps = [Gap(self.gap) for _ in range(self.many - 1)]
        self.through: dict[tuple[int, int], Hop] = {}
        self.drawn: set[int] = set()
        self.pointers: dict[int, str] = {}
        self.lean = sum(not self._side(number) for number in range(len(layout.boxes))) > CROWDED

    def page(self, pages: tuple[int, int], faint: bool, heads: Sequence[str]) -> Page:
        """The finished page."""
        self._route(faint and not self.lean)
        self.pointers = self._pointers()
        layout, last = self.layout, self.first + self.many - 1
        drawn = [layout.routes[i] for i in sorted(self.drawn)]
        pairs = tuple((layout.boxes[route.left].key, layout.boxes[route.right].key) for route in drawn)
        beside = Counter(self._side(number) for number in range(len(layout.boxes)))
        lines = Lines([*self._heads(heads), *self._lines()])
        return Page(
            lines, self.frame.at, pages, (self.first, last), beside["left"], beside["right"], beside["above"], beside["below"],
            pairs, len(layout.routes),
        )  # fmt: skip

    def _side(self, number: int) -> str:
        column, row = self.layout.layer[number] - self.first, self.layout.row[number] - self.top
        if column < 0:
            return "left"
        if column >= self.many:
            return "right"
        return "above" if row < 0 else "below" if row >= self.tall else ""

    # -- links ---------------------------------------------------------------------------------------------------------

    def _touches(self, route: Route) -> bool:
        return self.chosen is not None and self.chosen in (route.left, route.right)

    def _route(self, faint: bool) -> None:
        here = [(i, route) for i, route in enumerate(self.layout.routes) if route.slots and self._whole(route)]
        strong = [(i, r) for i, r in here if r.link.path or self._touches(r)]
        rest = [(i, r) for i, r in here if faint and len(r.slots) == 2 and not (r.link.path or self._touches(r))]
        strong.sort(key=lambda item: (not item[1].link.path, len(item[1].slots), item[0]))
        for number, route in [*strong, *rest]:
            self._draw(number, route)

    def _whole(self, route: Route) -> bool:
        """Whether all of a link's way is on the page."""
        row, layer = self.layout.row, self.layout.layer
        inside = self.first <= layer[route.left] and layer[route.right] < self.first + self.many
        return inside and all(0 <= row[slot] - self.top < self.tall for slot in route.slots)

    def _draw(self, number: int, route: Route) -> None:
        hops = self._hops(route)
        start = self.layout.layer[route.left] - self.first
        if all(self.gaps[start + i].fits(hop) for i, hop in enumerate(hops)):
            for i, hop in enumerate(hops):
                self.gaps[start + i].add(hop)
                if i:
                    place = (start + i, hop.left)
                    self.through[place] = hop
            self.drawn.add(number)

    def _hops(self, route: Route) -> list[Hop]:
        strong = route.link.path or self._touches(route)
        rows = [self.layout.row[slot] - self.top for slot in route.slots]
        role = ("text" if self.lean else route.link.role) if strong else "rule"
        make = partial(Hop, bar=route.link.bar, role=role, strong=strong and not self.lean)
        last = len(rows) - 2
        into, out_of = not route.back or route.both, route.back or route.both
        return [
            make(a, b, head_left=out_of and i == 0, head_right=into and i == last)
            for i, (a, b) in enumerate(itertools.pairwise(rows))
        ]

    # -- lines ---------------------------------------------------------------------------------------------------------

    def _heads(self, heads: Sequence[str]) -> Iterable[Line]:
        """Column heads, above the boxes they belong to."""
        if heads:
            parts = []
            for column in range(self.first, self.first + self.many):
                text = heads[column] if column < len(heads) else ""
                parts.append(Row("", (Cell("  "), Cell(text, "muted", False, "tail")), width=self.room + self.gap))
            used = self.many * (self.room + self.gap)
            parts[-1] = replace(parts[-1], width=parts[-1].width + self.frame.width - used)
            yield tuple(parts)

    def _lines(self) -> Iterable[Line]:
        at = {
            (self.layout.layer[n] - self.first, self.layout.row[n] - self.top): n for n in range(len(self.layout.boxes))
        }
        marks = [gap.marks() for gap in self.gaps]
        used = self.many * self.room + (self.many - 1) * self.gap
        tail = (Row("", (), width=self.frame.width - used),) if self.frame.width > used else ()
        for row in range(self.tall):
            parts: list[Row] = []
            for column in range(self.many):
                parts.append(self._place(column, row, at.get((column, row))))
                if column < self.many - 1:
                    parts.append(self._between(marks[column].get(row, {})))
            yield (*parts, *tail)

    def _place(self, column: int, row: int, number: int | None) -> Row:
        """What stands in a column: a box with a line to its right edge where one leaves it, a line that passes, nothing."""
        if number is not None:
            return self._box(self.layout.boxes[number], number, self._leaving(column, row))
        hop = self.through.get((column, row))
        cells = (Cell(hop.bar * self.room, hop.role, hop.strong),) if hop else ()
        return Row("", cells, width=self.room)

    def _leaving(self, column: int, row: int) -> Hop | None:
        return self.gaps[column].leaves(row) if column < self.many - 1 else None

    def _box(self, box: Box, number: int, hop: Hop | None) -> Row:
        cells = tuple(map(quiet, box.cells)) if self.lean else box.cells
        room = self.room - _GUTTER - width_of(cells) - 1
        right = (Cell(hop.bar * room, hop.role, hop.strong),) if hop and room > 0 else ()
        mark = box.mark if box.mark != " " else self.pointers.get(number, " ")
        return Row(box.key, cells, right, mark=mark, words=box.words, copy=box.copy, width=self.room)

    def _pointers(self) -> dict[int, str]:
        """Marks of boxes that are linked with the one under the cursor by a link that is not drawn."""
        out = {}
        for i, route in enumerate(self.layout.routes):
            if i not in self.drawn and self._touches(route):
                tail, head = (route.right, route.left) if route.back else (route.left, route.right)
                out[head if tail == self.chosen else tail] = "•" if route.both else "→" if tail == self.chosen else "←"
        return out

    def _between(self, marks: dict[int, Mark]) -> Row:
        blank = Mark(" ", "rule", False)
        return Row("", tuple(_runs([marks.get(x, blank) for x in range(self.gap)])), width=self.gap)


def _runs(marks: Sequence[Mark]) -> Iterable[Cell]:
    """Cells of one look joined."""
    held: list[Cell] = []
    for mark in marks:
        if held and (held[-1].role, held[-1].bold) == (mark.role, mark.strong):
            held[-1] = replace(held[-1], text=held[-1].text + mark.glyph)
        else:
            held.append(Cell(mark.glyph, mark.role, mark.strong))
    return held
