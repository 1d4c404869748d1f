"""Pane: the map, files that most of the repository leans on.

Who calls: the registry of ``panes``. What may not come in: the toolkit.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from mog.app.tui import side_rows
from mog.app.tui.panes.base import Content
from mog.app.tui.rows import Sheet, Thing
from mog.engine import model as m
from mog.engine.ids import locator

MAPPED = 40


class Map(Content):
    """Attributes: answer: the map, ``None`` until it is here."""

    name, digit, title = "map", "M", "Map"
    foot = (("enter", "open"), ("p", "pin"), ("o", "editor"), ("m", "full"))
    wakes = frozenset({"index"})
    calm = True
    words_from = 9
    answer: m.MapAnswer | None = None

    def ask(self) -> None:
        self.host.start("map", partial(self.host.desk.map, limit=MAPPED), self.got)

    def got(self, answer: m.MapAnswer) -> None:
        self.answer = answer
        self.host.draw("map")
        self.host.content("graph").begin_at(answer)

    def sheet(self, width: int, lines: int) -> Sheet:
        return side_rows.map_sheet(self.answer, width)

    def opened(self, thing: Thing | None, key: str) -> None:
        if isinstance(thing, m.MapRow):
            self.host.focus_on(locator("file", thing.path))
        else:
            super().opened(thing, key)

    def file_at(self, thing: Thing | None) -> tuple[str, int]:
        return (thing.path, 0) if isinstance(thing, m.MapRow) else super().file_at(thing)

    def target_at(self, thing: Thing | None) -> str:
        return locator("file", thing.path) if isinstance(thing, m.MapRow) else super().target_at(thing)

    why_not: ClassVar[dict[str, str]] = {"redo": "the map follows the index by itself; r in 8 indexes again"}
