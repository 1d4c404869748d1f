"""What each candidate file holds, made once per content and kept in a cache: facts, symbols, terms, chunks.

Who calls: ``localization`` and ``tokens``, through ``Cards``. What may not come in: tasks, ranking, anything about two files.
A record depends on the blob, its path and the versions of extractor, term and chunk rules, and is found by a digest of these.
The extractor, the gates and the terms are the product's own; only where the bytes come from differs.
"""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import msgspec
import numpy as np
import platformdirs
from numpy.typing import NDArray

from mog.engine.code import content, extract, ingest, secrets
from mog.engine.code import facts as schema
from mog.engine.evals import gold, lexical
from mog.engine.evals.repos import Entry, History
from mog.engine.evals.suites import Telling
from mog.engine.model import Progress
from mog.engine.retrieval import embed
from mog.engine.store import blobs

Vectors = NDArray[np.float32]

VERSION = 2
TABLES = ("facts", "card", "terms", "lexical")
_BATCH_BYTES = 600_000
_LANGUAGE = "python"


class Symbol(NamedTuple):
    """One symbol in the order of the facts (its ``ord``): the name it goes by in an answer (``gold.spelled``), kind, bytes
    ``start`` to ``stop`` of the whole definition, UTF-8 bytes of its signature and first paragraph of documentation."""

    name: str
    kind: str
    start: int
    stop: int
    signature: int
    doc: int


class Card(NamedTuple):
    """One file: its size in bytes and its symbols; both empty for one whose bytes are withheld."""

    size: int
    symbols: tuple[Symbol, ...]


_read_card = msgspec.msgpack.Decoder(tuple[int, tuple[tuple[str, str, int, int, int, int], ...]])


class Made(NamedTuple):
    """What a worker made of one file, table → packed bytes, under the file's keys."""

    entry: Entry
    values: dict[str, bytes]


def default_folder() -> Path:
    """The user's cache folder for evaluations."""
    return Path(platformdirs.user_cache_dir("mog")) / "evals"


def versions(tables: Iterable[str] = TABLES) -> dict[str, str]:
    """Table → what decides its content besides the file."""
    base = f"{VERSION}.{extract.extractor_version(_LANGUAGE)}"
    own = {"lexical": f"{base}.{lexical.VERSION}"}
    if "terms" in tables:
        from mog.engine.retrieval import terms

        own["terms"] = f"{base}.{terms.VERSION}"
    return {table: own.get(table, base) for table in tables}


class Cards:
    """Records of the files of clones, in one SQLite file below ``folder``. Use as a context manager.

    Args:
        folder: created when it is not there. workers: processes at most; 0 = as many as cores. tables: what is wanted.
    """

    def __init__(self, folder: Path, workers: int = 0, tables: Sequence[str] = TABLES) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._db = apsw.Connection(str(folder / "cards.db"))
        self._db.set_busy_timeout(60_000)
        self._db.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF")
        for table in (*tables, "vectors"):
            self._db.execute(f"CREATE TABLE IF NOT EXISTS {table} (key BLOB PRIMARY KEY, value BLOB NOT NULL)")
        self._versions = versions(tables)
        self._workers = workers or os.cpu_count() or 1

    def __enter__(self) -> Cards:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def key(self, table: str, entry: Entry) -> bytes:
        """Digest under which a table keeps what it knows of a file."""
        text = "\0".join((entry.blob, entry.path, self._versions[table]))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()

    def get(self, table: str, entry: Entry) -> bytes | None:
        """The packed record, or None."""
        row = self._db.execute(f"SELECT value FROM {table} WHERE key = ?", (self.key(table, entry),)).fetchone()
        return row[0] if row else None

    def card(self, entry: Entry) -> Card:
        """Size and symbols of a file that was filled in. Raises KeyError for one that was not."""
        packed = self.get("card", entry)
        if packed is None:
            raise KeyError(entry)
        size, rows = _read_card.decode(zlib.decompress(packed))
        return Card(size, tuple(Symbol(*row) for row in rows))

    def terms(self, entry: Entry) -> bytes:
        """Postings of a file (``retrieval/terms.py``). Raises KeyError for one that was not filled in."""
        return self._unpacked("terms", entry)

    def words(self, entry: Entry) -> lexical.Words:
        """Words and chunks of a file, for the baselines. Raises KeyError for one that was not filled in."""
        return lexical.unpack(self._unpacked("lexical", entry))

    def _unpacked(self, table: str, entry: Entry) -> bytes:
        packed = self.get(table, entry)
        if packed is None:
            raise KeyError(entry)
        return zlib.decompress(packed)

    def vectors(self, entry: Entry, starts: lexical.Ints, embedder: embed.Embedder, read: Callable[[], bytes]) -> Vectors:
        """Vectors of a file's chunks (rows of length 1), made at the first asking and kept as half floats.

        Args:
            starts: borders of the chunks (``lexical.Words.starts``). read: gives the blob's bytes.
        """
        dimension = embedder.space.dimension
        name = f"{entry.blob}\0{embedder.space.model}\0{embedder.space.digest}\0{lexical.VERSION}"
        key = hashlib.blake2b(name.encode(), digest_size=16).digest()
        row = self._db.execute("SELECT value FROM vectors WHERE key = ?", (key,)).fetchone()
        if row is None:
            clean = cleaned(entry.path, read())[0]
            texts = [clean[a:b].decode("utf-8", "replace") for a, b in itertools.pairwise(starts.tolist())]
            row = (embedder.encode(texts).rows.astype("<f2").tobytes(),)
            self._db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (key, row[0]))
        return np.frombuffer(row[0], "<f2").reshape(-1, dimension).astype(np.float32)

    def fill(self, history: History, entries: Iterable[Entry], progress: Telling | None = None, stage: str = "reading") -> int:
        """Make what is missing for these files; how many were read."""
        missing = [(entry, tables) for entry in entries if (tables := self._missing(entry))]
        done = 0
        for batch in self._made(history, missing):
            with self._db:
                for made in batch:
                    for table, value in made.values.items():
                        self._db.execute(f"INSERT OR REPLACE INTO {table} VALUES (?, ?)", (self.key(table, made.entry), value))
            done += len(batch)
            if progress:
                progress(Progress(stage, done, len(missing)))
        return done

    def _missing(self, entry: Entry) -> tuple[str, ...]:
        """Tables without a record of this file."""
        has = "SELECT 1 FROM {} WHERE key = ?"
        return tuple(t for t in self._versions if self._db.execute(has.format(t), (self.key(t, entry),)).fetchone() is None)

    def _made(self, history: History, missing: Sequence[tuple[Entry, tuple[str, ...]]]) -> Iterator[list[Made]]:
        batches = self._batches(history, missing)
        if self._workers < 2 or len(missing) < 16:
            yield from map(make, batches)
            return
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(self._workers, mp_context=context) as pool:
            waiting = []
            for batch in batches:
                waiting.append(pool.submit(make, batch))
                while len(waiting) > 2 * self._workers or (waiting and waiting[0].done()):
                    yield waiting.pop(0).result()
            yield from (future.result() for future in waiting)

    def _batches(self, history: History, missing: Sequence[tuple[Entry, tuple[str, ...]]]) -> Iterator[list[Job]]:
        """Files with their bytes, in batches of about ``_BATCH_BYTES``."""
        batch: list[Job] = []
        size = 0
        for (entry, tables), data in zip(missing, history.read([entry.blob for entry, _ in missing]), strict=True):
            facts = None if "facts" in tables else self.get("facts", entry)
            batch.append(Job(entry, tables, data, facts))
            size += len(data)
            if size >= _BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


class Job(NamedTuple):
    """A file to make records of: which tables, its bytes, its packed facts where they are known."""

    entry: Entry
    tables: tuple[str, ...]
    data: bytes
    facts: bytes | None


def make(jobs: Sequence[Job]) -> list[Made]:
    """The missing records of a batch. Runs in a worker process."""
    return [_make(job) for job in jobs]


def _make(job: Job) -> Made:
    clean, gate = cleaned(job.entry.path, job.data)
    if job.facts is not None:
        facts = blobs.unpack_facts(job.facts)
    else:
        facts = ingest.facts_of(_LANGUAGE, clean, job.entry.path, gate.spans, anchored=False)
    return Made(job.entry, {table: _record(table, job.entry.path, facts, clean) for table in job.tables})


def cleaned(path: str, data: bytes) -> tuple[bytes, secrets.Gate]:
    """A file's bytes as UTF-8 with withheld values blanked (none at all where the file is binary or gated), and its gate."""
    text = content.normalise(data)
    if text is None:
        return b"", secrets.OPEN
    gate = secrets.classify(path, text)
    return (b"" if gate.file else secrets.redact(text, gate.spans) if gate.spans else text), gate


def _record(table: str, path: str, facts: schema.Facts, clean: bytes) -> bytes:
    if table == "facts":
        return blobs.pack_facts(facts)
    if table == "card":
        return _packed(msgspec.msgpack.encode(_card(facts, clean)))
    if table == "lexical":
        return _packed(lexical.pack(clean))
    from mog.engine.retrieval import terms

    return _packed(terms.file_terms(path, facts, clean))


def _packed(data: bytes) -> bytes:
    return zlib.compress(data, 1)


def _card(facts: dict[str, Any], clean: bytes) -> Card:
    rows = facts["syms"]
    names = [gold.spelled(row[schema.QUAL], _kinds(rows, at)) for at, row in enumerate(rows)]
    return Card(len(clean), tuple(_symbol(name, row) for name, row in zip(names, rows, strict=True)))


def _symbol(name: str, row: Sequence[Any]) -> Symbol:
    signature, doc = (len(row[at].encode("utf-8", "surrogatepass")) for at in (schema.SIG, schema.DOC))
    return Symbol(name, row[schema.KIND], row[schema.FULL], row[schema.STOP], signature, doc)


def _kinds(rows: Sequence[Sequence[Any]], at: int) -> list[str]:
    """Kinds of a symbol and what it lies in, outermost first."""
    kinds = []
    while at >= 0:
        kinds.append(rows[at][schema.KIND])
        at = rows[at][schema.PARENT]
    return kinds[::-1]
