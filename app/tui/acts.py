"""What the keys of the home screen do. A key that cannot act says why.

Who calls: the bindings of ``screens/home.py``, help and the command palette.
What may not come in: drawing, handling of answers.
"""

from __future__ import annotations

import os
import subprocess
from functools import partial
from pathlib import Path

from textual.app import SuspendNotSupported

from mog.app.tui import panes
from mog.app.tui.editor import command
from mog.app.tui.keys import WHY_NOT, shown
from mog.app.tui.panes.base import Content
from mog.app.tui.panes.pins import pin_row
from mog.app.tui.prompts import Prompts
from mog.widgets.entry import Finder
from mog.widgets.shelf import Shelf
from mog.widgets.view import Title

ORDER = panes.TABS


class Acts(Prompts):
    """Actions of the keys."""

    # -- moving --------------------------------------------------------------------------------------------------------

    def _move(self, step: int, end: str) -> None:
        if not (self.here.move(step) or self.content(self.name_here).beyond(step)):
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
        self._end(False, "first")

    def action_last(self) -> None:
        self._end(True, "last")

    def _end(self, last: bool, end: str) -> None:
        if not self.here.move_end(last):
            self.say(f"this is the {end} row" if self.here.cursor else "nothing here to move over")

    def action_act(self, name: str) -> None:
        """A key whose meaning is the pane's: the pane does it, or says why it cannot."""
        content = self.content(self.name_here)
        if do := getattr(content, f"act_{name}", None):
            self.guard(content.name, do)
        elif name == "pin":
            pin_row(self, self.thing)
        elif name == "redo" and content.name in self.broken:
            self.ask(content.name)
        elif name in panes.ELSEWHERE:
            other = panes.ELSEWHERE[name]
            self.guard(other, partial(self._elsewhere, self.content(other), name, content))
        else:
            self._cannot(name, content)

    def _elsewhere(self, other: Content, name: str, content: Content) -> None:
        if not other.elsewhere(name, self.thing, content.target_at(self.thing)):
            self._cannot(name, content)

    def _cannot(self, name: str, content: Content) -> None:
        self.say(f"{shown(name)}: {content.why_not.get(name) or WHY_NOT.get(name) or 'nothing on this row it could act on'}")

    def aside(self, step: int, section: str, why_not: str) -> None:
        """Move the cursor to the column beside it, else to the first row of a section."""
        pane = self.here
        if not pane.move_aside(step) and not self._to_section(section):
            self.say(why_not)

    def _to_section(self, section: str) -> bool:
        for index in range(len(self.here.source)):
            for row in self.here.source.line(index):
                if row.key.startswith((f"{section}:", f"{section}?:")):
                    self.here.go(row.key)
                    return True
        return False

    # -- opening -------------------------------------------------------------------------------------------------------

    def action_open(self) -> None:
        row = self.here.row
        if row is None:
            self.say("enter: no row is under the cursor")
        else:
            self.open_row(self.name_here, row.key)

    def open_row(self, name: str, key: str) -> None:
        """Enter on a row of a pane: what it means is the pane's."""
        thing = self.sheets[name].things.get(key)
        self.guard(name, partial(self.content(name).opened, thing, key))

    def focus_on(self, target: str) -> None:
        """Bring a node into the graph, and the graph into view."""
        self.leave_search()
        self.set_current("graph")
        self.content("graph").focus(target)

    def show(self, name: str, *, centre: bool = False) -> None:
        """Make a pane the one in use, in the middle of the screen if asked for."""
        self.leave_search()
        if centre:
            self.centre = name
        self.set_current(name)

    def action_back(self) -> None:
        if self.full:
            self.action_full()
        elif not self.content(self.current).back():
            self.centre = "graph"
            self.set_current("graph")

    def action_history_back(self) -> None:
        self._history(-1, ",: this is the first node you looked at")

    def action_history_on(self) -> None:
        self._history(1, ".: this is the last node you looked at")

    def _history(self, by: int, why_not: str) -> None:
        self.content("graph").step(by, why_not)

    # -- searching -----------------------------------------------------------------------------------------------------

    async def action_search(self) -> None:
        finder = await self.need_finder()
        self.finding = True
        self.place_panes()
        self.give_focus(finder.entry)
        finder.entry.select_all()  # what was looked for last stays for n and N, and gives way to what is typed
        self.draw("find", cursor="")
        self.draw_top()
        self.draw_foot()

    def leave_search(self) -> None:
        """Close the search line; its results stay for n and N."""
        if self.finding:
            self.finding = False
            self.set_current(self.current)

    def action_next_hit(self) -> None:
        self._hit(1, "n")

    def action_previous_hit(self) -> None:
        self._hit(-1, "N")

    def _hit(self, by: int, key: str) -> None:
        target = self.content("find").step(by)
        if target:
            self.content("graph").focus(target)
        else:
            self.say(f"{key}: no search yet, / begins one")

    async def need_finder(self) -> Finder:
        """The search line and its rows, made when they are first wanted."""
        for finder in self.query("#find").results(Finder):
            return finder
        entry = panes.REGISTRY["find"]
        finder = Finder(Title(entry.digit, entry.title), "/", id="find")
        await self.query_one(Shelf).mount(finder)
        return finder

    async def offer(self, target: str, candidates: list[str]) -> None:
        """An ambiguous name: its candidates as rows in the place of search results."""
        await self.action_search()
        self.content("find").offer(target, candidates)

    # -- panes ---------------------------------------------------------------------------------------------------------

    def action_pane(self, name: str) -> None:
        found, before = self.finding, (self.current, self.centre)
        self.leave_search()
        if name == self.current and self.centre != name:
            self.centre = name  # its digit once more: into the centre
        self.set_current(name)
        if (self.current, self.centre) == before and not found:
            self.say(f"{panes.REGISTRY[name].digit}: this pane is in use already, in the centre")

    def action_next_pane(self) -> None:
        self._turn(1)

    def action_previous_pane(self) -> None:
        self._turn(-1)

    def _turn(self, step: int) -> None:
        here = {*self.query_one(Shelf).shown(), self.current}  # while a search has the centre, the pane in use has no place
        around = [name for name in ORDER if name in here] if not self.full else list(ORDER)
        if len(around) < 2:
            around = list(ORDER)
        self.set_current(around[(around.index(self.current) + step) % len(around)])

    def action_full(self) -> None:
        if self.query_one(Shelf).mode == "tabs":
            self.say("m: one pane at a time already, the screen is narrow")
            return
        self.full = not self.full
        self.place_panes()

    # -- editor, copies ------------------------------------------------------------------------------------------------

    def action_editor(self) -> None:
        path, line = self.content(self.name_here).file_at(self.thing)
        if not path:
            self.say("o: no file on this row")
            return
        file = Path(self.desk.root) / path
        argv = command(os.environ, file, line)
        if argv is None:
            self.say("o: set $EDITOR to open files")
        elif not file.exists():
            self.say("o: this file is no longer there")
        else:
            self._edit(argv)

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

    def copy(self, text: str, what: str) -> None:
        """Put a text on the clipboard and say so."""
        self.app.copy_to_clipboard(text)
        self.say(f"copied {what}, {text.count(chr(10)) + 1} lines")

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
        elif any(content.cancel() for content in self.contents.values()):
            self.say("stopping what runs; ctrl+c again quits")
        else:
            self.say("ctrl+c: nothing runs that could be cancelled; once more quits")
        self.quit_asked = "ctrl+c"

    def action_quit(self) -> None:
        if self.jobs.running("index") and self.quit_asked != "q":
            self.quit_asked = "q"
            self.say("an index is being built: q again leaves it, the one before it still serves")
        elif self.jobs.running("run") and self.quit_asked != "q":
            self.quit_asked = "q"
            self.say("a plan runs: q again stops it; what is recorded stays")
        else:
            self.app.exit(return_code=0)

    def action_suspend(self) -> None:
        if os.name == "nt":
            self.say("ctrl+z: this system has no job control")
        elif self.app._driver is None or not self.app._driver.can_suspend:
            self.say("ctrl+z: this terminal cannot be given back to a shell")
        else:
            self.app.action_suspend_process()

    def action_redraw(self) -> None:
        for pane in self.query("LineWidget"):
            pane.refresh()
        self.refresh()
        self.say("drawn again")

    def action_theme(self, name: str) -> None:
        self.change_theme(name)
