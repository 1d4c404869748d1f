"""Rows of a break, step by step: the strip, evidence on offer, the verdict, what was recorded.

Who calls: ``panes/blast.py``. What may not come in: the toolkit, questions to the workspace, recording anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mog.app.present import clean
from mog.app.tui import reason_rows as rr
from mog.app.tui.blast_rows import SPARE, Told
from mog.app.tui.fall_counts import counts, plural, span
from mog.app.tui.rows import MARKS, note, place_in, prose, quoted
from mog.engine.model import Freshness
from mog.widgets.view import BLANK, Cell, Row

if TYPE_CHECKING:
    from mog.engine.breaks import Done, Judge, Offer

STEPS = ("pick", "preview", "evidence", "verdict", "done")
LISTED = 8
STRIP = 54
"""Cells from which the strip names every step."""


@dataclass(slots=True)
class Breaking:
    """Where a break stands. Nothing of it is recorded before the step ``done``.

    Attributes:
        step: one of ``STEPS``. offers: evidence on offer, ``None`` until it is here. judges: who judges an observation.
        offer, words: what was chosen: one of the offers, or what the person saw.
        reason: the person's own reason, "" for that of the evidence.
        done: what was recorded. undone: the way on again after it was taken back. matches: the effect was what the preview said.
    """

    step: str = "preview"
    offers: tuple[Offer, ...] | None = None
    judges: tuple[Judge, ...] = ()
    offer: Offer | None = None
    words: str = ""
    reason: str = ""
    done: Done | None = None
    undone: Done | None = None
    matches: bool = True
    busy: str = field(default="")

    @property
    def said(self) -> str:
        """The reason that would be recorded."""
        if self.reason:
            return self.reason
        return self.words or (self.offer.reason or self.offer.text if self.offer else "")

    @property
    def asked(self) -> tuple[Judge, ...]:
        """Auditors that judge what was chosen."""
        return self.offer.judges if self.offer else self.judges


def strip(breaking: Breaking, width: int) -> Row:
    """``1 pick  2 preview  3 EVIDENCE  4 verdict  5 done``: the step one is at in capitals, the others by number if need be."""
    cells: list[Cell] = []
    for number, name in enumerate(STEPS, start=1):
        here = name == breaking.step
        word = f" {name.upper()}" if here else f" {name}" if width >= STRIP else ""
        cells += [Cell(f"{number}{word}", "key" if here else "muted", here), Cell("  ")]
    return Row("", tuple(cells[:-1]))


def dry(breaking: Breaking) -> Row:
    """Whether anything was written."""
    if breaking.done is None:
        return note("nothing is written yet; esc steps back")
    return note("recorded; u takes it back exactly" if breaking.undone is None else "taken back; U says it again")


# -- evidence


def evidence_rows(breaking: Breaking) -> list[Row]:
    """What is on offer, and a place to write what was seen."""
    if breaking.offers is None:
        return [note("looking at what is anchored, and at what nobody judged yet …")]
    rows = [_offer_row(index, offer) for index, offer in enumerate(breaking.offers)]
    words = ("new: write what you saw; it is recorded as evidence when you apply",)
    cells = (Cell("new      ", "key", True), Cell("write an observation …", "text", False, "tail"))
    rows.append(Row("new", cells, _judged_by(breaking.judges), words=(*words, _judges_words(breaking.judges))))
    return [*rows, note("enter takes the row at >")]


def _offer_row(index: int, offer: Offer) -> Row:
    glyph, role = MARKS[offer.freshness]
    place = place_in(offer.locator)
    name = clean(place.name or place.path) if offer.locator else rr.clip(offer.text)
    mark = () if offer.freshness is Freshness.unknown else (Cell(f"{glyph} ", role, True),)
    kind = Cell(f"{rr.clip(offer.kind, 11):<9}", "key", True)
    state = clean(offer.reason) or ("recorded, not judged yet" if offer.recorded else offer.freshness.value)
    cells = (kind, *mark, Cell(name, "text", False, "tail"), Cell(f"  {state}", "muted", False, "tail"))
    source = "offered by the index" if not offer.recorded else "in the ledger"
    words = (f"{clean(offer.kind)}: “{rr.clip(offer.text, 200)}”", f"{source}; {_judges_words(offer.judges)}")
    return Row(f"offer:{index}", cells, (Cell(source, "muted", False, "drop"),), words=words)


def _judged_by(judges: Sequence[Judge]) -> tuple[Cell, ...]:
    return (Cell(f"judged by {clean(judges[0].name)}", "muted", False, "drop"),) if judges else ()


def _judges_words(judges: Sequence[Judge]) -> str:
    if not judges:
        return "no auditor judges it; you do"
    said = ", ".join(clean(one.name) + (" (waits for mog allow)" if one.waits else "") for one in judges[:4])
    return f"judged by {said}, or by you"


# -- verdict


def verdict_rows(breaking: Breaking, told: Told) -> list[Row]:
    """What may be said of the evidence, what each would do, and the way to Apply."""
    rows = [_chosen(breaking), BLANK]
    cells: list[Cell] = [Cell("refuted  ", "key", True), Cell("not so: ")]
    for label, _, count in counts(told.outlook):
        glyph, role = rr.STANDING[label]
        cells += [Cell(f"{glyph} ", role, True), Cell(f"{count:,}  ")]
    words = ("refuted: the evidence contradicts it; enter or a applies", f"reason: “{rr.clip(breaking.said, 200)}”")
    rows.append(Row("verdict:contradicts", tuple(cells), (Cell("[ Apply ]", "key", True),), words=words))
    holds = (
        Cell("holds    ", "key", True),
        Cell("still so: evidence kept, nothing falls", "text", False, "tail"),
    )
    words = ("holds: the evidence does not contradict it; enter or a records that", "nothing falls")
    rows.append(Row("verdict:holds", holds, (Cell("[ Apply ]", "key", True),), words=words))
    rows += [_ask_row(breaking.asked)] if breaking.asked else []
    said = (Cell("reason   ", "key", True), *quoted(rr.clip(breaking.said)))
    rows.append(
        Row(
            "reason",
            said,
            (Cell("e writes yours", "muted", False, "drop"),),
            words=("why you say so; e writes your own",),
        )
    )
    back = Row("back", (Cell("[ Back ]", "key", True),), words=("back to the evidence; esc does the same",))
    return [*rows, back]


def _chosen(breaking: Breaking) -> Row:
    if breaking.offer is None:
        return Row("", (Cell("evidence ", "muted"), *quoted(rr.clip(breaking.words))))
    offer = breaking.offer
    text = f"{offer.kind}: {offer.text}" + (f", {offer.reason}" if offer.reason else "")
    return Row("", (Cell("evidence ", "muted"), Cell(rr.clip(text), "text", False, "tail")))


def _ask_row(judges: Sequence[Judge]) -> Row:
    names = ", ".join(clean(one.name) for one in judges[:3])
    command = next((one.command for one in judges if one.command), ())
    how = f" ({clean(' '.join(command))})" if command else ""
    waits = [clean(one.name) for one in judges if one.waits]
    cells = (Cell("ask      ", "key", True), Cell(f"{names}{how} judges it", "text", False, "tail"))
    right = Cell("waits for mog allow", "attn", True) if waits else Cell("[ Apply ]", "key", True)
    second = (
        f"mog allow {waits[0]} lets it run" if waits else "the verdict is its own; contradicts fells, holds does not"
    )
    return Row("verdict:auditors", cells, (right,), words=(f"ask: {names}{how}", second))


# -- done

_VERDICTS = {
    "contradicts": ("refuted", "fallen", "×"),
    "holds": ("holds", "standing", "●"),
    "": ("not judged", "unverified", "?"),
}


def done_rows(breaking: Breaking, told: Told, width: int) -> list[Row]:
    """What was recorded, what it did, and the way back."""
    done = breaking.done
    if done is None:
        return []
    word, role, glyph = _VERDICTS[done.verdict]
    by = f" by {clean(done.auditor)}" if done.auditor else ""
    cells = (Cell(f"{glyph} ", role, True), Cell(f"{word}{by}", "text", True))
    rows = [Row("done", (*cells, *((Cell(": "), *quoted(rr.clip(done.reason))) if done.reason else ())))]
    rows += _recorded(breaking, done, width)
    rows += [row for why in done.open[:3] for row in prose(f"open: {why}", width - 4, "attn", 2)]
    rows += [note(f"waits for mog allow {clean(name)}", "attn", 2) for name in done.waiting[:3]]
    return [*rows, *_did(breaking, told)]


def _recorded(breaking: Breaking, done: Done, width: int) -> list[Row]:
    if breaking.undone is not None:
        events = ", ".join(f"{seq:,}" for seq in breaking.undone.events)
        cells = (Cell(f"  taken back by event {events}: all stands as before", "text", False, "tail"),)
        return [Row("undone", cells, (Cell("U redo", "key", True),), words=("taken back; U says it again",))]
    if not done.events:
        return [note("nothing was recorded", indent=2)]
    events = ", ".join(f"{seq:,}" for seq in done.events)
    said, stale = f"  event {events}, receipt {clean(done.receipt)[:8]}", plural(len(done.cost.reruns), "task") + " stale"
    undo, work = Cell("u undo", "key", True), Cell("0 see work", "key", True)
    words = (f"{said.strip()}, {stale}", "u takes it back exactly")
    if width >= SPARE:
        cells = (Cell(f"{said}, {stale}", "text", False, "tail"),)
        return [Row("recorded", cells, (undo, Cell("  "), work), words=words)]
    first = Row("recorded", (Cell(said, "text", False, "tail"),), (undo,), words=words)
    return [first, Row("task:", (Cell(f"  {stale}"),), (work,), words=("enter shows the plan; a there runs what fell",))]


def _did(breaking: Breaking, told: Told) -> list[Row]:
    done = breaking.done
    if done is None or done.radius is None or breaking.undone is not None:
        return []
    if done.verdict != "contradicts":
        return [note("nothing fell: the evidence is kept with its verdict", "standing", 2)]
    fell = len(done.radius.falls) - len(done.radius.falls.at_hop(0))
    cells = [Cell("  "), Cell("× ", "fallen", True), Cell(f"{fell:,} fell  "), Cell("▼ ", "weakened", True)]
    cells += [
        Cell(f"{len(done.radius.weakens):,} weakened"),
        Cell("  as the preview said" if breaking.matches else "", "muted"),
    ]
    rows = [Row("", tuple(cells))]
    if not breaking.matches:
        rows.append(note("the preview said otherwise: somebody wrote in between", "attn", 2))
    for one in done.cost.reruns[:LISTED]:
        took = "" if one.seconds is None else f"  {span(one.seconds)} last time"
        cells = [Cell("  ≈ ", "stale", True), Cell(f"{clean(one.plan)}/{clean(one.name)}{took}", "text", False, "tail")]
        rows.append(
            Row(f"task:{one.plan}/{one.name}", tuple(cells), words=("stale: 0 shows the plan, a there runs it",))
        )
    hidden = len(done.cost.reruns) - LISTED
    return rows + ([note(f"+{hidden:,} hidden", indent=2)] if hidden > 0 else [])
