"""One round over a plan: layers of tasks whose needs are done, worked on by a bounded pool, recorded in the order declared.

Who calls: ``runner``. What may not come in: what an outcome does to the store (``outcomes``), whether a task has to run
(``desk``). Workers run on other threads or on the caller's; every commit happens on the caller's, so the ledger's order
does not depend on who was faster. Each task runs at most once in a round, retries apart; the cost is linear in the plan.
"""

from __future__ import annotations

import contextlib
import heapq
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from mog.engine.errors import Cancelled, MogError, PolicyDenied
from mog.engine.executor import outcomes as results
from mog.engine.executor.crew import Crew, Settings
from mog.engine.executor.desk import BLOCKED, CUT, RUN, Desk, Flight, Weighed
from mog.engine.executor.model import Beat, Event, RunReport, Task, TaskState
from mog.engine.executor.outcomes import Outcomes
from mog.engine.executor.plan_state import Commit, PlanState
from mog.engine.executor.pool import Job
from mog.engine.executor.work import OUTPUT, Tried, attempt, timed
from mog.engine.model import Progress
from mog.engine.reason.records import Label

Item = tuple[str, Weighed, Flight | None]


class Round:
    """One call of ``run`` or ``resume``."""

    def __init__(self, desk: Desk, outcomes: Outcomes, settings: Settings, again: bool) -> None:
        self._desk, self._state, self._outcomes = desk, desk.state, outcomes
        self._settings, self._again = settings, again
        self._report = RunReport(round=desk.state.round + 1)
        self._settled: set[str] = set()
        self._rested: list[str] = []  # cut off, not recorded yet
        self._crew = Crew(settings)
        self._order: deque[Item] = deque()  # begun, in the order in which they are recorded

    def run(self) -> RunReport:
        """Do it. What is interrupted leaves the store as after the last commit, and says so in the ledger."""
        with self._desk.mesh.locked():
            tasks = list(self._state.tasks())
            fell = [(t, why) for t in tasks if t.state is TaskState.done and (why := self._state.fallen(t))]
        self._outcomes.notice(self._report.round, fell)
        self._report.stale.update((task.name, why) for task, why in fell)
        try:
            for layer in layers(tasks, self._settled):
                self._layer(layer)
                if self._settings.stop.is_set():
                    break
        except (KeyboardInterrupt, Cancelled):
            with contextlib.suppress(MogError):  # the store says what it says; why it was stopped matters more
                self._give_up()
            raise
        finally:
            self._crew.abandon()
            self._crew.close()
        self._finish(tasks)
        return self._report

    # -- a layer

    def _layer(self, layer: list[str]) -> None:
        self._report.layers.append(tuple(layer))
        waiting, order = deque(layer), self._order
        while waiting or order:
            while order and (order[0][2] is None or self._crew.has(order[0][2])):
                self._take(*order.popleft())
            if self._settings.stop.is_set():
                waiting.clear()
                if not self._crew.waits(self._settings.grace):
                    self._give_up()
            elif waiting and self._crew.is_free:
                self._start(waiting.popleft())
            elif order:
                self._crew.wait()

    def _start(self, name: str) -> None:
        with self._desk.mesh.locked():
            task = self._state.task(name)
            unmet = [need for need in task.needs if need not in self._settled]
            weighed = Weighed(BLOCKED, waiting_for(unmet)) if unmet else self._desk.weigh(task, self._again)
        weighed = self._desk.settled(task, weighed)
        flight = None
        if weighed.action == RUN:
            with self._desk.mesh.locked():
                flight = self._desk.flight(task, weighed.why)
        if flight is not None:
            self._told(name)
            self._beat(name, "begun", weighed.why)
        self._order.append((name, weighed, flight))
        if flight is not None:
            self._crew.start(flight, partial(self._job, flight))

    def _job(self, flight: Flight) -> Job:
        bound = self._desk.bound[flight.task.name]
        with self._desk.mesh.locked():
            context = self._desk.run_context(flight)
        return partial(timed, partial(attempt, context, bound.worker, bound.auditor, flight.reads.all))

    def _take(self, name: str, weighed: Weighed, flight: Flight | None) -> None:
        report = self._report
        if flight is not None:
            self._record(flight, self._checked(self._crew.take(flight)))
        elif weighed.action == BLOCKED:
            report.blocked[name] = weighed.why
            self._beat(name, BLOCKED, weighed.why)
        elif self._still(name):
            self._settled.add(name)
            (report.cut_off if weighed.action == CUT else report.cached).append(name)
            if weighed.action == CUT:
                self._rested.append(name)
                report.stale.pop(name, None)
            self._beat(name, weighed.action)
        else:
            report.stale[name] = "it fell in this round"
            self._beat(name, "fell", report.stale[name])

    def _still(self, name: str) -> bool:
        """Whether a task that was to be left alone still stands, after what its layer did."""
        with self._desk.mesh.locked():
            return not self._state.fallen(self._state.task(name))

    def _record(self, flight: Flight, tried: Tried) -> None:
        report, name = self._report, flight.task.name
        self._flush()
        with self._desk.mesh.locked():
            before = self._state.output(name)[1] if name in self._state else ""
        outcome = self._outcomes.record(flight, tried, report.round)
        report.why[name] = flight.why
        report.stale.pop(name, None)
        if outcome.what == results.EXECUTED:
            report.executed.append(name)
            self._settled.add(name)
        elif outcome.what == results.FAILED:
            report.failed[name] = outcome.reason
        else:
            report.stale[name] = outcome.reason
        if outcome.receipt is not None:
            report.receipts.append(outcome.receipt)
            for fallen, why in outcome.fell:  # what was settled in this round may have fallen
                self._settled.discard(fallen)
                report.stale[fallen] = why
        same = outcome.what == results.EXECUTED and bool(before) and before == tried.output_digest
        self._beat(name, outcome.what, outcome.reason, tried.seconds, same)

    def _checked(self, tried: Tried) -> Tried:
        try:
            self._desk.mesh.refuse_secret(*_texts(tried.output))
        except PolicyDenied:
            said = "its output holds a text that is shaped like a credential"
            return Tried(OUTPUT, said, tried.finished, seconds=tried.seconds)
        return tried

    def _told(self, name: str) -> None:
        if self._settings.progress is not None:
            self._settings.progress(Progress(f"running {name}", len(self._settled), len(self._state.names)))

    def _beat(self, name: str, what: str, why: str = "", seconds: float = 0.0, unchanged: bool = False) -> None:
        if self._settings.beat is not None:
            done, total = len(self._settled), len(self._state.names)
            self._settings.beat(Beat(name, what, why, seconds, unchanged, done, total))

    # -- the end

    def _give_up(self) -> None:
        """Record what is finished, and of the rest that it was stopped."""
        self._crew.drain()
        left = []
        while self._order:
            name, weighed, flight = self._order.popleft()
            if flight is None or self._crew.has(flight):
                self._take(name, weighed, flight)
            else:
                left.append(name)
        self._crew.abandon()
        self._report.cancelled += left

        def change(c: Commit) -> None:
            c.round(self._report.round)
            for name in left:
                c.entry(Event.cancelled, name, "stopped while it ran; nothing of it was recorded")

        if left:
            self._state.commit("cancelled", change)

    def _flush(self) -> None:
        """Record tasks that were stale and turned out to be as they were."""
        rested, self._rested = self._rested, []
        if not rested:
            return

        def change(c: Commit) -> None:
            c.round(self._report.round)
            for name in rested:
                task = self._state.task(name)
                if task.state is TaskState.stale:
                    c.save(replace(task, state=TaskState.done, detail="what it read is what it was", cause=""))
                    c.entry(Event.cut_off, name, "what it read is what it was; its result stands", node=task.node_id)

        self._state.commit("spared", change)

    def _finish(self, tasks: list[Task]) -> None:
        self._flush()
        report = self._report
        with self._desk.mesh.locked():
            happened = self._state.round >= report.round
            report.round = self._state.round
            now = [self._state.task(task.name) for task in tasks if task.name in self._state]
            for done in (report.executed, report.cached, report.cut_off):
                done[:] = [name for name in done if name in self._settled]
            report.unverified = unverified(self._state, now)
            for task in now:
                if task.name not in self._settled:
                    self._say(task)
            report.complete = not (
                report.blocked or report.failed or report.stale or report.cancelled or report.unverified
            )
        if happened:
            self._state.commit("rested", self._rest)

    def _say(self, task: Task) -> None:
        """What to report of a task that was not settled."""
        report, name = self._report, task.name
        why = report.blocked.pop(name, "")
        if task.state is TaskState.failed:
            report.failed[name] = task.detail
            report.stale.pop(name, None)
        elif task.state is TaskState.done and not self._state.fallen(task):
            if name not in report.unverified:
                report.cached.append(name)
        elif name not in report.cancelled:
            ground = self._state.grounded(task)
            if ground or name not in report.why:
                unmet = [need for need in task.needs if need not in self._settled]
                report.blocked[name] = ground or why or (waiting_for(unmet) if unmet else "it was not come to")
                report.stale.pop(name, None)

    def _rest(self, c: Commit) -> None:
        """Entries about what was not touched."""
        for name in self._report.cached:
            task = self._state.task(name)
            c.entry(Event.cached, name, "nothing it rests on changed; its result stands", node=task.node_id)
        for name, why in self._report.blocked.items():
            task = self._state.task(name)
            c.entry(Event.blocked, name, why, assumption=task.assumption_ids[0] if task.assumption_ids else "")


def layers(tasks: list[Task], settled: set[str]) -> Iterator[list[str]]:
    """Tasks whose needs are settled, layer by layer, in the order declared. Whoever iterates adds to ``settled`` in between."""
    place = {task.name: task.at for task in tasks}
    users: dict[str, list[str]] = {task.name: [] for task in tasks}
    missing = {task.name: len(set(task.needs)) for task in tasks}
    for task in tasks:
        for need in dict.fromkeys(task.needs):
            users[need].append(task.name)
    ready = sorted((name for name, count in missing.items() if not count), key=place.__getitem__)
    while ready:
        yield ready
        following: list[tuple[int, str]] = []
        for name in ready:
            for user in users[name] if name in settled else ():
                missing[user] -= 1
                if not missing[user]:
                    heapq.heappush(following, (place[user], user))
        ready = [name for _, name in sorted(following)]


def waiting_for(unmet: list[str]) -> str:
    """Why a task waits."""
    return f"it waits for {', '.join(sorted(unmet)[:8])}" + (" …" if len(unmet) > 8 else "")


def unverified(state: PlanState, tasks: list[Task]) -> tuple[str, ...]:
    """Tasks that are done and rest on work that failed, in order of declaration."""
    mesh, nodes = state.mesh, state.mesh.graph
    done = (t for t in tasks if t.state is TaskState.done and t.node_id in nodes)
    return tuple(t.name for t in done if mesh.label(t.node_id) is Label.unverified)


def _texts(value: Any) -> Iterator[str]:
    """Every text in a settled value."""
    stack = [value]
    while stack:
        one = stack.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            stack += [*one.values(), *one.keys()]
        elif isinstance(one, list):
            stack += one
