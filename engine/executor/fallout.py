"""Which recorded tasks are stale or out of date by what stands now, in every plan; asked before, during and after a break.

Who calls: ``engine/breaks.py``. What may not come in: files (whether what a task read changed is asked by a run), running,
writes. A task is judged by ``PlanState``, the same way a round judges it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mog.engine.executor.model import Task, TaskState
from mog.engine.executor.plan_state import PlanState
from mog.engine.reason.mesh import Mesh


@dataclass(frozen=True, slots=True)
class Rerun:
    """A task that a break makes stale.

    Attributes:
        why: as a round would say it. blocked: it cannot run again before it is given other ground.
        early: it may stop early: only what it needs fell, and it runs only when an output that it reads turns out changed.
        seconds: what its last run took, ``None`` where nobody measured one.
    """

    plan: str
    name: str
    why: str
    blocked: bool
    early: bool
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """What has to run again after a break, and how many tasks are recorded in all plans."""

    reruns: tuple[Rerun, ...] = ()
    tasks: int = 0

    @property
    def seconds(self) -> float | None:
        """Seconds of all of them one after the other, ``None`` when none of them was measured."""
        known = [one.seconds for one in self.reruns if one.seconds is not None]
        return sum(known) if known else None

    @property
    def unmeasured(self) -> int:
        """How many of them nobody measured."""
        return sum(one.seconds is None for one in self.reruns)


Fallen = Mapping[tuple[str, str], tuple[Task, str, bool]]
"""(plan, task) → the task, why what it led to no longer stands, and whether its own ground is gone."""


def plans(mesh: Mesh) -> tuple[str, ...]:
    """Names of the plans that the store knows."""
    with mesh.locked():
        return tuple(sorted(str(row["plan"]) for key, row in mesh.tables.rows["task"].items() if "/" not in key))


def states(mesh: Mesh) -> list[PlanState]:
    """Every plan of the store. May be held while a break is tried: what it says follows what stands."""
    return [PlanState(mesh, name) for name in plans(mesh)]


def fallen(found: Sequence[PlanState]) -> Fallen:
    """Tasks recorded as done whose result does not stand."""
    return {
        (state.plan, task.name): (task, why, bool(state.grounded(task)))
        for state in found
        for task in state.tasks()
        if task.state is TaskState.done and (why := state.fallen(task))
    }


def cost(found: Sequence[PlanState], before: Fallen, after: Fallen, seconds: Mapping[str, float]) -> Cost:
    """What fell between two looks. ``seconds``: ``plan/task`` → what its last run took."""
    fresh = {key: told for key, told in after.items() if key not in before}
    reruns = tuple(
        Rerun(plan, name, why, ground, _early(task, plan, ground, fresh), seconds.get(f"{plan}/{name}"))
        for (plan, name), (task, why, ground) in fresh.items()
    )
    return Cost(reruns, sum(len(state.names) for state in found))


def _early(task: Task, plan: str, ground: bool, fresh: Fallen) -> bool:
    return task.pure and not ground and any((plan, need) in fresh for need in task.needs)
