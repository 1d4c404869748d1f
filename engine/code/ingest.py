"""One file on disk → one ``Ingested`` record: read, gated, parsed to facts. And the pool that does many at once.

Called by ``indexer``; runs in worker processes for a full index and in this process for a few files. What may not come in:
databases, links between files, anything that reads more than the one file it was given.
"""

from __future__ import annotations

import contextlib
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
from mog.engine.contracts.pack import Packs
from mog.engine.contracts.pack import load_readable as load_packs
from mog.engine.errors import ProviderError
from mog.engine.store import blobs
from mog.engine.store.schema import FileRow

# Below this many bytes a pool costs more than it saves (two interpreters and their grammars).
POOL_FROM_BYTES = 600_000
CHUNK_BYTES = 400_000
CHUNK_FILES = 64
# The smaller ones of the first files are done before all others and in small chunks, so that something can be served soon.
HEAD_BYTES, HEAD_CHUNK = 250_000, 25_000
TEXT_BYTES = 200_000
MAX_DEATHS = 8
UNKNOWN_STAT = Stat()
#: Long lines are pictures there, not a sign of a machine.
PICTURED = frozenset({"notebook"})
#: Bytes above which a file of settings is data: its words count, its keys do not.
_BOUNDS = {"yaml": 256_000, "json": 256_000, "toml": 512_000}


class Job(NamedTuple):
    """A file to read. ``parse`` is False for files that are text only by their name; ``size`` 0 when not known."""

    path: str
    language: str
    parse: bool
    oid: bytes | None
    size: int


class Limits(NamedTuple):
    """Bounds of one ingest: bytes read at most, patterns of files declared free of secrets, the folder of a project's rule packs."""

    max_bytes: int
    allowed: tuple[str, ...] = ()
    contracts: str = ""


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


def ingest(reader: Reader, job: Job, gates: Gates, packs: Packs) -> Ingested:
    """Read, gate and parse one file. Never raises for what the file holds."""
    content = reader.read(job.path)
    if content.data is None:
        return Ingested(job.path, "skipped", job.language, content.reason, blob=content.blob, stat=content.stat)
    gate = gates.classify(job.path, content.data)
    if gate.file:
        return Ingested(job.path, "gated", job.language, gate.rule, stat=content.stat, digest=GATED_DIGEST)
    clean = secrets.redact(content.data, gate.spans) if gate.spans else content.data
    language = job.language if job.language != TEXT else language_of(job.path, content.data[:200])
    made = _parsed(job, language, content, clean, gate.spans, packs)
    made.blob, made.stat = content.blob, content.stat
    return made


def _parsed(
    job: Job, language: str, content: Content, clean: bytes, spans: Sequence[secrets.Span], packs: Packs
) -> Ingested:
    why = text_only_reason(job.parse, language, content.data or b"")
    if why is not None:
        text = clean[:TEXT_BYTES].decode("utf-8", "replace")
        made = Ingested(
            job.path, "data", language, why, digest=text_digest(content.blob), text=text, gated_symbols=len(spans)
        )
        facts = schema.empty(language)
        if why != "machine_made" and _contracts(packs, language, clean, job.path, spans, facts):
            made.key, made.facts = facts_key(content.blob, language, job.path), blobs.pack_facts(facts)
        return made
    facts = facts_of(language, clean, job.path, spans, anchored=False)
    _contracts(packs, language, clean, job.path, spans, facts)
    encoded = blobs.encode_facts(facts)
    return Ingested(
        job.path,
        "source",
        language,
        facts["problems"][0][0] if facts["problems"] else "",
        key=facts_key(content.blob, language, job.path),
        facts=blobs.squeeze(encoded),
        digest=facts_digest(encoded, clean),
        text=extract.words_of(language, clean)[:TEXT_BYTES].decode("utf-8", "replace") if language in extract.WORDY else "",
        gated_symbols=sum(1 for sym in facts["syms"] if sym[13].get("g")),
    )


def _contracts(
    packs: Packs, language: str, clean: bytes, path: str, spans: Sequence[secrets.Span], facts: dict[str, Any]
) -> bool:
    """Add what the rule packs say of a file to its facts; whether they say anything. What breaks them stays with the file."""
    from mog.engine.contracts.collect import collect

    try:
        found = collect(packs, language, clean, path, facts, [(span.start, span.end) for span in spans])
    except Exception as error:  # as in facts_of: one file's text costs that file its surfaces, and says so
        facts["problems"].append([f"contracts_failed: {type(error).__name__}", 0])
        return False
    if found.contracts:
        facts["contracts"] = found.contracts
    if found.mounts:
        facts["mounts"] = found.mounts
    return bool(found.contracts or found.mounts)


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
    if not parse or (machine_made(data) and language not in PICTURED):
        return "machine_made"
    if len(data) > _BOUNDS.get(language, len(data)):
        return "large_data"
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
    gates, packs = Gates(limits.allowed), load_packs(limits.contracts)
    with Reader(root, max_bytes=limits.max_bytes or MAX_BYTES) as reader:
        return [ingest(reader, job, gates, packs) for job in jobs]


def _pooled(root: str, jobs: Sequence[Job], limits: Limits, workers: int) -> Iterator[Ingested]:
    """All jobs in a pool. A file that kills its worker is found by giving the rest one by one, and is recorded.

    Raises:
        ProviderError: workers die again and again, whatever the file.
    """
    left = {job.path: job for job in jobs}
    for made in _pool_once(root, _chunks(root, jobs), limits, workers):
        left.pop(made.path, None)
        yield made
    if len(left) == len(jobs) and not _a_worker_starts():  # a script without a guard around its main part, a system without room
        yield from _chunk(root, jobs, limits)
        return
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


def _a_worker_starts() -> bool:
    from mog.engine.pool import FAILURES, pool

    try:
        with pool(1) as made:
            return made.submit(abs, -1).result() == 1
    except FAILURES:
        return False


def _pool_once(root: str, chunks: Iterable[list[Job]], limits: Limits, workers: int) -> Iterator[Ingested]:
    """Results as they come; ends early, without an error, when a worker dies or none can be made."""
    from concurrent.futures import as_completed
    from concurrent.futures.process import BrokenProcessPool

    from mog.engine.pool import FAILURES, pool

    with contextlib.ExitStack() as open_:
        try:
            made = open_.enter_context(pool(workers))
            given = [made.submit(_chunk, root, chunk, limits) for chunk in chunks]
        except FAILURES:
            return
        try:
            for done in as_completed(given):
                yield from done.result()
        except BrokenProcessPool:
            return


def _chunks(root: str, jobs: Sequence[Job]) -> Iterator[list[Job]]:
    """The head in its order; then balanced chunks, folder by folder, of which the large files come first so that the last chunk to
    finish is a small one."""
    sized = [(job.size or _size(os.path.join(root, job.path)), job) for job in jobs]
    head: list[tuple[int, Job]] = []
    rest: list[tuple[int, Job]] = []
    weight = 0
    for pair in sized:
        leads = pair[0] <= HEAD_CHUNK and weight < HEAD_BYTES
        (head if leads else rest).append(pair)
        weight += pair[0] if leads else 0
    large = sorted((pair for pair in rest if pair[0] > CHUNK_BYTES // 4), key=lambda pair: -pair[0])
    small = sorted((pair for pair in rest if pair[0] <= CHUNK_BYTES // 4), key=lambda pair: pair[1].path)
    yield from _bundles(head, HEAD_CHUNK)
    yield from _bundles((*large, *small), CHUNK_BYTES)


def _bundles(sized: Iterable[tuple[int, Job]], most: int) -> Iterator[list[Job]]:
    """Jobs in their order, bundled until they weigh so many bytes."""
    chunk: list[Job] = []
    weight = 0
    for size, job in sized:
        chunk.append(job)
        weight += size
        if weight >= most or len(chunk) >= CHUNK_FILES:
            yield chunk
            chunk, weight = [], 0
    if chunk:
        yield chunk
