"""Panes 9 and 5, following, and the approvals view, on the made-up repository after a morning of one agent."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agent_story import CLIENT, NOW, call, filled, request
from fake_workspace import ROUND, TOTAL, FakeWorkspace
from test_tui_home import focus_name, foot, opened, press, settle, top

from mog.app.tui import traffic_rows
from mog.app.tui.outside import Outside
from mog.app.tui.plain import Still, report
from mog.app.tui.screens import approval
from mog.app.tui.screens.home import Home
from mog.engine import model as m
from mog.engine.errors import MogError, UsageError
from mog.engine.traffic import Call
from mog.widgets.fit import plain as plain_line

WIDTHS = (24, 32, 36, 60, 90, 120)


class Serving:
    """Serves agents, as far as the panes can see: ``again`` is what a replay answers."""

    def __init__(self, again: Call | None = None, **state: Any) -> None:
        self.again, self.asked = again, [Call("", "", "", "")][:0]
        self.shape = {"owner": True, "clients": 1, "other": "", "trouble": ""} | state

    def begin(self) -> None: ...
    def close(self) -> None: ...

    def state(self) -> Any:
        return SimpleNamespace(**self.shape)

    def replay(self, call: Call) -> Call:
        self.asked.append(call)
        if self.again is None:
            raise UsageError("it wrote something, and a replay writes nothing")
        return replace(self.again, seq=0)


def text_of(content: Any, width: int, lines: int = 30) -> str:
    sheet = content.sheet(width, lines)
    return "\n".join(plain_line(sheet.lines.line(at), width, sheet.middle) for at in range(len(sheet.lines)))


def still(name: str, world: FakeWorkspace | None = None) -> tuple[Still, Any]:
    """A pane without a screen, after its answer."""
    host = Still(world or filled())
    content = host.content(name)
    content.clock = lambda: NOW
    content.ask()
    return host, content


def at(host: Still, content: Any, key: str, width: int = 90) -> None:
    """Put the cursor on a row."""
    sheet = content.sheet(width, 30)
    found = sheet.lines.find(key)
    assert found, key
    host.row, host.thing = sheet.lines.line(found[0])[found[1]], sheet.things.get(key)


# -- 9 asked


def test_a_call_is_a_story_with_its_question_first_its_cost_last_and_what_changed_since() -> None:
    _, content = still("traffic")
    lines = text_of(content, 36).splitlines()
    assert lines[0].strip() == "12:41 where is the cart total"
    assert "[c] Cart +3" in lines[2] and lines[2].endswith("812 tok")
    assert lines[3].strip() == "± 1 of 4 changed since"
    assert any("dead end, no typed edge" in line for line in lines)
    assert any(line.strip().startswith("× NotFound") for line in lines)
    assert any("remember “prices arrive" in line for line in lines)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("pane", ["traffic", "ws"])
def test_every_width_is_kept_and_nothing_steers_the_terminal(pane: str, width: int) -> None:
    world = filled()
    evil = "\x1b[2J\u202eevil" * 40
    world.traffic.add(call(42, evil, {evil: evil}, client=evil, told={"said": evil}, path=(f"sym:{evil}",), marks=("x",)))
    held = world.working_sets.all["4f2a19c0"]
    held.held.append(replace(held.held[0], ref="ws_zz", title=evil, id=f"sym:{evil}", tokens=1))
    _, content = still(pane, world)
    if content.name == "traffic":
        content._turn(8)
    for line in text_of(content, width).splitlines():
        assert "\x1b" not in line and "\u202e" not in line and len(line) <= width


def test_an_unfolded_call_says_what_was_asked_walked_and_told_and_enter_goes_to_what_was_walked() -> None:
    host, content = still("traffic")
    at(host, content, "call:7")
    content.opened(host.thing, "call:7")
    text = " ".join(text_of(content, 90).split())
    assert "search_context: query “where is the cart total rounded”, budget 1000, zoom auto" in text
    assert "4 of 13 found, 812 of 1,000 tokens; 3 fresh, 1 unknown at the time" in text
    at(host, content, "walk:7:1")
    assert isinstance(host.thing, m.Node) and host.thing.id == TOTAL.id
    assert host.row is not None and host.row.right[0].text == "± its file"
    assert content.back() and "walk:7:1" not in str(content.sheet(90, 30).lines.find("walk:7:1"))


def test_a_replay_says_what_went_and_what_came_and_why_it_could_not_be() -> None:
    host, content = still("traffic")
    then = host.desk.traffic.calls([7])[0]
    again = replace(then, path=(TOTAL.locator, ROUND.locator, "sym:shop/pos.py::Till.ring"), tokens=640)
    host.agents = Serving(replace(again, told={"said": "3 of 9 found"}))
    at(host, content, "call:7")
    content.act_redo()
    text = text_of(content, 90)
    assert "again" in text and "3 of 9 found" in text and "640 tok" in text
    assert "- [c] shop/cart.py::Cart" in text and "+ [m] shop/pos.py::Till.ring" in text and "2 walked as before" in text
    host.agents = Serving(None)
    at(host, content, "call:5")
    content.act_redo()
    assert "a replay writes nothing" in text_of(content, 90)


def test_ten_thousand_calls_are_read_as_they_come_into_view() -> None:
    world = FakeWorkspace()
    world.traffic.add(*(call(n % 60, "impact", {"target": f"f{n}"}, told={"said": f"{n} reached"}) for n in range(10_000)))
    host, content = still("traffic", world)
    sheet = content.sheet(36, 30)
    assert len(sheet.lines) >= 20_000 and world.traffic.looks < 200
    assert sheet.lines.find("call:1") is not None
    last = len(sheet.lines) - 2
    assert "…" in sheet.lines.line(last)[0].text  # not here yet: it is asked for
    again = content.sheet(36, 30).lines
    assert "impact of f0" in again.line(len(again) - 2)[0].text
    assert world.traffic.looks < 700
    text_of(content, 36)  # all of it was in view once, and not all of it is held
    assert len(content.known.calls) <= 300
    assert report(world, "9", 80).count("impact of") < 200
    assert host.missing == []


def test_new_calls_are_added_to_what_was_counted_before() -> None:
    host, content = still("traffic")
    asked: list[int] = []
    record = host.desk.traffic
    whole = record.totals

    def totals(*, after: int = 0, upto: int = 2**62) -> Any:
        asked.append(after)
        return whole(after=after, upto=upto)

    record.totals = totals  # type: ignore[method-assign]
    record.add(call(50, "verify", {}, tokens=100), call(51, "why", {"target": "x"}, client="codex 0.9", outcome="NotFound"))
    content.ask()
    assert asked == [7] and content.sheet(90, 30).title_right == "9 calls  2 failed  1,627 tok"
    assert [one.seq for one in map(content.known.calls.get, content.known.numbers[:2])] == [9, 8]
    assert sorted(content.known.totals, key=str) == sorted(whole(), key=str)


def test_calls_of_one_client_after_the_other() -> None:
    host, content = still("traffic")
    said: list[str] = []
    host.say = said.append  # type: ignore[method-assign]
    content.act_filter()
    assert content.client == CLIENT and "codex" not in text_of(content, 60, 12) and "rule" not in text_of(content, 60, 12)
    content.act_filter()
    assert content.client == "codex 0.9" and content.sheet(60, 30).title_right.startswith("1 call ")


def test_an_empty_pane_teaches_how_an_agent_connects() -> None:
    assert "claude mcp add mog -- mog serve --mcp" in report(FakeWorkspace(), "9", 90)


async def test_asked_stands_left_of_the_graph_as_soon_as_an_agent_asked_and_the_top_line_says_when() -> None:
    async with opened() as (pilot, home, world):
        assert home.query_one("#shelf").shown()[0] == "map" and "agent" not in top(home)  # type: ignore[attr-defined]
        world.traffic.add(call(50, "impact", {"target": "round_cents"}))
        home.content("traffic").clock = lambda: NOW + 540
        await arrived(pilot, lambda: "agent ●" in top(home))
        assert home.query_one("#shelf").shown()[0] == "traffic"  # type: ignore[attr-defined]
        assert "impact of round_cents" in home.pane("traffic").text(36)


@pytest.mark.parametrize("key", ["9", "M", "5", "8"])
async def test_a_pane_in_the_centre_leaves_its_place_to_another(key: str) -> None:
    async with opened(filled()) as (pilot, home, _):
        await press(pilot, key, key)
        places = home.query_one("#shelf").shown()  # type: ignore[attr-defined]
        assert home.centre == home.current and len(set(places)) == len(places) and "" not in places


async def arrived(pilot: Any, holds: Any) -> None:
    """Wait until something that another thread noticed is drawn."""
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        await pilot.pause(0.05)
    await settle(pilot)


async def test_rows_that_arrive_above_leave_the_cursor_where_it_is() -> None:
    async with opened(filled()) as (pilot, home, world):
        await press(pilot, "9", "j", "j")
        held = home.here.cursor
        world.traffic.add(call(51, "verify", {}))
        await arrived(pilot, lambda: "call:8" in str(home.here.source.find("call:8") and "call:8"))
        assert home.here.cursor == held


async def test_the_graph_follows_the_agent_until_a_movement_key() -> None:
    async with opened(filled()) as (pilot, home, world):
        await press(pilot, "F")
        assert focus_name(home) == "Cart" and f"follows {CLIENT}" in home.pane("graph").title.note
        world.traffic.add(call(52, "impact", {"target": "round_cents"}, path=(ROUND.locator,), marks=("same",)))
        await arrived(pilot, lambda: focus_name(home) == "round_cents")
        assert home.current == "graph"
        await press(pilot, "j")
        assert "follows" not in home.pane("graph").title.note
        world.traffic.add(call(53, "impact", {"target": "Cart.total"}, path=(TOTAL.locator,), marks=("same",)))
        await arrived(pilot, lambda: home.pane("traffic").source.find("call:9"))
        assert focus_name(home) == "round_cents"


async def test_without_an_agent_there_is_nobody_to_follow_and_nothing_to_approve() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "F")
        assert "no agent to follow" in foot(home)
        await press(pilot, "A")
        assert "no request waits" in foot(home)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ({}, "1 client, from here"),
        ({"owner": False, "other": "41 mog serve, owner"}, "process 41 (mog serve, owner) serves them"),
        ({"owner": False, "trouble": ".mog is a link"}, ".mog is a link"),
    ],
)
async def test_health_says_who_serves_agents(state: dict[str, Any], words: str) -> None:
    async with opened(agents=Serving(**state)) as (_, home, _ws):
        assert words in " ".join(home.pane("health").text(120).split())


def test_a_look_at_what_others_write_says_what_changed_and_nothing_else() -> None:
    marks, heard = {"traffic": 1, "beliefs": 1}, []
    looks = [0]

    def look() -> dict[str, object]:
        looks[0] += 1
        return dict(marks)

    outside = Outside(look, heard.append, every=0.01)
    outside.start()
    while looks[0] < 3:
        time.sleep(0.005)
    assert heard == []
    marks["traffic"] = 2
    while not heard:
        time.sleep(0.005)
    outside.stop()
    assert heard == ["traffic"]


# -- 5 set


def test_the_set_is_a_gauge_what_goes_next_first_and_what_speaks_for_each() -> None:
    host, content = still("ws")
    text = text_of(content, 100)
    assert "46%" in text and "starts to evict at │ 60%, stops at 45%" in text and "5 items  1 pinned  1 stub  1 changed" in text
    rows = [line for line in text.splitlines() if "[" in line]
    assert "promo::apply" in rows[0] and "next out" in rows[0] and "± ■ Cart.total" in rows[-1]
    content.act_sort()
    assert "relevance 0.10  recency 0.20  use 0.00  fresh 0.50" in text_of(content, 100)
    assert content.glance(0)[0].text == "set 46%"
    assert host.missing == []


def test_evict_pin_and_recall_change_the_set_and_say_so() -> None:
    world = filled()
    host, content = still("ws", world)
    held = world.working_sets.all["4f2a19c0"]
    said: list[str] = []
    host.say = said.append  # type: ignore[method-assign]
    at(host, content, "item:ws_a1")
    content.act_take_out()
    assert "ws_a1" not in [one.ref for one in held.held] and "evicted" in said[-1]
    at(host, content, "item:ws_a3")
    content.act_pin()
    assert "never evicted" in said[-1] and "■" in text_of(content, 90)
    content.act_take_out()
    assert "it is pinned (unpin it first)" in said[-1]
    at(host, content, "stub:ws_b1")
    content.act_take_out()
    assert "only what is held" in said[-1]
    content.act_redo()
    text = text_of(content, 90)
    assert "since then it changed (1 line went, 1 line came)" in text and "\x1b" not in text
    assert "3          return 0  # \\x1b[31mred" in text and "2      def total(self):" in text
    assert content.back() and "Cart, shop/cart.py" in text_of(content, 90)


def test_the_next_session_with_v() -> None:
    host, content = still("ws")
    said: list[str] = []
    host.say = said.append  # type: ignore[method-assign]
    content.act_filter()
    assert content.read.state.session == "b7" and "session b7" in said[-1]


def test_a_set_of_nobody_teaches() -> None:
    assert "Nothing was served" in report(FakeWorkspace(), "5", 90)


# -- approvals


async def waiting(pilot: Any, home: Home, world: FakeWorkspace, *requests: Any) -> approval.Approval:
    """The approvals view on some requests, its keys alive."""
    world.approvals.requests = list(requests)
    await arrived(pilot, lambda: "A " in top(home) and "wait" in top(home))
    assert pilot.app.screen is home  # nothing takes the focus
    await pilot.press("A")
    screen = pilot.app.screen
    assert isinstance(screen, approval.Approval)
    await arrived(pilot, lambda: screen.check_action("commit", ()))
    return screen


def shown(screen: approval.Approval) -> str:
    return str(screen.query_one("#approval").text(100))  # type: ignore[attr-defined]


def chosen(screen: approval.Approval) -> str:
    return str(screen.query_one("#approval-choices").text).strip()  # type: ignore[attr-defined]


async def test_a_request_is_shown_word_for_word_and_later_comes_first() -> None:
    async with opened(filled()) as (pilot, home, world):
        world.like = [(world.records["d" * 32], 0.91)]
        screen = await waiting(pilot, home, world, request(), request(2))
        assert "2 wait" in top(home) and "1 of 2" in shown(screen)
        assert "“prices arrive in minor units”" in shown(screen) and "freeze-vat" in shown(screen) and "0.91" in shown(screen)
        assert chosen(screen).startswith("[Later]")
        await pilot.press("a")
        assert "[Allow once]" in chosen(screen) and world.approvals.said == {}
        await pilot.press("x", "l")
        assert "[Refuse and say why]" in chosen(screen)
        await pilot.press("tab", "enter")
        assert pilot.app.screen is home and world.approvals.said == {}


async def test_keys_are_dead_for_a_moment_whenever_another_request_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(filled()) as (pilot, home, world):
        screen = await waiting(pilot, home, world, request(), request(2))
        monkeypatch.setattr(approval, "DEAD", 3_600.0)
        await pilot.press("a", "enter")
        await arrived(pilot, lambda: world.approvals.said and "1 of 1" in shown(screen))
        await pilot.press("a", "enter", "escape")
        assert [said.allowed for said in world.approvals.said.values()] == [True]
        assert chosen(screen).startswith("[Later]") and pilot.app.screen is screen


async def test_a_refusal_carries_a_reason_and_who_said_it() -> None:
    async with opened(filled()) as (pilot, home, world):
        await waiting(pilot, home, world, request())
        await pilot.press("w", "enter", *"twice", "enter")
        await arrived(pilot, lambda: pilot.app.screen is home)
        (said,) = world.approvals.said.values()
        assert (said.allowed, said.why, said.by) == (False, "twice", "person, at the workbench")
        assert "waits" not in top(home) and "refused: twice" in foot(home)


async def test_a_request_that_is_gone_is_said_to_be_gone_and_cannot_be_allowed() -> None:
    async with opened(filled()) as (pilot, home, world):
        screen = await waiting(pilot, home, world, request())
        await pilot.press("a")
        world.approvals.requests = []
        await arrived(pilot, lambda: "waits no longer" in shown(screen))
        await arrived(pilot, lambda: screen.check_action("commit", ()))
        await pilot.press("enter")
        await settle(pilot)
        assert world.approvals.said == {}


async def test_an_answer_that_comes_too_late_is_said() -> None:
    async with opened(filled()) as (pilot, home, world):
        await waiting(pilot, home, world, request())
        world.written = lambda: {}  # type: ignore[method-assign]
        world.approvals.requests = []
        await pilot.press("a", "enter")
        await arrived(pilot, lambda: pilot.app.screen is home)
        assert "waits no longer" in foot(home)


async def test_long_words_of_an_agent_are_counted_and_unfold() -> None:
    evil = "\n".join(f"line {n} \x1b[2J\u202e" for n in range(40))
    async with opened(filled(), size=(80, 24)) as (pilot, home, world):
        screen = await waiting(pilot, home, world, request(arguments={"text": evil}, left_out={"text": 900}))
        text = shown(screen)
        assert "+34 lines, i shows them" in text and "900 more characters" in text and "\x1b" not in text and "\u202e" not in text
        await pilot.press("i")
        assert "line 39 \\x1b[2J\\u202e" in shown(screen)
        await pilot.press("pagedown", "j")
        await pilot.press("escape")
        assert pilot.app.screen is home


async def test_the_workbench_says_that_it_is_there_and_that_it_leaves() -> None:
    async with opened(filled()) as (pilot, home, world):
        await arrived(pilot, lambda: world.approvals.beats > 0)
        home.end()
        assert world.approvals.beats == 0


def test_a_replay_that_fails_otherwise_is_seen() -> None:
    host, content = still("traffic")
    host.agents = Serving(None)
    at(host, content, "call:7")
    assert content._not_replayed(7, RuntimeError("x")) is False
    assert content._not_replayed(7, MogError("no index")) is True


def test_the_row_of_a_call_is_found_without_building_the_others() -> None:
    known = traffic_rows.Known(numbers=tuple(range(10_000, 0, -1)))
    story = traffic_rows.Story(known, 40, lambda _: None)
    assert story.find("call:5000") == (10_000, 0) and len(story._rows) == 1 and story.find("call:0") is None
