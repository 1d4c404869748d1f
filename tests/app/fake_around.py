"""Surroundings and the outline of the made-up repository, worked out from the edges of the fake.

Who calls: ``fake_workspace.py``. What may not come in: answers that do not follow from the edges.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mog.engine import model as m
from mog.engine.code.outline import Branch, Outline
from mog.engine.errors import NotFound
from mog.engine.retrieval.around import Around, Cone, Near, Tie

Edges = Sequence[tuple[m.Node, m.Node, str, m.Tier, str]]
_FOLLOWED = ("calls", "references", "inherits", "imports")


def around(center: m.Node, edges: Edges, depth: int, limit: int, tiers: Iterable[str], stamp: m.IndexStamp) -> Around:
    """What leads to a node and what it leads to."""
    wanted = set(tiers)
    used = [(a, b, kind, tier) for a, b, kind, tier, _ in edges if kind in _FOLLOWED and tier.name in wanted]
    used = [edge for edge in used if "unresolved" not in (edge[0].type, edge[1].type)]
    before, after = (_cone(center, used, depth, incoming) for incoming in (True, False))
    near: dict[str, Near] = {}
    for sign, cone in ((-1, before), (1, after)):
        for node, hop in cone.items():
            near.setdefault(node.id, Near(node, sign * hop, m.Freshness.fresh))
    shown = sorted(near.values(), key=lambda one: (abs(one.hop), one.hop, one.node.path, one.node.line))[:limit]
    names = {center.id, *(one.node.id for one in shown)}
    ties = Counter((a.id, b.id, kind, tier) for a, b, kind, tier in used if a.id in names and b.id in names)
    cones = [_told(cone, names) for cone in (before, after)]
    loose = sum(a.id == center.id and b.type == "unresolved" for a, b, *_ in edges)
    boundary = m.Boundary(omitted=sum(cone.hidden for cone in cones))
    rows = tuple(Tie(*ends, count) for ends, count in sorted(ties.items()))
    return Around(center, m.Freshness.fresh, tuple(shown), rows, cones[0], cones[1], 0, loose, boundary, stamp)


def _cone(
    center: m.Node, edges: Sequence[tuple[m.Node, m.Node, str, m.Tier]], depth: int, incoming: bool
) -> dict[m.Node, int]:
    hops, rim = {center: 0}, [center]
    for hop in range(1, depth + 1):
        ends = [(b, a) if incoming else (a, b) for a, b, _, _ in edges]
        rim = list(dict.fromkeys(far for near, far in ends if near in rim and far not in hops))
        hops.update(dict.fromkeys(rim, hop))
    return {node: hop for node, hop in hops.items() if hop}


def _told(cone: Mapping[m.Node, int], names: set[str]) -> Cone:
    per_hop = Counter(cone.values())
    return Cone(tuple(per_hop[hop] for hop in sorted(per_hop)), sum(node.id in names for node in cone))


def dense(count: int) -> list[tuple[m.Node, m.Node, str, m.Tier, str]]:
    """Edges of ``count`` nodes in three hops on either side of the busiest symbol, three or so for each."""
    from fake_workspace import TOTAL, node

    hops: dict[int, list[m.Node]] = {0: [TOTAL]}
    for i in range(count):
        hop = (1, -1, 2, -2, 3, -3)[i % 6]
        made = node(f"shop/part_{i % 9}.py", f"Thing{i % 7}.step_{i}", "method", 10 + i, 14 + i)
        hops.setdefault(hop, []).append(made)
    edges = []
    for hop in sorted(hops.keys() - {0}):
        inner = hops[hop - 1 if hop > 0 else hop + 1]
        for i, far in enumerate(hops[hop]):
            for step in (0, 7, 11):
                near = inner[(i * 3 + step) % len(inner)]
                ends = (near, far) if hop > 0 else (far, near)
                edges.append((*ends, "calls", m.Tier(step % 2 and i % 5 == 0), near.name))
    return edges


def outline(nodes: Iterable[m.Node], edges: Edges, target: str, after: int, limit: int, stamp: m.IndexStamp) -> Outline:
    """Children of a folder, file or symbol."""
    every = [node for node in nodes if node.type != "unresolved"]
    if not target or target.endswith("/"):
        found = _folder(every, edges, target)
    else:
        found = _inside(every, edges, next((node for node in every if target in (node.id, node.locator)), None))
    page = tuple(found[after : after + limit])
    end = after + len(page)
    return Outline(target, page, len(found), after, end if end < len(found) else 0, stamp)


def _folder(every: Sequence[m.Node], edges: Edges, target: str) -> list[Branch]:
    below = sorted({node.path for node in every if node.path.startswith(target)})
    if not below:
        raise NotFound(f"no folder {target!r} in the index", way_out="mog map lists files")
    names = Counter(path[len(target) :].split("/")[0] for path in below)
    folders = [name for name in names if any(path.startswith(f"{target}{name}/") for path in below)]
    made = [Branch(None, f"{target}{name}", name, names[name]) for name in sorted(folders)]
    files = {node.path: node for node in every if node.type == "file"}
    return made + [_branch(every, edges, files[f"{target}{name}"]) for name in names if f"{target}{name}" in files]


def _inside(every: Sequence[m.Node], edges: Edges, node: m.Node | None) -> list[Branch]:
    if node is None:
        raise NotFound("it is no longer in the index", way_out="/ searches")
    return [_branch(every, edges, one) for one in _members(every, node)]


def _members(every: Sequence[m.Node], node: m.Node) -> list[m.Node]:
    start = f"{node.qual}." if node.type == "symbol" else ""
    inside = [one for one in every if one.type == "symbol" and one.path == node.path and one.qual.startswith(start)]
    quals = {one.qual for one in inside}
    direct = [one for one in inside if one.id != node.id and not any(one.qual.startswith(f"{q}.") for q in quals)]
    return sorted(direct, key=lambda one: one.line)


def _branch(every: Sequence[m.Node], edges: Edges, node: m.Node) -> Branch:
    callers = {
        a.id for a, b, kind, tier, _ in edges if b.id == node.id and kind in _FOLLOWED and tier is m.Tier.certain
    }
    maybe = {a.id for a, b, kind, tier, _ in edges if b.id == node.id and kind in _FOLLOWED} - callers
    name = node.path.rpartition("/")[2] if node.type == "file" else node.name
    return Branch(node, node.path, name, len(_members(every, node)), len(callers), len(maybe), m.Freshness.fresh)
