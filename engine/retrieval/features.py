"""The features of candidates that a learned reranker reads: by field and part of the question, by mention, by place.

Who calls: ``rank``. What may not come in: weights beyond those the ranker scored with, gold answers. Order and names are part of
the reranker's file; a change of either asks for training anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mog.engine.retrieval import terms
from mog.engine.retrieval.corpus import Corpus
from mog.engine.retrieval.mentions import KINDS, Mentions
from mog.engine.retrieval.query import Query
from mog.engine.retrieval.scoring import PARTS, Asked, Scorer

Array = NDArray[Any]
_FIELDS = (terms.NAME, terms.OWNER, terms.SIG, terms.DOC, terms.BODY)
_NAMING = ("title_name", "name", "dotted")
_MENTIONS = tuple(kind for kind in KINDS if kind != "whole")
NAMES = (
    "total", "words", *PARTS, *(f"{part}_{terms.FIELDS[field]}" for part in PARTS[:3] for field in _FIELDS),
    "file", *(f"file_{part}" for part in PARTS), "owner", "owner_title", *(f"says_{kind}" for kind in _MENTIONS), "owner_named",
    "file_named",
    "rank", "file_rank", "rank_in_file", "best_in_file", "file_best", "covered", "covered_title", "covered_name", "name_filled",
    "rarest", "length", "file_length", "name_length", "symbols", "is_method", "private", "special", "documented", "nested",
    "test", "depth", "asked_title", "asked_code", "asked_prose",
)  # fmt: skip


@dataclass(slots=True)
class Scores:
    """Scores of one question over a corpus.

    Attributes:
        total: by document, everything in. words, files: BM25F by document and by file.
        scale: what a mention of full strength and weight 1 is worth. factor: what the sum of a document is multiplied with.
    """

    query: Query
    asked: Asked
    total: Array
    words: Array
    files: Array
    mentions: Mentions
    scale: float
    factor: Array


class Seen(NamedTuple):
    """What features are made from: the corpus, its scorer, which documents are tests, and the score of each file."""

    corpus: Corpus
    scorer: Scorer
    scores: Scores
    tests: Array
    by_file: Array


def matrix(seen: Seen, docs: Array) -> Array:
    """(documents, ``NAMES``) as float32, in the order of the documents; they are expected best first."""
    if not len(docs):
        return np.zeros((0, len(NAMES)), np.float32)
    order = np.argsort(docs, kind="stable")
    back = np.empty(len(docs), np.int64)
    back[order] = np.arange(len(docs))
    made = (_by_words, _by_owner, _by_mention, _of_itself)
    columns = {name: column[back] for make in made for name, column in make(seen, docs[order]).items()}
    columns |= _by_place(seen, docs)
    query = seen.scores.query
    columns |= {f"asked_{part}": np.full(len(docs), np.log1p(len(getattr(query, part)))) for part in PARTS[:3]}
    return np.stack([np.asarray(columns[name], np.float32) for name in NAMES], axis=1)


def _by_words(seen: Seen, docs: Array) -> dict[str, Array]:
    scores, asked, scorer, corpus = seen.scores, seen.scores.asked, seen.scorer, seen.corpus
    present = {part: np.sign(counts).astype(np.float32) for part, counts in asked.counts.items()}
    worth = scorer.at(asked, docs)
    columns = {"total": scores.total[docs], "words": scores.words[docs]}
    columns |= {part: present[part] @ worth for part in PARTS}
    for field in _FIELDS:
        values = scorer.in_field(asked, field, docs)
        columns |= {f"{part}_{terms.FIELDS[field]}": present[part] @ values for part in PARTS[:3]}
        if field == terms.NAME:
            columns |= _name_cover(corpus.lengths[docs, field], values, present["title"])
    files, inverse = np.unique(corpus.file_of[docs], return_inverse=True)
    of_files = scorer.at_files(asked, files)
    columns |= {f"file_{part}": (present[part] @ of_files)[inverse] for part in PARTS}
    columns["file"] = scores.files[corpus.file_of[docs]]
    return columns | _cover(worth, present["title"])


def _cover(worth: Array, title: Array) -> dict[str, Array]:
    """Share of the terms, and of the title's, that a document has; its most telling one."""
    if not len(worth):
        nothing = np.zeros(worth.shape[1])
        return {"covered": nothing, "covered_title": nothing, "rarest": nothing}
    hits = worth > 0
    covered = title @ hits / max(1.0, float(title.sum()))
    return {"covered": hits.mean(axis=0), "covered_title": covered, "rarest": worth.max(axis=0)}


def _name_cover(lengths: Array, values: Array, title: Array) -> dict[str, Array]:
    """Share of the title's terms that the name has, and of the name's terms that the title has."""
    hits = title @ (values > 0)
    return {"covered_name": hits / max(1.0, float(title.sum())), "name_filled": np.minimum(hits / np.maximum(lengths, 1), 1)}


def _by_owner(seen: Seen, docs: Array) -> dict[str, Array]:
    """The same words in the class or function around a document; 0 for what stands at the top of its file."""
    corpus, scores = seen.corpus, seen.scores
    owners = np.maximum(corpus.parents[docs], 0)
    inside = (corpus.ord_of[owners] >= 0).astype(np.float32)
    unique, inverse = np.unique(owners, return_inverse=True)
    title = np.sign(scores.asked.counts["title"]).astype(np.float32) @ seen.scorer.at(scores.asked, unique)
    named = np.max([scores.mentions.at(kind, owners) for kind in _NAMING], axis=0)
    return {"owner": scores.words[owners] * inside, "owner_title": title[inverse] * inside, "owner_named": named * inside,
            "nested": inside}  # fmt: skip


def _by_mention(seen: Seen, docs: Array) -> dict[str, Array]:
    corpus, mentions = seen.corpus, seen.scores.mentions
    columns = {f"says_{kind}": mentions.at(kind, docs) for kind in _MENTIONS}
    there = [mentions.of(kind) for kind in _NAMING if kind in mentions.kinds()]
    by_file = [np.maximum.reduceat(values, corpus.first[:-1])[corpus.file_of[docs]] for values in there]
    columns["file_named"] = np.max([np.zeros(len(docs), np.float32), *by_file], axis=0)
    return columns


def _of_itself(seen: Seen, docs: Array) -> dict[str, Array]:
    corpus = seen.corpus
    files, flags = corpus.file_of[docs], corpus.flags[docs]
    return {
        "length": np.log1p(corpus.lengths[docs, terms.BODY]), "file_length": np.log1p(corpus.file_lengths[files, terms.BODY]),
        "name_length": corpus.lengths[docs, terms.NAME], "symbols": np.log1p(np.diff(corpus.first)[files]),
        "is_method": corpus.kinds[docs] == terms.METHOD, "private": flags & terms.IS_PRIVATE > 0,
        "special": flags & terms.IS_SPECIAL > 0, "documented": flags & terms.IS_DOCUMENTED > 0, "test": seen.tests[docs],
        "depth": np.array([corpus.paths[file].count("/") for file in files.tolist()], np.float32),
    }  # fmt: skip


def _by_place(seen: Seen, docs: Array) -> dict[str, Array]:
    """Rank of a document, of its file, of it in its file; how far it is from the best of its file, and that from the best."""
    files, total = seen.corpus.file_of[docs], seen.scores.total[docs]
    unique, inverse = np.unique(files, return_inverse=True)
    best = np.zeros(len(unique), np.float32)
    np.maximum.at(best, inverse, total)
    grouped = np.lexsort((np.arange(len(docs)), inverse))
    begins = np.flatnonzero(np.concatenate([[True], inverse[grouped][1:] != inverse[grouped][:-1]]))
    inside = np.empty(len(docs))
    inside[grouped] = np.arange(len(docs)) - np.repeat(begins, np.diff(np.append(begins, len(docs))))
    file_rank = np.searchsorted(np.sort(-seen.by_file), -seen.by_file[files], side="left")
    return {
        "rank": np.log1p(np.arange(len(docs))), "file_rank": np.log1p(file_rank), "rank_in_file": inside,
        "best_in_file": total / np.maximum(best[inverse], 1e-9), "file_best": best[inverse] / max(float(best.max()), 1e-9),
    }  # fmt: skip
