"""Intervals hold what they must, and the same figures give the same interval."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mog.engine.evals import stats


@settings(max_examples=25, deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(0, 9))
def test_a_share_lies_in_its_interval_and_repeats_itself(flags: list[bool], seed: int) -> None:
    found = stats.share(flags, seed)
    assert found == stats.share(flags, seed)
    assert found.value == pytest.approx(100 * sum(flags) / len(flags))
    assert 0 <= (found.low or 0) <= found.value + 1e-9 <= (found.high or 0) + 2e-9 <= 100 + 1e-6


def test_equal_methods_differ_by_nothing_and_a_better_one_by_more() -> None:
    before = [float(n % 2) for n in range(60)]
    same = stats.paired(before, before, 1)
    assert (same.value, same.low, same.high) == (0, 0, 0)
    better = stats.paired([1.0] * 60, before, 1, scale=100)
    assert better.value == 50
    assert (better.low or 0) > 30


def test_a_pair_needs_the_same_tasks() -> None:
    with pytest.raises(ValueError, match="same tasks"):
        stats.paired([1.0], [1.0, 2.0], 0)


def test_an_answer_that_is_never_reached_makes_the_median_infinite_only_when_most_are() -> None:
    assert stats.median_interval([1, 2, 3, math.inf], 0).value == 2
    assert stats.median_interval([1, math.inf, math.inf], 0).value == math.inf


def test_no_cases_make_no_interval() -> None:
    assert stats.share([], 0).low is None
