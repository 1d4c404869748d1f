"""What the indexes of a worktree hold, kept in ``index.db``: where each document lies, and which defines a symbol.

Called by ``indexer`` (is anything different?) and ``publish`` (inside its transaction). What may not come in: our symbols, edges.
A document is *late* when its file was written after the index: SCIP carries no digest of what it indexed, so time has to tell,
unless the index carries the text. Both are read from the disk alone, so that any run comes to what a full one would.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mog.engine.code.scip import decode, schema, stream
from mog.engine.code.scip.schema import Document, Metadata
from mog.engine.code.scip.sources import Source, canonical, found, prefix
from mog.engine.code.scip.symbols import may_be_ours
from mog.engine.code.scip.wire import Malformed
from mog.engine.store.index_db import IndexDB
from mog.engine.store.scip_rows import DocRow

META = "scip"
OWN = "mog"
MAX_DOCUMENTS = 2_000_000
_BATCH = 500

Problems = Counter[tuple[str, str, str]]  # (index, field, reason)


@dataclass(slots=True)
class Plan:
    """What a run has to do about SCIP; made before its transaction.

    Attributes:
        sources: the indexes as they are now. reload: whether they are others than those that were read.
        turned: document number → late or not, of those where that changed; said: files of which something else is said.
    """

    root: Path
    sources: list[Source]
    reload: bool
    turned: dict[int, int] = field(default_factory=dict)
    said: set[str] = field(default_factory=set)

    @property
    def due(self) -> bool:
        """Whether links change even if no file did."""
        return self.reload or bool(self.said)

    def update(self, db: IndexDB) -> None:
        """Bring the tables up to this plan; ``said`` then names every file that was told of or is now. Inside ``transaction()``."""
        if not self.reload:
            db.scip_late_put((late, number) for number, late in self.turned.items())
            return
        self.said = set(db.scip_paths())
        db.scip_clear()
        loading = _Loading(db, self.root)
        for number, source in enumerate(self.sources):
            loading.source(number, source)
        self.said |= set(db.scip_paths())
        db.meta_set({META: loading.account(self) if self.sources else None})


def plan(
    db: IndexDB, root: Path, named: Sequence[str], *, fresh: bool, only: Collection[str] | None = None
) -> Plan | None:
    """What SCIP asks of a run; None when there is no index and there was none.

    Args:
        fresh: everything is built anew. only: look at these files and no others (their indexes being as they were).
    """
    sources = found(root, named)
    before = db.meta_get(META)
    if not sources and not before:
        return None
    if fresh or before is None or before["sources"] != [one.key() for one in sources] or before["root"] != str(root):
        return Plan(root, sources, True)
    made = Plan(root, sources, False)
    for row in db.scip_dated() if only is None else [row for path in only for row in db.scip_docs_of(path)]:
        late = _late(root, os.fsdecode(row.path), sources[row.source])
        if late != row.late and not row.texted:
            made.turned[row.id] = late
            made.said.add(os.fsdecode(row.path))
    return made


def _late(root: Path, path: str, source: Source) -> int:
    try:
        return int(os.lstat(root / path).st_mtime_ns > source.written_ns)
    except (OSError, ValueError):
        return 0  # not there, which is another reason


class _Loading:
    """Reads indexes document by document into the tables."""

    def __init__(self, db: IndexDB, root: Path) -> None:
        self.db = db
        self.root = root
        self.problems: Problems = Counter()
        self.tools: list[list[str]] = []
        self._docs: list[DocRow] = []
        self._defs: list[tuple[int, int]] = []
        self._next = 1

    def source(self, number: int, source: Source) -> None:
        """One index file; what cannot be read of it is a problem, and what was read before that stays."""
        about, broken = Metadata(), Counter[tuple[str, str]]()
        try:
            with stream.opened(self.root / source.path) as file:
                for part, data in self._parts(file, source, broken):
                    if part.number == schema.METADATA:
                        about = _metadata(data, broken)
                        if about.tool == OWN:
                            broken["metadata.tool_info", "written by mog itself, so nothing of it is news"] += 1
                            break
                    else:
                        self._document(number, source, part, decode.document(data), about, broken)
        except OSError as error:
            broken["index", "missing" if not source.there else f"unreadable: {error.strerror or error}"] += 1
        self._flush()
        self.tools.append([about.tool[:60], about.version[:60]])
        for (field_, reason), count in broken.items():
            self.problems[source.path, field_, reason] += count

    def _parts(
        self, file: Any, source: Source, broken: Counter[tuple[str, str]]
    ) -> Iterator[tuple[stream.Part, bytes]]:
        for part in stream.parts(file, source.stamp[0], broken):
            if part.number == schema.EXTERNAL_SYMBOLS:
                continue
            data = stream.read(file, part)
            if len(data) < part.size:
                broken["documents", "truncated"] += 1
                return
            yield part, data

    def _document(
        self, number: int, source: Source, part: stream.Part, document: Document, about: Metadata,
        broken: Counter[tuple[str, str]],
    ) -> None:  # fmt: skip
        for (field_, reason), count in document.problems.items():
            broken[field_, reason] += count
        if not canonical(document.path) or len(document.path) > decode.MAX_PATH:
            broken["documents.relative_path", "not_a_relative_path"] += 1
            return
        if self._next > MAX_DOCUMENTS:
            broken["documents", "too_many"] += 1
            return
        path = prefix(self.root, source.path, about.project_root) + document.path
        texted = int(document.text is not None)
        late = 0 if texted else _late(self.root, path, source)
        self._docs.append(DocRow(self._next, os.fsencode(path), number, part.at, part.size, texted, late, ""))
        self._defs += [(symbol_hash(symbol), self._next) for symbol in _defined(document)]
        self._next += 1
        if len(self._docs) >= _BATCH:
            self._flush()

    def _flush(self) -> None:
        self.db.scip_docs_put(self._docs)
        self.db.scip_defs_put(sorted(set(self._defs)))
        self._docs, self._defs = [], []

    def account(self, made: Plan) -> dict[str, Any]:
        """What is kept with the index about the indexes themselves."""
        return {
            "root": str(made.root),
            "sources": [one.key() for one in made.sources],
            "tools": self.tools,
            "problems": [[*where, count] for where, count in sorted(self.problems.items())],
        }


def _metadata(data: bytes, broken: Counter[tuple[str, str]]) -> Metadata:
    try:
        return decode.metadata(data, 0, len(data))
    except Malformed as error:
        broken["metadata", str(error)] += 1
        return Metadata()


def _defined(document: Document) -> set[str]:
    return {one[4] for one in document.occurrences if one[5] & schema.DEFINITION and may_be_ours(one[4])}


def symbol_hash(symbol: str) -> int:
    """A symbol as the 64-bit number it is looked up by; whoever finds something compares the symbol itself."""
    digest = hashlib.blake2b(symbol.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
