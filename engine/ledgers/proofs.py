"""The Merkle tree as a log keeps it, and the proofs it gives out. Called by the log and its reports.

What may not come in: keys, files, changes of events. A leaf is made from the rows of its event; of the inner nodes only
those over 8 leaves and more are stored, the rest is cheaper to compute than to keep.
"""

from __future__ import annotations

import base64
from typing import Any

import apsw

from mog.engine.errors import NotFound, StoreDamaged
from mog.engine.ledgers import chain, files, merkle, schema, state_root

STORED_FROM = 3
_LEAVES = (
    "SELECT events.seq, digest, root FROM events JOIN states USING(seq) WHERE seq BETWEEN ? AND ? ORDER BY seq"
)


class StoredTree:
    """The tree of an open transaction. Raises StoreDamaged where a row that it needs is missing."""

    def __init__(self, db: apsw.Connection, where: str) -> None:
        self._db = db
        self._where = where

    def state_at(self, seq: int) -> bytes:
        """State root after event ``seq``."""
        if seq == 0:
            return state_root.EMPTY
        row = self._db.execute("SELECT root FROM states WHERE seq = ?", (seq,)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            raise StoreDamaged(f"the state root of event {seq} is gone", where=self._where, way_out=files.WAY_OUT)
        return row[0]

    def leaves(self, start: int, end: int) -> list[bytes]:
        """Leaf hashes of events ``start`` + 1 … ``end``."""
        out: list[bytes] = []
        before = self.state_at(start)
        for seq, digest, after in self._db.execute(_LEAVES, (start + 1, end)):
            if seq != start + len(out) + 1 or not (isinstance(digest, bytes) and isinstance(after, bytes)):
                break
            out.append(merkle.leaf_hash(chain.leaf_data(digest, before, after)))
            before = after
        if len(out) != end - start:
            what = f"event {start + len(out) + 1} or its state root is not what was recorded"
            raise StoreDamaged(what, where=self._where, way_out=files.WAY_OUT)
        return out

    def subtree(self, level: int, index: int) -> bytes:
        """Hash of a perfect subtree, as ``merkle.Subtree``."""
        if level < STORED_FROM:
            return merkle.subtree_of(self.leaves(index << level, (index + 1) << level))(level, 0)
        row = self._db.execute("SELECT hash FROM subtrees WHERE level = ? AND idx = ?", (level, index)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            what = f"node {index} of level {level} of the Merkle tree is gone"
            raise StoreDamaged(what, where=self._where, way_out=files.WAY_OUT)
        return row[0]

    def root(self, size: int) -> bytes:
        """Merkle root over the first ``size`` events."""
        return merkle.root(size, self.subtree)


def prove(seq: int, db: apsw.Connection, head: chain.Head, ledger: str, where: str) -> dict[str, Any]:
    """Inclusion proof of one event in the tree of ``head``, as the JSON document that ``verify_ledger.py`` reads.

    Raises:
        NotFound: no such event.
        StoreDamaged: the proof does not hold, so something it was made of was changed.
    """
    if not 0 < seq <= head.seq:
        raise NotFound(f"no event {seq}", where=where, way_out=f"the ledger has events 1 to {head.seq}")
    tree = StoredTree(db, where)
    prev, before, after = chain.digest_at(db, seq - 1, where), tree.state_at(seq - 1), tree.state_at(seq)
    row = next(chain.rows(db, seq - 1, 1), (0, b"", b"", "", b""))
    reason = chain.flaw(row, seq, prev, schema.VERSION)
    if reason:
        raise StoreDamaged(f"event {seq} does not hold: {reason}", where=where, way_out=files.WAY_OUT)
    text = chain.restored(row[1])
    leaf = merkle.leaf_hash(chain.leaf_data(chain.event_digest(prev, seq, text), before, after))
    path = merkle.inclusion(seq - 1, head.seq, tree.subtree)
    if not merkle.verify_inclusion(leaf, seq - 1, head.seq, path, bytes.fromhex(head.root)):
        raise StoreDamaged(f"event {seq} is not in the tree of the head", where=where, way_out=files.WAY_OUT)
    return {
        "format": "mog.inclusion.1", "ledger": ledger, "seq": seq, "size": head.seq, "event": text.decode("utf-8"),
        "prev": _text(prev), "state_before": _text(before), "state_after": _text(after), "path": [_text(h) for h in path],
    }  # fmt: skip


def consistency(old: int, db: apsw.Connection, head: chain.Head, ledger: str, where: str) -> dict[str, Any]:
    """Proof that the tree of the first ``old`` events is a prefix of that of ``head``, as a JSON document.

    Raises:
        UsageError: not 0 < old ≤ size.
        StoreDamaged: the proof does not hold.
    """
    tree = StoredTree(db, where)
    path = merkle.consistency(old, head.seq, tree.subtree)
    if not merkle.verify_consistency(old, head.seq, path, tree.root(old), bytes.fromhex(head.root)):
        raise StoreDamaged("the Merkle tree does not hold", where=where, way_out=files.WAY_OUT)
    return {"format": "mog.consistency.1", "ledger": ledger, "old": old, "size": head.seq, "path": [_text(h) for h in path]}


def _text(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")
