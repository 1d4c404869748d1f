"""Real refactorings of a project, chosen by rule: what was changed first, and what else had to be touched.

Who calls: suite ``impact``. What may not come in: the answer of any method. The rule, in one place:

- not a merge; the subject speaks of a refactoring (``SUBJECT``); 3 to 30 Python files are touched;
- the *primary* file is ordinary source (no test) that exists on both sides. Of several: the one with most functions whose signature
  changed or that are gone from it (renamed, moved, removed); of equals the one with most changed functions, then the first by name;
- the *seeds* are those functions, or where there are none, the functions of that file whose code changed; a class that is gone with
  all its methods is one seed. At most five, by qualified name;
- the *truth* is every other Python file that was touched and existed before, and in them and beside the seeds every function whose
  code changed or that is gone. The newest commits that qualify are taken.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from mog.engine.evals.edits import Clone, Function, functions, is_source

FILES = (3, 30)
SEEDS = 5
LOOKED_AT = 30_000
SUBJECT = re.compile(
    r"refactor|renam|\bmov(e|ed|es|ing)\b|deprecat|signature|extract(ed|ing)? (method|function|class|helper)|inlined?\b|clean(ed)? ?up"
    r"|simplif|split|reorgani[sz]|consolidat|unif(y|ied)",
    re.I,
)

Place = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Case:
    """One commit.

    Attributes:
        seeds: (path, qualified name) in the primary file, as the parent has them. files: paths touched besides the primary one.
        symbols: (path, qualified name) of functions touched besides the seeds, as the parent has them.
    """

    commit: str
    parent: str
    subject: str
    seeds: tuple[Place, ...]
    files: frozenset[str]
    symbols: frozenset[Place]

    @property
    def primary(self) -> str:
        """Path of the primary file."""
        return self.seeds[0][0]


def cases(clone: Clone, count: int) -> list[Case]:
    """The newest ``count`` commits that qualify, oldest first. Raises UsageError where git cannot read the clone."""
    found: list[Case] = []
    for commit, parent, subject in _candidates(clone):
        case = _case(clone, commit, parent, subject)
        if case is not None:
            found.append(case)
        if len(found) == count:
            break
    return found[::-1]


def _candidates(clone: Clone) -> Iterator[tuple[str, str, str]]:
    log = clone.ask("log", "--no-merges", "--format=%H%x00%P%x00%s", "-n", str(LOOKED_AT), "HEAD").decode("utf-8", "replace")
    for line in log.split("\n"):
        commit, _, rest = line.partition("\0")
        parent, _, subject = rest.partition("\0")
        if parent and SUBJECT.search(subject):
            yield commit, parent, subject


def _case(clone: Clone, commit: str, parent: str, subject: str) -> Case | None:
    listing = clone.ask("diff-tree", "-r", "-z", "--no-renames", "--name-status", parent, commit).split(b"\0")[:-1]
    pairs = zip(listing[::2], map(os.fsdecode, listing[1::2]), strict=True)
    states = {path: state for state, path in pairs if path.endswith(".py")}
    if not FILES[0] <= len(states) <= FILES[1]:
        return None
    changes = {path: _changes(clone, commit, parent, path) for path, state in states.items() if state != b"A"}
    sources = [path for path in changes if states[path] == b"M" and _ordinary(path) and changes[path][1]]
    if not sources:
        return None
    primary = min(sources, key=lambda path: (-len(changes[path][0]), -len(changes[path][1]), path))
    reshaped, touched = changes[primary]
    quals = (reshaped or touched)[:SEEDS]
    seeds = {(primary, qual) for qual in quals}
    symbols = {(path, qual) for path, (_, names) in changes.items() for qual in names if not _inside(path, qual, seeds)}
    files = frozenset(changes) - {primary}
    return Case(commit, parent, subject, tuple(sorted(seeds)), files, frozenset(symbols)) if files else None


def _ordinary(path: str) -> bool:
    return is_source(path) and "testing" not in path.split("/")


def _inside(path: str, qual: str, seeds: set[Place]) -> bool:
    return any(path == where and (qual == name or qual.startswith(name + ".")) for where, name in seeds)


def _changes(clone: Clone, commit: str, parent: str, path: str) -> tuple[list[str], list[str]]:
    """(functions that are gone or have another signature, all functions that changed or are gone), by qualified name."""
    before, after = functions(clone.text(parent, path)), functions(clone.text(commit, path))
    gone = {qual for qual in before if qual not in after}
    touched = sorted(gone | {qual for qual, one in before.items() if qual in after and after[qual].body != one.body})
    reshaped = gone | {qual for qual in touched if qual in after and after[qual].signature != before[qual].signature}
    return sorted({_whole(qual, gone, before, after) for qual in reshaped}), touched


def _whole(qual: str, gone: set[str], before: dict[str, Function], after: dict[str, Function]) -> str:
    """The class of a method that is gone, when no method of it is left."""
    owner = qual.rpartition(".")[0]
    if owner and qual in gone and not any(other.startswith(owner + ".") for other in after):
        return owner if owner not in before else qual
    return qual
