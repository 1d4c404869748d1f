"""From records of the engine to rows of the widgets: names, places, freshness, chips. Outside strings are cleaned here.

Who calls: the row builders of the panes (``graph_rows.py``, ``side_rows.py``), the screens and the plain-text twins.
What may not come in: the toolkit, questions to the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mog.app.plain import chip
from mog.app.present import clean
from mog.engine import model as m
from mog.engine.errors import UsageError
from mog.engine.ids import Locator, parse_locator
from mog.widgets.fit import wrap
from mog.widgets.view import BLANK, Cell, Line, Lines, Row, Source

MARKS: Mapping[m.Freshness, tuple[str, str]] = {
    m.Freshness.fresh: ("=", "muted"),
    m.Freshness.drifted: ("±", "stale"),
    m.Freshness.moved: ("→", "stale"),
    m.Freshness.missing: ("¬", "fallen"),
    m.Freshness.gated: ("░", "muted"),
    m.Freshness.unknown: ("?", "unverified"),
}
"""Freshness → glyph and role."""

STATES = {
    m.Freshness.fresh: "fresh: the bytes are as they were recorded",
    m.Freshness.drifted: "drifted: the bytes are no longer those it was recorded against",
    m.Freshness.moved: "moved: the same bytes stand somewhere else now",
    m.Freshness.missing: "missing: nothing answers to its anchor any more",
    m.Freshness.gated: "gated: its bytes are withheld, so nothing can be said of them",
    m.Freshness.unknown: "not known: nobody has compared it with the disk",
}


@dataclass(frozen=True, slots=True)
class Reason:
    """A node of the reason layer, as a row stands for one: its id, type and what it says."""

    id: str
    type: str
    text: str


Thing = Any
"""What a row stands for: a node of the code, a ``Reason``, a pin, a file of the map, the name of a section that folds, or a record that
only the pane it belongs to knows."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The rows of a pane and what each stands for, by row key."""

    lines: Source
    things: Mapping[str, Thing] = field(default_factory=dict)
    title_note: str = ""
    title_right: str = ""
    middle: int = 0

    def node(self, key: str) -> m.Node | None:
        """The node of a row, if it stands for one."""
        thing = self.things.get(key)
        return thing if isinstance(thing, m.Node) else None

    def pin(self, key: str) -> m.PinState | None:
        """The pin of a row, if it stands for one."""
        thing = self.things.get(key)
        return thing if isinstance(thing, m.PinState) else None


def name_of(node: m.Node) -> str:
    """What a person calls it: the qualified name, or the path of a file."""
    return clean(node.qual or node.path or node.name)


def chip_cell(node: m.Node) -> Cell:
    """``[m]``, ``[F]``, ``<?>``."""
    return Cell(chip(node), "muted" if node.type == "unresolved" else "code")


def span_of(node: m.Node) -> str:
    """``41-67``, ``41`` or ""."""
    if not node.line:
        return ""
    return f"{node.line}-{node.end_line}" if node.end_line > node.line else f"{node.line}"


def place_of(node: m.Node) -> str:
    """``shop/cart.py:41-67``."""
    lines = span_of(node)
    return clean(node.path) + (f":{lines}" if lines and node.path else "")


def mark_cells(freshness: m.Freshness) -> tuple[Cell, ...]:
    """The mark of a state worth a mark in a list: fresh and unknown go without."""
    if freshness in (m.Freshness.fresh, m.Freshness.unknown):
        return ()
    glyph, role = MARKS[freshness]
    return (Cell(f"{glyph} ", role, True),)


def name_cells(
    node: m.Node, freshness: m.Freshness = m.Freshness.unknown, *, with_path: bool = True
) -> tuple[Cell, ...]:
    """``[m] ± shop/cart.py::Cart.total``: the path muted and first to give way."""
    cells = [chip_cell(node), Cell(" ")]
    cells += mark_cells(m.Freshness.gated if node.gated else freshness)
    if node.type == "symbol":
        if with_path:
            cells.append(Cell(f"{clean(node.path)}::", "muted", False, "path"))
        cells.append(Cell(clean(node.qual or node.name), "text", False, "head"))
    elif node.type == "file":
        folder, _, base = clean(node.path).rpartition("/")
        cells += [Cell(f"{folder}/" if folder else "", "muted", False, "path"), Cell(base, "text", False, "head")]
    else:
        cells.append(Cell(clean(node.name), "text", False, "head"))
    return tuple(cells)


def describe(node: m.Node) -> str:
    """One sentence: ``[m] method Cart.total, shop/cart.py:41-67``."""
    kind = {"unresolved": f"not bound ({node.kind})", "file": "file"}.get(node.type, node.kind or node.type)
    place = place_of(node)
    where = f", {place}" if place and node.type == "symbol" else ""
    withheld = ", gated: its bytes are withheld" if node.gated else ""
    return f"{chip(node)} {kind} {name_of(node)}{where}{withheld}"


def anchor_name(state: m.PinState) -> str:
    """Name of what a pin was put on: ``Cart.total`` of ``sym:shop/cart.py::Cart.total``."""
    place = place_in(state.pin.anchor.locator)
    return clean(place.name or place.path)


def anchor_path(state: m.PinState) -> str:
    """File a pin was put on."""
    return clean(place_in(state.pin.anchor.locator).path)


def place_in(locator: str) -> Locator:
    """A locator taken apart; one that does not parse is shown whole, as a name."""
    try:
        return parse_locator(locator)
    except UsageError:
        return Locator("", "", locator)


def anchor_chip(state: m.PinState) -> Cell:
    """Chip of what a pin was put on, from the kind recorded with it."""
    anchor = state.pin.anchor
    kind = "file" if anchor.locator.startswith("file:") else "symbol"
    return chip_cell(m.Node(0, "", kind, anchor.kind, "", "", ""))


def head(text: str, *rest: str, key: str = "") -> Row:
    """A heading inside a pane: bold words, then plain ones."""
    cells = (Cell(text, "text", True), *(Cell(f"  {part}", "muted") for part in rest if part))
    return Row(key, tuple(Cell(c.text, c.role, c.bold, "tail" if i else "") for i, c in enumerate(cells)))


def note(text: str, role: str = "muted", indent: int = 0) -> Row:
    """A line of prose the cursor passes over."""
    return Row("", (Cell(" " * indent + text, role, False, "tail"),))


def quoted(text: str, role: str = "text") -> tuple[Cell, ...]:
    """Words of a person in quotes that stay closed when the words are cut."""
    return (Cell("“", role), Cell(clean(text), role, False, "tail"), Cell("”", role))


def prose(text: str, width: int, role: str = "text", limit: int = 9) -> list[Row]:
    """A paragraph as lines of at most ``width`` cells, at most ``limit`` of them."""
    lines = wrap(clean(text), width)
    if len(lines) > limit:
        lines = [*lines[: limit - 1], lines[limit - 1] + " …"]
    return [note(line, role) for line in lines]


class Lesson(Lines):
    """The rows of an empty pane: paragraphs that say what would fill it and which key does, and nothing else."""

    __slots__ = ()


def teach(*paragraphs: str, width: int = 60) -> Lesson:
    """The rows of an empty pane: what would fill it and which key does."""
    rows: list[Row] = []
    for text in paragraphs:
        rows += [BLANK, *prose(text, max(20, width), "text" if not rows else "muted")]
    return Lesson(rows)


def first_words(sheet: Sheet) -> Sheet:
    """A pane that only teaches, cut to its first paragraph: beside others it says that it is empty, in the centre how it fills."""
    if not isinstance(sheet.lines, Lesson):
        return sheet
    kept: list[Line] = []
    for line in sheet.lines.all():
        blank = not any(row.cells or row.right for row in line)
        if blank and kept:
            break
        if not blank:
            kept.append(line)
    return replace(sheet, lines=Lines(kept))
