"""What goes to the terminal, said in fewer bytes: a style is told as what differs from the one before it.

Who calls: the workbench, with every piece of text it writes. What may not come in: the toolkit, what is drawn, anything kept from one
piece to the next (a piece begins and ends without a style, as what it is made of does).

The toolkit writes each run as its whole style, its text, and a reset; colours are 17 bytes each. Between two runs of a line mostly one
of them differs. What is no style goes through as it is, and what stands before it has its style first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_PART = re.compile(r"\x1b\[([0-9;:]*)m|(\x1b\[[0-9;]*H|\n)|(\x1b\[?[^\x1b\n]?|[^\x1b\n]+)")
_OFF = {"1": "22", "2": "22", "3": "23", "4": "24", "5": "25", "7": "27", "9": "29"}
_ON_BLANKS = frozenset("4579")
"""What shows on a blank."""
_FORE = frozenset(str(first + n) for first in (30, 90) for n in range(8))
_GROUND = frozenset(str(first + n) for first in (40, 100) for n in range(8))
_LENGTHS = {"2": 5, "5": 3}


class Look(NamedTuple):
    """A style of the terminal: parameters of the colours ("" for its own), and those that are on besides."""

    fore: str = ""
    ground: str = ""
    on: frozenset[str] = frozenset()


_NONE = Look()


def lean(text: str) -> str:
    """The same cells with the same looks. ``text`` that has a style this does not know comes back as it is."""
    try:
        return "".join(_told(text))
    except ValueError:
        return text


def _told(text: str) -> Iterator[str]:
    here, wanted = _NONE, _NONE
    for found in _PART.finditer(text):
        style, move, _ = found.groups()
        if style is not None:
            wanted = _look(style, wanted)
            continue
        if move is None and wanted != here and not (found[0].isspace() and _same_on_blanks(here, wanted)):
            yield _step(here, wanted)
            here = wanted
        yield found[0]
    if wanted != here:
        yield _step(here, wanted)


def _same_on_blanks(one: Look, other: Look) -> bool:
    return one.ground == other.ground and not (one.on | other.on) & _ON_BLANKS


@lru_cache(2_000)
def _look(style: str, before: Look) -> Look:
    """The look after a style was told. Raises ValueError for a parameter that is not known."""
    parts, at = style.split(";"), 0
    fore, ground, on = before
    while at < len(parts):
        part = parts[at]
        size = 1
        if part in ("", "0"):
            fore, ground, on = _NONE
        elif part in ("38", "48"):
            size = _LENGTHS.get(parts[at + 1] if at + 1 < len(parts) else "", 0)
            if not size or at + size > len(parts):
                raise ValueError(style)
            colour = ";".join(parts[at : at + size])
            fore, ground = (colour, ground) if part == "38" else (fore, colour)
        elif part in _FORE:
            fore = part
        elif part in _GROUND:
            ground = part
        elif part in _OFF:
            on = on | {part}
        else:
            raise ValueError(style)
        at += size
    return Look(fore, ground, on)


@lru_cache(2_000)
def _step(here: Look, to: Look) -> str:
    """The shortest way from one look to another."""
    if to == _NONE:
        return "\x1b[0m"
    whole = [*sorted(to.on), *(part for part in (to.fore, to.ground) if part)]
    afresh = f"\x1b[0;{';'.join(whole)}m" if here != _NONE else f"\x1b[{';'.join(whole)}m"
    gone = here.on - to.on
    if {"1", "2"} & gone and {"1", "2"} & to.on:
        return afresh
    parts = [*sorted({_OFF[part] for part in gone}), *sorted(to.on - here.on)]
    parts += [to.fore or "39"] if to.fore != here.fore else []
    parts += [to.ground or "49"] if to.ground != here.ground else []
    return min(f"\x1b[{';'.join(parts)}m", afresh, key=len)
