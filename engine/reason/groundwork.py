"""What rests on what: nodes, grounds and defeaters in flat arrays, and the strata that keep defeat free of loops.

Who calls: ``standing`` (which adds the labels), ``radius`` and ``minimal`` (which read the arrays). What may not come
in: labels, graphs, records, storage.

A node is a number, its slot; so is a ground. A ground owns a run of cells, one a premise: the first ``positive[g]``
must stand, the others must not. Every cell is also a link in a list through all cells with the same premise, so
whatever rests on a node is found without a search and a link is taken out in constant time. About 280 bytes a node
with one ground of four premises.

Strata follow Apt, Blair and Walker, "Towards a theory of declarative knowledge" (1988): a node lies at least as high
as what it rests on and higher than what defeats it. Levels exist if and only if no loop passes through a defeater.
"""

from __future__ import annotations

import heapq
from array import array
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mog.engine.errors import NotFound, UsageError

STANDS = 1
OUT = 2
HIDDEN = 4
NONE = -1


class DefeatLoop(UsageError):
    """A write that would make something defeat what it rests on.

    Attributes:
        loop: the nodes in order; each carries or defeats the next, and the last one the first.
        defeats: for each node of ``loop``, whether it defeats the next (else it carries it).
    """

    def __init__(self, loop: Sequence[str], defeats: Sequence[bool]) -> None:
        links = zip(loop, defeats, (*loop[1:], loop[0]), strict=True)
        steps = [f"{node} {'defeats' if hit else 'carries'} {after}" for node, hit, after in links]
        super().__init__(
            f"this closes a loop through a defeater: {', '.join(steps)}",
            where=loop[0],
            way_out="leave one of these links out, or let the defeater rest on something else",
        )
        self.loop = tuple(loop)
        self.defeats = tuple(defeats)


@dataclass(frozen=True, slots=True)
class GroundView:
    """One ground as written, and whether it is met now.

    Attributes:
        id, conclusion: names.
        all_of, none_of: names, sorted, each once.
        met: every one of ``all_of`` stands and none of ``none_of`` does.
    """

    id: str
    conclusion: str
    all_of: tuple[str, ...]
    none_of: tuple[str, ...]
    met: bool


class Groundwork:
    """The structure under the labels. Slots are reused; nothing outside this room keeps one."""

    def __init__(self) -> None:
        self.slot: dict[str, int] = {}
        self.name: list[str] = []
        self.flags = bytearray()
        self.level: list[int] = []
        self.rank = array("i")  # longer than the rank of every premise of the witness
        self.witness = array("i")  # the met ground by which a node stands; NONE for a given one
        self.met_count: list[int] = []
        self.ground_count: list[int] = []
        self.uses = array("i")  # first cell that wants the node standing
        self.bars: dict[int, int] = {}  # first cell that wants the node not standing
        self.own = array("i")  # first ground of the node
        self.foes: dict[int, dict[int, int]] = {}  # node: {defeater: times recorded}
        self.victims: dict[int, dict[int, int]] = {}  # the same, read the other way
        self.ground_slot: dict[str, int] = {}
        self.ground_name: list[str] = []
        self.head = array("i")
        self.lack: list[int] = []  # premises whose condition does not hold
        self.start = array("i")
        self.positive: list[int] = []
        self.size: list[int] = []
        self.own_next = array("i")
        self.own_back = array("i")
        self.cell_node = array("i")
        self.cell_ground = array("i")
        self.cell_next = array("i")
        self.cell_back = array("i")
        self._free_nodes: list[int] = []
        self._free_grounds: list[int] = []
        self._free_cells: dict[int, list[int]] = {}
        self._cells = 0

    # nodes

    def find(self, node: str) -> int:
        """The slot of a node; NotFound when there is none."""
        try:
            return self.slot[node]
        except KeyError:
            raise NotFound(f"no node {node!r} in standing", way_out="add the node before what rests on it") from None

    def find_ground(self, gid: str) -> int:
        """The slot of a ground; NotFound when there is none."""
        try:
            return self.ground_slot[gid]
        except KeyError:
            raise NotFound(f"no ground {gid!r}", way_out="`mog why` lists the grounds of a node") from None

    def new_node(self, node: str) -> int:
        """A free slot under this name, everything about it empty."""
        if self._free_nodes:
            n = self._free_nodes.pop()
            self.name[n] = node
        else:
            n = len(self.name)
            self.name.append(node)
            if n == len(self.flags):
                self._grow_nodes(64 + n // 8)
        self.slot[node] = n
        return n

    def _grow_nodes(self, more: int) -> None:
        """Room for more nodes at once: appending to each column for each node is what a load would mostly do."""
        self.flags.extend(bytes(more))
        for numbers in (self.level, self.met_count, self.ground_count):
            numbers.extend([0] * more)
        self.rank.extend([0] * more)
        for column in (self.witness, self.uses, self.own):
            column.extend([NONE] * more)

    def bare(self, n: int) -> bool:
        """Whether nothing is tied to the node."""
        return self.own[n] == self.uses[n] == NONE and not any(n in t for t in (self.bars, self.foes, self.victims))

    def free_node(self, n: int) -> None:
        """Give the slot back; its name must be gone from ``slot``."""
        self.name[n] = ""
        self.flags[n] = self.level[n] = self.rank[n] = 0
        self.witness[n] = NONE
        self._free_nodes.append(n)

    # grounds

    def premises(self, g: int) -> range:
        """The cells that must stand."""
        return range(self.start[g], self.start[g] + self.positive[g])

    def barriers(self, g: int) -> range:
        """The cells that must not stand."""
        return range(self.start[g] + self.positive[g], self.start[g] + self.size[g])

    def cells(self, g: int) -> range:
        """All cells, those that must stand first."""
        return range(self.start[g], self.start[g] + self.size[g])

    def grounds_of(self, n: int) -> Iterator[int]:
        """The grounds of a node, last written first."""
        g = self.own[n]
        while g != NONE:
            yield g
            g = self.own_next[g]

    def written(self, g: int) -> GroundView:
        """The ground as names."""
        node, name = self.cell_node, self.name
        return GroundView(
            self.ground_name[g],
            name[self.head[g]],
            tuple(sorted(name[node[c]] for c in self.premises(g))),
            tuple(sorted(name[node[c]] for c in self.barriers(g))),
            not self.lack[g],
        )

    def link_ground(self, gid: str, head: int, all_of: Sequence[int], none_of: Sequence[int]) -> int:
        """Write a ground into the arrays; ``lack`` is counted from the flags as they are."""
        g, size = self._new_ground(gid), len(all_of) + len(none_of)
        self.head[g], self.positive[g], self.size[g] = head, len(all_of), size
        self.start[g] = cell = self._new_cells(size)
        flags, uses, back = self.flags, self.uses, self.cell_back
        lack = 0
        for premise in all_of:
            first = uses[premise]
            self.cell_node[cell], self.cell_ground[cell], self.cell_next[cell], back[cell] = premise, g, first, NONE
            if first != NONE:
                back[first] = cell
            uses[premise] = cell
            if not flags[premise] & STANDS:
                lack += 1
            cell += 1
        for barred in none_of:
            self._link_bar(cell, g, barred)
            lack += flags[barred] & STANDS
            cell += 1
        self.lack[g] = lack
        self._own(g, head)
        return g

    def _link_bar(self, cell: int, g: int, barred: int) -> None:
        first = self.bars.get(barred, NONE)
        self.cell_node[cell], self.cell_ground[cell] = barred, g
        self.cell_next[cell], self.cell_back[cell] = first, NONE
        if first != NONE:
            self.cell_back[first] = cell
        self.bars[barred] = cell

    def _own(self, g: int, head: int) -> None:
        first = self.own[head]
        self.own_next[g], self.own_back[g] = first, NONE
        if first != NONE:
            self.own_back[first] = g
        self.own[head] = g
        self.ground_count[head] += 1
        self.met_count[head] += not self.lack[g]

    def unlink_ground(self, g: int) -> None:
        """Take a ground out of the arrays and free its slot."""
        for cell in self.premises(g):
            self._unlink_cell(cell, True)
        for cell in self.barriers(g):
            self._unlink_cell(cell, False)
        self._disown(g)
        self._free_cells.setdefault(self.size[g], []).append(self.start[g])
        del self.ground_slot[self.ground_name[g]]
        self.ground_name[g], self.head[g] = "", NONE
        self._free_grounds.append(g)

    def _disown(self, g: int) -> None:
        before, after, head = self.own_back[g], self.own_next[g], self.head[g]
        if before == NONE:
            self.own[head] = after
        else:
            self.own_next[before] = after
        if after != NONE:
            self.own_back[after] = before
        self.ground_count[head] -= 1
        self.met_count[head] -= not self.lack[g]

    def _new_ground(self, gid: str) -> int:
        if self._free_grounds:
            g = self._free_grounds.pop()
            self.ground_name[g] = gid
        else:
            g = len(self.ground_name)
            self.ground_name.append(gid)
            if g == len(self.head):
                self._grow_grounds(64 + g // 8)
        self.ground_slot[gid] = g
        return g

    def _grow_grounds(self, more: int) -> None:
        for numbers in (self.lack, self.positive, self.size):
            numbers.extend([0] * more)
        for column in (self.head, self.start, self.own_next, self.own_back):
            column.extend([NONE] * more)

    def _new_cells(self, size: int) -> int:
        holes = self._free_cells.get(size)
        if holes:
            return holes.pop()
        start = self._cells
        self._cells += size
        while self._cells > len(self.cell_node):
            more = [NONE] * (256 + start // 8)
            for column in (self.cell_node, self.cell_ground, self.cell_next, self.cell_back):
                column.extend(more)
        return start

    def _unlink_cell(self, cell: int, positive: bool) -> None:
        before, after = self.cell_back[cell], self.cell_next[cell]
        if after != NONE:
            self.cell_back[after] = before
        if before != NONE:
            self.cell_next[before] = after
        else:
            self._set_first(self.cell_node[cell], after, positive)

    def _set_first(self, premise: int, cell: int, positive: bool) -> None:
        if positive:
            self.uses[premise] = cell
        elif cell == NONE:
            del self.bars[premise]
        else:
            self.bars[premise] = cell

    # defeaters

    def link_foe(self, n: int, by: int) -> int:
        """Record a defeater once more; how often it is recorded now."""
        times = self.foes.setdefault(n, {}).get(by, 0) + 1
        self.foes[n][by] = self.victims.setdefault(by, {})[n] = times
        return times

    def unlink_foe(self, n: int, by: int) -> int:
        """Take one record of a defeater back; how many are left."""
        times = self.foes[n][by] - 1
        if times:
            self.foes[n][by] = self.victims[by][n] = times
            return times
        for table, key, other in ((self.foes, n, by), (self.victims, by, n)):
            del table[key][other]
            if not table[key]:
                del table[key]
        return 0

    def defeated(self, n: int) -> bool:
        """Whether a defeater of the node stands."""
        flags = self.flags
        return any(flags[by] & STANDS for by in self.foes.get(n, ()))

    # walking forward

    def cells_from(self, first: int) -> Iterator[int]:
        """Every cell of one list: the cells with the same premise and the same sign."""
        following = self.cell_next
        while first != NONE:
            yield first
            first = following[first]

    def onward(self, n: int) -> Iterator[tuple[int, int]]:
        """(node, 0) for each node that a ground carries from here, (node, 1) for each that this one can defeat."""
        ground, head = self.cell_ground, self.head
        for cell in self.cells_from(self.uses[n]):
            yield head[ground[cell]], 0
        for cell in self.cells_from(self.bars.get(n, NONE)):
            yield head[ground[cell]], 1
        for victim in self.victims.get(n, ()):
            yield victim, 1

    # strata

    def admit(self, head: int, carried_by: Sequence[int], barred_by: Sequence[int]) -> None:
        """Make room in the strata for new links into ``head``. Raises DefeatLoop and changes nothing when there is none.

        Most writes find the levels as they should be and search nothing.
        """
        level, height = self.level, self.level[head]
        if all(level[p] <= height for p in carried_by) and all(level[p] < height for p in barred_by):
            return
        links = [(p, 0) for p in carried_by] + [(p, 1) for p in barred_by]
        need = max(level[p] + gap for p, gap in links)
        raised = self._lifted(head, need)
        if any(raised.get(p, level[p]) + gap > need for p, gap in links):
            raise self._loop(head, links)
        for n, height in raised.items():
            level[n] = height

    def _lifted(self, head: int, need: int) -> dict[int, int]:
        """New levels when ``head`` goes up to ``need``: largest rise first, so that each node is settled once."""
        level = self.level
        settled: dict[int, int] = {}
        heap = [(level[head] - need, head)]
        while heap:
            fall, n = heapq.heappop(heap)
            if n in settled:
                continue
            settled[n] = level[n] - fall
            for after, gap in self.onward(n):
                rise = settled[n] + gap - level[after]
                if rise > 0 and after not in settled:
                    heapq.heappush(heap, (-rise, after))
        return settled

    def _loop(self, head: int, links: Sequence[tuple[int, int]]) -> DefeatLoop:
        """The shortest loop that the new links close through a defeater, of equally short ones the first by name."""
        closing = {(p, crossed): gap for p, gap in links for crossed in (0, 1) if gap or crossed}
        came: dict[tuple[int, int], tuple[int, int, int] | None] = {(head, 0): None}
        queue = deque([(head, 0)])
        while (here := queue.popleft()) not in closing:
            for after, gap in sorted(set(self.onward(here[0])), key=lambda step: (self.name[step[0]], step[1])):
                there = (after, here[1] | gap)
                if there not in came:
                    came[there] = (*here, gap)
                    queue.append(there)
        return self._named(came, here, closing[here])

    def _named(
        self, came: dict[tuple[int, int], tuple[int, int, int] | None], last: tuple[int, int], gap: int
    ) -> DefeatLoop:
        nodes, defeats = [last[0]], [bool(gap)]
        while (step := came[last]) is not None:
            last = step[:2]
            nodes.append(last[0])
            defeats.append(bool(step[2]))
        return DefeatLoop([self.name[n] for n in reversed(nodes)], defeats[::-1])
