"""Whatever keys follow each other, no pane fails, no exception ends the program, and the pane in use is one that keys can leave."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import reason_story as story
from test_tui_home import opened, settle

from mog.engine.workspace import Workspace

KEYS = (
    *"jklhgGzt.,48M/f:?12356790bnmwsvyecdxpuraoEITA", "enter", "tab", "shift+tab", "escape", "space", "ctrl+d", "ctrl+u", "ctrl+l",
    "up", "down", "left", "right", "home", "end", "ctrl+p",
)  # fmt: skip
SIZES = ((160, 45), (120, 36), (80, 24), (60, 15), (30, 8))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Workspace]:
    """A real workspace with beliefs, drift and an index: every pane has something to act on, and what keys write is written."""
    with story.told(tmp_path / "parcel-desk") as workspace:
        workspace.index(workers=1)
        workspace.pin(f"file:{workspace.map(limit=1).rows[0].path}", "the one that is pinned")
        workspace.beliefs.ask(story.NO_EDGE)
        yield workspace


async def walk(desk: Workspace, seed: int, count: int) -> None:
    """Press keys at random, a new size now and then."""
    chance = random.Random(seed)
    pressed: list[str] = []
    async with opened(desk, size=SIZES[seed % 4]) as (pilot, home, _):
        for number in range(count):
            key = chance.choice(KEYS)
            pressed.append(key)
            await pilot.press(key)
            if number % 12 == 11:
                await pilot.resize_terminal(*chance.choice(SIZES))
            if number % 6 == 5:
                await settle(pilot)
            if not pilot.app.is_running and "ctrl+p" in pressed:  # the palette has a command that quits
                assert pilot.app._exception is None, pressed
                return
            assert pilot.app.is_running and not home.broken, (pressed, home.broken)
            assert not home.content("health").failures, (pressed, home.content("health").failures)


@pytest.mark.parametrize("seed", range(4))
async def test_no_walk_over_the_keys_ends_the_program(desk: Workspace, seed: int) -> None:
    await walk(desk, seed, 60)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4, 16))
async def test_no_long_walk_over_the_keys_ends_the_program(desk: Workspace, seed: int) -> None:
    await walk(desk, seed, 250)


async def test_tab_leaves_the_pane_in_use_while_a_search_has_the_centre() -> None:
    async with opened() as (pilot, home, _):
        await pilot.press("slash", "f", "enter")
        home.set_current("graph")
        home.finding = True
        home.place_panes()
        home.action_next_pane()
        assert home.current != "graph"
