"""One line of text entry, and the finder: an entry over a pane whose rows follow what is typed.

Who calls: search, help and the prompts of ``app/tui``.
What may not come in: what is looked for. The finder reports text and choices; somebody else answers with rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.widgets import Input

from mog.widgets.bars import Bar
from mog.widgets.pane import Pane
from mog.widgets.view import Cell, Row, Title


class Entry(Input):
    """A bare line of text: letters type, everything else is reported.

    | key | does |
    |---|---|
    | enter | ``Input.Submitted`` |
    | esc | ``Entry.Left`` |
    | up, down, pgup, pgdn | ``Entry.Stepped`` by rows |
    | tab, shift+tab | ``Entry.Turned`` |
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
        Binding("up", "step(-1)", "up", show=False),
        Binding("down", "step(1)", "down", show=False),
        Binding("pageup", "step(-10)", "page up", show=False),
        Binding("pagedown", "step(10)", "page down", show=False),
        Binding("tab", "turn(1)", "next filter", show=False),
        Binding("shift+tab", "turn(-1)", "previous filter", show=False),
    ]
    ALLOW_SELECT = False

    @dataclass
    class Left(Message):
        entry: Entry

        @property
        def control(self) -> Entry:
            return self.entry

    @dataclass
    class Stepped(Message):
        entry: Entry
        step: int

        @property
        def control(self) -> Entry:
            return self.entry

    @dataclass
    class Turned(Message):
        entry: Entry
        step: int

        @property
        def control(self) -> Entry:
            return self.entry

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, compact=True, select_on_focus=False)
        self.cursor_blink = False

    def action_leave(self) -> None:
        self.post_message(self.Left(self))

    def action_step(self, step: int) -> None:
        self.post_message(self.Stepped(self, step))

    def action_turn(self, step: int) -> None:
        self.post_message(self.Turned(self, step))


class Finder(Vertical):
    """An entry over a pane. The pane's title says what is looked through and how much of it is shown."""

    @dataclass
    class Typed(Message):
        finder: Finder
        text: str

        @property
        def control(self) -> Finder:
            return self.finder

    @dataclass
    class Entered(Message):
        finder: Finder

        @property
        def control(self) -> Finder:
            return self.finder

    def __init__(self, title: Title, label: str, *, id: str) -> None:
        super().__init__(id=id)
        self._title = title
        self._label = label

    def on_mount(self) -> None:
        self.query_one(Bar).show(Row("", (Cell(self._label, "key", True),)))

    def compose(self) -> ComposeResult:
        pane = Pane(self._title, id=f"{self.id}-rows", words_from=9)
        pane.can_focus = False
        pane.active = True
        with Horizontal(classes="entry-line"):
            yield Bar(id=f"{self.id}-label")
            yield Entry(id=f"{self.id}-entry")
        yield pane

    @property
    def pane(self) -> Pane:
        """The rows."""
        return self.query_one(Pane)

    @property
    def entry(self) -> Entry:
        """The line being typed."""
        return self.query_one(Entry)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(self, event.value))

    @on(Entry.Stepped)
    def _stepped(self, event: Entry.Stepped) -> None:
        event.stop()
        self.pane.move(event.step)

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Entered(self))
