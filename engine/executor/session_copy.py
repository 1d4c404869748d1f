"""A consistent copy of a ledger, into nothing or over an older state of the same ledger. Called by ``session``.

What lives here: one transaction on the target that looks first and copies then, so nothing another process said there is lost
and a crash leaves the old state or the new one. What may not come in: what the records mean.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import apsw

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.ledgers import chain, commit, files, report, schema
from mog.engine.ledgers.access import LedgerFile
from mog.engine.ledgers.chain import MAX_BODY_BYTES, Head

_LARGEST = 2 * MAX_BODY_BYTES
_GROWING = ("events", "states")
"""Tables of which rows that are there never change."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did: name of the ledger, where the target stood and stands now."""

    ledger: str
    before: Head
    head: Head

    @property
    def changed(self) -> bool:
        """Whether anything was written."""
        return self.before != self.head


def copy_ledger(source: Path, target: Path) -> Copied:
    """Bring the ledger at ``target`` to the state of the one at ``source``; every digest of it is checked before it counts.

    Raises:
        UsageError: nothing is recorded in ``source``; ``target`` is another ledger, is ahead, or went another way.
        HeldByOther: another process is writing to ``target``. StoreDamaged: either is no sound ledger; the target is as it was.
    """
    _apart(source, target)
    with _reading(source) as (src, ledger, head):
        made: list[Copied] = []

        def change(db: apsw.Connection) -> None:
            before = _before(db, src, target, ledger, head)
            if before != head:
                _fill(db, src, before, ledger)
                _sound(db, head, target)
                db.execute("COMMIT")
            made.append(Copied(ledger, before, head))

        file = LedgerFile(target, _LARGEST, lambda *_: None)
        try:
            file.write(change)
        finally:
            file.close()
    return made[0]


def _apart(source: Path, target: Path) -> None:
    with contextlib.suppress(OSError):
        if target.exists() and source.samefile(target):
            raise UsageError("a ledger is not copied onto itself", where=str(target), way_out="name another folder")


@contextlib.contextmanager
def _reading(source: Path) -> Iterator[tuple[apsw.Connection, str, Head]]:
    """A connection that sees one committed state of a ledger, with its name and head."""
    where = str(source)
    if files.examine(source) is None:
        raise UsageError("no ledger there", where=where, way_out="name a folder that `mog session save` wrote")
    try:
        db = files.open_reader(source, _LARGEST)
    except apsw.Error as error:
        raise files.mapped(error, where) from error
    try:
        db.execute("BEGIN")
        version = schema.version_of(db, where)
        head = commit.read_head(db, version) if version else Head()
        if not head.seq:
            raise UsageError("nothing is recorded there yet", where=where, way_out="record something first")
        if version != schema.VERSION:
            raise UsageError("a ledger of an earlier format", where=where, way_out="record something in it first")
        yield db, commit.ledger_id(db, version, where), head
    except (apsw.Error, UnicodeError) as error:
        raise files.mapped(error, where) from error
    finally:
        db.close()


def _before(db: apsw.Connection, src: apsw.Connection, target: Path, ledger: str, head: Head) -> Head:
    """Where the target stands; refused unless that is a state that the source has been in."""
    where = str(target)
    version = schema.version_of(db, where)
    if version == 0:
        return Head()
    if version != schema.VERSION:
        raise UsageError("a ledger of an earlier format stands there", where=where, way_out="name an empty folder")
    before, name = commit.read_head(db, version), commit.ledger_id(db, version, where)
    if before.seq == 0:
        return before
    if name != ledger:
        raise UsageError("another ledger stands there", where=where, way_out="name an empty folder; nothing was touched")
    if before.seq > head.seq:
        raise UsageError("what stands there is newer", where=where, way_out="nothing was touched; copy it the other way")
    if chain.digest_at(src, before.seq, where).hex() != before.digest:
        what = f"what stands there went another way after a common beginning (event {before.seq})"
        raise UsageError(what, where=where, way_out="name an empty folder; nothing was touched")
    return before


def _fill(db: apsw.Connection, src: apsw.Connection, before: Head, ledger: str) -> None:
    if schema.version_of(db, "") == 0:
        schema.initialise(db, ledger)
    for table in schema.FORMATS[schema.VERSION]:
        only = f"WHERE seq > {before.seq:d}" if table in _GROWING else ""
        db.execute(f"DELETE FROM {table} {only}")
        rows = src.execute(f"SELECT * FROM {table} {only}")
        first = next(rows, None)
        if first is not None:
            marks = ", ".join("?" * len(first))
            db.executemany(f"INSERT INTO {table} VALUES({marks})", itertools.chain((first,), rows))


def _sound(db: apsw.Connection, head: Head, target: Path) -> None:
    """What was copied is checked whole before it is committed."""
    where = str(target)
    found = report.check(db, schema.VERSION, where, None)
    if not found.ok or commit.read_head(db, schema.VERSION) != head:
        what = f"the ledger that was to be copied does not hold: {found.reason or 'its head moved'}"
        raise StoreDamaged(what, where=where, way_out="run `mog doctor` on it; nothing was copied")
