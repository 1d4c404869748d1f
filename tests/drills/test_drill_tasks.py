"""Tasks that a drill says would run again, against what the executor says once it is so."""

from __future__ import annotations

import executor_kit
import pytest

from mog.engine.drills import play, risk, truth
from mog.engine.drills.records import Repair
from mog.engine.drills.risk import Known
from mog.engine.executor.model import TaskState
from mog.engine.reason import commands
from mog.engine.reason.overlay import Overlay


@pytest.fixture
def shop(tmp_path):
    """Three tasks in a row, one apart, one that shares its ground with the first; all done."""
    made = executor_kit.Shop(tmp_path)
    runner = made.runner()
    made.chain(runner, "first", "second", "third")
    runner.task("apart", worker_key="value", assumes="apart may", auditor_key="judge")
    runner.task("beside", worker_key="value", assumes="first may", auditor_key="judge")
    runner.task("waits", worker_key="value", assumes="nobody knows", needs=["third"], auditor_key="judge")
    made.wrong["waits"] = "not good"
    runner.run()
    yield made, runner
    made.log.close()


@pytest.mark.parametrize("words", ["first may", "second may", "apart may", "nobody knows"])
def test_tasks_to_re_run_are_those_the_executor_finds_stale(shop, words):
    made, runner = shop
    target = made.mesh.find(words)
    told = truth.fallout(Overlay(made.mesh), target).counts.tasks
    before = {task.name for task in runner.tasks if runner.state(task.name) is TaskState.done}
    commands.reject(made.mesh, target, evidence="it is not so", auditor="person", reason="seen")
    stale = {name for name in before if runner.state(name) is TaskState.stale}
    assert told.stale == tuple(sorted(f"plan/{name}" for name in stale))
    assert told.total == 6


def test_a_repair_is_counted_in_tasks(shop):
    made, runner = shop
    copy = Overlay(made.mesh)
    choice = next(one for one in risk.weigh(copy, Known()).items if one.node.text == "first may")
    drill, found = play.make(copy, choice)
    game = play.Game(copy, drill, found)
    game.reveal()
    best = game.suggest()
    assert len(best.rerun.before.tasks.stale) == 4
    assert best.rerun.node.id == runner["first"].node_id
    assert best.rerun.after.tasks.stale == ("plan/beside", "plan/first"), (
        "a task whose own ground is false runs again anyway"
    )
    third = Repair("evidence", runner["third"].node_id, "seen at the counter")
    assert game.repair(third).after.tasks.stale == ("plan/beside", "plan/first", "plan/second")
