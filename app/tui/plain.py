"""Every pane as plain text, from the same rows that the screen draws.

Who calls: ``app.py`` where there is no terminal to draw on, ``--plain``, tests.
What may not come in: the toolkit, escape sequences.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from mog.app.tui import panes
from mog.app.tui.panes.base import Content, Prompt
from mog.app.tui.rows import Sheet, Thing, teach
from mog.engine.errors import IndexMissing, MogError, UsageError
from mog.widgets.fit import plain, title_row
from mog.widgets.view import Row, Title

if TYPE_CHECKING:
    from mog.app.tui.port import Agents, Desk

PIPED = "mog.app.web.driver:PipeDriver"
"""The driver of a child whose screen is a page in a browser."""

REPORTED = ("health", "map", "graph", "drift")
"""Panes of the report that stands in for the workbench where it cannot be drawn."""


def no_screen(environ: Mapping[str, str]) -> str:
    """Why the workbench cannot be drawn here, "" when it can. Asked before the toolkit is imported."""
    if environ.get("TEXTUAL_DRIVER") == PIPED:
        return ""
    # the toolkit draws on stderr, so that one counts as well
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or not stream.isatty():
            return f"{name} is not a terminal"
    if environ.get("TERM", "") in ("dumb", "") and os.name != "nt":
        return f"TERM={environ.get('TERM', '')} cannot place a cursor"
    return ""


class Still:
    """A host without a screen: questions are answered at once, on this thread; nothing is shown or asked of a person."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.agents: Agents | None = None
        self._contents: dict[str, Content] = {}
        self.missing: list[str] = []
        self.thing: Thing | None = None
        self.row: Row | None = None

    def start(
        self,
        job: str,
        call: Callable[[], Any],
        then: Callable[[Any], None],
        failed: Callable[[BaseException], bool] | None = None,
    ) -> None:
        """Answer a question.

        Raises:
            MogError: from the workspace; a missing index is kept for ``missing``.
        """
        try:
            answer = call()
        except IndexMissing:
            self.missing.append(job)
        except MogError as error:
            if failed is None or not failed(error):
                raise
        else:
            then(answer)

    def busy(self, job: str) -> bool:
        return False

    def content(self, name: str) -> Any:
        """The content of another pane."""
        if name not in self._contents:
            self._contents[name] = panes.make(name, self)
        return self._contents[name]

    def draw(self, *names: str, cursor: str | None = None, flash: bool = False) -> None: ...
    def draw_top(self) -> None: ...
    def draw_foot(self) -> None: ...
    def copy(self, text: str, what: str) -> None: ...
    def say(self, text: str) -> None: ...
    def prompt(self, prompt: Prompt) -> None: ...
    def show(self, name: str, *, centre: bool = False) -> None: ...
    def tell(self, name: str, call: Callable[[], None]) -> None:
        call()

    def focus_on(self, target: str) -> None: ...
    def aside(self, step: int, section: str, why_not: str) -> None: ...
    def ask_index(self) -> None: ...


def report(workspace: Desk, pane: str | None, width: int) -> str:
    """The plain twin of one pane, or of those that stand in for the workbench.

    Args:
        pane: name of a pane or its digit; ``None`` for the report.
        width: cells a line may take.

    Raises:
        UsageError: there is no pane of that name.
        MogError: from the workspace.
    """
    names = REPORTED if pane is None else (_pane_name(pane),)
    host = Still(workspace)
    return "\n\n".join(_section(host, name, width) for name in names) + "\n"


def _pane_name(pane: str) -> str:
    for name in panes.TABS:
        if pane in (name, panes.REGISTRY[name].digit):
            return name
    raise UsageError(f"no pane {pane!r}", way_out=f"panes are {', '.join(panes.TABS)}")


def _section(host: Still, name: str, width: int) -> str:
    sheet, entry = _sheet(host, name, width), panes.REGISTRY[name]
    title = title_row(Title(entry.digit, entry.title, sheet.title_note, sheet.title_right), False)
    lines = [plain((title,), width), *(plain(sheet.lines.line(i), width) for i in range(len(sheet.lines)))]
    return "\n".join(lines)


def _sheet(host: Still, name: str, width: int) -> Sheet:
    # the graph has nothing in focus until the map says what is busiest
    for asked in ("map", "graph") if name == "graph" else (name,):
        host.content(asked).ask()
        if asked in host.missing:
            return Sheet(teach("There is no index yet.", "mog index builds one.", width=width - 4), title_right="?")
    sheet: Sheet = host.content(name).sheet(width, 0)
    return sheet
