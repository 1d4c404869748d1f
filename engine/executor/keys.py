"""Keys of the executor's records in the store: readable, and no two names share one. Used by its rooms.

What may not come in: anything but names.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import quote

from mog.engine.errors import UsageError

MAX_NAME_BYTES = 200


@lru_cache(maxsize=8_192)
def _quoted(name: str) -> str:
    return quote(name, safe="")


def plan(name: str) -> str:
    """Key of a plan."""
    return _quoted(name)


def task(plan_name: str, name: str) -> str:
    """Key of a task and of its trace."""
    return f"{plan(plan_name)}/{_quoted(name)}"


def run(plan_name: str, seq: int) -> str:
    """Key of an entry of a run ledger, in the order of numbers up to 99,999,999."""
    return f"{plan(plan_name)}/{seq:08d}"


def check(name: str, what: str) -> str:
    """``name`` when it can name a plan or task: 1 to 200 bytes of printable text. Raises UsageError."""
    sound = isinstance(name, str) and name.isprintable() and name == name.strip()
    if not sound or not 0 < len(name.encode("utf-8", "replace")) <= MAX_NAME_BYTES:
        raise UsageError(f"{name!r:.80} cannot name a {what}", way_out=f"1 to {MAX_NAME_BYTES} bytes of printable text")
    return name
