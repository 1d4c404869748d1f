"""Generated sessions, both ways: taken in and given out to the byte, gone on with by either package, made here and loaded there.

Forty of each in every run; 200 more with ``python -m pytest tests/executor/test_session_generated.py -m slow``.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from session_kit import AUDITORS, WORKERS, RandomSession, World, earlier_sessions, states, texts
from v1_kit import mesh

from mog.engine.executor import Runner, TaskRegistry, session

SEEDS = [*range(40), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(40, 240))]


def outputs(runner: Any) -> dict[str, tuple[str, int, Any]]:
    """As ``states`` of the kit, of a runner of ours."""
    plain = {t.name: json.loads(json.dumps(dict(runner.output(t.name)), default=list)) for t in runner.tasks}
    return {t.name: (runner.state(t.name).value, t.attempt, plain[t.name]) for t in runner.tasks}


def above(runner: Any, name: str) -> set[str]:
    """Every task that a task needs, however far."""
    found: set[str] = set()
    todo = [name]
    while todo:
        for need in runner[todo.pop()].needs:
            if need not in found:
                found.add(need)
                todo.append(need)
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_a_session_of_the_earlier_package_comes_out_to_the_byte_and_goes_on(seed: int, tmp_path: Path) -> None:
    made = RandomSession(seed)
    assert made.save(tmp_path / "in"), "the earlier package cannot read what it wrote: choose another seed"
    m, registry = mesh(tmp_path / "m"), made.world.fill(TaskRegistry())
    session.import_(m, tmp_path / "in", registry)
    session.export(m, tmp_path / "out")
    assert texts(tmp_path / "out") == texts(tmp_path / "in")
    mine = Runner(m, registry, made.runner.plan, expect_head=made.runner.ledger.head)
    assert outputs(mine) == states(made.runner)
    theirs = made.load(tmp_path / "out").runner
    made.runner.run()
    theirs.run()
    assert states(theirs) == states(made.runner) and theirs.ledger.head == made.runner.ledger.head
    _go_on(mine, theirs)
    session.export(m, tmp_path / "out")
    assert {name: s[0] for name, s in states(made.load(tmp_path / "out").runner).items()} == {
        task.name: mine.state(task.name).value for task in mine.tasks
    }


def _go_on(mine: Any, theirs: Any) -> None:
    """Both come to the same, except below work that ran again or failed: there the earlier package keeps what is old."""
    report = mine.resume()
    expected, found = states(theirs), outputs(mine)
    moved = {*report.executed, *report.failed}
    for name in expected:
        if not above(mine, name) & moved:
            assert (found[name][0], found[name][2]) == (expected[name][0], expected[name][2]), name


class RandomPlan:
    """A random plan made here, that ran, was disproved and repaired; ``world`` is what its workers see."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng, self.world, self.mesh = random.Random(f"plan {seed}"), World(), mesh(folder)
        self.runner = Runner(self.mesh, self.world.fill(TaskRegistry()), f"plan {seed}")
        names: list[str] = []
        for i in range(self.rng.randint(1, 6)):
            names.append(f"task-{i}")
            self.runner.task(
                names[-1], assumes=f"Ground {self.rng.randint(0, 3)}", worker_key=self.rng.choice(WORKERS),
                needs=self.rng.sample(names[:-1], min(i, 2)), produces=[f"Artefact {i}"] if self.rng.random() < 0.7 else [],
                auditor_key=self.rng.choice(["", *AUDITORS]),
            )  # fmt: skip
        if self.rng.random() < 0.9:
            self.runner.run()
        for turn in range(self.rng.randint(0, 5)):
            self._turn(turn, names)

    def _turn(self, turn: int, names: list[str]) -> None:
        what = self.rng.choice(["break", "disprove", "disprove", "fail", "repair", "repair", "run"])
        if what == "repair":
            fallen = [name for name in names if self.runner.state(name).value in ("stale", "failed")]
            for name in fallen[:1]:
                self.world.broken.discard(name)
                self.world.wrong.discard(name)
                self.runner.repair(name, assumes=f"{name} on new ground {turn}", worker_key=self.rng.choice(WORKERS))
            return
        if what == "break":
            self.world.broken.add(self.rng.choice(names))
        elif what == "fail":
            self.world.wrong.add(self.rng.choice(names))
        elif what == "disprove":
            self.world.false.add(self.runner[self.rng.choice(names)].assumes[0])
        self.runner.run() if what == "run" else self.runner.recheck()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_earlier_package_loads_a_plan_made_here_and_goes_on(seed: int, tmp_path: Path) -> None:
    made = RandomPlan(seed, tmp_path / "m")
    session.export(made.mesh, tmp_path / "out")
    em = earlier_sessions()
    loaded = em.Session.load(tmp_path / "out", registry=made.world.fill(em.Registry()))
    theirs = loaded.runner
    assert states(theirs) == outputs(made.runner)
    assert theirs.ledger.verify() and theirs.ledger.head == made.runner.ledger.head
    theirs.run()
    loaded.save(tmp_path / "theirs")
    assert session.inspect(tmp_path / "theirs").plans[0].round == theirs.round
    _go_on(made.runner, theirs)


@pytest.mark.parametrize("seed", range(6))
def test_a_plan_made_here_is_saved_loaded_and_exported_to_the_same_bytes(seed: int, tmp_path: Path) -> None:
    made = RandomPlan(seed, tmp_path / "m")
    session.save(made.mesh.log, tmp_path / "saved")
    back = mesh(tmp_path / "back")
    session.load(tmp_path / "saved", back.log, made.world.fill(TaskRegistry()))
    assert back.head == made.mesh.head
    for m, name in ((made.mesh, "one"), (back, "two")):
        session.export(m, tmp_path / name)
    assert texts(tmp_path / "one") == texts(tmp_path / "two")
