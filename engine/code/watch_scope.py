"""What of a tree deserves a watch: the folders and files the scan would list, without asking git once a file.

Who calls: ``engine/code/live.py`` hands its two methods to ``watch.Watcher``. What may not come in: events, threads,
reading of source. A wrong answer costs a needless or a late update, never a wrong index: every update asks the scan.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from mog.engine.code import git, ignore
from mog.engine.code.unlisted import BUILTIN
from mog.engine.errors import ConfigError, GitRefused

CACHED = 50_000
"""Paths whose answer is remembered, so that a log written into the tree costs git one call and not one a line."""

_TRACKED = ("ls-files", "-z")
_CHECK = ("check-ignore", "-z", "--stdin")
_HIDDEN = ("ls-files", "-o", "-i", "--exclude-standard", "--directory", "-z")


class Scope:
    """Ignore rules of one work tree as the watcher needs them. Used from one thread.

    Args:
        root: the work tree or plain folder. exclude: further patterns from the configuration.
    """

    def __init__(self, root: Path | str, exclude: Sequence[str] = ()) -> None:
        self._root = os.path.realpath(root)
        self._exclude = tuple(exclude)
        self._repo = _repo(self._root)
        self._rules = ignore.Rules()
        self._tracked: set[str] = set()
        self._hidden: set[str] = set()
        self._answers: dict[str, bool] = {}
        self._stamp: int | None = None

    def list_dirs(self, prefixes: Collection[str]) -> Iterator[str]:
        """Folders at and below ``prefixes`` ("" is the root) that hold or may come to hold something to index."""
        self._load()
        stack = [prefix for prefix in prefixes if self._is_dir(prefix) and not self._left_out_above(prefix)]
        while stack:
            here = stack.pop()
            yield here
            for name in _folders(os.path.join(self._root, here)):
                child = f"{here}/{name}" if here else name
                if not self._left_out(child, name):
                    stack.append(child)

    def ignored(self, paths: Collection[str]) -> set[str]:
        """Which of these files are of no interest: excluded, or ignored by git and not tracked."""
        excluded = {path for path in paths if self._rules.match(path)}
        rest = [path for path in paths if path not in excluded]
        return excluded | (self._asked(rest) if self._repo else set())

    def _load(self) -> None:
        """Read the rules and what git tracks and ignores; where either refuses, the built-in names have to do."""
        self._answers.clear()
        try:
            self._rules = ignore.load(self._root, exclude=self._exclude)
        except ConfigError:
            self._rules = ignore.Rules()
        self._tracked, self._hidden = set(), set()
        if self._repo:
            for path in self._git(*_TRACKED):
                self._note_parents(path)
            self._hidden = {path[:-1] for path in self._git(*_HIDDEN) if path.endswith("/")}

    def _note_parents(self, path: str) -> None:
        while (path := path.rpartition("/")[0]) not in self._tracked:
            self._tracked.add(path)

    def _left_out_above(self, path: str) -> bool:
        parts = path.split("/") if path else []
        return any(self._left_out("/".join(parts[: at + 1]), part) for at, part in enumerate(parts))

    def _left_out(self, path: str, name: str) -> bool:
        if name in (".git", ".mog") or self._rules.match(path, is_dir=True):
            return True
        if path in self._tracked:
            return False
        return name in BUILTIN or path in self._hidden or os.path.lexists(os.path.join(self._root, path, ".git"))

    def _is_dir(self, rel: str) -> bool:
        path = os.path.join(self._root, rel)
        return os.path.isdir(path) and not os.path.islink(path)

    def _asked(self, paths: Sequence[str]) -> set[str]:
        self._forget_when_git_moved()
        unknown = [path for path in paths if path not in self._answers]
        if unknown:
            asked = b"".join(b"./" + os.fsencode(path) + b"\0" for path in unknown)
            hidden = {path[2:] for path in self._git(*_CHECK, stdin=asked)}
            self._answers.update((path, path in hidden) for path in unknown)
        return {path for path in paths if self._answers.get(path)}

    def _forget_when_git_moved(self) -> None:
        """A file that was ignored may be tracked now: answers hold for one state of git's index."""
        try:
            stamp = os.stat(self._repo.git_dir / "index").st_mtime_ns if self._repo else 0
        except OSError:
            stamp = 0
        if stamp != self._stamp or len(self._answers) > CACHED:
            self._stamp = stamp
            self._answers.clear()

    def _git(self, *arguments: str, stdin: bytes | None = None) -> list[str]:
        try:
            out = git.run(self._root, *arguments, accept=(0, 1), stdin=stdin)
        except GitRefused:
            return []
        return [os.fsdecode(path) for path in out.split(b"\0") if path]


def _repo(root: str) -> git.Repo | None:
    try:
        return git.open_repo(root)
    except GitRefused:
        return None


def _folders(path: str) -> Iterable[str]:
    try:
        with os.scandir(path) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
