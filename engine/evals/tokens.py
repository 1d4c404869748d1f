"""Suite ``tokens``: what a reader pays until all functions of the answer were read, method by method, on the same tasks.

Who calls: ``mog eval run tokens``. What may not come in: rankers (``field``), reading rules (``trial``). Tokens are those of
``retrieval/estimator.py`` for every method alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mog.engine.evals import field, localization, stats
from mog.engine.evals.field import Outcome
from mog.engine.evals.suites import Column, Gate, Measure, Options, Row, SuiteResult, Table, Telling
from mog.engine.retrieval import estimator

ABOUT = (
    "A reader follows each method's ranking until every function that the fix touched was read whole, and pays for all that was "
    "read on the way: whole files (B0, BM25), the first ten 512-token chunks (B1), functions (mog). `signatures first` gives the "
    "reader locators and signatures in order and then the bodies of the right ones: it takes a reader who knows the right "
    "function when seeing its signature, and is a lower bound. A task whose answer is not reached counts as never."
)
BUDGETS = (2_000, 4_000, 8_000)
BAR_BUDGET, BAR_FACTOR = 4_000, 4.0
_BASELINES = ("b0", "b1", "b1-embed")


def run(options: Options, progress: Telling | None = None) -> SuiteResult:
    """Run the suite. Raises UsageError as ``localization.run`` does."""
    tasks, setting = localization.prepared(options)
    outcomes = field.work(tasks, setting, options.workers, progress)
    return result(outcomes, options)


def result(outcomes: Sequence[Outcome], options: Options) -> SuiteResult:
    """Tables and bars from what was measured."""
    spent = costs(outcomes)
    budgets = (Column("median", "median", "tokens", 0), *(Column(str(b), f"within {b:,}", "%") for b in BUDGETS))
    rows = tuple(Row(name, _measures(values, options.seed)) for name, values in spent.items())
    setup = {
        "tasks": f"{len(outcomes)}",
        "estimator": estimator.NAME,
        "intervals": f"{stats.RESAMPLES:,} resamples, seed {options.seed}",
        "run again": "mog eval run tokens --tasks FILE --repos DIR",
    }
    tables = (Table(f"Tokens until all of the answer was read, n = {len(outcomes)}", budgets, rows),)
    gates, remarks = tuple(_gates(outcomes, spent)), tuple(_remarks(outcomes, spent))
    return SuiteResult("tokens", "Tokens until the answer was read", ABOUT, tables, gates, remarks, setup)


def costs(outcomes: Sequence[Outcome]) -> dict[str, list[float]]:
    """Way of reading → tokens for each task."""
    found: dict[str, list[float]] = {}
    for name, title in localization.TITLES.items():
        if name not in outcomes[0].scores:
            continue
        found[title] = [outcome.scores[name].tokens["whole"] for outcome in outcomes]
        if name in outcomes[0].signatures:
            found[f"{title}: signatures first"] = [outcome.signatures[name] for outcome in outcomes]
    return found


def _measures(values: Sequence[float], seed: int) -> Mapping[str, Measure]:
    shares = {str(budget): stats.share([value <= budget for value in values], seed) for budget in BUDGETS}
    return {"median": stats.median_interval(values, seed), **shares}


def within(values: Sequence[float], budget: int) -> float:
    """Share of tasks that end within a budget, in percent."""
    return 100.0 * sum(value <= budget for value in values) / len(values)


def _gates(outcomes: Sequence[Outcome], spent: Mapping[str, Sequence[float]]) -> Iterator[Gate]:
    best = localization.TITLES[localization.judged_by(outcomes)]
    for way in (best, f"{best}: signatures first"):
        mine = within(spent[way], BAR_BUDGET)
        for name in _BASELINES:
            title = localization.TITLES[name]
            if title in spent:
                theirs = within(spent[title], BAR_BUDGET)
                what = f"tasks with the whole answer inside {BAR_BUDGET:,} tokens, {way}, beside {title}"
                yield Gate(what, f"≥ {BAR_FACTOR:.0f} ×", f"{mine:.1f} % / {theirs:.1f} %", mine >= BAR_FACTOR * theirs)


def _remarks(outcomes: Sequence[Outcome], spent: Mapping[str, Sequence[float]]) -> Iterator[str]:
    for name in _BASELINES:
        if name in outcomes[0].scores and name != "b0":
            lenient = within([outcome.scores[name].tokens["touched"] for outcome in outcomes], BAR_BUDGET)
            yield (
                f"{localization.TITLES[name]}: chunks cut functions in two; if a function counted as read once its first line "
                f"was, {lenient:.1f} % of the tasks would end inside {BAR_BUDGET:,} tokens."
            )
            share = within([outcome.scores[name].tokens["whole"] for outcome in outcomes], BAR_BUDGET)
            if BAR_FACTOR * share > 100:
                yield f"{localization.TITLES[name]} answers {share:.1f} %: {BAR_FACTOR:.0f} times that is more than all tasks."
    for way, values in spent.items():
        never = sum(value == float("inf") for value in values)
        if never:
            yield f"{way}: the answer of {never} tasks is never reached."
