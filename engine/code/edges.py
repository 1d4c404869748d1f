"""Links of one file → edge records and a digest that knows names only. The hot loop of publication.

Called by ``publish``. What may not come in: SQL, inference. Every pair of types is checked against GRAPH.md before it is packed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence, Set

from mog.engine.code import facts as schema
from mog.engine.code.link import LinkEdge
from mog.engine.code.link_view import FactsView
from mog.engine.code.nodes import Keys
from mog.engine.contracts.link import SurfaceEdge
from mog.engine.model import Tier
from mog.engine.ontology import Ontology
from mog.engine.store import blobs
from mog.engine.store.index_db import IndexDB
from mog.engine.store.schema import SPACE_EDGE, FileRow

Record = tuple[int, int, int, int]
# A test that calls or names something exercises it.
TESTED_FROM = frozenset({"calls", "references"})
# Numbered in this order, whichever is met first.
_KINDS = ("contains", "defines", "calls", "imports", "inherits", "references", "tested_by", "implements", "declares", "touches",
          "configures")  # fmt: skip
# What counts as one file leaning on another.
LEANING = frozenset({"calls", "imports", "inherits", "references"})


class _Place:
    """What edges need of a target file: its node, keys and names of its symbols, and which are tests."""

    __slots__ = ("file", "keys", "number", "quals", "tests")

    def __init__(self, row: FileRow, keys: Sequence[int], syms: Sequence[Sequence[object]]) -> None:
        self.number = row.id
        self.file = row.node
        self.keys = keys
        self.quals = [str(sym[schema.QUAL]) for sym in syms]
        self.tests = frozenset(ord for ord, sym in enumerate(syms) if sym[schema.KIND] == "test")


class EdgeWriter:
    """Packs the edges of many files in one run; remembers codes, names and targets.

    Args:
        row_of: path → row of an indexed file.
    """

    def __init__(
        self, db: IndexDB, ontology: Ontology, view: FactsView, keys: Keys, row_of: Callable[[str], FileRow]
    ) -> None:
        self._db = db
        self._ontology = ontology
        self._view = view
        self._keys = keys
        self._row_of = row_of
        self._names: dict[str, int] = {}
        self._codes: dict[tuple[str, int, str, str], int] = {}
        self._places: dict[str, _Place] = {}
        for kind in _KINDS:
            db.code(SPACE_EDGE, kind)
        self.leaned_on: Counter[int] = Counter()  # file number → certain links into it from other files

    def pack(
        self, path: str, row: FileRow, edges: Set[LinkEdge], surfaces: Set[SurfaceEdge] = frozenset()
    ) -> tuple[bytes, bytes]:
        """Edge blob of one file, structure included, and the digest of its links (names, tiers; sorted)."""
        if not row.node:
            return b"", b""
        self._number([edge[5] for edge in edges])
        place = self._place(path)
        records = set(self._structure(path, place))
        lines = self._add(edges, place, records)
        if surfaces:
            lines += self._add_surfaces(sorted(surfaces), records)
        text = "\n".join(sorted(lines)).encode("utf-8", "surrogatepass")
        return blobs.pack_edges(sorted(records)), hashlib.blake2b(text, digest_size=16).digest()

    def _number(self, names: Iterable[str]) -> None:
        new = {name for name in (*names, "") if name not in self._names}
        if new:
            self._names.update(self._db.name_ids(new))

    def _structure(self, path: str, place: _Place) -> Iterable[Record]:
        """``contains`` and ``defines``: what holds what."""
        nameless = self._names[""]
        yield self._keys.root, place.file, self._code("contains", Tier.certain, "container", "file"), nameless
        top = self._code("defines", Tier.certain, "file", "symbol")
        inner = self._code("defines", Tier.certain, "symbol", "symbol")
        facts = self._view.facts(path)
        for ord, sym in enumerate(facts["syms"] if facts else ()):
            parent = sym[schema.PARENT]
            if parent >= 0:
                yield place.keys[parent], place.keys[ord], inner, nameless
            else:
                yield place.file, place.keys[ord], top, nameless

    def _add(self, edges: Iterable[LinkEdge], place: _Place, records: set[Record]) -> list[str]:
        """Add the records of one file's links; a line for each, by names only."""
        unbound: list[LinkEdge] = []
        lines: list[str] = []
        names, places, codes, keys = self._names, self._places, self._codes, place.keys
        for from_ord, path, target, kind, tier, name in edges:
            if isinstance(target, str):
                unbound.append((from_ord, path, target, kind, tier, name))
                continue
            src, src_type = (keys[from_ord], "symbol") if from_ord >= 0 else (place.file, "file")
            there = places.get(path) or self._place(path)
            if target >= 0:
                dst, dst_type, qual = there.keys[target], "symbol", there.quals[target]
            else:
                dst, dst_type, qual = there.file, "file", ""
            code = codes.get((kind, tier, src_type, dst_type)) or self._code(kind, tier, src_type, dst_type)
            if not tier & 3 and there is not place and kind in LEANING:
                self.leaned_on[there.number] += 1
            records.add((src, dst, code, names[name]))
            lines.append(f"{from_ord}\0{path}\0{qual}\0{kind}\0{tier}\0{name}")
            if not tier & 3 and target >= 0 and from_ord in place.tests and kind in TESTED_FROM and target not in there.tests:
                records.add((dst, src, self._code("tested_by", Tier.certain, "symbol", "symbol"), names[""]))
        for edge in sorted(unbound):  # in order, since new names get keys
            records.add(self._unbound(edge, place))
            lines.append("\0".join(map(str, edge)))
        return lines

    def _add_surfaces(self, edges: Sequence[SurfaceEdge], records: set[Record]) -> list[str]:
        """Add the records of edges to surfaces, in order, since new ones get keys; the name of the edge is its op."""
        self._number([edge[5] for edge in edges])
        lines = []
        for path, ord, role, name, kind, op in edges:
            there = self._place(path)
            src, src_type, qual = (there.keys[ord], "symbol", there.quals[ord]) if ord >= 0 else (there.file, "file", "")
            code = self._code(kind, Tier.certain, src_type, "entity")
            records.add((src, self._keys.surface(role, name), code, self._names[op]))
            lines.append(f"{path}\0{qual}\0{role}\0{name}\0{kind}\0{op}")
        return lines

    def _unbound(self, edge: LinkEdge, place: _Place) -> Record:
        """The record of a link to nothing of the repository."""
        from_ord, _, target, kind, tier, name = edge
        src, src_type = (place.keys[from_ord], "symbol") if from_ord >= 0 else (place.file, "file")
        reason, _, unbound = str(target).partition(":")
        code = self._code(kind, tier, src_type, "unresolved")
        return src, self._keys.unresolved(reason, unbound), code, self._names[name]

    def _place(self, path: str) -> _Place:
        found = self._places.get(path)
        if found is None:
            facts = self._view.facts(path)
            syms = facts["syms"] if facts else ()
            found = self._places[path] = _Place(self._row_of(path), self._keys.of_file(path), syms)
        return found

    def _code(self, kind: str, tier: int, src_type: str, dst_type: str) -> int:
        """Edge code of a legal edge. Raises OntologyError for a pair that GRAPH.md does not allow."""
        asked = (kind, tier, src_type, dst_type)
        known = self._codes.get(asked)
        if known is None:
            self._ontology.check_edge(kind, src_type, dst_type)
            known = self._codes[asked] = blobs.edge_code(self._db.code(SPACE_EDGE, kind), tier)
        return known
