"""Drills as lines a person reads: what there is to drill, a drill as it is played, what came out, history and weak spots.

Who calls: ``app/cli/drill.py`` and the drill screen's text twin. What may not come in: escape sequences, widths of a terminal,
questions to the workspace. Lines are cleaned by whoever prints.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mog.app.plain import UNICODE, Glyphs, Line, plural
from mog.app.plain_drill_words import (
    because,
    counted,
    ground,
    letter,
    made,
    name,
    plain_repair,
    reasons,
    saved,
    short,
    tally,
)
from mog.app.plain_radius import shorten
from mog.engine.drills.records import Outcome

if TYPE_CHECKING:
    from mog.engine.drills.records import (
        Choices,
        Drill,
        History,
        Named,
        Question,
        Recall,
        Rerun,
        Revealed,
        Row,
        Weak,
        WeakSpots,
    )
    from mog.engine.drills.repair import Suggestion

WIDE = 46
MARKS = {Outcome.falls: "×", Outcome.weakens: "▼", Outcome.survives: "●"}
ASCII_MARKS = {Outcome.falls: "x", Outcome.weakens: "-", Outcome.survives: "*"}
RULES = "All of one answer scores 33 where all three occur; a blank is wrong; looking at grounds costs half a point."
VERBS = {Outcome.falls: "fall", Outcome.weakens: "weaken", Outcome.survives: "survive"}


def marks(glyphs: Glyphs) -> dict[Outcome, str]:
    """The marks of outcomes in a character set."""
    return MARKS if glyphs is UNICODE else ASCII_MARKS


def choices(found: Choices, glyphs: Glyphs) -> Iterator[Line]:
    """What there is to drill, riskiest first, with the reasons."""
    for one in found.items:
        yield (f"{letter(one.node)} ", "chip"), (one.node.text, "name"), (f"  {shorten(one.node.id)}", "muted")
        yield ((f"      {reasons(one)}", "muted"),)
    if left := found.total - len(found.items):
        yield ((f"{left:,} more: --limit", "attn"),)
    if not found.items:
        yield (("nothing to drill: no assumption that stands has anything resting on it", "muted"),)
    if found.idle:
        yield ((f"left out: {plural(found.idle, 'assumption')} on which nothing rests", "muted"),)
    for problem in found.problems:
        yield ((problem, "attn"),)


def asked(drill: Drill, glyphs: Glyphs, place: str = "") -> Iterator[Line]:
    """A drill before it is played."""
    yield ((f"DRILL {place}".rstrip() + "  a copy; the store is not touched", "muted"),)
    yield (("Suppose this turns out false:", ""),)
    about = f"  about {', '.join(drill.choice.about[:2])}" if drill.choice.about else ""
    version = f"  v{drill.choice.version}" if drill.node.type == "assumption" else ""
    head = (f"{glyphs.focus} {letter(drill.node)} ", "chip"), (drill.node.text, "name")
    yield *head, (f"{version}{about}, {counted(drill)}", "muted")
    yield ((f"  {reasons(drill.choice)}", "muted"),)
    yield (("What happens to each: does it fall, weaken or survive?", ""),)


def question(at: int, drill: Drill, one: Question) -> Iterator[Line]:
    """One question."""
    yield (f"{at + 1}/{len(drill.questions)} ", "muted"), (f"{letter(one.node)} ", "chip"), (one.node.text, "name")
    if one.detail:
        yield ((f"    {one.detail}", "muted"),)


def grounds(one: Question) -> Iterator[Line]:
    """What a peek shows."""
    if not one.supports:
        yield (("    it has no ground and needs none", ""),)
    for support in one.supports:
        met = "" if support.met else "does not hold now: "
        yield ((f"    {met}{ground(support)}", ""),)


def revealed(done: Revealed, glyphs: Glyphs, suggestion: Suggestion | None = None, unkept: str = "") -> Iterator[Line]:
    """What is so, row by row; the wrong ones first."""
    parts = [f"{o} {_points(one)}" for o, one in done.score.recalls.items() if one.asked]
    yield (
        (f"score {done.score.rounded}", "name"),
        ("   " + "  ".join(parts), ""),
        (f"   {counted(done.drill)}", "muted"),
    )
    for row in sorted(done.rows, key=lambda one: one.right):
        yield from _row(row, glyphs)
    yield ((f"of all: {tally(done.drill.counts)}", "muted"),)
    if suggestion is not None:
        yield ("repair: ", "attn"), (plain_repair(suggestion), "")
    if unkept:
        yield ((f"not kept in the history: {unkept}", "attn"),)


def _row(row: Row, glyphs: Glyphs) -> Iterator[Line]:
    truth, mark = row.truth, marks(glyphs)[row.truth.outcome]
    peeked = " (peeked)" if row.peeked else ""
    said = (f"you said {row.said}" if row.said else "left blank") + peeked
    note = "right" + peeked if row.right else said
    yield (
        (f"{mark} ", "state"), (f"{letter(row.question.node)} ", "chip"), (short(row.question.node.text, WIDE), "name"),
        (f"  {truth.outcome}", "state"), (f"  {note}", "muted" if row.right else "attn"),
    )  # fmt: skip
    yield ((f"      hop {truth.hop}: {because(truth.why)}", "muted"),)


def _points(found: Recall) -> str:
    return f"{found.right:g}/{found.asked}"


def rerun(found: Rerun, nodes: dict[str, Named]) -> Iterator[Line]:
    """What repairs change."""
    for one in found.repairs:
        yield (("suppose ", "muted"), (made(one, nodes.get(one.node, found.node)), ""))
    yield ((saved(found), "name"),)
    for kept in found.saved:
        yield ("  kept ", "muted"), (name(kept), "")


def history(found: History, limit: int) -> Iterator[Line]:
    """Drills that were played, newest first."""
    for one in list(reversed(found.played))[:limit]:
        right = sum(row.right for row in one.rows)
        yield (
            (f"{one.at[:16].replace('T', ' ')}  ", "muted"), (f"{one.score:3.0f}  ", "name"), (short(one.text), ""),
            (f"  {right} of {len(one.rows)} right", "muted"),
        )  # fmt: skip
    if found.mean is None:
        yield (("no drill was played yet: `mog drill play`", "muted"),)
    else:
        more = f", {len(found.played) - limit:,} older not shown: --limit" if len(found.played) > limit else ""
        yield ((f"{plural(len(found.played), 'drill')}, mean score {found.mean:.0f}{more}", "muted"),)
    if found.unreadable:
        yield ((f"{plural(found.unreadable, 'line')} cannot be read; they stay in the file as they are", "attn"),)


def weak(found: WeakSpots) -> Iterator[Line]:
    """Records that are misjudged, and habits."""
    for one in found.items:
        yield from _weak(one)
    if left := found.total - len(found.items):
        yield ((f"{left:,} more: --limit", "attn"),)
    if not found.items:
        yield (("no weak spot is known", "muted"),)
    for habit in found.habits[:3]:
        said = f"said to {VERBS[habit.said]}" if habit.said else "left blank"
        yield ((f"habit: {said}, {habit.count:,} of {habit.asked:,} that {VERBS[habit.truth]}", "muted"),)
    if found.far.asked:
        yield ((f"one step away {_share(found.near)} right, further away {_share(found.far)}", "muted"),)


def _weak(one: Weak) -> Iterator[Line]:
    said = f"you said it {one.said}" if one.said else "you left it blank"
    gone = "  it does not stand any more" if one.gone else ""
    yield (f"{letter(one.node)} ", "chip"), (short(one.node.text), "name"), (f"  {one.truth}, {said}{gone}", "state")
    told = f"missed {one.missed:,} of {one.asked:,}, when this fell: "
    yield ((f"      {told}{name(one.assumption)}", "muted"),)


def _share(found: Recall) -> str:
    return f"{found.right:g} of {found.asked:,}"
