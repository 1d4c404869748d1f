"""What every suite takes and gives back, and the list of suites by name.

Who calls: ``mog eval`` through ``find``; each suite module, for its records. What may not come in: measuring, printing, files.
A suite is one function ``run(options: Options, progress: Telling | None) -> SuiteResult`` in the module that ``SUITES`` names;
it is imported when it is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, cast

from mog.engine.errors import UsageError
from mog.engine.model import Progress

Telling = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class Options:
    """What a person asks of a suite; each suite reads what it knows and ignores the rest.

    Attributes:
        repos: folder of clones (``evals/repos.py``), or the one repository a suite works on; None: the suite makes its own.
        tasks: file of tasks; None: the suite's own, where it has one.
        cache: folder for what is costly to make again; None: the user's cache folder.
        baselines: names of the baselines to run beside mog; empty: all that can run here.
        limit: tasks at most, spread evenly over all of them; 0: all.
        seed: of every random choice, resampling included.
        workers: processes at most; 0: as many as there are cores.
        rerank: whether the learned reranker takes part where the product would use it.
        extra: settings of one suite, by name.
    """

    repos: Path | None = None
    tasks: Path | None = None
    cache: Path | None = None
    baselines: tuple[str, ...] = ()
    limit: int = 0
    seed: int = 5
    workers: int = 0
    rerank: bool = True
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure: its value, the 95 % interval (both None when there is none), and how many cases it rests on (0: a count)."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """One kind of figure: its key in ``Row.measures``, title, unit (``%``, ``tokens``, ``ms``, "") and digits shown."""

    key: str
    title: str
    unit: str = ""
    digits: int = 1


@dataclass(frozen=True, slots=True)
class Row:
    """One method, or one case: a name, a remark, and a figure for each column it has one for."""

    name: str
    measures: Mapping[str, Measure]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows that are compared on the same tasks; ``note`` says what one has to know to read it."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A bar that the result is held against. ``met`` is None when it could not be measured here.

    Attributes:
        name: what is asked, as a sentence. target, value: as shown. met: whether it is reached.
    """

    name: str
    target: str
    value: str
    met: bool | None


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """What one run of a suite found; losses stay in.

    Attributes:
        suite: its name in ``SUITES``. title: heading of the report. about: a paragraph: what was asked of whom, on what.
        tables: figures. gates: bars. notes: sentences, one point each (limits of the method, losses, surprises).
        setup: what is needed to run it again (tasks, counts, versions, seed); no machine paths.
    """

    suite: str
    title: str
    about: str
    tables: tuple[Table, ...] = ()
    gates: tuple[Gate, ...] = ()
    notes: tuple[str, ...] = ()
    setup: Mapping[str, str] = field(default_factory=dict)


Run = Callable[[Options, "Telling | None"], SuiteResult]


class Suite(NamedTuple):
    """One entry of the list: name, ``module`` that has ``run``, a sentence for ``--help``."""

    name: str
    module: str
    about: str


SUITES = (
    Suite("localization", "mog.engine.evals.localization", "Issue text to the functions its fix touched."),
    Suite("tokens", "mog.engine.evals.tokens", "Tokens a reader pays until all of the answer is read."),
    Suite("impact", "mog.engine.evals.impact", "Files a real commit touched beside those impact names."),
    Suite("staleness", "mog.engine.evals.staleness", "Facts served as fresh that are not, and the other way round."),
    Suite("memory", "mog.engine.evals.memory", "Finding what was remembered, and what is served after it went stale."),
    Suite("working_set", "mog.engine.evals.working_set", "A long scripted session, each promise of the working set checked."),
    Suite("outcome", "mog.engine.evals.outcome", "A scripted agent over real edits and hard resets."),
)


def find(name: str) -> Suite:
    """The suite of that name. Raises UsageError with the names there are."""
    for suite in SUITES:
        if suite.name == name:
            return suite
    raise UsageError(f"there is no suite {name!r:.60}", where="mog eval", way_out="one of: " + ", ".join(s.name for s in SUITES))


def run(name: str, options: Options, progress: Telling | None = None) -> SuiteResult:
    """Run one suite. Raises UsageError for an unknown name, and what the suite raises."""
    module = importlib.import_module(find(name).module)
    return cast(Run, module.run)(options, progress)
