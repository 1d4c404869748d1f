"""What strangers write reaches no cell raw, and no cell is out of place; and no colour says what a glyph or word does not."""

from __future__ import annotations

import sys
import unicodedata
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_hostile import HostileWorkspace
from fake_workspace import FakeWorkspace
from rich.cells import cell_len
from test_tui_home import opened, press, settle

from mog.app.tui import panes, plain
from mog.app.tui.rows import Sheet
from mog.engine.errors import MogError
from mog.styles import themes
from mog.widgets.bars import Bar
from mog.widgets.ink import Ink
from mog.widgets.pane import Pane
from mog.widgets.strips import draw
from mog.widgets.view import Cell

WIDTHS = (32, 60, 90, 120)
STATES = ("standing", "weakened", "fallen", "contested", "stale", "unverified", "attn")
OVERRIDES = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
MADE_UP = tuple(name for name in panes.TABS if name != "drill" or hasattr(FakeWorkspace, "drills"))
"""Panes that the made-up workspace can fill."""
BARE = frozenset("\u200b\u200c\u200e\u200f\u2028\u2029\u2060\ufeff")


def sheets(name: str, workspace: FakeWorkspace, width: int) -> Sheet:
    """The rows of a pane, asked without a screen."""
    host = plain.Still(workspace)
    for asked in ("map", "graph") if name == "graph" else (name,):
        host.content(asked).ask()
    sheet: Sheet = host.content(name).sheet(width, 40)
    return sheet


def unsafe(text: str) -> list[str]:
    """Characters that a terminal could obey, or that nobody would see."""
    return [c for c in text if unicodedata.category(c) in ("Cc", "Cs") or c in BARE or c in OVERRIDES]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", MADE_UP)
def test_hostile_text_is_drawn_safe_and_aligned(name: str, width: int) -> None:
    ink = Ink(themes.variables("dark"))
    sheet = sheets(name, HostileWorkspace(), width)
    assert len(sheet.lines)
    for index in range(len(sheet.lines)):
        line = sheet.lines.line(index)
        strip = draw(line, width, ink, cursor=0, middle=sheet.middle)
        assert cell_len(strip.text) == strip.cell_length == width
        for row in line:
            said = "".join(cell.text for cell in (*row.cells, *row.right)) + "".join(row.words) + row.copy
            assert not unsafe(said), (name, row.key)
    assert not unsafe(sheet.title_note + sheet.title_right)


@pytest.mark.parametrize("size", [(120, 36), (60, 18)])
async def test_a_screen_of_hostile_text_stays_whole(size: tuple[int, int]) -> None:
    async with opened(HostileWorkspace(), size=size) as (pilot, home, _):
        typed = (("slash", *"total"), ("escape",), ("f",), ("escape",), ("ctrl+p", *"cart"))
        for keys in (("j",), ("l", "enter"), ("4", "j"), ("8",), *typed):
            await press(pilot, *keys)
            await settle(pilot)
            for pane in [pane for pane in pilot.app.screen.query(Pane) if pane.size.width]:
                for strip in pane._strips:
                    assert cell_len(strip.text) == strip.cell_length == pane.size.width, (pane.id, strip.text)
                    assert not unsafe(strip.text)
            for bar in pilot.app.screen.query(Bar):
                assert not unsafe(bar.text)
        assert not home.broken


# -- no meaning by colour alone ----------------------------------------------------------------------------------------


def state_cells(name: str) -> list[Cell]:
    """Cells of a pane whose role is a state."""
    try:
        sheet = sheets(name, FakeWorkspace(), 90)
    except MogError:
        return []
    lines = [sheet.lines.line(at) for at in range(len(sheet.lines))]
    return [cell for line in lines for row in line for cell in (*row.cells, *row.right) if cell.role in STATES and cell.text.strip()]


def test_a_mark_means_one_state_in_every_pane() -> None:
    meanings: dict[str, set[str]] = {}
    for name in MADE_UP:
        for cell in state_cells(name):
            if not any(char.isalnum() for char in cell.text):
                meanings.setdefault(cell.text.strip(), set()).add(cell.role)
    assert meanings and not {mark: roles for mark, roles in meanings.items() if len(roles) > 1}


@pytest.mark.parametrize("name", panes.TABS)
async def test_a_pane_says_the_same_without_colour(name: str) -> None:
    seen = []
    for theme in ("dark", "mono"):
        async with opened(size=(80, 24)) as (pilot, home, _):
            home.change_theme(theme)
            home.set_current(name)
            await settle(pilot)
            strips = home.here._strips
            colours = {style.color for strip in strips for _, style, _ in strip if style}
            assert (colours == {None}) == (theme == "mono")
            cursor = [strip.text for strip in home.here._strips if any(style and style.reverse for _, style, _ in strip)]
            assert theme != "mono" or len(cursor) >= 1 + bool(home.here.cursor), "title and cursor row are reversed"
            seen.append([strip.text for strip in strips])
    assert seen[0] == seen[1]
