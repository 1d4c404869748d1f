"""``mog pin``, ``unpin``, ``pins``: notes anchored to code."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, names, output
from mog.app.cli.options import COMMON, Common


def pin(
    target: Annotated[str, Parameter(help="id, locator, name, path, path::name or path:line.")],
    /,
    *,
    note: Annotated[str, Parameter(name=["--note", "-m"], help="What is believed about it.")],
    common: Common = COMMON,
) -> int:
    """Anchor a note to a symbol or file; `mog verify` says when the code under it changed."""
    with door.opened(common) as workspace:
        state = names.aimed(workspace, lambda name: workspace.pin(name, note), target)
    output.confirm(state, common)
    return exit_codes.OK


def unpin(
    pin_id: Annotated[str, Parameter(help="Id of the pin, as `mog pins` shows it.")], /, *, common: Common = COMMON
) -> int:
    """Withdraw a pinned note; the ledger keeps that it was there."""
    with door.opened(common) as workspace:
        gone = workspace.unpin(pin_id)
    output.confirm(gone, common)
    return exit_codes.OK


def pins(*, common: Common = COMMON) -> int:
    """List pinned notes and their freshness."""
    with door.opened(common) as workspace:
        states = workspace.pins()
    output.records("items", states, common, "nothing is pinned")
    return exit_codes.OK
