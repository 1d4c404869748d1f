"""Drift as rows: code under beliefs and pins that is not as it was recorded, what rests on it, since when, and what was judged.

Who calls: the pane of drift. What may not come in: the toolkit, questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mog.app.present import clean
from mog.app.tui import reason_rows
from mog.app.tui.drift_asks import WORST, Account, Held, Place
from mog.app.tui.rows import (
    MARKS,
    STATES,
    Reason,
    Sheet,
    Thing,
    anchor_chip,
    anchor_name,
    anchor_path,
    chip_cell,
    note,
    place_in,
    prose,
    quoted,
    teach,
)
from mog.engine import model as m
from mog.widgets.view import Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.engine.memory.records import Changed

WIDE = 64


def drift_sheet(account: Account | None, width: int, *, roomy: bool = True) -> Sheet:
    """Anchors of beliefs and pins, those that no longer hold first; ``None`` while nobody has looked yet.

    Args:
        roomy: say why below each that does not hold; the words at the foot say it anyway.
    """
    if account is None:
        return Sheet(teach("Comparing what is pinned and believed with the disk.", width=width - 4), title_right="?")
    if not account.total:
        text = "Nothing is tied to code yet."
        how = "p on a symbol pins a note, mog assume --about ties a belief to it: both drift when the code under them does."
        return Sheet(teach(text, how, width=width - 4), title_right="0 pins")
    things: dict[str, Thing] = {}
    pins = sorted(account.pins, key=lambda s: (WORST.index(s.freshness), -s.pin.seq))
    off_places = [place for place in account.places if place.freshness is not m.Freshness.fresh]
    off_pins = [state for state in pins if state.freshness is not m.Freshness.fresh]
    lines: list[Line | Row] = [row for place in off_places for row in _place_rows(place, things, width, roomy)]
    lines += [row for state in off_pins for row in _pin_rows(state, things, roomy)]
    lines.append(note(_counted(account), "text"))
    fresh = [place for place in account.places if place.freshness is m.Freshness.fresh]
    lines += [row for place in fresh for row in _place_rows(place, things, width, False)]
    lines += [row for state in pins if state.freshness is m.Freshness.fresh for row in _pin_rows(state, things, roomy)]
    off = account.total - account.count(m.Freshness.fresh)
    return Sheet(Lines(lines), things, title_right=f"{off:,} of {account.total:,}")


def _counted(account: Account) -> str:
    fresh, unknown = account.count(m.Freshness.fresh), account.count(m.Freshness.unknown)
    return f"{fresh:,} fresh, {unknown:,} not known"


# -- beliefs


def _place_rows(place: Place, things: dict[str, Thing], width: int, roomy: bool) -> list[Row]:
    key = f"at:{place.locator}"
    things[key] = place
    glyph, role = MARKS[place.freshness]
    at = place_in(place.locator)
    chip = m.Node(0, "", "file" if place.locator.startswith("file:") else "symbol", place.kind, "", "", "")
    cells = (
        Cell(f"{glyph} ", role, True),
        chip_cell(chip),
        Cell(" "),
        Cell(clean(at.name or at.path), "text", False, "head"),
    )
    fresh = place.freshness is m.Freshness.fresh
    right = [Cell(reason_rows.type_counts(place.types), "reason")]
    right.append(
        Cell(f"  {place.freshness.value}", "muted" if fresh else "text", False, "" if width >= WIDE else "drop")
    )
    words = (f"{why_words(place)}: {clean(place.locator)}", _place_words(place))
    rows = [Row(key, cells, tuple(right), words=words, copy=clean(place.locator))]
    if roomy and not fresh:
        said = ", ".join(part for part in (why_words(place), since_words(place)) if part)
        rows += [Row("", (Cell(" " * 6), *row.cells)) for row in prose(said, max(16, width - 10), "muted", 3)]
    return rows + [_belief_row(one, things, width) for one in place.held]


def why_words(place: Place) -> str:
    """Why a place is in the state it is in: ``now sym:pkg/b.py::run``, ``span changed``."""
    if place.freshness is m.Freshness.moved and place.now_at:
        return f"now {clean(place.now_at)}"
    return clean(place.reason) or STATES[place.freshness].partition(": ")[2]


def since_words(place: Place) -> str:
    """``since 4f2a19c 2026-03-02 “round lines”``, ``not committed, seen 12:44``; "" where nobody can say."""
    changed = place.changed
    seen = next((one.since[11:16] for one in place.held if one.since), "")
    noticed = f"noticed {clean(seen)}" if seen else ""
    if changed is None or changed.since in ("unknown", "elsewhere"):
        return noticed
    return ", ".join(part for part in (_committed(changed), noticed) if part)


def _committed(changed: Changed) -> str:
    if changed.since == "working_tree":
        return "not committed"
    again = ", and again without a commit" if changed.again else ""
    return f"since {clean(changed.commit[:7])} {clean(changed.date)} “{reason_rows.clip(changed.subject, 80)}”{again}"


def _place_words(place: Place) -> str:
    rest = f"{reason_rows.type_counts(place.types)} rest on it"
    since = since_words(place)
    act = "a audits, r compares again" if any(one.open for one in place.held) else "enter goes there"
    return ", ".join(part for part in (rest, since) if part) + f"; {act}"


def state_of(held: Held) -> tuple[str, str]:
    """How a drift under a belief was judged, and the role of that word: ``open``, ``refuted``, ``held``, "" when it did not drift."""
    if held.judgement is not None:
        return ("refuted", "fallen") if held.judgement.verdict == "contradicts" else ("held", "standing")
    return ("open", "attn") if held.open else ("", "muted")


def _belief_row(held: Held, things: dict[str, Thing], width: int) -> Row:
    key = f"belief:{held.drift.anchor.id}"
    things[key] = Reason(held.node.id, held.node.type, held.node.label)
    word, role = state_of(held)
    judged = held.judgement
    by = f" by {reason_rows.clip(judged.auditor, 24)}" if judged is not None and width >= WIDE else ""
    said = f"{word} by {reason_rows.clip(judged.auditor, 60)}: “{reason_rows.clip(judged.reason)}”" if judged else ""
    also = said or ("nobody judged it yet: a audits; drift alone fells nothing" if held.open else "")
    right = (Cell(f"{word}{by}", role),) if word else ()
    return reason_rows.row(key, held.node, held.label, lead=(Cell("    "),), right=right, also=also)


# -- pins


def _pin_rows(state: m.PinState, things: dict[str, Thing], roomy: bool) -> list[Row]:
    things[f"pin:{state.pin.id}"] = state
    glyph, role = MARKS[state.freshness]
    name = Cell(anchor_name(state), "text", False, "head")
    cells = (Cell(f"{glyph} ", role, True), anchor_chip(state), Cell(" "), name)
    fresh = state.freshness is m.Freshness.fresh
    word = Cell(state.freshness.value, "muted" if fresh else "text", False, "drop" if fresh else "")
    row = Row(f"pin:{state.pin.id}", cells, (word,), words=_pin_words(state), copy=clean(state.pin.anchor.locator))
    rows = [row, Row("", (Cell(" " * 6), *quoted(state.pin.note)))]
    if roomy and not fresh:
        rows.append(note(_pin_why(state), "muted", 6))
    return rows


def _pin_words(state: m.PinState) -> tuple[str, ...]:
    """Why a pin stands where it stands; its note and state are in the row already."""
    place = anchor_path(state)
    where = f"{place}::{anchor_name(state)}" if place != anchor_name(state) else place
    return (f"{_pin_why(state)}: {where}", "enter goes there, p takes the pin out")


def _pin_why(state: m.PinState) -> str:
    if state.freshness is m.Freshness.moved and state.now_at:
        was = anchor_path(state)
        now = place_in(state.now_at)
        return f"now {clean(now.path)}, was {was}" if now.path and clean(now.path) != was else f"now {clean(now.name)}"
    return clean(state.reason) or STATES[state.freshness].partition(": ")[2]


def held_at(account: Account | None) -> Mapping[str, Held]:
    """Row key → the belief it stands for."""
    places = account.places if account else ()
    return {f"belief:{one.drift.anchor.id}": one for place in places for one in place.held}
