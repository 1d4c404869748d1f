"""``mog impact``: what deserves a look when something changes, before it does. Attention, not truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from mog.app.cli import door, exit_codes, names, output
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, After, Common, Limit
from mog.engine.errors import UsageError

if TYPE_CHECKING:
    from mog.engine.model import ImpactAnswer
    from mog.engine.workspace import Workspace


def impact(
    *targets: Annotated[str, Parameter(help="id, locator, name, path, path::name or path:line; several change together.")],
    files: Annotated[bool, Parameter(negative="", show_default=False, help="The files that git says are changed now.")] = False,
    diff: Annotated[bool, Parameter(negative="", show_default=False, help="The symbols whose lines git says are changed now.")] = False,
    depth: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=64), help="Hops to follow.")] = 8,
    maybe: Annotated[
        bool, Parameter(negative="", show_default=False, help="Follow links of the lower tiers too.")
    ] = False,
    tests: Annotated[bool, Parameter(negative="", show_default=False, help="Only the tests that reach it.")] = False,
    history: Annotated[bool, Parameter(show_default=False, help="Also what changed in the same commits.")] = True,
    limit: Limit = 200,
    after: After = 0,
    common: Common = COMMON,
) -> int:
    """Show what may deserve a look when something changes: callers, heirs, importers, and the tests that reach it."""
    if bool(targets) + files + diff != 1:
        what = "an impact needs a target, or one of --files and --diff"
        raise UsageError(what, way_out="mog impact NAME, or mog impact --diff before a commit")
    changed = "files" if files else "lines" if diff else ""
    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:

        def ask(*seeds: str) -> ImpactAnswer:
            return workspace.impact(
                *seeds, depth=depth, limit=limit, after=after, maybe=maybe, tests=tests, changed=changed, history=history,
                progress=bar,
            )  # fmt: skip

        answer = names.aimed(workspace, ask, targets[0]) if len(targets) == 1 else ask(*_each(workspace, targets))
    output.record(answer, common)
    return exit_codes.OK


def _each(workspace: Workspace, targets: tuple[str, ...]) -> list[str]:
    return [names.aimed(workspace, workspace.find, target).id for target in targets]
