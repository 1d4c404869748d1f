"""Since when is the code under an anchor no longer as recorded: the commit that did it, or the working tree.

Who calls: ``reading`` for what is served. What may not come in: verdicts, writes, another notion of "same": a version of the
past is judged by the rules the disk is judged by (``reason/drift``). At most 200 commits that touched the file are looked at.

The commits since the recording are walked from the newest back, along their parents. Where a commit has another version of the
span than its parent, and the parent's is the one recorded, that commit is named. What was reverted on the way does not count.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mog.engine import ids
from mog.engine.code import content, freshness, git
from mog.engine.config import EngineConfig
from mog.engine.errors import GitRefused
from mog.engine.memory.records import STALE, Changed, Since
from mog.engine.model import Freshness
from mog.engine.reason import drift, lines
from mog.engine.reason.drift import Drift
from mog.engine.reason.records import Anchored

MAX_COMMITS = 200
KEPT = 1_024
_BATCH = 16
_UNKNOWN = Changed(Since.unknown)


class Version(NamedTuple):
    """What stood under an anchor in one version of its file: ``same`` as recorded, else told apart by ``mark``."""

    same: bool
    mark: tuple[Freshness, str]


class Past(freshness.Disk):
    """A worktree in which one file has the bytes that git has of it. For one thread at a time."""

    def __init__(self, root: Path, key: Callable[[], bytes], config: EngineConfig) -> None:
        super().__init__(root, key, config)
        self._limit = config.max_file_bytes or content.MAX_BYTES
        self._shown: tuple[str, content.Content, freshness.Marks | None] | None = None

    def show(self, path: str, raw: bytes | None) -> None:
        """From now on ``path`` has these bytes, and nothing else is there; None: it is gone."""
        if raw is None or len(raw) > self._limit:
            self._shown = (path, content.Content(None, "vanished", b"", content.Stat()), None)
            return
        blob = content.blob_id(raw)
        marks = (len(raw), int.from_bytes(blob[:8], "big"), int.from_bytes(blob[8:16], "big"))
        self._shown = (path, content.Content(content.normalise(raw), "", blob, content.Stat()), marks)

    def read(self, path: str) -> content.Content:
        """The bytes shown."""
        if self._shown is None or self._shown[0] != path:
            return content.Content(None, "vanished", b"", content.Stat())
        return self._shown[1]

    def _marks(self, path: str) -> freshness.Marks | None:
        return self._shown[2] if self._shown is not None and self._shown[0] == path else None


class Changes:
    """Answers for one worktree, kept while the same commit is checked out. For one thread at a time.

    Args:
        root: the worktree. key: gives the secret of the clone. config: size limits and gates, as of the disk.
    """

    def __init__(self, root: Path, key: Callable[[], bytes], config: EngineConfig) -> None:
        self._root = root
        self._past = Past(root, key, config)
        self._known: dict[tuple[str, str], tuple[Changed | None, Version | None]] = {}
        self._head: str | None = None

    def close(self) -> None:
        """Let go of the folder."""
        self._past.close()

    def anew(self) -> None:
        """Ask git again what is checked out, the next time that it matters."""
        self._head = None

    def head(self) -> str:
        """Full id of the commit that is checked out, "" without git or before the first one."""
        if self._head is None:
            self._head = self._checked_out()
        return self._head

    def _checked_out(self) -> str:
        try:
            if git.marker(self._root) is None:
                return ""
            said = git.run(self._root, "rev-parse", "-q", "--verify", "HEAD^{commit}", accept=(0, 1))
        except GitRefused:
            return ""
        return said.strip().decode("ascii", "replace")

    def of(self, now: Drift, recorded_at: str) -> Changed:
        """What changed under an anchor that is not as recorded.

        Args:
            now: what the disk says. recorded_at: full id of the commit that was checked out when it was recorded, "" unknown.
        """
        head = self.head()
        if not head:
            return _UNKNOWN
        key = (head, now.anchor.id)
        try:
            if key not in self._known:
                while len(self._known) >= KEPT:
                    del self._known[next(iter(self._known))]
                self._known[key] = self._committed(head, now.anchor, recorded_at)
        except GitRefused:
            return _UNKNOWN
        found, version = self._known[key]
        if found is None:
            return Changed(Since.working_tree)
        return Changed(found.since, found.commit, found.date, found.subject, _again(version, now))

    def blob(self, oid: str, path: str) -> dict[str, freshness.Span] | None:
        """Symbols of a file as a blob of git has them; None when it is gone, gated or has no grammar. Raises GitRefused."""
        self._past.show(path, next(iter(_cat(self._root, [oid.encode()])), None))
        return self._past.spans(path)

    def _committed(self, head: str, anchored: Anchored, recorded_at: str) -> tuple[Changed | None, Version | None]:
        """What changed up to ``head`` (None: nothing) and the version there."""
        path = _path(anchored.anchor.locator)
        if not path or "\n" in path:
            return _UNKNOWN, None
        known = bool(recorded_at) and self._is_ancestor(recorded_at, head)
        order = self._touching(head, path, recorded_at if known else "")
        now = _Versions(self, anchored, path, [head]).of(head)
        if now.same or (known and not order):
            return None, now
        capped = len(order) > MAX_COMMITS
        versions = _Versions(self, anchored, path, list(order))
        commit = _culprit(dict(list(order.items())[:MAX_COMMITS]), versions, at_recording=known and not capped)
        if commit:
            return self._described(commit), now
        return Changed(Since.unknown if capped else Since.elsewhere), now

    def _is_ancestor(self, commit: str, head: str) -> bool:
        arguments = ("merge-base", "--is-ancestor", commit, head)
        return git.Child(self._root, arguments).finish(accept=(0, 1, 128))[0] == 0

    def _touching(self, head: str, path: str, since: str) -> dict[str, tuple[str, ...]]:
        """Commits up to ``head`` that touched a path, newest first → the next ones before them (parents, rewritten)."""
        bounds = [head, f"^{since}"] if since else [head]
        count = f"--max-count={MAX_COMMITS + 1}"
        said = git.run(self._root, "rev-list", "--topo-order", "--parents", count, *bounds, "--", path)
        rows = (line.decode("ascii", "replace").split() for line in said.splitlines())
        return {row[0]: tuple(row[1:]) for row in rows if row}

    def _described(self, commit: str) -> Changed:
        said = git.run(self._root, "log", "-1", "--no-show-signature", "--format=%cs%x00%s", commit, "--")
        date, _, subject = said.rstrip(b"\n").decode("utf-8", "replace").partition("\0")
        return Changed(Since.commit, commit, date, subject[:200])


class _Versions:
    """Versions of one anchor's span by commit; bytes are had from git a few commits at a time."""

    def __init__(self, changes: Changes, anchored: Anchored, path: str, commits: Sequence[str]) -> None:
        self._changes, self._anchored, self._path, self._commits = changes, anchored, path, commits
        self._found: dict[str, Version] = {}
        self._judged: dict[bytes | None, Version] = {}

    def of(self, commit: str) -> Version:
        if commit not in self._found:
            at = self._commits.index(commit)
            wanted = [one for one in self._commits[at : at + _BATCH] if one not in self._found]
            names = [b"%s:./%s" % (one.encode(), os.fsencode(self._path)) for one in wanted]
            for one, raw in zip(wanted, _cat(self._changes._root, names), strict=True):
                self._found[one] = self._judge(raw)
        return self._found[commit]

    def _judge(self, raw: bytes | None) -> Version:
        blob = None if raw is None else content.blob_id(raw)
        if blob not in self._judged:
            past = self._changes._past
            past.show(self._path, raw)
            state = drift.judge(past, self._anchored, lambda: ())
            self._judged[blob] = Version(state.freshness is Freshness.fresh, (state.freshness, state.new))
        return self._judged[blob]


def _culprit(parents: Mapping[str, Sequence[str]], versions: _Versions, *, at_recording: bool) -> str:
    """The newest commit since which the span is not as recorded, "" when there is none among these.

    Args:
        parents: commits, newest first. at_recording: a parent that is not among them is from when it was recorded.
    """
    wanted = dict.fromkeys(list(parents)[:1])
    for commit in parents:  # children come before parents
        if commit not in wanted:
            continue
        mine = versions.of(commit)
        before = [parent for parent in parents[commit] if parent in parents]
        told = {parent: versions.of(parent) for parent in before}
        taken = [parent for parent, version in told.items() if version == mine]
        beyond = len(before) < len(parents[commit]) or not parents[commit]
        if not taken and (any(version.same for version in told.values()) or (beyond and at_recording)):
            return commit
        wanted.update(dict.fromkeys(taken or [parent for parent in before if not told[parent].same]))
    return ""


def _again(then: Version | None, now: Drift) -> bool:
    return then is not None and now.freshness in STALE and then.mark != (now.freshness, now.new)


def _path(locator: str) -> str:
    found = lines.parse(locator) or ids.parse_locator(locator)
    return found.path


def _cat(root: Path, names: Sequence[bytes]) -> Iterator[bytes | None]:
    """Bytes of each object, None for one that is not there. Raises GitRefused."""
    said = git.run(root, "cat-file", "--batch", stdin=b"".join(name + b"\n" for name in names))
    at = 0
    for _ in names:
        end = said.index(b"\n", at)
        head = said[at:end].rsplit(b" ", 2)
        if len(head) != 3 or not head[2].isdigit():
            yield None
            at = end + 1
            continue
        size = int(head[2])
        yield said[end + 1 : end + 1 + size]
        at = end + 2 + size
