"""The outline of pane 1: the repository as a tree, asked for branch by branch.

Who calls: ``graph.py``, which owns the keys. What may not come in: the toolkit, how a branch is drawn (``outline_rows.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from mog.app.tui.outline_rows import PAGE, More, OutlineSource, Tree, branch_at, parent_key
from mog.app.tui.panes.base import Host
from mog.app.tui.rows import Sheet, teach
from mog.engine import model as m
from mog.engine.errors import NotFound

if TYPE_CHECKING:
    from mog.engine.code.outline import Branch, Outline

_STEPS = 64


class Outlined:
    """Attributes: tree: what is known and unfolded. wanted: a node to unfold to, until it is reached."""

    def __init__(self, host: Host, arrived: Callable[[], None]) -> None:
        """``arrived`` is called when the first answer is here, before it is drawn."""
        self.host = host
        self._arrived = arrived
        self.tree = Tree()
        self.wanted: m.Node | None = None
        self._source: OutlineSource = self.tree.source()
        self._here = ""

    # -- asking --------------------------------------------------------------------------------------------------------

    def reveal(self, node: m.Node | None) -> None:
        """Unfold to a node and put the cursor on it; without one, show the root."""
        self.wanted = node
        self.host.start("outline", partial(self._first, node), self._got_first, self._gone(""))

    def ask(self) -> None:
        """Ask again for all that is unfolded, cursor and folds untouched."""
        asks = self.tree.asks()
        self.host.start("outline", partial(self._again, asks), self._got_all)

    def _first(self, node: m.Node | None) -> tuple[Mapping[str, int], list[Outline]]:
        """The way to a node, asked for on this thread, in a tree of its own."""
        way = Tree()
        answers: list[Outline] = []
        at: tuple[str, int] | None = ("", 0)
        while at is not None and len(answers) < _STEPS:
            answers.append(self.host.desk.outline(at[0], after=at[1], limit=PAGE))
            way.put(answers[-1])
            at = way.way_to(node) if node is not None else None
        return self.host.desk.believed_counts(), answers

    def _again(self, asks: list[tuple[str, int]]) -> tuple[Mapping[str, int], list[Outline | str]]:
        """All unfolded branches; the name of one that is gone stands in its place."""
        answers: list[Outline | str] = []
        for of, count in asks:
            try:
                answers.append(self.host.desk.outline(of, after=0, limit=count))
            except NotFound:
                answers.append(of)
        return self.host.desk.believed_counts(), answers

    def _got_first(self, found: tuple[Mapping[str, int], list[Outline]]) -> None:
        self.tree.notes, answers = found
        for answer in answers:
            self.tree.put(answer)
        node, self.wanted = self.wanted, None
        if node is not None:
            self.tree.way_to(node)
        self._arrived()
        self._draw(cursor=f"out:{node.id}" if node else "")

    def _got_all(self, found: tuple[Mapping[str, int], list[Outline | str]]) -> None:
        self.tree.notes, answers = found
        for answer in answers:
            if isinstance(answer, str):
                self.tree.drop(answer)
            else:
                self.tree.put(answer)
        self._draw()

    def _load(self, of: str, after: int = 0) -> None:
        call = partial(self.host.desk.outline, of, after=after, limit=PAGE)
        self.host.start("outline", call, self._got, self._gone(of))

    def _got(self, answer: Outline) -> None:
        self.tree.put(answer)
        self._draw()

    def _gone(self, of: str) -> partial[bool]:
        return partial(self._lost, of)

    def _lost(self, of: str, error: BaseException) -> bool:
        """A branch went while it was asked for."""
        if not of:
            self._arrived()
            self._draw()
            return False
        if not isinstance(error, NotFound):
            return False
        self.tree.drop(of)
        self._draw()
        self.host.say(str(error))
        return True

    # -- drawing -------------------------------------------------------------------------------------------------------

    def sheet(self, width: int) -> Sheet:
        """What is unfolded, rows made when they are drawn."""
        self._source = self.tree.source()
        if not len(self._source):
            return Sheet(
                teach("Reading the folders of the repository.", width=min(64, width - 4)), title_note="outline"
            )
        sheet = Sheet(self._source, self._source.things, "outline")
        return replace(sheet, title_right=f"{len(self._source):,} unfolded")

    def _draw(self, cursor: str | None = None) -> None:
        self.host.draw("graph", cursor=cursor)

    # -- keys ----------------------------------------------------------------------------------------------------------

    def moved(self, key: str) -> None:
        """The cursor came to another row."""
        self._here = key

    def unfold(self) -> None:
        """Open the branch at the cursor; its first child when it is open already."""
        branch = branch_at(self._source, self._here)
        if isinstance(branch, More):
            self._load(branch.of, branch.after)
        elif branch is None or not branch.inside:
            self.host.say("l: nothing is inside of it")
        elif not self.tree.is_open(branch):
            self._open(branch)
        else:
            self.host.say("l: it is unfolded already; h folds it")

    def fold(self) -> None:
        """Close the branch at the cursor, else go to the one it is in."""
        branch = branch_at(self._source, self._here)
        if branch is not None and not isinstance(branch, More) and self.tree.fold(branch):
            self._draw()
        elif above := parent_key(self._source, self._here):
            self._draw(cursor=above)
        else:
            self.host.say("h: this is the top of the tree")

    def turn(self, thing: Branch | More) -> None:
        """Enter on a folder, or on the row that stands for more."""
        if isinstance(thing, More):
            self._load(thing.of, thing.after)
        elif not self.tree.fold(thing):
            self._open(thing)
        else:
            self._draw()

    def _open(self, branch: Branch) -> None:
        missing = self.tree.unfold(branch)
        if missing is None:
            self._draw()
        else:
            self._load(missing)
