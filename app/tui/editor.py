"""The command line that opens a file at a line in the person's editor.

Who calls: the ``o`` key.
What may not come in: running it, a shell, anything a repository says. The editor comes from the environment only.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path

_COLON = {"hx", "helix", "subl", "zed", "micro", "kak"}
_GOTO = {"code", "codium", "cursor", "code-insiders", "windsurf"}


def command(environ: Mapping[str, str], file: Path, line: int) -> list[str] | None:
    """Argument list for ``$VISUAL`` or ``$EDITOR``; ``None`` when neither is set.

    Args:
        file: absolute path, so it is never taken for an option.
        line: 1-based line, 0 for none.
    """
    editor = environ.get("VISUAL") or environ.get("EDITOR") or ""
    argv = shlex.split(editor, posix=os.name != "nt")
    if not argv:
        return None
    name = Path(argv[0].strip('"')).stem
    if not line:
        return [*argv, str(file)]
    if name in _GOTO:
        return [*argv, "--goto", f"{file}:{line}"]
    if name in _COLON:
        return [*argv, f"{file}:{line}"]
    return [*argv, f"+{line}", str(file)]
