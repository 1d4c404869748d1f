"""Pane 3: questions that led nowhere, by the four reasons, with what might be missing.

Who calls: the registry of ``panes``. What may not come in: the toolkit.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from mog.app.tui import reason_asks
from mog.app.tui.panes.base import Content, Host
from mog.app.tui.reason_asks import Dead as End
from mog.app.tui.rows import Sheet, Thing

if TYPE_CHECKING:
    from mog.app.tui.reason_asks import DeadEnds


class Dead(Content):
    """Attributes: ends: what was found, None until somebody has looked."""

    name, digit, title = "dead", "3", "Dead ends"
    foot = (("enter", "the walk"), ("r", "ask again"), ("a", "mend"), ("w", "why"), ("y", "copy"), ("m", "full"))
    wakes = frozenset({"beliefs", "walks", "traffic"})
    calm = True
    why_not: ClassVar[Mapping[str, str]] = {
        "take_out": "what answers a question takes it out; a proposes what is missing",
        "why": "nothing recorded stands on this row",
    }

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.ends: DeadEnds | None = None

    def ask(self) -> None:
        here = self.host.content("walk").here
        self.host.start("dead", partial(reason_asks.dead_ends, self.host.desk, dict(here)), self.got)

    def got(self, ends: DeadEnds) -> None:
        self.ends = ends
        self.host.draw("dead", flash=True)

    def sheet(self, width: int, lines: int) -> Sheet:
        from mog.app.tui import dead_rows

        return dead_rows.dead_sheet(self.ends, width, roomy=lines >= 12 or not lines)

    def target_at(self, thing: Thing | None) -> str:
        if isinstance(thing, End) and thing.told is not None:
            walk = thing.told.walk
            return walk.blocker or next((seed.node for seed in walk.seeds), "")
        return super().target_at(thing)

    # -- keys ----------------------------------------------------------------------------------------------------------

    def opened(self, thing: Thing | None, key: str) -> None:
        from mog.engine.reason.mend import Mend

        if isinstance(thing, End) and thing.told is not None:
            self.host.content("walk").present(thing.told)
        elif isinstance(thing, End):
            self.host.content("walk").question(thing.question)
        elif isinstance(thing, Mend):
            self.act_go_ahead()
        else:
            super().opened(thing, key)

    def act_redo(self) -> None:
        """Ask the question again."""
        end = self._end()
        if end is None:
            self.host.say("r: no question on this row")
        else:
            self.host.content("walk").question(end.question)

    def act_go_ahead(self) -> None:
        """Record the proposal on this row, or the first one of its question."""
        from mog.app.tui.panes.mending import record
        from mog.engine.reason.mend import Mend

        end, thing = self._end(), self.host.thing
        told = end.told if end else None
        if end is None or told is None:
            self.host.say("a: no question on this row that was walked lately; r asks it")
        elif told.walk.resolved:
            self.host.say("a: it has an answer by now, nothing is missing")
        else:
            proposal = thing if isinstance(thing, Mend) else told.mends[0]
            record(self.host, proposal, told.known, end.question)

    def _end(self) -> End | None:
        """The question that the row at the cursor belongs to."""
        thing, row = self.host.thing, self.host.row
        if isinstance(thing, End):
            return thing
        _, _, rest = (row.key if row else "").partition(":")
        rows = self.ends.rows if self.ends else ()
        return next((one for one in rows if rest == one.question or rest.startswith(f"{one.question}:")), None)
