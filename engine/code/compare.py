"""The records of a scan, and the comparison of what lies on the disk with what the index holds.

Who calls: ``scan.py``, which re-exports the records. What may not come in: git, walking, reading of content.
"""

from __future__ import annotations

import os
import stat
import time
from bisect import insort
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from mog.engine.code.content import Stat, settled
from mog.engine.code.languages_map import language_of, text_only_by_name
from mog.engine.code.order import Order, sort_key

SYMLINK = "symlink"
SPECIAL = "special"
UNREADABLE = "unreadable"

Known = tuple[bytes | None, int, int, int, int]
"""What the index holds of a path: (git blob id or None, size, mtime_ns, ctime_ns, inode); mtime_ns 0 = stat not
reliable.
"""


class Entry(NamedTuple):
    """One file to index.

    Attributes:
        path: relative, ``/`` separators, ``os.fsdecode`` form.
        language: by name only; ``text`` may still turn out to have a shebang.
        parse: False for lock files and minified assets (words, no symbols).
        priority: bucket of ``order.py``.
        oid: git blob id (first 20 bytes of it in a SHA-256 repository) when git says the file is clean, else None.
        size, mtime_ns, ctime_ns, inode: of dirty, untracked and walked files; zeros for clean ones, which are not
            stat-ed.
    """

    path: str
    language: str
    parse: bool
    priority: int
    oid: bytes | None
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class ScanResult:
    """What one scan found.

    Attributes:
        entries: files to look at, in priority order: all of them without ``known``, else the new and possibly
            changed ones.
        unchanged: files that ``known`` already holds as they are.
        restamped: (path, row) of files whose content is as known and whose row should be replaced (say, a dirty file
            was committed).
        removed: paths of ``known`` that are no longer there to index.
        seen: everything found; equals ``files`` plus all skips.
        skipped, examples: reason → exact count, and up to five paths (a folder ends in ``/``).
        git: did git list the files (False: the folder was walked)?
        ref: branch@commit, "" without git.
        dirty: does the work tree or the git index differ from that commit?
        warnings: sentences for people.
        state: opaque; store it in the same transaction as the rows and hand it back with ``known``.
        fast: answered from ``state`` without listing.
    """

    entries: list[Entry]
    unchanged: int
    restamped: list[tuple[str, Known]]
    removed: list[str]
    seen: int
    skipped: Mapping[str, int]
    examples: Mapping[str, tuple[str, ...]]
    git: bool
    ref: str = ""
    dirty: bool = False
    warnings: tuple[str, ...] = ()
    state: bytes = b""
    fast: bool = False

    @property
    def files(self) -> int:
        """Files there are to index, changed or not."""
        return len(self.entries) + self.unchanged + len(self.restamped)


@dataclass(slots=True)
class Tally:
    """Exact counts by reason with the five smallest paths of each; a path can be taken back."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)

    def add(self, reason: str, path: str) -> None:
        self.counts[reason] += 1
        kept = self.examples.setdefault(reason, [])
        if len(kept) < 5 or path < kept[-1]:
            insort(kept, path)
            del kept[5:]

    def remove(self, reason: str, path: str) -> None:
        self.counts[reason] -= 1
        if path in (kept := self.examples.get(reason, [])):
            kept.remove(path)


class Sorter:
    """Compares what is on the disk with what is known, and collects the result."""

    def __init__(self, root: str, known: Mapping[str, Known] | None, order: Order, tally: Tally) -> None:
        self.root = root
        self.known = {} if known is None else known
        self.order = order
        self.tally = tally
        self.now = time.time_ns()
        self.entries: list[Entry] = []
        self.restamped: list[tuple[str, Known]] = []
        self.unchanged = 0
        self.kept: list[str] = []
        self.dropped: list[str] = []

    def put(self, path: str, oid: bytes | None, seen: Stat) -> None:
        language = language_of(path)
        parse = not text_only_by_name(path)
        self.entries.append(Entry(path, language, parse, self.order.priority(path, language), oid, *seen))

    def clean(self, path: str, oid: bytes) -> None:
        """A file that git holds under ``oid``; stat-ed only when it was indexed while dirty."""
        self.kept.append(path)
        row = self.known.get(path)
        if row is None:
            self.put(path, oid, Stat())
        elif row[0] == oid:
            self.unchanged += 1
        elif row[0] is None and row[2] and (info := look(self.root, path)[0]) and settled(info, self.now) == row[1:]:
            self.restamped.append((path, (oid, row[1], row[2], row[3], row[4])))
        else:
            self.put(path, oid, Stat())

    def stated(self, path: str, info: os.stat_result) -> None:
        """A regular file known by its stat."""
        self.kept.append(path)
        seen = settled(info, self.now)
        row = self.known.get(path)
        if row is not None and row[2] and seen == row[1:]:
            self.unchanged += 1
        else:
            self.put(path, None, seen)

    def on_disk(self, path: str, absent: str) -> None:
        """A path to be judged by what lies there now: a file to index, or something to count (as ``absent`` when it is
        gone).
        """
        info, reason = look(self.root, path)
        if info is not None:
            self.stated(path, info)
        else:
            self.drop(path, reason or absent)

    def drop(self, path: str, reason: str) -> None:
        """Count ``path`` as left out, and remember whether the index holds it."""
        self.tally.add(reason, path)
        if path in self.known:
            self.dropped.append(path)

    def sorted_entries(self) -> list[Entry]:
        self.entries.sort(key=lambda entry: sort_key(entry.path, entry.priority))
        return self.entries


def look(root: str, path: str) -> tuple[os.stat_result | None, str]:
    """(stat, "") of a regular file, else (None, reason); the reason is "" when nothing, or a folder, is there."""
    try:
        info = os.lstat(os.path.join(root, path))
    except (FileNotFoundError, NotADirectoryError):
        return None, ""
    except (OSError, ValueError):
        return None, UNREADABLE
    if stat.S_ISREG(info.st_mode):
        return info, ""
    if stat.S_ISLNK(info.st_mode):
        return None, SYMLINK
    return None, "" if stat.S_ISDIR(info.st_mode) else SPECIAL


def result(
    sorter: Sorter,
    removed: list[str],
    *,
    git: bool,
    ref: str = "",
    dirty: bool = False,
    warnings: tuple[str, ...] = (),
    state: bytes = b"",
    fast: bool = False,
) -> ScanResult:
    """The result of a scan, from what the sorter collected."""
    skipped = {reason: count for reason, count in sorted(sorter.tally.counts.items()) if count}
    examples = {reason: tuple(sorter.tally.examples.get(reason, ())) for reason in skipped}
    entries = sorter.sorted_entries()
    seen = len(entries) + sorter.unchanged + len(sorter.restamped) + sum(skipped.values())
    return ScanResult(
        entries,
        sorter.unchanged,
        sorter.restamped,
        removed,
        seen,
        skipped,
        examples,
        git,
        ref,
        dirty,
        warnings,
        state,
        fast,
    )
