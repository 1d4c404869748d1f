"""Pane 2: the last question that was asked here or by an agent, where the walk went, and why anything stands.

Who calls: the registry of ``panes``; ``w`` and ``i`` on a row of any pane come here. What may not come in: the toolkit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from mog.app.tui import reason_asks
from mog.app.tui.panes.base import Content, Host, Prompt, waiting
from mog.app.tui.reason_asks import CUT
from mog.app.tui.rows import Reason, Sheet, Thing, teach
from mog.engine.errors import NotFound, UsageError
from mog.widgets.view import Cell, Lines, Row

if TYPE_CHECKING:
    from mog.app.tui.reason_asks import Inspected, Told, Why

KEPT = 50


@dataclass(frozen=True, slots=True)
class Page:
    """What is looked at instead of the walk: why something stands, or its record whole; ``key``: the row it was asked on."""

    target: str
    whole: bool
    key: str = ""


class Walk(Content):
    """Attributes: told: the last question and its walk, None when there was none. page: what is looked at instead. here: question →
    when it was asked here."""

    name, digit, title = "walk", "2", "Walk"
    foot = (("enter", "why"), ("a", "ask"), ("r", "ask again"), ("w", "why"), ("i", "inspect"), ("m", "full"))
    wakes = frozenset({"beliefs", "traffic"})
    why_not: ClassVar[Mapping[str, str]] = {"redo": "no question was asked yet; a asks one"}

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.told: Told | None = None
        self.page: Page | None = None
        self.found: tuple[Why, ...] | Inspected | None = None
        self.here: dict[str, str] = {}
        self._asked = False
        self._pages: list[Page] = []

    # -- asking --------------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        self.host.start("walk", partial(reason_asks.last, self.host.desk, self.told), self.got)
        if self.page is not None:
            self._look(self.page)

    def got(self, told: Told | None) -> None:
        self.told, self._asked = told, True
        self.host.draw("walk", flash=True)

    def question(self, text: str) -> None:
        """Ask a question; its walk takes the pane."""
        if not text.strip():
            self.host.say("a: nothing was asked")
            return

        def answered(told: Told) -> None:
            self.here = dict([*self.here.items(), (text[:CUT], told.at)][-KEPT:])
            self.present(told)
            self.host.content("dead").ask()

        self.host.start("walk", partial(reason_asks.ask, self.host.desk, text), answered)

    def present(self, told: Told) -> None:
        """Show a walk, whoever asked."""
        self._pages, self.page, self.found = [], None, None
        self.told, self._asked = told, True
        self.host.show("walk")
        self.host.draw("walk", cursor="answer" if told.walk.resolved else "end")

    def why(self, target: str, *, whole: bool = False) -> None:
        """Show why a record or a piece of code stands; ``whole``: its record instead."""
        page = Page(target, whole, self.host.row.key if self.host.row else "")
        self._look(page, lambda: self._turn_to(page))

    def elsewhere(self, action: str, thing: Thing | None, target: str) -> bool:
        if target:
            self.why(target, whole=action == "inspect")
        return bool(target)

    def _turn_to(self, page: Page) -> None:
        if self.page is not None and self.page != page:
            self._pages = [*self._pages, self.page][-KEPT:]
        self.page = page
        self.host.show("walk")
        self.host.draw("walk", cursor="")

    def _look(self, page: Page, then: Callable[[], None] | None = None) -> None:
        def found(answer: tuple[Why, ...] | Inspected) -> None:
            if then is None and page != self.page:
                return
            self.found = answer
            if then is not None:
                then()
            else:
                self.host.draw("walk", flash=True)

        def failed(error: BaseException) -> bool:
            if not isinstance(error, NotFound | UsageError):
                return False
            self.host.say(f"{'i' if page.whole else 'w'}: {error}")
            return True

        call = reason_asks.inspect if page.whole else reason_asks.why
        self.host.start("why", partial(call, self.host.desk, page.target), found, failed)

    # -- drawing -------------------------------------------------------------------------------------------------------

    def sheet(self, width: int, lines: int) -> Sheet:
        if self.page is not None and self.found is not None:
            from mog.app.tui import why_rows

            if isinstance(self.found, tuple):
                return why_rows.why_sheet(self.found, width)
            return why_rows.inspect_sheet(self.found, width)
        if self.told is not None:
            from mog.app.tui import walk_rows

            return walk_rows.walk_sheet(self.told, width)
        return _empty(width) if self._asked else waiting("Looking for the last question.", width)

    def fills(self) -> bool:
        return self.told is not None or self.page is not None

    # -- keys ----------------------------------------------------------------------------------------------------------

    def opened(self, thing: Thing | None, key: str) -> None:
        if isinstance(thing, Reason):
            self.why(thing.id)
        elif thing == "asked":
            self.act_go_ahead()
        elif isinstance(thing, str):
            self.host.focus_on(thing)
        elif key.startswith("mend"):
            self.act_go_ahead()
        else:
            super().opened(thing, key)

    def back(self) -> bool:
        if self.page is None:
            return False
        key = self.page.key
        self.page = self._pages.pop() if self._pages else None
        if self.page is None:
            self.found = None
            self.host.draw("walk", cursor=key)
        else:
            self._look(self.page, lambda: self.host.draw("walk", cursor=key))
        return True

    def act_go_ahead(self) -> None:
        """Ask a question; on a proposal record it."""
        from mog.app.tui.panes.mending import record
        from mog.engine.reason.mend import Mend

        thing = self.host.thing
        if isinstance(thing, Mend) and self.told is not None:
            record(self.host, thing, self.told.known, self.told.walk.question)
        else:
            self.host.prompt(Prompt("ask the mesh:", "a question in words; enter asks, esc leaves", self.question))

    def act_zoom(self) -> None:
        """The walk in the layers of the graph, on what stands around its steps."""
        if self.told is None or not self.told.walk.path:
            self.host.say("z: no walk to draw in the graph")
        else:
            self.host.content("graph").see_walk(self.told.walk)

    def act_redo(self) -> None:
        """Ask the last question again, counted."""
        if self.page is not None:
            self._look(self.page)
        elif self.told is None:
            self.host.say(f"r: {self.why_not['redo']}")
        else:
            self.question(self.told.walk.question)

    def target_at(self, thing: Thing | None) -> str:
        return thing if isinstance(thing, str) and thing != "asked" else super().target_at(thing)


def _empty(width: int) -> Sheet:
    text = "Nobody has asked anything yet."
    how = "A question in words is walked along what is recorded: each step is shown, and what was left aside."
    row = Row(
        "asked", (Cell("a ", "key", True), Cell("asks the mesh", "text")), words=("enter or a: ask a question", "")
    )
    lines = [line for (line,) in teach(text, how, width=width - 4).all()]
    return Sheet(Lines([*lines, row]), {"asked": "asked"}, title_right="no question")
