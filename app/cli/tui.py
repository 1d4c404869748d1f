"""``mog tui``: the workbench, on this terminal or in a browser of this machine, or one of its panes as plain text."""

from __future__ import annotations

import sys
from dataclasses import replace
from os import get_terminal_size
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter, validators

from mog.app.cli import diagnostics, door, exit_codes, output
from mog.app.cli.options import COMMON, Common
from mog.engine.errors import UsageError

if TYPE_CHECKING:
    from mog.app.config import Config
    from mog.engine.workspace import Workspace

PIPE_WIDTH = 100


def tui(
    *,
    plain: Annotated[
        str | None, Parameter(show_default=False, help="Print this pane as text: graph, map, drift, health or all.")
    ] = None,
    theme: Annotated[str, Parameter(show_default=False, help="Name of a theme (default: one for the terminal).")] = "",
    motion: Annotated[bool, Parameter(show_default=False, help="Mark rows that changed for a moment.")] = True,
    mouse: Annotated[bool, Parameter(show_default=False, help="Listen to the mouse.")] = True,
    keys: Annotated[bool, Parameter(negative="", show_default=False, help="Print the keys as you have them.")] = False,
    fresh: Annotated[
        bool, Parameter(negative="", show_default=False, help="Begin as at a first start, not where you were.")
    ] = False,
    serve: Annotated[
        bool, Parameter(negative="", show_default=False, help="Show it in a browser: print an address of this machine.")
    ] = False,
    port: Annotated[
        int | None,
        Parameter(
            validator=validators.Number(gte=0, lte=65535),
            show_default=False,
            help="Port of --serve (default: a free one).",
        ),
    ] = None,
    agents: Annotated[
        bool, Parameter(negative="--no-agents", show_default=False, help="Serve agents while it is open.")
    ] = True,
    common: Common = COMMON,
) -> int:
    """Open the workbench, here or in a browser, or print one of its panes or its keys."""
    if serve:
        if plain is not None:
            raise UsageError("a pane as text is not served", where="--plain", way_out="leave out --plain or --serve")
        return _served(port or 0, theme, motion, mouse, common)
    if port is not None:
        raise UsageError("there is nothing to listen for", where="--port", way_out="mog tui --serve --port N")
    with door.opened_with_config(common) as (workspace, config):
        if keys:
            return _keys(config)
        if plain is None:
            return open_workbench(
                workspace, config, theme=theme, motion=motion, mouse=mouse, fresh=fresh, agents=agents
            )
        from mog.app.tui.plain import report

        text = report(workspace, None if plain == "all" else plain, _width())
    output.script(text)
    return exit_codes.OK


def open_workbench(
    workspace: Workspace,
    config: Config,
    *,
    theme: str = "",
    motion: bool = True,
    mouse: bool = True,
    fresh: bool = False,
    agents: bool = True,
) -> int:
    """Run the workbench until it is closed; its exit code. Without an index it builds one on screen.

    ``agents``: it owns the workspace and serves agents while it is open, or stands beside whoever does.
    """
    from mog.app.mcp.hosting import Hosting
    from mog.app.tui.app import run
    from mog.app.tui.kept import file_of
    from mog.app.tui.options import from_config

    options = replace(from_config(config), kept=file_of(workspace.root), fresh=fresh)
    hosting = Hosting(workspace, door.embedded()) if agents else None
    first = not workspace.has_index()
    return run(
        workspace, index_first=first, theme=theme, motion=motion, mouse=mouse, options=options, agents=hosting
    )


def _keys(config: Config) -> int:
    from mog.app.tui.cheatsheet import text
    from mog.app.tui.options import from_config

    output.script(text(from_config(config).keymap))
    return exit_codes.OK


def _served(port: int, theme: str, motion: bool, mouse: bool, common: Common) -> int:
    """Serve until ctrl+c or a signal. The address is the one thing on stdout."""
    from mog.app.web.server import serve

    with door.opened(common) as workspace:  # an error of the folder or its configuration is said here, not in a page
        root = workspace.root
    # -P: what stands in the folder this is called from is no module of ours
    vector = [sys.executable, "-P", "-m", "mog", "tui", "--repo", str(root), *(["--theme", theme] if theme else [])]
    vector += [] if motion else ["--no-motion"]
    vector += [] if mouse else ["--no-mouse"]

    def ready(address: str) -> None:
        if common.json:
            output.document({"address": address})
        else:
            output.script(address)
        sys.stdout.flush()
        diagnostics.note("the workbench is at this address, for this machine alone; ctrl+c ends it", quiet=common.quiet)

    return serve(vector, port, name=root.name, ready=ready, say=lambda text: diagnostics.note(text, quiet=False))


def _width() -> int:
    return get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else PIPE_WIDTH
