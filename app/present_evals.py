"""Results of suites as JSON objects, safe to print.

Who calls: ``app/cli/eval.py``. What may not come in: running a suite, writing to a stream. Keys are listed in docs/json.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from mog.app.present import JsonObject, clean_tree

if TYPE_CHECKING:
    from mog.engine.evals.suites import Measure, Suite, SuiteResult, Table


def suites(found: Iterable[Suite]) -> JsonObject:
    """The suites there are."""
    return clean_tree({"items": [{"name": one.name, "about": one.about} for one in found]})  # type: ignore[no-any-return]


def result(found: SuiteResult) -> JsonObject:
    """One result; a figure that is infinite (never reached) is null."""
    return clean_tree(  # type: ignore[no-any-return]
        {
            "suite": found.suite,
            "title": found.title,
            "about": found.about,
            "gates": [{"name": g.name, "target": g.target, "value": g.value, "met": g.met} for g in found.gates],
            "tables": [_table(one) for one in found.tables],
            "notes": list(found.notes),
            "setup": dict(found.setup),
        }
    )


def _table(found: Table) -> JsonObject:
    rows = [{"name": r.name, "note": r.note, "figures": {key: _figure(m) for key, m in r.measures.items()}} for r in found.rows]
    columns = [{"key": c.key, "title": c.title, "unit": c.unit} for c in found.columns]
    return {"title": found.title, "note": found.note, "columns": columns, "rows": rows}


def _figure(found: Measure) -> dict[str, Any]:
    return {"value": _finite(found.value), "low": _finite(found.low), "high": _finite(found.high), "n": found.n}


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
