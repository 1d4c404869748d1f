"""Standing against an answer-set solver and networkx, after every single operation."""

from __future__ import annotations

import random

import clingo_oracle
import pytest
import standing_twin
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, precondition, rule
from standing_twin import Twin

from mog.engine.reason.standing import DefeatLoop

NODES = [f"n{at:02}" for at in range(8)]
node = st.sampled_from(NODES)


class StandingMachine(RuleBasedStateMachine):
    """Cycles, alternatives, defeaters, withdrawals, dropped grounds, retiring, superseding, undo."""

    written = Bundle("written")

    @initialize()
    def start(self) -> None:
        self.twin = Twin(NODES)
        self.undo: list[tuple[standing_twin.Op, set[str]]] = []
        self.serial = 0

    def do(self, op: standing_twin.Op) -> bool:
        before = self.twin.labels()
        inverse = self.twin.attempt(op)
        if inverse is None:
            assert self.twin.labels() == before
            return False
        self.undo.append((inverse, before))
        return True

    @rule(target=written, head=node, all_of=st.sets(node, max_size=3), none_of=st.sets(node, max_size=1))
    def write(self, head: str, all_of: set[str], none_of: set[str]) -> str:
        self.serial += 1
        gid = f"g{self.serial}"
        self.do(("ground", gid, head, tuple(sorted(all_of)), tuple(sorted(none_of))))
        return gid

    @rule(gid=written)
    def drop(self, gid: str) -> None:
        if gid in self.twin.model.grounds:
            self.do(("unground", gid))

    @rule(victim=node, by=node)
    def defeat(self, victim: str, by: str) -> None:
        self.do(("defeat", victim, by))

    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        pairs = sorted(pair for pair, times in self.twin.model.defeats.items() if times)
        if pairs:
            self.do(("undefeat", *data.draw(st.sampled_from(pairs))))

    @rule(who=node, out=st.booleans())
    def retire(self, who: str, out: bool) -> None:
        self.do(("out", who, out))

    @rule(old=node, seed=st.integers(0, 99))
    def supersede(self, old: str, seed: int) -> None:
        for op in self.twin.superseding(old, random.Random(seed)):
            self.do(op)

    @precondition(lambda self: self.undo)
    @rule(back=st.integers(1, 5))
    def take_back(self, back: int) -> None:
        for _ in range(min(back, len(self.undo))):
            inverse, before = self.undo.pop()
            self.twin.apply(inverse)
            assert self.twin.labels() == before

    @rule()
    def relabel(self) -> None:
        before = self.twin.labels()
        self.twin.standing.relabel()
        assert self.twin.labels() == before

    @invariant()
    def agrees_with_the_solver(self) -> None:
        self.twin.check()


TestStandingMachine = StandingMachine.TestCase
TestStandingMachine.settings = settings(
    max_examples=25, stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize(
    ("seed", "nodes"),
    [(1, 4), (2, 9), (3, 16), pytest.param(4, 30, marks=pytest.mark.slow), pytest.param(5, 38, marks=pytest.mark.slow)],
)
def test_long_random_run_agrees_with_the_solver_after_every_operation(seed: int, nodes: int) -> None:
    done, refused = standing_twin.long_run(seed, 400, nodes=nodes)
    assert done >= 400
    assert refused, "no loop was ever tried"


def test_the_solver_itself_tells_a_wrong_label() -> None:
    twin = Twin("abc")
    for op in (("ground", "g1", "c", ("a",), ()), ("ground", "g2", "c", ("b",), ()), ("out", "a", True)):
        twin.apply(op)
    twin.check()
    twin.model.out.add("b")
    with pytest.raises(AssertionError):
        twin.check()


def test_the_solver_finds_no_single_model_where_a_loop_runs_through_a_defeater() -> None:
    twin = Twin("ab")
    twin.apply(("defeat", "a", "b"))
    twin.model.defeats["b", "a"] = 1
    with pytest.raises(AssertionError, match="2 stable models"):
        clingo_oracle.standing(twin.model)
    with pytest.raises(DefeatLoop):
        twin.standing.defeat("b", "a")
