"""Pictures of the panes about beliefs, on the real engine and the story of ``mog demo``.

Renew them with ``pytest tests/app/test_tui_beliefs_pictures.py --snapshot-update`` and look at each before committing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import reason_story as story
from test_tui_snapshots import pressing
from textual.pilot import Pilot

from mog.app.tui.workbench import Workbench
from mog.engine.config import EngineConfig
from mog.engine.reason import demo
from mog.engine.workspace import Workspace

Compare = Callable[..., bool]
NOON = "2026-03-30T12:41:07.000+00:00"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    """The story after the break, asked about, with the code under a belief edited."""
    with story.apart(tmp_path_factory) as patch:
        patch.setattr("mog.engine.workspace._now", lambda: NOON)
        root = tmp_path_factory.mktemp("pictures") / "parcel-desk"
        story.told(root).close()
        with Workspace.open(root, config=EngineConfig(watch="off")) as workspace:
            for question in (story.NO_NAME, story.NO_EDGE, story.WRONG_TYPE):
                workspace.beliefs.ask(question)
            story.broken(workspace)
            workspace.beliefs.ask(story.PRUNED)
            workspace.beliefs.ask(story.PRUNED)
            workspace.beliefs.ask(story.ANSWERED)
            story.edit(root)
            workspace.beliefs.bridge.observe()
            yield workspace


@pytest.mark.parametrize(
    ("size", "theme", "keys"),
    [
        pytest.param((120, 36), "dark", ("2", "m"), id="walk-120-dark"),
        pytest.param((60, 18), "light", ("2",), id="walk-60-light"),
        pytest.param((120, 36), "light", ("3", "m"), id="dead-120-light"),
        pytest.param((80, 24), "dark", ("3", "m"), id="dead-80-dark"),
        pytest.param((80, 24), "light", ("4", "m"), id="drift-80-light"),
        pytest.param((60, 18), "dark", ("4",), id="drift-60-dark"),
        pytest.param((120, 36), "dark", ("7", "m"), id="ledger-120-dark"),
        pytest.param((60, 18), "mono", ("7",), id="ledger-60-mono"),
    ],
)
def test_panes_about_beliefs(
    snap_compare: Compare, desk: Workspace, size: tuple[int, int], theme: str, keys: tuple[str, ...]
) -> None:
    env = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
    app = Workbench(desk, environ=env, theme=theme, motion=False)  # type: ignore[arg-type]
    assert snap_compare(app, terminal_size=size, run_before=pressing(*keys))


def test_why_a_claim_fell(snap_compare: Compare, desk: Workspace) -> None:
    env = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
    app = Workbench(desk, environ=env, theme="dark", motion=False)  # type: ignore[arg-type]

    async def before(pilot: Pilot[None]) -> None:
        await pressing("2", "m")(pilot)
        app.screen.content("walk").why(demo.WAIT)  # type: ignore[attr-defined]
        await pressing()(pilot)

    assert snap_compare(app, terminal_size=(80, 24), run_before=before)
