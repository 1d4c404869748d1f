"""Numbers of a blast radius as cells and rows: bars, marks by hop, what it costs to run again.

Who calls: ``blast_rows.py``, ``break_rows.py``, ``impact_rows.py``, ``work_rows.py``. What may not come in: the toolkit, names of
records, questions to the workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.cells import cell_len

from mog.app.tui import reason_rows as rr
from mog.app.tui.rows import note
from mog.widgets.view import Cell, Row

if TYPE_CHECKING:
    from mog.engine.executor.fallout import Cost
    from mog.engine.reason.outlook import Hop, Outlook

MARKS = 20
"""Marks of one hop that are drawn one by one; more are counted."""
FALLEN, WEAKENED, STANDING = "fallen", "weakened", "standing"


def counts(outlook: Outlook) -> list[tuple[str, str, int]]:
    """(label, word, how many) of what falls, weakens and survives."""
    return [
        (FALLEN, "fall", outlook.falling),
        (WEAKENED, "weaken", len(outlook.weaker)),
        (STANDING, "survive", len(outlook.survives)),
    ]


_BARS = {FALLEN: "█", WEAKENED: "▒", STANDING: "░"}


def bar(label: str, count: int, most: int, room: int) -> Cell:
    """A bar of at most ``room`` cells; one cell a node while they all fit, and never none for some."""
    cells = count if most <= room else max(bool(count), round(count * room / most))
    return Cell(_BARS[label] * cells, rr.STANDING[label][1])


def bars(outlook: Outlook, width: int) -> list[Row]:
    """Three rows, one a label: mark, word, number, bar."""
    found = counts(outlook)
    most = max(count for _, _, count in found)
    digits = max(len(f"{count:,}") for _, _, count in found)
    rows = []
    for label, word, count in found:
        glyph, role = rr.STANDING[label]
        cells = (Cell(f"{glyph} ", role, True), Cell(f"{word + 's':<9}"), Cell(f"{count:>{digits},}  ", "text", True))
        rows.append(Row("", (*cells, bar(label, count, most, min(20, width - 15 - digits)))))
    return rows


def short_bars(outlook: Outlook) -> Row:
    """All three in one row: ``× 4 ████  ▼ 1 ▒  ● 3 ░░░``."""
    found = counts(outlook)
    most = max(count for _, _, count in found)
    cells: list[Cell] = []
    for label, _, count in found:
        glyph, role = rr.STANDING[label]
        cells += [
            Cell(f"{glyph} ", role, True),
            Cell(f"{count:,} ", "text", True),
            bar(label, count, most, 5),
            Cell("  "),
        ]
    return Row("", tuple(cells[:-1]))


def count_row(outlook: Outlook, width: int) -> Row:
    """``× 4 fall   ▼ 1 weakens   ● 3 survive   ? 0 unverified       of 8 dependants``."""
    cells: list[Cell] = []
    for label, word, count in counts(outlook):
        glyph, role = rr.STANDING[label]
        cells += [
            Cell(f"{glyph} ", role, True),
            Cell(f"{count:,} {word}{'s' * (count == 1)}", "text", True),
            Cell("   "),
        ]
    cells += [
        Cell("? ", "unverified", True),
        Cell(f"{len(outlook.unverified):,}{' unverified' if width >= 60 else ''}"),
    ]
    least = "at least " if outlook.capped else ""
    return Row(
        "", tuple(cells), (Cell(f"of {least}{plural(outlook.dependants, 'dependant')}", "muted", False, "drop"),)
    )


def hop_cells(hop: Hop) -> list[Cell]:
    """``hop 1  ××▼●●``; more than twenty are counted: ``×120 ▼3 ●40``."""
    parts = ((FALLEN, hop.falls), (WEAKENED, hop.weakens), (STANDING, hop.survives))
    cells = [Cell(f"hop {hop.hop}  ", "muted")]
    for label, count in parts:
        glyph, role = rr.STANDING[label]
        if sum(number for _, number in parts) <= MARKS:
            cells.append(Cell(glyph * count, role, True))
        elif count:
            cells += [Cell(glyph, role, True), Cell(f"{count:,} ")]
    return cells


def hop_rows(hops: Sequence[Hop], width: int, most: int) -> list[Row]:
    """As many hops as ``most`` lines hold, several in a line; the rest is counted."""
    rows: list[list[Cell]] = [[]]
    for at, hop in enumerate(hops):
        cells = [*hop_cells(hop), Cell("   ")]
        used = sum(cell_len(cell.text) for cell in rows[-1])
        if used and used + sum(cell_len(cell.text) for cell in cells) - 3 > width - 3:
            if len(rows) == most:
                rows[-1].append(Cell(f"+{len(hops) - at:,} hops", "muted", False, "drop"))
                break
            rows.append([])
        rows[-1] += cells
    found = [Row("", tuple(cells)) for cells in rows if cells]
    if most > 1 and rows[-1] and rows[-1][-1].text.startswith("+"):
        found.append(note(f"the farthest is {hops[-1].hop:,} hops away"))
    return found


def cost_words(cost: Cost) -> str:
    """``re-run 3 of 41 tasks, about 40 s; 1 may stop early``."""
    if not cost.tasks:
        return "re-run nothing: no plan was run here"
    if not cost.reruns:
        return f"re-run none of {plural(cost.tasks, 'task')}"
    said = f"re-run {len(cost.reruns):,} of {plural(cost.tasks, 'task')}, {_seconds(cost)}"
    early, blocked = sum(one.early for one in cost.reruns), sum(one.blocked for one in cost.reruns)
    said += f"; {early:,} may stop early" if early else ""
    return said + (f"; {blocked:,} need{'s' * (blocked == 1)} other ground first" if blocked else "")


def short_cost(cost: Cost) -> str:
    """``re-run 3 tasks, about 40 s``, for the stack."""
    if not cost.reruns:
        return "re-run nothing"
    took = f", about {span(cost.seconds)}" if cost.seconds is not None else ""
    return f"re-run {plural(len(cost.reruns), 'task')}{took}"


def _seconds(cost: Cost) -> str:
    if cost.seconds is None:
        return "time not known"
    missing = f" and {cost.unmeasured:,} not measured" if cost.unmeasured else ""
    return f"about {span(cost.seconds)}{missing}"


def span(seconds: float) -> str:
    """``0.4 s``, ``40 s``, ``3 min``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def plural(count: int, word: str) -> str:
    """``1 task``, ``1,200 tasks``."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
