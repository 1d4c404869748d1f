"""``mog neighbors``: the links of one node."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, names, output
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common, Limit

TierName = Literal["certain", "hierarchy", "candidate", "unknown"]


def neighbors(
    target: Annotated[str, Parameter(help="id, locator, name, path, path::name or path:line.")],
    /,
    *,
    kind: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="Edge type, may be repeated: calls, imports, …"),
    ] = (),
    direction: Annotated[Literal["both", "in", "out"], Parameter(help="Which end the node is.")] = "both",
    tier: Annotated[
        tuple[TierName, ...], Parameter(negative="", show_default=False, help="Tier, may be repeated (default: all).")
    ] = (
        "certain",
        "hierarchy",
        "candidate",
        "unknown",
    ),
    history: Annotated[bool, Parameter(show_default=False, help="Also what changed in the same commits.")] = True,
    limit: Limit = 200,
    common: Common = COMMON,
) -> int:
    """List the links of a node by type, direction and tier, and what changed in the same commits."""
    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        names.edge_types(workspace, kind)
        answer = names.aimed(
            workspace,
            lambda name: workspace.neighbors(
                name, kinds=kind, direction=direction, tiers=tier, limit=limit, history=history, progress=bar
            ),
            target,
        )
    output.record(answer, common)
    return exit_codes.OK
