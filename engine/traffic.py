"""The record of traffic: every call that came over the protocol, bounded, for the workbench and for the person to look at.

Who calls: surfaces that serve agents write it, panes and reports read it. What may not come in: meaning, text of answers;
a call is
what was asked, not what was said. It is telemetry: deleting the file loses nothing that is believed, and writing it never
holds up or fails a call.

One SQLite file in ``.mog/run``, 0600, links refused; several processes may write to it. The newest calls push out the oldest.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

NAME = "traffic.db"
KEPT = 10_000
MAX_ARGUMENTS, MAX_TEXT, MAX_PATH = 2_000, 200, 32
WITHHELD = {"withheld": "shaped like a credential"}
APPLICATION_ID, FORMAT = 0x6D6F6754, 1  # "mogT"
_TABLE = (
    "CREATE TABLE calls(seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, client TEXT NOT NULL, session TEXT NOT NULL,"
    " tool TEXT NOT NULL, arguments TEXT NOT NULL, outcome TEXT NOT NULL, tokens INT NOT NULL, ms REAL NOT NULL,"
    " path TEXT NOT NULL, generation INT NOT NULL, warm INT NOT NULL) STRICT"
)


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        at: wall time, ISO 8601. client: its name and version as it says. session: the conversation, as far as it is known.
        tool: its name; a resource is ``read <uri>``. arguments: as given, texts cut. outcome: ``ok``, or the name of the failure.
        tokens: of the whole result by the engine's estimator. ms: from request to result.
        path: ids or locators the answer walked, the first few. generation: of the index that answered.
        warm: nothing had to be loaded for it first.
        seq: number of the record, 0 before it is written.
    """

    at: str
    client: str
    session: str
    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    outcome: str = "ok"
    tokens: int = 0
    ms: float = 0.0
    path: Sequence[str] = ()
    generation: int = 0
    warm: bool = True
    seq: int = 0


@dataclass(frozen=True, slots=True)
class Total:
    """Calls of one tool by one client: how many, how many failed, tokens, milliseconds together."""

    client: str
    tool: str
    calls: int
    failed: int
    tokens: int
    ms: float


class Traffic:
    """The record of one worktree. Safe from any thread. A file that cannot be used is reported once, in ``trouble``."""

    def __init__(self, mog_dir: Path, kept: int = KEPT) -> None:
        self.path = mog_dir / "run" / NAME
        self.trouble = ""
        self._kept = kept
        self._lock = threading.Lock()
        self._db: apsw.Connection | None = None

    def record(self, call: Call) -> None:
        """Keep a call. Never raises: traffic is no reason to fail an answer."""
        row = (
            call.at, call.client[:MAX_TEXT], call.session[:MAX_TEXT], call.tool[:MAX_TEXT], _short(call.arguments),
            call.outcome[:MAX_TEXT], call.tokens, call.ms, json.dumps([one[:MAX_TEXT] for one in call.path[:MAX_PATH]]),
            call.generation, int(call.warm),
        )  # fmt: skip
        with self._lock:
            try:
                db = self._opened()
                names = "at, client, session, tool, arguments, outcome, tokens, ms, path, generation, warm"
                db.execute(f"INSERT INTO calls({names}) VALUES(?,?,?,?,?,?,?,?,?,?,?)", row)
                seq = db.last_insert_rowid()
                if seq % 64 == 0:
                    db.execute("DELETE FROM calls WHERE seq <= ?", (seq - self._kept,))
            except (apsw.Error, OSError, UnicodeError) as error:
                self.trouble = f"traffic is not recorded: {error}"[:300]

    def last(self, limit: int = 100, *, before: int = 0) -> tuple[Call, ...]:
        """The newest calls first; with ``before`` those older than that number. Empty where nothing was recorded."""
        where = "WHERE seq < ?" if before else "WHERE ? = 0"
        rows = self._asked(f"SELECT * FROM calls {where} ORDER BY seq DESC LIMIT ?", (before, limit))
        try:
            return tuple(_call(row) for row in rows)
        except (ValueError, TypeError, RecursionError) as error:  # rows that nobody here wrote
            self.trouble = f"traffic cannot be read: {error}"[:300]
            return ()

    def totals(self) -> tuple[Total, ...]:
        """Sums by client and tool over what is kept, most tokens first."""
        query = (
            "SELECT client, tool, count(*), sum(outcome != 'ok'), sum(tokens), sum(ms) FROM calls"
            " GROUP BY client, tool ORDER BY sum(tokens) DESC, client, tool"
        )
        return tuple(Total(*row) for row in self._asked(query, ()))

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            db, self._db = self._db, None
        if db is not None:
            with contextlib.suppress(apsw.Error):
                db.close()

    def _asked(self, query: str, values: tuple[Any, ...]) -> list[Any]:
        with self._lock:
            if self._db is None and not os.path.lexists(self.path):
                return []
            try:
                return self._opened().execute(query, values).fetchall()
            except (apsw.Error, OSError, UnicodeError) as error:
                self.trouble = f"traffic cannot be read: {error}"[:300]
                return []

    def _opened(self) -> apsw.Connection:
        if self._db is None or not self.path.exists():
            self._db = _open(self.path)
        return self._db


def _open(path: Path) -> apsw.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    os.close(os.open(path, flags, 0o600))
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_NOFOLLOW)
    db.set_busy_timeout(500)
    db.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    db.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    db.pragma("journal_mode", "wal")
    db.pragma("synchronous", "off")  # a power cut may lose it
    db.pragma("journal_size_limit", 1 << 20)
    held = {str(sql) for (sql,) in db.execute("SELECT sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%'")}
    if held - {_TABLE}:
        db.close()
        raise OSError(0, "it is no record of traffic that this mog writes; delete it")
    if not held:
        with db:
            db.execute(_TABLE)
            db.pragma("application_id", APPLICATION_ID)
            db.pragma("user_version", FORMAT)
    return db


def _short(arguments: Mapping[str, Any]) -> str:
    """Arguments as JSON, long texts cut so that the whole stays bounded; nothing shaped like a credential is kept."""
    from mog.engine.code.secrets import contains_secret

    for width in (1_000, MAX_TEXT, 40):
        kept = {str(name)[:40]: one[:width] if isinstance(one, str) else one for name, one in arguments.items()}
        text = json.dumps(kept, default=str, ensure_ascii=False)
        if len(text) <= MAX_ARGUMENTS:
            return json.dumps(WITHHELD) if contains_secret(text) is not None else json.dumps(kept, default=str)
    return json.dumps({"left_out": len(arguments)})


def _call(row: Sequence[Any]) -> Call:
    seq, at, client, session, tool, arguments, outcome, tokens, ms, path, generation, warm = row
    asked, walked = json.loads(arguments), json.loads(path)
    if not isinstance(asked, dict) or not isinstance(walked, list):
        raise ValueError("an object and a list are expected")
    return Call(at, client, session, tool, asked, outcome, tokens, ms, tuple(map(str, walked)), generation, bool(warm), seq)
