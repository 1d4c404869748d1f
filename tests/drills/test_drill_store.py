"""What a drill leaves behind: one small file of its own, and not a byte anywhere else; whatever is done to that file."""

from __future__ import annotations

import json
import os
import random
import stat
import threading
from pathlib import Path

import drill_world
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mog.engine.drills import history as histories
from mog.engine.drills.history import HistoryFile
from mog.engine.drills.records import Answered, Outcome, Played, Repair
from mog.engine.errors import MogError, StoreDamaged
from mog.engine.workspace import Workspace

FALLS, WEAKENS, SURVIVES = Outcome
OWN = {"drills.jsonl", "drills.lock"}
EVIL = "\x1b]0;pwned\x07\u202egnp.exe \u200b\x00\nline two"


def played(text="prices", score=50.0, *rows):
    told = rows or (Answered("n1", "claim", "a claim", FALLS, SURVIVES, False, 1),)
    return Played("2026-01-31T12:00:00.000+00:00", "a1", text, 7, "seed", 3, score, tuple(told))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder. The shared memory of a reader holds no data: SQLite marks in it who reads."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-shm"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in files if path.name not in OWN}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository with an index, beliefs anchored to code, and a pin."""
    root = tmp_path_factory.mktemp("drilled")
    (root / "src").mkdir()
    (root / "src" / "cart.py").write_text("def total(lines):\n    return sum(lines)\n")
    with drill_world.opened(root) as workspace:
        workspace.index(workers=1)
        drill_world.shop(workspace.beliefs.mesh)
        workspace.beliefs.assume("totals round once", about=["total"])
        workspace.beliefs.decide("no rounding of lines", "they add up", rests_on=["totals round once"])
        workspace.pin("total", "rounds")
    (root / "src" / "cart.py").write_text("def total(lines):\n    return round(sum(lines))\n")
    return root


# -- nothing is touched


OPERATIONS = (
    "choices",
    "series",
    "answer",
    "peek",
    "reveal",
    "suggest",
    "evidence",
    "supersede",
    "undo",
    "next",
    "weak",
    "history",
)


def act(room, steps, seed):
    """Do to a series whatever the steps say, whether it can be done or not."""
    rng, series = random.Random(seed), room.series(seed=str(seed), drills=3)

    def at():
        return rng.randrange(len(series.game.drill.questions))

    def repair(kind):
        node = series.game.drill.questions[at()].node.id if kind == "evidence" else series.game.drill.node.id
        return series.game.repair(Repair(kind, node, "other words"))

    does = {
        "choices": room.choices, "weak": room.weak, "history": room.history, "next": series.next,
        "series": lambda: room.series(drill_world.PRICES), "reveal": lambda: series.game.reveal(),
        "answer": lambda: series.game.answer(at(), rng.choice(list(Outcome))), "peek": lambda: series.game.peek(at()),
        "suggest": lambda: series.game.suggest(), "undo": lambda: series.game.undo_repair(),
        "evidence": lambda: repair("evidence"), "supersede": lambda: repair("supersede"),
    }  # fmt: skip
    for step in steps:
        try:
            does[step]()
        except MogError as error:
            assert error.way_out


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=st.lists(st.sampled_from(OPERATIONS), min_size=4, max_size=25), seed=st.integers(0, 999))
def test_no_sequence_of_drill_operations_changes_another_file(repository, steps, seed):
    with Workspace.open(repository) as workspace:
        workspace.beliefs.mesh.graph.nodes()
        before, head = tree(repository), workspace.beliefs.log.head()
        act(workspace.drills, steps, seed)
        assert workspace.beliefs.log.head() == head
        assert tree(repository) == before
    assert tree(repository) == before


def test_the_comparison_above_would_see_a_write(repository):
    with Workspace.open(repository) as workspace:
        before = tree(repository)
        workspace.beliefs.assume("something else")
        assert tree(repository) != before


def test_a_drifted_anchor_is_a_reason(repository):
    with Workspace.open(repository) as workspace:
        found = next(one for one in workspace.drills.choices().items if one.node.text == "totals round once")
    assert found.reasons[0].kind == "drift"
    assert found.reasons[0].text == "its anchor sym:src/cart.py::total has drifted"
    assert found.about == ("sym:src/cart.py::total",)


def test_opening_the_drills_of_an_empty_workspace_makes_no_file(tmp_path):
    with drill_world.opened(tmp_path) as workspace:
        assert workspace.drills.choices().items == ()
        assert workspace.drills.history().played == ()
        with pytest.raises(MogError, match="nothing to drill"):
            workspace.drills.series()
    assert not list((tmp_path / ".mog").glob("*"))


# -- the file


def test_a_finished_drill_is_kept_for_its_owner_alone(tmp_path):
    with drill_world.opened(tmp_path) as workspace:
        drill_world.shop(workspace.beliefs.mesh)
        game = workspace.drills.series(drill_world.PRICES).game
        game.answer(0, game.drill.truths[0].outcome)
        game.reveal()
        assert workspace.drills.series(drill_world.PRICES, keep=False).game.reveal()
        kept = workspace.drills.history().played
    assert len(kept) == 1
    assert (kept[0].text, kept[0].dependants, len(kept[0].rows)) == (drill_world.PRICES, 6, 6)
    assert [row.right for row in kept[0].rows] == [True] + [False] * 5
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / ".mog" / "drills.jsonl").stat().st_mode) == 0o600


def test_what_is_kept_is_read_back_as_it_was(tmp_path):
    file = HistoryFile(tmp_path)
    row = Answered("n", "claim", EVIL, WEAKENS, None, True, 3)
    file.add(played(EVIL, 66.67, row))
    assert file.load().played == (played(EVIL, 66.67, row),)
    assert b"\x1b" not in file.path.read_bytes()


@given(damage=st.binary(min_size=1, max_size=80), at=st.integers(0, 3))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_lines_that_cannot_be_read_are_counted_and_never_lost(tmp_path_factory, damage, at):
    file = HistoryFile(tmp_path_factory.mktemp("h"))
    for number in range(3):
        file.add(played(f"drill {number}"))
    lines = file.path.read_bytes().splitlines(keepends=True)
    bad = damage.replace(b"\n", b"")
    file.path.write_bytes(b"".join([*lines[:at], bad + b"\n", *lines[at:]]))
    found = file.load()
    assert [one.text for one in found.played] == ["drill 0", "drill 1", "drill 2"]
    assert found.unreadable == bool(bad.strip())
    file.add(played("drill 3"))
    assert len(file.load().played) == 4
    assert bad.strip() in file.path.read_bytes()


def test_a_last_line_that_was_torn_does_not_take_the_next_one_with_it(tmp_path):
    file = HistoryFile(tmp_path)
    file.add(played("whole"))
    with file.path.open("ab") as tail:
        tail.write(b'{"v":1,"at":"2026')
    file.add(played("next"))
    assert [one.text for one in file.load().played] == ["whole", "next"]
    assert file.load().unreadable == 1


@pytest.mark.parametrize(
    "change",
    [
        {"v": 2}, {"score": 101}, {"score": "50"}, {"score": float("nan")}, {"head": -1}, {"head": True}, {"rows": None},
        {"rows": [["n"]]}, {"rows": [["n", "claim", "t", "rises", "", False, 1]]}, {"text": None}, {"rows": [[]] * 65},
    ],
)  # fmt: skip
def test_a_line_of_another_form_is_not_believed(tmp_path, change):
    file = HistoryFile(tmp_path)
    file.add(played())
    row = json.loads(file.path.read_bytes())
    file.path.write_text(json.dumps({**row, **change}) + "\n")
    assert (file.load().played, file.load().unreadable) == ((), 1)


def test_the_file_is_bounded_and_the_oldest_go(tmp_path, monkeypatch):
    monkeypatch.setattr(histories, "MAX_BYTES", 4_000)
    file = HistoryFile(tmp_path)
    for number in range(40):
        file.add(played(f"drill {number}"))
    found = file.load().played
    assert file.path.stat().st_size <= 4_000
    assert found[-1].text == "drill 39" and 5 < len(found) < 40
    file.path.write_bytes(b"x" * 3_999 + b"\n")
    with pytest.raises(StoreDamaged, match="cannot be read"):
        file.add(played("one more"))
    assert file.path.read_bytes() == b"x" * 3_999 + b"\n"


def test_a_name_of_any_length_is_cut_before_it_is_kept(tmp_path):
    file = HistoryFile(tmp_path)
    file.add(played("n" * 100_000, 1.0, *[Answered("n", "claim", "m" * 100_000, FALLS, None, False, 1)] * 60))
    assert file.path.stat().st_size < 20_000


@pytest.mark.skipif(os.name != "posix", reason="links and modes")
@pytest.mark.parametrize("kind", ["link", "folder", "large"])
def test_what_is_no_file_of_ours_is_refused_and_left(tmp_path, kind):
    with drill_world.opened(tmp_path) as workspace:
        drill_world.shop(workspace.beliefs.mesh)
        path, other = tmp_path / ".mog" / "drills.jsonl", tmp_path / "other"
        other.write_text("mine")
        {
            "link": lambda: path.symlink_to(other),
            "folder": path.mkdir,
            "large": lambda: path.write_bytes(b" " * (2 << 20)),
        }[kind]()
        with pytest.raises(StoreDamaged) as raised:
            workspace.drills.history()
        assert raised.value.way_out and raised.value.where
        assert "without the history" in workspace.drills.choices().problems[0]
        game = workspace.drills.series(drill_world.PRICES).game
        assert game.reveal().score.value == 0
        assert str(path) in game.unkept
    assert other.read_text() == "mine"
    assert path.is_symlink() if kind == "link" else path.exists()


def test_two_who_finish_at_once_are_both_kept(tmp_path):
    def finish(name):
        for number in range(10):
            HistoryFile(tmp_path).add(played(f"{name} {number}"))

    threads = [threading.Thread(target=finish, args=(name,)) for name in ("one", "other")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(HistoryFile(tmp_path).load().played) == 20


# -- weak spots


def drills_of(*said):
    """Drills of one assumption with one question, answered so; it falls."""
    return [played("prices", 0.0, Answered("n1", "claim", "a claim", FALLS, one, False, 2)) for one in said]


@pytest.mark.parametrize(
    ("said", "weak"),
    [
        ((SURVIVES,), True), ((None,), True), ((FALLS,), False), ((SURVIVES, FALLS), True), ((SURVIVES, FALLS, FALLS), False),
        ((FALLS, FALLS, SURVIVES), True),
    ],
)  # fmt: skip
def test_a_spot_is_weak_until_it_was_right_twice(said, weak):
    from mog.engine.drills import weak as spots

    found = spots.spots(drills_of(*said), lambda _id: True)
    assert bool(found.items) is weak
    assert found.far.asked == len(said)


def test_late_misses_weigh_more_and_habits_are_counted():
    from mog.engine.drills import weak as spots

    early = spots.spots(drills_of(SURVIVES, FALLS), lambda _id: True).items[0]
    late = spots.spots(drills_of(FALLS, SURVIVES), lambda _id: False)
    assert late.items[0].weight > early.weight
    assert late.items[0].gone and not early.gone
    assert [(one.truth, one.said, one.count, one.asked) for one in late.habits] == [(FALLS, SURVIVES, 1, 2)]
    assert (
        spots.past(drills_of(FALLS, SURVIVES))["a1"].missed > 0.5 > spots.past(drills_of(SURVIVES, FALLS))["a1"].missed
    )
