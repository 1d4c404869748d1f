"""The top line, the tab line and the foot line as rows, from wide to narrow.

Who calls: the home screen. What may not come in: the toolkit, what a pane's own part says.
Every number has its place: zero is printed, not known is ``?``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mog.app.present import clean
from mog.app.tui.keymap import PLAIN, Keymap
from mog.app.tui.panes import REGISTRY, TABS
from mog.app.tui.side_rows import short_ref, watch_cells, watch_state
from mog.engine import model as m
from mog.widgets.view import Cell, Row

Glances = Callable[[int], Sequence[list[Cell]]]
"""The parts that panes have on the top line, for one of four widths."""


def top_rows(
    repo: str, status: m.Status | None, watcher: str, progress: m.Progress | None, glances: Glances
) -> tuple[Row, ...]:
    """The top line in four widths, widest first."""
    return tuple(_top(repo, status, watcher, progress, glances, step) for step in range(4))


def _top(
    repo: str, status: m.Status | None, watcher: str, progress: m.Progress | None, glances: Glances, step: int
) -> Row:
    gap = Cell("   " if step < 2 else "  ")
    parts = [_where(repo, status, step), _index(status, watcher, progress, step), *glances(step)]
    cells: list[Cell] = []
    for part in parts:
        cells += [*part, gap] if part else []
    return Row("", tuple(cells[:-1]))


def _where(repo: str, status: m.Status | None, step: int) -> list[Cell]:
    cells = [Cell(clean(repo), "text", True, "tail")]
    index = status.index if status else None
    if index and index.ref and step < 3:
        ref = short_ref(index.ref)
        cells.append(Cell(f" {ref if step < 2 else ref.split(' ')[0]}", "muted", False, "tail"))
    if index and index.dirty and step < 2:
        cells.append(Cell(" with edits", "muted"))
    return cells


def _index(status: m.Status | None, watcher: str, progress: m.Progress | None, step: int) -> list[Cell]:
    label = [Cell("index ")]
    if progress is not None:
        of = f" of {progress.total:,}" if progress.total else ""
        stage = f"{clean(progress.stage)} " if step < 2 else ""
        return [*label, Cell("… ", "attn", True), Cell(f"{stage}{progress.done:,}{of}")]
    if status is None:
        return [*label, Cell("?", "unverified", True)]
    if not status.indexed:
        return [*label, Cell("? ", "unverified", True), Cell("none yet")]
    mark, word = watch_cells(watcher)
    seen, why = watch_state(word.text)
    reason = f": {why}" if why and len(why) < 30 and not step else ""
    return [*label, mark, Cell(f"{seen}{reason}")]


def tab_rows(current: str, keymap: Keymap = PLAIN) -> tuple[Row, ...]:
    """The tabs of the narrow layout, all spelled out, or only the one in use: ``1»Graph 2 3 4 8``."""
    return _tabs(current, keymap, True), _tabs(current, keymap, False)


def _tabs(current: str, keymap: Keymap, spelled: bool) -> Row:
    cells: list[Cell] = []
    for name in TABS:
        entry, here = REGISTRY[name], name == current
        key, mark = keymap.spelled(entry.digit), "»" if here else " "
        word = f"{mark}{entry.tab}" if here or spelled else ""
        cells += [Cell(f"{key}{word}", "key" if here else "text", here), Cell(" ")]
    return Row("", tuple(cells[:-1]))


def foot_rows(
    pane: str, own: Sequence[tuple[str, str]], keymap: Keymap = PLAIN, mode: str = ""
) -> tuple[Row, ...]:
    """The foot line of a pane, from all its keys to the few that always fit; keys as the person has them.

    A mode has the line to itself, and its keys do not move.
    """
    if mode:
        return tuple(Row("", _hints((*own[:-1][:n], own[-1]), str)) for n in range(len(own) - 1, -1, -1))
    typed = pane in ("find", "help")
    lead = () if typed else (("j k", "move"),)
    tail = () if typed else (("/", "search"), (":", "jump"), ("tab", "pane"), ("?", "keys"))
    right = () if typed else (("q", "quit"),)
    widths = [
        (*lead, *own[:n], *tail[:k], *((("?", "keys"),) if k < len(tail) and not typed else ())) for n, k in _CUTS
    ]
    spelled = (lambda keys: keys) if typed else keymap.spelled
    return tuple(Row("", _hints(hints, spelled), _hints(right, spelled)) for hints in widths)


_CUTS = ((6, 4), (5, 4), (4, 3), (3, 2), (2, 1), (1, 1), (0, 1))


def _hints(hints: Sequence[tuple[str, str]], spelled: Callable[[str], str]) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    for key, word in hints:
        cells += [Cell(spelled(key), "key", True), Cell(f" {word}", "muted"), Cell("  ")]
    return tuple(cells[:-1])
