"""Every key and every command of the palette, with every pane in use: each changes something or says a sentence, none fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import reason_story as story
from test_tui_home import foot, opened, press, settle
from textual.pilot import Pilot

from mog.app.tui import panes
from mog.app.tui.commands import commands
from mog.app.tui.keys import KEYS
from mog.app.tui.screens.home import Home
from mog.engine.workspace import Workspace
from mog.widgets.bars import Bar
from mog.widgets.entry import Entry
from mog.widgets.pane import Pane

LEAVES = ("quit", "cancel", "suspend")
"""Actions that end the program or leave it; tests of their own drive them."""

OF_THE_PANE = ("down", "up", "first", "last", "half_down", "open", "back", "editor", "copy_row", "copy_pane", "full")
"""Actions of the screen that depend on the pane in use; the others are driven once, from the graph."""

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """A real workspace with beliefs, drift and an index: every pane has something to act on."""
    with story.told(tmp_path_factory.mktemp("every") / "parcel-desk") as workspace:
        workspace.index(workers=1)
        workspace.pin(f"file:{workspace.map(limit=1).rows[0].path}", "the one that is pinned")
        workspace.beliefs.ask(story.NO_EDGE)
        workspace.beliefs.ask(story.ANSWERED)
        yield workspace


def state(home: Home) -> tuple[Any, ...]:
    """What a person could see change."""
    shown = tuple((pane.id, pane.cursor, pane._top, pane.title, pane.size, id(pane.source)) for pane in home.query(Pane))
    bars = tuple(bar.text for bar in home.query(Bar))
    return (type(home.app.screen), home.app.theme, home.app.clipboard, home.current, home.centre, home.finding, home.full, shown, bars)


async def back_to(pilot: Pilot[None], home: Home, name: str) -> None:
    """Out of help, palette, prompts and search; the pane in use, on its second row."""
    while pilot.app.screen is not home:
        pilot.app.pop_screen()
        await pilot.pause()
    home.leave_labels()
    if home.has_class("-prompting"):
        home.close_prompt()
    home.leave_search()
    home.full = False
    home.set_current(name)
    home.here.move_end(False)
    home.here.move(1)
    home.say("")
    await pilot.pause()


def check(home: Home, before: tuple[Any, ...], what: str) -> None:
    assert not home.broken, (what, home.broken)
    assert not home.content("health").failures, (what, home.content("health").failures)
    said = home.query_one("#foot", Bar).said
    assert said or state(home) != before, f"{what} does nothing and says nothing"
    assert "Error" not in said and "Traceback" not in said, (what, said)


@pytest.mark.parametrize("name", panes.TABS)
async def test_every_key_changes_something_or_says_why_not(
    name: str, desk: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    async with opened(desk) as (pilot, home, _):  # type: ignore[arg-type]
        for key in KEYS:
            own = key.id.startswith("act.") or key.action in OF_THE_PANE
            if key.action in LEAVES or not (own or name == "graph"):
                continue
            for pressed in key.keys.split(",") if name == "graph" else key.keys.split(",")[:1]:
                await back_to(pilot, home, name)
                before = state(home)
                await press(pilot, pressed)
                check(home, before, f"{pressed} ({key.name}) in {name}")


async def test_every_command_of_the_palette_is_a_row_of_it_and_those_without_a_key_run() -> None:
    async with opened() as (pilot, home, _):
        offered = commands(home)
        assert {key.action for key in KEYS} < {one.action for one in offered}
        await press(pilot, "ctrl+p")
        rows = pilot.app.screen.query_one(Pane)
        for one in offered:
            assert rows.go(f"run:{one.action}") or rows.cursor == f"run:{one.action}", one
        keys = {key.action for key in KEYS}
        for one in offered:
            if one.action not in keys:
                await back_to(pilot, home, "graph")
                before = state(home)
                home._chosen(f"run:{one.action}")
                await settle(pilot)
                check(home, before, one.says)


@pytest.mark.parametrize("name", panes.TABS)
async def test_palette_and_help_give_the_reason_that_the_key_gives(name: str, desk: Workspace) -> None:
    async with opened(desk) as (pilot, home, _):  # type: ignore[arg-type]
        await back_to(pilot, home, name)
        refused = [one for one in commands(home) if one.cannot and one.action.startswith("act(")]
        assert refused
        for one in refused:
            home.action_act(one.action.removeprefix("act('").removesuffix("')"))
            assert one.cannot in home.query_one("#foot", Bar).said, one


async def test_every_key_of_the_search_line_acts() -> None:
    async with opened() as (pilot, home, _):
        for pressed in ("down", "up", "pagedown", "pageup", "tab", "shift+tab", "enter", "escape"):
            await back_to(pilot, home, "graph")
            for entry in home.query("#find-entry").results(Entry):
                entry.value = ""
            await press(pilot, "slash", *"total")
            if pressed in ("up", "pageup"):
                await press(pilot, "down")
            before = state(home)
            await press(pilot, pressed)
            assert state(home) != before, pressed
        entry = home.query_one("#find-entry", Entry)
        assert {binding.key for binding in type(entry).BINDINGS} >= {"escape", "up", "down", "pageup", "pagedown", "tab", "shift+tab"}


async def test_ctrl_c_says_what_it_would_do_and_any_other_key_takes_it_back() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "ctrl+c")
        assert "once more quits" in foot(home)
        await press(pilot, "j", "ctrl+c")
        assert pilot.app.is_running and "once more quits" in foot(home)
