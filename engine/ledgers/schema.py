"""The tables of ``ledger.db``, format by format, and the step from one to the next. Called by the log.

What may not come in: rows of an open log. Format 1 had events and a head. Format 2 adds the Merkle tree, records and the
state root. A file of format 1 is read as it stands and becomes format 2 in the first transaction that writes.
"""

from __future__ import annotations

import hashlib
import os

import apsw

from mog.engine.ledgers import chain, files, merkle, records, state_root

APPLICATION_ID = 0x6D6F674C  # "mogL"
VERSION = 2
_EVENTS = (
    "CREATE TABLE events(seq INTEGER PRIMARY KEY, body BLOB NOT NULL, digest BLOB NOT NULL, "
    "recorded_at TEXT NOT NULL, seal BLOB NOT NULL) STRICT"
)
FORMATS: dict[int, dict[str, str]] = {
    1: {
        "events": _EVENTS,
        "head": (
            "CREATE TABLE head(one INTEGER PRIMARY KEY CHECK(one = 1), seq INTEGER NOT NULL, digest BLOB NOT NULL) STRICT"
        ),
    },
    2: {
        "events": _EVENTS,
        "states": "CREATE TABLE states(seq INTEGER PRIMARY KEY, root BLOB NOT NULL) STRICT",
        "subtrees": (
            "CREATE TABLE subtrees(level INTEGER NOT NULL, idx INTEGER NOT NULL, hash BLOB NOT NULL, "
            "PRIMARY KEY(level, idx)) STRICT, WITHOUT ROWID"
        ),
        **records.SCHEMA,
        "head": (
            "CREATE TABLE head(one INTEGER PRIMARY KEY CHECK(one = 1), ledger TEXT NOT NULL, seq INTEGER NOT NULL, "
            "digest BLOB NOT NULL, root BLOB NOT NULL, state BLOB NOT NULL) STRICT"
        ),
        "checkpoint": (
            "CREATE TABLE checkpoint(one INTEGER PRIMARY KEY CHECK(one = 1), public BLOB NOT NULL, note TEXT NOT NULL) STRICT"
        ),
    },
}


def version_of(db: apsw.Connection, where: str) -> int:
    """Format of the file, 0 while it is empty. Raises StoreDamaged for any other file, or a later format."""
    return files.recognised(db, where, APPLICATION_ID, FORMATS)


def new_id() -> str:
    """Name of a new ledger: 24 random hex digits and 8 that check them. No digest of the content depends on it."""
    raw = os.urandom(12)
    return (raw + _check(raw)).hex()


def is_id(text: object) -> bool:
    """Whether a text is the unharmed name of a ledger."""
    try:
        raw = bytes.fromhex(text) if isinstance(text, str) else b""
    except ValueError:
        return False
    return len(raw) == 16 and _check(raw[:12]) == raw[12:]


def _check(raw: bytes) -> bytes:
    return hashlib.sha256(b"mog.ledger.1" + raw).digest()[:4]


def initialise(db: apsw.Connection, ledger: str) -> None:
    """Make the tables of the current format in a file that is still empty; part of the first transaction."""
    for statement in FORMATS[VERSION].values():
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")
    first_head(db, ledger)


def first_head(db: apsw.Connection, ledger: str) -> None:
    """Write the head of a log without events."""
    first = (ledger, 0, chain.GENESIS, merkle.EMPTY, state_root.EMPTY)
    db.execute("INSERT INTO head VALUES(1, ?, ?, ?, ?, ?)", first)
