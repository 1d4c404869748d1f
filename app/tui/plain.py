"""Every pane as plain text, from the same rows that the screen draws.

Who calls: ``app.py`` where there is no terminal to draw on, ``--plain``, tests.
What may not come in: the toolkit, escape sequences.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from mog.app.tui import graph_rows, side_rows
from mog.app.tui.rows import Sheet, teach
from mog.engine.errors import IndexMissing, NotFound, UsageError
from mog.engine.ids import locator
from mog.widgets.fit import plain, title_row
from mog.widgets.view import Title

if TYPE_CHECKING:
    from mog.app.tui.port import Desk

PANES = ("health", "map", "graph", "drift")
_TITLES = {"graph": ("1", "Graph"), "map": ("/", "Map"), "drift": ("4", "Drift"), "health": ("8", "Health")}
_ALL = graph_rows.Room(0, 60, level=1, sides=False)


def no_screen(environ: Mapping[str, str]) -> str:
    """Why the workbench cannot be drawn here, "" when it can. Asked before the toolkit is imported."""
    # the toolkit draws on stderr, so that one counts as well
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None or not stream.isatty():
            return f"{name} is not a terminal"
    if environ.get("TERM", "") in ("dumb", "") and os.name != "nt":
        return f"TERM={environ.get('TERM', '')} cannot place a cursor"
    return ""


def report(workspace: Desk, pane: str | None, width: int) -> str:
    """The plain twin of one pane, or of all of them below one head line.

    Args:
        pane: ``graph``, ``map``, ``drift``, ``health`` or its digit; ``None`` for all.
        width: cells a line may take.

    Raises:
        UsageError: there is no pane of that name.
        MogError: from the workspace.
    """
    names = PANES if pane is None else (_pane_name(pane),)
    parts = [_section(name, _sheet(workspace, name, width), width) for name in names]
    return "\n\n".join(parts) + "\n"


def _pane_name(pane: str) -> str:
    for name, (digit, _) in _TITLES.items():
        if pane in (name, digit):
            return name
    raise UsageError(f"no pane {pane!r}", way_out=f"panes are {', '.join(_TITLES)}")


def _section(name: str, sheet: Sheet, width: int) -> str:
    digit, word = _TITLES[name]
    title = title_row(Title(digit, word, sheet.title_note, sheet.title_right), False)
    lines = [plain((title,), width), *(plain(line, width) for line in sheet.lines.all())]
    return "\n".join(lines)


def _sheet(workspace: Desk, name: str, width: int) -> Sheet:
    try:
        return _asked(workspace, name, width)
    except IndexMissing:
        return Sheet(teach("There is no index yet.", "mog index builds one.", width=width - 4), title_right="?")


def _asked(workspace: Desk, name: str, width: int) -> Sheet:
    if name == "drift":
        return side_rows.drift_sheet(workspace.pins(), width)
    if name == "map":
        return side_rows.map_sheet(workspace.map(limit=12), width)
    if name == "health":
        return side_rows.health_sheet(
            workspace.status(), workspace.grammars(), frozenset(), workspace.watcher, (), width
        )
    return _graph(workspace, width)


def _graph(workspace: Desk, width: int) -> Sheet:
    rows = workspace.map(limit=1).rows
    if not rows:
        return Sheet(teach("Nothing to focus on: no file has symbols.", width=width - 4))
    target = rows[0].top[0].id if rows[0].top else locator("file", rows[0].path)
    tiers = tuple(tier.name for tier in graph_rows.LEVELS[1][1])
    try:
        hood = workspace.neighbors(target, tiers=tiers, limit=200)
    except NotFound:
        return Sheet(teach("The node to focus on has just gone.", width=width - 4))
    return graph_rows.graph_sheet(hood, replace(_ALL, width=width))
