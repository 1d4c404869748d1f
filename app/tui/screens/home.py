"""The home screen: one glance at the graph, the map, drift and health of a repository.

Who calls: the workbench app pushes it; ``styles/home.tcss`` is its sheet.
What may not come in: questions to the workspace (``asks.py``), what keys do (``acts.py``), what a pane shows (``panes/``).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import BindingType

from mog.app.tui import commands, keys
from mog.app.tui.agent_acts import AgentActs
from mog.app.tui.keymap import Keymap
from mog.app.tui.panes import REGISTRY
from mog.app.tui.past import Past
from mog.app.tui.port import Agents, Desk
from mog.engine import model as m
from mog.widgets.bars import Bar, Rule, TooSmall
from mog.widgets.entry import Entry, Finder
from mog.widgets.pane import Pane
from mog.widgets.shelf import LEAST, Shelf, mode_of

AT_ONCE = ("map", "graph", "drift", "health")
"""Panes made with the screen; the others when they are first wanted."""


class Home(AgentActs, inherit_bindings=False):
    """Top line, panes, foot line. Keys come from ``keys.py``."""

    BINDINGS: ClassVar[list[BindingType]] = list(keys.bindings())
    AUTO_FOCUS = ""

    def __init__(
        self,
        workspace: Desk,
        past: Past,
        keymap: Keymap,
        *,
        index_first: bool,
        motion: bool = True,
        agents: Agents | None = None,
    ) -> None:
        super().__init__(workspace, motion=motion, agents=agents)
        self._index_first = index_first
        self.keymap = keymap
        self.past = past

    def compose(self) -> ComposeResult:
        # before there are children: a class set later would have the styles of all of them worked out again
        self.set_class(True, f"-{mode_of(*self.app.size)}")
        yield Bar(id="top")
        yield Bar(id="tabs")
        with Shelf(id="shelf"):
            for name in AT_ONCE:
                yield self.make_pane(name)
            yield Rule(id="rule-1")
            yield Rule(id="rule-2")
        yield Bar(id="tour")
        yield Bar(id="foot")
        yield TooSmall(LEAST, id="too-small")

    def on_mount(self) -> None:
        self.past.begin(self)
        self.begin(index_first=self._index_first)
        self.adapt()
        self.set_current(self.past.current)
        if not self.opening:
            self.open_up()

    def on_unmount(self) -> None:
        self.past.keep()
        self.end()

    # -- size ----------------------------------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self.leave_labels()
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
        self.open_row(name, event.row.key)

    @on(Pane.Moved)
    def _row_moved(self, event: Pane.Moved) -> None:
        name = self._name_of(event.pane)
        if (sheet := self.sheets.get(name)) and event.row:
            self.guard(name, partial(self.content(name).moved, sheet.things.get(event.row.key), event.row.key))
        if name == self.name_here:
            self.follow_row()

    @on(Finder.Typed)
    def _typed(self, event: Finder.Typed) -> None:
        self.content("find").search(event.text)

    @on(Finder.Entered)
    def _entered(self, event: Finder.Entered) -> None:
        find = self.content("find")
        # the rows may still answer an earlier text: then the first of the coming ones is opened
        find.open_first = self.busy("find")
        if self.finding and not find.open_first:
            find.opened(self.thing, self.here.cursor)

    @on(Entry.Left, "#find-entry")
    def _left_search(self, event: Entry.Left) -> None:
        event.stop()
        self.leave_search()

    @on(Entry.Turned, "#find-entry")
    def _turned(self, event: Entry.Turned) -> None:
        event.stop()
        self.content("find").turn_kind(event.step)

    # -- focus and keys ------------------------------------------------------------------------------------------------

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        widget = event.widget
        if isinstance(widget, Pane) and widget.id in REGISTRY and widget.id != self.current:
            self.current = widget.id
            self.draw_top()
            self.draw_foot()

    def on_key(self, event: events.Key) -> None:
        """A new key clears the sentence of the last one, before it acts; in jump mode and in a mode of the pane it acts here alone."""
        self._before_key(event.key)
        typing = self.finding or isinstance(self.focused, Entry)
        mode = "" if typing or self.has_class("-tiny") else self.content(self.name_here).mode
        action, reached = keys.in_mode(mode, event.key), self.reached
        if reached or action or (not typing and self.past.stops(event.key)):
            event.stop()
            event.prevent_default()
        if reached:
            self.label_typed(event.key, event.character if event.is_printable else None)
        elif action:
            self.action_act(action)

    def _before_key(self, key: str) -> None:
        foot = self.query_one("#foot", Bar)
        foot.say("")
        self.key_came(key)
        if key not in (self.quit_asked, "q" if self.quit_asked == "q" else ""):
            self.quit_asked = ""

    def action_help(self) -> None:
        from mog.app.tui.screens.help import Help

        reasons = {one.action: one.cannot for one in commands.commands(self) if one.cannot}
        table = (*keys.MODES.get(self.content(self.current).mode, ()), *self.keymap.table)
        self.app.push_screen(Help(REGISTRY[self.current].title, table, reasons), self._chosen)

    def action_palette(self) -> None:
        from mog.app.tui.screens.palette import Palette

        def look(words: str, then: Callable[[m.SearchAnswer], None]) -> None:
            self.start("palette", partial(self.desk.search, words, limit=commands.NODES), then, lambda _: True)

        if self.app.screen is self:
            self.app.push_screen(Palette(commands.commands(self), look), self._chosen)

    def _chosen(self, key: str | None) -> None:
        """What was chosen in the help or the palette: an action to run, or a node to go to."""
        kind, _, what = (key or "").partition(":")
        if kind == "node":
            self.focus_on(what)
        elif what:
            self.call_later(self.run_action, what)

    def action_tour(self) -> None:
        self.past.begin_tour()

    def action_forget(self) -> None:
        self.past.forget()

    def __rich_repr__(self) -> Any:
        yield self.current
