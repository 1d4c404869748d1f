"""The arithmetic of the call benchmark, on truths small enough to check by hand."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from benchmarks import scoring
else:  # by file, so that the tests do not depend on the folder pytest was started in
    SPEC = importlib.util.spec_from_file_location(
        "bench_scoring", Path(__file__).parent.parent / "benchmarks" / "scoring.py"
    )
    scoring = sys.modules["bench_scoring"] = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(scoring)

CallEdge, Truth = scoring.CallEdge, scoring.Truth
caller_lists, of_tiers, score, worst_names = (
    scoring.caller_lists,
    scoring.of_tiers,
    scoring.score,
    scoring.worst_names,
)

TRUTH = Truth.of(
    {
        "sites": [
            {"caller": "a.py:1", "callee_name": "f", "callees": ["b.py:1"], "kind": "name"},
            {"caller": "a.py:1", "callee_name": "save", "callees": ["b.py:5", "c.py:5"], "kind": "attr"},
            {"caller": "a.py:9", "callee_name": "save", "callees": ["b.py:5"], "kind": "self"},
        ],
        "external_sites": [{"caller": "a.py:7", "callee_name": "join"}],
        "names": {"a.py:1": "go", "b.py:1": "f", "b.py:5": "B.save", "c.py:5": "C.save"},
        "callers_of_30": ["b.py:5"],
    }
)


def edge(caller: str, callee: str, name: str, tier: str = "certain") -> scoring.CallEdge:
    return CallEdge(caller, callee, name, tier)


PERFECT = [
    edge("a.py:1", "b.py:1", "f"),
    edge("a.py:1", "b.py:5", "save"),
    edge("a.py:1", "c.py:5", "save", "hierarchy"),
    edge("a.py:9", "b.py:5", "save", "candidate"),
]


def test_perfect_graph_scores_one() -> None:
    got = score(PERFECT, TRUTH)
    assert (got.precision, got.site_recall, got.edge_recall) == (1.0, 1.0, 1.0)


def test_empty_graph_scores_zero() -> None:
    got = score([], TRUTH)
    assert (got.precision, got.site_recall, got.edge_recall) == (0.0, 0.0, 0.0)


def test_wrong_target_and_external_edge_both_cost_precision() -> None:
    got = score([*PERFECT, edge("a.py:1", "z.py:1", "f"), edge("a.py:7", "b.py:1", "join")], TRUTH)
    assert (got.right, got.wrong, got.external) == (4, 1, 1)
    assert got.precision == pytest.approx(4 / 6)


def test_site_that_did_not_run_is_not_judged() -> None:
    assert score([*PERFECT, edge("z.py:1", "b.py:1", "f")], TRUTH) == score(PERFECT, TRUTH)


def test_same_edge_drawn_twice_counts_once() -> None:
    assert score(PERFECT + PERFECT, TRUTH) == score(PERFECT, TRUTH)


def test_one_right_target_finds_a_site_but_not_all_its_edges() -> None:
    got = score([edge("a.py:1", "b.py:5", "save")], TRUTH)
    assert (got.sites_hit, got.sites, got.edges_hit, got.edges) == (1, 3, 1, 4)


def test_by_kind_judges_only_that_kind() -> None:
    wrong_name = [*PERFECT, edge("a.py:1", "z.py:1", "f"), edge("a.py:7", "b.py:1", "join")]
    assert score(wrong_name, TRUTH, "attr").precision == 1.0
    assert score(wrong_name, TRUTH, "name").precision == 0.5


def test_tiers_are_chosen_by_name() -> None:
    assert len(of_tiers(PERFECT, ("certain",))) == 2
    assert len(of_tiers(PERFECT, ("certain", "hierarchy", "candidate"))) == 4


def test_caller_lists_count_callers_of_the_targets_only() -> None:
    got = caller_lists([*PERFECT, edge("a.py:1", "b.py:5", "f"), edge("z.py:3", "b.py:5", "save")], TRUTH)
    assert (got.right, got.drawn, got.true) == (2, 2, 2)


def test_caller_lists_charge_a_wrong_caller_whose_site_ran() -> None:
    got = caller_lists([edge("a.py:9", "b.py:5", "save"), edge("a.py:7", "b.py:5", "join")], TRUTH)
    assert (got.recall, got.precision) == (0.5, 0.5)


def test_worst_names_are_counted_and_ordered() -> None:
    wrong = [edge("a.py:1", f"z.py:{n}", "f") for n in range(3)] + [edge("a.py:7", "b.py:1", "join")]
    assert worst_names(wrong, TRUTH) == [("f", 3), ("join", 1)]
