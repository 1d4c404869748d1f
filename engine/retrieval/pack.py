"""Packs: found things turned into a bounded answer. Signatures first, bodies of the best where they fit.

Who calls: ``context``. What may not come in: how things are found or rendered. The promise, whatever comes in: the items' printed
texts together cost at most ``budget`` by ``estimator``, and every found thing is an item or counted in ``omitted``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from mog.engine.model import Boundary, Freshness, IndexStamp, Node, Tier
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Found, Item, Pack, Rendered, Zoom
from mog.engine.retrieval.weights import PACK, PackWeights

Render = Callable[[Node, Zoom], Rendered]
MIN_BUDGET, MAX_BUDGET = 64, 100_000


@dataclass(slots=True)
class _Room:
    """What is left of a budget, in bytes."""

    left: int

    def takes(self, size: int) -> bool:
        """Whether that many bytes still fit."""
        return size <= self.left


def printed(item: Item) -> str:
    """An item as every surface prints it: a line that says what it is, its text, its warnings. This is what is paid for."""
    marks = [item.kind, item.zoom.name, item.freshness.value]
    marks += [item.tier.name] if item.tier is not Tier.certain else []
    marks += [item.label] if item.label != "repo" else []
    marks += ["pinned"] if item.pinned else []
    head = f"{item.id} [{', '.join(marks)}]"
    lines = [head, *(f"! {warning}" for warning in item.warnings), item.text.rstrip("\n")]
    return "\n".join(line for line in lines if line) + "\n"


def make_item(found: Found, rendered: Rendered) -> Item:
    """One found thing with its text, and what that costs."""
    node = found.node
    tier = max((hop.tier for hop in found.path), default=Tier.certain)
    item = Item(
        node.locator, node.kind, rendered.text, rendered.zoom, 0, 0, rendered.freshness, tier=tier, score=found.score,
        parts=found.parts, path=found.path, node=node, provenance=_provenance(found), warnings=rendered.warnings,
    )  # fmt: skip
    return costed(item)


def costed(item: Item) -> Item:
    """The item with its cost by what is printed."""
    size = estimator.size(printed(item))
    return replace(item, size=size, tokens=estimator.of_bytes(size))


def _provenance(found: Found) -> str:
    if found.path:
        steps = " ".join(
            f"{'' if hop.outgoing else '<-'}{hop.kind}{'->' if hop.outgoing else ''} " for hop in found.path
        ).strip()
        return f"from {found.path[0].node.locator} {steps}"
    return (
        "matched: " + ", ".join(sorted(found.parts, key=lambda name: (-found.parts[name], name))[:4])
        if found.parts
        else "asked for"
    )


def fill(
    query: str, found: Sequence[Found], render: Render, budget: int, stamp: IndexStamp, *, zoom: Zoom | None = None,
    first: Sequence[Item] = (), limit: int = 50, boundary: Boundary | None = None, weights: PackWeights = PACK,
) -> Pack:  # fmt: skip
    """Fill a pack.

    Args:
        found: best first. zoom: None chooses: signatures for as many as fit, then bodies for the best few where they fit.
        first: ready items (notes, pins) that come before what was found; they count against the budget as all do.
        limit: items at most.
    """
    budget = max(MIN_BUDGET, min(budget, MAX_BUDGET))
    room = _Room(budget * estimator.BYTES_PER_TOKEN)
    omitted: Counter[str] = Counter()
    needed = 0
    items: list[Item] = []
    for ready in map(costed, first):
        if len(items) < limit and room.takes(ready.size):
            items.append(ready)
            room.left -= ready.size
        else:
            omitted["budget" if len(items) < limit else "limit"] += 1
            needed = needed or ready.tokens
    shown = len(items)
    start = Zoom.L1 if zoom is None else zoom
    for number, one in enumerate(found):
        item, why = _fit(one, render, start, room, items, limit, budget)
        if item is None and why[0] in ("budget", "limit"):
            omitted[why[0]] += len(found) - number  # what follows is the next page's
            needed = needed or why[1]
            break
        if item is None:
            omitted[why[0]] += 1
            continue
        items.append(item)
        room.left -= item.size
    if zoom is None:
        _enlarge(items, shown, render, room, budget, weights, omitted)
    size = sum(item.size for item in items)
    warnings = tuple(dict.fromkeys(f"{item.id}: {warning}" for item in items for warning in item.warnings))[:8]
    return Pack(
        query, tuple(items), budget, estimator.of_bytes(size), size, estimator.NAME, len(first) + len(found), dict(omitted),
        boundary or Boundary(), stamp, needed=needed, warnings=warnings,
    )  # fmt: skip


def _fit(
    found: Found, render: Render, zoom: Zoom, room: _Room, items: Sequence[Item], limit: int, budget: int
) -> tuple[Item | None, tuple[str, int]]:
    """The item at this zoom; one below when it is the first or would take half of the budget; else why not, and its cost."""
    if len(items) >= limit:
        return None, ("limit", 0)
    wanted = 0
    for level in range(zoom, -1, -1):
        rendered = render(found.node, Zoom(level))
        if rendered.gated:
            return None, ("gated", 0)
        if rendered.freshness is Freshness.missing:
            return None, ("missing", 0)
        item = make_item(found, rendered)
        wanted = wanted or item.tokens
        if rendered.text and _inside(item, items):
            return None, ("duplicate", 0)
        if room.takes(item.size):
            return item, ("", 0)
        if items and item.tokens <= budget // 2:
            break
    return None, ("budget", wanted)


def _inside(item: Item, items: Sequence[Item]) -> bool:
    """Whether the text already stands in an item of the same file (a method in its class)."""
    if item.node is None or item.zoom is Zoom.L0:
        return False
    lines = _lines(item.text)
    return any(
        one.node is not None and one.node.path == item.node.path and one.zoom >= Zoom.L1 and lines in _lines(one.text)
        for one in items
    )


def _lines(text: str) -> str:
    return "\n" + "\n".join(line.strip() for line in text.splitlines()) + "\n"


def _enlarge(
    items: list[Item], shown: int, render: Render, room: _Room, budget: int, weights: PackWeights, omitted: Counter[str]
) -> None:
    """Show bodies of the best few where they fit; what then stands inside a body is dropped and counted."""
    most = int(budget * weights.body_share)
    for at in range(shown, min(len(items), shown + weights.bodies)):
        item = items[at]
        if item.node is None or item.node.type != "symbol":
            continue
        rendered = render(item.node, Zoom.L2)
        larger = make_item(Found(item.node, item.score, item.parts, item.path), rendered)
        if rendered.gated or larger.tokens > most or not room.takes(larger.size - item.size):
            continue
        room.left -= larger.size - item.size
        items[at] = larger
    for at in range(len(items) - 1, shown - 1, -1):
        if _inside(items[at], [one for number, one in enumerate(items) if number != at and one.zoom >= Zoom.L2]):
            room.left += items[at].size
            del items[at]
            omitted["duplicate"] += 1
