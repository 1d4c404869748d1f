"""Rows of a request that waits: who asks, what it would write word for word, what is on record already, and the four choices.

Who calls: ``panes/approvals.py``. What may not come in: the toolkit, questions to the workspace. Every word of an agent stands in
“quotes” or beside the name of its argument, cleaned; what is not shown of it is counted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui import reason_rows
from mog.app.tui.rows import head, note, prose
from mog.widgets.fit import wrap
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.engine.approvals import Request

CHOICES = ("Later", "Allow once", "Refuse", "Refuse and say why")
LATER, ALLOW, REFUSE, WHY = range(4)
WRITES = {
    "mesh_submit_evidence": "writes 1 record of evidence; nothing follows from it until an auditor judges",
    "mesh_recheck": "has auditors you allowed judge what changed; what they find false falls",
    "mesh_repair": "puts other ground or registered code under one task; it runs at the next resume",
    "mesh_resume": "runs what is pending or stale in the plans, and records what came of it",
}
TEXTS = frozenset({"text", "assumes"})
"""Arguments that would be recorded, and may be on record in other words."""
SHOWN = 6
"""Lines of one argument before ``i`` unfolds it."""


def request_lines(
    request: Request, near: Sequence[tuple[Any, float]] | None, width: int, *, whole: bool = False
) -> Lines:
    """The rows of one request; every line can be reached, so that none is overlooked."""
    what = f"{clean(request.help)} It {WRITES.get(request.tool, 'records something')}."
    rows: list[Line | Row] = [BLANK, head(clean(request.tool)), *prose(what, width - 6, "muted", 4), BLANK]
    rows.append(Row("", (Cell("† ", "muted", True), Cell("its words, not yours and not the repository's:", "muted"))))
    names = [clean(name)[:24] for name in request.arguments]
    column = max((len(name) for name in names), default=0) + 2
    for at, (name, value) in enumerate(request.arguments.items()):
        rows += _argument(at, clean(name)[:24], value, column, width, whole=whole)
    for name, count in request.left_out.items():
        rows.append(Row("", (Cell(f"  not shown: {count:,} more characters of {clean(name)[:40]}", "attn", True),)))
    if not request.arguments:
        rows.append(note("  it takes no arguments"))
    return Lines([*rows, BLANK, *(_near(near) if TEXTS & set(request.arguments) else ())])


def _argument(at: int, name: str, value: object, column: int, width: int, *, whole: bool) -> list[Row]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    lines = [part for line in text.split("\n") for part in (wrap(clean(line), max(16, width - column - 8)) or [""])]
    shown = lines if whole or len(lines) <= SHOWN + 1 else lines[:SHOWN]
    rows = []
    for number, line in enumerate(shown):
        label = Cell(f"  {name if not number else '':<{column}}", "key", not number)
        quote = ("“" if not number else " ", "”" if number == len(lines) - 1 else "")
        rows.append(
            Row(
                f"word:{at}:{number}",
                (label, Cell(quote[0], "muted"), Cell(line, "text", False, "tail"), Cell(quote[1], "muted")),
            )
        )
    if len(shown) < len(lines):
        rows.append(
            Row(
                f"word:{at}:more",
                (Cell(" " * (column + 2)), Cell(f"+{len(lines) - len(shown)} lines, i shows them", "attn", True)),
            )
        )
    return rows


def _near(near: Sequence[tuple[Any, float]] | None) -> list[Line | Row]:
    if near is None:
        return [note("looking for what is on record already …")]
    if not near:
        return [note("nothing on record says nearly the same")]
    rows: list[Line | Row] = [note(f"on record already, {plural(len(near), 'text')} with most of its words:", "text")]
    for found, share in near:
        cells = (Cell("  "), *reason_rows.reason_cells(found, quote=True))
        rows.append(Row(f"near:{found.id}", cells, (Cell(f"{share:.2f}", "muted"),), copy=clean(found.label)))
    return rows


def choice_row(chosen: int) -> Row:
    """The choices, the chosen one in brackets."""
    cells: list[Cell] = []
    for at, name in enumerate(CHOICES):
        cells += [
            Cell(f"[{name}]" if at == chosen else f" {name} ", "key" if at == chosen else "text", at == chosen),
            Cell("  "),
        ]
    return Row("", tuple(cells[:-1]))
