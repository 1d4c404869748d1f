"""Repairs that are supposed on the copy, and what would fall and run again with them. Called by ``play``.

What may not come in: recording anything, executing a task. A repair is a change of a writer; it is made, looked at and taken
back together with the fall, so what is reported is the difference to the store as it is.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mog.engine.drills.records import Repair, Rerun
from mog.engine.drills.truth import Change, Fallout, fallout, named
from mog.engine.errors import NotFound, UsageError
from mog.engine.reason.overlay import Overlay
from mog.engine.reason.writer import Writer

LISTED = 20
TRIED = 8
WORK = 20_000  # falls looked at by all tries together
KINDS = ("ground", "evidence", "supersede")
WORDS = "a second, independent observation"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """The one record that is best given a second ground, and what that saves; None where nothing falls."""

    repair: Repair
    rerun: Rerun


def change(copy: Overlay, root: str, repair: Repair) -> Change:
    """The change that a repair is. Raises UsageError: of no known kind, or lacking what it needs; NotFound."""
    if repair.kind not in KINDS:
        raise UsageError(f"no repair is called {repair.kind!r:.40}", way_out=f"one of {', '.join(KINDS)}")
    for id in (repair.node, *repair.rests_on):
        if id not in copy.graph:
            raise NotFound(f"no record {id!r:.80}", way_out="name one of the rows that were revealed")
    if repair.kind == "ground":
        return _ground(root, repair)
    if not repair.words.strip():
        raise UsageError(f"{repair.kind} needs words", where=repair.node, way_out="say what it says")
    return _evidence(repair) if repair.kind == "evidence" else _supersede(repair)


def _ground(root: str, repair: Repair) -> Change:
    if not repair.rests_on:
        raise UsageError(
            "a ground with no premise", where=repair.node, way_out="name what it rests on, or give evidence"
        )
    if root in repair.rests_on:
        raise UsageError("a ground that rests on what is supposed false", where=root, way_out="name another premise")
    return lambda w: w.ground(repair.node, repair.rests_on)


def _evidence(repair: Repair) -> Change:
    return lambda w: w.ground(repair.node, [w.evidence(repair.words)])


def _supersede(repair: Repair) -> Change:
    def made(w: Writer) -> None:
        old = w.mesh.graph.node(repair.node)
        if old.type != "assumption":
            raise UsageError(f"a {old.type} is not replaced by words", where=old.id, way_out="give it a second ground")
        moving = repair.rests_on or tuple({one.node for one in w.dependants(old.id)})
        w.supersede(old.id, w.assume(repair.words, kind=old.kind), move=moving)

    return made


def rerun(copy: Overlay, before: Fallout, repairs: Sequence[Repair]) -> Rerun:
    """The fall once more, with the repairs in place. Raises as ``change`` and ``fallout``."""
    after = fallout(copy, before.root, [change(copy, before.root, one) for one in repairs], before.reached)
    saved = heapq.nsmallest(LISTED, before.falls.keys() - after.falls.keys(), key=lambda id: (before.hop(id), id))
    node = named(copy, repairs[-1].node) if repairs else named(copy, before.root)
    return Rerun(tuple(repairs), node, before.counts, after.counts, tuple(named(copy, id) for id in saved))


def suggest(copy: Overlay, found: Fallout, already: Sequence[Repair] = ()) -> Suggestion | None:
    """Of the records that carry most of the fall, the one whose second ground saves most tasks, then most records."""
    tries = []
    for id in _carriers(found):
        repair = Repair("evidence", id, WORDS)
        tries.append(Suggestion(repair, rerun(copy, found, [*already, repair])))
    return min(tries, key=_worth, default=None)


def _worth(one: Suggestion) -> tuple[int, int, str]:
    return len(one.rerun.after.tasks.stale), one.rerun.after.falls, one.repair.node


def _carriers(found: Fallout) -> list[str]:
    """The fallen records through which most others fell, most first; fewer of them where each try is dear."""
    load: Counter[str] = Counter()
    for move in reversed(found.radius.falls):
        load[move.id] += 1
        load[move.parent] += load[move.id]
    tried = max(2, min(TRIED, WORK // max(1, len(found.falls))))
    return heapq.nsmallest(tried, found.falls, key=lambda id: (-load[id], found.hop(id), id))
