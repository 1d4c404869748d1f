"""Plans in a file: ``plan.yaml`` at the root and ``.mog/plans/*.yaml``, read strictly into records.

Who calls: ``engine/work.py``, ``plan_worker``. What may not come in: running, the store, the index. Reading runs nothing::

    version: 1
    plan: checks
    tasks:
      - name: test-cart
        argv: [python3, -m, pytest, -q, tests/test_cart.py]
        inputs: {uses: [tests/test_cart.py]}
        assumes: ["prices arrive in minor units"]

Every mistake is a ConfigError that names file and field. The guide lists the fields.
"""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mog.engine import values
from mog.engine.code.content import Stat, settled
from mog.engine.errors import ConfigError, UsageError
from mog.engine.executor import plan_globs
from mog.engine.executor.declare import MAX_RETRIES
from mog.engine.policy import declared
from mog.engine.policy.trust import Command
from mog.engine.reason import auditors
from mog.engine.reason.auditors import Auditor, Judges

ROOT_FILE = "plan.yaml"
FOLDER = ".mog/plans"
TASK, AUDIT = "task", "task auditor"
"""Kinds of command under workspace trust."""
QUERIES = ("uses", "affected", "tests")
MAX_FILES = 100
MAX_TIMEOUT = 86_400.0
MAX_NAME = 80
SHOWN = 10
DEFAULT_TIMEOUT = 600.0
DEFAULT_FILE_MB = 512.0
_TOP = ("version", "plan", "tasks")
_TASK = (
    "name", "title", "because", "argv", "cwd", "env", "covers", "timeout", "retries", "max_file_mb", "needs", "inputs",
    "outputs", "assumes", "produces", "auditors", "pure",
)  # fmt: skip
_INPUTS = ("files", *QUERIES, "tasks")
_AUDITOR = ("name", "argv", "cwd", "env", "covers", "timeout", "verdict")


@dataclass(frozen=True, slots=True)
class Assumes:
    """An assumption a task stands on: its words, and ``ground`` or ``constraint``."""

    statement: str
    kind: str = "ground"


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a task reads.

    Attributes:
        files: patterns below the root. tasks: whose outputs it reads.
        queries: pairs of a question to the code graph and its target: ``uses`` (the file and all it leans on), ``affected``
            (files that changing the target may affect), ``tests`` (test files that reach the target).
    """

    files: tuple[str, ...] = ()
    queries: tuple[tuple[str, str], ...] = ()
    tasks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanTask:
    """One task as the file declares it.

    Attributes:
        command: what is run, as workspace trust knows it; its name is ``plan/task``.
        env: names of variables it may see. timeout: seconds of one try. retries: further tries.
        largest: bytes that one file it writes may have.
        needs: tasks that must be done before, those of ``inputs.tasks`` included.
        outputs: patterns below the root; each must match something afterwards.
        pure: its result follows from what is declared as read.
    """

    name: str
    command: Command
    title: str = ""
    because: str = ""
    env: tuple[str, ...] = ()
    timeout: float = DEFAULT_TIMEOUT
    retries: int = 0
    largest: int = int(DEFAULT_FILE_MB * 1_000_000)
    needs: tuple[str, ...] = ()
    inputs: Inputs = Inputs()
    outputs: tuple[str, ...] = ()
    assumes: tuple[Assumes, ...] = ()
    produces: tuple[str, ...] = ()
    auditors: tuple[Auditor, ...] = ()
    pure: bool = False

    @property
    def reads_nothing(self) -> bool:
        """Whether no input is declared, so that only its ground, its command and its needs can make it run again."""
        return self.inputs == Inputs()


@dataclass(frozen=True, slots=True)
class PlanFile:
    """One plan: its name, the file that declares it relative to the root, its tasks in the order of the file."""

    name: str
    file: str
    tasks: tuple[PlanTask, ...] = ()

    def task(self, name: str) -> PlanTask | None:
        """The task of that name, None when there is none."""
        return next((task for task in self.tasks if task.name == name), None)

    def commands(self) -> tuple[Command, ...]:
        """Commands that need a word: those of the tasks, and of auditors that this file declares."""
        own = [one.command for task in self.tasks for one in task.auditors if one.command and one.command.kind == AUDIT]
        return (*(task.command for task in self.tasks), *own)


def load(root: Path) -> tuple[PlanFile, ...]:
    """Every plan a repository declares, by name; none when it has no such file. Reading runs nothing.

    Files that did not change since they were read last in this process are not read again.

    Raises:
        ConfigError: a file cannot be used, it names file and field; two plans have one name.
    """
    stamp = _stamp(root)
    held = _held.get(root)
    if held is None or held[0] != stamp or not all(seen.mtime_ns for _, seen in stamp):
        held = (stamp, _load(root))
        _held.clear()
        _held[root] = held
    return held[1]


_Stamp = tuple[tuple[str, Stat], ...]
_held: dict[Path, tuple[_Stamp, tuple[PlanFile, ...]]] = {}
"""What was read last, with what tells that the files were not written since."""


def _stamp(root: Path) -> _Stamp:
    now = time.time_ns()
    more = [auditors.FILE] if os.path.lexists(root / auditors.FILE) else []
    return tuple((path, settled(os.lstat(root / path), now)) for path in [*_paths(root), *more])


def _load(root: Path) -> tuple[PlanFile, ...]:
    found: dict[str, PlanFile] = {}
    known = {one.name: one for one in auditors.load(root)}
    for path in _paths(root):
        plan = _Loader(path, known).plan(declared.read(root, path))
        if plan.name in found:
            what = f"the plan {plan.name!r} is declared in {found[plan.name].file} too"
            raise ConfigError(what, where=path, way_out="give it another name: `plan: NAME`")
        found[plan.name] = plan
    return tuple(found[name] for name in sorted(found))


def commands_of(root: Path) -> tuple[Command, ...]:
    """The commands of every plan, for ``mog allow``. Raises ConfigError as ``load`` does."""
    return tuple(command for plan in load(root) for command in plan.commands())


def _paths(root: Path) -> list[str]:
    """Files that declare plans. A name that no text can hold is passed over; declared.read refuses links."""
    found = [ROOT_FILE] if os.path.lexists(root / ROOT_FILE) else []
    try:
        with os.scandir(root / FOLDER) as entries:
            names = sorted(entry.name for entry in entries if entry.name.endswith((".yaml", ".yml")))
    except OSError:
        names = []
    paths = [f"{FOLDER}/{name}" for name in names if f"{FOLDER}/{name}" != auditors.FILE and name.isprintable()]
    if len(paths) > MAX_FILES:
        raise ConfigError(f"holds more than {MAX_FILES} plans", where=FOLDER, way_out="join some of them")
    return found + paths


class _Loader:
    """Reads one file."""

    def __init__(self, file: str, known: Mapping[str, Auditor]) -> None:
        self._file, self._known = file, known
        self._plan = ""

    def plan(self, value: Any) -> PlanFile:
        """The plan of a parsed file. Raises ConfigError."""
        top = declared.Fields(value, self._file, "", _TOP)
        if top.raw("version") != 1 or isinstance(top.raw("version"), bool):
            raise top.error("version", f"{top.raw('version')!r} is not known", "write `version: 1`")
        self._plan = self._name(top, "plan", Path(self._file).stem)
        found: dict[str, PlanTask] = {}
        places: dict[str, declared.Fields] = {}
        for where, item in top.items("tasks"):
            fields = declared.Fields(item, self._file, where, _TASK)
            task = self._task(fields, item)
            if task.name in found:
                raise fields.error("name", f"{task.name!r} is declared twice", "give it another name")
            found[task.name], places[task.name] = task, fields
        if not found:
            raise top.error("tasks", "declares no task", "write at least one")
        self._check(found, places)
        return PlanFile(self._plan, self._file, tuple(found.values()))

    def _name(self, fields: declared.Fields, name: str, default: str | None = None) -> str:
        text = fields.text(name, default)
        sound = text.isprintable() and not any(c.isspace() or c in "/\\:" for c in text) and not text.startswith("-")
        if not sound or not 0 < len(text.encode("utf-8", "replace")) <= MAX_NAME:
            way_out = f"1 to {MAX_NAME} bytes of printable text without spaces, slashes and colons, no leading dash"
            raise fields.error(name, f"{text!r:.80} cannot be a name", way_out)
        return text

    def _task(self, fields: declared.Fields, spec: Mapping[str, Any]) -> PlanTask:
        name = self._name(fields, "name")
        inputs = self._inputs(fields)
        needs = tuple(dict.fromkeys((*fields.texts("needs"), *inputs.tasks)))
        pure = fields.raw("pure")
        if pure not in (None, True, False):
            raise fields.error("pure", f"cannot be {pure!r}", "it takes true or false")
        return PlanTask(
            name, self._command(fields, TASK, f"{self._plan}/{name}", spec),
            title=fields.text("title", ""), because=fields.text("because", ""), env=self._env(fields),
            timeout=fields.number("timeout", DEFAULT_TIMEOUT, 0.1, MAX_TIMEOUT), retries=self._retries(fields),
            largest=int(fields.number("max_file_mb", DEFAULT_FILE_MB, 0.001, 1_000_000) * 1_000_000),
            needs=needs, inputs=inputs, outputs=self._patterns(fields, "outputs"), assumes=self._assumes(fields),
            produces=self._some(fields, "produces"), auditors=self._auditors(fields, name), pure=bool(pure),
        )  # fmt: skip

    def _command(self, fields: declared.Fields, kind: str, name: str, spec: Any) -> Command:
        argv, cwd = fields.texts("argv", least=1), fields.text("cwd", "")
        if not argv[0].strip():
            raise fields.error("argv", "names no program", "put the program first")
        if "\\" in cwd or os.path.isabs(cwd) or ".." in Path(cwd).parts or ":" in cwd:
            raise fields.error("cwd", "lies outside the repository", "name a folder below the root")
        try:
            plain = values.plain(spec, fields.where(""))
        except UsageError as error:
            where = f"{self._file}: {error.where}"
            raise ConfigError(error.what, where=where, way_out=error.way_out) from error
        return Command(kind, name, self._file, argv, cwd, fields.texts("covers"), plain)

    def _env(self, fields: declared.Fields) -> tuple[str, ...]:
        names = self._some(fields, "env")
        for name in names:
            if "=" in name or not name.isprintable() or any(c.isspace() for c in name):
                raise fields.error("env", f"{name!r:.80} names no variable", "write names only; values come from outside")
        return names

    def _retries(self, fields: declared.Fields) -> int:
        count = fields.number("retries", 0, 0, MAX_RETRIES)
        if count != int(count):
            raise fields.error("retries", f"cannot be {count:g}", f"it takes a whole number up to {MAX_RETRIES}")
        return int(count)

    def _some(self, fields: declared.Fields, name: str) -> tuple[str, ...]:
        """A list of texts, none empty, each once."""
        found = fields.texts(name)
        if any(not text.strip() for text in found) or len(set(found)) < len(found):
            raise fields.error(name, "holds an empty text, or one twice", "write each once")
        return found

    def _patterns(self, fields: declared.Fields, name: str) -> tuple[str, ...]:
        found = self._some(fields, name)
        for pattern in found:
            if why := plan_globs.fault(pattern):
                raise fields.error(name, f"{pattern!r:.80} {why}", "write a path or pattern below the root: build/**/*.whl")
        return found

    def _inputs(self, fields: declared.Fields) -> Inputs:
        if fields.raw("inputs") is None:
            return Inputs()
        inner = declared.Fields(fields.raw("inputs"), self._file, fields.where("inputs"), _INPUTS)
        queries = [(query, target) for query in QUERIES for target in self._some(inner, query)]
        return Inputs(self._patterns(inner, "files"), tuple(queries), self._some(inner, "tasks"))

    def _assumes(self, fields: declared.Fields) -> tuple[Assumes, ...]:
        found = []
        for where, item in fields.items("assumes"):
            if isinstance(item, str):
                item = {"statement": item}
            inner = declared.Fields(item, self._file, fields.where(where), ("statement", "kind"))
            statement = inner.text("statement")
            if not statement.strip():
                raise inner.error("statement", "is empty", "say what is taken as true")
            found.append(Assumes(statement, inner.choice("kind", ("ground", "constraint"))))
        if len({one.statement for one in found}) < len(found):
            raise fields.error("assumes", "names one assumption twice", "write each once")
        return tuple(found)

    def _auditors(self, fields: declared.Fields, task: str) -> tuple[Auditor, ...]:
        found = []
        for where, item in fields.items("auditors"):
            if isinstance(item, str):
                if item not in self._known:
                    known = ", ".join(sorted(self._known)) or "none"
                    raise fields.error(where, f"no auditor {item!r:.80} is declared", f"{auditors.FILE} declares: {known}")
                found.append(self._known[item])
            else:
                found.append(self._auditor(declared.Fields(item, self._file, fields.where(where), _AUDITOR), task, item))
        names = [one.name for one in found]
        if len(set(names)) < len(names):
            raise fields.error("auditors", "names one auditor twice", "give each a name of its own")
        return tuple(found)

    def _auditor(self, fields: declared.Fields, task: str, spec: Any) -> Auditor:
        name = f"{self._plan}/{task}/{self._name(fields, 'name', 'audit')}"
        command = self._command(fields, AUDIT, name, spec)
        timeout = fields.number("timeout", 60.0, 0.1, auditors.MAX_TIMEOUT)
        by_exit = fields.choice("verdict", ("json", "exit")) == "exit"
        return Auditor(name, Judges(), None, command, timeout, self._env(fields), by_exit)

    def _check(self, tasks: Mapping[str, PlanTask], places: Mapping[str, declared.Fields]) -> None:
        """Every need is a task, and there is no circle."""
        for task in tasks.values():
            for need in task.needs:
                if need not in tasks:
                    near = difflib.get_close_matches(need, list(tasks), n=1, cutoff=0.5)
                    what = f"there is no task {need!r:.80}" + (f"; the nearest is {near[0]}" if near else "")
                    raise places[task.name].error("needs", what, "declare it, or correct the name")
        if circle := _circle(tasks):
            shown = circle if len(circle) <= SHOWN else [*circle[: SHOWN - 2], "…", circle[-1]]
            what = f"tasks need each other in a circle: {' → '.join(shown)}"
            raise places[circle[0]].error("needs", what, "break the circle")


def _circle(tasks: Mapping[str, PlanTask]) -> list[str]:
    """Names along one circle of needs, the first again at the end; empty when there is none."""
    done: set[str] = set()
    for start in tasks:
        path, waiting = [start], [iter(tasks[start].needs)]
        while waiting:
            following = next(waiting[-1], None)
            if following is None:
                done.add(path.pop())
                waiting.pop()
            elif following in path:
                return [*path[path.index(following) :], following]
            elif following not in done:
                path.append(following)
                waiting.append(iter(tasks[following].needs))
    return []
