"""The record of traffic: every call that came over the protocol, bounded, for the workbench and for the person to look at.

Who calls: surfaces that serve agents write it, panes and reports read it. What may not come in: meaning, text of answers;
a call is what was asked, what was walked, and how much was told, never what was told. It is telemetry: deleting the file
loses nothing that is believed, and writing it never holds up or fails a call.

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
MAX_TOLD, MAX_MARK = 1_000, 32
APPLICATION_ID, FORMAT = 0x6D6F6754, 2  # "mogT"
_TABLE_1 = (
    "CREATE TABLE calls(seq INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, client TEXT NOT NULL, session TEXT NOT NULL,"
    " tool TEXT NOT NULL, arguments TEXT NOT NULL, outcome TEXT NOT NULL, tokens INT NOT NULL, ms REAL NOT NULL,"
    " path TEXT NOT NULL, generation INT NOT NULL, warm INT NOT NULL) STRICT"
)
_TABLE = _TABLE_1.replace(") STRICT", ", whole INT NOT NULL, told TEXT NOT NULL, marks TEXT NOT NULL) STRICT")
_LAST = 2**62
_NAMES = "at, client, session, tool, arguments, outcome, tokens, ms, path, generation, warm, whole, told, marks"


@dataclass(frozen=True, slots=True)
class Call:
    """One call.

    Attributes:
        at: wall time, ISO 8601. client: its name and version as it says. session: the conversation, as far as it is known.
        tool: its name; a resource is ``read <uri>``. arguments: as given, texts cut. outcome: ``ok``, or the name of the failure.
        tokens: of the whole result by the engine's estimator. ms: from request to result.
        path: ids or locators the answer walked, the first few. generation: of the index that answered.
        warm: nothing had to be loaded for it first.
        whole: the arguments are kept as they were given, so that it can be asked again; False when a text was cut or withheld.
        told: how much was told, in numbers and in words of ours: ``said``, ``shown``, ``total``, ``states`` of what was shown,
            ``hops``, ``dead_end``; no text of the answer. marks: of each of ``path``, how it was then (``Workspace.marks``).
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
    whole: bool = True
    told: Mapping[str, Any] = field(default_factory=dict)
    marks: Sequence[str] = ()
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
        arguments, whole = _short(call.arguments)
        row = (
            call.at, call.client[:MAX_TEXT], call.session[:MAX_TEXT], call.tool[:MAX_TEXT], arguments, call.outcome[:MAX_TEXT],
            call.tokens, call.ms, _listed(call.path, MAX_TEXT), call.generation, int(call.warm), int(whole and call.whole),
            _told(call.told), _listed(call.marks, MAX_MARK),
        )  # fmt: skip
        with self._lock:
            try:
                db = self._opened()
                db.execute(f"INSERT INTO calls({_NAMES}) VALUES({','.join('?' * len(row))})", row)
                seq = db.last_insert_rowid()
                if seq % 64 == 0:
                    db.execute("DELETE FROM calls WHERE seq <= ?", (seq - self._kept,))
            except (apsw.Error, OSError, UnicodeError) as error:
                self.trouble = f"traffic is not recorded: {error}"[:300]

    def last(self, limit: int = 100, *, before: int = 0) -> tuple[Call, ...]:
        """The newest calls first; with ``before`` those older than that number. Empty where nothing was recorded."""
        where = "WHERE seq < ?" if before else "WHERE ? = 0"
        rows = self._asked(f"SELECT * FROM calls {where} ORDER BY seq DESC LIMIT ?", (before, limit))
        return self._read(rows)

    def span(self) -> tuple[int, int]:
        """Numbers of the oldest and the newest call that are kept; (0, 0) where there is none."""
        rows = self._asked("SELECT coalesce(min(seq), 0), coalesce(max(seq), 0) FROM calls", ())
        return (int(rows[0][0]), int(rows[0][1])) if rows else (0, 0)

    def numbers(self, client: str = "", *, after: int = 0) -> tuple[int, ...]:
        """Numbers of the calls that are kept, newest first: those above ``after``, and of one client where it is named."""
        where = "AND client = ?" if client else "AND ? = ''"
        found = self._asked(f"SELECT seq FROM calls WHERE seq > ? {where} ORDER BY seq DESC", (after, client))
        return tuple(int(seq) for (seq,) in found)

    def calls(self, numbers: Sequence[int]) -> tuple[Call, ...]:
        """Calls by their numbers, newest first; those that are gone are left out."""
        marks = ",".join("?" * len(numbers))
        rows = self._asked(f"SELECT * FROM calls WHERE seq IN ({marks}) ORDER BY seq DESC", tuple(numbers))
        return self._read(rows)

    def totals(self, *, after: int = 0, upto: int = _LAST) -> tuple[Total, ...]:
        """Sums by client and tool over what is kept, most tokens first; of the calls above ``after`` as far as ``upto``."""
        query = (
            "SELECT client, tool, count(*), sum(outcome != 'ok'), sum(tokens), sum(ms) FROM calls WHERE seq > ? AND seq <= ?"
            " GROUP BY client, tool ORDER BY sum(tokens) DESC, client, tool"
        )
        return tuple(Total(*row) for row in self._asked(query, (after, upto)))

    def close(self) -> None:
        """Close the file; a later call opens it again."""
        with self._lock:
            db, self._db = self._db, None
        if db is not None:
            with contextlib.suppress(apsw.Error):
                db.close()

    def _read(self, rows: Sequence[Any]) -> tuple[Call, ...]:
        try:
            return tuple(_call(row) for row in rows)
        except (ValueError, TypeError, RecursionError) as error:  # rows that nobody here wrote
            self.trouble = f"traffic cannot be read: {error}"[:300]
            return ()

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
    if held - {_TABLE, _TABLE_1}:
        db.close()
        raise OSError(0, "it is no record of traffic that this mog writes; delete it")
    if _TABLE not in held:
        with db:
            db.execute("DROP TABLE IF EXISTS calls")  # of an earlier mog: telemetry, and nothing that is believed
            db.execute(_TABLE)
            db.pragma("application_id", APPLICATION_ID)
            db.pragma("user_version", FORMAT)
    return db


def looked_at(*paths: Path) -> tuple[object, ...]:
    """Times and sizes of files, None for each that is not there: they differ when somebody wrote."""
    found: list[object] = []
    for path in paths:
        try:
            at = os.lstat(path)
            found.append((at.st_mtime_ns, at.st_size))
        except (OSError, ValueError):
            found.append(None)
    return tuple(found)


def _short(arguments: Mapping[str, Any]) -> tuple[str, bool]:
    """Arguments as JSON, long texts cut so that it stays bounded, and whether nothing was; nothing like a credential is kept."""
    from mog.engine.code.secrets import contains_secret

    for width in (1_000, MAX_TEXT, 40):
        kept = {str(name)[:40]: one[:width] if isinstance(one, str) else one for name, one in arguments.items()}
        text = json.dumps(kept, default=str, ensure_ascii=False)
        if len(text) <= MAX_ARGUMENTS:
            if contains_secret(text) is not None:
                return json.dumps(WITHHELD), False
            return json.dumps(kept, default=str), kept == dict(arguments)
    return json.dumps({"left_out": len(arguments)}), False


def _listed(texts: Sequence[str], width: int) -> str:
    return json.dumps([one[:width] for one in texts[:MAX_PATH]])


def _told(told: Mapping[str, Any]) -> str:
    text = json.dumps(dict(told), default=str)
    return text if len(text) <= MAX_TOLD else "{}"


def _call(row: Sequence[Any]) -> Call:
    seq, at, client, session, tool, arguments, outcome, tokens, ms, path, generation, warm, whole, told, marks = row
    asked, walked, numbers, then = (json.loads(text) for text in (arguments, path, told, marks))
    if not (
        isinstance(asked, dict) and isinstance(numbers, dict) and isinstance(walked, list) and isinstance(then, list)
    ):
        raise ValueError("two objects and two lists are expected")
    return Call(
        at, client, session, tool, asked, outcome, tokens, ms, tuple(map(str, walked)), generation, bool(warm), bool(whole),
        numbers, tuple(map(str, then)), seq,
    )  # fmt: skip
