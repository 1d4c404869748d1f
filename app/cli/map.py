"""``mog map``: the repository on one screen."""

from __future__ import annotations

from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, Common, Limit


def map_(*, limit: Limit = 25, common: Common = COMMON) -> int:
    """Show the files that the rest leans on, with their main symbols."""
    with door.opened(common) as workspace:
        answer = workspace.map(limit=limit)
    output.record(answer, common)
    return exit_codes.OK if answer.rows else exit_codes.NOTHING
