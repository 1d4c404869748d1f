"""Small corpora for tests of ranking: source text in, a corpus out. Who calls: tests/retrieval/test_rank_*.

What may not come in: assertions, an index, files on disk.
"""

from __future__ import annotations

from collections.abc import Mapping

from mog.engine.code import facts as schema
from mog.engine.code import ingest, secrets
from mog.engine.retrieval import terms
from mog.engine.retrieval.corpus import Corpus
from mog.engine.retrieval.rank import Ranked


def facts_of(path: str, code: str) -> schema.Facts:
    """Facts of Python source, gated as at ingest."""
    data = code.encode()
    spans = secrets.classify(path, data).spans
    return ingest.facts_of("python", secrets.redact(data, spans), path, spans, anchored=False)


def packed(path: str, text: str) -> bytes:
    """Packed terms of a file: symbols for Python, prose for everything else."""
    data = text.encode()
    if not path.endswith(".py"):
        return terms.file_terms(path, None, data, text=True)
    clean = secrets.redact(data, secrets.classify(path, data).spans)
    return terms.file_terms(path, facts_of(path, text), clean)


def corpus_of(files: Mapping[str, str]) -> Corpus:
    """A corpus of source texts by path."""
    return Corpus.build((path, packed(path, text)) for path, text in files.items())


def spelled(corpus: Corpus, files: Mapping[str, str], doc: int) -> str:
    """``path`` or ``path::qualified.name`` of a document."""
    path = corpus.paths[corpus.file_of[doc]]
    ord_ = int(corpus.ord_of[doc])
    return path if ord_ < 0 else f"{path}::{facts_of(path, files[path])['syms'][ord_][schema.QUAL]}"


def names(corpus: Corpus, files: Mapping[str, str], ranked: list[Ranked]) -> list[str]:
    """The documents of a ranking, spelled."""
    return [spelled(corpus, files, one.doc) for one in ranked]
