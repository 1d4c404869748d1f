"""``mog init``: the first files of a workspace. Never overwrites."""

from __future__ import annotations

from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, Common
from mog.app.config import write_template


def init(*, common: Common = COMMON) -> int:
    """Write mog.yaml, .mogignore and .mog/ for this repository; what exists is left alone."""
    from mog.engine.workspace import Workspace, find_root

    start = door.start_of(common).absolute()
    written = Workspace.init(start)
    written += write_template(find_root(start))
    if common.json:
        output.document({"written": written})
    elif not common.quiet:
        output.lines([((f"wrote {path}", ""),) for path in written] or [(("nothing to write", "muted"),)], common)
    return exit_codes.OK
