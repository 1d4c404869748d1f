"""The tour of a first start: five lines over a live home, each ends when its key is pressed; esc ends it for good.

Who calls: the home screen. What may not come in: the toolkit, pictures that are not the person's own repository.
"""

from __future__ import annotations

from dataclasses import dataclass

from mog.app.tui.keymap import Keymap
from mog.widgets.view import Cell, Row

_LINES = (
    ("act('why')", "The top line is the whole story. On any row {key} says why it stands"),
    ("pane('traffic')", "{key}: what your agent asked and was told"),
    ("pane('drift')", "{key}: what is no longer as it was"),
    ("act('break_it')", "{key} on a belief: what falls if it is false; nothing is written"),
    ("act('drill')", "{key}: a drill, to know before it breaks"),
    ("search", "{key} finds as you type, esc comes back"),
    ("help", "{key}: every key, and why one cannot act here"),
)
"""Action whose key ends a line, and the line; those whose pane there is not are left out, and five are shown."""
STEPS = 5
_GIVES_WAY = ("search", "pane('drift')")


@dataclass(frozen=True, slots=True)
class Tour:
    """The lines still to come, each with its action.

    Attributes:
        lines: (action, line) that are left, the first is shown. total: of how many.
    """

    lines: tuple[tuple[str, str], ...]
    total: int

    def after(self, action: str) -> Tour | None:
        """The tour after an action was done: the next line when it was the one asked for, ``None`` after the last."""
        if not self.lines or self.lines[0][0] != action:
            return self
        return Tour(self.lines[1:], self.total) if self.lines[1:] else None

    def rows(self, keymap: Keymap) -> tuple[Row, ...]:
        """The line that is shown, from wide to narrow."""
        action, line = self.lines[0]
        key = next(key.shown.split()[0] for key in keymap.table if key.action == action)
        at = self.total - len(self.lines) + 1
        head = (Cell(f"{at}/{self.total} ", "key", True),)
        leave = (Cell(keymap.shown("back"), "key", True), Cell(" never again", "muted"))
        words = line.format(key=key)
        wide = Row("", (*head, Cell(f"{words}. Press ", "text"), Cell(key, "key", True)), leave)
        return wide, Row("", (*head, Cell(words, "text", False, "tail")), leave)


def begin(actions: frozenset[str]) -> Tour:
    """The tour for a workbench with these actions."""
    there = [line for line in _LINES if line[0] in actions]
    for action in _GIVES_WAY:
        if len(there) > STEPS:
            there = [line for line in there if line[0] != action]
    return Tour(tuple(there[:STEPS]), min(STEPS, len(there)))
