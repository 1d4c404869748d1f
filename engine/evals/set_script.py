"""Where a scripted session works: a copy of a repository, topics in it, and edits of it.

Who calls: suite ``working_set``. What may not come in: mog's own reading of the code; functions are those of CPython's parser.
"""

from __future__ import annotations

import ast
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from mog.engine.errors import UsageError
from mog.engine.evals import repos
from mog.engine.evals.edits import Clone, Copy, is_source

TOPICS = 80
PACKAGE = "networkx"  # what the suite runs over when no folder is named: a package that mog itself needs


class Topic(NamedTuple):
    """A function with documentation: where it is, its locator, the sentence that describes it."""

    path: str
    locator: str
    about: str


def topics(root: Path, random: Random) -> list[Topic]:
    """Documented functions of sources that are no tests, drawn at random: two of a file where it has them."""
    found: dict[str, list[Topic]] = {}
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root).as_posix()
        if is_source(relative) and (rows := list(_documented(path, relative))):
            found[relative] = rows
    if len(found) < 3:
        raise UsageError("fewer than three files with documented functions", where="--repos", way_out="name a Python project")
    files = random.sample(sorted(found), min(TOPICS // 2, len(found)))
    return [one for path in files for one in random.sample(found[path], min(2, len(found[path])))]


def _documented(path: Path, relative: str) -> Iterator[Topic]:
    for qual, node in _functions(path.read_text("utf-8", "replace")):
        about = (ast.get_docstring(node) or "").strip().partition("\n")[0]
        if len(about.split()) >= 4 and not (node.name.startswith("__") or node.decorator_list):
            yield Topic(relative, f"sym:{relative}::{qual}", about)


def _functions(text: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Functions and methods whose qualified name stands once, in the order of the text."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    owners: list[tuple[str, list[ast.stmt]]] = [("", tree.body)]
    owners += [(f"{node.name}.", node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
    found = [(prefix + node.name, node) for prefix, body in owners for node in body if isinstance(node, ast.FunctionDef)]
    times = Counter(qual for qual, _ in found)
    yield from (one for one in found if times[one[0]] == 1)


def with_line(text: str, qual: str, line: str) -> str | None:
    """The text with a line at the beginning of a function's body, after its documentation; None where that cannot be."""
    node = next((node for name, node in _functions(text) if name == qual), None)
    after = node.body[1] if node is not None and len(node.body) > 1 else None
    if after is None:
        return None
    lines = text.split("\n")
    lines.insert(after.lineno - 1, " " * after.col_offset + line)
    return "\n".join(lines)


def copied(source: Path | None, root: Path) -> str:
    """Put the repository's files at ``root``; its name."""
    if source is None:
        import importlib.util

        found = importlib.util.find_spec(PACKAGE)
        if found is None or found.origin is None:
            raise UsageError(f"{PACKAGE} is not installed", where="mog eval run working_set", way_out="--repos FOLDER")
        source = Path(found.origin).parent
    if not source.is_dir():
        raise UsageError("there is no such folder", where=str(source), way_out="--repos FOLDER: a project, or a clone of one")
    if (source / ".git").is_dir() or (source / "HEAD").is_file():
        clone = Clone(source)
        Copy(clone, root, clone.ask("rev-parse", "HEAD").decode().strip())
    else:
        shutil.copytree(source, root, ignore=shutil.ignore_patterns(".git", ".mog", "__pycache__", "node_modules"))
    return repos.named(source)
