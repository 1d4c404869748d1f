"""Working sets as JSON objects, safe to print.

Who calls: ``app/cli/ws.py``, for structured results ``app/mcp``, pane 5. What may not come in: asking the workspace, writing to a
stream. Keys are listed in docs/json.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from mog.app.present import Block, JsonObject, clean, clean_tree

if TYPE_CHECKING:
    from mog.engine.memory.set_records import Entry, Recalled, SessionRow, State, Stub, Turned, Weighed


def state(found: State) -> JsonObject:
    """A set as it stands."""
    return clean_tree(  # type: ignore[no-any-return]
        {
            "session": found.session, "turn": found.turn, "window": found.budget.window, "budget": found.budget.tokens,
            "low": found.budget.low, "used": found.used, "over": found.over, "room": found.room, "estimator": found.estimator,
            "items": [_weighed(one) for one in found.items], "stubs": [_stub(one) for one in found.stubs],
            "totals": asdict(found.totals), "warnings": list(found.warnings),
        }
    )  # fmt: skip


def stubs(session: str, found: Sequence[Stub]) -> JsonObject:
    """What stands for the evicted, the latest first."""
    return clean_tree({"session": session, "items": [_stub(one) for one in found]})  # type: ignore[no-any-return]


def sessions(found: Sequence[SessionRow]) -> JsonObject:
    """Every session, the last used first."""
    return clean_tree({"items": [asdict(one) for one in found]})  # type: ignore[no-any-return]


def turned(done: Turned) -> JsonObject:
    """What a call did to a set."""
    return clean_tree(_turned(done))  # type: ignore[no-any-return]


def recalled(found: Recalled) -> JsonObject:
    """A thing as it was served, what changed since, and what taking it in again did."""
    answer = {
        **_entry(found.entry), "freshness": found.now.freshness.value, "changed": found.now.changed,
        "provenance": found.entry.provenance, "did": _turned(found.turned),
    }  # fmt: skip
    return {**clean_tree(answer), "text": Block(clean(found.item.text, keep="\n\t"))}


def entry(found: Entry) -> JsonObject:
    """One held thing, without its score."""
    return clean_tree(_entry(found))  # type: ignore[no-any-return]


def _entry(one: Entry) -> JsonObject:
    return {
        "ref": one.ref, "id": one.id, "title": one.title, "kind": one.kind, "label": one.label, "zoom": one.zoom.name,
        "tokens": one.tokens, "bytes": one.size, "hits": one.hits, "first": one.first, "last": one.last, "pinned": one.pinned.name,
    }  # fmt: skip


def _weighed(row: Weighed) -> JsonObject:
    return {
        **_entry(row.entry), "freshness": row.now.freshness.value, "changed": row.now.changed, "kept": row.kept or "scored",
        "score": round(row.score, 4), "value": round(row.value, 4),
        "parts": {name: round(value, 4) for name, value in row.parts.items()},
    }  # fmt: skip


def _stub(one: Stub) -> JsonObject:
    return {
        "ref": one.ref, "id": one.id, "title": one.title, "zoom": one.zoom.name, "tokens": one.tokens, "out": one.out,
        "line": one.line, "whole": one.whole,
    }  # fmt: skip


def _turned(done: Turned) -> JsonObject:
    return {
        "session": done.session, "turn": done.turn, "used": done.used, "budget": done.budget, "taken": list(done.taken),
        "hits": list(done.hits), "refused": [asdict(one) for one in done.refused], "evicted": [_stub(one) for one in done.evicted],
        "warnings": list(done.warnings),
    }  # fmt: skip
