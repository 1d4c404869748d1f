"""Events, checks and checkpoints of the ledger as JSON objects and as lines, safe to print.

Who calls: ``app/cli/ledger.py`` and, later, a pane. What may not come in: asking the workspace, writing to a stream. Proofs
are not shown here: they are printed as they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from mog.app.present import JsonObject, clean_tree
from mog.engine.attest import LedgerReport
from mog.engine.ledgers.events import Event, Head
from mog.engine.ledgers.signed import Signature
from mog.engine.reason.records import thaw

WORDS = 120
DIGITS = 10
_UID = re.compile(r"[0-9a-f]{32}")
_CONTEXT = ("by", "auditor", "reason", "event")  # kept with an event for people


def event(found: Event) -> JsonObject:
    """One event in full."""
    return clean_tree({**_row(found), "digest": found.digest, "data": thaw(found.data)})  # type: ignore[no-any-return]


def row(found: Event) -> JsonObject:
    """One event in a list."""
    return clean_tree(_row(found))  # type: ignore[no-any-return]


def _row(found: Event) -> JsonObject:
    return {"seq": found.seq, "type": found.type, "recorded_at": found.recorded_at, "summary": summary(found)}


def head(found: Head) -> JsonObject:
    """Where the ledger stands: its last event, Merkle root and state root."""
    return {"seq": found.seq, "digest": found.digest, "root": found.root, "state": found.state}


def report(found: LedgerReport) -> JsonObject:
    """What a full check found."""
    return clean_tree(  # type: ignore[no-any-return]
        {
            "ok": found.ok,
            "ledger": found.ledger,
            "head": head(found.head),
            "events": found.check.events,
            "records": found.check.records,
            "replayed": found.replayed,
            "damaged_at": found.check.damaged_at,
            "reason": found.check.reason,
            "flaws": [{"part": flaw.part, "where": flaw.where, "what": flaw.what} for flaw in found.check.flaws],
            "repairable": found.check.repairable,
            "checkpoint": checkpoint(found.signature) if found.signature else None,
            "witness": found.witness,
            "problems": list(found.problems),
        }
    )


def checkpoint(found: Signature) -> JsonObject:
    """A signed checkpoint: the note is the text to keep."""
    at = found.checkpoint
    return {
        "ledger": at.ledger, "size": at.size, "root": at.root, "state": at.state,
        "note": found.note, "key": found.key, "known": found.known,
    }  # fmt: skip


def summary(found: Event) -> str:
    """What an event did, in a few words: the records it made, or how many operations of which sort."""
    ops: Sequence[Any] = found.data.get("ops", ())
    made = [f"{op[2]} {op[4]}" for op in ops if op[0] == "node"]
    if made:
        more = f" and {len(made) - 1:,} more" if len(made) > 1 else ""
        return _cut(_said(found.data, made[0] if len(made) == 1 else _first(ops))) + more
    if len(ops) == 1:
        return _cut(_said(found.data, _told(ops[0])))
    if ops:
        counts = Counter(str(op[0]) for op in ops)
        listed = ", ".join(f"{name} {count:,}" for name, count in sorted(counts.items()))
        return _cut(_said(found.data, listed))
    note = found.data.get("note", found.data.get("id", ""))
    return _cut(str(note))


def _told(op: Sequence[Any]) -> str:
    """One operation in words: what it did to which record."""
    words = [
        str(part)[:DIGITS] if _UID.fullmatch(str(part)) else str(part) for part in op if part and isinstance(part, str)
    ]
    return " ".join(words)


def _first(ops: Sequence[Any]) -> str:
    """Of several records the one that says most: no source comes before what was drawn from it."""
    rows = [op for op in ops if op[0] == "node"]
    best = min(rows, key=lambda op: op[2] == "source")
    return f"{best[2]} {best[4]}"


def _said(data: Mapping[str, Any], what: str) -> str:
    context = [f"{name} {data[name]}" for name in _CONTEXT if data.get(name) and data.get(name) != "person"]
    return what + (f"  ({', '.join(context)})" if context else "")


def _cut(text: str) -> str:
    return text if len(text) <= WORDS else text[: WORDS - 3] + "..."
