"""Keys of the pane in use, made from the bindings; type to filter, enter runs one.

Who calls: ``?``. What may not come in: a second list of keys.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from types import MappingProxyType

from mog.app.tui.keys import KEYS, Key
from mog.app.tui.screens.chooser import Chooser
from mog.widgets.entry import Finder
from mog.widgets.view import BLANK, Cell, Line, Lines, Row, Title

NOTHING: Mapping[str, str] = MappingProxyType({})
_MARKS = (
    ("[F] [f] [c] [m]", "file, function, class, method; [k] const [d] field [t] test [s] other; <?> not bound"),
    ("── ══ ··", "certain, hierarchy (by a base class), maybe; heads point the way of the edge"),
    ("= ± → ¬ ░ ?", "fresh, drifted, moved, missing, gated, not known"),
    ("» > ■", "pane in use, cursor, node in focus"),
)


def key_lines(words: str = "", table: Sequence[Key] = KEYS, cannot: Mapping[str, str] = NOTHING) -> Lines:
    """The rows of the help that hold every word of ``words``: keys by group, with why one cannot act here; marks.

    Args:
        table: keys as the person has them. cannot: action → why it cannot act.
    """
    wanted = words.lower().split()
    lines: list[Line | Row] = []
    for group in dict.fromkeys(key.group for key in table):
        rows = [
            _row(key, cannot.get(key.action, ""))
            for key in table
            if key.group == group and _fits(f"{key.shown} {key.says} {group}", wanted)
        ]
        if rows:
            lines += [*([BLANK] if lines else []), Row("", (Cell(group, "text", True),)), *rows]
    marks = [
        Row("", (Cell(f"{m:<16}", "code"), Cell(t, "muted", False, "tail")))
        for m, t in _MARKS
        if _fits(f"{m} {t}", wanted)
    ]
    if marks:
        lines += [BLANK, Row("", (Cell("marks", "text", True),)), *marks]
    return Lines(lines or [Row("", (Cell("No key does that.", "muted"),))])


def _fits(text: str, wanted: list[str]) -> bool:
    return all(word in text.lower() for word in wanted)


def _row(key: Key, cannot: str) -> Row:
    why = (Cell(f"  {cannot}", "muted", False, "tail"),) if cannot else ()
    cells = (Cell(f"{key.shown:<16}", "key", True), Cell(key.says, "muted" if cannot else "text", False, "tail"), *why)
    second = f"not here: {cannot}" if cannot else "enter runs it"
    return Row(f"key:{key.action}", cells, words=(f"{key.shown}: {key.says}", second))


class Help(Chooser):
    """Shows the keys; its result is ``key:<action>`` to run, or ``None``.

    Args:
        pane: heading of the pane in use. table: keys as the person has them. cannot: action → why it cannot act on it.
    """

    def __init__(self, pane: str, table: Sequence[Key] = KEYS, cannot: Mapping[str, str] = NOTHING) -> None:
        super().__init__(Title("?", f"Keys in {pane}", "type to filter, enter runs it"), "?")
        self._lines = partial(key_lines, table=table, cannot=cannot)

    def typed(self, text: str) -> None:
        self.query_one(Finder).pane.show(self._lines(text), cursor="")
