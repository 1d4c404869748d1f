"""Why a record stands, and what is recorded of it, as rows.

Who calls: the pane of walks, which shows both for a row of any pane. What may not come in: the toolkit, questions.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui import drift_rows, reason_rows
from mog.app.tui.reason_asks import Inspected, Known, Why
from mog.app.tui.rows import MARKS, Sheet, Thing, head, note, prose, quoted
from mog.app.tui.walk_rows import record_row
from mog.engine.model import Freshness
from mog.engine.reason.records import GraphNode, Judgement, Provenance, thaw
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.app.tui.drift_asks import Place
    from mog.engine.reason.explain import Explanation, Reason, Version
    from mog.engine.reason.minimal import Strength
    from mog.engine.reason.records import Anchored

SETS = 8
VALUE_LINES = 6
_Rows = list[Line | Row]


def why_sheet(found: Sequence[Why], width: int) -> Sheet:
    """Why these records stand, one after the other."""
    things: dict[str, Thing] = {}
    rows: _Rows = []
    for number, one in enumerate(found):
        rows += [BLANK] * bool(number) + _why(one, f"{number}", things, max(20, width - 4))
    right = found[0].explanation.label.value if len(found) == 1 else f"{len(found)} beliefs"
    return Sheet(Lines(rows), things, "why", right)


def _why(why: Why, at: str, things: dict[str, Thing], room: int) -> _Rows:
    answer, known = why.explanation, why.known
    things[f"{at}:node"] = reason_rows.thing(answer.node)
    rows: _Rows = [reason_rows.row(f"{at}:node", answer.node, answer.label.value)]
    rows += prose(why.said, room, "text", 4)
    for index, reason in enumerate(answer.reasons):
        rows += _ground(reason, f"{at}:ground{index}", known, things, room)
    rows += _judgements(answer, at, known, things, room)
    rows += _strength(answer.strength, at, known, things) if answer.label != "fallen" else []
    rows += _places(why, at, things, room)
    rows += _origin(answer.node.provenance, at, known, things, room)
    return rows + _versions(why.versions, at, things)


def _ground(reason: Reason, at: str, known: Known, things: dict[str, Thing], room: int) -> _Rows:
    mark = ("√ ", "standing") if reason.met else ("× ", "fallen")
    whose = "" if reason.origin == "edges" else f", given by {clean(reason.origin)}"
    word = f"ground {'holds' if reason.met else 'does not hold'}{whose}"
    rows: _Rows = [BLANK, Row("", (Cell(mark[0], mark[1], True), Cell(word, "text", False, "tail")))]
    rows += [Row("", (Cell("  "), *quoted(reason_rows.clip(reason.note), "muted")))] if reason.note else []
    rows += _records(reason.standing, f"{at}:up", known, "  ", "a premise that stands", things)
    rows += _records(reason.missing, f"{at}:down", known, "  ", "a premise that does not stand", things)
    return rows + _records(
        reason.defeated_by, f"{at}:not", known, "  not while ", "while it stands this ground does not", things
    )


def _records(
    nodes: Iterable[GraphNode], at: str, known: Known, lead: str, also: str, things: dict[str, Thing]
) -> list[Row]:  # fmt: skip
    said = f"{also}; enter says why it stands"
    cell = (Cell(lead, "attn" if lead.strip() else "muted"),)
    return [record_row(f"{at}:{node.id}", node.id, known, cell, things, said) for node in nodes]


def _judgements(answer: Explanation, at: str, known: Known, things: dict[str, Thing], room: int) -> _Rows:
    rows: _Rows = []
    counted = {one.id for one in answer.defeated_by}
    for one in (*answer.defeated_by, *(j for j in answer.judgements if j.id not in counted)):
        rows += _judged(one, one.id in counted or one.verdict != "contradicts", at, known, things)
    if answer.contradicted_by:
        rows += [BLANK, head("contradicted by", "not judged yet")]
        rows += _records(answer.contradicted_by, f"{at}:against", known, "  ", "nobody judged it yet", things)
    return rows


def _judged(one: Judgement, counts: bool, at: str, known: Known, things: dict[str, Thing]) -> _Rows:
    """A verdict; one on evidence that no longer counts is kept for the record, and said to be that."""
    verdict = (
        "held"
        if one.verdict != "contradicts"
        else "refuted"
        if counts
        else "refuted once, its evidence no longer counts;"
    )
    role = "standing" if one.verdict != "contradicts" else "fallen" if counts else "muted"
    rows: _Rows = [
        BLANK,
        Row("", (Cell(f"{verdict} ", role, True), Cell(f"by {clean(one.auditor)}, event {one.at:,}", "muted"))),
    ]
    rows.append(
        record_row(
            f"{at}:judged:{one.id}", one.evidence, known, (Cell("  on "),), things, "the evidence that was judged"
        )
    )
    return rows + [Row("", (Cell("  "), *quoted(reason_rows.clip(one.reason))))] * bool(one.reason)


def _strength(found: Strength, at: str, known: Known, things: dict[str, Thing]) -> _Rows:
    if not found.stands or found.needs in (0, 3):
        said = "nothing that could be lost holds it up" if found.needs == 0 else "no one loss and no two fell it"
        return [BLANK, note(said)] if found.stands else []
    rows: _Rows = []
    ones = [id for id in found.ones if id != found.node]
    if ones:
        rows += [BLANK, head("falls with any one of")]
        rows += [record_row(f"{at}:one:{id}", id, known, (Cell("  "),), things) for id in ones[:SETS]]
    if found.pairs:
        rows += [BLANK, head("falls with two of these together")]
        for number, pair in enumerate(found.pairs[:SETS]):
            rows += [
                record_row(f"{at}:pair{number}:{id}", id, known, (Cell("  and " if n else "  "),), things)
                for n, id in enumerate(pair)
            ]
    left = max(0, len(ones) - SETS) + max(0, len(found.pairs) - SETS)
    return rows + ([note(f"+{left:,} hidden; mog explain --json lists them")] if left else [])


def _places(why: Why, at: str, things: dict[str, Thing], room: int) -> _Rows:
    anchors = why.explanation.anchors
    rows: _Rows = [BLANK, head("about")] if anchors else []
    for one in anchors:
        things[f"{at}:at:{one.id}"] = one.anchor.locator
        rows += _place(f"{at}:at:{one.id}", one, why.places.get(one.id), room)
    return rows


def _place(key: str, one: Anchored, found: Place | None, room: int) -> _Rows:
    """The code an anchor is on; where it is no longer as recorded: how it is, why, and since which commit."""
    place = clean(one.anchor.locator)
    name, anchored = Cell(place, "code", False, "head"), f"anchored to {place} at event {one.at:,}"
    if found is None or found.freshness is Freshness.fresh:
        return [Row(key, (Cell("  "), name), words=(anchored, "enter goes there"))]
    state, (glyph, role) = found.freshness.value, MARKS[found.freshness]
    told = (drift_rows.why_words(found), _lines(found), drift_rows.since_words(found))
    said = ", ".join(part for part in told if part)
    words = (f"{anchored}, which is {state}: {said}", "enter goes there")
    row = Row(key, (Cell(f"{glyph} ", role, True), name), words=words, copy=place)
    lines = prose(f"its anchor is {state}: {said}", max(16, room - 4), "text", 4)
    return [row, *(Row("", (Cell("    "), *line.cells)) for line in lines)]


def _lines(place: Place) -> str:
    lines = place.held[0].drift.lines
    return f"now lines {lines[0]:,} to {lines[1]:,}" if lines else ""


def _origin(found: Provenance | None, at: str, known: Known, things: dict[str, Thing], room: int) -> _Rows:
    if found is None:
        return []
    rows: _Rows = [BLANK, head("from")]
    rows.append(record_row(f"{at}:from", found.source_id, known, (Cell("  "),), things, "the source it was drawn from"))
    span = f", characters {found.span[0]:,} to {found.span[1]:,}" if found.span else ""
    checks = f"; checked: {', '.join(found.checks)}" if found.checks else ""
    return [*rows, *prose(f"lifted by {found.extractor}{span}{checks}", room, "muted", 3)]


def _versions(versions: Sequence[Version], at: str, things: dict[str, Thing]) -> _Rows:
    rows: _Rows = [BLANK, head("versions", f"{len(versions)}, oldest first")] if versions else []
    for one in versions:
        key = f"{at}:version:{one.node.id}"
        things[key] = reason_rows.thing(one.node)
        gone = one.retired.how if one.retired else ""
        lead = (Cell("  " + "  " * min(one.depth, 6)),)
        right = (Cell(clean(gone) or f"event {one.node.at:,}", "muted", False, "drop"),)
        rows.append(reason_rows.row(key, one.node, one.label.value, lead=lead, right=right))
    return rows


# -- what is recorded


def inspect_sheet(found: Inspected, width: int) -> Sheet:
    """A record whole: what it is, whose word it is, its attributes, its edges."""
    things: dict[str, Thing] = {"node": reason_rows.thing(found.node)}
    room = max(20, width - 4)
    rows: _Rows = [reason_rows.row("node", found.node, found.label), *prose(found.node.label, room, "text", 12), BLANK]
    rows += [row for name, value in _facts(found) for row in _fact(name, value, room)]
    rows += _origin(found.node.provenance, "node", found.known, things, room)
    rows += _edges(found, things)
    return Sheet(Lines(rows), things, "inspect", found.label)


def _facts(found: Inspected) -> list[tuple[str, str]]:
    node, event = found.node, found.event
    kind = f"{node.type}, {node.kind}" if node.kind != node.type else node.type
    gone = found.retired
    told = f"{gone.how} by {gone.by or 'nobody named'}" + (f": {gone.reason}" if gone.reason else "") if gone else ""
    facts = [
        ("id", node.id),
        ("kind", kind),
        ("recorded", f"event {event[0]:,} {event[1]}, {event[2][:19].replace('T', ' ')}" if event[0] else "imported"),
        ("retired", told),
        ("marks", ", ".join(found.marks)),
        ("trust", reason_rows.trust_words(reason_rows.trust_of(node)) or "not recorded"),
        ("taint", ", ".join(reason_rows.taint_of(node)).upper() or "none recorded"),
        ("at", ", ".join(found.anchors)),
    ]
    facts += [(name, value if isinstance(value, str) else _json(value)) for name, value in sorted(node.attrs.items())]
    return [(name, value) for name, value in facts if value]


def _json(value: object) -> str:
    return json.dumps(thaw(value), ensure_ascii=False, sort_keys=True)


def _fact(name: str, value: str, room: int) -> list[Row]:
    """A name and its value; a long one folded."""
    label = f"{reason_rows.clip(name, 20):<9} "
    lines = prose(reason_rows.clip(value, 1_000), max(12, room - 10), "text", VALUE_LINES) or [note("")]
    first, *rest = lines
    return [
        Row("", (Cell(label, "muted"), *first.cells)),
        *(Row("", (Cell(" " * len(label)), *row.cells)) for row in rest),
    ]


def _edges(found: Inspected, things: dict[str, Thing]) -> _Rows:
    rows: _Rows = [BLANK, head(plural(found.total, "edge"))]
    for number, edge in enumerate(found.edges):
        out = edge.src == found.node.id
        lead = (Cell(f"  {clean(edge.kind)[:12]:<12} ", "muted"), Cell("──→ " if out else "←── ", "rule"))
        role = f", as {clean(edge.role)}" if edge.role else ""
        bound = "; bound to an assumption" if edge.assumption else ""
        also = f"{clean(edge.kind)} {'to' if out else 'from'} it{role}{bound}"
        rows.append(record_row(f"edge:{number}", edge.dst if out else edge.src, found.known, lead, things, also))
    left = found.total - len(found.edges)
    return rows + ([note(f"  +{left:,} hidden")] if left else [])
