"""CHUNK: blocks of prose become sentences with exact spans into the original text.

Called by ``extract.py`` through the pipeline. What may not come in: markup, what a sentence means, the graph.

A stop ends a sentence unless it belongs to a number, a dotted name, an abbreviation or an initial, or stands inside
brackets or code that close later in the same block. Stops of Chinese and Japanese end one without white space.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from mog.engine.reason.prose.marked import GONE, Block, Prose, tidy

MAX_SENTENCE = 1_200
"""Longest sentence that is kept, in characters; what is longer is a table, a dump or a licence."""

_STOP = re.compile(
    "(?P<stop>[.!?\u2026]+)(?P<close>[\"'\u201d\u2019\u00bb)\\]`*\0]*)(?=\\s|$)|(?P<wide>[。！？｡]+)[」』）”’]*"
)
_ABBREVIATIONS = frozenset(
    "e.g i.e vs cf al approx resp dr mr mrs ms prof st jr sr fig figs eq eqs no nos vol pp ch sec ref refs dept univ est"
    " incl esp viz ca ed eds rev gen col lt capt hon rep sen gov inc ltd co corp bros art"
    " z.b d.h u.a bzw usw evtl nr abb bspw т.е т.д т.п т.к т.н др г гг рис см напр стр им ул p.ex env".split()
)
_MAYBE = frozenset("etc inc ltd co corp jr sr др т.д т.п г гг usw al no ed".split())
"""Abbreviations that may also end a sentence: they do when a capital letter follows."""
_TOKEN = re.compile(r"[^\s(\[\"'“«`\0]+$")
_INITIAL = re.compile(r"^[^\W\d_]$")
_DIGITS = re.compile(r"^\d{1,3}$")
_OPENERS = re.compile(r"[()\[\]`]")
_BRACKETS = {")": "(", "]": "["}


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence: ``text`` is exactly the original between ``start`` and ``end``, ``shown`` the same without markup."""

    start: int
    end: int
    text: str
    shown: str
    block: Block


def sentences(prose: Prose) -> Iterator[Sentence]:
    """The sentences of every block that is no heading, in order; a subject line is one sentence whatever stops it has."""
    for block in prose.blocks:
        if block.role != "heading":
            yield from _of_block(prose, block)


def _of_block(prose: Prose, block: Block) -> Iterator[Sentence]:
    shown = prose.shown[block.start : block.end]
    at = 0
    for end in [*(_ends(shown) if block.role != "subject" else ()), len(shown)]:
        start, end = _trimmed(shown, at, end)
        at = max(at, end)
        if end > start:
            span = slice(block.start + start, block.start + end)
            yield Sentence(span.start, span.stop, prose.text[span], tidy(shown[start:end]), block)


def _trimmed(shown: str, start: int, end: int) -> tuple[int, int]:
    while start < end and (shown[start].isspace() or shown[start] == GONE):
        start += 1
    while start < end and (shown[end - 1].isspace() or shown[end - 1] == GONE):
        end -= 1
    return start, end


def _ends(shown: str) -> Iterator[int]:
    """Offsets in a block at which sentences end, but for the last."""
    inside = _enclosed(shown)
    start = 0
    for match in _STOP.finditer(shown):
        if any(low < match.start() < high for low, high in inside):
            continue
        if match["wide"] or _ends_here(shown, start, match):
            yield match.end()
            start = match.end()


def _enclosed(shown: str) -> list[tuple[int, int]]:
    """Spans in brackets and in code, shorter than a long sentence; an opener that nothing closes encloses nothing."""
    spans: list[tuple[int, int]] = []
    stack: list[tuple[str, int]] = []
    tick = -1
    for found in _OPENERS.finditer(shown):
        at, char = found.start(), found[0]
        if char == "`":
            if tick >= 0:
                spans.append((tick, at))
            tick = -1 if tick >= 0 else at
        elif tick >= 0:
            continue
        elif char in "([":
            stack.append((char, at))
        elif char in _BRACKETS and stack and stack[-1][0] == _BRACKETS[char]:
            spans.append((stack.pop()[1], at))
    return [(low, high) for low, high in spans if high - low < 400]


def _ends_here(shown: str, start: int, match: re.Match[str]) -> bool:
    following = shown[match.end() : match.end() + 80].replace(GONE, "").lstrip()
    if not following:
        return True
    capital = not following[0].islower()
    if match["stop"] != ".":
        return capital or (match["stop"] in "!?" and following[0] == "`")
    found = _TOKEN.search(shown, start, match.start())
    token = found[0].replace(GONE, "") if found else ""
    if token.lower() in _MAYBE:
        return capital and following[0].isupper()
    if token.lower() in _ABBREVIATIONS:
        return False
    if _INITIAL.match(token) and token != "I":
        chained = bool(re.match(r"[^\W\d_]\.", following))
        return capital and not chained and not _in_name(shown, start, match.start() - len(token))
    if _DIGITS.match(token) and not shown[start : match.start()].replace(GONE, "").strip()[: -len(token)].strip():
        return False  # the number of a list item
    return capital


def _in_name(shown: str, start: int, at: int) -> bool:
    """Does the initial at ``at`` begin the sentence, or follow a capitalised word or another initial?"""
    before = shown[start:at].replace(GONE, "").split()
    return not before or before[-1][:1].isupper() or bool(re.fullmatch(r"\W*[^\W\d_]\.", before[-1]))
