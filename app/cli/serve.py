"""``mog serve``: serve agents over the Model Context Protocol, or planners over HTTP; on loopback or on this process's own streams."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter, validators

from mog.app.cli.options import COMMON, Common
from mog.engine.errors import UsageError


def serve(
    *,
    mcp: Annotated[
        bool, Parameter(negative="", show_default=False, help="The Model Context Protocol, for agents.")
    ] = False,
    http: Annotated[
        bool,
        Parameter(negative="", show_default=False, help="The graph as documents, for planners: on loopback, behind a token."),
    ] = False,
    root: Annotated[
        list[Path] | None,
        Parameter(negative="", show_default=False, help="With --http: one more folder to serve; may be repeated."),
    ] = None,
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
    """Serve this repository to agents until the client goes, or to planners until it is told to stop."""
    if mcp is http:
        what = "two protocols to serve" if mcp else "no protocol to serve"
        raise UsageError(what, where="serve", way_out="mog serve --mcp, or mog serve --http")
    from mog.app.cli import door

    if http:
        if demo or allow_writes or transport != "stdio":
            raise UsageError("that option is of --mcp", where="serve --http", way_out="mog serve --http --port N --root PATH")
        from mog.app.http import server

        server.serve([door.start_of(common), *(root or [])], port)
    if root:
        raise UsageError("--root is of --http", where="serve --mcp", way_out="mog serve --mcp --repo PATH")
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
