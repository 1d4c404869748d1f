"""What a start of the workbench takes over from the last one, and the tour of a first start.

Who calls: the home screen, at its beginning, at its end and for keys while the tour runs. What may not come in: reading and writing of
the file (``kept.py``), what the lines of the tour say (``tour.py``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mog.app.tui import kept, tour
from mog.app.tui.board import CENTRE
from mog.app.tui.options import Options
from mog.app.tui.panes import TABS
from mog.widgets.bars import Bar

if TYPE_CHECKING:
    from mog.app.tui.screens.home import Home


class Past:
    """Attributes: before: what was kept. current: pane to begin in. tour: lines still to come, or ``None``."""

    _home: Home

    def __init__(self, options: Options) -> None:
        self._options = options
        self._forgotten = False
        self._began_with = ""
        self.tour: tour.Tour | None = None
        self.word = ""
        found, self.word = kept.load(options.kept) if options.kept else (kept.Kept(), "")
        self.before = found or kept.Kept()
        if options.fresh:
            self.before = kept.Kept(toured=self.before.toured)

    @property
    def theme(self) -> str:
        """The theme to begin with: the one chosen inside the last time, unless the configuration has been changed since."""
        chosen = self.before.theme and self.before.theme_over == self._options.theme
        return self.before.theme if chosen else self._options.theme

    @property
    def current(self) -> str:
        """The pane to begin in."""
        return self.before.current if self.before.current in TABS else CENTRE

    def begin(self, home: Home) -> None:
        """Take over what was kept, before anything is asked; say what has to be said; begin the tour of a first start."""
        self._home = home
        before = self.before
        self._began_with = home.app.theme
        if before.centre in TABS:
            home.centre = before.centre
        home.full = before.full
        graph: Any = home.content("graph")
        graph.level = before.level if 0 <= before.level <= 2 else graph.level
        graph.sides = before.sides
        if before.focus:
            graph.history.ids = list(before.history) or [before.focus]
            graph.history.at = before.at if 0 <= before.at < len(graph.history.ids) else len(graph.history.ids) - 1
            graph.focus(before.focus, visit=False)
        if notes := [note for note in (self.word, *self._options.notes) if note]:
            home.call_later(home.say, "; ".join(notes))
        if self._options.kept and self._options.tour and not (before.toured or self.word):
            self.begin_tour()

    # -- the end -------------------------------------------------------------------------------------------------------

    def keep(self) -> None:
        """Write where one is; where that cannot be done nothing is lost but the memory."""
        path = self._options.kept
        if path is None:
            return
        toured = self.before.toured or self.tour is None
        kept.save(path, kept.Kept(toured=toured) if self._forgotten else replace(self._now(), toured=toured))

    def _now(self) -> kept.Kept:
        home, options = self._home, self._options
        graph: Any = home.content("graph")
        theme = home.app.theme if home.app.theme != self._began_with else self.before.theme
        ids = graph.history.ids[-kept.MOST_IDS :]
        return kept.Kept(
            theme=theme,
            theme_over=options.theme if theme else "",
            centre=home.centre,
            current=home.current,
            focus=graph.hood.node.id if graph.hood else "",
            history=tuple(ids),
            at=graph.history.at - (len(graph.history.ids) - len(ids)),
            level=graph.level,
            sides=graph.sides,
            full=home.full,
        )

    def forget(self) -> None:
        """Keep nothing of this run."""
        self._forgotten = True
        self._home.say("where you are will not be remembered")

    # -- the tour ------------------------------------------------------------------------------------------------------

    def begin_tour(self) -> None:
        """Show the first line of the tour."""
        self._show(tour.begin(frozenset(key.action for key in self._home.keymap.table)))

    def _show(self, now: tour.Tour | None) -> None:
        self.tour = now if now and now.lines else None
        self._home.set_class(self.tour is not None, "-touring")
        if self.tour:
            self._home.query_one("#tour", Bar).show(*self.tour.rows(self._home.keymap))

    def stops(self, key: str) -> bool:
        """A key while the tour runs: its own leads to the next line and acts, esc ends the tour and does nothing else."""
        if self.tour is None:
            return False
        actions = [one.action for one in self._home.keymap.table if key in one.keys.split(",")]
        if "back" in actions:
            self._show(None)
            self.before = replace(self.before, toured=True)
            self._home.say("the tour will not come again; : tour brings it back")
            return True
        for action in actions:
            if (after := self.tour.after(action)) is not self.tour:
                self._show(after)
        return False
