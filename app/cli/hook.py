"""``mog hook``: the post-commit hook of git, and what the session hooks of agent clients call."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from cyclopts import App

from mog.app.cli import beliefs, diagnostics, door, exit_codes, output
from mog.app.cli.options import COMMON, Common

if TYPE_CHECKING:
    from mog.app.clients.githook import Hook

HELP = "Keep the index up to date after each commit, and tell new agent sessions what changed."
hook = App(name="hook", help=HELP, result_action="return_value")


@hook.default
def default(*, common: Common = COMMON) -> int:
    """Say whether the post-commit hook is there, as `mog hook status`."""
    return status(common=common)


@hook.command
def install(*, common: Common = COMMON) -> int:
    """Add a marked block to this clone's post-commit hook: it starts `mog index` in the background, detached."""
    from mog.app.cli.mcp import own_program
    from mog.app.clients import githook

    found = githook.find(door.start_of(common))
    after = githook.installed(found, own_program())
    githook.write(found, after)
    _said(found, "unchanged" if after == found.seen.data else "installed", common)
    return exit_codes.OK


@hook.command
def uninstall(*, common: Common = COMMON) -> int:
    """Take the block away; a hook that holds nothing else is deleted."""
    from mog.app.clients import githook

    found = githook.find(door.start_of(common))
    if not found.block:
        _said(found, "not installed", common)
        return exit_codes.NOTHING
    githook.write(found, githook.removed(found))
    _said(found, "uninstalled", common)
    return exit_codes.OK


@hook.command
def status(*, common: Common = COMMON) -> int:
    """Say where the post-commit hook of this clone is, and whether our block is in it."""
    from mog.app.clients import githook

    found = githook.find(door.start_of(common))
    document = {"path": str(found.path), "state": found.state, "shared": found.shared}
    beliefs.document(document, [((found.state, ""), (f"  {found.path}", "muted"))], common)
    return exit_codes.OK if found.state == "installed" else exit_codes.NOTHING


@hook.command(name="session-start")
def session_start(*, common: Common = COMMON) -> int:
    """Print what a new agent session should know, in at most 300 tokens; nothing when nothing is known. Never fails."""
    from mog.app.cli.session_start import told

    text = told(common.repo or Path.cwd())
    if common.json:
        output.document({"lines": text.splitlines()})
    elif text:
        output.script(text)
    return exit_codes.OK


def _said(found: Hook, word: str, common: Common) -> None:
    if common.json:
        output.document({"path": str(found.path), "result": word, "shared": found.shared})
    elif not common.quiet:
        output.lines([((word, ""), (f"  {found.path}", "muted"))], common)
    if found.shared and word == "installed":
        diagnostics.note(f"{found.path} lies in the work tree: whoever gets it needs mog on PATH", quiet=common.quiet)
