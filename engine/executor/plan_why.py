"""Why a task of a plan runs again: each thing it read that is another one now, and the path by which it concerns the task.

Called by ``engine/work.py``. What may not come in: writes, running, text for one surface.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mog.engine import ids
from mog.engine.errors import MogError
from mog.engine.executor import keys, plan_globs
from mog.engine.executor.context import Source
from mog.engine.executor.plan_file import QUERIES, PlanTask
from mog.engine.executor.plan_reads import CONTENT, PlanReads
from mog.engine.executor.traces import Read, Trace, digest, settle, trace_of
from mog.engine.reason.mesh import Mesh

SHOWN = 20
"""Reasons told of one task."""


@dataclass(frozen=True, slots=True)
class Because:
    """One thing that is not what the last run read.

    Attributes:
        kind: ``content`` (of a file), ``files``, ``uses``, ``affected``, ``tests`` (which files are meant), ``outputs``,
            ``variable``, ``command``, ``bundle``. key: what was asked for.
        change: ``changed``, ``new`` or ``gone``, the last two of files.
        chain: files from where the query began to the one that changed; empty where no query leads to it.
        by: the input that brought it in: ``uses tests/test_cart.py``.
    """

    kind: str
    key: tuple[str, ...]
    change: str = "changed"
    chain: tuple[str, ...] = ()
    by: str = ""


def trace(mesh: Mesh, plan: str, task: str) -> Trace | None:
    """What the last run of a task read, None when there was none."""
    with mesh.locked():
        key = keys.task(plan, task)
        row = mesh.tables.rows["trace"].get(key)
        return trace_of(row, f"trace {key}") if row is not None else None


def reasons(found: Trace, task: PlanTask, reads: PlanReads, sources: Mapping[str, Source]) -> tuple[Because, ...]:
    """What of a task's reads is another thing now, in the order of reads, and files that came in since. At most 20."""
    changed = [read for read in found.reads if read.kind in sources and not _same(read, sources)]
    seen = {ids.unescape(read.key[0]) for read in found.reads if read.kind == CONTENT}
    told = [_because(read, task, reads) for read in changed[:SHOWN]]
    if seen and any(read.kind in (*QUERIES, "files") for read in changed):
        told += [_file(path, task, reads, "new") for path in _paths(task, reads) if path not in seen]
    return tuple(told[:SHOWN])


def _same(read: Read, sources: Mapping[str, Source]) -> bool:
    try:
        now = sources[read.kind](*read.key)
        return digest(now if now is None or isinstance(now, bytes) else settle(now, read.kind)) == read.digest
    except (MogError, OSError):  # what cannot be read now is not what was read
        return False


def _paths(task: PlanTask, reads: PlanReads) -> Iterable[str]:
    try:
        return reads.paths(task.inputs)
    except MogError:
        return ()


def _because(read: Read, task: PlanTask, reads: PlanReads) -> Because:
    if read.kind != CONTENT:
        return Because(read.kind, read.key)
    path = ids.unescape(read.key[0])
    return _file(path, task, reads, "changed" if reads.content(read.key[0]) else "gone")


def _file(path: str, task: PlanTask, reads: PlanReads, change: str) -> Because:
    """A file with the shortest path on which a query comes to it."""
    key = (ids.escape(path),)
    ways = []
    for query, target in task.inputs.queries:
        try:
            found = reads.found(query, target).chain(path)
        except MogError:
            continue
        if found:
            ways.append((len(found), f"{query} {target}", found))
    if ways:
        _, by, found = min(ways)
        return Because(CONTENT, key, change, tuple(ids.escape(step) for step in found), by)
    pattern = next((one for one in task.inputs.files if plan_globs.matches(one, path)), "")
    return Because(CONTENT, key, change, (), f"files {pattern}" if pattern else "")
