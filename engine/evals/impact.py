"""Suite ``impact``: what a real refactoring touched beside what ``impact`` names, and what a search for the name finds.

Who calls: ``mog eval run impact``. What may not come in: the choice of commits (``refactorings``), ways to answer (``impact_methods``).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from mog.engine.errors import UsageError
from mog.engine.evals import impact_methods as methods
from mog.engine.evals import repos, stats
from mog.engine.evals.edits import Clone, Copy
from mog.engine.evals.refactorings import Case, cases
from mog.engine.evals.suites import Column, Options, Row, SuiteResult, Table, Telling
from mog.engine.model import Progress
from mog.engine.workspace import Workspace

COMMITS = 30
FIRST = 10
PROJECTS = ("django/django", "sympy/sympy", "pytest-dev/pytest")
ABOUT = (
    "Commits whose subject speaks of a refactoring and that touch 3 to 30 Python files, the newest that qualify. The tree is that of"
    " the parent commit; the seeds are the functions whose signature changed or that are gone in the file where most are (or whose"
    " code changed, where no signature did); the truth is every other Python file touched, and every other function whose code"
    " changed. A touched file need not depend on the seed, and a dependant need not be touched (a rename through a deprecated alias"
    " leaves callers alone), so neither recall nor precision can be expected near 100 %."
)
COLUMNS = (
    Column("precision", "files: precision", "%"), Column("recall", "recall", "%"), Column("f1", "F1", "%"),
    Column("first", f"recall in the first {FIRST}", "%"), Column("named", "named, mean"),
    Column("fn_precision", "functions: precision", "%"), Column("fn_recall", "recall", "%"), Column("fn_f1", "F1", "%"),
)  # fmt: skip
NOTES = (
    "A method that names nothing for a commit has precision, recall and F1 of 0 there; the figures are means over commits.",
    "“Changed together” and “importers” answer with at most a dozen files and name no functions; the history ends at the parent"
    " commit.",
    "ripgrep names every Python file and function in which the name of a seed stands as a word, the most occurrences first; seeds"
    " whose names start with two underscores are not searched for.",
    "Peers are asked with a depth of one; functions that codegraph names are compared by file and bare name.",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One commit by one method; shares in percent."""

    precision: float
    recall: float
    first: float
    named: int
    fn_precision: float
    fn_recall: float

    @property
    def f1(self) -> float:
        """Harmonic mean over files."""
        return _harmonic(self.precision, self.recall)

    @property
    def fn_f1(self) -> float:
        """Harmonic mean over functions."""
        return _harmonic(self.fn_precision, self.fn_recall)


Results = dict[str, list[Measured]]


def run(options: Options, progress: Telling | None = None) -> SuiteResult:
    """Measure 30 commits of each project below ``options.repos``.

    Settings: ``projects`` (owner/name, comma separated), ``codegraph`` and ``mogestrator`` (command of a peer to run beside), and
    ``peers_on`` (projects the peers run on; default: all).

    Raises:
        UsageError: no folder of clones, or a project is not there.
    """
    if options.repos is None:
        raise UsageError("the suite works on clones with history", where="mog eval run impact", way_out="--repos FOLDER")
    projects = options.extra.get("projects", ",".join(PROJECTS)).split(",")
    count = options.limit or COMMITS
    tables, every = [], Results()
    for project in projects:
        chosen = cases(Clone(repos.locate(options.repos, project)), count)
        found = _measure(project, chosen, options, progress)
        tables.append(_table(f"{project}, {len(chosen)} commits", found, options.seed, _span(chosen)))
        for name, measured in found.items():
            every.setdefault(name, []).extend(measured)
    if len(projects) > 1:
        most = max(map(len, every.values()), default=0)
        whole = {name: measured for name, measured in every.items() if len(measured) == most}
        tables.insert(0, _table(f"All projects, {most} commits", whole, options.seed, ""))
    setup = {"projects": ", ".join(projects), "commits each": str(count), "seed": str(options.seed)}
    return SuiteResult("impact", "Impact beside what refactorings touched", ABOUT, tuple(tables), (), NOTES, setup)


def _span(chosen: Sequence[Case]) -> str:
    if not chosen:
        return "no commit qualifies"
    files = sum(len(case.files) for case in chosen) / len(chosen)
    symbols = sum(len(case.symbols) for case in chosen) / len(chosen)
    ends = f"{chosen[0].commit[:10]} to {chosen[-1].commit[:10]}"
    return f"{ends}; {files:.1f} other files and {symbols:.1f} other functions touched, mean"


def _measure(project: str, chosen: Sequence[Case], options: Options, progress: Telling | None) -> Results:
    """Walk through the parents, oldest first, with one index that follows."""
    results = Results()
    clone = Clone(repos.locate(options.repos or Path(), project))
    with tempfile.TemporaryDirectory(prefix="mog-impact-") as folder:
        copies = [Copy(clone, Path(folder) / "repo", case.parent) for case in chosen[:1]]
        others = [other for case in chosen[:1] for other in _others(clone, Path(folder), project, options, case.parent)]
        for number, case in enumerate(chosen):
            answers = methods.merged([*(_ours(copy, case) for copy in copies), *(ask(case) for ask in others)])
            for name, found in answers.items():
                results.setdefault(name, []).append(judged(found, case))
            if progress:
                progress(Progress(project, number + 1, len(chosen)))
    return results


def _ours(copy: Copy, case: Case) -> methods.Answers:
    copy.move(case.parent)
    with Workspace.open(copy.folder) as workspace:
        workspace.index()
        return methods.merged([methods.mog(workspace, case), methods.ripgrep(copy.folder, case)])


def _others(clone: Clone, folder: Path, project: str, options: Options, first: str) -> list[Callable[[Case], methods.Answers]]:
    asked: list[Callable[[Case], methods.Answers]] = []
    if project not in options.extra.get("peers_on", project).split(","):
        return asked
    for name, peer in methods.PEERS.items():
        if name in options.extra:
            copy = Copy(clone, folder / name, first)
            other = methods.Other(peer, options.extra[name], copy.folder, folder / f"{name}-home")
            asked.append(lambda case, copy=copy, other=other: (copy.move(case.parent), other.answer(case))[1])  # type: ignore[misc]
    return asked


def judged(found: methods.Found, case: Case) -> Measured:
    """One answer against the truth: the primary file and the seeds themselves count on neither side."""
    files = [path for path in found.files if path != case.primary]
    precision, recall = _shares(files, case.files)
    first = _shares(files[:FIRST], case.files)[1]
    bare = bool(found.symbols) and not any("." in qual for _, qual in found.symbols)
    symbols = {(path, qual.rpartition(".")[2] if bare else qual) for path, qual in case.symbols}
    seeds = {(path, qual.rpartition(".")[2] if bare else qual) for path, qual in case.seeds}
    fn_precision, fn_recall = _shares({place for place in found.symbols if place not in seeds}, symbols)
    return Measured(precision, recall, first, len(files), fn_precision, fn_recall)


def _shares(named: Collection[object], truth: Collection[object]) -> tuple[float, float]:
    right = len(set(named) & set(truth))
    return 100 * right / len(named) if named else 0.0, 100 * right / len(truth) if truth else 0.0


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0


def _table(title: str, results: Results, seed: int, note: str) -> Table:
    rows = []
    for name, found in results.items():
        figures = {
            column.key: stats.mean_interval([float(getattr(one, column.key)) for one in found], seed) for column in COLUMNS
        }
        empty = sum(one.named == 0 for one in found)
        rows.append(Row(name, figures, f"named nothing for {empty} of {len(found)}" if empty else ""))
    return Table(title, COLUMNS, tuple(rows), note)
