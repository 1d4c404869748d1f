"""What a change reaches: exact closures over certain links, the tests among them, who imports the file, what changed along.

Who calls: ``workspace.impact`` and ``workspace.neighbors``. What may not come in: standing (what falls is asked elsewhere), text
for people beyond the notes of a boundary, numpy. Unknown is never shown as none: where links are not drawn, names are counted.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

from mog.engine.code.changed import Changed
from mog.engine.code.history import LEAST_TOGETHER, History
from mog.engine.code.nodes import TEST
from mog.engine.code.view import UNKNOWN_KINDS, CodeView
from mog.engine.contracts.answer import by_role
from mog.engine.errors import NotFound, UsageError
from mog.engine.model import Boundary, CoChanged, Freshness, ImpactAnswer, Named, Neighborhood, Node, Reached, Tier
from mog.engine.retrieval import usage
from mog.engine.store.index_db import AMONG, chunks
from mog.engine.store.schema import SPACE_TYPE, FileRow
from mog.engine.store.snapshot import Closure

BELOW = (Tier.hierarchy, Tier.candidate)
#: Importers, users by name and co-change partners shown at most.
BESIDE = 12
#: Names asked for one by one; of more the unbound names are read in one pass.
_FEW = 8


@dataclass(frozen=True, slots=True)
class Ask:
    """How far and how much. ``depth`` hops (0: only what stands beside), rows ``after``.. ``after + limit``, lower tiers too
    (``maybe``), only ``tests``.
    """

    depth: int = 8
    limit: int = 200
    after: int = 0
    maybe: bool = False
    tests: bool = False


class Doors(NamedTuple):
    """What lies outside of the index: freshness of a file row, bytes of a path (None: none), the history (None: not asked), and in
    how many commits two files need to meet (``least``).
    """

    fresh: Callable[[FileRow | None], Freshness]
    read: usage.Read
    history: Callable[[], History] | None = None
    least: int = LEAST_TOGETHER


class Seeds(NamedTuple):
    """What changes: nodes, and sentences about what could not be taken as asked."""

    nodes: tuple[Node, ...]
    notes: tuple[str, ...] = ()


# what changes


def named(view: CodeView, targets: Iterable[str]) -> Seeds:
    """The nodes these targets mean, each once.

    Raises:
        NotFound, AmbiguousTarget: as ``CodeView.find``. UsageError: no target, or one that is the repository as a whole.
    """
    found = {node.key: node for node in map(view.find_bare, targets)}
    if not found:
        raise UsageError("nothing was named", where="impact", way_out="name what will change")
    for node in found.values():
        if node.type == "container":
            raise UsageError(
                "a change of the whole repository reaches all of it", where=node.name, way_out="name a file or symbol"
            )
    return Seeds(tuple(found.values()))


def changed(view: CodeView, changes: Sequence[Changed], *, whole: bool, doors: Doors) -> Seeds:
    """What the worktree changes: the files (``whole``), or the symbols whose lines differ.

    A file that is not as the index has it has lines that nobody can name; it is taken as a whole, and said so.

    Raises:
        NotFound: nothing that is changed is in the index.
    """
    seeds: dict[int, Node] = {}
    absent, older = [], []
    for change in changes:
        nodes = view.nodes_in(change.path) or view.nodes_in(change.old)
        if -1 not in nodes:
            absent.append(change.path)
            continue
        stale = doors.fresh(view.db.file_by_path(os.fsencode(nodes[-1].path))) is not Freshness.fresh
        older += [change.path] if stale and not whole else []
        for node in [nodes[-1]] if whole or stale or change.lines is None else _at_lines(nodes, change.lines):
            seeds[node.key] = node
    notes = (_told(absent, "changed and not in the index"), _told(older, "not as the index has them, so taken whole"))
    if not seeds:
        what = "nothing that changed is in the index" if changes else "nothing is changed here"
        raise NotFound(what, way_out="run `mog index`" if changes else "name what will change")
    return Seeds(tuple(seeds.values()), tuple(note for note in notes if note))


def _at_lines(nodes: dict[int, Node], lines: Iterable[int]) -> list[Node]:
    return [nodes[ord_] for ord_ in sorted({usage.innermost(nodes, line) for line in lines})]


def _told(paths: Sequence[str], what: str) -> str:
    more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
    return f"{what}: {', '.join(paths[:3])}{more}" if paths else ""


# impact


def impact(view: CodeView, seeds: Seeds, ask: Ask, doors: Doors) -> ImpactAnswer:
    """Everything that deserves a look when the seeds change; see ``ImpactAnswer``.

    Closure over the impact directions of GRAPH.md from the seeds and all that lies inside them, by certain links (by those of the
    lower tiers too with ``ask.maybe``).
    """
    inner = inside(view, seeds.nodes)
    every = (Tier.certain, *BELOW)
    closure = _closure(view, inner, ask.depth, every if ask.maybe else (Tier.certain,), seeds.nodes)
    wide = closure.total if ask.maybe else _closure(view, inner, ask.depth, every, seeds.nodes, limit=0).total
    places = {key: (file, flags) for key, file, flags in view.db.node_places(closure.nodes)}
    kept = [at for at, key in enumerate(closure.nodes) if not ask.tests or places[key][1] & TEST]
    page = _paged(view, closure, kept, ask)
    tests = in_order(view, [closure.nodes[at] for at in kept if places[closure.nodes[at]][1] & TEST])
    test_files = sorted({os.fsdecode(row.path) for key in tests if (row := view.file_row(places[key][0]))})
    surfaces = _surfaces(view, closure)
    beside = _Beside.of(view, seeds.nodes, doors, ask.depth, nothing=not wide)
    shown = tuple(_reached(view, closure, page, places, doors.fresh))
    end = ask.after + len(page)
    depths = Counter(closure.depth[at] for at in kept)
    return ImpactAnswer(
        seeds.nodes[0], shown, len(kept), tuple(depths[hop] for hop in range(1, max(depths, default=0) + 1)),
        tuple(view.nodes(tests[: ask.limit]).values()), len(tests), len({places[closure.nodes[at]][0] for at in kept} - {0}),
        _boundary(view, seeds, inner, beside, len(kept) - len(shown), nothing=not wide, maybe=ask.maybe), view.stamp,
        seeds.nodes, wide - closure.total, tuple(test_files[: ask.limit]), len(test_files), beside.importers[:BESIDE],
        len(beside.importers), beside.importers_all, beside.named, beside.sites, beside.co_changed, beside.history,
        ask.after, end if end < len(kept) else 0, surfaces[: ask.limit], by_role(surfaces),
    )  # fmt: skip


def _surfaces(view: CodeView, closure: Closure) -> tuple[Node, ...]:
    """Routes, pages, jobs, … among what is reached, the nearest first."""
    code, sql = view.db.code_or_none(SPACE_TYPE, "entity"), f"SELECT id FROM nodes WHERE type = ? AND id {AMONG}"
    found = {key for chunk in chunks(closure.nodes) for (key,) in view.db.rows(sql, (code, chunk))}
    depth = {key: closure.depth[at] for at, key in enumerate(closure.nodes) if key in found}
    nodes = view.nodes(found).values()
    return tuple(sorted(nodes, key=lambda node: (depth[node.key], node.signature, node.name)))


def inside(view: CodeView, seeds: Iterable[Node]) -> list[int]:
    """The seeds, other definitions of their names (overloads), and what they define, however deep: members of a class, symbols of a
    file."""
    rows = view.db.nodes(node.key for node in seeds)
    keys = [one.key for node in seeds for one in view.definitions(rows[node.key])]
    return [*keys, *view.graph.closure(keys, direction_by_kind={"defines": "out"}).nodes]


def _closure(
    view: CodeView,
    inner: Sequence[int],
    depth: int,
    tiers: Sequence[Tier],
    seeds: Sequence[Node],
    limit: int | None = None,
) -> Closure:
    ways = {
        kind: row.impact for kind, row in view.ontology.edge_types.items() if row.layer == "code" and kind != "contains"
    }
    if any(seed.type == "unresolved" for seed in seeds):
        tiers = (*tiers, Tier.unknown)  # who uses a name of outside is known by links of that tier only
    return view.graph.closure(inner, direction_by_kind=ways, tiers=tiers, max_depth=depth, limit=limit)


def _paged(view: CodeView, closure: Closure, kept: Sequence[int], ask: Ask) -> list[int]:
    """Positions of one page: nearest first, within a hop by path and place in the file."""
    start, stop = ask.after, ask.after + ask.limit
    if start >= len(kept):
        return []
    first, last = closure.depth[kept[start]], closure.depth[kept[min(stop, len(kept)) - 1]]
    hops = [at for at in kept if first <= closure.depth[at] <= last]
    before = sum(closure.depth[at] < first for at in kept)
    order = _order(view, [closure.nodes[at] for at in hops])
    hops.sort(key=lambda at: (closure.depth[at], order[closure.nodes[at]]))
    return hops[start - before : stop - before]


def _order(view: CodeView, keys: Sequence[int]) -> dict[int, tuple[bytes, int, int]]:
    """Key → (path, place in the file, key): an order that does not know in which order files were indexed."""
    sql = f"SELECT n.id, f.path, n.ord FROM nodes n LEFT JOIN files f ON f.id = n.file WHERE n.id {AMONG}"
    rows = (row for chunk in chunks(keys) for row in view.db.rows(sql, (chunk,)))
    return {key: (path or b"", ord_, key) for key, path, ord_ in rows}


def in_order(view: CodeView, keys: Sequence[int]) -> list[int]:
    """Keys by path and place in the file: an order that does not know in which order files were indexed."""
    order = _order(view, keys)
    return sorted(keys, key=order.__getitem__)


def _reached(
    view: CodeView, closure: Closure, page: Sequence[int], places: Mapping[int, tuple[int, int]],
    fresh: Callable[[FileRow | None], Freshness],
) -> Iterable[Reached]:  # fmt: skip
    nodes = view.nodes({key for at in page for key in (closure.nodes[at], closure.via[at])})
    state = cache(lambda file: fresh(view.file_row(file)))
    for at in page:
        key = closure.nodes[at]
        yield Reached(nodes[key], closure.depth[at], nodes.get(closure.via[at]), closure.kind[at], closure.tier[at],
                      state(places[key][0]))  # fmt: skip


def _boundary(
    view: CodeView, seeds: Seeds, inner: Sequence[int], beside: _Beside, omitted: int, *, nothing: bool, maybe: bool
) -> Boundary:
    inside = [node for node in view.nodes(inner).values() if node.type == "symbol"]
    unlinked = sum(node.kind in usage.BY_NAME for node in inside)
    names = {node.name for node in inside if node.kind not in usage.BY_NAME}
    receivers, capped = _unknown_sites(view, names)
    own, mask = set(inner), view.graph.mask(None, BELOW)
    below = 0 if maybe else sum(end not in own for key in inner for end, _, _ in view.graph.in_(key, mask))
    notes = [*seeds.notes, *beside.notes]
    if receivers or capped:
        what = repr(next(iter(names))) if len(names) == 1 else f"as one of {len(names)} names"
        notes.append(f"{receivers + capped} call sites named {what} have receivers that are not known")
    if unlinked and not beside.sites:
        notes.append(
            f"{unlinked} fields and constants are among what changes: their uses are not linked, ask for one to count them"
        )
    if nothing and not (receivers or capped or beside.sites or beside.importers):
        notes.append("nothing in the index uses it, and its name stands in no other place")
    gated = sum(node.gated for node in seeds.nodes)
    return Boundary(omitted, gated, receivers + beside.sites, below, capped, tuple(notes))


def _unknown_sites(view: CodeView, names: Collection[str]) -> tuple[int, int]:
    """(receiver not known, capped) among the calls written under any of these names."""
    if len(names) <= _FEW:
        counts = [view.unknown_sites(name) for name in names]
        return sum(receivers for receivers, _ in counts), sum(capped for _, capped in counts)
    code = view.db.code(SPACE_TYPE, "unresolved")
    sql = "SELECT n.id, t.text FROM nodes n JOIN names t ON t.id = n.name WHERE n.type = ?"
    wanted = [key for key, name in view.db.rows(sql, (code,)) if name in names]
    total = dict.fromkeys(UNKNOWN_KINDS, 0)
    for key, row in view.db.nodes(wanted).items():
        if row.kind in UNKNOWN_KINDS:
            total[row.kind] += len(view.graph.in_(key))
    return total["receiver"], total["capped"]


# beside the closure


@dataclass(frozen=True, slots=True)
class _Beside:
    """What no closure over symbols shows: importers of the files, users by name, files that changed along."""

    importers: tuple[Node, ...]
    importers_all: int
    named: tuple[Named, ...]
    sites: int
    co_changed: tuple[CoChanged, ...]
    history: str
    notes: tuple[str, ...]

    @classmethod
    def of(cls, view: CodeView, seeds: Sequence[Node], doors: Doors, depth: int, *, nothing: bool) -> _Beside:
        """Gather it, importers of importers as deep as the closure; files are read only for what no link tells of."""
        paths = sorted({node.path for node in seeds if node.path})
        files = [node.key for node in view.nodes_at([(path, -1) for path in paths]).values()]
        importing = in_order(view, usage.importers(view, files))
        nodes = view.nodes(importing)
        everyone = view.graph.closure(
            files, direction_by_kind={"imports": "in"}, max_depth=depth or None, limit=0
        ).total
        uses = [
            usage.of(view, node, doors.read, BESIDE)
            for node in seeds
            if node.type == "symbol" and (node.kind in usage.BY_NAME or (nothing and len(seeds) == 1))
        ]
        named = tuple(Named(node, count) for use in uses for node, count in use.holders)
        sites = sum(use.sites for use in uses)
        met, _, said = co_changed(view, paths, doors)
        notes = (_uses_note(seeds, uses),) if uses and sites else ()
        return cls(tuple(nodes[key] for key in importing), everyone, named[:BESIDE], sites, met, said, notes)


def _uses_note(seeds: Sequence[Node], uses: Sequence[usage.Usage]) -> str:
    sites, files = sum(use.sites for use in uses), sum(use.files for use in uses)
    if any(node.kind in usage.BY_NAME for node in seeds):
        return f"uses of fields and constants are not linked: the name stands at {sites} other sites in {files} files"
    return f"no link leads to it, but its name stands at {sites} other sites in {files} files"


def co_changed(view: CodeView, paths: Sequence[str], doors: Doors) -> tuple[tuple[CoChanged, ...], int, str]:
    """Files of the index that changed in the same commits as ``paths``: the strongest, how many in all, how far history reaches."""
    if doors.history is None or not paths:
        return (), 0, ""
    history = doors.history()
    known = [one for one in history.partners(paths, doors.least) if view.file_at(one.path) is not None]
    return tuple(CoChanged(one.path, one.together, one.own) for one in known[:BESIDE]), len(known), _reach_of(history)


def _reach_of(history: History) -> str:
    said = history.coverage
    if said.why_not:
        return f"co-change is not known: {said.why_not}"
    return f"co-change from {said}"


def whole(view: CodeView, hood: Neighborhood, doors: Doors) -> Neighborhood:
    """A neighbourhood with what changed in the same commits, and a word about links that are not drawn."""
    met, total, said = co_changed(view, [hood.node.path] if hood.node.path else [], doors)
    notes = hood.boundary.notes
    if hood.node.kind in usage.BY_NAME:
        notes = (*notes, "uses of fields and constants are not linked; `mog impact` counts them by name")
    boundary = replace(hood.boundary, notes=notes)
    return replace(hood, co_changed=met, history=said, co_changed_total=total, boundary=boundary)
