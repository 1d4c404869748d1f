"""What the keys of the home screen do. A key that cannot act says why.

Who calls: the bindings of ``screens/home.py``, help and the command palette.
What may not come in: drawing, handling of answers.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from textual.app import SuspendNotSupported

from mog.app.tui import side_rows
from mog.app.tui.board import PANES, TITLES
from mog.app.tui.editor import command
from mog.app.tui.graph_rows import LEVELS, WIDE
from mog.app.tui.keys import NO_PANE, NOT_YET
from mog.app.tui.prompts import Prompts
from mog.app.tui.rows import Thing, name_of, place_in
from mog.app.tui.state import KINDS
from mog.engine import model as m
from mog.engine.ids import locator
from mog.widgets.entry import Finder
from mog.widgets.shelf import Shelf


class Acts(Prompts):
    """Actions of the keys."""

    # -- moving --------------------------------------------------------------------------------------------------------

    def _move(self, step: int, end: str) -> None:
        if not self.here.move(step) and abs(step) == 1:
            self.say(f"this is the {end} row" if self.here.cursor else "nothing here to move over")

    def action_down(self) -> None:
        self._move(1, "last")

    def action_up(self) -> None:
        self._move(-1, "first")

    def action_half_down(self) -> None:
        self._move(max(2, self.here.body // 2), "last")

    def action_half_up(self) -> None:
        self._move(-max(2, self.here.body // 2), "first")

    def action_first(self) -> None:
        self.here.move_end(False)

    def action_last(self) -> None:
        self.here.move_end(True)

    def action_left(self) -> None:
        self._aside(-1)

    def action_right(self) -> None:
        self._aside(1)

    def _aside(self, step: int) -> None:
        if self.current == "graph":
            if not self.here.move_aside(step) and not self._to_section("in" if step < 0 else "out"):
                self.say("h: nothing points at it" if step < 0 else "l: it points at nothing")
        elif self.current == "health":
            self._unfold(step > 0)
        else:
            self.say("h and l: nothing folds here; tab goes to the next pane")

    def _to_section(self, section: str) -> bool:
        for index in range(len(self.here.source)):
            for row in self.here.source.line(index):
                if row.key.startswith((f"{section}:", f"{section}?:")):
                    self.here.go(row.key)
                    return True
        return False

    def _unfold(self, wanted: bool) -> None:
        thing = self.thing_here()
        if not isinstance(thing, str):
            self.say("nothing folds on this row")
        elif (thing in self.state.health_open) != wanted:
            self.state.health_open = self.state.health_open ^ {thing}
            self.draw("health")

    # -- opening -------------------------------------------------------------------------------------------------------

    def action_open(self) -> None:
        row = self.here.row
        if row is None:
            self.say("enter: no row is under the cursor")
        else:
            self.open_thing(self.thing_here(), row.key)

    def open_thing(self, thing: Thing | None, key: str) -> None:
        """Enter on a row: focus a node, follow a pin to its anchor, fold or unfold a section."""
        if isinstance(thing, m.Node) and thing.key == 0 and not thing.id:
            self.say("enter: this file is not a node of the graph; o opens it")
        elif isinstance(thing, m.Node):
            self._open_node(thing.id, same=key == "node")
        elif isinstance(thing, m.PinState):
            self._open_node(thing.now_at or thing.pin.anchor.locator, same=False)
        elif isinstance(thing, m.MapRow):
            self._open_node(locator("file", thing.path), same=False)
        elif isinstance(thing, str):
            self._open_text(thing)
        else:
            self.say("enter: nothing more is known of this row")

    def _open_node(self, target: str, *, same: bool) -> None:
        if same:
            self.say("enter: this node is in focus already")
            return
        self.leave_search()
        self.set_current("graph")
        self.ask_focus(target)

    def _open_text(self, thing: str) -> None:
        if self.finding:
            self._open_node(thing, same=False)
        elif self.current == "graph":
            self.state.toggle(thing)
            self.draw("graph")
            if self.state.open and self.state.hood:
                self.ask_again()
        else:
            self.state.health_open = self.state.health_open ^ {thing}
            self.draw("health")

    def action_back(self) -> None:
        if self.full:
            self.action_full()
        elif self.state.open:
            self.state.open = frozenset()
            self.draw("graph")
        elif self.current != "graph":
            self.set_current("graph")
        else:
            self.action_history_back()

    def action_history_back(self) -> None:
        self._history(-1, ",: this is the first node you looked at")

    def action_history_on(self) -> None:
        self._history(1, ".: this is the last node you looked at")

    def _history(self, by: int, why_not: str) -> None:
        target = self.state.history.step(by)
        if target is None:
            self.say(why_not)
        else:
            self.state.open = frozenset()
            self.ask_focus(target, visit=False)

    # -- searching -----------------------------------------------------------------------------------------------------

    async def action_search(self) -> None:
        finder = await self.need_finder()
        self.finding = True
        self.place_panes()
        self.give_focus(finder.entry)
        finder.entry.cursor_position = len(finder.entry.value)
        self.draw("find", cursor="")
        self.draw_top()
        self.draw_foot()

    def open_found(self) -> None:
        """Open the row under the cursor of the search."""
        if self.finding and self.here.row is None:
            self.say("enter: nothing was found")
        elif self.finding:
            self.action_open()

    def leave_search(self) -> None:
        """Close the search line; its results stay for n and N."""
        if self.finding:
            self.finding = False
            self.set_current(self.current)

    def turn_kind(self, step: int) -> None:
        """The next kind to search for."""
        self.state.kind = KINDS[(KINDS.index(self.state.kind) + step) % len(KINDS)]
        self.draw("find")
        self.ask_search(self.query_one("#find", Finder).entry.value)

    def action_next_hit(self) -> None:
        self._hit(1, "n")

    def action_previous_hit(self) -> None:
        self._hit(-1, "N")

    def _hit(self, by: int, key: str) -> None:
        hits = self.state.hits.hits if self.state.hits else ()
        if not hits:
            self.say(f"{key}: no search yet, / begins one")
            return
        at = self.state.hit_at
        if at < 0 and self.state.hood:
            at = next((i for i, hit in enumerate(hits) if hit.node.id == self.state.hood.node.id), -1)
        self.state.hit_at = (at + by) % len(hits)
        self.ask_focus(hits[self.state.hit_at].node.id)
        self.say(f"result {self.state.hit_at + 1} of {len(hits)}")

    async def need_finder(self) -> Finder:
        """The search line and its rows, made when they are first wanted."""
        for finder in self.query("#find").results(Finder):
            return finder
        finder = Finder(TITLES["find"], "/", id="find")
        await self.query_one(Shelf).mount(finder)
        return finder

    async def offer(self, target: str, candidates: list[str]) -> None:
        """An ambiguous name: its candidates as rows in the place of search results."""
        await self.action_search()
        pane = self.pane("find")
        self.sheets["find"] = sheet = side_rows.candidates_sheet(target, candidates, pane.size.width)
        pane.show(sheet.lines, cursor="")

    # -- panes ---------------------------------------------------------------------------------------------------------

    def action_pane(self, name: str) -> None:
        self.leave_search()
        self.set_current(name)

    def action_next_pane(self) -> None:
        self._turn(1)

    def action_previous_pane(self) -> None:
        self._turn(-1)

    def _turn(self, step: int) -> None:
        self.set_current(PANES[(PANES.index(self.current) + step) % len(PANES)])

    def action_full(self) -> None:
        if self.query_one(Shelf).mode == "tabs":
            self.say("m: one pane at a time already, the screen is narrow")
            return
        self.full = not self.full
        self.place_panes()

    def action_zoom(self) -> None:
        width = self.pane("graph").size.width
        if width < WIDE:
            self.say(f"z: sides beside the node need {WIDE} cells, this pane has {width}; m widens it")
            return
        self.state.sides = not self.state.sides
        self.draw("graph")

    def action_tiers(self) -> None:
        self.state.level = (self.state.level + 1) % len(LEVELS)
        self.draw("graph")
        if self.state.hood is None:
            self.say(f"links shown: {LEVELS[self.state.level][0]}")
        self.ask_again()

    def action_not_yet(self, key: str) -> None:
        self.say(f"{key}: {NOT_YET[key][1]}")

    def action_no_pane(self, digit: str) -> None:
        self.say(f"{digit}: no pane of {NO_PANE[digit]} in this version; 1 graph, 4 drift, 8 health")

    # -- pins, editor, copies ------------------------------------------------------------------------------------------

    def node_here(self) -> m.Node | None:
        """The node under the cursor."""
        thing = self.thing_here()
        return thing if isinstance(thing, m.Node) and thing.id else None

    async def action_pin(self) -> None:
        thing = self.thing_here()
        if isinstance(thing, m.PinState):
            await self.ask_to_unpin(thing)
        elif isinstance(thing, m.MapRow):
            await self.ask_for_note(locator("file", thing.path), thing.path)
        elif (node := self.node_here()) is None:
            self.say("p: no node on this row; put > on a symbol, a file or a pin")
        elif node.type == "unresolved":
            self.say("p: this name is not bound to code here, there are no bytes to watch")
        elif node.gated:
            self.say("p: gated, its bytes are withheld and cannot be watched")
        else:
            await self.ask_for_note(node.locator, name_of(node))

    def action_redo(self) -> None:
        if self.current == "health":
            if self.jobs.running("index"):
                self.say("r: indexing already; ctrl+c stops it")
            else:
                self.ask_index()
        elif self.jobs.running("verify"):
            self.say("r: comparing already")
        else:
            self.jobs.start("verify", None, self.workspace.verify)

    def action_editor(self) -> None:
        path, line = self._file_here()
        if not path:
            self.say("o: no file on this row")
            return
        file = Path(self.workspace.root) / path
        argv = command(os.environ, file, line)
        if argv is None:
            self.say("o: set $EDITOR to open files")
        elif not file.exists():
            self.say("o: this file is no longer there")
        else:
            self._edit(argv)

    def _file_here(self) -> tuple[str, int]:
        thing = self.thing_here()
        if isinstance(thing, m.MapRow):
            return thing.path, 0
        if isinstance(thing, m.PinState):
            place = place_in(thing.now_at or thing.pin.anchor.locator)
            return place.path, thing.lines[0] if thing.lines else 0
        return (thing.path, thing.line) if isinstance(thing, m.Node) else ("", 0)

    def _edit(self, argv: list[str]) -> None:
        try:
            # the one child that owns the terminal: the person's own editor, while the workbench is suspended
            with self.app.suspend():
                code = subprocess.run(argv, check=False).returncode
        except SuspendNotSupported:
            self.say("o: this terminal cannot hand itself to an editor")
        except OSError as error:
            self.say(f"o: {argv[0]}: {error.strerror or error}; check $EDITOR")
        else:
            if code:
                self.say(f"o: {argv[0]} ended with {code}")

    def action_copy_row(self) -> None:
        row = self.here.row
        if row is None:
            self.say("y: no row is under the cursor")
            return
        self.app.copy_to_clipboard(row.copy or row.text)
        self.say(f"copied: {row.copy or row.text.strip()}")

    def action_copy_pane(self) -> None:
        text = self.here.text(max(100, self.here.size.width) if not self.here.middle else None)
        self.app.copy_to_clipboard(text)
        self.say(f"copied {text.count(chr(10)) + 1} lines of {self.here.title.name.lower()}")

    # -- the program ---------------------------------------------------------------------------------------------------

    def action_cancel(self) -> None:
        if self.jobs.running("index") and self.tap and not self.tap.cancelled.is_set():
            self.tap.cancelled.set()
            self.say("stopping the index after this file; ctrl+c again quits")
        elif self.quit_asked == "ctrl+c":
            self.app.exit(return_code=130)
            return
        else:
            self.say("ctrl+c: nothing runs that could be cancelled; once more quits")
        self.quit_asked = "ctrl+c"

    def action_quit(self) -> None:
        if self.jobs.running("index") and self.quit_asked != "q":
            self.quit_asked = "q"
            self.say("an index is being built: q again leaves it, the one before it still serves")
        else:
            self.app.exit(return_code=0)

    def action_suspend(self) -> None:
        if os.name == "nt":
            self.say("ctrl+z: this system has no job control")
        else:
            self.app.action_suspend_process()

    def action_redraw(self) -> None:
        for pane in self.query("LineWidget"):
            pane.refresh()
        self.refresh()

    def action_palette(self) -> None:
        self.app.action_command_palette()

    def action_theme(self, name: str) -> None:
        self.app.theme = name
