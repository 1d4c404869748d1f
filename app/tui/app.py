"""The door of the workbench: decides between a screen and a plain report, then runs it.

Who calls: ``mog`` without arguments, and ``mog tui``.
What may not come in: the toolkit, before a terminal that can show it has been seen.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from mog.app.tui import plain
from mog.app.tui.options import PLAIN, Options

if TYPE_CHECKING:
    from mog.app.tui.port import Agents, Desk


FRAMES = "120"
"""Pictures a second at most, read by the toolkit when it is loaded: what follows the cursor waits half as long as with its 60."""


def run(
    workspace: Desk,
    *,
    index_first: bool,
    theme: str = "",
    motion: bool = True,
    mouse: bool = True,
    options: Options = PLAIN,
    agents: Agents | None = None,
) -> int:
    """Run the workbench until it is left; without a usable terminal print the plain report instead.

    Args:
        workspace: an open workspace; the caller closes it.
        index_first: build the index first, with progress on the top line.
        theme: name of a theme, "" chooses one for the terminal.
        motion: whether rows that changed are bold for a moment.
        mouse: whether the mouse is listened to.
        options: what the configuration says; the three above are flags of one run and win.
        agents: serves agents while the workbench is open, ``None`` serves nobody.

    Returns:
        Exit code: 0, 130 after ctrl+c twice, 128 + n after signal n.

    Raises:
        MogError: from indexing, when there is no screen to show it on.
    """
    if reason := plain.no_screen(os.environ):
        return _report(workspace, index_first, reason)
    os.environ.setdefault("TEXTUAL_FPS", FRAMES)
    from mog.app.tui.workbench import GONE, Workbench

    app = Workbench(workspace, index_first=index_first, theme=theme, motion=motion, options=options, agents=agents)
    try:
        app.run(mouse=mouse and options.mouse)
    finally:
        if agents is not None:
            agents.close()
        workspace.stop_watch()
    if app.return_code == GONE:
        _say_nothing_more()
    return app.return_code or 0


def _say_nothing_more() -> None:
    """The terminal is gone: what the interpreter still writes at its end must not fail and become the exit code."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _report(workspace: Desk, index_first: bool, reason: str) -> int:
    if index_first:
        workspace.index()
    # a pipe has no width of its own; a dumb terminal does
    width = os.get_terminal_size(1).columns if sys.stdout.isatty() else 100
    sys.stdout.write(plain.report(workspace, None, width))
    sys.stderr.write(f"mog: {reason}; this is the plain report\n")
    return 0
