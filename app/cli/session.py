"""``mog session``: everything known and everything being done about it, as one thing to keep, move and bring back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from mog.app.cli import beliefs, door, exit_codes
from mog.app.cli.options import COMMON, Common

HELP = "Save, load, look at, and exchange with the earlier package: graph, names, plans and run ledgers."
session = App(name="session", help=HELP, result_action="return_value")
Folder = Annotated[Path, Parameter(help="Folder of the session.")]


@session.command
def save(folder: Folder, /, *, common: Common = COMMON) -> int:
    """Copy the ledger into a folder that is empty or holds an older state of it."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace:
        done = workspace.work.save(folder)
    beliefs.document(present_plan.saved(done), plain_plan.saved(done, "saved in"), common)
    return exit_codes.OK


@session.command
def load(folder: Folder, /, *, common: Common = COMMON) -> int:
    """Bring a saved ledger back, into a workspace that is empty or stands at an older state of it."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace:
        done = workspace.work.load(folder)
    beliefs.document(present_plan.saved(done), plain_plan.saved(done, "loaded from"), common)
    return exit_codes.OK


@session.command
def export(
    folder: Folder,
    /,
    *,
    plan: Annotated[str, Parameter(show_default=False, help="Which plan, when there are several.")] = "",
    common: Common = COMMON,
) -> int:
    """Write a folder that contextmesh-graph reads (contextmesh.session v2)."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace:
        done = workspace.work.export(folder, plan=plan)
    beliefs.document(present_plan.exported(done), plain_plan.exported(done), common)
    return exit_codes.OK


def import_(
    folder: Folder,
    /,
    *,
    no_plan: Annotated[
        bool, Parameter(negative="", show_default=False, help="Leave plan and run ledger out; then no code is needed.")
    ] = False,
    common: Common = COMMON,
) -> int:
    """Take in a session of contextmesh-graph (v1 or v2). Its plan needs the code that its keys name."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace:
        done = workspace.work.import_(folder, plan=not no_plan)
    beliefs.document(present_plan.imported(done), plain_plan.imported(done), common)
    return exit_codes.OK


session.command(import_, name="import")


@session.command
def inspect(folder: Folder, /, *, common: Common = COMMON) -> int:
    """Say what a folder holds, without trusting or running anything of it."""
    from mog.app import plain_plan, present_plan
    from mog.engine.executor import session as sessions

    found = sessions.inspect(folder)
    beliefs.document(present_plan.summary(found), plain_plan.summary(found), common)
    return exit_codes.OK
