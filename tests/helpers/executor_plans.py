"""Random plans, and what has to run again after a change, worked out from scratch beside the executor.

Who calls: tests/executor/test_runner_oracle.py and ``benchmarks/executor.py``. The oracle computes every output anew and
compares what each task read with what it read when it ran; records and traces of the engine are never looked at.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from mog.engine.executor import Runner, TaskRegistry
from mog.engine.ledgers.events import Event, Head, Step
from mog.engine.reason.mesh import Mesh

CELLS = 4


class MemoryLog:
    """A ledger without a disk, for plans by the thousand: what a mesh asks of one."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._rows: dict[tuple[str, str], bytes] = {}

    def head(self) -> Head:
        """Where it stands."""
        return Head(len(self._events), str(len(self._events))) if self._events else Head()

    def commit(self, steps: Iterable[Step], *, when: str, expected: Head | None = None) -> tuple[Event, ...]:
        """Append."""
        assert expected is None or expected == self.head()
        made = []
        for step in steps:
            seq = len(self._events) + 1
            made.append(Event(seq, step.type, step.data, str(seq), when))
            self._events.append(made[-1])
            for put in step.puts:
                if put.body is None:
                    self._rows.pop((put.table, put.key), None)
                else:
                    self._rows[put.table, put.key] = put.body
        return tuple(made)

    def events(self, after: int = 0, limit: int = 0) -> Iterator[Event]:
        """Events after a number."""
        return iter(self._events[after : after + limit if limit else None])

    def load(self) -> tuple[Head, Iterator[tuple[str, str, bytes]]]:
        """The head and the records."""
        return self.head(), iter([(table, key, body) for (table, key), body in self._rows.items()])


@dataclass(frozen=True)
class Spec:
    """One task: ``needs`` by number, those of them it ``reads``, ``cells`` of the world it reads, and what it computes."""

    needs: tuple[int, ...]
    reads: tuple[int, ...]
    cells: tuple[int, ...]
    pure: bool
    salt: int
    divisor: int
    ground: int

    def value(self, seen: list[int], cells: list[int]) -> int:
        """Its result; the division makes the same result of different inputs common."""
        return (sum(seen) * 3 + sum(cells) + self.salt) // self.divisor


@dataclass(frozen=True)
class Change:
    """What happens between two rounds.

    Attributes:
        cells: new values of cells. falls: grounds that an auditor will find false; their tasks get other ground.
        salts: task → new salt, as another worker. again: tasks repaired without any change.
    """

    cells: tuple[tuple[int, int], ...] = ()
    falls: tuple[int, ...] = ()
    salts: tuple[tuple[int, int], ...] = ()
    again: tuple[int, ...] = ()


def specs(rng: random.Random, size: int, *, cells: bool = True, pure: float = 0.75) -> list[Spec]:
    """A random plan whose tasks need only earlier ones; several tasks may share a ground."""
    made = []
    for i in range(size):
        needs = tuple(sorted(rng.sample(range(i), min(i, rng.choice((0, 1, 1, 2, 3))))))
        reads = tuple(n for n in needs if rng.random() < 0.8)
        read = tuple(sorted(rng.sample(range(CELLS), rng.choice((0, 0, 1, 2))))) if cells else ()
        ground = rng.randrange(i + 1) if rng.random() < 0.3 else i
        made.append(Spec(needs, reads, read, rng.random() < pure, rng.randrange(9), rng.choice((1, 1, 3, 10)), ground))
    return made


def change(rng: random.Random, plan: list[Spec], *, cells: bool = True) -> Change:
    """A random change."""
    some = lambda most: tuple(sorted(rng.sample(range(len(plan)), rng.randint(0, min(most, len(plan))))))  # noqa: E731
    moved = tuple((k, rng.randrange(5)) for k in range(CELLS) if cells and rng.random() < 0.2)
    falls = tuple(sorted({plan[i].ground for i in some(2)})) if rng.random() < 0.6 else ()
    salts = tuple((i, rng.randrange(9)) for i in some(1)) if rng.random() < 0.4 else ()
    again = some(1) if rng.random() < 0.2 else ()
    return Change(moved, falls, salts, again)


@dataclass
class Truth:
    """The oracle: the plan as it should stand, and what each task read when it last ran."""

    plan: list[Spec]
    world: list[int] = field(default_factory=lambda: [0] * CELLS)
    outputs: list[int] = field(default_factory=list)
    read: list[tuple[list[int], list[int]]] = field(default_factory=list)

    def start(self) -> None:
        """The first round: everything runs."""
        for i in range(len(self.plan)):
            self.read.append(self._reads(i))
            self.outputs.append(self.plan[i].value(*self.read[i]))

    def after(self, done: Change) -> set[int]:
        """Numbers of the tasks that have to run again, no more and no fewer."""
        grounded = {i for i, spec in enumerate(self.plan) if spec.ground in done.falls}
        for k, value in done.cells:
            self.world[k] = value
        for i, salt in done.salts:
            self.plan[i] = replace(self.plan[i], salt=salt)
        for i in grounded:
            self.plan[i] = replace(self.plan[i], ground=len(self.plan) * 2 + self.plan[i].ground + 1)
        own = grounded | set(done.again) | {i for i, _ in done.salts}
        fallen: set[int] = set()
        ran: set[int] = set()
        for i, spec in enumerate(self.plan):
            if i in grounded or fallen & set(spec.needs):
                fallen.add(i)
            now = self._reads(i)
            impure = not spec.pure and (i in fallen or bool(ran & set(spec.needs)))
            if i in own or now != self.read[i] or impure:
                ran.add(i)
                self.read[i] = now
                self.outputs[i] = spec.value(*now)
        return ran

    def _reads(self, i: int) -> tuple[list[int], list[int]]:
        spec = self.plan[i]
        return [self.outputs[n] for n in spec.reads], [self.world[k] for k in spec.cells]


class Played:
    """The plan in a runner. ``ran`` counts executions of each task since it was last cleared."""

    def __init__(self, mesh: Mesh, plan: list[Spec], name: str = "plan", workers: int = 1) -> None:
        self.mesh, self.plan, self.name, self.workers = mesh, list(plan), name, workers
        self.world = [0] * CELLS
        self.false: set[int] = set()
        self.ran: dict[int, int] = {}
        self.runner = self._open()
        with self.runner.declaring():
            for i, spec in enumerate(plan):
                self.runner.task(
                    f"t{i}", worker_key=f"w{i}.{spec.salt}", assumes=self._ground(spec.ground), auditor_key=f"a{i}",
                    needs=[f"t{n}" for n in spec.needs], produces=[f"{name} thing {i}"],
                )  # fmt: skip

    def _ground(self, number: int) -> str:
        return f"{self.name} ground {number}"

    def _open(self) -> Runner:
        return Runner(
            self.mesh, self._registry(), self.name, workers=self.workers, sources={"cell": lambda k: self.world[int(k)]}
        )

    def reopen(self, mesh: Mesh) -> None:
        """Go on in what might be another process."""
        self.mesh = mesh
        self.runner = self._open()

    def _registry(self) -> TaskRegistry:
        registry = TaskRegistry()
        for i, spec in enumerate(self.plan):
            for salt in range(9):
                worker = self._worker(i, replace(spec, salt=salt))
                registry.register_worker(f"w{i}.{salt}", worker, pure=spec.pure, version=str(salt))
            registry.register_auditor(f"a{i}", self._auditor(i))
        return registry

    def _worker(self, i: int, spec: Spec) -> Any:
        def work(ctx: Any) -> dict[str, int]:
            self.ran[i] = self.ran.get(i, 0) + 1
            seen = [ctx.inputs[f"t{n}"]["n"] for n in spec.reads]
            return {"n": spec.value(seen, [ctx.read("cell", str(k)) for k in spec.cells])}

        return work

    def _auditor(self, i: int) -> Any:
        def audit(ctx: Any) -> Any:
            bad = [n for n in sorted(self.false) if ctx.assumption.statement == self._ground(n)]
            return ctx.disproved(f"ground {bad[0]} is false") if bad else ctx.ok("it holds")

        return audit

    def apply(self, done: Change) -> None:
        """Let a change happen, have it found out, repair what it broke."""
        for k, value in done.cells:
            self.world[k] = value
        self.false |= set(done.falls)
        if done.falls:
            self.runner.recheck()
        for i, spec in enumerate(self.plan):
            if spec.ground in done.falls:
                self.plan[i] = replace(spec, ground=len(self.plan) * 2 + spec.ground + 1)
                self.runner.repair(f"t{i}", assumes=self._ground(self.plan[i].ground))
        for i, salt in done.salts:
            self.plan[i] = replace(self.plan[i], salt=salt)
            self.runner.repair(f"t{i}", worker_key=f"w{i}.{salt}")
        for i in done.again:
            self.runner.repair(f"t{i}")

    def outputs(self) -> list[int]:
        """Results as recorded."""
        return [self.runner.output(f"t{i}")["n"] for i in range(len(self.plan))]


def check(played: Played, truth: Truth, done: Change) -> set[int]:
    """Play a change on both and hold them against each other; the tasks that ran. AssertionError when they differ."""
    wanted = truth.after(done)
    played.apply(done)
    would = {p.task: p.action for p in played.runner.dry_run()}
    played.ran.clear()
    report = played.runner.run()
    ran = set(played.ran)
    assert ran == wanted, f"ran {sorted(ran)}, should {sorted(wanted)}"
    assert all(count == 1 for count in played.ran.values()), "a task ran twice in one round"
    assert {f"t{i}" for i in ran} == set(report.executed)
    assert played.outputs() == truth.outputs
    assert report.complete and played.runner.complete
    for i in range(len(truth.plan)):
        action = would[f"t{i}"]
        assert action == "check" or (action == "run") == (i in ran), f"t{i}: {action} was foretold"
    return ran
