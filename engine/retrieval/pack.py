"""Packs: found things turned into a bounded answer. Signatures first, bodies of the best where they fit.

Who calls: ``context``. What may not come in: how things are found or rendered. The promise, whatever comes in: what is printed of
the items costs at most ``budget`` by ``estimator``, in sum and as one text, as it leaves a surface (unsafe characters escaped);
every found thing is an item or counted in ``omitted``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

from mog.engine.model import Boundary, Freshness, IndexStamp, Node, Tier
from mog.engine.retrieval import estimator
from mog.engine.retrieval.cuts import CLASSES
from mog.engine.retrieval.model import Found, Item, Pack, Rendered, Zoom
from mog.engine.retrieval.weights import PACK, PackWeights

Render = Callable[[Node, Zoom], Rendered]
#: UTF-8 bytes that the text of a node has at a zoom at least; 0 where that is not known without rendering it.
Least = Callable[[Node, Zoom], int]
MIN_BUDGET, MAX_BUDGET = 64, 100_000
#: Score of what was pinned: it comes before all that was found.
PINNED = float("inf")
_ODD = re.compile("[^\n\t -~]")
# what a surface spells out although it counts as printable (app/present.clean, which a test holds this against)
_DRAWN_AS_NOTHING = frozenset("\u115f\u1160\u2800\u3164\uffa0\u034f") | {
    chr(code) for code in (*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0))
}


def printed(item: Item) -> str:
    """An item as every surface prints it: a line that says what it is, its text, its warnings. This is what is paid for."""
    return _printed(
        item.id, item.kind, item.zoom, item.freshness, item.tier, item.label, item.pinned, item.warnings, item.text
    )  # fmt: skip


def _printed(
    id: str, kind: str, zoom: Zoom, freshness: Freshness, tier: Tier, label: str, pinned: bool, warnings: Sequence[str], text: str
) -> str:  # fmt: skip
    marks = [kind, zoom.name, freshness.value]
    marks += [tier.name] if tier is not Tier.certain else []
    marks += [label] if label != "repo" else []
    marks += ["pinned"] if pinned else []
    head = f"{id} [{', '.join(marks)}]"
    lines = [*map(_one_line, (head, *(f"! {warning}" for warning in warnings))), text.rstrip("\n")]
    return "\n".join(line for line in lines if line) + "\n"


def _one_line(text: str) -> str:
    """A name cannot begin a line of its own, whatever characters it has."""
    return text.replace("\n", "\\n").replace("\t", "\\t")


def cost(text: str) -> int:
    """UTF-8 bytes of a text as a surface prints it: control, bidirectional and invisible characters as visible escapes."""
    size = estimator.size(text)
    return size if text.isascii() and text.isprintable() else size + sum(map(_spelled, _ODD.findall(text)))


@cache
def _spelled(char: str) -> int:
    """Bytes that an unsafe character takes more as an escape (``\\x1b``, ``\\u202e``, ``\\U000e0001``); an upper bound."""
    code = ord(char)
    if char.isprintable() and char not in _DRAWN_AS_NOTHING:
        return 0
    spelled = 4 if code < 0x80 or 0xDC80 <= code <= 0xDCFF else 6 if code <= 0xFFFF else 10
    return max(0, spelled - estimator.size(char))


def make_item(found: Found, rendered: Rendered) -> Item:
    """One found thing with its text, and what that costs."""
    node = found.node
    tier = max((hop.tier for hop in found.path), default=Tier.certain)
    id, pinned = node.locator, found.score == PINNED
    size = cost(_printed(id, node.kind, rendered.zoom, rendered.freshness, tier, "repo", pinned, rendered.warnings, rendered.text))
    return Item(
        id, node.kind, rendered.text, rendered.zoom, estimator.of_bytes(size), size, rendered.freshness, tier=tier, score=found.score,
        parts=found.parts, path=found.path, node=node, provenance=_provenance(found), warnings=rendered.warnings, pinned=pinned,
    )  # fmt: skip


def costed(item: Item) -> Item:
    """The item with its cost by what is printed."""
    size = cost(printed(item))
    return replace(item, size=size, tokens=estimator.of_bytes(size))


def _provenance(found: Found) -> str:
    if found.path:
        steps = " ".join(f"{'' if hop.outgoing else '<-'}{hop.kind}{'->' if hop.outgoing else ''}" for hop in found.path)
        return f"from {found.path[0].node.locator} {steps}"
    best = sorted(found.parts, key=lambda name: (-found.parts[name], name))[:4]
    return "matched: " + ", ".join(best) if best else "asked for"


def fill(
    query: str, found: Sequence[Found], render: Render, budget: int, stamp: IndexStamp, *, zoom: Zoom | None = None,
    first: Sequence[Item] = (), limit: int = 50, boundary: Boundary | None = None, weights: PackWeights = PACK,
    least: Least | None = None,
) -> Pack:  # fmt: skip
    """Fill a pack.

    Args:
        found: best first; what is shown is always a beginning of it, so that a page goes on where the last one ended.
        zoom: None chooses: signatures until they took ``weights.signature_share`` of the budget, then bodies of the best few
            where they fit, then signatures again. A class whose signatures would take too much is shown as its names.
        first: ready items (notes, pins) that come before what was found; they count against the budget as all do.
        limit: items at most.
        least: cheaper than rendering: what a node takes at a zoom at least. It changes no pack, only how soon it is made.
    """
    budget = max(MIN_BUDGET, min(budget, MAX_BUDGET))
    packing = _Packing(render, least or _nothing, budget, limit, weights)
    for item in map(costed, first):
        packing.ready(item)
    rest = packing.add(found, 0, zoom, int(budget * weights.signature_share) if zoom is None else budget)
    if zoom is None:
        packing.enlarge(weights.bodies)
        rest = packing.add(found, rest, zoom, budget)
        packing.enlarge(2 * weights.bodies)  # where the limit, or the end of what was found, left room
    packing.leave(found, rest)
    items, size = tuple(packing.items), sum(item.size for item in packing.items)
    warnings = tuple(dict.fromkeys(f"{item.id}: {warning}" for item in items for warning in item.warnings))[:8]
    return Pack(
        query, items, budget, estimator.of_bytes(size), size, estimator.NAME, len(first) + len(found), dict(packing.omitted),
        boundary or Boundary(), stamp, needed=packing.needed, warnings=warnings,
    )  # fmt: skip


def _nothing(node: Node, zoom: Zoom) -> int:
    return 0


class _Packing:
    """A pack while it is filled.

    Attributes:
        left: tokens that are not spent. ready_made: how many items came ready, and are not to be touched.
        needed: tokens of the first thing that the budget left out.
    """

    def __init__(self, render: Render, least: Least, budget: int, limit: int, weights: PackWeights) -> None:
        self.render = render
        self.least = least
        self.budget = budget
        self.left = budget
        self.limit = limit
        self.weights = weights
        self.items: list[Item] = []
        self._by_path: dict[str, list[Item]] = {}
        self.ready_made = 0
        self.omitted: Counter[str] = Counter()
        self.needed = 0
        self._full = False

    def ready(self, item: Item) -> None:
        """Take an item as it is, or count it."""
        why = "limit" if len(self.items) >= self.limit else "budget" if item.tokens > self.left else ""
        if why:
            self.omitted[why] += 1
            self.needed = self.needed or (item.tokens if why == "budget" else 0)
            return
        self._take(item)
        self.ready_made += 1

    def add(self, found: Sequence[Found], start: int, zoom: Zoom | None, until: int) -> int:
        """Take what fits, from ``start`` on, until so many tokens are spent; where it stopped."""
        for number in range(start, len(found)):
            if self._full or self.budget - self.left >= until or len(self.items) >= self.limit:
                return number
            item, why = self._fit(found[number], zoom)
            if item is not None:
                self._take(item)
            elif why == "budget":
                self._full = True
                return number
            else:
                self.omitted[why] += 1
        return len(found)

    def leave(self, found: Sequence[Found], start: int) -> None:
        """Count what comes after: it is the next page's."""
        if start < len(found):
            self.omitted["limit" if len(self.items) >= self.limit and not self._full else "budget"] += len(found) - start

    def _take(self, item: Item) -> None:
        self.items.append(item)
        self.left -= item.tokens
        if item.node is not None:
            self._by_path.setdefault(item.node.path, []).append(item)

    def _beside(self, item: Item) -> list[Item]:
        """Items of the same file."""
        return self._by_path.get(item.node.path, []) if item.node is not None else []

    def _exchange(self, at: int, item: Item | None) -> None:
        """Put another item in the place of one, or none."""
        old = self.items[at]
        self.left += old.tokens - (item.tokens if item else 0)
        self.items[at : at + 1] = [item] if item else []
        beside = self._beside(old)
        where = next(number for number, one in enumerate(beside) if one is old)
        beside[where : where + 1] = [item] if item else []

    def _fit(self, found: Found, zoom: Zoom | None) -> tuple[Item | None, str]:
        """The item at its zoom; lower when it is the first, or would take half of the budget; else why not."""
        wanted = 0
        start = Zoom.L1 if zoom is None else zoom
        start = Zoom.L0 if zoom is None and self._surely_too_much(found.node) else start
        for level in range(start, -1, -1):
            rendered = self.render(found.node, Zoom(level))
            if rendered.gated and not rendered.text:
                return None, "gated"
            if rendered.freshness is Freshness.missing:
                return None, "missing"
            item = make_item(found, rendered)
            wanted = wanted or item.tokens
            if self._repeats(item, zoom):
                return None, "duplicate"
            if zoom is None and rendered.zoom is Zoom.L1 and self._too_much(item):
                continue
            if item.tokens <= self.left:
                return item, ""
            if len(self.items) > self.ready_made and item.tokens <= self.budget // 2:
                break
        if zoom is None and start == Zoom.L0:  # what its signatures take is known only when they are made
            wanted = make_item(found, self.render(found.node, Zoom.L1)).tokens
        self.needed = self.needed or wanted
        return None, "budget"

    def _too_much(self, item: Item) -> bool:
        """Whether the signatures of what holds others (a class, a file) take more than they are worth before one was picked."""
        return _holds(item.node) and item.tokens > self._outline()

    def _outline(self) -> int:
        return max(MIN_BUDGET, int(self.budget * self.weights.outline_share))

    def _surely_too_much(self, node: Node) -> bool:
        """The same before anything is rendered, where what is here cannot show it already."""
        if not _holds(node) or any(_below(node, one.node) for one in self._by_path.get(node.path, ()) if one.node is not None):
            return False
        return estimator.of_bytes(self.least(node, Zoom.L1)) > self._outline()

    def _repeats(self, item: Item, zoom: Zoom | None) -> bool:
        """Whether an item that is here shows it. Of the best few, the body may be shown yet, so they are kept for now."""
        if zoom is None and len(self.items) - self.ready_made < self.weights.bodies:
            return any(one.zoom >= Zoom.L2 and _inside(item, one) for one in self._beside(item))
        return any(_inside(item, one) for one in self._beside(item))

    def enlarge(self, count: int) -> None:
        """Show bodies of the best few where they fit, then drop what stands in another item and count it."""
        most = int(self.budget * self.weights.body_share)
        for at in range(self.ready_made, min(len(self.items), self.ready_made + count)):
            item = self.items[at]
            if item.node is None or item.node.type != "symbol" or item.zoom >= Zoom.L2 or self.left <= 0:
                continue
            most_now = min(most, self.left + item.tokens)
            if estimator.of_bytes(self.least(item.node, Zoom.L2)) > most_now:
                continue
            rendered = self.render(item.node, Zoom.L2)
            larger = make_item(Found(item.node, item.score, item.parts, item.path), rendered)
            if not rendered.gated and rendered.text and larger.tokens <= most_now:
                self._exchange(at, larger)
        for at in range(len(self.items) - 1, self.ready_made - 1, -1):
            item = self.items[at]
            if any(_inside(item, one) for one in self._beside(item) if one is not item):
                self._exchange(at, None)
                self.omitted["duplicate"] += 1


def _holds(node: Node | None) -> bool:
    return node is not None and (node.type == "file" or node.kind in CLASSES)


def _below(node: Node, owner: Node) -> bool:
    """Whether a symbol stands inside what another node is, by its name."""
    return node.type == "symbol" and node.path == owner.path and (owner.type == "file" or node.qual.startswith(owner.qual + "."))


def _inside(item: Item, other: Item) -> bool:
    """Whether another item shows all that this one does: a method in its class, a closure in its function, all in their file."""
    node, owner = item.node, other.node
    if node is None or owner is None or item.zoom > other.zoom or other.zoom is Zoom.L0 or not _below(node, owner):
        return False
    if other.zoom >= Zoom.L2 or (_holds(owner) and "." not in node.qual[0 if owner.type == "file" else len(owner.qual) + 1 :]):
        return True
    return bool(item.text) and item.text.partition("\n")[0].strip() in map(str.strip, other.text.split("\n"))
