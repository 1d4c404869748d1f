"""Declaring, repairing and removing tasks: what is checked, and what each writes. Called by ``runner``.

What may not come in: running, rounds. Keys are looked up before anything is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from mog.engine.errors import ConfigError, UsageError
from mog.engine.executor import keys
from mog.engine.executor.desk import Bound, Desk
from mog.engine.executor.model import REPAIRED, Event, Task, TaskState
from mog.engine.executor.plan_state import Commit
from mog.engine.executor.registry import Auditor, Implementation, TaskRegistry, Worker, code_digest
from mog.engine.reason.writer import Writer

MAX_RETRIES = 10
MAX_TIMEOUT = 86_400.0
_AGAIN = ("worker_key", "needs", "produces")
"""What of a definition, besides its ground, makes work stale when it is declared otherwise."""


@dataclass(frozen=True, slots=True)
class Code:
    """The code a declaration names."""

    worker: Implementation | None
    auditor: Implementation | None
    worker_key: str = ""
    auditor_key: str = ""

    def bound(self, task: Task) -> Bound:
        """As the desk keeps it."""
        assert self.worker is not None
        return Bound(self.worker, self.auditor)


def code(
    registry: TaskRegistry | None, run: Worker | None, worker_key: str, audit: Auditor | None, auditor_key: str
) -> Code:
    """Look code up. Raises ConfigError: a key that nobody brings."""
    if registry is None and (worker_key or auditor_key):
        raise ConfigError(
            f"{worker_key or auditor_key!r} is a key, and there is no registry", way_out="pass a registry"
        )
    table = registry or TaskRegistry()
    plain_worker = Implementation(run, False, code_digest(run)) if run is not None else None
    plain_auditor = Implementation(audit, False, code_digest(audit)) if audit is not None else None
    worker = table.worker(worker_key) if worker_key else plain_worker
    return Code(worker, table.auditor(auditor_key) if auditor_key else plain_auditor, worker_key, auditor_key)


def made(plan: str, name: str, assumes: Sequence[str], code: Code, **more: Any) -> Task:
    """The record of a declaration. Raises UsageError."""
    keys.check(name, "task")
    task = Task(
        plan, name, 0, worker_key=code.worker_key, auditor_key=code.auditor_key, audited=code.auditor is not None,
        assumes=tuple(dict.fromkeys(assumes)), **{**more, "title": more["title"] or _title(name)},
    )  # fmt: skip
    for part in ("assumes", "needs", "produces"):
        if any(not isinstance(one, str) or not one.strip() for one in getattr(task, part)):
            raise UsageError(f"an empty text in {part}", where=name, way_out="leave it out")
    if task.name in task.needs or len(set(task.needs)) < len(task.needs):
        raise UsageError("a task that needs itself, or one twice", where=name, way_out="correct needs")
    if not isinstance(task.retries, int) or not 0 <= task.retries <= MAX_RETRIES:
        raise UsageError(f"{task.retries} retries", where=name, way_out=f"0 to {MAX_RETRIES}")
    if task.timeout is not None and not 0 < task.timeout <= MAX_TIMEOUT:
        raise UsageError(
            f"a timeout of {task.timeout} seconds", where=name, way_out=f"above 0, at most {MAX_TIMEOUT:g}"
        )
    return replace(task, timeout=None if task.timeout is None else float(task.timeout))


def _title(name: str) -> str:
    return name.replace("_", " ").strip().capitalize() or name


def declared(desk: Desk, c: Commit, new: Task, code: Code) -> Task:
    """Record a declaration; a task that is recorded already keeps its state, or becomes stale where it is another."""
    state = desk.state
    if new.name not in state:
        state.last += 1
        c.begin()
        return c.save(
            replace(new, at=state.last, assumption_ids=tuple(_ground(c.writer, text) for text in new.assumes))
        )
    old = state.task(new.name)
    now = replace(
        new, at=old.at, state=old.state, attempt=old.attempt, node_id=old.node_id, assumption_ids=old.assumption_ids,
        evidence_id=old.evidence_id, artefacts=old.artefacts, detail=old.detail, cause=old.cause,
    )  # fmt: skip
    changed = [name for name in _AGAIN if getattr(old, name) != getattr(now, name)]
    if old.assumes != new.assumes:
        now = replace(now, assumption_ids=tuple(_ground(c.writer, text) for text in new.assumes))
        changed.append("assumes")
    if changed and old.state is not TaskState.pending:
        detail = f"declared otherwise: {', '.join(changed)}"
        now = replace(now, state=TaskState.stale, cause=REPAIRED, detail=detail)
        c.entry(Event.repaired, now.name, detail, node=now.node_id)
    return c.save(now)


def _ground(w: Writer, statement: str) -> str:
    """The assumption a statement names: its last version, fallen or not; a new one when there is none."""
    versions = w.versions(statement) or w.versions(statement, "constraint")
    return versions[-1] if versions else w.assume(statement)


def repaired(
    desk: Desk, c: Commit, name: str, assumes: Sequence[str], code: Code | None, changed: Mapping[str, Any]
) -> Task:
    """Record a repair."""
    task = desk.state.task(name)
    new = replace(task, state=TaskState.stale, cause=REPAIRED, **changed)
    detail = "repaired"
    if assumes:
        ids = tuple(c.writer.assume(text) for text in dict.fromkeys(assumes))
        for old, fresh in zip(task.assumption_ids, ids, strict=False):
            _succeeds(c.writer, fresh, old)
        new = replace(new, assumes=tuple(dict.fromkeys(assumes)), assumption_ids=ids)
        detail = f"now stands on: {'; '.join(new.assumes)}"
    if code is not None:
        audited = code.auditor is not None
        new = replace(new, worker_key=code.worker_key, auditor_key=code.auditor_key, audited=audited)
    new = c.save(replace(new, detail=detail))
    ground = new.assumption_ids[0] if new.assumption_ids else ""
    c.entry(Event.repaired, name, detail, node=new.node_id, assumption=ground)
    return new


def _succeeds(w: Writer, new: str, old: str) -> None:
    """Say that one assumption replaces another, unless it was replaced by it before."""
    graph, seen = w.mesh.graph, {old}
    rim = [old]
    while rim:
        rim = [e.dst for id in rim for e in graph.out_edges(id, ("supersedes",)) if e.dst not in seen]
        seen.update(rim)
    if new not in seen:
        w.edge("supersedes", new, old)


def removed(desk: Desk, c: Commit, name: str, reason: str) -> None:
    """Record that a task is no longer part of the plan."""
    task = desk.state.task(name)
    if task.node_id and task.node_id in c.writer.mesh.graph and c.writer.mesh.retired(task.node_id) is None:
        c.writer.retire(task.node_id, "retracted", reason=reason, by="runner")
    c.forget(name)


def check(tasks: list[Task]) -> None:
    """Raise UsageError when a task needs one that is not there, or tasks need each other in a circle."""
    known = {task.name: task for task in tasks}
    for task in tasks:
        for need in task.needs:
            if need not in known:
                raise UsageError(
                    f"it needs the task {need!r}, which is not there"[:300], where=task.name, way_out="declare it"
                )
    missing = {task.name: len(task.needs) for task in tasks}
    users: dict[str, list[str]] = {task.name: [] for task in tasks}
    for task in tasks:
        for need in task.needs:
            users[need].append(task.name)
    free = [name for name, count in missing.items() if not count]
    for name in free:
        for user in users[name]:
            missing[user] -= 1
            if not missing[user]:
                free.append(user)
    if len(free) < len(tasks):
        stuck = [task.name for task in tasks if missing[task.name]]
        raise UsageError(f"tasks need each other in a circle: {', '.join(stuck[:8])}", way_out="break the circle")
