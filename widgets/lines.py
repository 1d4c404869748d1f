"""The base of every widget here: it draws whole lines, compares them with the last ones and repaints only what changed.

Who calls: ``pane.py`` and ``bars.py`` derive from it. Bytes are the budget: over a slow line a repaint of equal cells
is the largest cost a key press has.
What may not come in: rows, cursors, questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

from textual.app import App
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.strip import Strip
from textual.widget import Widget

from mog.widgets.ink import Ink
from mog.widgets.strips import blank, changed

_INKS: WeakKeyDictionary[App[Any], tuple[str, Ink]] = WeakKeyDictionary()


def _ink_of(app: App[Any]) -> Ink:
    """Styles of an app's theme, made once for all its widgets: the toolkit derives a theme's variables at each look."""
    name, ink = _INKS.get(app, ("", None))
    if ink is None or name != app.theme:
        ink = Ink(app.theme_variables, ascii_only=getattr(app, "ascii_only", False))
        _INKS[app] = (app.theme, ink)
    return ink


class LineWidget(Widget):
    """A widget made of lines. Subclasses write ``draw_lines`` and call ``repaint`` when their state changed."""

    ALLOW_SELECT = False
    # lines never scroll inside the widget: a new size asks for lines, not for another round of layout and painting
    virtual_size: Reactive[Size] = Reactive(Size(0, 0), layout=False, repaint=False)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._strips: list[Strip] = []
        self._ink: Ink | None = None
        self._ground: Color | None = None
        self._shown: tuple[list[Strip], Sequence[LineFilter], list[Strip]] = ([], (), [])

    @property
    def ink(self) -> Ink:
        """Styles of the theme in use."""
        if self._ink is None:
            self._ink = _ink_of(self.app)
        return self._ink

    def draw_lines(self, width: int, height: int) -> list[Strip]:
        """Every line of the widget as it should look now: ``height`` strips of ``width`` cells."""
        raise_missing = f"{type(self).__name__} draws nothing"
        raise AssertionError(raise_missing)

    def repaint(self) -> None:
        """Draw again and send only the cells that differ."""
        width, height = self.size
        if not (self.is_mounted and width and height):
            return
        old, new = self._strips, self.draw_lines(width, height)
        self._strips = new
        if len(old) != len(new) or any(strip.cell_length != width for strip in old[:1]):
            self.refresh()
            return
        spans = [(y, span) for y, (a, b) in enumerate(zip(old, new, strict=True)) if (span := changed(a, b))]
        if spans:
            self.refresh(*(Region(start, y, end - start, 1) for y, (start, end) in spans))

    def render_lines(self, crop: Region) -> list[Strip]:
        """Lines for the compositor, which asks every widget for all of its lines at every key press. The toolkit's own way looks up
        borders, titles and colours for that; these lines have none, and are kept as they were shown last."""
        size = self.size
        strips, filters = self._fitting(size), self.get_line_filters()
        if self._shown[0] is not strips or self._shown[1] != filters:
            ground = self._ground = self._ground or self.background_colors[1]
            self._shown = (strips, filters, [_through(strip, filters, ground) for strip in strips])
        lines = self._shown[2][crop.y : crop.bottom]
        lines += [blank(size.width, self.ink)] * (crop.height - len(lines))
        return lines if crop.column_span == (0, size.width) else [line.crop(*crop.column_span) for line in lines]

    def render_line(self, y: int) -> Strip:
        """One line as it is, before filters; drawn on demand after a resize."""
        strips = self._fitting(self.size)
        return strips[y] if y < len(strips) else blank(self.size.width, self.ink)

    def _fitting(self, size: Size) -> list[Strip]:
        """The lines, drawn again where they were made for another size."""
        width, height = size
        if len(self._strips) != height or any(strip.cell_length != width for strip in self._strips[:1]):
            self._strips = self.draw_lines(width, height)
        return self._strips

    def on_mount(self) -> None:
        self.app.theme_changed_signal.subscribe(self, lambda _: self.new_ink())

    def new_ink(self) -> None:
        """Forget the styles: the theme changed."""
        self._ink = self._ground = None
        self._strips = []
        self.refresh()


def _through(strip: Strip, filters: Sequence[LineFilter], ground: Color) -> Strip:
    for one in filters:
        strip = strip.apply_filter(one, ground)
    return strip
