"""The pane: its cursor, its scrolling, and that it asks its source for no more than it shows."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "app"))

from fake_rows import LazyRows, RowsApp
from textual.pilot import Pilot

from mog.widgets.pane import Pane
from mog.widgets.view import BLANK, Cell, Lines, Row, Source


@asynccontextmanager
async def shown(source: Source, size: tuple[int, int] = (80, 24)) -> AsyncIterator[tuple[Pilot[None], Pane]]:
    """A pane over a source, headless."""
    app = RowsApp(source)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield pilot, app.query_one(Pane)


def rows(*keys: str) -> list[Row]:
    return [Row(key, (Cell(f"row {key}"),), words=(f"this is {key}",)) if key else BLANK for key in keys]


async def test_a_hundred_thousand_rows_cost_what_is_in_view() -> None:
    source = LazyRows(100_000)
    async with shown(source) as (pilot, pane):
        assert source.asked < 200
        await pilot.press("G")
        assert pane.cursor == "row:99999" and source.asked < 500
        await pilot.press("g", "pagedown")
        assert pane.cursor == "row:20" and source.asked < 900


async def test_the_cursor_passes_over_headings_and_keeps_them_in_view() -> None:
    async with shown(Lines([Row("", (Cell("head"),)), *rows("a", "", "b")])) as (pilot, pane):
        assert pane.cursor == "a"
        await pilot.press("j")
        assert pane.cursor == "b"
        await pilot.press("j")
        assert pane.cursor == "b"
        await pilot.press("k", "k")
        assert pane.cursor == "a" and pane.text().splitlines()[1] == "  head"


async def test_rows_arriving_above_leave_the_cursor_on_its_screen_line() -> None:
    keys = [f"r{i}" for i in range(60)]
    async with shown(Lines(rows(*keys))) as (_, pane):
        pane.go("r40")
        before = pane._index - pane._top
        pane.show(Lines(rows("x", "y", "z", *keys)))
        assert pane.cursor == "r40" and pane._index - pane._top == before


async def test_a_cursor_nobody_moved_is_on_the_first_row_whatever_arrives_above() -> None:
    async with shown(Lines(rows("b", "c"))) as (pilot, pane):
        pane.app.set_focus(None)
        await pilot.pause()
        pane.show(Lines(rows("a", "b", "c")))
        assert pane.cursor == "a"
        pane.focus()
        await pilot.pause()
        pane.show(Lines(rows("_", "a", "b", "c")))
        assert pane.cursor == "a"  # somebody looks at it
        await pilot.press("j")
        pane.app.set_focus(None)
        await pilot.pause()
        pane.show(Lines(rows("-", "_", "a", "b", "c")))
        assert pane.cursor == "b"
        pane.move_end(False)
        pane.show(Lines(rows("+", "-", "_", "a", "b", "c")))
        assert pane.cursor == "+"


async def test_a_shorter_source_puts_the_cursor_on_the_nearest_row() -> None:
    async with shown(LazyRows(50)) as (pilot, pane):
        await pilot.press("G")
        pane.show(LazyRows(3))
        assert pane.row is not None and pane.cursor == "row:2"


async def test_an_empty_source_holds_no_cursor_and_moves_nowhere() -> None:
    async with shown(Lines()) as (_, pane):
        assert pane.row is None and not pane.move(1) and not pane.move_aside(1)
        pane.move_end(True)
        assert pane.cursor == ""


async def test_columns_move_aside_to_the_nearest_row() -> None:
    left, right = rows("a", "b", "c"), rows("x")
    lines = [(left[0], right[0]), (left[1], BLANK), (left[2], BLANK), *rows("below")]
    async with shown(Lines(lines)) as (_, pane):
        pane.go("c")
        assert pane.move_aside(1) and pane.cursor == "x"
        assert not pane.move_aside(1)
        assert pane.move(1) and pane.cursor == "below"
        assert pane.move_aside(-1) is False


async def test_only_changed_cells_are_painted_again() -> None:
    async with shown(Lines(rows(*"abcdefgh"))) as (_, pane):
        asked: list[tuple[int, int]] = []
        plain_refresh = pane.refresh

        def refresh(*regions, **more):  # type: ignore[no-untyped-def]
            asked.extend((region.y, region.width) for region in regions)
            return plain_refresh(*regions, **more)

        pane.refresh = refresh  # type: ignore[method-assign]
        pane.move(1)
        assert {y for y, _ in asked} <= {1, 2, 22}, asked
