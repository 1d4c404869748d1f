"""Which files change in the same commits, how often and when: mined from ``git log`` by file name, kept beside the index.

Who calls: ``retrieval/reach`` for co-change partners, ``retrieval/past`` for the rest. What may not come in: contents of commits,
names of people (who wrote is a number, from a keyed digest that is good for one cache), anything the index needs: a history is
mined at the first question about one, never by ``mog index``.

Only the last commits count (``window``), merges aside. A commit of more than ``MOST_FILES`` files says little about any two of
them and is left out; so is one without a parent, which in a shallow clone "adds" everything. Both are counted. Renames are
followed by git's own similarity (``-M``): what an old commit touched is known by its path of today. Hunks are not read: this is
about files (of symbols ``line_history`` knows what still stands). The log is read while git writes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
#: What counts as lately: days before the newest commit.
LATELY = 90
_DAY = 86_400
_LATEST = 253_402_300_799  # the last second of year 9999: a commit may claim any
_VERSION = 2
_MOST_BYTES = 64 << 20
_LOG = (
    "log", "--no-merges", "-z", "--format=%x01%P%x02%H%x02%at%x02%ae", "--name-status", "-M", "-l400", f"-O{os.devnull}",
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

    def __str__(self) -> str:
        """How far it reaches, for people."""
        end = "cut off: a shallow clone" if self.shallow else "all of them" if self.whole else f"the last {self.window:,}"
        left = f", {self.huge} too large to count" if self.huge else ""
        return f"{self.commits:,} commits ({end}{left})"


class Commit(NamedTuple):
    """What one commit changed: ``paths`` by their names of today (None: left out, ``huge`` or a root).

    Attributes:
        when: seconds since 1970, as its author's clock had it. author: number of its author, from 0 in the order met.
        id: the first twelve digits of its hash.
    """

    paths: tuple[str, ...] | None
    root: bool = False
    when: int = 0
    author: int = 0
    id: str = ""


class Churn(NamedTuple):
    """How often a file changed: commits, different authors, the first and the last time (seconds), commits of the latest days."""

    commits: int
    authors: int
    first: int
    last: int
    lately: int


@dataclass(frozen=True)
class History:
    """Commits newest first, and how far they reach."""

    coverage: Coverage
    commits: tuple[Commit, ...] = ()
    key: str = field(default="", repr=False)
    salt: str = field(default="", repr=False, compare=False)
    people: tuple[str, ...] = field(default=(), repr=False, compare=False)  # keyed digest of each author

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

    def churn(self, path: str) -> Churn:
        """How often a file changed, by the commits that count."""
        held = [self.commits[number] for number in self._by_path.get(path, ())]
        if not held:
            return Churn(0, 0, 0, 0, 0)
        times = [commit.when for commit in held]
        since = self._newest - LATELY * _DAY
        return Churn(len(held), len({one.author for one in held}), min(times), max(times), sum(time >= since for time in times))

    @cached_property
    def _newest(self) -> int:
        return max((commit.when for commit in self.commits), default=0)

    @cached_property
    def ids(self) -> frozenset[str]:
        """Commits that count, by the first twelve digits of their hashes."""
        return frozenset(commit.id for commit in self.commits if commit.paths is not None)

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
    made = replace(made, key=key)
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
    goes_on = held is not None and _straight_line(root, held.coverage.head, head, window)
    before = held if held is not None and goes_on else History(Coverage(), salt=secrets.token_hex(16))
    known, salt, since = before.commits, before.salt, [f"^{before.coverage.head}"] if goes_on else []
    numbers = {digest: number for number, digest in enumerate(before.people)}
    names: dict[str, str | None] = {}
    commits: list[Commit] = []
    for logged in _logged(root, f"--max-count={window}", head, *since):
        digest = hashlib.blake2b(logged.author, key=salt.encode(), digest_size=8).hexdigest()
        commits.append(_named(logged, numbers.setdefault(digest, len(numbers)), names))
        if progress and len(commits) % BATCH == 0:
            progress(Progress("reading history", len(commits), window))
    commits += (_renamed(commit, names) for commit in known[: max(0, window - len(commits))])
    order = {number: at for at, number in enumerate(dict.fromkeys(commit.author for commit in commits))}
    digests = {number: digest for digest, number in numbers.items()}
    renumbered = tuple(commit._replace(author=order[commit.author]) for commit in commits)
    return History(_coverage(commits, head, window, shallow), renumbered, "", salt, tuple(digests[number] for number in order))


def _coverage(commits: Sequence[Commit], head: str, window: int, shallow: bool) -> Coverage:
    left_out = [commit for commit in commits if commit.paths is None]
    roots = sum(commit.root for commit in left_out)
    whole = len(commits) < window and not shallow
    return Coverage(head, len(commits) - len(left_out), len(left_out) - roots, roots, window, shallow, whole)


def _straight_line(root: Path, old: str, new: str, window: int) -> bool:
    """Whether the commits after ``old`` lead from it to ``new`` without a merge.

    Only then is the old list the exact continuation of the new one.
    """
    try:
        listed = git.run(root, "rev-list", "--parents", f"--max-count={window + 1}", new, f"^{old}", "--")
    except GitRefused:
        return False  # the old commit is gone
    rows = [line.split() for line in listed.splitlines()]
    wanted = new.encode()
    for row in rows:
        if len(row) != 2 or row[0] != wanted:
            return False
        wanted = row[1]
    return wanted == old.encode()


class _Logged(NamedTuple):
    """A commit as the log has it: ``changes`` are (status letter, path, new path of a rename)."""

    root: bool
    id: str
    when: int
    author: bytes
    changes: list[tuple[str, str, str]]


def _logged(root: Path, *arguments: str) -> Iterator[_Logged]:
    """Commits in the order of the log, newest first, while git still writes it."""
    tokens = _tokens(git.Child(root, (*_LOG, *arguments, "--"), settings=_SETTINGS).pieces())
    made: _Logged | None = None
    for token in tokens:
        word = token.lstrip(b"\n")
        if word[:1] == b"\x01":
            if made is not None:
                yield made
            made = _header(word[1:])
        elif word and made is not None:
            letter, path = chr(word[0]), os.fsdecode(next(tokens, b""))
            made.changes.append((letter, path, os.fsdecode(next(tokens, b"")) if letter in "RC" else ""))
    if made is not None:
        yield made


def _tokens(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What lies between the NULs."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\0")
        yield from whole
    if rest:
        yield rest


def _header(word: bytes) -> _Logged:
    parents, commit, when, author = (word.split(b"\x02", 3) + [b""] * 3)[:4]
    seconds = int(when) if when.isdigit() else 0
    return _Logged(not parents.strip(), commit[:12].decode("ascii", "replace"), min(seconds, _LATEST), author.strip().lower(), [])


def _named(logged: _Logged, author: int, names: dict[str, str | None]) -> Commit:
    """A commit under the names of today. ``names`` (path then → path now) is as of this commit and moves on to its parent."""
    changes = logged.changes
    told = (logged.root, logged.when, author, logged.id)
    touched = {_today(new or old, names) for _, old, new in changes}
    moved = {old: _today(new, names) for letter, old, new in changes if letter == "R"}
    if moved:
        names.update({new: None for letter, _, new in changes if letter == "R"} | moved)
    if logged.root or len(changes) > MOST_FILES:
        return Commit(None, *told)
    return Commit(tuple(sorted(path for path in touched if path is not None)), *told)


def _today(path: str, names: Mapping[str, str | None]) -> str | None:
    return names.get(path, path)


def _renamed(commit: Commit, names: Mapping[str, str | None]) -> Commit:
    if commit.paths is None or not names:
        return commit
    now = {_today(path, names) for path in commit.paths}
    return commit._replace(paths=tuple(sorted(path for path in now if path is not None)))


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
        Commit(None if isinstance(row, int) else tuple(paths[number] for number in row), row == 0, int(when), int(author), str(id_))
        for row, when, author, id_ in stored["commits"]
    )
    people = tuple(str(digest) for digest in stored["people"])
    if any(not 0 <= commit.author < len(people) for commit in commits):
        raise ValueError("an author that is not listed")
    head, window, shallow = str(stored["head"]), int(stored["window"]), bool(stored["shallow"])
    return History(_coverage(commits, head, window, shallow), commits, str(stored["key"]), str(stored["salt"]), people)


def _write(cache: Path, made: History) -> None:
    """Keep a history; a folder that cannot be written costs the next question a second, and nothing else."""
    numbers: dict[str, int] = {}
    rows: list[Any] = []
    for commit in made.commits:
        left_out = 0 if commit.root else 1
        row = left_out if commit.paths is None else [numbers.setdefault(path, len(numbers)) for path in commit.paths]
        rows.append([row, commit.when, commit.author, commit.id])
    said = made.coverage
    stored = {"key": made.key, "head": said.head, "window": said.window, "shallow": said.shallow, "paths": list(numbers),
              "commits": rows, "salt": made.salt, "people": list(made.people)}  # fmt: skip
    draft = cache.with_name(f".{cache.name}.{os.getpid()}")
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with contextlib.suppress(OSError):
        draft.unlink(missing_ok=True)
        with open(os.open(draft, flags, 0o600), "wb") as file:
            file.write(json.dumps(stored, separators=(",", ":")).encode("ascii"))
        draft.replace(cache)  # a link that stands there is replaced, never followed
