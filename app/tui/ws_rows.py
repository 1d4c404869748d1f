"""Rows of pane 5: a gauge, what an agent holds with what speaks for it, what goes next, what was evicted, and recalled bytes.

Who calls: ``panes/ws.py``. What may not come in: the toolkit, questions to the workspace. Titles, ids and served bytes are cleaned
here; recalled bytes keep their lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui import reason_rows
from mog.app.tui.rows import MARKS, Sheet, chip_cell, head, note, place_in
from mog.engine import model as m
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.engine.memory.set_records import Entry, Recalled, State, Stub, Weighed

FULL, INLINE = 46, 84
"""Cells from which every item is listed, and from which its score parts stand beside it."""
FEW, STUBS = 3, 12
NOTES = {
    "decision": "decision", "constraint": "assumption", "failure": "evidence", "observation": "evidence", "correction": "evidence",
    "episode": "source",
}  # fmt: skip
"""Kind of a note → type of record it is; another kind is a claim."""
SHORT = {"freshness": "fresh"}
KEPT = {"active_task": "a task not done", "recent": "just served"}


def share_of(state: State) -> int:
    """Percent of the client's window that is held."""
    return state.used * 100 // max(1, state.budget.window)


def set_sheet(state: State, sessions: int, width: int, *, parts: bool, whole: bool) -> Sheet:
    """One session's set.

    Args:
        parts: show what each score is made of. whole: list everything, whatever the width.
    """
    order = sorted(state.items, key=lambda row: (bool(row.kept), row.value, row.entry.last, row.entry.ref))
    full = whole or width >= FULL
    shown = order if full else order[:FEW]
    lines: list[Line | Row] = [*_gauge(state, width), _counts(state, order)]
    lines += [note(clean(word), "attn") for word in state.warnings]
    next_out = order[0].entry.ref if order and not order[0].kept else ""
    for row in shown:
        lines += _item(row, width, next_out == row.entry.ref, parts=parts and full)
    if len(shown) < len(order):
        lines.append(note(f"+{len(order) - len(shown):,} more held; m shows them"))
    stubs = state.stubs if whole else state.stubs[:STUBS] if full else ()
    lines += [_stub(one, width) for one in stubs]
    if full and len(stubs) < len(state.stubs):
        lines.append(note(f"+{len(state.stubs) - len(stubs):,} older stubs; mog ws stubs lists them"))
    things: dict[str, Any] = {f"item:{row.entry.ref}": row for row in order} | {
        f"stub:{one.ref}": one for one in state.stubs
    }
    of = f"“{clean(state.session)[:20]}”" + (f"  1 of {sessions}, v" if sessions > 1 else "")
    amount = f"{state.used:,} of {state.budget.window:,}" + (
        f" tokens ({clean(state.estimator)})" if width >= INLINE else ""
    )
    return Sheet(Lines(lines), things, of if width >= FULL else "", amount)


def _gauge(state: State, width: int) -> list[Row]:
    """Share of the window that is held, ``│`` where eviction begins."""
    cells, budget = 21 if width < FULL else 30, state.budget
    full = min(cells, state.used * cells // max(1, budget.window))
    mark = min(cells - 1, budget.pct * cells // 100)
    drawn = "".join("│" if at == mark else "█" if at < full else "░" for at in range(cells))
    said = f"evicts at {budget.pct}%, down to {budget.low_pct}%"
    role = "attn" if state.over or state.used > budget.tokens else "text"
    bar = (Cell(drawn[:mark], role), Cell(drawn[mark], "key", True), Cell(drawn[mark + 1 :], role))
    held = (*bar, Cell(f"  {share_of(state)}%", "text", True))
    if width >= FULL + 18:
        said = f"   starts to evict at │ {budget.pct}%, stops at {budget.low_pct}%"
        return [Row("", (*held, Cell(said, "muted", False, "tail")))]
    return [Row("", held), note(said)]


def _counts(state: State, order: Sequence[Weighed]) -> Row:
    pinned = sum(bool(row.entry.pinned) for row in order)
    off = sum(row.now.freshness not in (m.Freshness.fresh, m.Freshness.unknown) for row in order)
    cells = [Cell(f"{plural(len(order), 'item')}  {pinned} pinned  {plural(len(state.stubs), 'stub')}")]
    cells += [Cell(f"  {off} changed since", "stale", False, "drop")] if off else []
    return Row("", tuple(cells))


def _chip(entry: Entry) -> Cell:
    if entry.id.startswith("note:"):
        return reason_rows.chip_cell(NOTES.get(entry.kind, "claim"))
    kind = "file" if entry.id.startswith("file:") else "symbol"
    return chip_cell(m.Node(0, "", kind, entry.kind, "", "", ""))


def _item(row: Weighed, width: int, next_out: bool, *, parts: bool) -> list[Row]:
    entry = row.entry
    glyph, role = MARKS[row.now.freshness]
    off = row.now.freshness not in (m.Freshness.fresh, m.Freshness.unknown)
    mark = (Cell(f"{glyph} ", role, True),) if off else ()
    pin = (Cell("■ ", "key", True),) if entry.pinned else ()
    name = Cell(clean(entry.title), "text", False, "tail")
    score = Cell(f"{row.value:6.2f}  ", "muted")
    fate = "next out" if next_out else KEPT.get(row.kept, row.kept.replace("_", " "))
    right = [Cell(entry.zoom.name if width >= FULL else "", "muted"), Cell(f"{entry.tokens:>7,}")]
    right += [Cell(f"  {fate:<9}", "attn" if next_out else "muted")] if width >= FULL else []
    inline = (Cell(f"   {_parts(row)}", "muted", False, "drop"),) if width >= INLINE and not parts else ()
    made = Row(
        f"item:{entry.ref}", (score, _chip(entry), Cell(" "), *mark, *pin, name, *inline), tuple(right), words=_words(row, fate),
        copy=entry.ref,
    )  # fmt: skip
    return [made, note(_parts(row), indent=12)] if parts else [made]


def _parts(row: Weighed) -> str:
    return "  ".join(f"{SHORT.get(name, name)} {value:.2f}" for name, value in row.parts.items())


def _words(row: Weighed, fate: str) -> tuple[str, ...]:
    entry = row.entry
    changed = f"since then {clean(row.now.changed)}" if row.now.changed else row.now.freshness.value
    first = f"{clean(entry.id)}: {entry.tokens:,} tokens, {changed}"
    return (first, f"score {row.score:.2f}: {_parts(row)}; {plural(entry.hits, 'hit')}" + (f"; {fate}" if fate else ""))


def _stub(one: Stub, width: int) -> Row:
    kept = "r brings it back" if one.whole else "its bytes were given up"
    right = [Cell(one.zoom.name if width >= FULL else "", "muted"), Cell(f"{one.tokens:>7,}", "muted")]
    right += [Cell("  evicted  ", "muted")] if width >= FULL else []
    words = (f"{clean(one.id)}: evicted in turn {one.out}", f"the stub stands for {one.tokens:,} tokens; {kept}")
    cells = (Cell("  stub  ", "muted"), Cell(clean(one.title), "muted", False, "tail"))
    return Row(f"stub:{one.ref}", cells, tuple(right), words=words, copy=one.ref)


def recalled_sheet(found: Recalled, width: int) -> Sheet:
    """The bytes as they were served, and what became of them since."""
    entry, now = found.entry, found.now
    told = f"as it was served in turn {entry.first}, {plural(entry.size, 'byte')}, {entry.tokens:,} tokens"
    glyph, role = MARKS[now.freshness]
    since = clean(now.changed) or ("it is still so" if now.freshness is m.Freshness.fresh else now.freshness.value)
    lines: list[Line | Row] = [head(clean(entry.id), entry.zoom.name, clean(entry.label)), note(told)]
    lines += [Row("", (Cell(f"{glyph} ", role, True), Cell(f"since then {since}", "text", False, "tail"))), BLANK]
    text = found.item.text.removesuffix("\n").split("\n")
    lines += [
        Row(
            f"text:{at}",
            (Cell(f"{at + 1:>4}  ", "muted"), Cell(_shown(line), "text", False, "tail")),
            copy=_shown(line),
        )
        for at, line in enumerate(text)
    ]
    return Sheet(Lines(lines), {}, "recalled", "held again; esc goes back")


def _shown(line: str) -> str:
    return clean(line.expandtabs(4))


def path_of(thing: Any) -> str:
    """Path of what an item or a stub is about, "" for a note."""
    found = getattr(thing, "entry", thing)
    id = getattr(found, "id", "")
    return "" if id.startswith("note:") else place_in(id).path
