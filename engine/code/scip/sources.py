"""Which SCIP indexes a worktree has, what tells that one changed, and which folder its paths count from.

Called by ``table``, ``indexer`` and ``status``. What may not come in: documents, our graph. A repository without an index pays
one look into its top folder.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ENDING = ".scip"
FOLDER = ".mog/scip"
MAX_SOURCES = 64


@dataclass(frozen=True, slots=True)
class Source:
    """One index file.

    Attributes:
        path: relative to the root of the worktree, with ``/``.
        stamp: size, mtime_ns, ctime_ns, inode; all 0 when there is no such regular file.
    """

    path: str
    stamp: tuple[int, int, int, int]

    @property
    def there(self) -> bool:
        """Whether it can be read."""
        return any(self.stamp)

    @property
    def written_ns(self) -> int:
        """When it was written: what is younger was not indexed by it."""
        return self.stamp[1]

    def key(self) -> list[object]:
        """What is kept with the index to tell whether this one changed since."""
        return [self.path, *self.stamp]


def found(root: Path, named: Sequence[str]) -> list[Source]:
    """The index files of a worktree, by path: those named in the configuration, or ``*.scip`` at its top and in ``.mog/scip``.

    A named one that is not there is in the list too, so that this can be said.
    """
    paths: Iterable[str] = sorted(dict.fromkeys(named)) if named else _lying_about(root)
    return [Source(path, _stamp(root / path)) for path in paths][:MAX_SOURCES]


def is_source(path: str, named: Sequence[str]) -> bool:
    """Whether a path would be read as an index."""
    if named:
        return path in named
    folder, _, name = path.rpartition("/")
    return name.endswith(ENDING) and folder in ("", FOLDER)


def _lying_about(root: Path) -> list[str]:
    top = list(_scan(root))
    inner = [f"{FOLDER}/{name}" for name in _scan(root / FOLDER)]
    return sorted([*top, *inner])


def _scan(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            yield from [
                entry.name for entry in entries if entry.name.endswith(ENDING) and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return


def _stamp(path: Path) -> tuple[int, int, int, int]:
    try:
        info = path.lstat()
    except OSError:
        return (0, 0, 0, 0)
    if not stat.S_ISREG(info.st_mode):
        return (0, 0, 0, 0)
    return (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)


def prefix(root: Path, source: str, project_root: str) -> str:
    """Folder below the worktree, "" or ending in ``/``, that an index's paths count from.

    Its own project root where that lies in this worktree; else the folder the index lies in (an index made on another machine).
    """
    made_for = _as_path(project_root)
    if made_for is not None:
        for base in (root, root.resolve()):
            if made_for.is_relative_to(base):
                inner = made_for.relative_to(base).as_posix()
                return "" if inner == "." else inner + "/"
    folder = source.rpartition("/")[0]
    return "" if folder in ("", FOLDER) else folder + "/"


def _as_path(uri: str) -> Path | None:
    """The local path of a ``file:`` URI (or a bare absolute path), None for anything else."""
    from urllib.parse import unquote, urlsplit

    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme == "file":
        text = unquote(parts.path)
        text = text[1:] if os.name == "nt" and text[:1] == "/" else text
    else:
        text = uri
    if "\0" in text:
        return None
    path = Path(os.path.normpath(text)) if text else None
    return path if path is not None and path.is_absolute() else None


def canonical(path: str) -> bool:
    """Whether a document's path is what SCIP asks for: relative, ``/`` between parts, nothing empty, ``.`` or ``..``."""
    return bool(path) and "\0" not in path and "\\" not in path and not {"", ".", ".."} & set(path.split("/"))
