"""Suite ``impact``: what a real refactoring touched beside what ``impact`` names, and what a search for the name finds.

Who calls: ``mog eval run impact``. What may not come in: the answer of a method in the choice of commits or seeds.

A commit counts when its subject speaks of a refactoring and it changes 2 to 30 Python files (``ABOUT``).
"""

from __future__ import annotations

import os
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mog.engine.errors import MogError, UsageError
from mog.engine.evals import repos, stats
from mog.engine.evals.edits import Clone, Copy, functions, is_source
from mog.engine.evals.suites import Column, Measure, Options, Row, SuiteResult, Table, Telling
from mog.engine.model import Progress
from mog.engine.workspace import Workspace

COMMITS = 30
FILES = (2, 30)
SEEDS = 5
SUBJECT = re.compile(
    r"refactor|rename|mov(e|ed|ing)\b|deprecat|simplif|extract|signature|clean ?up|split|inline|reorgani[sz]e", re.I
)
ABOUT = (
    "A commit counts when its subject speaks of a refactoring and it changes 2 to 30 Python files. Its seeds are the functions it"
    " changes in the file where it changes most of them, as the parent has them; the truth is every other Python file it touches."
    " A touched file need not depend on the seed, and a dependant need not be touched, so neither recall nor precision can be"
    " expected near 100 %."
)
PROJECTS = ("django/django", "sympy/sympy", "pytest-dev/pytest")

COLUMNS = (
    Column("precision", "precision", "%"), Column("recall", "recall", "%"), Column("f1", "F1", "%"),
    Column("named", "files named, mean"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Case:
    """One commit: its parent, the seeds (path, qualified name) and the other Python files it touched."""

    commit: str
    parent: str
    seeds: tuple[tuple[str, str], ...]
    touched: frozenset[str]


Method = Callable[[Workspace, Case], set[str]]


def run(options: Options, progress: Telling | None = None) -> SuiteResult:
    """Measure 30 commits of each project below ``options.repos`` (setting ``projects``: owner/name, comma separated).

    Raises:
        UsageError: no folder of clones, or a project is not there.
    """
    if options.repos is None:
        raise UsageError("the suite works on clones with history", where="mog eval run impact", way_out="--repos FOLDER")
    projects = options.extra.get("projects", ",".join(PROJECTS)).split(",")
    tables, count = [], options.limit or COMMITS
    every: dict[str, list[Measured]] = {}
    for project in projects:
        clone = Clone(repos.locate(options.repos, project))
        cases = list(_cases(clone, count))
        results = _measure(clone, cases, project, progress)
        tables.append(_table(f"{project}, {len(cases)} commits", results, options.seed))
        for name, found in results.items():
            every.setdefault(name, []).extend(found)
    if len(projects) > 1:
        tables.insert(0, _table("all projects", every, options.seed))
    return SuiteResult("impact", "Impact beside what refactorings touched", ABOUT, tuple(tables), (), _NOTES,
                       {"projects": ", ".join(projects), "commits each": str(count), "seed": str(options.seed)})  # fmt: skip


_NOTES = (
    "Files are compared, not functions: a touched test file counts as any other.",
    "“Certain” follows certain links only, “maybe” the lower tiers too; both to a depth of two hops.",
    "ripgrep names every file with the name of a seed in it.",
)


@dataclass(frozen=True, slots=True)
class Measured:
    """One commit by one method, shares in percent."""

    precision: float
    recall: float
    named: int

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def _cases(clone: Clone, count: int) -> Iterator[Case]:
    log = clone.ask("log", "--no-merges", "--format=%H%x00%P%x00%s", "-n", "20000", "HEAD").decode("utf-8", "replace")
    found = 0
    for line in log.splitlines():
        commit, parents, subject = line.split("\0", 2)
        case = _case(clone, commit, parents) if parents and SUBJECT.search(subject) else None
        if case is not None:
            yield case
            found += 1
        if found == count:
            return


def _case(clone: Clone, commit: str, parent: str) -> Case | None:
    listing = clone.ask("diff-tree", "-r", "-z", "--no-renames", "--name-status", parent, commit).split(b"\0")[:-1]
    changes = {os.fsdecode(path): status for status, path in zip(listing[::2], listing[1::2], strict=True)}
    python = [path for path in changes if path.endswith(".py")]
    if not FILES[0] <= len(python) <= FILES[1]:
        return None
    seeds: dict[str, list[str]] = {}
    for path in python:
        if changes[path] == b"M" and is_source(path):
            before, after = functions(clone.text(parent, path)), functions(clone.text(commit, path))
            seeds[path] = sorted(q for q, one in before.items() if q not in after or after[q].body != one.body)
    best = max(seeds, key=lambda path: (len(seeds[path]), path), default="")
    if not best or not seeds[best]:
        return None
    touched = frozenset(path for path in python if path != best and changes[path] != b"A")
    return Case(commit, parent, tuple((best, qual) for qual in seeds[best][:SEEDS]), touched) if touched else None


def _measure(clone: Clone, cases: Sequence[Case], project: str, progress: Telling | None) -> dict[str, list[Measured]]:
    methods: dict[str, Method] = {"mog, certain": _certain, "mog, certain and maybe": _maybe, "ripgrep": _ripgrep}
    results: dict[str, list[Measured]] = {name: [] for name in methods}
    if not cases:
        return results
    with tempfile.TemporaryDirectory(prefix="mog-impact-") as folder:
        copy = Copy(clone, Path(folder) / "repo", cases[-1].parent)
        with Workspace.open(copy.folder) as workspace:
            for number, case in enumerate(reversed(cases)):
                copy.move(case.parent)
                workspace.index()
                for name, method in methods.items():
                    results[name].append(_judged(method(workspace, case) - {case.seeds[0][0]}, case.touched))
                if progress:
                    progress(Progress(project, number + 1, len(cases)))
    return results


def _judged(named: set[str], touched: frozenset[str]) -> Measured:
    right = len(named & touched)
    return Measured(100 * right / len(named) if named else 0.0, 100 * right / len(touched), len(named))


def _certain(workspace: Workspace, case: Case) -> set[str]:
    return _reached(workspace, case, maybe=False)


def _maybe(workspace: Workspace, case: Case) -> set[str]:
    return _reached(workspace, case, maybe=True)


def _reached(workspace: Workspace, case: Case, *, maybe: bool) -> set[str]:
    files: set[str] = set()
    for path, qual in case.seeds:
        try:
            answer = workspace.impact(f"sym:{path}::{qual}", depth=2, limit=5_000, maybe=maybe)
        except MogError:
            continue
        files |= {one.node.path for one in answer.reached if one.node.path} | {node.path for node in answer.tests}
    return {path for path in files if path.endswith(".py")}


def _ripgrep(workspace: Workspace, case: Case) -> set[str]:
    """Files in which the name of a seed stands as a word: what ``rg -l -w NAME`` lists, special methods aside."""
    names = {qual.rpartition(".")[2] for _, qual in case.seeds}
    wanted = [re.escape(name) for name in sorted(names) if not name.startswith("__")]
    if not wanted:
        return set()
    pattern = re.compile(rb"\b(?:" + "|".join(wanted).encode() + rb")\b")
    paths = (path for path in workspace.root.rglob("*.py") if ".mog" not in path.parts)
    return {path.relative_to(workspace.root).as_posix() for path in paths if path.is_file() and pattern.search(path.read_bytes())}


def _table(title: str, results: dict[str, list[Measured]], seed: int) -> Table:
    rows = []
    for name, found in results.items():
        if not found:
            continue
        figures: dict[str, Measure] = {
            "precision": stats.mean_interval([one.precision for one in found], seed),
            "recall": stats.mean_interval([one.recall for one in found], seed),
            "f1": stats.mean_interval([one.f1 for one in found], seed),
            "named": stats.mean_interval([float(one.named) for one in found], seed),
        }
        empty = Counter(one.named == 0 for one in found)[True]
        rows.append(Row(name, figures, f"named nothing for {empty} of {len(found)}" if empty else ""))
    return Table(title, COLUMNS, tuple(rows))
