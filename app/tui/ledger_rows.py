"""Events of the ledger as rows, made when they come into view, and one event whole.

Who calls: ``panes/ledger.py``. What may not come in: the toolkit, questions: a row that is not here yet says so and is asked for.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui import reason_rows
from mog.app.tui.ledger_asks import Entry, Whole
from mog.app.tui.rows import Sheet, Thing, head, note, prose, quoted, teach
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.engine.attest import LedgerReport

PLAIN_ROWS = 500
ROOMY, WIDE, MIDDLE = 110, 80, 56
PREFIX = "event:"


class Events:
    """Events newest first. A source of any length: a line costs what it shows.

    Args:
        seqs: their numbers in order, oldest first. entry: what is known of one, None when it has to be asked for first.
    """

    __slots__ = ("_entry", "_seqs", "_width")

    def __init__(self, seqs: Sequence[int], entry: Callable[[int, int], Entry | None], width: int) -> None:
        self._seqs, self._entry, self._width = seqs, entry, width

    def __len__(self) -> int:
        return len(self._seqs)

    def line(self, index: int) -> Line:
        seq = self._seqs[len(self._seqs) - 1 - index]
        found = self._entry(seq, index)
        return (event_row(found, self._width) if found is not None else _awaited(seq),)

    def find(self, key: str) -> tuple[int, int] | None:
        seq = seq_of(key)
        at = bisect_left(self._seqs, seq)
        return (len(self._seqs) - 1 - at, 0) if seq and at < len(self._seqs) and self._seqs[at] == seq else None


class Things(Mapping[str, Thing]):
    """Row key → number of the event, without a table of them."""

    def __init__(self, source: Events) -> None:
        self._source = source

    def __getitem__(self, key: str) -> Thing:
        if self._source.find(key) is None:
            raise KeyError(key)
        return seq_of(key)

    def __iter__(self) -> Iterator[str]:
        return (self._source.line(i)[0].key for i in range(len(self._source)))

    def __len__(self) -> int:
        return len(self._source)


def seq_of(key: str) -> int:
    """The number in a row's key, 0 for another key."""
    number = key.removeprefix(PREFIX)
    return int(number) if key.startswith(PREFIX) and number.isdecimal() and number.isascii() else 0


def key_of(seq: int) -> str:
    """Row key of an event."""
    return f"{PREFIX}{seq}"


def _awaited(seq: int) -> Row:
    return Row(key_of(seq), (Cell(f"{seq:>7,} ", "text", True), Cell("…", "muted")), words=("being read", ""))


def event_row(entry: Entry, width: int) -> Row:
    """``9,214 12:44:10 judged    × (A) totals round once      by audit-rounding  1 verdict``."""
    kind, time = clean(entry.type)[:12], clean(entry.at[11:19])
    if width >= MIDDLE:
        shown = time if width >= WIDE else time[:5]
        cells = [Cell(f"{entry.seq:>7,} ", "text", True), Cell(f"{shown} ", "muted"), Cell(f"{kind:<9} ", "key")]
    else:
        cells = [Cell(f"{entry.seq:,} ", "text", True), Cell(f"{kind} ", "key")]
    cells += _verdict(entry)
    if entry.about is not None:
        cells += reason_rows.reason_cells(entry.about)
    elif entry.words:
        cells += quoted(reason_rows.clip(entry.words))
    cells += [Cell(f" +{entry.more:,}", "muted")] if entry.more else []
    right = []
    if width >= WIDE and entry.by:
        right.append(Cell(f"by {reason_rows.clip(entry.by, 24)}", "muted"))
    if width >= ROOMY:
        right.append(Cell(f"  {reason_rows.clip(entry.effects, 32):<24}", "muted"))
    day = clean(entry.at[:10])
    told = f"event {entry.seq:,}, {day} {time}, {kind}" + (f" by {reason_rows.clip(entry.by, 60)}" if entry.by else "")
    more = f"{reason_rows.clip(entry.effects, 80) or 'no record changed'}; enter shows it whole with its proof"
    text = entry.about.label if entry.about is not None else entry.words
    copy = f"event {entry.seq} {entry.at} {entry.type}: {text}"
    return Row(key_of(entry.seq), tuple(cells), tuple(right), words=(told, more), copy=clean(copy))


def _verdict(entry: Entry) -> list[Cell]:
    role = {"refuted": ("× ", "fallen"), "held": ("√ ", "standing")}.get(entry.verdict)
    return [Cell(role[0], role[1], True)] if role else []


def ledger_sheet(
    source: Events, width: int, kind: str, total: int, verdict: Sequence[Cell], *, everything: bool
) -> Sheet:
    """The list. ``everything``: for plain text, which is given the newest ``PLAIN_ROWS`` at once."""
    if not total:
        text = "Nothing is recorded yet."
        how = "Each pin, claim and verdict becomes an event here, chained to the one before it. p on a symbol makes the first."
        return Sheet(teach(text, how, width=width - 4), title_right="0 events")
    said = "".join(cell.text for cell in verdict)
    counted = plural(len(source), "event") + (f" of {total:,}" if kind else "")
    right = f"{counted}  {said}" if said and width >= MIDDLE else said or counted
    if not everything:
        return Sheet(source, Things(source), clean(kind), right)
    lines: list[Line | Row] = [source.line(index) for index in range(min(len(source), PLAIN_ROWS))]
    left = len(source) - len(lines)
    lines += [note(f"+{left:,} hidden: mog ledger lists them")] if left else []
    return Sheet(Lines(lines), Things(source), clean(kind), right)


def verdict_cells(report: LedgerReport | None, head: int) -> tuple[Cell, ...]:
    """What the last check found: ``√ whole, signed at 9,200, √ witness``; "" before the first."""
    if report is None:
        return ()
    if not report.check.ok:
        where = f" at event {report.check.damaged_at:,}" if report.check.damaged_at else ""
        return (Cell("× ", "fallen", True), Cell(f"damaged{where}"))
    since = f" to {report.check.events:,}" if report.check.events != head else ""
    signed = f", signed at {report.signature.checkpoint.size:,}" if report.signature else ", not signed"
    known = " by a key nobody knows" if report.signature and not report.signature.known else ""
    seen = ", √ witness" if not report.problems and report.witness.startswith("saw its") else ""
    wrong = f", × {plural(len(report.problems), 'problem')}" if report.problems else ""
    return (Cell("√ ", "standing", True), Cell(f"chain whole{since}{signed}{known}{seen}{wrong}"))


def report_words(report: LedgerReport) -> str:
    """What a check found, in a sentence for the foot line."""
    if not report.check.ok:
        return f"× {clean(report.check.reason)}; mog doctor --repair makes anew what can be"
    if report.problems:
        return f"× {clean('; '.join(report.problems))}"
    replayed = "; replayed, every record is what the events give" if report.replayed else ""
    return f"√ {plural(report.check.events, 'event')}: chain, tree and state roots hold{replayed}; witness: {clean(report.witness)}"


def whole_sheet(found: Whole, width: int) -> Sheet:
    """One event as it was recorded, its hash, and whether it is proved to be in the ledger."""
    room, entry = max(20, width - 4), found.entry
    rows: list[Line | Row] = [event_row(entry, width), BLANK]
    rows += _folded("recorded", entry.at, room)
    rows += _folded("hash", found.digest, room)
    mark = Cell("√ ", "standing", True) if found.proved else Cell("× ", "fallen", True)
    first, *rest = prose(found.proof, max(16, room - 12), "text", 4)
    rows.append(Row("", (Cell("proof     ", "muted"), mark, *first.cells)))
    rows += [Row("", (Cell(" " * 12), *row.cells)) for row in rest]
    for name, value in found.facts:
        rows += _folded(reason_rows.clip(name, 9), reason_rows.clip(value, 2_000), room)
    rows += [BLANK, head("did", plural(found.total, "operation"))]
    for number, op in enumerate(found.ops):
        key = f"op:{number}"
        cells = (Cell(f"  {reason_rows.clip(op)}", "text", False, "tail"),)
        rows.append(Row(key, cells, words=(reason_rows.clip(op, 600), "y copies it whole"), copy=clean(op)))
    left = found.total - len(found.ops)
    rows += [note(f"  +{left:,} hidden: mog ledger show {entry.seq}")] if left else []
    return Sheet(Lines(rows), {key_of(entry.seq): entry.seq}, f"event {entry.seq:,}", clean(entry.type))


def _folded(name: str, value: str, room: int) -> list[Row]:
    label = f"{name:<9} "
    # a digest is one long word: it is cut into lines that fit
    size = max(12, room - 10)
    words = " ".join(word[i : i + size] for word in clean(value).split() for i in range(0, len(word), size))
    first, *rest = prose(words, size, "text", 8) or [note("")]
    return [Row("", (Cell(label, "muted"), *first.cells)), *(Row("", (Cell(" " * 10), *row.cells)) for row in rest)]
