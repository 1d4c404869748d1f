"""The shell of the workbench: the jump line, jump mode, the palette, the tour, what is kept between two runs, sizes."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_workspace import FakeWorkspace
from test_tui_home import ENV, focus_name, foot, opened, press, settle
from textual.pilot import Pilot

from mog.app.tui import kept, labels, panes, tour
from mog.app.tui.commands import commands
from mog.app.tui.keymap import keymap
from mog.app.tui.keys import KEYS
from mog.app.tui.options import Options
from mog.app.tui.own_themes import own_themes
from mog.app.tui.screens.help import Help
from mog.app.tui.screens.home import Home
from mog.app.tui.screens.palette import Palette
from mog.app.tui.workbench import Workbench
from mog.widgets.entry import Entry
from mog.widgets.fit import width_of
from mog.widgets.pane import Pane

SIZES = [(160, 45), (120, 36), (80, 24), (60, 18), (50, 12)]


def text_of(home: Home, name: str) -> str:
    return home.query_one(f"#{name}").text  # type: ignore[attr-defined,no-any-return]


@asynccontextmanager
async def started(options: Options, size: tuple[int, int] = (120, 36)) -> AsyncIterator[tuple[Pilot[None], Home]]:
    """The workbench with choices of a person."""
    app = Workbench(FakeWorkspace(), environ=ENV, motion=False, options=options)
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        home = app.screen
        assert isinstance(home, Home)
        yield pilot, home


async def type_line(pilot: Pilot[None], text: str) -> None:
    await press(pilot, "colon", *text)
    await press(pilot, "enter")


# -- the jump line -----------------------------------------------------------------------------------------------------


async def test_the_jump_line_understands_panes_words_in_them_and_themes() -> None:
    async with opened() as (pilot, home, _):
        await type_line(pilot, "drift")
        assert home.current == "drift"
        await type_line(pilot, "drift bankers")
        assert home.here.cursor == "pin:a5"
        await type_line(pilot, "drift nowhere to be seen")
        assert "no row with" in foot(home)
        await type_line(pilot, "theme light")
        assert pilot.app.theme == "light"
        await type_line(pilot, "theme pink")
        assert "theme: pink? there are dark" in foot(home)
        await type_line(pilot, "shop/money.py::round_cents")
        assert focus_name(home) == "round_cents"


async def test_a_pane_that_knows_words_is_asked_for_them() -> None:
    async with opened() as (pilot, home, _):
        asked: list[str] = []
        home.content("drift").narrow = lambda text: asked.append(text) or True
        await type_line(pilot, "drift moved")
        assert asked == ["moved"] and home.current == "drift"


async def test_the_jump_line_lists_the_files_of_a_commit() -> None:
    async with opened() as (pilot, home, _):
        await type_line(pilot, "@4f2a19c")
        assert home.finding and "file:shop/money.py" in home.pane("find").text()
        await press(pilot, "down", "enter")
        assert focus_name(home) == "" and home.content("graph").hood.node.path == "shop/money.py"
        await type_line(pilot, "@beef")
        assert "no commit begins with beef" in foot(home)


async def test_the_jump_line_says_what_it_could_become_and_tab_takes_it() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "colon", *"dr")
        assert "drift" in text_of(home, "prompt-hint")
        await press(pilot, "tab")
        assert home.query_one("#prompt").value == "drift"  # type: ignore[attr-defined]
        await press(pilot, "enter")
        assert home.current == "drift"
        await press(pilot, "colon", *"round_c")
        assert "shop/money.py::round_cents" in text_of(home, "prompt-hint")
        await press(pilot, "tab", "enter")
        assert focus_name(home) == "round_cents"
        await press(pilot, "colon", *"theme l", "tab", "enter")
        assert pilot.app.theme == "light"


async def test_quit_and_tour_are_words_of_the_jump_line() -> None:
    async with opened() as (pilot, home, _):
        await type_line(pilot, "tour")
        assert home.has_class("-touring")
        await type_line(pilot, "quit")
    assert pilot.app.return_code == 0


# -- jump mode ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 26, 27, 51, 52, 300, 676, 5_000])
def test_no_label_begins_another(count: int) -> None:
    made = labels.codes(count)
    assert len(made) == len(set(made)) == min(count, 676)
    assert not [one for one in made for other in made if one != other and other.startswith(one)]
    assert all(len(one) <= 2 for one in made)


@pytest.mark.parametrize("size", SIZES)
async def test_labels_stand_beside_every_row_and_lead_to_it(size: tuple[int, int]) -> None:
    async with opened(size=size) as (pilot, home, _):
        before = {pane.id: [strip.text for strip in pane._strips] for pane in home.query(Pane) if pane._strips}
        await press(pilot, "f")
        shown = {pane.id: pane for pane in home.query(Pane) if pane._strips}
        assert sum(len(pane.labels) for pane in shown.values()) == len(home.reached) > 0
        for name, pane in shown.items():
            assert set(pane.labels) == set(pane.in_view())
            for old, new in zip(before[name], [strip.text for strip in pane._strips], strict=True):
                changed = [at for at, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
                spots = [new.index(part) for part in new.split("│")[1:]]
                assert all(at < 2 or any(spot <= at < spot + 2 for spot in spots) for at in changed), (old, new)
        code, (name, key) = list(home.reached.items())[-1]
        await press(pilot, *code)
        assert home.current == name and home.here.cursor == key and not home.reached
        assert all(not pane.labels for pane in home.query(Pane))


async def test_the_first_letter_of_two_leaves_the_labels_it_begins() -> None:
    async with opened(size=(160, 45)) as (pilot, home, _):
        await press(pilot, "f")
        code = next(code for code in home.reached if len(code) == 2)
        await press(pilot, code[0])
        left = [label for pane in home.query(Pane) for label in pane.labels.values()]
        assert set(left) == {one[1] for one in home.reached if len(one) == 2 and one[0] == code[0]}
        await press(pilot, "escape")
        assert not home.reached and foot(home).startswith(" j k move")


async def test_a_digit_goes_to_its_pane_and_no_key_acts_in_jump_mode() -> None:
    async with opened() as (pilot, home, workspace):
        await press(pilot, "f", "4")
        assert home.current == "drift" and not home.reached
        before = list(workspace.calls)
        await press(pilot, "f", "R")
        assert not home.reached and workspace.calls == before
        await press(pilot, "f")
        await pilot.resize_terminal(80, 24)
        await settle(pilot)
        assert not home.reached


# -- the palette -------------------------------------------------------------------------------------------------------


async def palette(pilot: Pilot[None], words: str = "") -> Pane:
    await press(pilot, "ctrl+p", *words)
    assert isinstance(pilot.app.screen, Palette)
    return pilot.app.screen.query_one(Pane)


async def test_the_palette_lists_every_command_with_its_key_and_why_it_cannot_act() -> None:
    async with opened() as (pilot, _home, _):
        text = (await palette(pilot)).text(150)
        lines = text.splitlines()
        for key in KEYS:
            assert any(key.says in line and key.shown in line for line in lines), key
        for name in ("theme tritan", "theme mono", "tour"):
            assert name in text
        refused = [one for one in commands(_home) if one.cannot]
        assert refused and all(any(one.says in line and one.cannot in line for line in lines) for one in refused)
        assert not any("tiers" in line and "tiers belong" in line for line in lines), "the graph has tiers"


async def test_the_palette_finds_nodes_on_a_thread_and_goes_there() -> None:
    async with opened() as (pilot, home, _):
        rows = await palette(pilot, "round_cents")
        assert "[f] round_cents" in rows.text() and "shop/money.py" in rows.text()
        await press(pilot, "enter")
        assert pilot.app.screen is home and focus_name(home) == "round_cents"


async def test_enter_before_the_nodes_are_there_opens_the_first_of_them() -> None:
    workspace = FakeWorkspace(slow=0.05)
    async with opened(workspace) as (pilot, home, _):
        await pilot.press("ctrl+p", *"round_cents", "enter")
        for _ in range(100):
            await settle(pilot)
            if pilot.app.screen is home and focus_name(home) == "round_cents":
                break
        assert focus_name(home) == "round_cents"


async def test_the_best_word_comes_first_and_esc_leaves_without_a_trace() -> None:
    async with opened() as (pilot, home, _):
        rows = await palette(pilot, "theme light")
        assert rows.row is not None and rows.row.key == "run:theme('light')"
        await press(pilot, "escape")
        assert pilot.app.screen is home and pilot.app.theme == "dark"


@pytest.mark.parametrize("key", ["ctrl+p", "question_mark"])
async def test_esc_typed_twice_at_once_leaves_once(key: str) -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, key)
        entry = pilot.app.screen.query_one(Entry)
        entry.action_leave()
        entry.action_leave()
        await settle(pilot)
        assert pilot.app.screen is home and pilot.app.is_running


# -- moved keys on the screen ------------------------------------------------------------------------------------------


async def test_moved_keys_act_and_are_written_as_they_are_everywhere() -> None:
    moved = keymap({"tiers": "f9", "pin": "t", "why": ["W", "ctrl+w"], "pane.drift": "D"}, "mog.yaml:3")
    async with started(Options(keymap=moved)) as (pilot, home):
        assert "3 keys moved" not in foot(home) and "4 keys moved by mog.yaml:3" in foot(home)
        await press(pilot, "f9")
        assert home.content("graph").level == 2
        assert "t pin" in foot(home) and "f9 tiers" in foot(home)
        await press(pilot, "w")
        assert home.content("graph").level == 2
        await press(pilot, "W")
        assert foot(home).startswith(" W: ")
        await press(pilot, "D")
        assert home.current == "drift"
        await press(pilot, "question_mark")
        text = pilot.app.screen.query_one(Pane).text(120)
        assert any(line.split()[:2] == ["W", "ctrl+w"] for line in text.splitlines())


async def test_the_help_says_why_a_key_cannot_act() -> None:
    async with opened() as (pilot, _home, _):
        await press(pilot, "4", "question_mark")
        assert isinstance(pilot.app.screen, Help)
        line = next(line for line in pilot.app.screen.query_one(Pane).text(150).splitlines() if "co-change" in line)
        assert "co-change belongs to the graph" in line


# -- themes of a person's own ------------------------------------------------------------------------------------------


async def test_a_theme_of_ones_own_is_used_and_its_weak_pair_is_said() -> None:
    own = own_themes({"dusk": {"base": "dark", "bg": "#303030", "muted": "#555555"}}, "mog.yaml:2")
    async with started(Options(theme="dusk", own=own)) as (pilot, home):
        assert pilot.app.theme == "dusk" and home.here.ink.style("muted").color.name == "#555555"  # type: ignore[union-attr]
        assert "theme dusk: muted on cur has a contrast of" in foot(home)
        await type_line(pilot, "theme dark")
        await type_line(pilot, "theme dusk")
        assert pilot.app.theme == "dusk"


# -- what is kept ------------------------------------------------------------------------------------------------------


def place(root: Path) -> Path:
    """A file below a root, as the workbench has it."""
    path = kept.file_of(root)
    path.parent.mkdir(parents=True, mode=0o700)
    return path


async def test_the_next_start_is_where_the_last_one_ended(tmp_path: Path) -> None:
    options = Options(kept=place(tmp_path), tour=False)
    async with started(options) as (pilot, home):
        await press(pilot, "l", "enter", "t", "4", "4", "m")
        await type_line(pilot, "theme light")
        there = (focus_name(home), home.current, home.centre, home.full, home.content("graph").level)
    assert there == ("Line.net", "drift", "drift", True, 2)
    async with started(options) as (pilot, home):
        assert (focus_name(home), home.current, home.centre, home.full, home.content("graph").level) == there
        assert pilot.app.theme == "light"
        await press(pilot, "1", ",")
        assert focus_name(home) == "Cart.total"
    async with started(replace(options, theme="tritan")) as (pilot, _home):
        assert pilot.app.theme == "tritan", "a new word of the configuration wins"
    async with started(replace(options, fresh=True)) as (_pilot, home):
        assert (focus_name(home), home.full) == ("Cart.total", False)


async def test_a_node_that_is_gone_gives_way_to_the_busiest_one(tmp_path: Path) -> None:
    path = place(tmp_path)
    assert kept.save(path, kept.Kept(focus="ab" * 16, history=("ab" * 16,), at=0, toured=True))
    async with started(Options(kept=path)) as (_pilot, home):
        assert focus_name(home) == "Cart.total"


async def test_a_node_that_is_gone_gives_way_also_when_the_map_was_quicker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = place(tmp_path)
    assert kept.save(path, kept.Kept(focus="ab" * 16, history=("ab" * 16,), at=0, toured=True))
    asked = FakeWorkspace.neighbors

    def slow(self: FakeWorkspace, target: str, **more: Any) -> Any:
        if target == "ab" * 16:
            time.sleep(0.5)
        return asked(self, target, **more)

    monkeypatch.setattr(FakeWorkspace, "neighbors", slow)
    async with started(Options(kept=path)) as (pilot, home):
        await settle(pilot)
        assert focus_name(home) == "Cart.total"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[1]",
        '{"level": "high"}',
        '{"history": 3}',
        '{"full": 1}',
        '{"focus": "' + "x" * 500 + '"}',
        "[" * 50_000,
        "\x00",
    ],
    ids=["empty", "cut", "list", "kind", "history", "truth", "long", "deep", "binary"],
)
def test_a_file_that_cannot_be_believed_is_left_aside(tmp_path: Path, text: str) -> None:
    path = place(tmp_path)
    path.write_text(text)
    path.chmod(0o600)
    found, word = kept.load(path)
    assert found is None and "left aside" in word


async def test_a_file_left_aside_is_told_and_nothing_else_changes(tmp_path: Path) -> None:
    path = place(tmp_path)
    path.write_text("{")
    async with started(Options(kept=path)) as (_pilot, home):
        assert "left aside" in foot(home) and focus_name(home) == "Cart.total" and not home.has_class("-touring")


@pytest.mark.skipif(os.name == "nt", reason="rights and links")
def test_links_and_files_that_others_may_touch_are_refused(tmp_path: Path) -> None:
    path, outside = place(tmp_path), tmp_path / "outside.json"
    outside.write_text(json.dumps({"theme": "light"}))
    outside.chmod(0o600)
    path.symlink_to(outside)
    assert kept.load(path)[0] is None
    assert kept.save(path, kept.Kept()) and not path.is_symlink(), "the link is replaced, what it led to is left alone"
    assert json.loads(outside.read_text()) == {"theme": "light"}
    path.chmod(0o644)
    assert kept.load(path)[0] is None
    other = tmp_path / "other"
    (other / ".mog").mkdir(parents=True)
    (other / ".mog" / "run").symlink_to(path.parent)
    assert kept.load(kept.file_of(other))[0] is None and not kept.save(kept.file_of(other), kept.Kept())


def test_what_is_kept_is_read_back_and_is_of_this_person_alone(tmp_path: Path) -> None:
    path = kept.file_of(tmp_path)
    (tmp_path / ".mog").mkdir()
    wanted = kept.Kept("light", "dark", "drift", "map", "ab" * 16, ("cd" * 16, "ab" * 16), 1, 2, False, True, True)
    assert kept.load(path) == (None, "") and kept.save(path, wanted) and kept.load(path) == (wanted, "")
    if os.name != "nt":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600 and stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == [kept.NAME]


def test_a_folder_that_cannot_be_written_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / ".mog").write_text("a file")
    assert not kept.save(kept.file_of(tmp_path), kept.Kept())


# -- the tour ----------------------------------------------------------------------------------------------------------


async def test_each_line_of_the_tour_ends_when_its_key_is_pressed(tmp_path: Path) -> None:
    options = Options(kept=place(tmp_path), keymap=keymap({"why": "W"}))
    async with started(options) as (pilot, home):
        for at in range(5):
            assert f"{at + 1}/5" in text_of(home, "tour")
            await press(pilot, "j")
            now = home.past.tour
            assert now is not None and f"{at + 1}/5" in text_of(home, "tour"), "another key does not end it"
            key = next(key for key in home.keymap.table if key.action == now.lines[0][0])
            await press(pilot, key.keys.split(",")[0])
            while pilot.app.screen is not home or home.finding:
                await press(pilot, "escape")
        assert home.past.tour is None and not home.has_class("-touring")
    async with started(options) as (_pilot, home):
        assert not home.has_class("-touring")


async def test_esc_ends_the_tour_for_good_and_does_nothing_else(tmp_path: Path) -> None:
    options = Options(kept=place(tmp_path))
    async with started(options) as (pilot, home):
        await press(pilot, "4", "m")
        await press(pilot, "escape")
        assert home.past.tour is None and home.full and "never" not in foot(home) and "not come again" in foot(home)
    async with started(options) as (_pilot, home):
        assert not home.has_class("-touring")


async def test_a_tour_that_was_not_seen_to_its_end_comes_again(tmp_path: Path) -> None:
    options = Options(kept=place(tmp_path))
    async with started(options) as (_pilot, home):
        assert home.has_class("-touring")
    async with started(options) as (_pilot, home):
        assert home.has_class("-touring")
    async with started(replace(options, tour=False)) as (_pilot, home):
        assert not home.has_class("-touring")


def test_the_tour_is_five_lines_that_fit_whatever_panes_there_are() -> None:
    actions = frozenset(key.action for key in KEYS) | {"pane('traffic')"}
    full, now = keymap({}), tour.begin(actions)
    assert now.total == 5 and now.lines[1][0] == "pane('traffic')"
    assert tour.begin(frozenset(key.action for key in KEYS)).total == 5
    mine = tour.begin(frozenset(key.action for key in KEYS))
    for step in range(5):
        wide, narrow = tour.Tour(mine.lines[step:], 5).rows(full)
        assert width_of(wide.cells) + width_of(wide.right) < 130 and width_of(narrow.right) < 20


# -- sizes -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", panes.TABS)
def test_tabs_fit_the_narrowest_screen_and_spell_out_the_one_in_use(name: str) -> None:
    from mog.app.tui import top

    wide, narrow = ("".join(cell.text for cell in row.cells) for row in top.tab_rows(name))
    assert len(narrow) + 3 <= 50 and f"»{panes.REGISTRY[name].tab}" in narrow
    assert all(panes.REGISTRY[one].tab in wide for one in panes.TABS)
    assert all(panes.REGISTRY[one].digit in narrow for one in panes.TABS)


@pytest.mark.parametrize("screen", ["ctrl+p", "colon", "f"])
async def test_below_the_smallest_size_no_key_acts_but_those_that_quit(screen: str) -> None:
    async with opened() as (pilot, home, workspace):
        await press(pilot, screen)
        await pilot.resize_terminal(43, 10)
        await settle(pilot)
        assert pilot.app.screen is home and home.has_class("-tiny")
        before, level, calls = home.current, home.content("graph").level, list(workspace.calls)
        for key in KEYS:
            if key.action not in ("quit", "cancel", "suspend"):
                await pilot.press(*key.keys.split(","))
        await settle(pilot)
        assert (home.current, home.content("graph").level, workspace.calls) == (before, level, calls)
        assert pilot.app.screen is home and pilot.app.is_running
        await pilot.press("q")
    assert pilot.app.return_code == 0


async def test_a_cell_of_the_top_line_that_changed_is_bold_for_a_moment() -> None:
    from mog.widgets import bars
    from mog.widgets.view import Cell, Row

    async with opened() as (pilot, home, _):
        bar = home.query_one("#top", bars.Bar)
        bar.show(Row("", (Cell("a "), Cell("1"), Cell(" b"))))
        bar.show(Row("", (Cell("a "), Cell("2"), Cell(" b"))), flash=True)
        assert [cell.text for cell in bar._cells(40) if cell.bold] == ["2"]
        await pilot.pause(bars.FLASH_SECONDS + 0.2)
        for _ in range(50):
            if not any(cell.bold for cell in bar._cells(40)):
                break
            await pilot.pause(0.05)
        assert not any(cell.bold for cell in bar._cells(40))
