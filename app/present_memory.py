"""What is remembered as JSON objects, safe to print.

Who calls: ``app/cli/memory.py`` and, for structured results, ``app/mcp``. What may not come in: asking the workspace, writing to
a stream. Keys are listed in docs/json.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mog.app.present import Block, JsonObject, clean_tree

if TYPE_CHECKING:
    from mog.engine.memory.records import Alike, Held, Note, Recalled, Remembered


def recalled(found: Recalled) -> JsonObject:
    """Notes that answer, best first."""
    notes = [_note(one) for one in found.notes]
    answer = {"query": found.query, "items": notes, "total": found.total, "hidden": found.hidden}
    return clean_tree(answer)  # type: ignore[no-any-return]


def remembered(done: Remembered) -> JsonObject:
    """What a call that writes did."""
    return clean_tree(  # type: ignore[no-any-return]
        {
            "note": _note(done.note),
            "events": list(done.events),
            "alike": [_alike(one) for one in done.alike],
            "warnings": list(done.warnings),
            "falls": list(done.radius.falls.ids()),
            "weakens": [row.id for row in done.radius.weakens],
        }
    )


def note(found: Note) -> JsonObject:
    """One note."""
    return clean_tree(_note(found))  # type: ignore[no-any-return]


def _note(found: Note) -> JsonObject:
    return {
        "id": found.id, "ref": found.ref, "kind": found.kind, "text": Block(found.text), "origin": found.origin, "by": found.by,
        "type": found.type, "record": found.record, "standing": found.standing.value, "proposed": found.proposed,
        "gone": found.gone, "why": found.why, "freshness": found.freshness.value, "stale": found.stale,
        "anchors": [_held(one) for one in found.anchors], "pinned": found.pinned,
        "contradicted_by": list(found.contradicted_by), "event": found.seq, "commit": found.commit, "session": found.session,
        "because": found.because, "replaces": found.replaces, "replaced_by": found.replaced_by,
        "score": round(found.score, 4), "parts": {name: round(value, 4) for name, value in found.parts.items()},
    }  # fmt: skip


def _held(held: Held) -> JsonObject:
    row: JsonObject = {"locator": held.locator, "freshness": held.freshness.value, "reason": held.reason, "now_at": held.now_at}
    if held.changed is None:
        return {**row, "changed": None}
    one = held.changed
    told = {"since": one.since.value, "commit": one.commit, "date": one.date, "subject": one.subject, "again": one.again}
    return {**row, "changed": told}


def _alike(one: Alike) -> JsonObject:
    return {**_note(one.note), "share": round(one.share, 2), "against": one.against}
