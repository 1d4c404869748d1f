"""What the command palette offers: every key's action with its key and why it cannot act here, panes, themes, nodes by name.

Who calls: ``screens/palette.py`` lists it, the home screen runs what is chosen. What may not come in: actions that no key has, the
toolkit. Commands are found by their words, nodes by the engine's own search.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mog.app.tui.keys import WHY_NOT, Key
from mog.app.tui.panes import ELSEWHERE
from mog.app.tui.rows import describe, name_cells, place_of
from mog.engine import model as m
from mog.widgets.shelf import Shelf
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.app.tui.screens.home import Home

NODES = 12
GROUPS = {"act": "act", "move": "move", "go": "go", "panes": "panes", "mog": "mog", "theme": "themes", "more": "more"}


@dataclass(frozen=True, slots=True)
class Command:
    """One line of the palette.

    Attributes:
        says: what it does. shown: how its key is written, "" without one. action: what the home screen runs.
        cannot: why it cannot act here, "" when it may. group: heading.
    """

    says: str
    action: str
    shown: str = ""
    cannot: str = ""
    group: str = "more"


def commands(home: Home) -> tuple[Command, ...]:
    """Everything that can be run by words, in the order of the table of keys."""
    keys = (_of_key(key, cannot(home, key)) for key in home.keymap.table)
    themes = (Command(f"theme {name}", f"theme('{name}')", "", "", "theme") for name in home.theme_names)
    more = (Command("the tour of five lines", "tour"), Command("forget where I was, at the next start", "forget"))
    return (*keys, *themes, *more)


def _of_key(key: Key, why: str) -> Command:
    says = f"pane {key.says}" if key.action.startswith("pane(") else key.says
    return Command(says, key.action, key.shown, why, key.group)


def cannot(home: Home, key: Key) -> str:
    """Why a key cannot act on the pane and row in use, "" when it may."""
    if not key.id.startswith("act."):
        return _cannot_alone(home, key.action)
    content: Any = home.content(home.name_here)
    if hasattr(content, f"act_{key.name}") or key.name == "pin" or (key.name == "redo" and content.name in home.broken):
        return ""
    if key.name in ELSEWHERE:  # another pane looks at the row first, and says why it cannot
        return ""
    return content.why_not.get(key.name) or WHY_NOT.get(key.name, "")


def _cannot_alone(home: Home, action: str) -> str:
    history = home.content("graph").history
    if action in ("next_hit", "previous_hit") and not home.content("find").hits:
        return "no search yet"
    if action == "history_back" and history.at <= 0:
        return "this is the first node you looked at"
    if action == "history_on" and history.at >= len(history.ids) - 1:
        return "this is the last node you looked at"
    if action == "editor" and not home.content(home.name_here).file_at(home.thing)[0]:
        return "no file on this row"
    if action == "full" and home.query_one(Shelf).mode == "tabs":
        return "one pane at a time already"
    return ""


def found(all_of_them: Iterable[Command], words: str) -> list[Command]:
    """Commands that hold every word; those that begin with them first, then those with a word that begins so."""
    wanted = words.lower().split()
    hits = [(_rank(one, words.lower().strip(), wanted), at, one) for at, one in enumerate(all_of_them)]
    return [one for rank, _, one in sorted(hits, key=lambda hit: hit[:2]) if rank < 9]


def _rank(one: Command, typed: str, wanted: Sequence[str]) -> int:
    says, shown = one.says.lower(), one.shown.lower().split()
    if not wanted:
        return 0
    if not all(word in f"{says} {one.group} {' '.join(shown)}" for word in wanted):
        return 9
    if says.startswith(typed) or typed in shown:
        return 1
    starts = says.replace("/", " ").split()
    return 2 if all(any(part.startswith(word) for part in starts) for word in wanted) else 3


def rows(shown: Sequence[Command], nodes: Sequence[m.Hit], words: str) -> Lines:
    """The rows of the palette: commands under their headings (by rank when something is typed), nodes below."""
    lines: list[Line | Row] = []
    if words.strip():
        lines += [_row(one) for one in shown]
    else:
        for group in dict.fromkeys(one.group for one in shown):
            lines += [*([BLANK] if lines else []), Row("", (Cell(GROUPS[group], "text", True),))]
            lines += [_row(one) for one in shown if one.group == group]
    if nodes:
        lines += [*([BLANK] if lines else []), Row("", (Cell("nodes", "text", True),)), *_node_rows(nodes)]
    return Lines(
        lines
        or [
            Row("", (Cell("Nothing is called so. Names of nodes are looked for as you type.", "muted", False, "tail"),))
        ]
    )


def _row(one: Command) -> Row:
    why = (Cell(f"  {one.cannot}", "muted", False, "tail"),) if one.cannot else ()
    cells = (Cell(f"{one.shown:<14}", "key", True), Cell(one.says, "muted" if one.cannot else "text"), *why)
    words = (f"{one.says}: {one.cannot}" if one.cannot else one.says, "enter runs it")
    return Row(f"run:{one.action}", cells, words=words)


def _node_rows(nodes: Sequence[m.Hit]) -> Iterator[Row]:
    for hit in nodes:
        right = (Cell(place_of(hit.node), "muted", False, "path"),)
        yield Row(
            f"node:{hit.node.id}",
            name_cells(hit.node, hit.freshness, with_path=False),
            right,
            words=(describe(hit.node),),
        )
