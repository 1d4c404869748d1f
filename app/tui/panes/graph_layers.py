"""The layered view of pane 1: what lies around the node in focus, or a walk or a blast radius that another pane asked to see.

Who calls: ``graph.py``, which owns the keys. What may not come in: the toolkit, how a page is drawn (``layer_rows.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from mog.app.plain import plural
from mog.app.tui.layer_rows import NODES, Chart, Drawing, of_around
from mog.app.tui.panes.base import Host
from mog.app.tui.rows import Sheet, teach
from mog.engine.errors import MogError

DEPTHS = (2, 3, 1)
"""Hops that ``v`` steps through."""


class Layers:
    """Attributes: chart: what is drawn, ``None`` until it is here. depth: hops. selected: key of the box whose links are drawn.

    guest: words about a drawing that another pane asked for, "" while it shows the node in focus.
    """

    def __init__(self, host: Host, arrived: Callable[[], None]) -> None:
        """``arrived`` is called when an answer is here, before it is drawn."""
        self.host = host
        self._arrived = arrived
        self.chart: Chart | None = None
        self.depth = DEPTHS[0]
        self.selected = ""
        self.guest = ""
        self.trouble = ""
        self._at = (-1, -1)
        self._room = (80, 24)
        self._of: tuple[object, ...] = ()

    # -- asking --------------------------------------------------------------------------------------------------------

    def ask(self, target: str, tiers: Sequence[str], *, again: bool = False) -> bool:
        """Ask what lies around a node, if that is not what is drawn or ``again``; whether it was asked."""
        asked = (target, tuple(tiers), self.depth)
        if not again and asked == self._of and not self.guest:
            return False
        call = partial(self._around, target, tiers, self.depth)
        self.host.start("layers", call, partial(self._got, asked), self._lost)
        return True

    def _around(self, target: str, tiers: Sequence[str], depth: int) -> Chart:
        found = self.host.desk.around(target, depth=depth, limit=NODES, tiers=tiers)
        chart = Chart(of_around(found, self.host.desk.believed(target)))
        assert chart.layout is not None, "laid out here, on the thread that asks"
        return chart

    def _got(self, asked: tuple[object, ...], chart: Chart) -> None:
        same = asked[0] == (self._of[0] if self._of else None) and not self.guest
        self._of, self.chart, self.guest, self.trouble = asked, chart, "", ""
        kept = same and chart.layout.number(self.selected) is not None
        if not kept:
            self.selected, self._at = chart.drawing.center, (-1, -1)
        self._arrived()
        self.host.draw("graph", cursor=None if kept else self.selected)

    def _lost(self, error: BaseException) -> bool:
        known = isinstance(error, MogError)
        self.chart, self._of = None, ()
        self.trouble = str(error) if known else f"{type(error).__name__}: {error}"
        self._arrived()
        self.host.draw("graph")
        return known

    def see(self, make: Callable[[], Drawing], words: str) -> None:
        """Draw what another pane has; ``make`` may ask the workspace and runs on a thread."""

        def laid_out() -> Chart:
            chart = Chart(make())
            assert chart.layout is not None, "laid out here, on the thread that asks"
            return chart

        def got(chart: Chart) -> None:
            self.chart, self.guest, self.trouble, self._of = chart, words, "", ()
            self.selected, self._at = chart.drawing.center, (-1, -1)
            self._arrived()
            self.host.draw("graph", cursor=self.selected)

        self.host.start("layers", laid_out, got, self._lost)

    # -- drawing -------------------------------------------------------------------------------------------------------

    def sheet(self, width: int, lines: int, right: str) -> Sheet:
        """The page with the selected box; in plain text (``lines`` 0) as many rows as there are."""
        if self.chart is None:
            words = (
                (self.trouble, "z leads on to the outline.") if self.trouble else ("Asking what lies around it.", "")
            )
            return Sheet(teach(*words, width=min(64, width - 4)), title_note="layers")
        chart = self.chart
        self._room = (width, lines or chart.layout.rows + 3)
        self._at = chart.at(*self._room, self.selected, self._at)
        found = chart.sheet(*self._room, self._at, self.selected)
        note = "layers" if self.guest else f"layers, {plural(self.depth, 'hop')} (v)"
        return Sheet(found.lines, found.things, note, self.guest or right)

    # -- keys ----------------------------------------------------------------------------------------------------------

    def moved(self, key: str) -> None:
        """The cursor came to another box: its links are drawn."""
        if self.chart is not None and key and key != self.selected:
            self.selected = key
            self.host.draw("graph")

    def turn(self, right: int, down: int) -> bool:
        """The page beside or below this one, with the cursor on the box nearest to where it was; False at the edge."""
        if self.chart is None:
            return False
        pages = self.chart.pages(*self._room)
        at = (self._at[0] + right, self._at[1] + down)
        if not (0 <= at[0] < pages[0] and 0 <= at[1] < pages[1]):
            return False
        key = self.chart.nearest(*self._room, at, self.selected)
        if not key:
            return False
        self._at, self.selected = at, key
        self.host.draw("graph", cursor=key)
        return True

    def aside(self, step: int) -> None:
        """A column left (-1) or right (+1), on the next page where this one ends."""
        if (
            self.chart is not None
            and self.chart.at_edge(*self._room, self._at, self.selected, step)
            and self.turn(step, 0)
        ):
            return
        self.host.aside(step, "?", "h: nothing stands to the left" if step < 0 else "l: nothing stands to the right")

    def deeper(self) -> int:
        """The next depth."""
        self.depth = DEPTHS[(DEPTHS.index(self.depth) + 1) % len(DEPTHS)]
        return self.depth
