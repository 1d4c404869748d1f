"""The records of the executor: a task as it is stored, what an auditor says, what a round did. Shared by its rooms.

What may not come in: the mesh, files, callables. A task is stored by names of code, never by code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

from mog.engine.errors import StoreDamaged

REPAIRED = "repaired"
"""Cause of a stale task that has to run whatever it read: a person gave it other ground, code or products."""


class TaskState(StrEnum):
    """What is recorded of a task. Blocked and unverified are facts about a moment and are computed."""

    pending = "pending"
    done = "done"
    stale = "stale"
    failed = "failed"


class Event(StrEnum):
    """What happened in a run. The first eight are the words of ``contextmesh.runledger v1``.

    The last three are told apart by ``data["kind"]`` of an entry whose word in the chain is ``STORED_AS``, so that the
    earlier package reads every entry.
    """

    executed = "executed"
    audited = "audited"
    disproved = "disproved"
    invalidated = "invalidated"
    repaired = "repaired"
    cached = "cached"
    blocked = "blocked"
    failed = "failed"
    retried = "retried"
    cut_off = "cut_off"
    cancelled = "cancelled"


STORED_AS = {Event.retried: Event.failed, Event.cut_off: Event.cached, Event.cancelled: Event.blocked}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an auditor found.

    Attributes:
        ok: the output holds. reason: in the auditor's words.
        disproves: not the output but the ground is false; only then does anything but this task fall.
        evidence: id of recorded evidence that shows it; "" has the runner record the reason as evidence.
        assumption: id or statement of the assumption that is false; "" for the task's first.
    """

    ok: bool
    reason: str
    disproves: bool = False
    evidence: str = ""
    assumption: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """A unit of work and what it stands on, as recorded.

    Attributes:
        plan, name: what it is called. at: its place in the order of declaration.
        assumes: statements of its assumptions. needs: names of tasks that must be done. produces: labels of entities.
        worker_key, auditor_key: names in a registry; "" for a plain callable, or no auditor.
        audited: it has an auditor. pure: its worker is a function of what it reads through the context.
        timeout: seconds for one try of worker and auditor, None for no limit. retries: further tries in one round.
        attempt: how often its worker came to an end. node_id: the decision it led to, "" before the first.
        assumption_ids: the versions it stands on. evidence_id: of the audit that let it stand.
        artefacts: ids of the entities it made. detail: why it is in its state, for people. cause: see ``REPAIRED``.
    """

    plan: str
    name: str
    at: int
    title: str
    rationale: str = ""
    assumes: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    produces: tuple[str, ...] = ()
    worker_key: str = ""
    auditor_key: str = ""
    audited: bool = False
    pure: bool = False
    timeout: float | None = None
    retries: int = 0
    state: TaskState = TaskState.pending
    attempt: int = 0
    node_id: str = ""
    assumption_ids: tuple[str, ...] = ()
    evidence_id: str = ""
    artefacts: tuple[str, ...] = ()
    detail: str = ""
    cause: str = ""

    @property
    def unbindable(self) -> str:
        """Why a later process could not find its code again; "" when it could."""
        if not self.worker_key:
            return f"task {self.name!r} runs a plain callable, which has no key"
        if self.audited and not self.auditor_key:
            return f"the auditor of task {self.name!r} is a plain callable, which has no key"
        return ""


_TUPLES = ("assumes", "needs", "produces", "assumption_ids", "artefacts")
_NAMES = tuple(f.name for f in fields(Task))


def task_json(task: Task) -> dict[str, Any]:
    """Plain JSON of a task."""
    found: dict[str, Any] = {name: getattr(task, name) for name in _NAMES}
    timeout = task.timeout
    whole = int(timeout) if timeout is not None and timeout == int(timeout) else timeout
    return found | {name: list(found[name]) for name in _TUPLES} | {"state": task.state.value, "timeout": whole}


def task_of(row: Mapping[str, Any], where: str = "") -> Task:
    """The task of its JSON. Raises StoreDamaged when it is of no known form."""
    try:
        more = {name: tuple(row[name]) for name in _TUPLES} | {"state": TaskState(row["state"])}
        return Task(**{**row, **more})
    except (KeyError, TypeError, ValueError) as error:
        raise StoreDamaged("a task record is of no known form", where=where, way_out="run `mog doctor`") from error


# -- what a call reports


@dataclass(frozen=True, slots=True)
class Receipt:
    """A ground that was found false: what showed it, and what that did. ``hops`` are pairs of hop and number of falls.

    ``preserved_digest`` is the SHA-256 over the sorted ids of everything that stood before and stands after, each ended by
    a line feed; ``fell_digest`` the same over what fell.
    """

    assumption_id: str
    assumption: str
    evidence_id: str
    reason: str
    disproved_by: str
    fell: int
    hops: tuple[tuple[int, int], ...]
    weakened: int
    fell_digest: str
    preserved: int
    preserved_digest: str


@dataclass
class RunReport:
    """What one round did; names of tasks are in the order in which it came to them.

    Attributes:
        round: its number, or that of the round before when nothing happened and nothing was recorded.
        layers: what was ready together. executed: ran and hold. cached: untouched. cut_off: were stale, and what they
            read turned out to be the same. why: of each task that ran, the reason.
        blocked, failed, stale: task and reason. unverified: done, but resting on work that failed.
        cancelled: were running when it was stopped. receipts: grounds that were found false.
        complete: everything is done and rests on nothing that failed.
    """

    round: int = 0
    layers: list[tuple[str, ...]] = field(default_factory=list)
    executed: list[str] = field(default_factory=list)
    cached: list[str] = field(default_factory=list)
    cut_off: list[str] = field(default_factory=list)
    why: dict[str, str] = field(default_factory=dict)
    blocked: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    stale: dict[str, str] = field(default_factory=dict)
    unverified: tuple[str, ...] = ()
    cancelled: list[str] = field(default_factory=list)
    receipts: list[Receipt] = field(default_factory=list)
    complete: bool = False


@dataclass
class AuditReport:
    """What a recheck did: tasks whose audit holds, tasks that fell with the reason, those that failed, grounds found false."""

    round: int = 0
    held: list[str] = field(default_factory=list)
    stale: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    receipts: list[Receipt] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Planned:
    """What the next run would do with a task. ``action`` is run, check (runs when what it reads changes), keep or blocked."""

    task: str
    action: str
    why: str


@dataclass(frozen=True, slots=True)
class Beat:
    """What just happened to a task in a round that goes on, for whoever watches it.

    Attributes:
        what: ``begun``; ``executed``, ``failed``, ``disproved`` or ``lost`` (it no longer counted) when its try was recorded;
            ``cut`` (what it reads turned out to be the same), ``keep``, ``blocked`` or ``fell`` when nothing was run.
        why: the reason, as the report of the round says it. seconds: of its last try, 0 where nothing ran.
        unchanged: it ran and gave what it gave before, so that what only reads it may stop early.
        done, total: tasks settled so far, and tasks of the plan.
    """

    task: str
    what: str
    why: str = ""
    seconds: float = 0.0
    unchanged: bool = False
    done: int = 0
    total: int = 0
