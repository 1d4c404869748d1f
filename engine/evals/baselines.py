"""The baselines that mog is compared with on the same tasks: keyword search, BM25 over files, chunks by BM25 or by embedding.

Who calls: ``trial``. What may not come in: anything of mog's ranker; what a baseline may read is its own words and chunks.

``b0``: search the issue's words as ``rg --word-regexp --ignore-case --count`` does, files by the sum of matches weighted by how
rare the word is, and read whole files. ``bm25``: BM25 over whole files with identifiers split, and read whole files. ``b1``: the
ten 512-token chunks that BM25 ranks first. ``b1-embed``: the same by cosine of a static embedding, where ``wordllama`` is
installed; its weights come with the package, nothing is loaded from elsewhere.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mog.engine.evals import lexical
from mog.engine.evals.lexical import Words

K1, B = 1.2, 0.75
CHUNKS = 10
MIN_KEYWORD = 3
# Words that an issue is made of and code is not about; a person would not search for them.
STOP = frozenset(
    "the and for that this with not but are was were have has had when from can you your our its it's they them then than there "
    "will would should could which what where how why who does did doing done been being also into just like some such only "
    "over more most very after before about because between both each few here once other same too under until while any all "
    "issue bug error problem expected actual behavior behaviour version versions please using use used following example "
    "code file line lines python traceback recent call last most".split()
)


_NAMED = re.compile(r"`([^`\n]+)`|(\w+)\(|\b(\w*(?:[^\W_]_|_[^\W_]|[a-z][A-Z]|[A-Z][a-z]+[A-Z])\w*)")


@dataclass(frozen=True, slots=True)
class Files:
    """The candidate files of a task: their words, in the order of the paths."""

    paths: tuple[str, ...]
    words: tuple[Words, ...]


@dataclass(frozen=True, slots=True)
class Chunk:
    """One chunk: number of its file, first and last+1 byte."""

    file: int
    start: int
    end: int


def keywords(query: str) -> list[str]:
    """The distinct words that one would search for, in order of appearance: names of code, or without any, all words.

    A name has an underscore or a capital inside, stands in back-ticks, or is followed by a bracket. Measured on the development
    tasks, searching for names alone beats searching for every word (files among the first five 62 % against 46 %).
    """
    named = [word for text in _NAMED.findall(query) for word in lexical.words(" ".join(text))]
    for found in (named, lexical.words(query)):
        kept = [word for word in dict.fromkeys(found) if len(word) >= MIN_KEYWORD and word not in STOP]
        if kept:
            return kept
    return []


def by_keyword(files: Files, query: str) -> list[int]:
    """B0: numbers of the files that match at all, best first. Ties by path."""
    wanted = np.array(sorted({lexical.hashed(word) for word in keywords(query)}), dtype=np.uint32)
    matches = np.array([_counts(words.hashes, words.counts, wanted) for words in files.words]).reshape(-1, len(wanted))
    found = (matches > 0).sum(axis=0)
    weight = np.log((len(files.paths) + 1) / (found + 1))
    # the logarithm keeps one file that repeats one word from beating a file that has them all
    return _best(np.log1p(matches) @ weight)


def _counts(hashes: lexical.Ints, counts: lexical.Ints, wanted: lexical.Ints) -> NDArray[np.float64]:
    """How often each wanted word occurs."""
    if not len(hashes):
        return np.zeros(len(wanted))
    at = np.minimum(np.searchsorted(hashes, wanted), len(hashes) - 1)
    return np.where(hashes[at] == wanted, counts[at], 0).astype(np.float64)


def _best(scores: NDArray[np.float64]) -> list[int]:
    order = np.lexsort((np.arange(len(scores)), -scores))
    return [int(at) for at in order if scores[at] > 0]


class Postings:
    """Occurrences of the issue's words in all chunks of a task, from which files and chunks are scored alike."""

    def __init__(self, files: Files, query: str) -> None:
        self.chunks = [
            Chunk(number, int(start), int(end))
            for number, words in enumerate(files.words)
            for start, end in zip(words.starts[:-1], words.starts[1:], strict=True)
        ]
        self.owner = np.array([chunk.file for chunk in self.chunks], dtype=np.intp)
        asked = Counter(word for word in lexical.parts(query) if word not in STOP)
        self._weights = {lexical.hashed(word): count for word, count in asked.items()}
        sizes = [np.diff(words.at.astype(np.int64)) for words in files.words]
        rows = np.repeat(np.arange(len(self.chunks)), np.concatenate([np.empty(0, dtype=np.int64), *sizes]))
        terms = np.concatenate([np.empty(0, dtype=np.uint32), *(words.terms for words in files.words)])
        freqs = np.concatenate([np.empty(0, dtype=np.uint32), *(words.freqs for words in files.words)])
        self._length = np.bincount(rows, weights=freqs, minlength=len(self.chunks)).astype(np.float64)
        kept = np.isin(terms, np.array(sorted(self._weights), dtype=np.uint32))
        self._rows, self._terms, self._freqs = rows[kept], terms[kept], freqs[kept].astype(np.float64)
        self._files = len(files.paths)

    def files(self) -> list[int]:
        """BM25 over whole files: numbers of the files that match, best first."""
        lengths = np.bincount(self.owner, weights=self._length, minlength=self._files).astype(np.float64)
        return _best(self._bm25(self.owner[self._rows], lengths))

    def ranked(self) -> list[Chunk]:
        """BM25 over chunks: those that match, best first."""
        return [self.chunks[at] for at in _best(self._bm25(self._rows, self._length))]

    def _bm25(self, rows: NDArray[np.intp], lengths: NDArray[np.float64]) -> NDArray[np.float64]:
        """Robertson and Zaragoza 2009, eq. 3.15, with the never negative idf; a query word counts as often as it is written,
        logarithmically."""
        scores = np.zeros(len(lengths))
        norm = K1 * (1 - B + B * lengths / max(1.0, float(lengths.mean()) if len(lengths) else 1.0))
        for term, asked in self._weights.items():
            mine = self._terms == term
            freqs = np.bincount(rows[mine], weights=self._freqs[mine], minlength=len(lengths))
            found = int((freqs > 0).sum())
            if found:
                idf = math.log(1 + (len(lengths) - found + 0.5) / (found + 0.5))
                scores += (1 + math.log(asked)) * idf * freqs * (K1 + 1) / (freqs + norm)
        return scores


def by_vector(chunks: Sequence[Chunk], cosines: NDArray[np.float32]) -> list[Chunk]:
    """Chunks by their cosine with the query, best first."""
    return [chunks[int(at)] for at in np.lexsort((np.arange(len(cosines)), -cosines.astype(np.float64)))]
