"""For the tests of the ledger: the world and the faults of ``benchmarks``, SQL behind the log's back, the first format.

Called by tests/ledgers. The benchmarks are found by place, so that the tests do not depend on the folder pytest starts in.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw

from mog.engine.ledgers import chain, state_root
from mog.engine.ledgers.events import APPLICATION_ID, EventLog, Put, Step
from mog.engine.ledgers.schema import FORMATS
from mog.engine.values import canonical

WHEN = "2026-01-31T12:00:00Z"
ROOT = Path(__file__).resolve().parents[2]


def benchmark(name: str) -> Any:
    """A module of ``benchmarks``."""
    if "benchmarks" not in sys.modules:
        init = ROOT / "benchmarks" / "__init__.py"
        spec = importlib.util.spec_from_file_location("benchmarks", init, submodule_search_locations=[str(init.parent)])
        assert spec is not None and spec.loader is not None
        module = sys.modules["benchmarks"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return importlib.import_module(f"benchmarks.{name}")


def sql(path: Path, *statements: object) -> list[tuple[Any, ...]]:
    """Run a statement (with its values after it) on a file that nobody has open; the rows of the answer."""
    statement, *values = statements
    db = apsw.Connection(str(path))
    try:
        return list(db.execute(str(statement), values))
    finally:
        db.close()


def changed(log: EventLog, *statements: object) -> list[tuple[Any, ...]]:
    """``sql`` behind the back of a log."""
    log.close()
    return sql(log.path, *statements)


def step(*puts: tuple[str, str, str | None], kind: str = "world.moved") -> Step:
    """An event whose data says what it puts, as ``fold`` reads it."""
    made = tuple(Put(table, key, None if body is None else body.encode()) for table, key, body in puts)
    return Step(kind, {"puts": [list(put) for put in puts]}, made)


def fold() -> Any:
    """A fresh replay of events made by ``step``."""
    return lambda event: [Put(t, k, None if b is None else b.encode()) for t, k, b in event.data.get("puts", ())]


def state_of(records: dict[tuple[str, str], bytes]) -> str:
    """State root of records from scratch, in hex."""
    tables: dict[str, dict[bytes, bytes]] = {}
    for (table, key), body in records.items():
        tables.setdefault(table, {})[key.encode()] = body
    return state_root.state_of((t, len(rows), state_root.root_of(t, rows)) for t, rows in tables.items()).hex()


def first_format(path: Path, events: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    """Write a ledger as the first format had it; the digests of its events."""
    path.parent.mkdir(parents=True, exist_ok=True)
    db = apsw.Connection(str(path))
    for statement in FORMATS[1].values():
        db.execute(statement)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute("PRAGMA user_version = 1")
    db.execute("PRAGMA journal_mode = WAL")
    digest, found, seq = chain.GENESIS, [], 0
    for seq, (kind, data) in enumerate(events, 1):
        text = canonical({"data": data, "type": kind, "v": 1})
        digest = chain.event_digest(digest, seq, text)
        row = (seq, text, digest, WHEN, chain.seal_of(digest, WHEN, 1))
        db.execute("INSERT INTO events VALUES(?, ?, ?, ?, ?)", row)
        found.append(digest.hex())
    db.execute("INSERT INTO head VALUES(1, ?, ?)", (seq, digest))
    db.close()
    return found
