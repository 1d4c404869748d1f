"""The linker's view over the index: facts decoded when asked for, with the files of the running change laid over them.

Called by ``publish``. What may not come in: links, writes. A rebuild holds everything in memory instead (``MemoryView``).
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

from mog.engine.code.facts import Facts
from mog.engine.code.link_view import CONSTANTS, MemoryView, is_named
from mog.engine.store.index_db import IndexDB


class FactsCache:
    """Decoded facts by content key, the latest ``size``: a living process decodes a file's neighbours once, not per save."""

    def __init__(self, size: int = 800) -> None:
        self._size = size
        self._facts: dict[bytes, Facts] = {}

    def get(self, db: IndexDB, key: bytes) -> Facts:
        """Facts of a content key, from memory or from the index."""
        found = self._facts.pop(key, None) or db.facts_get(key)
        self._facts[key] = found
        if len(self._facts) > self._size:
            del self._facts[next(iter(self._facts))]
        return found


class IndexView:
    """Answers of the index as if the change were in it already.

    Args:
        changed: path → new facts (None for a file without facts). gone: paths that are no longer there.
        held: decoded facts of earlier runs of this process.
    """

    def __init__(
        self, db: IndexDB, changed: Mapping[str, Facts | None], gone: Collection[str], held: FactsCache
    ) -> None:
        self._db = db
        self._changed = changed
        self._gone = gone
        self._new = MemoryView({path: facts for path, facts in changed.items() if facts is not None})
        self._cache = held
        self._held: dict[str, Facts | None] = {}
        self._paths: dict[int, str | None] = {}

    def facts(self, path: str) -> Facts | None:
        if path in self._changed:
            return self._new.facts(path)
        if path not in self._held:
            self._held[path] = None if path in self._gone else self._load(path)
        return self._held[path]

    def _load(self, path: str) -> Facts | None:
        row = self._db.file_by_path(os.fsencode(path))
        return self._cache.get(self._db, row.facts) if row is not None and row.facts else None

    def has(self, path: str) -> bool:
        if path in self._changed:
            return self._new.has(path)
        if path in self._held:
            return self._held[path] is not None
        row = None if path in self._gone else self._db.file_by_path(os.fsencode(path))
        return row is not None and row.facts is not None

    def paths(self) -> Iterable[str]:
        stored = map(os.fsdecode, self._db.fact_paths())
        kept = [path for path in stored if path not in self._changed and path not in self._gone]
        return [*kept, *self._new.paths()]

    def defs(self, name: str) -> list[tuple[str, int]]:
        rows = self._db.nodes_by_name(name)
        found = [(row.file, row.ord) for row in rows if row.type == "symbol" and row.kind not in CONSTANTS]
        keys = {(row.file, row.ord) for row in rows if row.kind == "config_key"}
        found = [at for at in found if at not in keys or is_named("config_key", self._path(at[0]) or "")]
        return self._with_new(found, self._new.defs(name))

    def heirs(self, name: str) -> list[tuple[str, int]]:
        return self._with_new(self._db.heirs_of(name), self._new.heirs(name))

    def _with_new(self, stored: Iterable[tuple[int, int]], new: Iterable[tuple[str, int]]) -> list[tuple[str, int]]:
        placed = ((self._path(file), ord) for file, ord in stored)
        kept = [(path, ord) for path, ord in placed if path is not None]
        return sorted([*kept, *new])

    def _path(self, file: int) -> str | None:
        """Path of a stored file that the change leaves alone."""
        if file not in self._paths:
            row = self._db.file(file)
            path = os.fsdecode(row.path) if row else None
            self._paths[file] = None if path in self._changed or path in self._gone else path
        return self._paths[file]
