"""Ranking quality does not fall unseen: questions about our own engine, and a sample of real candidates kept as numbers."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mog.engine.code import ingest
from mog.engine.evals import gold
from mog.engine.retrieval import rank, terms
from mog.engine.retrieval.corpus import Corpus
from mog.engine.retrieval.rerank import Reranker

ROOT = Path(__file__).resolve().parents[2]
SAMPLE = Path(__file__).with_name("reranker_sample.npz")
#: Rooms whose names and documentation are settled; the questions use words of their tasks, not of their code.
ROOMS = ("engine/code", "engine/store", "engine/ledgers", "engine/policy")
QUESTIONS = {
    "Where is it decided that a file holds a credential?": "engine/code/secrets.py:classify",
    "A file written moments ago has an unreliable modification time": "engine/code/content.py:settled",
    "text files in UTF-16 are treated as binary": "engine/code/content.py:sniff",
    "`blob_id` differs from what git says": "engine/code/content.py:blob_id",
    "generated and minified files should be indexed as text only": "engine/code/content.py:machine_made",
    "wrapped parameters make the signature span two lines": "engine/code/facts.py:one_line",
    "two functions of the same name in one file get the same qualified name": "engine/code/facts.py:unique_quals",
    "Symbols that touch a gated span keep their signature": "engine/code/facts.py:apply_gates",
    'File "/x/engine/code/extract.py", line 3, in extract\nValueError: no grammar': "engine/code/extract.py:extract",
    "compressed facts cannot be decoded by unpack_facts": "engine/store/blobs.py:unpack_facts",
}  # fmt: skip


@cache
def own_ranker() -> tuple[rank.Ranker, list[list[str]]]:
    """A ranker over some rooms of the engine, and the names of each file's symbols."""
    packed, names = [], []
    for path in sorted(one for room in ROOMS for one in (ROOT / room).glob("*.py")):
        relative, data = path.relative_to(ROOT).as_posix(), path.read_bytes()
        facts = ingest.facts_of("python", data, relative, (), anchored=False)
        packed.append((relative, terms.file_terms(relative, facts, data)))
        names.append([f"{relative}:{row[1]}" for row in facts["syms"]])
    return rank.Ranker(Corpus.build(packed)), names


def place(question: str, wanted: str, reranker: Reranker | None) -> int:
    """Rank of a function among the functions, 0 when it is not found."""
    ranker, names = own_ranker()
    corpus = ranker.corpus
    runs = np.isin(corpus.kinds, (terms.FUNCTION, terms.METHOD))
    found = ranker.with_reranker(reranker).rank(question, limit=50, accept=runs)
    spelled = [names[int(corpus.file_of[one.doc])][int(corpus.ord_of[one.doc])] for one in found]
    return gold.first_ranks(spelled, [wanted])[0]


@pytest.mark.parametrize("learned", [False, True], ids=["hand-set", "reranked"])
def test_questions_about_our_own_engine_are_answered_near_the_top(learned: bool) -> None:
    reranker = Reranker.load() if learned else None
    places = {question: place(question, wanted, reranker) for question, wanted in QUESTIONS.items()}
    near = [question for question, at in places.items() if 0 < at <= 5]
    assert len(near) >= 8, places


def sample() -> tuple[list[tuple[np.ndarray, np.ndarray, int]], tuple[str, ...]]:
    """(features, label, gold functions) of real tasks, from a file that the training script writes."""
    read = np.load(SAMPLE)
    bounds = np.cumsum(read["sizes"])[:-1]
    matrices = np.split(read["matrix"].astype(np.float32), bounds)
    return list(zip(matrices, np.split(read["label"], bounds), read["gold"].tolist(), strict=True)), tuple(map(str, read["features"]))


def reached(label: np.ndarray, scores: np.ndarray, wanted: int, cut: int) -> bool:
    best = label[np.lexsort((np.arange(len(scores)), -scores))][:cut]
    return len(set(best.tolist()) - {0}) == wanted


def test_the_sample_is_of_the_features_that_are_made_today() -> None:
    assert sample()[1] == rank.FEATURES, "features changed: python -m benchmarks.train_reranker --write"


def test_the_reranker_that_ships_ranks_the_sample_better_than_the_weights_set_by_hand() -> None:
    examples, names = sample()
    model = Reranker.load()
    assert model is not None
    by_hand = sum(reached(label, -np.arange(len(label)), wanted, 5) for _, label, wanted in examples)
    learned = sum(reached(label, model.score(matrix, names), wanted, 5) for matrix, label, wanted in examples)
    assert len(examples) >= 30
    assert learned >= by_hand + len(examples) // 20
