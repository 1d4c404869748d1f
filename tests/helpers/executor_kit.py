"""Small plans for tests of the executor: a mesh, a registry whose workers count, an outside world that changes its mind.

Who calls: tests/executor/. What may not come in: assertions.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from mog.engine.executor import Runner, TaskRegistry
from mog.engine.ledgers.events import EventLog
from mog.engine.ontology import load
from mog.engine.reason.mesh import Mesh

OURS = load()


class Shop:
    """A ledger, a mesh over it, a registry, and facts outside.

    Attributes:
        ran: how often each worker ran. values: what the worker ``value.NAME`` gives. false: assumptions that are false.
        wrong: tasks whose output is wrong.
    """

    def __init__(self, folder: Path) -> None:
        self.log = EventLog(folder / ".mog" / "ledger.db")
        self.mesh = self.fresh()
        self.ran: Counter[str] = Counter()
        self.values: dict[str, Any] = {}
        self.false: dict[str, str] = {}
        self.wrong: dict[str, str] = {}
        self.registry = self.brought()

    def fresh(self) -> Mesh:
        """A mesh as another process would open it."""
        return Mesh(self.log, OURS, "repo", clock=lambda: "2026-01-31T12:00:00Z")

    def brought(self) -> TaskRegistry:
        """A registry: ``value`` gives ``values[task]``, ``sum`` adds its inputs, ``impure`` too; ``judge`` looks outside."""
        registry = TaskRegistry()
        registry.register_worker("value", self._value, pure=True, version="1")
        registry.register_worker("value.2", self._value, pure=True, version="2")
        registry.register_worker("sum", self._sum, pure=True, version="1")
        registry.register_worker("impure", self._sum, version="1")
        registry.register_worker("broken", self._broken, pure=True, version="1")
        registry.register_auditor("judge", self._judge)
        return registry

    def runner(self, plan: str = "plan", **more: Any) -> Runner:
        """A runner over the mesh."""
        return Runner(self.mesh, self.registry, plan, **more)

    def reopened(self, plan: str = "plan", **more: Any) -> Runner:
        """A runner as another process would make it."""
        self.mesh = self.fresh()
        self.registry = self.brought()
        return self.runner(plan, **more)

    def chain(self, runner: Runner, *names: str, key: str = "sum") -> None:
        """Tasks in a row, the first by ``value``, each on a ground of its own, each with the auditor."""
        for i, name in enumerate(names):
            worker, needs = (key, [names[i - 1]]) if i else ("value", [])
            runner.task(
                name,
                worker_key=worker,
                assumes=f"{name} may",
                needs=needs,
                auditor_key="judge",
                produces=[f"{name} thing"],
            )

    def _value(self, ctx: Any) -> dict[str, Any]:
        self.ran[ctx.task.name] += 1
        return {"n": self.values.get(ctx.task.name, 1)}

    def _sum(self, ctx: Any) -> dict[str, Any]:
        self.ran[ctx.task.name] += 1
        return {"n": sum(given["n"] for given in ctx.inputs.values()) + 1}

    def _broken(self, ctx: Any) -> None:
        self.ran[ctx.task.name] += 1
        raise RuntimeError("out of order")

    def _judge(self, ctx: Any) -> Any:
        if ctx.task.name in self.wrong:
            return ctx.fail(self.wrong[ctx.task.name])
        if ctx.assumption.statement in self.false:
            return ctx.disproved(self.false[ctx.assumption.statement])
        return ctx.ok("as it should be")
