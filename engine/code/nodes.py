"""Facts → rows: node keys that stay the same while a symbol stays, search rows, structural edges.

Called by ``indexer`` inside its transaction. What may not come in: links between files (``link``), reading of files.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from mog.engine.code import facts as schema
from mog.engine.ids import UidTable, node_uid
from mog.engine.store.fts import FtsRow
from mog.engine.store.index_db import IndexDB
from mog.engine.store.schema import FileRow, NodeRow

if TYPE_CHECKING:
    from mog.engine.code.ingest import Ingested

GATED = 1
TEST = 2
SURFACE = "surface"


class Keys:
    """Integer keys of nodes: given once, found again by (file, qualified name) or by (kind, name) of an unresolved node."""

    def __init__(self, db: IndexDB, repo: str, *, fresh: bool) -> None:
        self._db = db
        self._repo = repo
        self._fresh = fresh
        self._next = db.next_node()
        self._unresolved: dict[tuple[str, str], int] = {}
        self._surfaces: dict[tuple[str, str], int] = {}
        self._by_path: dict[str, list[int]] = {}
        self._uids = UidTable()
        self.inserts: list[NodeRow] = []
        self.new_surfaces: list[tuple[int, str, str]] = []
        self.updates: list[NodeRow] = []
        self.removed: list[int] = []
        self.root = self._container()

    def _container(self) -> int:
        if not self._fresh:
            found = [row for row in self._db.nodes_by_name(self._repo or ".") if row.type == "container"]
            if found:
                return found[0].key
        uid = node_uid(self._repo, "container", "repo", "", self._repo or ".")
        return self._insert("container", 0, -1, self._repo or ".", "", "repo", uid)

    def _insert(self, type: str, file: int, ord: int, name: str, qual: str, kind: str, uid: bytes) -> int:
        key = self._next
        self._next += 1
        self.inserts.append(NodeRow(key, type, file, ord, name, qual, kind, 0, 0, uid, 0))
        return key

    def place(self, row: FileRow, kind: str, facts: Mapping[str, Any] | None, old: Iterable[NodeRow]) -> int:
        """Give keys to a file and its symbols; the key of the file's node. Old rows keep theirs by qualified name."""
        path = os.fsdecode(row.path)
        known = {(node.type, node.qual): node.key for node in old}
        file_key = known.pop(("file", ""), 0)
        uid = node_uid(self._repo, "file", kind, path, "")
        flags = GATED if kind == "gated" else 0
        node = NodeRow(file_key or self._take(), "file", row.id, -1, os.path.basename(path), "", kind, 0, 0, uid, flags)
        self._keep(node, bool(file_key), path)
        self._by_path[path] = [self._symbol(row.id, path, ord, sym, known) for ord, sym in enumerate(_syms(facts))]
        self.removed.extend(known.values())
        return node.key

    def _take(self) -> int:
        self._next += 1
        return self._next - 1

    def _symbol(self, file: int, path: str, ord: int, sym: list[Any], known: dict[tuple[str, str], int]) -> int:
        name, qual, kind, _, line, end = sym[:6]
        old = known.pop(("symbol", qual), 0) if known else 0
        flags = (GATED if sym[schema.META].get("g") else 0) | (TEST if kind == "test" else 0)
        uid = node_uid(self._repo, "symbol", kind, path, qual)
        key, sig = old or self._take(), sym[schema.SIG]
        node = NodeRow(key, "symbol", file, ord, name, qual, kind, line, end, uid, flags, sig)
        self._keep(node, bool(old), path)
        return node.key

    def _keep(self, node: NodeRow, old: bool, path: str) -> None:
        self._uids.claim(node.uid, path, node.qual, node.kind)
        (self.updates if old else self.inserts).append(node)

    def of_file(self, path: str) -> list[int]:
        """Keys of a file's symbols in the order of its facts."""
        if path not in self._by_path:
            row = self._db.file_by_path(os.fsencode(path))
            nodes = self._db.nodes_of_file(row.id) if row else []
            self._by_path[path] = [node.key for node in nodes if node.type == "symbol"]
        return self._by_path[path]

    def unresolved(self, kind: str, name: str) -> int:
        """Key of the one node that stands for an unbound name."""
        key = self._unresolved.get((kind, name))
        if key is None:
            key = self._find_unresolved(kind, name) or self._add_unresolved(kind, name)
            self._unresolved[kind, name] = key
        return key

    def _find_unresolved(self, kind: str, name: str) -> int:
        if self._fresh:
            return 0
        rows = self._db.nodes_by_name(name)
        return next((row.key for row in rows if row.type == "unresolved" and row.kind == kind), 0)

    def _add_unresolved(self, kind: str, name: str) -> int:
        return self._insert("unresolved", 0, -1, name, "", kind, node_uid(self._repo, "unresolved", kind, "", name))

    def surface(self, role: str, name: str) -> int:
        """Key of the one node that stands for a surface; its role is kept where a symbol has its qualified name."""
        key = self._surfaces.get((role, name))
        if key is None:
            key = self._find_surface(role, name)
            if not key:
                key = self._take()
                uid = node_uid(self._repo, "entity", SURFACE, "", f"{role}:{name}")
                self.inserts.append(NodeRow(key, "entity", 0, -1, name, role, SURFACE, 0, 0, uid, 0))
                self.new_surfaces.append((key, role, name))
            self._surfaces[role, name] = key
        return key

    def _find_surface(self, role: str, name: str) -> int:
        if self._fresh:
            return 0
        rows = self._db.nodes_by_name(name)
        return next((row.key for row in rows if row.type == "entity" and row.qual == role), 0)

    def write(self) -> None:
        """Put what was collected since the last call into the index."""
        self._db.nodes_delete(self.removed)
        self._db.nodes_update(self.updates)
        self._db.nodes_insert(self.inserts)
        self.removed, self.updates, self.inserts = [], [], []


def _syms(facts: Mapping[str, Any] | None) -> list[list[Any]]:
    return facts["syms"] if facts else []


def search_rows(file: int, made: Ingested, facts: Mapping[str, Any] | None, keys: list[int]) -> Iterable[FtsRow]:
    """Search rows of a file and its symbols. Gated symbols are found by name and place only."""
    yield FtsRow(file, os.path.basename(made.path), "", made.path, "", "", made.text)
    for key, sym in zip(keys, _syms(facts), strict=True):
        yield FtsRow(key, sym[schema.NAME], "", made.path, sym[schema.SIG], sym[schema.DOC], "")


def surface_rows(surfaces: Iterable[tuple[int, str, str]]) -> Iterable[FtsRow]:
    """Search rows of surfaces (key, role, name): found by name and by role."""
    return (FtsRow(key, name, "", "", role, "", "") for key, role, name in surfaces)
