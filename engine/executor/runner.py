"""``Runner``: a plan of tasks over a mesh. It runs what never ran, what fell, and what read something that changed.

Who calls: programs that embed the engine, and the surfaces. What lives here: declaring and repairing tasks, binding code,
looking. What may not come in: what happens in a round (``rounds``), what an outcome writes (``outcomes``). All state is in
the store: another process with the same registry goes on where this one stopped, wherever that was.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event as Signal
from typing import Any

from mog.engine.errors import ConfigError, UsageError
from mog.engine.executor import declare, looks
from mog.engine.executor.context import Source, file_source
from mog.engine.executor.crew import Settings
from mog.engine.executor.declare import Code
from mog.engine.executor.desk import Bound, Desk
from mog.engine.executor.model import AuditReport, Beat, Planned, RunReport, Task, TaskState
from mog.engine.executor.outcomes import Outcomes
from mog.engine.executor.plan_state import PlanState
from mog.engine.executor.receipts import RunLedger
from mog.engine.executor.rechecks import Recheck
from mog.engine.executor.registry import Auditor, TaskRegistry, Worker
from mog.engine.executor.rounds import Round, unverified
from mog.engine.executor.traces import FILE
from mog.engine.model import Progress
from mog.engine.reason.mesh import Mesh

MAX_WORKERS = 64


@dataclass(frozen=True, slots=True)
class Standing:
    """A task as it is now: its record, its state, why it cannot run, whether it rests on work that failed."""

    task: Task
    state: TaskState
    blocked: str = ""
    unverified: bool = False


class Runner:
    """One plan. Its methods are called from one thread at a time, ``cancel`` from any.

    Every method that writes raises as ``Mesh.writing``; while another process writes, it waits for ``patience`` seconds.
    """

    def __init__(
        self, mesh: Mesh, registry: TaskRegistry | None, plan: str, *, workers: int = 1, root: Path | None = None,
        sources: Mapping[str, Source] | None = None, patience: float = 5.0, grace: float = 5.0, expect_head: str = "",
        progress: Callable[[Progress], None] | None = None, beat: Callable[[Beat], None] | None = None,
        stop: Signal | None = None,
    ) -> None:  # fmt: skip
        """Open a plan of the store, or one that is not there yet. Nothing is written.

        Args:
            registry: what the keys of the plan mean in this process.
            workers: how many tasks are worked on at a time, at most 64.
            root: folder below which ``ctx.file`` reads. sources: further readers by kind, for ``ctx.read``.
            patience: seconds to wait for another writer. grace: seconds that running work gets after ``cancel``.
            expect_head: the head of the run ledger as it was kept elsewhere; another one is refused.
            progress: told before each task; what it raises stops the round as ``cancel`` does, and is raised again.
            beat: told of every task as it begins and as it is recorded.
            stop: set by whoever wants the round stopped, before it begins too; without one, ``cancel`` stops what runs.

        Raises:
            ConfigError: a task of the plan needs a key that the registry does not have. StoreDamaged: the records, or
            the ledger is not the expected one. UsageError: a name or number that cannot be meant.
        """
        if not 1 <= workers <= MAX_WORKERS:
            raise UsageError(f"{workers} workers", way_out=f"1 to {MAX_WORKERS}")
        self.mesh, self.plan = mesh, plan
        self.ledger = RunLedger(mesh, plan)
        self._state = PlanState(mesh, plan, patience)
        self._desk = Desk(self._state, {FILE: file_source(root), **(sources or {})})
        self._outcomes = Outcomes(self._desk)
        self._settings = Settings(workers, grace, progress, stop or Signal(), beat, stop is not None)
        self._registry = registry
        self._declared: set[str] = set()
        if expect_head:
            self.ledger.verify(expect_head)
        self._bind_stored()

    # -- looking

    @property
    def registry(self) -> TaskRegistry | None:
        """What the keys of this plan mean; another one is taken by ``rebind``."""
        return self._registry

    @property
    def round(self) -> int:
        """Number of the last round in which something was recorded."""
        with self.mesh.locked():
            return self._state.round

    @property
    def tasks(self) -> tuple[Task, ...]:
        """Every task as recorded, in order of declaration."""
        with self._seen():
            return tuple(self._state.tasks())

    def __getitem__(self, name: str) -> Task:
        with self._seen():
            return self._state.task(name)

    def standing(self) -> tuple[Standing, ...]:
        """Every task as it is now, in order of declaration."""
        with self._seen():
            every = list(self._state.tasks())
            shaky = set(unverified(self._state, every))
            states = {task.name: self._state.state(task) for task in every}
            return tuple(
                Standing(t, states[t.name], looks.blocked(self._desk, t, states), t.name in shaky) for t in every
            )

    def state(self, name: str) -> TaskState:
        """The state of a task now: recorded as done, it is stale once what it led to has fallen. Raises NotFound."""
        with self._seen():
            return self._state.state(self._state.task(name))

    def output(self, name: str) -> Mapping[str, Any]:
        """What a task gave last, read-only. Raises NotFound."""
        with self._seen():
            self._state.task(name)
            return self._state.output(name)[0]

    @property
    def complete(self) -> bool:
        """Everything is done and rests on nothing that failed."""
        return all(s.state is TaskState.done and not s.unverified for s in self.standing())

    @property
    def unaudited(self) -> tuple[str, ...]:
        """Tasks whose results nobody checks."""
        return tuple(task.name for task in self.tasks if not task.audited)

    def dry_run(self) -> tuple[Planned, ...]:
        """What ``run`` would do with every task, and why, in order of declaration. Nothing is run or written."""
        with self._seen():
            self._check()
            return looks.dry_run(self._desk)

    # -- declaring

    @contextlib.contextmanager
    def declaring(self) -> Iterator[None]:
        """Declare many tasks in one commit: all of them are recorded, or none."""
        bound, declared = dict(self._desk.bound), set(self._declared)
        try:
            with self.mesh.writing("planned", plan=self.plan):
                yield
        except BaseException:
            self._desk.bound, self._declared = bound, declared
            self._state.load()
            raise

    def task(
        self, name: str, run: Worker | None = None, *, assumes: str | Sequence[str] = (), title: str = "",
        rationale: str = "", needs: Sequence[str] = (), produces: Sequence[str] = (), audit: Auditor | None = None,
        worker_key: str = "", auditor_key: str = "", timeout: float | None = None, retries: int = 0, pure: bool = False,
    ) -> Task:  # fmt: skip
        """Declare a task, by a key of the registry or with a plain function that no later process can find again.

        A task that the store has already goes on as it stands; where its ground, code, needs or products are others than
        recorded, it becomes stale.

        Args:
            assumes: what it stands on, in words. An assumption that fell is not revived by being named: the task is
                blocked until it is repaired.
            needs: tasks that must be done before, whose outputs are its inputs. produces: names of what it makes.
            timeout: seconds for one try of worker and auditor. retries: further tries in one round, at most 10.
            pure: its result follows from what it reads through its context; see ``TaskRegistry.register_worker``.

        Raises:
            UsageError: a name, number or combination that cannot be meant, or declared twice. ConfigError: an unknown key.
        """
        if name in self._declared:
            raise UsageError(f"the task {name!r} is declared twice"[:300], way_out="give it another name, or repair it")
        code = self._code(name, run, worker_key, audit, auditor_key)
        statements = (assumes,) if isinstance(assumes, str) else tuple(assumes)
        new = declare.made(
            self.plan, name, statements, code, title=title, rationale=rationale, needs=tuple(needs),
            produces=tuple(produces), timeout=timeout, retries=retries, pure=pure,
        )  # fmt: skip
        with self._seen():
            self._state.mesh.refuse_secret(new.title, new.rationale, *new.assumes, *new.produces)
        task = self._state.commit("planned", lambda c: declare.declared(self._desk, c, new, code), task=name)
        self._state.names.setdefault(name)
        self._desk.bound[name] = code.bound(task)
        self._declared.add(name)
        return task

    def remove(self, name: str, *, reason: str = "the plan no longer has it") -> None:
        """Take a task out of the plan; what it led to is retracted. Raises NotFound; UsageError while another needs it."""
        with self._seen():
            users = [task.name for task in self._state.tasks() if name in task.needs]
        if users:
            raise UsageError(
                f"{', '.join(users[:5])} needs {name}", where=self.plan, way_out="change or remove that first"
            )
        self._state.commit("planned", lambda c: declare.removed(self._desk, c, name, reason), task=name)
        self._state.load()
        self._desk.bound.pop(name, None)
        self._declared.discard(name)

    def repair(
        self, name: str, *, assumes: str | Sequence[str] = (), run: Worker | None = None, audit: Auditor | None = None,
        produces: Sequence[str] | None = None, rationale: str | None = None, worker_key: str = "", auditor_key: str = "",
    ) -> Task:  # fmt: skip
        """Put other ground, code or products under a task, so that it runs again whatever it read.

        New ground supersedes the old without touching it: what else rests on the old one stays as it is. A statement
        that was rejected before stands again as a new version.

        Raises:
            NotFound: no such task. UsageError: a function for a task that has a key: the key would go on naming other
            code. ConfigError: a key that the registry does not have. Then nothing was changed.
        """
        with self._seen():
            task = self._state.task(name)
        old = self._desk.bound.get(name)
        if (run is not None and task.worker_key) or (audit is not None and task.auditor_key):
            what = f"the task {name!r} is bound by a key, which would go on naming other code"
            raise UsageError(what[:300], way_out="repair it with worker_key= or auditor_key=")
        code = self._repaired(task, old, run, worker_key, audit, auditor_key)
        statements = (assumes,) if isinstance(assumes, str) else tuple(assumes)
        self.mesh.refuse_secret(rationale or "", *statements, *(produces or ()))
        changed = {
            "produces": task.produces if produces is None else tuple(produces),
            "rationale": task.rationale if rationale is None else rationale,
        }
        done = self._state.commit(
            "repaired", lambda c: declare.repaired(self._desk, c, name, statements, code, changed)
        )
        if code is not None:
            self._desk.bound[name] = code.bound(done)
        return done

    # -- running

    def run(self) -> RunReport:
        """One round: run what is pending, stale, failed, or read something that changed; leave the rest alone.

        Raises: UsageError: an unknown need, or a cycle. KeyboardInterrupt, Cancelled: stopped; what was recorded stays.
        """
        return self._round(True)

    def resume(self) -> RunReport:
        """As ``run``, but work that failed is left until somebody repairs it or calls ``run``."""
        return self._round(False)

    def recheck(self, *, require_evidence: bool = False) -> AuditReport:
        """Audit standing work again. Runs nothing; a ground that an auditor finds false is rejected, with its radius.

        Args:
            require_evidence: a finding counts only when it names evidence that was recorded before, as for writes over a
                protocol.
        """
        with self._seen():
            self._begin()
        return Recheck(self._desk, self._outcomes, self._settings, require_evidence).run()

    def cancel(self) -> None:
        """Stop the round at hand: nothing more is started, running work is told and given ``grace`` seconds."""
        self._settings.stop.set()

    def _round(self, again: bool) -> RunReport:
        with self._seen():
            self._check()
            self._begin()
        return Round(self._desk, self._outcomes, self._settings, again).run()

    def _begin(self) -> None:
        """What was cancelled before does not stop what comes; a signal of the caller's does."""
        if not self._settings.watched:
            self._settings.stop.clear()

    # -- binding

    @property
    def checkpointable(self) -> bool:
        """Whether another process could go on with every task."""
        return not self.unbindable()

    def unbindable(self) -> tuple[str, ...]:
        """Why another process could not, one line for each task that stops it."""
        return tuple(why for task in self.tasks if (why := task.unbindable))

    def rebind(self, registry: TaskRegistry | None = None) -> Runner:
        """Take other code for every key, from ``registry`` or again from the one there is: all of them, or none.

        Raises: ConfigError: a key that it does not have. UsageError: no registry, or a task without a key.
        """
        table = registry if registry is not None else self._registry
        if table is None:
            raise UsageError("there is no registry to bind by", way_out="pass one")
        if reasons := self.unbindable():
            raise UsageError(reasons[0], where=self.plan, way_out="give every task a key")
        self._desk.bound = {task.name: _look_up(table, task) for task in self.tasks}
        self._registry = table
        return self

    def bindings(self) -> dict[str, dict[str, str]]:
        """The keys of every task: ``worker_key`` and ``auditor_key``, "" for none."""
        return {t.name: {"worker_key": t.worker_key, "auditor_key": t.auditor_key} for t in self.tasks}

    # -- inside

    @contextlib.contextmanager
    def _seen(self) -> Iterator[None]:
        """The plan as it is now: tasks that another process declared or removed included."""
        with self.mesh.locked():
            if self.mesh.revision != self._state.revision:
                self._state.load()
                self._bind_stored()
            yield

    def _bind_stored(self) -> None:
        """Bind what the store has and nobody declared here. Raises ConfigError: fails closed, before anything is served."""
        with self.mesh.locked():
            wanted = [t for t in self._state.tasks() if t.name not in self._desk.bound and t.worker_key]
            missing = sorted(
                {f"worker {t.worker_key}" for t in wanted if not self._has(t.worker_key, "worker")}
                | {
                    f"auditor {t.auditor_key}"
                    for t in wanted
                    if t.auditor_key and not self._has(t.auditor_key, "auditor")
                }
            )
            if missing:
                what = f"the plan {self.plan!r} needs {', '.join(missing[:8])}, which nobody brings"[:400]
                raise ConfigError(what, way_out="start with the registry that brings them")
            assert self._registry is not None or not wanted
            for task in wanted:
                if not task.audited or task.auditor_key:  # a plain auditor has to be declared again
                    self._desk.bound[task.name] = _look_up(self._registry or TaskRegistry(), task)

    def _has(self, key: str, kind: str) -> bool:
        table = self._registry
        return table is not None and (table.has_worker(key) if kind == "worker" else table.has_auditor(key))

    def _code(self, name: str, run: Worker | None, worker_key: str, audit: Auditor | None, auditor_key: str) -> Code:
        if (run is None) == (not worker_key):
            raise UsageError("a task has a function or the key of one", where=name[:80], way_out="give one of the two")
        if audit is not None and auditor_key:
            raise UsageError("a task has an auditor or the key of one", where=name[:80], way_out="give one of the two")
        return declare.code(self._registry, run, worker_key, audit, auditor_key)

    def _repaired(
        self,
        task: Task,
        old: Bound | None,
        run: Worker | None,
        worker_key: str,
        audit: Auditor | None,
        auditor_key: str,
    ) -> Code | None:
        if (run is not None and worker_key) or (audit is not None and auditor_key):
            raise UsageError("a repair gives a function or a key", where=task.name, way_out="give one of the two")
        if run is None and audit is None and not worker_key and not auditor_key:
            return None
        new = declare.code(self._registry, run, worker_key, audit, auditor_key)
        worker = new.worker or (old.worker if old else None)
        if worker is None:
            raise UsageError(
                "no code is bound to the task in this process", where=task.name, way_out="declare it again"
            )
        replaced = bool(audit is not None or auditor_key)
        return replace(
            new, worker=worker, worker_key=worker_key or task.worker_key,
            auditor=new.auditor if replaced else (old.auditor if old else None),
            auditor_key=auditor_key if replaced else task.auditor_key,
        )  # fmt: skip

    def _check(self) -> None:
        declare.check(list(self._state.tasks()))


def _look_up(table: TaskRegistry, task: Task) -> Bound:
    return Bound(table.worker(task.worker_key), table.auditor(task.auditor_key) if task.auditor_key else None)
