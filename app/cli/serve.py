"""``mog serve``: serve agents over the Model Context Protocol, on this process's own streams or on loopback."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter, validators

from mog.app.cli.options import COMMON, Common
from mog.engine.errors import UsageError


def serve(
    *,
    mcp: Annotated[
        bool, Parameter(negative="", show_default=False, help="The Model Context Protocol; there is no other yet.")
    ] = False,
    transport: Annotated[
        Literal["stdio", "http"],
        Parameter(help="stdio: the client starts it. http: it listens on loopback, behind a token."),
    ] = "stdio",
    port: Annotated[
        int, Parameter(validator=validators.Number(gte=0, lte=65535), help="Port of http; 0 lets the system choose.")
    ] = 0,
    tools: Annotated[str, Parameter(help="Tool sets with commas between: core, mesh, context, write.")] = "core",
    allow_writes: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="The controlled writes of the set `write` need no approval."),
    ] = False,
    checkpoint: Annotated[
        Literal["every-ask", "on-exit", "never"],
        Parameter(help="When counts of walks are written; never: this server writes nothing at all."),
    ] = "every-ask",
    demo: Annotated[
        bool, Parameter(negative="", show_default=False, help="Serve a made-up graph from a temporary folder.")
    ] = False,
    common: Common = COMMON,
) -> int:
    """Serve this repository to agents until the client goes. One process owns a workspace; the others bridge to it."""
    if not mcp:
        raise UsageError("there is one protocol to serve", where="serve", way_out="mog serve --mcp")
    from mog.app.cli import door
    from mog.app.mcp import options, serving

    asked = options.made(
        repo=common.repo,
        tools=tools,
        allow_writes=allow_writes,
        checkpoint=checkpoint,
        demo=demo,
        transport=transport,
        port=port,
    )
    serving.leave(serving.serve(asked, registry=door.embedded()))
