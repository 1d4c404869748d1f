"""The door of the ``mog`` command. It answers ``--version`` itself, hands the session hook over, and for the rest
loads the command line.

Who calls: the installed ``mog`` script and ``mog/__main__.py``. What may not come in: imports beyond ``sys``.
"""

from __future__ import annotations

import sys

from mog import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mog.engine.executor.registry import TaskRegistry


def main(argv: list[str] | None = None, *, registry: TaskRegistry | None = None) -> int:
    """Run one command line (without the program name) and return the exit code.

    A program that embeds mog brings its workers and auditors as ``registry``; a key never becomes an import.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"mog {__version__}\n")
        return 0
    if arguments == ["hook", "session-start"]:
        from mog.app.cli.session_start import main as session_start

        return session_start()
    from mog.app.cli.run import run

    if registry is None:
        return run(arguments)
    from mog.app.cli import door

    with door.embedding(registry):
        return run(arguments)
