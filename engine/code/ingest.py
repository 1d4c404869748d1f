"""One file on disk → one ``Ingested`` record: read, gated, parsed to facts. And the pool that does many at once.

Called by ``indexer``; runs in worker processes for a full index and in this process for a few files. What may not come in:
databases, links between files, anything that reads more than the one file it was given.
"""

from __future__ import annotations

import gc
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from mog.engine.code import extract, grammars, secrets
from mog.engine.code import facts as schema
from mog.engine.code.content import MAX_BYTES, Content, Reader, Stat, machine_made
from mog.engine.code.gates import Gates
from mog.engine.code.languages_map import CODE, TEXT, language_of
from mog.engine.errors import ProviderError
from mog.engine.store import blobs
from mog.engine.store.schema import FileRow

# Below this many bytes a pool costs more than it saves (two interpreters and their grammars).
POOL_FROM_BYTES = 600_000
CHUNK_BYTES = 400_000
CHUNK_FILES = 64
TEXT_BYTES = 200_000
MAX_DEATHS = 8
UNKNOWN_STAT = Stat()


class Job(NamedTuple):
    """A file to read. ``parse`` is False for files that are text only by their name; ``size`` 0 when not known."""

    path: str
    language: str
    parse: bool
    oid: bytes | None
    size: int


class Limits(NamedTuple):
    """Bounds of one ingest: bytes read at most, patterns of files declared free of secrets."""

    max_bytes: int
    allowed: tuple[str, ...] = ()


@dataclass(slots=True)
class Ingested:
    """What one file gave.

    Attributes:
        path: relative path.
        status: ``source`` (facts), ``data`` (text only), ``gated`` (name only) or ``skipped`` (no row).
        language: by name, or by shebang where the name says nothing.
        reason: why there are no symbols, what is wrong with the parse, or why there is no row; "" otherwise.
        blob: git blob id of the bytes as read; b"" when gated or not read.
        stat: size, mtime_ns (0 = too recent to rely on), ctime_ns, inode, as read.
        key: content key of the facts, 20 bytes; b"" without facts.
        facts: packed facts (``store/blobs.py``), or None.
        digest: 16 bytes over what the file shows to others: its facts and bytes, its bytes, or that it is gated.
        text: text for full-text search of a file whose words are not in its symbols.
        gated_symbols: how many symbols lost their bytes.
    """

    path: str
    status: str
    language: str
    reason: str = ""
    blob: bytes = b""
    stat: Stat = UNKNOWN_STAT
    key: bytes = b""
    facts: bytes | None = None
    digest: bytes = b""
    text: str = ""
    gated_symbols: int = 0

    def oid(self, listed: bytes | None) -> bytes | None:
        """Blob id to remember the file by: git's, if it is that of the bytes read; never of gated content."""
        return listed if listed == self.blob else None

    def row(self, number: int, listed: bytes | None) -> FileRow:
        """The row of this file under a number, without a node and links yet."""
        return FileRow(
            number, os.fsencode(self.path), 0, self.language, self.status, self.reason, *self.stat,
            self.oid(listed), self.key or None, self.digest, None,
        )  # fmt: skip


def facts_key(blob: bytes, language: str, path: str) -> bytes:
    """Content key of facts: bytes, language, what extracts it, and the path (it decides what is a test)."""
    parts = (blob, language.encode(), extract.extractor_version(language).encode(), os.fsencode(path))
    return hashlib.blake2b(b"\0".join(parts), digest_size=20).digest()


def text_digest(blob: bytes) -> bytes:
    """Digest of a ``data`` file's bytes, from their blob id."""
    return hashlib.blake2b(blob, digest_size=16, person=b"mog.text").digest()


def facts_digest(encoded: bytes, clean: bytes) -> bytes:
    """Digest of a ``source`` file: its encoded facts, and its bytes without what is gated."""
    content = hashlib.blake2b(clean, digest_size=16).digest()
    return hashlib.blake2b(content + encoded, digest_size=16, person=b"mog.source").digest()


GATED_DIGEST = b"gated".ljust(16, b"\0")


def ingest(reader: Reader, job: Job, gates: Gates) -> Ingested:
    """Read, gate and parse one file. Never raises for what the file holds."""
    content = reader.read(job.path)
    if content.data is None:
        return Ingested(job.path, "skipped", job.language, content.reason, blob=content.blob, stat=content.stat)
    gate = gates.classify(job.path, content.data)
    if gate.file:
        return Ingested(job.path, "gated", job.language, gate.rule, stat=content.stat, digest=GATED_DIGEST)
    clean = secrets.redact(content.data, gate.spans) if gate.spans else content.data
    language = job.language if job.language != TEXT else language_of(job.path, content.data[:200])
    made = _parsed(job, language, content, clean, gate.spans)
    made.blob, made.stat = content.blob, content.stat
    return made


def _parsed(job: Job, language: str, content: Content, clean: bytes, spans: Sequence[secrets.Span]) -> Ingested:
    why = text_only_reason(job.parse, language, content.data or b"")
    if why is not None:
        text = clean[:TEXT_BYTES].decode("utf-8", "replace")
        return Ingested(job.path, "data", language, why, digest=text_digest(content.blob), text=text, gated_symbols=len(spans))
    facts = facts_of(language, clean, job.path, spans, anchored=False)
    encoded = blobs.encode_facts(facts)
    return Ingested(
        job.path,
        "source",
        language,
        facts["problems"][0][0] if facts["problems"] else "",
        key=facts_key(content.blob, language, job.path),
        facts=blobs.squeeze(encoded),
        digest=facts_digest(encoded, clean),
        text=clean[:TEXT_BYTES].decode("utf-8", "replace") if language in extract.WITHOUT_GRAMMAR else "",
        gated_symbols=sum(1 for sym in facts["syms"] if sym[13].get("g")),
    )


def facts_of(
    language: str, clean: bytes, path: str, spans: Sequence[secrets.Span], *, anchored: bool = True
) -> dict[str, Any]:
    """Facts of one file; an extractor that fails on it costs this file its symbols and says so, never the index."""
    gated = [(span.start, span.end) for span in spans]
    try:
        return extract.extract(language, clean, path, gated, anchored=anchored)
    except Exception as error:  # whatever a file can provoke in an extractor stays with that file
        facts = schema.empty(language)
        facts["problems"].append([f"extractor_failed: {type(error).__name__}", 0])
        return facts


def text_only_reason(parse: bool, language: str, data: bytes) -> str | None:
    """Why a file gets no symbols ("" when nobody would expect any), or None when it is to be parsed."""
    if language not in extract.LANGUAGES:
        return "" if language not in CODE else "no_extractor" if grammars.language(language) else "unsupported_grammar"
    if not parse or machine_made(data):
        return "machine_made"
    return None if extract.supported(language) else "unsupported_grammar"


def ingest_all(root: str, jobs: Sequence[Job], limits: Limits, workers: int) -> Iterator[Ingested]:
    """Yield one record per job, in no fixed order. More than one worker means processes: the parser holds the GIL."""
    if workers > 1 and len(jobs) > 8 and _bytes(root, jobs) >= POOL_FROM_BYTES:
        yield from _pooled(root, jobs, limits, workers)
    else:
        yield from _chunk(root, jobs, limits)


def _bytes(root: str, jobs: Sequence[Job]) -> int:
    """Size of the work, known or looked up; enough of it to decide on a pool."""
    total = 0
    for job in jobs:
        total += job.size or _size(os.path.join(root, job.path))
        if total >= POOL_FROM_BYTES:
            break
    return total


def _size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except (OSError, ValueError):
        return 0


def _chunk(root: str, jobs: Iterable[Job], limits: Limits) -> list[Ingested]:
    gates = Gates(limits.allowed)
    with Reader(root, max_bytes=limits.max_bytes or MAX_BYTES) as reader:
        return [ingest(reader, job, gates) for job in jobs]


def _pooled(root: str, jobs: Sequence[Job], limits: Limits, workers: int) -> Iterator[Ingested]:
    """All jobs in a pool. A file that kills its worker is found by giving the rest one by one, and is recorded.

    Raises:
        ProviderError: workers die again and again, whatever the file.
    """
    left = {job.path: job for job in jobs}
    for made in _pool_once(root, _chunks(root, jobs), limits, workers):
        left.pop(made.path, None)
        yield made
    for _ in range(MAX_DEATHS):
        if not left:
            return
        for made in _pool_once(root, ([job] for job in list(left.values())), limits, 1):
            left.pop(made.path, None)
            yield made
        if left:  # one worker takes jobs in order, so the first one left is the one it died of
            job = left.pop(next(iter(left)))
            yield Ingested(job.path, "skipped", job.language, "parser_died")
    if left:
        raise ProviderError(
            f"the processes that parse files died {MAX_DEATHS} times",
            where=next(iter(left)), way_out="`mog doctor` checks the grammars; leave such files out with .mogignore",
        )  # fmt: skip


def _pool_once(root: str, chunks: Iterable[list[Job]], limits: Limits, workers: int) -> Iterator[Ingested]:
    """Results as they come; ends early, without an error, when a worker dies."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=gc.disable) as pool:
        try:
            for done in as_completed([pool.submit(_chunk, root, chunk, limits) for chunk in chunks]):
                yield from done.result()
        except BrokenProcessPool:
            return


def _chunks(root: str, jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """Balanced chunks, folder by folder; the large files come first so that the last chunk to finish is a small one."""
    sized = [(job.size or _size(os.path.join(root, job.path)), job) for job in jobs]
    large = sorted((pair for pair in sized if pair[0] > CHUNK_BYTES // 4), key=lambda pair: -pair[0])
    small = sorted((pair for pair in sized if pair[0] <= CHUNK_BYTES // 4), key=lambda pair: pair[1].path)
    chunk: list[Job] = []
    weight = 0
    for size, job in (*large, *small):
        chunk.append(job)
        weight += size
        if weight >= CHUNK_BYTES or len(chunk) >= CHUNK_FILES:
            yield chunk
            chunk, weight = [], 0
    if chunk:
        yield chunk
