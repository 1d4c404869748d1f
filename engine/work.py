"""``Work``: the plans of a repository and what became of them. Reached as ``workspace.work``.

What lives here: joining what plan files declare, the store, the code graph and trust, and handing each call to the room that
answers it. What may not come in: rules of the executor, text for people, running a command that nobody allowed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event as Signal
from typing import TYPE_CHECKING

from mog.engine.config import EngineConfig
from mog.engine.errors import (
    ConfigError,
    HeldByOther,
    MogError,
    NotFound,
    ProviderError,
    UsageError,
    WorkspaceError,
)
from mog.engine.executor import durations, plan_file, plan_sync, plan_why, plan_worker
from mog.engine.executor.model import AuditReport, Beat, Planned, RunReport, Task, TaskState
from mog.engine.executor.plan_file import PlanFile, PlanTask
from mog.engine.executor.plan_links import FileLinks
from mog.engine.executor.plan_reads import PlanReads, named_files
from mog.engine.executor.plan_why import Because
from mog.engine.executor.receipts import RunLedger
from mog.engine.executor.registry import TaskRegistry, discover
from mog.engine.executor.runner import Runner, Standing
from mog.engine.model import Progress
from mog.engine.policy.trust import Command, Waiting

if TYPE_CHECKING:
    from mog.engine.beliefs import Beliefs, Place
    from mog.engine.code.view import CodeView
    from mog.engine.executor import session

Telling = Callable[[Progress], None]
Beating = Callable[[Beat], None]


@dataclass(frozen=True, slots=True)
class CodeDoor:
    """What ``Work`` needs of the index: bringing it up to the disk, and a view that is held while a question is answered."""

    refresh: Callable[[Telling | None], object]
    reading: Callable[[], AbstractContextManager[CodeView]]


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task as it is declared, recorded, and as it would be treated now.

    Attributes:
        declared: as in the file, None when no file declares it. standing: as recorded.
        planned: what a run would do, and why. because: what of its reads changed. waits: its commands that wait for a word.
    """

    name: str
    declared: PlanTask | None
    standing: Standing
    planned: Planned
    because: tuple[Because, ...] = ()
    waits: tuple[Waiting, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanView:
    """A plan, its file ("" for one that only the store knows), its tasks in the order declared, and whether all is done."""

    name: str
    file: str
    tasks: tuple[TaskView, ...]
    complete: bool
    round: int

    @property
    def waiting(self) -> tuple[Waiting, ...]:
        """Commands that a run would need and that wait for a word, each once."""
        wanted = (one for task in self.tasks if task.planned.action in ("run", "check") for one in task.waits)
        return tuple({one.name: one for one in wanted}.values())


@dataclass(frozen=True, slots=True)
class Note:
    """Something about a plan that deserves a look; ``task`` is "" for the plan as a whole."""

    plan: str
    task: str
    text: str


@dataclass(frozen=True, slots=True)
class Ran:
    """One round of a plan.

    Attributes:
        report: what it did, None when nothing ran because commands wait for a word. because: task → what of its reads
            had changed. left: task → processes it left behind, which were ended.
    """

    plan: str
    report: RunReport | None
    waiting: tuple[Waiting, ...] = ()
    because: Mapping[str, tuple[Because, ...]] = field(default_factory=dict)
    left: Mapping[str, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Everything is done and rests on nothing that failed."""
        return self.report is not None and self.report.complete


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A recheck of one plan: what it did, None when its auditors wait for a word or it could not be done (``problem``)."""

    plan: str
    report: AuditReport | None
    waiting: tuple[Waiting, ...] = ()
    because: Mapping[str, tuple[Because, ...]] = field(default_factory=dict)
    problem: str = ""


class Work:
    """Plans of one worktree. Its methods are called from one thread at a time.

    Every method raises ConfigError when a plan file cannot be used, and StoreDamaged; those that write also raise HeldByOther.
    """

    def __init__(
        self, place: Place, beliefs: Beliefs, config: EngineConfig, code: CodeDoor, registry: TaskRegistry | None = None
    ) -> None:
        """``registry``: workers and auditors of the program that embeds the engine, besides those of the configuration."""
        self._root, self._key, self._embedded = place.root, place.key, registry or TaskRegistry()
        self._beliefs, self._config, self._code = beliefs, config, code
        self.durations = place.folder / "run" / "durations.json"

    # looking

    def files(self) -> tuple[PlanFile, ...]:
        """Every plan that the repository declares, by name. Runs and writes nothing."""
        return plan_file.load(self._root)

    def names(self) -> tuple[str, ...]:
        """Names of all plans, declared or recorded."""
        return _Call(self).names

    def check(self, name: str = "") -> tuple[tuple[PlanFile, ...], tuple[Note, ...]]:
        """Read plan files and say what deserves a look in them. Raises NotFound: no such plan, or none at all."""
        found = self.files()
        chosen = tuple(one for one in found if name in ("", one.name))
        if not chosen:
            raise _no_plan(name, [one.name for one in found])
        reads = self._reads(found, None)
        return chosen, tuple(note for one in chosen for note in _notes(self._root, one, reads))

    def show(self, name: str = "", *, progress: Telling | None = None) -> PlanView:
        """A plan as it is now, and what a run would do with it. Records nothing. Raises NotFound, UsageError."""
        work = _Call(self, progress)
        return work.view(work.choose(name))

    def ledger(self, name: str = "") -> RunLedger:
        """The run ledger of a plan. Raises NotFound, UsageError."""
        return RunLedger(self._beliefs.mesh, _Call(self).choose(name))

    def runner(self, name: str = "", *, jobs: int = 1) -> Runner:
        """The runner of a plan, with the code of every command bound. Raises NotFound, UsageError."""
        work = _Call(self)
        return work.runner(work.choose(name), jobs)

    def seconds(self) -> Mapping[str, float]:
        """``plan/task`` → what its last run took, for those that somebody measured."""
        return durations.load(self.durations)

    # doing

    def run(
        self, name: str = "", *, jobs: int = 1, progress: Telling | None = None, beat: Beating | None = None,
        stop: Signal | None = None,
    ) -> Ran:  # fmt: skip
        """One round of a plan: what is pending, stale, failed, or read something that changed. Raises NotFound, UsageError.

        Args:
            beat: hears of every task as it begins and as it is recorded. stop: set from any thread to end the round.
        """
        work = _Call(self, progress, beat, stop)
        return work.run(work.choose(name), jobs, again=True)

    def resume(self, name: str = "", *, jobs: int = 1, progress: Telling | None = None) -> tuple[Ran, ...]:
        """One round of every plan, or of one; work that failed is left alone."""
        work = _Call(self, progress)
        wanted = (work.choose(name),) if name else work.names
        return tuple(work.run(one, jobs, again=False) for one in wanted)

    def recheck(self, *, progress: Telling | None = None) -> tuple[Rechecked, ...]:
        """Find out which standing work fell, and have it audited again. Runs no task.

        A plan file that cannot be used is told as a ``problem``: what is believed does not depend on it.
        """
        if not self._beliefs.log.path.exists():
            return ()
        try:
            work = _Call(self, progress)
        except (ConfigError, WorkspaceError, ProviderError) as error:
            return (Rechecked("", None, problem=str(error)),)
        return tuple(work.recheck(one) for one in work.names if work.is_recorded(one))

    def repair(
        self, target: str, *, assumes: Sequence[str] = (), produces: Sequence[str] | None = None, because: str | None = None
    ) -> tuple[str, Task]:
        """Give a task (``task`` or ``plan/task``) other ground or products; the plan's name and the task. It runs again.

        Raises: NotFound, UsageError: no such task, several, or nothing to change. PolicyDenied: a text shaped like a
        credential.
        """
        if not assumes and produces is None and because is None:
            raise UsageError("nothing to repair it with", where=target, way_out="name other ground: --assumes TEXT")
        work = _Call(self)
        plan, name = work.task(target)
        runner = work.runner(plan)
        work.declare(runner)
        return plan, runner.repair(name, assumes=assumes, produces=produces, rationale=because)

    def allow(self, waiting: Waiting) -> None:
        """Give the word for a command as it was shown, as ``mog allow`` does. Raises NotFound; PolicyDenied: it changed since."""
        self._beliefs.allow(waiting.name, waiting.digest)

    # sessions

    def save(self, folder: Path) -> session.Saved:
        """Copy the ledger into a folder; see ``session.save``."""
        from mog.engine.executor import session

        return session.save(self._beliefs.log, folder)

    def load(self, folder: Path) -> session.Saved:
        """Bring a saved session back; see ``session.load``."""
        from mog.engine.executor import session

        return session.load(folder, self._beliefs.log, self._registry(self.files()))

    def export(self, folder: Path, *, plan: str = "") -> session.Exported:
        """Write the session for the earlier package; see ``session.export``."""
        from mog.engine.executor import session

        return session.export(self._beliefs.mesh, folder, plan=plan)

    def import_(self, folder: Path, *, plan: bool = True) -> session.Imported:
        """Take a session of the earlier package in; see ``session.import_``."""
        from mog.engine.executor import session

        return session.import_(self._beliefs.mesh, folder, self._registry(self.files()), plan=plan)

    # inside

    def _reads(self, plans: Sequence[PlanFile], progress: Telling | None) -> PlanReads:
        """Sources of reads; the index is brought up to the disk when a plan asks it, or an older one serves."""
        asks = any(task.inputs.queries for plan in plans for task in plan.tasks)
        links = None
        if asks:
            with contextlib.suppress(HeldByOther):
                self._code.refresh(progress)
            links = FileLinks(self._code.reading)
        return PlanReads(self._root, plans, links, self._key)

    def _registry(self, plans: Sequence[PlanFile], reads: PlanReads | None = None, stored: Sequence[str] = ()) -> TaskRegistry:
        def paths(task: PlanTask) -> list[str]:
            return reads.paths(task.inputs) if reads is not None else []

        installed = discover(self._config.registries)
        return installed.joined([self._embedded, plan_worker.registry(self._root, plans, self._beliefs.trust, paths, stored)])


class _Call:
    """One call of ``Work``: plan files, store and index as they were when it began."""

    def __init__(
        self, work: Work, progress: Telling | None = None, beat: Beating | None = None, stop: Signal | None = None
    ) -> None:
        self._work, self._progress, self._beat, self._stop = work, progress, beat, stop
        self._mesh, self._trust = work._beliefs.mesh, work._beliefs.trust
        self._plans = {one.name: one for one in work.files()}
        with self._mesh.locked():
            rows = [row for key, row in self._mesh.tables.rows["task"].items() if "/" not in key]
            self._recorded = sorted(str(row["plan"]) for row in rows)
            tasks = [row for key, row in self._mesh.tables.rows["task"].items() if "/" in key]
            stored = sorted({str(row[name]) for row in tasks for name in ("worker_key", "auditor_key")})
        self.names = tuple(sorted({*self._plans, *self._recorded}))
        self._seconds: dict[str, float] = {}
        self._reads = work._reads(list(self._plans.values()), progress)
        self._sources = self._reads.sources()
        self._registry = work._registry(list(self._plans.values()), self._reads, stored)

    def choose(self, name: str) -> str:
        """The plan that is meant: the only one, when none is named. Raises NotFound, UsageError."""
        if name in self.names:
            return name
        if name or not self.names:
            raise _no_plan(name, self.names)
        if len(self.names) > 1:
            raise UsageError(f"there are {len(self.names)} plans", way_out=f"name one: {', '.join(self.names)}"[:300])
        return next(iter(self.names))

    def is_recorded(self, name: str) -> bool:
        """Whether the store knows a plan."""
        return name in self._recorded

    def task(self, target: str) -> tuple[str, str]:
        """Plan and task that are meant. Raises NotFound, UsageError."""
        plan, slash, name = target.partition("/")
        if slash:
            return self.choose(plan), name
        found = [one for one in self.names if target in self._tasks(one)]
        if len(found) == 1:
            return found[0], target
        if found:
            way_out = "name one: " + ", ".join(f"{one}/{target}" for one in found)
            raise UsageError(f"{len(found)} plans have a task {target!r:.80}", way_out=way_out[:300])
        raise NotFound(f"no plan has a task {target!r:.80}", way_out="list them with `mog plan show`")

    def _tasks(self, plan: str) -> set[str]:
        declared = {task.name for task in self._plans[plan].tasks} if plan in self._plans else set()
        with self._mesh.locked():
            rows = self._mesh.tables.rows["task"]
            return declared | {str(row["name"]) for key, row in rows.items() if "/" in key and row["plan"] == plan}

    def runner(self, plan: str, jobs: int = 1) -> Runner:
        """A runner of a plan. Raises ConfigError: it needs code that nobody brings."""
        return Runner(
            self._mesh, self._registry, plan, workers=jobs, root=self._work._root, sources=self._sources,
            progress=self._progress, beat=self._heard, stop=self._stop,
        )  # fmt: skip

    def _heard(self, beat: Beat) -> None:
        if beat.seconds:
            self._seconds[beat.task] = beat.seconds
        if self._beat is not None:
            self._beat(beat)

    def declare(self, runner: Runner) -> None:
        """Record what the file of a plan declares."""
        if runner.plan in self._plans:
            plan_sync.declare(runner, self._plans[runner.plan])

    @contextlib.contextmanager
    def _as_declared(self, runner: Runner) -> Iterator[None]:
        if runner.plan in self._plans:
            with plan_sync.declared(runner, self._plans[runner.plan]):
                yield
        else:
            yield

    def view(self, plan: str, jobs: int = 1) -> PlanView:
        """A plan as a run would find it."""
        runner = self.runner(plan, jobs)
        with self._as_declared(runner):
            return self._view(runner)

    def _view(self, runner: Runner) -> PlanView:
        planned = {one.task: one for one in runner.dry_run()}
        file = self._plans.get(runner.plan)
        waits = self._waits(file)
        tasks = []
        for standing in runner.standing():
            name = standing.task.name
            declared = file.task(name) if file else None
            because = self._because(runner.plan, declared) if standing.task.attempt else ()
            own = tuple(waits[one.name] for one in _commands(declared) if one.name in waits)
            tasks.append(TaskView(name, declared, standing, planned[name], because, own))
        return PlanView(runner.plan, file.file if file else "", tuple(tasks), runner.complete, runner.round)

    def _waits(self, file: PlanFile | None) -> dict[str, Waiting]:
        commands = {one.name: one for task in file.tasks for one in _commands(task)} if file else {}
        return {one.name: one for one in self._trust.waiting(commands.values())}

    def _because(self, plan: str, task: PlanTask | None) -> tuple[Because, ...]:
        found = plan_why.trace(self._mesh, plan, task.name) if task is not None else None
        if found is None or task is None:
            return ()
        return plan_why.reasons(found, task, self._reads, self._sources)

    def run(self, plan: str, jobs: int, again: bool) -> Ran:
        """One round of a plan, unless a command that it would run waits for a word."""
        runner = self.runner(plan, jobs)
        with self._as_declared(runner):
            view = self._view(runner)
        failed = {task.name for task in view.tasks if task.standing.state is TaskState.failed}
        wanted = [task for task in view.tasks if again or task.name not in failed]
        waiting = PlanView(plan, view.file, tuple(wanted), view.complete, view.round).waiting
        if waiting:
            return Ran(plan, None, waiting)
        self.declare(runner)
        try:
            report = runner.run() if again else runner.resume()
        finally:
            durations.save(self._work.durations, {f"{plan}/{name}": took for name, took in self._seconds.items()})
        ran = {*report.executed, *report.failed}
        because = {task.name: task.because for task in view.tasks if task.name in ran and task.because}
        left = {name: count for name in report.executed if (count := runner.output(name).get("left", 0))}
        return Ran(plan, report, (), because, left)

    def recheck(self, plan: str) -> Rechecked:
        """Audit a plan again; where an auditor waits for a word only what a look shows is told."""
        try:
            runner = self.runner(plan)
        except ConfigError as error:
            return Rechecked(plan, None, problem=str(error))
        file = self._plans.get(plan)
        done = [task.name for task in runner.tasks if task.state is TaskState.done]
        because = {name: found for name in done if file and (found := self._because(plan, file.task(name)))}
        asked = [one for name in done if file for one in _auditors(file.task(name))]
        waiting = tuple(self._trust.waiting({one.name: one for one in asked}.values()))
        if waiting:
            return Rechecked(plan, None, waiting, because)
        return Rechecked(plan, runner.recheck(), (), because)


def _commands(task: PlanTask | None) -> tuple[Command, ...]:
    """Commands that a run of a task needs a word for."""
    return (task.command, *_auditors(task)) if task is not None else ()


def _auditors(task: PlanTask | None) -> tuple[Command, ...]:
    return tuple(one.command for one in task.auditors if one.command is not None) if task is not None else ()


def _no_plan(name: str, names: Sequence[str]) -> NotFound:
    if not names:
        way_out = f"write {plan_file.ROOT_FILE}, or a file in {plan_file.FOLDER}/; the guide shows the form"
        return NotFound("this repository declares no plan", way_out=way_out)
    return NotFound(f"no plan {name!r:.80}", way_out=f"there are {', '.join(names)}"[:300])


def _notes(root: Path, plan: PlanFile, reads: PlanReads) -> Iterator[Note]:
    """What deserves a look in a plan file that can be used."""
    say = partial(Note, plan.name)
    writes: dict[str, str] = {}
    for task in plan.tasks:
        if task.reads_nothing:
            yield say(task.name, "declares no inputs: once done it runs again only when its ground, command or needs change")
        for pattern in task.outputs:
            if pattern in writes:
                yield say(task.name, f"writes {pattern} as {writes[pattern]} does")
            writes.setdefault(pattern, task.name)
        try:
            for path in named_files(root, task)[1]:
                yield say(task.name, f"its command line names {path}, which it writes: after each run it waits for a new word")
            for query, target in task.inputs.queries:
                reads.found(query, target)
        except MogError as error:
            yield say(task.name, str(error))


__all__ = ["CodeDoor", "Note", "PlanView", "Ran", "Rechecked", "TaskView", "Work"]
