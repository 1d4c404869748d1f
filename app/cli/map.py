"""``mog map``: the repository on one screen."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, output
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common, Limit


def map_(
    *,
    limit: Limit = 25,
    history: Annotated[bool, Parameter(negative="", help="How often each changed, when, by how many.")] = False,
    common: Common = COMMON,
) -> int:
    """Show the files that the rest leans on, with their main symbols."""
    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        answer = workspace.map(limit=limit, history=history, progress=bar)
    output.record(answer, common)
    return exit_codes.OK if answer.rows else exit_codes.NOTHING
