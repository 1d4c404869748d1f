"""What counts as an answer, and how a ranking is scored against it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mog.engine.errors import UsageError
from mog.engine.evals import gold


@pytest.mark.parametrize(
    ("qual", "kinds", "name"),
    [
        ("f", ["function"], "f"),
        ("f.inner", ["function", "function"], "f"),
        ("C.m", ["class", "method"], "C.m"),
        ("C.m.inner", ["class", "method", "function"], "C.m"),
        ("C.__init__", ["class", "method"], "C"),
        ("C.x@setter", ["class", "method"], "C.x"),
        ("f#2", ["function"], "f"),
        ("C", ["class"], "C"),
        ("C.D.m", ["class", "class", "method"], "C.D"),
        ("__init__", ["function"], "__init__"),
    ],
)
def test_a_function_goes_by_the_name_of_the_published_tables(qual: str, kinds: list[str], name: str) -> None:
    assert gold.spelled(qual, kinds) == name


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("src/app.py", True),
        ("src/testing.py", True),
        ("src/contest/app.py", True),
        ("tests/app.py", False),
        ("a/test/app.py", False),
        ("a/test_app.py", False),
        ("a/app_test.py", False),
        ("a/app.pyx", False),
    ],
)
def test_tests_and_other_languages_are_no_candidates(path: str, kept: bool) -> None:
    assert gold.candidate(path) is kept


def test_all_of_the_answer_has_to_be_among_the_first_k() -> None:
    ranks = gold.first_ranks(["a", "b", "a", "c"], ["c", "a"])
    assert ranks == [3, 1]
    assert gold.hit(ranks, 3)
    assert not gold.hit(ranks, 2)
    assert not gold.hit(gold.first_ranks(["a"], ["a", "z"]), 10)
    assert not gold.hit([], 10)


@given(st.lists(st.sampled_from("abcdef")), st.sets(st.sampled_from("abcdef"), min_size=1), st.integers(1, 8))
def test_a_longer_list_never_loses_a_hit(ranking: list[str], wanted: set[str], cut: int) -> None:
    ranks = gold.first_ranks(ranking, wanted)
    assert gold.hit(ranks, cut) <= gold.hit(ranks, cut + 1)
    assert gold.hit(ranks, cut) == (wanted <= set(list(dict.fromkeys(ranking))[:cut]))


def test_a_limit_takes_tasks_from_all_over_the_list() -> None:
    tasks = [gold.Task(str(n), "o/r", "00", "q", ("f",), ("f:g",) if n % 2 else ()) for n in range(40)]
    picked = gold.judged(tasks, 4)
    assert [task.id for task in picked] == ["1", "11", "21", "31"]
    assert len(gold.judged(tasks)) == 20


def test_a_line_that_is_no_task_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tasks.jsonl"
    path.write_text('{"id": "a"}\n', encoding="utf-8")
    with pytest.raises(UsageError, match="line 1 is no task"):
        gold.load(path)
    with pytest.raises(UsageError, match="no such file"):
        gold.load(tmp_path / "none.jsonl")
