"""Which assumptions are worth a drill, riskiest first, each with its reasons in words. Called by ``room``.

What may not come in: what would fall (that is the question of a drill), clocks, chance, files. The weights below are a
judgement, not a measurement; they only order a list, and every part of a sum is shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mog.engine.drills.records import Choice, Choices, Named, Reason
from mog.engine.model import Freshness
from mog.engine.reason.drift import Drift
from mog.engine.reason.overlay import Overlay
from mog.engine.reason.reach import reach
from mog.engine.reason.records import GraphNode, Label

STEPS = 100_000
LEAST = 200
DEPENDANTS, SINGLE = 1.0, 1.0  # per doubling
DRIFTED, MOVED, CONTESTED, MISSED, KNOWN, NEW, AGE = 3.0, 0.5, 2.0, 3.0, -2.0, 0.5, 1.0
LEAST_RISK = 0.1  # of what is drawn by chance, however well it is known
_OFF = {
    Freshness.missing: (DRIFTED, "is gone"),
    Freshness.drifted: (DRIFTED, "has drifted"),
    Freshness.moved: (MOVED, "has moved"),
}


@dataclass(frozen=True, slots=True)
class Past:
    """What the history says of one assumption: how often it was drilled, and the share of answers missed."""

    played: int = 0
    missed: float | None = None


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of assumptions beside the graph.

    Attributes:
        drifts: anchors of each as the disk is now. past: drills of each.
        when: day an event was recorded (YYYY-MM-DD), "" where that is not known.
        problems: what is not known, and why.
    """

    drifts: Mapping[str, Sequence[Drift]] = field(default_factory=dict)
    past: Mapping[str, Past] = field(default_factory=dict)
    when: Callable[[int], str] = lambda _seq: ""
    problems: tuple[str, ...] = ()


def weigh(copy: Overlay, known: Known, most: int = 0) -> Choices:
    """Every assumption that stands and on which something rests; the first ``most`` of them, or all."""
    with copy.locked():
        nodes = [n for n in copy.graph.nodes("assumption") if copy.stands(n.id)]
        limit = max(LEAST, STEPS // max(1, len(nodes)))
        found = [weighed(copy, node, known, limit) for node in nodes]
        resting = sorted((c for c in found if c.dependants), key=lambda c: (-c.risk, c.node.id))
        shown = resting[:most] if most else resting
        items = tuple(_dated(copy, one, known) for one in shown)
        return Choices(items, len(resting), len(found) - len(resting), copy.head.seq, known.problems)


def weighed(copy: Overlay, node: GraphNode, known: Known, limit: int = 0) -> Choice:
    """One record with its risk; dependants are counted up to ``limit`` (0: all)."""
    reached = reach(copy.standing, node.id, limit)
    past = known.past.get(node.id, Past())
    count = len(reached.steps)
    reasons = [
        *_resting(count, reached.single, reached.capped), *_anchors(known.drifts.get(node.id, ())), *_contested(copy, node),
        *_age(copy, node), *_past(past),
    ]  # fmt: skip
    reasons.sort(key=lambda one: (-one.weight, one.kind, one.text))
    version = node.attrs.get("version", 1)
    return Choice(
        Named(node.id, node.type, node.kind, node.label), version if isinstance(version, int) else 1,
        tuple(one.anchor.locator for one in copy.anchors(node.id)), sum(one.weight for one in reasons), tuple(reasons),
        count, reached.single, reached.capped, past.played, past.missed,
    )  # fmt: skip


def plural(count: int, word: str) -> str:
    """``1 record``, ``2 records``."""
    return f"{count:,} {word}" + "s" * (count != 1)


def _resting(count: int, single: int, capped: bool) -> Iterable[Reason]:
    if count:
        least = "at least " if capped else ""
        rest = "rests" if count == 1 else "rest"
        yield Reason("dependants", DEPENDANTS * math.log2(1 + count), f"{least}{plural(count, 'record')} {rest} on it")
    if single:
        whose = "it stands" if count == 1 else "of them stands" if single == 1 else "of them stand"
        words = f"{whose} on one ground only" if count == 1 else f"{single:,} {whose} on one ground only"
        yield Reason("single", SINGLE * math.log2(1 + single), words)


def _anchors(drifts: Sequence[Drift]) -> Iterable[Reason]:
    off = sorted(
        (d for d in drifts if d.freshness in _OFF), key=lambda d: (-_OFF[d.freshness][0], d.anchor.anchor.locator)
    )
    for one in off[:1]:
        weight, word = _OFF[one.freshness]
        more = f", and {len(off) - 1:,} more" if len(off) > 1 else ""
        yield Reason("drift", weight, f"its anchor {one.anchor.anchor.locator} {word}{more}")


def _contested(copy: Overlay, node: GraphNode) -> Iterable[Reason]:
    if copy.label(node.id) is Label.contested:
        yield Reason("contested", CONTESTED, "something that stands contradicts it, and nobody has judged that")


def _age(copy: Overlay, node: GraphNode) -> Iterable[Reason]:
    """Age counts events, not days: it is the same on every machine, and a quiet year makes nothing older."""
    last = max([node.at, *(one.at for one in copy.judgements(node.id))])
    since, head = copy.head.seq - last, copy.head.seq
    if node.at and since and head:
        yield Reason("age", AGE * since / head, f"{plural(since, 'event')} since anything was said about it")


def _past(past: Past) -> Iterable[Reason]:
    if past.missed is None:
        yield Reason("new", NEW, "it was never drilled")
    elif past.missed:
        weight = MISSED * past.missed + KNOWN * (1 - past.missed)
        yield Reason("missed", weight, f"{past.missed:.0%} of the answers about it were wrong, late ones weighing more")
    else:
        yield Reason("known", KNOWN, f"every answer about it was right, in {plural(past.played, 'drill')}")


def _dated(copy: Overlay, choice: Choice, known: Known) -> Choice:
    """With the day in the words about its age; only for what is shown, because each day is a look into the ledger."""
    node = copy.graph.node(choice.node.id)
    day = known.when(node.at) if node.at else ""
    if not day:
        return choice
    reasons = tuple(
        Reason(one.kind, one.weight, f"{one.text}, recorded {day}") if one.kind == "age" else one
        for one in choice.reasons
    )
    return Choice(
        choice.node, choice.version, choice.about, choice.risk, reasons, choice.dependants, choice.single, choice.capped,
        choice.played, choice.missed,
    )  # fmt: skip
