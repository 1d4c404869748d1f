"""``mog impact``: what deserves a look when a symbol changes. Attention, not truth."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter, validators

from mog.app.cli import door, exit_codes, names, output
from mog.app.cli.options import COMMON, Common, Limit


def impact(
    target: Annotated[str, Parameter(help="id, locator, name, path, path::name or path:line.")],
    /,
    *,
    depth: Annotated[int, Parameter(validator=validators.Number(gte=1, lte=64), help="Hops to follow.")] = 8,
    maybe: Annotated[
        bool, Parameter(negative="", show_default=False, help="Follow links of the lower tiers too.")
    ] = False,
    limit: Limit = 200,
    common: Common = COMMON,
) -> int:
    """Show what may deserve a look when a symbol changes: callers, heirs, importers, and the tests that reach it."""
    with door.opened(common) as workspace:
        answer = names.aimed(
            workspace, lambda name: workspace.impact(name, depth=depth, limit=limit, maybe=maybe), target
        )
    output.record(answer, common)
    return exit_codes.OK
