"""The work of a round grows with the plan, not with its square: what is counted is looks and operations, not time."""

from __future__ import annotations

from collections import Counter

import executor_plans as plans
import pytest

from mog.engine.executor import Runner, TaskRegistry
from mog.engine.executor.plan_state import PlanState
from mog.engine.ontology import load
from mog.engine.reason import ops
from mog.engine.reason.mesh import Mesh

OURS = load()


def add(ctx):
    return {"n": sum(given["n"] for given in ctx.inputs.values()) + 1}


def laid(shape: str, size: int, false: set[str]) -> Runner:
    registry = TaskRegistry()
    registry.register_worker("add", add, pure=True, version="1")
    registry.register_auditor(
        "look", lambda ctx: ctx.disproved("no") if ctx.assumption.statement in false else ctx.ok("yes"), version="1"
    )
    runner = Runner(Mesh(plans.MemoryLog(), OURS, "repo"), registry, "plan")
    with runner.declaring():
        for i in range(size):
            needs = [f"t{i - 1}"] if shape == "chain" and i else ["t0"] if shape == "star" and i else []
            runner.task(f"t{i}", worker_key="add", assumes=f"ground {i}", needs=needs, auditor_key="look")
    return runner


def counted(monkeypatch, calls) -> Counter[str]:
    seen: Counter[str] = Counter()
    with monkeypatch.context() as patch:
        for owner, name in ((PlanState, "task"), (PlanState, "trace"), (Mesh, "stands"), (ops, "apply")):
            real = getattr(owner, name)

            def spy(*args, _real=real, _name=name):
                seen[_name] += 1
                return _real(*args)

            patch.setattr(owner, name, spy)
        calls()
    return seen


@pytest.mark.parametrize("shape", ["chain", "wide", "star"])
def test_a_round_is_linear_in_the_plan(monkeypatch, shape):
    each = {}
    for size in (40, 160):
        false: set[str] = set()
        runner = laid(shape, size, false)

        def story(runner=runner, false=false):
            assert runner.run().complete
            assert not runner.run().executed
            runner.dry_run()
            false.add("ground 0")
            assert runner.recheck().receipts[0].hops[0] == (0, 1)
            runner.repair("t0", assumes="other ground")
            assert runner.run().executed == ["t0"]

        each[size] = counted(monkeypatch, story)
    for name, few in each[40].items():
        assert each[160][name] <= few * 4.4, (name, each)


def test_many_grounds_that_fall_at_once(monkeypatch):
    each = {}
    for size in (30, 120):
        false: set[str] = set()
        runner = laid("wide", size, false)
        runner.run()
        false.update(f"ground {i}" for i in range(size))
        each[size] = counted(monkeypatch, lambda runner=runner, size=size: len(runner.recheck().receipts) == size)
    for name in ("stands", "apply", "trace"):
        assert each[120][name] <= each[30][name] * 4.4, (name, each)
