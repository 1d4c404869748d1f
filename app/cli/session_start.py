"""``mog hook session-start``: what session hooks of agent clients call. It says little, is quick, and never fails.

Who calls: ``main.py`` for the bare command, ``hook.py`` for one with options. What may not come in: the parser of the command line,
which takes longer to load than the answer takes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from mog.app.clients import briefing
from mog.app.present import clean

SECONDS = 0.25  # of the whole call
LEAST = 0.1  # of looking, however long loading took


def main() -> int:
    """Print the briefing for the current folder. Always 0: a session without it is better than one that does not start."""
    from mog.app.cli import output

    output.prepare(sys.stdout, sys.stderr)
    text = told(Path.cwd())
    if text:
        output.script(text)
        sys.stdout.flush()
    return 0


def told(start: Path) -> str:
    """The briefing for a folder, "" when nothing is known; why there is none goes to stderr. Raises nothing."""
    until = time.monotonic() + SECONDS
    try:
        if briefing.known_root(start.absolute()) is None:
            return ""
        from mog.engine.workspace import Workspace

        with Workspace.open(start) as workspace:
            briefing.prepare(workspace)
            return "\n".join(briefing.briefing(workspace, max(until, time.monotonic() + LEAST)))
    except Exception as problem:  # whatever it is, it must not stop the client's session
        sys.stderr.write(f"mog: nothing to tell the session: {clean(str(problem))}\n")
        return ""
