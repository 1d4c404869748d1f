"""Repositories of a suite: a folder of clones, read through git without a work tree.

Who calls: suites that look at a repository as it was. What may not come in: rankers, tasks; writing to a clone.
A clone is bare or not, and its folder is called ``owner+name/repo``, ``owner+name``, ``owner__name`` or ``name``; forks with the
whole history stand in for three repositories that are too large to pass around (``FORKS``).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, NamedTuple, cast

from mog.engine.errors import UsageError

FORKS = {
    "django/django": "apprent1c3/django",
    "scikit-learn/scikit-learn": "thomasjpfan/scikit-learn",
    "matplotlib/matplotlib": "williamlus/matplotlib",
}
_FILE = b"100"
_TIMEOUT = 300
_WAY_OUT = "--repos DIR: a folder of clones with history, named owner+name, owner__name or name"


class Entry(NamedTuple):
    """One file of a commit: its path (``os.fsdecode`` form) and blob id in hex."""

    path: str
    blob: str


def locate(folder: Path, repo: str) -> Path:
    """The git directory of ``owner/name`` (or of the fork that stands in for it) below ``folder``.

    Raises:
        UsageError: it is not there.
    """
    for known in (repo, FORKS.get(repo, repo)):
        owner, _, name = known.partition("/")
        for place in (f"{owner}+{name}/repo", f"{owner}+{name}", f"{owner}__{name}", name):
            found = _git_dir(folder / place)
            if found is not None:
                return found
    raise UsageError(f"there is no clone of {repo}", where=str(folder), way_out=_WAY_OUT)


def named(folder: Path) -> str:
    """What a folder of source or a clone is called: ``owner/name`` of ``owner+name/repo``, else its own name."""
    return folder.name if folder.name != "repo" else folder.parent.name.replace("+", "/")


def _git_dir(folder: Path) -> Path | None:
    for place in (folder / ".git", folder):
        if (place / "HEAD").is_file() and (place / "objects").is_dir():
            return place
    return None


class History:
    """A clone at its commits. Use as a context manager; one ``git cat-file`` process serves all reads.

    Raises:
        UsageError: git refuses, or a commit or blob is not there.
    """

    def __init__(self, git_dir: Path) -> None:
        self.git_dir = git_dir
        self._batch: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> History:
        return self

    def __exit__(self, *_: object) -> None:
        if self._batch is not None:
            cast(IO[bytes], self._batch.stdin).close()
            cast(IO[bytes], self._batch.stdout).close()
            self._batch.wait(_TIMEOUT)
            self._batch = None

    def tree(self, commit: str) -> list[Entry]:
        """Ordinary files of a commit, in git's order; links and submodules are not among them."""
        listed = self._ask("ls-tree", "-r", "-z", "--full-tree", _name(commit))
        rows = (row.partition(b"\t") for row in listed.split(b"\0") if row)
        return [Entry(os.fsdecode(path), head.split()[2].decode()) for head, _, path in rows if head.startswith(_FILE)]

    def dates(self, commits: Iterable[str]) -> dict[str, int]:
        """Commit → its date in seconds, so that neighbours in time can be worked through together."""
        names = sorted(map(_name, set(commits)))
        if not names:
            return {}
        rows = self._ask("log", "--no-walk=unsorted", "--format=%H %ct", *names).decode().split("\n")
        return {commit: int(date) for commit, _, date in (row.partition(" ") for row in rows if row)}

    def read(self, blobs: Sequence[str]) -> Iterator[bytes]:
        """Bytes of each blob, in the order asked."""
        for blob in blobs:
            yield self._one(blob)

    def _one(self, blob: str) -> bytes:
        process = self._batch = self._batch or self._start()
        asked, answered = cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout)
        asked.write(_name(blob).encode() + b"\n")
        asked.flush()
        head = answered.readline().split()
        if len(head) != 3:
            way_out = "fetch the whole history of the clone"
            raise UsageError(f"object {blob} cannot be read", where=str(self.git_dir), way_out=way_out)
        data = answered.read(int(head[2]))
        answered.read(1)
        return data

    def _start(self) -> subprocess.Popen[bytes]:
        vector = [*self._git(), "cat-file", "--batch"]
        return subprocess.Popen(vector, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def _git(self) -> list[str]:
        return ["git", f"--git-dir={self.git_dir}", "-c", f"core.hooksPath={os.devnull}", "-c", "safe.directory=*"]

    def _ask(self, *arguments: str) -> bytes:
        done = subprocess.run([*self._git(), *arguments], stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[:200]
            raise UsageError(f"git cannot answer: {said}", where=str(self.git_dir), way_out=_WAY_OUT)
        return done.stdout


def _name(digest: str) -> str:
    """A commit or blob id and nothing else: it goes into a command line."""
    if not digest or len(digest) > 64 or set(digest.lower()) - set("0123456789abcdef"):
        raise UsageError(f"no object id: {digest!r:.80}", where="base_commit", way_out="give the commit as hex digits")
    return digest
