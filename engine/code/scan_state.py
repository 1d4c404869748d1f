"""What a scan remembers so that the next one need not list: index checksum, folder stamps, ignore files, counts.

Who calls: ``scan.py``. What may not come in: the index database (it stores the bytes without looking inside), git
commands.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from mog.engine.code.content import settled

VERSION = 1


@dataclass(slots=True)
class State:
    """One scan, as far as the next one can rely on it.

    Attributes:
        root: device and inode of the root.
        exclude: configured patterns.
        index: checksum of git's index in hex, "" when it cannot be relied on.
        folders, stamps: every folder that was listed and its ctime_ns (0 = written too recently to tell).
        rules: [path, size, mtime_ns, ctime_ns, inode] of each file that decides what is ignored; -1 sizes for absent
            ones.
        dirty, odd, untracked: paths to look at one by one; odd ones, which git does not compare, with their mode.
        candidates: tracked files to index, were none of them dirty; counts and examples of what is left out beside
            them.
        roots: source roots, for the order of entries.
    """

    root: list[int]
    exclude: list[str]
    index: str
    folders: list[str]
    stamps: list[int]
    rules: list[list[int | str]]
    dirty: list[str] = field(default_factory=list)
    odd: dict[str, str] = field(default_factory=dict)
    untracked: list[str] = field(default_factory=list)
    candidates: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, list[str]] = field(default_factory=dict)
    roots: list[str] = field(default_factory=list)

    def dump(self) -> bytes:
        """Bytes for the index to keep."""
        return zlib.compress(
            json.dumps(
                {"v": VERSION, **{name: getattr(self, name) for name in self.__slots__}}, separators=(",", ":")
            ).encode("ascii"),
            1,
        )

    @staticmethod
    def load(data: bytes) -> State | None:
        """The state in ``data``, or None when it is of another version or damaged; then the tree is listed again."""
        try:
            fields = json.loads(zlib.decompress(data))
            return State(**fields) if fields.pop("v") == VERSION else None
        except (ValueError, KeyError, TypeError, AttributeError, zlib.error):
            return None

    def folders_stand(self, root: str) -> bool:
        """Was nothing added to, removed from or renamed in any listed folder? False where folder times say nothing
        (Windows).
        """
        if os.name == "nt" or 0 in self.stamps:
            return False
        base = root + os.sep
        try:
            return all(
                os.stat(base + folder).st_ctime_ns == stamp
                for folder, stamp in zip(self.folders, self.stamps, strict=True)
            )
        except (OSError, ValueError):
            return False

    def rules_stand(self) -> bool:
        """Is every file that decides what is ignored as it was?"""
        return all(rule[2] != 0 and stamp_of(str(rule[0]), None) == rule for rule in self.rules)


def stamp_of(path: str, now_ns: int | None) -> list[int | str]:
    """[path, size, mtime_ns, ctime_ns, inode]; with ``now_ns``, mtime_ns is 0 when written too recently to tell."""
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return [path, -1, -1, -1, -1]
    mtime = info.st_mtime_ns if now_ns is None else settled(info, now_ns).mtime_ns
    return [path, info.st_size, mtime, info.st_ctime_ns, info.st_ino]


def folder_stamps(root: str, folders: Iterable[str], start_ns: int) -> tuple[list[str], list[int]]:
    """Folders and their ctime_ns, 0 where they changed less than a tick before ``start_ns`` or cannot be asked."""
    names = sorted(folders)
    stamps: list[int] = []
    for name in names:
        try:
            info = os.stat(f"{root}/{name}")
        except (OSError, ValueError):
            stamps.append(0)
            continue
        stamps.append(info.st_ctime_ns if settled(info, start_ns).mtime_ns else 0)
    return names, stamps


def index_checksum(git_dir: Path) -> str:
    """Last 20 bytes of git's index in hex: its checksum. "absent" before the first add, "" when git was told to skip
    it.
    """
    try:
        with open(git_dir / "index", "rb") as stream:
            stream.seek(-20, os.SEEK_END)
            trailer = stream.read(20)
    except FileNotFoundError:
        return "absent"
    except OSError:
        return ""
    return trailer.hex() if any(trailer) else ""
