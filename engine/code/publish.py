"""One generation: rows of what was read, links of what that touches, counts, digests, publication. One transaction.

Called by ``indexer`` with the writer's transaction open. What may not come in: reading files, rules of a language.

Invariant: the digests do not depend on the order of edits, on integer keys, or on how much was done at once.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from mog.engine.code import facts as schema
from mog.engine.code import scan, toolchain
from mog.engine.code.account import scan_record
from mog.engine.code.edges import LEANING, EdgeWriter
from mog.engine.code.extract import LANGUAGES
from mog.engine.code.facts import Facts
from mog.engine.code.factsview import IndexView
from mog.engine.code.ingest import Ingested, Job
from mog.engine.code.link import Linker
from mog.engine.code.link_view import FactsView, MemoryView, base_names, read_key, surface
from mog.engine.code.nodes import SURFACE, Keys, search_rows, surface_rows
from mog.engine.contracts.pack import load_readable as load_packs
from mog.engine.errors import ProviderError
from mog.engine.model import Progress
from mog.engine.store import blobs, snapshot
from mog.engine.store.fts import FtsRow
from mog.engine.store.index_db import IndexDB
from mog.engine.store.schema import SPACE_EDGE, FileRow, NodeRow

if TYPE_CHECKING:
    from mog.engine.code.indexer import Indexer, Outcome, Report
    from mog.engine.code.scip.overlay import Overlay
    from mog.engine.code.scip.table import Plan

SUM_MODULUS = 1 << 256
# Facts that no file points to are looked for now and then, not on every save.
PRUNE_EVERY = 32


@dataclass(slots=True)
class _Source:
    """One file of the run: what was read, its old row and symbols, its facts, its row to be."""

    made: Ingested
    old: FileRow | None
    old_nodes: Sequence[NodeRow]
    facts: Facts | None
    row: FileRow


class Publication:
    """The transaction of one run: ``publish`` does everything, and nothing of it is visible before the commit."""

    def __init__(
        self, db: IndexDB, owner: Indexer, made: Sequence[Ingested], jobs: Mapping[str, Job],
        removed: Iterable[str], listing: scan.ScanResult | None, fresh: bool, tell: Report, scip: Plan | None = None,
    ) -> None:  # fmt: skip
        self.db = db
        self.root = owner.root
        self.max_bytes = owner.config.max_file_bytes
        self.scip = scip
        self.ontology = owner.ontology
        self.made_with = owner.made_with()
        self.held = owner.held
        self.packs = partial(load_packs, os.fspath(owner.contracts))
        self.listing = listing
        self.fresh = fresh
        self.tell = tell
        if fresh:
            db.clear()
        vanished = {one.path for one in made if one.reason == "vanished"}
        self.removed = [row for row in map(self._row, sorted({*removed, *vanished})) if row is not None]
        self._next_file = db.next_file()
        self.sources = {one.path: self._source(one, jobs[one.path]) for one in made if one.path not in vanished}
        self.gone = {os.fsdecode(row.path) for row in self.removed}
        self.view = self._facts_view()
        self.keys = Keys(db, owner.config.project, fresh=fresh)
        self.ranks = Counter({} if fresh else {int(k): v for k, v in db.meta_get("ranks", {}).items()})
        self._sum = 0 if fresh else int(db.meta_get("facts_sum", "0"), 16)
        self.pack_counts: dict[str, list[int]] = (
            {} if fresh else {name: list(held) for name, held in db.meta_get("packs", {}).items()}
        )
        self._left: set[int] = set()  # nodes that lost an edge
        self.counts = Counter({} if fresh else {int(k): v for k, v in db.meta_get("edge_counts", {}).items()})

    def _row(self, path: str) -> FileRow | None:
        return None if self.fresh else self.db.file_by_path(os.fsencode(path))

    def _source(self, made: Ingested, job: Job) -> _Source:
        old = self._row(made.path)
        number = old.id if old else self._next_file
        self._next_file += 0 if old else 1
        row = made.row(number, job.oid)
        facts = blobs.unpack_facts(made.facts) if made.facts else None
        return _Source(made, old, self.db.nodes_of_file(old.id) if old else [], facts, row)

    def _facts_view(self) -> FactsView:
        new = {path: one.facts for path, one in self.sources.items()}
        if self.fresh:
            return MemoryView({path: facts for path, facts in new.items() if facts is not None})
        return IndexView(self.db, new, self.gone, self.held)

    def publish(self) -> Outcome:
        """Write everything and count the generation up; what was done."""
        from mog.engine.code.indexer import Outcome

        self._check_not_empty()
        if self.scip is not None:
            self.scip.update(self.db)
            self.db.scip_states_drop((*self.sources, *self.gone))
        paths = self._to_relink()
        self._tally_packs()
        self._discount({*paths, *self.sources, *self.gone})
        self._write_rows()
        self._write_links(paths)
        self.keys.write()
        self.db.fts_put(surface_rows(self.keys.new_surfaces))
        self._drop_orphans()
        self._write_meta()
        generation = snapshot.publish(self.db, compact=True if self.fresh else None)
        return Outcome(generation, True, len(self.sources), len(paths), tuple(sorted({*self.sources, *self.gone})))

    def _tally_packs(self) -> None:
        """Count what each rule pack said, by the files that changed."""
        for one in self.sources.values():
            self._count_packs(self._old_facts(one.old), -1)
            self._count_packs(one.facts, 1)
        for row in self.removed:
            self._count_packs(self._old_facts(row), -1)

    def _count_packs(self, facts: Facts | None, sign: int) -> None:
        entries = facts.get("contracts", ()) if facts else ()
        mounts = facts.get("mounts", ()) if facts else ()
        for pack in {entry[0].partition("/")[0] for entry in (*entries, *mounts)}:
            own = [entry for entry in entries if entry[0].startswith(pack + "/")]
            unread = sum(not entry[3] for entry in own)
            added = (sign, sign * (len(own) - unread), sign * unread)
            self.pack_counts[pack] = [
                held + more for held, more in zip(self.pack_counts.get(pack, (0, 0, 0)), added, strict=True)
            ]

    # what must be linked anew

    def _to_relink(self) -> list[str]:
        changed = {path for path, one in self.sources.items() if one.facts is not None}
        if self.fresh:
            return sorted(changed)
        told = self._told_anew()
        readers = (self.db.file(number) for number in self.db.files_reading(self._dirty() | {read_key(f"z:{path}") for path in told}))
        paths = {os.fsdecode(row.path) for row in readers if row is not None} | {path for path in told if self.view.has(path)}
        return sorted(changed | (paths - self.gone - self.sources.keys()))

    def _told_anew(self) -> set[str]:
        """Files of which a SCIP index says something else than before, or of which other bytes."""
        if self.scip is None:
            return set()
        moved = (*self.sources, *self.gone)
        return self.scip.said | {path for path in moved if self.db.scip_docs_of(path)}

    def _dirty(self) -> set[int]:
        """Read keys whose value is another than before, in files that changed, appeared or vanished."""
        dirty: set[int] = set()
        for path, one in self.sources.items():
            before, after = self._surface(self._old_facts(one.old), path), self._surface(one.facts, path)
            dirty.update(key for key in before.keys() | after.keys() if before.get(key) != after.get(key))
        for row in self.removed:
            dirty.update(self._surface(self._old_facts(row), os.fsdecode(row.path)))
        return dirty

    def _old_facts(self, row: FileRow | None) -> Facts | None:
        return self.db.facts_get(row.facts) if row is not None and row.facts else None

    @staticmethod
    def _surface(facts: Facts | None, path: str) -> dict[int, str]:
        return surface(facts, path) if facts is not None else {}

    # rows

    def _write_rows(self) -> None:
        """Rows of what was read and what is gone. What is written is let go, so that linking has the memory."""
        for row in self.removed:
            self.keys.removed.extend(node.key for node in self.db.nodes_of_file(row.id))
        self.db.files_delete([row.id for row in self.removed])
        for one in self.sources.values():
            self._place(one)
        db, sources = self.db, self.sources.values()
        db.files_put([one.row for one in sources])
        db.facts_put((one.made.key, one.made.facts) for one in sources if one.made.facts)
        db.heirs_delete([one.row.id for one in sources if one.old])
        db.heirs_put([(one.row.id, ord, name) for one in sources if one.facts for name, ord in base_names(one.facts)])
        db.fts_put(row for one in sources if one.row.node for row in self._search_rows(one))
        self.keys.write()
        for one in sources:
            one.made.facts, one.made.text, one.old_nodes = None, "", ()
            if self.fresh and one.facts is not None:
                schema.trim(one.facts)

    def _place(self, one: _Source) -> None:
        """Give keys to a file and its symbols; one that is skipped loses those it had."""
        if one.made.status == "skipped":
            self.keys.removed.extend(node.key for node in one.old_nodes)
        else:
            one.row = one.row._replace(node=self.keys.place(one.row, one.made.status, one.facts, one.old_nodes))

    def _search_rows(self, one: _Source) -> Iterable[FtsRow]:
        return search_rows(one.row.node, one.made, one.facts, self.keys.of_file(one.made.path))

    def _write_links(self, paths: Sequence[str]) -> None:
        """Edges, recorded reads and link digests, file by file; files without facts keep only their place in the tree."""
        writer = EdgeWriter(self.db, self.ontology, self.view, self.keys, self._file_row)
        linker = Linker(self.view, self.packs)
        overlay = self._overlay()
        rows: list[FileRow] = []
        packed: list[tuple[int, bytes]] = []
        reads: list[tuple[int, bytes]] = []
        for path in (*paths, *sorted(self.sources.keys() - set(paths))):
            row = self._file_row(path)
            links = linker.link_file(path)
            if overlay is not None:
                links = overlay.over(path, links, linker)
            blob, digest = writer.pack(path, row, links.edges, links.surfaces)
            packed.append((row.id, blob))
            reads.append((row.id, blobs.pack_numbers(links.reads)))
            rows.append(row._replace(links=digest))
            if len(rows) % 50 == 0:
                self.tell(Progress("linking", len(rows), len(paths)))
        linker.close()
        if overlay is not None:
            overlay.close()
        self.ranks.update(writer.leaned_on)
        self.db.edges_put(packed)
        everything = b"".join(blob for _, blob in packed)
        self.counts.update(blobs.edge_codes(everything))
        if self._left:
            self._left.difference_update(blobs.edge_targets(everything))
        self.db.reads_put(reads)
        self.db.files_put(rows)
        for row in rows:
            self._add_term(row, 1)

    def _overlay(self) -> Overlay | None:
        """What SCIP indexes say; loaded only where there is one."""
        if self.scip is None or not self.scip.sources:
            return None
        from mog.engine.code.scip.overlay import Overlay

        return Overlay(self.db, self.root, self.scip.sources, self.max_bytes, self.view)

    def _add_term(self, row: FileRow, sign: int) -> None:
        self._sum = (self._sum + sign * _term(row)) % SUM_MODULUS

    def _discount(self, paths: Iterable[str]) -> None:
        """Take the edges that files had out of the counts, before their nodes go."""
        for row in filter(None, map(self._row, paths)):
            self._add_term(row, -1)
            blob = self.db.edges_get(row.id)
            self.counts.subtract(blobs.edge_codes(blob))
            targets = set(blobs.edge_targets(blob))
            self._left |= targets
            places = {key: file for key, file, _ in self.db.node_places(targets)}
            leaning = {code for code, word in self.db.codes(SPACE_EDGE).items() if word in LEANING}
            for _, dst, code, _ in blobs.unpack_edges(blob):
                if not blobs.tier_of(code) and code & 0xFF in leaning and places.get(dst) not in (row.id, 0, None):
                    self.ranks[places[dst]] -= 1

    def _drop_orphans(self) -> None:
        """Unbound names and surfaces that nothing leads to any more go, as they would in a rebuild."""
        rows = self.db.nodes(self._left).values()
        unbound = [row.key for row in rows if row.type == "unresolved" or row.kind == SURFACE]
        if unbound:
            graph = snapshot.CodeSnapshot.load(self.db)
            self.db.nodes_delete([key for key in unbound if not graph.in_(key)])

    def _file_row(self, path: str) -> FileRow:
        if path in self.sources:
            return self.sources[path].row
        row = self._row(path)
        assert row is not None  # something was linked to it, so it has a row
        return row

    # what is said about the whole

    def _check_not_empty(self) -> None:
        """Sources whose grammar does not load must not end as an index that looks complete."""
        made = [one.made for one in self.sources.values() if one.made.language in LANGUAGES]
        wanted = [one for one in made if one.reason == "unsupported_grammar"]
        if self.fresh and wanted and not any(one.made.status == "source" for one in self.sources.values()):
            languages = ", ".join(sorted({made.language for made in wanted}))
            raise ProviderError(
                f"no grammar loads, so {len(wanted)} source files ({languages}) would have no symbols",
                where="tree-sitter", way_out="`mog doctor` says what is missing; reinstall mog, or `mog grammars add LANG`",
            )  # fmt: skip

    def _write_meta(self) -> None:
        db = self.db
        values: dict[str, Any] = {
            "made_with": self.made_with,
            "published_at": time.time(),
            "ranks": {str(number): count for number, count in self.ranks.items() if count > 0},
            "packs": {name: held for name, held in sorted(self.pack_counts.items()) if held[0] > 0},
            "edge_counts": {str(code): count for code, count in self.counts.items() if count},
        }
        if self.listing is not None:
            values |= scan_record(self.listing)
        values |= {"facts_sum": f"{self._sum:064x}", "facts_hash": self._facts_hash()}
        db.meta_set(values)
        if self.fresh or db.generation % PRUNE_EVERY == 0:
            db.facts_prune()

    def _facts_hash(self) -> str:
        """Digest of the whole graph: files, facts, links, extractors, grammars, GRAPH.md. Equal trees give equal hashes."""
        whole = hashlib.blake2b(self._sum.to_bytes(32, "big"), digest_size=32, person=b"mog.facts.1")
        for language, version in toolchain.versions(self.db.fact_languages()).items():
            whole.update(f"{language}={version}\n".encode())
        whole.update(self.ontology.digest.encode())
        return whole.hexdigest()


def _term(row: FileRow) -> int:
    """What one file adds to the sum over all files (a multiset hash, Bellare and Micciancio's AdHash, modulo 2^256).

    Being a sum it is brought up to date by the files that changed, and does not depend on their order.
    """
    if row.status == "skipped":
        return 0
    parts = (row.path, row.status.encode(), row.lang.encode(), row.digest or b"", row.links or b"")
    framed = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return int.from_bytes(hashlib.blake2b(framed, digest_size=32, person=b"mog.file.1").digest(), "big")
