"""``mog context``: the catalog, the pack for a prompt, a scope of proposed paths, and handles."""

from __future__ import annotations

from typing import Annotated

from cyclopts import App, Parameter

from mog.app.cli import beliefs, door, exit_codes, packs
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common
from mog.app.cli.packs import DEFAULT_BUDGET, Budget

HELP = "Give prompts and agents a bounded view of the graph: catalog, pack, scope, handles."
context = App(name="context", help=HELP, result_action="return_value")

Words = Annotated[str, Parameter(help="What the request is about, in words.")]


@context.command
def catalog(*words: Words, common: Common = COMMON) -> int:
    """What there is, and which files and symbols may answer a request."""
    from mog.app import plain_context, present_context

    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        made = workspace.context.catalog(" ".join(words), progress=bar)
    beliefs.document(present_context.shape(made), plain_context.catalog(made), common)
    return exit_codes.OK


@context.command
def pack(*words: Words, common: Common = COMMON) -> int:
    """The short section to put into a prompt. Exits 4 when there is no index; the section then says so."""
    from mog.app import plain_context, present_context

    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        made = workspace.context.prompt_pack(" ".join(words), progress=bar)
    beliefs.document(present_context.shape(made), plain_context.prompt(made), common)
    return exit_codes.OK if made.present else exit_codes.STALE


@context.command
def scope(
    *paths: Annotated[str, Parameter(help="Paths that somebody proposed.")],
    query: Annotated[str, Parameter(show_default=False, help="What the request is about.")] = "",
    common: Common = COMMON,
) -> int:
    """What proposed paths mean; one that is not there becomes a question. Exits 1 when none is there."""
    from mog.app import plain_context, present_context

    with door.opened(common) as workspace:
        made = workspace.context.scope(paths, query)
    beliefs.document(present_context.shape(made), plain_context.scope(made), common)
    return exit_codes.OK if made.present else exit_codes.NOTHING


@context.command
def create(
    *words: Words,
    pin: Annotated[
        list[str] | None, Parameter(negative="", show_default=False, help="A place to keep in it; up to 32.")
    ] = None,
    common: Common = COMMON,
) -> int:
    """Keep a query and places under a handle, which `mog search` takes in place of words."""
    from mog.app import plain_context, present_context

    with door.opened(common) as workspace:
        made = workspace.context.create(" ".join(words), pin or [])
    beliefs.document(present_context.handle(made), plain_context.handle(made), common)
    return exit_codes.OK


@context.command
def load(
    handle: Annotated[str, Parameter(help="ctx://…")], /, *, budget: Budget = DEFAULT_BUDGET, common: Common = COMMON
) -> int:
    """What a handle means now."""
    with door.opened(common) as workspace:
        made = workspace.context.load(handle, budget=budget)
    packs.show(made, common)
    return exit_codes.OK if made.items else exit_codes.NOTHING
