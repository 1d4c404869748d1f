"""Dead ends as rows: the four reasons with their counts, and under each the questions, why, how often, and what might be missing.

Who calls: the pane of dead ends. What may not come in: the toolkit, questions.
"""

from __future__ import annotations

from collections.abc import Mapping

from mog.app.present import clean
from mog.app.tui import reason_rows
from mog.app.tui.reason_asks import Dead, DeadEnds
from mog.app.tui.rows import Sheet, Thing, head, prose, quoted, teach
from mog.app.tui.walk_rows import clock, dead_end_words, mend_rows, record_row
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

SHORT = {
    "no_typed_edge": "no edge",
    "entity_unresolved": "no name",
    "wrong_node_type": "wrong type",
    "pruned_too_early": "pruned",
}
WIDE = 70


def dead_sheet(ends: DeadEnds | None, width: int, *, roomy: bool = True) -> Sheet:
    """Dead ends by reason; ``None`` while nobody has looked. ``roomy``: say why below each, and what might be missing."""
    if ends is None:
        return Sheet(teach("Looking for questions without an answer.", width=width - 4), title_right="?")
    if not ends.rows and not sum(ends.counts.values()):
        asked = (
            f"{ends.walks:,} questions were asked, all have an answer."
            if ends.walks
            else "Nobody has asked anything yet."
        )
        how = (
            "A question that leads nowhere stays here with its reason, and with what might be missing. 2 and a ask one."
        )
        return Sheet(teach("No dead ends.", asked, how, width=width - 4), title_right="0")
    things: dict[str, Thing] = {}
    lines: list[Line | Row] = []
    open_rows = [one for one in ends.rows if not one.answered]
    for reason, count in ends.counts.items():
        here = [one for one in open_rows if one.reason == reason]
        if here or count:
            lines += [BLANK] * bool(lines) + [_reason_head(reason, count, len(here))]
        for one in here:
            lines += _rows(one, things, width, roomy)
    answered = [one for one in ends.rows if one.answered]
    lines += [BLANK, head("answered since", f"{len(answered):,}")] if answered else []
    for one in answered:
        lines += _rows(one, things, width, False)
    return Sheet(Lines(lines), things, title_right=_counts(ends.counts, width))


def _counts(counts: Mapping[str, int], width: int) -> str:
    if width < WIDE:
        return f"{sum(counts.values()):,}"
    return "  ".join(f"{SHORT.get(reason, clean(reason))} {count:,}" for reason, count in counts.items())


def _reason_head(reason: str, count: int, shown: int) -> Row:
    forgotten = "" if shown or not count else "answered, or not asked lately"
    return head(dead_end_words(reason), f"{count:,}", forgotten)


def _rows(one: Dead, things: dict[str, Thing], width: int, roomy: bool) -> list[Line | Row]:
    key = f"dead:{one.question}"
    things[key] = one
    often = f"{one.times} times" if one.times > 1 else "once"
    mark = Cell("√ ", "standing", True) if one.answered else Cell("· ", "muted")
    when = " ".join(part for part in (often if width >= WIDE or one.times > 1 else "", clock(one.at)) if part)
    right = (Cell(when, "muted", False, "drop"),)
    cells = (mark, *quoted(reason_rows.clip(one.question)))
    rows: list[Line | Row] = [Row(key, cells, right, words=_words(one, often), copy=clean(one.question))]
    if one.told is None or one.answered or not roomy:
        return rows
    walk = one.told.walk
    rows += [_indented(row) for row in prose(walk.detail, max(16, width - 8), "muted", 3)]
    if walk.blocker:
        lead = (Cell("    in the way ", "attn"),)
        rows.append(record_row(f"blocker:{one.question}", walk.blocker, one.told.known, lead, things))
    return rows + [_deeper(row) for row in mend_rows(one.told.mends, one.told.known, things, f"mend:{one.question}")]


def _indented(row: Row) -> Row:
    return Row("", (Cell("    "), *row.cells))


def _deeper(line: Line | Row) -> Row:
    row = line if isinstance(line, Row) else line[0]
    return Row(row.key, (Cell("    "), *row.cells), words=row.words, copy=row.copy)


def _words(one: Dead, often: str) -> tuple[str, str]:
    who = f", by {clean(one.by)}" if one.by else ""
    asked = f"“{reason_rows.clip(one.question, 60)}”: {dead_end_words(one.reason)}, {often}{who}"
    if one.answered:
        return (asked, "it has an answer by now; enter shows the walk, r asks it again")
    why = clean(one.told.walk.detail)[:300] + ". " if one.told and one.told.walk.detail else ""
    return (asked, f"{why}a proposes what is missing, r asks again, enter shows the walk")
