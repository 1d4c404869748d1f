"""Wherever a person left the workbench, it opens there again."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_workspace import FakeWorkspace
from test_tui_home import ENV, press, settle

from mog.app.tui import kept, panes
from mog.app.tui.options import Options
from mog.app.tui.screens.home import Home
from mog.app.tui.workbench import Workbench


@pytest.mark.parametrize("size", [(120, 36), (60, 18)])
@pytest.mark.parametrize("name", panes.TABS)
async def test_the_pane_that_was_in_use_is_in_use_again(name: str, size: tuple[int, int], tmp_path: Path) -> None:
    path = kept.file_of(tmp_path)
    path.parent.mkdir(parents=True, mode=0o700)
    assert kept.save(path, kept.Kept(centre=name, current=name, toured=True))
    app = Workbench(FakeWorkspace(), environ=ENV, motion=False, options=Options(kept=path))
    async with app.run_test(size=size) as pilot:
        await settle(pilot)
        home = app.screen
        assert isinstance(home, Home)
        assert home.current == name and home.focused is home.pane(name)
        shown = home.pane(name).text()
        assert shown and not home.broken.get(name), shown
        assert name in home._asked
        await press(pilot, "j", "1")
        assert home.current == "graph"
