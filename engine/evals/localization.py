"""Suite ``localization``: from the text of an issue to the files and functions that its fix touched.

Who calls: ``mog eval run localization``. What may not come in: rankers (``field`` runs the product's), conventions (``gold``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from mog.engine.errors import UsageError
from mog.engine.evals import cards, field, gold, stats
from mog.engine.evals.field import HAND, RERANKED, SEMANTIC, Outcome, Setting
from mog.engine.evals.gold import FILE_CUTS, FUNCTION_CUTS, Task
from mog.engine.evals.suites import Column, Gate, Measure, Options, Row, SuiteResult, Table, Telling
from mog.engine.evals.trial import Score
from mog.engine.retrieval import rerank

ABOUT = (
    "Each method gets the text of an issue and the repository as it was, and ranks files and functions; the answer is what the "
    "fix touched. Acc@k: all of the answer among the first k, in percent. Intervals: 95 %, bootstrap over tasks. Candidates: "
    "Python files that are no tests, as in the published tables; tasks whose fix touched no existing function are left out."
)
TITLES = {
    "b0": "B0 keyword search",
    "bm25": "BM25 over files",
    "b1": "B1 chunks, BM25",
    "b1-embed": "B1 chunks, static embedding",
    HAND: "mog, hand-set weights",
    RERANKED: "mog, reranked",
    SEMANTIC: "mog, hand-set, embeddings break ties",
}
Pick = Callable[[Score], Sequence[int]]
LEVELS: tuple[tuple[str, str, tuple[int, ...], Pick], ...] = (
    ("file", "file", FILE_CUTS, lambda score: score.files),
    ("module", "class", FUNCTION_CUTS, lambda score: score.modules),
    ("fn", "fn", FUNCTION_CUTS, lambda score: score.functions),
)
#: Bars of the development set (FIGURES): hand-set weights.
BARS = (("file@5", 77.0), ("fn@10", 55.0))


def run(options: Options, progress: Telling | None = None) -> SuiteResult:
    """Run the suite.

    Raises:
        UsageError: no tasks or clones were given, or one cannot be read.
    """
    tasks, setting = prepared(options)
    outcomes = field.work(tasks, setting, options.workers, progress)
    return result(tasks, outcomes, options)


def prepared(options: Options) -> tuple[list[Task], Setting]:
    """The tasks to judge and how to work through them. Raises UsageError for what is missing."""
    for value, flag, what in ((options.tasks, "--tasks", "a file of tasks"), (options.repos, "--repos", "a folder of clones")):
        if value is None:
            way_out = f"{flag} PATH; docs/results/localization.md says where tasks and clones come from"
            raise UsageError(f"this suite needs {what}", where=flag, way_out=way_out)
    tasks = gold.judged(gold.load(options.tasks or Path()), options.limit)
    if not tasks:
        raise UsageError("no task has an answer on both levels", where=str(options.tasks), way_out="give other tasks")
    ours = (HAND, RERANKED) if options.rerank and rerank.Reranker.load() is not None else (HAND,)
    if options.extra.get("embeddings") == "on":
        ours = (*ours, SEMANTIC)
    cache = options.cache or cards.default_folder()
    features = cache / "features" if options.extra.get("features") == "yes" else None
    asked = () if options.baselines == ("none",) else field.available(options.baselines)
    return tasks, Setting(options.repos or Path(), cache, (*asked, *ours), features=features)


def result(tasks: Sequence[Task], outcomes: Sequence[Outcome], options: Options) -> SuiteResult:
    """Tables, bars and remarks from what was measured."""
    methods = [name for name in TITLES if name in outcomes[0].scores]
    tables = [_table("All tasks", methods, outcomes, options.seed), *_gains(methods, outcomes, options.seed)]
    tables.append(_by_repo(outcomes))
    return SuiteResult(
        "localization", "Localisation: from an issue to the functions its fix touched", ABOUT, tuple(tables),
        tuple(_gates(outcomes, options.seed)), tuple(_remarks(methods, tasks, outcomes)), _setup(tasks, outcomes, options),
    )  # fmt: skip


def accuracy(outcomes: Sequence[Outcome], method: str, pick: Pick, cut: int) -> list[bool]:
    """Acc@k of a method, task by task."""
    return [gold.hit(pick(outcome.scores[method]), cut) for outcome in outcomes]


def _columns() -> tuple[Column, ...]:
    return tuple(Column(f"{key}@{cut}", f"{title}@{cut}") for key, title, cuts, _ in LEVELS for cut in cuts)


def _table(title: str, methods: Sequence[str], outcomes: Sequence[Outcome], seed: int) -> Table:
    rows = tuple(Row(TITLES[name], _measures(outcomes, name, seed)) for name in methods)
    return Table(f"{title}, n = {len(outcomes)}", _columns(), rows)


def _measures(outcomes: Sequence[Outcome], method: str, seed: int) -> dict[str, Measure]:
    return {
        f"{key}@{cut}": stats.share(accuracy(outcomes, method, pick, cut), seed)
        for key, _, cuts, pick in LEVELS
        for cut in cuts
    }


def _gains(methods: Sequence[str], outcomes: Sequence[Outcome], seed: int) -> Iterator[Table]:
    """Differences of pairs of methods on the same tasks."""
    best = judged_by(outcomes)
    pairs = [(RERANKED, HAND)] if RERANKED in methods else []
    pairs += [(SEMANTIC, HAND)] if SEMANTIC in methods else []
    pairs += [(best, name) for name in methods if name not in (HAND, RERANKED, SEMANTIC)]
    rows = tuple(Row(f"{TITLES[one]} − {TITLES[other]}", _differences(outcomes, one, other, seed)) for one, other in pairs)
    if rows:
        yield Table("Differences, task by task", _columns(), rows, "Points; an interval that holds 0 is no difference.")


def _differences(outcomes: Sequence[Outcome], one: str, other: str, seed: int) -> dict[str, Measure]:
    return {
        f"{key}@{cut}": stats.paired(
            [float(hit) for hit in accuracy(outcomes, one, pick, cut)],
            [float(hit) for hit in accuracy(outcomes, other, pick, cut)],
            seed,
            scale=100.0,
        )
        for key, _, cuts, pick in LEVELS
        for cut in cuts
    }


def _by_repo(outcomes: Sequence[Outcome]) -> Table:
    """One method repository by repository, without intervals: most have few tasks."""
    best = judged_by(outcomes)
    rows = []
    for repo in sorted({outcome.repo for outcome in outcomes}):
        mine = [outcome for outcome in outcomes if outcome.repo == repo]
        measures = {key: Measure(m.value, n=m.n) for key, m in _measures(mine, best, 0).items()}
        rows.append(Row(repo, measures, f"{len(mine)} tasks"))
    return Table(f"By repository: {TITLES[best]}", _columns(), tuple(rows))


def _gates(outcomes: Sequence[Outcome], seed: int) -> Iterator[Gate]:
    measures = _measures(outcomes, HAND, seed)
    for key, bar in BARS:
        value = measures[key].value
        yield Gate(f"{key}, hand-set weights (bar of the development tasks)", f"≥ {bar:.0f}", f"{value:.1f}", value >= bar)


def _remarks(methods: Sequence[str], tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> Iterator[str]:
    several = sum(1 for task in tasks if len(task.functions) > 1)
    yield f"{several} of {len(tasks)} fixes touch more than one function, and all of them have to be among the first k."
    reachable = sum(1 for outcome in outcomes if all(outcome.scores[HAND].functions)) / len(outcomes)
    yield (
        f"All gold functions are among the first {field.DEPTH} of the hand-set ranking for {100 * reachable:.1f} % of the tasks: "
        "no reranking of those can pass that."
    )
    model = rerank.Reranker.load() if RERANKED in methods else None
    if model is not None:
        known = seen(model, (task.id for task in tasks))
        if known:
            yield (
                f"The shipped reranker was trained on {known} of these {len(tasks)} tasks, so its row here flatters it; what it "
                "gains on repositories it has not seen is in the report of the training script (suite `reranker`)."
            )
        else:
            yield "The shipped reranker has not seen any of these tasks."


def seen(model: rerank.Reranker, tasks: Iterable[str]) -> int:
    """How many of these tasks (ids) a model was trained on, by the digests it carries."""
    known = set(model.about.get("tasks", "").split())
    return sum(1 for task in tasks if rerank.digest([task])[:8] in known)


def judged_by(outcomes: Sequence[Outcome]) -> str:
    """The method that is held against others: reranked, unless the reranker was trained on any of these tasks."""
    model = rerank.Reranker.load() if RERANKED in outcomes[0].scores else None
    return HAND if model is None or seen(model, (one.task for one in outcomes)) else RERANKED


def _setup(tasks: Sequence[Task], outcomes: Sequence[Outcome], options: Options) -> dict[str, str]:
    files = sorted(outcome.files for outcome in outcomes)
    functions = sorted(outcome.functions for outcome in outcomes)
    digest = rerank.digest([task.id for task in tasks])
    return {
        "tasks": f"{len(tasks)} of {len({task.repo for task in tasks})} repositories, digest {digest}",
        "candidates": f"median {files[len(files) // 2]:,} files and {functions[len(functions) // 2]:,} functions a task",
        "intervals": f"{stats.RESAMPLES:,} resamples, seed {options.seed}",
        "run again": "mog eval run localization --tasks FILE --repos DIR",
    }
