"""Real edits in the order they were made: chosen by rule from a clone's history and replayed in a copy of its tree.

Who calls: suites that need a repository in motion. What may not come in: what mog or a baseline says about the edits.
The clone itself is only read; the copy is made in a folder that the caller gives and removes.
"""

from __future__ import annotations

import ast
import os
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mog.engine.errors import UsageError

TIMEOUT = 120.0
MOST_FILES = 8


@dataclass(frozen=True, slots=True)
class Edit:
    """One commit: its id, subject, parent, and the functions (``path``, ``qualified name``) whose code it changes."""

    commit: str
    parent: str
    subject: str
    changed: tuple[tuple[str, str], ...]


class Clone:
    """A clone with history, read through plumbing commands. ``folder`` is a bare or an ordinary repository.

    Raises:
        UsageError: git cannot read it.
    """

    def __init__(self, folder: Path) -> None:
        inner = folder / ".git"
        self.git_dir = inner if inner.exists() else folder

    def ask(self, *arguments: str) -> bytes:
        """Output of one git command that reads."""
        command = ["git", f"--git-dir={self.git_dir}", "-c", "core.hooksPath=" + os.devnull, *arguments]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
        if done.returncode:
            reason = done.stderr.decode("utf-8", "replace").strip()[:200]
            raise UsageError(
                f"git cannot read the clone: {reason}",
                where=str(self.git_dir),
                way_out="--repos FOLDER with a full clone",
            )
        return done.stdout

    def text(self, commit: str, path: str) -> str:
        """A file as it was; "" when it was not there."""
        try:
            return self.ask("cat-file", "blob", f"{commit}:{path}").decode("utf-8", "replace")
        except UsageError:
            return ""

    def edits(self, count: int) -> list[Edit]:
        """The last ``count`` commits of the first-parent line that change code of 1 to 8 functions' files, oldest first."""
        found: list[Edit] = []
        for commit, parent, subject in self._line():
            changed = self._changed(commit, parent)
            if changed:
                found.append(Edit(commit, parent, subject, changed))
            if len(found) == count:
                break
        return found[::-1]

    def _line(self) -> Iterator[tuple[str, str, str]]:
        """(commit, first parent, subject), newest first; a merge brings its branch in as one edit."""
        log = self.ask("log", "--first-parent", "--format=%H%x00%P%x00%s", "-n", "3000", "HEAD").decode(
            "utf-8", "replace"
        )
        for line in log.splitlines():
            commit, parents, subject = line.split("\0", 2)
            if parents:
                yield commit, parents.split()[0], subject

    def _changed(self, commit: str, parent: str) -> tuple[tuple[str, str], ...]:
        listing = self.ask("diff-tree", "-r", "-z", "--no-renames", "--name-status", parent, commit).split(b"\0")[:-1]
        pairs = zip(listing[::2], (os.fsdecode(path) for path in listing[1::2]), strict=True)
        paths = sorted(path for status, path in pairs if status == b"M" and is_source(path))
        if not 1 <= len(paths) <= MOST_FILES:
            return ()
        return tuple((path, qual) for path in paths for qual in self._functions(commit, parent, path))

    def _functions(self, commit: str, parent: str, path: str) -> list[str]:
        before, after = functions(self.text(parent, path)), functions(self.text(commit, path))
        return sorted(qual for qual, one in before.items() if qual in after and after[qual].body != one.body)


class Copy:
    """A work tree of the clone in ``folder``, moved from commit to commit."""

    def __init__(self, clone: Clone, folder: Path, commit: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._run("init", "--quiet")
        alternates = folder / ".git" / "objects" / "info" / "alternates"
        alternates.write_bytes(os.fsencode((clone.git_dir / "objects").resolve()) + b"\n")
        self.move(commit)

    def move(self, commit: str) -> None:
        """Check a commit out, whatever is there now."""
        self._run("-c", "advice.detachedHead=false", "checkout", "--quiet", "--force", commit)

    def _run(self, *arguments: str) -> None:
        command = ["git", "-c", "core.hooksPath=" + os.devnull, "-c", "core.autocrlf=false", *arguments]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace")[:200]
            raise UsageError(f"git failed at {arguments[-1]}: {said}", where=str(self.folder))


@dataclass(frozen=True, slots=True)
class Function:
    """One Python function as CPython's parser sees it: signature and body in normal form, lines, names it calls."""

    qual: str
    signature: str
    body: str
    lines: tuple[int, int]
    calls: tuple[str, ...]


def functions(text: str) -> dict[str, Function]:
    """Functions and methods of a module by qualified name, those of a name that stands once; {} where it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found = list(_walk(tree))
    times = Counter(one.qual for one in found)
    return {one.qual: one for one in found if times[one.qual] == 1}


def _walk(tree: ast.Module) -> Iterator[Function]:
    waiting: list[tuple[str, Sequence[ast.stmt]]] = [("", tree.body)]
    while waiting:
        prefix, body = waiting.pop()
        for node in body:
            if isinstance(node, ast.ClassDef):
                waiting.append((f"{prefix}{node.name}.", node.body))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                calls = {_called(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
                place = (
                    min((d.lineno for d in node.decorator_list), default=node.lineno),
                    node.end_lineno or node.lineno,
                )
                yield Function(prefix + node.name, signature(node), ast.dump(node), place, tuple(sorted(calls - {""})))


def _called(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def signature(node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    """``name(arguments) -> returns`` in the parser's own spelling, so that two spellings of one signature compare equal."""
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{node.name}({ast.unparse(node.args)}){returns}"


def is_source(path: str) -> bool:
    """Python that is no test, by the rule of the localisation tasks."""
    parts = path.split("/")
    name = parts[-1]
    tests = (
        {"test", "tests"} & set(parts[:-1])
        or name.startswith("test_")
        or name.endswith("_test.py")
        or name == "conftest.py"
    )
    return name.endswith(".py") and not tests
