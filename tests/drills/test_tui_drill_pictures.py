"""Pictures of the drill; a change of look is seen in the diff.

Renew them with ``pytest tests/drills/test_tui_drill_pictures.py --snapshot-update`` and look at each before committing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import drill_world
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from fake_workspace import FakeWorkspace

from mog.app.tui.workbench import Workbench

ENV = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
ASKED = ("d", "h", "space", "l", "w")
REVEALED = (*ASKED, "enter", "r")


class Desk(FakeWorkspace):
    """The made-up repository, with the drills of a store."""

    def __init__(self, store):
        super().__init__()
        self.store = store

    @property
    def drills(self):
        return self.store.drills


async def settle(pilot):
    """Until nothing runs that could still be drawn."""
    for _ in range(500):
        await pilot.pause(0.02)
        home = pilot.app.screen_stack[0]
        if not (home.jobs._running or home.opening or home._later):
            break
    await pilot.pause(0.05)


def pressing(*keys):
    """Press each key when what the last one asked is drawn."""

    async def before(pilot):
        await settle(pilot)
        for key in keys:
            await pilot.press(key)
            await settle(pilot)

    return before


@pytest.mark.parametrize(
    ("size", "theme", "keys"),
    [
        pytest.param((60, 15), "mono", ASKED, id="asked-60-mono"),
        pytest.param((80, 24), "dark", ASKED, id="asked-80-dark"),
        pytest.param((120, 36), "light", ASKED, id="asked-120-light"),
        pytest.param((80, 24), "light", REVEALED, id="revealed-80-light"),
        pytest.param((160, 45), "dark", REVEALED, id="revealed-160-dark"),
        pytest.param((80, 24), "dark", ("d", "enter", "escape", "m"), id="list-80-dark"),
    ],
)
def test_picture_of_a_drill(snap_compare, tmp_path, size, theme, keys):
    with drill_world.opened(tmp_path) as store:
        drill_world.shop(store.beliefs.mesh)
        app = Workbench(Desk(store), environ=ENV, theme=theme, motion=False)
        assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))
