"""What is so: the fall of a record on a copy, by the function that preview and effect use. Called by ``play`` and ``repair``.

What may not come in: a second idea of what falls, choosing questions, files. Reasons are read from the copy as it stands
before the fall, and from the radius of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mog.engine.drills import tasks
from mog.engine.drills.records import Because, Counts, Named, Outcome, Question, Support, Truth, Why
from mog.engine.reason import commands
from mog.engine.reason.overlay import Overlay
from mog.engine.reason.radius import Radius
from mog.engine.reason.reach import Reach, reach
from mog.engine.reason.records import GraphNode, Ground
from mog.engine.reason.writer import Writer

Change = Callable[[Writer], Any]
MOST_SUPPORTS = 12
_DETAILS = ("rationale",)


@dataclass(frozen=True, slots=True)
class Fallout:
    """What a fall does to everything it could touch. ``root`` itself is no dependant.

    Attributes:
        falls: id → hop. weakens: id → the ground that holds it, "" when it needs none any more.
    """

    root: str
    radius: Radius
    reached: Reach
    falls: Mapping[str, int]
    weakens: Mapping[str, str]
    counts: Counts

    def outcome(self, id: str) -> Outcome:
        """What becomes of a dependant."""
        if id in self.falls:
            return Outcome.falls
        return Outcome.weakens if id in self.weakens else Outcome.survives

    def hop(self, id: str) -> int:
        """How many steps from the root it is: of what falls as the radius counts them, else as it is reached."""
        hop = self.falls.get(id)
        return hop if hop is not None else self.reached.steps[id].hop

    def dependants(self) -> Iterable[str]:
        """Every dependant, nearest first."""
        return self.reached.steps


def fallout(copy: Overlay, root: str, repairs: Sequence[Change] = (), reached: Reach | None = None) -> Fallout:
    """What happens when ``root`` is contradicted, after ``repairs``. Raises NotFound, UsageError, OntologyError.

    ``reached``: what it could touch, where that is known already.
    """

    def change(w: Writer) -> None:
        for repair in repairs:
            repair(w)
        commands.contradict(w, (root,))

    with copy.locked():
        reached = reached or reach(copy.standing, root)
        radius = copy.preview(change)
        falls = {move.id: move.hop for move in radius.falls}
        again = tasks.stale(copy, falls)
        falls.pop(root, None)
        weakens = {row.id: row.because for row in radius.weakens}
        kept = sum(id not in falls and id not in weakens for id in reached.steps)
        counts = Counts(len(falls), len(weakens), kept, again)
    return Fallout(root, radius, reached, falls, weakens, counts)


# -- names and grounds


def named(copy: Overlay, id: str) -> Named:
    """A record by its id; only the id where there is none."""
    node = copy.graph.get(id)
    return Named(id) if node is None else Named(node.id, node.type, node.kind, node.label)


def support(copy: Overlay, ground: Ground) -> Support:
    """A ground with names in place of ids."""
    all_of, none_of = (tuple(named(copy, id) for id in ids) for ids in (ground.all_of, ground.none_of))
    return Support(ground.id, all_of, none_of, ground.note, copy.met(ground))


def question(copy: Overlay, id: str) -> Question:
    """A dependant as it is asked about."""
    node = copy.graph.node(id)
    grounds = sorted(copy.grounds(id), key=lambda one: one.id)[:MOST_SUPPORTS]
    return Question(named(copy, id), _detail(node), tuple(support(copy, one) for one in grounds))


def _detail(node: GraphNode) -> str:
    found = (node.attrs.get(name) for name in _DETAILS)
    return next((text for text in found if isinstance(text, str)), "")


# -- reasons


def truth(copy: Overlay, found: Fallout, id: str) -> Truth:
    """What becomes of a dependant, and why."""
    outcome = found.outcome(id)
    why = {Outcome.falls: _falls, Outcome.weakens: _weakens, Outcome.survives: _survives}[outcome](copy, found, id)
    return Truth(outcome, found.hop(id), why)


def _falls(copy: Overlay, found: Fallout, id: str) -> Why:
    chain = tuple(named(copy, step.id) for step in found.radius.chain(id))
    move = found.radius.falls.find(id)
    parent = move.parent if move else ""
    grounds = copy.grounds(id)
    if move is not None and not move.via:
        return Why(Because.defeated, named(copy, parent), grounds=len(grounds), chain=chain)
    if parent != found.root:
        return Why(Because.rests_on, named(copy, parent), grounds=len(grounds), chain=chain)
    because = Because.only_ground if len(grounds) == 1 else Because.every_ground
    return Why(because, named(copy, parent), grounds=len(grounds), chain=chain)


def _weakens(copy: Overlay, found: Fallout, id: str) -> Why:
    grounds = copy.grounds(id)
    kept = next((one for one in grounds if one.id == found.weakens[id]), None)
    if kept is None:
        return Why(Because.given, grounds=len(grounds))
    return Why(Because.held_by, support=support(copy, kept), grounds=len(grounds))


def _survives(copy: Overlay, found: Fallout, id: str) -> Why:
    step, grounds = found.reached.steps[id], sorted(copy.grounds(id), key=lambda one: one.id)
    by, count = named(copy, step.parent), len(grounds)
    if step.rising:
        return Why(Because.spared, by, grounds=count)
    if step.parent != found.root and step.parent not in found.falls:
        return Why(Because.through, by, grounds=count)
    kept = next((one for one in grounds if copy.met(one)), None)
    return (
        Why(Because.unmet, by, support(copy, kept), count)
        if kept is not None
        else Why(Because.given, by, grounds=count)
    )
