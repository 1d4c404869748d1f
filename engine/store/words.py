"""What rows are made of beside numbers: meta values, and words and names that stand as small integers.

Who calls: ``index_db.IndexDB`` inherits from it; nobody else.
What may not come in: files, nodes, edges.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mog.engine.store import schema
from mog.engine.store.connection import Connection

#: A full copy of the names is worth reading from this many lookups on.
_BULK_NAMES = 2_000


class WordStore(Connection):
    """Meta values, codes and names of one index."""

    def __init__(self, path: Path, *, write: bool, create: bool) -> None:
        self._codes: dict[int, dict[str, int]] = {}
        self._words: dict[int, dict[int, str]] = {}
        self._names: dict[str, int] = {}
        self._all_names = False
        super().__init__(path, write=write, create=create)

    def _forget(self) -> None:
        self._codes, self._words, self._names = {}, {}, {}
        self._all_names = False

    # meta

    def meta_get(self, key: str, default: Any = None) -> Any:
        """The JSON value stored under ``key``."""
        rows = self.rows("SELECT v FROM meta WHERE k = ?", (key,))
        return self._decoded(rows[0][0]) if rows else default

    def meta_all(self) -> dict[str, Any]:
        """All of ``meta``, decoded."""
        return {key: self._decoded(value) for key, value in self.rows("SELECT k, v FROM meta")}

    def _decoded(self, value: Any) -> Any:
        try:
            return json.loads(value)
        except (TypeError, ValueError, RecursionError) as error:
            raise schema.damaged("a value of the table meta cannot be read", self._where) from error

    def _number(self, key: str, default: int) -> int:
        value = self.meta_get(key, default)
        if not isinstance(value, int):
            raise schema.damaged(f"the value {key} of the table meta is no number", self._where)
        return value

    def meta_set(self, values: Mapping[str, Any]) -> None:
        """Store JSON values; None deletes."""
        self._many("DELETE FROM meta WHERE k = ?", [(key,) for key, value in values.items() if value is None])
        kept = [(key, json.dumps(value, sort_keys=True)) for key, value in values.items() if value is not None]
        self._many("INSERT OR REPLACE INTO meta VALUES(?, ?)", kept)

    @property
    def generation(self) -> int:
        """Generation served (0 before the first ``publish``)."""
        return self._number("generation", 0)

    # words that stand as small integers

    def code(self, space: int, word: str) -> int:
        """The number of an edge kind, node type or node kind (``SPACE_*``); a new word gets the next one when writing.

        Raises:
            KeyError: a reader asked for a word the index does not know.
            StoreDamaged: more than 63 edge kinds.
        """
        known = self._codes_of(space)
        if word not in known and self._in_transaction:
            number = max(known.values(), default=0) + 1
            if space == schema.SPACE_EDGE and number >= schema.MAX_EDGE_KINDS:
                raise schema.damaged("more than 63 edge types", self._where)
            self._many("INSERT INTO codes VALUES(?, ?, ?)", [(space, number, schema.text(word))])
            known[word] = number
            self._words.pop(space, None)
        return known[word]

    def code_or_none(self, space: int, word: str) -> int:
        """The number of a word, 0 (which nothing has) for one that this index never needed."""
        return self._codes_of(space).get(word, 0)

    def codes(self, space: int) -> dict[int, str]:
        """number → word of one code space. Numbers are never given anew, not even by a rebuild."""
        if space not in self._words:
            self._words[space] = {number: word for word, number in self._codes_of(space).items()}
        return self._words[space]

    def _codes_of(self, space: int) -> dict[str, int]:
        if space not in self._codes:
            self._codes[space] = dict(self.rows("SELECT name, id FROM codes WHERE space = ?", (space,)))
        return self._codes[space]

    def name_ids(self, names: Iterable[str]) -> dict[str, int]:
        """Number every name, adding those that are new; the dictionary is keyed by the names as given."""
        wanted = dict.fromkeys(names)
        if len(wanted) >= _BULK_NAMES and not self._all_names:
            self._names, self._all_names = dict(self.rows("SELECT text, id FROM names")), True
        following = int(self.rows("SELECT coalesce(max(id), 0) FROM names")[0][0]) + 1
        found: dict[str, int] = {}
        fresh: list[tuple[int, str]] = []
        for name in wanted:
            stored = name if name.isascii() else schema.text(name)
            number = self._names.get(stored) or self._name_id(stored)
            if not number:
                number = following + len(fresh)
                fresh.append((number, stored))
            found[name] = self._names[stored] = number
        self._many("INSERT INTO names VALUES(?, ?)", fresh)
        return found

    def _name_id(self, stored: str) -> int:
        if self._all_names:
            return 0
        rows = self.rows("SELECT id FROM names WHERE text = ?1 COLLATE NOCASE AND text = ?1", (stored,))
        return int(rows[0][0]) if rows else 0

    def names_text(self, numbers: Iterable[int]) -> dict[int, str]:
        """number → name, for the names of edge records."""
        return {n: row[0] for n in set(numbers) for row in self.rows("SELECT text FROM names WHERE id = ?", (n,))}
