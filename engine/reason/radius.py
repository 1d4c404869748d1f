"""The blast radius of a change: what falls, what weakens and survives because of what, what rises, with one line of why each.

Who calls: the mesh, for a preview while the change is applied and for the effect after it; both are this one function.
What may not come in: labels of other kinds than standing, graphs, records, storage.

Every moved node has one parent: of all nodes that moved it, the one fewest steps from where the change began, of
those the first by id. Chains are walked along the parents, never stored. Auxiliary nodes are passed through unseen.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from mog.engine.errors import NotFound
from mog.engine.reason.groundwork import HIDDEN, NONE, OUT, STANDS, GroundView
from mog.engine.reason.moves import Move, Moves, Weakening
from mog.engine.reason.standing import Standing, Watch
from mog.engine.reason.survival import reason

__all__ = ["Move", "Moves", "Radius", "Weakening", "radius"]


@dataclass(frozen=True, slots=True)
class Radius:
    """What a change does to standing. Compares by content, so a preview can be held against its effect.

    Attributes:
        roots: nodes at hop 0 that were there before, in order.
        falls, rises: in order of hop, then id; nodes that the change itself adds are not among the rises.
        weakens: in order of id.
        added: nodes that the change adds and that stand, in order.
        counts: (hop, number of falls) in order of hop.
        preserved_count: how many nodes stood before and stand after, the weakened ones included.
    """

    roots: tuple[str, ...]
    falls: Moves
    weakens: tuple[Weakening, ...]
    rises: Moves
    added: Moves
    preserved_count: int
    _standing: Standing = field(compare=False, repr=False)

    @property
    def counts(self) -> tuple[tuple[int, int], ...]:
        """(hop, number of falls) in order of hop."""
        return self.falls.hops()

    def find(self, node: str) -> Move | None:
        """The row of a node that fell, rose or is new."""
        return self.falls.find(node) or self.rises.find(node) or self.added.find(node)

    def chain(self, node: str) -> tuple[Move, ...]:
        """From where the change began to this node. NotFound when the node did not move."""
        move = self.find(node)
        if move is None:
            raise NotFound(f"{node!r} did not move", where=node, way_out="ask about a node that falls or rises")
        steps = [move]
        while move.hop and (parent := self.find(move.parent)) is not None:
            steps.append(move := parent)
        return tuple(reversed(steps))

    def preserved(self, after: str = "", limit: int = 100) -> tuple[str, ...]:
        """One page of what stood before and stands after: ids greater than ``after``, at most ``limit``, in order.

        Read from the standing as it is when asked, so it is exact until the next change (a rolled back preview is none).
        """
        work, moved = self._standing, {*self.falls.ids(), *self.rises.ids(), *self.added.ids()}
        return tuple(
            heapq.nsmallest(
                limit,
                (
                    name
                    for name, n in work.slot.items()
                    if work.flags[n] & (STANDS | HIDDEN) == STANDS and name > after and name not in moved
                ),
            )
        )


def radius(standing: Standing, watch: Watch) -> Radius:
    """What happened since ``watch`` began; call it before ``end``. Changes nothing.

    Time grows with what moved and what rests on it directly, not with the graph.
    """
    return _Tracer(standing, watch).trace()


class _Tracer:
    """One radius in the making; nodes and grounds are slots here."""

    def __init__(self, work: Standing, watch: Watch) -> None:
        self.work, self.watch = work, watch
        self.moved = {n: not was for n, was in watch.stood.items() if was != bool(work.flags[n] & STANDS)}
        self.parent: dict[int, int] = {}
        self.via: dict[int, str] = {}
        self.order: list[int] = []
        self.hops = array("i")
        self.lost: dict[int, str] = {}  # node that stands all the same: the first ground it lost
        self.rewritten: set[str] = set()
        self.edits: dict[int, list[tuple[str, GroundView | None, GroundView | None]]] = {}
        self._compare_grounds()

    def trace(self) -> Radius:
        """The finished radius."""
        layer, hop = self._start(), 0
        self._lost_by_edits()
        while layer:
            self.order += layer
            self.hops.extend([hop] * len(layer))
            layer, hop = self._step(layer), hop + 1
        falls, rises, added = self._rows()
        return Radius(
            roots=tuple(sorted(move.id for rows in (falls, rises) for move in rows.at_hop(0))),
            falls=falls,
            weakens=tuple(self._weakenings()),
            rises=rises,
            added=added,
            preserved_count=self.work.shown() - len(rises) - len(added),
            _standing=self.work,
        )

    # what the change itself wrote

    def _compare_grounds(self) -> None:
        work = self.work
        for gid, was in self.watch.wrote.items():
            now = work.written(work.ground_slot[gid]) if gid in work.ground_slot else None
            if _text(was) != _text(now):
                self.rewritten.add(gid)
                for view, edit in ((was, (gid, was, None)), (now, (gid, None, now))):
                    if view is not None:
                        self.edits.setdefault(self._slot(view.conclusion), []).append(edit)

    def _slot(self, name: str) -> int:
        at = self.work.slot.get(name)
        return self.watch.removed[name] if at is None else at

    def _stood(self, n: int) -> bool:
        return self.watch.stood.get(n, bool(self.work.flags[n] & STANDS))

    def _was_met(self, view: GroundView) -> bool:
        stood = self._stood
        return all(stood(self._slot(p)) for p in view.all_of) and not any(stood(self._slot(p)) for p in view.none_of)

    def _start(self) -> list[int]:
        """The moved nodes that need no other moved node to explain them, in order of id."""
        touched = {*self.watch.known, *self.watch.out, *self.watch.removed.values(), *self.edits}
        foes: dict[int, list[int]] = {}
        for n, by in self.watch.foes:
            foes.setdefault(n, []).append(by)
        roots = []
        for n in sorted((touched | foes.keys()) & self.moved.keys(), key=self.work.name.__getitem__):
            cause = self._direct(n, self.moved[n], foes.get(n, ()))
            if cause is not None:
                self.parent[n], self.via[n] = cause
                roots.append(n)
        return self._through_hidden(roots)

    def _direct(self, n: int, rose: bool, foes: Sequence[int]) -> tuple[int, str] | None:
        """(defeater or NONE, ground or "") when the change itself moved this node."""
        work, watch = self.work, self.watch
        retired = n in watch.out and watch.out[n] != bool(work.flags[n] & OUT)
        if retired or watch.known.get(n) is False or work.slot.get(work.name[n]) != n:
            return NONE, ""
        turned = [by for by in foes if self._turned(n, by, rose)]
        if turned:
            return min(turned, key=work.name.__getitem__), ""
        via = self._by_edit(n, rose)
        return None if via is None else (NONE, via)

    def _turned(self, n: int, by: int, rose: bool) -> bool:
        before, now = self.watch.foes[n, by], self.work.foes.get(n, {}).get(by, 0)
        if rose:
            return bool(before and not now and self._stood(by))
        return bool(now and not before and self.work.flags[by] & STANDS)

    def _by_edit(self, n: int, rose: bool) -> str | None:
        """The ground whose rewriting explains the move; None when none does."""
        edits = self.edits.get(n, ())
        if not edits:
            return None
        if rose:
            met = [gid for gid, _, now in edits if now is not None and now.met]
            return min(met) if met else None if self.work.ground_count[n] else ""
        lost = [gid for gid, was, _ in edits if was is not None and self._was_met(was)]
        if lost:
            return min(lost)
        fresh = [gid for gid, _, now in edits if now is not None]
        gone = len(edits) - len(fresh)
        return min(fresh) if self.work.ground_count[n] - len(fresh) + gone == 0 else None

    def _lost_by_edits(self) -> None:
        for n, edits in self.edits.items():
            if self.work.flags[n] & STANDS and self._stood(n):
                met = {gid for gid, _, now in edits if now is not None and now.met}
                before = {gid for gid, was, _ in edits if was is not None and self._was_met(was)}
                if len(before - met) > len(met - before):  # a ground rewritten, to rest on a successor, is none lost
                    self._lose(n, min(before - met))

    def _lose(self, n: int, gid: str) -> None:
        if n not in self.lost or gid < self.lost[n]:
            self.lost[n] = gid

    # step by step

    def _step(self, layer: list[int]) -> list[int]:
        """The nodes one hop further, in order of id."""
        further: list[int] = []
        uses, bars, victims = self.work.uses, self.work.bars, self.work.victims
        for parent in layer:
            if uses[parent] != NONE or parent in bars or parent in victims:
                self._spread(parent, further)
        further.sort(key=self.work.name.__getitem__)
        return further

    def _spread(self, parent: int, further: list[int]) -> None:
        """Everything that one node moved, auxiliaries passed through; what only lost a ground by it is noted on the way."""
        work, moved = self.work, self.moved
        stack = [parent]
        for here in stack:
            rose = moved[here]
            self._along(work.uses[here], rose, parent, further, stack)
            if here in work.bars:
                self._along(work.bars[here], not rose, parent, further, stack)
            for n in work.victims.get(here, ()):
                if moved.get(n) is (not rose) and n not in self.parent:
                    self.parent[n], self.via[n] = parent, ""
                    further.append(n)

    def _along(self, cell: int, gain: bool, parent: int, further: list[int], stack: list[int]) -> None:
        """Follow one list of cells whose condition came (``gain``) or went. The first parent is kept, of its grounds the
        first by id."""
        work, moved, parents, vias, rewritten = self.work, self.moved, self.parent, self.via, self.rewritten
        ground, head, size, name, following = work.cell_ground, work.head, work.size, work.ground_name, work.cell_next
        flags, lack = work.flags, work.lack
        while cell != NONE:
            g = ground[cell]
            cell, n, gid = following[cell], head[g], name[g]
            rose = moved.get(n)
            if rose is not gain:
                if not gain and rose is None and flags[n] & STANDS and gid not in rewritten and self._held(g):
                    self._lose(n, gid)
            elif (lack[g] if gain else size[g] > 1 and not self._held(g)) or gid in rewritten:
                continue
            elif n not in parents:
                parents[n], vias[n] = parent, gid
                (stack if flags[n] & HIDDEN else further).append(n)
            elif gid < vias[n] and parents[n] == parent:
                vias[n] = gid

    def _through_hidden(self, roots: list[int]) -> list[int]:
        """Roots in order of id, with what auxiliary roots move in their place."""
        shown: list[int] = []
        named = set(roots)
        for root in roots:
            if self.work.flags[root] & HIDDEN:
                self._spread(root, shown)
            else:
                shown.append(root)
        for n in shown:
            if n not in named:
                self.parent[n] = NONE
        return sorted(shown, key=self.work.name.__getitem__)

    def _held(self, g: int) -> bool:
        """Whether a ground, as it is written now, was met before the change."""
        node, work, stood = self.work.cell_node, self.work, self._stood
        return all(stood(node[c]) for c in work.premises(g)) and not any(stood(node[c]) for c in work.barriers(g))

    # the result

    def _rows(self) -> list[Moves]:
        """Falls, rises, and nodes that the change adds; each in order of hop and id."""
        known, moved = self.watch.known, self.moved
        if not any(moved.values()):
            return [self._moves(range(len(self.order))), Moves(), Moves()]
        kinds = [2 if known.get(n) is False else int(moved[n]) for n in self.order]
        return [self._moves([at for at, one in enumerate(kinds) if one == kind]) for kind in range(3)]

    def _moves(self, places: Sequence[int]) -> Moves:
        if not places:
            return Moves()
        nodes, name, parent = [self.order[at] for at in places], self.work.name, self.parent
        return Moves(
            [name[n] for n in nodes],
            [self.hops[at] for at in places],
            ["" if parent[n] == NONE else name[parent[n]] for n in nodes],
            [self.via[n] for n in nodes],
        )

    def _weakenings(self) -> Iterator[Weakening]:
        work = self.work
        for n in sorted(self.lost, key=work.name.__getitem__):
            if not work.flags[n] & HIDDEN:
                yield Weakening(work.name[n], self.lost[n], reason(work, n))


def _text(view: GroundView | None) -> tuple[str, tuple[str, ...], tuple[str, ...]] | None:
    return None if view is None else (view.conclusion, view.all_of, view.none_of)
