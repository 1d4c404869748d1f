"""The protocol surface: ``mog serve --mcp``, and ``main`` for a program that embeds it with workers of its own.

Who calls: ``app/cli/serve.py`` and embedding programs. What may not come in: imports beyond the standard library and the engine's
errors; the protocol's package is loaded only by a process that answers itself (``host``).
"""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mog.engine.executor.registry import TaskRegistry


def main(argv: Sequence[str] | None = None, *, registry: TaskRegistry | None = None) -> int:
    """Serve until the client goes; the exit code.

    Args:
        argv: options of ``mog serve --mcp`` (default: the process's own). registry: workers and auditors of the program; a session
            that needs a key nobody brought fails closed before anything is served.
    """
    import sys

    from mog.app.mcp.options import parse
    from mog.app.mcp.serving import serve
    from mog.app.present import clean
    from mog.engine.errors import MogError

    try:
        return serve(parse(sys.argv[1:] if argv is None else argv), registry=registry)
    except MogError as problem:
        sys.stderr.write(f"mog: {clean(str(problem))}\n")
        return problem.exit_code
