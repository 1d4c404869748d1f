"""Full checks of a ledger, and the making anew of what is derived. Called by the log.

What may not come in: writes outside ``rebuild``, which never touches an event. Every flaw names the event, the record
or the row that does not hold.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import apsw

from mog.engine.errors import StoreDamaged
from mog.engine.ledgers import chain, commit, files, merkle, records, schema, signed, state_root
from mog.engine.ledgers.chain import Event, Head
from mog.engine.ledgers.commit import Fold
from mog.engine.ledgers.proofs import STORED_FROM, StoredTree
from mog.engine.ledgers.records import Records

MOST_FLAWS = 100


@dataclass(frozen=True, slots=True)
class Flaw:
    """One thing that does not hold.

    Attributes:
        part: ``event`` (the truth itself) or what is derived: ``head``, ``state``, ``tree``, ``record``, ``checkpoint``.
        where: which one: ``event 3``, ``node 5f1c…``.
        what: what is wrong with it, in words.
    """

    part: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


@dataclass(frozen=True, slots=True)
class ChainCheck:
    """Result of a full check.

    Attributes:
        events: how many events hold, from the first on.
        damaged_at: the first that does not, 0 when nothing is wrong; one past the last when only derived things are.
        reason: why, in words.
        records: how many records were found to hold.
        flaws: everything that was found, at most 100; an event that does not hold ends the search.
    """

    events: int
    damaged_at: int = 0
    reason: str = ""
    records: int = 0
    flaws: tuple[Flaw, ...] = ()

    @property
    def ok(self) -> bool:
        return not self.damaged_at

    @property
    def repairable(self) -> bool:
        """Whether every event holds, so that ``rebuild`` can set the rest right."""
        return all(flaw.part != "event" for flaw in self.flaws)


def page(db: apsw.Connection, after: int, limit: int, version: int, where: str) -> list[Event]:
    """Events above ``after``, checked; where they end, the head must be."""
    found = list(chain.checked(db, where, version, after, limit))
    if len(found) < limit:
        last = found[-1] if found else None
        end = Head(last.seq, last.digest) if last else Head(after, chain.digest_at(db, after, where).hex())
        if commit.read_head(db, version) != end:
            what = f"the chain ends at event {end.seq}, which is not the head"
            raise StoreDamaged(what, where=where, way_out=files.WAY_OUT)
    return found


def quick(db: apsw.Connection, head: Head, where: str) -> None:
    """The check at open: the tops of the tables add up to the head's state root, the tree to its root.

    Raises StoreDamaged.
    """
    if Records(db, where).state().hex() != head.state:
        raise StoreDamaged(commit.WRONG_STATE, where=where, way_out=records.WAY_OUT)
    if StoredTree(db, where).root(head.seq).hex() != head.root:
        raise StoreDamaged("the events do not add up to the head's Merkle root", where=where, way_out=files.WAY_OUT)


def check(db: apsw.Connection, version: int, where: str, fold: Fold | None) -> ChainCheck:
    """Everything there is: events, chain, head, state roots, Merkle tree, records; with ``fold`` also what events give."""
    held, bad = _events(db, version, where)
    if bad is not None:
        return ChainCheck(held, bad.seq, bad.flaw.what, flaws=(bad.flaw,))
    flaws = list(islice(_derived(db, version, where, fold), MOST_FLAWS))
    if flaws:
        first = flaws[0]
        reason = first.what if first.part == "head" else str(first)
        return ChainCheck(held, held + 1, reason, flaws=tuple(flaws))
    return ChainCheck(held, records=sum(Records(db, where).counts.values()) if version > 1 else 0)


@dataclass(frozen=True, slots=True)
class _Bad:
    seq: int
    flaw: Flaw


def _events(db: apsw.Connection, version: int, where: str) -> tuple[int, _Bad | None]:
    """How many events hold, and the first that does not."""
    prev, seq = chain.GENESIS, 0
    for row in chain.rows(db):
        reason = chain.flaw(row, seq + 1, prev, version) or chain.form_flaw(row, where)
        if reason:
            return seq, _Bad(seq + 1, Flaw("event", f"event {seq + 1}", reason))
        prev, seq = row[2], seq + 1
    return seq, None


def _derived(db: apsw.Connection, version: int, where: str, fold: Fold | None) -> Iterator[Flaw]:
    yield from _head(db, version, where)
    if version == 1:
        return
    parts = {"state": _states(db), "tree": _tree(db, where), "record": _records(db, where)}
    parts["checkpoint"] = _checkpoint(db, version, where)
    if fold is not None:
        parts["replay"] = _replay(db, where, fold)
    for part, flaws in parts.items():
        try:
            yield from flaws
        except StoreDamaged as error:  # not even its rows are of our form
            yield Flaw("record" if part == "replay" else part, part, error.what)
        except (apsw.Error, UnicodeError) as error:
            yield Flaw("record" if part == "replay" else part, part, f"its pages in the file are damaged ({error})")


def _head(db: apsw.Connection, version: int, where: str) -> Iterator[Flaw]:
    columns = "seq, digest" if version == 1 else "seq, digest, root, state, ledger"
    rows = db.execute(f"SELECT {columns} FROM head").fetchall()
    last = chain.last(db)
    if len(rows) != 1 or rows[0][:2] != last:
        yield Flaw("head", "head", "the head is not the last event")
    elif version > 1:
        states = db.execute("SELECT root FROM states WHERE seq = ?", (last[0],)).fetchone() or (state_root.EMPTY,)
        if rows[0][3] != states[0]:
            yield Flaw("head", "head", "its state root is not that of the last event")
        if not schema.is_id(rows[0][4]):
            yield Flaw("head", "head", "the name of the ledger was changed")


def _states(db: apsw.Connection) -> Iterator[Flaw]:
    """One state root an event, none too many."""
    lacking = db.execute("SELECT seq FROM events WHERE seq NOT IN (SELECT seq FROM states) LIMIT 10")
    yield from (Flaw("state", f"event {seq}", "its state root is gone") for (seq,) in lacking)
    stray = db.execute("SELECT seq FROM states WHERE seq NOT IN (SELECT seq FROM events) LIMIT 10")
    yield from (Flaw("state", f"event {seq}", "a state root of no event") for (seq,) in stray)


def _tree(db: apsw.Connection, where: str) -> Iterator[Flaw]:
    """The stored nodes and the root, computed anew from the leaves."""
    size = chain.last(db)[0]
    try:
        leaves = StoredTree(db, where).leaves(0, size)
    except StoreDamaged:
        return  # told by _states
    wanted = _subtrees(leaves)
    for level, index, found in db.execute("SELECT level, idx, hash FROM subtrees"):
        if wanted.pop((level, index), None) != found:
            yield Flaw("tree", f"Merkle node {index} of level {level}", "it is not the hash of what is below it")
    yield from (Flaw("tree", f"Merkle node {index} of level {level}", "it is gone") for level, index in sorted(wanted))
    row = db.execute("SELECT root FROM head").fetchone()
    if row is None or row[0] != merkle.root(size, merkle.subtree_of(leaves)):
        yield Flaw("tree", "head", "its Merkle root is not that of the events and their state roots")


def _subtrees(leaves: list[bytes]) -> dict[tuple[int, int], bytes]:
    found: dict[tuple[int, int], bytes] = {}
    row, level = leaves, 0
    while len(row) > 1:
        row = [merkle.node_hash(row[i], row[i + 1]) for i in range(0, len(row) - 1, 2)]
        level += 1
        if level >= STORED_FROM:
            found |= {(level, index): node for index, node in enumerate(row)}
    return found


def _checkpoint(db: apsw.Connection, version: int, where: str) -> Iterator[Flaw]:
    try:
        signed.read(db, version, (), where)
    except StoreDamaged as error:
        yield Flaw("checkpoint", "checkpoint", error.what)


def _records(db: apsw.Connection, where: str) -> Iterator[Flaw]:
    """Rows against nodes, nodes against tops, tops against the head."""
    stored = Records(db, where)
    row = db.execute("SELECT state FROM head").fetchone()
    if row is None or row[0] != stored.state():
        yield Flaw("record", "tables", commit.WRONG_STATE)
    yield from (Flaw("record", f"row {at}", "it belongs to no table") for at in stored.strays())
    for table in stored.counts:
        yield from (Flaw("record", *told) for told in stored.flaws(table))


def _replay(db: apsw.Connection, where: str, fold: Fold) -> Iterator[Flaw]:
    """What the events give, beside what is stored: the state root after each, and at the end every record."""
    memory = apsw.Connection(":memory:")
    try:
        for statement in records.SCHEMA.values():
            memory.execute(statement)
        fresh = Records(memory, where)
        states = dict(db.execute("SELECT seq, root FROM states"))
        for row in chain.rows(db):
            event = chain.event_of(row, where)
            if fresh.apply(records.checked(fold(event))) != states.get(event.seq):
                yield Flaw("state", f"event {event.seq}", "replaying it gives another state root than was recorded")
        fresh.write()
        stored = Records(db, where)
        for table in sorted(fresh.counts.keys() | stored.counts.keys()):
            yield from (Flaw("record", *told) for told in stored.beside(fresh, table))
    finally:
        memory.close()


def rebuild(db: apsw.Connection, version: int, where: str, fold: Fold | None) -> Head:
    """Make anew what is derived, in the caller's transaction: all of it with ``fold``, else only tree and head.

    A checkpoint that does not carry its signature is dropped. One that does, over other events, is evidence and stays.

    Raises:
        StoreDamaged: an event does not hold, or state roots are lacking and there is no fold.
    """
    held, bad = _events(db, version, where)
    if bad is not None:
        what = f"event {bad.seq} does not hold: {bad.flaw.what}"
        raise StoreDamaged(what, where=where, way_out="restore the ledger from a copy")
    if version == 1:
        return _reset_first_format(db, where, fold)
    _drop_broken_checkpoint(db, where)
    if fold is None:
        return _reset_head(db, where, held)
    _clear(db, "states", "subtrees", *records.SCHEMA)
    _fresh_head(db, where)
    tail = commit.Tail(db, Head(), where)
    for row in chain.rows(db):
        tail.follow(row[0], row[2], records.checked(fold(chain.event_of(row, where))))
    return tail.finish()


def _reset_first_format(db: apsw.Connection, where: str, fold: Fold | None) -> Head:
    _clear(db, "head")
    db.execute("INSERT INTO head VALUES(1, ?, ?)", chain.last(db))
    if fold is None:
        return commit.read_head(db, 1)
    commit.upgrade(db, where, fold)
    return commit.read_head(db, schema.VERSION)


def _reset_head(db: apsw.Connection, where: str, size: int) -> Head:
    _clear(db, "subtrees")
    db.execute("DELETE FROM states WHERE seq > ?", (size,))
    tree, state = StoredTree(db, where), Records(db, where).state()
    if tree.state_at(size) != state:
        raise StoreDamaged("the records are not those of the last event", where=where, way_out=records.WAY_OUT)
    for (level, index), found in _subtrees(tree.leaves(0, size)).items():
        db.execute("INSERT INTO subtrees VALUES(?, ?, ?)", (level, index, found))
    _fresh_head(db, where)
    new = (*chain.last(db), tree.root(size), state)
    db.execute("UPDATE head SET seq = ?, digest = ?, root = ?, state = ?", new)
    return commit.read_head(db, schema.VERSION)


def _drop_broken_checkpoint(db: apsw.Connection, where: str) -> None:
    try:
        signed.sound_note(db, where)
    except (StoreDamaged, UnicodeError):
        _clear(db, "checkpoint")


def _fresh_head(db: apsw.Connection, where: str) -> None:
    name = name_of(db, where)
    _clear(db, "head")
    schema.first_head(db, name)


def name_of(db: apsw.Connection, where: str) -> str:
    """The name of the ledger, or the one its checkpoint was signed for, or a new one where neither can be read."""
    with contextlib.suppress(apsw.Error, UnicodeError):
        row = db.execute("SELECT ledger FROM head").fetchone()
        if row is not None and schema.is_id(row[0]):
            return str(row[0])
    with contextlib.suppress(apsw.Error, UnicodeError, StoreDamaged):
        note = signed.sound_note(db, where)
        if note is not None:
            return note[0].checkpoint.ledger
    return schema.new_id()


def sound_beginning(db: apsw.Connection, version: int, where: str) -> list[tuple[bytes, Event]]:
    """Text and event of every row from the first on that holds and can be read."""
    found: list[tuple[bytes, Event]] = []
    prev = chain.GENESIS
    with contextlib.suppress(apsw.Error, UnicodeError):  # pages that cannot be read end it as a bad event does
        for row in chain.rows(db):
            if chain.flaw(row, len(found) + 1, prev, version) or chain.form_flaw(row, where):
                break
            found.append((chain.restored(row[1]), chain.event_of(row, where)))
            prev = row[2]
    return found


def _clear(db: apsw.Connection, *tables: str) -> None:
    for table in tables:
        db.execute(f"DELETE FROM {table}")
