"""The code graph of one generation, frozen: arrays of its base, and the rows that edits changed since.

Who calls: ``engine/workspace.py`` for neighbours and impact, ``nx_backend``; the indexer calls ``publish``.
What may not come in: freshness, names of nodes (ask ``IndexDB.nodes``), writes other than publishing.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mog.engine.errors import IndexMissing, UsageError
from mog.engine.model import Tier
from mog.engine.store import blobs, closure, csr
from mog.engine.store.index_db import SPACE_EDGE, CsrStamp, IndexDB
from mog.engine.store.schema import damaged

if TYPE_CHECKING:
    import networkx as nx

#: The overlay is folded into new arrays past one edge in a hundred (but not below the floor), or past the ceiling.
OVERLAY_SHARE, OVERLAY_FLOOR, OVERLAY_CEILING = 0.01, 5_000, 50_000
#: Nodes of the largest networkx graph that is ever made (2.8 kB each).
NETWORKX_LIMIT = 20_000


@dataclass(frozen=True, slots=True)
class Closure:
    """What is reached from some seeds. Lists are parallel, by (depth, key), cut at the limit; seeds are not in them.

    Attributes:
        via: the node each was first reached from (of several, the smallest key).
        kind, tier: of the edge it was reached by; ``backward``: the edge leads from the node to ``via``, not from it.
        total, per_depth: all nodes reached, those past the limit included; ``per_depth[0]`` is depth 1.
    """

    nodes: list[int]
    depth: list[int]
    via: list[int]
    kind: list[str]
    tier: list[Tier]
    backward: list[bool]
    total: int
    per_depth: list[int]


class CodeSnapshot:
    """Immutable and free of the database once loaded; threads share it. Make it with ``CodeSnapshot.load``."""

    def __init__(self, base: csr.Csr, generation: int, kinds: Mapping[int, str], overlay: _Overlay) -> None:
        self.csr = base
        self.generation = generation
        self.kinds = dict(kinds)
        self.size = overlay.size
        self._overlay = overlay
        self._rows: tuple[dict[int, tuple[Any, Any]], dict[int, tuple[Any, Any]]] = ({}, {})
        self._meanings = [(self.kinds.get(step & 0x3F, ""), Tier(step >> 6)) for step in range(256)]

    @classmethod
    def load(cls, db: IndexDB, previous: CodeSnapshot | None = None) -> CodeSnapshot:
        """The graph as ``db`` sees it now; arrays of ``previous`` are shared when they still are the base.

        Raises:
            IndexMissing: nothing was published yet. StoreDamaged: the arrays are not those that were published.
        """
        with db.read():
            stamp = db.csr_stamp()
            if stamp is None:
                raise IndexMissing("nothing was published yet", where=str(db.path), way_out="run `mog index`")
            base = _base(db, stamp, previous)
            overlay = _Overlay(db, base)
            return cls(base, db.generation, db.codes(SPACE_EDGE), overlay)

    # nodes

    def alive(self, node: int) -> bool:
        """Is there a node of that key in this generation?"""
        if node >= self.csr.nodes:
            return node in self._overlay.born
        return node not in self._overlay.dead and self.csr.alive(node)

    def node_keys(self) -> Iterator[int]:
        """Keys of all nodes, ascending."""
        return (key for key in range(self.size) if self.alive(key))

    @property
    def edge_count(self) -> int:
        """Edges of this generation, parallel ones counted apart."""
        return self.csr.edges + self._overlay.growth

    # edges of one node

    def mask(self, kinds: Iterable[str] | None = None, tiers: Iterable[int] | None = None) -> bytes:
        """Which edges count, as 256 bytes over the edge byte. None means all; an unknown kind adds none."""
        wanted = None if kinds is None else set(kinds)
        numbers = [number for number, word in self.kinds.items() if wanted is None or word in wanted]
        allowed = bytearray(256)
        for tier in range(4) if tiers is None else tiers:
            for number in numbers:
                allowed[number | int(tier) << 6] = 1
        return bytes(allowed)

    def out(self, node: int, mask: bytes | None = None) -> list[tuple[int, str, Tier]]:
        """Edges out of a node as (other end, kind, tier), sorted by other end; parallel edges come several times."""
        return self._edges(node, mask, incoming=False)

    def in_(self, node: int, mask: bytes | None = None) -> list[tuple[int, str, Tier]]:
        """Edges into a node, in the shape of ``out``."""
        return self._edges(node, mask, incoming=True)

    def degree(self, node: int, mask: bytes | None = None) -> tuple[int, int]:
        """(edges in, edges out), parallel ones counted apart."""
        allowed = mask or closure.ALL
        _, into = self.row(node, incoming=True)
        _, out = self.row(node, incoming=False)
        return sum(map(allowed.__getitem__, into)), sum(map(allowed.__getitem__, out))

    def _edges(self, node: int, mask: bytes | None, *, incoming: bool) -> list[tuple[int, str, Tier]]:
        ends, steps = self.row(node, incoming=incoming)
        allowed = mask or closure.ALL
        meanings = self._meanings
        return [(end, *meanings[step]) for end, step in zip(ends, steps, strict=True) if allowed[step]]

    def row(self, node: int, *, incoming: bool = False) -> tuple[Any, Any]:
        """Other ends and edge bytes of one node, sorted by (end, byte), edits applied."""
        side = 1 if incoming else 0
        delta = self._overlay.delta[side].get(node)
        if delta is None:
            return self.csr.row(node, incoming=incoming)
        if node not in self._rows[side]:
            self._rows[side][node] = self._merged(self.csr.row(node, incoming=incoming), delta)
        return self._rows[side][node]

    def _merged(self, row: tuple[Any, Any], delta: Counter[tuple[int, int]]) -> tuple[Any, Any]:
        edges: Counter[tuple[int, int]] = Counter(zip(*row, strict=True))
        edges.update(delta)
        if min(edges.values(), default=0) < 0:
            raise damaged("the overlay takes away an edge that the arrays do not have", self.csr.path)
        ordered = sorted(edges.elements())
        return array("i", [end for end, _ in ordered]), bytes(step for _, step in ordered)

    def changed(self, *, incoming: bool) -> frozenset[int]:
        """Nodes whose row differs from the arrays."""
        return self._overlay.changed[1 if incoming else 0]

    # many nodes

    def closure(
        self,
        seeds: Iterable[int],
        *,
        direction_by_kind: Mapping[str, str],
        tiers: Collection[int] = (Tier.certain,),
        max_depth: int | None = None,
        limit: int | None = None,
    ) -> Closure:
        """Everything reached from ``seeds``, following each edge kind in its own direction.

        Args:
            direction_by_kind: kind → ``in`` (from head to tail), ``out`` or ``both``; kinds not named are not followed.
                The words of GRAPH.md's Impact column (``reverse``, ``forward``, ``none``) are understood too.
            max_depth: hops at most. limit: nodes named at most; the counts are exact all the same.
        """
        forward = [kind for kind, way in direction_by_kind.items() if _follows(way, "out", "forward")]
        reverse = [kind for kind, way in direction_by_kind.items() if _follows(way, "in", "reverse")]
        masks = {"out_mask": self.mask(forward, tiers), "in_mask": self.mask(reverse, tiers)}
        found = closure.reach(self, seeds, **masks, max_depth=max_depth, limit=limit)
        kinds = [self._meanings[step][0] for step in found.steps]
        sure = [self._meanings[step][1] for step in found.steps]
        return Closure(found.nodes, found.depth, found.via, kinds, sure, found.backward, found.total, found.per_depth)

    def to_networkx(
        self,
        nodes: Iterable[int],
        *,
        mask: bytes | None = None,
        describe: Callable[[int], Mapping[str, Any]] | None = None,
        limit: int = NETWORKX_LIMIT,
    ) -> nx.MultiDiGraph:
        """A real networkx graph of these nodes and the edges among them, with ``kind`` and ``tier`` on every edge.

        Args:
            describe: node key → attributes of the node.

        Raises:
            UsageError: more than ``limit`` nodes; a whole graph is never converted.
        """
        import networkx as nx

        chosen = {node for node in nodes if self.alive(node)}
        if len(chosen) > limit:
            what = f"{len(chosen)} nodes are more than the {limit} a networkx graph may have"
            raise UsageError(what, way_out="ask for a neighbourhood, or run networkx on `nx_backend.view(snapshot)`")
        graph: nx.MultiDiGraph = nx.MultiDiGraph()
        graph.add_nodes_from((node, dict(describe(node)) if describe else {}) for node in sorted(chosen))
        for node in sorted(chosen):
            for end, kind, tier in self.out(node, mask):
                if end in chosen:
                    graph.add_edge(node, end, kind=kind, tier=tier)
        return graph


def _follows(way: str, *words: str) -> bool:
    if way not in ("in", "out", "both", "none", "reverse", "forward"):
        raise UsageError(f"no direction is called {way!r}", way_out="use in, out, both or none")
    return way == "both" or way in words


def _base(db: IndexDB, stamp: CsrStamp, previous: CodeSnapshot | None) -> csr.Csr:
    if previous is not None and previous.csr.digest == stamp.digest:
        return previous.csr
    return csr.open_csr(csr.path_of(db.directory, stamp.generation), stamp)


class _Overlay:
    """What edits changed since the arrays were built: for each node and direction, edges gained (+) and lost (-)."""

    def __init__(self, db: IndexDB, base: csr.Csr) -> None:
        self.size = max(base.nodes, db.next_node())
        self.born = frozenset(db.node_keys(above=base.nodes))
        self.dead = frozenset(db.dead_nodes())
        self.growth = 0
        self.delta: tuple[dict[int, Counter[tuple[int, int]]], dict[int, Counter[tuple[int, int]]]] = ({}, {})
        self._read(db)
        self.changed = (frozenset(self.delta[0]), frozenset(self.delta[1]))

    def _read(self, db: IndexDB) -> None:
        try:
            for _, before, now in db.overlay():
                difference = Counter(_triples(now))
                difference.subtract(_triples(before))
                self._add(difference, db)
        except ValueError as error:
            raise damaged(str(error), db.path) from error

    def _add(self, difference: Mapping[tuple[int, int, int], int], db: IndexDB) -> None:
        for (src, dst, step), count in difference.items():
            if not count:
                continue
            if not (0 <= src < self.size and 0 <= dst < self.size):
                raise damaged("an edge leads outside of the index", db.path)
            self.growth += count
            self.delta[0].setdefault(src, Counter())[dst, step] += count
            self.delta[1].setdefault(dst, Counter())[src, step] += count


def _triples(blob: bytes) -> Iterator[tuple[int, int, int]]:
    return ((src, dst, csr.csr_byte(code)) for src, dst, code, _ in blobs.unpack_edges(blob))


def needs_compaction(db: IndexDB) -> bool:
    """Is the overlay so large that new arrays are due (or are there none yet)?"""
    stamp = db.csr_stamp()
    if stamp is None:
        return True
    return db.overlay_edges() > min(OVERLAY_CEILING, max(OVERLAY_FLOOR, int(stamp.edges * OVERLAY_SHARE)))


def publish(db: IndexDB, *, compact: bool | None = None) -> int:
    """Close a transaction's writes: build new arrays if due, count the generation up. Returns the new generation.

    Call it last inside ``with db.transaction():``; a process killed before the commit leaves the old generation
    serving, with its own arrays. After the commit ``tidy(db)`` drops arrays no longer needed.

    Args:
        compact: True always builds arrays, False only when there are none yet, None by ``needs_compaction``.
    """
    due = needs_compaction(db) if compact is None else compact or db.csr_stamp() is None
    return db.publish(csr.build(db, db.generation + 1) if due else None)


def tidy(db: IndexDB) -> None:
    """After a commit: fold the write-ahead log back and delete the arrays of earlier generations."""
    db.checkpoint()
    stamp = db.csr_stamp()
    if stamp is not None:
        csr.cleanup(db.directory, stamp.generation)
