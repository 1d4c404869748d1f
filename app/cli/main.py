"""The door of the ``mog`` command. It answers ``--version`` itself and loads the command line for everything else.

Who calls: the installed ``mog`` script and ``mog/__main__.py``. What may not come in: imports beyond ``sys``.
"""

import sys

from mog import __version__


def main(argv: list[str] | None = None) -> int:
    """Run one command line (without the program name) and return the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"mog {__version__}\n")
        return 0
    from mog.app.cli.run import run

    return run(arguments)
