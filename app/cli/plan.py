"""``mog plan``: the plans of a repository: list, check, show, draw, run, and what happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter, validators

from mog.app.cli import beliefs, door, exit_codes, output
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, After, Common, Limit
from mog.engine.errors import NotFound

if TYPE_CHECKING:
    from mog.engine.work import Ran

HELP = "Check, show and run the plans that this repository declares in plan.yaml and .mog/plans/."
plan = App(name="plan", help=HELP, result_action="return_value")
Name = Annotated[str, Parameter(show_default=False, help="Name of the plan; may be left out when there is one.")]
Jobs = Annotated[
    int, Parameter(name=["--jobs", "-j"], validator=validators.Number(gte=1, lte=64), help="Tasks worked on at a time.")
]
DryRun = Annotated[bool, Parameter(negative="", show_default=False, help="Say what would run and why; run nothing.")]


@plan.default
def listed(*, common: Common = COMMON) -> int:
    """List the plans of this repository."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        work = workspace.work
        found = [work.show(name, progress=bar) for name in work.names()]
    beliefs.document(present_plan.listed(found), plain_plan.listed(found), common)
    return exit_codes.OK if found else exit_codes.NOTHING


plan.command(listed, name="list")


@plan.command
def check(name: Name = "", /, *, common: Common = COMMON) -> int:
    """Read the plan files and say what is wrong or deserves a look. Runs nothing."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace:
        plans, notes = workspace.work.check(name)
    beliefs.document(present_plan.checked(plans, notes), plain_plan.checked(plans, notes), common)
    return exit_codes.OK


@plan.command
def show(name: Name = "", /, *, common: Common = COMMON) -> int:
    """Show every task: its state, its command, what a run would do and why."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        found = workspace.work.show(name, progress=bar)
    beliefs.document(present_plan.view(found), plain_plan.view(found, output.glyphs()), common)
    return exit_codes.OK


@plan.command
def graph(name: Name = "", /, *, common: Common = COMMON) -> int:
    """Draw the tasks by layer, with what each needs and stands on."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        found = workspace.work.show(name, progress=bar)
    beliefs.document(present_plan.graph(found), plain_plan.graph(found, output.glyphs()), common)
    return exit_codes.OK


@plan.command
def run(name: Name = "", /, *, jobs: Jobs = 1, dry_run: DryRun = False, common: Common = COMMON) -> int:
    """Run what never ran, what fell, what failed, and what read something that changed; leave the rest alone."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        work = workspace.work
        if not dry_run:
            done = work.run(name, jobs=jobs, progress=bar)
        else:
            found = work.show(name, progress=bar)
    if dry_run:
        lines = plain_plan.view(found, output.glyphs(), commands=False)
        beliefs.document(present_plan.view(found), lines, common)
        return exit_codes.OK
    beliefs.document(present_plan.ran(done), plain_plan.ran(done, output.glyphs()), common)
    return code_of([done])


@plan.command
def log(name: Name = "", /, *, after: After = 0, limit: Limit = 50, common: Common = COMMON) -> int:
    """Show the run ledger of a plan: what happened, entry by entry."""
    from mog.app import plain_plan, present_plan

    with door.opened(common) as workspace:
        ledger = workspace.work.ledger(name)
        total, head = ledger.verify(), ledger.head
        found = list(ledger.entries(after, limit)) if after < total else []
    if not total:
        raise NotFound("nothing happened in this plan yet", way_out="run it: `mog plan run`")
    beliefs.document(present_plan.entries(found, head, total), plain_plan.entries(found, head, total, after), common)
    return exit_codes.OK


def code_of(done: list[Ran]) -> int:
    """Exit code of rounds: a command waits for a word, something is not done, or all is."""
    if any(one.waiting for one in done):
        return exit_codes.POLICY
    return exit_codes.OK if all(one.complete for one in done) else exit_codes.NOTHING
