"""Folders of a test about other programs' files. Who calls: tests/clients. What may not come in: files of who runs the tests."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class World(NamedTuple):
    """The user's home, a project (the current folder), the only folder on PATH."""

    home: Path
    project: Path
    programs: Path


def put(path: Path, data: bytes) -> Path:
    """Write a file with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def everything_below(folder: Path) -> list[str]:
    """All files, relative."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def is_insertion(before: bytes, after: bytes) -> bool:
    """Whether ``before``, white space aside, is ``after`` with some characters taken out: nothing was changed or moved."""
    left = iter(b"".join(after.split()))
    return all(char in left for char in b"".join(before.split()))
