"""The working set beside a model in twenty lines, under any sequence of servings, recalls, pins and evictions."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from hypothesis import HealthCheck, event, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from set_kit import Changing, config, item

from mog.engine.memory.set_records import Now, Turned
from mog.engine.memory.working_set import WorkingSets
from mog.engine.model import Freshness
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Zoom

BUDGET, LOW, RECENT = 600, 450, 3
NAMES = st.sampled_from("abcdefghijkl")
KINDS = {"e": "constraint", "f": "correction"}


class Sets(RuleBasedStateMachine):
    """Two objects on one file take turns, as two processes would."""

    @initialize()
    def begin(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.changing = Changing()
        self.doors = [WorkingSets(self.folder / ".mog", config(), self.changing) for _ in range(2)]
        self.at = 0
        self.bytes: dict[str, str] = {}  # ref → what was served
        self.owner: dict[str, str] = {}  # ref → id
        self.last: dict[str, int] = {}  # id → turn that named it last
        self.held: set[str] = set()  # refs
        self.pinned: set[str] = set()  # ids
        self.turn = 0
        self.entered = 0  # tokens since the last automatic eviction that reached the low mark
        self.reached = False

    def teardown(self) -> None:
        if hasattr(self, "doors"):
            for door in self.doors:
                door.close()
            shutil.rmtree(self.folder)

    @property
    def agent(self):  # type: ignore[no-untyped-def]
        self.at += 1
        return self.doors[self.at % 2].session("agent")

    def cost(self, refs: set[str]) -> int:
        return sum(estimator.tokens(self.bytes[ref]) for ref in refs)

    def stays(self, ref: str) -> bool:
        name = self.owner[ref]
        return name in self.pinned or name in KINDS or self.turn - self.last[ref] < RECENT

    def after(self, turned: Turned, before: set[str], goal: int | None = None) -> None:
        """What every change has to keep, told by the model."""
        assert turned.turn == self.turn
        gone = {stub.ref for stub in turned.evicted}
        assert gone <= self.held and not any(self.stays(ref) for ref in gone)
        grown = self.cost(self.held)
        self.entered += self.cost(self.held - before)
        self.held -= gone
        assert turned.used == self.cost(self.held)
        mark = LOW if goal is None else goal
        if goal is None:
            assert not gone or grown > BUDGET
            event("evicted by itself" if gone else "nothing had to go")
            if gone and self.reached:
                assert self.entered > BUDGET - LOW
        if gone or grown > (BUDGET if goal is None else goal):
            assert turned.used <= mark or all(self.stays(ref) for ref in self.held)
            self.entered, self.reached = 0, turned.used <= LOW
        if turned.used > BUDGET:
            assert any("over the budget" in told for told in turned.warnings)

    @rule(served=st.lists(st.tuples(NAMES, st.integers(1, 250), st.sampled_from([Zoom.L1, Zoom.L2]), st.floats(0, 1)), max_size=4))
    def serve(self, served: list[tuple[str, int, Zoom, float]]) -> None:
        items = [
            item(name, (f"{name}{size}\ud800é" * 400)[: 3 * size], zoom=zoom, score=score, kind=KINDS.get(name, "function"))
            for name, size, zoom, score in served
        ]
        before, self.turn = set(self.held), self.turn + 1
        turned = self.agent.serve(items)
        for one, ref in zip(items, turned.refs, strict=True):
            assert bool(ref) == (one.tokens <= BUDGET)
            if not ref:
                continue
            if ref in turned.taken and ref not in self.held:
                self.held -= {other for other in self.held if self.owner[other] == one.id}
                self.bytes[ref], self.owner[ref] = one.text, one.id
            self.held.add(ref)
            self.last[ref] = self.turn
        self.after(turned, before)

    @precondition(lambda self: self.bytes)
    @rule(data=st.data())
    def recall(self, data: st.DataObject) -> None:
        ref = data.draw(st.sampled_from(sorted(self.bytes)))
        before, self.turn = set(self.held), self.turn + 1
        back = self.agent.recall(ref)
        assert back.item.text == self.bytes[ref]
        self.held.add(ref)
        self.last[ref] = self.turn
        self.after(back.turned, before)

    @rule(names=st.lists(NAMES, max_size=1, unique=True))
    def name_again(self, names: list[str]) -> None:
        before, self.turn = set(self.held), self.turn + 1
        turned = self.agent.name_again(names)
        self.last |= dict.fromkeys(turned.hits, self.turn)
        self.after(turned, before)

    @rule(to=st.integers(0, BUDGET))
    def evict(self, to: int) -> None:
        before = set(self.held)
        self.after(self.agent.evict(to), before, goal=to)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), on=st.booleans())
    def pin(self, data: st.DataObject, on: bool) -> None:
        ref = data.draw(st.sampled_from(sorted(self.held)))
        agent = self.agent
        (agent.pin if on else agent.unpin)(ref)
        (self.pinned.add if on else self.pinned.discard)(self.owner[ref])

    @rule(name=NAMES, state=st.sampled_from([Freshness.fresh, Freshness.drifted, Freshness.missing]))
    def change(self, name: str, state: Freshness) -> None:
        self.changing.told[name] = Now(state, "" if state is Freshness.fresh else "it changed")

    @invariant()
    def adds_up(self) -> None:
        if not hasattr(self, "doors"):
            return
        state = self.agent.state()
        assert {row.entry.ref for row in state.items} == self.held
        assert state.used == self.cost(self.held) and state.turn == self.turn
        totals = state.totals
        assert totals.taken - totals.evicted - totals.replaced == state.used
        assert state.over == max(0, state.used - BUDGET)
        for stub in state.stubs:
            assert estimator.tokens(stub.line) <= 40 and stub.ref in self.bytes and stub.ref not in self.held


Sets.TestCase.settings = settings(
    max_examples=30, stateful_step_count=25, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much]
)
TestSets = Sets.TestCase
