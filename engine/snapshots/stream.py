"""The whole graph of one generation in one order, a page at a time: nodes by id, and behind each its edges.

Who calls: ``document``. What may not come in: files, digests, advice. Memory does not grow with the number of edges, and by
sixteen bytes a node: keys of the index mean nothing outside of it, so each end of an edge is looked up as the id it stands for.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from typing import Any

from mog.engine import ids
from mog.engine.code.nodes import GATED
from mog.engine.code.view import CodeView
from mog.engine.model import Tier
from mog.engine.snapshots.digests import checksum
from mog.engine.store.schema import SPACE_KIND, SPACE_TYPE, damaged, text

PAGE = 4_000
_TIERS = [tier.name for tier in Tier]
_NODES = (
    "SELECT n.id, n.uid, n.type, n.kind, t.text, coalesce(n.qual, t.text), n.file, n.line, n.end, n.flags, n.sig"
    " FROM nodes n JOIN names t ON t.id = n.name WHERE n.uid > ? ORDER BY n.uid LIMIT ?"
)


class GraphStream:
    """Nodes as plain objects and edges as lines, each time the same. The caller holds the view's snapshot (``view.db.read()``)."""

    def __init__(self, view: CodeView, source_ref: str) -> None:
        self._view = view
        self._ref = source_ref
        self._types, self._kinds = view.db.codes(SPACE_TYPE), view.db.codes(SPACE_KIND)
        self._files = _files(view)
        self._uids = _Uids(view)
        self._steps = _steps(view)

    def nodes(self) -> Iterator[dict[str, Any]]:
        """Every node, by id."""
        for rows in self._pages(_NODES):
            yield from map(self._node, rows)

    def edges(self) -> Iterator[tuple[str, str]]:
        """Every edge as its type and its line of JSON, by the ids of its ends, then type and tier; parallel ones are one."""
        for rows in self._pages("SELECT id, uid FROM nodes WHERE uid > ? ORDER BY uid LIMIT ?"):
            for row in rows:
                yield from self._edges(row[0], row[1].hex())

    def _pages(self, sql: str) -> Iterator[list[tuple[Any, ...]]]:
        last = b""
        while rows := self._view.db.rows(sql, (last, PAGE)):
            last = rows[-1][1]
            yield rows

    def _node(self, row: tuple[Any, ...]) -> dict[str, Any]:
        _, uid, type_, kind, name, qual, file, line, end, flags, sig = row
        type_ = self._types.get(type_, "")
        path, total = self._files.get(file, ("", ""))
        gated = bool(flags & GATED)
        made: dict[str, Any] = {
            "node_id": uid.hex(), "node_type": type_, "kind": self._kinds.get(kind, ""), "label": qual if type_ == "symbol" else name,
            "locator": _locator(type_, path, qual, name), "path": text(path), "source_ref_id": self._ref if path else "",
        }  # fmt: skip
        if type_ == "symbol":
            made |= {"line": line, "end_line": end, "signature": "" if gated else sig}
        elif total and not gated:
            made["checksum"] = total
        return {**made, "gated": True} if gated else made

    def _edges(self, key: int, source: str) -> Iterator[tuple[str, str]]:
        ends, steps = self._view.graph.row(key)
        if not len(ends):
            return
        counted = Counter(zip(ends, steps, strict=True))
        rows = sorted((self._uids.of(end), *self._steps[step], count) for (end, step), count in counted.items())
        for target, kind, tier, shown, count in rows:
            head = f'{{"edge_type":{shown},"source_node_id":"{source}","target_node_id":"{target}"'
            yield kind, f'{head},"tier":"{_TIERS[tier]}","count":{count}}}'


def _steps(view: CodeView) -> list[tuple[str, int, str]]:
    """Edge byte → type, tier, and the type as JSON."""
    kinds = view.graph.kinds
    named = [(kinds.get(step & 0x3F, ""), step >> 6) for step in range(256)]
    return [(kind, tier, json.dumps(kind)) for kind, tier in named]


def _files(view: CodeView) -> dict[int, tuple[str, str]]:
    """Number of each file → path and digest of its content; ("" for a gated one)."""
    rows = view.db.rows("SELECT id, path, status, facts, digest FROM files")
    return {number: (os.fsdecode(path), checksum(tuple(rest))) for number, path, *rest in rows}


def _locator(type_: str, path: str, qual: str, name: str) -> str:
    return ids.locator(type_, path, qual if type_ == "symbol" else name)


class _Uids:
    """Key → id, 16 bytes each in one array; and the ids again as text where they are asked for often."""

    def __init__(self, view: CodeView) -> None:
        self._where = view.db.path
        self._bytes = bytearray(16 * (view.db.next_node() + 1))
        last = 0
        while rows := view.db.rows("SELECT id, uid FROM nodes WHERE id > ? ORDER BY id LIMIT ?", (last, PAGE)):
            last = rows[-1][0]
            for key, uid in rows:
                self._bytes[16 * key : 16 * key + 16] = uid

    def of(self, key: int) -> str:
        """The id of a key. Raises StoreDamaged for the key of no node."""
        uid = self._bytes[16 * key : 16 * key + 16]
        if not any(uid):
            raise damaged("an edge leads to no node", self._where)
        return uid.hex()
