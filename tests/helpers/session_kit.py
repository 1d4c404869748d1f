"""Sessions of the earlier package (contextmesh-graph), made with its own API, and what it makes of those that we write."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import random
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from v1_kit import WHY, RandomV1

WORKERS = ("work.sum.v1", "work.sum.v2", "work.words.v1")
AUDITORS = ("audit.ground.v1", "audit.strict.v1")


def earlier_sessions() -> SimpleNamespace:
    """The parts of the earlier package that keep sessions; skips when it is not installed."""
    pytest.importorskip("contextmesh", reason=WHY)
    pytest.importorskip("contextmesh_mcp.session", reason=WHY)
    from contextmesh import assumptions, execute, graph, resolve, traverse
    from contextmesh_mcp import session

    return SimpleNamespace(
        Session=session.Session, SessionError=session.SessionError, LockedError=session.SessionLockedError,
        lock=session.writer_lock, Runner=execute.Runner, RunLedger=execute.RunLedger, Registry=execute.TaskRegistry,
        Event=execute.Event, Resolver=resolve.Resolver, Walker=traverse.Walker, Graph=graph.ContextGraph,
        AssumptionError=assumptions.AssumptionError, ExecutionError=execute.ExecutionError,
    )  # fmt: skip


@dataclass
class World:
    """The outside world that workers and auditors look at: grounds that are false, tasks whose work breaks or is wrong."""

    false: set[str] = field(default_factory=set)
    broken: set[str] = field(default_factory=set)
    wrong: set[str] = field(default_factory=set)

    def worker(self, key: str) -> Callable[[Any], dict[str, Any]]:
        def run(ctx: Any) -> dict[str, Any]:
            if ctx.task.name in self.broken:
                raise RuntimeError(f"{ctx.task.name} broke")
            seen = sum(ctx.inputs[name]["n"] for name in sorted(ctx.inputs))
            return {"n": seen + len(ctx.task.name) + WORKERS.index(key), "by": key, "words": sorted(ctx.inputs)}

        return run

    def auditor(self, key: str) -> Callable[[Any], Any]:
        def audit(ctx: Any) -> Any:
            if ctx.assumption.statement in self.false:
                return ctx.disproved(f"{ctx.assumption.statement} is false")
            return ctx.fail("wrong") if ctx.task.name in self.wrong else ctx.ok(f"n is {ctx.output['n']}")

        return audit

    def fill(self, registry: Any) -> Any:
        """The registry with every worker and auditor of this world under its key."""
        for key in WORKERS:
            registry.register_worker(key, self.worker(key))
        for key in AUDITORS:
            registry.register_auditor(key, self.auditor(key))
        return registry


class RandomSession:
    """A random session of the earlier package, with a plan that ran, was disproved and repaired.

    Attributes:
        world: what its workers see. session: the session object. saved: whether the earlier package reads back what it wrote.
    """

    def __init__(self, seed: int, *, plan: bool = True) -> None:
        self.em = earlier_sessions()
        self.rng = random.Random(f"session {seed}")
        self.made = RandomV1(seed)
        self.graph = self.made.graph
        self.world = World()
        self.resolver = self._resolver()
        self.runner = self._runner(seed) if plan else None
        self.session = self.em.Session(
            graph=self.graph, resolver=self.resolver, walker=self._walker(), ledger=self.made.ledger,
            rounds=self.rng.randint(0, 20), runner=self.runner,
        )  # fmt: skip

    def _resolver(self) -> Any:
        resolver = self.em.Resolver()
        for id in self.made.entities:
            label = self.graph.nodes[id].label
            resolver.register(id, label, aliases=self.rng.sample([f"{label} two", f"the {label}", "T"], 2))
        for text in ("Thing 0", "thing", "nothing at all", "THING 1 inc", "\u00fcber"):
            resolver.resolve(text)
        return resolver

    def _walker(self) -> Any:
        policy = [*self.made.travelled, self.made.cm.E.MENTIONS, self.made.cm.E.CITES]
        self.rng.shuffle(policy)
        return self.em.Walker(
            self.graph, self.resolver, hop_budget=self.rng.randint(1, 9), policy=policy, flat_k=self.rng.randint(1, 50),
            max_expand=self.rng.randint(1, 400),
        )  # fmt: skip

    def _runner(self, seed: int) -> Any:
        registry = self.world.fill(self.em.Registry())
        plan = f"plan {seed} \u2014 gr\u00f6\u00dfer"
        runner = self.em.Runner(plan, graph=self.graph, assumptions=self.made.ledger, registry=registry)
        names: list[str] = []
        for i in range(self.rng.randint(1, 6)):
            name = f"task-{i}"
            runner.task(
                name, worker_key=self.rng.choice(WORKERS), assumes=f"Plan ground {self.rng.randint(0, 3)} holds",
                title=f"Do {i}", rationale=self.rng.choice(["", "for a reason"]),
                needs=self.rng.sample(names, min(len(names), 2)),
                produces=[f"Artefact {i}"] if self.rng.random() < 0.7 else [],
                auditor_key=self.rng.choice([None, *AUDITORS]),
            )  # fmt: skip
            names.append(name)
        self._live(runner, names)
        return runner

    def _live(self, runner: Any, names: list[str]) -> None:
        """A few rounds of work, trouble and repair; the earlier package's own refusals end them."""
        runner.run()
        for turn in range(1, self.rng.randint(1, 6)):
            what = self.rng.choice(["break", "disprove", "disprove", "fail", "repair", "repair", "run"])
            if what == "break":
                self.world.broken.add(self.rng.choice(names))
            elif what == "fail":
                self.world.wrong.add(self.rng.choice(names))
            elif what == "disprove":
                self.world.false.add(self.rng.choice(runner.tasks).assumes)
            with contextlib.suppress(self.em.AssumptionError):
                if what == "repair":
                    self.repair(runner, turn)
                elif what == "run":
                    runner.run()
                else:
                    runner.recheck()

    def repair(self, runner: Any, turn: int) -> None:
        """New ground for one task whose ground fell or whose work failed."""
        for task in runner.tasks:
            if task.state.value in ("stale", "failed"):
                self.world.broken.discard(task.name)
                self.world.wrong.discard(task.name)
                runner.repair(
                    task.name, assumes=f"{task.name} stands on new ground {turn}", worker_key=self.rng.choice(WORKERS)
                )
                return

    def save(self, folder: Path) -> bool:
        """Save as the earlier package does; whether it reads back what it wrote (some it bricks itself)."""
        self.session.save(folder)
        try:
            self.load(folder)
        except self.em.SessionError:
            return False
        return True

    def load(self, folder: Path) -> Any:
        """The earlier package's own reading of a folder, with a registry of this world."""
        return self.em.Session.load(folder, registry=self.world.fill(self.em.Registry()))


@functools.cache
def demo_session(plan: bool = True) -> Any:
    """The earlier package's demo session; with ``plan`` also its worked example's plan, on the same graph."""
    em = earlier_sessions()
    built = em.Session.build(rounds=2)
    if plan:
        world = World()
        runner = em.Runner("demo plan", graph=built.graph, assumptions=built.ledger, registry=world.fill(em.Registry()))
        runner.task("hash", worker_key=WORKERS[0], assumes="argon2 has no advisory", produces=["Hasher"], auditor_key=AUDITORS[0])
        runner.task("routes", worker_key=WORKERS[1], assumes="interfaces are stable", needs=["hash"], produces=["Login"])
        runner.run()
        world.false.add("argon2 has no advisory")
        runner.recheck()
        runner.repair("hash", assumes="bcrypt has no advisory", worker_key=WORKERS[1])
        built.runner = runner
    return built


def states(runner: Any) -> dict[str, tuple[str, int, Any]]:
    """Name of every task of an earlier runner → state, attempts, output."""
    return {task.name: (task.state.value, task.attempt, task.output) for task in runner.tasks}


def texts(folder: Path) -> dict[str, bytes]:
    """Name → bytes of the files of a session folder that carry state."""
    kept = ("graph-", "resolver-", "execution-", "runledger-", "session")
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.name.startswith(kept) and p.suffix == ".json"}


@functools.cache
def small_world() -> tuple[World, Any]:
    """A plan of four tasks, one done, one stale on new ground, one failed, one waiting; with its world."""
    em, world = earlier_sessions(), World()
    graph = em.Graph()
    runner = em.Runner("small plan", graph=graph, registry=world.fill(em.Registry()))
    worker, auditor = WORKERS[0], AUDITORS[0]
    runner.task("schema", worker_key=worker, assumes="the store is empty", produces=["Schema"], auditor_key=auditor)
    runner.task("hash", worker_key=worker, assumes="argon2 is sound", produces=["Hasher"], auditor_key=auditor)
    runner.task("routes", worker_key=worker, assumes="interfaces are stable", needs=["hash", "schema"], auditor_key=auditor)
    runner.task("limits", worker_key=worker, assumes="clocks agree", needs=["schema"], rationale="abuse", auditor_key=auditor)
    runner.task("docs", worker_key=WORKERS[2], assumes="routes are final", needs=["routes"])
    runner.run()
    world.false.add("argon2 is sound")
    world.wrong.add("limits")
    runner.recheck()
    runner.repair("hash", assumes="bcrypt is sound", worker_key=WORKERS[1])
    resolver = em.Resolver()
    for id, node in graph.nodes.items():
        if node.type.value == "entity":
            resolver.register(id, node.label, aliases=[f"the {node.label} one"])
    resolver.resolve("hasher")
    resolver.resolve("nothing")
    made = em.Session(
        graph=graph, resolver=resolver, walker=em.Walker(graph, resolver, hop_budget=3), ledger=runner.assumptions, rounds=2,
        runner=runner,
    )  # fmt: skip
    return world, made


@functools.cache
def small_texts() -> dict[str, bytes]:
    """The files of that session as the earlier package writes them, generation 1."""
    with tempfile.TemporaryDirectory() as folder:
        small_world()[1].save(Path(folder))
        return texts(Path(folder))


def lay(folder: Path, files: dict[str, bytes]) -> Path:
    """A folder with these files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def rechained(ledger: dict[str, Any]) -> dict[str, Any]:
    """A run ledger's JSON with digests made anew over what it says now."""
    previous = "0" * 64
    for row in ledger["entries"]:
        said = {**{k: v for k, v in row.items() if k != "digest"}, "previous": previous}
        text = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        row["digest"] = previous = hashlib.sha256(text.encode()).hexdigest()
    return {**ledger, "head": previous}
