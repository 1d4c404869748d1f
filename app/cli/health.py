"""``mog health``: the state of what is believed, and what deserves a look."""

from __future__ import annotations

from mog.app.cli import beliefs, door, exit_codes
from mog.app.cli.options import COMMON, Common


def health(*, common: Common = COMMON) -> int:
    """Show what is believed in numbers, and what deserves a look: orphans, contradictions, dead ends, what fell."""
    with door.opened(common) as workspace:
        report = workspace.beliefs.health()
        beliefs.show(report, common, beliefs.Named(workspace.beliefs))
    return exit_codes.OK
