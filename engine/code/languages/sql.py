"""SQL: tables with their columns, views, functions, procedures, triggers, and which of them a statement names.

Called by ``extract.py``.

What may not come in: other files, values, one dialect. A scan over tokens rather than a grammar: the grammars there are give up
on the dialects that repositories hold (MySQL's dumps, SQL Server's batches, triggers of SQLite). Tables, views and types are of
kind ``class``, columns ``field``, routines and triggers ``function``. ``refs`` and ``calls`` hold names as written (schema and
name); which definition they mean is the linker's business (``link_plain.py``).
"""

from __future__ import annotations

import re
from typing import Any

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.sql_tokens import MOST_TOKENS, Token, hash_rows, tokens

__all__ = ["VERSION", "facts_of", "hash_rows"]

VERSION = 1
MOST = 4_000
MOST_COLUMNS = 200

_KINDS = {"TABLE": "class", "VIEW": "class", "TYPE": "class", "FUNCTION": "function", "PROCEDURE": "function", "PROC": "function",
          "TRIGGER": "function", "PACKAGE": "class"}  # fmt: skip
_BEFORE = frozenset(
    "OR REPLACE ALTER TEMP TEMPORARY GLOBAL LOCAL UNLOGGED MATERIALIZED VIRTUAL EXTERNAL FOREIGN UNIQUE RECURSIVE EDITIONABLE"
    " NONEDITIONABLE FORCE NO CONSTRAINT DEFINER ALGORITHM MERGE UNDEFINED TEMPTABLE SQL SECURITY INVOKER CURRENT_USER AGGREGATE"
    " TRANSIENT BODY".split()
)
_AFTER = frozenset("IF NOT EXISTS CONCURRENTLY ONLY BODY".split())
_NOT_COLUMNS = frozenset(
    "CONSTRAINT PRIMARY FOREIGN UNIQUE CHECK KEY INDEX EXCLUDE LIKE FULLTEXT SPATIAL PERIOD".split()
)
_NAMES_TABLE = frozenset("FROM JOIN INTO UPDATE REFERENCES TABLE USING".split())
_NO_NAME = frozenset(
    "SELECT SET ON WHERE VALUES IF ONLY LATERAL UNNEST AND OR NOT NULL AS OF NEW OLD DUAL INSERTED DELETED TABLE IN IS CASCADE"
    " STATISTICS OUTFILE EXISTS STRICT BTREE HASH GIN GIST BRIN FTS5 OR DISTINCT EACH VIEW".split()
)
_NO_CALL = frozenset(
    "IN AND OR NOT EXISTS VALUES AS ON USING IF WHEN THEN CASE ELSE SELECT FROM WHERE INTO KEY CHECK UNIQUE INDEX TABLE OVER BY ANY ALL"
    " SOME WITH INSERT REFERENCES PRIMARY RETURN RETURNS VARCHAR NVARCHAR CHAR NCHAR DECIMAL NUMERIC INT BIGINT FLOAT".split()
)
_ENDS_OTHER = frozenset("IF LOOP WHILE REPEAT FOR".split())
_DELIMITER = re.compile(rb"^[ \t]{0,40}delimiter[ \t]{1,40}([^\s\w]{1,8})", re.I | re.M)
_PLAIN = re.compile(r"[\w$.]{1,200}")


def facts_of(lang: str, tree: object, data: bytes, path: str) -> Facts:
    """Facts of one SQL file; never raises for odd input."""
    found = schema.empty(lang)
    held = tokens(data)
    scan = _Scan(data, held)
    scan.run()
    schema.unique_quals(scan.rows)
    found["syms"] = scan.rows
    found["refs"] = [[scope, " ".join(names)] for scope, names in sorted(scan.refs.items())]
    found["calls"] = [[scope, " ".join(names)] for scope, names in sorted(scan.calls.items())]
    if len(held) >= MOST_TOKENS:
        found["problems"].append(["sql_too_long", data.count(b"\n", 0, held[-1].start) + 1])
    return found


class _Scan:
    """One pass over the tokens of a file, statement by statement."""

    def __init__(self, data: bytes, held: list[Token]) -> None:
        self.data = data
        self.held = held
        self.rows: list[list[Any]] = []
        self.refs: dict[int, dict[str, None]] = {}
        self.calls: dict[int, dict[str, None]] = {}
        self.at = 0
        self.line, self.counted = 1, 0
        self.delimiters = tuple({sign for sign in _DELIMITER.findall(data) if sign != b";"})

    def run(self) -> None:
        while self.at < len(self.held):
            begin = self.at
            if self.held[begin].kind == "sign" and self.held[begin].text != "(":
                self.at += 1  # what is left of a delimiter
                continue
            made = self.creates()
            end = self.end(made)
            scope = self.define(begin, end, *made) if made is not None and len(self.rows) < MOST else -1
            self.uses(begin if made is None else self.at, end, scope)
            self.at = max(end + 1, begin + 1)

    def text(self, at: int) -> str:
        """Text of a token where it is a word or a sign, "" elsewhere: what keywords are compared with."""
        token = self.held[at] if 0 <= at < len(self.held) else None
        return token.text if token is not None and token.kind in ("word", "sign") else ""

    # ── statements ────────────────────────────────────────────────────────────────────────────────────────────────────

    def creates(self) -> tuple[str, str, str] | None:
        """(what, name, qualified name) where a definition begins at ``at``, which then moves behind its name."""
        if self.text(self.at) != "CREATE":
            return None
        at = self.at + 1
        while at < self.at + 20 and self.text(at) not in _KINDS:
            odd = (
                self.held[at].kind in ("string", "quoted") or self.text(at) in ("=", "@", "%")
                if at < len(self.held)
                else False
            )
            if self.text(at) not in _BEFORE and not odd and self.text(at - 1) not in ("=", "@"):
                return None
            at += 1
        what = self.text(at)
        at += 1
        while self.text(at) in _AFTER:
            at += 1
        name, after = self.name(at)
        if what not in _KINDS or not name or name.rpartition(".")[2].startswith("#"):
            return None
        self.at = after
        return what, name.rpartition(".")[2], name

    def name(self, at: int) -> tuple[str, int]:
        """A name with its schema as written, and where it ends; "" where there is none."""
        parts: list[str] = []
        while at < len(self.held) and self.held[at].kind in ("word", "quoted"):
            token = self.held[at]
            parts.append(
                token.text if token.kind == "quoted" else self.data[token.start : token.stop].decode("utf-8", "replace")
            )
            at += 1
            if self.text(at) != "." or len(parts) > 3:
                break
            at += 1
        name = ".".join(parts[-2:])
        return (name if _PLAIN.fullmatch(name) or name.startswith("#") else ""), at

    def end(self, made: tuple[str, str, str] | None) -> int:
        """Number of the token that ends the statement that goes on at ``at``."""
        routine = made is not None and (_KINDS[made[0]] == "function" or made[0] == "PACKAGE")
        deep, dollar, declares, began = 0, "", False, False
        for at in range(self.at, len(self.held)):
            token, text = self.held[at], self.text(at)
            if token.kind == "dollar" and not self.batch(at):
                dollar = token.text if not dollar else "" if token.text == dollar else dollar
            elif dollar:
                continue
            elif self.batch(at) or (text == "CREATE" and declares and deep == 0 and self.begins_line(at)):
                return at if self.batch(at) else at - 1
            elif not routine:
                if text == ";":
                    return at
            elif text in ("AS", "IS") and not began and self.next_kind(at) not in ("string", "dollar"):
                declares = True
            elif text == "CASE" and self.text(at - 1) != "END":
                deep += 1
            elif text == "BEGIN" and self.text(at + 1) not in ("TRAN", "TRANSACTION", "WORK", ";"):
                deep, began = deep + 1, True
            elif text == "END" and self.text(at + 1) not in _ENDS_OTHER:
                deep = max(0, deep - 1)
            elif text == ";" and deep == 0 and (began or not declares):
                return at
        return len(self.held)

    def next_kind(self, at: int) -> str:
        return self.held[at + 1].kind if at + 1 < len(self.held) else ""

    def batch(self, at: int) -> bool:
        """Whether a batch ends here: ``GO`` or Oracle's slash alone on a line, or a delimiter that MySQL's client was told."""
        text = self.text(at)
        if text in ("GO", "/", "DELIMITER") and self.begins_line(at):
            last = at + 1 >= len(self.held) or b"\n" in self.data[self.held[at].stop : self.held[at + 1].start]
            return last or text == "DELIMITER"
        return bool(self.delimiters) and self.data.startswith(self.delimiters, self.held[at].start)

    def begins_line(self, at: int) -> bool:
        return at == 0 or b"\n" in self.data[self.held[at - 1].stop : self.held[at].start]

    # ── definitions ───────────────────────────────────────────────────────────────────────────────────────────────────

    def define(self, begin: int, end: int, what: str, name: str, qual: str) -> int:
        first, last = self.held[begin], self.held[min(end, len(self.held) - 1)]
        stop = last.stop if last.text == ";" or end >= len(self.held) else self.held[max(end - 1, begin)].stop
        signature = (
            f"{'PROCEDURE' if what == 'PROC' else what} {qual}{self.parameters() if _KINDS[what] == 'function' else ''}"
        )
        index = self.row(name, qual, _KINDS[what], -1, first.start, stop, signature)
        if what == "TABLE" and self.text(self.at) == "(":
            self.columns(index, end)
        return index

    def row(self, name: str, qual: str, kind: str, parent: int, start: int, stop: int, signature: str) -> int:
        line = self.line_at(start)
        end = line + self.data.count(b"\n", start, stop)
        self.rows.append(
            [name, qual, kind, parent, line, end, start, stop, start, "", "", schema.one_line(signature), "", {}]
        )
        return len(self.rows) - 1

    def line_at(self, at: int) -> int:
        self.line, self.counted = self.line + self.data.count(b"\n", self.counted, at), max(at, self.counted)
        return self.line

    def parameters(self) -> str:
        """The list of parameters of a routine, as written."""
        if self.text(self.at) != "(":
            return ""
        deep = 0
        for at in range(self.at, min(self.at + 400, len(self.held))):
            deep += (self.text(at) == "(") - (self.text(at) == ")")
            if deep == 0:
                return " ".join(
                    self.data[self.held[self.at].start : self.held[at].stop].decode("utf-8", "replace").split()
                )
        return ""

    def columns(self, table: int, end: int) -> None:
        deep, opens, qual, count = 0, False, self.rows[table][schema.QUAL], 0
        for at in range(self.at, min(end, len(self.held))):
            text = self.text(at)
            if opens and self.held[at].kind in ("word", "quoted") and text not in _NOT_COLUMNS and count < MOST_COLUMNS:
                name, _ = self.name(at)
                if name and "." not in name:
                    count += 1
                    self.row(
                        name, f"{qual}.{name}", "field", table, self.held[at].start, self.column_stop(at, end), name
                    )
            opens = False
            if text == "(":
                deep += 1
                opens = deep == 1
            elif text == ")":
                deep -= 1
                if deep == 0:
                    return
            elif text == ",":
                opens = deep == 1

    def column_stop(self, at: int, end: int) -> int:
        deep, first = 0, at
        while at < min(end, len(self.held), first + 200):
            text = self.text(at)
            deep += (text == "(") - (text == ")")
            if deep < 0 or (deep == 0 and text == ","):
                break
            at += 1
        return self.held[at - 1].stop

    # ── uses ──────────────────────────────────────────────────────────────────────────────────────────────────────────

    def uses(self, begin: int, end: int, scope: int) -> None:
        """Names that the tokens of a statement mention: tables after FROM and the like, routines that are called."""
        own = {self.text(at - 1).lower() for at in range(begin + 1, min(end, len(self.held))) if self._named_query(at)}
        selects = [True]
        header = scope >= 0 and self.text(begin - 1) not in (")",)
        for at in range(begin, min(end, len(self.held))):
            text = self.text(at)
            if text == "(":
                selects.append(self.text(at + 1) in ("SELECT", "WITH", "DELETE", "("))
                if at > begin or scope < 0:  # else the parameters of what is defined
                    self.called(at - 1, scope)
            elif text == ")":
                selects = selects[:-1] if len(selects) > 1 else selects
            elif text == "FROM" and (not selects[-1] or self.text(at - 1) == "DISTINCT"):
                continue
            elif text in _NAMES_TABLE or (
                text == "ON" and header and self.rows[scope][schema.SIG].startswith("TRIGGER")
            ):
                self.table(at + 1, scope, own)
                header = header and text != "ON"
            elif text in ("CALL", "EXEC", "EXECUTE", "PERFORM"):
                self.routine(at + 1, scope)

    def _named_query(self, at: int) -> bool:
        """Whether ``name AS (`` stands here: a query that a statement names for itself."""
        return self.text(at) == "AS" and self.text(at + 1) in ("(", "MATERIALIZED", "NOT") and self.text(at - 1) != ")"

    def table(self, at: int, scope: int, own: set[str]) -> None:
        while self.text(at) in ("IF", "NOT", "EXISTS", "ONLY", "TABLE"):
            at += 1
        if self.text(at) in _NO_NAME:
            return
        name, after = self.name(at)
        if name and self.text(after) != "(" and name.lower() not in own and name[0] not in "@#$":
            self.refs.setdefault(scope, {})[name] = None
        elif name and self.text(after) == "(" and self.text(at - 1) in ("INTO", "REFERENCES"):
            self.refs.setdefault(scope, {})[name] = None

    def routine(self, at: int, scope: int) -> None:
        while self.text(at) in ("FUNCTION", "PROCEDURE", "IMMEDIATE"):
            at += 1
        name, _ = self.name(at)
        if name and name[0] not in "@#" and name.upper() not in _NO_NAME:
            self.calls.setdefault(scope, {})[name] = None

    def called(self, at: int, scope: int) -> None:
        """``name (``: perhaps a call of a function of ours; the linker knows."""
        if at < 0 or self.held[at].kind not in ("word", "quoted") or self.text(at) in _NO_CALL:
            return
        first = at
        while self.text(first - 1) == "." and first >= 2 and self.held[first - 2].kind in ("word", "quoted"):
            first -= 2
        if self.text(first - 1) in (
            "INTO",
            "REFERENCES",
            "TABLE",
            "EXISTS",
            "ON",
            "KEY",
            "CONSTRAINT",
            "INDEX",
            "UPDATE",
        ):
            return
        name, _ = self.name(first)
        if name and name[0] not in "@#":
            self.calls.setdefault(scope, {})[name] = None
