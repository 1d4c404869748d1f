"""Who wrote each line last, as commit and day: ``git blame`` read without names of people.

Who calls: ``zoom`` for L3, ``past`` for what still stands of a commit. What may not come in: names, addresses and subjects of
commits; programs that a repository's configuration names (content filters and text conversion are off).
"""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from mog.engine.code import git

SECONDS = 20.0
_WIDTH = 8
_LATEST = 253_402_300_799  # the last second of year 9999: a commit may claim any


def blame(root: Path, path: str) -> list[str]:
    """``commit day`` of each line of a file on disk, all of one width; dots where it is not committed. Empty without git.

    Raises:
        GitRefused: the file is not tracked, or git takes longer than 20 seconds.
    """
    repo = git.open_repo(root)
    if repo is None:
        return []
    settings = git.without_filters(repo)
    return _marks(git.run(root, "blame", "--porcelain", "--no-textconv", "--", path, timeout=SECONDS, settings=settings))


class Line(NamedTuple):
    """Who wrote a line last: first twelve digits of the commit ("" uncommitted), when (seconds), a digest that tells authors apart."""

    commit: str
    when: int
    author: bytes


def lines(root: Path, path: str, salt: bytes) -> list[Line]:
    """What is known of each line of a file on disk; empty without git. Raises GitRefused as ``blame`` does.

    Args:
        salt: key of the digests of authors; nobody is named.
    """
    repo = git.open_repo(root)
    if repo is None:
        return []
    settings = {**git.without_filters(repo), "log.mailmap": "false"}
    out = git.run(root, "blame", "--porcelain", "--no-textconv", "--", path, timeout=SECONDS, settings=settings)
    told: dict[bytes, dict[bytes, bytes]] = {}
    found: list[Line] = []
    commit = b""
    for line in out.split(b"\n"):
        if line[:1] == b"\t":
            found.append(_line(commit, told.get(commit, {}), salt))
            commit = b""
        elif not commit:
            commit = line.split(b" ")[0]
            told.setdefault(commit, {})
        else:
            word, _, value = line.partition(b" ")
            told[commit][word] = value
    return found


def _line(commit: bytes, told: dict[bytes, bytes], salt: bytes) -> Line:
    if not commit.strip(b"0"):
        return Line("", 0, b"")
    when, mail = told.get(b"author-time", b""), told.get(b"author-mail", b"").strip(b"<> ").lower()
    author = hashlib.blake2b(mail, key=salt, digest_size=8).digest()
    return Line(commit[:12].decode("ascii", "replace"), min(int(when) if when.isdigit() else 0, _LATEST), author)


def _marks(out: bytes) -> list[str]:
    """Marks from the porcelain format: a header line per line of text, details once per commit."""
    days: dict[bytes, str] = {}
    marks: list[str] = []
    commit = b""
    for line in out.split(b"\n"):
        if line[:1] == b"\t":
            marks.append(_mark(commit, days.get(commit, "")))
            commit = b""
        elif not commit:
            commit = line.split(b" ")[0]
        elif line.startswith(b"committer-time "):
            days[commit] = datetime.fromtimestamp(min(int(line.split()[1]), _LATEST), UTC).strftime("%Y-%m-%d")
    return marks


def _mark(commit: bytes, day: str) -> str:
    if not commit.strip(b"0"):
        return "." * (_WIDTH + 11)
    return f"{commit[:_WIDTH].decode('ascii', 'replace')} {day:10}"
