"""A note as text that says what it is: data, by whom, how sure, how fresh. And notes as items of a pack.

Who calls: ``notes``, ``retrieval`` through ready items. What may not come in: the ledger, the disk, escapes of a terminal.
Every line of a note is quoted, so that none of them can pass for a line of the frame, or for one of another note.
"""

from __future__ import annotations

from collections.abc import Iterable

from mog.engine.memory.records import Changed, Held, Note, Since
from mog.engine.model import Freshness
from mog.engine.reason.records import Label
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Item, Zoom

LEAST = 48
"""A note that does not fit is cut where at least this many tokens are left, else left out."""
_CUT = "[cut: `recall` gives the whole]"


def fill(notes: Iterable[Note], budget: int) -> tuple[Item, ...]:
    """Items of notes in their order, together at most ``budget`` tokens; one that does not fit gives way to smaller ones."""
    found, left = [], budget
    for note in notes:
        text = framed(note)
        if estimator.tokens(text) > left:
            text = _cut(text, left)
        if text:
            found.append(item(note, text))
            left -= found[-1].tokens
    return tuple(found)


def item(note: Note, text: str = "") -> Item:
    """One note as an item; ``text`` in place of its framed text."""
    text = text or framed(note)
    warnings = tuple(told for told in (_standing(note), *map(changed, note.anchors)) if told)
    return Item(
        note.ref, note.kind, text, Zoom.L2, estimator.tokens(text), estimator.size(text), note.freshness, note.origin,
        score=note.score, parts=note.parts, pinned=note.pinned, provenance=provenance(note), warnings=warnings,
    )  # fmt: skip


def framed(note: Note) -> str:
    """The note under a line that says what it is, every line of its own text quoted."""
    told = [note.kind, f"said by {note.by}", *_labels(note), provenance(note)]
    lines = [f"[{note.ref} · {' · '.join(told)}]"]
    lines += [f"about {held.locator}: {changed(held) or held.freshness.value}" for held in note.anchors]
    return "\n".join([*map(_one_line, lines), *(f"> {line}" for line in note.text.splitlines())])


def _one_line(text: str) -> str:
    """A line of the frame: names and reasons in it are other people's, and may hold line breaks."""
    return " ".join(text.splitlines())


def provenance(note: Note) -> str:
    """Where it comes from: event, and commit where there was one."""
    return f"event {note.seq}" + (f" at {note.commit[:10]}" if note.commit else "")


def changed(held: Held) -> str:
    """What happened to the code under an anchor, and when; "" while it is as recorded."""
    states = {Freshness.drifted: "changed", Freshness.missing: "gone", Freshness.moved: f"now at {held.now_at}"}
    state = states.get(held.freshness)
    if state is None:
        return "" if held.freshness is Freshness.fresh else f"{held.freshness.value}: {held.reason}"
    when = since(held.changed) if held.changed else ""
    return f"{state} ({held.reason}){', ' + when if when else ''}"


def since(found: Changed) -> str:
    """When it changed, in words."""
    if found.since is Since.commit:
        again = ", and again in the working tree" if found.again else ""
        return f"since {found.commit[:10]} of {found.date}{again}"
    return {
        Since.working_tree: "in the working tree",
        Since.elsewhere: "this branch does not have it as it was",
        Since.unknown: "since when is not known",
    }[found.since]


def _labels(note: Note) -> list[str]:
    told = [f"{note.origin}'s word"]
    told += ["a proposal, not agreed to"] if note.proposed else []
    told += [_standing(note)] if _standing(note) else []
    told += ["pinned"] if note.pinned else []
    return told


def _standing(note: Note) -> str:
    if note.gone:
        return f"{note.gone}: {note.why}" if note.why else note.gone
    if note.standing is Label.contested:
        return f"contested by {', '.join(f'note:{id[:12]}' for id in note.contradicted_by[:4])}"
    return "" if note.standing is Label.standing else note.standing.value


def _cut(text: str, room: int) -> str:
    left = room - estimator.tokens("\n" + _CUT) - 1
    return f"{estimator.cut(text, left).rstrip()}\n{_CUT}" if left >= LEAST else ""
