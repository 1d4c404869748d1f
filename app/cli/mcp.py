"""``mog mcp``: enter mog in the configuration of agent clients, take it away, say where it stands."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from mog.app.cli import beliefs, diagnostics, door, exit_codes, output
from mog.app.cli.names import nearest
from mog.app.cli.options import COMMON, Common
from mog.app.plain import Line
from mog.engine.errors import NotFound, UsageError

if TYPE_CHECKING:
    from mog.app.clients.entries import Change, State
    from mog.app.clients.known import Client, Place

HELP = "Enter mog in the configuration of Claude Code, Codex, Cursor, VS Code, Zed and Gemini CLI."
mcp = App(name="mcp", help=HELP, result_action="return_value")

Names = Annotated[
    str,
    Parameter(
        name=["--client", "-c"], help="claude, codex, cursor, vscode, zed, gemini (commas between), all, or detected."
    ),
]
Scope = Annotated[Literal["project", "user"], Parameter(help="The file of this project, or yours for every project.")]
DryRun = Annotated[bool, Parameter(negative="", show_default=False, help="Print the difference and write nothing.")]


@mcp.default
def default(*, common: Common = COMMON) -> int:
    """Say where mog stands, as `mog mcp status`."""
    return status(common=common)


@mcp.command
def install(
    *,
    client: Names = "detected",
    scope: Scope = "project",
    tools: Annotated[str, Parameter(help="Tool sets with commas between: core, mesh, context, write.")] = "core",
    command: Annotated[str, Parameter(show_default=False, help="Program to write in place of this mog.")] = "",
    dry_run: DryRun = False,
    common: Common = COMMON,
) -> int:
    """Enter mog as a server. What else stands in the file stays byte for byte; a backup is put beside it."""
    from mog.app.clients import entries
    from mog.app.mcp.options import chosen

    place = _place(common, scope)
    sets = chosen([tools])
    arguments = ("serve", "--mcp", *(("--tools", ",".join(sets)) if sets != ("core",) else ()))
    program = command or _program(scope)
    # all are planned before one is written: a damaged file stops the whole command
    changes = [entries.install(one, place, scope, program, arguments) for one in _chosen(client, place, scope)]
    _carry_out(changes, "installed", common, dry_run)
    if not dry_run and scope == "project":
        for change in changes:
            diagnostics.note(change.client.note, quiet=common.quiet or not change.changes)
        if not shutil.which(program):
            diagnostics.note(f"{program} is not on PATH; a client will not find it", quiet=common.quiet)
    return exit_codes.OK


@mcp.command
def uninstall(
    *, client: Names = "all", scope: Scope = "project", dry_run: DryRun = False, common: Common = COMMON
) -> int:
    """Take away what install wrote, and nothing else. Without a change since, the file is the one of before."""
    from mog.app.clients import entries

    place = _place(common, scope)
    changes = [entries.uninstall(one, place, scope) for one in _chosen(client, place, scope)]
    _carry_out(changes, "uninstalled", common, dry_run)
    return exit_codes.OK if any(change.changes for change in changes) else exit_codes.NOTHING


@mcp.command
def status(
    *,
    client: Names = "all",
    scope: Annotated[Literal["project", "user", "both"], Parameter(help="Which files to look at.")] = "both",
    common: Common = COMMON,
) -> int:
    """Say of each file: no file, not installed, installed, another command, damaged; and whether the program is there."""
    from mog.app.clients import entries

    place = _place(common, scope)
    scopes = [
        one for one in ("project", "user") if scope in (one, "both") and (one == "user" or place.root is not None)
    ]
    program = _program("user")
    states = [entries.state(one, place, each, program) for each in scopes for one in _chosen(client, place, each)]
    document = {"clients": [_state_document(state, place) for state in states]}
    beliefs.document(document, [_state_line(state, place) for state in states], common)
    if any(state.state == "damaged" for state in states):
        return exit_codes.CONFIG
    return exit_codes.OK if any(state.state == "installed" for state in states) else exit_codes.NOTHING


def _carry_out(changes: list[Change], done: str, common: Common, dry_run: bool) -> None:
    """Write what changes, and say it; also of those before one that could not be written."""
    from mog.app.clients import entries

    rows: list[Line] = []
    documents: list[dict[str, Any]] = []
    try:
        for change in changes:
            kept = None if dry_run else entries.apply(change)
            word = done if change.changes else "unchanged"
            shown = entries.difference(change) if dry_run and change.changes else []
            said = f" {'would be ' if shown else ''}{word}  "
            rows.append(((f"{change.client.title:<12}", "name"), (said, ""), _path(change)))
            rows += [((line, _role(line)),) for line in shown]
            rows += [((f"{'':<12} backup {kept}", "muted"),)] if kept else []
            documents.append(_change_document(change, word, kept, shown, dry_run))
    finally:
        if common.json:
            output.document({"clients": documents})
        elif dry_run or not common.quiet:
            output.lines(rows, common)


def _path(change: Change) -> tuple[str, str]:
    return str(change.seen.path), "muted"


def _role(line: str) -> str:
    return "state" if line[:1] in "+-" else "muted"


def _change_document(change: Change, word: str, kept: Path | None, shown: list[str], dry_run: bool) -> dict[str, Any]:
    return {
        "client": change.client.name, "scope": change.scope, "path": str(change.seen.path), "result": word,
        "written": change.changes and not dry_run, "backup": str(kept) if kept else None, "diff": shown,
    }  # fmt: skip


def _state_document(state: State, place: Place) -> dict[str, Any]:
    return {
        "client": state.client.name, "scope": state.scope, "path": str(state.path), "state": state.state,
        "command": list(state.command), "command_found": state.found, "detected": state.client.is_there(place, state.scope),
        "problem": state.problem,
    }  # fmt: skip


def _state_line(state: State, place: Place) -> Line:
    word = state.state
    if word in ("no file", "not installed") and not state.client.is_there(place, state.scope):
        word = "not there"
    gone = "  the program is not there" if state.command and not state.found else ""
    said = state.problem or " ".join(state.command)
    role = "attn" if word in ("damaged", "another command") or gone else ""
    return (
        (f"{state.client.title:<12}", "name"), (f" {state.scope:<8}", "muted"), (f"{word:<16}", role),
        (said or str(state.path), "muted"), (gone, "attn"),
    )  # fmt: skip


def _place(common: Common, scope: str) -> Place:
    """Home, project and environment of this call. Raises UsageError outside of a project, unless the user's files do."""
    from mog.app.clients.known import Place
    from mog.engine.errors import NoWorkspace
    from mog.engine.workspace import find_root

    try:
        root: Path | None = find_root(door.start_of(common).absolute())
    except NoWorkspace:
        if scope == "project":
            raise
        root = None
    return Place(Path.home(), root, os.environ, sys.platform)


def _chosen(names: str, place: Place, scope: str) -> list[Client]:
    from mog.app.clients.known import CLIENTS

    known = {one.name: one for one in CLIENTS}
    if names == "all":
        return list(CLIENTS)
    if names == "detected":
        found = [one for one in CLIENTS if one.is_there(place, scope)]
        if not found:
            raise NotFound("no client is there", where="--client detected", way_out=f"name one: {', '.join(known)}")
        return found
    return [known[name] for name in _named(names, list(known))]


def _named(names: str, known: list[str]) -> Iterator[str]:
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    for name in wanted:
        if name not in known:
            near = nearest(name, known)
            way_out = f"the nearest is {near}" if near else "one of " + ", ".join([*known, "all", "detected"])
            raise UsageError(f"there is no client {name}", where="--client", way_out=way_out)
    if not wanted:
        raise UsageError(
            "no client is named", where="--client", way_out="one of " + ", ".join([*known, "all", "detected"])
        )
    yield from dict.fromkeys(wanted)


def own_program() -> str:
    """This mog by its path: as PATH finds it, else as it lies beside the interpreter, else its name."""
    beside = Path(sys.executable).with_name("mog.exe" if os.name == "nt" else "mog")
    return shutil.which("mog") or (str(beside) if beside.is_file() else "mog")


def _program(scope: str) -> str:
    """The command to write: its name in a file that others get too, its path in yours, which editors start without a shell's PATH."""
    return "mog" if scope == "project" else own_program()
