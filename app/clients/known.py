"""The clients that mog can be entered in: where each keeps its servers, under which key, and the fields of an entry.

Who calls: ``entries.py``. What may not come in: reading or writing. As documented in November 2026:

- Claude Code: ``.mcp.json`` and, for the user, ``~/.claude.json`` (moved by ``CLAUDE_CONFIG_DIR``), key ``mcpServers``
  (code.claude.com/docs/en/mcp). A project's file asks for approval once.
- Codex: ``.codex/config.toml``, read in trusted projects only, and ``~/.codex/config.toml`` (moved by ``CODEX_HOME``), tables
  ``[mcp_servers.NAME]`` (developers.openai.com/codex/mcp; codex-rs, openai/codex).
- Cursor: ``.cursor/mcp.json`` and ``~/.cursor/mcp.json``, key ``mcpServers``, ``${workspaceFolder}`` in arguments
  (cursor.com/docs/mcp).
- VS Code: ``.vscode/mcp.json`` and ``mcp.json`` of the default profile, key ``servers``, ``type`` required, ``${workspaceFolder}`` in
  arguments (code.visualstudio.com/docs/agents/reference/mcp-configuration).
- Zed: ``.zed/settings.json`` and ``settings.json`` of the user, key ``context_servers`` (zed.dev/docs/ai/mcp). ``args`` may not be
  missing; ``source`` is what releases of 2025 tell kinds of servers by, later ones ignore it.
- Gemini CLI: ``.gemini/settings.json`` and ``~/.gemini/settings.json``, key ``mcpServers``; comments are allowed
  (geminicli.com/docs/tools/mcp-server; packages/cli/src/config/settings.ts).
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mog.engine.errors import UsageError

SERVER = "mog"
SCOPES = ("project", "user")


@dataclass(frozen=True, slots=True)
class Place:
    """Where configuration is looked for.

    Attributes:
        home: the user's home. root: the project, None outside of one. env: the environment. system: as ``sys.platform``.
    """

    home: Path
    root: Path | None
    env: Mapping[str, str] = field(default_factory=dict)
    system: str = "linux"


@dataclass(frozen=True, slots=True)
class Client:
    """One client.

    Attributes:
        name: what ``--client`` takes. title: its name for people.
        holder: key that holds the servers. project: its file below the root of a project.
        fields: fixed fields of an entry, before command and arguments. folder_argument: variable for the project's folder that it
            replaces in a project's file, "" where it starts servers in that folder itself.
        programs: commands that show that it is there. marks: files or folders of a project that do.
        note: what is left to do after a project's file was written.
    """

    name: str
    title: str
    holder: str
    project: str
    fields: Mapping[str, str]
    folder_argument: str
    programs: tuple[str, ...]
    marks: tuple[str, ...]
    note: str = ""

    @property
    def form(self) -> str:
        """ "toml" or "json" (with comments)."""
        return "toml" if self.project.endswith(".toml") else "json"

    def entry(self, command: str, arguments: tuple[str, ...], scope: str) -> dict[str, Any]:
        """What is written under the name of the server."""
        place = ("--repo", self.folder_argument) if self.folder_argument and scope == "project" else ()
        return {**self.fields, "command": command, "args": [*arguments, *place]}

    def file(self, place: Place, scope: str) -> tuple[Path, Path]:
        """The file, and the folder that it may not lead out of.

        Raises:
            UsageError: a project's file is asked for outside of a project.
        """
        if scope == "user":
            folder, moved = _user_folder(self.name, place)
            return folder / _USER_FILES[self.name], folder if moved else place.home
        if place.root is None:
            way_out = "go into a repository, or write it for the user: --scope user"
            raise UsageError("there is no project here", where="--scope project", way_out=way_out)
        return place.root / self.project, place.root

    def is_there(self, place: Place, scope: str) -> bool:
        """Whether there are traces of the client: its files, its folder, its program."""
        if scope == "project" and place.root is not None and any((place.root / mark).exists() for mark in self.marks):
            return True
        folder = _user_folder(self.name, place)[0]
        own = folder / _USER_FILES[self.name] if folder == place.home else folder
        path = place.env.get("PATH")
        return own.exists() or (bool(path) and any(shutil.which(program, path=path) for program in self.programs))


_STDIO = {"type": "stdio"}
_USER_FILES = {
    "claude": ".claude.json", "codex": "config.toml", "cursor": "mcp.json", "vscode": "mcp.json", "zed": "settings.json",
    "gemini": "settings.json",
}  # fmt: skip

CLIENTS = (
    Client(
        "claude", "Claude Code", "mcpServers", ".mcp.json", _STDIO, "", ("claude",), (".mcp.json", ".claude"),
        "Claude Code asks once whether the servers of .mcp.json may run",
    ),
    Client(
        "codex", "Codex", "mcp_servers", ".codex/config.toml", {}, "", ("codex",), (".codex",),
        "Codex reads .codex/config.toml in projects that it trusts, and nowhere else",
    ),
    Client(
        "cursor", "Cursor", "mcpServers", ".cursor/mcp.json", _STDIO, "${workspaceFolder}", ("cursor", "cursor-agent"), (".cursor",),
        "Cursor shows the server under Customize; switch it on there if it is off",
    ),
    Client(
        "vscode", "VS Code", "servers", ".vscode/mcp.json", _STDIO, "${workspaceFolder}", ("code",), (".vscode",),
        "VS Code asks for trust when it starts the server for the first time",
    ),
    Client(
        "zed", "Zed", "context_servers", ".zed/settings.json", {"source": "custom"}, "", ("zed", "zeditor"), (".zed",),
        "Zed starts servers of a project in trusted worktrees only",
    ),
    Client(
        "gemini", "Gemini CLI", "mcpServers", ".gemini/settings.json", {}, "", ("gemini",), (".gemini",),
        "Gemini CLI ignores .gemini/settings.json of folders that it does not trust",
    ),
)  # fmt: skip


def _user_folder(name: str, place: Place) -> tuple[Path, bool]:
    """The folder of the user's file, and whether a variable moved it."""
    moved = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}.get(name, "")
    if moved and place.env.get(moved):
        return Path(place.env[moved]), True
    if name in ("vscode", "zed"):
        return _editor_folder(name, place)
    return (place.home if name == "claude" else place.home / f".{name}"), False


def _editor_folder(name: str, place: Place) -> tuple[Path, bool]:
    """Of VS Code and Zed, which follow the platform; ``XDG_CONFIG_HOME`` counts as moved."""
    parts = ("Code", "User") if name == "vscode" else ("zed",)
    if place.system == "win32":
        base = place.env.get("APPDATA")
        return Path(base or place.home / "AppData" / "Roaming").joinpath(*(("Zed",) if name == "zed" else parts)), bool(
            base
        )
    if place.system == "darwin" and name == "vscode":
        return (place.home / "Library" / "Application Support").joinpath(*parts), False
    base = place.env.get("XDG_CONFIG_HOME") if place.system != "darwin" else None
    return Path(base or place.home / ".config").joinpath(*parts), bool(base)
