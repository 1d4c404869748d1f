"""The drill in the workbench, driven by keys: real drills of a real store beside a made-up repository."""

from __future__ import annotations

import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import drill_world
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from fake_workspace import FakeWorkspace

from mog.app.tui import plain
from mog.app.tui.keymap import FORBIDDEN
from mog.app.tui.keys import KEYS, MODES, in_mode
from mog.app.tui.rows import Reason
from mog.app.tui.screens.help import key_lines
from mog.app.tui.workbench import Workbench
from mog.engine.drills.records import Outcome

ENV = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
HOSTILE = "Totals \x1b[2J round \u202eecno\u202c,\nonce\u200b 漢字 e\u0301 👩‍👩‍👧"
KEY_OF = {Outcome.falls: "h", Outcome.weakens: "space", Outcome.survives: "l"}


class Desk(FakeWorkspace):
    """The made-up repository, with the drills of a store."""

    def __init__(self, store):
        super().__init__()
        self.store = store

    @property
    def drills(self):
        return self.store.drills


@pytest.fixture
def store(tmp_path):
    with drill_world.opened(tmp_path) as workspace:
        yield workspace


@pytest.fixture
def shop(store):
    return drill_world.shop(store.beliefs.mesh)


@asynccontextmanager
async def opened(store, size=(80, 24)):
    app = Workbench(Desk(store), environ=ENV, theme="dark", motion=False)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        yield pilot, app.screen


async def settle(pilot):
    for _ in range(500):
        await pilot.pause(0.02)
        home = pilot.app.screen_stack[0]
        if not (home.jobs._running or home.opening or home._later):
            break
    await pilot.pause(0.02)


async def press(pilot, *keys):
    for key in keys:
        await pilot.press(key)
        await settle(pilot)


def shown(home):
    return home.pane("drill").text()


def foot(home):
    return home.query_one("#foot").text


def pane(home):
    return home.content("drill")


def at(home):
    return home.here.cursor


# -- playing


async def test_a_drill_is_played_in_five_keys_from_the_home_screen(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "h", "space", "l", "enter")
        assert pane(home).mode == "revealed"
        assert "score" in shown(home) and "1 of 2  revealed" in shown(home)
    assert len(store.drills.history().played) == 1


async def test_the_right_answers_are_a_hundred_and_a_peek_costs_half(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d")
        truths = pane(home).game.drill.truths
        for row, truth in enumerate(truths):
            assert at(home) == f"q:{row}"
            if truth.outcome is Outcome.falls and not pane(home).game.peeked:
                await press(pilot, "w")
            await press(pilot, KEY_OF[truth.outcome])
        assert "6 of 6 done" in shown(home) and "enter reveals" in foot(home)
        await press(pilot, "enter")
        assert "falls 3.5/4  weakens 1/1  survives 1/1" in shown(home)
        assert "right, peeked" in shown(home)


async def test_nothing_is_told_before_the_reveal(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d")
        before = shown(home)
        assert "hop" not in before and "repair" not in before
        assert home.query_one("#shelf").shown() == ("drill",), "a pane beside it could tell what falls"
        await press(pilot, "w")
        assert before != shown(home) and "looked at" in " ".join(home.row.words)


async def test_an_answer_moves_on_and_k_goes_back_to_change_it(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "h", "h", "k", "k", "l")
        assert pane(home).game.answers == {0: Outcome.survives, 1: Outcome.falls}
        assert at(home) == "q:1"
        await press(pilot, "left", "right", "space")
        assert pane(home).game.answers == {
            0: Outcome.survives,
            1: Outcome.falls,
            2: Outcome.survives,
            3: Outcome.weakens,
        }


async def test_repair_evidence_undo_and_the_card(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "enter")
        assert "repair: give (D) store cents as integers a second ground: 4 falls become 2" in shown(home)
        await press(pilot, "r")
        assert "re-run: 4 falls become 2" in shown(home) and "4 falls become 2" in foot(home)
        await press(pilot, "r")
        assert "4 falls become 1" in shown(home)
        await press(pilot, "u", "u")
        assert "re-run" not in shown(home)
        await press(pilot, "u")
        assert "no repair to take back" in foot(home)
        home.here.go(
            next(f"q:{i}" for i, q in enumerate(pane(home).game.drill.questions) if q.node.text == "no cents column")
        )
        await press(pilot, "e")
        await pilot.press(*"seen", "enter")
        await settle(pilot)
        assert "supposed: (D) no cents column also rests on an observation: seen" in shown(home)
        assert "re-run: 4 falls become 3" in shown(home)
        await press(pilot, "y")
        assert pilot.app.clipboard.startswith("## prices are in minor units") and "the card" in foot(home)
    assert store.beliefs.log.head().seq == 1, "something of a drill was recorded"


async def test_w_shows_the_way_a_fall_takes(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "enter")
        column = next(i for i, q in enumerate(pane(home).game.drill.questions) if q.node.text == "no cents column")
        home.here.go(f"q:{column}")
        await press(pilot, "w")
        assert "(A) prices are in minor units → (D) store cents as integers → (D) no cents column" in " ".join(
            shown(home).split()
        )
        await press(pilot, "w")
        assert "→ (D) store cents" not in shown(home)


async def test_a_series_goes_on_and_means_its_scores(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d")
        for truth in pane(home).game.drill.truths:
            await press(pilot, KEY_OF[truth.outcome])
        await press(pilot, "enter", "n")
        assert pane(home).mode == "drill" and "2 of 2" in shown(home) and "score 100" in shown(home)
        await press(pilot, "enter")
        assert "100 → 50" in shown(home)
        await press(pilot, "n")
        assert pane(home).mode == "" and "that was the last one: score 50" in foot(home)
        assert "2 drills played, mean 50" in shown(home) and "weak spots" in shown(home)


async def test_esc_leaves_without_counting_and_then_goes_home(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "h", "escape")
        assert pane(home).mode == "" and "not counted" in foot(home)
        assert "graph" not in home.query_one("#shelf").shown() and len(home.query_one("#shelf").shown()) > 1
        await press(pilot, "escape")
        assert home.current == "graph"
    assert store.drills.history().played == ()


async def test_enter_on_the_list_drills_that_one(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "escape", "j", "enter")
        assert pane(home).game.drill.node.text == "the audit of March is right"
        assert "1 of" not in shown(home)


async def test_d_on_a_row_of_a_belief_drills_that_belief(store, shop, monkeypatch):
    async with opened(store) as (pilot, home):
        monkeypatch.setattr(type(home), "thing", property(lambda _: Reason(shop["audit"], "assumption", "the audit")))
        await press(pilot, "d")
        assert pane(home).game.drill.node.id == shop["audit"]


async def test_a_key_that_cannot_act_says_why(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "r")
        assert "reveal it first" in foot(home)
        await press(pilot, "e")
        assert "reveal the drill first" in foot(home)
        await press(pilot, "d")
        assert "esc leaves it" in foot(home)
        await press(pilot, "enter", "enter")
        assert "it is revealed" in foot(home)
        await press(pilot, "escape", "h")
        assert "h answers while a drill is asked" in foot(home)
        await press(pilot, "w")
        assert "enter drills it" in foot(home)


async def test_no_other_pane_tells_what_falls_with_a_row_of_the_list(store, shop):
    async with opened(store, (160, 45)) as (pilot, home):
        await press(pilot, "d", "escape")
        assert home.here.cursor == f"choice:{shop[drill_world.PRICES]}"
        assert pane(home).target_at(home.thing) == ""
        await press(pilot, "b")
        assert "that would tell what falls" in foot(home) and home.current == "drill"


async def test_without_beliefs_the_pane_teaches(store):
    async with opened(store) as (pilot, home):
        await press(pilot, "d")
        assert "nothing to drill" in foot(home)
        assert "There is nothing to drill yet." in shown(home) and "mog assume" in shown(home)


async def test_a_history_that_cannot_be_written_is_said_and_the_score_stands(store, shop):
    (store.beliefs.place.folder / "drills.jsonl").mkdir()
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "enter")
        assert "score 0" in shown(home) and "not kept in the history" in shown(home)
        await press(pilot, "escape")
        assert "weighed without the history" in shown(home)


# -- on any screen


@pytest.mark.parametrize("size", [(60, 15), (80, 24), (120, 36), (160, 45)], ids=str)
async def test_it_can_be_played_at_every_size(store, shop, size):
    async with opened(store, size) as (pilot, home):
        await press(pilot, "d", "h", "space", "l")
        body = shown(home)
        assert "3 of 6 done" in body and "×" in body and "▼" in body and "●" in body
        assert all(len(line) <= size[0] for line in body.splitlines())
        assert foot(home).strip().startswith("h falls") and foot(home).strip().endswith("esc leave")
        await press(pilot, "enter")
        assert "score" in shown(home)


async def test_hostile_names_stay_in_their_rows(store):
    known = store.beliefs
    base = known.assume(HOSTILE).result
    known.decide(f"D {HOSTILE}", HOSTILE, rests_on=[base])
    known.claim("n" * 10_000, rests_on=[[base]])
    async with opened(store) as (pilot, home):
        for keys in (["d"], ["w", "h"], ["enter", "w"], ["escape"]):
            await press(pilot, *keys)
            text = shown(home) + foot(home) + " ".join(home.row.words if home.row else ())
            assert [char for char in text if char in "\x1b\u202e\u202c\u200b\x9b"] == []
            assert "\\x1b[2J" in text


async def test_leaving_by_a_digit_keeps_the_drill_as_it_was(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "h", "4")
        assert home.current == "drift" and len(home.query_one("#shelf").shown()) > 1
        await press(pilot, "d")
        assert pane(home).game.answers == {0: Outcome.falls}


# -- keys, help, twin


@pytest.mark.parametrize("mode", MODES)
def test_a_mode_gives_each_key_one_meaning_and_none_that_is_forbidden(mode):
    every = [key for one in MODES[mode] for key in one.keys.split(",")]
    assert len(every) == len(set(every))
    assert not FORBIDDEN.keys() & set(every)
    assert {in_mode(mode, key) for key in every} == {one.action[5:-2] for one in MODES[mode]}
    assert in_mode("", every[0]) == "" and in_mode(mode, "f12") == ""


def test_help_lists_the_keys_of_the_mode_first():
    """The screen hands it the keys of the mode with the table."""
    rows = [row.text for line in key_lines(table=(*MODES["drill"], *KEYS)).all() for row in line]
    assert rows[0].startswith("drill") and "it falls" in rows[1]
    assert "it falls" not in " ".join(row.text for line in key_lines().all() for row in line)
    assert [key.keys for key in KEYS if key.action == "act('drill')"] == ["d"]


async def test_help_shows_what_the_keys_mean_in_the_drill(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "question_mark")
        assert "it weakens" in pilot.app.screen.query_one("#chooser").pane.text(80)
        await press(pilot, "escape", "h")
        assert pane(home).game.answers == {0: Outcome.falls}


def test_the_plain_twin_lists_what_there_is(store, shop):
    text = plain.report(Desk(store), "drill", 100)
    assert "(A) prices are in minor units" in text and "6 dependants" in text
    assert "never played" in text and "riskiest first" in text


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
async def test_a_drill_of_another_process_appears_in_the_list(store, shop):
    async with opened(store) as (pilot, home):
        await press(pilot, "d", "escape")
        store.drills.series(drill_world.PRICES).game.reveal()
        await press(pilot, "r")
        assert "1 drill played, mean 0" in shown(home)
