"""Text with its markup taken out and every character still at its place: what readers of a format hand to the chunker.

Called by ``markdown.py``, ``rest.py``, ``plain.py`` (they build it) and ``chunk.py`` and ``entities.py`` (they read it).
What may not come in: files, sentences, rules of one format, the graph.

``shown`` is as long as ``text``: markup is overwritten by ``GONE``, so a span found in one is a span of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

GONE = "\0"
"""Stands in ``shown`` for a character of markup that a reader does not see."""

_CJK = "\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uff00-\uffef"
_WRAPPED = re.compile(f"(?<=[{_CJK}])[ \t]*\r?\n[ \t\0]*(?=[{_CJK}])")
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Mark:
    """What the markup says of a span: ``form`` is code, link or term; ``name`` what it refers to, "" the text itself."""

    start: int
    end: int
    form: str
    name: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """One run of prose, ``text[start:end]``.

    Attributes:
        role: paragraph, item, heading, term, or subject (the one line a commit or issue is known by).
        heading: titles of the sections around it, outermost first.
        topic: name of the object that the markup says is being described, "" when it says none.
    """

    start: int
    end: int
    role: str
    heading: tuple[str, ...] = ()
    topic: str = ""


@dataclass(frozen=True, slots=True)
class Prose:
    """A text, what a reader sees of it, its blocks in order, and what the markup said.

    Attributes:
        shown: as long as ``text``.
        declared: names that object descriptions declare, in order. glossary: terms that a glossary explains.
    """

    text: str
    shown: str
    blocks: tuple[Block, ...]
    marks: tuple[Mark, ...] = ()
    declared: tuple[str, ...] = ()
    glossary: tuple[str, ...] = ()
    title: str = ""


def tidy(shown: str) -> str:
    """``shown`` as one line: markup gone, white space folded, no space where a line of CJK text was wrapped."""
    if "\n" in shown:
        shown = _WRAPPED.sub("", shown)
    return _SPACE.sub(" ", shown.replace(GONE, "")).strip()


class Canvas:
    """A text being masked. Offsets are those of the text throughout."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._shown = list(text)
        self.blocks: list[Block] = []
        self.marks: list[Mark] = []
        self.declared: list[str] = []
        self.glossary: list[str] = []
        self.title = ""

    def hide(self, start: int, end: int) -> None:
        """Overwrite a span with ``GONE``."""
        self._shown[start:end] = GONE * (end - start)

    def put(self, start: int, end: int, shown: str) -> None:
        """Show ``shown``, no longer than the span, in its place."""
        self._shown[start:end] = shown + GONE * (end - start - len(shown))

    def seen(self, start: int, end: int) -> str:
        """What is shown of a span, as long as the span."""
        return "".join(self._shown[start:end])

    def hide_all(self, found: Iterable[re.Match[str]], at: int, group: int | str = 0) -> None:
        """Hide a group of every match; ``at`` is where the searched text begins."""
        for match in found:
            self.hide(at + match.start(group), at + match.end(group))

    def prose(self) -> Prose:
        """The finished record, marks in order."""
        marks = tuple(sorted(self.marks, key=lambda mark: (mark.start, mark.end, mark.form, mark.name)))
        shown = "".join(self._shown)
        declared = tuple(self.declared)
        return Prose(self.text, shown, tuple(self.blocks), marks, declared, tuple(self.glossary), self.title)


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its span without the line break, and its text."""

    start: int
    end: int
    text: str

    @property
    def indent(self) -> int:
        """Columns of leading white space, a tab counting to the next multiple of 8."""
        lead = self.text[: len(self.text) - len(self.text.lstrip())]
        return len(lead.expandtabs(8))

    @property
    def at(self) -> int:
        """Offset of the first character that is no white space."""
        return self.start + len(self.text) - len(self.text.lstrip())


def lines(text: str, start: int = 0) -> Iterator[Line]:
    """The lines of ``text`` from offset ``start``; ``\\r`` before the break counts as white space."""
    while start <= len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield Line(start, end, text[start:end].rstrip())
        start = end + 1


class Sections:
    """The titles open at one point of a text, by level."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        """Open a section; those of the same or a deeper level end."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, title))

    @property
    def path(self) -> tuple[str, ...]:
        """Titles, outermost first."""
        return tuple(title for _, title in self._open)
