"""The outline: folders, files, classes and methods as a tree that is asked for branch by branch.

Who calls: the graph pane and the plain-text twin. What may not come in: the toolkit, questions to the workspace. Outside text
is cleaned here.

``Tree`` holds what was answered and what is unfolded; ``source`` lists the branches in view and makes a row only when it is drawn, so a
repository of a million symbols costs what is unfolded of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui.rows import MARKS, Thing, chip_cell, describe, mark_cells
from mog.engine import model as m
from mog.widgets.view import Cell, Line, Row

if TYPE_CHECKING:
    from mog.engine.code.outline import Branch, Outline

PAGE = 200
"""Children asked for at once; the rest is one row that asks for more."""


@dataclass(frozen=True, slots=True)
class More:
    """Children that were not asked for yet: of which branch, from which one on, how many."""

    of: str
    after: int
    count: int


@dataclass(slots=True)
class _Loaded:
    """What is known of one branch's children."""

    branches: list[Branch] = field(default_factory=list)
    total: int = 0
    next: int = 0


@dataclass(frozen=True, slots=True)
class _Entry:
    key: str
    depth: int
    thing: Branch | More
    unfolded: bool = False


class Tree:
    """Attributes: unfolded: ids of branches that are open; "" is the root and always open. notes: locator → records about it."""

    def __init__(self) -> None:
        self.unfolded: set[str] = {""}
        self.notes: Mapping[str, int] = {}
        self._loaded: dict[str, _Loaded] = {}

    # -- answers -------------------------------------------------------------------------------------------------------

    def put(self, answer: Outline) -> None:
        """Take an answer in; a first page replaces what was known, a later one is appended where it fits."""
        known = self._loaded.setdefault(answer.of, _Loaded())
        if answer.after == 0:
            known.branches = list(answer.branches)
        elif answer.after == len(known.branches):
            known.branches += answer.branches
        else:
            return
        known.total, known.next = answer.total, answer.next

    def drop(self, of: str) -> None:
        """A branch that is no longer there is folded."""
        self._loaded.pop(of, None)
        self.unfolded.discard(of)

    def asks(self) -> list[tuple[str, int]]:
        """(branch, children to load again) of all that is unfolded, parents first: what to ask after an event."""
        return [(of, max(PAGE, len(self._loaded[of].branches)) if of in self._loaded else PAGE) for of in self._open()]

    def _open(self) -> Iterator[str]:
        yield ""
        for entry in self._entries("", 0):
            if entry.unfolded and not isinstance(entry.thing, More):
                yield entry.thing.id

    # -- folding -------------------------------------------------------------------------------------------------------

    def unfold(self, branch: Branch) -> str | None:
        """Open a branch; what has to be asked for, ``None`` when its children are known or there are none."""
        if not branch.inside:
            return None
        self.unfolded.add(branch.id)
        return None if branch.id in self._loaded else branch.id

    def fold(self, branch: Branch) -> bool:
        """Close a branch; False when it was not open."""
        was = branch.id in self.unfolded
        self.unfolded.discard(branch.id)
        return was

    def is_open(self, branch: Branch) -> bool:
        """Whether its children are shown."""
        return branch.id in self.unfolded

    def way_to(self, node: m.Node) -> tuple[str, int] | None:
        """Unfold towards a node; (branch, children already there) that has to be asked for next, ``None`` when there is nothing to ask.

        A node that the index does not list where it should be ends the way as well.
        """
        at = ""
        while True:
            known = self._loaded.get(at)
            if known is None:
                return at, 0
            found = next((one for one in known.branches if _leads_to(one, node)), None)
            if found is None:
                return (at, known.next) if known.next else None
            if found.node is not None and found.node.id == node.id:
                return None
            self.unfolded.add(found.id)
            at = found.id

    # -- rows ----------------------------------------------------------------------------------------------------------

    def source(self) -> OutlineSource:
        """What is unfolded now, as lines that are made when they are drawn."""
        return OutlineSource(tuple(self._entries("", 0)), self.notes)

    def _entries(self, of: str, depth: int) -> Iterator[_Entry]:
        stack: list[tuple[str, int, Iterator[Branch]]] = [(of, depth, iter(self._children(of)))]
        while stack:
            parent, level, rest = stack[-1]
            branch = next(rest, None)
            if branch is None:
                stack.pop()
                yield from self._more(parent, level)
                continue
            unfolded = branch.id in self.unfolded and bool(branch.inside)
            yield _Entry(f"out:{branch.id}", level, branch, unfolded)
            if unfolded:
                stack.append((branch.id, level + 1, iter(self._children(branch.id))))

    def _children(self, of: str) -> list[Branch]:
        known = self._loaded.get(of)
        return known.branches if known else []

    def _more(self, of: str, depth: int) -> Iterator[_Entry]:
        known = self._loaded.get(of)
        if known and len(known.branches) < known.total:
            more = More(of, len(known.branches), known.total - len(known.branches))
            yield _Entry(f"more:{of}", depth, more)


def _leads_to(branch: Branch, node: m.Node) -> bool:
    if branch.node is None:
        return node.path.startswith(f"{branch.path}/")
    if branch.node.type == "file":
        return branch.path == node.path
    return branch.node.id == node.id or node.qual.startswith(f"{branch.node.qual}.")


class OutlineSource:
    """Lines of a tree; satisfies ``widgets.view.Source``. ``things`` by row key: branches, and ``More`` rows."""

    def __init__(self, entries: tuple[_Entry, ...], notes: Mapping[str, int]) -> None:
        self._entries = entries
        self._notes = notes
        self._at = {entry.key: i for i, entry in enumerate(entries)}

    def __len__(self) -> int:
        return len(self._entries)

    def line(self, index: int) -> Line:
        """The row of one branch."""
        entry = self._entries[index]
        if isinstance(entry.thing, More):
            return (_more_row(entry, entry.thing),)
        return (_branch_row(entry, entry.thing, self._notes.get(_locator(entry.thing), 0)),)

    def find(self, key: str) -> tuple[int, int] | None:
        """Where a key stands."""
        at = self._at.get(key)
        return None if at is None else (at, 0)

    @property
    def things(self) -> Mapping[str, Thing]:
        """What each row stands for: the node of a file or symbol, else the ``Branch`` of a folder, or ``More``."""
        return _Things(self._entries, self._at)


class _Things(Mapping[str, Thing]):
    """Things of the rows, looked up when asked for: a tree may have many."""

    def __init__(self, entries: tuple[_Entry, ...], at: Mapping[str, int]) -> None:
        self._entries, self._at = entries, at

    def __getitem__(self, key: str) -> Thing:
        thing = self._entries[self._at[key]].thing
        return thing if isinstance(thing, More) or thing.node is None else thing.node

    def __iter__(self) -> Iterator[str]:
        return iter(self._at)

    def __len__(self) -> int:
        return len(self._at)


def branch_at(source: OutlineSource, key: str) -> Branch | More | None:
    """The branch of a row, also where the row stands for a node."""
    found = source.find(key)
    return source._entries[found[0]].thing if found else None


def parent_key(source: OutlineSource, key: str) -> str:
    """Key of the row one level up, "" at the top."""
    found = source.find(key)
    if found is None:
        return ""
    depth = source._entries[found[0]].depth
    above = (source._entries[i] for i in range(found[0] - 1, -1, -1))
    return next((entry.key for entry in above if entry.depth < depth), "")


def _locator(branch: Branch) -> str:
    return branch.node.locator if branch.node else ""


def _branch_row(entry: _Entry, branch: Branch, notes: int) -> Row:
    fold = " " if not branch.inside else "-" if entry.unfolded else "+"
    lead = Cell(f"{'  ' * entry.depth}{fold} ", "muted")
    state = m.Freshness.gated if branch.node and branch.node.gated else branch.freshness
    name = clean(branch.name) + ("" if branch.node else "/")
    chip = (chip_cell(branch.node), Cell(" ")) if branch.node else (Cell("    "),)
    cells = (lead, *chip, *mark_cells(state), Cell(name, "text", branch.node is None, "tail"))
    right = [Cell(f"  {notes:,} about it", "reason", False, "drop")] if notes else []
    right += [Cell(f"  {_counted(branch)}", "muted", False, "drop")] if _counted(branch) else []
    return Row(
        entry.key, cells, tuple(right), words=_words(branch, notes, state), copy=clean(_locator(branch) or branch.path)
    )


def _counted(branch: Branch) -> str:
    if branch.node is None:
        return plural(branch.inside, "file")
    maybe = f" {branch.maybe:,} maybe" if branch.maybe else ""
    if branch.node.type == "file":
        return (plural(branch.callers, "importer") + maybe) if branch.callers or maybe else ""
    return (plural(branch.callers, "caller") + maybe) if branch.callers or maybe else ""


def _words(branch: Branch, notes: int, state: m.Freshness) -> tuple[str, ...]:
    if branch.node is None:
        return (f"folder {clean(branch.path)}/, {plural(branch.inside, 'file')} in it", "l unfolds it, h folds it")
    user = "importer" if branch.node.type == "file" else "caller"
    parts = [f"{plural(branch.callers, user)}, {branch.maybe:,} maybe", f"{branch.inside:,} inside"]
    parts += [f"{notes:,} records are about it"] if notes else []
    parts += [f"{MARKS[state][0]} {state.value}"] if state not in (m.Freshness.fresh, m.Freshness.unknown) else []
    return (describe(branch.node), "; ".join(parts))


def _more_row(entry: _Entry, more: More) -> Row:
    text = f"{'  ' * entry.depth}  +{more.count:,} hidden"
    return Row(entry.key, (Cell(text, "muted"),), words=(f"enter loads the next {min(PAGE, more.count):,} of them", ""))
