"""Layers of a small directed graph: which column and which row each box has, and by which rows a link gets there.

Who calls: ``canvas.py`` draws pages of it; ``app/tui`` hands it boxes and links. Pure and deterministic: the same boxes and
links in any order give the same layout.
What may not come in: sizes of a screen, the toolkit, what a box means.

Cycles are broken at the links that lead back in a depth-first walk. Columns are longest paths; who leads on more than it is led
to moves up to what it leads to. The order within a column comes from median sweeps, rows from the placement in that order
nearest to the medians (pool adjacent violators). A link over several columns gets a row of its own in those between, shared by all
such links of one end; a column has room for few of them, and a link without one is counted, not drawn.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from mog.widgets.view import Cell

_SWEEPS = 3
_TRUNKS = 3
_PATH_WEIGHT = 1000
BARS = "─═·"
"""Lines by how sure a link is, surest first."""


@dataclass(frozen=True, slots=True)
class Box:
    """One node.

    Attributes:
        key: its identity; the cursor holds on to it.
        cells: how it is shown, in one row.
        layer: its column, where the caller knows it (hops, steps); ``None`` leaves all columns to the layout.
        order: wish for its place among the others of its column, smaller further up.
        mark: the gutter's mark. words, copy: as in ``view.Row``.
    """

    key: str
    cells: tuple[Cell, ...]
    layer: int | None = None
    order: int = 0
    mark: str = " "
    words: tuple[str, ...] = ()
    copy: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """One directed link between two boxes.

    Attributes:
        bar: the line it is drawn with, one of ``BARS``.
        path: always drawn, and strongly (a step of a walk).
        role: role of its line when it is drawn strongly.
    """

    tail: str
    head: str
    bar: str = "─"
    path: bool = False
    role: str = "key"


class Route(NamedTuple):
    """A link as it lies in the layout, from left to right.

    Attributes:
        link: what it is. slots: one place per column it touches, both ends included; () for a link that cannot be drawn.
        back: it leads from right to left. both: there is one each way.
    """

    link: Link
    left: int
    right: int
    slots: tuple[int, ...]
    back: bool = False
    both: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """Boxes by number, places (boxes first, then rows that links pass through), links as routes.

    Attributes:
        layer, row: of each place, both from 0.
        columns, rows: how large the whole is.
        loops: boxes that have a link to themselves.
    """

    boxes: tuple[Box, ...]
    layer: tuple[int, ...]
    row: tuple[int, ...]
    routes: tuple[Route, ...]
    columns: int
    rows: int
    loops: frozenset[str] = frozenset()

    def number(self, key: str) -> int | None:
        """Number of a box."""
        return next((i for i, box in enumerate(self.boxes) if box.key == key), None)


def arrange(boxes: Iterable[Box], links: Iterable[Link]) -> Layout:
    """The layout of a graph. Links with an unknown end are left out; of boxes with one key the first stays."""
    named = {box.key: box for box in reversed(list(boxes))}
    kept = sorted(named.values(), key=lambda box: (box.order, box.key))
    number = {box.key: i for i, box in enumerate(kept)}
    merged = _merged(links, number)
    pairs = sorted(pair for pair in merged if pair[0] != pair[1])
    fixed = any(box.layer is not None for box in kept)
    layer = [box.layer or 0 for box in kept] if fixed else _longest(len(kept), _acyclic(len(kept), pairs))
    dense = {one: i for i, one in enumerate(sorted(set(layer)))}
    layer = [dense[one] for one in layer]
    routes = _Trunks(layer, _oriented(pairs, merged, layer)).routes()
    places = _Places(layer, routes)
    rows = places.rows()
    loops = frozenset(kept[a].key for a, b in merged if a == b)
    return Layout(tuple(kept), tuple(places.layer), tuple(rows), tuple(routes), places.columns, places.height, loops)


def _merged(links: Iterable[Link], number: dict[str, int]) -> dict[tuple[int, int], Link]:
    """One link for each pair of ends: the surest of several, on a path if one of them is."""
    out: dict[tuple[int, int], Link] = {}
    for link in links:
        if link.tail in number and link.head in number:
            pair = (number[link.tail], number[link.head])
            rank = (not link.path, BARS.find(link.bar), link.bar, link.role)
            old = out.get(pair)
            if old is None or rank < (not old.path, BARS.find(old.bar), old.bar, old.role):
                out[pair] = link
    return out


# -- columns -----------------------------------------------------------------------------------------------------------


def _acyclic(count: int, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The links with those turned round that lead back to a node still on the way of a depth-first walk."""
    out: list[list[int]] = [[] for _ in range(count)]
    incoming = [0] * count
    for a, b in pairs:
        out[a].append(b)
        incoming[b] += 1
    state = bytearray(count)
    back: set[tuple[int, int]] = set()
    for root in sorted(range(count), key=lambda n: (incoming[n], n)):
        if not state[root]:
            _walk(root, out, state, back)
    return [(b, a) if (a, b) in back else (a, b) for a, b in pairs]


def _walk(root: int, out: Sequence[Sequence[int]], state: bytearray, back: set[tuple[int, int]]) -> None:
    state[root] = 1
    stack: list[tuple[int, Iterator[int]]] = [(root, iter(out[root]))]
    while stack:
        node, rest = stack[-1]
        for far in rest:
            if state[far] == 1:
                back.add((node, far))
            elif not state[far]:
                state[far] = 1
                stack.append((far, iter(out[far])))
                break
        else:
            state[node] = 2
            stack.pop()


def _longest(count: int, pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Longest path from a start; who leads on more than it is led to moves up to what it leads to."""
    out: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for a, b in set(pairs):
        out[a].append(b)
        waiting[b] += 1
    incoming = list(waiting)
    layer = [0] * count
    order = [n for n in range(count) if not waiting[n]]
    for node in order:
        for far in out[node]:
            layer[far] = max(layer[far], layer[node] + 1)
            waiting[far] -= 1
            if not waiting[far]:
                order.append(far)
    for node in reversed(order):
        if len(out[node]) > incoming[node]:
            layer[node] = min(layer[far] for far in out[node]) - 1
    return layer


# -- links over several columns ----------------------------------------------------------------------------------------


def _oriented(
    pairs: Sequence[tuple[int, int]], merged: dict[tuple[int, int], Link], layer: Sequence[int]
) -> list[Route]:
    """Links from left to right, one for each pair of boxes; those within a column have no way to be drawn."""
    out = []
    for a, b in pairs:
        back = layer[a] > layer[b]
        both = (b, a) in merged
        if both and (back or (layer[a] == layer[b] and a > b)):
            continue
        left, right = (b, a) if back else (a, b)
        other = merged.get((b, a))
        link = other if other is not None and other.path and not merged[a, b].path else merged[a, b]
        out.append(Route(link, left, right, (left, right) if layer[left] < layer[right] else (), back, both))
    return out


class _Trunks:
    """Rows that links over several columns pass through, one per column and bundle of links with an end in common."""

    def __init__(self, layer: list[int], routes: list[Route]) -> None:
        self.layer = layer
        self._routes = routes
        self._long = [r for r in routes if r.slots and layer[r.right] - layer[r.left] > 1]
        self._slots: dict[
            tuple[str, int], tuple[int, int]
        ] = {}  # bundle → its first column and place; the others follow

    def routes(self) -> list[Route]:
        """Every link with its places; new places are appended to ``layer``."""
        real = Counter(self.layer)
        used: Counter[int] = Counter()
        lost: set[tuple[str, int]] = set()
        for name, (first, last) in self._bundles():
            span = range(first, last + 1)
            if any(used[at] >= max(_TRUNKS, real[at] // 2) for at in span):
                lost.add(name)
                continue
            used.update(span)
            self._slots[name] = (first, len(self.layer))
            self.layer.extend(span)
        return [self._placed(route, lost) for route in self._routes]

    def _bundles(self) -> list[tuple[tuple[str, int], tuple[int, int]]]:
        """(bundle, first and last column between), those of most links first."""
        outs, ins = Counter(r.left for r in self._long), Counter(r.right for r in self._long)
        self._name = {
            (r.left, r.right): ("out", r.left) if outs[r.left] >= ins[r.right] else ("in", r.right) for r in self._long
        }
        spans: dict[tuple[str, int], tuple[int, int]] = {}
        sizes: Counter[tuple[str, int]] = Counter()
        for route in self._long:
            name = self._name[route.left, route.right]
            first, last = self.layer[route.left] + 1, self.layer[route.right] - 1
            old = spans.get(name, (first, last))
            spans[name] = (min(old[0], first), max(old[1], last))
            sizes[name] += 1 + 1000 * route.link.path
        return sorted(spans.items(), key=lambda item: (-sizes[item[0]], item[0]))

    def _placed(self, route: Route, lost: set[tuple[str, int]]) -> Route:
        name = self._name.get((route.left, route.right)) if route.slots else None
        if name is None:
            return route
        if name in lost:
            return route._replace(slots=())
        first, place = self._slots[name]
        start = place - first
        between = range(start + self.layer[route.left] + 1, start + self.layer[route.right])
        return route._replace(slots=(route.left, *between, route.right))


# -- rows --------------------------------------------------------------------------------------------------------------


class _Places:
    """Order within columns, then rows."""

    def __init__(self, layer: list[int], routes: Sequence[Route]) -> None:
        self.layer = layer
        self.columns = max(layer, default=-1) + 1
        self.columns_of: list[list[int]] = [[] for _ in range(self.columns)]
        for slot, at in enumerate(layer):
            self.columns_of[at].append(slot)
        self.height = max((len(column) for column in self.columns_of), default=0)
        pairs = {pair for route in routes for pair in pairwise(route.slots)}
        paths = {pair for route in routes if route.link.path for pair in pairwise(route.slots)}
        self.left: defaultdict[int, list[int]] = defaultdict(list)
        self.right: defaultdict[int, list[int]] = defaultdict(list)
        for a, b in sorted(pairs):
            self.right[a].append(b)
            self.left[b].append(a)
        # a path lies as straight as it can: where a place is on one, nothing else is its neighbour on that side
        for a, b in sorted(paths):
            self.right[a] = [far for near, far in paths if near == a]
            self.left[b] = [near for near, far in paths if far == b]
        self.weight = {slot: _PATH_WEIGHT for pair in paths for slot in pair}
        self.at = [0] * len(layer)

    def rows(self) -> list[int]:
        """Row of each place."""
        self._sweep()
        row = [0] * len(self.layer)
        for column in self.columns_of:
            for i, slot in enumerate(column):
                row[slot] = i
        for beside, columns in ((self.left, self.columns_of), (self.right, self.columns_of[::-1])) * 2:
            for column in columns:
                wishes = [_median([row[n] for n in beside[slot]], row[slot]) for slot in column]
                weights = [self.weight.get(slot, 1) for slot in column]
                for slot, at in zip(column, spread(wishes, self.height, weights), strict=True):
                    row[slot] = at
        return row

    def _sweep(self) -> None:
        self._number(self.columns_of)
        best, kept = self._crossings(), [list(column) for column in self.columns_of]
        for _ in range(_SWEEPS):
            if not best:
                break
            for beside, columns in ((self.left, self.columns_of[1:]), (self.right, self.columns_of[-2::-1])):
                for column in columns:
                    self._settle(column, beside)
            found = self._crossings()
            if found < best:
                best, kept = found, [list(column) for column in self.columns_of]
        self.columns_of = kept

    def _settle(self, column: list[int], beside: Mapping[int, list[int]]) -> None:
        """Order a column by the medians of what its places are linked with on one side."""
        at = self.at
        wish = {slot: _median([at[n] for n in beside[slot]], at[slot]) for slot in column}
        column.sort(key=wish.__getitem__)
        for i, slot in enumerate(column):
            at[slot] = i

    def _number(self, columns: Iterable[Sequence[int]]) -> None:
        for column in columns:
            for i, slot in enumerate(column):
                self.at[slot] = i

    def _crossings(self) -> int:
        total, at = 0, self.at
        for column in self.columns_of:
            seen: list[int] = []
            for slot in column:
                ends = sorted(at[far] for far in self.right[slot])
                total += sum(len(seen) - bisect_right(seen, end) for end in ends)
                for end in ends:
                    insort(seen, end)
        return total


def _median(values: list[int], otherwise: float) -> float:
    if len(values) < 2:
        return values[0] if values else otherwise
    values.sort()
    half = len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def spread(wishes: Sequence[float], room: int, weights: Sequence[float] = ()) -> list[int]:
    """Rows in ``range(room)`` for things in this order, each as near to its wish as the others allow (least squares, weighed).

    ``room`` is at least ``len(wishes)``; rows are distinct and ascend.
    """
    blocks: list[tuple[float, float, int]] = []
    for i, (wish, weight) in enumerate(zip(wishes, weights or [1] * len(wishes), strict=True)):
        total, mass, count = (wish - i) * weight, weight, 1
        while blocks and blocks[-1][0] * mass >= total * blocks[-1][1]:
            more, heavy, many = blocks.pop()
            total, mass, count = total + more, mass + heavy, count + many
        blocks.append((total, mass, count))
    most = room - len(wishes)
    starts = [min(max(int(total / mass + 0.5), 0), most) for total, mass, count in blocks for _ in range(count)]
    return [start + i for i, start in enumerate(starts)]
