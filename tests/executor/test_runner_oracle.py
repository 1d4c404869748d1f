"""What runs again is exactly what has to: random plans and changes against an oracle that works everything out from scratch."""

from __future__ import annotations

import random

import executor_plans as plans
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.executor import Event, TaskState
from mog.engine.ledgers.events import EventLog
from mog.engine.ontology import load
from mog.engine.reason.mesh import Mesh, folder

OURS = load()


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A ledger on disk, shared by the plans of this file."""
    with EventLog(tmp_path_factory.mktemp("plans") / ".mog" / "ledger.db") as log:
        yield Mesh(log, OURS, "repo"), iter(range(10**6))


def play(mesh, name: str, rng: random.Random, size: int, steps: int, workers: int = 1) -> None:
    specs = plans.specs(rng, size)
    played, truth = plans.Played(mesh, specs, name, workers), plans.Truth(list(specs))
    truth.start()
    assert played.runner.run().complete and played.outputs() == truth.outputs
    for step in range(steps):
        if step % 2:
            played.reopen(Mesh(mesh.log, OURS, "repo") if step % 4 == 3 else mesh)
        plans.check(played, truth, plans.change(rng, played.plan))
    played.runner.ledger.verify()


@pytest.mark.parametrize("seed", range(16))
def test_hundreds_of_random_plans_run_the_minimum(seed):
    mesh, rng = Mesh(plans.MemoryLog(), OURS, "repo"), random.Random(seed)
    for number in range(20):
        play(mesh, f"plan {number}", rng, size=rng.randint(1, 8), steps=1 + number % 3)


@pytest.mark.parametrize("seed", range(6))
def test_other_processes_on_a_ledger_on_disk_go_on(world, seed):
    play(world[0], f"plan {next(world[1])}", random.Random(seed), size=3 + seed, steps=5)


@pytest.mark.parametrize("seed", range(6))
def test_threads_change_nothing(seed):
    play(Mesh(plans.MemoryLog(), OURS, "repo"), "plan", random.Random(1_000 + seed), size=8, steps=3, workers=4)


@settings(max_examples=60, deadline=None)
@given(rng=st.randoms(use_true_random=False), size=st.integers(1, 7), steps=st.integers(1, 3))
def test_whatever_hypothesis_thinks_of(rng, size, steps):
    play(Mesh(plans.MemoryLog(), OURS, "repo"), "plan", rng, size, steps)


def test_the_oracle_can_tell(world):
    """A runner that runs one task too many, or one too few, is found out."""
    mesh, numbers = world
    specs = plans.specs(random.Random(5), 6)
    played, truth = plans.Played(mesh, specs, f"plan {next(numbers)}"), plans.Truth(list(specs))
    truth.start()
    played.runner.run()
    played.runner.repair("t0")
    with pytest.raises(AssertionError, match="ran"):
        plans.check(played, truth, plans.Change())


def test_the_ledger_replays_to_what_the_runner_left(tmp_path):
    with EventLog(tmp_path / ".mog" / "ledger.db") as log:
        mesh = Mesh(log, OURS, "repo")
        rng = random.Random(7)
        played = plans.Played(mesh, plans.specs(rng, 6))
        played.runner.run()
        for _ in range(4):
            played.apply(plans.change(rng, played.plan))
            played.runner.run()
        assert not log.verify(folder(OURS)).flaws
        assert played.runner.ledger.count(Event.executed) >= 6
        assert all(task.state is TaskState.done for task in played.runner.tasks)
