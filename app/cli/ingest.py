"""``mog ingest``: prose into sources, claims and entities."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from mog.app.cli import beliefs, door, exit_codes
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common
from mog.engine.errors import UsageError


def ingest(
    *paths: Annotated[
        Path, Parameter(help="Files and folders: Markdown, reStructuredText, text, ADRs, *.jsonl of issues.")
    ],
    commits: Annotated[
        int,
        Parameter(validator=validators.Number(gte=0), show_default=False, help="Read the last so many commits, too."),
    ] = 0,
    common: Common = COMMON,
) -> int:
    """Read prose and record what it says, each claim with its source. The same text again changes nothing."""
    if not paths and not commits:
        raise UsageError("what is to be read?", way_out="mog ingest PATH…, or mog ingest --commits 500")
    with door.opened(common) as workspace:
        with ProgressBar(quiet=common.quiet) as bar:
            report = workspace.beliefs.ingest(paths, commits=commits, progress=bar)
        if common.json or not common.quiet:
            beliefs.show(report, common, beliefs.Named(workspace.beliefs))
    return exit_codes.OK
