"""Pane 0: work, the plans of the repository: what is stale, what a run does, and running it.

Who calls: the registry of ``panes``. What may not come in: the toolkit, rows (``work_rows``), a command that nobody allowed.

A round runs on a thread of its own; it hands its news over through ``host.tell``, many at once when they come fast.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from threading import Event
from time import localtime, strftime
from typing import TYPE_CHECKING, ClassVar

from mog.app.present import clean
from mog.app.tui import work_rows
from mog.app.tui.panes.base import Content, Host, Prompt, waiting
from mog.app.tui.rows import Sheet, Thing
from mog.app.tui.work_rows import Open, Round
from mog.engine.errors import ConfigError, MogError, ProviderError, WorkspaceError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from mog.app.tui.port import Desk
    from mog.engine.executor.model import Beat
    from mog.engine.executor.receipts import Entry
    from mog.engine.policy.trust import Waiting
    from mog.engine.work import PlanView, Ran

ALLOW = "allow"
"""The word that has to be typed before commands of the repository run."""


class Tasks(Content):
    """Attributes: views: every plan as it is, ``None`` until somebody looked. round: the one at hand, or the last one.

    problem: why plans cannot be used. unfolded: tasks that are open. entries: receipts that were read.
    """

    name, digit, title = "work", "0", "Work"
    foot = (
        ("a", "run"),
        ("x", "cancel"),
        ("enter", "unfold"),
        ("i", "receipts"),
        ("r", "look again"),
        ("z", "outline"),
    )
    wakes = frozenset({"index", "beliefs"})
    calm = True
    why_not: ClassVar[dict[str, str]] = {
        "take_out": "nothing runs that could be cancelled",
        "undo": "what ran is not undone; a break is, in 6",
        "evidence": "a task is judged by its auditors, not by hand; b on a belief in the graph breaks that",
    }

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.views: Sequence[PlanView] | None = None
        self.seconds: Mapping[str, float] = {}
        self.problem = ""
        self.round: Round | None = None
        self.unfolded: frozenset[str] = frozenset()
        self.entries: dict[str, Sequence[Entry]] = {}
        self.outline = False
        self._news: deque[tuple[str, Beat]] = deque()
        self._told = False
        self._stop = Event()

    # -- asking --------------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        if not self.running:
            self.host.start("work", partial(look, self.host.desk), self.got, self._cannot)

    def got(self, answer: tuple[Sequence[PlanView], Mapping[str, float]]) -> None:
        self.views, self.seconds = answer
        self.problem = ""
        self.host.draw("work", flash=True)

    def _cannot(self, error: BaseException) -> bool:
        """A plan file that cannot be used is said in its place, with the way out."""
        if not isinstance(error, ConfigError | WorkspaceError | ProviderError):
            return False
        self.views, self.problem = (), str(error)
        self.host.draw("work")
        return True

    @property
    def running(self) -> bool:
        """Whether a round goes on."""
        return self.round is not None and not self.round.ended

    # -- drawing -------------------------------------------------------------------------------------------------------

    def sheet(self, width: int, lines: int) -> Sheet:
        if self.views is None:
            return waiting("Looking at the plans of this repository.", width)
        if not self.views:
            return work_rows.no_plan(self.problem, width)
        opened = Open(self.unfolded, self.entries, self.outline)
        return work_rows.work_sheet(self.views, self.round, opened, self.seconds, width)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def opened(self, thing: Thing | None, key: str) -> None:
        if key.startswith("task:"):
            self.unfolded = self.unfolded ^ {key.removeprefix("task:")}
            self.host.draw("work")
        elif key.startswith("wait:"):
            self.act_go_ahead()
        else:
            self.host.say("enter: nothing more is known of this row")

    def _task(self) -> tuple[str, str]:
        """Plan and task of the row under the cursor; the only plan where the row is about none."""
        thing = self.host.thing
        if isinstance(thing, tuple) and len(thing) == 2:
            return str(thing[0]), str(thing[1])
        views = self.views or ()
        return (views[0].name, "") if len(views) == 1 else ("", "")

    def _view(self, plan: str) -> PlanView | None:
        return next((view for view in self.views or () if view.name == plan), None)

    # -- keys ----------------------------------------------------------------------------------------------------------

    def act_go_ahead(self) -> None:
        """Run what fell and what never ran, after a word for what was not allowed yet."""
        plan, _ = self._task()
        view = self._view(plan)
        if self.running:
            self.host.say("a: a round runs already; x stops it")
        elif view is None:
            self.host.say("a: put > on a plan or one of its tasks" if self.views else "a: there is no plan to run")
        elif view.waiting:
            self._ask_for_word(view)
        else:
            self._run(view)

    def _ask_for_word(self, view: PlanView) -> None:
        count, first = len(view.waiting), view.waiting[0]
        named = f"{clean(first.name)}: {clean(' '.join(first.argv))}" if count == 1 else f"the {count} commands listed"
        short = named if len(named) <= 40 else f"{named[:39]}…"
        hint = f"type {ALLOW} to let {'it' if count == 1 else 'them'} run as shown; esc refuses"
        self.host.prompt(Prompt(f"let {short} run?", hint, partial(self._word, view, tuple(view.waiting))))

    def _word(self, view: PlanView, shown: Sequence[Waiting], text: str) -> None:
        if text.strip().lower() != ALLOW:
            self.host.say("a: refused, nothing ran; mog allow lists what waits, and a asks again")
            return
        self.host.start("allow", partial(allow, self.host.desk, shown), lambda _: self._run(view), self._failed)

    def _run(self, view: PlanView) -> None:
        self._stop = Event()
        self.round = Round(view.name, [task.name for task in view.tasks if task.planned.action in ("run", "check")])
        self._news.clear()
        call = partial(self.host.desk.work.run, view.name, beat=self._heard, stop=self._stop)
        self.host.start("run", call, self._ran, self._not_run)
        self.host.draw("work")

    def _heard(self, beat: Beat) -> None:
        """News of a task, on the thread of the round: one message stands for all that came since the screen last looked."""
        self._news.append((strftime("%H:%M:%S", localtime()), beat))
        if not self._told:
            self._told = True
            self.host.tell("work", self._take_news)

    def _take_news(self) -> None:
        self._told = False
        while self._news:
            when, beat = self._news.popleft()
            if self.round is not None:
                self.round.beats[beat.task] = beat
                self.round.since[beat.task] = when
        self.host.draw("work", flash=True)

    def _ran(self, ran: Ran) -> None:
        self._take_news()
        if self.round is not None:
            self.round.ended = ended(ran)
        if ran.report is None:
            names = ", ".join(clean(one.name) for one in ran.waiting[:3])
            self.host.say(f"a: refused, {names} waits for your word: mog allow, or a once more")
        else:
            self.host.say(f"{clean(ran.plan)}: {ended(ran)}")
        self.entries = {}
        self.ask()
        self.host.content("blast").ask()

    def _not_run(self, error: BaseException) -> bool:
        if self.round is not None:
            self.round.ended = "stopped by an error"
        self.host.say(str(error) if isinstance(error, MogError) else f"{type(error).__name__}: {error}")
        self.ask()
        return True

    def act_take_out(self) -> None:
        """Stop the round."""
        if not self.cancel():
            self.host.say(f"x: {self.why_not['take_out']}")

    def cancel(self) -> bool:
        if self.round is None or not self.running or self.round.stopping:
            return False
        self._stop.set()
        self.round.stopping = True
        self.host.say("x: stopping; what is recorded stays, what runs is told to end")
        self.host.draw("work")
        return True

    def close(self) -> None:
        self._stop.set()

    def act_inspect(self) -> None:
        """Receipts of the task under the cursor: its entries in the run ledger."""
        plan, task = self._task()
        if not task:
            self.host.say("i: no task on this row")
            return
        key = f"{plan}/{task}"
        self.host.start(
            "receipts", partial(receipts, self.host.desk, plan, task), partial(self._inspected, key), self._failed
        )

    def _inspected(self, key: str, found: Sequence[Entry]) -> None:
        self.entries[key] = found
        self.unfolded = self.unfolded | {key}
        self.host.draw("work")

    def _failed(self, error: BaseException) -> bool:
        self.host.say(str(error))
        return True

    def act_redo(self) -> None:
        """Give a task whose ground is gone another; else look again."""
        plan, name = self._task()
        view = self._view(plan)
        task = next((one for one in view.tasks if one.name == name), None) if view else None
        if self.running:
            self.host.say("r: a round runs; x stops it")
        elif task is not None and work_rows.needs_ground(task):
            label = f"other ground for {clean(name)[:30]}:"
            self.host.prompt(
                Prompt(
                    label, "what it stands on from now on, in words; esc leaves it", partial(self._repair, plan, name)
                )
            )
        else:
            self.ask()
            self.host.say("r: looking again at what each task read")

    def _repair(self, plan: str, name: str, text: str) -> None:
        if not text.strip():
            self.host.say("r: nothing changed, no ground was given")
            return
        call = partial(self.host.desk.work.repair, f"{plan}/{name}", assumes=(text.strip(),))
        self.host.start("repair", call, lambda _: self._repaired(name), self._failed)

    def _repaired(self, name: str) -> None:
        self.host.say(f"{clean(name)} has other ground; a runs it")
        self.ask()

    def act_why(self) -> None:
        """Why a run does the task under the cursor."""
        plan, name = self._task()
        if not name:
            self.host.say("w: no task on this row")
        else:
            self.unfolded = self.unfolded | {f"{plan}/{name}"}
            self.host.draw("work")

    def act_zoom(self) -> None:
        """By layer, or in the order declared."""
        self.outline = not self.outline
        self.host.draw("work")


def look(desk: Desk) -> tuple[Sequence[PlanView], Mapping[str, float]]:
    """Every plan as a run would find it, and what tasks took. Records nothing. Raises ConfigError."""
    work = desk.work
    return tuple(work.show(name) for name in work.names()), work.seconds()


def allow(desk: Desk, shown: Sequence[Waiting]) -> None:
    """Give the word for commands as they were shown; one that changed since is refused."""
    for one in shown:
        desk.work.allow(one)


def receipts(desk: Desk, plan: str, task: str) -> Sequence[Entry]:
    """Entries of the run ledger about a task."""
    return desk.work.ledger(plan).of(task)


def ended(ran: Ran) -> str:
    """How a round ended, in a few words."""
    report = ran.report
    if report is None:
        return f"nothing ran, {len(ran.waiting)} wait for your word"
    found = {
        "ran": report.executed, "untouched": report.cached, "stopped early": report.cut_off, "failed": report.failed,
        "blocked": report.blocked, "stale": report.stale, "cancelled": report.cancelled,
    }  # fmt: skip
    told = ", ".join(f"{len(names)} {word}" for word, names in found.items() if names)
    return f"{'complete' if report.complete else 'not complete'}: {told or 'nothing to do'}"
