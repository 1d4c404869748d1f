"""Playing: scores, peeks, the reveal, repairs, and that a drill is the same wherever it is made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import drill_world
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mog.engine.drills import play, risk, sample, scoring
from mog.engine.drills.records import Outcome, Repair
from mog.engine.drills.risk import Known
from mog.engine.errors import NotFound, UsageError
from mog.engine.reason.overlay import Overlay

FALLS, WEAKENS, SURVIVES = Outcome
calm = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
outcomes = st.sampled_from(list(Outcome))
answers = st.lists(st.tuples(outcomes, st.one_of(st.none(), outcomes), st.booleans()), max_size=30)


@pytest.fixture
def copy(tmp_path):
    mesh = drill_world.mesh_at(tmp_path)
    drill_world.shop(mesh)
    yield Overlay(mesh)
    mesh.log.close()


def game_of(copy, words=drill_world.PRICES, **more):
    choice = next(one for one in risk.weigh(copy, Known()).items if one.node.text == words)
    drill, found = play.make(copy, choice, **more)
    return play.Game(copy, drill, found)


# -- scores


@calm
@given(answers)
def test_a_score_is_the_mean_of_the_recalls_of_what_occurs(found):
    shares = []
    for outcome in Outcome:
        rows = [(said is truth) * (0.5 if peeked else 1) for truth, said, peeked in found if truth is outcome]
        shares += [sum(rows) / len(rows)] if rows else []
    expected = 100 * sum(shares) / len(shares) if shares else 0.0
    assert scoring.score(found).value == pytest.approx(expected)
    assert 0 <= scoring.score(found).value <= 100


@calm
@given(st.lists(outcomes, min_size=3).filter(lambda rows: len(set(rows)) == 3), outcomes)
def test_one_answer_for_everything_scores_a_third(truths, said):
    assert scoring.score((truth, said, False) for truth in truths).rounded == 33


@calm
@given(answers)
def test_a_blank_is_worth_nothing_and_a_peek_half(found):
    blank = scoring.score((truth, None, peeked) for truth, _, peeked in found)
    right = scoring.score((truth, truth, False) for truth, _, _ in found)
    peeked = scoring.score((truth, truth, True) for truth, _, _ in found)
    assert blank.value == 0
    assert right.value == (100 if found else 0)
    assert peeked.value == right.value / 2


# -- a game


def test_all_right_is_a_hundred_and_one_peek_costs_half_its_point(copy):
    game = game_of(copy)
    for at, truth in enumerate(game.drill.truths):
        game.answer(at, truth.outcome)
    at = next(i for i, truth in enumerate(game.drill.truths) if truth.outcome is FALLS)
    assert game.peek(at) == game.drill.questions[at].supports
    recall = game.reveal().score.recalls[FALLS]
    assert (recall.right, recall.asked) == (3.5, 4)
    assert game.reveal().score.recalls[WEAKENS].right == 1


def test_an_answer_can_be_changed_until_the_reveal_and_not_after_it(copy):
    game = game_of(copy)
    game.answer(0, FALLS)
    game.answer(0, None)
    assert game.blanks == tuple(range(len(game.drill.questions)))
    game.answer(0, WEAKENS)
    assert game.reveal().rows[0].said is WEAKENS
    with pytest.raises(UsageError, match="revealed"):
        game.answer(0, FALLS)
    game.peek(1)
    assert not game.reveal().rows[1].peeked, "a look after the reveal costs nothing"


@pytest.mark.parametrize("at", [-1, 6, 99])
def test_a_question_that_is_not_there_is_refused(copy, at):
    with pytest.raises(UsageError, match="no question"):
        game_of(copy).answer(at, FALLS)


def test_a_repair_is_refused_before_the_reveal_and_counted_after_it(copy):
    game = game_of(copy)
    with pytest.raises(UsageError, match="before the reveal"):
        game.suggest()
    game.reveal()
    best = game.suggest()
    assert best.rerun.node.text == "store cents as integers"
    assert (best.rerun.before.falls, best.rerun.after.falls) == (4, 2)
    assert [one.text for one in best.rerun.saved] == ["store cents as integers", "no cents column"]
    done = game.repair(best.repair)
    assert done.after == best.rerun.after
    again = game.repair(
        Repair(
            "ground",
            copy.find("the gateway never sees fractions"),
            rests_on=(copy.find("the audit of March is right"),),
        )
    )
    assert again.after.falls == 1
    assert game.undo_repair().after == done.after
    assert game.reveal().drill.counts.falls == 4, "a repair is only supposed"


def test_replacing_the_assumption_moves_what_rests_on_it(copy):
    game = game_of(copy)
    game.reveal()
    done = game.repair(Repair("supersede", game.drill.node.id, "prices are in minor units, or refused"))
    assert done.before.falls == 4 and done.after.falls == 0


@pytest.mark.parametrize(
    ("repair", "error"),
    [
        (Repair("pray", "X"), UsageError), (Repair("evidence", "nobody", "words"), NotFound), (Repair("evidence", "X"), UsageError),
        (Repair("ground", "X"), UsageError), (Repair("supersede", "X", "words"), UsageError),
    ],
)  # fmt: skip
def test_a_repair_that_cannot_be_meant_has_a_way_out_and_changes_nothing(copy, repair, error):
    game = game_of(copy)
    game.reveal()
    node = copy.find("no cents column") if repair.node == "X" else repair.node
    with pytest.raises(error) as raised:
        game.repair(Repair(repair.kind, node, repair.words, repair.rests_on))
    assert raised.value.way_out
    assert game.repairs == []


def test_a_series_means_its_scores_and_keeps_each_drill_once(copy):
    kept = []
    series = play.Series(copy, risk.weigh(copy, Known()).items, keep=kept.append)
    assert series.score is None and len(series) == 2
    for at, truth in enumerate(series.game.drill.truths):
        series.game.answer(at, truth.outcome)
    series.game.reveal()
    series.game.reveal()
    assert (series.place, series.score, len(kept)) == (1, 100.0, 1)
    series.next().reveal()
    assert (series.place, series.score) == (2, 50.0)
    assert series.next() is None and len(kept) == 2


# -- choosing and asking


def test_the_riskiest_comes_first_with_its_reasons(copy):
    found = risk.weigh(copy, Known())
    assert [one.node.text for one in found.items] == [drill_world.PRICES, "the audit of March is right"]
    first = found.items[0]
    assert (first.dependants, first.single) == (6, 4)
    assert first.risk == pytest.approx(sum(one.weight for one in first.reasons))
    assert [one.kind for one in first.reasons] == ["dependants", "single", "new"]


def test_what_was_missed_comes_up_again_and_what_is_known_steps_back(copy):
    audit = copy.find("the audit of March is right")
    missed = risk.weigh(copy, Known(past={audit: risk.Past(3, 1.0), copy.find(drill_world.PRICES): risk.Past(3, 0.0)}))
    assert missed.items[0].node.id == audit
    assert "100% of the answers about it were wrong" in missed.items[0].reasons[0].text


def test_many_dependants_are_sampled_from_every_outcome(tmp_path):
    mesh = drill_world.mesh_at(tmp_path)
    hub = drill_world.star(mesh, 600, second=100, spared=40)
    copy = Overlay(mesh)
    game = game_of(copy, "the hub holds")
    assert game.drill.node.id == hub and game.drill.sampled
    assert (len(game.drill.questions), game.drill.counts.dependants) == (12, 640)
    asked = [truth.outcome for truth in game.drill.truths]
    assert {one: asked.count(one) for one in Outcome} == {FALLS: 4, WEAKENS: 4, SURVIVES: 4}
    assert [q.node.id for q in game_of(copy, "the hub holds").drill.questions] == [
        q.node.id for q in game.drill.questions
    ]
    other = game_of(copy, "the hub holds", seed="another").drill
    assert {q.node.id for q in other.questions} != {q.node.id for q in game.drill.questions}
    mesh.log.close()


@calm
@given(st.dictionaries(st.text(max_size=5), st.integers(0, 9), max_size=6), st.integers(0, 30))
def test_places_are_dealt_evenly_and_none_is_left_over(counts, most):
    dealt = sample.shares(counts, most)
    assert sum(dealt.values()) == min(most, sum(counts.values()))
    assert all(dealt[key] <= counts[key] for key in counts)
    open_ = [dealt[key] for key in counts if dealt[key] < counts[key]]
    assert all(max(dealt.values()) <= few + 1 for few in open_)


def test_a_seed_draws_the_heavy_ones_more_often():
    weights = {"heavy": 8.0, "light": 1.0}
    first = [sample.draw(weights, 1, f"seed {at}")[0] for at in range(400)]
    assert 300 < first.count("heavy") < 400
    assert sample.draw(weights, 2, "") == ("heavy", "light")


def test_nothing_rests_on_it_so_there_is_no_drill(copy):
    choice = risk.weighed(copy, copy.graph.node(copy.find("no cents column")), Known())
    with pytest.raises(UsageError, match="nothing rests on it"):
        play.make(copy, choice)


@pytest.mark.slow
def test_a_drill_is_the_same_whatever_the_hash_seed(tmp_path):
    """Choosing, sampling, order of questions and reasons, in processes whose sets and dicts are ordered otherwise."""
    program = tmp_path / "drill.py"
    program.write_text(
        "import pathlib, random, sys, drill_world\n"
        "from mog.app import present_drills\n"
        "from mog.engine.drills import play, risk\n"
        "from mog.engine.drills.risk import Known\n"
        "from mog.engine.reason.overlay import Overlay\n"
        "mesh = drill_world.mesh_at(pathlib.Path(sys.argv[1]))\n"
        "drill_world.tangle(mesh, random.Random(3))\n"
        "series = play.Series(Overlay(mesh), risk.weigh(Overlay(mesh), Known()).items, seed='s', questions=5)\n"
        "while True:\n"
        "    game = series.game\n"
        "    print(present_drills.answered(game.drill), present_drills.revealed(game.reveal(), game.suggest()))\n"
        "    if series.next() is None: break\n"
    )
    path = os.pathsep.join([str(Path(drill_world.__file__).parent), *sys.path])
    told = [
        subprocess.run(
            [sys.executable, str(program), str(tmp_path / seed)], env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=True,
        ).stdout
        for seed in ("0", "1", "4242")
    ]  # fmt: skip
    assert told[0] and told[0] == told[1] == told[2]
