"""What git says is changed: in the worktree now, paths and for each the lines as they are on disk; and in one commit, paths.

Who calls: ``retrieval/reach`` ("what would this patch touch?"), ``workspace``. What may not come in: the index, what the lines mean.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from mog.engine.code import git
from mog.engine.errors import NotFound, UsageError

#: Files whose lines are told apart; beyond them a file counts as a whole.
BY_LINES = 200
_EMPTY_TREE = {40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904"}
_COMMIT = re.compile("[0-9a-fA-F]{4,64}")
_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "-M", "--relative", "--ignore-submodules=all", f"-O{os.devnull}")


class Changed(NamedTuple):
    """One file that differs from the commit checked out.

    Attributes:
        state: ``modified``, ``added`` (untracked ones too), ``deleted`` or ``renamed``. old: path in the commit.
        lines: line numbers on disk that are new or next to deleted ones, blank ones left out; None: the whole file.
    """

    path: str
    state: str
    old: str
    lines: tuple[int, ...] | None


def now(root: Path) -> list[Changed]:
    """Files below ``root`` that differ from the commit checked out, staged or not, by path.

    Raises:
        UsageError: there is no git here. GitRefused: git refuses or fails.
    """
    repo = git.open_repo(root)
    if repo is None:
        raise UsageError("there is no git here to say what changed", where=str(root), way_out="name what will change")
    settings = git.without_filters(repo)
    base = "HEAD" if git.head_ref(root).commit else _EMPTY_TREE[40]
    listed = git.run(root, *_DIFF, "--name-status", "-z", base, "--", settings=settings)
    found = [_with_lines(root, one, base, settings, number) for number, one in enumerate(_rows(listed))]
    new = git.run(root, "ls-files", "--others", "--exclude-standard", "-z", settings=settings).split(b"\0")
    found += [Changed(os.fsdecode(path), "added", "", None) for path in new if path]
    return sorted(found)


def of_commit(root: Path, commit: str) -> tuple[str, ...]:
    """Paths below ``root`` that a commit touched, beside its first parent, in git's order.

    Args:
        commit: 4 to 64 hexadecimal digits; nothing else reaches git.

    Raises:
        UsageError: no digits of a commit, or no git here. NotFound: there is no such commit, or several begin so. GitRefused.
    """
    if not _COMMIT.fullmatch(commit):
        raise UsageError(f"{commit!r:.40} is no commit", way_out="4 to 64 hexadecimal digits")
    repo = git.open_repo(root)
    if repo is None:
        raise UsageError("there is no git here to ask for a commit", where=str(root), way_out="name a file")
    full = git.run(root, "rev-parse", "-q", "--verify", f"{commit}^{{commit}}", accept=(0, 1, 128)).strip().decode("ascii", "replace")
    if not full:
        raise NotFound(f"no commit begins with {commit}", way_out="git log lists them; some more digits where several begin so")
    settings = git.without_filters(repo)
    arguments = ("--root", "--no-commit-id", "--name-only", "-r", "-m", "--first-parent", "-z", "--relative", full)
    return tuple(os.fsdecode(path) for path in git.run(root, "diff-tree", *arguments, settings=settings).split(b"\0") if path)


def _rows(listed: bytes) -> Iterable[Changed]:
    tokens = iter(listed.split(b"\0"))
    for status in tokens:
        if not status:
            continue
        old = os.fsdecode(next(tokens, b""))
        if status[:1] in b"RC":
            yield Changed(os.fsdecode(next(tokens, b"")), "renamed", old, None)
        else:
            state = {b"A": "added", b"D": "deleted"}.get(status[:1], "modified")
            yield Changed(old, state, "" if state == "added" else old, None)


def _with_lines(root: Path, one: Changed, base: str, settings: dict[str, str], number: int) -> Changed:
    if one.state in ("added", "deleted") or number >= BY_LINES:
        return one
    paths = sorted({one.old, one.path})
    patch = git.run(root, *_DIFF, "-U0", base, "--", *paths, settings=settings)
    return one._replace(lines=_lines(patch))


def _lines(patch: bytes) -> tuple[int, ...] | None:
    """Lines of the new side; None for a patch that has none (a binary file, a change of mode)."""
    found: set[int] = set()
    line = hunks = left = 0
    for row in patch.split(b"\n"):
        hunk = _HUNK.match(row) if left <= 0 else None
        if hunk:
            hunks += 1
            line, left = int(hunk[1]), int(hunk[2] or 1)
            if not left:
                found.add(max(line, 1))  # deleted behind this line
        elif left > 0 and row[:1] == b"+":
            if row[1:].strip():
                found.add(line)
            line, left = line + 1, left - 1
    return tuple(sorted(found)) if hunks else None
