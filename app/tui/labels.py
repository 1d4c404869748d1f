"""Jump mode: letters beside every row on the screen; typing them goes there, a pane's own key goes to the pane.

Who calls: the key ``f`` and the home screen's key handler. What may not come in: what a row means. Letters stand in the gutter, so
they cover marks and cursor for a moment and never the chip that says what a row is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mog.app.tui.asks import Asks
from mog.app.tui.panes import TABS
from mog.widgets.bars import Bar
from mog.widgets.pane import Pane
from mog.widgets.shelf import Shelf
from mog.widgets.view import Cell, Row

LETTERS = "fjdkslaghrueiwoqptyvnmbcxz"
"""Those under resting fingers come first."""


def codes(count: int) -> list[str]:
    """``count`` words of one or two letters, none of which begins another; at most 676, the shortest first."""
    count = min(count, len(LETTERS) ** 2)
    doubled = 0
    while len(LETTERS) - doubled + doubled * len(LETTERS) < count:
        doubled += 1
    single = LETTERS[: len(LETTERS) - doubled]
    pairs = (first + second for first in LETTERS[len(LETTERS) - doubled :] for second in LETTERS)
    return [*single, *pairs][:count]


class Labels(Asks):
    """Jump mode of the home screen.

    Attributes:
        reached: letters → (pane, row key) of what can be reached now; empty when the mode is off. typed: letters so far.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reached: dict[str, tuple[str, str]] = {}
        self.typed = ""

    def action_labels(self) -> None:
        places = [(name, key) for name in self._in_sight() for key in self.pane(name).in_view()]
        if not places:
            self.say("f: no row is on the screen; a digit goes to its pane")
            return
        self.reached, self.typed = dict(zip(codes(len(places)), places, strict=False)), ""
        self._show_labels()
        words = (
            Cell("letters", "key", True),
            Cell(" beside a row go there, a pane's own key to the pane", "text", False, "tail"),
        )
        leave = (Cell(self.keymap.shown("back"), "key", True), Cell(" leave", "muted"))
        self.query_one("#foot", Bar).show(Row("", words, leave))

    def _in_sight(self) -> tuple[str, ...]:
        """Panes with a place; the one in use comes first and gets the shortest letters."""
        shown = (name for name in self.query_one(Shelf).shown() if self.has_pane(name))
        return tuple(sorted(shown, key=lambda name: name != self.current))

    def _show_labels(self) -> None:
        shown: dict[str, dict[str, str]] = {}
        for code, (name, key) in self.reached.items():
            if code.startswith(self.typed):
                shown.setdefault(name, {})[key] = code[len(self.typed) :]
        for pane in self.query(Pane):
            pane.label(shown.get((pane.id or "").removesuffix("-rows"), {}))

    def leave_labels(self) -> None:
        """The letters go; what they covered is there again."""
        if self.reached:
            self.reached, self.typed = {}, ""
            self._show_labels()
            self.draw_foot()

    def label_typed(self, key: str, character: str | None) -> None:
        """One key of the mode: a letter narrows or goes there, the key of a pane goes to it, anything else leaves."""
        code = self.typed + (character or "")
        if code in self.reached:
            name, row = self.reached[code]
            self.leave_labels()
            self.set_current(name)
            self.pane(name).go(row)
        elif any(one.startswith(code) for one in self.reached) and character:
            self.typed = code
            self._show_labels()
        else:
            self.leave_labels()
            for name in self._panes_of(key):
                self.set_current(name)

    def _panes_of(self, key: str) -> Iterator[str]:
        for one in self.keymap.table:
            if one.action.startswith("pane(") and key in one.keys.split(","):
                yield from (name for name in TABS if one.action == f"pane('{name}')")
