"""What SCIP indexes give a graph, as one record. Called by ``view``.

What may not come in: reading of index files; everything was counted when it was linked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mog.engine.code.scip.loaded import NO_FILE, USED
from mog.engine.model import ScipHealth
from mog.engine.store import blobs
from mog.engine.store.index_db import IndexDB

EXAMPLES = 3


def health(db: IndexDB, meta: Mapping[str, Any]) -> ScipHealth:
    """The account of the generation that ``meta`` belongs to."""
    kept = meta["scip"]
    states = {(state or NO_FILE): (count, dropped, lost) for state, count, _, dropped, lost in _merged(db)}
    told = sum(count for code, count in meta.get("edge_counts", {}).items() if blobs.is_from_scip(int(code)))
    named = zip(kept["sources"], kept["tools"], strict=True)
    return ScipHealth(
        indexes=tuple(f"{source[0]} ({' '.join(tool)})" if tool[0] else source[0] for source, tool in named),
        documents={state: count for state, (count, _, _) in sorted(states.items())},
        examples={state: tuple(_examples(db, state)) for state in sorted(states) if state != USED},
        edges=told,
        dropped=sum(dropped for _, dropped, _ in states.values()),
        unplaced=sum(lost for _, _, lost in states.values()),
        problems={f"{index}: {field}: {reason}": count for index, field, reason, count in kept["problems"]},
    )


def _merged(db: IndexDB) -> list[tuple[str, int, int, int, int]]:
    """Sums by state; a document that was never linked belongs to no indexed source file."""
    merged: dict[str, tuple[int, int, int, int]] = {}
    for state, *numbers in db.scip_account():
        before = merged.get(state or NO_FILE, (0, 0, 0, 0))
        merged[state or NO_FILE] = tuple(a + b for a, b in zip(before, numbers, strict=True))  # type: ignore[assignment]
    return [(state, *numbers) for state, numbers in sorted(merged.items())]


def _examples(db: IndexDB, state: str) -> list[str]:
    """Printable paths of documents in a state."""
    paths = db.scip_examples(state, EXAMPLES) or (db.scip_examples("", EXAMPLES) if state == NO_FILE else [])
    return [path.encode("utf-8", "backslashreplace").decode() for path in paths]
