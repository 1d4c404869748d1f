"""The approvals view: one request in full and four choices; letters only move the choice, enter commits.

Who calls: ``A`` on the home screen. ``styles/approval.tcss`` is its sheet. What may not come in: what a request says and how it is
answered (``panes/approvals.py``).

Nothing is allowed by accident: the first choice is Later, and keys are dead for a moment whenever another request is shown.
"""

from __future__ import annotations

import time
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Input

from mog.app.tui import top
from mog.app.tui.approval_rows import ALLOW, CHOICES, LATER, REFUSE, WHY, choice_row
from mog.app.tui.panes.approvals import Approvals
from mog.widgets.bars import Bar
from mog.widgets.entry import Entry
from mog.widgets.pane import Pane
from mog.widgets.view import Cell, Row, Title

DEAD = 0.4  # seconds


class Approval(Screen[None], inherit_bindings=False):
    """Shows what waits. Its result is nothing: answers are given through the content."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h,shift+tab", "turn(-1)", "choice before", show=False),
        Binding("right,l,tab", "turn(1)", "next choice", show=False),
        Binding("a", f"choose({ALLOW})", "allow once", show=False),
        Binding("x", f"choose({REFUSE})", "refuse", show=False),
        Binding("w", f"choose({WHY})", "refuse and say why", show=False),
        Binding("i", "whole", "all of it", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("pagedown,ctrl+d", "move(8)", "page down", show=False),
        Binding("pageup,ctrl+u", "move(-8)", "page up", show=False),
        Binding("n", "next(1)", "next request", show=False),
        Binding("N", "next(-1)", "request before", show=False),
        Binding("enter", "commit", "do it", show=False),
        Binding("escape", "leave", "later", show=False),
        Binding("ctrl+c", "leave", "later", show=False, priority=True),
    ]
    AUTO_FOCUS = ""

    def __init__(self, content: Approvals) -> None:
        super().__init__()
        self._content = content
        self._chosen = LATER
        self._shown = ""
        self._alive_at = float("inf")

    def compose(self) -> ComposeResult:
        pane = Pane(Title("", "Approval"), id="approval", words_from=0)
        pane.can_focus = False
        pane.active = True
        yield pane
        yield Bar(id="approval-choices", ground="bg")
        with Horizontal(classes="entry-line"):
            yield Bar(id="approval-label")
            yield Entry(id="approval-entry")
        yield Bar(id="approval-foot")

    def on_mount(self) -> None:
        self._content.changed = self._draw
        self._content.at = ""
        self.query_one("#approval-label", Bar).show(Row("", (Cell("why", "key", True),)))
        self.query_one("#approval-foot", Bar).show(*top.foot_rows("help", self._content.foot))
        self._next(0)

    def on_unmount(self) -> None:
        self._content.changed = lambda: None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys that were meant for something else find nobody home for a moment."""
        return time.monotonic() >= self._alive_at

    # -- drawing -------------------------------------------------------------------------------------------------------

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        if not self.is_mounted:
            return
        pane = self.query_one("#approval", Pane)
        width = self.app.size.width
        sheet = self._content.sheet(width, max(1, pane.size.height))
        if self._content.at != self._shown:
            self._begin_anew()
        pane.show(sheet.lines, Title("", "Approval", sheet.title_note, sheet.title_right))
        self.query_one("#approval-choices", Bar).show(choice_row(self._chosen))

    def _begin_anew(self) -> None:
        """Another request is shown: the choice is Later, and for a moment no key acts."""
        self._shown, self._chosen = self._content.at, LATER
        self._alive_at = time.monotonic() + DEAD

    def _next(self, step: int) -> None:
        self._content.look_at(step)
        self._draw()

    # -- keys ----------------------------------------------------------------------------------------------------------

    def action_turn(self, step: int) -> None:
        self.action_choose((self._chosen + step) % len(CHOICES))

    def action_choose(self, choice: int) -> None:
        self._chosen = choice
        self._draw()

    def action_whole(self) -> None:
        self._content.whole = not self._content.whole
        self._draw()

    def action_move(self, step: int) -> None:
        self.query_one("#approval", Pane).move(step)

    def action_next(self, step: int) -> None:
        self._next(step)

    def action_leave(self) -> None:
        if self.has_class("-saying"):
            self._say_why(False)
        else:
            self.dismiss(None)

    def action_commit(self) -> None:
        """Do what is chosen; a request that waits no longer is only left."""
        if self._content.request is None or self._chosen == LATER:
            self.dismiss(None)
        elif self._chosen == WHY:
            self._say_why(True)
        else:
            self._answer(self._chosen == ALLOW)

    def _say_why(self, on: bool) -> None:
        self.set_class(on, "-saying")
        entry = self.query_one("#approval-entry", Entry)
        entry.value = ""
        self.set_focus(entry if on else None)

    @on(Entry.Left)
    def _left(self, event: Entry.Left) -> None:
        event.stop()
        self._say_why(False)

    @on(Input.Submitted)
    def _said(self, event: Input.Submitted) -> None:
        event.stop()
        why = event.value.strip()
        self._say_why(False)
        self._answer(False, why)

    def _answer(self, allowed: bool, why: str = "") -> None:
        self._alive_at = float("inf")  # until the next request, or the home screen, is there
        self._content.answer(self._shown, allowed, why, self._answered)

    def _answered(self) -> None:
        if self._content.requests:
            self._next(0)
        elif self.is_mounted:
            self.dismiss(None)
