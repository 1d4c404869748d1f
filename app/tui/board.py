"""The home screen's ground: its parts, its state, and how each part is drawn from the state.

Who calls: ``asks.py`` and ``acts.py`` build on it, ``screens/home.py`` puts it together.
What may not come in: questions to the workspace, keys.
"""

from __future__ import annotations

from typing import Self

from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget

from mog.app.present import clean
from mog.app.tui import graph_rows, side_rows, top
from mog.app.tui.port import Desk
from mog.app.tui.rows import Sheet, Thing, teach
from mog.app.tui.state import State
from mog.app.tui.workers import Jobs, ProgressTap
from mog.widgets.bars import Bar
from mog.widgets.entry import Entry, Finder
from mog.widgets.pane import Pane
from mog.widgets.shelf import Shelf, Wish, mode_of
from mog.widgets.view import Lines, Title

TITLES = {
    "graph": Title("1", "Graph"),
    "map": Title("/", "Map"),
    "drift": Title("4", "Drift"),
    "health": Title("8", "Health"),
    "find": Title("/", "Search"),
}
ROOMY = 12
STACKED = {("two", "map"), ("two", "drift"), ("three", "drift")}
PANES = ("map", "graph", "drift", "health")


class Board(Screen[None]):
    """Parts and state of the home screen."""

    _focusing = False

    def __init__(self, workspace: Desk, *, motion: bool = True) -> None:
        super().__init__()
        self.workspace = workspace
        self.state = State()
        self.jobs = Jobs(self)
        self.tap: ProgressTap | None = None
        self.sheets: dict[str, Sheet] = {name: Sheet(Lines()) for name in TITLES}
        self.current = "graph"
        self.finding = False
        self.full = False
        self.motion = motion
        self.opening: set[str] = set()
        self._drawn_for: dict[str, tuple[int, int]] = {}

    def compose(self) -> ComposeResult:
        raise AssertionError("the home screen composes")

    # -- parts ---------------------------------------------------------------------------------------------------------

    def pane(self, name: str) -> Pane:
        """The pane of that name; ``find`` is the rows under the search line."""
        return self.query_one("#find", Finder).pane if name == "find" else self.query_one(f"#{name}", Pane)

    @property
    def here(self) -> Pane:
        """The pane that keys act on."""
        return self.pane("find" if self.finding else self.current)

    @property
    def sheet(self) -> Sheet:
        """Rows of the pane that keys act on."""
        return self.sheets["find" if self.finding else self.current]

    def thing_here(self) -> Thing | None:
        """What the row under the cursor stands for."""
        return self.sheet.things.get(self.here.cursor)

    def say(self, text: str) -> None:
        """A sentence on the foot line, until the next key."""
        self.query_one("#foot", Bar).say(clean(text))

    # -- drawing -------------------------------------------------------------------------------------------------------

    def draw(self, *names: str, cursor: str | None = None, flash: bool = False) -> None:
        """Draw panes from the state; nothing while the screen opens, it is drawn once when its first answers are in."""
        if self.opening:
            return
        for name in names:
            self._draw(name, cursor, flash)
        self.place_panes()
        # what there is to show may have moved the places; rows that depend on theirs are made again before any is drawn
        for name in names:
            self.redraw_for_size(name)

    def _draw(self, name: str, cursor: str | None = None, flash: bool = False) -> None:
        pane = self.pane(name)
        width, lines = self._drawn_for[name] = self._room(name)
        sheet = self.sheets[name] = self._sheet(name, max(24, width), lines)
        pane.middle = sheet.middle
        title = TITLES[name]
        shown = Title(title.digit, title.name, sheet.title_note, sheet.title_right)
        pane.show(sheet.lines, shown, cursor=cursor, flash=flash and self.motion)

    def _room(self, name: str) -> tuple[int, int]:
        """What the rows of a pane depend on, in the place it is about to have: its width, and the lines that matter."""
        shelf, pane = self.query_one(Shelf), self.pane(name)
        *_, width, height = shelf.boxes(*shelf.size).get(name, (0, 0, *pane.size))
        return (width, pane.body_in(height) if name == "graph" else int(height >= ROOMY))

    def redraw_for_size(self, name: str) -> None:
        """Make a pane's rows anew if it has another size than they were made for."""
        if not self.opening and self._drawn_for.get(name) != self._room(name):
            self._draw(name)
            self.place_panes()

    def draw_top(self) -> None:
        """The top line and the tabs."""
        if self.opening:
            return
        self.query_one("#top", Bar).show(*top.top_rows(self.workspace.root.name, self.state))
        self.query_one("#tabs", Bar).show(top.tab_row("find" if self.finding else self.current))

    def draw_foot(self) -> None:
        """The foot line for the pane in use."""
        self.query_one("#foot", Bar).show(*top.foot_rows("find" if self.finding else self.current))

    def _sheet(self, name: str, width: int, lines: int) -> Sheet:
        state = self.state
        if name == "graph":
            return self._graph_sheet(width, max(8, lines))
        if name == "drift":
            return side_rows.drift_sheet(state.pins, width, roomy=bool(lines))
        if name == "map":
            return side_rows.map_sheet(state.map, width)
        if name == "find":
            return side_rows.search_sheet(state.hits, state.kind, state.took_ms, width)
        failures = tuple(state.failures.values())
        return side_rows.health_sheet(state.status, state.grammars, state.health_open, state.watcher, failures, width)

    def _graph_sheet(self, width: int, height: int) -> Sheet:
        state = self.state
        if state.hood is None:
            return Sheet(teach(*self._empty_words(), width=min(64, width - 4)))
        room = graph_rows.Room(width, height, state.level, state.open, state.sides)
        sheet = graph_rows.graph_sheet(state.hood, room)
        if state.lost:
            return Sheet(sheet.lines, sheet.things, "focus", "gone: it is no longer in the index", sheet.middle)
        return sheet

    def _empty_words(self) -> tuple[str, ...]:
        if self.state.progress is not None or self.jobs.running("index"):
            return ("The index is being built.", "The graph fills in when it is done; the top line counts.")
        if self.state.status is not None and not self.state.status.indexed:
            return ("There is no index yet.", "8 and then r builds one.")
        if self.jobs.running("map") or self.jobs.running("focus"):
            return ("Reading the map of the repository.", "Its busiest symbol comes into focus.")
        return ("Nothing is in focus.", "enter on a row of the map, / searches as you type, : jumps to path::name.")

    # -- places --------------------------------------------------------------------------------------------------------

    def place_panes(self) -> None:
        """Give the panes their places for the size, the pane in use and what each has to show."""
        if self.opening:
            return
        shelf = self.query_one(Shelf)
        centre = "find" if self.finding else "graph"
        tabs = shelf.mode == "tabs"
        alone = ("find" if self.finding else self.current) if self.full or tabs else ""
        wants = {name: len(self.pane(name).source) + 1 for name in ("map", "drift", "health")}
        stack = {name: wants[name] for name in ("drift", "health")}
        shelf.arrange_for(Wish(centre, alone, stack, "map", wants["map"]))

    def adapt(self) -> None:
        """Follow a new size: which layout, which bars, and titles only where there are no tabs."""
        mode = mode_of(*self.app.size)
        if self.has_class("-tiny") and mode != "tiny":
            self.call_after_refresh(self._focus_again)
        for name in ("three", "two", "tabs", "tiny"):
            self.set_class(name == mode, f"-{name}")
        for name in PANES:
            self.pane(name).titled = mode != "tabs"
            self.pane(name).stacked = (mode, name) in STACKED
        self.place_panes()
        self.draw_top()

    def _focus_again(self) -> None:
        """What was too small to be drawn has lost the focus; give it back."""
        entries = [e for e in self.query(Entry) if e.id == ("find-entry" if self.finding else "prompt")]
        typed = entries and (self.finding or self.has_class("-prompting"))
        self.give_focus(entries[0] if typed else self.pane(self.current))

    def set_current(self, name: str) -> None:
        """Make a pane the one that keys act on."""
        self.current = name
        self.place_panes()
        self.give_focus(self.pane(name))
        self.draw_top()
        self.draw_foot()

    def give_focus(self, widget: Widget) -> None:
        """Focus a widget. The toolkit would repaint the whole screen for it (24 kB at 160 by 45); panes do their part."""
        self._focusing = True
        self.set_focus(widget, scroll_visible=False)
        self._focusing = False

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        """The screen's own repaint, left out while focus changes hands: it draws nothing itself."""
        if self._focusing and not (regions or layout or recompose):
            return self
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)
