"""Which files change in the same commits: mined from ``git log`` by file name, kept beside the index.

Who calls: ``retrieval/reach`` for co-change partners. What may not come in: contents of commits, people, anything the index
needs: a history is mined at the first question about one, never by ``mog index``.

Only the last commits count (``window``), merges aside. A commit of more than ``MOST_FILES`` files says little about any two of
them and is left out; so is one without a parent, which in a shallow clone "adds" everything. Both are counted. Renames are
followed by git's own similarity (``-M``): what an old commit touched is known by its path of today. Hunks are not read: this is
about files.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mog.engine.code import git
from mog.engine.errors import GitRefused
from mog.engine.model import Progress

WINDOW = 2_000
#: A commit of more files than this says nothing about two of them.
MOST_FILES = 50
#: Commits that two files need to share (the key ``index.git_history.min_co_change``).
LEAST_TOGETHER = 3
BATCH = 250
_VERSION = 1
_MOST_BYTES = 64 << 20
_LOG = (
    "log", "--no-walk=unsorted", "--stdin", "-z", "--format=%x01%P", "--name-status", "-M", "-l400", f"-O{os.devnull}",
    "--relative", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-notes", "--ignore-submodules=all",
)  # fmt: skip
_SETTINGS = {"log.showSignature": "false", "log.mailmap": "false"}

Telling = Callable[[Progress], None]


class Partner(NamedTuple):
    """A file that changed in the same commits as another.

    Attributes:
        together: commits that touched both (support). own, other: commits that touched the file asked about, and this one.
    """

    path: str
    together: int
    own: int
    other: int

    @property
    def confidence(self) -> float:
        """Share of the commits of the file asked about that touched this one too (0..1)."""
        return self.together / self.own

    @property
    def strength(self) -> float:
        """Confidence one way times confidence the other way: a file that changes with everything is close to nothing."""
        return self.together**2 / (self.own * self.other)


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of the history was looked at.

    Attributes:
        head: commit the history was read from ("" without one). commits: commits that count.
        huge: left out for their size. roots: left out for having no parent. window: commits looked at, at most.
        shallow: the clone holds only the end of its history. whole: the window reaches back to the first commit there is.
        why_not: why nothing is known ("" when something is).
    """

    head: str = ""
    commits: int = 0
    huge: int = 0
    roots: int = 0
    window: int = 0
    shallow: bool = False
    whole: bool = False
    why_not: str = ""


class Commit(NamedTuple):
    """What one commit changed: ``paths`` by their names of today (None: left out, ``huge`` or a root)."""

    paths: tuple[str, ...] | None
    root: bool = False


@dataclass(frozen=True)
class History:
    """Commits newest first, and how far they reach."""

    coverage: Coverage
    commits: tuple[Commit, ...] = ()
    key: str = field(default="", repr=False)

    @cached_property
    def _by_path(self) -> Mapping[str, list[int]]:
        found: defaultdict[str, list[int]] = defaultdict(list)
        for number, commit in enumerate(self.commits):
            for path in commit.paths or ():
                found[path].append(number)
        return dict(found)

    def touched(self, path: str) -> int:
        """Commits that touched a file and count."""
        return len(self._by_path.get(path, ()))

    def partners(self, paths: str | Sequence[str], least: int = LEAST_TOGETHER) -> list[Partner]:
        """Files that changed with any of ``paths`` in at least ``least`` commits, strongest first.

        A commit counts once, however many of ``paths`` it touched; these are not among the partners.
        """
        asked = {paths} if isinstance(paths, str) else set(paths)
        numbers = {number for path in asked for number in self._by_path.get(path, ())}
        met = Counter(other for number in numbers for other in self.commits[number].paths or () if other not in asked)
        found = [
            Partner(path, count, len(numbers), self.touched(path)) for path, count in met.items() if count >= max(least, 1)
        ]
        return sorted(found, key=lambda one: (-one.strength, -one.together, one.path))


def load(
    root: Path, mog_dir: Path, *, window: int = WINDOW, remembered: History | None = None, progress: Telling | None = None
) -> History:
    """The history of the commit that is checked out in ``root``, from the cache as far as it goes.

    Args:
        mog_dir: ``.mog`` of the worktree; the cache is ``history.json`` in it and may be deleted at any time.
        window: commits looked at, at most; 0 switches history off. remembered: what an earlier call gave.

    Returns:
        A history; where there is none, ``coverage.why_not`` says why.
    """
    if window <= 0:
        return History(Coverage(why_not="history is switched off (index.git_history.co_change_window is 0)"))
    try:
        return _load(root, mog_dir / "history.json", window, remembered, progress)
    except GitRefused as error:
        return History(Coverage(window=window, why_not=f"git could not tell: {error.what}"))


def _load(root: Path, cache: Path, window: int, remembered: History | None, progress: Telling | None) -> History:
    repo = git.open_repo(root)
    if repo is None:
        return History(Coverage(window=window, why_not="there is no git here"))
    head = git.run(root, "rev-parse", "-q", "--verify", "HEAD^{commit}", accept=(0, 1)).strip().decode("ascii", "replace")
    if not head:
        return History(Coverage(window=window, why_not="nothing is committed yet"))
    cut = _cut(repo)
    key = f"{_VERSION} {window} {MOST_FILES} {cut} {os.path.relpath(root, repo.top)}"
    held = remembered if remembered is not None and remembered.key == key else _read(cache, key)
    if held is not None and held.coverage.head == head:
        return held
    made = _mine(root, head, window, bool(cut), held, progress)
    made = History(made.coverage, made.commits, key)
    _write(cache, made)
    return made


def _cut(repo: git.Repo) -> str:
    """Where a shallow clone was cut off, as a digest; "" for a whole one."""
    try:
        return hashlib.blake2b((repo.common_dir / "shallow").read_bytes(), digest_size=8).hexdigest()
    except OSError:
        return ""


# mining


def _mine(root: Path, head: str, window: int, shallow: bool, held: History | None, progress: Telling | None) -> History:
    fresh = _straight_line(root, held.coverage.head, head, window) if held is not None else None
    known = held.commits if held is not None and fresh is not None else ()
    hashes = fresh if fresh is not None else _hashes(root, "--no-merges", f"--max-count={window}", head)
    names: dict[str, str | None] = {}
    commits: list[Commit] = []
    for at in range(0, len(hashes), BATCH):
        commits += (_named(changes, root_, names) for root_, changes in _changes(root, hashes[at : at + BATCH]))
        if progress:
            progress(Progress("reading history", min(at + BATCH, len(hashes)), len(hashes)))
    commits += (_renamed(commit, names) for commit in known[: max(0, window - len(commits))])
    return History(_coverage(commits, head, window, shallow), tuple(commits))


def _coverage(commits: Sequence[Commit], head: str, window: int, shallow: bool) -> Coverage:
    left_out = [commit for commit in commits if commit.paths is None]
    roots = sum(commit.root for commit in left_out)
    whole = len(commits) < window and not shallow
    return Coverage(head, len(commits) - len(left_out), len(left_out) - roots, roots, window, shallow, whole)


def _hashes(root: Path, *arguments: str) -> list[bytes]:
    return git.run(root, "rev-list", *arguments, "--").split()


def _straight_line(root: Path, old: str, new: str, window: int) -> list[bytes] | None:
    """The commits after ``old`` when they lead from it to ``new`` without a merge; None: start anew.

    Only then is the old list the exact continuation of the new one.
    """
    try:
        listed = git.run(root, "rev-list", "--parents", f"--max-count={window + 1}", new, f"^{old}", "--")
    except GitRefused:
        return None  # the old commit is gone
    rows = [line.split() for line in listed.splitlines()]
    wanted = new.encode()
    for row in rows:
        if len(row) != 2 or row[0] != wanted:
            return None
        wanted = row[1]
    return [row[0] for row in rows] if wanted == old.encode() else None


def _changes(root: Path, hashes: Sequence[bytes]) -> Iterator[tuple[bool, list[tuple[str, str, str]]]]:
    """(has no parent, [(status letter, path, new path of a rename)]) of each commit, in the order asked."""
    stdin = b"\n".join(hashes) + b"\n"
    tokens = iter(git.run(root, *_LOG, stdin=stdin, settings=_SETTINGS).split(b"\0"))
    parents: bytes | None = None
    changes: list[tuple[str, str, str]] = []
    for token in tokens:
        word = token.lstrip(b"\n")
        if word.startswith(b"\x01"):
            if parents is not None:
                yield not parents, changes
            parents, changes = word[1:].strip(), []
        elif word:
            letter, path = chr(word[0]), os.fsdecode(next(tokens, b""))
            changes.append((letter, path, os.fsdecode(next(tokens, b"")) if letter in "RC" else ""))
    if parents is not None:
        yield not parents, changes


def _named(changes: Iterable[tuple[str, str, str]], root: bool, names: dict[str, str | None]) -> Commit:
    """A commit under the names of today. ``names`` (path then → path now) is as of this commit and moves on to its parent."""
    changes = list(changes)
    touched = [_today(new or old, names) for _, old, new in changes]
    moved = {old: _today(new, names) for letter, old, new in changes if letter == "R"}
    gone: dict[str, str | None] = {new: None for letter, _, new in changes if letter == "R"}
    names.update(gone | moved)
    if root or len(changes) > MOST_FILES:
        return Commit(None, root)
    return Commit(tuple(sorted({path for path in touched if path is not None})))


def _today(path: str, names: Mapping[str, str | None]) -> str | None:
    return names.get(path, path)


def _renamed(commit: Commit, names: Mapping[str, str | None]) -> Commit:
    if commit.paths is None or not names:
        return commit
    return Commit(tuple(sorted({now for now in (_today(path, names) for path in commit.paths) if now is not None})))


# the cache


def _read(cache: Path, key: str) -> History | None:
    """What was kept, when it was made in the same way; None: nothing that can be used."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(cache, flags), "rb") as file:
            stored = json.loads(file.read(_MOST_BYTES))
        return _unpacked(stored) if stored["key"] == key else None
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError):
        return None


def _unpacked(stored: Any) -> History:
    paths = [str(path) for path in stored["paths"]]
    commits = tuple(
        Commit(None, row == 0) if isinstance(row, int) else Commit(tuple(paths[number] for number in row))
        for row in stored["commits"]
    )
    head, window, shallow = str(stored["head"]), int(stored["window"]), bool(stored["shallow"])
    return History(_coverage(commits, head, window, shallow), commits, str(stored["key"]))


def _write(cache: Path, made: History) -> None:
    """Keep a history; a folder that cannot be written costs the next question a second, and nothing else."""
    numbers: dict[str, int] = {}
    rows: list[Any] = []
    for commit in made.commits:
        left_out = 0 if commit.root else 1
        rows.append(left_out if commit.paths is None else [numbers.setdefault(path, len(numbers)) for path in commit.paths])
    said = made.coverage
    stored = {"key": made.key, "head": said.head, "window": said.window, "shallow": said.shallow, "paths": list(numbers),
              "commits": rows}  # fmt: skip
    draft = cache.with_name(f".{cache.name}.{os.getpid()}")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with contextlib.suppress(OSError):
        draft.unlink(missing_ok=True)
        with open(os.open(draft, flags, 0o600), "wb") as file:
            file.write(json.dumps(stored, separators=(",", ":")).encode("ascii"))
        draft.replace(cache)  # a link that stands there is replaced, never followed
