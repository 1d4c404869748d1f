"""``mog contracts``: routes, pages, models, jobs, commands, … and the code behind them."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, After, Common, Limit


def contracts(
    *,
    role: Annotated[
        str, Parameter(show_default=False, help="Only surfaces of this role: route, page, model, job, command, …")
    ] = "",
    limit: Limit = 200,
    after: After = 0,
    common: Common = COMMON,
) -> int:
    """List what the code offers: routes, pages, models, jobs, commands, and what stands behind each. Exits 1 when there is nothing."""
    with door.opened(common) as workspace:
        answer = workspace.contracts(role=role, limit=limit, after=after)
    output.record(answer, common)
    return exit_codes.OK if answer.total else exit_codes.NOTHING
