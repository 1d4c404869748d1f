"""A recheck: standing work is audited again against the facts of today; nothing is run. Called by ``runner``.

What may not come in: what a verdict does to the store (``outcomes``). Facts change outside; here it is found out.
"""

from __future__ import annotations

from collections import deque
from functools import partial

from mog.engine.executor import outcomes as results
from mog.engine.executor.crew import Crew, Settings
from mog.engine.executor.desk import Desk, Flight
from mog.engine.executor.model import AuditReport, Event, Task, TaskState
from mog.engine.executor.outcomes import Outcomes
from mog.engine.executor.plan_state import Commit
from mog.engine.executor.work import Tried, heard


class Recheck:
    """One call of ``recheck``: standing work is audited again; nothing is run."""

    def __init__(self, desk: Desk, outcomes: Outcomes, settings: Settings, bound: bool) -> None:
        self._desk, self._state, self._outcomes, self._bound = desk, desk.state, outcomes, bound
        self._settings, self._crew = settings, Crew(settings)
        self._report = AuditReport(round=desk.state.round + 1)
        self._held: list[tuple[str, str]] = []

    def run(self) -> AuditReport:
        """Do it."""
        report = self._report
        with self._desk.mesh.locked():
            done = [t for t in self._state.tasks() if t.state is TaskState.done]
            seen = [(t, self._desk.changed(t), self._desk.outside(t)) for t in done]
        fell = [(t, why) for t, known, reads in seen if (why := known or self._desk.reread(reads))]
        self._outcomes.notice(report.round, fell)
        report.stale.update((task.name, why) for task, why in fell)
        wanted = deque(t for t in done if t.name not in report.stale and self._auditor(t.name))
        order: deque[Flight] = deque()
        try:
            while (wanted or order) and not self._settings.stop.is_set():
                while order and self._crew.has(order[0]):
                    self._take(order.popleft())
                if wanted and self._crew.is_free:
                    self._start(wanted.popleft(), order)
                elif order:
                    self._crew.wait()
            report.cancelled += [flight.task.name for flight in order]
        finally:
            self._crew.abandon()
            self._crew.close()
            self._flush()
        report.held = [name for name in report.held if name not in report.stale]
        return report

    def _auditor(self, name: str) -> bool:
        bound = self._desk.bound.get(name)
        return bound is not None and bound.auditor is not None

    def _start(self, task: Task, order: deque[Flight]) -> None:
        with self._desk.mesh.locked():
            if self._state.task(task.name) != task:
                return  # it fell with a ground that an earlier audit found false
            flight = self._desk.flight(task, "")
        auditor = self._desk.bound[task.name].auditor
        assert auditor is not None
        self._crew.start(flight, lambda: partial(heard, auditor, self._desk.audit_context(task)), retries=False)
        order.append(flight)

    def _take(self, flight: Flight) -> None:
        task, said = flight.task, self._crew.take(flight)
        with self._desk.mesh.locked():
            if self._state.task(task.name) != task:
                return  # it fell while it was audited
        if isinstance(said, Tried):
            self._flush()
            self._failed(task, self._outcomes.refuse(task, said.reason, self._report.round))
        elif said.ok:
            self._held.append((task.name, said.reason))
            self._report.held.append(task.name)
        elif said.disproves:
            self._flush()
            found = self._outcomes.disproved(task, said, self._report.round, bound=self._bound)
            if found.receipt is not None:
                self._report.receipts.append(found.receipt)
                self._report.stale.update(found.fell)
            else:
                self._failed(task, found)
        else:
            self._flush()
            self._failed(task, self._outcomes.refuse(task, said.reason, self._report.round, said))

    def _failed(self, task: Task, found: results.Outcome) -> None:
        into = self._report.failed if found.what == results.FAILED else self._report.stale
        into[task.name] = found.reason

    def _flush(self) -> None:
        held, self._held = self._held, []
        if not held:
            return

        def change(c: Commit) -> None:
            c.round(self._report.round)
            for name, reason in held:
                task = self._state.task(name)
                ground = task.assumption_ids[0] if task.assumption_ids else ""
                c.entry(Event.audited, name, f"holds: {self._state.said(reason)}", node=task.node_id, assumption=ground)

        self._state.commit("audited", change)
