"""Pane 8: health, what was indexed and what was not, whether the watcher is awake, and what deserves a look among beliefs.

Who calls: the registry of ``panes``. What may not come in: the toolkit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mog.app.tui import reason_asks, reason_rows, side_rows
from mog.app.tui.panes.base import Content, Host
from mog.app.tui.rows import Sheet, Thing
from mog.engine import model as m
from mog.widgets.view import Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.app.tui.reason_asks import BeliefHealth


class Health(Content):
    """Attributes: status: the account, ``None`` until it is here. watcher: what the watcher says. unfolded: sections that are open."""

    name, digit, title = "health", "8", "Health"
    foot = (("enter", "unfold"), ("r", "index again"), ("o", "editor"), ("m", "full"))
    wakes = frozenset({"index", "beliefs", "pins", "walks"})
    calm = True

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.status: m.Status | None = None
        self.grammars: Sequence[m.GrammarInfo] = ()
        self.watcher = "off"
        self.unfolded: frozenset[str] = frozenset()
        self.failures: dict[str, str] = {}
        self.beliefs: BeliefHealth | None = None
        self._believed = False

    def ask(self) -> None:
        self.host.start("health", self.host.desk.status, self.got)
        if not self.grammars:
            self.host.start("grammars", self.host.desk.grammars, self._got_grammars)
        self.host.start("beliefs", partial(reason_asks.health, self.host.desk), self._got_beliefs)

    def got(self, status: m.Status) -> None:
        first = self.status is None
        self.status = status
        self.look_at_watcher()
        if first:
            self.host.draw("graph")

    def _got_beliefs(self, beliefs: BeliefHealth | None) -> None:
        self.beliefs, self._believed = beliefs, True
        self.host.draw("health")
        self.host.draw_top()

    def _got_grammars(self, grammars: Sequence[m.GrammarInfo]) -> None:
        self.grammars = grammars
        self.host.draw("health")

    def look_at_watcher(self) -> None:
        """Ask the watcher how it is; it costs nothing."""
        self.watcher = self.host.desk.watcher
        self.host.draw("health")
        self.host.draw_top()

    def sheet(self, width: int, lines: int) -> Sheet:
        failures = tuple(self.failures.values())
        sheet = side_rows.health_sheet(self.status, self.grammars, self.unfolded, self.watcher, failures, width)
        things = dict(sheet.things)
        first, last = side_rows.agents_rows(self.host.agents, width)
        rows: list[Line | Row] = [*first, *(sheet.lines.line(at) for at in range(len(sheet.lines)))]
        if self.beliefs is not None:
            from mog.app.tui import health_rows

            rows += health_rows.belief_rows(self.beliefs, self.unfolded, things)
        return replace(sheet, lines=Lines([*rows, *last]), things=things)

    def glance(self, step: int) -> list[Cell]:
        beliefs = self.beliefs
        known = {kind: beliefs.count(kind) for kind in reason_rows.GLANCED} if beliefs else {}
        cells = reason_rows.glance_cells(known if self._believed else None, step)
        if not step:
            health = self.status.health if self.status and self.status.indexed else None
            skipped = f"{sum(health.skipped.values()):,}" if health else "?"
            gated = f"{health.gated + health.gated_symbols:,}" if health else "?"
            cells += [Cell(f"   skipped {skipped}  "), Cell("░ ", "muted", True), Cell(f"{gated} gated")]
        if self.failures:
            cells += [Cell("  "), Cell(f"8: {len(self.failures)} failed", "attn", True)]
        return cells

    def opened(self, thing: Thing | None, key: str) -> None:
        if isinstance(thing, str):
            self._turn(thing)
        else:
            super().opened(thing, key)

    def _turn(self, section: str) -> None:
        self.unfolded = self.unfolded ^ {section}
        self.host.draw("health")

    # -- keys ----------------------------------------------------------------------------------------------------------

    def act_left(self) -> None:
        """Fold."""
        self._fold(False)

    def act_right(self) -> None:
        """Unfold."""
        self._fold(True)

    def act_redo(self) -> None:
        """Index again."""
        if self.host.busy("index"):
            self.host.say("r: indexing already; ctrl+c stops it")
        else:
            self.host.ask_index()

    def _fold(self, wanted: bool) -> None:
        thing = self.host.thing
        if not isinstance(thing, str):
            self.host.say("nothing folds on this row")
        elif (thing in self.unfolded) != wanted:
            self._turn(thing)
        else:
            self.host.say("l: unfolded already" if wanted else "h: folded already")
