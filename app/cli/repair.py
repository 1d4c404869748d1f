"""``mog repair``: other ground under a task, so that it runs again."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from mog.app.cli import beliefs, door, exit_codes
from mog.app.cli.options import COMMON, Common


def repair(
    task: Annotated[str, Parameter(help="TASK, or PLAN/TASK.")],
    /,
    *,
    assumes: Annotated[
        tuple[str, ...],
        Parameter(negative="", show_default=False, help="What it stands on from now on; may be repeated."),
    ] = (),
    produces: Annotated[
        tuple[str, ...], Parameter(negative="", show_default=False, help="What it makes from now on; may be repeated.")
    ] = (),
    because: Annotated[str, Parameter(show_default=False, help="The reason for doing it, in your words.")] = "",
    common: Common = COMMON,
) -> int:
    """Give a task other ground. It runs again at the next resume; what else rests on the old ground is not touched."""
    from mog.app import plain_plan
    from mog.app.present import clean_tree

    with door.opened(common) as workspace:
        plan, done = workspace.work.repair(
            task, assumes=assumes, produces=produces or None, because=because or None
        )
    document = {"plan": plan, "task": done.name, "state": done.state.value, "assumes": list(done.assumes)}
    document |= {"produces": list(done.produces), "detail": done.detail}
    if common.json or not common.quiet:
        beliefs.document(clean_tree(document), plain_plan.repaired(plan, done.name, done.assumes), common)
    return exit_codes.OK
