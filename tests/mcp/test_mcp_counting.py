"""What is counted after an answer: neither conversations nor answers wait for it. And threads: the one that worked last works next."""

from __future__ import annotations

import asyncio
import threading
import time
from types import SimpleNamespace
from typing import Any

import pytest

from mog.app.mcp import account, crew
from mog.app.mcp.account import Account
from mog.app.mcp.crew import Crew
from mog.engine.model import Freshness
from mog.engine.retrieval.model import Item, Zoom


class Sets:
    """Working sets that only say what they were served."""

    def __init__(self) -> None:
        self.served: list[tuple[str, int]] = []

    def of(self, session: str) -> Any:
        def serve(items: list[Item]) -> Any:
            self.served.append((session, len(items)))
            return SimpleNamespace(session=session, budget=100, used=10, evicted=(), warnings=())

        return SimpleNamespace(serve=serve, room=lambda: 90)


def thing(at: int) -> Item:
    return Item(f"a{at}", "function", "x", Zoom.L1, 1, 1, Freshness.fresh)


def test_many_conversations_are_counted_in_one_moment_and_each_turn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "MOMENT", 0.3)
    sets = Sets()
    counting = Account(sets.of)
    began = time.monotonic()
    for at in range(60):
        counting.shown(f"s{at}", [thing(1)])
        counting.shown(f"s{at}", [thing(2), thing(3)])
    while len(sets.served) < 60 and time.monotonic() - began < 15:
        time.sleep(0.01)
    assert time.monotonic() - began < 60 * account.MOMENT / 2
    assert sorted(sets.served) == sorted((f"s{at}", 3) for at in range(60))
    counting.close()


def test_what_waits_is_counted_at_once_when_somebody_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "MOMENT", 60.0)
    sets = Sets()
    counting = Account(sets.of)
    counting.shown("left", [thing(1)])
    counting.shown("right", [thing(2)])
    counting.settle(seconds=20)
    assert sets.served == [("left", 1), ("right", 1)]
    counting.close()


def until(held: Any, seconds: float = 15.0) -> bool:
    end = time.monotonic() + seconds
    while not held() and time.monotonic() < end:
        time.sleep(0.005)
    return bool(held())


def test_counting_waits_while_a_call_is_open_and_begins_when_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "MOMENT", 0.01)
    monkeypatch.setattr(account, "PATIENCE", 60.0)
    sets = Sets()
    counting = Account(sets.of)
    with counting.answering():
        counting.shown("one", [thing(1)])
        time.sleep(5 * account.QUIET)
        assert sets.served == []
    assert until(lambda: sets.served == [("one", 1)])
    counting.close()


@pytest.mark.parametrize(("patience", "behind"), [(0.1, 1_000), (60.0, 3)], ids=["waited long", "far behind"])
def test_a_client_that_never_rests_is_counted_all_the_same(monkeypatch: pytest.MonkeyPatch, patience: float, behind: int) -> None:
    monkeypatch.setattr(account, "MOMENT", 0.01)
    monkeypatch.setattr(account, "PATIENCE", patience)
    monkeypatch.setattr(account, "BEHIND", behind)
    sets = Sets()
    counting = Account(sets.of)
    with counting.answering():
        counting.shown("busy", [thing(at) for at in range(3)])
        assert until(lambda: sets.served == [("busy", 3)])
    counting.close()


async def test_one_client_is_answered_by_one_thread() -> None:
    pool = Crew()
    seen = set()
    for _ in range(30):
        seen.add(await pool.run(threading.get_ident, 20))
        await asyncio.sleep(0.02)
    assert len(seen) <= 2 and pool.threads <= 2
    many = await asyncio.gather(*(pool.run(lambda: time.sleep(0.05) or threading.get_ident(), 20) for _ in range(12)))
    assert 2 <= len(set(many)) <= crew.STEADY
    pool.close()


async def test_who_waits_gets_a_thread_when_those_there_are_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, gate = Crew(steady=2), threading.Event()

    async def stuck() -> None:
        with pytest.raises(TimeoutError):
            await pool.run(gate.wait, 0.3)

    held = [asyncio.ensure_future(stuck()) for _ in range(2)]
    await asyncio.sleep(0.1)
    assert await pool.run(lambda: "answered", 20) == "answered"
    await asyncio.gather(*held)
    gate.set()
    assert await pool.run(lambda: "again", 20) == "again"
    pool.close()
    with pytest.raises(crew.HeldByOther):
        await pool.run(lambda: "late", 1)
