"""An in-memory workspace that answers with the engine's records: the made-up repository ``shopkit``.

Who calls: tests of the workbench. Events of the change feed come from a thread of their own, as the real ones do.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import fake_around
from fake_agents import AgentWorld
from fake_breaks import FakeBreaks, story
from fake_ledger import NoLedger

from mog.engine import model as m
from mog.engine.code.outline import Outline
from mog.engine.errors import AmbiguousTarget, Cancelled, IndexMissing, NotFound
from mog.engine.reason.near import Believed
from mog.engine.retrieval.around import Around

STAMP = m.IndexStamp(7, "main@4f2a19c0d1e2f3a4b5c6d7e8f9a0b1c2d3e4f5a6", True)


def node(path: str, qual: str = "", kind: str = "function", line: int = 0, end: int = 0, **more: object) -> m.Node:
    """A node with a stable id."""
    kind_type = "symbol" if qual else "file"
    text = f"{path}::{qual}"
    ident = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]
    name = qual.rpartition(".")[2] or path.rpartition("/")[2]
    made = m.Node(int(ident[:7], 16), ident, kind_type, kind if qual else "source", name, qual, path, line, end)
    return replace(made, **more)  # type: ignore[arg-type]


def unbound(name: str, reason: str) -> m.Node:
    """An unresolved node."""
    ident = hashlib.sha256(f"{reason}:{name}".encode()).hexdigest()[:32]
    return m.Node(int(ident[:7], 16), ident, "unresolved", reason, name, "", "")


TOTAL = node(
    "shop/cart.py",
    "Cart.total",
    "method",
    41,
    67,
    signature="def total(self, at: date | None = None, *, currency: Currency = EUR) -> Money",
    doc="Sum of all lines with VAT, rounded once at the end. Prices are kept in minor units until then.",
)
CART = node(
    "shop/cart.py", "Cart", "class", 12, 140, signature="class Cart(Basket)", doc="What a customer wants to buy."
)
ROUND = node("shop/money.py", "round_cents", "function", 12, 19, signature="def round_cents(amount: Decimal) -> int")
CALLERS = [
    node("shop/api/orders.py", "create_order", "function", 18, 61),
    node("shop/jobs/invoice.py", "bill_month", "function", 33, 90),
    node("shop/cli.py", "Cli.quote", "method", 71, 88),
    node("tests/test_cart.py", "test_total_rounds_once", "test", 10, 22),
    node("tests/test_cart.py", "test_total_of_empty_cart_is_zero", "test", 25, 30),
    node("shop/reports/vat.py", "VatReport.lines_of_month", "method", 120, 160),
]
RING = node("shop/pos.py", "Till.ring", "method", 52, 77)
LEGACY = node("shop/legacy.py", "total", "function", 3, 40)
NET = node("shop/cart.py", "Line.net", "method", 150, 158)
VAT = node("shop/tax.py", "VAT_STEPS", "const", 9, 9)
FILES = [node(p) for p in ("shop/cart.py", "shop/money.py", "shop/api/orders.py", "shop/tax.py", "shop/pos.py")]
BASKET = node("shop/basket.py", "Basket", "class", 5, 60, signature="class Basket")
EVERYTHING = [TOTAL, CART, ROUND, *CALLERS, RING, LEGACY, NET, VAT, BASKET, *FILES]


def _edges() -> list[tuple[m.Node, m.Node, str, m.Tier, str]]:
    certain = m.Tier.certain
    calls = [(caller, TOTAL, "calls", certain, "total") for caller in CALLERS]
    return [
        *calls,
        (CART, TOTAL, "defines", certain, ""),
        (RING, TOTAL, "calls", m.Tier.hierarchy, "total"),
        (LEGACY, TOTAL, "calls", m.Tier.candidate, "total"),
        (TOTAL, ROUND, "calls", certain, "round_cents"),
        (TOTAL, NET, "calls", certain, "net"),
        (TOTAL, VAT, "references", certain, "VAT_STEPS"),
        (TOTAL, CALLERS[3], "tested_by", certain, ""),
        (TOTAL, unbound("quantize", "receiver"), "calls", m.Tier.unknown, "quantize"),
        (TOTAL, unbound("as_of", "receiver"), "calls", m.Tier.unknown, "as_of"),
        (TOTAL, unbound("sum", "external"), "calls", m.Tier.unknown, "sum"),
        (CART, BASKET, "inherits", certain, "Basket"),
        (CART, NET, "calls", certain, "net"),
        (CALLERS[0], CART, "calls", certain, "Cart"),
        (CALLERS[1], ROUND, "calls", certain, "round_cents"),
        (NET, ROUND, "calls", certain, "round_cents"),
        (FILES[0], CART, "defines", certain, ""),
        (FILES[2], FILES[0], "imports", certain, ""),
    ]


def pin(ident: str, locator: str, note: str, freshness: m.Freshness, reason: str = "", **more: object) -> m.PinState:
    """A pin with the state of its anchor."""
    kind = "method" if "." in locator.rpartition("::")[2] else "function"
    anchor = m.Anchor(locator, kind, "00" * 16, "11" * 16, "python 0.25")
    made = m.PinState(m.Pin(ident, note, anchor, int(ident, 16), "2031-02-11T12:41:07Z"), freshness, reason)
    return replace(made, **more)  # type: ignore[arg-type]


PINS = (
    pin("a1", "sym:shop/cart.py::Cart.total", "totals round once, last", m.Freshness.drifted, "body changed, 6 lines"),
    pin(
        "a2",
        "sym:shop/vat.py::vat_rate",
        "the table is yearly",
        m.Freshness.moved,
        "the same bytes under another path",
        now_at="sym:shop/tax.py::vat_rate",
    ),
    pin("a3", "sym:tests/test_gift.py::test_gift", "gift cards need approval", m.Freshness.missing, "no such function"),
    pin("a4", "sym:shop/cart.py::Cart.total", "prices arrive in minor units", m.Freshness.fresh),
    pin("a5", "sym:shop/money.py::round_cents", "half up, never bankers' rounding", m.Freshness.fresh),
)

HEALTH = m.ScanHealth(
    seen=9800,
    indexed=9741,
    text_only=96,
    skipped={"binary": 41, "too large": 3, "link out of the root": 2, "fifo": 1},
    examples={"binary": ("docs/logo.png", "fonts/a.woff2"), "fifo": ("run/pipe",)},
    gated=2,
    gated_symbols=3,
    languages={"python": 412, "typescript": 96, "javascript": 14},
    problems={"shop/broken.py": "syntax error, line 40", "web/odd.ts": "parse took too long"},
    problem_count=2,
    warnings=("15 .zig files have no grammar: text only. mog grammars add zig",),
)


class NoAdvice:
    """Nobody's model said anything."""

    def annotations(self, *locators: str) -> tuple[()]:
        return ()


class FakeWorkspace(AgentWorld, FakeBreaks, NoLedger):
    """Answers like a workspace; ``emit`` plays the watcher."""

    context_graph = NoAdvice()

    def __init__(self, *, indexed: bool = True, pins: Sequence[m.PinState] = PINS, slow: float = 0.0) -> None:
        super().__init__()
        story()  # made before a screen opens, which would otherwise wait for it
        self.root = Path("/made/up/shopkit")
        self.watcher = "off"
        self.indexed = indexed
        self.slow = slow
        self.endless = False
        self.spawns = False
        self.calls: list[str] = []
        self.fail: dict[str, BaseException] = {}
        self.state_pins = list(pins)
        self.beliefs_about: dict[str, Sequence[Believed]] = {}
        self.edges = _edges()
        self.nodes = {n.id: n for n in EVERYTHING}
        for src, dst, *_ in self.edges:
            self.nodes.setdefault(src.id, src)
            self.nodes.setdefault(dst.id, dst)
        self._listeners: list[Callable[[m.Change], None]] = []

    def _asked(self, name: str, *, index: bool = True) -> None:
        self.calls.append(name)
        if self.slow:
            time.sleep(self.slow)
        if name in self.fail:
            raise self.fail[name]
        if index and not self.indexed:
            raise IndexMissing("no index yet", way_out="mog index builds one")

    def has_index(self) -> bool:
        return self.indexed

    def index(self, *, progress: Callable[[m.Progress], None] | None = None) -> m.IndexReport:
        self._asked("index", index=False)
        if self.spawns:
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
                assert pool.submit(abs, -1).result(30) == 1
        for done in range(0, 413, 103):
            if progress:
                progress(m.Progress("reading", done, 412))
            if self.slow:
                time.sleep(self.slow)
        until = time.monotonic() + 30
        while self.endless and progress and time.monotonic() < until:
            progress(m.Progress("linking", 412, 412))
            time.sleep(0.02)
        self.indexed = True
        return m.IndexReport(412, 3000, {"calls": 9}, {"certain": 9}, HEALTH, "ab" * 16, 8, 412, 412, True, 1.5, 2.0)

    def status(self) -> m.Status:
        self._asked("status", index=False)
        health = HEALTH if self.indexed else m.ScanHealth()
        stamp = STAMP if self.indexed else m.IndexStamp(0, "", False)
        calls = {"certain": 8123, "hierarchy": 412, "candidate": 2210, "unknown": 3001}
        edges = {"calls": 13746, "defines": 3400, "imports": 1200}
        return m.Status(
            str(self.root),
            self.indexed,
            522,
            3412,
            edges,
            calls,
            0,
            len(self.state_pins),
            12_300_000,
            2.0,
            "51c09a7e" * 4,
            health,
            self.watcher,
            stamp,
        )

    def search(self, query: str, *, limit: int = 20, kind: str = "") -> m.SearchAnswer:
        self._asked("search")
        found = [
            n for n in self.nodes.values() if query.lower() in (n.qual or n.path).lower() and n.type != "unresolved"
        ]
        found = [n for n in found if not kind or n.kind == kind or n.type == kind]
        hits = tuple(m.Hit(n, 1.0, m.Freshness.fresh) for n in sorted(found, key=lambda n: (len(n.name), n.path)))
        return m.SearchAnswer(query, hits[:limit], len(hits), m.Boundary(), STAMP)

    def find(self, target: str) -> m.Node:
        self._asked("find")
        found = [
            n for n in self.nodes.values() if target in (n.id, n.locator, n.qual, n.name, n.path, f"{n.path}::{n.qual}")
        ]
        if not found:
            raise NotFound(f"nothing answers to {target}", way_out="/ searches")
        if len(found) > 1:
            raise AmbiguousTarget(f"{len(found)} nodes answer to {target}", [n.locator for n in found])
        return found[0]

    def neighbors(self, target: str, *, tiers: Sequence[str], limit: int, history: bool = False) -> m.Neighborhood:
        self._asked("neighbors")
        wanted = self.nodes[target] if target in self.nodes else self.find(target)
        ins: list[m.Edge] = []
        outs: list[m.Edge] = []
        totals_in: dict[tuple[str, m.Tier], int] = {}
        totals_out: dict[tuple[str, m.Tier], int] = {}
        for src, dst, kind, tier, name in self.edges:
            for mine, other, edges, totals, outgoing in (
                (dst, src, ins, totals_in, False),
                (src, dst, outs, totals_out, True),
            ):
                if mine.id == wanted.id:
                    totals[kind, tier] = totals.get((kind, tier), 0) + 1
                    if tier.name in tiers:
                        edges.append(m.Edge(kind, tier, other, outgoing, name))
        pins = tuple(s for s in self.state_pins if s.pin.anchor.locator == wanted.locator)
        fresh = m.Freshness.drifted if any(s.freshness is m.Freshness.drifted for s in pins) else m.Freshness.fresh
        along = (m.CoChanged("shop/tax.py", 7, 9), m.CoChanged("docs/vat.md", 3, 9)) if history else ()
        return m.Neighborhood(
            wanted, fresh, tuple(ins[:limit]), tuple(outs[:limit]), totals_in, totals_out, pins, m.Boundary(), STAMP,
            along, "co-change from 120 commits (all of them)" if history else "", 14 if history else 0,
        )  # fmt: skip

    def around(self, target: str, *, depth: int, limit: int, tiers: Sequence[str]) -> Around:
        self._asked("around")
        wanted = self.nodes[target] if target in self.nodes else self.find(target)
        return fake_around.around(wanted, self.edges, depth, limit, tiers, STAMP)

    def outline(self, target: str = "", *, after: int = 0, limit: int = 200) -> Outline:
        self._asked("outline")
        return fake_around.outline(self.nodes.values(), self.edges, target, after, limit, STAMP)

    def believed(self, target: str) -> tuple[Believed, ...]:
        self._asked("believed", index=False)
        wanted = self.nodes[target] if target in self.nodes else self.find(target)
        return tuple(self.beliefs_about.get(wanted.locator, ()))

    def believed_counts(self) -> Mapping[str, int]:
        return {place: len(found) for place, found in self.beliefs_about.items()}

    def map(self, *, limit: int = 25) -> m.MapAnswer:
        self._asked("map")
        tops = {"shop/cart.py": (TOTAL, CART, NET), "shop/money.py": (ROUND,), "shop/tax.py": (VAT,)}
        rows = [m.MapRow(f.path, "python", 31 - 3 * i, 9.0 - i, tops.get(f.path, ())) for i, f in enumerate(FILES)]
        return m.MapAnswer(tuple(rows[:limit]), m.Boundary(omitted=407), STAMP)

    def touched(self, commit: str) -> tuple[str, ...]:
        self._asked("touched", index=False)
        if not "4f2a19c0d1e2".startswith(commit):
            raise NotFound(f"no commit begins with {commit}", way_out="git log lists them")
        return ("shop/cart.py", "shop/money.py")

    def pin(self, locator: str, note: str) -> m.PinState:
        self._asked("pin")
        state = pin(f"b{len(self.state_pins):x}", locator, note, m.Freshness.fresh)
        self.state_pins.append(state)
        return state

    def unpin(self, pin_id: str) -> m.Pin:
        self._asked("unpin")
        state = next(s for s in self.state_pins if s.pin.id == pin_id)
        self.state_pins.remove(state)
        return state.pin

    def pins(self) -> tuple[m.PinState, ...]:
        self._asked("pins", index=False)
        return tuple(self.state_pins)

    def verify(self) -> m.VerifyReport:
        self._asked("verify")
        count = {f: sum(s.freshness is f for s in self.state_pins) for f in m.Freshness}
        return m.VerifyReport(
            tuple(self.state_pins),
            len(self.state_pins),
            count[m.Freshness.fresh],
            count[m.Freshness.drifted],
            count[m.Freshness.moved],
            count[m.Freshness.missing],
            count[m.Freshness.unknown],
            0,
            STAMP,
        )

    def grammars(self) -> tuple[m.GrammarInfo, ...]:
        self._asked("grammars", index=False)
        return (
            m.GrammarInfo("python", "wheel", "0.25.0", "d" * 8, True, True, 412),
            m.GrammarInfo("typescript", "wheel", "0.23.2", "e" * 8, True, True, 96),
        )

    def subscribe(self, callback: Callable[[m.Change], None]) -> Callable[[], None]:
        self._listeners.append(callback)
        return lambda: self._listeners.remove(callback)

    def emit(self, *changes: m.Change) -> None:
        """Send events from another thread and wait until they are out."""
        listeners = list(self._listeners)
        thread = threading.Thread(target=lambda: [call(change) for change in changes for call in listeners])
        thread.start()
        thread.join()

    def drift(self, pin_id: str, freshness: m.Freshness, reason: str) -> None:
        """An edit moved the bytes under a pin."""
        self.state_pins = [
            replace(s, freshness=freshness, reason=reason) if s.pin.id == pin_id else s for s in self.state_pins
        ]
        self.emit(m.Change("pins", 8, (), reason))

    def start_watch(self) -> None:
        self._asked("start_watch", index=False)
        self.watcher = "live"

    def stop_watch(self) -> None:
        self.watcher = "off"


__all__ = ["Cancelled", "FakeWorkspace", "node", "pin"]
