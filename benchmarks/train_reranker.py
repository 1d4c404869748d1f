"""Train the reranker that ships with mog, and say what it gains on repositories it has not seen.

    python -m benchmarks.train_reranker --tasks FILE --repos DIR [--more FILE …] [--cache DIR] [--write]

Who calls: a person, before a release, and whenever the ranker's features change (``Reranker.check`` says so). Needs the extra
``[train]``. What may not come in: features (they are ``Ranker.features``), tasks of the held-back set.

Recipe: LambdaMART (Burges 2010, "From RankNet to LambdaRank to LambdaMART", as built in LightGBM), candidates = the best 200
functions of the hand-set ranking, relevance = is it gold. Judged by leaving one repository out in turn, small ones together;
what ships is trained on everything. ``--more`` adds tasks that are trained on and not judged.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.report import REPOSITORY, say
from mog.engine.evals import cards, field, gold, report, stats
from mog.engine.evals.suites import Column, Gate, Measure, Row, SuiteResult, Table
from mog.engine.model import Progress
from mog.engine.retrieval import rerank
from mog.engine.retrieval.rerank import Reranker, Tree

MODEL = REPOSITORY / "engine" / "retrieval" / "reranker.json"
SAMPLE = REPOSITORY / "tests" / "evals" / "reranker_sample.npz"
ROUNDS = 120
SEEDS = (1, 2)
SMALL = 12
SAMPLED, SAMPLED_CANDIDATES = 40, 40
PARAMETERS: dict[str, Any] = {
    "objective": "lambdarank", "metric": "None", "num_leaves": 7, "learning_rate": 0.05, "min_data_in_leaf": 40,
    "feature_fraction": 0.5, "bagging_fraction": 0.7, "bagging_freq": 1, "lambda_l2": 5.0, "lambdarank_truncation_level": 20,
    "max_bin": 63, "num_threads": 1, "deterministic": True, "force_row_wise": True, "verbose": -1,
}  # fmt: skip
ABOUT = (
    "The learned reranker orders the best 200 functions of the hand-set ranking anew. Each repository's tasks are ranked by a "
    "model that was trained without that repository (those with fewer than twelve tasks are left out together), so every figure "
    "here is about code the model has not seen. Files are ranked by their best function. Acc@k as in the suite `localization`."
)

Floats = NDArray[np.float32]


class Example(NamedTuple):
    """The candidates of one task, best first by the hand-set weights.

    Attributes:
        task, repo: which. matrix: candidates x features. label: 0, or 1 + the number of the gold function.
        same: equal numbers for candidates of one name. files: number of each candidate's file. in_gold: whether that is gold.
        gold: how many gold functions, and gold files, there are.
    """

    task: str
    repo: str
    matrix: Floats
    label: NDArray[np.int32]
    same: NDArray[np.int32]
    files: NDArray[np.int32]
    in_gold: NDArray[np.bool_]
    gold: tuple[int, int]


def main() -> None:
    """Make the features, judge by leaving repositories out, train on all, write the model and its report."""
    asked = _arguments()
    judged, names = examples(gold.judged(gold.load(asked.tasks)), asked)
    more = [one for path in asked.more for one in examples(gold.judged(gold.load(path)), asked)[0]]
    say(f"{len(judged)} tasks to judge, {len(more)} more to train on, {len(names)} features")
    scores = left_out(judged, more)
    result = judged_result(judged, scores, len(more))
    print(report.markdown(result))
    report.save(result, asked.results or asked.cache / "results")
    model = shipped([*judged, *more], names)
    text = rerank.dumped(model)
    say(f"{len(model.trees)} trees, {len(text):,} bytes, digest {model.digest}")
    if asked.write:
        MODEL.write_text(text, encoding="utf-8")
        write_sample(judged, names)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--tasks", type=Path, required=True, help="tasks to train on and judge")
    parser.add_argument("--repos", type=Path, required=True, help="folder of clones")
    parser.add_argument("--more", type=Path, action="append", default=[], help="tasks to train on only")
    parser.add_argument("--cache", type=Path, default=cards.default_folder())
    parser.add_argument("--results", type=Path, help="folder for the saved result (default: in the cache)")
    parser.add_argument("--write", action="store_true", help=f"replace {MODEL.relative_to(REPOSITORY)}")
    return parser.parse_args()


def examples(tasks: Sequence[gold.Task], asked: argparse.Namespace) -> tuple[list[Example], tuple[str, ...]]:
    """Features of the candidates of all tasks, made by the product's ranker; names of the features."""
    folder = asked.cache / "features"
    setting = field.Setting(asked.repos, asked.cache, (field.HAND,), features=folder)
    field.work(tasks, setting, progress=_told)
    read = [np.load(field.feature_file(folder, task.id)) for task in tasks]
    return [_example(one) for one in read], tuple(map(str, read[0]["features"]))


def _told(progress: Progress) -> None:
    if progress.done % 50 == 0 or progress.done == progress.total:
        say(f"{progress.stage}: {progress.done} of {progress.total}")


def _example(read: Mapping[str, Any]) -> Example:
    task, repo = map(str, read["task"])
    functions, files = map(int, read["gold"])
    matrix = read["matrix"].astype(np.float32)
    return Example(task, repo, matrix, read["label"], read["same"], read["of_file"], read["in_gold_file"], (functions, files))


# training


def booster(examples_: Sequence[Example], seed: int) -> Any:
    """One LightGBM model, from the tasks that have a gold function among the candidates."""
    import lightgbm

    kept = [one for one in examples_ if one.label.any()]
    matrix = np.concatenate([one.matrix for one in kept])
    label = np.concatenate([one.label > 0 for one in kept]).astype(np.int32)
    data = lightgbm.Dataset(matrix, label, group=[len(one.label) for one in kept], params={"max_bin": PARAMETERS["max_bin"]})
    return lightgbm.train({**PARAMETERS, "seed": seed}, data, ROUNDS)


def folds(judged: Sequence[Example]) -> Iterator[frozenset[str]]:
    """The repositories to leave out together: each large one alone, the small ones as one."""
    sizes = {repo: sum(one.repo == repo for one in judged) for repo in sorted({one.repo for one in judged})}
    yield from (frozenset([repo]) for repo, size in sizes.items() if size >= SMALL)
    small = frozenset(repo for repo, size in sizes.items() if size < SMALL)
    if small:
        yield small


def left_out(judged: Sequence[Example], more: Sequence[Example]) -> list[NDArray[np.float64]]:
    """Scores of each task's candidates by models that were trained without its repository."""
    scores = [np.zeros(len(one.label)) for one in judged]
    for fold in folds(judged):
        seen = [one for one in (*judged, *more) if one.repo not in fold]
        models = [booster(seen, seed) for seed in SEEDS]
        for at, one in enumerate(judged):
            if one.repo in fold:
                scores[at] = sum((model.predict(one.matrix, num_threads=1) for model in models), scores[at])
        say(f"left out: {', '.join(sorted(fold))}")
    return scores


def shipped(all_of: Sequence[Example], names: Sequence[str]) -> Reranker:
    """The model that ships: trained on everything, checked against LightGBM's own answers."""
    models = [booster(all_of, seed) for seed in SEEDS]
    trees = [tree_of(one["tree_structure"]) for model in models for one in model.dump_model()["tree_info"]]
    about = {
        "trained": f"{len(all_of)} tasks of {len({one.repo for one in all_of})} repositories",
        "recipe": "python -m benchmarks.train_reranker",
        "tasks": " ".join(sorted(rerank.digest([one.task])[:8] for one in all_of)),
    }
    model = Reranker(names, trees, about)
    worst = 0.0
    for one in all_of:
        theirs = sum(other.predict(one.matrix, num_threads=1) for other in models)
        worst = max(worst, float(np.abs(model.score(one.matrix) - theirs).max(initial=0.0)))
    if worst > 1e-6:
        raise AssertionError(f"our walk of the trees differs from LightGBM's by {worst}")
    return model


def tree_of(structure: Mapping[str, Any]) -> Tree:
    """One tree of ``Booster.dump_model`` as tests and masks; leaves are numbered from the left."""
    features: list[int] = []
    thresholds: list[float] = []
    masks: list[int] = []
    values: list[float] = []

    def walk(node: Mapping[str, Any]) -> tuple[int, int]:
        """First and last+1 leaf below a node."""
        if "leaf_value" in node:
            values.append(float(node["leaf_value"]))
            return len(values) - 1, len(values)
        if node["decision_type"] != "<=" or node["missing_type"] != "None":
            raise AssertionError(f"a test the walk does not know: {node['decision_type']} {node['missing_type']}")
        at = len(features)
        features.append(int(node["split_feature"]))
        thresholds.append(float(node["threshold"]))
        masks.append(0)
        first, middle = walk(node["left_child"])
        _, last = walk(node["right_child"])
        masks[at] = 0xFFFFFFFF ^ ((1 << middle) - (1 << first))
        return first, last

    walk(structure)
    return Tree(tuple(features), tuple(thresholds), tuple(masks), tuple(values))


def write_sample(judged: Sequence[Example], names: Sequence[str]) -> None:
    """The first candidates of some tasks as numbers, for the test that ranking does not fall unseen: no text, no names."""
    some = [judged[at * len(judged) // SAMPLED] for at in range(SAMPLED)]
    np.savez_compressed(
        SAMPLE,
        matrix=np.concatenate([one.matrix[:SAMPLED_CANDIDATES] for one in some]).astype(np.float32),
        label=np.concatenate([one.label[:SAMPLED_CANDIDATES] for one in some]),
        sizes=np.array([min(len(one.label), SAMPLED_CANDIDATES) for one in some], np.int32),
        gold=np.array([one.gold[0] for one in some], np.int32),
        features=np.array(names),
    )


# judging


def ranks(one: Example, scores: NDArray[np.float64]) -> tuple[list[int], list[int]]:
    """Rank of each gold function and of each gold file that is among the candidates; 0 for those that are not."""
    order = np.lexsort((np.arange(len(scores)), -scores))
    functions = gold.first_ranks([str(n) for n in one.same[order]], [_name(one, at) for at in range(one.gold[0])])
    paths = [str(n) for n in one.files[order]]
    wanted = list(dict.fromkeys(str(n) for n in one.files[one.in_gold]))
    files = gold.first_ranks(paths, wanted) + [0] * (one.gold[1] - len(wanted))
    return functions, files


def _name(one: Example, number: int) -> str:
    found = np.flatnonzero(one.label == number + 1)
    return str(one.same[found[0]]) if len(found) else ""


COLUMNS = (
    *(Column(f"file@{cut}", f"file@{cut}") for cut in gold.FILE_CUTS),
    *(Column(f"fn@{cut}", f"fn@{cut}") for cut in gold.FUNCTION_CUTS),
)


def hits(judged: Sequence[Example], scores: Sequence[NDArray[np.float64]]) -> dict[str, list[float]]:
    """Column → 1 or 0 for each task."""
    found = [ranks(one, score) for one, score in zip(judged, scores, strict=True)]
    of_files = {f"file@{cut}": [float(gold.hit(files, cut)) for _, files in found] for cut in gold.FILE_CUTS}
    return of_files | {f"fn@{cut}": [float(gold.hit(functions, cut)) for functions, _ in found] for cut in gold.FUNCTION_CUTS}


def judged_result(judged: Sequence[Example], scores: Sequence[NDArray[np.float64]], more: int, seed: int = 5) -> SuiteResult:
    """Hand-set and reranked side by side, with the gain task by task."""
    before = hits(judged, [-np.arange(len(one.label), dtype=np.float64) for one in judged])
    after = hits(judged, scores)
    rows = (
        Row("mog, hand-set weights", _shares(before, seed)),
        Row("mog, reranked, repository left out", _shares(after, seed)),
        Row("gain, task by task", {key: stats.paired(after[key], before[key], seed, scale=100.0) for key in after}),
    )
    gates = tuple(_gate(cut, stats.paired(after[cut], before[cut], seed, scale=100.0)) for cut in ("file@5", "fn@10"))
    setup = {
        "tasks": f"{len(judged)} judged, {more} more trained on",
        "recipe": f"LambdaMART, {ROUNDS} trees of {PARAMETERS['num_leaves']} leaves x {len(SEEDS)} seeds",
        "intervals": f"95 %, {stats.RESAMPLES:,} resamples, seed {seed}",
        "run again": "python -m benchmarks.train_reranker --tasks FILE --repos DIR",
    }
    table = Table(f"Repositories left out in turn, n = {len(judged)}", COLUMNS, (*rows,))
    tables = (table, _by_repository(judged, before, after))
    return SuiteResult("reranker", "The reranker on repositories it has not seen", ABOUT, tables, gates, setup=setup)


def _gate(cut: str, gain: Measure) -> Gate:
    bar = f"gain of the reranker at {cut} on repositories it has not seen"
    return Gate(bar, "interval above 0", report.shown(gain, COLUMNS[0]), (gain.low or 0) > 0)


def _shares(found: Mapping[str, Sequence[float]], seed: int) -> dict[str, Measure]:
    return {key: stats.mean_interval(values, seed, scale=100.0) for key, values in found.items()}


Found = Mapping[str, Sequence[float]]


def _by_repository(judged: Sequence[Example], before: Found, after: Found) -> Table:
    rows = []
    for repo in sorted({one.repo for one in judged}):
        mine = [at for at, one in enumerate(judged) if one.repo == repo]
        for name, found in (("hand-set", before), ("reranked", after)):
            shares = {key: Measure(100 * sum(values[at] for at in mine) / len(mine)) for key, values in found.items()}
            rows.append(Row(f"{repo}, {name}", shares, f"{len(mine)} tasks"))
    return Table("By repository", COLUMNS, tuple(rows))


if __name__ == "__main__":
    main()
