"""Keys of JSON files (comments and trailing commas allowed), by a scan of strings and brackets. Called by ``extract.py``.

What may not come in: values, recursion. Objects are followed down to ``keys.DEEP`` levels, never into lists. Anchors are hashes
of the tokens: blanks, comments and commas at the end of a list do not count. Of several documents in one file (JSON lines) the
first counts.
"""

from __future__ import annotations

import re
from typing import Any

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts
from mog.engine.code.languages.keys import DEEP, Keys, Lines, hashed

VERSION = 1

_TOKEN = re.compile(rb'"((?:[^"\\\n]++|\\.)*+)"(\s{0,200}+:)?|[{}\[\],]|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+\*/', re.S)
_LEAF = re.compile(rb'"(?:[^"\\\n]++|\\.)*+"?|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|[^\s"/,{}\[\]:]++|\S', re.S)
_ROOT, _NONE = -1, -2


def facts_of(lang: str, tree: object, data: bytes, path: str) -> Facts:
    """Facts of one JSON file; never raises for odd input."""
    keys = Keys()
    _Scan(data, keys).run()
    return keys.facts(lang)


class _Scan:
    """One pass over the tokens. ``current``: the key whose value comes; ``stack``: (is it an object whose keys count, its key)."""

    def __init__(self, data: bytes, keys: Keys) -> None:
        self.data = data
        self.keys = keys
        self.stack: list[tuple[bool, int]] = []
        self.current = _ROOT
        self.line_at = Lines(data).at

    def run(self) -> None:
        for token in _TOKEN.finditer(self.data):
            sign = token[0][:1]
            if sign == b"/":
                continue
            if sign == b'"':
                if token[2] is not None:
                    self.key(token)
            elif sign in b"{[":
                counts = sign == b"{" and (self.current >= 0 or (self.current == _ROOT and not self.stack))
                self.stack.append((counts, self.current))
                self.current = _NONE
            else:
                self.end(sign, token.start())

    def key(self, token: re.Match[bytes]) -> None:
        self.current = _NONE
        if self.stack and self.stack[-1][0] and len(self.stack) <= DEEP:
            at = token.start()
            line = self.line_at(at)
            parent = max(self.stack[-1][1], -1)
            added = self.keys.add(token[1].decode("utf-8", "replace"), parent, line, line, at, token.end())
            self.current = added if added >= 0 else _NONE

    def end(self, sign: bytes, at: int) -> None:
        """A comma ends the value before it; a bracket that too, and then the value it closes."""
        self.close(at)
        self.current = _NONE
        if sign != b"," and self.stack:
            self.current = self.stack.pop()[1]
            self.close(at + 1)
            self.current = self.current if self.current >= 0 else _NONE

    def close(self, stop: int) -> None:
        if self.current >= 0:
            while stop and self.data[stop - 1] in b" \t\r\n":
                stop -= 1
            self.keys.close(self.current, self.line_at(stop), stop)


def hash_rows(data: bytes, rows: list[list[Any]]) -> None:
    """Fill the hashes of symbol rows in place."""
    for row in rows:
        leaves: list[bytes] = []
        for match in _LEAF.finditer(data, row[schema.FULL], row[schema.STOP]):
            leaf = match[0]
            if leaf.startswith((b"//", b"/*")):
                continue
            if leaf in (b"}", b"]") and leaves and leaves[-1] == b",":
                leaves.pop()
            leaves.append(leaf)
        row[schema.SPAN], row[schema.BODY] = hashed(leaves)
