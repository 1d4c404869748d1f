"""Pictures of the panes beside an agent, after its morning; a change of look is seen in the diff.

Renew them with ``pytest tests/app/test_tui_agent_pictures.py --snapshot-update`` and look at each before committing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agent_story import NOW, filled, request
from test_tui_agents import Serving
from test_tui_home import ENV, settle
from textual.pilot import Pilot

from mog.app.tui.screens.approval import Approval
from mog.app.tui.screens.home import Home
from mog.app.tui.workbench import Workbench


@pytest.fixture(autouse=True)
def _one_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "UTC")
    import time

    if hasattr(time, "tzset"):
        time.tzset()


def workbench(theme: str, *, waits: bool) -> Workbench:
    world = filled()
    if waits:
        world.approvals.requests = [request()]
        world.like = [(world.records["d" * 32], 0.91)]
    return Workbench(world, environ=ENV, theme=theme, motion=False, agents=Serving())


def pressing(*keys: str, waits: bool) -> Callable[[Pilot[None]], Any]:
    """The clock of the story, every answer drawn, then the keys."""

    async def before(pilot: Pilot[None]) -> None:
        home = pilot.app.screen_stack[0]
        assert isinstance(home, Home)
        for name in ("traffic", "approvals"):
            home.content(name).clock = lambda: NOW
        await settle(pilot)
        for _ in range(400):
            if not waits or home.content("approvals").requests:
                break
            await pilot.pause(0.05)
        home.draw_top()
        for key in keys:
            await pilot.press(key)
            await settle(pilot)
            for _ in range(200):
                if not isinstance(pilot.app.screen, Approval) or pilot.app.screen.check_action("commit", ()):
                    break
                await pilot.pause(0.02)
        await settle(pilot)

    return before


@pytest.mark.parametrize(
    ("size", "theme", "keys", "waits"),
    [
        pytest.param((120, 36), "dark", (), True, id="beside-120-dark"),
        pytest.param((160, 45), "light", ("9", "9", "enter", "j", "j"), False, id="asked-160-light"),
        pytest.param((80, 24), "dark", ("9", "m"), False, id="asked-80-dark"),
        pytest.param((60, 18), "contrast", ("9",), False, id="asked-60-contrast"),
        pytest.param((120, 36), "mono", ("5", "5", "s"), False, id="set-120-mono"),
        pytest.param((60, 18), "dark", ("5",), False, id="set-60-dark"),
        pytest.param((80, 24), "dark", ("A", "right"), True, id="approval-80-dark"),
        pytest.param((60, 18), "mono", ("A",), True, id="approval-60-mono"),
    ],
)
def test_picture_beside_an_agent(
    snap_compare: Callable[..., bool], size: tuple[int, int], theme: str, keys: tuple[str, ...], waits: bool
) -> None:
    assert snap_compare(workbench(theme, waits=waits), terminal_size=size, run_before=pressing(*keys, waits=waits))
