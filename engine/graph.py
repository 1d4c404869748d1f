"""The reason layer in memory: a typed multigraph that cannot hold an untyped edge.

Called by ``workspace.py`` and the belief engine; plug-ins and panes get bounded ``networkx`` graphs of it. What may not
come in: writes that GRAPH.md does not allow, files, clocks, whole copies of the code layer. A code node enters only as
the far end of a bridge edge, known by its id and locator. ``networkx`` is imported when a graph of it is asked for: the
records stand in plain tables, which cost a third of its memory.

Readers may come from any thread at any time: records are immutable, answers are copies, and one lock guards the tables.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mog.engine.errors import NotFound, UsageError
from mog.engine.model import Anchor, Node
from mog.engine.ontology import Ontology
from mog.engine.reason import ops
from mog.engine.reason.records import GraphEdge, GraphNode, Provenance
from mog.engine.reason.tables import Tables
from mog.engine.values import plain

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["ContextGraph", "GraphChange", "GraphEdge", "GraphNode", "GraphReader", "Provenance"]


@dataclass(frozen=True, slots=True)
class GraphChange:
    """One entry of the change feed; ``seq`` counts from 1 without gaps, ``kind`` is node, update or edge."""

    seq: int
    kind: str
    record: GraphNode | GraphEdge


class GraphReader:
    """Reads of the reason layer. Every method may be called from any thread."""

    def __init__(self, ontology: Ontology, tables: Tables, lock: threading.RLock) -> None:
        """``tables`` hold the records, ``lock`` guards them; both belong to whoever writes."""
        self.ontology = ontology
        self._tables = tables
        self._lock = lock

    def get(self, id: str) -> GraphNode | None:
        """The node with this id, or None."""
        with self._lock:
            return self._tables.nodes.get(id)

    def node(self, id: str) -> GraphNode:
        """The node with this id. Raises NotFound."""
        found = self.get(id)
        if found is None:
            raise NotFound(f"no node {id!r}", way_out="look it up by name first")
        return found

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and self.get(id) is not None

    def __len__(self) -> int:
        with self._lock:
            return len(self._tables.nodes)

    def nodes(self, type: str = "") -> tuple[GraphNode, ...]:
        """All nodes, or those of one type, in the order they came."""
        with self._lock:
            return tuple(n for n in self._tables.nodes.values() if not type or n.type == type)

    def edges(self, kind: str = "") -> tuple[GraphEdge, ...]:
        """All edges, or those of one type, in the order they came."""
        with self._lock:
            return tuple(e for e in self._tables.edges.values() if not kind or e.kind == kind)

    def out_edges(self, id: str, kinds: Collection[str] = ()) -> tuple[GraphEdge, ...]:
        """Edges that leave a node, of all types or of ``kinds``. Raises NotFound."""
        with self._lock:
            self.node(id)
            return _picked(self._tables.out.get(id, ()), kinds)

    def in_edges(self, id: str, kinds: Collection[str] = ()) -> tuple[GraphEdge, ...]:
        """Edges that reach a node, of all types or of ``kinds``. Raises NotFound."""
        with self._lock:
            self.node(id)
            return _picked(self._tables.into.get(id, ()), kinds)

    @property
    def untyped_edges(self) -> int:
        """Edges without a row in the ontology. Zero, always; computed, so that the claim can be checked."""
        return sum(1 for edge in self.edges() if edge.kind not in self.ontology.edge_types)

    def neighborhood(
        self, id: str, *, depth: int = 1, limit: int = 200, kinds: Collection[str] = ()
    ) -> nx.MultiDiGraph[str]:
        """A networkx graph of at most ``limit`` nodes within ``depth`` hops of ``id``, in both directions.

        The result is the caller's own. Node attributes: type, kind, label, layer, attrs. Edge key (type, role), edge
        attributes kind, role, weight, layer. Graph attributes ``center`` and ``omitted``, how many the limit left out.

        Raises:
            NotFound: no such node.
            UsageError: a depth below 0 or a limit below 1.
        """
        if depth < 0 or limit < 1:
            raise UsageError("a neighbourhood needs depth ≥ 0 and limit ≥ 1", way_out="use depth=1, limit=200")
        with self._lock:
            self.node(id)
            kept, omitted = self._around(id, depth, limit, kinds)
            return self._copy(id, kept, omitted, kinds)

    def _around(self, id: str, depth: int, limit: int, kinds: Collection[str]) -> tuple[dict[str, None], int]:
        kept: dict[str, None] = {id: None}
        omitted: set[str] = set()
        rim = [id]
        for _ in range(depth):
            found = dict.fromkeys(n for at in rim for n in self._beside(at, kinds) if n not in kept)
            rim = list(found)[: limit - len(kept)]
            omitted.update(list(found)[len(rim) :])
            kept.update(dict.fromkeys(rim))
        return kept, len(omitted)

    def _beside(self, id: str, kinds: Collection[str]) -> Iterator[str]:
        for edge in self.out_edges(id, kinds):
            yield edge.dst
        for edge in self.in_edges(id, kinds):
            yield edge.src

    def _copy(self, center: str, kept: Collection[str], omitted: int, kinds: Collection[str]) -> nx.MultiDiGraph[str]:
        view = _new_graph(center=center, omitted=omitted)
        for id in kept:
            n = self.node(id)
            layer = self.ontology.node(n.type).layer
            view.add_node(id, type=n.type, kind=n.kind, label=n.label, layer=layer, attrs=plain(n.attrs))
        for id in kept:
            for e in self.out_edges(id, kinds):
                if e.dst in view:
                    layer = self.ontology.layer(e.kind)
                    key = (e.kind, e.role)
                    view.add_edge(id, e.dst, key=key, kind=e.kind, role=e.role, weight=e.weight, layer=layer)
        return view


class ContextGraph(GraphReader):
    """Nodes and edges under one ontology, written in memory. Every method may be called from any thread."""

    def __init__(self, ontology: Ontology, repo: str = "") -> None:
        """``repo`` is the identity that goes into derived ids, see ``ids.node_uid``."""
        super().__init__(ontology, Tables(), threading.RLock())
        self._repo = repo
        self._seq = 0
        self._pending: deque[GraphChange] = deque()
        self._delivering = threading.Lock()
        self._subscribers: tuple[Callable[[GraphChange], None], ...] = ()
        self._failures: deque[tuple[GraphChange, BaseException]] = deque(maxlen=20)
        self._tables.listener = self._note

    # -- writing

    def add_node(
        self,
        type: str,
        label: str,
        *,
        kind: str = "",
        id: str = "",
        attrs: Mapping[str, Any] | None = None,
        provenance: Provenance | None = None,
    ) -> GraphNode:
        """Add a node, or observe it again.

        Without an ``id`` one is derived from type, kind and label; for a decision, which is an event, also from how
        many of that name there are. A second sighting must agree in type, kind and label; its attributes are merged in.

        Raises:
            OntologyError: type, kind or must-carry broken; the id stands for something else; a decision would be
                changed; the provenance names no source; a code node without an id.
            UsageError: a label or attribute that JSON cannot hold, or one too large.
        """
        kind = kind or self.ontology.node(type).default_kind
        with self._lock:
            id = id or ops.derive_id(self._tables, self.ontology, self._repo, type, kind, label)
            node = ops.put_node(self._tables, self.ontology, GraphNode(id, type, kind, label, attrs or {}, provenance))
        self._deliver()
        return node

    def add_edge(
        self, kind: str, src: str, dst: str, *, role: str = "", attrs: Mapping[str, Any] | None = None
    ) -> GraphEdge:
        """Add an edge between two nodes of the graph; the same edge again is a no-op that returns the first.

        Raises:
            NotFound: an end that is not in the graph.
            OntologyError: an illegal pair, or an edge from a node to itself.
            UsageError: attributes that JSON cannot hold.
        """
        with self._lock:
            edge = ops.put_edge(self._tables, self.ontology, kind, src, dst, role, attrs)
        self._deliver()
        return edge

    def bind(self, reason_id: str, code: Node, anchor: Anchor, *, kind: str = "about", role: str = "") -> GraphEdge:
        """Bridge a node of the reason layer to a code node, known from then on by its id and the anchor's locator.

        Raises: as ``add_node`` and ``add_edge``.
        """
        with self._lock:
            self.ontology.check_edge(kind, self.node(reason_id).type, code.type)
            ops.put_node(self._tables, self.ontology, ops.code_node(self.ontology, code, anchor))
            edge = ops.put_edge(self._tables, self.ontology, kind, reason_id, code.id, role)
        self._deliver()
        return edge

    # -- change feed

    def subscribe(self, callback: Callable[[GraphChange], None]) -> Callable[[], None]:
        """Have ``callback`` called once for every change from now on, in order, and get the function that ends it.

        It is called without a lock held, on the thread of some writer, so it may read and write the graph. What it
        raises is kept in ``feed_failures`` and disturbs neither the writer nor other subscribers.
        """

        def end() -> None:
            with self._lock:
                self._subscribers = tuple(s for s in self._subscribers if s is not entry)

        def entry(change: GraphChange) -> None:
            if change.seq > since:
                callback(change)

        with self._lock:
            since = self._seq
            self._subscribers += (entry,)
        return end

    @property
    def feed_failures(self) -> tuple[tuple[GraphChange, BaseException], ...]:
        """The last twenty errors of subscribers, each with the change it was called for."""
        return tuple(self._failures)

    def _note(self, table: str, key: str, old: Any, new: Any) -> None:
        self._seq += 1
        self._pending.append(GraphChange(self._seq, table if old is None else "update", new))

    def _deliver(self) -> None:
        # One thread delivers at a time, so order holds; whoever finds it busy leaves its changes to that thread.
        while self._pending and self._delivering.acquire(blocking=False):
            try:
                while self._pending:
                    self._hand_out(self._pending.popleft())
            finally:
                self._delivering.release()

    def _hand_out(self, change: GraphChange) -> None:
        for subscriber in self._subscribers:
            try:
                subscriber(change)
            except Exception as error:  # a stranger's callback must not fail a write
                self._failures.append((change, error))


def _new_graph(**attributes: object) -> nx.MultiDiGraph[str]:
    import networkx  # the import budget: nothing pays for it before a graph is asked for

    graph: nx.MultiDiGraph[str] = networkx.MultiDiGraph()
    graph.graph.update(attributes)
    return graph


def _picked(found: Iterable[GraphEdge], kinds: Collection[str]) -> tuple[GraphEdge, ...]:
    return tuple(e for e in found if not kinds or e.kind in kinds)
