"""The door of the workbench: decides between a screen and a plain report, then runs it.

Who calls: ``mog`` without arguments, and ``mog tui``.
What may not come in: the toolkit, before a terminal that can show it has been seen.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from mog.app.tui import plain

if TYPE_CHECKING:
    from mog.app.tui.port import Desk


def run(workspace: Desk, *, index_first: bool, theme: str = "", motion: bool = True, mouse: bool = True) -> int:
    """Run the workbench until it is left; without a usable terminal print the plain report instead.

    Args:
        workspace: an open workspace; the caller closes it.
        index_first: build the index first, with progress on the top line.
        theme: name of a theme, "" chooses one for the terminal.
        motion: whether rows that changed are bold for a moment.
        mouse: whether the mouse is listened to.

    Returns:
        Exit code: 0, 130 after ctrl+c twice, 128 + n after signal n.

    Raises:
        MogError: from indexing, when there is no screen to show it on.
    """
    if reason := plain.no_screen(os.environ):
        return _report(workspace, index_first, reason)
    from mog.app.tui.workbench import Workbench

    app = Workbench(workspace, index_first=index_first, theme=theme, motion=motion)
    try:
        app.run(mouse=mouse)
    finally:
        workspace.stop_watch()
    return app.return_code or 0


def _report(workspace: Desk, index_first: bool, reason: str) -> int:
    if index_first:
        workspace.index()
    # a pipe has no width of its own; a dumb terminal does
    width = os.get_terminal_size(1).columns if sys.stdout.isatty() else 100
    sys.stdout.write(plain.report(workspace, None, width))
    sys.stderr.write(f"mog: {reason}; this is the plain report\n")
    return 0
