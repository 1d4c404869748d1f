"""The only writer of stderr: errors with their way out, notes, progress of anything longer than a second.

Who calls: ``run.py`` for errors, verbs for progress and notes. What may not come in: data (``output.py``).
"""

from __future__ import annotations

import sys
import time
from typing import TextIO

from mog.app.cli.output import glyphs
from mog.app.present import clean
from mog.engine.errors import AmbiguousTarget, MogError
from mog.engine.model import Progress

SHOWN_CANDIDATES = 20


def error(fault: MogError) -> None:
    """What is wrong, where, what to do next; candidates of an ambiguous name."""
    rows, way_out = [f"mog: {fault.what}"], fault.way_out
    if fault.where:
        rows.append(f"  where: {fault.where}")
    if isinstance(fault, AmbiguousTarget):
        rows += [f"  could be: {candidate}" for candidate in fault.candidates[:SHOWN_CANDIDATES]]
        more = len(fault.candidates) - SHOWN_CANDIDATES
        rows += [f"  and {more} more"] if more > 0 else []
        way_out = "give one of these in full"
    if way_out:
        rows.append(f"  way out: {way_out}")
    _write(rows)


def note(text: str, *, quiet: bool = False) -> None:
    """One sentence beside the data."""
    if not quiet:
        _write([f"mog: {text}"])


def fault(problem: BaseException) -> None:
    """A bug of ours: the whole traceback, made safe, because names of the repository may be in it."""
    import traceback

    rows = "".join(traceback.format_exception(problem)).splitlines()
    _write([*rows, "mog: this is a fault in mog, not in your repository"])


def _write(rows: list[str]) -> None:
    sys.stderr.write("".join(clean(row) + "\n" for row in rows))
    sys.stderr.flush()


class ProgressBar:
    """Draws ``Progress`` records on one line of a terminal, from the second on, ten times a second at most.

    Use as a context manager; call it with each record. Not a terminal, or quiet: draws nothing.
    """

    after = 1.0
    every = 0.1
    width = 24

    def __init__(self, *, quiet: bool = False, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._draws = not quiet and self._stream.isatty()
        self._full, self._rest = ("#", ".") if glyphs(self._stream).into == "<" else ("█", "░")
        self._next = time.monotonic() + self.after
        self._drawn = False

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *exc: object) -> None:
        if self._drawn:
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        if not self._draws or now < self._next:
            return
        self._next = now + self.every
        self._drawn = True
        self._stream.write(f"\r\x1b[K{clean(self._text(progress))}")
        self._stream.flush()

    def _text(self, progress: Progress) -> str:
        if not progress.total:
            return f"{progress.stage} {progress.done:,}"
        share = min(1.0, progress.done / progress.total)
        filled = round(share * self.width)
        bar = self._full * filled + self._rest * (self.width - filled)
        return f"{progress.stage:<10} {bar} {share:>4.0%}  {progress.done:,} of {progress.total:,}"
