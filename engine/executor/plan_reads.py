"""What commands of a plan read, as sources of a runner: files by pattern or by the code graph, contents, variables, programs.

Who calls: ``plan_worker`` reads through them, the runner reads again to see what changed, ``plan_why`` says what did. What may
not come in: running, writing. Answers are small: which files, and a digest of each; never what a file holds.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from mog.engine import ids
from mog.engine.code import secrets
from mog.engine.code.content import Stat, settled
from mog.engine.errors import UsageError
from mog.engine.executor import plan_globs
from mog.engine.executor.context import Source
from mog.engine.executor.plan_file import QUERIES, Inputs, PlanFile, PlanTask
from mog.engine.executor.plan_links import FileLinks, Found
from mog.engine.policy import named

FILES, CONTENT, BUNDLE, VARIABLE, COMMAND, OUTPUTS = "files", "content", "bundle", "variable", "command", "outputs"
APART = 1_000
"""Up to so many files of one task are read one by one, so that the one that changed can be named."""
_CHUNK = 1 << 20


def named_files(root: Path, task: PlanTask) -> tuple[dict[str, str], dict[str, str]]:
    """Escaped path → digest of the files that a command line names: those it reads, and those that it is declared to write.

    Raises:
        PolicyDenied: as ``named.digests``.
    """
    command = task.command
    found = named.digests(root, command.argv, command.cwd, command.covers)
    written = {path for path in found for pattern in task.outputs if plan_globs.matches(pattern, ids.unescape(path))}
    return (
        {path: digest for path, digest in found.items() if path not in written},
        {path: digest for path, digest in found.items() if path in written},
    )


class PlanReads:
    """Sources of one run over the plans of a repository. Safe from any thread.

    Args:
        links: the code graph, None where no index can be had. key: gives the secret of the clone.
    """

    def __init__(self, root: Path, plans: Iterable[PlanFile], links: FileLinks | None, key: Callable[[], bytes]) -> None:
        self._root, self._links, self._key = root, links, key
        self._tasks = {task.command.name: task for plan in plans for task in plan.tasks}
        self._digests: dict[str, tuple[Stat, str]] = {}
        self._lock = threading.RLock()

    def sources(self) -> dict[str, Source]:
        """By kind of read, as a runner takes them."""
        found: dict[str, Source] = {
            FILES: lambda pattern: [ids.escape(path) for path in plan_globs.find(self._root, pattern)],
            OUTPUTS: self.outputs, CONTENT: self.content, BUNDLE: self._bundle, VARIABLE: self._variable,
            COMMAND: self._command,
        }  # fmt: skip
        return found | {query: lambda target, query=query: self._answer(query, target) for query in QUERIES}

    def found(self, query: str, target: str) -> Found:
        """Files that a query means, and how each was reached. Raises as ``FileLinks.ask``; UsageError: there is no index."""
        if self._links is None:
            raise UsageError(f"`{query}` needs an index", where=target, way_out="run `mog index`")
        with self._lock:
            return self._links.ask(query, target)

    def paths(self, inputs: Inputs) -> list[str]:
        """Every file that inputs name, each once, sorted."""
        found = {path for pattern in inputs.files for path in plan_globs.find(self._root, pattern)}
        for query, target in inputs.queries:
            found.update(self.found(query, target).paths)
        return sorted(found)

    def content(self, path: str) -> Any:
        """Digest of what a file holds, given by its escaped path; None when nothing is there. Links are not followed."""
        found = self._digest(ids.unescape(path))
        return {"is": found} if found else None

    def outputs(self, pattern: str) -> list[list[str]]:
        """Pairs of escaped path and digest of the files that match."""
        return self._hashed(plan_globs.find(self._root, pattern))

    def _hashed(self, paths: Iterable[str]) -> list[list[str]]:
        return [[ids.escape(path), self._digest(path)] for path in paths]

    def _answer(self, query: str, target: str) -> list[str]:
        return sorted(ids.escape(path) for path in self.found(query, target).paths)

    def _bundle(self, *key: str) -> list[list[str]]:
        """Files that a pattern or query means, with the digests of all."""
        kind, target = key
        inputs = Inputs(files=(target,)) if kind == FILES else Inputs(queries=((kind, target),))
        return self._hashed(self.paths(inputs))

    def _variable(self, name: str) -> Any:
        """A digest of the value of an environment variable, which only the holder of the clone's secret can make."""
        value = os.environ.get(name)
        return None if value is None else secrets.keyed_digest(self._key(), os.fsencode(f"{name}={value}")).hex()

    def _command(self, name: str) -> Any:
        """Digests of the files of the repository that a command line names, but for those that it writes."""
        task = self._tasks.get(name)
        return named_files(self._root, task)[0] if task is not None else None

    # one file

    def _digest(self, path: str) -> str:
        """SHA-256 of a file, keyed where its name says that it holds credentials; "" when it is not there."""
        at = self._root / path
        try:
            info = os.lstat(at)
        except (OSError, ValueError):
            return ""
        if stat.S_ISLNK(info.st_mode):
            return f"link {hashlib.sha256(os.fsencode(os.readlink(at))).hexdigest()}"
        if not stat.S_ISREG(info.st_mode):
            return "folder" if stat.S_ISDIR(info.st_mode) else "special"
        seen = settled(info, time.time_ns())
        with self._lock:
            known = self._digests.get(path)
        if known is not None and known[0] == seen and seen.mtime_ns:
            return known[1]
        found = self._read(at, path)
        with self._lock:
            self._digests[path] = (seen, found)
        return found

    def _read(self, at: Path, path: str) -> str:
        hasher = hashlib.sha256()
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(at, flags), "rb") as file:
            while chunk := file.read(_CHUNK):
                hasher.update(chunk)
        if secrets.path_rule(path):  # a short secret could be guessed from its plain digest
            return f"keyed {secrets.keyed_digest(self._key(), hasher.digest()).hex()}"
        return hasher.hexdigest()
