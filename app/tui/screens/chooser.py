"""A screen that is typed into and left with one row: what the help and the command palette have in common.

Who calls: ``help.py`` and ``palette.py`` derive from it; ``styles/chooser.tcss`` is their sheet. What may not come in: what the
rows are.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen

from mog.app.tui import top
from mog.app.tui.keys import HELP_FOOT
from mog.widgets.bars import Bar
from mog.widgets.entry import Entry, Finder
from mog.widgets.pane import Pane
from mog.widgets.view import Title


class Chooser(Screen[str | None], inherit_bindings=False):
    """Its result is the key of the chosen row, or ``None``. A screen that becomes too small closes it (``passing``).

    Args:
        title: of its rows. sign: what stands before the line that is typed into.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
        Binding("ctrl+c", "leave", "back", show=False, priority=True),
    ]
    AUTO_FOCUS = "#chooser-entry"
    passing = True

    def __init__(self, title: Title, sign: str) -> None:
        super().__init__()
        self._heading, self._sign = title, sign

    def compose(self) -> ComposeResult:
        yield Finder(self._heading, self._sign, id="chooser")
        yield Bar(id="chooser-foot")

    def on_mount(self) -> None:
        self.query_one("#chooser-foot", Bar).show(*top.foot_rows("help", HELP_FOOT))
        self.typed("")

    def typed(self, text: str) -> None:
        """Show the rows for a text."""
        raise NotImplementedError

    def choose(self, pane: Pane) -> None:
        """Leave with the row under the cursor."""
        if pane.row:
            self.end(pane.row.key)

    def end(self, result: str | None) -> None:
        """Leave. A second esc may have been typed before the first was dealt with."""
        if self.is_current:
            self.dismiss(result)

    def action_leave(self) -> None:
        self.end(None)

    @on(Finder.Typed)
    def _typed(self, event: Finder.Typed) -> None:
        self.typed(event.text)

    @on(Entry.Left)
    def _left(self, event: Entry.Left) -> None:
        self.end(None)

    @on(Finder.Entered)
    def _entered(self, event: Finder.Entered) -> None:
        self.choose(event.finder.pane)

    @on(Pane.Opened)
    def _opened(self, event: Pane.Opened) -> None:
        self.choose(event.pane)
