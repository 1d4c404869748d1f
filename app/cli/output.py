"""The only writer of stdout: data. JSON, JSON Lines, plain lines, each through ``app/present.py``.

Who calls: every verb, with a record. What may not come in: narration (``diagnostics.py``), text that was not cleaned.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

from mog.app import plain, present

if TYPE_CHECKING:
    from mog.app.cli.options import Common

_SGR = {"chip": "36", "name": "1", "muted": "2", "state": "33", "attn": "33"}


def prepare(*streams: TextIO) -> None:
    """Make writing total: what a stream cannot encode leaves as a visible escape, never as an error.

    ``LC_ALL=C`` asks for ASCII; Python would answer in UTF-8, so the stream is told.
    """
    for stream in streams:
        if isinstance(stream, io.TextIOWrapper):
            encoding = "ascii" if os.environ.get("LC_ALL") in ("C", "POSIX") else stream.encoding
            stream.reconfigure(encoding=encoding, errors="backslashreplace")


@cache
def glyphs_for(encoding: str) -> plain.Glyphs:
    """The marks that ``encoding`` can carry."""
    try:
        "─═·±→¬░“…■←".encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return plain.ASCII
    return plain.UNICODE


def glyphs(stream: TextIO | None = None) -> plain.Glyphs:
    """The marks of stdout (or of ``stream``)."""
    return glyphs_for((stream or sys.stdout).encoding or "ascii")


def colored(stream: TextIO, no_color: bool) -> bool:
    """Whether roles become colours: a terminal that can, and nobody asked for none."""
    environ = os.environ
    if no_color or environ.get("NO_COLOR") or environ.get("TERM") == "dumb" or not stream.isatty():
        return False
    return os.name != "nt" or bool(environ.get("WT_SESSION"))


def record(answer: object, common: Common) -> None:
    """An answer of the workspace, as JSON or as lines."""
    if common.json:
        document(present.as_json(answer))
    else:
        lines(plain.as_lines(answer, glyphs()), common)


def records(name: str, answers: Iterable[object], common: Common, empty: str) -> None:
    """Several records as ``{name: [...]}`` or as lines; ``empty`` is the sentence when there are none."""
    if common.json:
        document({name: [present.as_json(answer) for answer in answers]})
        return
    rows = [line for answer in answers for line in plain.as_lines(answer, glyphs())]
    lines(rows or [((empty, "muted"),)], common)


def confirm(answer: object, common: Common) -> None:
    """Like ``record``, for verbs whose point is the deed: ``--quiet`` leaves only JSON."""
    if common.json or not common.quiet:
        record(answer, common)


def document(value: Mapping[str, Any]) -> None:
    """One JSON document, already made of plain values; every string is cleaned (again: it costs little)."""
    from json import dumps

    sys.stdout.write(dumps(present.clean_tree(value), indent=2) + "\n")


def json_lines(rows: Iterable[Mapping[str, Any]]) -> int:
    """One JSON object a line, written as they come. Returns how many."""
    from json import dumps

    write, count = sys.stdout.write, 0
    for row in rows:
        write(dumps(present.clean_tree(row)) + "\n")
        count += 1
    return count


def lines(rows: Iterable[plain.Line], common: Common) -> None:
    """Plain lines, coloured by role where the terminal can."""
    color = colored(sys.stdout, common.no_color)
    for row in rows:
        text = _painted(plain.safe(row)) if color else plain.text_of(plain.safe(row))
        sys.stdout.write(text + "\n")


def _painted(row: plain.Line) -> str:
    return "".join(f"\x1b[{_SGR[role]}m{text}\x1b[0m" if role in _SGR and text else text for text, role in row)


def proof(value: Mapping[str, Any]) -> None:
    """A JSON document whose strings have to stay what they are, byte for byte; JSON's own escapes make it safe to print."""
    from json import dumps

    sys.stdout.write(dumps(value, indent=2, ensure_ascii=True) + "\n")


def verbatim(text: str) -> None:
    """A text that others hash: UTF-8 with ``\\n``, whatever the locale. Made by us, of letters and digits only."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))


def script(text: str) -> None:
    """A generated text of our own (shell completion), as it is."""
    sys.stdout.write(text if text.endswith("\n") else text + "\n")
