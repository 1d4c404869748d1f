"""Where the panes stand: three columns, two, or one pane at a time, as the width allows.

Who calls: the home screen tells it the layout; the toolkit asks for places.
What may not come in: what a pane shows. ``plan`` is a pure function, so every size can be tested without a terminal.

| cells wide | layout |
|---|---|
| ≥ 120 | map, centre, and a stack of the others |
| ≥ 80 | centre and a stack with the map in it |
| less | one pane, the others behind tabs |
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from textual.geometry import NULL_OFFSET, NULL_SPACING, Region, Size
from textual.layout import ArrangeResult, Layout, WidgetPlacement
from textual.widget import Widget

from mog.widgets.fit import share

THREE, TWO = 120, 80
LEAST = (50, 12)
Box = tuple[int, int, int, int]


def mode_of(width: int, height: int) -> str:
    """``three``, ``two``, ``tabs``, or ``tiny`` below the smallest size."""
    if width < LEAST[0] or height < LEAST[1]:
        return "tiny"
    return "three" if width >= THREE else "two" if width >= TWO else "tabs"


@dataclass(frozen=True, slots=True)
class Wish:
    """What the screen wants shown.

    Attributes:
        centre: id of the widget in the centre.
        alone: id of the one pane to show, "" for as many as fit.
        stack: ids of the right column, first ones on top, with the lines each would fill.
        left: id of the left column, "" for none.
        left_wants: lines the left pane would fill.
    """

    centre: str
    alone: str = ""
    stack: Mapping[str, int] = field(default_factory=dict)
    left: str = ""
    left_wants: int = 0


def plan(width: int, height: int, mode: str, wish: Wish) -> dict[str, Box]:
    """Places (x, y, width, height) by widget id; ``rule-1`` and ``rule-2`` are the lines between columns."""
    if wish.alone or mode == "tabs":
        return {wish.alone or wish.centre: (0, 0, width, height)}
    if mode == "three":
        left, right = (36, 32) if width < 180 else (42, 40)
        boxes = {wish.left: (0, 0, left, height), "rule-1": (left, 0, 1, height)} if wish.left else {}
        begin = left + 1 if wish.left else 0
        centre = width - begin - right - 1
        boxes |= {wish.centre: (begin, 0, centre, height), "rule-2": (begin + centre, 0, 1, height)}
        return boxes | _stack(begin + centre + 1, right, height, dict(wish.stack))
    right = 32 if width < 100 else 36
    centre = width - right - 1
    boxes = {wish.centre: (0, 0, centre, height), "rule-2": (centre, 0, 1, height)}
    left_too = {wish.left: wish.left_wants} if wish.left else {}
    return boxes | _stack(centre + 1, right, height, {**left_too, **wish.stack})


def _stack(x: int, width: int, height: int, wants: dict[str, int]) -> dict[str, Box]:
    # a blank line closes each section; the last one takes what is left
    heights = share([want + 1 for want in wants.values()], height, least=4)
    if heights:
        heights[-1] += max(0, height - sum(heights))
    boxes, y = {}, 0
    for name, tall in zip(wants, heights, strict=True):
        tall = min(tall, height - y)
        if tall >= 2:
            boxes[name] = (x, y, width, tall)
            y += tall
    return boxes


class _ShelfLayout(Layout):
    name = "shelf"

    def arrange(self, parent: Widget, children: list[Widget], size: Size, greedy: bool = True) -> ArrangeResult:
        assert isinstance(parent, Shelf)
        boxes = parent.boxes(size.width, size.height)
        placed = [(child, boxes[child.id]) for child in children if child.id in boxes]
        return [WidgetPlacement(Region(*box), NULL_OFFSET, NULL_SPACING, child) for child, box in placed]


class Shelf(Widget):
    """The container of the panes; ``arrange_for`` says what stands where, until then it is empty."""

    def __init__(self, *children: Widget, id: str | None = None) -> None:
        super().__init__(*children, id=id)
        self._shelf_layout = _ShelfLayout()
        self.wish: Wish | None = None

    @property
    def layout(self) -> Layout:
        return self._shelf_layout

    @property
    def mode(self) -> str:
        """Layout for the size of the terminal."""
        return mode_of(*self.app.size)

    def boxes(self, width: int, height: int) -> dict[str, Box]:
        """Places of the widgets now."""
        return plan(width, height, self.mode, self.wish) if self.wish else {}

    def shown(self) -> tuple[str, ...]:
        """Ids of the panes that have a place, from left to right and from top to bottom."""
        boxes = self.boxes(*self.size)
        return tuple(sorted((b for b in boxes if not b.startswith("rule")), key=lambda b: boxes[b][:2]))

    def arrange_for(self, wish: Wish) -> bool:
        """Show something else; nothing moves when every place stays the same. Whether something moves."""
        before = self.boxes(*self.size)
        self.wish = wish
        moves = self.boxes(*self.size) != before
        if moves:
            # a child that asks for layout is what makes the toolkit forget the places it remembers
            self.children[0].refresh(layout=True)
        return moves
