"""Pictures of the workbench on the made-up repository; a change of look is seen in the diff.

Renew them with ``pytest tests/app/test_tui_snapshots.py --snapshot-update`` and look at each before committing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_workspace import FakeWorkspace
from textual.pilot import Pilot

from mog.app.tui import previews
from mog.app.tui.screens.home import Home
from mog.app.tui.workbench import Workbench

Compare = Callable[..., bool]


@pytest.fixture(autouse=True)
def still_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a preview took is not in the picture."""
    monkeypatch.setattr(previews, "perf_counter", lambda: 0.0)


def workbench(theme: str, **more: Any) -> Workbench:
    env = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
    return Workbench(FakeWorkspace(**more), environ=env, theme=theme, motion=False)


async def settle(pilot: Pilot[None]) -> None:
    """Until the first answers are drawn."""
    for _ in range(200):
        await pilot.pause(0.02)
        home = pilot.app.screen_stack[0]
        if isinstance(home, Home) and not (home.jobs._running or home.opening or home._later):
            break
    await pilot.pause(0.05)


def pressing(*keys: str) -> Callable[[Pilot[None]], Any]:
    """Settle, press, settle."""

    async def before(pilot: Pilot[None]) -> None:
        await settle(pilot)
        await pilot.press(*keys)
        await settle(pilot)

    return before


@pytest.mark.parametrize(
    ("size", "theme", "keys"),
    [
        pytest.param((160, 45), "dark", (), id="home-160-dark"),
        pytest.param((160, 45), "dark", ("m", "h"), id="graph-160-dark"),
        pytest.param((120, 36), "dark", (), id="home-120-dark"),
        pytest.param((120, 36), "light", ("4", "j"), id="drift-120-light"),
        pytest.param((120, 36), "mono", ("8",), id="health-120-mono"),
        pytest.param((80, 24), "dark", ("j",), id="home-80-dark"),
        pytest.param((80, 24), "light", ("b",), id="reason-80-light"),
        pytest.param((60, 18), "dark", (), id="home-60-dark"),
        pytest.param((60, 18), "contrast", ("8",), id="health-60-contrast"),
        pytest.param((160, 45), "dark", ("m", "z"), id="layers-160-dark"),
        pytest.param((120, 36), "mono", ("m", "z", "l"), id="layers-120-mono"),
        pytest.param((80, 24), "light", ("z",), id="layers-80-light"),
        pytest.param((60, 18), "contrast", ("z", "L"), id="layers-60-contrast"),
        pytest.param((80, 24), "dark", ("z", "z"), id="outline-80-dark"),
        pytest.param((43, 10), "dark", (), id="too-small"),
        pytest.param((80, 24), "dark", ("question_mark",), id="help-80-dark"),
        pytest.param((80, 24), "ansi-dark", ("p", *"cents"), id="pin-80-ansi"),
    ],
)
def test_picture(snap_compare: Compare, size: tuple[int, int], theme: str, keys: tuple[str, ...]) -> None:
    assert snap_compare(workbench(theme), terminal_size=size, run_before=pressing(*keys))


def test_picture_of_an_empty_home(snap_compare: Compare) -> None:
    app = workbench("dark", indexed=False, pins=())
    assert snap_compare(app, terminal_size=(80, 24), run_before=pressing())
