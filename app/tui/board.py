"""The home screen's ground: its panes and their contents, what stands where, and how each is drawn.

Who calls: ``asks.py`` and ``acts.py`` build on it, ``screens/home.py`` puts it together.
What may not come in: questions to the workspace, keys, what a pane shows (``panes/``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, Self, cast

from textual.app import ComposeResult
from textual.geometry import Region
from textual.screen import Screen
from textual.widget import Widget

from mog.app.present import clean
from mog.app.tui import panes, top
from mog.app.tui.keymap import PLAIN, Keymap
from mog.app.tui.panes.base import Content, Host
from mog.app.tui.port import Agents, Desk
from mog.app.tui.rows import Sheet, Thing, first_words, teach
from mog.app.tui.workers import Jobs, ProgressTap
from mog.engine import model as m
from mog.widgets.bars import Bar
from mog.widgets.entry import Entry, Finder
from mog.widgets.pane import Pane
from mog.widgets.shelf import Shelf, Wish, mode_of
from mog.widgets.view import Cell, Row, Title

CENTRE = "graph"


class Board(Screen[None]):
    """Panes of the home screen and their contents. It is the ``Host`` of the contents, with ``asks.py``."""

    _focusing = False
    _moving = False

    def __init__(self, workspace: Desk, *, motion: bool = True, agents: Agents | None = None) -> None:
        super().__init__()
        self.desk = workspace
        self.agents = agents
        self.jobs = Jobs(self)
        self.tap: ProgressTap | None = None
        self.progress: m.Progress | None = None
        self.contents: dict[str, Content] = {}
        self.sheets: dict[str, Sheet] = {}
        self.current = CENTRE
        self.centre = CENTRE
        self.finding = False
        self.full = False
        self.motion = motion
        self.keymap: Keymap = PLAIN
        self.opening: set[str] = set()
        self.broken: dict[str, str] = {}
        self._asked: set[str] = set()
        self._later: list[Callable[[], None]] = []
        self._drawn_for: dict[str, tuple[int, int]] = {}

    def compose(self) -> ComposeResult:
        raise AssertionError("the home screen composes")

    # -- parts ---------------------------------------------------------------------------------------------------------

    def content(self, name: str) -> Any:
        """The content of a pane, made when it is first wanted."""
        if name not in self.contents:
            self.contents[name] = panes.make(name, cast(Host, self))
        return self.contents[name]

    def ask(self, name: str) -> None:
        """Ask for what a pane shows; one that fails at it shows that."""
        self._asked.add(name)
        self.guard(name, self.content(name).ask)

    def pane(self, name: str) -> Pane:
        """The widget of that name; ``find`` is the rows under the search line."""
        return self.query_one("#find", Finder).pane if name == "find" else self.query_one(f"#{name}", Pane)

    def has_pane(self, name: str) -> bool:
        """Whether its widget is there yet."""
        if name == "find":
            return bool(self.query("#find"))
        # not a query: each would match every widget, and this is asked a hundred times before the first picture
        return name in panes.REGISTRY and any(child.id == name for child in self.query_one(Shelf).children)

    @property
    def name_here(self) -> str:
        """Name of the pane that keys act on."""
        return "find" if self.finding else self.current

    @property
    def here(self) -> Pane:
        """The widget that keys act on."""
        return self.pane(self.name_here)

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        return self.here.row

    @property
    def thing(self) -> Thing | None:
        """What the row under the cursor stands for."""
        sheet = self.sheets.get(self.name_here)
        return sheet.things.get(self.here.cursor) if sheet else None

    def say(self, text: str) -> None:
        """A sentence on the foot line, until the next key."""
        self.query_one("#foot", Bar).say(clean(self.keymap.sentence(text)))

    # -- drawing -------------------------------------------------------------------------------------------------------

    def draw(self, *names: str, cursor: str | None = None, flash: bool = False) -> None:
        """Draw those of the panes that are there; nothing while the screen opens, it is drawn once when its answers are in."""
        if self.opening:
            return
        there = [name for name in names if self.has_pane(name)]
        for name in there:
            self._draw(name, cursor, flash)
        self.place_panes()
        # what there is to show may have moved the places; rows that depend on theirs are made again before any is drawn
        for name in there:
            self.redraw_for_size(name)

    def _draw(self, name: str, cursor: str | None = None, flash: bool = False) -> None:
        pane, content = self.pane(name), self.content(name)
        width, lines = self._box(name)
        self._drawn_for[name] = content.room(width, lines)
        sheet = self.sheets[name] = self._rows(content, max(24, width), lines)
        pane.middle = sheet.middle
        title = Title(content.digit, content.title, sheet.title_note, sheet.title_right)
        pane.show(sheet.lines, title, cursor=cursor, flash=flash and self.motion)

    def _rows(self, content: Content, width: int, lines: int) -> Sheet:
        """The rows of a pane. One that fails at drawing says so in its place; the others go on."""
        if content.name in self.broken:
            return _broken(self.broken[content.name], width)
        try:
            sheet = content.sheet(width, max(1, lines))
        except Exception as error:
            return _broken(f"{type(error).__name__}: {error}", width)
        return first_words(sheet) if content.name in self._aside() else sheet

    def guard(self, name: str, call: Callable[[], Any]) -> None:
        """Call into a pane; what goes wrong there is drawn in its place until it is asked again."""
        self.broken.pop(name, None)
        try:
            call()
        except Exception as error:
            self.broken[name] = f"{type(error).__name__}: {error}"
            self.draw(name)

    def _box(self, name: str) -> tuple[int, int]:
        """Cells and lines of rows of a pane in the place it is about to have."""
        shelf, pane = self.query_one(Shelf), self.pane(name)
        *_, width, height = shelf.boxes(*shelf.size).get(name, (0, 0, *pane.size))
        return width, pane.body_in(height)

    def redraw_for_size(self, name: str) -> None:
        """Make a pane's rows anew if it has another size than they were made for."""
        if self.opening or not self.has_pane(name):
            return
        if self._drawn_for.get(name) != self.content(name).room(*self._box(name)):
            self._draw(name)
            self.place_panes()

    def draw_top(self) -> None:
        """The top line and the tabs."""
        if self.opening:
            return
        health = self.content("health")
        rows = top.top_rows(self.desk.root.name, health.status, health.watcher, self.progress, self._glances)
        self.query_one("#top", Bar).show(*rows, flash=self.motion and self.progress is None)
        self.query_one("#tabs", Bar).show(*top.tab_rows(self.name_here, self.keymap))

    def _glances(self, step: int) -> list[list[Cell]]:
        return [self.content(name).glance(step) for name in panes.GLANCES]

    def draw_foot(self) -> None:
        """The foot line for the pane in use."""
        content = self.content(self.name_here)
        rows = top.foot_rows(self.name_here, content.foot, self.keymap, content.mode)
        self.query_one("#foot", Bar).show(*rows)

    # -- places --------------------------------------------------------------------------------------------------------

    def wish(self) -> Wish:
        """What is to stand where, for the pane in use and what each has to show."""
        mode = self.query_one(Shelf).mode
        centre = "find" if self.finding else self.centre
        owned = self.full or mode == "tabs" or (not self.finding and self.content(self.current).mode)
        alone = ("find" if self.finding else self.current) if owned else ""
        others = [name for name in panes.LEFT if name != centre]
        left = next((name for name in others if self.content(name).fills()), "")
        stack = {name: self._wanted(name) for name in panes.STACK if name != centre}
        return Wish(centre, alone, stack, left, self._wanted(left) if left else 0)

    def _aside(self) -> Collection[str]:
        """Panes that stand in the stack now."""
        wish = self.query_one(Shelf).wish
        return () if wish is None or wish.alone else wish.stack

    def _wanted(self, name: str) -> int:
        """Lines a pane would fill, its title included."""
        if not self.has_pane(name):  # to ask its content would load its module
            return 2
        return self.content(name).steady or len(self.pane(name).source) + 1

    def place_panes(self) -> None:
        """Give the panes their places; those that get one for the first time are made, asked and drawn."""
        if self.opening:
            return
        shelf = self.query_one(Shelf)
        wish = self.wish()
        moves = shelf.arrange_for(wish)
        shown = shelf.shown()
        wanted = [self.current] if self._later else shown  # the rest, and its modules, wait for the first picture
        new = [name for name in shown if name in wanted and name != "find" and not self.has_pane(name)]
        for name in new:
            shelf.mount(self.make_pane(name))
        *_, last = ("", *wish.stack)
        for name in shown:
            if self.has_pane(name):
                self.pane(name).stacked = name in wish.stack and name != last and not wish.alone
        for name in shown:
            if name not in self._asked and name != "find" and not self._later:
                self.ask(name)
        if there := [name for name in new if self.has_pane(name)]:  # a screen that closes takes no more panes
            self.draw(*there)
        if moves and not self._moving:
            self._draw_moved(shown)

    def _draw_moved(self, shown: Collection[str]) -> None:
        """Rows for the places that are about to be: drawn after the move, the screen would be painted twice."""
        self._moving = True
        for name in shown:
            if name in self._drawn_for:
                self.redraw_for_size(name)
        self._moving = False

    def make_pane(self, name: str) -> Pane:
        """The widget of a pane."""
        content = self.content(name)
        pane = Pane(Title(content.digit, content.title), id=name, words_from=content.words_from)
        pane.motion = self.motion
        pane.words_always = name == CENTRE
        pane.titled = mode_of(*self.app.size) != "tabs"
        return pane

    def adapt(self) -> None:
        """Follow a new size: which layout, which bars, and titles only where there are no tabs."""
        mode = mode_of(*self.app.size)
        if self.has_class("-tiny") and mode != "tiny":
            self.call_after_refresh(self._focus_again)
        for name in ("three", "two", "tabs", "tiny"):
            self.set_class(name == mode, f"-{name}")
        for pane in self.query(Pane):
            pane.titled = mode != "tabs" or pane.id not in panes.REGISTRY
        self.place_panes()
        self.draw_top()

    def set_current(self, name: str) -> None:
        """Make a pane the one that keys act on; one that has no place takes the centre."""
        if name != "find" and name not in self.query_one(Shelf).shown():
            self.centre = name
        self.current = name
        self.place_panes()
        if not self.has_pane(name) and name != "find":
            # while the screen opens nothing is placed yet, and a pane that one left in use is the first to be focused
            self.query_one(Shelf).mount(self.make_pane(name))
        self.give_focus(self.pane(name))
        self.draw_top()
        self.draw_foot()
        self.follow_row()

    def follow_row(self) -> None:
        """Tell the panes that follow the cursor what its row is about; those in view ask. Before the first picture nothing follows."""
        if self._later:
            return
        thing, shown = self.thing, self.query_one(Shelf).shown()
        target = self.content(self.name_here).target_at(thing)
        for name in panes.FOLLOWERS:
            if name != self.name_here and self.content(name).followed(thing, target) and name in shown:
                self.ask(name)

    def _focus_again(self) -> None:
        """What was too small to be drawn has lost the focus; give it back."""
        entries = [e for e in self.query(Entry) if e.id == ("find-entry" if self.finding else "prompt")]
        typed = entries and (self.finding or self.has_class("-prompting"))
        self.give_focus(entries[0] if typed else self.pane(self.current))

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


def _broken(why: str, width: int) -> Sheet:
    return Sheet(
        teach("This pane failed; the others go on.", clean(why), "r asks it again.", width=width - 4),
        title_right="failed",
    )
