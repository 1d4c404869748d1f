"""Pictures as SVG: a layered graph, bars, a grid, two lines. Every place is computed here, the same on every machine.

Who calls: ``panels.py``. What may not come in: records of the engine, colours (classes only), anything random.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log

from rich.cells import cell_len

from mog.app.page.markup import plain, said, tag, void

WIDTH, NARROWEST, WIDEST = 1_192, 168, 300  # of a picture that fits the page, and of a column
ROW, HEAD, MARGIN = 21.0, 34.0, 10.0
GAP = 38.0  # between two columns, where edges bend
CELL = 6.65  # width of a letter of the names, 11 px
SWEEPS = 8
Spot = tuple[float, float, int]  # x and y of a mark, and which column it is in


@dataclass(frozen=True, slots=True)
class Dot:
    """One node of a graph picture.

    Attributes:
        mark: one letter for how it stands. role: class of the mark's colour. type: what it is. name: outside text.
        told: what a screen reader says before the name. side: a few words at the end of its row.
        full: the name in full, where ``name`` is a part of it.
    """

    key: str
    mark: str
    role: str
    type: str
    name: str
    told: str
    side: str = ""
    full: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """One edge: from key to key, its type, words about it, whether a walk may take it, and whether one did."""

    src: str
    dst: str
    kind: str
    live: bool = True
    walks: int = 0


@dataclass(frozen=True, slots=True)
class Column:
    """Nodes below one another, under a head; ``hidden`` more were left out."""

    title: str
    dots: tuple[Dot, ...]
    hidden: int = 0


def ordered(columns: Sequence[Column], lines: Sequence[Line]) -> list[Column]:
    """The columns with their nodes where their neighbours are: barycentres, swept back and forth, ties as given."""
    beside: dict[str, list[str]] = {}
    for line in lines:
        beside.setdefault(line.src, []).append(line.dst)
        beside.setdefault(line.dst, []).append(line.src)
    rows = [list(column.dots) for column in columns]
    place = {dot.key: number / max(1, len(row)) for row in rows for number, dot in enumerate(row)}
    for sweep in range(SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            mine = {dot.key for dot in row}
            wish = {
                dot.key: _mean([place[n] for n in beside.get(dot.key, ()) if n not in mine], place[dot.key])
                for dot in row
            }
            row.sort(key=lambda dot, wish=wish: wish[dot.key])  # type: ignore[misc]
            place |= {dot.key: (number + 0.5) / len(row) for number, dot in enumerate(row)}
    return [Column(column.title, tuple(row), column.hidden) for column, row in zip(columns, rows, strict=True)]


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def graph(columns: Sequence[Column], lines: Sequence[Line], label: str) -> str:
    """A layered picture; nodes carry ``data-n``, edges ``data-a`` and ``data-b``, for the script that follows them."""
    shown = {dot.key for column in columns for dot in column.dots}
    lines = [line for line in lines if line.src in shown and line.dst in shown]
    sheet = _Sheet(ordered(columns, lines))
    edges = "".join(map(sheet.edge, lines))
    nodes = "".join(sheet.node(dot) for column in sheet.columns for dot in column.dots)
    heads = "".join(sheet.head(column, at) for at, column in enumerate(sheet.columns))
    width, height = MARGIN + sheet.step * len(columns), HEAD + ROW * max(3, sheet.deepest) + MARGIN
    return tag(
        "svg", heads + tag("g", edges, class_="edges") + tag("g", nodes, class_="nodes"),
        viewBox=f"0 0 {width:.0f} {height:.0f}", width=width, height=height, role="group", aria_label=label, class_="graph",
    )  # fmt: skip


class _Sheet:
    """Where everything of one graph stands."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = columns
        self.step = float(min(WIDEST, max(NARROWEST, (WIDTH - MARGIN) // max(1, len(columns)))))
        self.cells = int((self.step - GAP - 14) / CELL)
        self.deepest = max((len(column.dots) for column in columns), default=0)
        self.number: dict[str, int] = {}
        self.spot: dict[str, Spot] = {}
        self.named = {dot.key: dot for column in columns for dot in column.dots}
        for at, column in enumerate(columns):
            for row, dot in enumerate(column.dots):
                self.number[dot.key] = len(self.number)
                self.spot[dot.key] = (MARGIN + self.step * at, self._top(at) + ROW * row + ROW / 2, at)

    def _top(self, at: int) -> float:
        return HEAD + (self.deepest - len(self.columns[at].dots)) * ROW / 2

    def head(self, column: Column, at: int) -> str:
        more = tag("tspan", f" +{column.hidden:,} hidden", class_="quiet") if column.hidden else ""
        count = tag("tspan", f" {len(column.dots)}", class_="quiet")
        return tag("text", said(column.title) + count + more, x=MARGIN + self.step * at - 4, y=16, class_="head")

    def node(self, dot: Dot) -> str:
        x, y, _ = self.spot[dot.key]
        label = f"{plain(dot.told)}: {plain(dot.full or dot.name)}"
        inner = tag("title", html.escape(label))
        inner += void("rect", x=x - 7, y=y - ROW / 2 + 1, width=self.step - GAP + 16, height=ROW - 2, rx=3)
        inner += tag("text", dot.mark, x=x, y=y + 4, class_=f"mark {dot.role}")
        inner += tag("text", html.escape(self._name(dot)), x=x + 12, y=y + 4, class_="name")
        if dot.side:
            inner += tag("text", said(dot.side), x=x + self.step - GAP + 4, y=y + 4, class_="side")
        return tag(
            "g", inner, class_=f"node t-{said(dot.type)}", data_n=self.number[dot.key], tabindex="-1", role="button", aria_label=label
        )  # fmt: skip

    def _name(self, dot: Dot) -> str:
        return plain(dot.name, self.cells - (cell_len(dot.side) + 1 if dot.side else 0))

    def edge(self, line: Line) -> str:
        a, b = self.spot[line.src][2], self.spot[line.dst][2]
        if a == b:
            (x, y1, _), (_, y2, _) = self.spot[line.src], self.spot[line.dst]
            path = f"M{x - 7:.0f} {y1:.0f}C{x - 24:.0f} {y1:.0f} {x - 24:.0f} {y2:.0f} {x - 7:.0f} {y2:.0f}"
        else:
            path = self._across(*(line.src, line.dst) if a < b else (line.dst, line.src))
        kinds = ["edge", "" if line.live else "dead", "walked" if line.walks else ""]
        return void(
            "path", d=path, class_=" ".join(filter(None, kinds)), data_a=self.number[line.src], data_b=self.number[line.dst],
            data_k=plain(line.kind, 40), data_w=line.walks or None,
        )  # fmt: skip

    def _across(self, left: str, right: str) -> str:
        """From the end of a row to the mark of another; columns between are crossed where two rows meet, under no name."""
        (x1, y1, a), (x2, y2, b) = self.spot[left], self.spot[right]
        wide = self.step - GAP + 9 if self.named[left].side else 15 + CELL * cell_len(self._name(self.named[left]))
        points = [(x1 + wide, y1)]
        for at in range(a + 1, b):
            wish = y1 + (y2 - y1) * (at - a) / (b - a)
            seam = self._top(at) + ROW * round((wish - self._top(at)) / ROW)
            start = MARGIN + self.step * at - 8
            points += [(start, seam), (start + self.step - GAP + 18, seam)]
        points.append((x2 - 7, y2))
        path = f"M{points[0][0]:.0f} {points[0][1]:.0f}"
        for number, ((px, py), (qx, qy)) in enumerate(pairwise(points)):
            bend = (qx - px) / 2
            path += (
                f"H{qx:.0f}" if number % 2 else f"C{px + bend:.0f} {py:.0f} {qx - bend:.0f} {qy:.0f} {qx:.0f} {qy:.0f}"
            )
        return path


def bar(share: float, role: str, label: str, *, width: float = 120.0, height: float = 8.0) -> str:
    """A bar that is ``share`` (0..1) full; anything above nothing is seen."""
    full = max(2.0, share * width) if share > 0 else 0.0
    inner = void("rect", width=width, height=height, rx=2, class_="track")
    inner += void("rect", width=full, height=height, rx=2, class_=role)
    return tag(
        "svg", inner, viewBox=f"0 0 {width:.0f} {height:.0f}", class_="bar", role="img", aria_label=label, preserveAspectRatio="none"
    )  # fmt: skip


def columns(values: Sequence[tuple[str, int]], marked: str, label: str) -> str:
    """A histogram: (name, count) a column; the one named ``marked`` is set off."""
    most = max([1, *(count for _, count in values)])
    step, high, base = 44.0, 96.0, 118.0
    inner = void("line", x1=0, x2=step * len(values), y1=base + 0.5, y2=base + 0.5, class_="axis")
    for at, (name, count) in enumerate(values):
        tall = max(3.0, high * count / most) if count else 0.0
        x = step * at
        role = "walk" if name == marked else "walk soft"
        inner += void("rect", x=x + 7, y=base - tall, width=step - 14, height=tall, rx=2, class_=role)
        words, role = (f"{count:,}", "count") if count else ("·", "count quiet")
        inner += tag("text", words, x=x + step / 2, y=base - tall - 6, class_=role)
        inner += tag("text", name, x=x + step / 2, y=base + 17, class_="tick")
    box = f"0 0 {step * len(values):.0f} 140"
    return tag("svg", inner, viewBox=box, class_="chart", role="img", aria_label=label)


def two_lines(pairs: Sequence[tuple[int, int]], label: str) -> str:
    """(lower, upper) pairs in order, on a logarithmic scale: a stroke from one to the other, a dot at each end."""
    step = min(24.0, 300.0 / max(1, len(pairs)))
    high, top = 84.0, 16.0
    values = [max(1, value) for pair in pairs for value in pair]
    low, most = log(min(values)), log(max(values))
    scale = high / (most - low) if most > low else 0.0

    def y(value: int) -> float:
        return top + high - (log(max(1, value)) - low) * scale

    inner = ""
    for at, (lower, upper) in enumerate(pairs):
        x = step * at + step / 2
        inner += void("line", x1=x, x2=x, y1=y(upper), y2=y(lower), class_="stem")
        inner += void("circle", cx=x, cy=y(upper), r=2.5, class_="read") + void(
            "circle", cx=x, cy=y(lower), r=3.0, class_="walk"
        )
    for value, place in ((max(values), 10.0), (min(values), top + high + 16)):
        inner += tag("text", f"{value:,}", x=0, y=place, class_="tick start")
    return tag(
        "svg",
        inner,
        viewBox=f"0 0 {max(160.0, step * len(pairs)):.0f} 120",
        class_="chart",
        role="img",
        aria_label=label,
    )


def grid(cells: Sequence[tuple[int | None, str]], label: str, *, across: int = 56) -> str:
    """A cell an edge: walks (None: not known) and words that stand in a walked cell's title."""
    step, side = 11.0, 9.0
    inner = ""
    for at, (walks, words) in enumerate(cells):
        x, y = step * (at % across), step * (at // across)
        title = tag("title", f"{words} · {walks:,} walks" if walks != 1 else f"{words} · 1 walk") if walks else ""
        inner += tag("rect", title, x=x, y=y, width=side, height=side, rx=1.5, class_=f"h{level(walks)}")
    deep = (len(cells) + across - 1) // across
    wide = min(across, max(28, len(cells)))
    return tag(
        "svg",
        inner,
        viewBox=f"0 0 {step * wide:.0f} {step * max(1, deep):.0f}",
        class_="cells",
        role="img",
        aria_label=label,
    )


def level(walks: int | None) -> str:
    """How dark a cell is: 0 never, 1 once, 2 up to 4, 3 up to 16, 4 more, x not known."""
    if walks is None:
        return "x"
    return str(0 if walks == 0 else 1 if walks == 1 else 2 if walks <= 4 else 3 if walks <= 16 else 4)
