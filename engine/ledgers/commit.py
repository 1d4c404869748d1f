"""What one transaction writes: events, their leaves, records, the head; and the step from format 1. Called by the log.

What may not come in: BEGIN and COMMIT (the log has them), decisions about what an event means: the caller brings the
puts of each event, or a fold that derives them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import apsw

from mog.engine.errors import StoreDamaged
from mog.engine.ledgers import chain, files, merkle, records, schema
from mog.engine.ledgers.chain import Event, Head
from mog.engine.ledgers.proofs import STORED_FROM, StoredTree
from mog.engine.ledgers.records import Put, Records

Fold = Callable[[Event], Iterable[Put]]
"""What an event does to the records. Called for every event in order, from the first on; it may keep state."""

Puts = Mapping[str, list[records.Change]]
WRONG_STATE = "the records do not add up to the head's state root"
_WRONG_ROOT = "the Merkle tree is not that of the head"


@dataclass(frozen=True, slots=True)
class Step:
    """One event to record, with what it does to the records.

    Attributes:
        type: such as ``claim.made``.
        data: a JSON object; with the rest of the event at most 16 MiB of canonical text.
        puts: changes of records; of several for one key the last counts.
    """

    type: str
    data: Mapping[str, Any]
    puts: tuple[Put, ...] = ()


@dataclass(frozen=True, slots=True)
class Draft:
    """A step that was checked and can be written."""

    text: bytes
    puts: Puts

    @classmethod
    def of(cls, step: Step) -> Draft:
        """Raises UsageError for what cannot be recorded."""
        return cls(chain.text_of(step.type, step.data), records.checked(step.puts))


class Tail:
    """The end of the log, where events are added in an open transaction.

    What it remembers (head, tops of the tables, right edge of the Merkle tree) still holds in a later transaction of the
    same connection when nobody else has written since: ``current`` says so, and the head is swapped only for the one it
    knows. It must not be used again after a transaction that was not committed.

    Attributes:
        head: where the log stands.
        ledger: its name.
    """

    def __init__(self, db: apsw.Connection, head: Head, where: str, ledger: str = "") -> None:
        """Raises StoreDamaged when records or Merkle tree do not add up to the head, or a row it needs is missing."""
        self.head = head
        self.ledger = ledger
        self._db = db
        self._where = where
        self._seq = head.seq
        self._digest = bytes.fromhex(head.digest)
        self._records = Records(db, where)
        self._state = self._records.state()
        if self._state.hex() != head.state:
            raise StoreDamaged(WRONG_STATE, where=where, way_out=records.WAY_OUT)
        self._edge = merkle.Frontier(head.seq, StoredTree(db, where).subtree)
        if self._edge.root().hex() != head.root:
            raise StoreDamaged(_WRONG_ROOT, where=where, way_out=files.WAY_OUT)
        self._seen = -1

    def current(self, db: apsw.Connection) -> bool:
        """Whether what it remembers is what the file says, on a connection that has just looked at it."""
        return db is self._db and db.data_version() == self._seen

    def committed(self) -> None:
        """Its transaction was committed, on a connection that is still open; from now on ``current`` can say yes."""
        self._seen = self._db.data_version()

    def add(self, draft: Draft, when: str) -> Event:
        """Write one event and what follows from it."""
        seq = self._seq + 1
        digest = chain.event_digest(self._digest, seq, draft.text)
        row = (seq, chain.stored(draft.text), digest, when, chain.seal_of(digest, when, schema.VERSION))
        self._db.execute("INSERT INTO events VALUES(?, ?, ?, ?, ?)", row)
        self.follow(seq, digest, draft.puts)
        return chain.event_of((seq, draft.text, digest, when), self._where)

    def follow(self, seq: int, digest: bytes, puts: Puts) -> None:
        """Write what follows from an event that stands already: records, state root, leaf."""
        before, self._state = self._state, self._records.apply(puts)
        self._seq, self._digest = seq, digest
        self._db.execute("INSERT INTO states VALUES(?, ?)", (seq, self._state))
        for level, index, found in self._edge.add(merkle.leaf_hash(chain.leaf_data(digest, before, self._state))):
            if level >= STORED_FROM:
                self._db.execute("INSERT INTO subtrees VALUES(?, ?, ?)", (level, index, found))

    def finish(self) -> Head:
        """Write the head; the head from now on. Raises HeldByOther when it is no longer the one we began with."""
        self._records.write()
        root = self._edge.root()
        old = (self.head.seq, bytes.fromhex(self.head.digest))
        query = "UPDATE head SET seq = ?, digest = ?, root = ?, state = ? WHERE one = 1 AND seq = ? AND digest = ?"
        self._db.execute(query, (self._seq, self._digest, root, self._state, *old))
        if self._db.changes() != 1:
            raise files.held(self._where)
        self.head = Head(self._seq, self._digest.hex(), root.hex(), self._state.hex())
        return self.head


def read_head(db: apsw.Connection, version: int) -> Head:
    """The head, compared with the last event and the last state root. Raises StoreDamaged."""
    if version == 1:
        row = db.execute("SELECT seq, digest, x'', x'' FROM head").fetchone()
    else:
        row = db.execute("SELECT seq, digest, root, state FROM head").fetchone()
    if row is None or not all(isinstance(value, bytes) for value in row[1:]) or row[:2] != chain.last(db):
        raise StoreDamaged("the head is not the last event", where=db.filename, way_out=files.WAY_OUT)
    head = Head(int(row[0]), row[1].hex(), row[2].hex(), row[3].hex())
    if version > 1 and StoredTree(db, db.filename).state_at(head.seq) != row[3]:
        raise StoreDamaged("the head has another state root", where=db.filename, way_out=records.WAY_OUT)
    return head


def ledger_id(db: apsw.Connection, version: int, where: str) -> str:
    """The name of the ledger; "" in a file of format 1. Raises StoreDamaged when it was harmed."""
    row = db.execute("SELECT ledger FROM head").fetchone() if version > 1 else ("",)
    if version > 1 and not (row and schema.is_id(row[0])):
        raise StoreDamaged("the name of the ledger was changed", where=where, way_out=files.WAY_OUT)
    return str(row[0]) if row else ""


def upgrade(db: apsw.Connection, where: str, fold: Fold | None) -> None:
    """Make a file of format 1 one of format 2 by replaying its events; part of the first transaction that writes.

    Raises:
        StoreDamaged: an event or the head does not hold; the caller rolls back, and the file stays as it is.
    """
    read_head(db, 1)
    events = list(chain.checked(db, where, 1))
    texts = [chain.restored(row[1]) for row in chain.rows(db)]
    for table in schema.FORMATS[1]:
        db.execute(f"DROP TABLE {table}")
    schema.initialise(db, schema.new_id())
    replay(db, zip(texts, events, strict=True), where, fold)


def replay(db: apsw.Connection, events: Iterable[tuple[bytes, Event]], where: str, fold: Fold | None) -> Head:
    """Record events (each with its text) in a file that has none, and what they do to the records; the head."""
    tail = Tail(db, Head(), where)
    for text, event in events:
        puts = records.checked(fold(event)) if fold is not None else {}
        tail.add(Draft(text, puts), event.recorded_at)
    return tail.finish()
