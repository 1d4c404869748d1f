"""Rows of the blast radius: counts with bars, hops as marks, what it costs, and who falls, weakens or survives because of what.

Who calls: ``panes/blast.py``, ``break_rows.py``. What may not come in: the toolkit, questions to the workspace. Words of
records go through ``reason_rows``, which cleans them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

from rich.cells import cell_len

from mog.app.present import clean
from mog.app.tui import reason_rows as rr
from mog.app.tui.fall_counts import (
    FALLEN,
    STANDING,
    WEAKENED,
    bars,
    cost_words,
    count_row,
    counts,
    hop_rows,
    plural,
    short_bars,
    short_cost,
    span,
)
from mog.app.tui.fall_source import FallSource, Section
from mog.app.tui.rows import Reason, chip_cell, name_of, note, place_in
from mog.engine import model as m
from mog.widgets.fit import cut_tail, wrap
from mog.widgets.view import BLANK, Cell, Row

if TYPE_CHECKING:
    from mog.engine.breaks import Preview
    from mog.engine.reason.outlook import Outlook

PEEK = 30
"""Names that are looked at for the width of their column."""
SHOWN, STACKED = 100, 6
"""Rows of a section before it is opened: in a pane of its own, and in the stack."""
LISTED = 6
"""Tasks beside the counts."""
NARROW, SPARE, WIDE = 42, 64, 110


@dataclass(frozen=True, slots=True)
class Aim:
    """What a preview is of: a record, or code with what is believed about it. ``target`` is an id or a locator."""

    target: str
    reason: Reason | None = None
    code: m.Node | None = None


@dataclass(frozen=True, slots=True)
class View:
    """How a preview is drawn.

    Attributes:
        width, lines: room; lines 0 for everything. opened: sections whose every row is shown.
        cursor: key of the row under the cursor, whose chain stands beside it. late: a newer preview is on its way.
    """

    width: int
    lines: int
    opened: Collection[str] = ()
    cursor: str = ""
    late: bool = False

    @property
    def stacked(self) -> bool:
        """Whether it stands in the stack."""
        return self.lines > 0 and self.width < NARROW


# -- because


@dataclass(frozen=True)
class Told:
    """A preview ready to be told: what it is of and what the engine said. Rows ask it for one reason at a time."""

    aim: Aim
    preview: Preview
    about: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    took_ms: float = 0.0

    @property
    def outlook(self) -> Outlook:
        """What would become of what."""
        return self.preview.outlook

    @cached_property
    def lists(self) -> Mapping[str, Sequence[str]]:
        """Section → ids of its rows, nearest first; made once, however often it is drawn."""
        outlook = self.outlook
        falls = outlook.radius.falls.ids()[len(outlook.radius.falls) - outlook.falling :]
        weakens = sorted(outlook.weaker, key=lambda id: (outlook.weaker[id].hop, id))
        return {"falls": falls, "weakens": weakens, "survives": [row.id for row in outlook.survives]}

    @cached_property
    def _places(self) -> Mapping[str, Mapping[str, int]]:
        return {name: {id: at for at, id in enumerate(ids)} for name, ids in self.lists.items()}

    def place(self, section: str, id: str) -> int | None:
        """Index of an id in a section; the index is made when a cursor is first looked for."""
        return self._places[section].get(id)

    @cached_property
    def longest(self) -> int:
        """Cells of the longest of the first names."""
        first = (self.outlook.nodes.get(id) for ids in self.lists.values() for id in ids[:PEEK])
        return max((cell_len(rr.clip(node.label, 60)) for node in first if node), default=0)

    def called(self, id: str, limit: int = 60) -> str:
        """``(D) drop line rounding``; what nobody knows any more is its id."""
        node = self.outlook.nodes.get(id)
        return f"{rr.chip_of(node.type)} {rr.clip(node.label, limit)}" if node else clean(id)[:12]

    def held(self, ids: Sequence[str], limit: int = 60) -> str:
        """What carries a node, in a sentence."""
        if not ids:
            return "it needs no ground"
        said = " and ".join(self.called(id, limit) for id in ids[:3])
        return said + (f" and {len(ids) - 3} more" if len(ids) > 3 else "")

    def why_falls(self, id: str) -> str:
        """Which ground is lost through whom."""
        move = self.outlook.radius.find(id)
        if move is None or not move.parent:
            return "it is what is broken"
        count, by = self.outlook.grounds.get(id, 0), self.called(move.parent)
        if move.parent not in self.outlook.targets:
            return f"rests on {by}" if count < 2 else f"none of its {count} grounds holds; the nearest rests on {by}"
        node = self.outlook.nodes.get(move.parent)
        if node is not None and len(self.outlook.targets) == 1:
            by = rr.chip_of(node.type)
        return f"{by} was its only ground" if count < 2 else f"none of its {count} grounds holds without {by}"

    def why_weakens(self, id: str) -> str:
        """How many grounds are left, and which carries it."""
        row = self.outlook.weaker[id]
        if not row.held:
            return "it needs no ground any more"
        return f"{row.left} of {row.grounds} grounds left: {self.held(row.held)}"

    def chain(self, id: str, limit: int = 6) -> list[str]:
        """Ids from the broken node to this one; the middle of a long way is left out ("")."""
        radius, steps = self.outlook.radius, [id]
        move = radius.find(id)
        while move is not None and move.hop and move.parent and len(steps) < limit - 1:
            steps.append(move.parent)
            move = radius.find(move.parent)
        if move is not None and move.hop:
            steps += ["", *self.outlook.targets[:1]]
        return steps[::-1]

    def chain_words(self, id: str) -> str:
        """The chain in one line."""
        return " ──→ ".join(self.called(one, 30) if one else "…" for one in self.chain(id, 4))


# -- rows


def sections(told: Told, view: View) -> list[Section]:
    """What falls, weakens and survives, nearest first."""
    names = _name_width(told, view)
    made: list[Section] = []
    for name, row in (("falls", _fall), ("weakens", _weaken), ("survives", _survive)):
        ids = told.lists[name]
        if len(ids):
            shown = len(ids) if name in view.opened or (not view.lines and len(ids) <= SHOWN) else SHOWN
            head = _head(name, len(ids), view, names, first=not made)
            place = partial(told.place, name)
            made.append(Section(name, ids, head, partial(row, told, view, names), min(len(ids), shown), place))
    return made


def _head(name: str, count: int, view: View, names: int, *, first: bool) -> Row:
    """``falls 4                          hop  because``."""
    cells = [Cell(f"{name} {count:,}", "text", True)]
    if first and view.width >= SPARE:
        cells = [Cell(f"{cells[0].text:<{names + 2}}", "text", True), Cell("hop  because", "muted", False, "drop")]
    return Row(f"head:{name}", tuple(cells), words=(f"{name}: {count:,}", "h folds what was opened"))


def _name_width(told: Told, view: View) -> int:
    """Cells of a name before the column of reasons: as long as the first names are, at most three fifths of the room."""
    room = view.width // 2 if view.width >= WIDE and view.lines else view.width
    return max(12, min(told.longest + 6, (room - 12) * 3 // 5))


def _told_row(
    told: Told, view: View, names: int, key: str, id: str, label: str, hop: int, why: str, words: Sequence[str]
) -> Row:
    """Mark, chip, words, hop, reason; in the stack without the last two."""
    node = told.outlook.nodes.get(id)
    type, text = (node.type, node.label) if node else ("?", id)
    glyph, role = rr.STANDING[label]
    lead = (Cell(f"{glyph} ", role, True), rr.chip_cell(type), Cell(" "))
    if view.stacked:
        return Row(key, (*lead, Cell(rr.clip(text), "text", False, "tail")), words=(*words,), copy=rr.clip(text))
    if view.width < SPARE:
        said = Cell(rr.clip(text), "text", False, "tail")
        return Row(key, (*lead, said), (Cell(f"hop {hop}", "muted"),), words=(*words,), copy=f"{rr.clip(text)}: {why}")
    room = names - 6
    name = cut_tail(rr.clip(text, 4 * room), room)
    cells = (
        *lead,
        Cell(name + " " * (room - cell_len(name) + 1)),
        Cell(f"{hop:>4}  ", "muted"),
        Cell(why, "text", False, "tail"),
    )
    return Row(key, cells, words=(*words,), copy=f"{rr.chip_of(type)} {rr.clip(text)}: {why}")


def _fall(told: Told, view: View, names: int, at: int) -> Row:
    id = told.lists["falls"][at]
    move = told.outlook.radius.find(id)
    why = told.why_falls(id)
    words = (f"falls, hop {move.hop if move else 0}: {told.called(id)}; {why}", told.chain_words(id))
    return _told_row(told, view, names, f"falls:{id}", id, FALLEN, move.hop if move else 0, why, words)


def _weaken(told: Told, view: View, names: int, at: int) -> Row:
    id = told.lists["weakens"][at]
    why = told.why_weakens(id)
    words = (f"weakens, still stands: {told.called(id)}", why)
    return _told_row(told, view, names, f"weakens:{id}", id, WEAKENED, told.outlook.weaker[id].hop, why, words)


def _survive(told: Told, view: View, names: int, at: int) -> Row:
    row = told.outlook.survives[at]
    label = "unverified" if row.id in told.outlook.unverified else STANDING
    why = f"held by {told.held(row.held)}" if row.held else "it needs no ground"
    words = (f"survives: {told.called(row.id)}", why + ("; it rests on work that failed" if label != STANDING else ""))
    return _told_row(told, view, names, f"survives:{row.id}", row.id, label, row.hop, why, words)


# -- the pane


def aim_row(told: Told, view: View) -> Row:
    """The node in question, marked ■: a record with its standing, or code."""
    aim = told.aim
    if aim.code is not None:
        code = (chip_cell(aim.code), Cell(" "), Cell(name_of(aim.code), "text", True, "head"))
        said = f"if {name_of(aim.code)} changed so that nothing believed about it held"
        return Row("aim", code, (Cell("if it changed", "muted", False, "drop"),), mark="■", words=(said,))
    id = aim.target
    node = told.outlook.nodes.get(id)
    label = told.labels.get(id, "")
    cells = rr.reason_cells(node, label) if node else (Cell(clean(aim.target)),)
    place = place_in(told.about[0]) if told.about else None
    about = clean(place.name or place.path) if place else ""
    right = (Cell(f"about {about}", "muted", False, "drop"),) if about and not view.stacked else ()
    words = rr.words_of(node, label, also=f"about {about}" if about else "") if node else ()
    return Row("aim", cells, right, mark="■", words=words)


def top_rows(told: Told, view: View) -> list[Row]:
    """What it is, the counts, hops and cost."""
    outlook, rows = told.outlook, [aim_row(told, view)]
    if told.aim.code is not None:
        rows += _believed(told, view)
        if not told.about:
            return rows
    if outlook.fallen and len(outlook.fallen) == len(outlook.targets):
        rows.append(note("it has fallen already: breaking it changes nothing", "fallen", 2))
        return rows
    short = view.stacked and view.lines < 12
    rows += (
        [short_bars(outlook)]
        if short
        else bars(outlook, view.width)
        if view.stacked
        else [count_row(outlook, view.width)]
    )
    if outlook.dependants:
        rows += hop_rows(outlook.hops, view.width, 1 if view.stacked else 3)
    else:
        rows.append(note("nothing that was recorded rests on it", indent=0))
    room = view.width // 2 if view.width >= WIDE and view.lines else view.width
    cost = told.preview.cost
    rows += [note(short_cost(cost))] if view.stacked else [note(t) for t in wrap(cost_words(cost), max(20, room - 4))]
    return rows


def _believed(told: Told, view: View) -> list[Row]:
    if not told.about:
        return [note("nothing is believed about it: a change fells nothing", indent=2)]
    rows = [Row("", (Cell(f"believed about it {len(told.about):,}", "text", True),))]
    for id in told.about[: 3 if view.stacked else 8]:
        node = told.outlook.nodes.get(id)
        if node is not None:
            rows.append(rr.row(f"about:{id}", node, told.labels.get(id, ""), lead=(Cell("  "),)))
    hidden = len(told.about) - 3 if view.stacked else len(told.about) - 8
    return rows + ([note(f"+{hidden:,} hidden", indent=2)] if hidden > 0 else [])


def radius_source(told: Told, view: View, extra: Sequence[Row] = ()) -> FallSource:
    """The whole pane. ``extra``: rows above, such as the strip of a break."""
    top = [*extra, *top_rows(told, view)]
    made = sections(told, view) if told.outlook.dependants and (told.aim.code is None or told.about) else []
    if view.stacked:
        return FallSource([*top, *_stack_rows(told, view)], [])
    if view.width < WIDE or not view.lines:
        return FallSource(top, made)
    return FallSource(top, made, _beside(told, view, FallSource(top, made).find(view.cursor)))


def _stack_rows(told: Told, view: View) -> list[Row]:
    """The first of what moves, and how many more."""
    rows: list[Row] = []
    for section in sections(told, View(view.width, view.lines)):
        rows += [section.row(at) for at in range(min(len(section.ids), STACKED - len(rows)))]
    hidden = told.outlook.dependants - len(rows)
    rows += [note(f"+{hidden:,} hidden")] if hidden > 0 and rows else []
    return [*rows, note("b opens the preview")]


def _beside(told: Told, view: View, at: tuple[int, int] | None) -> dict[int, Row]:
    """The second column: tasks that run again, and beside the cursor the way by which its row falls."""
    reruns = told.preview.cost.reruns
    rows = [Row("", (Cell(f"runs again {len(reruns):,}", "text", True),))]
    for one in reruns[:LISTED]:
        took = "?" if one.seconds is None else span(one.seconds)
        state = "needs other ground" if one.blocked else "may stop early" if one.early else ""
        cells = (Cell("≈ ", "stale", True), Cell(f"{clean(one.plan)}/{clean(one.name)}", "text", False, "tail"))
        rows.append(Row("", cells, (Cell(state, "muted", False, "drop"), Cell(f" {took}"))))
    if len(reruns) > LISTED:
        rows.append(note(f"+{len(reruns) - LISTED:,} hidden", indent=2))
    found = dict(enumerate(rows if reruns else [note("no task would run again")]))
    chain = _chain_rows(told, view.cursor)
    if at is not None and chain:
        start = max(at[0], len(found) + 1)
        found |= {start + index: row for index, row in enumerate(chain)}
    return found


def _chain_rows(told: Told, cursor: str) -> list[Row]:
    kind, _, id = cursor.partition(":")
    if kind in ("survives", "weakens"):
        at = told.place(kind, id)
        if at is None:
            return []
        held = told.outlook.weaker[id].held if kind == "weakens" else told.outlook.survives[at].held
        return [note("still held by"), *(note(told.called(one), "text", 2) for one in held)] if held else []
    if kind != "falls":
        return []
    rows = [note("by this way")]
    for step, one in enumerate(told.chain(id, 8)):
        lead = Cell("" if step == 0 else "  " * min(step - 1, 6) + "└─ ", "rule")
        rows.append(
            Row("", (lead, Cell(told.called(one) if one else "…", "fallen" if one == id else "text", False, "tail")))
        )
    return rows


def compare_rows(first: Told, second: Told) -> list[Row]:
    """Two breaks beside each other: counts, cost, and what only one of them fells."""
    a, b = set(first.outlook.radius.falls.ids()), set(second.outlook.radius.falls.ids())
    a, b = a - set(first.outlook.targets), b - set(second.outlook.targets)
    rows = [Row("", (Cell("compare", "text", True),))]
    for letter, told in (("A", first), ("B", second)):
        rows.append(_compared(letter, told))
    rows.append(
        note(f"falls only with A {len(a - b):,}   with both {len(a & b):,}   only with B {len(b - a):,}", "text", 2)
    )
    for word, ids in (("only A", a - b), ("both", a & b), ("only B", b - a)):
        for id in sorted(ids, key=lambda one: first.called(one) + one)[:4]:
            rows.append(note(f"{word:<7}{(first if id in a else second).called(id)}", "muted", 4))
    return [*rows, BLANK]


def _compared(letter: str, told: Told) -> Row:
    name = told.called(told.aim.target) if told.aim.code is None else f"if {name_of(told.aim.code)} changed"
    cells: list[Cell] = [Cell(f"  {letter}  "), Cell(name, "text", False, "tail")]
    right: list[Cell] = []
    for label, _, count in counts(told.outlook):
        glyph, role = rr.STANDING[label]
        right += [Cell(f" {glyph} ", role, True), Cell(f"{count:,}")]
    cost = told.preview.cost
    right.append(
        Cell(f"  {span(cost.seconds) if cost.seconds is not None else plural(len(cost.reruns), 'task')}", "muted")
    )
    return Row("", tuple(cells), tuple(right))
