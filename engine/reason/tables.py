"""The state of the reason layer: tables of records with one place where they change. Called by ``ops``, ``mesh`` and ``graph``.

What may not come in: rules, labels, files. ``put`` is the only mutation; while a batch is open it keeps a journal, so
a batch can be taken back exactly and the store is told precisely what changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from mog.engine.reason.records import TABLES, Anchored, GraphEdge, GraphNode, Ground, Judgement

Entry = tuple[str, str, Any]


class Tables:
    """Records by table and key, with the edges of each node beside them. Not locked: its owner is.

    Attributes:
        nodes, edges: the two tables that are read most.
        out, into: node id → its edges, in the order they came.
        grounds: conclusion → its recorded grounds by id. judged: target → judgements about it by id.
        anchored: node → its anchors by id.
        seq: number of the event being applied.
    """

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, Any]] = {table: {} for table in TABLES}
        self.nodes: dict[str, GraphNode] = self.rows["node"]
        self.edges: dict[str, GraphEdge] = self.rows["edge"]
        self.out: dict[str, list[GraphEdge]] = {}
        self.into: dict[str, list[GraphEdge]] = {}
        self.grounds: dict[str, dict[str, Ground]] = {}
        self.judged: dict[str, dict[str, Judgement]] = {}
        self.anchored: dict[str, dict[str, Anchored]] = {}
        self.seq = 0
        self.listener: Callable[[str, str, Any, Any], None] | None = None
        self._journal: list[Entry] | None = None

    def put(self, table: str, key: str, value: Any | None) -> None:
        """Set a record, or with None take it away."""
        rows = self.rows[table]
        old = rows.get(key)
        if old == value:
            return
        if self._journal is not None:
            self._journal.append((table, key, old))
        self._set(table, key, old, value)

    def _set(self, table: str, key: str, old: Any, value: Any) -> None:
        if value is None:
            del self.rows[table][key]
        else:
            self.rows[table][key] = value
        if table == "edge":
            record = value or old
            _list(self.out, record.src, old, value)
            _list(self.into, record.dst, old, value)
        elif table == "ground":
            _file(self.grounds, (value or old).conclusion, key, value)
        elif table == "judgement":
            _file(self.judged, (value or old).target, key, value)
        elif table == "anchor":
            _file(self.anchored, (value or old).node, key, value)
        if self.listener is not None:
            self.listener(table, key, old, value)

    # -- batches

    def begin(self) -> None:
        """Open a batch."""
        assert self._journal is None, "a batch is open already"
        self._journal = []

    @property
    def journal_length(self) -> int:
        return len(self._journal or ())

    def touched(self, since: int = 0) -> Iterator[tuple[str, str]]:
        """Table and key of every record changed since a length of the journal, each once, in first-touched order."""
        journal = self._journal or []
        return iter(dict.fromkeys((table, key) for table, key, _ in journal[since:]))

    def end(self) -> None:
        """Keep what the batch did."""
        self._journal = None

    def rollback(self, to: int = 0) -> None:
        """Take back what the batch did, or what it did since a length of the journal; at 0 the batch is closed."""
        journal = self._journal or []
        while len(journal) > to:
            table, key, old = journal.pop()
            self._set(table, key, self.rows[table].get(key), old)
        if to == 0:
            self._journal = None


def _list(side: dict[str, list[GraphEdge]], at: str, old: GraphEdge | None, new: GraphEdge | None) -> None:
    """A list and not a dict of each node's edges: most nodes have few, and memory is what they cost."""
    if old is None:
        assert new is not None
        side.setdefault(at, []).append(new)
        return
    edges = side[at]
    # What goes is mostly what came last: a batch that is rolled back.
    place = next(i for i in range(len(edges) - 1, -1, -1) if edges[i] is old)
    if new is not None:
        edges[place] = new
        return
    del edges[place]
    if not edges:
        del side[at]


def _file(side: dict[str, dict[str, Any]], at: str, key: str, value: Any | None) -> None:
    if value is not None:
        side.setdefault(at, {})[key] = value
        return
    del side[at][key]
    if not side[at]:
        del side[at]
