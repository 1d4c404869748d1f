"""The post-commit hook of git: a marked block in the hook of a clone that brings the index up to date in the background.

Who calls: ``app/cli/hook.py``. What may not come in: other hooks, the index.

The block stands right below the first line of the script, because hooks often end in ``exec`` or ``exit``; it starts one detached
process and goes on at once, so it can neither fail nor delay a commit. Where hooks lie: ``core.hooksPath``, else ``hooks`` of the git
folder that all worktrees share (git-config(1), githooks(5)). A folder of hooks outside of the clone serves other repositories too and
is refused.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from mog.app.clients import disk
from mog.engine.code import git
from mog.engine.errors import ConfigError, NoWorkspace, PolicyDenied

NAME = "post-commit"
BEGIN = "# >>> mog post-commit >>>"
END = "# <<< mog post-commit <<<"
HEAD = "#!/bin/sh\n# made by mog hook install\n"
SHELLS = ("sh", "bash", "dash", "ash", "ksh", "zsh")
_BLOCK = re.compile(rf"^{re.escape(BEGIN)}\r?\n.*?^{re.escape(END)}(?:\r?\n|\Z)", re.M | re.S)
_SHELL = re.compile(rf"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?(?:\S*/)?)?(?:{'|'.join(SHELLS)})(?:\s|\Z)")


@dataclass(frozen=True, slots=True)
class Hook:
    """The hook of a clone as it is.

    Attributes:
        seen: its file. shared: whether it lies in the work tree, where others get it too.
        text: its script, "" when there is none. runs: whether git would run it. block: our lines, "" without.
    """

    seen: disk.Seen
    shared: bool
    text: str
    runs: bool
    block: str

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.seen.path

    @property
    def state(self) -> str:
        """ "no hook", "not installed", "installed", or "installed, not executable"."""
        if self.seen.data is None:
            return "no hook"
        if not self.block:
            return "not installed"
        return "installed" if self.runs else "installed, not executable"


def find(start: Path) -> Hook:
    """The hook of the clone around ``start``.

    Raises:
        NoWorkspace: no git repository. GitRefused. PolicyDenied: hooks lie outside of the clone, or a link leads out of it.
        ConfigError: the hook is no text. OSError.
    """
    repo = git.open_repo(start)
    if repo is None:
        raise NoWorkspace("there is no git repository here", where=str(start), way_out="git init, or go into one")
    folder = _folder(repo)
    inside = (repo.top, repo.common_dir)
    if not any(Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(root)) for root in inside):
        raise PolicyDenied(
            "core.hooksPath names a folder outside of this clone; its hooks run in other repositories too", where=str(folder),
            way_out=f"let its {NAME} start `mog index` in the background, or unset core.hooksPath; nothing was written",
        )  # fmt: skip
    seen = disk.look(folder / NAME, *inside)
    try:
        text = (seen.data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigError(
            "this hook is no text", where=str(seen.path), way_out="let it start `mog index` itself"
        ) from error
    found = _BLOCK.search(text)
    runs = seen.data is not None and (os.name == "nt" or os.access(seen.target, os.X_OK))
    in_git = seen.target.is_relative_to(os.path.realpath(repo.common_dir))
    return Hook(seen, not in_git, text, runs, found[0] if found else "")


def installed(hook: Hook, program: str) -> bytes:
    """The script with the block; ``program`` is written by path only where nobody else gets it.

    Raises:
        ConfigError: the hook is written in another language, or is not executable, so that git ignores it today.
    """
    block = _block("mog" if hook.shared else program)
    if hook.seen.data is None:
        return (HEAD + block).encode()
    if not hook.runs:
        raise ConfigError(
            "this hook is not executable, so git does not run it", where=str(hook.path),
            way_out="chmod +x it if you want it to run, or delete it; nothing was written",
        )  # fmt: skip
    if hook.block:
        return hook.text.replace(hook.block, block, 1).encode()
    first, rest = _split(hook)
    return (first + block + rest).encode()


def removed(hook: Hook) -> bytes | None:
    """The script without the block, None when nothing is left but what a file of ours begins with."""
    text = hook.text.replace(hook.block, "", 1) if hook.block else hook.text
    return None if text in ("", HEAD) else text.encode()


def write(hook: Hook, data: bytes | None) -> None:
    """Write the script in one step; a new one becomes executable. Raises HeldByOther, OSError."""
    if data == hook.seen.data:
        return
    disk.replace(hook.seen, data)
    if hook.seen.data is None and data is not None:
        mode = hook.seen.target.stat().st_mode
        hook.seen.target.chmod(mode | (mode & 0o444) >> 2)


def _block(program: str) -> str:
    return "\n".join(
        [
            BEGIN,
            "# brings the index of mog up to date in the background; `mog hook uninstall` takes these lines away",
            f"mog_program={shlex.quote(program)}",
            'command -v "$mog_program" >/dev/null 2>&1 || mog_program=mog',
            'if command -v "$mog_program" >/dev/null 2>&1; then',
            '  (unset $(git rev-parse --local-env-vars); trap "" HUP; exec "$mog_program" index --quiet) </dev/null >/dev/null 2>&1 &',
            "fi",
            END,
            "",
        ]
    )


def _split(hook: Hook) -> tuple[str, str]:
    """The first line of a shell script and the rest; a script without ``#!`` is one of sh, and its first line is code."""
    first, newline, rest = hook.text.partition("\n")
    if not first.startswith("#!"):
        return "", hook.text
    if not _SHELL.match(first):
        raise ConfigError(
            f"this hook is no shell script: {first[:60]}", where=f"{hook.path}:1",
            way_out="let it start `mog index --quiet` in the background itself; nothing was written",
        )  # fmt: skip
    return first + (newline or "\n"), rest


def _folder(repo: git.Repo) -> Path:
    """Where git looks for hooks. Our own git is run with hooks switched off, so what the command line says is left out."""
    listed = git.run(
        repo.top, "config", "--null", "--show-origin", "--type=path", "--get-all", "core.hooksPath", accept=(0, 1)
    ).split(b"\0")
    values = [value for origin, value in zip(listed[::2], listed[1::2], strict=False) if origin != b"command line:"]
    return repo.top / os.fsdecode(values[-1]) if values else repo.common_dir / "hooks"
