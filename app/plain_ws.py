"""Working sets as lines a person reads: a gauge, what is held and why, stubs.

Who calls: ``app/cli/ws.py``; pane 5 as its text twin. What may not come in: escape sequences, questions to the workspace.
Lines are cleaned by whoever prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mog.app.plain import Glyphs, Line, plural
from mog.app.present import Block
from mog.engine.memory.set_stubs import amount
from mog.engine.model import Freshness

if TYPE_CHECKING:
    from mog.engine.memory.set_records import Entry, Recalled, SessionRow, State, Stub, Turned, Weighed

CELLS = 30
STUBS_SHOWN = 5


def state(found: State, glyphs: Glyphs, *, explain: bool = False, limit: int = 40) -> Iterator[Line]:
    """Gauge, table, the latest stubs, sums."""
    yield (found.session, "name"), (f"  turn {found.turn}, window {amount(found.budget.window)} tokens", "muted")
    yield gauge(found)
    for warning in found.warnings:
        yield (("! " + warning, "attn"),)
    if found.items:
        yield ((f"{'ref':<15} {'tokens':>7} {'score':>6} {'per 1k':>7}  {'kept':<12} zoom  what", "muted"),)
    for row in found.items[:limit]:
        yield from _row(row, glyphs, explain=explain)
    if len(found.items) > limit:
        yield ((f"not shown: {len(found.items) - limit:,} more that are held; --limit shows them", "muted"),)
    for one in found.stubs[:STUBS_SHOWN]:
        yield ((one.line, "muted"),)
    if len(found.stubs) > STUBS_SHOWN:
        yield ((f"{len(found.stubs) - STUBS_SHOWN:,} earlier stubs: `mog ws stubs`", "muted"),)
    yield ((_sums(found), "muted"),)


def gauge(found: State) -> Line:
    """``[#########|-----] 5,432 of 8,000 tokens``: the bar ends at the budget, ``|`` is the mark that eviction goes down to."""
    budget = max(1, found.budget.tokens)
    full, mark = min(CELLS, found.used * CELLS // budget), min(CELLS - 1, found.budget.low * CELLS // budget)
    cells = "".join("|" if at == mark else "#" if at < full else "-" for at in range(CELLS))
    said = f" {found.used:,} of {found.budget.tokens:,} tokens held, room for {found.room:,}"
    return (f"[{cells}]", "attn" if found.over else "state"), (said, ""), (f"  ({found.estimator})", "muted")


def _row(row: Weighed, glyphs: Glyphs, *, explain: bool) -> Iterator[Line]:
    one = row.entry
    figures = f"{one.ref:<15} {one.tokens:>7,} {row.score:>6.2f} {row.value:>7.2f}  "
    told = f"  {glyphs.states[row.now.freshness.value]} {row.now.freshness.value}"
    state = told if row.now.freshness not in (Freshness.fresh, Freshness.unknown) else ""
    kept = (f"{row.kept or 'scored':<12} ", "state" if row.kept else "muted")
    yield (figures, "muted"), kept, (f"{one.zoom.name:<5} ", "muted"), (one.title, "name"), (state, "attn")
    if explain:
        parts = " + ".join(f"{name} {value:.2f}" for name, value in row.parts.items())
        changed = f"; since then {row.now.changed}" if row.now.changed else ""
        yield ((f"    {one.id}: {parts}; turns {one.first} to {one.last}, {plural(one.hits, 'hit')}{changed}", "muted"),)


def _sums(found: State) -> str:
    sums = found.totals
    parts = [f"{sums.servings:,} served", f"{sums.hits:,} asked for again ({amount(sums.saved)} tokens not paid twice)"]
    parts += [f"{sums.evictions:,} evicted", f"{sums.recalls:,} recalled"]
    return ", ".join(parts) + (f", {sums.refusals:,} refused as too large" if sums.refusals else "")


def sessions(found: Sequence[SessionRow]) -> Iterator[Line]:
    """One line a session, the last used first."""
    for one in found:
        what = f"  turn {one.turn}, {plural(one.items, 'thing')}, {one.used:,} of {one.budget:,} tokens, {plural(one.stubs, 'stub')}"
        yield (one.name, "name"), (what, "muted")


def stubs(found: Sequence[Stub]) -> Iterator[Line]:
    """The stubs as an agent sees them."""
    for one in found:
        yield (one.line, ""), ("" if one.whole else "  its bytes were given up for space", "attn")


def recalled(found: Recalled) -> Iterator[Line]:
    """What it is and what changed since, then the text as it was served."""
    one = found.entry
    yield (one.id, "name"), (f"  {one.kind}, {one.zoom.name}, {one.label}, served in turn {one.first}", "muted")
    if found.now.changed:
        yield ((f"! since then {found.now.changed}", "attn"),)
    for line in found.item.text.removesuffix("\n").split("\n"):
        yield ((Block(line), ""),)
    yield from turned(found.turned)


def turned(done: Turned) -> Iterator[Line]:
    """What a call did: stubs of what it evicted, what is held now."""
    yield from stubs(done.evicted)
    for warning in done.warnings:
        yield (("! " + warning, "attn"),)
    yield ((f"{done.used:,} of {done.budget:,} tokens held", "muted"),)


def pinned(one: Entry) -> Iterator[Line]:
    """A thing that was pinned, or let go."""
    said = "is never evicted" if one.pinned else "is evicted when its score says so"
    yield (one.title, "name"), (f"  {one.ref} {said}", "muted")
