"""Pane: the rows under the search line, and the candidates of an ambiguous name.

Who calls: the registry of ``panes``; the home screen owns the line that is typed into. What may not come in: the toolkit.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from time import perf_counter

from mog.app.tui import side_rows
from mog.app.tui.panes.base import Content, Host
from mog.app.tui.rows import Sheet, Thing
from mog.engine import model as m

HITS = 50
KINDS = ("", "function", "class", "method", "const", "test", "file")
"""What ``tab`` steps through in the search, "" for everything."""


class Find(Content):
    """Attributes: hits: the answer, ``None`` before a search. kind: what is looked for. at: the result ``n`` is on, -1 for none."""

    name, digit, title = "find", "/", "Search"
    foot = (("enter", "open"), ("↑ ↓", "choose"), ("tab", "kind"), ("esc", "back"))

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.hits: m.SearchAnswer | None = None
        self.kind = ""
        self.took_ms = 0.0
        self.at = -1
        self.text = ""
        self.open_first = False
        self._candidates: tuple[str, Sequence[str]] | None = None

    def search(self, text: str) -> None:
        """Search; an empty text shows the hints again."""
        self.text, self._candidates = text, None
        if text.strip():
            self.host.start("find", partial(self._asked, text), self.got)
        else:
            self.hits = None
            self.host.draw("find", cursor="")

    def _asked(self, text: str) -> tuple[m.SearchAnswer, float]:
        began = perf_counter()
        answer = self.host.desk.search(text, limit=HITS, kind=self.kind)
        return answer, perf_counter() - began

    def got(self, answer: tuple[m.SearchAnswer, float]) -> None:
        self.hits, seconds = answer
        self.took_ms, self.at = seconds * 1000, -1
        self.host.draw("find", cursor="")
        if self.open_first and self.hits.query == self.text:
            self.open_first = False
            self.opened(self.host.thing, "")

    def turn_kind(self, step: int) -> None:
        """The next kind to search for."""
        self.kind = KINDS[(KINDS.index(self.kind) + step) % len(KINDS)]
        self.host.draw("find")
        self.search(self.text)

    def step(self, by: int) -> str:
        """Id of the next (1) or previous (-1) result, "" when there are none."""
        hits = self.hits.hits if self.hits else ()
        if not hits:
            return ""
        hood = self.host.content("graph").hood
        if self.at < 0 and hood:
            self.at = next((i for i, hit in enumerate(hits) if hit.node.id == hood.node.id), -1)
        self.at = (self.at + by) % len(hits)
        self.host.say(f"result {self.at + 1} of {len(hits)}")
        return hits[self.at].node.id

    def offer(self, target: str, candidates: Sequence[str]) -> None:
        """Candidates of an ambiguous name instead of results."""
        self._candidates = (target, candidates)
        self.host.draw("find", cursor="")

    def sheet(self, width: int, lines: int) -> Sheet:
        if self._candidates is not None:
            return side_rows.candidates_sheet(*self._candidates, width)
        return side_rows.search_sheet(self.hits, self.kind, self.took_ms, width)

    def opened(self, thing: Thing | None, key: str) -> None:
        if isinstance(thing, str):
            self.host.focus_on(thing)
        elif thing is None:
            self.host.say("enter: nothing was found")
        else:
            super().opened(thing, key)
