"""One-line widgets: top line, tabs, foot line, the rule between two columns; and the notice of a screen too small.

Who calls: the screens of ``app/tui``. What may not come in: deciding what a bar says; it is given rows, widest first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.segment import Segment
from textual.strip import Strip
from textual.timer import Timer

from mog.widgets.fit import fit, width_of
from mog.widgets.lines import LineWidget
from mog.widgets.strips import bar, blank
from mog.widgets.view import Cell, Row

FLASH_SECONDS = 0.6


class Bar(LineWidget):
    """A line on the panel's ground that shows the widest of several rows that still fits."""

    def __init__(self, *, id: str | None = None, ground: str = "panel") -> None:
        super().__init__(id=id)
        self.ground = ground
        self.rows: Sequence[Row] = ()
        self.said = ""
        self._bright: frozenset[int] = frozenset()
        self._dimmed: Timer | None = None

    def show(self, *rows: Row, flash: bool = False) -> None:
        """Show one of ``rows``: the first that fits, else the last, cut. ``flash``: cells that changed are bold for a moment."""
        before = self._chosen(self.size.width) if flash and self.rows else None
        self.rows = rows
        if before is not None and rows:
            self._light_up(before, self._chosen(self.size.width))
        self.repaint()

    def _light_up(self, old: Row, new: Row) -> None:
        if len(old.cells) != len(new.cells):
            return
        fresh = {
            at
            for at, (a, b) in enumerate(zip(old.cells, new.cells, strict=True))
            if a.text != b.text and b.text.strip()
        }
        if fresh:
            self._bright |= fresh
            if self._dimmed:
                self._dimmed.stop()
            self._dimmed = self.set_timer(FLASH_SECONDS, self._dim)

    def _dim(self) -> None:
        self._bright = frozenset()
        self.repaint()

    def say(self, text: str) -> None:
        """Cover the line with a sentence until ``say("")``."""
        if text != self.said:
            self.said = text
            self.repaint()

    @property
    def text(self) -> str:
        """What the line shows now, as text."""
        return "".join(cell.text for cell in self._cells(self.size.width)).rstrip()

    def _cells(self, width: int) -> tuple[Cell, ...]:
        if self.said:
            return (Cell(" "), *fit(Row("", (Cell(self.said, "attn", True, "tail"),)), width - 2), Cell(" "))
        if not self.rows:
            return (Cell(" " * width),)
        row = self._chosen(width)
        if self._bright:
            lit = tuple(replace(c, bold=True) if at in self._bright else c for at, c in enumerate(row.cells))
            row = replace(row, cells=lit)
        return (Cell(" "), *fit(row, width - 2), Cell(" "))

    def _chosen(self, width: int) -> Row:
        return next((r for r in self.rows if width_of(r.cells) + width_of(r.right) + 3 <= width), self.rows[-1])

    def draw_lines(self, width: int, height: int) -> list[Strip]:
        line = bar(self._cells(width), width, self.ink, self.ground)
        return [line, *(blank(width, self.ink, self.ground) for _ in range(height - 1))]


class Rule(LineWidget):
    """The ``│`` between two columns."""

    def draw_lines(self, width: int, height: int) -> list[Strip]:
        glyph = "|" if self.ink.ascii_only else "│"
        return [Strip([Segment(glyph.ljust(width), self.ink.style("rule", "bg", False))], width)] * height


class TooSmall(LineWidget):
    """What is left below the smallest size: the size wanted, the size there is, and the one key that works."""

    def __init__(self, least: tuple[int, int], *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.least = least

    def draw_lines(self, width: int, height: int) -> list[Strip]:
        (want_w, want_h), have = self.least, self.size
        texts = (f"mog needs {want_w}×{want_h},", f"this is {have.width}×{have.height}", "q quit")
        one_line = "  ".join(texts[:2]) + "   " + texts[2]
        shown = (one_line,) if len(one_line) < width else texts
        strips = [bar(fit(Row("", (Cell(text, give="tail"),)), width), width, self.ink, "bg") for text in shown]
        return (strips + [blank(width, self.ink)] * height)[:height]
