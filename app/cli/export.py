"""``mog export``: edges for scripts."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, names, output
from mog.app.cli.options import COMMON, Common


def export(
    what: Annotated[Literal["edges"], Parameter(help="What to write.")] = "edges",
    /,
    *,
    kind: Annotated[str, Parameter(help="Edge type.")] = "calls",
    jsonl: Annotated[
        bool, Parameter(negative="", show_default=False, help="One JSON object a line (the default form).")
    ] = False,
    common: Common = COMMON,
) -> int:
    """Write edges as JSON Lines: caller and callee as path:line of their definitions, name as written, tier."""
    with door.opened(common) as workspace:
        names.edge_types(workspace, [kind])
        rows = workspace.export_edges(kind)
        if common.json and not jsonl:
            output.document({"kind": kind, what: list(rows)})
        else:
            output.json_lines(rows)
    return exit_codes.OK
