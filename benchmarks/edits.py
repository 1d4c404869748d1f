"""Edits of one file, the same for every tool that is measured: each is undone by git afterwards.

Who calls: ``benchmarks.index`` and ``benchmarks.live``. What may not come in: measuring.
"""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.corpora import Corpus

KINDS = ("append", "body", "comment", "hub")
SAID = {
    "append": "a function appended to a leaf module",
    "body": "one statement inside a function",
    "comment": "a comment appended",
    "hub": "a method added to a class much else rests on",
}


def target(corpus: Corpus, kind: str) -> str:
    """Path of the file that an edit of this kind changes."""
    return corpus.hub if kind == "hub" else corpus.leaf


def apply(corpus: Corpus, root: Path, kind: str, number: int = 0) -> str:
    """Edit the file and return its path relative to the root; ``number`` makes repeated edits differ."""
    path = root / target(corpus, kind)
    python = path.suffix == ".py"
    text = path.read_text(encoding="utf-8")
    path.write_text(_EDITS[kind](text, number, python, corpus.hub_line), encoding="utf-8")
    return target(corpus, kind)


def _append(text: str, number: int, python: bool, _: str) -> str:
    added = f"def bench_added_{number}(value):\n    return value\n"
    typed = f"export function benchAdded{number}(value: number) {{\n  return value;\n}}\n"
    return f"{text}\n\n{added if python else typed}"


def _body(text: str, number: int, python: bool, _: str) -> str:
    """Puts an assignment before the first indented ``return``."""
    statement = f"bench = {number}" if python else f"const bench = {number};"
    return re.sub(r"^([ \t]+)(return\b)", rf"\g<1>{statement}\n\g<1>\g<2>", text, count=1, flags=re.MULTILINE)


def _comment(text: str, number: int, python: bool, _: str) -> str:
    return f"{text}{'#' if python else '//'} bench {number}\n"


def _hub(text: str, number: int, python: bool, line: str) -> str:
    """Puts a method before the first member after the class line."""
    head, found, tail = text.partition(line)
    member = r"^    (?=def |@|async def )" if python else r"^  (?=constructor\b|/\*\*)"
    method = (
        f"    def bench_{number}(self):\n        return self\n\n    "
        if python
        else f"  bench{number}() {{ return 1; }}\n\n  "
    )
    return head + found + re.sub(member, lambda _: method, tail, count=1, flags=re.MULTILINE)


_EDITS = {"append": _append, "body": _body, "comment": _comment, "hub": _hub}
