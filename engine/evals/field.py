"""Many tasks, all methods: builds each task's corpus out of the cache, ranks with the product's own ranker, scores the answers.

Who calls: ``localization``, ``tokens`` and the training script. What may not come in: averages, text for people, an own ranker.
Tasks of one clone that are near in time share most files, so they are worked through together, in worker processes.
"""

from __future__ import annotations

import hashlib
import itertools
import multiprocessing
import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mog.engine.evals import baselines, cards, gold, repos, trial
from mog.engine.evals.cards import Cards, Symbol
from mog.engine.evals.gold import Task
from mog.engine.evals.repos import Entry, History
from mog.engine.evals.suites import Telling
from mog.engine.evals.trial import Answer, Scene, Score
from mog.engine.model import Progress
from mog.engine.retrieval import embed, rank, rerank, terms
from mog.engine.retrieval.corpus import Corpus
from mog.engine.retrieval.semantic import TieBreaker
from mog.engine.retrieval.weights import RANK, RankWeights

HAND, RERANKED = "mog", "mog-rerank"
#: Hand-set weights, with embeddings as a tie-breaker.
SEMANTIC = "mog-embed"
BASELINES = ("b0", "bm25", "b1", "b1-embed")
DEPTH = 200
_BATCH = 8
_FILES = 50


@dataclass(frozen=True, slots=True)
class Setting:
    """How to work through tasks.

    Attributes:
        repos: folder of clones. cache: folder of the cards. methods: names to run. weights: of the hand-set ranker.
        features: folder that gets one npz of the candidates' features a task; None: none.
    """

    repos: Path
    cache: Path
    methods: tuple[str, ...] = (*BASELINES, HAND, RERANKED)
    weights: RankWeights = RANK
    features: Path | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """One task worked through: how many candidates it had, and the score of each method that ran.

    ``signatures`` is ``trial.signatures_first`` of mog's rankings, by method.
    """

    task: str
    repo: str
    files: int
    functions: int
    scores: dict[str, Score]
    signatures: dict[str, float] = field(default_factory=dict)


def available(asked: Iterable[str] = ()) -> tuple[str, ...]:
    """The baselines to run: those asked for, or all that can run here (``b1-embed`` needs the extra ``[embed]``)."""
    chosen = tuple(asked) or BASELINES
    return tuple(name for name in chosen if name != "b1-embed" or embed.load() is not None)


def work(tasks: Sequence[Task], setting: Setting, workers: int = 0, progress: Telling | None = None) -> list[Outcome]:
    """Every task, in the order given.

    Args:
        workers: processes at most; 0: as many as there are cores.

    Raises:
        UsageError: a clone or commit is not there.
    """
    batches = list(_batches(tasks, setting.repos))
    _fill(batches, setting, workers, progress)
    done: dict[str, Outcome] = {}
    for outcomes in _spread(batches, setting, workers or os.cpu_count() or 1):
        done |= {one.task: one for one in outcomes}
        if progress:
            progress(Progress("ranking", len(done), len(tasks)))
    return [done[task.id] for task in tasks]


@dataclass(frozen=True, slots=True)
class Batch:
    """Tasks of one clone, near in time."""

    git_dir: Path
    tasks: tuple[Task, ...]


def _batches(tasks: Sequence[Task], folder: Path) -> Iterator[Batch]:
    for repo in sorted({task.repo for task in tasks}):
        git_dir = repos.locate(folder, repo)
        mine = [task for task in tasks if task.repo == repo]
        with History(git_dir) as history:
            dates = history.dates(task.base_commit for task in mine)
        mine.sort(key=lambda task: (dates.get(task.base_commit, 0), task.id))
        for start in range(0, len(mine), _BATCH):
            yield Batch(git_dir, tuple(mine[start : start + _BATCH]))


def _tables(methods: Iterable[str]) -> tuple[str, ...]:
    lexical = any(name in BASELINES for name in methods)
    return cards.TABLES if lexical else tuple(name for name in cards.TABLES if name != "lexical")


def _fill(batches: Sequence[Batch], setting: Setting, workers: int, progress: Telling | None) -> None:
    """Make the records of all files that the tasks look at, clone by clone."""
    with Cards(setting.cache, workers, _tables(setting.methods)) as known:
        for git_dir, of_clone in itertools.groupby(batches, key=lambda batch: batch.git_dir):
            with History(git_dir) as history:
                commits = dict.fromkeys(task.base_commit for batch in of_clone for task in batch.tasks)
                wanted = {entry for commit in commits for entry in candidates(history, commit)}
                known.fill(history, sorted(wanted), progress, "reading clones")


def candidates(history: History, commit: str) -> list[Entry]:
    """Candidate files of a commit, by path."""
    return sorted(entry for entry in history.tree(commit) if gold.candidate(entry.path))


def _spread(batches: Sequence[Batch], setting: Setting, workers: int) -> Iterator[list[Outcome]]:
    if workers < 2 or len(batches) < 2:
        yield from (run_batch(batch, setting) for batch in batches)
        return
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield from pool.map(run_batch, batches, itertools.repeat(setting))


def run_batch(batch: Batch, setting: Setting) -> list[Outcome]:
    """All tasks of a batch. Runs in a worker process."""
    with Cards(setting.cache, 1, _tables(setting.methods)) as known, History(batch.git_dir) as history:
        return [_outcome(task, candidates(history, task.base_commit), known, history, setting) for task in batch.tasks]


def _outcome(task: Task, entries: Sequence[Entry], known: Cards, history: History, setting: Setting) -> Outcome:
    scene = Scene([entry.path for entry in entries], [known.card(entry) for entry in entries])
    answers = dict(_plain(task, scene, entries, known, history, setting))
    signatures = {}
    for name, (answer, ranked) in _ours(task, scene, entries, known, setting).items():
        answers[name] = answer
        signatures[name] = trial.signatures_first(scene, task, ranked)
    functions = sum(1 for file in range(len(entries)) for _ in scene.functions(file))
    scores = {name: trial.score(scene, task, answer) for name, answer in answers.items()}
    return Outcome(task.id, task.repo, len(entries), functions, scores, signatures)


def _plain(
    task: Task, scene: Scene, entries: Sequence[Entry], known: Cards, history: History, setting: Setting
) -> Iterator[tuple[str, Answer]]:
    """Answers of the baselines."""
    wanted = set(setting.methods) & set(BASELINES)
    if not wanted:
        return
    files = baselines.Files(scene.paths, tuple(known.words(entry) for entry in entries))
    if "b0" in wanted:
        yield "b0", trial.from_files(scene, baselines.by_keyword(files, task.query))
    postings = baselines.Postings(files, task.query)
    if "bm25" in wanted:
        yield "bm25", trial.from_files(scene, postings.files())
    if "b1" in wanted:
        yield "b1", trial.from_chunks(scene, postings.ranked())
    embedder = embed.load() if "b1-embed" in wanted else None
    if embedder is not None:
        pairs = zip(entries, files.words, strict=True)
        rows = np.concatenate([_vectors(entry, words, known, history, embedder) for entry, words in pairs])
        cosines = embed.Vectors(embedder.space, rows).similarity(embedder.encode([task.query]))[:, 0]
        yield "b1-embed", trial.from_chunks(scene, baselines.by_vector(postings.chunks, cosines))


def _vectors(entry: Entry, words: Any, known: Cards, history: History, embedder: embed.Embedder) -> NDArray[np.float32]:
    """Vectors of a file's chunks, kept in the cache as half floats."""
    return known.vectors(entry, words.starts, embedder, lambda: next(history.read([entry.blob])))


def _ours(
    task: Task, scene: Scene, entries: Sequence[Entry], known: Cards, setting: Setting
) -> dict[str, tuple[Answer, list[tuple[int, Symbol]]]]:
    """Answers of mog: hand-set and reranked, from one corpus."""
    corpus = Corpus.build([(entry.path, known.terms(entry)) for entry in entries])
    if corpus.paths != scene.paths:
        raise AssertionError("corpus and scene number files alike")
    runs = functions_of(corpus)
    if setting.features is not None:
        _write_features(setting.features, task, scene, corpus, rank.Ranker(corpus, setting.weights), runs)
    rankers = {HAND: rank.Ranker(corpus, setting.weights)}
    model = rerank.Reranker.load() if RERANKED in setting.methods else None
    if model is not None:
        model.check(rank.FEATURES)
        rankers[RERANKED] = rank.Ranker(corpus, setting.weights, model)
    answers = {name: _answer(task, scene, ranker, runs) for name, ranker in rankers.items() if name in setting.methods}
    if SEMANTIC in setting.methods:
        answers[SEMANTIC] = _answer(task, scene, rankers[HAND], runs, TieBreaker())
    return answers


def functions_of(corpus: Corpus) -> NDArray[np.bool_]:
    """Which documents are functions or methods."""
    return np.isin(corpus.kinds, (terms.FUNCTION, terms.METHOD))


def _answer(
    task: Task, scene: Scene, ranker: rank.Ranker, runs: NDArray[np.bool_], ties: TieBreaker | None = None
) -> tuple[Answer, list[tuple[int, Symbol]]]:
    corpus = ranker.corpus
    found = ranker.rank(task.query, limit=DEPTH, accept=runs)
    if ties is not None:
        names = [_symbol(scene, corpus, one.doc).name for one in found]
        added = ties.added(task.query, names, [one.score for one in found])
        found = [one for _, one in sorted(zip(added, found, strict=True), key=lambda pair: -(pair[1].score + pair[0]))]
    ranked = [(int(corpus.file_of[one.doc]), _symbol(scene, corpus, one.doc)) for one in found]
    files = [file for file, _ in ranker.files(task.query, _FILES)]
    if ranker.reranker is not None:  # it orders functions; a file then stands where the first of its functions does
        files = list(dict.fromkeys([*(file for file, _ in ranked), *files]))
    return trial.from_functions(scene, files, ranked), ranked


def _symbol(scene: Scene, corpus: Corpus, doc: int) -> Symbol:
    return scene.cards[int(corpus.file_of[doc])].symbols[int(corpus.ord_of[doc])]


def feature_file(folder: Path, task: str) -> Path:
    """Where the features of a task's candidates are."""
    return folder / f"{hashlib.blake2b(task.encode(), digest_size=10).hexdigest()}.npz"


def _write_features(
    folder: Path, task: Task, scene: Scene, corpus: Corpus, ranker: rank.Ranker, runs: NDArray[np.bool_]
) -> None:
    """Candidates of a task as numbers: names only as ``label`` (is it gold) and ``same`` (equal names, equal numbers)."""
    docs, matrix, names = ranker.features(task.query, DEPTH, runs)
    spelled = [scene.name(int(corpus.file_of[doc]), _symbol(scene, corpus, int(doc))) for doc in docs]
    paths = [corpus.paths[int(corpus.file_of[doc])] for doc in docs]
    gold_files = set(task.files)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        feature_file(folder, task.id),
        matrix=matrix,
        features=np.array(names),
        task=np.array([task.id, task.repo]),
        label=np.array([task.functions.index(name) + 1 if name in task.functions else 0 for name in spelled], np.int32),
        same=np.unique(np.array(spelled, dtype=object).astype(str), return_inverse=True)[1].astype(np.int32),
        of_file=corpus.file_of[docs].astype(np.int32),
        in_gold_file=np.array([path in gold_files for path in paths]),
        gold=np.array([len(task.functions), len(task.files)], np.int32),
    )
