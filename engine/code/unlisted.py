"""Walking: a folder without git as a whole, and beside a git listing just enough to count what git left unsaid.

Who calls: ``scan.py``. What may not come in: reading of files, following of links, git commands (a callback asks).
git does not mention pipes, sockets, devices, ignored files and empty folders; mog counts them, folders it leaves out
as one thing.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from mog.engine.code import ignore
from mog.engine.code.languages_map import words

BUILTIN = words(
    ".mog .hg .svn .bzr .jj CVS node_modules bower_components .venv venv __pycache__ .tox .nox .mypy_cache"
    " .pytest_cache .ruff_cache .hypothesis .eggs .ipynb_checkpoints .gradle .next .nuxt .svelte-kit .turbo"
    " .parcel-cache .terraform .direnv .cache .idea .DS_Store"
)
"""Folders left out unless git tracks files in them. Build, dist, target and vendor are not here: projects keep sources
in them.
"""

EXCLUDED = "excluded"
IGNORED = "gitignored"
NESTED = "nested_repository"
SPECIAL = "special"
SYMLINK = "symlink"
UNREADABLE = "unreadable"
FOLDER = "folder"
MAX_UNLISTED = 20_000
"""Entries looked at below a folder that git does not list; beyond it each further folder counts as one thing."""

Count = Callable[[str, str], None]
"""Called with (reason, path)."""
Ignored = Callable[[list[str]], Set[str]]
"""Answers which of these paths git ignores."""


def _open(root: str, folder: str) -> list[os.DirEntry[str]] | None:
    try:
        with os.scandir(f"{root}/{folder}") as entries:
            return list(entries)
    except (OSError, ValueError):
        return None


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _kind(entry: os.DirEntry[str]) -> str:
    """ "" for a regular file, else the reason it is left out."""
    try:
        if entry.is_symlink():
            return SYMLINK
        return "" if entry.is_file(follow_symlinks=False) else SPECIAL
    except OSError:
        return UNREADABLE


def _holds_repository(entries: Iterable[os.DirEntry[str]]) -> bool:
    return any(entry.name == ".git" for entry in entries)


def walk(root: str, count: Count, exclude: Sequence[str]) -> list[tuple[str, os.stat_result]]:
    """Every regular file below ``root`` with its stat, sorted by path; everything else goes to ``count(reason, path)``.

    Raises ConfigError when an ignore file cannot be used.
    """
    rules = ignore.load(root, exclude=exclude)
    nested: list[str] = []
    found: list[tuple[str, os.stat_result]] = []
    folders = [""]
    while folders:
        folder = folders.pop()
        entries = _open(root, folder)
        if entries is None:
            count(UNREADABLE, folder + "/")
            continue
        if folder and _holds_repository(entries):
            count(NESTED, folder + "/")
            continue
        prefix = folder + "/" if folder else ""
        if folder and any(entry.name == ignore.FILE_NAME for entry in entries):
            nested.append(prefix + ignore.FILE_NAME)
            rules = ignore.load(root, exclude=exclude, nested=nested)
        for entry in entries:
            path = prefix + entry.name
            if _is_dir(entry):
                if path == ".mog":
                    continue
                if reason := EXCLUDED if entry.name in BUILTIN else rules.match(path, is_dir=True):
                    count(reason, path + "/")
                else:
                    folders.append(path)
            elif reason := _kind(entry) or rules.match(path):
                count(reason, path)
            elif (info := _stat(entry)) is None:
                count(UNREADABLE, path)
            else:
                found.append((path, info))
    found.sort(key=lambda pair: pair[0])
    return found


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    try:
        return os.lstat(entry.path) if os.name == "nt" else entry.stat(follow_symlinks=False)
    except (OSError, ValueError):
        return None


@dataclass(slots=True)
class Listed:
    """A git listing, arranged for ``account``.

    Attributes:
        per_folder: folder → number of listed things directly in it that are on the disk.
        paths: all listed paths, asked for only where the numbers differ.
        apart: folders that were counted already (submodules, nested repositories).
    """

    per_folder: Mapping[str, int]
    paths: Callable[[], Set[str]]
    apart: Set[str]
    folders: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.folders = {""}
        for folder in self.per_folder:
            while folder not in self.folders:
                self.folders.add(folder)
                folder = folder.rpartition("/")[0]


def account(root: str, listed: Listed, count: Count, ignored: Ignored) -> tuple[list[str], list[str]]:
    """Count what lies beside the listed files; returns (folders visited, ignore files met that git does not list)."""
    visited: list[str] = []
    ignore_files: list[str] = []
    strange: list[str] = []
    stack = [""]
    while stack:
        folder = stack.pop()
        entries = _open(root, folder)
        visited.append(folder)
        if entries is None:
            count(UNREADABLE, folder + "/")
            continue
        prefix = folder + "/" if folder else ""
        files = 0
        for entry in entries:
            if not _is_dir(entry):
                files += 1
            elif (path := prefix + entry.name) in listed.folders:
                if path != ".mog":
                    stack.append(path)
            elif entry.name != ".git" and path != ".mog" and path not in listed.apart:
                if entry.name in BUILTIN:
                    count(EXCLUDED, path + "/")
                else:
                    strange.append(path)
        if files != listed.per_folder.get(folder, 0):
            ignore_files += _beside(prefix, entries, listed.paths(), count)
    visited += _strange(root, strange, count, ignored)
    return visited, ignore_files


def _beside(prefix: str, entries: Iterable[os.DirEntry[str]], paths: Set[str], count: Count) -> list[str]:
    """Count the files of one folder that the listing does not name; returns the ignore files among them."""
    ignore_files: list[str] = []
    for entry in entries:
        path = prefix + entry.name
        if path in paths or entry.name == ".git" or _is_dir(entry):
            continue
        kind = _kind(entry)
        count(kind if kind in (SPECIAL, UNREADABLE) else IGNORED, path)
        if entry.name == ".gitignore":
            ignore_files.append(path)
    return ignore_files


def _strange(root: str, folders: list[str], count: Count, ignored: Ignored) -> list[str]:
    """Folders without a listed file: ignored as a whole, or empty but for pipes, ignored files and such folders.

    Returns the folders where a new file would be listed.
    """
    outer = ignored(folders) if folders else set()
    for folder in outer:
        count(IGNORED, folder + "/")
    inside = [pair for folder in folders if folder not in outer for pair in _descend(root, folder)]
    hidden = ignored([path for path, kind in inside if kind == FOLDER])
    visited = [folder for folder in folders if folder not in outer]
    for path, kind in inside:
        if _below(path, hidden):
            continue
        if kind == FOLDER and path not in hidden:
            visited.append(path)
        elif kind == FOLDER:
            count(IGNORED, path + "/")
        else:
            count(kind, path)
            visited += [path[:-1]] if path.endswith("/") and kind != EXCLUDED else []
    return visited


def _below(path: str, folders: Set[str]) -> bool:
    while folders and (path := path.rpartition("/")[0]):
        if path in folders:
            return True
    return False


def _descend(root: str, top: str) -> list[tuple[str, str]]:
    """(path, reason) of everything below an unlisted folder; reason ``folder`` for folders that were entered."""
    out: list[tuple[str, str]] = []
    stack = [top]
    while stack:
        folder = stack.pop()
        entries = _open(root, folder)
        if entries is None:
            out.append((folder + "/", UNREADABLE))
        elif _holds_repository(entries):
            out.append((folder + "/", NESTED))
        elif len(out) > MAX_UNLISTED:
            out.append((folder + "/", IGNORED))
        else:
            if folder != top:
                out.append((folder, FOLDER))
            for entry in entries:
                path = f"{folder}/{entry.name}"
                if not _is_dir(entry):
                    kind = _kind(entry)
                    out.append((path, kind if kind in (SPECIAL, UNREADABLE) else IGNORED))
                elif entry.name in BUILTIN:
                    out.append((path + "/", EXCLUDED))
                else:
                    stack.append(path)
    return out
