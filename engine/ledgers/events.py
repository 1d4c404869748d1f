"""The append-only event log in ``ledger.db``: what people and agents said, in the order they said it, and what it adds up to.

Called by pins and the belief engine. What may not come in: the meaning of events and records, updates or deletes of
events, clocks (the caller says when). Two processes never wait for each other: a second writer is refused at once, a
reader reads the last committed state.

Events are the truth (``chain``). In the transaction that records them the log also writes the records they change
(``records``), the state root over these (``state_root``), the Merkle tree over the events (``merkle``, ``proofs``) and
the head. All of that is derived and can be made anew (``report``). Chain, tree and root show whoever knows an earlier
head or checkpoint that a record was changed, dropped, moved or put in; somebody who rewrites the whole file and is not
held against anything older leaves no mark in it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import apsw

from mog.engine.errors import HeldByOther, MogError, NotFound, StoreDamaged, UsageError
from mog.engine.ledgers import asked, chain, commit, files, proofs, report, schema, signed
from mog.engine.ledgers.access import LedgerFile
from mog.engine.ledgers.chain import MAX_BODY_BYTES, Event, Head, event_digest
from mog.engine.ledgers.checkpoints import Checkpoint, Signer
from mog.engine.ledgers.commit import Draft, Fold, Step, Tail
from mog.engine.ledgers.proofs import StoredTree
from mog.engine.ledgers.records import Put, Records, Row
from mog.engine.ledgers.report import ChainCheck
from mog.engine.ledgers.schema import APPLICATION_ID, VERSION
from mog.engine.ledgers.signed import Signature
from mog.engine.ledgers.witness import Witness

__all__ = [
    "APPLICATION_ID", "MAX_BODY_BYTES", "VERSION", "ChainCheck", "Event", "EventLog", "Fold", "Head", "Put", "Step",
    "event_digest",
]  # fmt: skip

_LARGEST = 2 * MAX_BODY_BYTES
_PAGE = 512


class EventLog:
    """The log of one file. Safe from any thread; opens nothing before it is asked, creates nothing before a write.

    Attributes:
        path: the file.
        unwitnessed: why the witness could not remember the last commit, None when it could. The commit stands.
    """

    def __init__(
        self, path: Path, *, fold: Callable[[], Fold] | None = None, witness: Witness | None = None,
        signer: Signer | None = None,
    ) -> None:  # fmt: skip
        """Nothing is opened or made yet.

        Args:
            path: the file, usually ``.mog/ledger.db``; its folder is made at the first write.
            fold: makes a fresh replay; needed when a file of format 1 is read as records or upgraded.
            witness: is shown the ledger when it is opened and after every commit.
            signer: signs a checkpoint in every commit.
        """
        self.path = path
        self.unwitnessed: MogError | None = None
        self._fold = fold
        self._witness = witness
        self._signer = signer
        self._file = LedgerFile(path, _LARGEST, self._hold_against_witness)
        self._tail: Tail | None = None
        self._named = self._file.named

    def close(self) -> None:
        """Give the file back. The log opens it again when it is next used."""
        self._tail = None
        self._file.close()

    def __enter__(self) -> EventLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- reading

    def head(self) -> Head:
        """Where the log stands. Raises StoreDamaged."""
        return self._file.glance(self._unmoved) or self._file.read(commit.read_head, Head())

    def _unmoved(self, db: apsw.Connection) -> Head | None:
        """The head of our last commit, where nobody has written since."""
        tail = self._tail
        return tail.head if tail is not None and tail.current(db) else None

    @property
    def id(self) -> str:
        """The name of this ledger, 32 hex digits; "" before the first write and in a file of format 1."""
        return self._file.read(lambda db, version: commit.ledger_id(db, version, self._named), "")

    def events(self, after: int = 0, limit: int = 0) -> Iterator[Event]:
        """Events with numbers above ``after``, in order, each checked against the chain; all, or at most ``limit``.

        Read page by page, each page from one committed state. Raises StoreDamaged at the first that does not hold.
        """
        left = limit or -1
        while left:
            want = _PAGE if left < 0 else min(_PAGE, left)
            page = self._page(after, want)
            yield from page
            if len(page) < want:
                return
            after, left = page[-1].seq, left - len(page) if left > 0 else left

    def _page(self, after: int, want: int) -> list[Event]:
        empty: list[Event] = []
        return self._file.read(lambda db, version: report.page(db, after, want, version, self._named), empty)

    def get(self, table: str, key: str) -> bytes | None:
        """The body of one record, compared with the tree; None when there is none. Raises StoreDamaged."""

        def ask(db: apsw.Connection, version: int) -> bytes | None:
            if version == 1:
                return next((body for *at, body in self._replayed(db) if at == [table, key]), None)
            return Records(db, self._named).get(table, key)

        return self._file.read(ask, None)

    def load(self) -> tuple[Head, Iterator[Row]]:
        """The head, and every record as (table, key, body), both of one committed state.

        Tables come by name, and records in the order of their tree, which means nothing. Each record was compared with
        the state root before it is given out; that none is lacking is known when the iterator ends. It keeps a connection
        of its own until then, or until it is dropped; commits go on meanwhile.

        Raises:
            StoreDamaged: now or from the iterator; what it gave out before is not to be used then.
        """
        connection = self._file.own_reader()
        if connection is None:
            return Head(), iter(())
        rows = self._rows(connection)
        head = next(rows)
        assert isinstance(head, Head)
        return head, rows  # type: ignore[return-value]

    def _rows(self, db: apsw.Connection) -> Iterator[Head | Row]:
        try:
            db.execute("BEGIN")
            version = self._file.version(db)
            if version:
                self._hold_against_witness(db, version)
            head = commit.read_head(db, version) if version else Head()
            if version > 1:
                report.quick(db, head, self._named)
            yield head
            if version:
                yield from Records(db, self._named).rows() if version > 1 else self._replayed(db)
        except (apsw.Error, UnicodeError) as error:
            raise files.mapped(error, self._named) from error
        finally:
            db.close()

    def _replayed(self, db: apsw.Connection) -> Iterator[Row]:
        """Records of a file of format 1, which keeps none."""
        state: dict[tuple[str, str], bytes | None] = {}
        if self._fold is not None:
            fold = self._fold()
            for event in chain.checked(db, self._named, 1):
                state |= {(put.table, put.key): put.body for put in fold(event)}
        yield from ((table, key, body) for (table, key), body in sorted(state.items()) if body is not None)

    def verify(self, fold: Fold | None = None) -> ChainCheck:
        """Check each event, its canonical form, the chain, the head, the Merkle tree, state roots and records.

        With a fresh ``fold`` also replay: the state root after each event and each record must be what the events give.
        Raises StoreDamaged only when the file cannot be read as a ledger at all, or all holds and the witness saw more.
        """

        def ask(db: apsw.Connection, version: int) -> ChainCheck:
            found = report.check(db, version, self._named, fold)
            if found.ok:
                self._hold_against_witness(db, version)
            return found

        return self._file.read(ask, ChainCheck(0), look=False)

    # -- proofs and checkpoints

    def prove(self, seq: int) -> dict[str, Any]:
        """Proof that an event is in the log as it is now, as the JSON document that ``verify_ledger.py`` reads.

        Raises:
            NotFound: there is no such event.
            UsageError: the file is of format 1, which has no tree.
            StoreDamaged: what it would be made of was changed.
        """
        found = self._proved(lambda *about: proofs.prove(seq, *about))
        if found is None:
            raise NotFound(f"no event {seq}", where=self._named, way_out="the ledger is empty: record something first")
        return found

    def consistency(self, old: int) -> dict[str, Any]:
        """Proof that the first ``old`` events were not changed since there were only those, as a JSON document.

        Raises:
            UsageError: not 0 < old ≤ the number of events, or the file is of format 1.
            StoreDamaged: what it would be made of was changed.
        """
        found = self._proved(lambda *about: proofs.consistency(old, *about))
        if found is None:
            raise UsageError("the ledger is empty", where=self._named, way_out="record something first")
        return found

    def _proved(self, make: Callable[[apsw.Connection, Head, str, str], dict[str, Any]]) -> dict[str, Any] | None:
        def ask(db: apsw.Connection, version: int) -> dict[str, Any] | None:
            if version == 1:
                what = "a ledger of an earlier format has no proofs yet"
                raise UsageError(what, where=self._named, way_out="record something first")
            return make(db, commit.read_head(db, version), commit.ledger_id(db, version, self._named), self._named)

        return self._file.read(ask, None)

    def checkpoint(self, signer: Signer) -> str:
        """Sign what the log is now; the note, which is also kept in the file.

        Raises:
            UsageError: the log is empty.
            HeldByOther, StoreDamaged: as ``commit``.
        """

        def change(db: apsw.Connection) -> str:
            self._prepare(db)
            note = signed.write(db, signer, self._named)
            db.execute("COMMIT")
            return note

        return self._file.write(change)

    def signature(self, known: Iterable[bytes]) -> Signature | None:
        """Who signed the last checkpoint in the file, None when nobody did.

        ``known`` are the public keys that this person knows (``Keys.known``). Raises StoreDamaged when the checkpoint is
        not one of this ledger.
        """
        publics = tuple(known)
        return self._file.read(lambda db, version: signed.read(db, version, publics, self._named), None)

    def signer_known(self, known: Iterable[bytes]) -> bool:
        """Whether the last checkpoint in the file was signed with a key that this person knows. Raises StoreDamaged."""
        found = self.signature(known)
        return found is not None and found.known

    # -- writing

    def append(self, type: str, data: Mapping[str, Any], *, when: str, expected: Head | None = None) -> Event:
        """Record one event that changes no record; see ``commit``."""
        return self.commit([Step(type, data)], when=when, expected=expected)[0]

    def append_all(
        self, entries: Iterable[tuple[str, Mapping[str, Any]]], *, when: str, expected: Head | None = None
    ) -> tuple[Event, ...]:
        """Record events that change no records; see ``commit``."""
        return self.commit([Step(type, data) for type, data in entries], when=when, expected=expected)

    def commit(self, steps: Iterable[Step], *, when: str, expected: Head | None = None) -> tuple[Event, ...]:
        """Record events and what they do to the records, in one transaction.

        All of it is on the disk when this returns, or none is.

        Args:
            steps: in order; each gets a leaf with the state root before and after it.
            when: wall time for people, ISO 8601; no part of chain, tree or root.
            expected: the head the caller decided on. When the log has moved since, nothing is written.

        Raises:
            HeldByOther: another process is writing now, or has written since ``expected``.
            UsageError: a type, value, key or body that cannot be recorded.
            StoreDamaged: the file is damaged, foreign, or cannot be written. Nothing was recorded then, unless the
                message says that this could not be found out.
        """
        drafts = [Draft.of(asked.stamped(step)) for step in steps]
        chain.check_when(when)
        return self._file.write(lambda db: self._commit(db, drafts, when, expected))

    def _commit(self, db: apsw.Connection, drafts: list[Draft], when: str, expected: Head | None) -> tuple[Event, ...]:
        tail, self._tail = self._tail, None  # kept again when the commit is there
        made = False
        if tail is None or not tail.current(db):
            made = self._prepare(db)
            before, name = commit.read_head(db, VERSION), commit.ledger_id(db, VERSION, self._named)
            tail = Tail(db, before, self._named, name)
        if expected is not None and tail.head != expected:
            way_out = "read it again and retry"
            raise HeldByOther("the ledger has moved on since it was read", where=self._named, way_out=way_out)
        events = tuple(tail.add(draft, when) for draft in drafts)
        after = tail.finish()
        if self._signer is not None and after.seq:
            signed.write(db, self._signer, self._named)
        self._finish(db, after)
        if made:
            files.drain(db)
        if self._file.writer is db:
            tail.committed()
            self._tail = tail
        self._show(signed.checkpoint_of(tail.ledger, after))
        return events

    def _prepare(self, db: apsw.Connection) -> bool:
        """Make the tables of the current format where they are not; whether that was so."""
        version = self._file.version(db)
        if version == 0:
            schema.initialise(db, schema.new_id())
        elif version == 1:
            commit.upgrade(db, self._named, self._fold() if self._fold is not None else None)
        return version != VERSION

    def _finish(self, db: apsw.Connection, after: Head) -> None:
        """COMMIT. When it fails, the events are there or they are not: close, settle, look again, and say which."""
        try:
            db.execute("COMMIT")
        except apsw.Error as error:
            sure = self._file.settle()
            if sure and self._has(after):
                return
            what = "the commit failed and nothing was recorded" if sure else "the commit failed, and it cannot be told yet"
            way_out = "check free space and the disk, then retry" if sure else "check the disk, then read the ledger again"
            raise StoreDamaged(f"{what} ({error})", where=self._named, way_out=way_out) from error

    def _has(self, head: Head) -> bool:
        def ask(db: apsw.Connection, version: int) -> bool:
            there = version == VERSION and commit.read_head(db, version).seq >= head.seq
            return there and chain.digest_at(db, head.seq, self._named).hex() == head.digest

        return self._file.read(ask, False)

    def rebuild(self, fold: Fold | None = None) -> Head:
        """Make anew in one transaction what is derived, from events that all hold; the head afterwards.

        With a fresh ``fold`` that is everything; without one only the Merkle tree and the head. Events are never touched.

        Raises:
            StoreDamaged: an event does not hold, or records are needed and there is no fold.
            HeldByOther: another process is writing now.
        """

        def change(db: apsw.Connection) -> Head:
            version = self._file.version(db)
            head = report.rebuild(db, version, self._named, fold) if version else Head()
            db.execute("COMMIT")
            return head

        return self._file.write(change, look=False)

    def salvage(self, to: Path, fold: Fold | None = None) -> Head:
        """Write the events that hold, from the first on, and what they give into a new ledger of the same name at ``to``.

        For a file whose pages are damaged so that ``rebuild`` cannot work in it. This file is only read.

        Returns:
            The head of the new ledger: fewer events than there were when one does not hold or cannot be read.

        Raises:
            UsageError: there is something at ``to``.
            StoreDamaged: not one event can be read, or the new file cannot be written.
        """
        if os.path.lexists(to):
            raise UsageError("there is a file already", where=str(to), way_out="name one that is not there")

        def ask(db: apsw.Connection, version: int) -> tuple[str, list[tuple[bytes, Event]]]:
            return report.name_of(db, self._named), report.sound_beginning(db, version, self._named)

        nothing: tuple[str, list[tuple[bytes, Event]]] = ("", [])
        name, events = self._file.read(ask, nothing, look=False)
        if not events:
            raise StoreDamaged("no event can be read", where=self._named, way_out="restore the ledger from a copy")

        def change(db: apsw.Connection) -> Head:
            schema.initialise(db, name)
            head = commit.replay(db, events, str(to), fold)
            db.execute("COMMIT")
            return head

        new = LedgerFile(to, _LARGEST, lambda *_: None)
        try:
            return new.write(change)
        finally:
            new.close()

    def repair_head(self) -> Head:
        """``rebuild`` without a fold."""
        return self.rebuild()

    # -- the witness

    def _show(self, now: Checkpoint) -> None:
        """Have the witness remember; the commit stands whether it can or not."""
        if self._witness is not None and now.size:
            try:
                self._witness.keep(now)
                self.unwitnessed = None
            except MogError as error:
                self.unwitnessed = error

    def _hold_against_witness(self, db: apsw.Connection, version: int) -> None:
        """Raises StoreDamaged. What another process wrote since this state was read may have been seen already: then a state that
        is read after what was seen decides."""
        if self._witness is None or version < 2:
            return
        try:
            self._witness.check(self._checkpoint(db, version), StoredTree(db, self._named).root)
        except StoreDamaged:
            seen = self._witness.last(commit.ledger_id(db, version, self._named))
            later = self._file.own_reader()
            if later is None:
                raise
            try:
                later.execute("BEGIN")
                self._witness.check(self._checkpoint(later, version), StoredTree(later, self._named).root, seen)
            finally:
                later.close()

    def _checkpoint(self, db: apsw.Connection, version: int) -> Checkpoint:
        return signed.checkpoint_of(commit.ledger_id(db, version, self._named), commit.read_head(db, version))
