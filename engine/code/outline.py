"""The repository as a tree, one branch at a time: folders, files, classes, methods. Called by ``workspace.outline``.

What may not come in: the whole tree, text for people, writes. Only the children of one node are read; a folder with a million
files below it costs what its own entries cost, and one count for each folder among them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from mog.engine.code.view import CodeView
from mog.engine.errors import NotFound, UsageError
from mog.engine.model import Freshness, IndexStamp, Node, Tier
from mog.engine.store.schema import FileRow, NodeRow

_USES = ("calls", "references", "inherits", "implements", "imports")
_AFTER = b"0"  # the byte after "/": folder/… lies between "folder/" and "folder0"


@dataclass(frozen=True, slots=True)
class Branch:
    """One entry of the tree.

    Attributes:
        node: the file or symbol; ``None`` for a folder. path: of the file or folder. name: the last part of it.
        inside: direct children of a file or symbol; files below a folder, however deep.
        callers, maybe: nodes that use it by certain links, and others that may; for a file who imports it. 0 for a folder.
        freshness: of its file against the disk; ``unknown`` for a folder.
    """

    node: Node | None
    path: str
    name: str
    inside: int
    callers: int = 0
    maybe: int = 0
    freshness: Freshness = Freshness.unknown

    @property
    def id(self) -> str:
        """What to ask for its children with: the id of its node, or the path of a folder with a slash at its end."""
        return self.node.id if self.node else f"{self.path}/"


@dataclass(frozen=True, slots=True)
class Outline:
    """Children ``after`` .. of a node: folders before files, each by name; symbols as they stand in the file.

    Attributes:
        of: what was asked for ("" for the root). total: all its children. next: where the next page starts, 0 on the last.
    """

    of: str
    branches: tuple[Branch, ...]
    total: int
    after: int
    next: int
    index: IndexStamp


def outline(
    view: CodeView, target: str, after: int, limit: int, fresh: Callable[[FileRow | None], Freshness]
) -> Outline:
    """The children of ``target``: "" or a path with a slash at its end for a folder, else as ``CodeView.find``.

    Raises:
        NotFound: no such folder, or as ``find``. AmbiguousTarget. UsageError: a page below 0 or of no rows.
    """
    if after < 0 or limit < 1:
        raise UsageError("a page of an outline starts at 0 or above and has a row", way_out="use after=0, limit=200")
    if not target or target.endswith("/"):
        branches, total = _folder(view, target, slice(after, after + limit), fresh)
    else:
        branches, total = _inside(view, view.find(target), slice(after, after + limit), fresh)
    end = after + len(branches)
    return Outline(target, branches, total, after, end if branches and end < total else 0, view.stamp)


# -- folders


def _folder(
    view: CodeView, path: str, page: slice, fresh: Callable[[FileRow | None], Freshness]
) -> tuple[tuple[Branch, ...], int]:
    prefix = os.fsencode(path)
    names = list(_entries(view, prefix))
    if prefix and not names:
        raise NotFound(
            f"no folder {path!r} in the index", way_out="`mog map` lists files; a file is not in it if git ignores it"
        )
    names.sort(key=lambda name: (not name.endswith(b"/"), name.rstrip(b"/")))
    return tuple(_entry(view, prefix, name, fresh) for name in names[page]), len(names)


def _entries(view: CodeView, prefix: bytes) -> Iterator[bytes]:
    """Names in a folder, those of folders with a slash, each found by one look into the index of paths."""
    first, end = prefix, prefix[:-1] + _AFTER if prefix else b""
    below = "path < ?2 AND " if prefix else "?2 = ?2 AND "
    sql = f"SELECT path FROM files WHERE path >= ?1 AND {below}node <> 0 ORDER BY path LIMIT 1"
    while rows := view.db.rows(sql, (first, end)):
        name, slash, _ = bytes(rows[0][0])[len(prefix) :].partition(b"/")
        yield name + slash
        first = prefix + name + (_AFTER if slash else b"\0")


def _entry(view: CodeView, prefix: bytes, name: bytes, fresh: Callable[[FileRow | None], Freshness]) -> Branch:
    path = os.fsdecode(prefix + name.rstrip(b"/"))
    if name.endswith(b"/"):
        first = prefix + name
        sql = "SELECT count(*) FROM files WHERE path >= ? AND path < ? AND node <> 0"
        return Branch(None, path, os.fsdecode(name[:-1]), view.db.rows(sql, (first, first[:-1] + _AFTER))[0][0])
    row = view.file_at(path)
    assert row is not None, "a path of the index without a row"
    node = next(iter(view.nodes([row.node]).values()))
    return _branch(view, node, fresh(row))


# -- files and symbols


def _inside(
    view: CodeView, node: Node, page: slice, fresh: Callable[[FileRow | None], Freshness]
) -> tuple[tuple[Branch, ...], int]:
    if node.type == "container":
        return _folder(view, "", page, fresh)
    keys = _defined(view, node.key)
    rows = _in_file(view.db.nodes(keys).values())
    state = fresh(view.file_at(node.path)) if node.path else Freshness.unknown
    nodes = view.nodes([row.key for row in rows[page]])
    return tuple(_branch(view, nodes[row.key], state) for row in rows[page]), len(rows)


def _in_file(rows: Iterable[NodeRow]) -> Sequence[NodeRow]:
    return sorted(rows, key=lambda row: (row.ord, row.key))


def _defined(view: CodeView, key: int) -> set[int]:
    return {other for other, _, _ in view.graph.out(key, view.graph.mask(("defines",)))}


def _branch(view: CodeView, node: Node, state: Freshness) -> Branch:
    certain, maybe = (
        {other for other, _, _ in view.graph.in_(node.key, view.graph.mask(_USES, tiers))}
        for tiers in ((Tier.certain,), (Tier.hierarchy, Tier.candidate))
    )
    name = node.path.rpartition("/")[2] if node.type == "file" else node.qual.rpartition(".")[2] or node.name
    return Branch(node, node.path, name, len(_defined(view, node.key)), len(certain), len(maybe - certain), state)
