"""Documents of SCIP indexes and where their symbols are defined, as rows of ``index.db``. Part of ``IndexDB``.

Called by ``engine/code/scip``. What may not come in: occurrences, files of the repository. Empty where there is no index.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from mog.engine.store.words import WordStore

_COLUMNS = "id, path, source, at, size, texted, late, state"


class DocRow(NamedTuple):
    """One document of one index.

    Attributes:
        path: ``os.fsencode`` of the path relative to the root of the worktree.
        source: position of its index among the worktree's indexes; at, size: where its message lies there, in bytes.
        texted: whether the index carries the text that was indexed.
        late: whether the file was written after the index, as of the last run.
        state: what came of it: "" (not linked yet), ``used``, or why it is not used.
    """

    id: int
    path: bytes
    source: int
    at: int
    size: int
    texted: int
    late: int
    state: str


class ScipRows(WordStore):
    """The tables ``scip_docs`` and ``scip_defs``; writes belong inside ``transaction()``."""

    def scip_clear(self) -> None:
        """Forget every document."""
        self._execute("DELETE FROM scip_docs")
        self._execute("DELETE FROM scip_defs")

    def scip_docs_put(self, rows: Iterable[DocRow]) -> None:
        """Add documents by number."""
        marks = "?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0"
        self._many(f"INSERT OR REPLACE INTO scip_docs VALUES({marks})", rows)

    def scip_defs_put(self, rows: Iterable[tuple[int, int]]) -> None:
        """Add (hash of a symbol, number of a document that defines it)."""
        self._many("INSERT OR IGNORE INTO scip_defs VALUES(?, ?)", rows)

    def scip_paths(self) -> list[str]:
        """Paths of all documents, each once, sorted."""
        return [os.fsdecode(path) for (path,) in self.rows("SELECT DISTINCT path FROM scip_docs ORDER BY path")]

    def scip_dated(self) -> list[DocRow]:
        """The documents that only their time tells from the file of today (those without a text of their own)."""
        return [
            DocRow._make(row) for row in self.rows(f"SELECT {_COLUMNS} FROM scip_docs WHERE texted = 0 ORDER BY id")
        ]

    def scip_docs_of(self, path: str) -> list[DocRow]:
        """The documents of one file, by number."""
        sql = f"SELECT {_COLUMNS} FROM scip_docs WHERE path = ? ORDER BY id"
        return [DocRow._make(row) for row in self.rows(sql, (os.fsencode(path),))]

    def scip_defining(self, hashes: Collection[int]) -> dict[int, list[str]]:
        """Hash of a symbol → paths of the documents that may define it, sorted."""
        found: dict[int, list[str]] = {}
        sql = "SELECT DISTINCT d.hash, o.path FROM scip_defs d JOIN scip_docs o ON o.id = d.doc WHERE d.hash IN "
        with self.read():
            for some in _several(hashes):
                for number, path in self.rows(f"{sql} ({some}) ORDER BY d.hash, o.path"):
                    found.setdefault(number, []).append(os.fsdecode(path))
        return found

    def scip_late_put(self, rows: Iterable[tuple[int, int]]) -> None:
        """Renew (late, number of a document)."""
        self._many("UPDATE scip_docs SET late = ? WHERE id = ?", rows)

    def scip_states_drop(self, paths: Iterable[str]) -> None:
        """Documents of these files have come to nothing yet, as before any link."""
        sql = "UPDATE scip_docs SET state = '', edges = 0, dropped = 0, unplaced = 0 WHERE path = ?"
        self._many(sql, ((os.fsencode(path),) for path in paths))

    def scip_states_put(self, rows: Iterable[tuple[str, int, int, int, int]]) -> None:
        """Renew (state, edges, dropped, unplaced, number of a document)."""
        self._many("UPDATE scip_docs SET state = ?, edges = ?, dropped = ?, unplaced = ? WHERE id = ?", rows)

    def scip_account(self) -> list[tuple[str, int, int, int, int]]:
        """(state, documents, edges, dropped, unplaced) for each state, sorted."""
        sums = "count(*), total(edges), total(dropped), total(unplaced)"
        rows = self.rows(f"SELECT state, {sums} FROM scip_docs GROUP BY state ORDER BY state")
        return [(state, count, int(edges), int(dropped), int(lost)) for state, count, edges, dropped, lost in rows]

    def scip_examples(self, state: str, limit: int) -> list[str]:
        """Some paths of documents in a state, sorted."""
        sql = "SELECT DISTINCT path FROM scip_docs WHERE state = ? ORDER BY path LIMIT ?"
        return [os.fsdecode(path) for (path,) in self.rows(sql, (state, limit))]


def _several(numbers: Collection[int]) -> Iterator[str]:
    wanted = sorted(set(numbers))
    for at in range(0, len(wanted), 500):
        yield ", ".join(map(str, wanted[at : at + 500]))
