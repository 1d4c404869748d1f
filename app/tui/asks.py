"""How the home screen asks: jobs and their answers, failures, indexing, and what follows an event of the change feed.

Who calls: ``acts.py`` (keys), the contents of the panes as their ``Host``, and the toolkit (messages).
What may not come in: keys, layout, what a pane asks (``panes/``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from textual import on
from textual.timer import Timer

from mog.app.tui import panes
from mog.app.tui.board import Board
from mog.app.tui.messages import Answered, Ended, Failed, Fed, Progressed, Question, Told
from mog.app.tui.pace import Pace
from mog.app.tui.workers import ProgressTap
from mog.engine import model as m
from mog.engine.errors import AmbiguousTarget, Cancelled, IndexMissing, MogError
from mog.widgets.shelf import Shelf

OPENING_SECONDS, LATER_SECONDS, CALM_SECONDS = 0.25, 2.0, 1.5
FIRST = ("drift", "map")
"""Panes whose answers the first picture waits for, with the graph."""
_SAID_ONCE = ("jump", "pin", "unpin", "find", "why", "mend", "judge")
"""Jobs of a person's word: their failure is a sentence on the foot line and no state of the workbench."""


class Asks(Board):
    """Jobs and their answers."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.pace = Pace()
        self._due: set[str] = set()
        self._calm: Timer | None = None
        self._unsubscribe: Callable[[], None] | None = None

    # -- asking --------------------------------------------------------------------------------------------------------

    def start(
        self,
        job: str,
        call: Callable[[], Any],
        then: Callable[[Any], None],
        failed: Callable[[BaseException], bool] | None = None,
    ) -> None:
        """Run a question on a thread; its answer comes back to this one."""
        self.jobs.start(job, Question(call, then, failed))

    def busy(self, job: str) -> bool:
        """Whether a question of that job is under way."""
        return self.jobs.running(job)

    def tell(self, name: str, call: Callable[[], None]) -> None:
        """Have ``call`` run on the screen's thread, for pane ``name``."""
        self.post_message(Told(name, call))

    @on(Told)
    def _told(self, event: Told) -> None:
        self.guard(event.name, event.call)

    def begin(self, *, index_first: bool) -> None:
        """Listen to the change feed and ask for everything the home screen shows."""
        self._unsubscribe = self.desk.subscribe(lambda change: self._feed(change))
        if index_first:
            self.ask_index()
        else:
            self.opening = {*FIRST, "graph"}
            self._later = [self._ask_rest, self.ask_watch]
            self.set_timer(OPENING_SECONDS, lambda: self.open_up() if self.opening else None)
            self.set_timer(LATER_SECONDS, self._ask_later)
            for name in FIRST:
                self.ask(name)

    def open_up(self) -> None:
        """Draw everything: the first answers are in, or enough time has passed."""
        self.opening = set()
        self.place_panes()
        self.draw(*(name for name in panes.REGISTRY if self.has_pane(name)), cursor="node")
        self.draw_top()

    def _opened(self, job: str) -> None:
        """An answer is here: when it was the last of the first ones, show them and ask for the rest."""
        no_focus = job == "map" and not self.jobs.running("graph")
        if self.opening:
            self.opening -= {job, "graph"} if no_focus else {job}
            if not self.opening:
                self.open_up()
        if job == "graph" or no_focus:
            self.call_after_refresh(self._ask_later)

    def _ask_later(self) -> None:
        """What is not needed to begin is made and asked when the graph is painted: threads share one processor."""
        later, self._later = self._later, []
        if later:
            self.place_panes()
            self.follow_row()
        for ask in later:
            ask()

    def _ask_rest(self) -> None:
        """Panes in view, and those with a part of the top line, that nobody has asked yet."""
        for name in dict.fromkeys((*panes.GLANCES, *self.query_one(Shelf).shown())):
            if name not in self._asked and name != "find":
                self.ask(name)

    def end(self) -> None:
        """Stop listening and asking; a job that reports progress ends at its next report."""
        if self.jobs.running("watch") and not self.jobs.stopped.is_set():
            # the watcher may still be bringing the index up to date; the program would wait for that at its end
            threading.Thread(target=self.desk.stop_watch, daemon=True).start()
        for content in self.contents.values():
            content.close()
        self.jobs.stop()
        if self._unsubscribe:
            self._unsubscribe()
            self._unsubscribe = None

    def _feed(self, change: m.Change) -> None:
        self.post_message(Fed(change))

    def ask_watch(self) -> None:
        """Start the watcher; it brings the index up to date first."""
        self.start("watch", self.desk.start_watch, lambda _: self._health().look_at_watcher())

    def ask_index(self) -> None:
        """Index, with progress on the top line."""
        self.tap = ProgressTap(self, self.jobs.stopped)
        self.progress = m.Progress("indexing", 0, 0)
        self.start("index", partial(self.desk.index, progress=self.tap), self._indexed, self._not_indexed)
        self.draw_top()

    def _indexed(self, report: m.IndexReport) -> None:
        self.progress = None
        self._ask_all()
        self.ask_watch()
        did = f"{report.parsed:,} read, {report.relinked:,} linked" if report.changed else "nothing had changed"
        self.say(f"indexed {report.files:,} files in {report.seconds:.1f} s: {did}")

    def _not_indexed(self, error: BaseException) -> bool:
        """The index was not built: what was there before still serves."""
        self.progress = None
        self._ask_all()
        self.draw_top()
        if isinstance(error, Cancelled):
            self.say("indexing was stopped; the index before it still serves. 8 and r start it again")
            return True
        return False

    def _ask_all(self) -> None:
        for name in dict.fromkeys((*self._asked, *FIRST, *panes.GLANCES, "graph")):
            self.ask(name)

    def _health(self) -> Any:
        return self.content("health")

    def jump_to(self, target: str) -> None:
        """A node by id, locator, name, path or ``path:line``; several of that name are offered as rows."""

        def failed(error: BaseException) -> bool:
            if isinstance(error, AmbiguousTarget):
                self.call_later(self.offer, target, error.candidates)
                return True
            return False

        self.start("jump", partial(self.desk.find, target), lambda node: self.focus_on(node.id), failed)

    async def offer(self, target: str, candidates: list[str]) -> None:
        """Show candidates to choose from (the screen knows where)."""
        self.say(f"{len(candidates)} nodes answer to {target}")

    def focus_on(self, target: str) -> None:
        """Bring a node into the graph (keys know how)."""

    # -- answers -------------------------------------------------------------------------------------------------------

    @on(Answered)
    def _answered(self, event: Answered) -> None:
        if self._health().failures.pop(event.job, None):
            self.draw_top()
        self.guard(event.job, partial(event.question.then, event.answer))
        if event.job == self.name_here and not self.opening:
            self.follow_row()  # the row under the cursor may be about something else now, without having moved
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
        if event.question.failed and event.question.failed(event.error):
            return
        error = event.error
        text = str(error) if isinstance(error, MogError) else f"{type(error).__name__}: {error}"
        if event.job not in _SAID_ONCE:
            self._health().failures[event.job] = f"{self._title_of(event.job)}: {text}"
            if event.job in self.contents:
                self.broken[event.job] = text
            self.draw("health", event.job)
            self.draw_top()
        self.say(text)

    def _title_of(self, job: str) -> str:
        return panes.REGISTRY[job].title.lower() if job in panes.REGISTRY else job

    # -- the change feed -----------------------------------------------------------------------------------------------

    @on(Progressed)
    def _progressed(self, event: Progressed) -> None:
        if self.jobs.running("index"):
            self.progress = event.progress
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
        """Ask again what the events since the last look concern: panes that are shown or have a part of the top line."""
        due, self._due = self._due, set()
        if "watch" in due:
            self._health().look_at_watcher()
        status = self._health().status
        if "index" in due and self.jobs.running("index") and (status is None or not status.indexed):
            self._ask_all()  # the first files of a first index are served; the rest comes with its end
            return
        calm = False
        shown = {*self.query_one(Shelf).shown(), *panes.GLANCES, "graph"}
        for name in [name for name in panes.REGISTRY if name in self._asked and self.content(name).wakes & due]:
            if name not in shown:
                self._asked.discard(name)  # asked again when it is next in view
            elif not self.content(name).calm:
                self.ask(name)
            else:
                calm = True
        if calm and not self.jobs.running("index"):
            self._calm_down()

    def _calm_down(self) -> None:
        """The whole account and the map cost the engine a look at everything: they wait for a pause in the edits."""
        if self._calm is not None:
            self._calm.stop()
        self._calm = self.set_timer(CALM_SECONDS, self._ask_calm)

    def _ask_calm(self) -> None:
        for name in [name for name in self._asked if self.content(name).calm]:
            self.ask(name)
