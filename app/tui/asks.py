"""What the home screen asks the workspace, and what it does with answers, failures and the change feed.

Who calls: ``acts.py`` (keys) and the toolkit (messages). The handlers here are the only writers of the state.
What may not come in: keys, layout.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from textual import on
from textual.timer import Timer

from mog.app.tui.board import Board
from mog.app.tui.graph_rows import LEVELS
from mog.app.tui.messages import Answered, Ended, Failed, Fed, Progressed
from mog.app.tui.pace import Pace
from mog.app.tui.workers import ProgressTap
from mog.engine import model as m
from mog.engine.errors import AmbiguousTarget, Cancelled, IndexMissing, MogError, NotFound
from mog.engine.ids import locator

LOADED, LOADED_OPEN = 200, 2000
HITS = 50
MAPPED = 40
OPENING_SECONDS, LATER_SECONDS, CALM_SECONDS = 0.25, 2.0, 1.5
_WHAT = {"focus": "the graph", "status": "health", "pins": "pins", "verify": "pins", "map": "the map", "find": "search"}


class Asks(Board):
    """Jobs and their answers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pace = Pace()
        self._due: set[str] = set()
        self._open_first = False
        self._later: list[Callable[[], None]] = []
        self._calm: Timer | None = None
        self._unsubscribe: Callable[[], None] | None = None

    # -- asking --------------------------------------------------------------------------------------------------------

    def begin(self, *, index_first: bool) -> None:
        """Listen to the change feed and ask for everything the home screen shows."""
        self._unsubscribe = self.workspace.subscribe(lambda change: self._feed(change))
        if index_first:
            self.ask_index()
        else:
            self.opening = {"pins", "map", "focus"}
            self._later = [self.ask_status, self.ask_grammars, self.ask_watch]
            self.set_timer(OPENING_SECONDS, lambda: self.open_up() if self.opening else None)
            self.set_timer(LATER_SECONDS, self._ask_later)
            self.ask_pins()
            self.ask_map()

    def open_up(self) -> None:
        """Draw everything: the first answers are in, or enough time has passed."""
        self.opening = set()
        self.place_panes()
        self.draw("map", "graph", "drift", "health", cursor="node")
        self.draw_top()

    def _opened(self, job: str) -> None:
        """An answer is here: when it was the last of the first ones, show them and ask for the rest."""
        no_focus = job == "map" and not self.jobs.running("focus")
        if self.opening:
            self.opening -= {job, "focus"} if no_focus else {job}
            if not self.opening:
                self.open_up()
        if job == "focus" or no_focus:
            self._ask_later()

    def _ask_later(self) -> None:
        """What is not needed to begin is asked when the graph stands: threads share one processor."""
        later, self._later = self._later, []
        for ask in later:
            ask()

    def end(self) -> None:
        """Stop listening and asking; a job that reports progress ends at its next report."""
        if self.jobs.running("watch") and not self.jobs.stopped.is_set():
            # the watcher may still be bringing the index up to date; the program would wait for that at its end
            threading.Thread(target=self.workspace.stop_watch, daemon=True).start()
        self.jobs.stop()
        if self._unsubscribe:
            self._unsubscribe()
            self._unsubscribe = None

    def _feed(self, change: m.Change) -> None:
        self.post_message(Fed(change))

    def ask_all(self) -> None:
        """Ask for status, pins, map and grammars."""
        self.ask_pins()
        self.ask_map()
        self.ask_status()
        self.ask_grammars()

    def ask_map(self) -> None:
        self.jobs.start("map", None, partial(self.workspace.map, limit=MAPPED))

    def ask_grammars(self) -> None:
        self.jobs.start("grammars", None, self.workspace.grammars)

    def ask_watch(self) -> None:
        self.jobs.start("watch", None, self.workspace.start_watch)

    def ask_status(self) -> None:
        self.jobs.start("status", None, self.workspace.status)

    def ask_pins(self) -> None:
        self.jobs.start("pins", None, self.workspace.pins)

    def ask_index(self) -> None:
        """Index, with progress on the top line."""
        self.tap = ProgressTap(self, self.jobs.stopped)
        self.state.progress = m.Progress("indexing", 0, 0)
        self.jobs.start("index", None, partial(self.workspace.index, progress=self.tap))
        self.draw_top()

    def ask_focus(self, target: str, *, visit: bool = True, to: str | None = "") -> None:
        """Bring a node into focus.

        Args:
            target: id or locator.
            visit: remember it in the history.
            to: row to put the cursor on, ``None`` to leave it where it is.
        """
        self.state.wanted = target
        tiers = tuple(tier.name for tier in LEVELS[self.state.level][1])
        limit = LOADED_OPEN if self.state.open else LOADED
        self.jobs.start(
            "focus", (target, visit, to), partial(self.workspace.neighbors, target, tiers=tiers, limit=limit)
        )

    def ask_again(self) -> None:
        """Ask for the node in focus again, cursor and history untouched."""
        if self.state.hood:
            self.ask_focus(self.state.hood.node.id, visit=False, to=None)

    def ask_search(self, text: str) -> None:
        """Search; an empty text shows the hints again."""
        if text.strip():
            call = partial(self.workspace.search, text, limit=HITS, kind=self.state.kind)
            self.jobs.start("find", text, call)
        else:
            self.state.hits = None
            self.draw("find", cursor="")

    # -- answers -------------------------------------------------------------------------------------------------------

    @on(Answered)
    def _answered(self, event: Answered) -> None:
        self.state.failures.pop(event.job, None)
        handler: Callable[[Answered], None] | None = getattr(self, f"got_{event.job}", None)
        if handler:
            handler(event)
        self._opened(event.job)

    @on(Ended)
    def _ended(self, event: Ended) -> None:
        self.jobs.ended(event.job)

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self._failure(event)
        self._opened(event.job)

    def _failure(self, event: Failed) -> None:
        if isinstance(event.error, IndexMissing) and event.job != "jump":
            return
        handler: Callable[[Failed], bool] | None = getattr(self, f"lost_{event.job}", None)
        if handler and handler(event):
            return
        text = self._sentence(event.error)
        if event.job not in ("jump", "pin", "unpin", "find"):
            self.state.failures[event.job] = f"{_WHAT.get(event.job, event.job)}: {text}"
            self.draw("health")
            self.draw_top()
        self.say(text)

    def _sentence(self, error: BaseException) -> str:
        return str(error) if isinstance(error, MogError) else f"{type(error).__name__}: {error}"

    def got_status(self, event: Answered) -> None:
        self.state.status = event.answer
        self.state.watcher = self.workspace.watcher
        self.draw("health")
        if self.state.hood is None:
            self.draw("graph")
        self.draw_top()

    def got_grammars(self, event: Answered) -> None:
        self.state.grammars = event.answer
        self.draw("health")

    def got_pins(self, event: Answered) -> None:
        self.state.pins = event.answer
        self.draw("drift", flash=True)
        self.draw_top()

    def got_verify(self, event: Answered) -> None:
        report: m.VerifyReport = event.answer
        self.state.pins = report.states
        self.draw("drift", flash=True)
        self.draw_top()
        self.ask_again()
        self.say(
            f"{report.checked:,} compared with the disk: {report.fresh:,} fresh, {report.checked - report.fresh:,} not"
        )

    def got_map(self, event: Answered) -> None:
        self.state.map = event.answer
        self.draw("map")
        rows = self.state.map.rows if self.state.map else ()
        if self.state.hood is None and rows and not self.jobs.running("focus"):
            first = rows[0].top[0].id if rows[0].top else locator("file", rows[0].path)
            self.ask_focus(first)

    def got_watch(self, event: Answered) -> None:
        self.state.watcher = self.workspace.watcher
        self.draw("health")
        self.draw_top()

    def got_index(self, event: Answered) -> None:
        report: m.IndexReport = event.answer
        self.state.progress = None
        self.ask_all()
        self.ask_again()
        self.ask_watch()
        did = f"{report.parsed:,} read, {report.relinked:,} linked" if report.changed else "nothing had changed"
        self.say(f"indexed {report.files:,} files in {report.seconds:.1f} s: {did}")

    def lost_index(self, event: Failed) -> bool:
        """The index was not built: what was there before still serves."""
        self.state.progress = None
        self.ask_all()
        self.draw_top()
        if isinstance(event.error, Cancelled):
            self.say("indexing was stopped; the index before it still serves. 8 and r start it again")
            return True
        return False

    def got_focus(self, event: Answered) -> None:
        target, visit, to = event.asked
        if target != self.state.wanted:
            return
        hood: m.Neighborhood = event.answer
        same = self.state.hood is not None and self.state.hood.node.id == hood.node.id
        self.state.hood, self.state.lost = hood, ""
        self.state.wanted = hood.node.id
        if visit:
            self.state.history.visit(hood.node.id)
        self.draw("graph", cursor=None if to is None else to or "node", flash=same)

    def lost_focus(self, event: Failed) -> bool:
        """The node in focus is gone: what was known of it stays, marked; anything else is said on the foot line."""
        hood = self.state.hood
        if isinstance(event.error, NotFound) and hood and event.asked[0] == hood.node.id:
            self.state.lost = hood.node.id
            self.draw("graph")
            return True
        if isinstance(event.error, NotFound):
            self.state.wanted = hood.node.id if hood else ""
            self.say(self._sentence(event.error))
            return True
        return False

    def got_find(self, event: Answered) -> None:
        self.state.hits = event.answer
        self.state.took_ms = event.took * 1000
        self.state.hit_at = -1
        self.draw("find", cursor="")
        if self._open_first and not self.jobs.waits("find"):
            self._open_first = False
            self.open_found()

    def open_found(self) -> None:
        """Enter was pressed before the answer was here (keys know how)."""

    def enter_found(self) -> bool:
        """Enter in the search line: False when the rows still answer an earlier text, and the first row opens later."""
        self._open_first = self.jobs.running("find")
        return not self._open_first

    def got_jump(self, event: Answered) -> None:
        node: m.Node = event.answer
        self.ask_focus(node.id)

    def lost_jump(self, event: Failed) -> bool:
        """Several nodes answer: they are offered as rows."""
        if isinstance(event.error, AmbiguousTarget):
            self.call_later(self.offer, event.asked, event.error.candidates)
            return True
        return False

    async def offer(self, target: str, candidates: list[str]) -> None:
        """Show candidates to choose from (the screen knows where)."""
        self.say(f"{len(candidates)} nodes answer to {target}")

    def got_pin(self, event: Answered) -> None:
        state: m.PinState = event.answer
        self.ask_pins()
        self.ask_again()
        self.say(f"pinned “{state.pin.note}”")

    def got_unpin(self, event: Answered) -> None:
        pin: m.Pin = event.answer
        self.ask_pins()
        self.ask_again()
        self.say(f"taken out: “{pin.note}”")

    # -- the change feed -----------------------------------------------------------------------------------------------

    @on(Progressed)
    def _progressed(self, event: Progressed) -> None:
        if self.jobs.running("index"):
            self.state.progress = event.progress
            self.draw_top()

    @on(Fed)
    def _fed(self, event: Fed) -> None:
        if event.change.kind == "progress":
            return
        self._due.add(event.change.kind)
        wait = self.pace.ask(time.monotonic())
        if wait == 0.0:
            self._follow()
        elif wait is not None:
            self.set_timer(wait, self._follow_late)

    def _follow_late(self) -> None:
        self.pace.painted(time.monotonic())
        self._follow()

    def _follow(self) -> None:
        """Ask again for what the events since the last look concern."""
        due, self._due = self._due, set()
        if "watch" in due:
            self.state.watcher = self.workspace.watcher
            self.draw("health")
            self.draw_top()
        if due & {"index", "pins"}:
            self.ask_pins()
            self.ask_again()
        if "index" in due and not self.jobs.running("index"):
            self._calm_down()

    def _calm_down(self) -> None:
        """The whole account and the map cost the engine a look at everything: they wait for a pause in the edits."""
        if self._calm is not None:
            self._calm.stop()
        self._calm = self.set_timer(CALM_SECONDS, self._ask_account)

    def _ask_account(self) -> None:
        self.ask_status()
        self.ask_map()
