"""``mog why``, ``explain``, ``lineage``: why something is believed, and what came before and after it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mog.app.cli import beliefs, door, exit_codes
from mog.app.cli.options import COMMON, Common, Target
from mog.app.present import meant


def why(
    target: Annotated[str, Parameter(help="A record, or code: name, path, path::name, locator.")],
    /,
    *,
    common: Common = COMMON,
) -> int:
    """Show what is believed about a piece of code, or why one record stands. Exits 1 when nothing is."""
    with door.opened(common) as workspace:
        known = workspace.beliefs
        names = beliefs.Named(known)
        found = meant(known.why, target)
        beliefs.listed("items", found, common, names)
    return exit_codes.OK


def explain(target: Target, /, *, common: Common = COMMON) -> int:
    """Show why one record stands or has fallen: its grounds, what defeats it, what it falls with."""
    with door.opened(common) as workspace:
        known = workspace.beliefs
        beliefs.show(meant(known.explain, target), common, beliefs.Named(known))
    return exit_codes.OK


def lineage(target: Target, /, *, common: Common = COMMON) -> int:
    """Show the versions of a record: what it replaced and what replaced it, oldest first."""
    with door.opened(common) as workspace:
        known = workspace.beliefs
        beliefs.show(meant(known.lineage, target), common, beliefs.Named(known))
    return exit_codes.OK
