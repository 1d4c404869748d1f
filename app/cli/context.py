"""``mog context``: the catalog, the pack for a prompt, a scope of proposed paths, handles; snapshots and annotations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from mog.app.cli import beliefs, door, exit_codes, output, packs
from mog.app.cli.diagnostics import ProgressBar
from mog.app.cli.options import COMMON, Common
from mog.app.cli.packs import DEFAULT_BUDGET, Budget, Session
from mog.app.present import Block
from mog.engine.errors import UsageError

HELP = "Give prompts, agents and planners the graph: catalog, pack, scope, handles, snapshots, annotations."
PROMPT_CHARACTERS = 4_000_000
context = App(name="context", help=HELP, result_action="return_value")
_SNAPSHOTS = {
    "annotate": "Have symbols described by a model of your choice: a file goes out and comes back.",
    "snapshot": "Register the graph as it is: digests, counts, verdict; with --out every node and edge.",
    "versions": "List recorded versions of the graph, or say what differs between two.",
    "health": "Say whether a planner may rely on the index: healthy, warning or blocked, with reasons.",
    "impact": "Answer an impact query: what is reached along allowed edges, each with its evidence.",
}
for _name, _help in _SNAPSHOTS.items():
    context.command(f"mog.app.cli.snapshots:{_name}", name=_name, help=_help)

Words = Annotated[str, Parameter(help="What the request is about, in words.")]


@context.command
def catalog(*words: Words, common: Common = COMMON) -> int:
    """What there is, and which files and symbols may answer a request. Exits 4 when there is no index."""
    from mog.app import plain_context, present_context

    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        made = workspace.context.catalog(" ".join(words), progress=bar)
    beliefs.document(present_context.shape(made), plain_context.catalog(made), common)
    return exit_codes.OK if made.present else exit_codes.STALE


@context.command
def pack(
    *words: Words,
    into: Annotated[
        str,
        Parameter(
            show_default=False, allow_leading_hyphen=True, help="A prompt (a file, or - for stdin) to print with the section in it."
        ),
    ] = "",
    common: Common = COMMON,
) -> int:
    """The short section to put into a prompt. Exits 4 when there is no index; the section then says so."""
    from mog.app import plain_context, present_context
    from mog.app.plain import text_of

    with door.opened(common) as workspace, ProgressBar(quiet=common.quiet) as bar:
        made = workspace.context.prompt_pack(" ".join(words), progress=bar)
    section = plain_context.prompt(made)
    if into and not common.json:
        prompt = plain_context.into(_read(into), "\n".join(map(text_of, section)))
        section = [((Block(line), ""),) for line in prompt.removesuffix("\n").split("\n")]
        output.lines(section, common)
    else:
        beliefs.document(present_context.shape(made), section, common)
    return exit_codes.OK if made.present else exit_codes.STALE


def _read(name: str) -> str:
    """A prompt, from a file or from stdin. Raises UsageError."""
    try:
        return sys.stdin.read(PROMPT_CHARACTERS) if name == "-" else Path(name).read_text("utf-8")[:PROMPT_CHARACTERS]
    except (OSError, UnicodeError) as error:
        raise UsageError(f"the prompt cannot be read: {error}", where=name, way_out="give a text file in UTF-8, or -") from error


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
    handle: Annotated[str, Parameter(help="ctx://…")],
    /,
    *,
    budget: Budget = DEFAULT_BUDGET,
    session: Session = "",
    common: Common = COMMON,
) -> int:
    """What a handle means now."""
    with door.opened(common) as workspace:
        made = workspace.context.load(handle, budget=budget)
        turned = packs.served(workspace, made, session)
    packs.show(made, common, turned=turned)
    return exit_codes.OK if made.items else exit_codes.NOTHING
