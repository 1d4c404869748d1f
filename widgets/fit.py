"""Laying a row out in a number of cells: what gives way first, where it is cut, what stands between.

Who calls: ``strips.py`` for the screen, the plain-text twins for everything else.
What may not come in: the toolkit, colours, scrolling. Widths are terminal cells (wide characters count two).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from rich.cells import cell_len, set_cell_size

from mog.widgets.view import Cell, Line, Row, Title

ELLIPSIS = "…"
GUTTER = 2


def width_of(cells: Iterable[Cell]) -> int:
    """Cells that a run of cells takes."""
    return sum(cell_len(cell.text) for cell in cells)


def cut_tail(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells, its end replaced by ``…`` where it does not fit."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + ELLIPSIS if width > 0 else ""


def cut_head(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells, its beginning replaced by ``…``."""
    if cell_len(text) <= width:
        return text
    if width <= 0:
        return ""
    kept = text
    while kept and cell_len(kept) > width - 1:
        kept = kept[max(1, (len(kept) - width) // 2) :] if len(kept) > 2 * width else kept[1:]
    return ELLIPSIS + kept


def cut_path(text: str, width: int) -> str:
    """A path that loses leading folders first (``api/orders.py::`` → ``orders.py::``), then everything."""
    while cell_len(text) > width and "/" in text:
        text = text.split("/", 1)[1]
    return text if cell_len(text) <= width else ""


def _drop(text: str, width: int) -> str:
    return ""


def wrap(text: str, width: int) -> list[str]:
    """Words of ``text`` on lines of at most ``width`` cells; a longer word keeps its line and is cut later."""
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


_CUTS: dict[str, Callable[[str, int], str]] = {"path": cut_path, "head": cut_head, "tail": cut_tail, "drop": _drop}


def squeeze(cells: Sequence[Cell], over: int) -> tuple[list[Cell], int]:
    """The cells made ``over`` shorter, and what could not be won: paths give way first, droppable ones, ends, beginnings.

    Cells further right give way before those to their left.
    """
    out = list(cells)
    for give in ("path", "drop", "tail", "head"):
        for index in range(len(out) - 1, -1, -1):
            cell = out[index]
            if over > 0 and cell.give == give:
                text = _CUTS[give](cell.text, cell_len(cell.text) - over)
                over -= cell_len(cell.text) - cell_len(text)
                out[index] = replace(cell, text=text)
    return out, over


def _hard_cut(cells: Sequence[Cell], width: int) -> tuple[Cell, ...]:
    kept: list[Cell] = []
    for cell in cells:
        room = width - width_of(kept)
        if cell_len(cell.text) > room:
            return (*kept, replace(cell, text=cut_tail(cell.text, room)))
        kept.append(cell)
    return tuple(kept)


def fit(row: Row, width: int) -> tuple[Cell, ...]:
    """The row as cells that fill exactly ``width`` cells (without the gutter)."""
    gap = 1 if row.right else 0
    cells, over = squeeze((*row.cells, *row.right), width_of(row.cells) + width_of(row.right) + gap - width)
    left, right = tuple(cells[: len(row.cells)]), tuple(cells[len(row.cells) :])
    if over > 0:
        left = _hard_cut(left, width - gap - width_of(right))
        right = _hard_cut(right, width - gap - width_of(left))
    room = width - width_of(left) - width_of(right)
    return (*left, _between(row.fill, room, bool(left), bool(right)), *right)


def _between(fill: str, room: int, left: bool, right: bool) -> Cell:
    if fill and room > 2:
        inner = room - left - right
        return Cell(" " * left + fill * inner + " " * right, "rule")
    return Cell(" " * max(0, room))


def title_row(title: Title, focused: bool) -> Row:
    """A title as a row: mark, digit and name, what it shows now, rule, right part."""
    head = f"{title.digit} {title.name}" if title.digit else title.name
    cells = [Cell(head, "text", True)]
    if title.note:
        cells.append(Cell(f"  {title.note}", "text", False, "drop"))
    right = (Cell(title.right, "text", True, "tail"),) if title.right else ()
    return Row("", tuple(cells), right, mark="»" if focused else " ", fill="─")


def columns(count: int, width: int, middle: int = 0) -> tuple[tuple[int, int], ...]:
    """(offset, width) of each column of a line with ``count`` rows; one cell between two columns is the rule."""
    if count <= 1:
        return ((0, width),)
    if count > 3:
        room = width - count + 1
        cuts = [room * i // count for i in range(count + 1)]
        return tuple((a + i, b - a) for i, (a, b) in enumerate(itertools.pairwise(cuts)))
    if count == 2:
        left = (width - 1) // 2
        return ((0, left), (left + 1, width - left - 1))
    left = (width - middle - 2) // 2
    return ((0, left), (left + 1, middle), (left + middle + 2, width - left - middle - 2))


def ruled(line: Line) -> bool:
    """Whether rules stand between the columns of a line; a canvas sets the width of each row and has none."""
    return not any(row.width for row in line)


def spans(line: Line, width: int, middle: int = 0) -> tuple[tuple[int, int], ...]:
    """(offset, width) of each row of a line: equal columns with rules between, or as wide as the rows of a canvas say."""
    if ruled(line):
        return columns(len(line), width, middle)
    out, at = [], 0
    for row in line:
        out.append((at, max(0, min(row.width, width - at))))
        at += row.width
    return tuple(out)


def plain(line: Line, width: int, middle: int = 0) -> str:
    """The line as text, exactly as a pane without focus shows it, trailing blanks removed."""
    if not ruled(line):
        return "".join(_plain_part(row, room) for (_, room), row in zip(spans(line, width), line, strict=True)).rstrip()
    parts = []
    for (_, room), row in zip(columns(len(line), width, middle), line, strict=True):
        body = "".join(cell.text for cell in fit(row, room - GUTTER - 1))
        parts.append(f"{row.mark} {body} ")
    return "│".join(parts).rstrip()


def _plain_part(row: Row, room: int) -> str:
    gutter = f"{row.mark} "[:room] if row.key else ""
    return gutter + "".join(cell.text for cell in fit(row, room - len(gutter)))


def share(wants: Sequence[int], room: int, least: int = 2) -> list[int]:
    """Lines for each of several sections that want ``wants`` lines in ``room``: small ones whole, the rest equally."""
    given = [0] * len(wants)
    left, open_ = max(room, 0), [i for i, want in enumerate(wants) if want]
    while open_:
        each = max(left // len(open_), least)
        full = [i for i in open_ if wants[i] <= each]
        if not full:
            for n, i in enumerate(open_):
                given[i] = max(least, each + (1 if n < left - each * len(open_) else 0))
            break
        for i in full:
            given[i] = wants[i]
            left -= wants[i]
        open_ = [i for i in open_ if i not in full]
    return given
