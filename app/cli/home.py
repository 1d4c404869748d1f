"""``mog`` alone: index if needed, then the workbench; without a terminal a plain report."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from mog.app import plain, present
from mog.app.cli import diagnostics, door, exit_codes, output
from mog.engine.errors import HeldByOther

if TYPE_CHECKING:
    from mog.app.cli.options import Common
    from mog.engine.workspace import Workspace


def home(common: Common) -> int:
    """Open the workbench on this repository, or print what it would show first."""
    if interactive() and not common.json:
        return _workbench(common)
    with door.opened(common) as workspace:
        _refresh(workspace, common)
        status, rows = workspace.status(), workspace.map(limit=12)
    if common.json:
        output.document({"status": present.as_json(status), "map": present.as_json(rows)})
    else:
        output.lines(plain.as_lines(status, output.glyphs()), common)
        output.lines([(("", ""),), *plain.as_lines(rows, output.glyphs())], common)
    return exit_codes.OK


def interactive() -> bool:
    """Whether a person can drive a full screen here."""
    from mog.app.tui.plain import no_screen

    return not no_screen(os.environ)


def _workbench(common: Common) -> int:
    from mog.app.cli.tui import open_workbench

    with door.opened_with_config(common) as (workspace, config):
        return open_workbench(workspace, config)


def _refresh(workspace: Workspace, common: Common) -> None:
    """Bring the index up to date; while another process does that, an older one will do."""
    try:
        with diagnostics.ProgressBar(quiet=common.quiet) as bar:
            workspace.index(progress=bar)
    except HeldByOther as held:
        if not workspace.has_index():
            raise
        diagnostics.note(f"{held.what}; showing the index that is there", quiet=common.quiet)
