"""A source of as many rows as one likes, made when drawn, and an app that shows one pane of it."""

from __future__ import annotations

import os
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType

from mog.app.tui.workbench import STYLES
from mog.styles import themes
from mog.widgets.pane import Pane
from mog.widgets.view import Cell, Line, Row, Source, Title


class LazyRows:
    """``count`` rows; ``asked`` counts those that were made."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.asked = 0

    def __len__(self) -> int:
        return self.count

    def line(self, index: int) -> Line:
        self.asked += 1
        cells = (Cell(f"{index:>9,} ", "muted"), Cell("assert ", "text", True), Cell(f"event of row {index}"))
        return (Row(f"row:{index}", cells, (Cell("12:44:10", "muted"),), words=(f"row {index}", "")),)

    def find(self, key: str) -> tuple[int, int] | None:
        index = int(key.partition(":")[2])
        return (index, 0) if index < self.count else None


class RowsApp(App[None], inherit_bindings=False):
    """One pane."""

    CSS_PATH: ClassVar = [STYLES / "home.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "step(1)"),
        Binding("k", "step(-1)"),
        Binding("pagedown", "step(20)"),
        Binding("G", "end(True)"),
        Binding("g", "end(False)"),
        Binding("q", "quit"),
    ]

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.rows = source
        for name in themes.NAMES:
            self.register_theme(themes.theme(name))
        self.theme = themes.choose(os.environ)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return themes.variables("dark")

    def compose(self) -> ComposeResult:
        pane = Pane(Title("7", "Ledger"), id="rows", words_from=9)
        yield pane

    def on_mount(self) -> None:
        self.query_one(Pane).show(self.rows)

    def action_step(self, step: int) -> None:
        self.query_one(Pane).move(step)

    def action_end(self, last: bool) -> None:
        self.query_one(Pane).move_end(last)
