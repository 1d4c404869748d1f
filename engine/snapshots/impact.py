"""The answer to an impact query: what is reached along the allowed edges, by the surest of the shortest ways, with its evidence.

Who calls: ``room``. What may not come in: reading of queries, the ledger, text for people. The same graph and query give the same
report: nodes are looked at in the order of their ids, and a node is credited to the nearest seed, of several to the one on the surest
way, then by id.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import pairwise
from typing import NamedTuple

from mog.engine.code.view import CodeView
from mog.engine.errors import SnapshotMoved, UsageError
from mog.engine.model import Freshness, Node, Tier
from mog.engine.snapshots.model import CURRENT, IMPACT_REPORT, Affected, ImpactQuery, ImpactReport
from mog.engine.snapshots.surfaces import ENTITY
from mog.engine.store.schema import FileRow

AUTHORITY = {Tier.certain: "exact", Tier.hierarchy: "scoped", Tier.candidate: "heuristic", Tier.unknown: "unresolved"}
_WHY = {
    "scoped": "a link by base class: an override may answer", "heuristic": "a link by name alone: one of several candidates",
    "unresolved": "the name was not bound to anything here",
}  # fmt: skip
#: Nodes that a search visits before it ends and says so; names of files, surfaces and folders in a report.
VISITED, NAMED = 200_000, 200


class _Step(NamedTuple):
    """How a node was reached: from which, over which edge, and the least sure step of the way."""

    via: int
    kind: str
    authority: Tier
    seed: int
    depth: int


@dataclass
class _Found:
    """Reached nodes in the order they are reported; ``capped``: the search ended at its bound."""

    steps: dict[int, _Step]
    per_depth: list[int]
    capped: bool = False


def report(
    view: CodeView, query: ImpactQuery, digest: str, stale_status: str, fresh: Callable[[FileRow | None], Freshness]
) -> ImpactReport:
    """The report of a query that was checked.

    Raises:
        SnapshotMoved: the query was made for another snapshot. NotFound, AmbiguousTarget: a seed. UsageError: a seed out of scope.
    """
    if query.snapshot_digest != digest:
        what = f"the query was made for snapshot {query.snapshot_digest:.16}, this is {digest:.16}"
        raise SnapshotMoved(
            what, where="snapshot_digest", way_out="`mog context snapshot --json`, then ask about that one"
        )
    seeds = sorted({node.key: node for node in map(view.find, query.seeds)}.values(), key=lambda node: node.id)
    for seed in seeds:
        if not _within(seed, query.scope_path):
            raise UsageError(
                "a seed lies outside of the scope", where=seed.locator, way_out="widen scope_path or drop the seed"
            )
    search = _Search(view, query)
    found = search.run(seeds)
    return _told(view, query, digest, stale_status, seeds, found, search, fresh)


class _Search:
    """Breadth first, level by level, so that the surest of several shortest ways is known before it is walked on."""

    def __init__(self, view: CodeView, query: ImpactQuery) -> None:
        self._view = view
        self._query = query
        self._mask = view.graph.mask(query.allowed_edge_types)
        self._ids: dict[int, Node] = {}
        self._out_of_scope: set[int] = set()
        self.unresolved: set[int] = set()

    def node(self, key: int) -> Node:
        """A node that was reached."""
        return self._ids[key]

    def run(self, seeds: Sequence[Node]) -> _Found:
        self._ids = {seed.key: seed for seed in seeds}
        found = _Found({seed.key: _Step(0, "", Tier.certain, seed.key, 0) for seed in seeds}, [])
        rim = [seed.key for seed in seeds]
        for depth in range(1, self._query.max_depth + 1):
            level = self._level(rim, found, depth)
            room = VISITED - len(found.steps)
            rim = sorted(level, key=lambda key: self._ids[key].id)
            found.capped = found.capped or len(rim) > room
            rim = rim[:room]
            found.steps.update((key, level[key]) for key in rim)
            if not rim or found.capped:
                found.per_depth += [len(rim)] if rim else []
                break
            found.per_depth.append(len(rim))
        return found

    def _level(self, rim: Sequence[int], found: _Found, depth: int) -> dict[int, _Step]:
        """What the nodes of one level lead to that was not reached before."""
        level: dict[int, _Step] = {}
        for at in range(0, len(rim), 500):
            some = [(key, self._ends(key)) for key in rim[at : at + 500]]
            self._learn({end[0] for _, ends in some for end in ends} - found.steps.keys())
            for key, ends in some:
                self._follow(key, ends, found, level, depth)
        return level

    def _follow(
        self, key: int, ends: Iterable[tuple[int, str, Tier]], found: _Found, level: dict[int, _Step], depth: int
    ) -> None:
        before = found.steps[key]
        for other, kind, tier in ends:
            if other in found.steps or other not in self._ids or other in self._out_of_scope:
                continue
            if self._ids[other].type == "unresolved":
                self.unresolved.add(other)
            step = _Step(key, kind, max(before.authority, tier), before.seed, depth)
            known = level.get(other)
            if known is None or self._rank(step) < self._rank(known):
                level[other] = step

    def _rank(self, step: _Step) -> tuple[object, ...]:
        return step.authority, self._ids[step.seed].id, self._ids[step.via].id, step.kind

    def _ends(self, key: int) -> list[tuple[int, str, Tier]]:
        graph, way = self._view.graph, self._query.direction
        into = graph.in_(key, self._mask) if way in ("inbound", "both") else []
        out = graph.out(key, self._mask) if way in ("outbound", "both") else []
        return [*into, *out]

    def _learn(self, keys: Collection[int]) -> None:
        new = [key for key in keys if key not in self._ids]
        for key, node in self._view.nodes(new).items() if new else ():
            self._ids[key] = node
            if not _within(node, self._query.scope_path):
                self._out_of_scope.add(key)


def _within(node: Node, scope: str) -> bool:
    prefix = scope.removeprefix("./").rstrip("/")
    return not prefix or node.path == prefix or node.path.startswith(f"{prefix}/")


# the report


def _told(
    view: CodeView, query: ImpactQuery, digest: str, stale_status: str, seeds: Sequence[Node], found: _Found, search: _Search,
    fresh: Callable[[FileRow | None], Freshness],
) -> ImpactReport:  # fmt: skip
    wanted = frozenset(query.allowed_node_kinds)
    keys = [key for key, step in found.steps.items() if step.depth and _is_wanted(search.node(key), wanted)]
    keys.sort(
        key=lambda key: (
            found.steps[key].depth,
            found.steps[key].authority,
            search.node(key).locator,
            search.node(key).id,
        )
    )
    nodes = [search.node(key) for key in keys]
    files = sorted({node.path for node in nodes if node.path})
    authority = Counter(AUTHORITY[found.steps[key].authority] for key in keys)
    made = ImpactReport(
        IMPACT_REPORT, digest, query, tuple(seed.locator for seed in seeds),
        tuple(_affected(view, key, found, search, fresh) for key in keys[: query.max_results]), len(keys), tuple(found.per_depth),
        dict(sorted(authority.items())), tuple(files[:NAMED]), len(files), sum(node.type == "symbol" for node in nodes),
        tuple(sorted(node.locator for node in nodes if node.type == ENTITY)[:NAMED]), _boundaries(files),
        len(keys) - authority["exact"], len(search.unresolved), _degraded(view, files), len(keys) > query.max_results or found.capped,
        found.capped, stale_status,
    )  # fmt: skip
    return replace(made, report_digest=_digest(made))


def _is_wanted(node: Node, wanted: Collection[str]) -> bool:
    return not wanted or node.kind in wanted or node.type in wanted


def _affected(
    view: CodeView, key: int, found: _Found, search: _Search, fresh: Callable[[FileRow | None], Freshness]
) -> Affected:
    way = [key]
    while found.steps[way[-1]].depth:
        way.append(found.steps[way[-1]].via)
    way.reverse()
    node, step = search.node(key), found.steps[key]
    authority = AUTHORITY[step.authority]
    return Affected(
        node.id, node.locator, node.type, node.kind, search.node(step.seed).locator, tuple(search.node(one).locator for one in way),
        tuple(found.steps[after].kind for _, after in pairwise(way)), step.depth, authority,
        fresh(view.file_at(node.path) if node.path else None), _WHY.get(authority, ""),
    )  # fmt: skip


def _boundaries(files: Iterable[str]) -> dict[str, int]:
    """Affected files by their first folder, the largest first."""
    count = Counter(path.partition("/")[0] if "/" in path else "." for path in files)
    return dict(sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))[:NAMED])


def _degraded(view: CodeView, files: Sequence[str]) -> dict[str, str]:
    """Affected files that were parsed in part."""
    rows = ((path, view.file_at(path)) for path in files[: 10 * NAMED])
    return dict([(path, row.reason) for path, row in rows if row is not None and row.reason][:NAMED])


def _digest(made: ImpactReport) -> str:
    """Over what the graph says; what the disk says meanwhile is left out."""
    rows = [{name: value for name, value in asdict(one).items() if name != "freshness"} for one in made.affected]
    whole = asdict(made) | {"affected": rows, "stale_status": CURRENT, "report_digest": ""}
    return sha256(json.dumps(whole, sort_keys=True, ensure_ascii=True).encode("ascii")).hexdigest()
