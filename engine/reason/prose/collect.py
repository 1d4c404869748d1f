"""What a person names to be read, as collections of documents: folders, files, issue exports, the history of a clone.

Called by ``engine/beliefs``. What may not come in: the mesh, what texts say.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mog.engine import ids
from mog.engine.errors import NotFound
from mog.engine.reason.prose import gitlog, issues_export, readers
from mog.engine.reason.prose.documents import Document, Skipped

ISSUES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents that belong together. ``complete``: what was ingested under this name before and is not here is gone."""

    name: str
    documents: Iterator[Document | Skipped]
    complete: bool = False


def collections(root: Path, paths: Sequence[Path], commits: int = 0) -> Iterator[Collection]:
    """One collection for each path, and one for the history.

    Args:
        root: keys of documents are relative to it where they lie below it.
        paths: folders (read whole, so what vanished from them is withdrawn), files, exports with one issue a line.
        commits: how many of the last commits of ``root`` to read; 0 reads none.

    Raises:
        NotFound: a path that is not there. And from the iterators, as the readers do.
    """
    for path in paths:
        name = _key(root, path)
        if path.is_dir():
            prefix = "" if name == "." else f"{name}/"
            yield Collection(name, readers.folder(path, prefix=prefix), complete=True)
        elif path.suffix.lower() in ISSUES:
            yield Collection(name, issues_export.issues(path))
        elif os.path.lexists(path):
            yield Collection(name, iter([readers.file(path, key=name)]))
        else:
            raise NotFound("no such file or folder", where=str(path), way_out="name what is to be read")
    if commits:
        yield Collection("git log", gitlog.commits(root, limit=commits))


def _key(root: Path, path: Path) -> str:
    full = path.absolute()
    return ids.escape((full.relative_to(root) if full.is_relative_to(root) else full).as_posix())
