"""``contextmesh.runledger v1`` as records: the strict reader, the chain, and the writer of its exact bytes.

Called by ``session_dir``, ``store`` and whoever records a run. A chain shows that a line was changed, dropped, moved or put
in. It does not show that somebody made all of it anew: only a head known from before does. What may not come in: the mesh.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mog.engine.errors import UsageError
from mog.engine.executor.v1.records import DIGEST, EVENTS, GENESIS, RUNLEDGER_SCHEMA, EntryV1, RunLedgerV1
from mog.engine.reason.v1 import fields
from mog.engine.reason.v1.fields import damaged
from mog.engine.values import plain

_LEDGER = ("head", "entries")
_ENTRY = ("seq", "round", "event", "task", "detail", "node_id", "assumption_id", "data", "digest")


def read_runledger(data: bytes, where: str = "runledger", *, expect_head: str | None = None) -> RunLedgerV1:
    """The ledger of a ``contextmesh.runledger v1`` text; ``where`` is the file's name for errors.

    Args:
        expect_head: digest the last line must have, known from elsewhere.

    Raises:
        UsageError: another format or version.
        StoreDamaged: anything the format forbids, or a chain that does not hold; the error names the entry and the field.
    """
    top = fields.schema(fields.load(data, where), RUNLEDGER_SCHEMA, _LEDGER, where)
    head = digest(top["head"], f"{where}: head")
    entries: list[EntryV1] = []
    previous = GENESIS
    for i, row in enumerate(fields.rows(top["entries"], f"{where}: entries")):
        entry = _entry(row, i + 1, f"{where}: entries[{i}]")
        if entry_digest(entry, previous) != entry.digest:
            what = "the digest is not that of the entry and the one before it: one of them was changed, dropped or moved"
            raise damaged(what, f"{where}: entries[{i}].digest")
        entries.append(entry)
        previous = entry.digest
    if previous != head:
        raise damaged(f"the head says {head[:12]}…, the entries end at {previous[:12]}…", f"{where}: head")
    if expect_head is not None and head != expect_head:
        raise damaged(f"another history than the one expected, which ends at {expect_head[:12]}…", f"{where}: head")
    return RunLedgerV1(tuple(entries))


def digest(value: Any, where: str) -> str:
    """A SHA-256 digest as the formats write it: 64 small hex digits."""
    text = fields.text(value, where)
    if not DIGEST.fullmatch(text):
        raise damaged(f"not a digest of 64 small hex digits: {text!r:.80}", where)
    return text


def _entry(value: Any, seq: int, where: str) -> EntryV1:
    row = fields.record(value, _ENTRY, where)
    entry = EntryV1(
        fields.count(row["seq"], f"{where}.seq"),
        fields.count(row["round"], f"{where}.round"),
        fields.text(row["event"], f"{where}.event"),
        fields.text(row["task"], f"{where}.task"),
        fields.text(row["detail"], f"{where}.detail"),
        fields.maybe_text(row["node_id"], f"{where}.node_id"),
        fields.maybe_text(row["assumption_id"], f"{where}.assumption_id"),
        fields.free(row["data"], f"{where}.data"),
        digest(row["digest"], f"{where}.digest"),
    )
    if entry.seq != seq:
        raise damaged(f"the entry says {entry.seq} and stands in place {seq}", f"{where}.seq")
    if entry.event not in EVENTS:
        raise damaged(f"no event {entry.event!r:.80}", f"{where}.event")
    return entry


def entry_digest(entry: EntryV1, previous: str) -> str:
    """SHA-256 of an entry's canonical text, with the digest before it; the entry's own ``digest`` is not part of it.

    The canonical text is the format's own, which is not RFC 8785: keys by code point, numbers as Python writes them.
    """
    said = {name: getattr(entry, name) for name in _ENTRY if name != "digest"}
    text = json.dumps({**said, "previous": previous}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def appended(
    ledger: RunLedgerV1, round: int, event: str, task: str, detail: str, *, node_id: str | None = None,
    assumption_id: str | None = None, data: Mapping[str, Any] | None = None,
) -> RunLedgerV1:  # fmt: skip
    """The ledger with one more line.

    Raises:
        UsageError: an event that is none, or a value without one JSON form; nothing else ever comes out of it.
    """
    if event not in EVENTS:
        raise UsageError(f"no event {event!r:.80}", where="event", way_out=f"one of {', '.join(EVENTS)}")
    said = {"task": task, "detail": detail, "node_id": node_id, "assumption_id": assumption_id, "data": dict(data or {})}
    said = plain(said, "entry")
    entry = EntryV1(len(ledger.entries) + 1, plain(round, "round"), event, **said)
    return RunLedgerV1((*ledger.entries, replace(entry, digest=entry_digest(entry, ledger.head))))


def write_runledger(ledger: RunLedgerV1) -> bytes:
    """The text of a ledger, byte for byte as the format has it (``fields.pretty``)."""
    rows = [{name: getattr(entry, name) for name in _ENTRY} for entry in ledger.entries]
    return fields.pretty({"schema": RUNLEDGER_SCHEMA, "version": 1, "head": ledger.head, "entries": rows})
