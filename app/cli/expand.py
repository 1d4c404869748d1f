"""``mog expand``: one symbol or file at a zoom, within a budget, with the notes about it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mog.app.cli import door, exit_codes, names, packs
from mog.app.cli.options import COMMON, Common
from mog.app.cli.packs import DEFAULT_BUDGET, Budget, Session, ZoomName
from mog.engine.errors import PolicyDenied


def expand(
    target: Annotated[str, Parameter(help="id, locator, name, path, path::name or path:line.")],
    /,
    *,
    zoom: ZoomName = "L2",
    budget: Budget = DEFAULT_BUDGET,
    session: Session = "",
    common: Common = COMMON,
) -> int:
    """Show one symbol or file at a zoom. Exits 6 when its bytes are gated."""
    from mog.engine.retrieval.model import Zoom

    level = packs.zoom_of(zoom)
    with door.opened(common) as workspace:
        made = names.aimed(
            workspace, lambda name: workspace.context.expand(name, zoom=level or Zoom.L2, budget=budget), target
        )
        turned = packs.served(workspace, made, session)
    packs.show(made, common, turned=turned)
    if made.omitted.get("gated") and not any(item.node for item in made.items):
        raise PolicyDenied("the content is gated", where=target, way_out="its name and place are all that is shown")
    return exit_codes.OK if made.items else exit_codes.NOTHING
