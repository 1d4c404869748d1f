"""Plain text as prose: paragraphs and list items, nothing hidden but what is plainly not prose.

Called by ``readers.py`` and, for the bodies of commits, by ``gitlog.py``. What may not come in: markup, files.
"""

from __future__ import annotations

import re

from mog.engine.reason.prose.marked import Block, Canvas, Line, Mark, Prose, lines

_ITEM = re.compile(r"^[ \t]*(?:[-*+•‣]|\d{1,9}[.)]|\([a-z0-9]\))[ \t]+")
_CODE = re.compile(r"`{1,2}([^`\n]{1,200})`{1,2}")
_SESSION = re.compile(r"^[ \t]*(?:>>>|\.\.\. |\$ |#!|@@ |diff --git )")
_FRAME = re.compile(r"^[ \t]*([=\-~#*_+|])\1{2,}[ \t]*$|^[ \t]*[+|].*[+|][ \t]*$")


def read(text: str) -> Prose:
    """The prose of a plain text: blocks end at blank lines, list items and shell sessions."""
    canvas = Canvas(text)
    open_: list[Line] = []
    for line in lines(text):
        if not line.text.strip() or _FRAME.match(line.text) or _SESSION.match(line.text):
            _flush(canvas, open_)
        elif _ITEM.match(line.text):
            _flush(canvas, open_)
            open_.append(line)
        else:
            open_.append(line)
    _flush(canvas, open_)
    for match in _CODE.finditer(text):
        _tick(canvas, match)
    return canvas.prose()


def _tick(canvas: Canvas, match: re.Match[str]) -> None:
    canvas.hide(match.start(), match.start(1) - 1)
    canvas.hide(match.end(1) + 1, match.end())
    canvas.marks.append(Mark(match.start(1), match.end(1), "code"))


def _flush(canvas: Canvas, open_: list[Line]) -> None:
    if open_:
        item = _ITEM.match(open_[0].text)
        start = open_[0].start + item.end() if item else open_[0].at
        canvas.blocks.append(Block(start, open_[-1].end, "item" if item else "paragraph"))
    open_.clear()
