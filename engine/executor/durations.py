"""How long tasks took when they last ran: counts for people, outside the ledger. Called by ``engine/work.py`` and ``breaks``.

What may not come in: clocks (a round measures), anything that decides what runs. Losing the file loses only an estimate.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

KEPT = 4096
MAX_BYTES = 1_000_000


def load(path: Path) -> dict[str, float]:
    """``plan/task`` → seconds; empty where nothing was kept or it cannot be read."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(path, flags), "rb") as handle:
            found = json.loads(handle.read(MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    rows = {str(k): float(v) for k, v in found.items() if isinstance(v, int | float) and not isinstance(v, bool)}
    return {name: seconds for name, seconds in rows.items() if math.isfinite(seconds) and seconds >= 0}


def save(path: Path, fresh: Mapping[str, float]) -> None:
    """Keep what was measured with what was known; the file is written whole or not at all, for its owner alone.

    A folder that cannot be written keeps the old estimates: no round fails for that.
    """
    if not fresh:
        return
    rows = {**{k: v for k, v in load(path).items() if k not in fresh}, **fresh}
    kept = dict(list(rows.items())[-KEPT:])
    draft = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(draft, flags, 0o600), "wb") as handle:
            handle.write(json.dumps({name: round(seconds, 3) for name, seconds in kept.items()}).encode())
        draft.replace(path)
    except OSError:
        draft.unlink(missing_ok=True)
