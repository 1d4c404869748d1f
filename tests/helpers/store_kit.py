"""Small indexes made by hand, and a model of one as plain dictionaries, for the tests of ``engine/store``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from mog.engine.store import blobs, snapshot
from mog.engine.store.index_db import SPACE_EDGE, IndexDB, NodeRow
from mog.engine.store.snapshot import CodeSnapshot

KINDS = ("calls", "imports", "tested_by")
Edge = tuple[int, int, str, int]


def index_path(folder: Path) -> Path:
    """Where an index lies below a workspace folder."""
    return folder / ".mog" / "index.db"


def create(folder: Path) -> IndexDB:
    """An empty index, open for writing."""
    return IndexDB.open(index_path(folder), write=True, create=True)


def node(key: int, name: str = "", *, file: int = 1, kind: str = "function", qual: str | None = None) -> NodeRow:
    """A node row with made-up content."""
    name = name or f"n{key}"
    return NodeRow(
        key, "symbol", file, key, name, name if qual is None else qual, kind, key, key + 1, uid(key), 0
    )


def uid(key: int) -> bytes:
    """A 16-byte id."""
    return key.to_bytes(16, "big")


def edge_blob(db: IndexDB, edges: Iterable[Edge]) -> bytes:
    """One file's edges as stored."""
    return blobs.pack_edges(
        (src, dst, blobs.edge_code(db.code(SPACE_EDGE, kind), tier), 1) for src, dst, kind, tier in edges
    )


def build(folder: Path, count: int, files: dict[int, list[Edge]]) -> IndexDB:
    """An index of nodes 1..count and these edges, published with arrays."""
    db = create(folder)
    with db.transaction():
        for kind in KINDS:
            db.code(SPACE_EDGE, kind)
        db.nodes_insert([node(key) for key in range(1, count + 1)])
        db.edges_put((file, edge_blob(db, edges)) for file, edges in files.items())
        snapshot.publish(db, compact=True)
    return db


def edit(db: IndexDB, files: dict[int, list[Edge]], *, compact: bool | None = False) -> None:
    """Replace the edges of some files and publish."""
    with db.transaction():
        db.edges_put((file, edge_blob(db, edges)) for file, edges in files.items())
        snapshot.publish(db, compact=compact)


def all_edges(graph: CodeSnapshot) -> tuple[Counter[Edge], Counter[Edge]]:
    """Every edge as seen from its tail, and as seen from its head."""
    out: Counter[Edge] = Counter()
    into: Counter[Edge] = Counter()
    for key in range(graph.size):
        out.update((key, end, kind, int(tier)) for end, kind, tier in graph.out(key))
        into.update((end, key, kind, int(tier)) for end, kind, tier in graph.in_(key))
    return out, into
