"""What leads to a node and what it leads to, a few hops each way, with the links among all of it: what a layered view draws.

Who calls: ``workspace.around``. What may not come in: layout, text for people beyond the notes of a boundary, networkx.

Two cones are followed and never mixed: callers of callers, and callees of callees; other callers of a callee are neither.
What lies inside a class or a file (its members) is part of it here: their links are its links.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache

from mog.engine.code.view import CodeView
from mog.engine.errors import UsageError
from mog.engine.model import Boundary, Freshness, IndexStamp, Node, Tier
from mog.engine.retrieval.reach import in_order, inside
from mog.engine.store.schema import FileRow
from mog.engine.store.snapshot import Closure

#: Not followed: what holds a node, what was tested (a test that calls it is among its callers), what changed along.
_LEFT_OUT = frozenset({"contains", "defines", "tested_by", "co_changed"})


@dataclass(frozen=True, slots=True)
class Near:
    """A node near the one asked about: ``hop`` is negative for what leads there, positive for what it leads to."""

    node: Node
    hop: int
    freshness: Freshness


@dataclass(frozen=True, slots=True)
class Tie:
    """Links of one kind and tier from one node to another (ids), ``count`` of them."""

    tail: str
    head: str
    kind: str
    tier: Tier
    count: int


@dataclass(frozen=True, slots=True)
class Cone:
    """One side: nodes at hop 1, 2, … (exact), and how many of them the answer names."""

    per_hop: tuple[int, ...]
    shown: int

    @property
    def total(self) -> int:
        """Nodes on this side, those left out included."""
        return sum(self.per_hop)

    @property
    def hidden(self) -> int:
        """Nodes on this side that are not named."""
        return self.total - self.shown


@dataclass(frozen=True, slots=True)
class Around:
    """A node and what lies before and after it.

    Attributes:
        near: nearest first; a node on both sides is named once, at the nearer.
        ties: links among the node and those named, links of members as links of the node; by ends, kind and tier.
        before, after: the sides; what both name is counted by each.
        members: symbols inside the node, whose links were followed as its own.
        unbound: links from the node to names that are bound to nothing here.
    """

    center: Node
    freshness: Freshness
    near: tuple[Near, ...]
    ties: tuple[Tie, ...]
    before: Cone
    after: Cone
    members: int
    unbound: int
    boundary: Boundary
    index: IndexStamp


def around(
    view: CodeView,
    center: Node,
    depth: int,
    limit: int,
    tiers: Collection[Tier],
    fresh: Callable[[FileRow | None], Freshness],
) -> Around:
    """Everything within ``depth`` hops each way, at most ``limit`` nodes, nearest first, half of them for each side.

    Raises:
        UsageError: a depth or limit below 1, or a node that holds the whole repository.
    """
    if depth < 1 or limit < 1:
        raise UsageError("surroundings need depth ≥ 1 and limit ≥ 1", way_out="use depth=2, limit=200")
    if center.type == "container":
        raise UsageError("everything is inside of the repository", where=center.name, way_out="name a file or symbol")
    inner = list(dict.fromkeys([center.key, *inside(view, [center])]))
    before, after = (_cone(view, inner, way, depth, limit, tiers) for way in ("in", "out"))
    half = max(limit // 2, 1 if limit > 1 else 0)
    room_before = min(len(before.nodes), max(half, limit - len(after.nodes)))
    sides = (_nearest(view, before, room_before), _nearest(view, after, limit - room_before))
    hops: dict[int, int] = {}
    for sign, (keys, cone) in zip((-1, 1), zip(sides, (before, after), strict=True), strict=True):
        depths = dict(zip(cone.nodes, cone.depth, strict=True))
        for key in keys:
            if key not in hops or depths[key] < abs(hops[key]):
                hops[key] = sign * depths[key]
    state = cache(lambda number: fresh(view.file_row(number)))
    rows = view.db.nodes([center.key, *hops])
    nodes = view.nodes(hops)
    near = sorted((Near(nodes[k], hop, state(rows[k].file)) for k, hop in hops.items() if k in nodes), key=_place)
    ties = _ties(view, inner, {center.key: center, **nodes}, tiers)
    one, other = (Cone(tuple(cone.per_depth), len(keys)) for cone, keys in zip((before, after), sides, strict=True))
    receivers, capped = view.unknown_sites(center.name) if center.type == "symbol" else (0, 0)
    boundary = Boundary(omitted=one.hidden + other.hidden, gated=int(center.gated), unknown=receivers, capped=capped)
    return Around(
        center, state(rows[center.key].file), tuple(near), ties, one, other, len(inner) - 1, _unbound(view, inner), boundary, view.stamp
    )  # fmt: skip


def _unbound(view: CodeView, inner: Sequence[int]) -> int:
    mask = view.graph.mask(None, (Tier.unknown,))
    return sum(len(view.graph.out(key, mask)) for key in inner)


def _place(one: Near) -> tuple[object, ...]:
    return (abs(one.hop), one.hop, one.node.path, one.node.line, one.node.id)


def _cone(view: CodeView, inner: Sequence[int], way: str, depth: int, limit: int, tiers: Collection[Tier]) -> Closure:
    """One side, every node of the hops that begin within the limit: which of the last hop are named is decided by path."""
    ways = {
        kind: way for kind, row in view.ontology.edge_types.items() if row.layer == "code" and kind not in _LEFT_OUT
    }
    counted = view.graph.closure(inner, direction_by_kind=ways, tiers=tuple(tiers), max_depth=depth, limit=0)
    most = 0
    for many in counted.per_depth:
        most += many
        if most >= limit:
            break
    return view.graph.closure(inner, direction_by_kind=ways, tiers=tuple(tiers), max_depth=depth, limit=most)


def _nearest(view: CodeView, cone: Closure, room: int) -> list[int]:
    """Keys of the ``room`` nearest, within a hop by path and place in the file."""
    kept: list[int] = []
    for hop in sorted(set(cone.depth)):
        level = [key for key, depth in zip(cone.nodes, cone.depth, strict=True) if depth == hop]
        if len(kept) >= room:
            break
        kept += level if len(kept) + len(level) <= room else in_order(view, level)[: room - len(kept)]
    return kept


def _ties(view: CodeView, inner: Sequence[int], shown: dict[int, Node], tiers: Collection[Tier]) -> tuple[Tie, ...]:
    mask = view.graph.mask([kind for kind in view.ontology.edge_types if kind not in _LEFT_OUT], tiers)
    center = inner[0]
    ids = {key: node.id for key, node in shown.items()} | dict.fromkeys(inner, shown[center].id)
    found: Counter[tuple[str, str, str, Tier]] = Counter()
    for key in {*shown, *inner}:
        for other, kind, tier in view.graph.out(key, mask):
            if other in ids and not (ids[key] == ids[other] and key != other):
                found[ids[key], ids[other], kind, tier] += 1
    return tuple(Tie(*ends, count) for ends, count in sorted(found.items()))
