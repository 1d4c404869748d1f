"""Which tasks of plans would have to run again when records fall. Called by ``truth``.

What may not come in: running, planning, a rule of its own: a done task is stale when an assumption it stands on or the
decision it led to has fallen, as ``executor/plan_state.py`` says of the store itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from mog.engine.drills.records import Tasks
from mog.engine.reason.overlay import Overlay

DONE = "done"


def stale(copy: Overlay, fell: Collection[str]) -> Tasks:
    """Tasks that are done and stand now, and would not once all of ``fell`` has fallen."""
    with copy.locked():
        rows = [row for key, row in copy.tables.rows["task"].items() if "/" in key]
        hit = (f"{row['plan']}/{row['name']}" for row in rows if _rests_on(row, fell) and _stands(copy, row))
        return Tasks(tuple(sorted(hit)), len(rows))


def _records(row: Mapping[str, Any]) -> tuple[str, ...]:
    return (row["node_id"], *row["assumption_ids"]) if row["node_id"] else tuple(row["assumption_ids"])


def _rests_on(row: Mapping[str, Any], fell: Collection[str]) -> bool:
    return row["state"] == DONE and any(id in fell for id in _records(row))


def _stands(copy: Overlay, row: Mapping[str, Any]) -> bool:
    return all(id in copy.graph and copy.stands(id) for id in _records(row))
