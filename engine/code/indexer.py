"""The indexer: disk → facts → links → one published generation. The only writer of ``index.db``.

Called by ``workspace``. Steps: listing, ingest in worker processes, then ``publish`` in one transaction. What may not come in:
rules of a language, SQL, surfaces; parsers are imported only when a file has to be read.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mog.engine.code import scan, toolchain
from mog.engine.code.account import scan_record
from mog.engine.code.factsview import FactsCache
from mog.engine.code.scip.sources import found, is_source
from mog.engine.config import EngineConfig
from mog.engine.contracts.pack import own_digest
from mog.engine.errors import IndexMissing
from mog.engine.heap import uncollected
from mog.engine.model import Progress
from mog.engine.ontology import Ontology
from mog.engine.roots import folder_mark
from mog.engine.store.index_db import IndexDB, discard
from mog.engine.store.lock import WriterLock
from mog.engine.store.schema import FileRow

if TYPE_CHECKING:
    from mog.engine.code.ingest import Ingested, Job
    from mog.engine.code.scip.table import Plan

Report = Callable[[Progress], None]
Early = Callable[["Outcome"], None]
# When more files than this changed, and more than half of all, one pass over everything beats look-ups file by file.
BULK_FROM = 300
FEW = 20
# The first index of a repository of so many files serves the first of them that were read, and all of it when all is read.
EARLY_FILES = 2_000
EARLY_READ = 40


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one run did.

    Attributes:
        generation: generation served now.
        changed: whether a new one was published.
        parsed, relinked: files read, files whose links were made anew.
        paths: files that were added, changed or removed.
    """

    generation: int
    changed: bool = False
    parsed: int = 0
    relinked: int = 0
    paths: tuple[str, ...] = ()


class _Run(NamedTuple):
    """How a run is to be done: worker processes, who hears of its progress, and of the first files that are served."""

    workers: int
    tell: Report
    early: Early | None = None


class Known(Mapping[str, scan.Known]):
    """The rows of the index as ``scan`` wants them: looked up one by one, or all at once when somebody iterates."""

    def __init__(self, db: IndexDB) -> None:
        self._db = db
        self._all: dict[str, scan.Known] | None = None

    def _rows(self) -> dict[str, scan.Known]:
        if self._all is None:
            self._all = {os.fsdecode(row[0]): (row[7], *row[3:7]) for row in self._db.file_stats()}
        return self._all

    def __getitem__(self, path: str) -> scan.Known:
        if self._all is not None:
            return self._all[path]
        row = self._db.file_by_path(os.fsencode(path))
        if row is None:
            raise KeyError(path)
        return (row.oid, row.size, row.mtime_ns, row.ctime_ns, row.inode)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows())

    def __len__(self) -> int:
        return len(self._rows())


class Indexer:
    """Builds and keeps the index of one worktree. Threads of one process take turns; another process is refused.

    Args:
        root: top of the worktree. mog_dir: its ``.mog`` folder.
    """

    def __init__(self, root: Path, mog_dir: Path, ontology: Ontology, config: EngineConfig) -> None:
        self.root = root
        self.mog_dir = mog_dir
        self.db_path = mog_dir / "index.db"
        self.ontology = ontology
        self.config = config
        self.held = FactsCache()
        self.contracts = mog_dir / "contracts"
        self._turn = threading.Lock()

    def run(
        self, *, full: bool = False, workers: int = 0, progress: Report | None = None, early: Early | None = None
    ) -> Outcome:
        """Bring the index up to the disk; publish a new generation if anything changed.

        Args:
            early: told when the first files of a large repository are served, long before the rest is.

        Raises:
            HeldByOther: another process indexes. GitRefused: git cannot list. ProviderError: sources, but no grammar loads.
        """
        tell = progress or _silent
        with self._turn, WriterLock(self.mog_dir / "lock"), self._open() as db:
            tell(Progress("listing", 0, 0))
            known = None if full or self._outdated(db) else Known(db)
            listing = self._list(known, db.meta_get("scan_state", "") if known is not None else "")
            if known is not None and _mostly_new(listing):
                known, listing = None, self._list(None, "")
            return self._bring_up(db, listing, known is None, _Run(workers or self._workers(), tell, early))

    def run_paths(self, paths: Iterable[str]) -> Outcome | None:
        """Bring named, already indexed files up to the disk; None when only a full run can tell. Raises HeldByOther.

        A path that is neither in the index nor on the disk (an editor's temporary file) counts for nothing.
        """
        with self._turn, WriterLock(self.mog_dir / "lock"), self._open() as db:
            named = [(path, db.file_by_path(os.fsencode(path))) for path in paths]
            if any(is_source(path, self.config.scip) for path, _ in named):
                return None
            rows = [row for path, row in named if row is not None or os.path.lexists(self.root / path)]
            jobs = [_job_if_changed(self.root, row) for row in rows if row is not None and row.status != "gated"]
            if len(jobs) < len(rows) or any(job is _ASK for job in jobs) or self._outdated(db):
                return None
            wanted = [job for job in jobs if job]
            told = self._told(db, False, [path for path, _ in named])
            if not wanted and (told is None or not told.due):
                return Outcome(db.generation)
            return self._apply(db, wanted, [], None, False, _Run(1, _silent), told)

    def pending(self, db: IndexDB) -> int:
        """How many files the disk and the index disagree about."""
        told = self._told(db, False, ())
        return len(self.differing(db)) + (told is not None and told.reload)

    def differing(self, db: IndexDB) -> list[str]:
        """Paths of files that a run would read, or drop: of some it would find that only their times differ."""
        listing = self._list(Known(db), "")
        return [*(entry.path for entry in listing.entries), *listing.removed]

    def _told(self, db: IndexDB, fresh: bool, only: Sequence[str] | None = None) -> Plan | None:
        """What SCIP indexes ask of a run (``only``: look at these files); None where there are none and were none."""
        if not found(self.root, self.config.scip) and not db.meta_get("scip"):
            return None
        from mog.engine.code.scip import table

        return table.plan(db, self.root, self.config.scip, fresh=fresh, only=only)

    def files(self) -> list[str]:
        """Paths of all files as they are listed now, whatever the index holds."""
        return [entry.path for entry in self._list(None, "").entries]

    def _list(self, known: Known | None, state: str) -> scan.ScanResult:
        stored = bytes.fromhex(state) if state else b""
        return scan.list_files(
            self.root, exclude=(*_only(self.config.include), *self.config.exclude), known=known, state=stored
        )

    def _bring_up(self, db: IndexDB, listing: scan.ScanResult, fresh: bool, run: _Run) -> Outcome:
        from_scan: list[Job] = []
        if listing.entries:
            from mog.engine.code.ingest import Job

            from_scan = [Job(entry.path, entry.language, entry.parse, entry.oid, entry.size) for entry in listing.entries]
            if fresh:
                from_scan = self._leading_first(from_scan)
        told = self._told(db, fresh)
        if from_scan or listing.removed or fresh or (told is not None and told.due):
            return self._apply(db, from_scan, listing.removed, listing, fresh, run, told)
        self._note(db, listing)
        return Outcome(db.generation)

    def _leading_first(self, jobs: list[Job]) -> list[Job]:
        """What the frameworks that the manifests name are explained by comes first; the rest keeps its order."""
        from mog.engine.contracts.first import leading
        from mog.engine.contracts.pack import load_readable

        first = leading(load_readable(os.fspath(self.contracts)), self.root, [job.path for job in jobs])
        return sorted(jobs, key=lambda job: job.path not in first) if first else jobs

    def _note(self, db: IndexDB, listing: scan.ScanResult) -> None:
        """Nothing to read: renew what the listing itself says, if it differs."""
        record = scan_record(listing)
        stored = db.meta_all()
        same = all(stored.get(name) == value for name, value in record.items())
        if same and not listing.restamped:
            return
        with db.transaction():
            db.meta_set(record)
            for path, row in listing.restamped:
                found = db.file_by_path(os.fsencode(path))
                if found is not None and found.status != "gated":
                    db.files_touch([(*row[1:], row[0], found.id)])

    def _apply(
        self, db: IndexDB, jobs: Sequence[Job], removed: Sequence[str], listing: scan.ScanResult | None,
        fresh: bool, run: _Run, told: Plan | None,
    ) -> Outcome:  # fmt: skip
        from mog.engine.code.publish import Publication
        from mog.engine.store import snapshot

        with uncollected():
            by_path = {job.path: job for job in jobs}
            first = None
            if run.early is not None and not db.generation and len(jobs) >= EARLY_FILES:
                first = partial(self._serve_first, db, by_path, listing, run.early)
            made = self._ingest(jobs, run, first) if jobs else []
            new, same, left_out = (made, [], []) if fresh else _sorted_out(db, made, by_path)
            run.tell(Progress("linking", 0, 0))
            with db.transaction():
                db.files_touch(same)
                db.files_put(left_out)
                if new or removed or fresh or (told is not None and told.due):
                    outcome = Publication(db, self, new, by_path, removed, listing, fresh, run.tell, told).publish()
                else:
                    outcome = Outcome(db.generation)
                    db.meta_set(scan_record(listing) if listing is not None else {})
        if len(new) > FEW:
            snapshot.tidy(db)  # after a few files SQLite folds its log back by itself, when that is due
        return replace(outcome, parsed=len(made))

    def _serve_first(
        self, db: IndexDB, jobs: Mapping[str, Job], listing: scan.ScanResult | None, early: Early, made: Sequence[Ingested]
    ) -> None:
        """A generation of the files read so far: it says how many are missing, and no run takes it for up to date."""
        from mog.engine.code.publish import Publication

        some = [replace(one) for one in sorted(made, key=lambda one: one.path)]  # a publication lets go of what it has written
        with db.transaction():
            outcome = Publication(db, self, some, jobs, [], listing, True, _silent).publish()
            db.meta_set({"unread": len(jobs) - len(some)})
        early(outcome)

    def _ingest(
        self, jobs: Sequence[Job], run: _Run, first: Callable[[list[Ingested]], None] | None
    ) -> list[Ingested]:
        from mog.engine.code.ingest import Limits, ingest_all

        made: list[Ingested] = []
        limits = Limits(self.config.max_file_bytes, self.config.allow_secret_content, os.fspath(self.contracts))
        for one in ingest_all(os.fspath(self.root), jobs, limits, run.workers):
            made.append(one)
            run.tell(Progress("reading", len(made), len(jobs)))
            if first is not None and len(made) >= EARLY_READ and any(each.status == "source" for each in made):
                first(made)
                first = None
        made.sort(key=lambda one: one.path)
        return made

    def _workers(self) -> int:
        return self.config.workers or min(8, os.cpu_count() or 1)

    def _outdated(self, db: IndexDB) -> bool:
        """Whether the index was made by other extractors, grammars, rules or settings than today's, is empty, or never got whole."""
        return bool(db.meta_get("made_with") != self.made_with() or db.meta_get("unread"))

    def made_with(self) -> list[str]:
        """What decides an index besides the files: tools, GRAPH.md, settings, the project's rule packs, and the folder it was made for.

        The folder goes by its inode, which no repository can know: an index that came with a clone is not believed.
        """
        settings = repr((self.config.project, self.config.max_file_bytes, self.config.allow_secret_content))
        return [
            toolchain.mark(),
            self.ontology.digest,
            settings,
            own_digest(os.fspath(self.contracts)),
            folder_mark(self.root),
        ]

    def _open(self) -> IndexDB:
        try:
            return IndexDB.open(self.db_path, write=True, create=True)
        except IndexMissing:
            discard(self.db_path)
            return IndexDB.open(self.db_path, write=True, create=True)


_ASK: Any = object()


def _job_if_changed(root: Path, row: FileRow) -> Job | None:
    """A job for a known file that is not as its row says, None when it is, ``_ASK`` when the listing must be asked."""
    from mog.engine.code.ingest import Job
    from mog.engine.code.languages_map import text_only_by_name

    path = os.fsdecode(row.path)
    try:
        info = (root / path).lstat()
    except OSError:
        return _ASK  # type: ignore[no-any-return]
    if not os.path.isfile(root / path) or (root / path).is_symlink():
        return _ASK  # type: ignore[no-any-return]
    if row.mtime_ns and row[6:10] == (info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino):
        return None
    return Job(path, row.lang, not text_only_by_name(path), None, info.st_size)


Touch = tuple[int, int, int, int, bytes | None, int]


def _sorted_out(
    db: IndexDB, made: Sequence[Ingested], jobs: Mapping[str, Job]
) -> tuple[list[Ingested], list[Touch], list[FileRow]]:
    """What really differs from the index, new stats for what does not (a touched file, a commit of what was indexed), and rows
    of new files that turned out to have no place in the graph: they are counted, and publish nothing."""
    new: list[Ingested] = []
    same: list[Touch] = []
    left_out: list[FileRow] = []
    number = db.next_file()
    for one in made:
        row = db.file_by_path(os.fsencode(one.path))
        now = (one.status, one.language, one.reason, one.key or None, one.digest)
        if row is None and one.status == "skipped" and one.reason != "vanished":
            left_out.append(one.row(number + len(left_out), jobs[one.path].oid))
        elif row is None or now != (row.status, row.lang, row.reason, row.facts, row.digest):
            new.append(one)
        else:
            size, mtime_ns, ctime_ns, inode = one.stat
            same.append((size, mtime_ns, ctime_ns, inode, one.oid(jobs[one.path].oid), row.id))
    return new, same, left_out


def _only(include: Sequence[str]) -> tuple[str, ...]:
    """Patterns that leave out every file but those of ``include``."""
    return ("*", "!*/", *(f"!{pattern}" for pattern in include)) if include else ()


def _mostly_new(listing: scan.ScanResult) -> bool:
    touched = len(listing.entries) + len(listing.removed)
    return touched > BULK_FROM and touched > listing.unchanged


def _silent(_: Progress) -> None:
    return None
