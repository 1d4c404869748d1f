"""BM25F of documents and files: what each term is worth in each of them, kept while a corpus lives.

Who calls: ``rank`` and ``features``. What may not come in: what a question mentions by name, order, limits.

BM25F with saturation after the fields are summed: Robertson, Zaragoza and Taylor, "Simple BM25 Extension to Multiple Weighted
Fields", CIKM 2004. Saturation of query terms (k3): Robertson et al., "Okapi at TREC-3", 1994.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mog.engine.retrieval import terms, words
from mog.engine.retrieval.corpus import Corpus
from mog.engine.retrieval.weights import RankWeights

Array = NDArray[Any]
SCORED = (terms.NAME, terms.OWNER, terms.SIG, terms.DOC, terms.BODY, terms.PATH)
PARTS = ("title", "code", "prose", "error")
#: Terms of a query that are looked up at most, the rarest first.
MOST_TERMS = 400
#: Documents that the kept terms may have together.
_HELD = 4_000_000


class Impact(NamedTuple):
    """What a term is worth: documents ascending with their value, files ascending with theirs. ``idf``: its rarity."""

    docs: Array
    values: Array
    files: Array
    file_values: Array
    idf: float


@dataclass(slots=True)
class Asked:
    """Terms of a query: their numbers, and by part how often each occurs there."""

    numbers: list[int]
    counts: dict[str, Array]


class Scorer:
    """Values of terms over one corpus, with given weights."""

    def __init__(self, corpus: Corpus, weights: RankWeights) -> None:
        self.corpus = corpus
        self.weights = weights
        field_weights = np.array([weights.fields.get(name, 0.0) for name in terms.FIELDS], np.float32)
        b = np.array([weights.b.get(name, 0.0) for name in terms.FIELDS], np.float32)
        self._inverse = _inverse_norms(corpus.lengths, corpus.alive, b)
        self._weighted = self._inverse * field_weights[:, None]
        self._file_weighted = _inverse_norms(corpus.file_lengths, corpus.file_alive, b) * field_weights[:, None]
        self._documents = max(1, int(corpus.alive.sum()))
        self._files = max(1, int(corpus.file_alive.sum()))
        self._impacts: dict[int, Impact] = {}
        self._held = 0

    def asked(self, texts: Mapping[str, str]) -> Asked:
        """The terms of the parts of a question; of too many, the rarest."""
        bags = {part: _bag(text) for part, text in texts.items()}
        every = list(dict.fromkeys(term for bag in bags.values() for term in bag))
        numbers = words.numbers(every)
        if len(every) > MOST_TERMS:
            costs = [self.corpus.frequency(number, SCORED) or 1 << 40 for number in numbers]
            kept = sorted(sorted(range(len(every)), key=lambda at: (costs[at], every[at]))[:MOST_TERMS])
            every, numbers = [every[at] for at in kept], [numbers[at] for at in kept]
        return Asked(numbers, {part: np.array([float(bag.get(term, 0)) for term in every]) for part, bag in bags.items()})

    def importance(self, asked: Asked) -> Array:
        """How much each term of a question counts, saturated."""
        w, counts = self.weights, asked.counts
        count = w.title * counts["title"] + w.code * counts["code"] + w.prose * counts["prose"]
        return (w.k3 + 1) * count / (w.k3 + count)

    def sums(self, asked: Asked, importance: Array) -> tuple[Array, Array]:
        """(score of each document, score of each file)."""
        own, files = np.zeros(self.corpus.size, np.float32), np.zeros(len(self.corpus.paths), np.float32)
        for number, weight in zip(asked.numbers, importance.tolist(), strict=True):
            impact = self.impact(number)
            own[impact.docs] += np.float32(weight) * impact.values
            files[impact.files] += np.float32(weight) * impact.file_values
        return own, files

    def impact(self, number: int) -> Impact:
        """What a term is worth, from memory or from its postings."""
        held = self._impacts.get(number)
        if held is None:
            if self._held > _HELD:
                self._impacts, self._held = {}, 0
            held = self._impacts[number] = self._made(number)
            self._held += len(held.docs)
        return held

    def _made(self, number: int) -> Impact:
        found = [(field, *self.corpus.postings(number, field)) for field in SCORED]
        found = [one for one in found if len(one[1])]
        if not found:
            return _WORTHLESS
        docs = np.concatenate([docs for _, docs, _ in found])
        files = self.corpus.file_of[docs]
        tf = np.concatenate([self._weighted[field][docs] * counts for field, docs, counts in found])
        of_field = np.repeat([field for field, _, _ in found], [len(docs) for _, docs, _ in found])
        file_tf = self._file_weighted[of_field, files] * np.concatenate([counts for _, _, counts in found])
        docs, tf, idf = self._saturated(docs, tf, self._documents)
        files, file_tf, _ = self._saturated(files, file_tf, self._files)
        return Impact(docs, tf, files, file_tf, idf)

    def _saturated(self, owners: Array, tf: Array, population: int) -> tuple[Array, Array, float]:
        """(owners each once, ascending, their value, the term's idf) of weighted frequencies."""
        k1 = self.weights.k1
        if len(owners) > 1 and not (owners[1:] > owners[:-1]).all():
            order = np.argsort(owners, kind="stable")
            owners, tf = owners[order], tf[order]
            begins = np.flatnonzero(np.concatenate([[True], owners[1:] != owners[:-1]]))
            owners, tf = owners[begins], np.add.reduceat(tf, begins)
        idf = float(np.log1p(max(0.0, (population - len(owners) + 0.5) / (len(owners) + 0.5))))
        return owners, (idf * (k1 + 1) * tf / (k1 + tf)).astype(np.float32), idf

    def at(self, asked: Asked, docs: Array) -> Array:
        """(terms, documents): what each term is worth in each of some documents (ascending)."""
        return _stacked([_found(one.docs, one.values, docs) for one in map(self.impact, asked.numbers)], len(docs))

    def at_files(self, asked: Asked, files: Array) -> Array:
        """(terms, files): the same of files (ascending)."""
        return _stacked([_found(one.files, one.file_values, files) for one in map(self.impact, asked.numbers)], len(files))

    def in_field(self, asked: Asked, field: int, docs: Array) -> Array:
        """(terms, documents): what each term is worth in one field alone of some documents (ascending)."""
        plain = self.corpus.counts_at(asked.numbers, field, docs) * self._inverse[field][docs]
        idf = np.array([self.impact(number).idf for number in asked.numbers], np.float32)[:, None]
        k1 = self.weights.k1
        return np.asarray(idf * (k1 + 1) * plain / (k1 + plain))


_WORTHLESS = Impact(np.zeros(0, np.int64), np.zeros(0, np.float32), np.zeros(0, np.int64), np.zeros(0, np.float32), 0.0)


def _bag(text: str) -> dict[str, int]:
    bag: dict[str, int] = {}
    for term in words.tokens(text):
        bag[term] = bag.get(term, 0) + 1
    return bag


def _stacked(rows: Sequence[Array], width: int) -> Array:
    return np.stack(rows) if rows else np.zeros((0, width), np.float32)


def _found(where: Array, values: Array, wanted: Array) -> Array:
    """Values at the wanted places, 0 where there is none; both ascending."""
    if not len(where) or not len(wanted):
        return np.zeros(len(wanted), np.float32)
    at = np.minimum(np.searchsorted(where, wanted), len(where) - 1)
    return np.where(where[at] == wanted, values[at], 0).astype(np.float32)


def _inverse_norms(lengths: Array, alive: Array, b: Array) -> Array:
    """(fields, documents): what a count in a field is multiplied with for the field's length."""
    columns = np.ascontiguousarray(lengths.T, dtype=np.float32)
    present = columns if alive.all() else np.ascontiguousarray(columns[:, alive])
    counted = np.maximum(np.count_nonzero(present, axis=1), 1)
    share = (b / np.maximum(present.sum(axis=1) / counted, 1e-9)).astype(np.float32)
    columns *= share[:, None]
    columns += (1 - b)[:, None]
    return np.reciprocal(columns, out=columns)
