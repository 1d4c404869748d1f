"""The ledger as lines a person reads: events, one event in full, what a check found, a checkpoint.

Who calls: ``app/cli/ledger.py``; later a pane's text twin. What may not come in: escape sequences, widths of a terminal,
questions to the workspace.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from mog.app.plain import Glyphs, Line, plural
from mog.app.present_ledger import summary
from mog.engine.attest import LedgerReport
from mog.engine.ledgers.events import Event, Head
from mog.engine.reason.records import thaw


def rows(events: Iterable[Event], head: Head, left: int, glyphs: Glyphs) -> list[Line]:
    """A list of events, what is not shown, and where the ledger stands."""
    lines: list[Line] = []
    for event in events:
        when = event.recorded_at[:19].replace("T", " ")
        row: Line = ((f"{event.seq:>7,}  ", "name"), (f"{when}  ", "muted"), (f"{event.type:<11}  ", "state"))
        lines.append((*row, (summary(event), "")))
    if left:
        lines.append(((f"{plural(left, 'later event')}: --after, --limit", "attn"),))
    root = f", root {head.root[:12]}, state {head.state[:12]}" if head.root else ""
    return [*lines, ((f"{plural(head.seq, 'event')}{root}", "muted"),)]


def event(found: Event) -> list[Line]:
    """One event in full: its number, digest and every word of it."""
    lines: list[Line] = [((f"event {found.seq}  {found.type}", "name"), (f"  {found.recorded_at}", "muted"))]
    lines.append(((f"  digest {found.digest}", "muted"),))
    data = thaw(found.data)
    for name, value in sorted(data.items()):
        if name != "ops":
            lines.append(((f"  {name}: {_word(value)}", ""),))
    lines += [((f"  {' '.join(_word(part) for part in op)}", ""),) for op in data.get("ops", ())]
    return lines


def _word(value: object) -> str:
    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)


def report(found: LedgerReport, glyphs: Glyphs) -> list[Line]:
    """What a full check found: what holds, and what does not."""
    check = found.check
    lines: list[Line] = []
    if check.ok:
        what = "chain, Merkle tree and state roots hold"
        replay = "; replayed, every record is what the events give" if found.replayed else ""
        lines.append(((f"{plural(check.events, 'event')}: {what}{replay}", "name"),))
    else:
        lines.append(((f"damaged: {check.reason}", "attn"),))
        lines += [((f"  {flaw}", "attn"),) for flaw in check.flaws[:20]]
        lines.append(((f"  {plural(check.events, 'event')} hold before that", "muted"),))
        way_out = "`mog doctor --repair`" if check.repairable else "restore ledger.db from a copy"
        lines.append(((f"  {glyphs.out} {way_out}", "attn"),))
    lines += [((f"records    {check.records:,}", "muted"),)] if check.ok else []
    lines.append(((f"checkpoint {_signed(found)}", "muted"),))
    lines.append(((f"witness    {found.witness}", "muted"),))
    return lines + [((f"problem    {problem}", "attn"),) for problem in found.problems]


def _signed(found: LedgerReport) -> str:
    if found.signature is None:
        return "none: `mog ledger checkpoint` makes one"
    whose = "by a key you know" if found.signature.known else "by a key that nobody here knows"
    return f"signed at event {found.signature.checkpoint.size:,} {whose}"
