"""What a reader pays: tokens until each wanted function was read."""

from __future__ import annotations

from mog.engine.evals import gold, trial
from mog.engine.evals.baselines import Chunk
from mog.engine.evals.cards import Card, Symbol
from mog.engine.evals.trial import NEVER, Read, Span

ONE = Symbol("f", "function", 0, 400, 10, 0)
INNER = Symbol("f", "function", 100, 200, 10, 0)
TWO = Symbol("C.m", "method", 400, 1200, 12, 0)
SCENE = trial.Scene(["a.py", "b.py"], [Card(1200, (ONE, INNER, TWO)), Card(4000, ())])
TASK = gold.Task("t", "o/r", "00", "q", ("a.py",), ("a.py:f", "a.py:C.m"))


def test_files_are_paid_whole_until_the_last_gold_one() -> None:
    answer = trial.from_files(SCENE, [1, 0])
    assert answer.files == ("b.py", "a.py")
    assert trial.score(SCENE, TASK, answer).tokens["whole"] == 1000 + 300


def test_functions_are_paid_one_by_one() -> None:
    answer = trial.from_functions(SCENE, [0], [(0, TWO), (0, INNER), (0, ONE)])
    score = trial.score(SCENE, TASK, answer)
    assert score.functions == (2, 1)
    assert score.modules == (2, 1)
    assert score.tokens["whole"] == 200 + 25 + 100


def test_a_chunk_that_cuts_a_function_has_not_read_it() -> None:
    chunks = [Chunk(0, 0, 600), Chunk(0, 600, 1200)]
    score = trial.score(SCENE, TASK, trial.from_chunks(SCENE, chunks))
    assert score.tokens["touched"] == 150
    assert score.tokens["whole"] == 300
    assert trial.score(SCENE, TASK, trial.from_chunks(SCENE, chunks[:1])).tokens["whole"] == NEVER


def test_pieces_in_any_order_add_up_to_a_function() -> None:
    pieces = [Read(1, Span(0, 300, 400)), Read(1, Span(0, 0, 150)), Read(1, Span(0, 100, 310)), Read(1, Span(0, 0, 400))]
    assert trial.spent(pieces, [[Span(0, 0, 400)]], whole=True) == 3
    assert trial.spent(pieces, [[Span(0, 0, 400)]], whole=False) == 2


def test_what_is_not_there_is_never_read() -> None:
    task = gold.Task("t", "o/r", "00", "q", ("a.py",), ("a.py:gone",))
    assert trial.score(SCENE, task, trial.from_files(SCENE, [0, 1])).tokens["whole"] == NEVER
    assert trial.signatures_first(SCENE, task, [(0, ONE)]) == NEVER


def test_signatures_are_paid_down_to_the_last_gold_one_then_the_gold_bodies() -> None:
    listed = [(0, TWO), (0, ONE)]
    lines = len("a.py:C.m") + 12 + 2 + len("a.py:f") + 10 + 2
    assert trial.signatures_first(SCENE, TASK, listed) == -(-lines // 4) + 200 + 100
