"""Bodies of the context tools: catalog, scope, handles.

Who calls: ``desk``, on a thread. What may not come in: the raw graph, making one shape out of another (DESIGN §10).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mog.app.mcp.answers import Answer, Row, brief, paged
from mog.app.mcp.tools_packs import packed
from mog.app.present_context import shape

if TYPE_CHECKING:
    from mog.app.mcp.desk import Ask


def catalog(ask: Ask) -> Answer:
    """What there is, and what of it may answer."""
    ask.desk.need_index()
    made = shape(ask.workspace.context.catalog(ask.given.get("query", ""), progress=ask.going_on))
    made.pop("scan_health", None)  # the stamp counts what the index does not cover
    plain = {name: value for name, value in made.items() if not isinstance(value, list)}
    lists = {name: value for name, value in made.items() if isinstance(value, list)}
    rows = [_entry(name, one) for name, value in lists.items() for one in value]
    first, left = paged(rows, ask.given.get("page", ""))
    counts = {name: len(value) for name, value in lists.items()}
    said = [", ".join(f"{count} {name}" for name, count in counts.items()) or "nothing"]
    return Answer(said, {**plain, "counts": counts}, (), left, len(rows), first)


def _entry(part: str, value: Any) -> Row:
    data = {"part": part, **(value if isinstance(value, dict) else {"value": value})}
    text = " ".join(
        str(one) for name, one in data.items() if name != "part" and isinstance(one, str | int | float) and one != ""
    )
    return Row(f"{part}: {brief(text, 240)}", data)


def scope(ask: Ask) -> Answer:
    """Proposed paths as the index knows them."""
    ask.desk.need_index()
    made = shape(ask.workspace.context.scope(ask.given["paths"], ask.given.get("query", "")))
    plain = {name: value for name, value in made.items() if not isinstance(value, list)}
    rows = [_entry(name, one) for name, value in made.items() if isinstance(value, list) for one in value]
    said = ["a scope informs; it gives no right to edit"]
    return Answer(said, {"scope": plain}, (), rows, len(rows))


def load(ask: Ask) -> Answer:
    """A handle, asked anew."""
    ask.desk.need_index()
    return packed(ask, ask.workspace.context.load(ask.given["handle"], budget=ask.given["budget"]))


def create(ask: Ask) -> Answer:
    """A handle for a query and places."""
    ask.desk.need_index()
    made = ask.workspace.context.create(ask.given.get("query", ""), ask.given.get("pinned", ()))
    rows = [Row(f"pinned {place}", {"at": place}) for place in made.pinned]
    said = [f"{made.name} stands for it; search_context takes it as query"]
    return Answer(said, {"handle": made.name, "query": brief(made.query, 200)}, (), rows, len(rows), path=[made.name])
