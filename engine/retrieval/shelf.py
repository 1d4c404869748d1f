"""The corpus of a worktree, kept below ``.mog/terms/`` and brought up to each generation of the index.

Who calls: ``context``. What may not come in: queries, weights. What is there can be deleted at any time; it is made anew from the
index and the files. It is built at the first search, not by ``mog index``, and by digest: a file that did not change is not read.
A file that is no longer as the index has it is read as it is now, under the symbols the index has, and again next time.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from mog.engine.code import content, extract, ingest, secrets
from mog.engine.code import facts as schema
from mog.engine.code.gates import Gates
from mog.engine.code.view import CodeView
from mog.engine.config import EngineConfig
from mog.engine.errors import StoreDamaged
from mog.engine.model import Progress
from mog.engine.retrieval import terms
from mog.engine.retrieval.corpus import Corpus
from mog.engine.store import blobs
from mog.engine.store.schema import FileRow

Telling = Callable[[Progress], None]

#: Files changed since the last save from which the corpus is written again; fewer are read anew by the next process.
SAVE_FROM = 64
#: Mark of a file that was not as the index has it when it was read; no generation wants it, so it is read again.
DRIFTED = "~"
STAGE = "reading words"
#: Files a worker takes at once, and from how many on processes pay.
CHUNK, POOL_FROM = 100, 600


class Shelf:
    """The corpus of one worktree. Safe from any thread.

    Args:
        mog_dir: the ``.mog`` of the worktree. config: bounds of what is read. keep: save it for other processes.
    """

    def __init__(self, mog_dir: Path, config: EngineConfig, *, keep: bool = True) -> None:
        self._source = Source(str(mog_dir.parent), config.max_file_bytes or content.MAX_BYTES, config.allow_secret_content)
        self._workers = config.workers or min(8, os.cpu_count() or 1)
        self._keeps = keep
        self.path = mog_dir / "terms" / "corpus.bin"
        self._lock = threading.Lock()
        self._corpus: Corpus | None = None
        self._marks: dict[str, str] = {}
        self._generation = -1
        self._unsaved = 0

    def corpus(self, view: CodeView, progress: Telling | None = None) -> Corpus:
        """The corpus of the view's generation.

        Raises:
            StoreDamaged: ``.mog/terms`` is a link or cannot be written.
        """
        with self._lock:
            if self._corpus is None:
                _refuse_link(self.path.parent)
                self._corpus, self._marks = self._load()
            if self._generation != view.stamp.generation:
                self._bring_up(view, progress)
                self._generation = view.stamp.generation
            return self._corpus

    def _load(self) -> tuple[Corpus, dict[str, str]]:
        """What was saved; nothing when it cannot be used."""
        with contextlib.suppress(StoreDamaged):
            corpus, notes = Corpus.load(self.path)
            if isinstance(notes, dict) and notes.keys() == set(corpus.paths):
                return corpus, notes
        return Corpus.build(()), {}

    def _bring_up(self, view: CodeView, progress: Telling | None) -> None:
        assert self._corpus is not None
        wanted = _marks(view)
        removed = [path for path in self._marks if path not in wanted]
        changed = sorted(path for path, mark in wanted.items() if self._marks.get(path) != mark)
        if not removed and not changed:
            return
        made = list(_read(self._source, _jobs(view, changed), self._workers, progress))
        self._corpus = self._corpus.with_changes(removed, [(one.path, one.terms) for one in made])
        self._marks = wanted | {one.path: wanted[one.path] + DRIFTED for one in made if one.drifted}
        self._unsaved += len(changed) + len(removed)
        if self._keeps and (self._unsaved >= SAVE_FROM or not os.path.lexists(self.path)):
            self._save()

    def _save(self) -> None:
        assert self._corpus is not None
        with contextlib.suppress(OSError):
            self.path.parent.mkdir(mode=0o700, exist_ok=True)
        _refuse_link(self.path.parent)
        self._corpus = self._corpus.compact()
        with contextlib.suppress(OSError):  # a full disk costs the next process a second reading, nothing else
            self._corpus.save(self.path, self._marks)
            self._unsaved = 0


def _refuse_link(folder: Path) -> None:
    if folder.is_symlink():
        raise StoreDamaged(".mog/terms is a link", where=str(folder), way_out="remove it and run the command again")


def _marks(view: CodeView) -> dict[str, str]:
    """Path → what its words depend on."""
    rows = view.db.rows("SELECT path, status, digest FROM files WHERE node <> 0")
    return {os.fsdecode(path): f"{status}:{(digest or b'').hex()}" for path, status, digest in rows}


class Job(NamedTuple):
    """A file to read: its row in the index and its packed facts, None when it has none."""

    row: FileRow
    facts: bytes | None


class Made(NamedTuple):
    """Packed terms of a file; ``drifted``: its bytes are not those that the index has."""

    path: str
    terms: bytes
    drifted: bool


class Source(NamedTuple):
    """Where files are read from, and what is not read of them."""

    root: str
    max_bytes: int
    allowed: tuple[str, ...]


def make(source: Source, jobs: Sequence[Job]) -> list[Made]:
    """Packed terms of some files, gated as at ingest. Runs in worker processes too."""
    gates = Gates(source.allowed)
    with content.Reader(source.root, max_bytes=source.max_bytes) as reader:
        return [_made(reader, gates, job) for job in jobs]


def _made(reader: content.Reader, gates: Gates, job: Job) -> Made:
    path = os.fsdecode(job.row.path)
    read = None if job.row.status == "gated" else reader.read(path)
    gate = gates.classify(path, read.data) if read and read.data is not None else secrets.Gate(file=True)
    if read is None or read.data is None or gate.file:
        return Made(path, terms.file_terms(path, None, b"", text=True), drifted=read is not None)
    clean = secrets.redact(read.data, gate.spans) if gate.spans else read.data
    if job.facts is None:
        return Made(path, terms.file_terms(path, None, clean, text=True), ingest.text_digest(read.blob) != job.row.digest)
    facts, lang = blobs.unpack_facts(job.facts), job.row.lang
    drifted = ingest.facts_key(read.blob, lang, path) != job.row.facts
    if drifted:
        _move(facts, ingest.facts_of(lang, clean, path, gate.spans, anchored=False))
    return Made(path, terms.file_terms(path, facts, extract.shown(lang, clean)[1]), drifted)


def _move(facts: schema.Facts, now: schema.Facts) -> None:
    """Give symbols the place and gate they have in the file as it is now; those that are not there have no body."""
    there = {sym[schema.QUAL]: sym for sym in now["syms"]}
    for sym in facts["syms"]:
        found = there.get(sym[schema.QUAL])
        gated = sym[schema.META].get("g") or (found and found[schema.META].get("g"))
        if gated:
            sym[schema.META]["g"], sym[schema.SIG], sym[schema.DOC] = 1, "", ""
        places = (schema.LINE, schema.END, schema.START, schema.STOP, schema.FULL)
        for at in places:
            sym[at] = found[at] if found and (not gated or at in (schema.LINE, schema.END)) else 0


def _jobs(view: CodeView, paths: Iterable[str]) -> list[Job]:
    jobs = []
    for path in paths:
        row = view.file_at(path)
        if row is not None:
            facts = view.db.facts_blob(row.facts) if row.facts else None
            jobs.append(Job(row, facts))
    return jobs


def _read(source: Source, jobs: Sequence[Job], workers: int, progress: Telling | None) -> Iterator[Made]:
    """Terms of all jobs, in the order of the chunks; in processes when there are many."""
    chunks = [jobs[at : at + CHUNK] for at in range(0, len(jobs), CHUNK)]
    done = 0
    for made in _chunks(source, chunks, workers if len(jobs) >= POOL_FROM else 1):
        done += len(made)
        if progress:
            progress(Progress(STAGE, done, len(jobs)))
        yield from made


def _chunks(source: Source, chunks: Sequence[Sequence[Job]], workers: int) -> Iterator[list[Made]]:
    if workers < 2:
        yield from (make(source, chunk) for chunk in chunks)
        return
    from mog.engine.pool import FAILURES, pool

    at = 0
    try:
        with pool(workers) as made:
            for one in made.map(partial(make, source), chunks):
                at += 1
                yield one
    except FAILURES:  # what is left is read here
        yield from (make(source, chunk) for chunk in chunks[at:])
