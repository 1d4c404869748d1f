"""What the next round would do, and why a task cannot run, without doing anything. Called by ``runner``.

What may not come in: writes, workers. The judgement is the desk's, the same that a round uses.
"""

from __future__ import annotations

from collections.abc import Mapping

from mog.engine.executor.desk import BLOCKED, KEEP, RUN, Desk
from mog.engine.executor.model import REPAIRED, Planned, Task, TaskState
from mog.engine.executor.rounds import layers, waiting_for
from mog.engine.executor.traces import INPUT

CHECK = "check"
"""It runs only if what it reads turns out to have changed."""
UNCHANGED = "nothing it rests on changed"


def blocked(desk: Desk, task: Task, states: Mapping[str, TaskState]) -> str:
    """Why a task that is not done cannot run now; "" when it can."""
    if states[task.name] is TaskState.done:
        return ""
    unmet = [need for need in task.needs if states.get(need) is not TaskState.done]
    ground = desk.state.grounded(task)
    unbound = "" if task.name in desk.bound else "no code is bound to it in this process"
    return ground or unbound or (waiting_for(unmet) if unmet else "")


def dry_run(desk: Desk) -> tuple[Planned, ...]:
    """What a run would do with every task, in order of declaration."""
    tasks = list(desk.state.tasks())
    found: dict[str, Planned] = {}
    settled: set[str] = set()
    for layer in layers(tasks, settled):
        for name in layer:
            found[name] = _planned(desk, desk.state.task(name), found)
            if found[name].action != BLOCKED:
                settled.add(name)
    for task in tasks:
        unmet = [need for need in task.needs if need not in settled]
        found.setdefault(task.name, Planned(task.name, BLOCKED, waiting_for(unmet)))
    return tuple(found[task.name] for task in tasks)


def _planned(desk: Desk, task: Task, found: Mapping[str, Planned]) -> Planned:
    weighed = desk.settled(task, desk.weigh(task, True))
    moving = [need for need in task.needs if found[need].action in (RUN, CHECK)]
    if weighed.action == BLOCKED or task.state in (TaskState.pending, TaskState.failed) or task.cause == REPAIRED:
        return Planned(task.name, weighed.action, weighed.why)
    if desk.pure(task):
        return _pure(desk, task, moving)
    if weighed.action == RUN or not moving:
        return Planned(task.name, weighed.action, weighed.why or UNCHANGED)
    certain = any(found[need].action == RUN for need in moving)
    return Planned(task.name, RUN if certain else CHECK, f"it runs when {', '.join(moving)} runs")


def _pure(desk: Desk, task: Task, moving: list[str]) -> Planned:
    """A pure task: it runs for sure when something it reads has changed already, else when an output turns out otherwise."""
    trace = desk.state.trace(task.name)
    if trace is None or trace.node_id != task.node_id:
        return Planned(task.name, RUN, "nothing is remembered of what it read")
    own = [read for read in trace.reads if read.kind != INPUT or read.key[0] not in moving]
    why = (
        "its worker is other code than the one that ran" if trace.worker != desk.bound[task.name].worker.digest else ""
    )
    why = why or desk.reread(own) or desk.state.fallen(task, excused=True)
    if why:
        return Planned(task.name, RUN, why)
    if not moving:
        return Planned(task.name, KEEP, UNCHANGED)
    watched = [need for need in moving if trace.digest_of(INPUT, need)]
    if not watched:
        return Planned(task.name, KEEP, f"it does not read what {', '.join(moving)} gives")
    return Planned(task.name, CHECK, f"it runs if the output of {', '.join(watched)} changes")
