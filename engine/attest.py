"""A ledger held against everything there is: its own chain and tree, a replay, its checkpoint, and what was seen of it before.

Who calls: ``mog ledger verify`` and ``checkpoint``, ``mog doctor``. What may not come in: repairs (``EventLog.rebuild``), the
meaning of events (a fold is handed in), text for one surface.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from mog.engine.errors import MogError, UsageError
from mog.engine.ledgers import merkle, signed
from mog.engine.ledgers.checkpoints import Keys
from mog.engine.ledgers.events import EventLog, Fold, Head
from mog.engine.ledgers.report import ChainCheck
from mog.engine.ledgers.signed import Signature
from mog.engine.ledgers.witness import Witness

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """What a full check found.

    Attributes:
        ledger: its name, "" before the first event. head: where it stands.
        check: events, chain, tree, state roots and records. replayed: whether events were replayed and compared.
        signature: the checkpoint in the file, None when nobody signed it.
        witness: what is known of the past from outside of the folder, in a sentence.
        problems: what does not hold beside ``check``: checkpoint, keys, witness.
    """

    ledger: str
    head: Head
    check: ChainCheck
    replayed: bool
    signature: Signature | None
    witness: str
    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether everything holds."""
        return self.check.ok and not self.problems


@dataclass(frozen=True, slots=True)
class Glance:
    """What is known of a ledger without reading every event: see ``LedgerReport`` for the fields."""

    ledger: str
    head: Head
    signature: Signature | None
    witness: str
    problems: tuple[str, ...]


def glance(log: EventLog) -> Glance:
    """Head, checkpoint and witness, each held against the others. Raises StoreDamaged as ``report``."""
    problems: list[str] = []
    signature = _guarded(lambda: log.signature(Keys().known()), problems)
    witness = _guarded(lambda: _witnessed(log), problems) or "could not be asked"
    return Glance(log.id, log.head(), signature, witness, tuple(problems))


def report(log: EventLog, fold: Callable[[], Fold] | None = None) -> LedgerReport:
    """Check a ledger in full; with ``fold`` (makes a fresh replay) its records against its events too.

    Raises StoreDamaged when the file cannot be read as a ledger at all, or is not the one that the witness saw.
    """
    check = log.verify(fold() if fold is not None else None)
    if not check.ok:
        return LedgerReport("", Head(), check, fold is not None, None, "not asked: the ledger is damaged", ())
    seen = glance(log)
    return LedgerReport(seen.ledger, seen.head, check, fold is not None, seen.signature, seen.witness, seen.problems)


def checkpoint(log: EventLog) -> Signature:
    """Sign what the ledger is, with this person's key, and have the witness remember it.

    Raises:
        UsageError: the ledger is empty. HeldByOther: another process writes. StoreDamaged: ledger, key or witness.
    """
    if not log.head().seq:
        raise UsageError("an empty ledger has nothing to sign", way_out="record something first")
    keys = Keys()
    log.checkpoint(keys.signer())
    found = log.signature(keys.known())
    assert found is not None
    Witness().keep(found.checkpoint)
    return found


def _guarded(ask: Callable[[], _T], problems: list[str]) -> _T | None:
    try:
        return ask()
    except MogError as error:
        problems.append(str(error))
        return None


def _witnessed(log: EventLog) -> str:
    """What the witness saw before, held against what the ledger is. Raises StoreDamaged."""
    name, head = log.id, log.head()
    seen = Witness().last(name) if name else None
    if seen is None:
        return "saw nothing of this ledger yet"
    Witness().check(signed.checkpoint_of(name, head), lambda size: _root(log, head, size, bytes.fromhex(seen.root)))
    return f"saw its first {seen.size:,} events, and they are the same"


def _root(log: EventLog, head: Head, size: int, claimed: bytes) -> bytes:
    """``claimed`` when a consistency proof leads from it to the head, else nothing that could equal it."""
    path = [base64.b64decode(node) for node in log.consistency(size)["path"]]
    return claimed if merkle.verify_consistency(size, head.seq, path, claimed, bytes.fromhex(head.root)) else b""
