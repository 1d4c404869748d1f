"""The records of a working set: what is in it, what was evicted, what a call did. Small, frozen, plain.

Who calls: ``served``, ``set_scores``, ``set_change`` and ``working_set`` make them; ``app`` renders them. What may not come
in: behaviour beyond a sum, I/O. Texts, ids and titles are verbatim and untrusted; only a stub's line is made safe where it is
made (``set_stubs``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from mog.engine.model import Freshness
from mog.engine.retrieval.model import Item, Zoom


class Place(IntEnum):
    """Where a served thing is: in the set, evicted (a stub stands for it), or replaced by another serving of the same thing."""

    held = 0
    evicted = 1
    replaced = 2


class Pinned(IntEnum):
    """Whether a thing is kept in a set: not, as the pack that brought it says, or by hand in this session."""

    no = 0
    pack = 1
    hand = 2


@dataclass(frozen=True, slots=True)
class Entry:
    """One serving of one thing to one session.

    Attributes:
        ref: ``ws_`` and 12 or more hex digits, the same for the same bytes of the same thing in the same session.
        id: what was served: locator or ``note:…``. zoom, kind, label, provenance: as in the pack's item.
        title: words for people. tokens, size: cost by the pack's estimator, UTF-8 bytes of the text.
        freshness: when it was served. relevance: share of the best score in the answer it came with (0..1).
        hits: times it was asked for again. first, last: turn these bytes were first served in, and the last that named them.
        out: turn it left in; 0 while it is held. pinned: whether, and by whom.
        text: digest of the served bytes; empty when they were given up.
    """

    ref: str
    id: str
    place: Place
    zoom: Zoom
    tokens: int
    size: int
    kind: str
    title: str
    label: str
    provenance: str
    freshness: Freshness
    relevance: float
    hits: int
    first: int
    last: int
    out: int
    pinned: Pinned
    text: bytes


class Served(NamedTuple):
    """An entry with the bytes that were served."""

    entry: Entry
    text: str


@dataclass(frozen=True, slots=True)
class Now:
    """What became of a served thing since it was served.

    Attributes:
        changed: in words that follow "since then", "" when nothing did. active: for a task, that it is not done.
    """

    freshness: Freshness = Freshness.unknown
    changed: str = ""
    active: bool = True


#: Says what became of served things, by ref; what it leaves out is unknown. Asked outside of any lock on the store.
Judge = Callable[[Sequence[Served]], Mapping[str, Now]]


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a session may hold, in tokens of the pack's estimator.

    Attributes:
        window: the client's context window. pct, low_pct: shares of it: above the first things are evicted, down to the second.
    """

    window: int
    pct: int = 60
    low_pct: int = 45

    @property
    def tokens(self) -> int:
        """Above this, eviction begins."""
        return self.window * self.pct // 100

    @property
    def low(self) -> int:
        """Eviction goes on down to here."""
        return self.window * self.low_pct // 100


@dataclass(frozen=True, slots=True)
class Weighed:
    """A held entry and what speaks for it.

    Attributes:
        score: sum of ``parts``, each ≥ 0. value: score per 1,000 tokens; the lowest goes first.
        kept: why it stays whatever its score: ``pinned``, ``correction``, ``constraint``, ``active_task``, another kind of the
            configuration, ``recent``; "" when its score decides.
        now: what became of it.
    """

    entry: Entry
    score: float
    value: float
    parts: Mapping[str, float]
    kept: str = ""
    now: Now = field(default_factory=Now)


@dataclass(frozen=True, slots=True)
class Stub:
    """What stands for an evicted thing. ``line`` costs at most the configured tokens; ``whole``: its bytes are still kept."""

    ref: str
    id: str
    title: str
    zoom: Zoom
    tokens: int
    out: int
    line: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Refused:
    """A thing larger than the whole budget: not taken in. ``id`` at a lower zoom may fit."""

    id: str
    tokens: int
    budget: int


@dataclass(frozen=True, slots=True)
class Turned:
    """What one call did to a set.

    Attributes:
        turn: its number. refs: one for each item given, in order; "" for what was refused or had no text.
        taken: refs that cost something now. hits: refs that were held already, at the same or a higher zoom.
        refused: larger than the budget. evicted: stubs, in the order of eviction.
        used, budget: after the call. warnings: sentences, among them why the set is over its budget.
    """

    session: str
    turn: int
    refs: tuple[str, ...]
    taken: tuple[str, ...]
    hits: tuple[str, ...]
    refused: tuple[Refused, ...]
    evicted: tuple[Stub, ...]
    used: int
    budget: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """A thing as it was served, byte for byte, and what became of it since.

    Attributes:
        item: its text is the served one; its freshness is that of now. entry: as it is held now.
        now: what changed since. turned: what taking it in again did.
    """

    item: Item
    entry: Entry
    now: Now
    turned: Turned


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the life of a session, in tokens unless said otherwise. ``taken - evicted - replaced`` is what is held.

    Attributes:
        taken: entered, recalls included. evicted, replaced: left. saved: would have been paid again, had hits cost anything.
        servings, hits, evictions, recalls, refusals: times.
    """

    taken: int = 0
    evicted: int = 0
    replaced: int = 0
    saved: int = 0
    servings: int = 0
    hits: int = 0
    evictions: int = 0
    recalls: int = 0
    refusals: int = 0


@dataclass(frozen=True, slots=True)
class State:
    """A set as it stands.

    Attributes:
        used: tokens held. over: above the budget, held only by what is never evicted. room: what a pack may cost so that after it
            the budget is kept whatever is in the pack.
        items: best value first, what is kept whatever its score before the others. stubs: latest first.
    """

    session: str
    turn: int
    budget: Budget
    used: int
    over: int
    room: int
    items: tuple[Weighed, ...]
    stubs: tuple[Stub, ...]
    totals: Totals
    estimator: str
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session in the list: its name, turn, tokens and entries held, stubs, budget."""

    name: str
    turn: int
    used: int
    items: int
    stubs: int
    budget: int
