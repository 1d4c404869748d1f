"""Brings what a plan file declares into the store: new tasks, changed ones, those that are gone. Called by ``engine/work.py``.

What may not come in: running, reading files. One commit, or none when nothing changed. A repair outlives the file: what a person
gave a task since the file was last read stays, until the file says something else than it said then.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from mog.engine.executor import keys
from mog.engine.executor.model import Task
from mog.engine.executor.plan_file import PlanFile, PlanTask
from mog.engine.executor.plan_worker import PREFIX, key_of
from mog.engine.executor.runner import Runner
from mog.engine.reason.records import thaw


class _TakenBack(Exception):
    """Ends a look at what declaring would do."""


def declare(runner: Runner, plan: PlanFile) -> None:
    """Record the tasks of a file as the plan's. Raises as ``Runner.task``."""
    known = {task.name: task for task in runner.tasks}
    with runner.declaring():
        said = _said(runner, plan)
        _constraints(runner, plan)
        for task in plan.tasks:
            _declare(runner, task, plan, known.get(task.name), said.get(task.name))
        for name in _gone(plan, list(known.values())):
            runner.remove(name, reason=f"{plan.file} no longer declares it")


@contextmanager
def declared(runner: Runner, plan: PlanFile) -> Iterator[None]:
    """As if the file were declared, while the block runs; then everything is as it was. Nothing is written."""
    try:
        with runner.declaring():
            declare(runner, plan)
            yield
            raise _TakenBack
    except _TakenBack:
        pass


def _said(runner: Runner, plan: PlanFile) -> Mapping[str, Any]:
    """What the file said of each task when it was last declared; what it says now is kept in its place."""
    key = f"@declared/{keys.plan(plan.name)}"
    before: Mapping[str, Any] = thaw(runner.mesh.tables.rows["run"].get(key)) or {}
    now = {task.name: _open_to_repair(task) for task in plan.tasks}
    if now != before:
        with runner.mesh.writing("planned", plan=plan.name) as writer:
            writer.record("run", key, now)
    return before


def _open_to_repair(task: PlanTask) -> dict[str, Any]:
    """What of a declaration a repair may replace."""
    return {"assumes": [one.statement for one in task.assumes], "produces": list(task.produces), "because": task.because}


def _constraints(runner: Runner, plan: PlanFile) -> None:
    """Assumptions of the kind ``constraint`` are recorded as such before a task names them."""
    wanted = {one.statement for task in plan.tasks for one in task.assumes if one.kind == "constraint"}
    if wanted:
        with runner.mesh.writing("planned", plan=plan.name) as writer:
            for statement in sorted(wanted):
                if not writer.versions(statement, "constraint"):
                    writer.assume(statement, kind="constraint")


def _declare(runner: Runner, task: PlanTask, plan: PlanFile, old: Task | None, said: Any) -> None:
    wanted = _open_to_repair(task)
    if old is not None and said == wanted:
        wanted = {"assumes": old.assumes, "produces": old.produces, "because": old.rationale}
    key = key_of(plan.name, task.name)
    runner.task(
        task.name, worker_key=key, auditor_key=key if task.auditors else "", title=task.title, rationale=wanted["because"],
        assumes=wanted["assumes"], needs=task.needs, produces=wanted["produces"], retries=task.retries, pure=task.pure,
    )  # fmt: skip


def _gone(plan: PlanFile, known: list[Task]) -> list[str]:
    """Recorded tasks that came from this file and are in it no more, those that others need last."""
    names = {task.name for task in plan.tasks}
    left = {task.name: task for task in known if task.worker_key.startswith(PREFIX) and task.name not in names}
    ordered: list[str] = []
    while left:
        needed = {need for task in left.values() for need in task.needs}
        free = [name for name in left if name not in needed] or list(left)
        ordered += free
        for name in free:
            del left[name]
    return ordered
