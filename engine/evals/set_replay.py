"""What a session asked for, replayed with other ways to choose what goes.

Who calls: suite ``working_set``. What may not come in: packs, the store; only the sums and the order of eviction differ.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from mog.engine.memory.set_records import Entry, Now, Pinned, Place
from mog.engine.memory.set_scores import WORKING_SET, Rules, weigh
from mog.engine.model import Freshness
from mog.engine.retrieval.model import Zoom

Order = Callable[["Asked", int, int, int], tuple[float, ...]]


class Asked(NamedTuple):
    """One thing the agent was shown, in the turn it was: for the replay."""

    turn: int
    id: str
    zoom: int
    tokens: int
    stays: bool
    text: str
    relevance: float


def replayed(trace: Sequence[Asked], budget: int, order: Order) -> tuple[int, int]:
    """Tokens paid and things asked for again that were no longer there, when the least by ``order`` goes first.

    ``order``: of what was asked last, the turn of its first serving since it is held, times it was asked for, and the turn that is.
    The same budget, low mark and classes that never go.
    """
    held: dict[str, tuple[Asked, int, int]] = {}
    known: set[str] = set()
    paid = missed = 0
    for one in trace:
        was = held.get(one.id)
        if was is not None and (was[0].text == one.text or was[0].zoom > one.zoom):
            held[one.id] = (_later(was[0], one), was[1], was[2] + 1)
        else:
            paid += one.tokens
            missed += was is None and one.id in known
            held[one.id] = (one, one.turn, was[2] + 1 if was else 1)
            known.add(one.id)
        used = sum(row[0].tokens for row in held.values())
        if used <= budget:
            continue
        free = [row for row in held.values() if not row[0].stays and one.turn - row[0].turn >= WORKING_SET.recent]
        for row in sorted(free, key=lambda row: (*order(row[0], row[1], row[2], one.turn), row[0].id)):
            if used <= budget * 45 // 60:
                break
            used -= row[0].tokens
            del held[row[0].id]
    return paid, missed


def _later(held: Asked, asked: Asked) -> Asked:
    """What is held, asked for in a later turn."""
    return held._replace(turn=asked.turn, stays=held.stays or asked.stays, relevance=max(held.relevance, asked.relevance))


def by_score(asked: Asked, first: int, times: int, turn: int) -> tuple[float, ...]:
    """mog's own order, for things that did not change."""
    entry = Entry(
        "", asked.id, Place.held, Zoom(asked.zoom), asked.tokens, 0, "", "", "", "", Freshness.fresh, asked.relevance, times - 1, first,
        asked.turn, 0, Pinned.no, b"",
    )  # fmt: skip
    return (weigh(entry, Now(Freshness.fresh), turn, Rules()).value, asked.turn)


ORDERS: dict[str, Order] = {
    "mog: lowest score per token first": by_score,
    "longest unused first": lambda asked, first, times, turn: (asked.turn,),
    "oldest first": lambda asked, first, times, turn: (first,),
    "largest first": lambda asked, first, times, turn: (-asked.tokens,),
    "least used first": lambda asked, first, times, turn: (times, asked.turn),
}
