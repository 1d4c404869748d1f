"""A plan of the earlier package taken into the store, and one of the store given out: tasks, outputs, run ledger.

Called by ``engine/executor/session``. Taken in, the records are those the runner reads, so it goes on where the earlier one
stopped; given out untouched they are the same bytes. What the format has no place for is said. What may not come in: files,
code, the graph's own way in and out (``engine/reason/v1`` has it).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mog.engine.errors import NotFound, StoreDamaged, UsageError
from mog.engine.executor import keys
from mog.engine.executor.model import Task, TaskState, task_json, task_of
from mog.engine.executor.receipts import RunLedger
from mog.engine.executor.traces import Trace, digest, settle, trace_json
from mog.engine.executor.v1.records import GENESIS, EntryV1, ExecutionV1, RunLedgerV1, TaskV1, plan_source
from mog.engine.executor.v1.runledger import entry_digest
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.records import thaw
from mog.engine.reason.v1.fields import exact
from mog.engine.reason.v1.packing import EXTRAS
from mog.engine.reason.v1.records import GraphV1
from mog.engine.reason.writer import Writer

_WAY_OUT = "give every task one ground and the key of a registry, then export again"
_MAX_ENTRY_BYTES = 768 * 1024  # of the one record that an entry becomes


@dataclass(frozen=True, slots=True)
class PlanExport:
    """A plan and its run ledger as the formats have them, and sentences about what they cannot say."""

    execution: ExecutionV1
    ledger: RunLedgerV1
    notes: tuple[str, ...]


# -- into the store


def take_plan(writer: Writer, execution: ExecutionV1, ledger: RunLedgerV1, where: str) -> bool:
    """Record a plan in an open commit, after the graph it belongs to; False when it stands here already, word for word.

    Raises:
        UsageError: a plan of that name stands here and says something else, or a value the store would change.
    """
    records = _records(execution, ledger, where)
    rows = writer.mesh.tables.rows
    mine = {key: thaw(rows[key[0]].get(key[1])) for key in records}
    if mine == records:
        return False
    if rows["task"].get(keys.plan(execution.plan)) is not None:
        what = f"a plan called {execution.plan!r:.80} stands here already and is not this one"
        raise UsageError(what, where=where, way_out="import into a workspace of its own")
    for (table, key), value in records.items():
        writer.record(table, key, value)
    return True


def _records(execution: ExecutionV1, ledger: RunLedgerV1, where: str) -> dict[tuple[str, str], Any]:
    plan = keys.check(execution.plan, "plan")
    head = {
        "plan": plan, "round": execution.round, "source": plan_source(plan), "entries": len(ledger.entries),
        "head": ledger.head,
    }  # fmt: skip
    found: dict[tuple[str, str], Any] = {("task", keys.plan(plan)): head}
    for i, task in enumerate(execution.tasks):
        key = keys.task(plan, keys.check(task.name, "task"))
        found["task", key] = task_json(_task(plan, i, task))
        if task.attempt or task.output:
            found["trace", key] = _trace(task, f"{where}: tasks[{i}].output")
    for i, entry in enumerate(ledger.entries):
        found["run", keys.run(plan, entry.seq)] = _entry(entry, f"{where}: entries[{i}].data")
    return found


def _task(plan: str, at: int, task: TaskV1) -> Task:
    return Task(
        plan, task.name, at, task.title, task.rationale, (task.assumes,), task.needs, task.produces, task.worker_key,
        task.auditor_key or "", task.auditor_key is not None, state=TaskState(task.state), attempt=task.attempt,
        node_id=task.node_id or "", assumption_ids=(task.assumption_id,), artefacts=task.artefacts,
    )  # fmt: skip


def _trace(task: TaskV1, where: str) -> dict[str, Any]:
    """The output; what was read is not known, so the trace names no decision and spares nobody a run."""
    output = settle(task.output, where)
    row = trace_json(Trace("", "", (), output, digest(output)))
    if not exact(task.output):
        row[EXTRAS] = json.dumps(task.output, ensure_ascii=False)  # 1.0, which is stored as 1
    return row


def _entry(entry: EntryV1, where: str) -> dict[str, Any]:
    row = {name: getattr(entry, name) for name in EntryV1.__slots__}
    if not exact(row["data"]):
        what = "a number with more than one form, such as 1.0: stored, it would have another digest"
        raise UsageError(what, where=where, way_out="import the graph and the plan's outputs without this run ledger")
    if len(json.dumps(row)) > _MAX_ENTRY_BYTES:
        raise UsageError("an entry beyond 768 KiB", where=where, way_out="no way in: keep the file beside the ledger")
    return {**row, "data": dict(row["data"])}


# -- out of the store


def plans(mesh: Mesh) -> tuple[str, ...]:
    """Names of the plans in the store, sorted."""
    with mesh.locked():
        rows = mesh.tables.rows["task"]
        return tuple(sorted(str(row["plan"]) for key, row in rows.items() if "/" not in key and "plan" in row))


def tasks(mesh: Mesh, plan: str) -> tuple[Task, ...]:
    """Tasks of a plan as recorded, in order of declaration. Raises NotFound."""
    with mesh.locked():
        rows = mesh.tables.rows["task"]
        if keys.plan(plan) not in rows:
            raise NotFound(f"no plan {plan!r:.80}", way_out="list them with `mog session inspect`")
        begin = f"{keys.plan(plan)}/"
        found = [task_of(row, f"task {key}") for key, row in rows.items() if key.startswith(begin)]
        return tuple(sorted(found, key=lambda task: (task.at, task.name)))


def give_plan(mesh: Mesh, plan: str, graph: GraphV1) -> PlanExport:
    """A plan as the formats have it, for a graph that was exported at the same state (hold ``mesh.locked()``).

    Raises:
        NotFound: no such plan.
        UsageError: tasks that the format cannot hold: without the key of a registry, or without any ground; all are named.
        StoreDamaged: a run ledger whose chain does not hold.
    """
    found = tasks(mesh, plan)
    _refuse(found, plan)
    head = mesh.tables.rows["task"][keys.plan(plan)]
    ledger = _ledger(mesh, plan)
    _check_tasks_of(ledger, found, plan)
    fallen = {node.id for node in graph.nodes if node.invalidated}
    rejected = {record.id for record in graph.assumptions if record.status == "rejected"}
    notes: list[str] = []
    out = tuple(_given(mesh, task, fallen, rejected, notes) for task in found)
    return PlanExport(ExecutionV1(plan, int(head["round"]), out), ledger, tuple(notes))


def _refuse(found: Iterable[Task], plan: str) -> None:
    reasons = [task.unbindable for task in found if task.unbindable]
    reasons += [f"task {task.name!r} stands on no assumption" for task in found if not task.assumption_ids]
    if reasons:
        what = "a plan that the format cannot hold: " + "; ".join(reasons[:12])
        raise UsageError(what, where=f"plan {plan}"[:80], way_out=_WAY_OUT)


def _given(mesh: Mesh, task: Task, fallen: set[str], rejected: set[str], notes: list[str]) -> TaskV1:
    trace = mesh.tables.rows["trace"].get(keys.task(task.plan, task.name))
    state, ground = task.state.value, task.assumption_ids[0]
    if state == "done" and (task.node_id in fallen or not task.node_id or ground in rejected):
        state = "stale"
        notes.append(f"{task.name}: done when it was recorded, and what it rests on fell since, so it is stale there")
    if len(task.assumption_ids) > 1:
        notes.append(f"{task.name}: stands on {len(task.assumption_ids)} assumptions, of which the format names the first")
    if task.timeout is not None or task.retries:
        notes.append(f"{task.name}: its time limit and its retries have no place there")
    return TaskV1(
        task.name, task.title, task.rationale, state, task.attempt, task.assumes[0], task.needs, task.produces,
        task.worker_key, task.auditor_key or None, task.node_id or None, ground, _output(trace), task.artefacts,
    )  # fmt: skip


def _output(row: Mapping[str, Any] | None) -> dict[str, Any]:
    if row is None:
        return {}
    found: dict[str, Any] = json.loads(row[EXTRAS]) if EXTRAS in row else thaw(row["output"])
    return found


def _ledger(mesh: Mesh, plan: str) -> RunLedgerV1:
    entries: list[EntryV1] = []
    previous, kept = GENESIS, RunLedger(mesh, plan)
    for row in kept.entries():
        entry = EntryV1(**row.row())
        if entry.seq != len(entries) + 1 or entry.digest != entry_digest(entry, previous):
            where = f"run {keys.run(plan, len(entries) + 1)}"
            raise StoreDamaged("the entry is not what was recorded", where=where, way_out="run `mog doctor`")
        previous = entry.digest
        entries.append(entry)
    if previous != kept.head:
        raise StoreDamaged("the run ledger does not end at its head", where=f"plan {plan}"[:80], way_out="run `mog doctor`")
    return RunLedgerV1(tuple(entries))


def _check_tasks_of(ledger: RunLedgerV1, found: Iterable[Task], plan: str) -> None:
    gone = Counter(entry.task for entry in ledger.entries)
    for task in found:
        gone.pop(task.name, None)
    if gone:
        listed = ", ".join(sorted(gone)[:8])
        what = f"the run ledger speaks of tasks that the plan no longer has: {listed}"
        raise UsageError(what, where=f"plan {plan}"[:80], way_out="declare them again, then export")
