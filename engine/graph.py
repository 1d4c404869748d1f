"""The reason layer in memory: a typed multigraph that cannot hold an untyped edge.

Called by ``workspace.py`` and, later, by the belief engine; plug-ins and panes get bounded ``networkx`` graphs of it.
What may not come in: writes that GRAPH.md does not allow, files, clocks, whole copies of the code layer. A code node
enters only as the far end of a bridge edge, known by its id and locator. ``networkx`` is imported at the first write.

Readers may come from any thread at any time: records are immutable, answers are copies, and one lock guards the arrays.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mog.engine import ids
from mog.engine.errors import NotFound, OntologyError, UsageError
from mog.engine.model import Anchor, Node
from mog.engine.ontology import Ontology
from mog.engine.values import freeze, plain

if TYPE_CHECKING:
    import networkx as nx

MAX_LABEL_BYTES = 16_000
MAX_ATTRS = 256
_NO_ATTRS: Mapping[str, Any] = MappingProxyType({})
_EVENT_TYPE = "decision"  # GRAPH.md rule 9


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a claim or decision came from: a source node, the span in it, what lifted it and what checked it."""

    source_id: str
    span: tuple[int, int] | None = None
    extractor: str = "rule"
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of the graph; ``attrs`` is read-only plain JSON."""

    id: str
    type: str
    kind: str
    label: str
    attrs: Mapping[str, Any] = field(default_factory=lambda: _NO_ATTRS)
    provenance: Provenance | None = None


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge of the graph; ``role`` tells apart edges of one type between the same two nodes."""

    id: str
    kind: str
    src: str
    dst: str
    role: str = ""
    weight: float = 0.5
    attrs: Mapping[str, Any] = field(default_factory=lambda: _NO_ATTRS)


@dataclass(frozen=True, slots=True)
class GraphChange:
    """One entry of the change feed; ``seq`` counts from 1 without gaps, ``kind`` is node, update or edge."""

    seq: int
    kind: str
    record: GraphNode | GraphEdge


class ContextGraph:
    """Nodes and edges under one ontology. Every method may be called from any thread."""

    def __init__(self, ontology: Ontology, repo: str = "") -> None:
        """``repo`` is the identity that goes into derived ids, see ``ids.node_uid``."""
        self.ontology = ontology
        self._repo = repo
        self._lock = threading.RLock()
        self._graph: nx.MultiDiGraph[str] | None = None
        self._seq = 0
        self._pending: deque[GraphChange] = deque()
        self._delivering = threading.Lock()
        self._subscribers: tuple[Callable[[GraphChange], None], ...] = ()
        self._failures: deque[tuple[GraphChange, BaseException]] = deque(maxlen=20)

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
        new = GraphNode(id, type, kind, _label(label), _attrs(attrs), provenance)
        with self._lock:
            node = self._put_node(new)
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
        role, frozen = _label(role), _attrs(attrs)
        with self._lock:
            edge = self._put_edge(kind, src, dst, role, frozen)
        self._deliver()
        return edge

    def bind(self, reason_id: str, code: Node, anchor: Anchor, *, kind: str = "about", role: str = "") -> GraphEdge:
        """Bridge a node of the reason layer to a code node, known from then on by its id and the anchor's locator.

        Raises: as ``add_node`` and ``add_edge``.
        """
        attrs = {"locator": anchor.locator, "span_hash": anchor.span_hash, "content_hash": anchor.span_hash}
        carried = self.ontology.node(code.type).must_carry
        kept = {name: value for name, value in attrs.items() if name == "locator" or name in carried}
        name = ids.escape(code.qual or code.name or code.path)
        with self._lock:
            self.ontology.check_edge(kind, self.node(reason_id).type, code.type)
            self._put_node(GraphNode(code.id, code.type, code.kind, _label(name), _attrs(kept)))
            edge = self._put_edge(kind, reason_id, code.id, _label(role), _NO_ATTRS)
        self._deliver()
        return edge

    def _put_node(self, new: GraphNode) -> GraphNode:
        node = new if new.id else replace(new, id=self._derive(new.type, new.kind, new.label))
        old = self._find(node.id)
        if old is not None:
            node = replace(node, attrs=self._again(old, node), provenance=old.provenance or node.provenance)
        self._check(node)
        if node != old:
            self._nx().add_node(node.id, record=node)
            self._note("node" if old is None else "update", node)
        return node

    def _put_edge(self, kind: str, src: str, dst: str, role: str, attrs: Mapping[str, Any]) -> GraphEdge:
        row = self.ontology.check_edge(kind, self.node(src).type, self.node(dst).type)
        if src == dst:
            raise OntologyError(f"{kind} from a node to itself", where=src, way_out="name two different nodes")
        known = self._nx().get_edge_data(src, dst, (kind, role))
        if known is not None:
            return _edge_of(known)
        edge = GraphEdge(ids.edge_uid(kind, src, dst, role).hex(), kind, src, dst, role, row.weight, attrs)
        self._nx().add_edge(src, dst, key=(kind, role), record=edge)
        self._note("edge", edge)
        return edge

    def _derive(self, type: str, kind: str, label: str) -> str:
        if self.ontology.node(type).layer == "code":
            raise OntologyError(f"a {type} needs the id the index gave it", where=label, way_out="pass id=")
        ordinal = 0
        if type == _EVENT_TYPE:
            while self._find(ids.node_uid(self._repo, type, kind, "", label, ordinal).hex()):
                ordinal += 1
        return ids.node_uid(self._repo, type, kind, "", label, ordinal).hex()

    def _again(self, old: GraphNode, new: GraphNode) -> Mapping[str, Any]:
        if (old.type, old.kind, old.label) != (new.type, new.kind, new.label):
            raise ids.collision(old.id, f"{old.type} {old.label}", f"{new.type} {new.label}")
        if old.type == _EVENT_TYPE:
            way_out = "record another decision that supersedes it"
            raise OntologyError("a decision is an event and is never changed", where=old.id, way_out=way_out)
        return MappingProxyType({**old.attrs, **new.attrs})

    def _check(self, node: GraphNode) -> None:
        carried = set(node.attrs) - {"provenance"} | ({"provenance"} if node.provenance else set())
        self.ontology.check_node(node.type, node.kind, carried)
        if node.provenance is not None:
            source = self._find(node.provenance.source_id)
            if source is None or source.type != "source":
                what = f"provenance names {node.provenance.source_id!r}, which is no source here"
                raise OntologyError(what, where=node.label, way_out="add the source first")

    # -- reading

    def get(self, id: str) -> GraphNode | None:
        """The node with this id, or None."""
        with self._lock:
            return self._find(id)

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
            return len(self._graph) if self._graph is not None else 0

    def nodes(self, type: str = "") -> tuple[GraphNode, ...]:
        """All nodes, or those of one type, in the order they came."""
        with self._lock:
            return tuple(n for n in self._records() if not type or n.type == type)

    def edges(self, kind: str = "") -> tuple[GraphEdge, ...]:
        """All edges, or those of one type, in the order of their source nodes."""
        with self._lock:
            return tuple(e for e in self._edge_records() if not kind or e.kind == kind)

    def out_edges(self, id: str, kinds: Collection[str] = ()) -> tuple[GraphEdge, ...]:
        """Edges that leave a node, of all types or of ``kinds``. Raises NotFound."""
        with self._lock:
            self.node(id)
            return _picked(self._nx().out_edges(id, data=True), kinds)

    def in_edges(self, id: str, kinds: Collection[str] = ()) -> tuple[GraphEdge, ...]:
        """Edges that reach a node, of all types or of ``kinds``. Raises NotFound."""
        with self._lock:
            self.node(id)
            return _picked(self._nx().in_edges(id, data=True), kinds)

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

    def _nx(self) -> nx.MultiDiGraph[str]:
        if self._graph is None:
            self._graph = _new_graph()
        return self._graph

    def _find(self, id: str) -> GraphNode | None:
        found = self._graph.nodes.get(id) if self._graph is not None else None
        return _node_of(found) if found is not None else None

    def _records(self) -> Iterator[GraphNode]:
        return (_node_of(data) for _, data in self._graph.nodes(data=True)) if self._graph is not None else iter(())

    def _edge_records(self) -> Iterator[GraphEdge]:
        return (_edge_of(data) for *_, data in self._graph.edges(data=True)) if self._graph is not None else iter(())

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

    def _note(self, kind: str, record: GraphNode | GraphEdge) -> None:
        self._seq += 1
        self._pending.append(GraphChange(self._seq, kind, record))

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
    import networkx  # the import budget: nothing pays for it before the first write

    graph: nx.MultiDiGraph[str] = networkx.MultiDiGraph()
    graph.graph.update(attributes)
    return graph


def _node_of(data: Mapping[str, Any]) -> GraphNode:
    record = data["record"]
    assert isinstance(record, GraphNode)
    return record


def _edge_of(data: Mapping[str, Any]) -> GraphEdge:
    record = data["record"]
    assert isinstance(record, GraphEdge)
    return record


def _picked(found: Any, kinds: Collection[str]) -> tuple[GraphEdge, ...]:
    edges = (_edge_of(data) for *_, data in found)
    return tuple(e for e in edges if not kinds or e.kind in kinds)


def _label(text: str) -> str:
    label: str = plain(text, "label")
    if len(label.encode("utf-8")) > MAX_LABEL_BYTES:
        what = f"a label beyond {MAX_LABEL_BYTES} bytes"
        raise UsageError(what, where=label[:60], way_out="keep long text in a source")
    return label


def _attrs(attrs: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if not attrs:
        return _NO_ATTRS
    if len(attrs) > MAX_ATTRS:
        raise UsageError(f"more than {MAX_ATTRS} attributes", way_out="group them")
    frozen: Mapping[str, Any] = freeze(plain(attrs, "attrs"))
    return frozen

