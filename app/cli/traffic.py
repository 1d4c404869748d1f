"""``mog traffic``: what agents asked over the protocol, and what it cost them."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, Common, Limit
from mog.app.present import clean_tree

if TYPE_CHECKING:
    from mog.engine.traffic import Call, Total


def traffic(
    *,
    totals: Annotated[bool, Parameter(negative="", show_default=False, help="Sums by client and tool instead of calls.")] = False,
    limit: Limit = 20,
    common: Common = COMMON,
) -> int:
    """Show the latest calls of agents: who asked what, how long it took, what it cost. Exits 1 when there was none."""
    from mog.app import plain_traffic
    from mog.engine.traffic import Traffic

    with door.opened(common) as workspace:
        record = Traffic(workspace.mog_dir)
        try:
            found: tuple[Call, ...] | tuple[Total, ...] = record.totals() if totals else record.last(limit)
            trouble = record.trouble
        finally:
            record.close()
    if common.json:
        output.document({"totals" if totals else "calls": clean_tree([asdict(one) for one in found]), "trouble": trouble})
    else:
        output.lines(plain_traffic.lines(found, trouble), common)
    return exit_codes.OK if found else exit_codes.NOTHING
