"""The home screen: one glance at the graph, the map, drift and health of a repository.

Who calls: the workbench app pushes it; ``styles/home.tcss`` is its sheet.
What may not come in: questions to the workspace (``asks.py``), what keys do (``acts.py``), rows (``*_rows.py``).
"""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Input

from mog.app.tui import keys
from mog.app.tui.acts import Acts
from mog.app.tui.board import TITLES
from mog.app.tui.port import Desk
from mog.widgets.bars import Bar, Rule, TooSmall
from mog.widgets.entry import Entry, Finder
from mog.widgets.pane import Pane
from mog.widgets.shelf import LEAST, Shelf, mode_of

_WORDS_FROM = {"graph": 12, "map": 9, "drift": 12, "health": 12}


class Home(Acts, inherit_bindings=False):
    """Top line, panes, foot line. Keys come from ``keys.py``."""

    BINDINGS: ClassVar[list[BindingType]] = list(keys.bindings())
    AUTO_FOCUS = ""

    def __init__(self, workspace: Desk, *, index_first: bool, motion: bool = True) -> None:
        super().__init__(workspace, motion=motion)
        self._index_first = index_first

    def compose(self) -> ComposeResult:
        # before there are children: a class set later would have the styles of all of them worked out again
        self.set_class(True, f"-{mode_of(*self.app.size)}")
        yield Bar(id="top")
        yield Bar(id="tabs")
        with Shelf(id="shelf"):
            for name in ("map", "graph", "drift", "health"):
                yield Pane(TITLES[name], id=name, words_from=_WORDS_FROM[name])
            yield Rule(id="rule-1")
            yield Rule(id="rule-2")
        yield Bar(id="foot")
        yield TooSmall(LEAST, id="too-small")

    def on_mount(self) -> None:
        for pane in self.query(Pane):
            pane.motion = self.motion
        self.pane("graph").words_always = True
        self.begin(index_first=self._index_first)
        self.adapt()
        self.set_current("graph")
        if not self.opening:
            self.open_up()

    def on_unmount(self) -> None:
        self.end()

    # -- size ----------------------------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.adapt()

    @on(Pane.Resized)
    def _pane_resized(self, event: Pane.Resized) -> None:
        self.redraw_for_size(self._name_of(event.pane))

    def _name_of(self, pane: Pane) -> str:
        return (pane.id or "").removesuffix("-rows")

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Below the smallest size every key is dead but quit."""
        if self.has_class("-tiny"):
            return action in ("quit", "cancel")
        return True

    # -- rows ----------------------------------------------------------------------------------------------------------

    @on(Pane.Opened)
    def _row_opened(self, event: Pane.Opened) -> None:
        name = self._name_of(event.pane)
        if name != "find":
            self.current = name
        self.open_thing(self.sheets[name].things.get(event.row.key), event.row.key)

    @on(Finder.Typed)
    def _typed(self, event: Finder.Typed) -> None:
        self.ask_search(event.text)

    @on(Finder.Entered)
    def _entered(self, event: Finder.Entered) -> None:
        if self.enter_found():
            self.open_found()

    @on(Entry.Left, "#find-entry")
    def _left_search(self, event: Entry.Left) -> None:
        event.stop()
        self.leave_search()

    @on(Entry.Turned, "#find-entry")
    def _turned(self, event: Entry.Turned) -> None:
        event.stop()
        self.turn_kind(event.step)

    @on(Input.Changed, "#prompt")
    def _prompt_typed(self, event: Input.Changed) -> None:
        event.stop()

    # -- focus and keys ------------------------------------------------------------------------------------------------

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        widget = event.widget
        if isinstance(widget, Pane) and widget.id in TITLES and widget.id != self.current:
            self.current = widget.id
            self.draw_top()
            self.draw_foot()

    def on_key(self, event: events.Key) -> None:
        """A new key clears the sentence of the last one, before it acts."""
        self._before_key(event.key)

    def _before_key(self, key: str) -> None:
        foot = self.query_one("#foot", Bar)
        foot.say("")
        if key not in (self.quit_asked, "q" if self.quit_asked == "q" else ""):
            self.quit_asked = ""

    def action_help(self) -> None:
        from mog.app.tui.screens.help import Help

        def run(action: str | None) -> None:
            if action:
                self.call_later(self.run_action, action)

        self.app.push_screen(Help(TITLES[self.current].name), run)

    def __rich_repr__(self) -> Any:
        yield self.current
