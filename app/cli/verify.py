"""``mog verify``: how much of what is pinned still holds."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, Common


def verify(
    *,
    fix: Annotated[bool, Parameter(negative="", show_default=False, help="Re-anchor notes whose code moved.")] = False,
    strict: Annotated[
        bool, Parameter(negative="", show_default=False, help="Exit 4 when anything drifted or is missing.")
    ] = False,
    common: Common = COMMON,
) -> int:
    """Compare every pinned note with the disk: fresh, drifted, moved or missing."""
    with door.opened(common) as workspace:
        report = workspace.verify(fix=fix)
    output.record(report, common)
    return exit_codes.STALE if strict and (report.drifted or report.missing) else exit_codes.OK
