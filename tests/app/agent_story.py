"""A morning of one agent in the made-up repository: calls, a working set, a request. For tests and pictures of the panes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fake_agents import FakeSet, entry
from fake_workspace import CALLERS, CART, ROUND, TOTAL, FakeWorkspace

from mog.engine import model as m
from mog.engine.approvals import Request
from mog.engine.memory.set_records import Now, Pinned
from mog.engine.retrieval.model import Zoom
from mog.engine.traffic import Call

FREEZE = "d" * 32
CLIENT = "claude-code 2.1.0"
NOW = 1_796_042_480.0  # 2026-11-30T12:41:20Z


def call(minute: int, tool: str, arguments: dict[str, Any], **more: Any) -> Call:
    """A call of that minute after noon."""
    return Call(f"2026-11-30T12:{minute:02d}:07.000+00:00", more.pop("client", CLIENT), "4f2a19c0", tool, arguments, **more)


def calls() -> list[Call]:
    """Oldest first."""
    walk = [CART.locator, TOTAL.locator, ROUND.locator, CALLERS[0].locator]
    fresh = ["same"] * 4
    return [
        call(36, "verify", {}, tokens=96, ms=31.0, told={"said": "188 checked, 3 not as they were", "shown": 3, "total": 3}),
        call(37, "why", {"target": "refund"}, outcome="NotFound", tokens=41, ms=3.0, told={"said": "nothing is called 'refund'"}),
        call(
            38, "mesh_ask", {"question": "who approved the gift-card rule"}, client="codex 0.9", tokens=3, ms=4.0,
            told={"said": "no answer: no_typed_edge", "dead_end": "no_typed_edge"},
        ),
        call(
            39, "mesh_ask", {"question": "why is the VAT table frozen"}, tokens=205, ms=6.0, path=(FREEZE,), marks=("standing",),
            told={"said": "answered in 2 hops, score 0.61", "hops": 2, "expanded": 64, "states": {"standing": 1}},
        ),
        call(
            40, "remember", {"kind": "observation", "text": "prices arrive in minor units"}, tokens=60, ms=9.0,
            told={"said": "recorded as a proposal"},
        ),
        call(
            40, "impact", {"target": "round_cents"}, tokens=310, ms=8.0, path=(ROUND.locator, NET), marks=("same", "same"),
            told={"said": "7 reached in 4 files, 2 tests", "total": 7, "shown": 7},
        ),
        call(
            41, "search_context", {"query": "where is the cart total rounded", "budget": 1_000, "zoom": "auto"}, tokens=812, ms=11.0,
            path=tuple(walk), marks=tuple(fresh), generation=7,
            told={"said": "4 of 13 found, 812 of 1,000 tokens", "shown": 4, "total": 13, "states": {"fresh": 3, "unknown": 1}},
        ),
    ]  # fmt: skip


NET = "sym:shop/cart.py::Line.net"


def filled(**more: Any) -> FakeWorkspace:
    """The made-up repository after that morning: one fact was edited since, one belief weakened."""
    world = FakeWorkspace(**more)
    world.records[FREEZE] = SimpleNamespace(id=FREEZE, type="decision", label="freeze-vat", attrs={})
    world.traffic.add(*calls())
    world.marked = {TOTAL.locator: "edited", FREEZE: "weakened"}
    held = FakeSet("4f2a19c0")
    held.held = [
        entry("ws_a1", "promo::apply", 640, relevance=0.1, hits=0),
        entry("ws_a2", "Cart.total, shop/cart.py", 1_150, id=TOTAL.locator, kind="method", relevance=1.0, pinned=Pinned.hand),
        entry("ws_a3", "round_cents, shop/money.py", 310, id=ROUND.locator, hits=3),
        entry("ws_a4", "prices arrive in minor units", 90, id="note:" + "a" * 32, kind="observation", zoom=Zoom.L1),
        entry("ws_a5", "shop/cart.py", 1_500, id="file:shop/cart.py", kind="source", zoom=Zoom.L3),
    ]
    held.gone = [entry("ws_b1", "Cart, shop/cart.py", 640, id=CART.locator, kind="class", out=4)]
    held.texts["ws_b1"] = "class Cart(Basket):\n\tdef total(self):\n        return 0  # \x1b[31mred\n"
    held.now["ws_a2"] = Now(m.Freshness.drifted, "it changed (2 lines went, 4 lines came)")
    held.now["ws_b1"] = Now(m.Freshness.drifted, "it changed (1 line went, 1 line came)")
    world.working_sets.all = {"b7": FakeSet("b7"), "4f2a19c0": held}
    return world


def request(number: int = 1, **more: Any) -> Request:
    """A write that waits since 40 seconds."""
    words = {"text": "prices arrive in minor units", "source_id": "9c" * 4}
    given = {"tool": "mesh_submit_evidence", "help": "Record an observation from a known source.", "arguments": words} | more
    return Request(f"{number:032x}", NOW - 40, CLIENT, "4f2a19c0", **given)
