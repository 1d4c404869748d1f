"""What a drill says in words: why a record falls or stands, what a repair saves, what is said of a choice.

Who calls: ``plain_drills``, ``plain_cards`` and the drill screen. What may not come in: roles, marks of one character set,
questions to the workspace. Text of the store is not cleaned here; whoever prints cleans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mog.app.plain import plural
from mog.app.plain_radius import LETTERS
from mog.engine.drills.records import Because

if TYPE_CHECKING:
    from mog.engine.drills.records import Choice, Counts, Drill, Named, Repair, Rerun, Support, Why
    from mog.engine.drills.repair import Suggestion

NAME = 60


def letter(found: Named) -> str:
    """``(D)`` for a decision."""
    return f"({LETTERS.get(found.type, found.type[:1].upper() or '?')})"


def short(text: str, width: int = NAME) -> str:
    """The beginning of a text."""
    return text if len(text) <= width else text[: width - 3].rstrip() + "..."


def name(found: Named, width: int = NAME) -> str:
    """Letter and the beginning of its words; the id where nothing else is known."""
    return f"{letter(found)} {short(found.text or found.id, width)}"


def ground(found: Support, width: int = NAME) -> str:
    """A ground in a sentence: its premises, what it holds unless, its note."""
    held = " and ".join(name(one, width) for one in found.all_of) or "no premise"
    unless = " or ".join(name(one, width) for one in found.none_of)
    note = f", noted {short(found.note, width)}" if found.note else ""
    return held + (f", unless {unless}" if unless else "") + note


def because(why: Why, width: int = NAME) -> str:
    """The reason of a row, in words."""
    by = name(why.by, width) if why.by else ""
    held = f"held by {ground(why.support, width)}" if why.support else "it needs no ground"
    words = {
        Because.only_ground: f"{by} was its only ground",
        Because.every_ground: f"{_all(why.grounds)} need {by}",
        Because.rests_on: f"rests on {by}",
        Because.defeated: f"contradicted by {by}, which comes to stand",
        Because.held_by: f"{held}, one of its {why.grounds} grounds",
        Because.through: f"held by {by}, which survives",
        Because.unmet: f"{held}; its ground through {by} did not hold before",
        Because.spared: f"{by} would contradict it, and does not come to stand",
        Because.given: "it needs no ground",
    }
    return words[why.because]


def _all(count: int) -> str:
    return "both grounds" if count == 2 else f"all {count} grounds"


def reasons(choice: Choice) -> str:
    """Why an assumption is worth a drill, in one line."""
    return "; ".join(one.text for one in choice.reasons)


def counted(drill: Drill) -> str:
    """How many of the dependants are asked about."""
    asked, every = len(drill.questions), drill.counts.dependants
    return f"{asked:,} of {plural(every, 'dependant')} asked about" if drill.sampled else plural(every, "dependant")


def tally(counts: Counts) -> str:
    """``4 fall, 1 weakens, 3 survive; 3 of 41 tasks to re-run``."""
    parts = [f"{counts.falls:,} {_verb('fall', counts.falls)}", f"{counts.weakens:,} {_verb('weaken', counts.weakens)}"]
    parts.append(f"{counts.survives:,} {_verb('survive', counts.survives)}")
    tasks = counts.tasks
    again = f"; {len(tasks.stale):,} of {plural(tasks.total, 'task')} to re-run" if tasks.total else ""
    return ", ".join(parts) + again


def _verb(verb: str, count: int) -> str:
    return verb + "s" * (count == 1)


def saved(found: Rerun) -> str:
    """What repairs change: ``9 falls become 3; 3 tasks to re-run become 1``."""
    before, after = found.before, found.after
    falls = f"{plural(before.falls, 'fall')} become{'s' * (before.falls == 1)} {after.falls:,}"
    if not before.tasks.total:
        return falls
    was, now = len(before.tasks.stale), len(after.tasks.stale)
    return f"{plural(was, 'task')} to re-run become{'s' * (was == 1)} {now:,}; {falls}"


def plain_repair(found: Suggestion) -> str:
    """The repair that saves most, in one line."""
    return f"give {name(found.rerun.node)} a second ground: {saved(found.rerun)}"


def made(repair: Repair, node: Named) -> str:
    """What a repair supposes."""
    words = {
        "ground": f"{name(node)} also rests on {plural(len(repair.rests_on), 'other record')}",
        "evidence": f"{name(node)} also rests on an observation: {short(repair.words)}",
        "supersede": f"{name(node)} is replaced by: {short(repair.words)}",
    }
    return words.get(repair.kind, repair.kind)
