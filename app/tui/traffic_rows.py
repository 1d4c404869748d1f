"""Rows of pane 9: each call as a story, the question first; unfolded: what was asked, walked and told, and what a replay found.

Who calls: ``panes/traffic.py``. What may not come in: the toolkit, questions to the workspace. Lines are made when they come into
view, so that ten thousand calls cost what a screen of them costs. Everything an agent said or named is cleaned here.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mog.app import plain_traffic as told
from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui import reason_rows
from mog.app.tui.rows import Reason, name_cells
from mog.engine import model as m
from mog.widgets.fit import wrap
from mog.widgets.view import BLANK, Cell, Line, Row

if TYPE_CHECKING:
    from mog.engine.traffic import Call, Total

GONE = "gone"
FOLDED = 2  # lines of a call that is not here yet
QUESTION_LINES, ASKED_LINES, WALKED = 2, 6, 32
WIDE = 56


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a replay: the call as it is now, or why it could not be asked again."""

    call: Call | None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Known:
    """What the rows are made of.

    Attributes:
        numbers: of every call, newest first. calls: those that are here, by number. now: marks of walked things.
        named: walked things by id or locator. replays: by number. open: numbers of unfolded calls.
        totals: sums by client and tool. client: whose calls these are, "" for everybody's. span: as of the last look.
    """

    numbers: Sequence[int] = ()
    calls: Mapping[int, Call] = field(default_factory=dict)
    now: Mapping[str, str] = field(default_factory=dict)
    named: Mapping[str, Any] = field(default_factory=dict)
    replays: Mapping[int, Replayed] = field(default_factory=dict)
    open: frozenset[int] = frozenset()
    totals: Sequence[Total] = ()
    client: str = ""
    span: tuple[int, int] = (0, 0)


class Story:
    """A source of the calls (``widgets.view.Source``).

    Args:
        missing: told the number of a call that came into view and is not here.
    """

    def __init__(self, known: Known, width: int, missing: Callable[[int], None], *, head: Sequence[Row] = ()) -> None:
        self.known, self.width = known, width
        self._missing = missing
        self._head = list(head)
        self._rows: dict[int, list[Row]] = {}
        self.seen: set[int] = set()
        heights = (self._height(number) for number in known.numbers)
        self._ends = list(itertools.accumulate(heights, initial=len(self._head)))
        self._places = {number: place for place, number in enumerate(known.numbers)}

    def __len__(self) -> int:
        return self._ends[-1]

    def line(self, index: int) -> Line:
        """One line; a call that is not here yet is asked for."""
        if index < len(self._head):
            return (self._head[index],)
        place = bisect.bisect_right(self._ends, index) - 1
        number = self.known.numbers[place]
        self.seen.add(number)
        if number not in self.known.calls:
            self._missing(number)
        rows = self._of(number)
        at = index - self._ends[place]
        return (rows[at] if at < len(rows) else BLANK,)

    def find(self, key: str) -> tuple[int, int] | None:
        """Where a row stands: its call is known by the key, so no other is looked at."""
        number = number_in(key)
        if number not in self._places:
            return None
        start = self._ends[self._places[number]]
        return next(((start + at, 0) for at, row in enumerate(self._of(number)) if row.key == key), None)

    def _height(self, number: int) -> int:
        return len(self._of(number)) if number in self.known.calls else FOLDED

    def _of(self, number: int) -> list[Row]:
        if number not in self._rows:
            self._rows[number] = rows_of(self.known, number, self.width)
        return self._rows[number]


def number_in(key: str) -> int:
    """The number of the call that a row belongs to, 0 for any other row."""
    part = key.split(":")[1] if key.startswith(("call:", "walk:")) else ""
    return int(part) if part.isdecimal() else 0


def rows_of(known: Known, number: int, width: int) -> list[Row]:
    """The rows of one call."""
    call = known.calls.get(number)
    if call is None:
        return [Row(f"call:{number}", (Cell("…", "muted"),)), BLANK]
    changed = told.since(call, known.now)
    rows = [*_question(call, width), _answer(call, known, changed, width)]
    if number in known.open:
        return [
            *rows,
            *_asked(call, width),
            *_walked(call, known, width),
            *_told(call, width),
            *_again(call, known, width),
            BLANK,
        ]
    return rows if not changed else [*rows, _since(call, changed)]


# -- folded


def _question(call: Call, width: int) -> list[Row]:
    text = clean(told.question(call))
    room = max(12, width - 10 - (9 if width >= WIDE else 0))
    lines = wrap(text, room)[:QUESTION_LINES] or [call.tool]
    if len(wrap(text, room)) > QUESTION_LINES:
        lines[-1] += " …"
    who = (Cell(clean(call.client)[:24], "muted", False, "drop"),) if width >= WIDE else ()
    key = f"call:{call.seq}"
    first = Row(key, (_time(call), Cell(lines[0], "text", False, "tail")), who, words=_words(call), copy=text)
    return [first, *(Row("", (Cell("      "), Cell(line, "text", False, "tail"))) for line in lines[1:])]


def _time(call: Call) -> Cell:
    return Cell(f"{told.clock(call)} ", "muted")


def _words(call: Call) -> tuple[str, ...]:
    what = clean(told.outcome(call))
    cost = f"{call.tokens:,} tokens, {call.ms:,.0f} ms" + ("" if call.warm else ", the first of its server")
    return (
        f"{clean(call.client) or 'an agent'}: {clean(call.tool)}, {cost}",
        f"{what}. enter unfolds, r asks it again",
    )


def _answer(call: Call, known: Known, changed: int, width: int) -> Row:
    cost = (Cell(f"{call.tokens:,} tok", "muted"),) if call.tokens else ()
    if call.outcome != "ok" or call.told.get("dead_end"):
        role = "fallen" if call.outcome != "ok" else "weakened"
        words = Cell(clean(told.outcome(call)), "text", False, "tail")
        return Row("", (Cell(" × " if call.outcome != "ok" else " → ", role, True), words), cost)
    first = call.path[0] if call.path else ""
    if not first:
        return Row("", (Cell(" → ", "muted"), Cell(clean(told.outcome(call)), "text", False, "tail")), cost)
    more = f" +{len(call.path) - 1}" if len(call.path) > 1 else ""
    hops = f"  {call.told['hops']} hops" if call.told.get("hops") and width >= 32 else ""
    named = _named(first, known, with_path=width >= WIDE)
    return Row("", (Cell(" → ", "muted"), *named, Cell(more + hops, "muted")), cost)


def _since(call: Call, changed: int) -> Row:
    of = len([mark for mark in call.marks if mark])
    return Row("", (Cell(" ± ", "stale", True), Cell(f"{changed} of {of} changed since", "text", False, "tail")))


def _named(target: str, known: Known, *, with_path: bool = True) -> tuple[Cell, ...]:
    found = known.named.get(target)
    if isinstance(found, m.Node):
        return name_cells(found, with_path=with_path)
    if found is not None:
        return reason_rows.name_cells(found.type, found.label)
    return (Cell(clean(target), "muted", False, "head"),)


# -- unfolded


def _part(
    label: str, *cells: Cell, key: str = "", right: tuple[Cell, ...] = (), words: tuple[str, ...] = (), copy: str = ""
) -> Row:
    return Row(key, (Cell(f"   {label:<7} ", "muted", bool(label)), *cells), right, words=words, copy=copy)


def _asked(call: Call, width: int) -> list[Row]:
    said = [f"{name} {_quoted(value)}" for name, value in call.arguments.items()]
    text = f"{call.tool}: {', '.join(said)}" if said else call.tool
    lines = wrap(clean(text), max(16, width - 14))
    rows = [
        _part("asked" if not at else "", Cell(line, "text", False, "tail"))
        for at, line in enumerate(lines[:ASKED_LINES])
    ]
    if len(lines) > ASKED_LINES:
        rows.append(_part("", Cell(f"+{len(lines) - ASKED_LINES} lines", "muted")))
    return rows


def _quoted(value: object) -> str:
    return f"“{told.said(value)}”" if isinstance(value, str) and " " in value else told.said(value)


def _walked(call: Call, known: Known, width: int) -> list[Row]:
    if not call.path:
        return [_part("walked", Cell("nothing by name", "muted"))]
    hops = [f"{call.told[name]} {name}" for name in ("hops", "expanded") if call.told.get(name)]
    rows = []
    for at, target in enumerate(call.path[:WALKED]):
        right, words = _fate(call, known, at, target)
        note = (Cell("  " + ", ".join(hops), "muted", False, "drop"),) if hops and not at else ()
        cells = (*_named(target, known, with_path=width >= WIDE), *note)
        key = f"walk:{call.seq}:{at}"
        rows.append(_part("walked" if not at else "", *cells, key=key, right=right, words=words, copy=clean(target)))
    return rows


def _fate(call: Call, known: Known, at: int, target: str) -> tuple[tuple[Cell, ...], tuple[str, ...]]:
    """How a walked thing is now against how it was then: mark for the right edge, words for the foot."""
    then, now = call.marks[at] if at < len(call.marks) else "", known.now.get(target, "")
    if not then or not now:
        return (Cell("?", "unverified", True),), (clean(target), "not known whether it changed since")
    if now == then:
        return (), (clean(target), "as it was when it was told; enter goes there")
    if now == GONE:
        return (Cell("¬ gone", "fallen", True),), (clean(target), "gone since it was told")
    found = known.named.get(target)
    if isinstance(found, m.Node) or found is None:
        return (Cell("± its file", "stale", True),), (
            clean(target),
            "its file was edited since; r shows what the answer is now",
        )
    stands = f"{reason_rows.mark_of(now)} {clean(now)}"
    return (Cell(stands, "stale", True),), (clean(target), f"was {clean(then)}, is {clean(now)} now")


def _told(call: Call, width: int) -> list[Row]:
    parts = [clean(told.outcome(call))]
    states = told.states(call)
    if states:
        parts.append(f"{states} at the time")
    lines = wrap("; ".join(parts), max(16, width - 14))
    rows = [_part("told" if not at else "", Cell(line, "text", False, "tail")) for at, line in enumerate(lines)]
    cost = f"{call.tokens:,} tokens, {call.ms:,.0f} ms, index {call.generation}" + (
        "" if call.warm else ", first of its server"
    )
    session = f"  session {clean(call.session)[:16]}" if call.session else ""
    return [*rows, _part("", Cell(cost, "muted", False, "tail"), Cell(session, "muted", False, "drop"))]


def _again(call: Call, known: Known, width: int) -> list[Row]:
    """What a replay found: the same, or what went and what came."""
    replay = known.replays.get(call.seq)
    if replay is None:
        return []
    if replay.call is None:
        return [
            _part("again", Cell(line, "attn", False, "tail")) for line in wrap(clean(replay.why), max(16, width - 14))
        ]
    now = replay.call
    rows = [
        _part(
            "again",
            Cell(clean(told.outcome(now)), "text", False, "tail"),
            right=(Cell(f"{now.tokens:,} tok", "muted"),),
        )
    ]
    gone = [one for one in call.path if one not in now.path]
    come = [one for one in now.path if one not in call.path]
    for mark, role, targets in (("-", "fallen", gone), ("+", "standing", come)):
        for target in targets[:WALKED]:
            key = f"walk:{call.seq}:{mark}{target}"
            cells = (Cell(f"{mark} ", role, True), *_named(target, known, with_path=width >= WIDE))
            words = (clean(target), "no longer walked" if mark == "-" else "walked now and not then")
            rows.append(_part("", *cells, key=key, words=words, copy=clean(target)))
    kept = len(call.path) - len(gone)
    moved = kept and [one for one in call.path if one in now.path] != [one for one in now.path if one in call.path]
    same = "the same walk" if not gone and not come else f"{kept} walked as before"
    rows.append(_part("", Cell(same + (", in another order" if moved else ""), "muted")))
    return rows


# -- the whole


def client_rows(totals: Sequence[Total], width: int) -> list[Row]:
    """A line for each client: calls, failures, tokens; most tokens first."""
    sums: dict[str, list[int]] = {}
    for one in totals:
        row = sums.setdefault(one.client, [0, 0, 0])
        row[0], row[1], row[2] = row[0] + one.calls, row[1] + one.failed, row[2] + one.tokens
    rows = []
    for name, (calls, failed, tokens) in sorted(sums.items(), key=lambda item: (-item[1][2], item[0])):
        told_tokens = Cell(f"{tokens:>10,} tok", "muted")
        right = (Cell(f"{plural(calls, 'call'):>12}"), Cell(f"{failed:>6,} failed", "text", False, "drop"), told_tokens)
        rows.append(Row("", (Cell(clean(name) or "no name", "text", True, "tail"),), right))
    return [*rows, BLANK] if rows else []


class Things(Mapping[str, Any]):
    """What the rows stand for, found by their keys when somebody asks."""

    def __init__(self, known: Known) -> None:
        self._known = known

    def __getitem__(self, key: str) -> Any:
        found = thing_of(key, self._known)
        if found is None:
            raise KeyError(key)
        return found

    def __iter__(self) -> Iterator[str]:
        return (f"call:{number}" for number in self._known.numbers)

    def __len__(self) -> int:
        return len(self._known.numbers)


def thing_of(key: str, known: Known) -> Any:
    """What a row stands for: a call, a node of the code, a ``Reason``; None for what is no longer there."""
    call = known.calls.get(number_in(key))
    if call is None or key.startswith("call:"):
        return call
    part = key.split(":", 2)[2]
    target = part[1:] if part[:1] in "+-" else call.path[int(part)]
    found = known.named.get(target)
    return found if found is None or isinstance(found, m.Node) else Reason(found.id, found.type, found.label)
