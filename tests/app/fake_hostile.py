"""The made-up workspace with every text field poisoned: escape sequences, overrides, wide and joined characters, endless names.

Who calls: tests of what reaches a screen. Records of any pane are poisoned alike, by walking what the workspace answers.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fake_workspace import FakeWorkspace

POISON = (
    "\x1b[31mred\x1b]0;owned\x07",
    "漢字🎉👩‍👩‍👧 emoji",
    "\u202eright to left\u202c אבג \u2066iso\u2069",
    "e\u0301\u0301\u0327\u0489 combined",
    "zero\u200bwidth\u200d\ufe0f\ufeff\u2060",
    "\x9b31mC1\x9d0;t\x9c",
    "half \udcff a byte",
    "lines\r\n\tand\x0b\x0c\x85\u2028ends",
    "[bold]markup[/] $(x) `y`",
    "n" * 10_000,
)
KEPT = frozenset({"id", "type", "kind", "node", "event", "digest", "root", "watcher", "now_at", "tier"})
"""Fields that are keys between records, or words of a closed list."""


def poisoned(record: Any, turn: itertools.cycle[str]) -> Any:
    """The same record with poison at the end of each text it holds."""
    if dataclasses.is_dataclass(record) and not isinstance(record, type):
        changed = {
            field.name: poisoned(getattr(record, field.name), turn)
            for field in dataclasses.fields(record)
            if field.name not in KEPT and field.init
        }
        return dataclasses.replace(record, **changed)
    if type(record) is str:
        return record + next(turn) if record else record
    if isinstance(record, tuple) and not hasattr(record, "_fields"):
        return tuple(poisoned(one, turn) for one in record)
    if type(record) is list:
        return [poisoned(one, turn) for one in record]
    if isinstance(record, Mapping):
        return {key: poisoned(one, turn) for key, one in record.items()}
    return record


class HostileWorkspace(FakeWorkspace):
    """Every answer is poisoned on its way out."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.root = Path("/made/up/shop\x1b[2Jkit\u202e")
        self._turn = itertools.cycle(POISON)

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name.startswith("_") or not callable(found) or name in ("emit", "subscribe", "has_index", "drift", "find"):
            return found
        return self._poisoning(found)

    def _poisoning(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def answer(*args: Any, **kwargs: Any) -> Any:
            return poisoned(call(*args, **kwargs), self._turn)

        return answer
