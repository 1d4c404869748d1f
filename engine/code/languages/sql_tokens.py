"""Tokens of SQL in its dialects, and hashes over them. Called by ``sql.py`` only.

What may not come in: statements, other files. One expression reads what PostgreSQL, MySQL, SQLite, SQL Server and Oracle write:
three kinds of quoted names, strings with doubled quotes or backslashes, dollar quotes (as marks, so that the body between them is
read).
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from typing import Any, NamedTuple

from mog.engine.code import facts as schema

MOST_TOKENS = 200_000

_TOKEN = re.compile(
    rb"(?P<comment>--[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?)|(?P<string>[NnEe]?'(?:[^'\\]++|\\.|'')*+'?)|(?P<dollar>\$\w{0,60}\$)"
    rb"|(?P<quoted>\"(?:[^\"]++|\"\")*+\"|`[^`\n]{1,200}`|\[[A-Za-z_][^\]\n]{0,127}\])|(?P<word>[A-Za-z_@#\x80-\xff](?:[\w#@\x80-\xff]|\$(?!\$))*+)"
    rb"|(?P<number>[0-9][\w.]*+)|(?P<sign>[^\s])",
    re.S,
)


class Token(NamedTuple):
    """A token: its kind (``word quoted string dollar number sign``), place, and text (words in capitals, quoted names bare)."""

    kind: str
    start: int
    stop: int
    text: str


def tokens(data: bytes, start: int = 0, stop: int | None = None, most: int = MOST_TOKENS) -> list[Token]:
    """Tokens of a range without its comments, at most ``most``."""
    found: list[Token] = []
    for match in _TOKEN.finditer(data, start, len(data) if stop is None else stop):
        kind = str(match.lastgroup)
        if kind == "comment":
            continue
        if len(found) >= most:
            break
        text = match[0].decode("utf-8", "replace") if kind != "string" else "'"
        if kind == "word":
            text = text.upper()
        elif kind == "quoted":
            text = text[1:-1]
        found.append(Token(kind, match.start(), match.end(), text))
    return found


def hash_rows(data: bytes, rows: list[list[Any]]) -> None:
    """Fill the hashes of symbol rows in place: comments, blanks and the case of what is not quoted do not count."""
    every = tokens(data)
    starts = [token.start for token in every]
    for row in rows:
        name = str(row[schema.NAME]).lower()
        held = every[bisect_left(starts, row[schema.FULL]) : bisect_left(starts, row[schema.STOP])]
        row[schema.SPAN], row[schema.BODY] = _digest(data, held, None), _digest(data, held, name)


def _digest(data: bytes, held: list[Token], name: str | None) -> str:
    whole = hashlib.blake2b(digest_size=16, person=b"mog.sql")
    for token in held:
        own = name is not None and token.kind in ("word", "quoted") and token.text.lower() == name
        text = b"\0" if own else data[token.start : token.stop]
        text = text.lower() if token.kind == "word" else text
        whole.update(b"%d:" % len(text) + text)
    return whole.hexdigest()
