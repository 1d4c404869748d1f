"""Questions about surfaces: all of a role, what stands behind each, which packs were active and why.

Called by ``workspace.contracts``. What may not come in: writes, facts of files, matching.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from mog.engine.code.view import CodeView
from mog.engine.contracts.first import named
from mog.engine.contracts.pack import Packs
from mog.engine.errors import NotFound
from mog.engine.model import Boundary, ContractsAnswer, Node, PackState, Surface
from mog.engine.store import blobs
from mog.engine.store.schema import SPACE_EDGE, SPACE_TYPE

BEHIND = 8


def contracts(view: CodeView, packs: Packs, root: Path, role: str, limit: int, after: int) -> ContractsAnswer:
    """One page of surfaces, by role and name.

    Raises:
        NotFound: no surface has that role, with the roles there are.
    """
    by_role = roles(view)
    if role and role not in by_role:
        there = ", ".join(sorted(by_role)) or "none"
        raise NotFound(f"no surface has the role {role!r}", way_out=f"roles of this repository: {there}")
    keys = _keys(view, role, limit, after)
    total = by_role[role] if role else by_role.total()
    rows = tuple(_surface(view, node) for node in view.nodes(keys).values())
    rows = tuple(sorted(rows, key=lambda row: (row.node.signature, row.node.name)))
    end = after + len(rows)
    states = states_of(view, packs, root)
    return ContractsAnswer(
        role, rows, total, dict(sorted(by_role.items())), states, _boundary(states, total - len(rows)), view.stamp, after,
        end if end < total else 0,
    )  # fmt: skip


def roles(view: CodeView) -> Counter[str]:
    """Role → how many surfaces have it."""
    code = view.db.code_or_none(SPACE_TYPE, "entity")
    return Counter(
        dict(view.db.rows("SELECT qual, count(*) FROM nodes WHERE type = ? AND file = 0 GROUP BY qual", (code,)))
    )


def by_role(nodes: Iterable[Node]) -> dict[str, int]:
    """Role → how many of these surfaces have it."""
    return dict(sorted(Counter(node.signature for node in nodes).items()))


def _keys(view: CodeView, role: str, limit: int, after: int) -> list[int]:
    code = view.db.code_or_none(SPACE_TYPE, "entity")
    sql = "SELECT n.id FROM nodes n JOIN names t ON t.id = n.name WHERE n.type = ?1 AND n.file = 0 AND (?2 = '' OR n.qual = ?2)"
    return [
        key for (key,) in view.db.rows(f"{sql} ORDER BY n.qual, t.text LIMIT ?3 OFFSET ?4", (code, role, limit, after))
    ]


def _surface(view: CodeView, node: Node) -> Surface:
    ends = view.graph.in_(node.key)
    nodes = view.nodes({key for key, _, _ in ends})
    files = sorted({nodes[key].path for key, kind, _ in ends if key in nodes and kind in ("declares", "configures")})
    behind = sorted(
        {key for key, kind, _ in ends if kind == "implements"}, key=lambda key: (nodes[key].path, nodes[key].line)
    )
    users = {key for key, kind, _ in ends if kind in ("touches", "references")}
    used = _ops(view, node.key, {nodes[key].path for key in users if key in nodes})
    return Surface(node, tuple(files), tuple(nodes[key] for key in behind[:BEHIND]), len(behind), used)


def _ops(view: CodeView, key: int, paths: Collection[str]) -> Mapping[str, int]:
    """Op → how many places touch a surface so; the op is the name that the record of the edge carries."""
    found: Counter[int] = Counter()
    touching = {code for code, word in view.db.codes(SPACE_EDGE).items() if word in ("touches", "references")}
    for path in paths:
        row = view.file_at(path)
        records = blobs.unpack_edges(view.db.edges_get(row.id)) if row is not None else ()
        found.update(name for _, dst, code, name in records if dst == key and code & 0xFF in touching)
    names = (
        dict(view.db.rows(f"SELECT id, text FROM names WHERE id IN ({', '.join(str(int(n)) for n in found)})"))
        if found
        else {}
    )
    return dict(sorted(Counter({names.get(number) or "use": count for number, count in found.items()}).items()))


# -- packs


def states_of(view: CodeView, packs: Packs, root: Path) -> tuple[PackState, ...]:
    """The packs that said something, or that a manifest asks for, by name."""
    counted = view.meta.get("packs", {})
    named = manifests(view, packs, root)
    made = []
    for name, pack in sorted(packs.packs.items()):
        files, found, unread = counted.get(name, (0, 0, 0))
        if files or name in named:
            made.append(PackState(name, pack.title, files, found, unread, named.get(name, ""), pack.file))
    return tuple(made)


def manifests(view: CodeView, packs: Packs, root: Path) -> dict[str, str]:
    """Pack → the manifest of the repository that names its framework as a dependency."""
    rows = view.db.rows("SELECT path FROM files WHERE status <> 'gated' AND node <> 0 ORDER BY length(path), path")
    return named(packs, root, (os.fsdecode(path) for (path,) in rows))


def _boundary(states: Iterable[PackState], omitted: int) -> Boundary:
    unread = sum(state.unread for state in states)
    note = f"{unread} places declare something whose name is put together at run time" if unread else ""
    silent = [
        f"{state.title} is named in {state.manifest}, and nothing of it was found"
        for state in states
        if not state.found
    ]
    return Boundary(omitted=max(0, omitted), notes=tuple(filter(None, (note, *silent))))
