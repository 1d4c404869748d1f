"""``.mog/index.db``: files, nodes, names, edges, recorded reads, facts and search rows, behind one class.

Who calls: ``engine/code/indexer.py`` writes through it, ``engine/workspace.py`` and ``store/snapshot.py`` read.
What may not come in: numpy, closures, rules of the ontology, paths as text (they are ``os.fsencode`` bytes here).

Everything in the file can be rebuilt; it can be deleted at any time, also under a running reader or writer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import apsw

from mog.engine.store import blobs, fts, schema
from mog.engine.store.fts import FtsRow
from mog.engine.store.schema import SPACE_EDGE, SPACE_KIND, SPACE_TYPE, FileRow, NodeRow
from mog.engine.store.scip_rows import ScipRows

__all__ = ["SPACE_EDGE", "SPACE_KIND", "SPACE_TYPE", "CsrStamp", "FileRow", "FtsRow", "IndexDB", "NodeRow", "discard"]

#: Facts no file points to (another branch, a revert) are kept up to this many bytes.
SPARE_FACTS = 8 << 20

_NODE_SQL = (
    "SELECT n.id, n.type, n.file, n.ord, t.text, coalesce(n.qual, t.text), n.kind, n.line, n.end, n.uid,"
    " n.flags, n.sig FROM nodes n JOIN names t ON t.id = n.name "
)


class CsrStamp(NamedTuple):
    """Which CSR file a generation stands on: generation in its name, digest of its header, nodes and edges in it."""

    generation: int
    digest: str
    nodes: int
    edges: int


def discard(path: Path) -> None:
    """Delete ``index.db``, its companions and every CSR file beside it. Links are removed, never followed."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    arrays = path.parent / "csr"
    if arrays.is_symlink():
        arrays.unlink()
    elif arrays.is_dir():
        for old in arrays.glob("*.csr*"):
            old.unlink(missing_ok=True)


class IndexDB(ScipRows):
    """The index of one worktree.

    Writes happen inside ``with db.transaction():`` and are published by its end; reads that belong together happen
    inside ``with db.read():``. One object serves one thread at a time (calls lock); give each thread that reads in
    parallel its own.

    All methods raise ``StoreDamaged`` when the file cannot be believed and ``IndexMissing`` when it is gone. A write
    outside of ``transaction()`` is a ``RuntimeError``: a fault of the caller.
    """

    @classmethod
    def open(cls, path: Path, *, write: bool, create: bool = False) -> IndexDB:
        """Open ``.mog/index.db``.

        Args:
            path: the database file; the folder above ``.mog`` may be reached through links, nothing below it may be
                one.
            write: open for writing (the caller holds the ``WriterLock``); else read-only.
            create: with ``write``, make an empty index where there is none (mode 0600, folder 0700).

        Raises:
            IndexMissing: no index, or one of another version of mog: rebuild it (``discard`` first).
            StoreDamaged: a link, a special file, a foreign or damaged database.
        """
        return cls(path, write=write, create=create)

    def __init__(self, path: Path, *, write: bool, create: bool) -> None:
        self._has_base: bool | None = None
        super().__init__(path, write=write, create=create)

    def _forget(self) -> None:
        super()._forget()
        self._has_base = None

    # files

    def file_rows(self) -> list[FileRow]:
        """Every file, as plain tuples in the order of ``FileRow``'s fields (100,000 of them in a quarter second)."""
        return self.rows("SELECT * FROM files")

    def file_stats(self) -> list[tuple[bytes, int, str, int, int, int, int, bytes | None]]:
        """``(path, id, status, size, mtime_ns, ctime_ns, inode, oid)`` of every file: what a no-change run compares."""
        return self.rows("SELECT path, id, status, size, mtime_ns, ctime_ns, inode, oid FROM files")

    def fact_languages(self) -> list[str]:
        """Languages of the files that have facts, sorted."""
        return [lang for (lang,) in self.rows("SELECT DISTINCT lang FROM files WHERE status = 'source' ORDER BY lang")]

    def fact_paths(self) -> list[bytes]:
        """Paths of all files that have facts."""
        return [path for (path,) in self.rows("SELECT path FROM files WHERE facts IS NOT NULL")]

    def file(self, number: int) -> FileRow | None:
        """One file by its number."""
        rows = self.rows("SELECT * FROM files WHERE id = ?", (number,))
        return FileRow._make(rows[0]) if rows else None

    def file_by_path(self, path: bytes) -> FileRow | None:
        """One file by its path (``os.fsencode`` bytes relative to the root)."""
        rows = self.rows("SELECT * FROM files WHERE path = ?", (path,))
        return FileRow._make(rows[0]) if rows else None

    def next_file(self) -> int:
        """The first free file number (numbers are given by the caller, upwards)."""
        return int(self.rows("SELECT coalesce(max(id), 0) + 1 FROM files")[0][0])

    def files_put(self, rows: Iterable[FileRow | tuple[Any, ...]]) -> None:
        """Insert or replace files by number."""
        marks = ", ".join("?" * len(FileRow._fields))
        self._many(f"INSERT OR REPLACE INTO files VALUES({marks})", rows)

    def files_touch(self, rows: Iterable[tuple[int, int, int, int, bytes | None, int]]) -> None:
        """Renew ``(size, mtime_ns, ctime_ns, inode, oid, id)`` of files whose content did not change."""
        self._many("UPDATE files SET size = ?, mtime_ns = ?, ctime_ns = ?, inode = ?, oid = ? WHERE id = ?", rows)

    def files_delete(self, numbers: Iterable[int]) -> None:
        """Delete files with all of theirs: nodes, search rows, edges, recorded reads. Facts stay for a revert."""
        gone = list(numbers)
        keys = [key for number in gone for (key,) in self.rows("SELECT id FROM nodes WHERE file = ?", (number,))]
        self.nodes_delete(keys)
        self.edges_delete(gone)
        self._many("DELETE FROM reads WHERE file = ?", [(number,) for number in gone])
        self.heirs_delete(gone)
        self._many("DELETE FROM files WHERE id = ?", [(number,) for number in gone])

    # facts

    def facts_have(self, keys: Collection[bytes]) -> set[bytes]:
        """Those of the content keys whose facts are here."""
        if len(keys) > 500:
            return set(keys).intersection(row[0] for row in self.rows("SELECT key FROM facts"))
        return {key for key in keys if self.rows("SELECT 1 FROM facts WHERE key = ?", (key,))}

    def facts_get(self, key: bytes) -> dict[str, Any]:
        """The decoded facts of one content key.

        Raises:
            KeyError: none are here. StoreDamaged: they do not decode.
        """
        try:
            return blobs.unpack_facts(self.facts_blob(key))
        except ValueError as error:
            raise schema.damaged(f"facts cannot be read: {error}", self._where) from error

    def facts_blob(self, key: bytes) -> bytes:
        """The packed facts of one content key; ``KeyError`` when there are none."""
        rows = self.rows("SELECT blob FROM facts WHERE key = ?", (key,))
        if not rows:
            raise KeyError(key)
        return self._blob(rows[0][0])

    def _blob(self, value: Any) -> bytes:
        if not isinstance(value, bytes):
            raise schema.damaged("a row holds something else than bytes", self._where)
        return value

    def facts_put(self, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Store ``(content key, blobs.pack_facts(...))``."""
        generation = self.generation + 1
        self._many("INSERT OR REPLACE INTO facts VALUES(?, ?, ?)", ((key, blob, generation) for key, blob in rows))

    def facts_prune(self, spare: int = SPARE_FACTS) -> int:
        """Drop facts no file points to, oldest first, until ``spare`` bytes of them are left; how many were dropped."""
        loose = self.rows(
            "SELECT rowid, length(blob) FROM facts WHERE key NOT IN (SELECT facts FROM files WHERE facts IS NOT NULL)"
            " ORDER BY gen DESC, rowid DESC"
        )
        gone, kept = [], 0
        for rowid, size in loose:
            kept += size
            if kept > spare:
                gone.append((rowid,))
        self._many("DELETE FROM facts WHERE rowid = ?", gone)
        return len(gone)

    # nodes

    def next_node(self) -> int:
        """The first node key never used since the last rebuild; ``nodes_insert`` moves it past the keys it is given."""
        return self._number("next_node", 1)

    def nodes_insert(self, rows: Iterable[NodeRow]) -> None:
        """Insert nodes under the keys they carry (allocate upwards from ``next_node``)."""
        packed = self._node_values(rows)
        marks = ", ".join("?" * len(NodeRow._fields))
        self._many(f"INSERT INTO nodes VALUES({marks})", packed)
        if self.rows("SELECT 1 FROM dead LIMIT 1"):
            self._many("DELETE FROM dead WHERE id = ?", [row[:1] for row in packed])
        following = max((row[0] for row in packed), default=0) + 1
        if following > self.next_node():
            self.meta_set({"next_node": following})

    def nodes_update(self, rows: Iterable[NodeRow]) -> None:
        """Replace the row of each node's key."""
        columns = ("type", "file", "ord", "name", "qual", "kind", "line", "end", "uid", "flags", "sig")
        fields = ", ".join(f"{column} = ?{at}" for at, column in enumerate(columns, 2))
        self._many(f"UPDATE nodes SET {fields} WHERE id = ?1", self._node_values(rows))

    def nodes_delete(self, keys: Iterable[int]) -> None:
        """Delete nodes and their search rows; the keys are not given again before a rebuild."""
        gone = [(key,) for key in keys]
        self._many("DELETE FROM nodes WHERE id = ?", gone)
        self._many("INSERT OR IGNORE INTO dead VALUES(?)", gone)
        self._many(fts.DELETE, gone)

    def _node_values(self, rows: Iterable[NodeRow]) -> list[tuple[Any, ...]]:
        given = rows if isinstance(rows, list) else list(rows)
        names = self.name_ids([row[4] for row in given])
        types = {word: self.code(SPACE_TYPE, word) for word in {row[1] for row in given}}
        kinds = {word: self.code(SPACE_KIND, word) for word in {row[6] for row in given}}
        values = []
        for key, type_, file, ord_, name, qual, kind, *rest, sig in given:
            stored = None if qual == name else qual if qual.isascii() else schema.text(qual)
            shown = sig if sig.isascii() else schema.text(sig)
            values.append((key, types[type_], file, ord_, names[name], stored, kinds[kind], *rest, shown))
        return values

    def _nodes(self, where: str, args: tuple[Any, ...]) -> list[NodeRow]:
        rows = self.rows(_NODE_SQL + where, args)
        types, kinds = self.codes(SPACE_TYPE), self.codes(SPACE_KIND)
        if rows and not all(row[1] in types and row[6] in kinds for row in rows):
            self._codes, self._words = {}, {}
            types, kinds = self.codes(SPACE_TYPE), self.codes(SPACE_KIND)
        try:
            return [NodeRow._make((row[0], types[row[1]], *row[2:6], kinds[row[6]], *row[7:])) for row in rows]
        except KeyError as error:
            raise schema.damaged(f"a node has the unknown code {error}", self._where) from error

    def node(self, key: int) -> NodeRow | None:
        """One node by its key."""
        return next(iter(self._nodes("WHERE n.id = ?", (key,))), None)

    def nodes(self, keys: Iterable[int]) -> dict[int, NodeRow]:
        """Several nodes by key; keys that are no nodes are left out."""
        with self.read():
            return {row.key: row for chunk in chunks(keys) for row in self._nodes(f"WHERE n.id {AMONG}", (chunk,))}

    def nodes_of_file(self, file: int) -> list[NodeRow]:
        """The nodes of one file in the order of its facts, its own node (``ord`` -1) first."""
        return self._nodes("WHERE n.file = ? ORDER BY n.ord, n.id", (file,))

    def nodes_named(self, file: int, name: str) -> list[NodeRow]:
        """The nodes of one file that bear a name, in the order of its facts."""
        return self._nodes("WHERE n.file = ? AND t.text = ? ORDER BY n.ord, n.id", (file, schema.text(name)))

    def nodes_at(self, places: Mapping[int, Iterable[int]]) -> list[NodeRow]:
        """The nodes at some places of some files: file number → ``ord`` of each."""
        pairs = ((int(file) << 32) + int(ord_) for file, ords in places.items() for ord_ in ords)
        where = f"WHERE n.file {AMONG} AND (n.file << 32) + n.ord {AMONG} ORDER BY n.id"
        files = f"[{','.join(str(int(file)) for file in sorted(places))}]"
        return self._nodes(where, (files, f"[{','.join(map(str, pairs))}]"))

    def nodes_by_name(self, name: str, *, nocase: bool = False) -> list[NodeRow]:
        """Nodes of that name (last part of the qualified name), by key; ``nocase`` folds ASCII letters."""
        exact = "" if nocase else " AND t.text = ?1"
        where = "WHERE n.name IN (SELECT id FROM names WHERE text = ?1 COLLATE NOCASE)" + exact
        return self._nodes(where + " ORDER BY n.id", (schema.text(name),))

    def unresolved(self, name: str) -> list[tuple[int, str]]:
        """(key, kind) of the unresolved nodes of that name."""
        types, kinds = self.codes(SPACE_TYPE), self.codes(SPACE_KIND)
        wanted = [number for number, word in types.items() if word == "unresolved"]
        named = "name IN (SELECT id FROM names WHERE text = ?1 COLLATE NOCASE AND text = ?1)"
        query = f"SELECT id, kind FROM nodes WHERE {named} AND type = ?2 ORDER BY id"
        rows = [row for number in wanted for row in self.rows(query, (schema.text(name), number))]
        return [(key, kinds.get(kind, "")) for key, kind in rows]

    def nodes_by_prefix(self, prefix: str, limit: int = 50) -> list[NodeRow]:
        """Nodes whose name starts with ``prefix`` (ASCII letters folded), by name; at most ``limit``."""
        start = schema.text(prefix)
        where = "WHERE t.text >= ?1 COLLATE NOCASE AND t.text < ?2 COLLATE NOCASE"
        where += " ORDER BY t.text COLLATE NOCASE, n.id LIMIT ?3"
        return self._nodes(where, (start, start + "\U0010ffff", limit))

    def nodes_by_uid(self, uid: bytes) -> list[NodeRow]:
        """Nodes of that 16-byte id (one, unless the index is damaged)."""
        return self._nodes("WHERE n.uid = ? ORDER BY n.id", (uid,))

    def nodes_by_qual(self, file: int, qual: str) -> list[NodeRow]:
        """Nodes of one file with that qualified name."""
        return [row for row in self.nodes_of_file(file) if row.qual == qual]

    def node_keys(self, *, above: int = 0) -> list[int]:
        """Keys of all nodes from ``above`` on, ascending."""
        return [key for (key,) in self.rows("SELECT id FROM nodes WHERE id >= ? ORDER BY id", (above,))]

    def node_places(self, keys: Iterable[int] | None = None) -> list[tuple[int, int, int]]:
        """``(key, file, flags)`` of the given nodes, or of all."""
        sql = "SELECT id, file, flags FROM nodes"
        if keys is None:
            return self.rows(sql)
        with self.read():
            return [row for chunk in chunks(keys) for row in self.rows(f"{sql} WHERE id {AMONG}", (chunk,))]

    def node_rows(self) -> list[NodeRow]:
        """Every node, by key."""
        return self._nodes("ORDER BY n.id", ())

    # edges

    def edges_put(self, rows: Iterable[tuple[int, bytes]]) -> int:
        """Store ``(file, blobs.pack_edges(...))``; a blob that did not change is not written. How many were.

        What the file had when the current CSR was built is kept in ``overlay``, once, until the next CSR.
        """
        fresh = [(file, blob) for file, blob in rows if self.edges_get(file) != blob or not blob]
        self._keep_base(file for file, _ in fresh)
        self._many("INSERT OR REPLACE INTO edges VALUES(?, ?)", fresh)
        return len(fresh)

    def edges_delete(self, files: Iterable[int]) -> None:
        """Delete the edges of files."""
        gone = list(files)
        self._keep_base(gone)
        self._many("DELETE FROM edges WHERE file = ?", [(file,) for file in gone])

    def _keep_base(self, files: Iterable[int]) -> None:
        if self._has_base is None:
            self._has_base = self.csr_stamp() is not None
        if self._has_base:
            keep = "INSERT OR IGNORE INTO overlay VALUES(?1, coalesce((SELECT blob FROM edges WHERE file = ?1), x''))"
            self._many(keep, [(file,) for file in files])

    def edges_get(self, file: int) -> bytes:
        """The edge records of one file (``b""`` when it has none)."""
        rows = self.rows("SELECT blob FROM edges WHERE file = ?", (file,))
        return self._blob(rows[0][0]) if rows else b""

    def edges_all(self) -> list[tuple[int, bytes]]:
        """``(file, blob)`` of every file, by file."""
        return [(file, self._blob(blob)) for file, blob in self.rows("SELECT file, blob FROM edges ORDER BY file")]

    def overlay(self) -> list[tuple[int, bytes, bytes]]:
        """``(file, blob in the CSR, blob now)`` of every file whose edges changed since the CSR was built."""
        joined = "FROM overlay o LEFT JOIN edges e ON e.file = o.file ORDER BY o.file"
        rows = self.rows(f"SELECT o.file, o.blob, coalesce(e.blob, x'') {joined}")
        return [(file, self._blob(before), self._blob(now)) for file, before, now in rows]

    def overlay_edges(self) -> int:
        """Records in the overlay, those taken away and those added together: what a reader has to merge."""
        sql = "SELECT total(length(o.blob)) + total(length(e.blob)) FROM overlay o LEFT JOIN edges e ON e.file = o.file"
        return int(self.rows(sql)[0][0]) // blobs.EDGE_BYTES

    def dead_nodes(self) -> list[int]:
        """Keys deleted since the CSR was built."""
        return [key for (key,) in self.rows("SELECT id FROM dead ORDER BY id")]

    # recorded reads

    def reads_put(self, rows: Iterable[tuple[int, bytes]]) -> None:
        """Store ``(file, blobs.pack_reads(...))``."""
        self._many("INSERT OR REPLACE INTO reads VALUES(?, ?)", rows)

    def reads_all(self) -> list[tuple[int, bytes]]:
        """``(file, blob)`` of every file."""
        return [(file, self._blob(blob)) for file, blob in self.rows("SELECT file, blob FROM reads ORDER BY file")]

    def files_reading(self, dirty: Collection[int]) -> list[int]:
        """Files that read one of the dirty keys (``blobs.read_key`` numbers), ascending."""
        sought, needles = frozenset(dirty), blobs.needles(dirty)
        if not 0 < len(needles) <= blobs.FEW_NEEDLES:
            return [file for file, blob in self.reads_all() if blobs.touches(blob, sought, needles)] if sought else []
        # SQLite looks for the bytes first, so that only blobs that may hold a key come here
        held = " OR ".join(["instr(blob, ?)"] * len(needles))
        rows = self.rows(f"SELECT file, blob FROM reads WHERE {held} ORDER BY file", needles)
        return [file for file, blob in rows if blobs.touches(self._blob(blob), sought, needles)]

    # classes by the names of their bases

    def heirs_put(self, rows: Iterable[tuple[int, int, str]]) -> None:
        """Store ``(file, position in its facts, name of a base)`` of classes; what the files had before is replaced."""
        given = list(rows)
        names = self.name_ids(name for _, _, name in given)
        self._many(
            "INSERT OR IGNORE INTO heirs VALUES(?, ?, ?)", [(file, ord, names[name]) for file, ord, name in given]
        )

    def heirs_delete(self, files: Iterable[int]) -> None:
        """Forget the classes of files."""
        self._many("DELETE FROM heirs WHERE file = ?", [(file,) for file in files])

    def heirs_of(self, name: str) -> list[tuple[int, int]]:
        """``(file, position in its facts)`` of classes that name ``name`` among their bases."""
        stored = schema.text(name)
        where = "name IN (SELECT id FROM names WHERE text = ?1 COLLATE NOCASE AND text = ?1)"
        return self.rows(f"SELECT file, ord FROM heirs WHERE {where}", (stored,))

    # search rows

    def fts_put(self, rows: Iterable[FtsRow | tuple[Any, ...]]) -> None:
        """Insert or replace search rows: ``FtsRow(key, name, parts, path, sig, doc, body)``, key being the node's."""
        self._many(fts.PUT, (fts.prepared(row) for row in rows))

    def fts_delete(self, keys: Iterable[int]) -> None:
        """Delete search rows by node key."""
        self._many(fts.DELETE, [(key,) for key in keys])

    def fts_optimize(self) -> None:
        """Merge the search index into one segment; worth it after a full rebuild."""
        self._many("INSERT INTO fts(fts) VALUES(?)", [("optimize",)])

    def search(self, query: str, limit: int = 20, kinds: Collection[str] = ()) -> list[tuple[int, float]]:
        """Best nodes for a query: ``(node key, score)``, higher is better; see ``fts.search``."""
        with self.read():
            return fts.search(self, query, limit, kinds)

    def search_total(self, query: str, kinds: Collection[str] = ()) -> int:
        """How many nodes hold every word of the query, of these kinds (empty: of all)."""
        with self.read():
            return fts.total(self, query, kinds)

    # generations

    def csr_stamp(self) -> CsrStamp | None:
        """The CSR file the current generation stands on; None before the first."""
        stored = self.meta_get("csr_base")
        if stored is None:
            return None
        try:
            generation, digest, nodes, edges = stored
            return CsrStamp(int(generation), str(digest), int(nodes), int(edges))
        except (TypeError, ValueError) as error:
            raise schema.damaged("the stamp of the arrays cannot be read", self._where) from error

    def clear(self) -> None:
        """Empty the index for a rebuild, inside the caller's transaction. Facts, codes and the generation stay."""
        for table in ("files", "nodes", "names", "edges", "reads", "heirs", "overlay", "dead"):
            self._execute(f"DELETE FROM {table}")
        self._many("INSERT INTO fts(fts) VALUES(?)", [("delete-all",)])
        self.meta_set({"next_node": None, "csr_base": None, "unread": None})
        self._names, self._all_names, self._has_base = {}, True, False

    def publish(self, csr: CsrStamp | None = None) -> int:
        """Count the generation up, as the last write of a transaction; with ``csr`` the overlay starts anew from it.

        ``snapshot.publish`` decides whether a new CSR is due and calls this.
        """
        generation = self.generation + 1
        self.meta_set({"generation": generation})
        if csr is not None:
            self._execute("DELETE FROM overlay")
            self._execute("DELETE FROM dead")
            self.meta_set({"csr_base": list(csr)})
            self._has_base = True
        return generation

    def checkpoint(self) -> None:
        """Fold the write-ahead log back into the file, as far as readers let us; only the writer does this."""
        with self._lock:
            if self._write and not self._in_transaction:
                with schema.mapped(self._where), contextlib.suppress(apsw.BusyError):
                    self._connection().wal_checkpoint(mode=3)

    def bytes_on_disk(self) -> int:
        """Bytes of the database, its companions and the CSR files."""
        family = [self.path.with_name(self.path.name + suffix) for suffix in ("", "-wal", "-shm")]
        return sum(path.stat().st_size for path in chain(family, self.directory.glob("csr/*.csr")) if path.exists())


AMONG = "IN (SELECT value FROM json_each(?))"
"""Condition for what :func:`chunks` gives: one text for any number of keys, so SQLite compiles it once."""


def chunks(keys: Iterable[int]) -> Iterator[str]:
    """Distinct integer keys as JSON arrays, 5,000 at a time."""
    wanted = sorted({int(key) for key in keys})
    for at in range(0, len(wanted), 5_000):
        yield f"[{','.join(map(str, wanted[at : at + 5_000]))}]"
