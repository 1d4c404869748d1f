"""Rows become strips here: layout from ``fit.py``, styles from ``ink.py``, neighbouring cells of one style joined.

Who calls: the panes and bars. What may not come in: scrolling, focus, questions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.strip import Strip

from mog.widgets.fit import GUTTER, fit, ruled, spans
from mog.widgets.ink import Ink
from mog.widgets.view import Cell, Line, Row

NONE: Mapping[str, str] = MappingProxyType({})
ASCII = str.maketrans(
    {
        **dict(zip("─│┌┐└┘├┤┬┴┼═║", "-|+++++++++=|", strict=True)),
        **dict(zip("▼▲■●•·×√≠≈→←↑↓…", "-^#*o.xv!~><^v~", strict=True)),
        **dict(zip("░▒█§†¤±«»¬“”‘’", "#:#@t$%<>_\"\"''", strict=True)),
    }
)


def segments(cells: Iterable[Cell], ink: Ink, ground: str = "bg", strong: bool = False) -> list[Segment]:
    """Cells as segments on one ground; runs that look the same are joined, which saves bytes on every paint."""
    out: list[Segment] = []
    for cell in cells:
        if not cell.text:
            continue
        text = cell.text.translate(ASCII) if ink.ascii_only else cell.text
        style = ink.style(cell.role, ground, cell.bold or strong)
        # blanks look the same in every style of one ground, so they never start a run of their own
        if out and (text.isspace() or out[-1].style == style):
            out[-1] = Segment(out[-1].text + text, out[-1].style)
        elif out and out[-1].text.isspace():
            out[-1] = Segment(out[-1].text + text, style)
        else:
            out.append(Segment(text, style))
    return out


def _part(row: Row, room: int, ink: Ink, here: bool, strong: bool, label: str) -> list[Segment]:
    ground = "cur" if here else row.ground or "bg"
    if label:
        # only the gutter is covered: marks and cursor give way, the chip that says what the row is stays
        body = segments((*fit(row, room - GUTTER - 1), Cell(" ")), ink, ground, strong)
        return [Segment(label.ljust(GUTTER)[:GUTTER], ink.style("text", "hot", True)), *body]
    # the gutter has two cells, so the cursor does not hide the mark of the node in focus
    gutter = f">{row.mark}" if here else f"{row.mark} "
    head = (Cell(gutter, "text", not gutter.isspace()),)
    return segments((*head, *fit(row, room - GUTTER - 1), Cell(" ")), ink, ground, strong)


def _canvas(line: Line, width: int, ink: Ink, cursor: int, strong: bool, labels: Mapping[str, str]) -> list[Segment]:
    """A line of a canvas: its rows side by side, those on one ground joined, for a run of one style costs bytes."""
    out: list[Segment] = []
    held: list[Cell] = []
    for column, ((_, room), row) in enumerate(zip(spans(line, width), line, strict=True)):
        here = column == cursor
        # what has no identity (a line, a blank) fills its width without a gutter
        label = labels.get(row.key, "") if row.key else ""
        mark = label.ljust(GUTTER) if label else f">{row.mark}" if here else f"{row.mark} "
        gutter = mark[:room] if row.key else ""
        cells = (Cell(gutter, "key" if label else "text", not gutter.isspace()), *fit(row, room - len(gutter)))
        if here or row.ground:
            out += segments(held, ink, "bg", strong)
            out += segments(cells, ink, "cur" if here else row.ground, strong)
            held = []
        else:
            held += cells
    return out + segments(held, ink, "bg", strong)


def draw(
    line: Line,
    width: int,
    ink: Ink,
    *,
    cursor: int = -1,
    strong: bool = False,
    middle: int = 0,
    labels: Mapping[str, str] = NONE,
) -> Strip:
    """A line of a pane as a strip of ``width`` cells.

    Args:
        cursor: column under the cursor, -1 for none; its bar covers that column only.
        strong: paint it bold (a row that has just changed).
        middle: width of the middle column of a three-column line.
        labels: row key → one or two letters shown in the row's gutter instead of cursor and mark.
    """
    if not ruled(line):
        return Strip(_canvas(line, width, ink, cursor, strong, labels), width)
    out: list[Segment] = []
    for column, ((_, room), row) in enumerate(zip(spans(line, width, middle), line, strict=True)):
        label = labels.get(row.key, "") if row.key else ""
        if column:
            out.append(Segment("|" if ink.ascii_only else "│", ink.style("rule", "bg", False)))
        out += _part(row, room, ink, column == cursor, strong, label)
    return Strip(out, width)


def bar(cells: Iterable[Cell], width: int, ink: Ink, ground: str) -> Strip:
    """One full-width line on a ground of its own: top line, foot line, focused title."""
    return Strip(segments(cells, ink, ground), width)


def blank(width: int, ink: Ink, ground: str = "bg") -> Strip:
    """An empty line in the ground's style."""
    return Strip([Segment(" " * width, ink.style("text", ground, False))], width)


Glyph = tuple[str, object]


def _exploded(strip: Strip) -> list[Glyph]:
    """(character, look) per cell; the second cell of a wide character is ``""``, a blank looks like its ground."""
    out: list[Glyph] = []
    for text, style, _ in strip:
        ground = (style.bgcolor, style.reverse) if style else None
        for char in text:
            size = 1 if char.isascii() else get_character_cell_size(char)
            if size:
                out.append((char, ground if char == " " else style))
                out.extend([("", style)] * (size - 1))
    return out


def changed(old: Strip, new: Strip) -> tuple[int, int] | None:
    """(start, end) of the cells that differ, widened so that no wide character is halved; ``None`` when equal."""
    if old is new or old == new:
        return None
    a, b = _exploded(old), _exploded(new)
    if len(a) != len(b):
        return (0, max(len(a), len(b)))
    start = next((i for i in range(len(a)) if a[i] != b[i]), len(a))
    if start == len(a):
        return None
    end = next(i for i in range(len(a), 0, -1) if a[i - 1] != b[i - 1])
    while start and "" in (a[start][0], b[start][0]):
        start -= 1
    while end < len(a) and "" in (a[end][0], b[end][0]):
        end += 1
    return (start, end)
