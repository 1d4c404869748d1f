"""``mog status``: what is indexed, what is not and why."""

from __future__ import annotations

from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, Common


def status(*, common: Common = COMMON) -> int:
    """Say what is indexed, what is not and why, and how old it is. Exits 4 when there is no index."""
    with door.opened(common) as workspace:
        answer = workspace.status()
    output.record(answer, common)
    return exit_codes.OK if answer.indexed else exit_codes.STALE
