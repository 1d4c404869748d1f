"""A frozen view of one generation of the code layer: rows as ``Node`` and ``Edge`` records, targets found, questions answered.

Called by ``workspace``. What may not come in: writes, the reason layer, text for people beyond the notes of a boundary.
Reads pin one database snapshot (``with view:``); a view serves one thread at a time.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from mog.engine.code import facts as schema
from mog.engine.code.languages.paths import is_test_path
from mog.engine.code.languages_map import CODE
from mog.engine.code.nodes import GATED
from mog.engine.errors import AmbiguousTarget, IndexMissing, NotFound
from mog.engine.ids import readings
from mog.engine.model import (
    Boundary,
    Edge,
    Freshness,
    Hit,
    IndexStamp,
    MapAnswer,
    MapRow,
    Neighborhood,
    Node,
    ScanHealth,
    ScipHealth,
    SearchAnswer,
    Tier,
)
from mog.engine.ontology import Ontology
from mog.engine.roots import folder_mark
from mog.engine.store import blobs
from mog.engine.store.index_db import IndexDB
from mog.engine.store.schema import SPACE_EDGE, FileRow, NodeRow
from mog.engine.store.snapshot import CodeSnapshot

if TYPE_CHECKING:
    import networkx as nx

Freshener = Callable[["FileRow | None"], Freshness]

CANDIDATES_SHOWN = 20
# Unresolved receivers and capped names are "not known"; external ones are known to lead out of the repository.
UNKNOWN_KINDS = frozenset({"receiver", "capped"})
_ORDINAL = re.compile(r"#\d+\Z")
KEPT = 5_000  # records of nodes a view remembers
_STRUCTURAL = frozenset({"contains", "defines"})
#: What a name in a test counts beside the same name outside, and how many times as many hits are looked at for that.
_LESS_TESTS, _AMONG = 0.5, 3


class CodeView:
    """Questions about one generation.

    Args:
        db: a reader of the index. ontology: says which way impact runs. previous: an earlier view, whose arrays are reused.
    """

    def __init__(self, db: IndexDB, ontology: Ontology, previous: CodeView | None = None) -> None:
        self.db = db
        self.ontology = ontology
        meta = db.meta_all()
        if "generation" not in meta:
            raise IndexMissing("there is no index yet", where=str(db.path), way_out="run `mog index`")
        if meta.get("made_with", [""])[-1] != folder_mark(db.path.parent.parent):
            raise IndexMissing("this index was made for another folder", where=str(db.path), way_out="run `mog index`")
        self.meta = meta
        self.stamp = IndexStamp(
            int(meta["generation"]), str(meta.get("ref", "")), bool(meta.get("dirty", False)), int(meta.get("unread") or 0)
        )
        self._previous: CodeView | None = previous if previous is None or previous._snapshot is not None else previous._previous
        self._snapshot: CodeSnapshot | None = None
        self._files: dict[int, FileRow] = {}
        self._numbers: dict[str, int] = {}
        self._records: dict[int, Node] = {}
        self._keys: dict[tuple[int, int], int] = {}
        self._unknown: dict[str, tuple[int, int]] = {}

    @property
    def graph(self) -> CodeSnapshot:
        """The arrays of this generation, loaded at first use."""
        if self._snapshot is None:
            previous = self._previous._snapshot if self._previous else None
            self._snapshot = CodeSnapshot.load(self.db, previous)
            self._previous = None
        return self._snapshot

    # rows → records

    def file_row(self, number: int) -> FileRow | None:
        """Row of a file by its number."""
        if number not in self._files:
            row = self.db.file(number)
            if row is None:
                return None
            self._files[number] = row
        return self._files[number]

    def nodes(self, keys: Iterable[int]) -> dict[int, Node]:
        """Records by key; keys that are gone are left out. What was read once is remembered: a generation does not change."""
        wanted = sorted(set(keys))
        missing = [key for key in wanted if key not in self._records]
        if missing:
            several = len(missing) > KEPT // 2  # more than is worth remembering
            missing = missing if not several and self._bound(len(missing)) else wanted
            found = {key: self._node(row) for key, row in self.db.nodes(missing).items()}
            if several:
                return found
            self._records |= found
        return {key: self._records[key] for key in wanted if key in self._records}

    def _bound(self, more: int) -> bool:
        """Make room for more records; False when what was remembered is forgotten for it."""
        if max(len(self._records), len(self._unknown)) + more <= KEPT:
            return True
        self._records, self._keys, self._unknown = {}, {}, {}
        return False

    def _file_of(self, node: Node) -> FileRow | None:
        return self.file_at(node.path) if node.path else None

    def file_at(self, path: str) -> FileRow | None:
        """Row of a file by its path; None for one that is not in the index."""
        if path not in self._numbers:
            row = self.db.file_by_path(os.fsencode(path))
            self._numbers[path] = row.id if row else 0
            if row is not None:
                self._files[row.id] = row
        return self._files.get(self._numbers[path])

    def nodes_in(self, path: str) -> dict[int, Node]:
        """Records of one file by ``ord`` (-1: the file itself); none for a file that is not in the index."""
        row = self.file_at(path)
        return {one.ord: self._node(one) for one in self.db.nodes_of_file(row.id)} if row is not None else {}

    def nodes_at(self, places: Collection[tuple[str, int]]) -> dict[tuple[str, int], Node]:
        """Records by (path, ``ord``); those that are not in the index are left out."""
        wanted: dict[int, list[int]] = {}
        self._bound(len(places))
        rows = {(path, ord_): self.file_at(path) for path, ord_ in places}
        for (_, ord_), row in rows.items():
            if row is not None and (row.id, ord_) not in self._keys:
                wanted.setdefault(row.id, []).append(ord_)
        for one in self.db.nodes_at(wanted) if wanted else ():
            self._keys[one.file, one.ord] = one.key
            self._records[one.key] = self._node(one)
        known = {place: self._keys[row.id, place[1]] for place, row in rows.items() if row and (row.id, place[1]) in self._keys}
        return {place: self._records[key] for place, key in known.items()}

    def _node(self, row: NodeRow) -> Node:
        file = self.file_row(row.file) if row.file else None
        path = os.fsdecode(file.path) if file else ""
        gated = bool(row.flags & GATED)
        qual = row.qual if row.type == "symbol" else ""
        sig = row.qual if row.type == "entity" else row.sig  # the role of a surface
        return Node(row.key, row.uid.hex(), row.type, row.kind, row.name, qual, path, row.line, row.end, sig, "", gated)

    def _documented(self, row: NodeRow) -> Node:
        """The record with its documentation, which costs decoding the facts of its file."""
        sym = self._sym(self.file_row(row.file) if row.file else None, row)
        return replace(self._node(row), doc=sym[schema.DOC] if sym else "")

    def _sym(self, file: FileRow | None, row: NodeRow) -> list[Any] | None:
        if row.type != "symbol" or file is None or not file.facts:
            return None
        syms = self.db.facts_get(file.facts)["syms"]
        return syms[row.ord] if 0 <= row.ord < len(syms) else None

    # targets

    def find(self, target: str) -> Node:
        """The one node a person or agent means.

        Understood, in this order: 32 hex digits of an id, a locator, a path, ``path::name``, ``path:line``, a qualified
        name or its tail, a bare name.

        Raises:
            NotFound: nothing answers, with the nearest names. AmbiguousTarget: several do.
        """
        return self._documented(self._meant(target))

    def find_bare(self, target: str) -> Node:
        """As :meth:`find`, without the documentation, which costs decoding the facts of the file."""
        return self._node(self._meant(target))

    def _meant(self, target: str) -> NodeRow:
        found = self._by_id(target) or self._by_place(target) or self._by_name(target) or self._by_surface("", target)
        if not found:
            raise self._not_found(target)
        if len(found) > 1:
            locators = [self._node(row).locator for row in found[:CANDIDATES_SHOWN]]
            what = f"{target!r} names {len(found)} things"
            raise AmbiguousTarget(what, locators, way_out="use one of: " + ", ".join(locators[:5]))
        return found[0]

    def named(self, target: str) -> Node | None:
        """The node of exactly that id or locator, without its documentation; None when it is not there."""
        rows = self._by_id(target)
        if not rows and target.startswith("entity:"):
            role, _, name = target.removeprefix("entity:").partition(":")
            rows = self._by_surface(role, name)
        if not rows and target.startswith(("sym:", "file:")):
            rows = next((found for place in readings(target) if (found := self._at(place.path, place.name))), [])
        return self._node(rows[0]) if rows else None

    def _by_id(self, target: str) -> list[NodeRow]:
        try:
            uid = bytes.fromhex(target)
        except ValueError:
            return []
        return self.db.nodes_by_uid(uid) if len(uid) == 16 else []

    def _by_place(self, target: str) -> list[NodeRow]:
        for place in readings(target):
            if place.type == "entity":
                role, _, name = place.name.partition(":")
                return self._by_surface(role, name) or self._by_surface("", place.name)
            if place.type == "unresolved":
                return [row for row in self.db.nodes_by_name(place.name) if row.type == "unresolved"]
            rows = self._at(place.path, place.name)
            if rows:
                return rows if target.startswith("sym:") else self._read(rows, target)
        rows = self._at(target, "")
        if rows:
            return rows
        path, colon, line = target.rpartition(":")
        return self._at_line(path, int(line)) if colon and line.isdecimal() else []

    def _by_surface(self, role: str, name: str) -> list[NodeRow]:
        """Surfaces of that name, of one role or ("") of any."""
        rows = self.db.nodes_by_name(name)
        return [row for row in rows if row.type == "entity" and (not role or row.qual == role)]

    def _at(self, path: str, qual: str) -> list[NodeRow]:
        try:
            row = self.file_at(path.removeprefix("./"))
        except (UnicodeEncodeError, ValueError):
            return []
        if row is None:
            return []
        if not qual:
            return self.db.nodes_at({row.id: [-1]})
        found = [one for one in self.db.nodes_named(row.id, bare(qual)) if one.type == "symbol" and one.qual == qual]
        return found or [one for one in self.db.nodes_of_file(row.id) if one.type == "symbol" and one.qual == qual]

    def _at_line(self, path: str, line: int) -> list[NodeRow]:
        """The innermost symbol that covers the line."""
        row = self.db.file_by_path(os.fsencode(path.removeprefix("./")))
        covering = [one for one in self.db.nodes_of_file(row.id) if one.line <= line <= one.end] if row else []
        return sorted(covering, key=lambda one: one.end - one.line)[:1]

    def _by_name(self, target: str) -> list[NodeRow]:
        name = target.rpartition(".")[2]
        rows = [row for row in self.db.nodes_by_name(bare(target)) if row.type == "symbol"]
        exact = [row for row in rows if row.qual == target]
        tails = [row for row in rows if row.qual.endswith("." + target)] if "." in target else []
        plain = rows if "." not in target and name == bare(target) else []
        return self._read(exact or tails or plain, target) or self._by_basename(target)

    def _read(self, rows: list[NodeRow], target: str) -> list[NodeRow]:
        """Of several definitions of one name in a file (overloads, the halves of an ``if``) the one that is read, as links have it;
        a target with an ordinal, or a locator, means what it says."""
        if "#" in target:
            return rows
        return list({row.key: row for row in map(self._read_of, rows)}.values())

    def _read_of(self, row: NodeRow) -> NodeRow:
        several = self.definitions(row)
        if len(several) < 2:
            return row
        syms = [self._sym(self.file_row(row.file), one) for one in several]
        return several[schema.read_of([sym[schema.META].get("x", ()) if sym else () for sym in syms])]

    def definitions(self, row: NodeRow) -> list[NodeRow]:
        """All definitions of a symbol's qualified name in its file, in order; itself alone for what is no symbol."""
        if row.type != "symbol":
            return [row]
        base = _ORDINAL.sub("", row.qual)
        return [one for one in self.db.nodes_named(row.file, row.name) if _ORDINAL.sub("", one.qual) == base]

    def _by_basename(self, target: str) -> list[NodeRow]:
        return [row for row in self.db.nodes_by_name(target) if row.type in ("file", "container")]

    def _not_found(self, target: str) -> NotFound:
        near = [self._node(row).locator for row in self.db.nodes_by_prefix(target.rpartition(".")[2], 5) if row.type == "symbol"]
        way_out = f"did you mean {', '.join(near)}?" if near else "`mog search` finds names by their parts"
        return NotFound(f"nothing in the index is called {target!r}", way_out=way_out)

    # search

    def search(self, query: str, limit: int, kinds: Collection[str], fresh: Freshener) -> SearchAnswer:
        """Ranked nodes for a query, those of tests last unless it asks for tests; ``fresh`` maps a file row to its freshness."""
        ranked = self.db.search(query, _AMONG * limit + 1, kinds)
        nodes = self.nodes(key for key, _ in ranked)
        less = 1.0 if "test" in query.lower() else _LESS_TESTS
        scored = [(nodes[key], score * (less if is_test_path(nodes[key].path) else 1.0)) for key, score in ranked if key in nodes]
        scored.sort(key=lambda one: -one[1])
        hits = tuple(Hit(node, score, fresh(self._file_of(node))) for node, score in scored[:limit])
        gated = sum(1 for hit in hits if hit.node.gated)
        total = max(len(ranked), self.db.search_total(query, kinds)) if len(ranked) > limit else len(ranked)
        return SearchAnswer(query, hits, total, Boundary(omitted=max(0, total - len(hits)), gated=gated), self.stamp)

    # edges of one node

    def _side(
        self, key: int, incoming: bool, kinds: Collection[str], tiers: Collection[Tier], limit: int, fresh: Freshener
    ) -> tuple[tuple[Edge, ...], Counter[tuple[str, Tier]], int]:
        """Edges on one side: those shown (certain first), exact totals by (kind, tier), and how many were left out."""
        graph = self.graph
        ends = graph.in_(key) if incoming else graph.out(key)
        totals = Counter((kind, tier) for _, kind, tier in ends)
        counted = Counter(end for end in ends if (not kinds or end[1] in kinds) and end[2] in tiers)
        order = sorted(counted, key=lambda end: (end[2], end[1] in _STRUCTURAL, end[1], end[0]))
        nodes = self.nodes(end[0] for end in order[:limit])
        told = self._told(key, incoming, nodes.values()) if self.meta.get("scip") else frozenset()
        edges = [
            Edge(
                kind, tier, nodes[other], not incoming, nodes[other].name, counted[other, kind, tier],
                fresh(self._file_of(nodes[other])), "scip" if (other, kind, tier) in told else "",
            )
            for other, kind, tier in order[:limit]
            if other in nodes
        ]  # fmt: skip
        return tuple(edges), totals, max(0, len(order) - limit)

    def _told(self, key: int, incoming: bool, others: Iterable[Node]) -> frozenset[tuple[int, str, Tier]]:
        """Of the edges between a node and others, those that a SCIP index told (records keep that, the arrays do not)."""
        words = self.db.codes(SPACE_EDGE)
        places = self.db.node_places([one.key for one in others] if incoming else [key])
        found: set[tuple[int, str, Tier]] = set()
        for number in {file for _, file, _ in places if file}:
            for src, dst, code, _ in blobs.unpack_edges(self.db.edges_get(number)):
                if (dst if incoming else src) == key and blobs.is_from_scip(code):
                    found.add((src if incoming else dst, words.get(code & 0xFF, ""), Tier(blobs.tier_of(code))))
        return frozenset(found)

    def neighborhood(
        self, node: Node, kinds: Collection[str], direction: str, tiers: Collection[Tier], limit: int, fresh: Freshener
    ) -> Neighborhood:
        """Both sides of a node, without pins (``workspace`` knows them). A side not asked for shows nothing and omits nothing."""
        fresh = cache(fresh)

        def side(incoming: bool) -> tuple[tuple[Edge, ...], Counter[tuple[str, Tier]], int]:
            asked = direction in ("both", "in" if incoming else "out")
            edges, totals, more = self._side(node.key, incoming, kinds, tiers, limit if asked else 0, fresh)
            return edges, totals, more if asked else 0

        (edges_in, totals_in, more_in), (edges_out, totals_out, more_out) = side(True), side(False)
        known = self.nodes([node.key]).get(node.key)
        freshness = fresh(self._file_of(known) if known else None)
        receivers, capped = self.unknown_sites(node.name) if node.type == "symbol" else (0, 0)
        maybe = sum(count for (_, tier), count in totals_in.items() if tier in {Tier.hierarchy, Tier.candidate} - set(tiers))
        boundary = Boundary(more_in + more_out, int(node.gated), receivers, maybe, capped)
        return Neighborhood(node, freshness, edges_in, edges_out, totals_in, totals_out, (), boundary, self.stamp)

    def unknown_sites(self, name: str) -> tuple[int, int]:
        """(sites whose receiver is not known, sites capped) among calls written under this name."""
        if name not in self._unknown:
            counts = Counter(dict.fromkeys(UNKNOWN_KINDS, 0))
            for key, kind in self.db.unresolved(name):
                if kind in UNKNOWN_KINDS:
                    counts[kind] += self.graph.degree(key)[0]
            self._bound(1)
            self._unknown[name] = (counts["receiver"], counts["capped"])
        return self._unknown[name]

    def subgraph(self, center: Node, depth: int, limit: int) -> nx.MultiDiGraph[int]:
        """What lies within ``depth`` hops of a node as a networkx graph, nearest first, at most ``limit`` nodes."""
        every = dict.fromkeys(self.ontology.edge_types, "both")
        tiers = tuple(Tier)
        near = self.graph.closure([center.key], direction_by_kind=every, tiers=tiers, max_depth=depth, limit=limit - 1)
        described = self.nodes([center.key, *near.nodes])

        def describe(key: int) -> dict[str, str]:
            node = described[key]
            return {"locator": node.locator, "type": node.type, "kind": node.kind}

        return self.graph.to_networkx(described, describe=describe)

    # map

    def map(self, limit: int) -> MapAnswer:
        """Files that others lean on most, with their top-level symbols."""
        ranks = {int(number): count for number, count in self.meta.get("ranks", {}).items()}
        rows = [row for row in map(FileRow._make, self.db.file_rows()) if row.status == "source"]
        rows.sort(key=lambda row: (-ranks.get(row.id, 0), row.lang not in CODE, row.path))
        shown = tuple(self._map_row(row, ranks.get(row.id, 0)) for row in rows[:limit])
        return MapAnswer(shown, Boundary(omitted=max(0, len(rows) - limit)), self.stamp)

    def _map_row(self, row: FileRow, rank: int) -> MapRow:
        nodes = [one for one in self.db.nodes_of_file(row.id) if one.type == "symbol"]
        top = [one for one in nodes if "." not in one.qual]
        top.sort(key=lambda one: (-self.graph.degree(one.key)[0], one.ord))
        return MapRow(os.fsdecode(row.path), row.lang, len(nodes), float(rank), tuple(map(self._node, top[:5])))

    # the whole

    def outdated(self) -> bool:
        """Whether a newer generation was published since."""
        return self.db.generation != self.stamp.generation

    def report(self) -> dict[str, Any]:
        """What an ``IndexReport`` and a ``Status`` share: counts, health, facts_hash, generation."""
        edges, tiers = self._edge_counts()
        rows = self.db.file_rows()
        symbols = self.db.rows("SELECT count(*) FROM nodes WHERE ord >= 0")[0][0]
        return {
            "files": sum(1 for row in rows if row[4] != "skipped"),
            "symbols": symbols,
            "edges": edges,
            "calls_by_tier": tiers,
            "health": self._health(rows),
            "facts_hash": self.meta.get("facts_hash", ""),
            "generation": self.stamp.generation,
        }

    def _edge_counts(self) -> tuple[dict[str, int], dict[str, int]]:
        words = self.db.codes(SPACE_EDGE)
        edges: Counter[str] = Counter()
        calls = {tier.name: 0 for tier in Tier}
        for code, count in self.meta.get("edge_counts", {}).items():
            kind, tier = words.get(int(code) & 0xFF, ""), Tier(blobs.tier_of(int(code)))
            edges[kind] += count
            if kind == "calls":
                calls[tier.name] += count
        return dict(sorted(edges.items())), calls

    def _health(self, rows: Iterable[tuple[Any, ...]]) -> ScanHealth:
        scan = self.meta.get("scan", {})
        late = [(row[5], os.fsdecode(row[1])) for row in rows if row[4] == "skipped"]
        skipped = Counter(scan.get("skipped", {})) + Counter(reason for reason, _ in late)
        examples = {reason: tuple(paths) for reason, paths in scan.get("examples", {}).items()}
        for reason in {reason for reason, _ in late}:
            more = sorted(path for why, path in late if why == reason)
            examples[reason] = (*examples.get(reason, ()), *more)[:5]
        kept = [row for row in rows if row[4] != "skipped"]
        problems = {os.fsdecode(row[1]): row[5] for row in kept if row[5] and row[4] == "source"}
        return ScanHealth(
            seen=int(scan.get("seen", 0)),
            indexed=len(kept),
            text_only=sum(1 for row in kept if row[4] == "data"),
            skipped=dict(sorted(skipped.items())),
            examples=examples,
            gated=sum(1 for row in kept if row[4] == "gated"),
            gated_symbols=self.db.rows("SELECT count(*) FROM nodes WHERE ord >= 0 AND flags & 1")[0][0],
            languages=dict(sorted(Counter(row[3] for row in kept).items())),
            problems=dict(sorted(problems.items())[:200]),
            problem_count=len(problems),
            warnings=tuple(scan.get("warnings", ())),
            git=bool(scan.get("git", True)),
            no_symbols=dict(sorted(Counter(row[5] for row in kept if row[5] and row[4] == "data").items())),
            scip=self._scip_health(),
        )

    def _scip_health(self) -> ScipHealth | None:
        if not self.meta.get("scip"):
            return None
        from mog.engine.code.scip.account import health

        return health(self.db, self.meta)

    def languages(self) -> dict[str, int]:
        """Language → files in the index."""
        return dict(self.db.rows("SELECT lang, count(*) FROM files WHERE status <> 'skipped' GROUP BY lang"))

    def paths(self) -> list[str]:
        """Paths of all files that have a row, sorted."""
        return [os.fsdecode(path) for (path,) in self.db.rows("SELECT path FROM files WHERE node <> 0 ORDER BY path")]


def bare(qual: str) -> str:
    """The name that a qualified name most likely ends with: an ordinal or role is no part of it."""
    name = qual.rpartition(".")[2]
    return name[:1] + name[1:].partition("#")[0].partition("@")[0]
