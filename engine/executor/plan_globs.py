"""Patterns of a plan file: which files below the root they mean. Used by the loader and by the reads of commands.

What may not come in: what a file holds, links followed, anything outside the root. ``*``, ``?`` and ``[…]`` match inside one
name, ``**`` alone matches any number of folders. ``.git``, ``.mog`` and ``__pycache__`` are entered only where they are named.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import translate
from functools import lru_cache
from pathlib import Path

from mog.engine.errors import UsageError

MAX_FOUND = 50_000
LEFT_OUT = frozenset({".git", ".mog", "__pycache__"})
_MAGIC = re.compile(r"[*?\[]")
_MAX_DOUBLE_STARS = 3


def fault(pattern: str) -> str:
    """Why a text is no pattern below the root; "" when it is one."""
    parts = pattern.split("/")
    if not pattern or "\\" in pattern or "\n" in pattern:
        return "is no pattern; folders are separated by /"
    if pattern.startswith("/") or re.match(r"[A-Za-z]:", pattern) or ".." in parts or pattern.startswith("~"):
        return "lies outside the repository"
    if any(part in ("", ".") for part in parts):
        return "is no pattern; write it without empty parts"
    if any("**" in part and part != "**" for part in parts) or parts.count("**") > _MAX_DOUBLE_STARS:
        return f"** stands alone between slashes, at most {_MAX_DOUBLE_STARS} times"
    return "names no file" if parts[-1] == "**" else ""


def find(root: Path, pattern: str) -> list[str]:
    """Paths of what is no folder and matches, relative to the root, sorted; links are listed and not followed.

    Raises:
        UsageError: it matches more than 50,000 files.
    """
    parts = pattern.split("/")
    folders = parts[:-1]
    head = next((i for i, part in enumerate(folders) if _MAGIC.search(part)), len(folders))  # what needs no search
    found: set[str] = set()
    for path in _walk(root, "/".join(folders[:head]), parts[head:]):
        found.add(path)
        if len(found) > MAX_FOUND:
            raise UsageError(f"it matches more than {MAX_FOUND:,} files", where=pattern, way_out="name a narrower folder")
    return sorted(found)


def _walk(root: Path, folder: str, parts: Sequence[str]) -> Iterator[str]:
    """What lies below a folder and matches the parts."""
    waiting = [(folder, tuple(parts))]
    seen = set(waiting)
    while waiting:
        where, left = waiting.pop()
        for name, is_folder in _entries(root, where):
            path = f"{where}/{name}" if where else name
            for rest in _after(left, name, is_folder):
                if not rest:
                    yield path
                elif (path, rest) not in seen:
                    seen.add((path, rest))
                    waiting.append((path, rest))


def _after(parts: tuple[str, ...], name: str, is_folder: bool) -> Iterator[tuple[str, ...]]:
    """What is left of a pattern once a name is taken: nothing for a file that matches."""
    first, rest = parts[0], parts[1:]
    if first == "**":
        yield from _after(rest, name, is_folder)
        if is_folder and name not in LEFT_OUT:
            yield parts
        return
    if not _matcher(first).match(name) or (is_folder and name in LEFT_OUT and name != first):
        return
    if is_folder and rest:
        yield rest
    elif not is_folder and not rest:
        yield ()


@lru_cache(maxsize=1024)
def _matcher(part: str) -> re.Pattern[str]:
    return re.compile(translate(part) if _MAGIC.search(part) else f"{re.escape(part)}\\Z")


def _entries(root: Path, folder: str) -> list[tuple[str, bool]]:
    """Names in a folder of the repository and whether each is a folder; none where a link leads or nothing is."""
    at = root
    for part in folder.split("/") if folder else ():
        at = at / part
        if at.is_symlink():
            return []
    try:
        with os.scandir(at) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:
        return []


def matches(pattern: str, path: str) -> bool:
    """Whether a path is one that a pattern means."""
    rests = {tuple(pattern.split("/"))}
    *folders, name = path.split("/")
    for folder in folders:
        rests = {rest for parts in rests for rest in _after(parts, folder, True)}
    return any(not rest for parts in rests for rest in _after(parts, name, False))
