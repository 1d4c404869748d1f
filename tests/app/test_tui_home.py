"""The home screen, driven by keys on the made-up repository."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_workspace import FakeWorkspace, pin
from textual.pilot import Pilot

from mog.app.tui.screens.home import Home
from mog.app.tui.workbench import Workbench
from mog.engine import model as m
from mog.engine.errors import Cancelled, HeldByOther
from mog.widgets.shelf import Shelf

ENV = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}


@asynccontextmanager
async def opened(
    workspace: FakeWorkspace | None = None, size: tuple[int, int] = (120, 36), **more: Any
) -> AsyncIterator[tuple[Pilot[None], Home, FakeWorkspace]]:
    """The workbench headless, after its first answers."""
    workspace = workspace or FakeWorkspace()
    app = Workbench(workspace, environ=ENV, theme="dark", motion=False, **more)
    async with app.run_test(size=size) as pilot:
        home = app.screen
        assert isinstance(home, Home)
        await settle(pilot)
        yield pilot, home, workspace


@asynccontextmanager
async def first_index(workspace: FakeWorkspace) -> AsyncIterator[tuple[Pilot[None], Home]]:
    """The workbench headless, while it builds the first index."""
    app = Workbench(workspace, environ=ENV, theme="dark", motion=False, index_first=True)
    async with app.run_test(size=(120, 36)) as pilot:
        home = app.screen
        assert isinstance(home, Home)
        yield pilot, home


async def settle(pilot: Pilot[None]) -> None:
    """Until no job runs and nothing waits to be drawn."""
    for _ in range(100):
        await pilot.pause(0.02)
        home = pilot.app.screen_stack[0]
        if isinstance(home, Home) and not (home.jobs._running or home.opening or home._later):
            break
    await pilot.pause(0.02)


async def press(pilot: Pilot[None], *keys: str) -> None:
    await pilot.press(*keys)
    await settle(pilot)


def foot(home: Home) -> str:
    return home.query_one("#foot").text  # type: ignore[attr-defined,no-any-return]


def top(home: Home) -> str:
    return home.query_one("#top").text  # type: ignore[attr-defined,no-any-return]


def focus_name(home: Home) -> str:
    assert home.content("graph").hood is not None
    return home.content("graph").hood.node.qual


async def test_opens_on_the_busiest_symbol_with_every_pane_filled() -> None:
    async with opened() as (_, home, _ws):
        assert focus_name(home) == "Cart.total"
        shown = home.query_one("#shelf").shown()  # type: ignore[attr-defined]
        assert shown[:3] == ("map", "graph", "drift") and shown[-1] == "health"
        assert "±" in home.pane("drift").text() and "skipped" in home.pane("health").text()
        assert top(home).startswith(" shopkit main 4f2a19c with edits   index ● live   ± 1 drifted")


async def test_top_line_prints_zero_and_says_not_known() -> None:
    workspace = FakeWorkspace(indexed=False, pins=())
    async with opened(workspace) as (_, home, _ws):
        assert "± 0 drifted" in top(home)
        assert "skipped ?" in top(home) and "index ? none yet" in top(home)


async def test_enter_follows_an_edge_and_history_goes_back_and_on() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "l", "enter")
        assert focus_name(home) == "Line.net"
        await press(pilot, ",")
        assert focus_name(home) == "Cart.total"
        await press(pilot, ".")
        assert focus_name(home) == "Line.net"
        await press(pilot, ".")
        assert "last node" in foot(home)


async def test_h_and_l_go_to_in_and_out() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "h")
        assert home.here.cursor.startswith("in:")
        await press(pilot, "l")
        assert home.here.cursor.startswith("out:")


async def test_sides_stand_beside_the_node_when_there_is_room() -> None:
    async with opened(size=(160, 45)) as (pilot, home, _):
        await press(pilot, "m")
        lines = [home.here.source.line(i) for i in range(3)]
        assert [len(line) for line in lines] == [3, 3, 3]
        await press(pilot, "h")
        left = home.here.cursor
        await press(pilot, "l", "l")
        assert left.startswith("in:") and home.here.cursor.startswith("out:")


async def test_tiers_step_and_say_what_is_drawn() -> None:
    async with opened() as (pilot, home, _):
        assert "total  maybe" not in home.here.text(120)
        await press(pilot, "t")
        assert "total  maybe" in home.here.text(120)
        assert home.here.title.right == "certain + hierarchy + maybe (t)"
        await press(pilot, "t")
        assert "by base" not in home.here.text(120)


async def test_search_as_you_type_narrows_and_enter_opens() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "slash", *"round")
        assert home.pane("find").title.right.startswith("2 of 2")
        await press(pilot, "down", "up", "enter")
        assert focus_name(home) == "round_cents" and not home.finding


async def test_a_search_that_is_opened_again_gives_way_to_what_is_typed() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "slash", *"round", "escape", "slash")
        assert home.content("find").text == "round"
        await press(pilot, *"total")
        assert home.content("find").text == "total"
        await press(pilot, "escape", "slash", "right", "s")  # a move of the cursor keeps it
        assert home.content("find").text == "totals"


async def test_search_kind_turns_with_tab_and_esc_goes_back() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "slash", *"total", "tab", "tab", "tab")
        assert home.content("find").kind == "method"
        assert [hit.node.kind for hit in home.content("find").hits.hits] == ["method"]  # type: ignore[union-attr]
        await press(pilot, "escape")
        assert not home.finding and home.focused is home.pane("graph")


async def test_next_hit_walks_the_results_of_the_last_search() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "n")
        assert "no search yet" in foot(home)
        await press(pilot, "slash", *"total", "enter", "n")
        assert focus_name(home) == "total" and "result 2 of" in foot(home)


async def test_jump_by_locator_and_ambiguous_names_become_rows() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "colon", *"shop/money.py::round_cents", "enter")
        assert focus_name(home) == "round_cents"
        await press(pilot, "colon", *"nowhere", "enter")
        assert "nothing answers to nowhere" in foot(home)
        await press(pilot, "colon", *"total", "enter")
        assert home.finding and "2 nodes answer" in home.pane("find").text()
        await press(pilot, "down", "enter")
        assert focus_name(home) == "total"


async def test_pin_asks_for_a_note_and_unpin_asks_for_a_word() -> None:
    async with opened() as (pilot, home, workspace):
        before = len(workspace.state_pins)
        await press(pilot, "p", *"cents only", "enter")
        assert workspace.state_pins[-1].pin.note == "cents only"
        assert "cents only" in home.pane("drift").text() and "cents only" in home.pane("graph").text()
        home.pane("graph").go(f"pin:{workspace.state_pins[-1].pin.id}")
        await press(pilot, "p", "escape")
        assert len(workspace.state_pins) == before + 1
        await press(pilot, "p", "enter")
        assert len(workspace.state_pins) == before
        await press(pilot, "p", "escape")
        assert not home.has_class("-prompting")


async def test_drift_arrives_from_a_thread_and_shows_in_pane_and_top_line() -> None:
    async with opened() as (pilot, home, workspace):
        workspace.drift("a5", m.Freshness.drifted, "body changed, 2 lines")
        await settle(pilot)
        assert "± 2 drifted" in top(home)
        assert "half up" in home.pane("drift").text().split("fresh, ")[0]


async def test_cursor_holds_its_row_when_rows_arrive_above() -> None:
    async with opened() as (pilot, home, workspace):
        await press(pilot, "4", "G")
        held = home.here.cursor
        workspace.state_pins.insert(0, pin("ff", "sym:shop/pos.py::Till.ring", "new", m.Freshness.missing, "gone"))
        workspace.emit(m.Change("pins", 8))
        await settle(pilot)
        assert home.here.cursor == held and home.here.row is not None and home.here.row.key == held


async def test_a_row_that_vanishes_under_the_cursor_stays_until_it_leaves() -> None:
    async with opened() as (pilot, home, workspace):
        await press(pilot, "4")
        held = home.here.cursor
        workspace.state_pins = [s for s in workspace.state_pins if f"pin:{s.pin.id}" != held]
        workspace.emit(m.Change("pins", 8))
        await settle(pilot)
        assert home.here.cursor == held and home.here.row is not None and home.here.row.right[0].text == "gone"
        await press(pilot, "j")
        assert home.here.source.find(held) is None


async def test_a_focus_that_vanishes_is_marked_gone() -> None:
    async with opened() as (pilot, home, workspace):
        node = home.content("graph").hood.node  # type: ignore[union-attr]
        del workspace.nodes[node.id]
        workspace.emit(m.Change("index", 8))
        await settle(pilot)
        assert home.here.title.right.startswith("gone")


async def test_bursts_are_coalesced_and_a_quiet_change_is_at_once() -> None:
    async with opened() as (pilot, _home, workspace):
        workspace.calls.clear()
        workspace.emit(*[m.Change("pins", 8 + i) for i in range(40)])
        await settle(pilot)
        await pilot.pause(0.3)
        assert 1 <= workspace.calls.count("pins") <= 3


@pytest.mark.parametrize("job", ["status", "pins", "map", "neighbors", "grammars", "start_watch"])
async def test_a_worker_that_raises_is_seen(job: str) -> None:
    workspace = FakeWorkspace()
    workspace.fail[job] = RuntimeError(f"broken {job}")
    async with opened(workspace) as (_pilot, home, _):
        assert f"broken {job}" in " ".join(home.pane("health").text(200).split())
        assert "failed" in top(home)


async def test_engine_errors_come_with_their_way_out() -> None:
    workspace = FakeWorkspace()
    async with opened(workspace) as (pilot, home, _):
        workspace.fail["index"] = HeldByOther("process 41 writes", way_out="wait for it")
        await press(pilot, "8", "r")
        assert "process 41 writes (wait for it)" in foot(home)


async def test_a_key_that_cannot_act_says_why() -> None:
    async with opened() as (pilot, home, _):
        for key, words in (("a", "nothing here waits"), ("s", "rows are ordered")):
            await press(pilot, key)
            assert words in foot(home), key
        await press(pilot, "j")
        assert foot(home).startswith(" j k move")


async def test_index_first_counts_on_the_top_line_then_fills_in() -> None:
    workspace = FakeWorkspace(indexed=False, slow=0.2)
    async with first_index(workspace) as (pilot, home):
        seen = set()
        for _ in range(40):
            await pilot.pause(0.01)
            seen.add(top(home))
            if home.content("graph").hood:
                break
        await settle(pilot)
        assert any("index …" in line for line in seen)
        assert focus_name(home) == "Cart.total" and "index ● live" in top(home)


async def test_what_a_first_index_serves_early_is_shown_while_it_goes_on() -> None:
    workspace = FakeWorkspace(indexed=False)
    workspace.endless = True
    async with first_index(workspace) as (pilot, home):
        await pilot.pause(0.1)
        assert home.content("graph").hood is None
        workspace.indexed = True
        workspace.emit(m.Change("index", 1))
        for _ in range(60):
            await pilot.pause(0.05)
            if home.content("graph").hood:
                break
        assert focus_name(home) == "Cart.total" and home.jobs.running("index") and "index … linking" in top(home)
        asked = workspace.calls.count("map")
        workspace.emit(m.Change("index", 2))
        await pilot.pause(0.4)
        assert workspace.calls.count("map") == asked  # the map waits for the end, as at any index
        workspace.endless = False


async def test_ctrl_c_cancels_an_index_and_twice_quits() -> None:
    workspace = FakeWorkspace()
    workspace.endless = True
    async with first_index(workspace) as (pilot, home):
        await pilot.pause(0.05)
        await pilot.press("ctrl+c")
        for _ in range(60):
            await pilot.pause(0.05)
            if not home.jobs.running("index"):
                break
        assert "stopped" in foot(home)
        await pilot.press("ctrl+c", "ctrl+c")
        await pilot.pause(0.05)
    assert pilot.app.return_code == 130


async def test_quit_asks_only_while_an_index_is_built() -> None:
    async with opened() as (pilot, _home, _ws):
        await pilot.press("q")
    assert pilot.app.return_code == 0


async def test_progress_tap_ends_the_index_when_the_screen_closes() -> None:
    workspace = FakeWorkspace()
    async with opened(workspace) as (_, home, _ws):
        from mog.app.tui.workers import ProgressTap

        tap = ProgressTap(home, home.jobs.stopped)
        tap(m.Progress("reading", 1, 2))
        home.jobs.stopped.set()
        with pytest.raises(Cancelled):
            tap(m.Progress("reading", 2, 2))


@pytest.mark.parametrize(
    "size", [(160, 45), (120, 36), (100, 30), (80, 24), (60, 18), (50, 12), (43, 10), (9, 3), (1, 1)]
)
async def test_every_size_draws_and_keys_die_below_the_smallest(size: tuple[int, int]) -> None:
    async with opened(size=size) as (pilot, home, _workspace):
        tiny = home.has_class("-tiny")
        assert tiny == (size[0] < 50 or size[1] < 12)
        before = home.content("graph").level
        await press(pilot, "t", "j", "tab", "m", "slash")
        assert (home.content("graph").level == before and not home.finding) if tiny else home.finding


async def test_resizing_through_all_layouts_comes_back_to_the_same_screen() -> None:
    async with opened() as (pilot, home, _):
        before = [home.pane(name).text() for name in ("map", "graph", "drift", "health")]
        for size in ((80, 24), (60, 15), (30, 8), (160, 45), (120, 36)):
            await pilot.resize_terminal(*size)
            await settle(pilot)
        assert [home.pane(name).text() for name in ("map", "graph", "drift", "health")] == before


async def test_tabs_show_one_pane_and_name_the_others() -> None:
    async with opened(size=(60, 18)) as (pilot, home, _):
        await press(pilot, "4")
        assert home.query_one("#shelf").shown() == ("drift",)  # type: ignore[attr-defined]
        assert "4»Drift" in home.query_one("#tabs").text  # type: ignore[attr-defined]


async def test_help_lists_every_binding_and_runs_the_chosen_one() -> None:
    from mog.app.tui.keys import KEYS
    from mog.app.tui.screens.help import Help, key_lines

    listed = {row.key for line in key_lines().all() for row in line if row.key}
    assert listed == {f"key:{key.action}" for key in KEYS}
    async with opened() as (pilot, home, _):
        await press(pilot, "question_mark")
        assert isinstance(pilot.app.screen, Help)
        await press(pilot, *"tiers", "enter")
        assert pilot.app.screen is home and home.content("graph").level == 2


async def test_copy_row_and_pane() -> None:
    async with opened() as (pilot, _home, _):
        await press(pilot, "y")
        assert pilot.app.clipboard == "sym:shop/cart.py::Cart.total"
        await press(pilot, "Y")
        assert "believed about it" in pilot.app.clipboard and "\x1b" not in pilot.app.clipboard


async def test_health_unfolds_examples() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "8", "enter")
        assert "docs/logo.png" in home.pane("health").text()
        await press(pilot, "h")
        assert "docs/logo.png" not in home.pane("health").text()


async def test_hidden_rows_unfold_and_fold() -> None:
    async with opened(size=(80, 24)) as (pilot, home, _):
        assert "+4 hidden" in home.here.text()
        home.here.go("fold:in")
        await press(pilot, "enter")
        assert "Till.ring" in home.here.text() and "fold" in home.here.text()
        await press(pilot, "escape")
        assert "+4 hidden" in home.here.text()


async def test_editor_is_asked_for_when_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EDITOR", raising=False)
    monkeypatch.delenv("VISUAL", raising=False)
    async with opened() as (pilot, home, _):
        await press(pilot, "o")
        assert "set $EDITOR" in foot(home)


async def test_mouse_click_moves_the_cursor_and_a_second_one_opens() -> None:
    async with opened() as (pilot, home, _):
        await pilot.click("#map", offset=(6, 6))
        await settle(pilot)
        assert home.current == "map" and home.here.row is not None
        held = home.here.row.copy
        await pilot.click("#map", offset=(6, 6))
        await settle(pilot)
        assert home.content("graph").hood is not None and home.content("graph").hood.node.locator == held


async def test_command_palette_runs_a_key_and_changes_the_theme() -> None:
    async with opened() as (pilot, _home, _):
        await pilot.press("ctrl+p")
        await pilot.pause(0.2)
        await pilot.press(*"theme light")
        await pilot.pause(0.5)
        await pilot.press("enter")
        await settle(pilot)
        assert pilot.app.theme == "light"


async def test_hostile_names_reach_no_cell_raw() -> None:
    bad = "evil\x1b]0;x\x07\u202e\udcffname"
    workspace = FakeWorkspace(pins=(pin("a1", f"sym:{bad}.py::f", f"note {bad}", m.Freshness.drifted, bad),))
    from fake_workspace import TOTAL, node

    hostile = node(f"{bad}.py", f"{bad}", "function", 1, 2, signature=bad, doc=bad)
    workspace.nodes[hostile.id] = hostile
    workspace.edges.append((hostile, TOTAL, "calls", m.Tier.certain, bad))
    async with opened(workspace) as (pilot, home, _):
        await press(pilot, "h")
        drawn = "".join(home.pane(name).text(200) for name in ("map", "graph", "drift", "health")) + top(home)
        words = " ".join(home.here.row.words if home.here.row else ())
        for char in "\x1b\x07\u202e\udcff":
            assert char not in drawn and char not in words


@pytest.mark.parametrize("where", ["sheet", "ask", "opened"])
async def test_a_pane_that_fails_says_so_in_its_place_and_the_others_go_on(where: str) -> None:
    async with opened() as (pilot, home, _):
        content = home.content("drift")

        def broken(*_: object) -> None:
            raise ZeroDivisionError("a fault of this pane alone")

        whole = getattr(content, where)
        setattr(content, where, broken)
        home.ask("drift")
        home.draw("drift")
        await press(pilot, "4", "enter")
        assert "a fault of this pane alone" in " ".join(home.pane("drift").text().split())
        await press(pilot, "1", "j")
        assert focus_name(home) == "Cart.total" and home.here.row is not None
        setattr(content, where, whole)
        await press(pilot, "4", "r")
        assert "±" in home.pane("drift").text()


async def test_a_screen_that_closes_takes_no_more_panes(monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer that comes late asks for a pane which the closing screen no longer mounts; that is nothing to wait for."""
    async with opened() as (pilot, home, _):
        await home.pane("drift").remove()
        with monkeypatch.context() as closing:
            closing.setattr(Shelf, "mount", lambda *_: None)
            home.draw("graph")
            assert not home.has_pane("drift")
        home.draw("graph")
        await settle(pilot)
        assert home.has_pane("drift")


async def test_what_would_fall_follows_a_focus_that_comes_from_elsewhere() -> None:
    """The cursor stays on the node in focus, and that is another node now: found by search, by a jump, or by going back."""
    async with opened() as (pilot, home, _):
        for target in ("bill_month", "Cart.total"):
            home.focus_on(home.desk.find(target).locator)
            await settle(pilot)
            aim = home.content("blast").aim
            assert focus_name(home) == target and home.thing is not None
            assert aim.target == home.content("graph").target_at(home.thing), (target, aim)
