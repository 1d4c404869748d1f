"""Lines between two columns of boxes: which links can be drawn without a reader mistaking one for another, and their cells.

Who calls: ``canvas.py``, once per gap between columns and page. What may not come in: boxes, texts, the toolkit.

A net is what is drawn connected: one port on one side, one or more on the other, so whoever follows it from one port to a
port of the other side has followed a link. Each row at the edge of a gap belongs to one net. A net that turns has a lane of its own;
two nets share a lane only where their rows do not meet. Where a line passes under another, the upright one is whole and
the level one has a hole of one cell: ``─│─``. ``┼`` is always a junction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

LEFT, RIGHT, UP, DOWN = 1, 2, 4, 8
GLYPHS = {
    LEFT | RIGHT: "─", UP | DOWN: "│", LEFT | UP: "┘", LEFT | DOWN: "┐", RIGHT | UP: "└", RIGHT | DOWN: "┌",
    LEFT | RIGHT | UP: "┴", LEFT | RIGHT | DOWN: "┬", LEFT | UP | DOWN: "┤", RIGHT | UP | DOWN: "├",
    LEFT | RIGHT | UP | DOWN: "┼",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Hop:
    """A link's way through one gap: the rows it comes from and goes to.

    Attributes:
        left, right: rows. bar: its line. role, strong: how it is drawn.
        head_left, head_right: it ends at that side in a box and points at it.
    """

    left: int
    right: int
    bar: str = "─"
    role: str = "rule"
    strong: bool = False
    head_left: bool = False
    head_right: bool = False


@dataclass(slots=True)
class _Net:
    """What is drawn connected. ``lane``: cell from the left, -1 for a straight line."""

    hops: list[Hop] = field(default_factory=list)
    lane: int = -1

    @property
    def lefts(self) -> set[int]:
        return {hop.left for hop in self.hops}

    @property
    def rights(self) -> set[int]:
        return {hop.right for hop in self.hops}

    @property
    def reach(self) -> tuple[int, int]:
        rows = self.lefts | self.rights
        return min(rows), max(rows)

    @property
    def straight(self) -> bool:
        first, last = self.reach
        return first == last


@dataclass(frozen=True, slots=True)
class Mark:
    """One cell of a gap."""

    glyph: str
    role: str
    strong: bool


class Gap:
    """The lines of one gap of ``width`` cells, at least 3: the first cell leaves, the last one arrives, lanes are between."""

    def __init__(self, width: int) -> None:
        self.width = width
        self._left: dict[int, _Net] = {}
        self._right: dict[int, _Net] = {}
        self._nets: list[_Net] = []

    def fits(self, hop: Hop) -> bool:
        """Whether ``add`` would take it."""
        return self._joined(hop) is not None

    def add(self, hop: Hop) -> bool:
        """Draw a hop as far as it stays unambiguous; False leaves everything as it was."""
        joined = self._joined(hop)
        if joined is None:
            return False
        net, hops, lane = joined
        net.hops, net.lane = hops, lane
        if net not in self._nets:
            self._nets.append(net)
        self._left[hop.left] = self._right[hop.right] = net
        return True

    def _joined(self, hop: Hop) -> tuple[_Net, list[Hop], int] | None:
        """The net a hop would be part of, its hops then, and its lane; ``None`` where it cannot be drawn."""
        one, other = self._left.get(hop.left), self._right.get(hop.right)
        net = one or other or _Net()
        if one is not None and other is not None and one is not other:
            return None
        if net.hops and not (net.lefts == {hop.left} or net.rights == {hop.right}):
            return None
        grown = _Net([*net.hops, hop])
        lane = self._lane(grown, net)
        return None if lane is None else (net, grown.hops, lane)

    def _lane(self, grown: _Net, net: _Net) -> int | None:
        """A free lane for a net as it would be, -1 where it needs none, ``None`` where there is none."""
        lefts, rights, (first, last) = grown.lefts, grown.rights, grown.reach
        low, high, taken = 1, self.width - 2, set()
        for other in self._nets:
            if other is net:
                continue
            if lefts & other.rights:
                # in that row ours comes from the left and the other arrives at the right: ours has to turn first
                high = min(high, other.lane - 1 if other.lane >= 0 else -1)
            if rights & other.lefts:
                low = max(low, other.lane + 1 if other.lane >= 0 else self.width)
            top, bottom = other.reach
            if other.lane >= 0 and top <= last and first <= bottom:
                taken.add(other.lane)
        if first == last:
            return -1 if low == 1 and high == self.width - 2 else None
        if low <= net.lane <= high and net.lane not in taken:
            return net.lane
        middle = (self.width - 1) // 2
        free = [lane for lane in range(low, high + 1) if lane not in taken]
        return min(free, key=lambda lane: (abs(lane - middle), lane)) if free else None

    # -- cells ---------------------------------------------------------------------------------------------------------

    def leaves(self, row: int) -> Hop | None:
        """A hop that leaves the box at the left in this row, the strongest of several."""
        return _first(hop for hop in self._hops(self._left.get(row)) if hop.left == row)

    def marks(self) -> dict[int, dict[int, Mark]]:
        """Row → cell from the left → what is drawn there. Strong lines are drawn over faint ones."""
        cells: dict[int, dict[int, Mark]] = {}
        nets = sorted(self._nets, key=lambda net: any(hop.strong for hop in net.hops))
        for net in nets:
            self._level(net, cells)
        for net in nets:
            self._upright(net, cells)
        return cells

    def _hops(self, net: _Net | None) -> Iterable[Hop]:
        return net.hops if net else ()

    def _level(self, net: _Net, cells: dict[int, dict[int, Mark]]) -> None:
        """The level parts: from each port to the lane, or all the way; heads at the ends."""
        for row in net.lefts:
            hops = [hop for hop in net.hops if hop.left == row]
            stop = self.width if net.lane < 0 else net.lane
            self._run(cells, row, range(stop), hops, "←" if self._points_left(net, hops) else "")
        for row in net.rights if net.lane >= 0 else ():
            self._run(cells, row, range(net.lane + 1, self.width), [hop for hop in net.hops if hop.right == row], "")
        for row in net.rights:
            glyph = self._right_head(net, [hop for hop in net.hops if hop.right == row])
            if glyph:
                line = cells[row]
                line[self.width - 1] = Mark(glyph, line[self.width - 1].role, line[self.width - 1].strong)

    def _points_left(self, net: _Net, hops: list[Hop]) -> bool:
        fans_out = len(net.rights) > 1
        return any(hop.head_left and (hop.head_right or not fans_out) for hop in hops)

    def _right_head(self, net: _Net, hops: list[Hop]) -> str:
        if any(hop.head_right for hop in hops):
            return "→"
        return "←" if len(net.rights) > 1 and any(hop.head_left for hop in hops) else ""

    def _run(self, cells: dict[int, dict[int, Mark]], row: int, places: range, hops: list[Hop], head: str) -> None:
        best = _first(hops)
        assert best is not None, "a port without a hop"
        bar = best.bar if len({hop.bar for hop in hops}) == 1 else "─"
        line = cells.setdefault(row, {})
        for x in places:
            line[x] = Mark(head if head and x == 0 else bar, best.role, best.strong)

    def _upright(self, net: _Net, cells: dict[int, dict[int, Mark]]) -> None:
        if net.lane < 0:
            return
        first, last = net.reach
        for row in range(first, last + 1):
            arms = (UP if row > first else 0) | (DOWN if row < last else 0)
            arms |= (LEFT if row in net.lefts else 0) | (RIGHT if row in net.rights else 0)
            best = _first(self._over(net, row))
            assert best is not None, "a lane nobody uses"
            cells.setdefault(row, {})[net.lane] = Mark(GLYPHS[arms], best.role, best.strong)

    def _over(self, net: _Net, row: int) -> list[Hop]:
        """The hops whose way leads over this row of the lane."""
        return [hop for hop in net.hops if min(hop.left, hop.right) <= row <= max(hop.left, hop.right)]


def _first(hops: Iterable[Hop]) -> Hop | None:
    return max(hops, key=lambda hop: (hop.strong, hop.role), default=None)
