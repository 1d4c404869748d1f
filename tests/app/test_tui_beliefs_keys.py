"""Panes about beliefs, driven by keys on a real workspace: asked, explained, edited under, written to by another process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import reason_story as story
from test_tui_home import ENV, foot, press, settle, top
from textual.pilot import Pilot

from mog.app.tui.screens.home import Home
from mog.app.tui.workbench import Workbench
from mog.engine.config import EngineConfig
from mog.engine.reason import demo
from mog.engine.workspace import Workspace

PATIENCE = 20.0


@asynccontextmanager
async def at_work(root: Path, *, watch: bool = False) -> AsyncIterator[tuple[Pilot[None], Home, Workspace]]:
    with story.told(root) as first:
        first.index()
    with Workspace.open(root, config=EngineConfig(watch="auto" if watch else "off")) as workspace:
        app = Workbench(workspace, environ=ENV, theme="dark", motion=False)  # type: ignore[arg-type]
        async with app.run_test(size=(120, 36)) as pilot:
            home = app.screen
            assert isinstance(home, Home)
            await settle(pilot)
            yield pilot, home, workspace
        workspace.stop_watch()


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait for what another thread or process brings about."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, screen(pilot)
        await pilot.pause(0.05)


def screen(pilot: Pilot[None]) -> str:
    """Everything that is shown, for the message of a test that waited in vain."""
    home = pilot.app.screen_stack[0]
    assert isinstance(home, Home)
    shown = [said(home, name) for name in home.contents if home.has_pane(name)]
    return "\n".join([top(home), *shown, foot(home), f"running {home.jobs._running}"])


def said(home: Home, pane: str) -> str:
    return home.pane(pane).text(120) if home.has_pane(pane) else ""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "parcel-desk"


async def test_a_question_is_asked_walked_and_explained_by_keys(root: Path) -> None:
    async with at_work(root) as (pilot, home, _):
        await press(pilot, "2", "a", *story.ANSWERED, "enter")
        await until(pilot, lambda: "not taken" in said(home, "walk"))
        assert home.current == "walk" and demo.REFUND in said(home, "walk") and home.here.cursor == "answer"
        await press(pilot, "w")
        await until(pilot, lambda: "ground holds" in said(home, "walk"))
        await press(pilot, "escape")
        assert story.ANSWERED in said(home, "walk") and home.here.cursor == "answer"
        await press(pilot, "i")
        await until(pilot, lambda: "recorded" in said(home, "walk"))
        await press(pilot, "escape", "escape")
        assert home.current == "graph"


async def test_a_dead_end_is_asked_again_and_mended_by_keys(root: Path) -> None:
    async with at_work(root) as (pilot, home, workspace):
        await press(pilot, "2", "a", *story.NO_EDGE, "enter")
        await until(pilot, lambda: "no answer: no typed edge" in said(home, "walk"))
        await press(pilot, "3")
        await until(pilot, lambda: story.NO_EDGE in said(home, "dead"))
        await press(pilot, "a", *"The Harbour Crane is forty metres high.", "enter")
        await until(pilot, lambda: "forty metres" in said(home, "walk"))
        await until(pilot, lambda: "answered since" in said(home, "dead"))
        assert workspace.beliefs.ask(story.NO_EDGE).resolved


async def test_an_event_is_jumped_to_shown_whole_and_verified_by_keys(root: Path) -> None:
    async with at_work(root) as (pilot, home, _):
        await press(pilot, "colon", *"ledger 2", "enter")
        await until(pilot, lambda: home.here.cursor == "event:2")
        await press(pilot, "i")
        await until(pilot, lambda: "proof" in said(home, "ledger"))
        await press(pilot, "escape", "r")
        await until(pilot, lambda: "chain whole" in said(home, "ledger"))
        await press(pilot, "v")
        await until(pilot, lambda: home.content("ledger").kind == "assumed")
        assert "assumed: 2 events" in foot(home)


async def test_what_another_process_records_is_noticed(root: Path) -> None:
    async with at_work(root) as (pilot, home, _):
        await press(pilot, "7")
        await until(pilot, lambda: home.content("ledger").head == 6)
        code = (
            "import sys; from pathlib import Path; from mog.engine.workspace import Workspace\n"
            "with Workspace.open(Path(sys.argv[1])) as w:\n"
            f"    w.beliefs.reject({demo.WAIT!r}, evidence='it took nine seconds', reason='measured')"
        )
        subprocess.run([sys.executable, "-c", code, str(root)], check=True, timeout=PATIENCE)
        await until(pilot, lambda: home.content("ledger").head == 7 and "judged" in said(home, "ledger"))
        await until(pilot, lambda: "× 3" in top(home))


async def test_an_edit_stales_a_belief_live_and_a_revert_heals_it(root: Path) -> None:
    async with at_work(root, watch=True) as (pilot, home, workspace):
        await until(pilot, lambda: workspace.watcher.startswith(("live", "polling")))
        await press(pilot, "4")
        await until(pilot, lambda: "(A) 1" in said(home, "drift"))
        story.edit(root)
        await until(pilot, lambda: "± 1" in top(home) and "open" in said(home, "drift"))
        await press(pilot, "g", "a")
        await until(pilot, lambda: home.has_class("-prompting"))
        await press(pilot, *"refuted it waits twenty seconds", "enter")
        await until(pilot, lambda: "refuted" in said(home, "drift") and "× 1" in top(home))
        story.revert(root)
        await until(pilot, lambda: "± 0" in top(home) and "× 0" in top(home) and "refuted" not in said(home, "drift"))
