"""A project that is changed step by step, and what CPython's own parser says of it: the oracle of the staleness suite.

Who calls: ``staleness``. What may not come in: anchors, freshness, anything of mog that is measured. A definition is the same
when ``ast.dump`` of it is; a file when its bytes are. Every step is drawn from a seeded generator; commits carry fixed dates.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from random import Random

from mog.engine.errors import UsageError

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_WHO = {
    f"GIT_{role}_{what}": said
    for role in ("AUTHOR", "COMMITTER")
    for what, said in (("NAME", "A Person"), ("EMAIL", "person@example.invalid"), ("DATE", "2026-01-01T00:00:00Z"))
}
_QUIET = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", **_WHO}
_TIMEOUT = 300


@dataclass(frozen=True, slots=True)
class Place:
    """A definition by path and dotted name; a whole file without a name."""

    path: str
    qual: str = ""

    @property
    def locator(self) -> str:
        """As mog writes it."""
        return f"sym:{self.path}::{self.qual}" if self.qual else f"file:{self.path}"


# -- the oracle


def version(place: Place, data: bytes | None) -> str | None:
    """What stands at a place in a file of these bytes, to be compared; None: nothing."""
    if data is None:
        return None
    if not place.qual:
        return data.replace(b"\r\n", b"\n").decode("latin-1")
    return _dumps(data).get(place.qual)


def raw_span(place: Place, data: bytes | None) -> str | None:
    """The lines of a definition as they stand, comments and all: what a line-based tool compares."""
    node = _nodes(data).get(place.qual) if data is not None and place.qual else None
    if node is None or data is None:
        return version(place, data) if not place.qual else None
    lines = data.decode("utf-8", "replace").split("\n")
    return "\n".join(lines[_first_line(node) - 1 : node.end_lineno])


def masked(place: Place, data: bytes | None) -> str | None:
    """``version`` with the definition's own name taken out, so that a renamed one compares equal."""
    found = version(place, data)
    return found.replace(f"'{place.qual.rpartition('.')[2]}'", "'\0'") if found and place.qual else found


@lru_cache(maxsize=4_000)
def _nodes(data: bytes) -> dict[str, Definition]:
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return {}
    return dict(_defined(tree.body, ""))


@lru_cache(maxsize=4_000)
def _dumps(data: bytes) -> dict[str, str]:
    return {qual: ast.dump(node) for qual, node in _nodes(data).items()}


def _defined(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, Definition]]:
    for node in body:
        if isinstance(node, _DEFINITIONS):
            yield prefix + node.name, node
            if isinstance(node, ast.ClassDef) and not prefix:
                yield from _defined(node.body, f"{node.name}.")


def _first_line(node: Definition) -> int:
    return min([node.lineno, *(one.lineno for one in node.decorator_list)])


def definitions(data: bytes) -> list[str]:
    """Dotted names of top-level definitions and methods that are defined once, in order."""
    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError):
        return []
    names = [qual for qual, _ in _defined(tree.body, "")]
    every = [node.name for node in ast.walk(tree) if isinstance(node, _DEFINITIONS)]
    return [name for name in names if names.count(name) == 1 and every.count(name.rpartition(".")[2]) == 1]


# -- the project


@dataclass
class Project:
    """A work tree and what is done to it. ``before`` keeps the files of the last steps, newest last."""

    root: Path
    random: Random
    count: int = 0
    before: list[dict[str, bytes | None]] = field(default_factory=list)

    def git(self, *words: str) -> bytes:
        """Output of one git command. Raises UsageError."""
        env = {**{name: value for name, value in os.environ.items() if not name.startswith("GIT_")}, **_QUIET}
        vector = ["git", "-c", "safe.directory=*", "-c", f"core.hooksPath={os.devnull}", "-c", "gc.auto=0", *words]
        done = subprocess.run(vector, cwd=self.root, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip()[:300]
            raise UsageError(f"git {words[0]} failed: {said}", where=str(self.root), way_out="is git there, and the clone whole?")
        return done.stdout

    def head(self) -> str:
        """Full id of the commit that is checked out."""
        return self.git("rev-parse", "HEAD").decode().strip()

    def read(self, path: str) -> bytes | None:
        """Bytes of a file, None when it is gone."""
        try:
            return (self.root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def at(self, commit: str, path: str) -> bytes | None:
        """Bytes of a file in a commit, None when it is not there."""
        return _at(str(self.root), commit, path)

    def write(self, path: str, data: bytes | None) -> None:
        """Write or remove a file, and remember what it was."""
        self.before[-1].setdefault(path, self.read(path))
        target = self.root / path
        if data is None:
            target.unlink(missing_ok=True)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def sources(self) -> list[str]:
        """Python files of the tree, in order."""
        listed = self.git("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.py").split(b"\0")
        found = dict.fromkeys(os.fsdecode(name) for name in listed if name)
        return sorted(path for path in found if (self.root / path).is_file())

    def commit(self, message: str) -> str:
        """Commit everything; its id."""
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", message)
        return self.head()

    def number(self) -> int:
        """A number not given before."""
        self.count += 1
        return self.count


@lru_cache(maxsize=20_000)
def _at(root: str, commit: str, path: str) -> bytes | None:
    vector = ["git", "-c", "safe.directory=*", "cat-file", "blob", f"{commit}:{path}"]
    done = subprocess.run(vector, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT)
    return done.stdout if done.returncode == 0 else None


def cloned(git_dir: Path, to: Path, random: Random) -> Project:
    """A work tree of a clone, at what its HEAD names."""
    to.parent.mkdir(parents=True, exist_ok=True)
    Project(to.parent, random).git("clone", "-q", "--shared", str(git_dir), str(to))
    return _ready(Project(to, random))


def made(to: Path, random: Random, files: int = 6) -> Project:
    """A small project of its own, for tests and for those without a clone."""
    to.mkdir(parents=True)
    project = Project(to, random)
    project.git("init", "-q", "-b", "main")
    project.before.append({})
    for number in range(files):
        project.write(f"pkg/part{number}.py", _module(number, random).encode())
    _ready(project).commit("start")
    return project


def _ready(project: Project) -> Project:
    (project.root / ".git" / "info").mkdir(exist_ok=True)
    (project.root / ".git" / "info" / "exclude").write_text(".mog/\n")
    return project


def _module(number: int, random: Random) -> str:
    values = [random.randint(2, 99) for _ in range(4)]
    return f'''"""Part {number}."""

import functools


def load_{number}(path, *, limit={values[0]}):
    """Read at most ``limit`` rows."""
    rows = []
    for row in open(path):
        rows.append(row.strip())
        if len(rows) >= limit:
            break
    return rows


@functools.lru_cache(maxsize={values[1]})
def weigh_{number}(first, second):
    if first > second:
        return first * {values[2]}
    return second - {values[3]}


class Store{number}:
    """Keeps rows."""

    size = {values[0]}

    def put_{number}(self, row):
        self.rows.append(weigh_{number}(row, {values[1]}))
        return len(self.rows)

    def take_{number}(self):
        text = """two
  lines"""
        return self.rows.pop(), text
'''


# -- steps

Step = Callable[[Project, Place], bool]


def _changed(project: Project, place: Place, change: Callable[[list[str], Definition], list[str] | None]) -> bool:
    """Rewrite the lines of a file around one definition; False when that cannot be done or would not parse."""
    data = project.read(place.path)
    node = _nodes(data).get(place.qual) if data is not None else None
    if data is None or node is None or b"\r" in data:
        return False
    lines = change(data.decode("utf-8", "surrogateescape").split("\n"), node)
    if lines is None:
        return False
    text = "\n".join(lines).encode("utf-8", "surrogateescape")
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    project.write(place.path, text)
    return True


def _inside(lines: list[str], node: Definition, text: str) -> list[str] | None:
    """The lines with one more before the first statement that is no docstring."""
    body = node.body
    told = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and isinstance(body[0].value.value, str)
    first = body[1] if told and len(body) > 1 else body[0]
    at = min([first.lineno, *(one.lineno for one in getattr(first, "decorator_list", []))])
    if told and len(body) == 1:
        at = (first.end_lineno or first.lineno) + 1
    if first.lineno == node.lineno or lines[first.lineno - 1][: first.col_offset].strip():
        return None
    return [*lines[: at - 1], " " * first.col_offset + text, *lines[at - 1 :]]


def edit(project: Project, place: Place) -> bool:
    """Another statement in the body."""
    text = f"probe_{project.number()} = {project.random.randint(0, 10**6)}"
    return _changed(project, place, lambda lines, node: _inside(lines, node, text))


def cosmetic(project: Project, place: Place) -> bool:
    """A comment, an empty line, a wrapped header: nothing that Python sees."""
    before = project.read(place.path)
    way = project.random.randrange(4)

    def change(lines: list[str], node: Definition) -> list[str] | None:
        if way == 0:
            return _inside(lines, node, f"# remark {project.number()}")
        if way == 1:
            return _inside(lines, node, "")
        if way == 2:
            return [f"# above {project.number()}", *lines]
        at = node.lineno - 1
        head, paren, rest = lines[at].partition("(")
        return [*lines[:at], head + paren, " " * 8 + rest.lstrip(), *lines[at + 1 :]] if paren and rest.strip() else None

    if before is None or not _changed(project, place, change):
        return False
    after = project.read(place.path)
    if after is None or ast.dump(ast.parse(before)) != ast.dump(ast.parse(after)):
        project.write(place.path, before)
        return False
    return True


def rename(project: Project, place: Place) -> bool:
    """Another name in the definition itself."""
    name = place.qual.rpartition(".")[2]

    def change(lines: list[str], node: Definition) -> list[str]:
        at = node.lineno - 1
        line = re.sub(rf"\b{re.escape(name)}\b", f"{name}_r{project.number()}", lines[at], count=1)
        return [*lines[:at], line, *lines[at + 1 :]]

    return _changed(project, place, change)


def delete(project: Project, place: Place) -> bool:
    """The definition is gone."""
    return _changed(project, place, lambda lines, node: [*lines[: _first_line(node) - 1], *lines[node.end_lineno :]])


def copy(project: Project, place: Place) -> bool:
    """The same definition once more, in another file."""
    data = project.read(place.path)
    node = _nodes(data).get(place.qual) if data is not None else None
    if data is None or node is None or node.col_offset or b"\r" in data:
        return False
    others = [path for path in project.sources() if path != place.path]
    other = project.random.choice(others) if others else ""
    into = project.read(other) if other else None
    if into is None or b"\r" in into or place.qual in _nodes(into):
        return False
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    text = "\n".join(lines[_first_line(node) - 1 : node.end_lineno])
    project.write(other, into.rstrip(b"\n") + b"\n\n\n" + text.encode("utf-8", "surrogateescape") + b"\n")
    return True


def carry(project: Project, place: Place) -> bool:
    """The definition moves to another file."""
    return copy(project, place) and delete(project, place)


def move_file(project: Project, place: Place) -> bool:
    """The file gets another name."""
    data = project.read(place.path)
    if data is None:
        return False
    project.write(place.path, None)
    project.write(f"{place.path.removesuffix('.py')}_m{project.number()}.py", data)
    return True


def delete_file(project: Project, place: Place) -> bool:
    """The file is gone."""
    if project.read(place.path) is None:
        return False
    project.write(place.path, None)
    return True


def edit_other(project: Project, place: Place) -> bool:
    """Another definition of the same file changes."""
    data = project.read(place.path)
    names = [name for name in definitions(data) if data and not _related(name, place.qual)] if data is not None else []
    return bool(names) and edit(project, Place(place.path, project.random.choice(names)))


def _related(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}.") or other.startswith(f"{one}.")


def undo(project: Project, place: Place) -> bool:
    """What the last step that wrote did is taken back."""
    for files in reversed(project.before[:-1]):
        if files:
            for path, data in dict(files).items():
                project.write(path, data)
            return True
    return False


STEPS: dict[str, Step] = {
    "edit": edit,
    "cosmetic": cosmetic,
    "rename": rename,
    "delete": delete,
    "copy": copy,
    "carry": carry,
    "move file": move_file,
    "delete file": delete_file,
    "edit beside": edit_other,
    "undo": undo,
}
"""Changes of files by name; ``revert``, ``commit``, ``switch``, ``merge`` and ``worktree`` are the suite's."""
