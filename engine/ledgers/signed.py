"""The checkpoint that a ledger carries: signed with its commits, read back by whoever opens it. Called by the log.

What may not come in: files of keys, transactions. The public key stands beside the note, so that damage to the note is
told apart from a key that nobody here knows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from mog.engine.errors import StoreDamaged
from mog.engine.ledgers import commit, schema
from mog.engine.ledgers.chain import Head
from mog.engine.ledgers.checkpoints import Checkpoint, Note, Signer, key_line, read_note
from mog.engine.ledgers.proofs import StoredTree

_WAY_OUT = "make a new one: `mog ledger checkpoint`"


@dataclass(frozen=True, slots=True)
class Signature:
    """The checkpoint in a file.

    Attributes:
        note: the signed text.
        checkpoint: what it says.
        key: public key that signed it, as ``verify_ledger.py --key`` takes it.
        known: whether that is a key this person knows.
    """

    note: str
    checkpoint: Checkpoint
    key: str
    known: bool


def checkpoint_of(ledger: str, head: Head) -> Checkpoint:
    """What a log with this name and head is."""
    return Checkpoint(ledger, head.seq, head.root, head.state)


def write(db: apsw.Connection, signer: Signer, where: str) -> str:
    """Sign the head and keep the note in the open transaction; the note. Raises UsageError, StoreDamaged."""
    head = commit.read_head(db, schema.VERSION)
    note = signer.sign(checkpoint_of(commit.ledger_id(db, schema.VERSION, where), head))
    db.execute("INSERT OR REPLACE INTO checkpoint VALUES(1, ?, ?)", (signer.public, note))
    return note


def sound_note(db: apsw.Connection, where: str) -> tuple[Note, bytes] | None:
    """The note in the file and its public key, None when there is none. Raises StoreDamaged when it was changed."""
    row = db.execute("SELECT public, note FROM checkpoint").fetchone()
    if row is None:
        return None
    public, text = row
    if not (isinstance(text, str) and isinstance(public, bytes) and len(public) == 32):
        raise StoreDamaged("the checkpoint was changed", where=where, way_out=_WAY_OUT)
    note = read_note(text, where)
    if not note.holds(public):
        raise StoreDamaged("the checkpoint does not carry the signature of its key", where=where, way_out=_WAY_OUT)
    return note, public


def read(db: apsw.Connection, version: int, known: Iterable[bytes], where: str) -> Signature | None:
    """The checkpoint in the file, None when there is none.

    Raises:
        StoreDamaged: it was changed, or is not one of this ledger.
    """
    there = sound_note(db, where) if version > 1 else None
    if there is None:
        return None
    (note, public), head = there, commit.read_head(db, version)
    found = note.checkpoint
    if found.ledger != commit.ledger_id(db, version, where) or found.size > head.seq:
        raise StoreDamaged("the checkpoint is not one of this ledger", where=where, way_out=_WAY_OUT)
    tree = StoredTree(db, where)
    if (tree.root(found.size).hex(), tree.state_at(found.size).hex()) != (found.root, found.state):
        raise StoreDamaged("the checkpoint was signed over other events", where=where, way_out=_WAY_OUT)
    return Signature(note.text, found, key_line(found.ledger, public), public in tuple(known))
