"""``mog tui``: the workbench, or one of its panes as plain text."""

from __future__ import annotations

import sys
from os import get_terminal_size
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, Common

if TYPE_CHECKING:
    from mog.engine.workspace import Workspace

PIPE_WIDTH = 100


def tui(
    *,
    plain: Annotated[
        str | None, Parameter(show_default=False, help="Print this pane as text: graph, map, drift, health or all.")
    ] = None,
    theme: Annotated[str, Parameter(show_default=False, help="Name of a theme (default: one for the terminal).")] = "",
    motion: Annotated[bool, Parameter(show_default=False, help="Mark rows that changed for a moment.")] = True,
    mouse: Annotated[bool, Parameter(show_default=False, help="Listen to the mouse.")] = True,
    common: Common = COMMON,
) -> int:
    """Open the workbench, or print one of its panes."""
    with door.opened(common) as workspace:
        if plain is None:
            return open_workbench(workspace, theme=theme, motion=motion, mouse=mouse)
        from mog.app.tui.plain import report

        text = report(workspace, None if plain == "all" else plain, _width())
    output.script(text)
    return exit_codes.OK


def open_workbench(workspace: Workspace, *, theme: str = "", motion: bool = True, mouse: bool = True) -> int:
    """Run the workbench until it is closed; its exit code. Without an index it builds one on screen."""
    from mog.app.tui.app import run

    return run(workspace, index_first=not workspace.has_index(), theme=theme, motion=motion, mouse=mouse)


def _width() -> int:
    return get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else PIPE_WIDTH
