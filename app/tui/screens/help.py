"""Keys of the pane in use, made from the bindings; type to filter, enter runs one.

Who calls: ``?``. ``styles/help.tcss`` is its sheet. What may not come in: a second list of keys.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from mog.app.tui import top
from mog.app.tui.keys import KEYS, NOT_YET, Key
from mog.widgets.bars import Bar
from mog.widgets.entry import Entry, Finder
from mog.widgets.pane import Pane
from mog.widgets.view import BLANK, Cell, Line, Lines, Row, Title

_MARKS = (
    ("[F] [f] [c] [m]", "file, function, class, method; [k] const [d] field [t] test [s] other; <?> not bound"),
    ("── ══ ··", "certain, hierarchy (by a base class), maybe; heads point the way of the edge"),
    ("= ± → ¬ ░ ?", "fresh, drifted, moved, missing, gated, not known"),
    ("» > ■", "pane in use, cursor, node in focus"),
)


def key_lines(words: str = "") -> Lines:
    """The rows of the help that hold every word of ``words``: keys by group, keys that wait for something, marks."""
    wanted = words.lower().split()
    lines: list[Line | Row] = []
    for group in dict.fromkeys(key.group for key in KEYS):
        rows = [_row(key) for key in KEYS if key.group == group and _fits(f"{key.shown} {key.says} {group}", wanted)]
        if rows:
            lines += [*([BLANK] if lines else []), Row("", (Cell(group, "text", True),)), *rows]
    waiting = [_waits(key, *NOT_YET[key]) for key in NOT_YET if _fits(f"{key} {' '.join(NOT_YET[key])}", wanted)]
    if waiting:
        lines += [BLANK, Row("", (Cell("nothing to act on yet", "text", True),)), *waiting]
    marks = [
        Row("", (Cell(f"{m:<16}", "code"), Cell(t, "muted", False, "tail")))
        for m, t in _MARKS
        if _fits(f"{m} {t}", wanted)
    ]
    if marks:
        lines += [BLANK, Row("", (Cell("marks", "text", True),)), *marks]
    return Lines(lines or [Row("", (Cell("No key does that.", "muted"),))])


def _fits(text: str, wanted: list[str]) -> bool:
    return all(word in text.lower() for word in wanted)


def _row(key: Key) -> Row:
    cells = (Cell(f"{key.shown:<16}", "key", True), Cell(key.says, "text", False, "tail"))
    return Row(f"key:{key.action}", cells, words=(f"{key.shown}: {key.says}", "enter runs it"))


def _waits(key: str, says: str, why: str) -> Row:
    return Row("", (Cell(f"{key:<16}", "muted"), Cell(f"{says}: {why}", "muted", False, "tail")))


class Help(Screen[str | None], inherit_bindings=False):
    """Shows the keys; its result is the action to run, or ``None``."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
        Binding("ctrl+c", "leave", "back", show=False, priority=True),
    ]
    AUTO_FOCUS = "#keys-entry"

    def __init__(self, pane: str) -> None:
        super().__init__()
        self._pane = pane

    def compose(self) -> ComposeResult:
        yield Finder(Title("?", f"Keys in {self._pane}", "type to filter, enter runs it"), "?", id="keys")
        yield Bar(id="help-foot")

    def on_mount(self) -> None:
        self.query_one("#help-foot", Bar).show(*top.foot_rows("help"))
        self.query_one(Finder).pane.show(key_lines())

    def action_leave(self) -> None:
        self.dismiss(None)

    @on(Finder.Typed)
    def _typed(self, event: Finder.Typed) -> None:
        event.finder.pane.show(key_lines(event.text), cursor="")

    @on(Entry.Left)
    def _left(self, event: Entry.Left) -> None:
        self.dismiss(None)

    @on(Finder.Entered)
    def _entered(self, event: Finder.Entered) -> None:
        self._run(event.finder.pane)

    @on(Pane.Opened)
    def _opened(self, event: Pane.Opened) -> None:
        self._run(event.pane)

    def _run(self, pane: Pane) -> None:
        if pane.row:
            self.dismiss(pane.row.key.removeprefix("key:"))
