"""``python -m benchmarks.executor``: does exactly what has to run again run again, and what does a plan of thousands cost?

Random plans and changes against an oracle that works everything out from scratch (tests/helpers/executor_plans.py), and the
same plans in contextmesh-graph 0.1.1 (a development dependency) in the same process; chains and wide plans of growing size
over a ledger on disk. Prints the tables and writes docs/results/executor.md. Parts: ``minimum`` ``cutoff`` ``scale``.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import report
from mog.engine.executor import Runner, TaskRegistry
from mog.engine.ledgers.events import EventLog
from mog.engine.ontology import load
from mog.engine.reason.mesh import Mesh

sys.path.append(str(report.REPOSITORY / "tests" / "helpers"))

SEED = 20_260_201
PLANS_A_MESH = 200
SIZES = {"chain": (200, 400, 800, 1_600), "wide": (400, 800, 1_600, 3_200)}
GOALS = {
    "plans": ("random plans", "≥", 10_000.0),
    "wrong": ("plans in which other tasks ran than had to", "≤", 0.0),
    "twice": ("tasks that ran twice in a round", "≤", 0.0),
    "outputs": ("plans with a result that is not that of running everything", "≤", 0.0),
    "cutoff": ("tasks run again in a chain of six with the same first result", "≤", 1.0),
    "chain": ("time a task in a chain, 1,600 to 200", "≤", 2.0),
    "wide": ("time a task in a wide plan, 3,200 to 400", "≤", 2.0),
}


@dataclass(slots=True)
class Results:
    """Figures that have a goal, those of the earlier package under the same keys, and the detail tables."""

    ours: dict[str, float] = field(default_factory=dict)
    earlier: dict[str, float] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)


# -- the minimum


@dataclass(slots=True)
class Tally:
    """Over all plans: how many, tasks in them, tasks that had to run again, and that did, here and there; faults."""

    plans: int = 0
    tasks: int = 0
    wanted: int = 0
    ran: int = 0
    wrong: int = 0
    twice: int = 0
    outputs: int = 0
    earlier: int = 0
    earlier_wrong: int = 0


def minimum(results: Results, count: int) -> None:
    """Random plans, one change each: what ran against what had to."""
    import executor_plans

    rows = []
    for name, cells in (
        ("grounds, code and files change", True),
        ("grounds and code change, nothing is read outside", False),
    ):
        tally = Tally()
        for chunk in range(0, count // 2, PLANS_A_MESH):
            mesh = Mesh(executor_plans.MemoryLog(), load(), "bench")
            for number in range(chunk, min(chunk + PLANS_A_MESH, count // 2)):
                _play(mesh, number, cells, tally)
            report.say(f"{name}: {min(chunk + PLANS_A_MESH, count // 2):,} plans")
        rows.append(_row(name, cells, tally))
        for key in ("plans", "wrong", "twice", "outputs"):
            results.ours[key] = results.ours.get(key, 0) + getattr(tally, key)
        if tally.earlier:
            results.earlier["outputs"] = tally.earlier_wrong
    head = [
        "plans of 1 to 9 tasks, one change each", "plans", "tasks", "had to run again", "mog ran",
        "contextmesh-graph ran", "its plans with a wrong result",
    ]  # fmt: skip
    results.parts.append("## The minimum\n\n" + report.table(head, rows) + "\n\n" + _NOTE)


_NOTE = (
    "Three quarters of the tasks are declared pure; the earlier package knows no such thing, records no reads, and runs what "
    "fell or was repaired. It was given the plans in which nothing outside is read, without cells, and the same changes."
)


def _row(name: str, cells: bool, t: Tally) -> list[str]:
    figures = [f"{n:,}" for n in (t.plans, t.tasks, t.wanted, t.ran)]
    theirs = ["", ""] if cells else ["not installed"] * 2
    return [name, *figures, *([f"{t.earlier:,}", f"{t.earlier_wrong:,}"] if t.earlier else theirs)]


def _play(mesh: Mesh, number: int, cells: bool, tally: Tally) -> None:
    import executor_plans as plans

    rng = random.Random(f"{SEED} {cells} {number}")
    specs = plans.specs(rng, rng.randint(1, 9), cells=cells)
    played, truth = plans.Played(mesh, specs, f"plan {cells} {number}"), plans.Truth(list(specs))
    truth.start()
    played.runner.run()
    done = plans.change(rng, specs, cells=cells)
    wanted = truth.after(done)
    played.apply(done)
    played.ran.clear()
    played.runner.run()
    tally.plans += 1
    tally.tasks += len(specs)
    tally.wanted += len(wanted)
    tally.ran += sum(played.ran.values())
    tally.wrong += set(played.ran) != wanted
    tally.twice += sum(n > 1 for n in played.ran.values())
    tally.outputs += played.outputs() != truth.outputs
    if not cells:
        _play_earlier(specs, done, truth, tally)


def _play_earlier(specs: Sequence[Any], done: Any, truth: Any, tally: Tally) -> None:
    """The same plan and change in the earlier package."""
    try:
        from contextmesh.execute import Runner as EarlierRunner
    except ImportError:
        return
    false: set[str] = set()
    ran: Counter[int] = Counter()
    runner = EarlierRunner("plan")

    def work(i: int, spec: Any) -> Any:
        def run(ctx: Any) -> dict[str, int]:
            ran[i] += 1
            return {"n": spec.value([ctx.inputs[f"t{n}"]["n"] for n in spec.reads], [])}

        return run

    def audit(ctx: Any) -> Any:
        return ctx.disproved("it is false") if ctx.assumption.statement in false else ctx.ok("it holds")

    for i, spec in enumerate(specs):
        needs = [f"t{n}" for n in spec.needs]
        runner.task(f"t{i}", work(i, spec), assumes=f"ground {spec.ground}", needs=needs, audit=audit)
    runner.run()
    false |= {f"ground {n}" for n in done.falls}
    if false:
        runner.recheck()
    for i, spec in enumerate(specs):
        if spec.ground in done.falls:
            runner.repair(f"t{i}", assumes=f"new ground {spec.ground}")
    for i, _ in done.salts:
        runner.repair(f"t{i}", run=work(i, truth.plan[i]))
    for i in done.again:
        runner.repair(f"t{i}")
    ran.clear()
    runner.run()
    tally.earlier += sum(ran.values())
    tally.earlier_wrong += [runner.output(f"t{i}").get("n") for i in range(len(specs))] != truth.outputs


# -- cutoff and scale


def same(ctx: Any) -> dict[str, int]:
    """One more than the sum of what it is given."""
    return {"n": sum(given["n"] for given in ctx.inputs.values()) + 1}


def _registry() -> TaskRegistry:
    registry = TaskRegistry()
    registry.register_worker("same", same, pure=True, version="1")
    return registry


def cutoff(results: Results) -> None:
    """A chain of six whose first task is repaired and gives the same again."""
    with (
        tempfile.TemporaryDirectory(prefix="mog-bench-") as folder,
        EventLog(Path(folder) / ".mog" / "ledger.db") as log,
    ):
        runner = declared(log, "chain", 6)
        runner.run()
        runner.repair("t0", assumes="other ground")
        results.ours["cutoff"] = len(runner.run().executed)
    results.earlier["cutoff"] = _earlier_cutoff()


def _earlier_cutoff() -> float:
    try:
        from contextmesh.execute import Runner as EarlierRunner
    except ImportError:
        return float("nan")
    runner, false = EarlierRunner("plan"), set[str]()

    def audit(ctx: Any) -> Any:
        return ctx.disproved("it is false") if ctx.assumption.statement in false else ctx.ok("it holds")

    for i in range(6):
        runner.task(f"t{i}", same, assumes=f"ground {i}", needs=[f"t{i - 1}"] if i else [], audit=audit)
    runner.run()
    false.add("ground 0")
    runner.recheck()
    runner.repair("t0", assumes="other ground")
    return float(len(runner.run().executed))


def declared(log: EventLog, shape: str, size: int) -> Runner:
    """A chain, or a wide plan in which nothing needs anything."""
    runner = Runner(Mesh(log, load(), "bench"), _registry(), shape)
    with runner.declaring():
        for i in range(size):
            needs = [f"t{i - 1}"] if shape == "chain" and i else []
            runner.task(f"t{i}", worker_key="same", assumes=f"ground {i}", needs=needs)
    return runner


def scale(results: Results, sizes: dict[str, Sequence[int]]) -> None:
    """Plans of growing size, each over a ledger of its own on disk."""
    rows = []
    for shape, steps in sizes.items():
        a_task = []
        for size in steps:
            report.say(f"{shape} of {size:,}")
            row, seconds = _timed(shape, size)
            a_task.append(seconds / size)
            rows.append(row)
        results.ours[shape] = a_task[-1] / a_task[0]
    head = [
        "plan",
        "first run, s",
        "a task, ms",
        "nothing to do, s",
        "what would run, s",
        "repair of the first, s",
        "earlier, s",
    ]
    results.parts.append("## Size\n\n" + report.table(head, rows) + "\n\n" + _SCALE_NOTE)


_SCALE_NOTE = (
    "Every task is a commit of its own that is on disk when the next one starts; the earlier package keeps everything in "
    "memory, and its column is its first run of the same plan. *Repair of the first*: the first task gets other ground and "
    "gives the same again; all others are held against what they read."
)


def _timed(shape: str, size: int) -> tuple[list[str], float]:
    with (
        tempfile.TemporaryDirectory(prefix="mog-bench-") as folder,
        EventLog(Path(folder) / ".mog" / "ledger.db") as log,
    ):
        runner = declared(log, shape, size)
        first = _seconds(runner.run)
        idle, dry = _seconds(runner.run), _seconds(runner.dry_run)
        runner.repair("t0", assumes="other ground")
        again = _seconds(runner.run)
        assert runner.complete
    cells = [f"{first:.2f}", f"{first / size * 1000:.1f}", f"{idle:.2f}", f"{dry:.2f}", f"{again:.2f}"]
    return [f"{shape} of {size:,}", *cells, _earlier_seconds(shape, size)], first


def _earlier_seconds(shape: str, size: int) -> str:
    try:
        from contextmesh.execute import Runner as EarlierRunner
    except ImportError:
        return "not installed"
    runner = EarlierRunner(shape)
    for i in range(size):
        runner.task(f"t{i}", same, assumes=f"ground {i}", needs=[f"t{i - 1}"] if shape == "chain" and i else [])
    return f"{_seconds(runner.run):.2f}"


def _seconds(call: Any) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


# -- the page


def met(key: str, value: float) -> bool:
    """Whether a figure reaches its goal."""
    _, sign, goal = GOALS[key]
    return value >= goal if sign == "≥" else value <= goal


def document(results: Results, host: str) -> str:
    """The page for docs/results/."""
    rows = []
    for key, (what, sign, goal) in GOALS.items():
        if key in results.ours:
            value, peer = results.ours[key], results.earlier.get(key)
            verdict = "target met" if met(key, value) else "**short**"
            rows.append([what, _figure(value), f"{sign} {goal:,g}", verdict, "" if peer is None else _figure(peer)])
    head = ["what", "measured", "target", "", "contextmesh-graph 0.1.1, same process"]
    parts = [
        "# The executor",
        f"Made by `python -m benchmarks.executor`. {host}. The oracle computes every output anew after each change and says "
        "which tasks read something else than when they ran; it never looks at what the engine recorded. The machine is "
        "shared: compare times within one run.",
        report.table(head, rows),
        *results.parts,
    ]
    return "\n\n".join(parts)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.2f}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met, 1 when one is missed."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.executor", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("parts", nargs="*", help="minimum, cutoff, scale; all when none is named")
    parser.add_argument("--plans", type=int, default=10_000, help="random plans")
    parser.add_argument("--largest", type=int, default=3_200, help="largest plan of the scale part")
    parser.add_argument("--no-write", action="store_true", help="print only")
    options = parser.parse_args(argv)
    wanted = options.parts or ["minimum", "cutoff", "scale"]
    results, host = Results(), report.machine()
    if "minimum" in wanted:
        minimum(results, options.plans)
    if "cutoff" in wanted:
        cutoff(results)
    if "scale" in wanted:
        scale(results, {shape: [n for n in sizes if n <= options.largest] for shape, sizes in SIZES.items()})
    text = document(results, host)
    print(text)
    if not options.no_write:
        report.write("executor", text)
    missed = [GOALS[key][0] for key, value in results.ours.items() if not met(key, value)]
    report.say("\n".join(["missed:", *missed]) if missed else "every target is met")
    return int(bool(missed))


if __name__ == "__main__":
    raise SystemExit(main())
