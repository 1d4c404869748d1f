"""The focus view: a node, what points at it, what it points at, what is pinned on it.

Who calls: the home screen and the plain-text twin, with a neighbourhood and the room there is.
What may not come in: the toolkit, questions. Totals are the engine's exact ones; what is not drawn is counted.

Narrow, the three parts stand below each other; from ``WIDE`` cells the sides stand left and right, from ``MIDDLE``
cells the node stands between them. A side shows as many rows as its share of the height; the rest is one ``+n hidden``
row that unfolds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mog.app.present import clean
from mog.app.tui import about_rows
from mog.app.tui.rows import (
    MARKS,
    Sheet,
    Thing,
    describe,
    head,
    name_cells,
    name_of,
    note,
    place_of,
    prose,
)
from mog.engine import model as m
from mog.widgets.fit import share
from mog.widgets.view import BLANK, Cell, Line, Lines, Row, quiet_row

if TYPE_CHECKING:
    from mog.engine.reason.near import Believed

WIDE, MIDDLE = 90, 120
CROWDED = 60
"""Things from which rows are drawn in one style: half as many bytes."""
LINKS = {m.Tier.certain: "─", m.Tier.hierarchy: "═", m.Tier.candidate: "·", m.Tier.unknown: "·"}
TIER_WORDS = {
    m.Tier.certain: "certain",
    m.Tier.hierarchy: "hierarchy",
    m.Tier.candidate: "maybe",
    m.Tier.unknown: "not resolved",
}
TIER_NOTES = {m.Tier.hierarchy: "by base", m.Tier.candidate: "maybe", m.Tier.unknown: ""}
TIER_SENTENCES = {
    m.Tier.certain: "certain",
    m.Tier.hierarchy: "hierarchy: by its base class, an override may be meant",
    m.Tier.candidate: "maybe: the name fits, the receiver is not proven",
    m.Tier.unknown: "not resolved",
}
LEVELS: Sequence[tuple[str, tuple[m.Tier, ...]]] = (
    ("certain", (m.Tier.certain, m.Tier.unknown)),
    ("certain + hierarchy", (m.Tier.certain, m.Tier.hierarchy, m.Tier.unknown)),
    ("certain + hierarchy + maybe", (m.Tier.certain, m.Tier.hierarchy, m.Tier.candidate, m.Tier.unknown)),
)
"""What ``t`` steps through: its words and the tiers asked for."""
UNBOUND = {"external": "external name", "receiver": "receiver not known", "capped": "name with too many candidates"}
FILE_STATES = {
    m.Freshness.fresh: "fresh, index and disk agree",
    m.Freshness.drifted: "drifted: changed since it was indexed",
    m.Freshness.moved: "moved since it was indexed",
    m.Freshness.missing: "missing: its file is gone",
    m.Freshness.gated: "gated: name kept, bytes withheld",
    m.Freshness.unknown: "not known: not compared with the disk",
}
_ORDER = ("calls", "inherits", "implements", "references", "tested_by", "imports", "defines", "contains")
_PIN_ROWS = 6


@dataclass(frozen=True, slots=True)
class Room:
    """How the view is drawn: cells and lines there are, the tier level, the sections that are unfolded, co-change or not."""

    width: int
    height: int
    level: int = 1
    open: frozenset[str] = frozenset()
    sides: bool = True
    along: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the view: its rows in order, and how many things it has in all."""

    name: str
    rows: tuple[Row, ...]
    total: int

    def shown(self, room: int, unfolded: bool) -> tuple[Row, ...]:
        """At most ``room`` rows, the last of them ``+n hidden`` where one is left out; all when unfolded."""
        if unfolded:
            rest = self.total - len(self.rows)
            tail = [_fold_row(self.name, f"+{rest:,} hidden, beyond what one view loads")] if rest > 0 else []
            return (*self.rows, *tail, _fold_row(self.name, "fold"))
        if self.total <= min(room, len(self.rows)):
            return self.rows
        kept = self.rows[: max(0, room - 1)]
        return (*kept, _fold_row(self.name, f"+{self.total - len(kept):,} hidden"))


def _fold_row(section: str, text: str) -> Row:
    words = ("enter shows them", "") if text.startswith("+") else ("enter folds this part to what fits", "")
    return Row(f"fold:{section}", (Cell(f"  {text}", "muted"),), words=words)


def link(kind: str, tier: m.Tier, outgoing: bool) -> str:
    """The line of the narrow view, head at the side the edge goes to: ``←──`` comes in, ``──→`` goes out."""
    bar = LINKS[tier] * 2
    return f"{bar}→" if outgoing else f"←{bar}"


def long_link(kind: str, tier: m.Tier) -> str:
    """The line of the wide view with its type on it, 14 cells: ``─ calls ─────→``."""
    bar = LINKS[tier]
    return f"{bar} {clean(kind)[:10]} ".ljust(13, bar) + "→"


def graph_sheet(hood: m.Neighborhood, room: Room, believed: Sequence[Believed] = (), why_none: str = "") -> Sheet:
    """The focus view of a neighbourhood and of what is believed about it, as rows for ``room``.

    ``why_none``: why it is not known what is believed, "" when it is.
    """
    wide = room.sides and room.width >= WIDE
    things: dict[str, Thing] = {"node": hood.node}
    tail = _along(hood, room, things) if room.along else []
    room = replace(room, height=max(8, room.height - len(tail)))
    ins = _section("in", hood.edges_in, hood.totals_in, hood.node, room, things, wide)
    outs = _section("out", hood.edges_out, hood.totals_out, hood.node, room, things, wide)
    about = _about(hood, believed, things)
    heads = (_head("in", hood.totals_in, room, hood.boundary), _head("out", hood.totals_out, room, m.Boundary()))
    draw = _wide if wide else _narrow
    lines = [
        *draw(hood, room, ins, outs, about, heads),
        *tail,
        *about_rows.hidden(hood, believed, along=room.along),
        *_limits(hood.boundary, why_none),
    ]
    if len(things) > CROWDED:
        lines = [_lean(line) for line in lines]
    middle = _middle_width(room.width) if wide and room.width >= MIDDLE else 0
    for name in ("in", "out", "about", "along"):
        things[f"fold:{name}"] = name
    return Sheet(Lines(lines), things, "focus", f"{LEVELS[room.level][0]} (t)", middle)


def _lean(line: Line | Row) -> Line:
    """A line in one style but for marks: rows with something under them only, headings stay as they are."""
    rows = (line,) if isinstance(line, Row) else line
    return tuple(quiet_row(row) if row.key and not row.ground else row for row in rows)


def _middle_width(width: int) -> int:
    return min(44, width // 4 + 2)


# -- the parts ---------------------------------------------------------------------------------------------------------


def _rank(edge: m.Edge) -> tuple[object, ...]:
    kind = _ORDER.index(edge.kind) if edge.kind in _ORDER else len(_ORDER)
    return (edge.tier, kind, edge.kind, edge.other.path, edge.other.line, edge.other.name)


def _section(
    name: str,
    edges: Iterable[m.Edge],
    totals: Mapping[tuple[str, m.Tier], int],
    node: m.Node,
    room: Room,
    things: dict[str, Thing],
    wide: bool,
) -> Section:
    asked = LEVELS[room.level][1]
    bound = sorted((e for e in edges if e.tier in asked and e.other.type != "unresolved"), key=_rank)
    unbound = [e for e in edges if e.other.type == "unresolved"]
    rows: list[Row] = []
    for edge in bound:
        key = f"{name}:{edge.kind}:{edge.other.id}"
        if key not in things:
            things[key] = edge.other
            rows.append((_wide_edge if wide else _edge)(key, edge, node))
    rows += _unbound_rows(name, unbound, f"open:{name}" in room.open, things, wide)
    total = sum(count for (_, tier), count in totals.items() if tier in asked)
    drawn = len(bound) + sum(1 for _ in unbound)
    return Section(name, tuple(rows), len(rows) + max(0, total - drawn))


def _edge(key: str, edge: m.Edge, node: m.Node) -> Row:
    word = TIER_NOTES.get(edge.tier, "")
    cells = [Cell(f"  {clean(edge.kind)[:10]:<10} {link(edge.kind, edge.tier, edge.outgoing)} ", "muted")]
    cells += _names(edge, node)
    if edge.count > 1:
        cells.append(Cell(f"  {edge.count:,} times", "muted", False, "drop"))
    if word:
        cells.append(Cell(f"  {word}", "muted", False, "drop"))
    return Row(key, tuple(cells), words=_edge_words(edge, node), copy=_copy(edge.other))


def _names(edge: m.Edge, node: m.Node) -> tuple[Cell, ...]:
    """Chip and name of the other end; what it shares with the node in focus (file, class) is left out."""
    other = edge.other
    cells = name_cells(other, edge.freshness, with_path=other.path != node.path)
    if node.type != "symbol" or other.type != "symbol" or other.path != node.path:
        return cells
    own = next((q for q in (node.qual, node.qual.rpartition(".")[0]) if q and other.qual.startswith(f"{q}.")), "")
    return (*cells[:-1], Cell(clean(other.qual[len(own) :]), "text", False, "head"))


def _wide_edge(key: str, edge: m.Edge, node: m.Node) -> Row:
    line = Cell(f" {long_link(edge.kind, edge.tier)}", "muted")
    words, copy = _edge_words(edge, node), _copy(edge.other)
    chip, *name = _names(edge, node)
    if edge.outgoing:
        return Row(key, (line, Cell(" "), chip, *name), words=words, copy=copy)
    return Row(key, (), (*name[1:], Cell(" "), chip, line), words=words, copy=copy)


def _edge_words(edge: m.Edge, node: m.Node) -> tuple[str, ...]:
    as_written = f", written “{clean(edge.name)}”" if edge.name else ""
    one, other = name_of(node), name_of(edge.other)
    verb = clean(edge.kind).replace("_", " ")
    said = f"{one} {verb} it" if edge.outgoing else f"it {verb} {one}"
    if edge.kind in ("tested_by", "co_changed"):
        said = f"{one} is {verb} {other}" if edge.outgoing else f"{other} is {verb} {one}"
    times = f", {edge.count:,} times" if edge.count > 1 else ""
    by = f", told by {clean(edge.known_by)}" if edge.known_by else ""
    return (describe(edge.other), f"{said}{as_written}{times}; {TIER_SENTENCES[edge.tier]}{by}")


def _copy(node: m.Node) -> str:
    return clean(node.locator)


def _unbound_rows(name: str, edges: list[m.Edge], unfolded: bool, things: dict[str, Thing], wide: bool) -> list[Row]:
    """One row per reason and edge type for what is not bound to a node here, the names themselves when unfolded."""
    groups: dict[tuple[str, str], list[m.Edge]] = {}
    for edge in sorted(edges, key=lambda e: (_rank(e), e.other.kind)):
        groups.setdefault((edge.other.kind, edge.kind), []).append(edge)
    rows = []
    for (reason, kind), group in sorted(groups.items()):
        key = f"open:{name}"
        things[key] = key
        rows.append(_unbound_row(f"{name}?:{reason}:{kind}", reason, kind, group, wide))
        things[rows[-1].key] = f"open:{name}"
        if unfolded:
            rows += [_unbound_name(f"{name}:{kind}:{e.other.id}", e, things, wide) for e in group]
    return rows


def _unbound_row(key: str, reason: str, kind: str, group: list[m.Edge], wide: bool) -> Row:
    names = [clean(e.other.name) for e in group]
    many = UNBOUND.get(reason, "name not bound")
    what = f"{len(names):,} {many if len(names) == 1 else _plural(many)}"
    outgoing = group[0].outgoing
    words = (f"not bound: {', '.join(names[:6])}{' …' if len(names) > 6 else ''}", "enter lists them by name")
    chip, text = Cell("<?>", "muted"), Cell(f" {what}", "text", False, "tail")
    if wide:
        line = Cell(f" {long_link(kind, m.Tier.unknown)}", "muted")
        cells = (line, Cell(" "), chip, text) if outgoing else ()
        right = () if outgoing else (Cell(what, "text", False, "tail"), Cell(" "), chip, line)
        return Row(key, cells, right, words=words)
    lead = Cell(f"  {clean(kind)[:10]:<10} {link(kind, m.Tier.unknown, outgoing)} ", "muted")
    return Row(key, (lead, chip, text), words=words)


def _plural(many: str) -> str:
    first, space, rest = many.partition(" ")
    return f"external {rest}s" if first == "external" else f"{first}s{space}{rest}"


def _unbound_name(key: str, edge: m.Edge, things: dict[str, Thing], wide: bool) -> Row:
    things[key] = edge.other
    times = f"  {edge.count:,} times" if edge.count > 1 else ""
    cell = Cell(f"{clean(edge.other.name)}{times}", "muted", False, "head")
    words = (describe(edge.other), f"written “{clean(edge.name or edge.other.name)}”{times}")
    if wide and not edge.outgoing:
        return Row(key, (), (cell, Cell(" " * 19)), words=words)
    return Row(key, (Cell(" " * (20 if wide else 21)), cell), words=words)


def _about(hood: m.Neighborhood, believed: Sequence[Believed], things: dict[str, Thing]) -> Section:
    """What is pinned on it and believed about it or its file; what was taken back is counted elsewhere."""
    lead = Cell(f"  {'about':<10} {link('about', m.Tier.certain, False)} ", "muted")
    rows = about_rows.about(hood, believed, lead, things)
    return Section("about", rows, len(rows))


def _along(hood: m.Neighborhood, room: Room, things: dict[str, Thing]) -> list[Row]:
    """Files that changed in the same commits, the strongest of them, under a heading that says how far the history reaches."""
    rows = about_rows.along(hood, things)
    section = Section("along", rows, max(hood.co_changed_total, len(rows)))
    said = clean(hood.history) or "reading the history"
    return [
        head(f"changed along {section.total:,}", said),
        *section.shown(max(3, room.height // 5), "along" in room.open),
    ]


def _head(name: str, totals: Mapping[tuple[str, m.Tier], int], room: Room, boundary: m.Boundary) -> Row:
    asked = LEVELS[room.level][1]
    tiers: dict[m.Tier, int] = {}
    for (_, tier), count in totals.items():
        tiers[tier] = tiers.get(tier, 0) + count
    parts = [
        f"{count:,} {TIER_WORDS[tier]}{'' if tier in asked else ' (t)'}"
        for tier, count in sorted(tiers.items())
        if count
    ]
    open_ends = boundary.unknown + boundary.capped
    if name == "in" and boundary.unknown:
        parts.append(f"? {boundary.unknown:,} of that name not resolved")
    if not parts:
        parts = ["nothing, in any tier"] if not (open_ends or boundary.maybe) else ["0 certain"]
    narrow = (room.width // 2 if room.sides and room.width >= WIDE else room.width) < 48
    return head(f"{name} {sum(tiers.values()):,}", " " * (not narrow) + ("  ", " ")[narrow].join(parts))


def _limits(boundary: m.Boundary, why_none: str) -> list[Row]:
    """Sentences about what the answer leaves out that no count in a heading says."""
    rows = [note(f"? what is believed is not known: {clean(why_none)}", "attn")] if why_none else []
    rows += [note(clean(text)) for text in boundary.notes]
    if boundary.gated:
        rows.append(note(f"░ {boundary.gated:,} withheld: gated"))
    return [BLANK, *rows] if rows else []


# -- putting them together ---------------------------------------------------------------------------------------------


def _node_row(node: m.Node, beside: bool = True) -> Row:
    chip, space, *name = name_cells(node, with_path=False)
    bold = (chip, space, *(Cell(c.text, c.role, True, c.give) for c in name))
    folder, slash, base = clean(node.path).rpartition("/")
    line = place_of(node)[len(clean(node.path)) :]
    right = (
        (Cell(f"{folder}{slash}", "muted", False, "path"), Cell(f"{base}{line}", "text", False, "drop"))
        if beside and node.path
        else ()
    )
    words = (describe(node), "p pins a note to it, o opens it, t changes which links are drawn")
    return Row("node", bold, right, mark="■", ground="panel", words=words, copy=_copy(node))


def _state_row(hood: m.Neighborhood) -> Row:
    freshness = m.Freshness.gated if hood.node.gated else hood.freshness
    if hood.node.type == "unresolved":
        return note("not bound to anything in this repository")
    glyph, role = MARKS[freshness]
    return Row(
        "",
        (
            Cell(f"{glyph} ", role, freshness is not m.Freshness.fresh),
            Cell(FILE_STATES[freshness], "text", False, "tail"),
        ),
    )


def _about_rows(hood: m.Neighborhood, width: int, signature: int, doc: int) -> list[Row]:
    rows = prose(hood.node.signature, width, "muted", signature) if signature else []
    if doc and hood.node.doc:
        rows += prose(f"“{hood.node.doc.rstrip()}”", width, "text", doc)
    return rows


def _about_head(about: Section) -> Row:
    hint = "" if about.total else "p pins a note to it"
    return head(f"believed about it {about.total}", hint)


def _narrow(
    hood: m.Neighborhood, room: Room, ins: Section, outs: Section, about: Section, heads: tuple[Row, Row]
) -> list[Line | Row]:
    roomy = room.height >= 24
    words = _about_rows(hood, room.width - 4, 2 if roomy else (1 if room.height >= 15 else 0), 3 if roomy else 0)
    gap = [BLANK] if roomy else []
    fixed = 5 + len(words) + 3 * len(gap)
    shares = share([ins.total, outs.total, min(about.total, _PIN_ROWS)], room.height - fixed)
    part = [s.shown(n, s.name in room.open) for s, n in zip((ins, outs, about), shares, strict=True)]
    node = [_node_row(hood.node), _state_row(hood), *words]
    return [heads[0], *part[0], *gap, *node, *gap, heads[1], *part[1], *gap, _about_head(about), *part[2]]


def _wide(
    hood: m.Neighborhood, room: Room, ins: Section, outs: Section, about: Section, heads: tuple[Row, Row]
) -> list[Line | Row]:
    between = room.width >= MIDDLE
    if between:
        inner = _middle_width(room.width) - 4
        own = note(place_of(hood.node), "text")
        middle = [_node_row(hood.node, False), own, _state_row(hood), BLANK, *_about_rows(hood, inner, 6, 8)]
        top: list[Line | Row] = []
    else:
        middle = []
        top = [_node_row(hood.node), _state_row(hood), *_about_rows(hood, room.width - 4, 2, 3), BLANK]
    pin_room = min(about.total, _PIN_ROWS)
    left_room = room.height - len(top) - 3 - pin_room
    left = [heads[0], *ins.shown(left_room, "in" in room.open)]
    right = [heads[1], *outs.shown(left_room, "out" in room.open)]
    tall = left_room + 1
    body = _side_by_side(tall, left, middle, right) if between else _side_by_side(tall, left, right)
    return [*top, *body, BLANK, _about_head(about), *about.shown(pin_room, "about" in room.open)]


def _side_by_side(tall: int, *parts: Sequence[Row]) -> list[Line | Row]:
    """Columns beside each other, at least ``tall`` lines so that what is believed keeps its place below them."""
    longest = max(tall, *(len(part) for part in parts))
    return [tuple(part[i] if i < len(part) else BLANK for part in parts) for i in range(longest)]


__all__ = ["LEVELS", "LINKS", "Room", "graph_sheet"]
