"""Pane I: impact before a patch. Mark files, see what they reach, which tests, what is believed there and what would fall.

Who calls: the registry of ``panes``, ``:impact`` with or without paths. What may not come in: the toolkit, rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from mog.app.present import restore
from mog.app.tui import impact_rows
from mog.app.tui.impact_rows import Marked, Reach
from mog.app.tui.panes.base import Content, Host, Prompt, waiting
from mog.app.tui.rows import Sheet, Thing
from mog.engine import model as m
from mog.engine.errors import AmbiguousTarget, GitRefused, NotFound, UsageError
from mog.engine.ids import locator

if TYPE_CHECKING:
    from mog.app.tui.port import Desk
    from mog.engine.code.changed import Changed

ROWS = 400


class Impact(Content):
    """Attributes: files: what may change, ``None`` until git was asked. reach: what the marked ones reach, ``None`` while unknown."""

    name, digit, title = "impact", "I", "Impact"
    foot = (("enter", "mark"), ("a", "ask"), ("v", "lines"), ("x", "take off"), ("o", "editor"), ("m", "full"))
    wakes = frozenset({"index", "beliefs"})
    calm = True
    why_not: ClassVar[dict[str, str]] = {"undo": "nothing is written here; marks are taken off with enter"}

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.files: list[Marked] | None = None
        self.reach: Reach | None = None
        self.problem = ""
        self.unfolded: frozenset[str] = frozenset()
        self.lines = False

    # -- asking --------------------------------------------------------------------------------------------------------

    def ask(self) -> None:
        self.host.start("changed", self.host.desk.changed, self._changed, self._no_git)

    def _changed(self, found: Sequence[Changed]) -> None:
        known = {one.target: one for one in self.files or ()}
        fresh = [Marked(one.path, one.state, known[one.path].marked if one.path in known else True) for one in found]
        paths = {one.target for one in fresh}
        typed = [one for one in self.files or () if not one.state and one.target not in paths]
        self.files, self.problem = [*fresh, *typed], ""
        self._reach()

    def _no_git(self, error: BaseException) -> bool:
        """No git, or one that refuses: what is typed can be asked about all the same."""
        if not isinstance(error, UsageError | GitRefused):
            return False
        self.files, self.problem = self.files or [], str(error)
        self._reach()
        return True

    def _reach(self) -> None:
        marked = tuple(
            locator("file", one.target) if one.state else one.target for one in self.files or () if one.marked
        )
        self.host.draw("impact")
        if marked:
            call = partial(look_at_lines, self.host.desk) if self.lines else partial(look, self.host.desk, marked)
            self.host.start("impact", call, self.got)
        else:
            self.reach = Reach(None)
            self.host.draw("impact")

    def got(self, reach: Reach) -> None:
        self.reach = reach
        self.host.draw("impact")

    # -- drawing -------------------------------------------------------------------------------------------------------

    def sheet(self, width: int, lines: int) -> Sheet:
        if self.files is None:
            return waiting("Asking git which files differ from the commit that is checked out.", width)
        if not self.files:
            return impact_rows.empty(self.problem, width)
        return impact_rows.impact_sheet(self.files, self.reach, self.unfolded, width)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def opened(self, thing: Thing | None, key: str) -> None:
        if isinstance(thing, Marked):
            self._turn(thing)
        elif isinstance(thing, str):
            self.unfolded = self.unfolded ^ {thing}
            self.host.draw("impact")
        elif key == "another":
            self._ask_for_another()
        else:
            super().opened(thing, key)

    def _turn(self, one: Marked) -> None:
        self.files = [
            Marked(f.target, f.state, not f.marked) if f.target == one.target else f for f in self.files or ()
        ]
        self._reach()

    def _ask_for_another(self) -> None:
        self.host.prompt(
            Prompt("what may change:", "a path, path::name or path:line; several with spaces between", self._add)
        )

    def narrow(self, text: str) -> bool:
        self._add(restore(text))
        return True

    def _add(self, text: str) -> None:
        known = {one.target for one in self.files or ()}
        fresh = [Marked(word) for word in dict.fromkeys(text.split()) if word not in known]
        if not fresh:
            self.host.say("impact: nothing new was named")
            return
        self.files = [*fresh, *(self.files or [])]
        self._reach()

    def target_at(self, thing: Thing | None) -> str:
        return f"file:{thing.target}" if isinstance(thing, Marked) else super().target_at(thing)

    def file_at(self, thing: Thing | None) -> tuple[str, int]:
        return (thing.target.partition("::")[0], 0) if isinstance(thing, Marked) else super().file_at(thing)

    # -- keys ----------------------------------------------------------------------------------------------------------

    def act_go_ahead(self) -> None:
        """Ask again what the marked files reach."""
        if any(one.marked for one in self.files or ()):
            self._reach()
        else:
            self.host.say("a: nothing is marked; enter marks the file at >, “another” takes a name")

    def act_redo(self) -> None:
        """Ask git again."""
        self.ask()

    def act_filter(self) -> None:
        """Changed lines in place of whole files, and back."""
        self.lines, self.reach = not self.lines, None
        self.host.say(
            "v: the symbols whose lines git says are changed" if self.lines else "v: the marked files as a whole"
        )
        self.ask()

    def act_take_out(self) -> None:
        """Take the file under the cursor off the list."""
        thing = self.host.thing
        if isinstance(thing, Marked):
            self.files = [one for one in self.files or () if one.target != thing.target]
            self._reach()
        else:
            self.host.say("x: no file on this row")


def look(desk: Desk, marked: Sequence[str]) -> Reach:
    """What changes of files or names would reach; one that the index does not know is said, the others answer."""
    nodes, missing = [], []
    for target in marked:
        try:
            nodes.append(desk.find(target))
        except (NotFound, AmbiguousTarget):
            missing.append(target.removeprefix("file:"))
    if not nodes:
        return Reach(_nothing(missing), tuple(missing))
    return _told(desk, desk.impact(*(node.id for node in nodes), limit=ROWS), nodes, missing, lines=False)


def look_at_lines(desk: Desk) -> Reach:
    """What the lines that git says are changed would reach."""
    try:
        answer = desk.impact(changed="lines", limit=ROWS)
    except NotFound:
        return Reach(None, lines=True)
    return _told(desk, answer, answer.seeds, (), lines=True)


def _told(desk: Desk, answer: m.ImpactAnswer, nodes: Sequence[m.Node], missing: Sequence[str], *, lines: bool) -> Reach:
    breaks = desk.breaks
    beliefs = breaks.about(*nodes)
    near = tuple(id for id in breaks.about(*(one.node for one in answer.reached)) if id not in beliefs)
    return Reach(
        answer, tuple(missing), beliefs, near, breaks.labels((*beliefs, *near)), breaks.preview(*beliefs), lines
    )


def _nothing(missing: Sequence[str]) -> m.ImpactAnswer:
    """An answer about files that the index does not know."""
    seed = m.Node(0, "", "file", "source", missing[0], "", missing[0])
    return m.ImpactAnswer(seed, (), 0, (), (), 0, 0, m.Boundary(), m.IndexStamp(0, "", False))
