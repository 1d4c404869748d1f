"""The command palette: type words of a command, a pane, a theme or a node; enter runs it, or goes there.

Who calls: ``ctrl+p``. What may not come in: what a command does, waiting for the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mog.app.tui.commands import Command, found, rows
from mog.app.tui.screens.chooser import Chooser
from mog.engine import model as m
from mog.widgets.entry import Finder
from mog.widgets.pane import Pane
from mog.widgets.view import Title

Look = Callable[[str, Callable[[m.SearchAnswer], None]], None]
"""Searches nodes on a thread: the words, and who takes the answer on the screen's."""


class Palette(Chooser):
    """Its result is ``run:<action>`` or ``node:<id>``, or ``None``.

    Args:
        commands: what can be run. look: asks the engine for nodes.
    """

    def __init__(self, commands: Sequence[Command], look: Look) -> None:
        super().__init__(Title("", "Commands", "type words of a command, a pane, a theme or a node"), ">")
        self._commands = commands
        self._look = look
        self._text = ""
        self._found: tuple[m.Hit, ...] = ()
        self._go_first = False

    def typed(self, text: str) -> None:
        self._text, self._found, self._go_first = text, (), False
        self._draw("")
        if len(words := text.strip()) > 1:
            self._look(words, self._got)

    def _draw(self, cursor: str) -> None:
        self.query_one(Finder).pane.show(rows(found(self._commands, self._text), self._found, self._text), cursor=cursor)

    def _got(self, answer: m.SearchAnswer) -> None:
        if self.is_attached and answer.query == self._text.strip():
            self._found = answer.hits
            pane = self.query_one(Finder).pane
            self._draw(pane.cursor)
            if self._go_first:
                self.choose(pane)

    def choose(self, pane: Pane) -> None:
        super().choose(pane)
        # typed faster than the engine looks: the first node is opened when it is here
        self._go_first = not pane.row and not self._go_first
