"""Keys of configuration files as symbols of kind ``config_key``: what YAML, TOML, JSON and Dockerfiles share. Called by ``keys_*.py``.

What may not come in: values (a key is known by its name and place, never by what it is set to), other files. At most ``DEEP``
levels are kept (fewer where a file has more than ``MANY`` keys) and ``MOST`` keys; what is left out for its number is said as the
problem ``keys_capped``. Keys of the items of a list are none: there are many of them, and nobody names one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from mog.engine.code import facts as schema
from mog.engine.code.facts import Facts

DEEP = 3
MOST = 400
MANY = 64
LONGEST = 120


class Keys:
    """Collects the keys of one file in order. ``add`` answers the number of the key, or -1 where it is left out."""

    def __init__(self) -> None:
        self.rows: list[list[Any]] = []
        self.capped_at = 0

    def add(self, name: str, parent: int, line: int, end: int, start: int, stop: int, kind: str = "config_key") -> int:
        """Add a key (lines from 1, bytes of the key with its value); ``stop`` and ``end`` may be set later by ``close``."""
        if not name or len(name) > LONGEST or not name.isprintable():
            return -1
        if len(self.rows) >= MOST:
            self.capped_at = self.capped_at or line
            return -1
        above = self.rows[parent][schema.QUAL] + "." if parent >= 0 else ""
        self.rows.append(
            [name, above + name, kind, parent, line, end, start, stop, start, "", "", above + name, "", {}]
        )
        return len(self.rows) - 1

    def close(self, key: int, end: int, stop: int) -> None:
        """Say where a key's value ends."""
        if key >= 0:
            self.rows[key][schema.END], self.rows[key][schema.STOP] = end, stop

    def shallower(self) -> bool:
        """Drop the deepest level; False where there is only one. A level less is what a file with many keys is known by."""
        deep: list[int] = []
        for row in self.rows:
            deep.append(deep[row[schema.PARENT]] + 1 if row[schema.PARENT] >= 0 else 1)
        most = max(deep, default=1)
        if most == 1:
            return False
        numbers = {-1: -1} | {old: new for new, old in enumerate(at for at, level in enumerate(deep) if level < most)}
        kept = [row for row, level in zip(self.rows, deep, strict=True) if level < most]
        for row in kept:
            row[schema.PARENT] = numbers[row[schema.PARENT]]
        self.rows = kept
        return True

    def facts(self, lang: str) -> Facts:
        """Facts with the keys as symbols; keys that repeat are numbered."""
        found = schema.empty(lang)
        while len(self.rows) > MANY and self.shallower():
            pass
        schema.unique_quals(self.rows)
        found["syms"] = self.rows
        if self.capped_at:
            found["problems"].append(["keys_capped", self.capped_at])
        return found


class Lines:
    """Line numbers of a text's bytes, each counted on from the one asked for before."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._line, self._at = 1, 0

    def at(self, at: int) -> int:
        """Line of a byte, 1-based."""
        lower, upper = sorted((self._at, at))
        step = self._data.count(b"\n", lower, upper)
        self._line, self._at = self._line + (step if at == upper else -step), at
        return self._line


def hashed(tokens: Sequence[bytes]) -> tuple[str, str]:
    """Both hashes of a key's span by its tokens, the key's own name first: whole, and without that name."""
    return _digest(tokens), _digest(tokens[1:])


def _digest(tokens: Sequence[bytes]) -> str:
    whole = hashlib.blake2b(digest_size=16, person=b"mog.keys")
    for token in tokens:
        whole.update(b"%d:" % len(token) + token)
    return whole.hexdigest()
