"""A small indexed repository and several clients of it, for the measurements of ``mog serve --mcp``.

Who calls: ``mcp_kill``, ``mcp_latency``, ``mcp_idle``, tests of the same rules. What may not come in: rules about what an answer says.
The clients are processes of their own and speak the protocol's lines (tests/helpers/mcp_kit.py), so that each byte is seen.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import report
from mog.engine.workspace import Workspace

sys.path.append(str(report.REPOSITORY / "tests" / "helpers"))
from mcp_kit import LEGACY, MODERN, Gone, Raw

__all__ = ["LEGACY", "MODERN", "Gone", "Raw", "apart", "echo", "left_behind", "made"]
_APART = {"MOG_TRUST_DIR": "trust", "MOG_KEYS_DIR": "keys", "MOG_WITNESS_DIR": "witness", "PYTHONPYCACHEPREFIX": "compiled"}
_UNCOMPILED = "PYTHONDONTWRITEBYTECODE"
_ECHO = '''
from mcp.server import MCPServer
server = MCPServer("one")
@server.tool()
def echo(text: str) -> str:
    """Say it back."""
    return text
server.run("stdio")
'''


@contextlib.contextmanager
def apart() -> Iterator[Path]:
    """A temporary folder; keys, trust and witness of this person stay out of what runs in it.

    What runs in it keeps its compiled modules there, as an installed program does: else every start of ours, but not of a package that
    was compiled when it was installed, would be paid with a compilation.
    """
    with tempfile.TemporaryDirectory(prefix="mog-mcp-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        before = {key: os.environ.get(key) for key in (*_APART, _UNCOMPILED)}
        os.environ.update({key: str(folder / below) for key, below in _APART.items()})
        os.environ.pop(_UNCOMPILED, None)
        try:
            yield folder
        finally:
            for key, value in before.items():
                os.environ.pop(key, None) if value is None else os.environ.__setitem__(key, value)


def made(root: Path, files: int = 12) -> Path:
    """A repository of some Python files that call each other, committed and indexed."""
    root.mkdir(parents=True)
    for number in range(files):
        below = f"from m{number - 1} import f{number - 1}\n\n\n" if number else ""
        body = f"f{number - 1}(x)" if number else "x"
        (root / f"m{number}.py").write_text(f"{below}def f{number}(x):\n    return {body}\n", encoding="utf-8")
    git = ["git", "-c", "user.name=A Person", "-c", "user.email=person@example.invalid"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*git, *command], cwd=root, check=True, stdin=subprocess.DEVNULL, timeout=60)
    Workspace.init(root)
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
    return root


def copied(root: Path, to: Path) -> Path:
    """An indexed repository elsewhere, so that serving it changes nothing of it."""
    shutil.copytree(root, to, symlinks=True, ignore=lambda path, _: ["run"] if path.endswith(".mog") else [])
    with Workspace.open(to) as workspace:
        workspace.index()
    return to


def echo(folder: Path) -> list[str]:
    """Command of a server with one tool, of the same SDK."""
    script = folder / "echo_server.py"
    script.write_text(_ECHO, encoding="utf-8")
    return [sys.executable, str(script)]


def left_behind(root: Path) -> list[int]:
    """Processes that still have the folder in their command line (Linux)."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            with contextlib.suppress(OSError):
                line = Path(f"/proc/{entry}/cmdline").read_bytes()
                if os.fsencode(str(root)) in line and b"serve" in line:
                    found.append(int(entry))
    return found
