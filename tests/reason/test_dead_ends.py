"""The four reasons on the labelled set, laid out on a real mesh, and their ledger."""

from __future__ import annotations

from pathlib import Path

import pytest
from bench_files import load
from mesh_stub import StubMesh

from mog.engine.reason.dead_ends import KEPT, REMEDIES, DeadEnd, DeadEndLedger, Reached, Reason, reason_for
from mog.engine.reason.walker import Walker

boards, dead_end_cases = load("boards"), load("dead_end_cases")
CASES = dead_end_cases.CASES


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_labelled_outcomes(case: dead_end_cases.Case, tmp_path: Path) -> None:
    board = boards.MogBoard(tmp_path)
    case.lay(board)
    assert "".join(board.ask(case.question)) == case.expected


def test_the_set_has_every_reason_and_answers_too() -> None:
    expected = [case.expected for case in CASES]
    assert len(CASES) >= 16
    assert all(expected.count(reason.value) >= 3 for reason in Reason)
    assert sum(text not in set(Reason) for text in expected) >= 4


def test_b2_15_neither_size_nor_a_dead_leaf_changes_the_reason(tmp_path: Path) -> None:
    found = {}
    for size in (1, 60, 300):
        for leaf in (False, True):
            mesh = StubMesh()
            source, hub = mesh.source("Sheet"), mesh.entity("Order Book")
            for row in range(size):
                mesh.claim(f"Row {row} holds a lot.", source, hub)
            if leaf:
                mesh.retire(mesh.claim("Its logo is green.", source, hub), "pruned")
            found[size, leaf] = Walker(mesh).ask("Why did the Order Book audit freeze?").dead_end
    assert set(found.values()) == {Reason.wrong_node_type}


@pytest.mark.parametrize(
    ("reached", "reason"),
    [
        (Reached(0), Reason.entity_unresolved),
        (Reached(0, blocked=True), Reason.pruned_too_early),
        (Reached(0, hidden=True), Reason.pruned_too_early),
        (Reached(1), Reason.no_typed_edge),
        (Reached(1, blocked=True), Reason.no_typed_edge),
        (Reached(1, asserting=True), Reason.wrong_node_type),
        (Reached(1, asserting=True, hidden=True), Reason.pruned_too_early),
    ],
)
def test_which_fact_decides(reached: Reached, reason: Reason) -> None:
    assert reason_for(reached) is reason


def test_dead_ends_say_what_is_in_the_way_and_what_to_do(tmp_path: Path) -> None:
    mesh = StubMesh()
    source, gateway = mesh.source("Notes"), mesh.entity("Payment Gateway")
    claim = mesh.claim("It timed out because DNS was slow.", source, gateway)
    mesh.fell(claim)
    walker = Walker(mesh)
    walker.ask("Why did the Payment Gateway time out?")
    walker.ask("Where is Atlantis?")
    fell, nowhere = walker.dead_ends.last()
    assert (fell.reason, fell.blocker) == (Reason.pruned_too_early, claim)
    assert "fallen" in fell.detail
    assert "Atlantis" in nowhere.detail
    assert fell.remedy == REMEDIES[Reason.pruned_too_early] != nowhere.remedy
    assert walker.dead_ends.counts() == {
        Reason.no_typed_edge: 0, Reason.entity_unresolved: 1, Reason.wrong_node_type: 0, Reason.pruned_too_early: 1,
    }  # fmt: skip


def test_the_ledger_is_bounded_and_counts_on() -> None:
    ledger = DeadEndLedger()
    for number in range(KEPT + 5):
        ledger.record(DeadEnd(str(number), Reason.no_typed_edge, "nothing"))
    assert len(ledger.last()) == KEPT
    assert ledger.last()[-1].question == str(KEPT + 4)
    assert ledger.counts()[Reason.no_typed_edge] == KEPT + 5


def test_four_reasons_each_with_a_remedy() -> None:
    assert sorted(Reason) == ["entity_unresolved", "no_typed_edge", "pruned_too_early", "wrong_node_type"]
    assert set(REMEDIES) == set(Reason)
