"""What a runner works with: code bound to tasks, sources of reads, and the judgement whether a task has to run. For ``rounds``.

What may not come in: writes, threads. A task runs again when what it read is no longer what it read, when its ground fell,
or when it was repaired; work that is not declared pure also whenever something it needs ran again.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from mog.engine.errors import MogError
from mog.engine.executor.context import Assumed, AuditContext, GraphView, Inputs, Reads, RunContext, Source, look
from mog.engine.executor.model import REPAIRED, Task, TaskState
from mog.engine.executor.plan_state import PlanState
from mog.engine.executor.registry import Implementation
from mog.engine.executor.traces import ABSENT, GRAPH, INPUT, Read, Trace, digest, settle

RUN, KEEP, CUT, BLOCKED = "run", "keep", "cut", "blocked"


@dataclass(frozen=True, slots=True)
class Bound:
    """The code of one task in this process."""

    worker: Implementation
    auditor: Implementation | None = None


@dataclass(frozen=True, slots=True)
class Weighed:
    """What to do with a task now (run, keep, cut off, blocked), and why.

    ``reads`` are of sources outside the store and still have to be held against them, see ``Desk.settled``.
    """

    action: str
    why: str = ""
    reads: tuple[Read, ...] = ()


@dataclass
class Flight:
    """A task while somebody works on it.

    Attributes:
        task: as recorded when it began. needs: versions of what it needs, as read. why: the reason it runs.
        tries: how earlier tries of this round ended. ticket, deadline: of the try at hand.
        stop: set when nobody waits any more. reads: what the try at hand read.
    """

    task: Task
    needs: Mapping[str, str]
    why: str
    tries: list[str] = field(default_factory=list)
    ticket: int = 0
    deadline: float | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    reads: Reads = field(default_factory=Reads)


class Desk:
    """Bound code and sources of one plan. Its methods that read the plan want ``mesh.locked()`` around them."""

    def __init__(self, state: PlanState, sources: Mapping[str, Source]) -> None:
        self.state, self.mesh = state, state.mesh
        self.bound: dict[str, Bound] = {}
        self.sources = dict(sources)

    def pure(self, task: Task) -> bool:
        """Whether a task was declared to be a function of what it reads."""
        bound = self.bound.get(task.name)
        return task.pure or (bound is not None and bound.worker.pure)

    # -- whether to run

    def weigh(self, task: Task, again: bool) -> Weighed:
        """What to do with a task whose needs are all done; ``again``: failed work is tried once more.

        Only the store is looked at, so this may be done under its lock; ``settled`` does the rest without.
        """
        ground = self.state.grounded(task)
        if ground:
            return Weighed(BLOCKED, ground)
        if task.state is TaskState.failed and not again:
            return Weighed(BLOCKED, f"it failed: {task.detail}")
        if task.state in (TaskState.pending, TaskState.failed):
            return self._run(task, "it never ran" if task.state is TaskState.pending else f"it failed: {task.detail}")
        why = self.changed(task)
        if task.state is TaskState.done:
            return self._run(task, why) if why else Weighed(KEEP, "", self.outside(task))
        if task.cause == REPAIRED or not self.pure(task):
            return self._run(task, task.detail if task.cause == REPAIRED else why or task.detail)
        return self._run(task, why) if why else Weighed(CUT, "", self.outside(task))

    def settled(self, task: Task, weighed: Weighed) -> Weighed:
        """The same, held against sources outside the store too. Reads files: not under the lock of the mesh."""
        why = self.reread(weighed.reads)
        return self._run(task, why) if why else weighed

    def _run(self, task: Task, why: str) -> Weighed:
        if task.name in self.bound:
            return Weighed(RUN, why)
        return Weighed(BLOCKED, f"no code is bound to it in this process: declare it, or bring its registry ({why})")

    def changed(self, task: Task) -> str:
        """What of the store is no longer as it was when a task ran; "" when its trace verifies and its decision stands."""
        trace = self._verifying(task)
        if trace is None:
            unknown = "nothing is remembered of what it read"
            return unknown if task.state is not TaskState.done else self.state.fallen(task)
        bound = self.bound.get(task.name)
        if bound is not None and trace.worker != bound.worker.digest:
            return "its worker is other code than the one that ran"
        inside = (read for read in trace.reads if read.kind in (INPUT, GRAPH))
        return self.reread(inside) or self.state.fallen(task)

    def outside(self, task: Task) -> tuple[Read, ...]:
        """What a task read of sources outside the store."""
        trace = self._verifying(task)
        return tuple(read for read in trace.reads if read.kind not in (INPUT, GRAPH)) if trace else ()

    def _verifying(self, task: Task) -> Trace | None:
        trace = self.state.trace(task.name)
        return trace if trace is not None and task.node_id and trace.node_id == task.node_id else None

    def reread(self, reads: Iterable[Read]) -> str:
        """The first read that would give something else now, in words; "" when all are the same."""
        for read in reads:
            if self._now(read) != read.digest:
                return f"{read} changed"
        return ""

    def _now(self, read: Read) -> str:
        if read.kind == INPUT:
            return self.state.output(read.key[0])[1] if read.key[0] in self.state else ABSENT
        if read.kind == GRAPH:
            return look(self.mesh, self.state.plan, read.key)[1]
        source = self.sources.get(read.kind)
        if source is None:
            return ""
        try:
            found = source(*read.key)
            return digest(found if found is None or isinstance(found, bytes) else settle(found, read.kind))
        except (MogError, OSError):  # what cannot be read now is not what was read
            return ""

    # -- what is handed out

    def flight(self, task: Task, why: str) -> Flight:
        """A task about to be worked on."""
        return Flight(task, {need: self.state.task(need).node_id for need in task.needs}, why)

    def assumed(self, task: Task) -> tuple[Assumed, ...]:
        """What a task stands on."""
        return tuple(Assumed(id, text) for id, text in zip(task.assumption_ids, task.assumes, strict=True))

    def run_context(self, flight: Flight) -> RunContext:
        """The context of the next try."""
        task, flight.reads = flight.task, Reads()
        outputs = {need: self.state.output(need) for need in task.needs}
        graph = GraphView(self.mesh, self.state.plan, flight.reads)
        return RunContext(
            task, task.attempt + 1, Inputs(outputs, flight.reads), graph, self.assumed(task), len(flight.tries),
            flight.reads, self.sources, flight.stop,
        )  # fmt: skip

    def audit_context(self, task: Task) -> AuditContext:
        """The context of an audit of what a task gave before."""
        graph = GraphView(self.mesh, self.state.plan, Reads())
        return AuditContext(task, self.state.output(task.name)[0], self.assumed(task), graph)
