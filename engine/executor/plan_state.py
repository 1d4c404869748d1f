"""One plan as it stands in the store: tasks, traces, round, run ledger; and the one way in which they change. Used by the runner.

What lives here: reading records, one commit with its ledger entries. What may not come in: callables, scheduling. Nothing
is kept beside the store but the order of names, so another process that writes is seen at the next look.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from mog.engine.errors import HeldByOther, NotFound, PolicyDenied
from mog.engine.executor import keys
from mog.engine.executor.model import STORED_AS, Event, Task, TaskState, task_json, task_of
from mog.engine.executor.receipts import GENESIS, Entry
from mog.engine.executor.traces import Trace, settle, trace_json, trace_of
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.records import thaw
from mog.engine.reason.writer import Writer

T = TypeVar("T")
MAX_DETAIL_BYTES = 2_000
_PAUSE = 0.02


class PlanState:
    """Records of one plan. Not locked: methods that read several records want ``mesh.locked()`` around them."""

    def __init__(self, mesh: Mesh, plan: str, patience: float = 5.0) -> None:
        """``patience``: seconds to wait for another process that writes, before ``HeldByOther`` is raised."""
        self.mesh, self.plan, self.patience = mesh, keys.check(plan, "plan"), patience
        self._tasks: dict[str, tuple[Any, Task]] = {}
        self._traces: dict[str, tuple[Any, Trace]] = {}
        self.names: dict[str, None] = {}
        self.last = 0  # place of the last task in the order of declaration
        self.load()

    def load(self) -> None:
        """Look again which tasks the plan has."""
        with self.mesh.locked():
            head = f"{keys.plan(self.plan)}/"
            rows = [row for key, row in self.mesh.tables.rows["task"].items() if key.startswith(head)]
            ordered = sorted(rows, key=lambda row: (row["at"], row["name"]))
            self.names = {row["name"]: None for row in ordered}
            self.last = ordered[-1]["at"] if ordered else 0
            self.revision = self.mesh.revision

    def __contains__(self, name: object) -> bool:
        return name in self.names

    # -- reading

    def task(self, name: str) -> Task:
        """A task as recorded. Raises NotFound."""
        key = keys.task(self.plan, name)
        row = self.mesh.tables.rows["task"].get(key)
        if row is None:
            raise NotFound(
                f"the plan {self.plan!r} has no task {name!r}"[:300], way_out="list them with `mog plan show`"
            )
        known = self._tasks.get(name)
        if known is None or known[0] is not row:
            known = self._tasks[name] = (row, task_of(row, f"task {key}"))
        return known[1]

    def tasks(self) -> Iterator[Task]:
        """Every task, in order of declaration."""
        return (self.task(name) for name in self.names)

    def trace(self, name: str) -> Trace | None:
        """What the last execution of a task read and gave, None when there was none."""
        key = keys.task(self.plan, name)
        row = self.mesh.tables.rows["trace"].get(key)
        if row is None:
            return None
        known = self._traces.get(name)
        if known is None or known[0] is not row:
            known = self._traces[name] = (row, trace_of(row, f"trace {key}"))
        return known[1]

    def output(self, name: str) -> tuple[Mapping[str, Any], str]:
        """A task's output, read-only, and its digest. Empty before it ran."""
        trace = self.trace(name)
        return (trace.output, trace.output_digest) if trace else ({}, "")

    def row(self) -> Mapping[str, Any]:
        """The record of the plan itself: round, source, number of entries, head of the chain."""
        found: Mapping[str, Any] | None = self.mesh.tables.rows["task"].get(keys.plan(self.plan))
        return found or {"plan": self.plan, "round": 0, "source": "", "entries": 0, "head": GENESIS}

    @property
    def round(self) -> int:
        """Number of the last round that was recorded."""
        return int(self.row()["round"])

    # -- what follows from the records

    def grounded(self, task: Task) -> str:
        """Why a task has no ground to stand on; "" when it has."""
        mesh = self.mesh
        for id, statement in zip(task.assumption_ids, task.assumes, strict=True):
            if id not in mesh.graph:
                return f"its assumption is not recorded: {statement}"
            if not mesh.stands(id):
                retired = mesh.retired(id)
                how = retired.how if retired and retired.how != "pruned" else "rejected"
                return f"its ground was {how}: {statement}"
        return ""

    def fallen(self, task: Task, excused: bool = False) -> str:
        """Why what a done task led to no longer stands; "" when it does.

        ``excused``: not counting needs that do not stand either, whose versions may stand again after a round.
        """
        why = self.grounded(task)
        if why or not task.node_id:
            return why or "nothing is recorded of its work"
        if task.node_id in self.mesh.graph and self.mesh.stands(task.node_id):
            return ""
        rests = {edge.dst for edge in self.mesh.graph.out_edges(task.node_id, ("depends_on",))}
        shaky = ""
        for need in task.needs:
            node = self.task(need).node_id if need in self else ""
            if node not in rests:
                return f"{need} ran again"
            if not self.mesh.stands(node):
                shaky = shaky or f"{need} no longer stands"
        return "" if shaky and excused else shaky or "its result no longer stands"

    def state(self, task: Task) -> TaskState:
        """The state of a task now: what is recorded as done is stale once it has fallen, whoever made it fall."""
        return TaskState.stale if task.state is TaskState.done and self.fallen(task) else task.state

    # -- writing

    def said(self, text: str) -> str:
        """What a worker or auditor said, fit to be kept: valid Unicode of at most 2,000 bytes that holds no credential."""
        kept = text.encode("utf-8", "replace")[:MAX_DETAIL_BYTES].decode("utf-8", "ignore")
        try:
            self.mesh.refuse_secret(kept)
        except PolicyDenied as error:
            return f"left out: {error.what}"
        return kept

    def commit(self, verb: str, change: Callable[[Commit], T], **context: Any) -> T:
        """One commit: what ``change`` says is recorded together or not at all.

        While another process writes it is tried again for ``patience`` seconds, so ``change`` may be called twice.
        Raises as ``Mesh.writing``.
        """
        until = time.monotonic() + self.patience
        while True:
            try:
                with self.mesh.writing(verb, plan=self.plan, **context) as writer:
                    before = self.mesh.revision
                    commit = Commit(self, writer)
                    result = change(commit)
                    commit.finish()
                if self.revision == before and self.mesh.revision <= before + 1:  # nobody else wrote
                    self.revision = self.mesh.revision
                return result
            except HeldByOther:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE)


class Commit:
    """One open commit of a plan."""

    def __init__(self, state: PlanState, writer: Writer) -> None:
        self.state, self.writer = state, writer
        self._row = thaw(state.row())
        self._was = dict(self._row)

    def begin(self) -> str:
        """The source node of the plan, made when it is first needed."""
        if not self._row["source"]:
            plan = self.state.plan
            self._row["source"] = self.writer.source(
                f"execution plan: {plan}", origin="runner", kind="run", attrs={"plan": plan}
            )
        return str(self._row["source"])

    @property
    def next_seq(self) -> int:
        """Number of the next entry."""
        return int(self._row["entries"]) + 1

    def round(self, number: int) -> None:
        """Say that a round has begun."""
        self._row["round"] = max(number, self._row["round"])

    def save(self, task: Task) -> Task:
        """Record a task as it is now."""
        task = replace(task, detail=self.state.said(task.detail))
        self.writer.record("task", keys.task(task.plan, task.name), task_json(task))
        return task

    def trace(self, name: str, trace: Trace | None) -> None:
        """Record what a task read and gave."""
        key = keys.task(self.state.plan, name)
        self.writer.record("trace", key, None if trace is None else trace_json(trace))

    def forget(self, name: str) -> None:
        """Take the records of a task away."""
        for table in ("task", "trace"):
            self.writer.record(table, keys.task(self.state.plan, name), None)

    def entry(
        self, event: Event, task: str, detail: str, *, node: str = "", assumption: str = "",
        data: Mapping[str, Any] | None = None,
    ) -> Entry:  # fmt: skip
        """Append an entry to the run ledger."""
        stored = STORED_AS.get(event, event)
        more = {**(data or {}), **({"kind": event.value} if stored is not event else {})}
        body = settle(more, "data")
        made = Entry(
            self.next_seq, self._row["round"], stored.value, task, self.state.said(detail), node, assumption, body
        )
        made = replace(made, digest=made.computed(self._row["head"]))
        self.writer.record("run", keys.run(self.state.plan, made.seq), made.row())
        self._row["entries"], self._row["head"] = made.seq, made.digest
        return made

    def finish(self) -> None:
        """Record the plan's own record when it changed."""
        if self._row != self._was:
            self.writer.record("task", keys.plan(self.state.plan), self._row)
