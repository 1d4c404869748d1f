"""Rows below the node in focus: what is believed about it and pinned on it, and which files changed along with it.

Who calls: ``graph_rows.py``. What may not come in: the toolkit, questions to the workspace, how many rows there is room for, the reason
layer at import (the first picture needs none of it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui.reason_rows import reason_cells, reason_words
from mog.app.tui.rows import MARKS, Reason, Thing, note, quoted
from mog.engine import model as m
from mog.engine.ids import locator
from mog.widgets.view import Cell, Row

if TYPE_CHECKING:
    from mog.engine.reason.near import Believed


def about(hood: m.Neighborhood, believed: Sequence[Believed], lead: Cell, things: dict[str, Thing]) -> tuple[Row, ...]:
    """Records that count, then pins; ``things`` learns what each row stands for. Records taken back are left out."""
    rows = []
    for one in believed:
        if one.retired is None:
            key = f"about:{one.node.id}"
            things[key] = Reason(one.node.id, one.node.type, one.node.label)
            rows.append(believed_row(key, one, lead))
    for state in hood.pins:
        key = f"pin:{state.pin.id}"
        things[key] = state
        rows.append(pin_row(key, state, lead))
    return tuple(rows)


def believed_row(key: str, one: Believed, lead: Cell) -> Row:
    """One record about the node in focus, with its standing and whether its anchor is as it was."""
    from mog.app.plain_radius import shorten

    held = one.freshness in (m.Freshness.fresh, m.Freshness.unknown)
    state = "" if one.freshness is m.Freshness.unknown else f"its anchor is {one.freshness.value}"
    why = f": {clean(one.reason)}" if one.reason and not held else ""
    said = "; ".join(part for part in ("about the whole file" if one.whole else "", state + why) if part)
    words = (reason_words(one.node, one.label), said or "w says why it stands")
    right = () if held else (Cell(one.freshness.value, "stale"),)
    if one.label == "fallen":
        right = (Cell("fallen", "fallen"),)
    cells = (lead, *reason_cells(one.node, one.label, one.freshness))
    return Row(key, cells, right, words=words, copy=shorten(one.node.id))


def along(hood: m.Neighborhood, things: dict[str, Thing]) -> tuple[Row, ...]:
    """Files that changed in the same commits, strongest first."""
    for one in hood.co_changed:
        things[f"along:{one.path}"] = one
    return tuple(along_row(f"along:{one.path}", one, hood.node) for one in hood.co_changed)


def along_row(key: str, one: m.CoChanged, node: m.Node) -> Row:
    """A file that changed with the node's file, and in how many of that file's commits."""
    path = clean(one.path)
    folder, slash, base = path.rpartition("/")
    commits = f"  in {one.together:,} of {plural(one.commits, 'commit')}"
    cells = (
        Cell(f"  {'co-changes':<10} ≈≈  ", "muted"), Cell("[F]", "code"), Cell(" "),
        Cell(f"{folder}{slash}", "muted", False, "path"), Cell(base, "text", False, "head"), Cell(commits, "muted"),
    )  # fmt: skip
    share_of = f"in {one.confidence:.0%} of the commits that touched {clean(node.path)}"
    words = (f"[F] {path} changed {share_of}", "history says that they change together, not that one uses the other")
    return Row(key, cells, words=words, copy=clean(locator("file", one.path)))


def hidden(hood: m.Neighborhood, believed: Sequence[Believed], *, along: bool) -> list[Row]:
    """``+11 hidden: 9 co-change (T), 2 superseded or taken back``: what no section of the view counts."""
    gone = sum(one.retired is not None for one in believed)
    unseen = 0 if along else hood.co_changed_total
    parts = [f"{unseen:,} co-change (T)"] if unseen else []
    parts += [f"{gone:,} superseded or taken back"] if gone else []
    return [note(f"  +{unseen + gone:,} hidden: {', '.join(parts)}")] if parts else []


def pin_row(key: str, state: m.PinState, lead: Cell) -> Row:
    """A pin's note with the state of its anchor."""
    glyph, role = MARKS[state.freshness]
    cells = (lead, Cell(f"{glyph} ", role, True), *quoted(state.pin.note))
    right = () if state.freshness is m.Freshness.fresh else (Cell(state.freshness.value, role),)
    return Row(key, cells, right, words=pin_words(state), copy=clean(state.pin.note))


def pin_words(state: m.PinState) -> tuple[str, ...]:
    """A pin in words: its state and note, and why the state is so."""
    reason = clean(state.reason) or "its anchor holds"
    now = f", now at {clean(state.now_at)}" if state.now_at and state.now_at != state.pin.anchor.locator else ""
    glyph = MARKS[state.freshness][0]
    return (f"{glyph} {state.freshness.value}: “{clean(state.pin.note)}”", f"{reason}{now}. p takes the pin out")
