"""``mog traffic``: what agents asked over the protocol, and what it cost them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, Common, Limit
from mog.app.plain import Line
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
        output.lines(_lines(found, trouble), common)
    return exit_codes.OK if found else exit_codes.NOTHING


def _lines(found: tuple[Call, ...] | tuple[Total, ...], trouble: str) -> Iterator[Line]:
    from mog.engine.traffic import Call

    if trouble:
        yield (("! " + trouble, "attn"),)
    elif not found:
        yield (("no agent has asked anything yet: `mog mcp install` makes mog known to yours", "muted"),)
    for one in found:
        yield _call(one) if isinstance(one, Call) else _total(one)


def _call(one: Call) -> Line:
    asked = " ".join(f"{name}={value}" for name, value in one.arguments.items())
    state = ("", "muted") if one.outcome == "ok" else (f" {one.outcome}", "attn")
    cost = f"  {one.tokens:,} tokens {one.ms:,.0f} ms" + ("" if one.warm else ", first")
    return (f"{one.at[11:19]} {one.client:<16} ", "muted"), (one.tool, "name"), state, (cost, ""), (f"  {asked}"[:200], "muted")


def _total(one: Total) -> Line:
    failed = f", {one.failed:,} failed" if one.failed else ""
    mean = f"  {one.tokens:,} tokens, {one.ms / max(1, one.calls):,.0f} ms each"
    return (f"{one.client:<16} ", "muted"), (one.tool, "name"), (f"  {one.calls:,} calls{failed}", ""), (mean, "muted")
