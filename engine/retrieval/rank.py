"""Ranking: documents and files by the words of a question and by what it mentions; the best ones again by a learned reranker.

Who calls: ``context`` and the evaluation, with the same code. What may not come in: node keys, edges, text of files, numbers that
belong in ``weights.py``. Deterministic: equal scores are ordered by path and place.
"""

from __future__ import annotations

import copy
import re
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mog.engine.code.languages.paths import is_test_path
from mog.engine.retrieval import features, terms
from mog.engine.retrieval import query as queries
from mog.engine.retrieval.corpus import Corpus
from mog.engine.retrieval.features import Scores, Seen
from mog.engine.retrieval.mentions import OF_FILES, Mentions
from mog.engine.retrieval.query import Query
from mog.engine.retrieval.scoring import Scorer
from mog.engine.retrieval.weights import RANK, RankWeights

Array = NDArray[Any]
#: Documents that a reranker looks at (trained on the best 200; of those after 100 it lifts none that count).
RERANKED = 100
#: Words below which a question keeps the hand-set order: the trees learned from issues that are longer (all but one of 374), and cost
#: a short question more than its search.
SHORT = 24
FEATURES = features.NAMES
_ABOUT_TESTS = re.compile(r"\b[tT]est|\btests\b|test_")
_RUNS = (terms.FUNCTION, terms.METHOD)
_is_test = lru_cache(maxsize=200_000)(is_test_path)  # asked of every file again after each edit


class Reranks(Protocol):
    """What ranks candidates anew by their features (``retrieval/rerank.py``)."""

    def score(self, matrix: Array) -> Array:
        """One score a row."""
        ...


class Ranked(NamedTuple):
    """One document with its score and what it is made of."""

    doc: int
    score: float
    parts: dict[str, float]


class Ranker:
    """Ranks the documents of a corpus.

    Args:
        corpus: what to rank. weights: ``weights.RankWeights``. reranker: orders the best functions anew; None leaves them.
    """

    def __init__(self, corpus: Corpus, weights: RankWeights = RANK, reranker: Reranks | None = None) -> None:
        self.corpus = corpus
        self.weights = weights
        self.reranker = reranker
        self.scorer = Scorer(corpus, weights)
        kinds = np.array([weights.kinds[name] for name in terms.KINDS], np.float32)
        self._factor = kinds[corpus.kinds] * corpus.alive
        self.owners = np.where(corpus.parents < 0, np.arange(corpus.size), corpus.parents)
        tests = np.array([_is_test(path) for path in corpus.paths], bool)[corpus.file_of] if corpus.size else corpus.alive
        self.tests = tests | (corpus.flags & terms.IS_TEST > 0)
        self._factor_less_tests = self._factor * np.where(self.tests, np.float32(weights.tests), np.float32(1))

    def with_reranker(self, reranker: Reranks | None) -> Ranker:
        """The same ranker, which has its best functions ordered anew."""
        other = copy.copy(self)
        other.reranker = reranker
        return other

    def rank(self, query: str | Query, *, limit: int = 50, accept: Array | None = None) -> list[Ranked]:
        """The best documents.

        Args:
            accept: one bool a document; others are left out. None: all.
        """
        return self.best(self.score(query), limit=limit, accept=accept)

    def best(self, scores: Scores, *, limit: int = 50, accept: Array | None = None) -> list[Ranked]:
        """``rank`` of a question that was scored already."""
        reranked = self.reranker is not None and len(scores.query.text.split()) >= SHORT
        docs = self._best(scores.total, max(limit, RERANKED) if reranked else limit, accept)
        if not reranked or not len(docs) or scores.mentions.of("whole").any():
            return self._ranked(docs[:limit], scores)
        values = scores.total[docs].tolist()
        ranked = self._ranked(self._reordered(docs, scores)[:limit], scores)
        return [self._revalued(one, value) for one, value in zip(ranked, values, strict=False)]

    def files(self, query: str | Query, limit: int = 20, accept: Array | None = None) -> list[tuple[int, float]]:
        """The best files as (file number, score); a file scores by its own words and its best document."""
        best = self.file_scores(self.score(query), accept)
        order = np.lexsort((self.corpus.path_rank, -best))[:limit]
        return [(int(file), float(best[file])) for file in order if best[file] > 0]

    def features(
        self, query: str | Query, limit: int = RERANKED, accept: Array | None = None
    ) -> tuple[Array, Array, tuple[str, ...]]:
        """(documents, float32 matrix of ``FEATURES``, names) of the best ``limit`` documents."""
        scores = self.score(query)
        docs = self._best(scores.total, limit, accept)
        return docs, self._matrix(docs, scores), FEATURES

    @staticmethod
    def matching(scores: Scores) -> int:
        """How many documents answer to any of the question's words or names."""
        return int((scores.total > 0).sum())

    # scoring

    def score(self, query: str | Query) -> Scores:
        """Scores over everything."""
        corpus, weights = self.corpus, self.weights
        query = queries.parse(query) if isinstance(query, str) else query
        asked = self.scorer.asked({"title": query.title, "code": query.code, "prose": query.prose, "error": query.error})
        own, files = self.scorer.sums(asked, self.scorer.importance(asked))
        factor = self._factor if _ABOUT_TESTS.search(query.text) else self._factor_less_tests
        mentions = Mentions(corpus, query)
        scale = float((own * factor).max(initial=0.0)) or 1.0
        total = own + np.float32(weights.file) * files[corpus.file_of]
        if weights.owner:
            total += np.float32(weights.owner) * own[self.owners]
        for kind in mentions.kinds():
            total += np.float32(scale * weights.mentions[kind]) * mentions.of(kind)
        return Scores(query, asked, total * factor, own, files, mentions, scale, factor)

    def file_scores(self, scores: Scores, accept: Array | None = None) -> Array:
        """Score of each file: its own plus that of its best document."""
        corpus = self.corpus
        if not corpus.paths:
            return scores.files
        total = scores.total if accept is None else np.where(accept, scores.total, np.float32(0))
        best = np.maximum.reduceat(total, corpus.first[:-1])
        own = scores.files * scores.factor[corpus.first[:-1]] / self.weights.kinds["file"]
        for kind in scores.mentions.kinds():
            if kind in OF_FILES:
                named = scores.mentions.of(kind)[corpus.first[:-1]]
                own = own + np.float32(self.weights.file_mention * self.weights.mentions[kind] * scores.scale) * named
        return self.weights.file_own * own + best

    # results

    def _best(self, total: Array, limit: int, accept: Array | None) -> Array:
        scored = total if accept is None else np.where(accept, total, np.float32(0))
        docs = np.flatnonzero(scored > 0)
        if len(docs) > limit:
            edge = np.partition(scored[docs], len(docs) - limit)[len(docs) - limit]
            docs = docs[scored[docs] >= edge]
        order = np.lexsort((self.corpus.tie(docs), -scored[docs]))
        return docs[order][:limit]

    def _reordered(self, docs: Array, scores: Scores) -> Array:
        """The functions among the best, in the reranker's order, at the places that functions have; the rest stays."""
        places = np.flatnonzero(np.isin(self.corpus.kinds[docs[:RERANKED]], _RUNS))
        runs = docs[places]
        if len(runs) < 2 or self.reranker is None:
            return docs
        anew = np.asarray(self.reranker.score(self._matrix(runs, scores)))
        order = docs.copy()
        order[places] = runs[np.lexsort((np.arange(len(runs)), -anew))]
        return order

    def _matrix(self, docs: Array, scores: Scores) -> Array:
        return features.matrix(Seen(self.corpus, self.scorer, scores, self.tests, self.file_scores(scores)), docs)

    def _revalued(self, one: Ranked, value: float) -> Ranked:
        """A document with the score of the place it was moved to; only runs of some kinds are moved."""
        return Ranked(one.doc, value, {**one.parts, "rerank": value}) if int(self.corpus.kinds[one.doc]) in _RUNS else one

    def _ranked(self, docs: Array, scores: Scores) -> list[Ranked]:
        """Documents with their scores, and what these are made of."""
        corpus, weights = self.corpus, self.weights
        sums = {"words": scores.words[docs], "file": scores.files[corpus.file_of[docs]], "owner": scores.words[self.owners[docs]]}
        sums = {name: column.astype(np.float64) for name, column in sums.items()}
        sums["file"] *= weights.file
        sums["owner"] *= weights.owner
        for kind in scores.mentions.kinds():
            sums[kind] = weights.mentions[kind] * scores.scale * scores.mentions.at(kind, docs).astype(np.float64)
        factor = scores.factor[docs].astype(np.float64)
        rows = zip(*((column * factor).tolist() for column in sums.values()), strict=True)
        parts = [{name: value for name, value in zip(sums, row, strict=True) if value} for row in rows]
        totals = scores.total[docs].tolist()
        return [Ranked(*one) for one in zip(docs.tolist(), totals, parts, strict=True)]
