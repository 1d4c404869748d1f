"""What would become of everything that rests on some beliefs, were they contradicted: who falls, weakens, or survives by what.

Who calls: ``engine/breaks.py``, for a preview that shows survivors too. What may not come in: writes, a second rule of what
falls (the radius says it, the same function as for an effect), text for people.

A dependant is whatever the grounds lead to from a target, however many steps away, whether it moves or not. It survives
when it stood before, stands after, and lost no ground; the ground that carries it then is named.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from mog.engine.reason import commands
from mog.engine.reason.compile import Compiled
from mog.engine.reason.groundwork import HIDDEN, NONE, STANDS
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.moves import Move
from mog.engine.reason.radius import Radius
from mog.engine.reason.records import GraphNode
from mog.engine.reason.standing import Standing
from mog.engine.reason.survival import reason

REACH = 200_000
"""Dependants that are followed; beyond it survivors are counted as at least so many, what falls stays exact."""


Premises = tuple[str, ...]
"""Ids of what a ground needs to stand; for what an auxiliary stands for, the node behind it."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """A dependant that is not touched: steps from the target, and what carries it (empty for one that needs nothing)."""

    id: str
    hop: int
    held: Premises


class Survivors(Sequence[Survivor]):
    """Survivors in order of hop, then id; kept as columns, made into rows when asked for."""

    __slots__ = ("_held", "_hops", "_ids")

    def __init__(self, rows: Sequence[tuple[int, str, Premises]] = ()) -> None:
        self._hops = array("i", (hop for hop, _, _ in rows))
        self._ids, self._held = [id for _, id, _ in rows], [held for _, _, held in rows]

    def __len__(self) -> int:
        return len(self._ids)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        return Survivor(self._ids[at], self._hops[at], self._held[at])

    def hops(self) -> Mapping[int, int]:
        """Hop → how many."""
        return Counter(self._hops)


@dataclass(frozen=True, slots=True)
class Weaker:
    """A dependant that loses a ground and stands: steps from the target, what still carries it, grounds left and recorded."""

    hop: int
    held: Premises
    left: int
    grounds: int


@dataclass(frozen=True, slots=True)
class Hop:
    """One step away from the targets: how many fall, weaken and survive there."""

    hop: int
    falls: int
    weakens: int
    survives: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """What breaking ``targets`` would do.

    Attributes:
        targets: ids of what is broken together. radius: what moves, as an effect would say it.
        weaker: of each node that weakens. survives: dependants that are not touched.
        grounds: how many grounds are recorded of each node that falls.
        unverified: dependants that would stand and rest on work that failed.
        fallen: targets that have fallen already: breaking them changes nothing.
        hops: counts by steps from the targets, from 1 on.
        capped: dependants were followed up to ``REACH``; there are more survivors than counted.
        nodes: id → record, of everything that is named here.
    """

    targets: tuple[str, ...]
    radius: Radius
    weaker: Mapping[str, Weaker]
    survives: Survivors
    grounds: Mapping[str, int]
    unverified: frozenset[str]
    fallen: tuple[str, ...]
    capped: bool
    nodes: Mapping[str, GraphNode]
    hops: tuple[Hop, ...] = ()

    @property
    def falls(self) -> Sequence[Move]:
        """Dependants that fall, nearest first; the targets themselves, hop 0, are none."""
        return self.radius.falls[len(self.radius.falls.at_hop(0)) :]

    @property
    def falling(self) -> int:
        """How many dependants fall."""
        return len(self.radius.falls) - len(self.radius.falls.at_hop(0))

    @property
    def dependants(self) -> int:
        """How many nodes rest on the targets and stand now."""
        return self.falling + len(self.weaker) + len(self.survives)



def outlook(mesh: Mesh, targets: Sequence[str], also: Callable[[], None] | None = None) -> Outlook:
    """Break ``targets`` together, look, and take it back. Records nothing.

    Args:
        also: called while they are broken, for what else depends on their standing.

    Raises:
        NotFound: no such record. And as ``Mesh.preview``.
    """
    seen: list[_Seen] = []

    def look(compiled: Compiled, radius: Radius) -> None:
        seen.append(_look(compiled, targets, radius))
        if also is not None:
            also()

    with mesh.locked():
        fallen = tuple(one for one in targets if not mesh.stands(one))
        nodes = MappingProxyType(mesh.tables.nodes)
        radius = mesh.preview(lambda writer: commands.contradict(writer, targets), look)
    (found,) = seen
    survives = Survivors(found.survives)
    return Outlook(
        tuple(targets), radius, found.weaker, survives, found.grounds, found.unverified, fallen, found.capped, nodes,
        _hops(radius, found.weaker, survives),
    )  # fmt: skip


def _hops(radius: Radius, weaker: Mapping[str, Weaker], survivors: Survivors) -> tuple[Hop, ...]:
    falls, survives = dict(radius.counts), survivors.hops()
    weakens = Counter(row.hop for row in weaker.values())
    far = sorted({*falls, *survives, *weakens} - {0})
    return tuple(Hop(hop, falls.get(hop, 0), weakens[hop], survives.get(hop, 0)) for hop in far)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What was read while the targets were broken."""

    weaker: Mapping[str, Weaker]
    survives: list[tuple[int, str, Premises]]
    grounds: Mapping[str, int]
    unverified: frozenset[str]
    capped: bool


def _look(compiled: Compiled, targets: Sequence[str], radius: Radius) -> _Seen:
    work = compiled.standing
    starts = [work.slot[one] for one in targets if one in work.slot]
    reached, capped = _reached(work, starts)
    weaker = {}
    for row in radius.weakens:
        n = work.slot[row.id]
        held = _premises(compiled, row.because)
        weaker[row.id] = Weaker(reached.get(n, 1), held, work.met_count[n], work.ground_count[n])
    moved = {*weaker, *radius.rises.ids(), *radius.added.ids()}
    kept = [n for n in reached if work.flags[n] & (STANDS | HIDDEN) == STANDS and work.name[n] not in moved]
    survives = sorted((reached[n], work.name[n], _premises(compiled, reason(work, n))) for n in kept)
    grounds = {id: work.ground_count[work.slot[id]] for id in radius.falls.ids()}
    failed = compiled.unverified()
    unverified = frozenset(name for n in reached if (name := work.name[n]) in failed) if failed else frozenset()
    return _Seen(weaker, survives, grounds, unverified, capped)


def _premises(compiled: Compiled, ground: str) -> Premises:
    """What a ground needs to stand, by the records it is about."""
    work = compiled.standing
    g = work.ground_slot.get(ground, NONE)
    if g == NONE:
        return ()
    return tuple(sorted(compiled.resolved(work.name[work.cell_node[cell]]) for cell in work.premises(g)))


def _reached(work: Standing, starts: Sequence[int]) -> tuple[dict[int, int], bool]:
    """Everything that grounds lead to from ``starts``, with its distance; auxiliaries are passed through unseen."""
    hops = dict.fromkeys(starts, 0)
    layer, hop = list(starts), 0
    while layer and len(hops) <= REACH:
        hop += 1
        layer = _next(work, layer, hops, hop)
    for n in starts:
        del hops[n]
    return hops, bool(layer)


def _next(work: Standing, layer: list[int], hops: dict[int, int], hop: int) -> list[int]:
    further: list[int] = []
    stack = list(layer)
    for here in stack:
        for after in _onward(work, here):
            if after not in hops:
                hops[after] = hop
                (stack if work.flags[after] & HIDDEN else further).append(after)
    return further


def _onward(work: Standing, n: int) -> Iterator[int]:
    """Nodes with a ground that names this one, as a premise or as what must not stand."""
    ground, head = work.cell_ground, work.head
    for first in (work.uses[n], work.bars.get(n, NONE)):
        for cell in work.cells_from(first):
            yield head[ground[cell]]
