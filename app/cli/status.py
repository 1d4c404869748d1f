"""``mog status``: what is indexed, what is not and why."""

from __future__ import annotations

from mog.app import plain, present
from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, Common


def status(*, common: Common = COMMON) -> int:
    """Say what is indexed, what is not and why, and how old it is. Exits 4 when there is no index."""
    with door.opened(common) as workspace:
        answer = workspace.status()
        events = workspace.beliefs.log.head().seq if workspace.ledger_path.exists() else 0
    if common.json:
        output.document({**present.as_json(answer), "events": events})
    else:
        said = f"ledger     {plain.plural(events, 'event')}: `mog health`, `mog ledger`"
        output.lines([*plain.as_lines(answer, output.glyphs()), *([((said, "muted"),)] if events else [])], common)
    return exit_codes.OK if answer.indexed else exit_codes.STALE
