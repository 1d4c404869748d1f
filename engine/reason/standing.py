"""Standing: which nodes are believed, kept right after every single change.

Who calls: the mesh, through ``ops``; ``radius`` and ``minimal`` read it. What may not come in: graphs, records,
storage, clocks. Nothing here is stored: labels are a function of the structure alone.

    given    no ground: stands unless forced out or defeated
    derived  stands if some ground is met, and it is neither forced out nor defeated
    met      every premise of ``all_of`` stands and none of ``none_of`` does

The smallest set closed under these rules is meant, stratum by stratum: a loop of premises never holds itself up, and
a loop through a defeater is refused when it is written (``DefeatLoop``).

Changes are delete-and-rederive (Gupta, Mumick and Subrahmanian, "Maintaining views incrementally", SIGMOD 1993) with
the well-founded supports of Doyle's truth maintenance (1979): a standing node remembers one met ground as its witness
and a rank above that ground's premises, so losing any other ground costs nothing, and losing the witness costs nothing
while another met ground lies below the rank.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from mog.engine.errors import UsageError
from mog.engine.reason.groundwork import HIDDEN, NONE, OUT, STANDS, DefeatLoop, GroundView, Groundwork

__all__ = ["DefeatLoop", "GroundView", "Standing", "Watch"]

_SHOWN = bytes(flag & STANDS and not flag & HIDDEN for flag in range(256))


@dataclass(slots=True)
class Watch:
    """What was so when the watch began, for everything that was touched since. Keys of ``stood`` are slots.

    Attributes:
        stood: node: did it stand.
        out: node: was it forced out.
        wrote: ground: as it was written, None when there was none.
        foes: (node, defeater): how often it was recorded.
        known: node: was it there.
        removed: nodes that are gone; their slots are kept until the watch ends.
    """

    stood: dict[int, bool] = field(default_factory=dict)
    out: dict[int, bool] = field(default_factory=dict)
    wrote: dict[str, GroundView | None] = field(default_factory=dict)
    foes: dict[tuple[int, int], int] = field(default_factory=dict)
    known: dict[int, bool] = field(default_factory=dict)
    removed: dict[str, int] = field(default_factory=dict)

    def absorb(self, inner: Watch) -> None:
        """Take over what a later watch saw; the older word wins."""
        for mine, theirs in ((self.stood, inner.stood), (self.out, inner.out), (self.known, inner.known)):
            for n, was in theirs.items():
                mine.setdefault(n, was)
        for gid, ground in inner.wrote.items():
            self.wrote.setdefault(gid, ground)
        for pair, times in inner.foes.items():
            self.foes.setdefault(pair, times)
        self.removed |= inner.removed


class _Agenda:
    """Nodes to look at again, by stratum, lowest first. A node may be in both lists and more than once."""

    __slots__ = ("_heap", "_lists")

    def __init__(self) -> None:
        self._lists: dict[int, tuple[list[int], list[int]]] = {}
        self._heap: list[int] = []

    def at(self, level: int) -> tuple[list[int], list[int]]:
        """(may fall, may rise) of one stratum."""
        lists = self._lists.get(level)
        if lists is None:
            lists = self._lists[level] = ([], [])
            heapq.heappush(self._heap, level)
        return lists

    def __iter__(self) -> Iterator[tuple[int, list[int], list[int]]]:
        while self._heap:
            level = heapq.heappop(self._heap)
            yield level, *self._lists.pop(level)


class Standing(Groundwork):
    """Labels over a groundwork. Names are any text; every change leaves the labels right, and a refused one changes nothing.

    Each change has its inverse: ``add``/``remove``, ``ground``/``unground``, ``defeat``/``undefeat``, ``force_out``.
    """

    def __init__(self) -> None:
        super().__init__()
        self._watches: list[Watch] = []
        self._deferred = False

    # changes

    def add(self, node: str, *, hidden: bool = False) -> None:
        """A new node, given and standing. ``hidden`` ones are auxiliaries that no radius names. UsageError when known."""
        if node in self.slot:
            raise UsageError(f"{node!r} is in standing already", where=node, way_out="add a node once")
        watch = self._watches[-1] if self._watches else None
        kept = next((w.removed.pop(node) for w in reversed(self._watches) if node in w.removed), None)
        if kept is None:
            n = self.new_node(node)
        else:
            n = self.slot[node] = kept
        self.flags[n] = STANDS | (HIDDEN if hidden else 0)
        if watch is not None:
            watch.stood.setdefault(n, False)
            watch.known.setdefault(n, False)

    def remove(self, node: str) -> None:
        """Undo an ``add``. UsageError while anything is tied to the node."""
        n = self.find(node)
        if not self.bare(n):
            raise UsageError(f"something is still tied to {node!r}", where=node, way_out="take its grounds out first")
        if not self._watches:
            del self.slot[node]
            self.free_node(n)
            return
        watch = self._watches[-1]
        watch.stood.setdefault(n, bool(self.flags[n] & STANDS))
        watch.out.setdefault(n, bool(self.flags[n] & OUT))
        watch.known.setdefault(n, True)
        watch.removed[node] = n
        del self.slot[node]
        self.flags[n] &= HIDDEN

    def ground(self, gid: str, conclusion: str, all_of: Iterable[str], none_of: Iterable[str] = ()) -> None:
        """One more alternative for ``conclusion``. Premises count once each, whatever their order.

        Raises:
            UsageError: the name is taken.
            NotFound: a node is not there.
            DefeatLoop: the conclusion would bear on one of its own defeaters.
        """
        if gid in self.ground_slot:
            raise UsageError(f"ground {gid!r} is written already", where=conclusion, way_out="take it out first")
        head = self.find(conclusion)
        wanted, barred = self._slots(all_of), self._slots(none_of)
        self.admit(head, wanted, barred)
        if self._watches:
            self._watches[-1].wrote.setdefault(gid, None)
        self.link_ground(gid, head, wanted, barred)
        self._settle(head)

    def _slots(self, nodes: Iterable[str]) -> list[int]:
        nodes = tuple(nodes)
        try:
            return list(dict.fromkeys([self.slot[node] for node in nodes]))
        except KeyError:
            return [self.find(node) for node in nodes]

    def unground(self, gid: str) -> None:
        """Take an alternative out; without any left the conclusion is given again. NotFound when there is none."""
        g = self.find_ground(gid)
        head = self.head[g]
        if self._watches:
            self._watches[-1].wrote.setdefault(gid, self.written(g))
        self.unlink_ground(g)
        if self.own[head] == NONE or self.witness[head] == g:
            self.witness[head] = NONE
        self._settle(head)

    def defeat(self, node: str, by: str) -> None:
        """While ``by`` stands, ``node`` does not. Said twice, it must be taken back twice. Raises DefeatLoop, NotFound."""
        n, foe = self.find(node), self.find(by)
        self.admit(n, (), (foe,))
        self._note_foe(n, foe)
        self.link_foe(n, foe)
        self._settle(n)

    def undefeat(self, node: str, by: str) -> None:
        """Take one ``defeat`` back. UsageError when there is none."""
        n, foe = self.find(node), self.find(by)
        if foe not in self.foes.get(n, ()):
            raise UsageError(f"{by!r} does not defeat {node!r}", where=node, way_out="name a recorded defeater")
        self._note_foe(n, foe)
        self.unlink_foe(n, foe)
        self._settle(n)

    def force_out(self, node: str, out: bool) -> None:
        """Retire a node, or take that back; its grounds stay written."""
        n = self.find(node)
        if self._watches:
            self._watches[-1].out.setdefault(n, bool(self.flags[n] & OUT))
        self.flags[n] = self.flags[n] | OUT if out else self.flags[n] & ~OUT
        self._settle(n)

    # questions

    def __contains__(self, node: str) -> bool:
        return node in self.slot

    def stands(self, node: str) -> bool:
        """Whether the node is believed. NotFound when there is none."""
        return bool(self.flags[self.find(node)] & STANDS)

    def forced_out(self, node: str) -> bool:
        """Whether ``force_out`` holds it down."""
        return bool(self.flags[self.find(node)] & OUT)

    def grounds(self, node: str) -> list[GroundView]:
        """Every recorded ground, in order of its id; empty for a given node."""
        return sorted(map(self.written, self.grounds_of(self.find(node))), key=lambda ground: ground.id)

    def defeaters(self, node: str) -> list[str]:
        """Recorded defeaters, standing or not, in order."""
        return sorted(self.name[by] for by in self.foes.get(self.find(node), ()))

    def met(self, gid: str) -> bool:
        """Whether a ground is met. NotFound when there is none."""
        return not self.lack[self.find_ground(gid)]

    def unmet(self, node: str) -> bool:
        """Whether at least one recorded ground is not met."""
        n = self.find(node)
        return self.met_count[n] < self.ground_count[n]

    def shown(self) -> int:
        """How many nodes stand, auxiliaries apart."""
        return self.flags.translate(_SHOWN).count(1)

    def would_fall(self, out: Iterable[str]) -> frozenset[str]:
        """What would not stand any more if these were forced out, themselves included; the labels stay as they are."""
        wanted = [node for node in dict.fromkeys(out) if not self.forced_out(node)]
        self.begin()
        for node in wanted:
            self.force_out(node, True)
        fell = frozenset(node for node in self.changed() if not self.stands(node))
        for node in reversed(wanted):
            self.force_out(node, False)
        self.end()
        return fell

    # watching

    def begin(self) -> Watch:
        """Start to record what changes; watches nest, and each is ended by ``end``."""
        self._watches.append(Watch())
        return self._watches[-1]

    def changed(self) -> set[str]:
        """Names, auxiliaries apart, whose standing is another than when the innermost watch began.

        A node that is gone counts as not standing, and so does one that was not there yet.
        """
        if not self._watches:
            raise UsageError("nothing is being watched", way_out="call begin() first")
        stood, name, flags = self._watches[-1].stood, self.name, self.flags
        return {name[n] for n, was in stood.items() if not flags[n] & HIDDEN and was != bool(flags[n] & STANDS)}

    def end(self) -> Watch:
        """End the innermost watch; what it saw counts for the one around it."""
        watch = self._watches.pop()
        if self._watches:
            self._watches[-1].absorb(watch)
        else:
            for n in watch.removed.values():
                self.free_node(n)
        return watch

    def _note_foe(self, n: int, foe: int) -> None:
        if self._watches:
            self._watches[-1].foes.setdefault((n, foe), self.foes.get(n, {}).get(foe, 0))

    # labels

    @contextmanager
    def bulk(self) -> Iterator[None]:
        """Write much at once: structure and loops are checked at each write, labels are wrong until the end of the block."""
        if self._deferred:
            yield
            return
        self._deferred = True
        try:
            yield
        finally:
            self._deferred = False
            self.relabel()

    def relabel(self) -> None:
        """All labels anew, in time linear in the structure."""
        flags, positive, lack = self.flags, self.positive, self.lack
        before = bytes(flags)
        for n in self.slot.values():
            flags[n] &= ~STANDS
            self.met_count[n] = 0
        for g in self.ground_slot.values():
            lack[g] = positive[g]
            self.met_count[self.head[g]] += not lack[g]
        agenda, level = _Agenda(), self.level
        for n in self.slot.values():
            agenda.at(level[n])[1].append(n)
        watches, self._watches = self._watches, []
        self._work(agenda)
        self._watches = watches
        if watches:
            moved = (n for n in self.slot.values() if (flags[n] ^ before[n]) & STANDS)
            watches[-1].stood |= {n: bool(before[n] & STANDS) for n in moved if n not in watches[-1].stood}

    def _settle(self, n: int) -> None:
        """Bring all labels in order after something about one node changed."""
        if self._deferred:
            return
        agenda = _Agenda()
        agenda.at(self.level[n])[0 if self.flags[n] & STANDS else 1].append(n)
        self._work(agenda)

    def _work(self, agenda: _Agenda) -> None:
        met, own = self.met_count, self.own
        for level, doubts, hopes in agenda:
            lowered = self._sink(level, doubts, agenda)
            lifted = self._lift(level, [n for n in lowered if met[n] or own[n] == NONE] + hopes, agenda)
            fell, rose = lowered, lifted
            if lowered and lifted:
                fell, again = [n for n in lowered if not self.flags[n] & STANDS], set(lowered)
                rose = [n for n in lifted if n not in again]
            self._note_moves(fell, rose)
            if self.bars or self.foes:
                self._echo(fell, rose, agenda)

    def _note_moves(self, fell: list[int], rose: list[int]) -> None:
        if not self._watches:
            return
        stood = self._watches[-1].stood
        if stood:
            stood |= {n: was for moved, was in ((fell, True), (rose, False)) for n in moved if n not in stood}
        else:
            stood |= dict.fromkeys(fell, True) | dict.fromkeys(rose, False)

    def _sink(self, level: int, doubts: list[int], agenda: _Agenda) -> list[int]:
        """Lower every node of the stratum whose support is in doubt; what had its witness there is in doubt in turn."""
        flags, lack, head, witness, levels = self.flags, self.lack, self.head, self.witness, self.level
        met, own, ground, following = self.met_count, self.own, self.cell_ground, self.cell_next
        looked: dict[int, int] = {}
        lowered = []
        for n in doubts:
            if not flags[n] & STANDS or ((met[n] or own[n] == NONE) and self._holds(n, looked)):
                continue
            flags[n] &= ~STANDS
            lowered.append(n)
            cell = self.uses[n]
            while cell != NONE:
                g = ground[cell]
                lacking = lack[g]
                lack[g] = lacking + 1
                if not lacking:
                    after = head[g]
                    met[after] -= 1
                    if witness[after] == g:
                        (doubts if levels[after] == level else agenda.at(levels[after])[0]).append(after)
                cell = following[cell]
        return lowered

    def _holds(self, n: int, looked: dict[int, int]) -> bool:
        """Whether a standing node has a support that surely does not rest on itself; another witness is taken if need be.

        ``looked`` remembers how far the grounds of a node were searched: while a stratum sinks, none is met anew.
        """
        if self.flags[n] & OUT or (n in self.foes and self.defeated(n)):
            return False
        if self.own[n] == NONE:
            self.rank[n] = 0
            return True
        w = self.witness[n]
        if w != NONE and not self.lack[w] and self.below(w, n):
            return True
        g = looked.get(n, self.own[n])
        while g != NONE:
            if not self.lack[g] and self.below(g, n):
                self.witness[n], looked[n] = g, g
                return True
            g = self.own_next[g]
        looked[n] = NONE
        return False

    def below(self, g: int, n: int) -> bool:
        """Whether the premises of a met ground were supported before the node was, so that they cannot rest on it."""
        return self._height(g) <= self.rank[n]

    def _height(self, g: int) -> int:
        """One more than the highest rank among the premises."""
        rank, node, start = self.rank, self.cell_node, self.start[g]
        height = 0
        for cell in range(start, start + self.positive[g]):
            if rank[node[cell]] > height:
                height = rank[node[cell]]
        return height + 1

    def _lift(self, level: int, hopes: list[int], agenda: _Agenda) -> list[int]:
        """Raise every node of the stratum that has a met ground, and what gets one by that."""
        flags, lack, head, witness, levels = self.flags, self.lack, self.head, self.witness, self.level
        met, own, ground, following, foes = self.met_count, self.own, self.cell_ground, self.cell_next, self.foes
        rank, positive, start, premise = self.rank, self.positive, self.start, self.cell_node
        lifted = []
        for n in hopes:
            if flags[n] & (STANDS | OUT) or (not met[n] and own[n] != NONE) or (n in foes and self.defeated(n)):
                continue
            w = witness[n]
            if w != NONE and positive[w] == 1 and head[w] == n and not lack[w]:
                rank[n] = rank[premise[start[w]]] + 1
            else:
                self._support(n)
            flags[n] |= STANDS
            lifted.append(n)
            cell = self.uses[n]
            while cell != NONE:
                g = ground[cell]
                lack[g] = lacking = lack[g] - 1
                if not lacking:
                    after = head[g]
                    met[after] += 1
                    if not flags[after] & STANDS:
                        witness[after] = g
                        (hopes if levels[after] == level else agenda.at(levels[after])[1]).append(after)
                cell = following[cell]
        return lifted

    def _support(self, n: int) -> None:
        """Choose the witness of a node about to be raised: the ground met last, where that is known."""
        if self.own[n] == NONE:
            self.witness[n], self.rank[n] = NONE, 0
            return
        w, lack = self.witness[n], self.lack
        if w == NONE or lack[w] or self.head[w] != n:
            self.witness[n] = w = next(g for g in self.grounds_of(n) if not lack[g])
        self.rank[n] = self._height(w)

    def _echo(self, fell: list[int], rose: list[int], agenda: _Agenda) -> None:
        """Tell the strata above what does or does not stand in the way any more."""
        lack, met = self.lack, self.met_count
        for moved, step in ((fell, -1), (rose, 1)):
            for n in moved:
                for cell in self.cells_from(self.bars.get(n, NONE)):
                    g = self.cell_ground[cell]
                    was, lack[g] = lack[g], lack[g] + step
                    if not was or not lack[g]:
                        met[self.head[g]] -= step
                        self._revisit(self.head[g], agenda)
                for victim in self.victims.get(n, ()):
                    self._revisit(victim, agenda)

    def _revisit(self, n: int, agenda: _Agenda) -> None:
        agenda.at(self.level[n])[0 if self.flags[n] & STANDS else 1].append(n)
