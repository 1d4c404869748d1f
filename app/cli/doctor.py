"""``mog doctor``: the state of the store, the tools and the configuration."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mog.app import plain, present
from mog.app.cli import door, exit_codes, output
from mog.app.cli.options import COMMON, Common


def doctor(
    *,
    repair: Annotated[
        bool, Parameter(negative="", show_default=False, help="Rebuild what can be rebuilt, never the events.")
    ] = False,
    common: Common = COMMON,
) -> int:
    """Check the store, the tools and the configuration. Exits 9 when something is damaged."""
    with door.opened_with_config(common) as (workspace, config):
        checks = workspace.doctor(repair=repair)
    if common.json:
        settings = [{"name": item.name, "value": item.value, "origin": item.origin} for item in config.settings]
        output.document(
            {"checks": [present.as_json(check) for check in checks], "settings": settings, "notes": config.notes}
        )
    else:
        rows = [line for check in checks for line in plain.as_lines(check, output.glyphs())]
        rows += [((f"warning   {note}", "attn"),) for note in config.notes]
        rows += [((f"{item.name} = {item.value!r}", ""), (f"  {item.origin}", "muted")) for item in config.settings]
        output.lines(rows, common)
    return exit_codes.DAMAGED if any(check.state == "damaged" for check in checks) else exit_codes.OK
