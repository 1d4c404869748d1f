"""A pane: a title line, rows from a source of any length, a cursor that holds a row's key, words about it at the foot.

Who calls: ``app/tui`` screens give it sources and listen to its messages. Only lines in view are ever asked for, so a
source of a million rows costs what one screen of it costs.
What may not come in: what a row means, and asking anybody anything.

| message | sent when |
|---|---|
| ``Moved`` | the cursor came to another row |
| ``Opened`` | enter, or a click on the row under the cursor |
| ``Resized`` | the room for rows changed: rows that depend on it can be made anew |
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip

from mog.widgets.fit import ELLIPSIS, cut_tail, fit, plain, spans, title_row, wrap
from mog.widgets.ink import Ink
from mog.widgets.lines import LineWidget
from mog.widgets.strips import bar, blank, draw
from mog.widgets.view import Cell, Line, Lines, Row, Source, Title

WORDS = 2
FLASH_SECONDS = 0.6
DRAWN = 400
COPIED = 5_000
"""Lines of a pane that are copied as text."""


class Pane(LineWidget, can_focus=True):
    """One pane of the workbench.

    Attributes:
        cursor: key of the row under the cursor, "" when no row can hold it.
        words_from: least height at which the foot of the pane in use repeats the cursor's row in words; 0 for never.
        words_always: keep that room when another pane is in use.
        stacked: another pane stands below; a blank line keeps the words apart from its title.
        middle: width of the middle column of three-column lines.
        labels: row key → letters that lead to it, shown in the gutters while somebody types one.
    """

    @dataclass
    class Moved(Message):
        pane: Pane
        row: Row | None

        @property
        def control(self) -> Pane:
            return self.pane

    @dataclass
    class Opened(Message):
        pane: Pane
        row: Row

        @property
        def control(self) -> Pane:
            return self.pane

    @dataclass
    class Resized(Message):
        pane: Pane

        @property
        def control(self) -> Pane:
            return self.pane

    def __init__(self, title: Title, *, id: str | None = None, words_from: int = 0, titled: bool = True) -> None:
        super().__init__(id=id)
        self.title = title
        self.titled = titled
        self.words_from = words_from
        self.words_always = False
        self.stacked = False
        self.middle = 0
        self.source: Source = Lines()
        self.cursor = ""
        self.active = False
        self.motion = True
        self.labels: Mapping[str, str] = {}
        self._index, self._column, self._top = 0, 0, 0
        self._moved = False  # by somebody; a cursor that was never moved is on the first row, whatever arrives above
        self._ghost = ""
        self._bright: frozenset[str] = frozenset()
        self._drawn: dict[tuple[int, int, int, int], Strip] = {}
        self._drawn_from: Source | None = None
        self._drawn_in: Ink | None = None

    # -- state ---------------------------------------------------------------------------------------------------------

    def show(
        self, source: Source, title: Title | None = None, *, cursor: str | None = None, flash: bool = False
    ) -> None:
        """Draw from another source.

        The cursor stays on the row with its key and on its screen line; a row that vanished under it stays, marked
        ``gone``.

        Args:
            cursor: put the cursor on this key instead ("" for the first row) and show the beginning.
            flash: rows that changed are bold for a moment.
        """
        old, had = self.source, self.cursor
        self._ghost = ""
        self.title = title or self.title
        self.source = source
        if cursor is not None:
            self._place(cursor)
        elif had and (self._moved or self.has_focus or self.active):
            self._follow(old, had)
        else:
            self._first()
        if flash and self.motion:
            self._light_up(old, source)
        self._clamp()
        self.repaint()
        if self.cursor != had:
            self.post_message(self.Moved(self, self.row))

    def retitle(self, title: Title) -> None:
        """Change the title alone."""
        if title != self.title:
            self.title = title
            self.repaint()

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        if not self.cursor or self._index >= len(self.source):
            return None
        line = self.source.line(self._index)
        return line[self._column] if self._column < len(line) else None

    @property
    def body(self) -> int:
        """Lines of rows that fit: the height without title and words."""
        return self.body_in(self.size.height)

    def body_in(self, height: int) -> int:
        """Lines of rows that a pane of ``height`` has room for."""
        return max(0, height - self.titled - self._words_room(height))

    def in_view(self) -> list[str]:
        """Keys of the rows on the screen, from top to bottom."""
        indexes = range(self._top, min(self._top + self.body, len(self.source)))
        return [row.key for index in indexes for row in self.source.line(index) if row.key]

    def label(self, labels: Mapping[str, str]) -> None:
        """Show letters in the gutters of rows, or none."""
        if labels != self.labels:
            self.labels = labels
            self.repaint()

    def text(self, width: int | None = None) -> str:
        """The pane as plain text, title included; of a very long one the first ``COPIED`` lines."""
        room = width or self.size.width
        lines = [plain((title_row(self.title, False),), room)] if self.titled else []
        shown = min(len(self.source), COPIED)
        lines += [plain(self.source.line(i), room, self.middle) for i in range(shown)]
        lines += [f"  +{len(self.source) - shown:,} lines hidden"] if len(self.source) > shown else []
        return "\n".join(lines)

    def _place(self, key: str) -> None:
        self._top = 0
        found = self.source.find(key) if key else None
        if found:
            self._index, self._column = found
            self.cursor, self._moved = key, True
        else:
            self._first()

    def _first(self) -> None:
        self._index, self._column, self.cursor = 0, 0, ""
        self._step_to(range(len(self.source)))

    def _follow(self, old: Source, had: str) -> None:
        found = self.source.find(had)
        if found is None and isinstance(old, Lines) and isinstance(self.source, Lines):
            line = old.line(self._index) if self._index < len(old) else ()
            if self._column < len(line) and line[self._column].key == had and len(self.source):
                self.source = self.source.keeping(line[self._column], self._index, self._column)
                self._ghost = had
                found = self.source.find(had)
        if found is None:
            index = min(self._index, max(0, len(self.source) - 1))
            self._first()
            if not self._step_to(range(index, len(self.source))):
                self._step_to(range(index, -1, -1))
            return
        self._top = max(0, self._top + found[0] - self._index)
        self._index, self._column = found

    def _light_up(self, old: Source, new: Source) -> None:
        if not (isinstance(old, Lines) and isinstance(new, Lines)) or not len(old):
            return
        before = {row.key: row for line in old.all() for row in line if row.key}
        fresh = {r.key for line in new.all() for r in line if r.key and r.key != self.cursor and before.get(r.key) != r}
        self._bright = frozenset(fresh)
        if fresh:
            self.set_timer(FLASH_SECONDS, self._dim)

    def _dim(self) -> None:
        self._bright = frozenset()
        self.repaint()

    # -- moving --------------------------------------------------------------------------------------------------------

    def _column_for(self, line: Line) -> int | None:
        """Column of ``line`` that the cursor would take, ``None`` to pass over it."""
        if len(line) == 1:
            return 0 if line[0].key else None
        return self._column if self._column < len(line) and line[self._column].key else None

    def _step_to(self, indexes: range) -> bool:
        """Put the cursor on the first line of ``indexes`` that can hold it."""
        for index in indexes:
            line = self.source.line(index)
            column = self._column_for(line)
            if column is None and not self.cursor:
                column = next((c for c, row in enumerate(line) if row.key), None)
            if column is not None:
                self._index, self._column = index, column
                self.cursor = line[column].key
                return True
        return False

    def move(self, step: int) -> bool:
        """Move the cursor by ``step`` rows that can hold it; False when it is at that end already."""
        before = self.cursor
        for _ in range(abs(step)):
            ahead = range(self._index + 1, len(self.source)) if step > 0 else range(self._index - 1, -1, -1)
            if not self._step_to(ahead):
                break
        if self.cursor == before and step < 0:
            self._top = 0
        return self._arrived(before)

    def move_end(self, last: bool) -> bool:
        """First or last row."""
        before, size = self.cursor, len(self.source)
        if not last:
            self._top = 0
        self._step_to(range(size - 1, -1, -1) if last else range(size))
        arrived = self._arrived(before)
        self._moved = last
        return arrived

    def move_aside(self, step: int) -> bool:
        """To the column on the left (-1) or right (+1); False when there is none with a row."""
        line = self.source.line(self._index) if self._index < len(self.source) else ()
        before, column = self.cursor, self._column + step
        while 0 <= column < len(line) if len(line) > 1 else False:
            near = sorted(range(len(self.source)), key=lambda i: abs(i - self._index))
            for index in near:
                other = self.source.line(index)
                if len(other) > column and len(other) > 1 and other[column].key:
                    self._index, self._column, self.cursor = index, column, other[column].key
                    return self._arrived(before)
            column += step
        return False

    def go(self, key: str) -> bool:
        """Put the cursor on a key, if it is there."""
        before, found = self.cursor, self.source.find(key)
        if found:
            self._index, self._column = found
            self.cursor = key
        return self._arrived(before)

    def _arrived(self, before: str) -> bool:
        moved = self.cursor != before
        self._moved |= moved
        if moved and self._ghost and self._ghost == before:
            self._drop_ghost()
        self._clamp()
        self.repaint()
        if moved:
            self.post_message(self.Moved(self, self.row))
        return moved

    def _drop_ghost(self) -> None:
        source, ghost, self._ghost = self.source, self._ghost, ""
        if isinstance(source, Lines):
            self.source = Lines(_without(source.all(), ghost))
            self._index, self._column = self.source.find(self.cursor) or (0, 0)

    def _clamp(self) -> None:
        body, size = self.body, len(self.source)
        if self.cursor and body > 0 and self._is_first():
            # what stands above the first row is in view with it
            self._top = 0
        elif self.cursor and body > 0 and (self.has_focus or self.active):
            self._top = min(self._top, max(0, self._index - 1))
            self._top = max(self._top, self._index - body + 1)
        self._top = max(0, min(self._top, size - body))

    def _is_first(self) -> bool:
        """Whether no line above the cursor could hold it."""
        return self._index < self.body and not any(
            row.key for index in range(self._index) for row in self.source.line(index)
        )

    # -- drawing -------------------------------------------------------------------------------------------------------

    def _words_room(self, height: int) -> int:
        heard = self.words_always or self.has_focus or self.active
        return WORDS + 1 + self.stacked if heard and self.words_from and height >= self.words_from else 0

    def draw_lines(self, width: int, height: int) -> list[Strip]:
        body = self.body
        lines = [self._title_line(width)] if self.titled else []
        showing = self.active or self.has_focus
        for index in range(self._top, min(self._top + body, len(self.source))):
            here = self._column if showing and self.cursor and index == self._index else -1
            lines.append(self._line(index, here, width))
        lines += [blank(width, self.ink)] * (self.titled + body - len(lines))
        return (lines + self._word_lines(width, height - len(lines)))[:height]

    def _line(self, index: int, here: int, width: int) -> Strip:
        """One line as a strip; lines drawn before are remembered, a key press changes two of them."""
        if self._drawn_from is not self.source or self._drawn_in is not self.ink or len(self._drawn) > DRAWN:
            self._drawn, self._drawn_from, self._drawn_in = {}, self.source, self.ink
        place = (index, here, width, self.middle)
        kept = not self._bright and not self.labels
        if place in self._drawn and kept:
            return self._drawn[place]
        line = self.source.line(index)
        strong = bool(self._bright) and any(row.key in self._bright for row in line)
        strip = draw(line, width, self.ink, cursor=here, strong=strong, middle=self.middle, labels=self.labels)
        if kept:
            self._drawn[place] = strip
        return strip

    def _title_line(self, width: int) -> Strip:
        lit = self.has_focus or self.active
        row = title_row(self._counted(self.title), lit)
        cells = (Cell(f"{row.mark} ", "text", True), *fit(row, width - 3), Cell(" "))
        return bar(cells, width, self.ink, "hot" if lit else "bg")

    def _counted(self, title: Title) -> Title:
        """Where the pane scrolls, the title says how many lines are above and below."""
        below = len(self.source) - self._top - self.body
        arrows = [f"↑{self._top:,}"] if self._top else []
        arrows += [f"↓{below:,}"] if below > 0 else []
        return Title(title.digit, title.name, title.note, " ".join([title.right, *arrows]).strip())

    def _word_lines(self, width: int, room: int) -> list[Strip]:
        words = self.row.words if self.row and (self.has_focus or self.active) else ()
        said = [line for text in words for line in wrap(text, width - 3)]
        if len(said) > (fits := min(WORDS, max(0, room - 1))):
            said = [*said[: fits - 1], f"{said[fits - 1]} {ELLIPSIS}"] if fits else []
        rows = [Row("", (Cell(cut_tail(text, width - 3), "text"),)) for text in said]
        lines = [blank(width, self.ink), *(draw((row,), width, self.ink) for row in rows)]
        return (lines + [blank(width, self.ink)] * room)[:room]

    # -- events --------------------------------------------------------------------------------------------------------

    def on_focus(self, event: events.Focus) -> None:
        self._take_focus(event, True)
        self.post_parent(events.DescendantFocus(self))

    def on_blur(self, event: events.Blur) -> None:
        self._take_focus(event, False)
        self.post_parent(events.DescendantBlur(self))

    def _take_focus(self, event: events.Event, has_focus: bool) -> None:
        # the toolkit's own handler would repaint the whole pane for a title and a cursor row
        event.prevent_default()
        self.has_focus = has_focus
        self._clamp()
        self.repaint()

    def post_parent(self, event: events.Event) -> None:
        """Tell the parent about a change of focus."""
        if self.parent is not None:
            self.parent.post_message(event)

    def on_resize(self, event: events.Resize) -> None:
        self._clamp()
        self.repaint()
        self.post_message(self.Resized(self))

    def on_click(self, event: events.Click) -> None:
        index = self._top + event.y - self.titled
        if event.y < self.titled or index >= min(len(self.source), self._top + self.body):
            return
        places = spans(self.source.line(index), self.size.width, self.middle)
        column = next((c for c, (x, w) in enumerate(places) if x <= event.x < x + w), 0)
        row = self.source.line(index)[column]
        if row.key and row.key == self.cursor:
            self.post_message(self.Opened(self, row))
        elif row.key:
            self.go(row.key)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(-3)

    def _wheel(self, step: int) -> None:
        self._top = max(0, min(self._top + step, len(self.source) - self.body))
        self.repaint()


def _without(lines: Iterable[Line], key: str) -> list[Line]:
    kept: list[Line] = []
    for line in lines:
        rest = tuple(Row("", ()) if row.key == key else row for row in line)
        if any(row.key or row.cells for row in rest):
            kept.append(rest)
    return kept
