"""What speaks for keeping a served thing, what keeps it whatever its score, and which things go first. Pure.

Who calls: ``set_change``, ``working_set``. What may not come in: the store, clocks. A score is a sum of weighted logarithms,
each above a floor and so never negative: a product of factors would let one of them decide alone, and constant factors would
change no order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, log2

from mog.engine.memory.set_records import Entry, Now, Weighed
from mog.engine.model import Freshness
from mog.engine.retrieval.model import Item

PINNED, ACTIVE_TASK, RECENT = "pinned", "active_task", "recent"
NEVER = (PINNED, "correction", "constraint", ACTIVE_TASK)


@dataclass(frozen=True, slots=True)
class SetWeights:
    """Weights of the working set; judgement, not fitted.

    Attributes:
        relevance, recency, use, freshness: weight of each logarithm (base 2).
        floor: below this share of the best a thing counts no less: relevance, recency and freshness give 0 to log2(1/floor).
        states: how much of a served text is still worth something, by what became of it.
        recent: turns, this one included, in which whatever was served or named is never evicted.
    """

    relevance: float = 1.0
    recency: float = 1.0
    use: float = 1.0
    freshness: float = 0.5
    floor: float = 1 / 16
    states: Mapping[Freshness, float] = field(
        default_factory=lambda: {
            Freshness.fresh: 1.0, Freshness.moved: 0.9, Freshness.unknown: 0.8, Freshness.drifted: 0.25,
            Freshness.missing: 1 / 16, Freshness.gated: 1 / 16,
        }
    )  # fmt: skip
    recent: int = 3


WORKING_SET = SetWeights()


def relevances(items: Sequence[Item]) -> list[float]:
    """Score of each item as a share of the best of its sort (0..1); notes and code are scored on scales of their own."""
    best = {note: max((_finite(item.score) for item in items if _note(item) is note), default=0.0) for note in (True, False)}
    return [_share(item.score, best[_note(item)]) for item in items]


def _note(item: Item) -> bool:
    return item.node is None and item.label != "repo"


def _finite(score: float) -> float:
    return score if isfinite(score) and score > 0 else 0.0


def _share(score: float, best: float) -> float:
    """What was asked for by name has an endless score, or none in an answer without scores: all of it is wanted."""
    if score == float("inf") or (best == 0 and score == 0):
        return 1.0
    return _finite(score) / best if best else 0.0


@dataclass(frozen=True, slots=True)
class Rules:
    """What the configuration says of scores.

    Attributes:
        halflife: turns in which recency falls to half. never: classes and kinds that are never evicted.
        stub_tokens: what a stub may cost.
    """

    halflife: int = 40
    never: tuple[str, ...] = NEVER
    stub_tokens: int = 40
    weights: SetWeights = WORKING_SET


def weighed(entries: Iterable[Entry], known: Mapping[str, Now], turn: int, rules: Rules) -> list[Weighed]:
    """Entries with their scores; what nothing is known of counts as it was when it was served."""
    return [weigh(entry, known.get(entry.ref, Now(entry.freshness)), turn, rules) for entry in entries]


def weigh(entry: Entry, now: Now, turn: int, rules: Rules) -> Weighed:
    """An entry with its score parts and why it is kept."""
    age, weights = max(0, turn - entry.last), rules.weights
    parts = {
        "relevance": weights.relevance * _above(entry.relevance, weights.floor),
        "recency": weights.recency * _above(2.0 ** -(age / max(1, rules.halflife)), weights.floor),
        "use": weights.use * log2(2 + entry.hits),
        "freshness": weights.freshness * _above(weights.states[now.freshness], weights.floor),
    }
    score = sum(parts.values())
    why = kept(entry, now, age, rules.never, weights.recent)
    return Weighed(entry, score, 1_000 * score / max(1, entry.tokens), parts, why, now)


def _above(share: float, floor: float) -> float:
    return log2(max(share, floor) / floor)


def kept(entry: Entry, now: Now, age: int, never: Collection[str], recent: int) -> str:
    """Why an entry is never evicted; "" when its score decides."""
    if entry.pinned and PINNED in never:
        return PINNED
    if entry.kind == "task" and ACTIVE_TASK in never and now.active:
        return ACTIVE_TASK
    if entry.kind in never:
        return entry.kind
    return RECENT if age < recent else ""


def victims(rows: Sequence[Weighed], goal: int) -> list[Weighed]:
    """What has to go so that the rest costs at most ``goal`` tokens, first the lowest value; what is kept never goes.

    Ties: the longest unused, then the ref. What was chosen and turns out to fit beside the rest stays after all, so that no small
    thing goes because a large one went after it.
    """
    used = sum(row.entry.tokens for row in rows)
    order = sorted((row for row in rows if not row.kept), key=lambda row: (row.value, row.entry.last, row.entry.ref))
    chosen: list[Weighed] = []
    for row in order:
        if used <= goal:
            break
        chosen.append(row)
        used -= row.entry.tokens
    for row in reversed(chosen[:-1]):
        if used + row.entry.tokens <= goal:
            chosen.remove(row)
            used += row.entry.tokens
    return chosen


def staying_kinds(never: Collection[str]) -> tuple[str, ...]:
    """Kinds of things that are never evicted while nothing is known of what became of them; a task counts as active then."""
    return (*never, "task") if ACTIVE_TASK in never else tuple(never)


def room(rows: Sequence[Weighed], turn: int, budget: int, recent: int) -> int:
    """The budget without what cannot be evicted in the next turn."""
    ages = {row.entry.ref: turn + 1 - row.entry.last for row in rows}
    stays = sum(row.entry.tokens for row in rows if row.kept and (row.kept != RECENT or ages[row.entry.ref] < recent))
    return max(0, budget - stays)


def told(rows: Sequence[Weighed], over: int, what: str = "the budget") -> tuple[str, ...]:
    """Why a set is over its budget (or another mark), as sentences; nothing when it is not."""
    if over <= 0:
        return ()
    counts = Counter(row.kept for row in rows if row.kept)
    listed = ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))
    return (f"over {what} by {over} tokens: what is never evicted takes them ({listed})",)
