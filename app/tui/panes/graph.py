"""Pane 1: the graph around the node in focus, in three details: the node with its sides, layers around it, the outline of all.

Who calls: the registry of ``panes``; other panes bring nodes into focus through their host, and walks and radii into the layers. What
may not come in: the toolkit, how a view is drawn (``graph_rows.py``, ``layer_rows.py``, ``outline_rows.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, ClassVar

from mog.app.plain import plural
from mog.app.tui import graph_rows
from mog.app.tui.graph_rows import LEVELS
from mog.app.tui.history import History
from mog.app.tui.panes.base import Content, Host
from mog.app.tui.rows import Sheet, Thing, place_in, teach
from mog.engine import model as m
from mog.engine.errors import MogError, NotFound
from mog.engine.ids import locator

if TYPE_CHECKING:
    from mog.app.tui.layer_rows import Drawing
    from mog.app.tui.panes.graph_layers import Layers
    from mog.app.tui.panes.graph_outline import Outlined
    from mog.engine.reason.near import Believed
    from mog.engine.reason.walks import Walk

LOADED, LOADED_OPEN = 200, 2000
VIEWS = ("focus", "layers", "outline")
"""What ``z`` steps through."""


class Graph(Content):
    """Attributes: hood: the node in focus and what is around it, or ``None``. level: the tiers shown. open: unfolded sections.

    view: one of ``VIEWS``. heading: the view that is asked for and not here yet, "" for none. along: co-change is shown.
    believed: what is believed about the node. why_none: why that is not known.
    """

    name, digit, title = "graph", "1", "Graph"
    foot = (
        ("enter", "open"),
        ("z", "detail"),
        ("t", "tiers"),
        ("p", "pin"),
        (",", "back"),
        ("T", "co-change"),
        ("m", "full"),
    )
    wakes = frozenset({"index", "pins", "beliefs"})
    why_not: ClassVar[dict[str, str]] = {"sort": "rows are ordered by tier, then type"}

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.hood: m.Neighborhood | None = None
        self.level = 1
        self.view = VIEWS[0]
        self.along = False
        self.believed: tuple[Believed, ...] = ()
        self.why_none = ""
        self.heading = ""
        self.open: frozenset[str] = frozenset()
        self.history = History()
        self.wanted = ""
        self.lost = False
        self.led_by = ""

    @cached_property
    def layers(self) -> Layers:
        """The layered view, made when it is first wanted."""
        from mog.app.tui.panes.graph_layers import Layers

        return Layers(self.host, partial(self._arrived, "layers"))

    @cached_property
    def outlined(self) -> Outlined:
        """The outline, made when it is first wanted."""
        from mog.app.tui.panes.graph_outline import Outlined

        return Outlined(self.host, partial(self._arrived, "outline"))

    # -- asking --------------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        """Ask for the node in focus again, cursor and history untouched."""
        if self.hood:
            self.focus(self.hood.node.id, visit=False, to=None)
        if self.view == "outline":
            self.outlined.ask()

    def begin_at(self, answer: m.MapAnswer) -> None:
        """Nothing is in focus yet: the busiest symbol of the map comes into it."""
        if self.hood is None and answer.rows and not self.host.busy("graph"):
            self.focus(_busiest(answer.rows[0]))

    def focus(self, target: str, *, visit: bool = True, to: str | None = "") -> None:
        """Bring a node into focus.

        Args:
            target: id or locator.
            visit: remember it in the history.
            to: row to put the cursor on, ``None`` to leave it where it is.
        """
        self.wanted = target
        limit = LOADED_OPEN if self.open else LOADED
        call = partial(self._asked, target, self._tiers(), limit, self.along)
        self.host.start("graph", call, partial(self._got, target, visit, to), partial(self._lost, target))

    def _tiers(self) -> tuple[str, ...]:
        return tuple(tier.name for tier in LEVELS[self.level][1])

    def _bound(self) -> tuple[str, ...]:
        """Tiers of links between nodes of this repository: names that are bound to nothing have no place in the layers."""
        return tuple(tier for tier in self._tiers() if tier != m.Tier.unknown.name)

    def _asked(
        self, target: str, tiers: tuple[str, ...], limit: int, along: bool
    ) -> tuple[m.Neighborhood, tuple[Believed, ...], str]:
        """The node with its sides, and what is believed about it or why that cannot be told."""
        hood = self.host.desk.neighbors(target, tiers=tiers, limit=limit, history=along)
        try:
            return hood, self.host.desk.believed(hood.node.id), ""
        except MogError as error:
            return hood, (), str(error)

    def _got(
        self, target: str, visit: bool, to: str | None, found: tuple[m.Neighborhood, tuple[Believed, ...], str]
    ) -> None:
        if target != self.wanted:
            return
        hood, self.believed, self.why_none = found
        same = self.hood is not None and self.hood.node.id == hood.node.id
        self.hood, self.lost, self.wanted = hood, False, hood.node.id
        if visit:
            self.history.visit(hood.node.id)
        if self.view == "layers" and not (same and self.layers.guest):
            self.layers.ask(hood.node.id, self._bound(), again=same)
        elif self.view == "focus":
            self.host.draw("graph", cursor=None if to is None else to or "node", flash=same)

    def _lost(self, target: str, error: BaseException) -> bool:
        """The node in focus is gone: what was known of it stays, marked; anything else is said on the foot line."""
        if not isinstance(error, NotFound):
            return False
        if self.hood and target == self.hood.node.id:
            self.lost = True
            self.host.draw("graph")
        else:
            self.wanted = self.hood.node.id if self.hood else ""
            self.host.say(str(error))
            answer = self.host.content("map").answer
            if self.hood is None and answer and answer.rows and target != _busiest(answer.rows[0]):
                self.focus(_busiest(answer.rows[0]))  # the map was here first and left the graph to this question
        return True

    # -- drawing -------------------------------------------------------------------------------------------------------

    def room(self, width: int, lines: int) -> tuple[int, int]:
        return width, lines

    def sheet(self, width: int, lines: int) -> Sheet:
        if self.view == "outline":
            return self.outlined.sheet(width)
        if self.view == "layers" and (self.hood or self.layers.guest):
            return self.layers.sheet(width, lines, f"{LEVELS[self.level][0]} (t)")
        if self.hood is None:
            return Sheet(teach(*self._empty_words(), width=min(64, width - 4)))
        room = graph_rows.Room(width, max(8, lines or 60), self.level, self.open, bool(lines), self.along)
        sheet = graph_rows.graph_sheet(self.hood, room, self.believed, self.why_none)
        if self.led_by:
            sheet = replace(sheet, title_note=f"follows {self.led_by}, a movement key ends it")
        return replace(sheet, title_right="gone: it is no longer in the index") if self.lost else sheet

    def _empty_words(self) -> tuple[str, ...]:
        status = self.host.content("health").status
        if self.host.busy("index"):
            return ("The index is being built.", "The graph fills in as soon as something was read; the top line counts.")
        if status is not None and not status.indexed:
            return ("There is no index yet.", "8 and then r builds one.")
        if self.host.busy("map") or self.host.busy("graph"):
            return ("Reading the map of the repository.", "Its busiest symbol comes into focus.")
        return ("Nothing is in focus.", "enter on a row of the map, / searches as you type, : jumps to path::name.")

    # -- rows ----------------------------------------------------------------------------------------------------------

    def opened(self, thing: Thing | None, key: str) -> None:
        if isinstance(thing, str):
            self._turn(thing)
        elif self.view == "outline" and thing is not None and not isinstance(thing, m.Node):
            self.outlined.turn(thing)
        elif isinstance(thing, m.CoChanged):
            self.host.focus_on(locator("file", thing.path))
        elif key == "node":
            self.host.say("enter: this node is in focus already")
        else:
            if self.view == "outline" and isinstance(thing, m.Node):
                self.view = "focus"
            super().opened(thing, key)

    def moved(self, thing: Thing | None, key: str) -> None:
        if self.view == "layers":
            self.layers.moved(key)
        elif self.view == "outline":
            self.outlined.moved(key)

    def beyond(self, step: int) -> bool:
        return self.view == "layers" and self.layers.turn(0, 1 if step > 0 else -1)

    def _turn(self, section: str) -> None:
        self.open = self.open ^ {section}
        self.host.draw("graph")
        if self.open:
            self.ask()

    def back(self) -> bool:
        if self.heading or self.view != "focus":
            self._look("focus")
            return True
        if self.open:
            self.open = frozenset()
            self.host.draw("graph")
            return True
        self.step(-1, ",: this is the first node you looked at")
        return True

    def step(self, by: int, why_not: str) -> None:
        """A node back or on in the history."""
        target = self.history.step(by)
        if target is None:
            self.host.say(why_not)
        else:
            self.open = frozenset()
            self.focus(target, visit=False)

    def file_at(self, thing: Thing | None) -> tuple[str, int]:
        if isinstance(thing, m.CoChanged):
            return thing.path, 0
        if not isinstance(thing, m.PinState):
            return super().file_at(thing)
        place = place_in(thing.now_at or thing.pin.anchor.locator)
        return place.path, thing.lines[0] if thing.lines else 0

    # -- keys ----------------------------------------------------------------------------------------------------------

    def act_redo(self) -> None:
        """Ask the index again."""
        self.ask()

    def act_left(self) -> None:
        """To what points at it; in the outline fold."""
        if self.view == "focus":
            self.host.aside(-1, "in", "h: nothing points at it")
        elif self.view == "layers":
            self.layers.aside(-1)
        else:
            self.outlined.fold()

    def act_right(self) -> None:
        """To what it points at; in the outline unfold."""
        if self.view == "focus":
            self.host.aside(1, "out", "l: it points at nothing")
        elif self.view == "layers":
            self.layers.aside(1)
        else:
            self.outlined.unfold()

    def act_page_left(self) -> None:
        """The page of layers on the left."""
        self._page(-1, "H: nothing lies to the left")

    def act_page_right(self) -> None:
        """The page of layers on the right."""
        self._page(1, "L: nothing lies to the right")

    def _page(self, step: int, why_not: str) -> None:
        if self.view != "layers":
            self.host.say(f"{why_not}; pages belong to the layers, z leads there")
        elif not self.layers.turn(step, 0):
            self.host.say(why_not)

    def act_zoom(self) -> None:
        """The node with its sides, layers around it, the outline of the repository."""
        if self.hood is None:
            self.host.say("z: no node is in focus yet whose detail could change")
            return
        self._look(VIEWS[(VIEWS.index(self.heading or self.view) + 1) % len(VIEWS)])

    def _look(self, view: str) -> None:
        """Change the detail; what is drawn stays until what is asked for is here, so nothing is painted twice."""
        self.heading = view
        if view == "outline":
            self.outlined.reveal(self.hood.node if self.hood else None)
        elif view == "layers" and self.hood and self.layers.ask(self.hood.node.id, self._bound()):
            pass
        else:
            self._arrived(view)
            self.host.draw("graph", cursor=self.layers.selected if view == "layers" else "node")

    def _arrived(self, view: str) -> None:
        """What a view shows is here: it is drawn from now on, if it is still wanted."""
        if self.heading == view:
            self.view, self.heading = view, ""

    def see(self, make: Callable[[], Drawing], words: str) -> None:
        """Draw a walk or a blast radius in the layers and come into view; ``make`` runs on a thread. esc leads back."""
        self.heading = "layers"
        self.host.show("graph")
        self.layers.see(make, words)

    def see_walk(self, walk: Walk) -> None:
        """A walk of beliefs, drawn on what stands around its steps."""
        from mog.app.tui import drawings

        words = plural(walk.hops, "hop") if walk.resolved else "no answer"
        self.see(partial(drawings.walk_drawing, self.host.desk.beliefs, walk), f"walk: {words}")

    def see_path(self, path: Sequence[str]) -> None:
        """The nodes that an agent's question touched, in order, drawn on what lies around them."""
        from mog.app.tui import drawings

        call = partial(drawings.path_drawing, self.host.desk, path, self._bound())
        self.see(call, f"path of {plural(len(path), 'node')}")

    def see_radius(self, target: str) -> None:
        """What would fall with a record, by hops; a preview that writes nothing."""
        from mog.app.tui import drawings

        self.see(partial(drawings.radius_drawing, self.host.desk.beliefs, target), "blast radius, a preview")

    def act_filter(self) -> None:
        """How many hops the layers reach."""
        if self.view != "layers" or not self.hood:
            self.host.say("v: hops belong to the layers, z leads there")
            return
        self.layers.deeper()
        self.layers.ask(self.hood.node.id, self._bound())

    def act_co_change(self) -> None:
        """Files that changed in the same commits."""
        if self.view != "focus":
            self.host.say("T: co-change stands beside the node in focus, z leads there")
            return
        self.along = not self.along
        self.host.draw("graph")
        self.ask()

    def act_tiers(self) -> None:
        """Certain links, + hierarchy, + maybe."""
        self.level = (self.level + 1) % len(LEVELS)
        if self.view != "layers":
            self.host.draw("graph")
        if self.hood is None:
            self.host.say(f"links shown: {LEVELS[self.level][0]}")
        self.ask()


def _busiest(row: m.MapRow) -> str:
    """What of a file comes into focus: its busiest symbol, or the file."""
    return row.top[0].id if row.top else locator("file", row.path)
