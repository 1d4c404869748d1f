"""``mog resume``: run what is pending or stale in every plan, and nothing else."""

from __future__ import annotations

from mog.app.cli import beliefs, door, exit_codes, output
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common
from mog.app.cli.plan import Jobs, Name, code_of


def resume(name: Name = "", /, *, jobs: Jobs = 1, common: Common = COMMON) -> int:
    """Go on where the plans stopped: run what is pending or stale. Work that failed is left until it is repaired or run."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        done = list(workspace.work.resume(name, jobs=jobs, progress=bar))
    if not done:
        beliefs.document({"items": []}, [(("this repository declares no plan", "muted"),)], common)
        return exit_codes.NOTHING
    lines = [line for one in done for line in plain_plan.ran(one, output.glyphs())]
    beliefs.document({"items": [present_plan.ran(one) for one in done]}, lines, common)
    return code_of(done)
