"""Whether a graph can be trusted for planning: computed from the disk, never stored.

``unsafe``: the index or the ledger cannot be believed. ``unknown``: nothing could be compared. ``stale``: it was read at another
commit, or by other rules, grammars or settings than today's. ``partially_stale``: some files differ. ``current``: none of these.

Who calls: ``room``. What may not come in: indexing, verdicts about coverage (``verdict``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from mog.engine.code import git
from mog.engine.code.indexer import Indexer
from mog.engine.code.view import CodeView
from mog.engine.errors import GitRefused
from mog.engine.model import Check, Freshness
from mog.engine.snapshots.model import CURRENT, PARTIALLY_STALE, STALE, UNKNOWN, UNSAFE, Stale
from mog.engine.store.schema import FileRow

Fresh = Callable[[FileRow | None], Freshness]
READ = 500
_PARTS = ("extractors or grammars", "GRAPH.md", "settings", "the folder")


def judged(root: Path, view: CodeView, indexer: Indexer, fresh: Fresh, checks: Iterable[Check] = ()) -> Stale:
    """The status of the generation of a view.

    Args:
        fresh: freshness of a file's row. checks: of stores, where they were checked; one that is damaged makes it unsafe.
    """
    damaged = tuple(f"{check.name}: {check.detail}" for check in checks if check.state == "damaged")
    if damaged:
        return Stale(UNSAFE, damaged)
    try:
        changed = _changed(view, indexer.differing(view.db), fresh)
        moved = tuple(_moved(root, view))
    except GitRefused as error:
        return Stale(UNKNOWN, (f"git cannot say what changed: {error.what}",))
    if reasons := (*moved, *_rules(view, indexer)):
        return Stale(STALE, reasons, changed)
    if changed:
        files = "1 file differs" if changed == 1 else f"{changed:,} files differ"
        return Stale(PARTIALLY_STALE, (f"{files} from the index",), changed)
    return Stale(CURRENT)


def _changed(view: CodeView, paths: Sequence[str], fresh: Fresh) -> int:
    """How many of these files differ; of the first ``READ`` by content, since a file that was only touched is as it was."""
    touched = sum(fresh(row) is Freshness.fresh for path in paths[:READ] if (row := view.file_at(path)) is not None)
    return len(paths) - touched


def _moved(root: Path, view: CodeView) -> Iterable[str]:
    """Whether another commit is checked out than the one the index was read at."""
    if git.open_repo(root) is None:
        return
    now, then = git.head_ref(root).commit, read_at(view)
    same = bool(now and then) and (now.startswith(then) or then.startswith(now))
    if not same and (now or then):
        yield f"the commit checked out is {now or 'none'}, the index was read at {then or 'none'}"


def _rules(view: CodeView, indexer: Indexer) -> Iterable[str]:
    then, now = list(view.meta.get("made_with", [])), indexer.made_with()
    if then != now:
        named = [part for part, old, new in zip(_PARTS, then, now, strict=False) if old != new]
        yield f"{', '.join(named) or 'what decides an index'} changed since"


def read_at(view: CodeView) -> str:
    """The abbreviated commit an index was read at. To commit what was indexed already makes no new generation, so it is asked anew."""
    return commit_of(str(view.db.meta_get("ref", "")))


def commit_of(ref: str) -> str:
    """The abbreviated commit in what an index says it was read at (``main@1a2b3c4``); "" before the first commit."""
    return (
        ref.rpartition("@")[2] if "@" in ref else ref if ref and all(char in "0123456789abcdef" for char in ref) else ""
    )
