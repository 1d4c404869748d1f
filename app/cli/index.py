"""``mog index``: bring the index up to date with the tree."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter, validators

from mog.app.cli import door, exit_codes, output
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common


def index(
    *,
    full: Annotated[
        bool, Parameter(negative="", show_default=False, help="Forget what is known and read everything again.")
    ] = False,
    workers: Annotated[
        int | None, Parameter(validator=validators.Number(gte=0, lte=256), help="Extraction processes; 0 chooses.")
    ] = None,
    common: Common = COMMON,
) -> int:
    """Read what changed since the last index and publish a new generation."""
    flags = {} if workers is None else {"index.workers": workers}
    with door.opened(common, flags) as workspace, ProgressBar(quiet=common.quiet) as bar:
        report = workspace.index(full=full, workers=workers, progress=bar)
    output.confirm(report, common)
    return exit_codes.OK
