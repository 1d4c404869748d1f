"""One command line from arguments to exit code: parse, run the verb, turn what goes wrong into a message and a code.

Who calls: ``main.py``. What may not come in: knowledge of a single verb.
"""

from __future__ import annotations

import os
import sys
from typing import TextIO

from cyclopts import CycloptsError

from mog.app.cli import diagnostics, exit_codes, output
from mog.app.cli.commands import VERBS, build
from mog.app.cli.names import nearest
from mog.app.cli.options import verb_first
from mog.engine.errors import MogError, UsageError


def run(arguments: list[str]) -> int:
    """Exit code of ``mog ARGUMENTS``; never raises for a foreseen failure."""
    output.prepare(sys.stdout, sys.stderr)
    try:
        code = _guarded(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # the reader has what it wanted; a second failure at interpreter exit is avoided by giving stdout nowhere to go
        _to_nowhere(sys.stdout)
        return exit_codes.OK
    except KeyboardInterrupt:
        diagnostics.note("cancelled")
        return exit_codes.CANCELLED
    return code


def _guarded(arguments: list[str]) -> int:
    words = verb_first(arguments)
    try:
        _known(words)
        result = build(helping="--help" in words or "-h" in words)(words)
    except CycloptsError as problem:
        return _refused(UsageError(str(problem).strip(), way_out=f"{_command(words)} --help"))
    except MogError as problem:
        return _refused(problem)
    except BrokenPipeError:
        raise
    except OSError as problem:
        where = os.fsdecode(problem.filename) if isinstance(problem.filename, (str, bytes)) else ""
        what = problem.strerror or type(problem).__name__
        return _refused(UsageError(what, where=where, way_out="check the folder, its permissions and the free space"))
    except Exception as problem:  # the last line of defence: an exit code of its own, and the traceback made safe
        diagnostics.fault(problem)
        return exit_codes.FAULT
    return result if isinstance(result, int) else exit_codes.OK


def _refused(problem: MogError) -> int:
    sys.stdout.flush()
    diagnostics.error(problem)
    return problem.exit_code


def _known(words: list[str]) -> None:
    """Refuse a first word that is no verb; without a verb cyclopts would hand it to the default command."""
    names = [verb.name for verb in VERBS]
    if not words or words[0].startswith("-") or words[0] in names:
        return
    near = nearest(words[0], names)
    way_out = f"the nearest is: mog {near}" if near else "mog --help lists the commands"
    raise UsageError(f"there is no command {words[0]}", way_out=way_out)


def _command(words: list[str]) -> str:
    return f"mog {words[0]}" if words and not words[0].startswith("-") else "mog"


def _to_nowhere(stream: TextIO) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
