"""What a fall could touch: everything that rests on a record, by as many steps as it takes. Called by the drills.

What may not come in: whether it does fall (``radius`` says that), graphs, records, text. A step follows what can really happen: a
fall can only fell what stands, and only let stand again what has fallen; so what hangs on ground that was dead before is
no dependant.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mog.engine.reason.groundwork import HIDDEN, NONE, STANDS
from mog.engine.reason.standing import Standing


@dataclass(frozen=True, slots=True)
class Step:
    """How a dependant is reached: in how many steps, and from which node; ``rising``: only if that one comes to stand."""

    hop: int
    parent: str
    rising: bool


@dataclass(frozen=True, slots=True)
class Reach:
    """Dependants by id, nearest first. ``capped``: the search stopped at its limit."""

    steps: dict[str, Step]
    single: int
    capped: bool


def reach(work: Standing, root: str, limit: int = 0) -> Reach:
    """What stands now and a fall of ``root`` could touch, auxiliaries passed through. Changes nothing.

    Args:
        limit: stop after so many dependants; 0 for no limit.
    """
    start = work.find(root)
    steps: dict[str, Step] = {}
    seen = {(start, True)}
    layer, hop, single, capped = [(start, True)], 0, 0, False
    while layer and not capped:
        hop += 1
        further: list[tuple[int, bool]] = []
        for n, falls in layer:
            for m, down in _from(work, n, falls, seen):
                further.append((m, down))
                if down:
                    steps[work.name[m]] = Step(hop, work.name[n], not falls)
                    single += work.met_count[m] == 1
            if capped := bool(limit) and len(steps) >= limit:
                break
        layer = sorted(further, key=lambda one: (work.name[one[0]], one[1]))
    return Reach(steps, single, capped)


def _from(work: Standing, n: int, falls: bool, seen: set[tuple[int, bool]]) -> Iterator[tuple[int, bool]]:
    """(node, whether it may fall) of what one move could move next, each once in a search."""
    stack = [(n, falls)]
    for here, down in stack:
        for m, then in _onward(work, here, down):
            if (m, then) not in seen:
                seen.add((m, then))
                if work.flags[m] & HIDDEN:
                    stack.append((m, then))
                else:
                    yield m, then


def _onward(work: Standing, n: int, falls: bool) -> Iterator[tuple[int, bool]]:
    """What rests on a node moves as it does, what it bars or defeats the other way; only what is not there already."""
    flags, ground, head = work.flags, work.cell_ground, work.head
    for cell in work.cells_from(work.uses[n]):
        m = head[ground[cell]]
        if bool(flags[m] & STANDS) is falls:
            yield m, falls
    others = [head[ground[cell]] for cell in work.cells_from(work.bars.get(n, NONE))]
    for m in (*others, *work.victims.get(n, ())):
        if bool(flags[m] & STANDS) is not falls:
            yield m, not falls
