"""Tasks of issue localisation: what is asked, what counts as the answer, and how a ranking is scored against it.

Who calls: ``localization``, ``tokens``, the training script. What may not come in: repositories, rankers.

Conventions are those of the published tables (LocAgent, arXiv 2503.09089; SweRank, arXiv 2505.07849): tests are no candidates, a
constructor is spelled as its class, a function inside a function is the outer one, Acc@k = *all* of the answer among the first k.
Tasks whose fix touched no function are left out of the tables, of file figures too, as published (Lite: 274 of 300).
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mog.engine.errors import UsageError

FILE_CUTS = (1, 3, 5, 10)
FUNCTION_CUTS = (5, 10)
CLASSES = frozenset({"class"})
FUNCTIONS = frozenset({"function", "method"})


@dataclass(frozen=True, slots=True)
class Task:
    """One issue.

    Attributes:
        id, repo, base_commit: which issue of which repository, and the commit it was reported against.
        query: title and text as written. files: paths the fix touched.
        functions: ``path:qualified.name`` of the functions it touched.
    """

    id: str
    repo: str
    base_commit: str
    query: str
    files: tuple[str, ...]
    functions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol of a candidate file as scoring needs it: its names, kind, and byte offsets of the whole span and the body's."""

    qual: str
    kind: str
    owner: str
    start: int
    stop: int
    signature: str


def load(path: Path) -> list[Task]:
    """Tasks of a JSON Lines file (``.gz`` or not), in its order.

    Raises:
        UsageError: no such file, or a line that is no task.
    """
    if not path.is_file():
        raise UsageError("there is no such file of tasks", where=str(path), way_out="--tasks FILE (JSON Lines, .gz or not)")
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as lines:
        return list(_tasks(lines, str(path)))


def _tasks(lines: Iterable[str], where: str) -> Iterator[Task]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield _task(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                way_out = "each line is an object with id, repo, base_commit, query, files, functions"
                raise UsageError(f"line {number} is no task: {error}", where=where, way_out=way_out) from error


def _task(row: Mapping[str, Any]) -> Task:
    words = (row["id"], row["repo"], row["base_commit"], row["query"])
    if not all(isinstance(word, str) for word in words):
        raise TypeError("id, repo, base_commit and query are texts")
    return Task(*words, files=tuple(map(str, row["files"])), functions=tuple(map(str, row["functions"])))


def judged(tasks: Iterable[Task], limit: int = 0) -> list[Task]:
    """The tasks that have an answer on both levels; with a limit, that many of them, evenly over the list."""
    kept = [task for task in tasks if task.functions and task.files]
    if not limit or limit >= len(kept):
        return kept
    return [kept[at * len(kept) // limit] for at in range(limit)]


def is_test(path: str) -> bool:
    """Whether a path is left out of the candidates: ``test/``, ``tests/``, ``test_*``, ``*_test.py``."""
    name = path.rpartition("/")[2]
    return "/test/" in f"/{path}" or "/tests/" in f"/{path}" or name.startswith("test_") or name.endswith("_test.py")


def candidate(path: str) -> bool:
    """Whether a file is a candidate at all: Python, and no test."""
    return path.endswith(".py") and not is_test(path)


def spelled(qual: str, kinds: Sequence[str]) -> str:
    """The name a function goes by in an answer.

    Args:
        qual: qualified name, with role or ordinal (``C.x@setter``, ``f#2``). kinds: kinds of the symbols it consists of,
            outermost first.

    ``C.__init__`` is ``C``; ``f.inner`` is ``f``; ``C.m.inner`` is ``C.m``; a name keeps two parts at most.
    """
    parts = [part.partition("@")[0].partition("#")[0] for part in qual.split(".")]
    depth = next((at for at, kind in enumerate(kinds) if kind in FUNCTIONS), len(parts) - 1) + 1
    parts = parts[: min(depth, 2)]
    return ".".join(parts[:-1] if len(parts) > 1 and parts[-1] == "__init__" else parts)


def module_of(function: str) -> str:
    """``path:Class.method`` → ``path:Class``; a function at module level stands for itself."""
    path, _, name = function.partition(":")
    return f"{path}:{name.partition('.')[0]}"


def first_ranks(ranking: Iterable[str], gold: Iterable[str]) -> list[int]:
    """Rank (from 1) of each gold name in a ranking that may repeat itself; 0 for those that are not in it."""
    places: dict[str, int] = {}
    for name in ranking:
        places.setdefault(name, len(places) + 1)
    return [places.get(name, 0) for name in gold]


def hit(ranks: Sequence[int], cut: int) -> bool:
    """Acc@k of one task: is all of the answer among the first ``cut``?"""
    return bool(ranks) and all(0 < rank <= cut for rank in ranks)
