"""The top line, the tab line and the foot line as rows, from wide to narrow.

Who calls: the home screen. What may not come in: the toolkit.
Every number has its place: zero is printed, not known is ``?``.
"""

from __future__ import annotations

from mog.app.present import clean
from mog.app.tui.keys import FEET
from mog.app.tui.side_rows import short_ref, watch_cells, watch_state
from mog.app.tui.state import State
from mog.engine import model as m
from mog.widgets.view import Cell, Row

TABS = (("graph", "1", "Graph"), ("map", "/", "Map"), ("drift", "4", "Drift"), ("health", "8", "Health"))


def top_rows(repo: str, state: State) -> tuple[Row, ...]:
    """The top line in four widths, widest first."""
    return tuple(_top(repo, state, step) for step in range(4))


def _top(repo: str, state: State, step: int) -> Row:
    gap = Cell("   " if step < 2 else "  ")
    parts = [_where(repo, state, step), _index(state, step), _drift(state, step), _left_out(state, step)]
    cells: list[Cell] = []
    for part in parts:
        cells += [*part, gap] if part else []
    return Row("", tuple(cells[:-1]))


def _where(repo: str, state: State, step: int) -> list[Cell]:
    cells = [Cell(clean(repo), "text", True, "tail")]
    index = state.status.index if state.status else None
    if index and index.ref and step < 3:
        ref = short_ref(index.ref)
        cells.append(Cell(f" {ref if step < 2 else ref.split(' ')[0]}", "muted", False, "tail"))
    if index and index.dirty and step < 2:
        cells.append(Cell(" with edits", "muted"))
    return cells


def _index(state: State, step: int) -> list[Cell]:
    label = [Cell("index ")]
    if (progress := state.progress) is not None:
        of = f" of {progress.total:,}" if progress.total else ""
        stage = f"{clean(progress.stage)} " if step < 2 else ""
        return [*label, Cell("… ", "attn", True), Cell(f"{stage}{progress.done:,}{of}")]
    if state.status is None:
        return [*label, Cell("?", "unverified", True)]
    if not state.status.indexed:
        return [*label, Cell("? ", "unverified", True), Cell("none yet")]
    mark, word = watch_cells(state.watcher)
    seen, why = watch_state(word.text)
    reason = f": {why}" if why and len(why) < 30 and not step else ""
    return [*label, mark, Cell(f"{seen}{reason}")]


def _drift(state: State, step: int) -> list[Cell]:
    known = state.pins is not None
    counts = state.counts()
    cells: list[Cell] = []
    marks = (
        (m.Freshness.drifted, "±", "stale"),
        (m.Freshness.moved, "→", "stale"),
        (m.Freshness.missing, "¬", "fallen"),
    )
    for freshness, glyph, role in marks:
        count = f"{counts[freshness]:,}" if known else "?"
        word = f" {freshness.value}" if step == 0 else ""
        cells += [Cell(f"{glyph} ", role, True), Cell(f"{count}{word}"), Cell("  " if step < 2 else " ")]
    return cells[:-1]


def _left_out(state: State, step: int) -> list[Cell]:
    health = state.status.health if state.status and state.status.indexed else None
    skipped = f"{sum(health.skipped.values()):,}" if health else "?"
    gated = f"{health.gated + health.gated_symbols:,}" if health else "?"
    failed = len(state.failures)
    cells = [Cell(f"skipped {skipped}" if step < 2 else f"skip {skipped}")]
    cells += [Cell("  " if step < 2 else " "), Cell("░ ", "muted", True), Cell(f"{gated} gated" if step < 2 else gated)]
    if failed:
        cells += [Cell("  "), Cell(f"8: {failed} failed", "attn", True)]
    return cells


def tab_row(current: str) -> Row:
    """The tabs of the narrow layout: ``1»Graph  / Map  4 Drift  8 Health``."""
    cells: list[Cell] = []
    for pane, digit, name in TABS:
        here = pane == current
        cells += [Cell(f"{digit}{'»' if here else ' '}{name}", "key" if here else "text", here), Cell("  ")]
    return Row("", tuple(cells[:-1]))


def foot_rows(pane: str) -> tuple[Row, ...]:
    """The foot line of a pane, from all its keys to the few that always fit."""
    typed = pane in ("find", "help")
    own = FEET[pane]
    lead = () if typed else (("j k", "move"),)
    tail = () if typed else (("/", "search"), (":", "jump"), ("tab", "pane"), ("?", "keys"))
    right = () if typed else (("q", "quit"),)
    widths = [
        (*lead, *own[:n], *tail[:k], *((("?", "keys"),) if k < len(tail) and not typed else ())) for n, k in _CUTS
    ]
    return tuple(Row("", _hints(hints), _hints(right)) for hints in widths)


_CUTS = ((6, 4), (5, 4), (4, 3), (3, 2), (2, 1), (1, 1), (0, 1))


def _hints(hints: tuple[tuple[str, str], ...]) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    for key, word in hints:
        cells += [Cell(key, "key", True), Cell(f" {word}", "muted"), Cell("  ")]
    return tuple(cells[:-1])
