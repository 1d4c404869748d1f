"""The features of candidates that a learned reranker reads: by field and part of the question, by mention, by place.

Who calls: ``rank``. What may not come in: weights beyond those the ranker scored with, gold answers. Order and names are part of
the reranker's file; a change of either asks for training anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mog.engine.retrieval import terms
from mog.engine.retrieval.mentions import KINDS
from mog.engine.retrieval.scoring import PARTS

if TYPE_CHECKING:
    from mog.engine.retrieval.rank import Ranker, Scores

Array = NDArray[Any]
_FIELDS = (terms.NAME, terms.OWNER, terms.SIG, terms.DOC, terms.BODY)
_MENTIONS = tuple(kind for kind in KINDS if kind != "whole")
NAMES = (
    "total", "words", *PARTS, *(f"{part}_{terms.FIELDS[field]}" for part in PARTS[:3] for field in _FIELDS),
    "file", *(f"file_{part}" for part in PARTS), "owner", "owner_title", *(f"says_{kind}" for kind in _MENTIONS), "owner_named", "file_named",
    "rank", "file_rank", "rank_in_file", "best_in_file", "file_best", "covered", "covered_title", "covered_name", "name_filled",
    "rarest", "length", "file_length", "name_length", "symbols", "is_method", "private", "special", "documented", "nested",
    "test", "depth", "asked_title", "asked_code", "asked_prose",
)  # fmt: skip


def matrix(ranker: Ranker, scores: Scores, docs: Array) -> Array:
    """(documents, ``NAMES``) as float32, in the order of the documents; they are expected best first."""
    if not len(docs):
        return np.zeros((0, len(NAMES)), np.float32)
    order = np.argsort(docs, kind="stable")
    back = np.empty(len(docs), np.int64)
    back[order] = np.arange(len(docs))
    ascending = docs[order]
    columns = {
        **_by_words(ranker, scores, ascending), **_by_owner(ranker, scores, ascending), **_by_mention(ranker, scores, ascending),
        **_of_itself(ranker, ascending),
    }  # fmt: skip
    columns = {name: column[back] for name, column in columns.items()}
    columns |= _by_place(ranker, scores, docs)
    asked = {f"asked_{part}": np.full(len(docs), np.log1p(len(getattr(scores.query, part)))) for part in PARTS[:3]}
    return np.stack([np.asarray((columns | asked)[name], np.float32) for name in NAMES], axis=1)


def _by_words(ranker: Ranker, scores: Scores, docs: Array) -> dict[str, Array]:
    asked, scorer = scores.asked, ranker.scorer
    present = {part: np.sign(counts).astype(np.float32) for part, counts in asked.counts.items()}
    worth = scorer.at(asked, docs)
    columns = {"total": scores.total[docs], "words": scores.words[docs]}
    columns |= {part: present[part] @ worth for part in PARTS}
    for field in _FIELDS:
        values = scorer.in_field(asked, field, docs)
        columns |= {f"{part}_{terms.FIELDS[field]}": present[part] @ values for part in PARTS[:3]}
        if field == terms.NAME:
            columns |= _name_cover(ranker, docs, values, present["title"])
    files, inverse = np.unique(ranker.corpus.file_of[docs], return_inverse=True)
    of_files = scorer.at_files(asked, files)
    columns |= {f"file_{part}": (present[part] @ of_files)[inverse] for part in PARTS}
    columns["file"] = scores.files[ranker.corpus.file_of[docs]]
    title = present["title"][:, None]
    columns["covered"] = (worth > 0).mean(axis=0) if len(worth) else np.zeros(len(docs))
    columns["covered_title"] = ((worth > 0) * title).sum(axis=0) / max(1.0, float(title.sum()))
    columns["rarest"] = worth.max(axis=0) if len(worth) else np.zeros(len(docs))
    return columns


def _name_cover(ranker: Ranker, docs: Array, values: Array, title: Array) -> dict[str, Array]:
    """Share of the title's terms that the name has, and of the name's terms that the title has."""
    hits = ((values > 0) * title[:, None]).sum(axis=0)
    lengths = np.maximum(ranker.corpus.lengths[docs, terms.NAME], 1)
    return {"covered_name": hits / max(1.0, float(title.sum())), "name_filled": np.minimum(hits / lengths, 1)}


def _by_owner(ranker: Ranker, scores: Scores, docs: Array) -> dict[str, Array]:
    """The same words in the class or function around a document; 0 for what stands at the top of its file."""
    corpus = ranker.corpus
    owners = np.maximum(corpus.parents[docs], 0)
    inside = corpus.ord_of[owners] >= 0
    unique, inverse = np.unique(owners, return_inverse=True)
    title = np.sign(scores.asked.counts["title"]).astype(np.float32) @ ranker.scorer.at(scores.asked, unique)
    named = np.max([scores.mentions.at(kind, owners) for kind in ("title_name", "name", "dotted")], axis=0)
    return {"owner": scores.words[owners] * inside, "owner_title": title[inverse] * inside, "owner_named": named * inside,
            "nested": inside.astype(np.float32)}  # fmt: skip


def _by_mention(ranker: Ranker, scores: Scores, docs: Array) -> dict[str, Array]:
    corpus, mentions = ranker.corpus, scores.mentions
    columns = {f"says_{kind}": mentions.at(kind, docs) for kind in _MENTIONS}
    named = np.max([mentions.of(kind) for kind in ("title_name", "name", "dotted")], axis=0)
    columns["file_named"] = np.maximum.reduceat(named, corpus.first[:-1])[corpus.file_of[docs]]
    return columns


def _of_itself(ranker: Ranker, docs: Array) -> dict[str, Array]:
    corpus = ranker.corpus
    files, flags = corpus.file_of[docs], corpus.flags[docs]
    return {
        "length": np.log1p(corpus.lengths[docs, terms.BODY]), "file_length": np.log1p(corpus.file_lengths[files, terms.BODY]),
        "name_length": corpus.lengths[docs, terms.NAME], "symbols": np.log1p(np.diff(corpus.first)[files]),
        "is_method": corpus.kinds[docs] == terms.METHOD, "private": flags & terms.IS_PRIVATE > 0,
        "special": flags & terms.IS_SPECIAL > 0, "documented": flags & terms.IS_DOCUMENTED > 0, "test": ranker.tests[docs],
        "depth": np.array([corpus.paths[file].count("/") for file in files.tolist()], np.float32),
    }  # fmt: skip


def _by_place(ranker: Ranker, scores: Scores, docs: Array) -> dict[str, Array]:
    """Rank of a document, of its file, of it in its file; how far it is from the best of its file, and that from the best."""
    by_file = ranker.file_scores(scores)
    files = ranker.corpus.file_of[docs]
    total = scores.total[docs]
    unique, inverse = np.unique(files, return_inverse=True)
    best = np.zeros(len(unique), np.float32)
    np.maximum.at(best, inverse, total)
    grouped = np.lexsort((np.arange(len(docs)), inverse))
    begins = np.flatnonzero(np.concatenate([[True], inverse[grouped][1:] != inverse[grouped][:-1]]))
    inside = np.empty(len(docs))
    inside[grouped] = np.arange(len(docs)) - np.repeat(begins, np.diff(np.append(begins, len(docs))))
    file_rank = np.array([(by_file > by_file[file]).sum() for file in unique])[inverse]
    return {
        "rank": np.log1p(np.arange(len(docs))), "file_rank": np.log1p(file_rank), "rank_in_file": inside,
        "best_in_file": total / np.maximum(best[inverse], 1e-9), "file_best": best[inverse] / max(float(best.max()), 1e-9),
    }  # fmt: skip
