"""Fewer bytes for the same screen: what a terminal shows after ``lean`` is what it would have shown."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mog.widgets.lean import lean

_SHOWS_ON_BLANKS = {"4", "5", "7", "9"}
_OFF = {"22": {"1", "2"}, "23": {"3"}, "24": {"4"}, "25": {"5"}, "27": {"7"}, "29": {"9"}}


def cells(text: str) -> list[tuple[object, ...]]:
    """Every character with its look, and what moves or switches, which has none, as a terminal would take them."""
    fore, ground, on, out = "", "", frozenset[str](), []
    for style, other, char in re.findall(r"\x1b\[([0-9;]*)m|(\x1b\[[0-9;?]*[A-Za-ln-z]|\n)|(.)", text, re.DOTALL):
        if other:
            out.append((other,))
        elif char:
            blank = char == " "
            out.append((char, "" if blank else fore, ground, on & _SHOWS_ON_BLANKS if blank else on))
        else:
            parts = iter(style.split(";"))
            for part in parts:
                if part in ("", "0"):
                    fore, ground, on = "", "", frozenset()
                elif part in ("38", "48"):
                    kind = next(parts)
                    colour = ";".join([kind, *(next(parts) for _ in range(3 if kind == "2" else 1))])
                    fore, ground = (colour, ground) if part == "38" else (fore, colour)
                elif part in ("39", "49"):
                    fore, ground = ("", ground) if part == "39" else (fore, "")
                elif part in _OFF:
                    on -= _OFF[part]
                elif len(part) == 1:
                    on |= {part}
                else:
                    fore, ground = (part, ground) if part[0] in "39" else (fore, part)
    return [*out, (fore, ground, on)]


COLOURS = st.sampled_from(["", "38;2;1;2;3", "38;2;9;9;9", "38;5;7", "31", "94"])
GROUNDS = st.sampled_from(["", "48;2;1;2;3", "48;2;7;7;7", "48;5;7", "41", "104"])
TEXTS = st.sampled_from(["x", "   ", "│ a", "\x1b[3;7H", "\n", "\x1b[?25l", "two words"])


@st.composite
def runs(draw: st.DrawFn) -> str:
    """Runs as the toolkit writes them: a style, a text, a reset."""
    parts = []
    for _ in range(draw(st.integers(1, 12))):
        on = sorted(draw(st.sets(st.sampled_from(["1", "2", "3", "4", "7", "9"]), max_size=3)))
        style = ";".join(part for part in (*on, draw(COLOURS), draw(GROUNDS)) if part)
        text = draw(TEXTS)
        parts.append(f"\x1b[{style}m{text}\x1b[0m" if style else text)
    return "".join(parts)


@given(runs())
def test_the_terminal_shows_the_same_and_is_left_without_a_style(text: str) -> None:
    told = lean(text)
    assert cells(told) == cells(text)
    assert cells(told)[-1] == ("", "", frozenset())
    assert len(told) <= len(text)


def test_a_run_on_the_same_ground_costs_its_colour_alone() -> None:
    one, two = "\x1b[38;2;10;20;30;48;2;1;1;1mab\x1b[0m", "\x1b[38;2;90;90;90;48;2;1;1;1mcd\x1b[0m"
    assert lean(one + two) == "\x1b[38;2;10;20;30;48;2;1;1;1mab\x1b[38;2;90;90;90mcd\x1b[0m"


@pytest.mark.parametrize("odd", ["\x1b[4:3m", "\x1b[58;2;1;2;3m", "\x1b[38m", "\x1b[38;2;1m"])
def test_a_style_that_is_not_known_leaves_the_text_as_it_is(odd: str) -> None:
    text = f"\x1b[1ma\x1b[0m\x1b[1mb\x1b[0m{odd}c\x1b[0m"
    assert lean(text) == text


def test_what_is_no_style_comes_through_in_its_place() -> None:
    text = "\x1b[?2026h\x1b[2;1H\x1b[1mx\x1b[0m\x1b]52;c;QUJD\x07\x1b[?2026l\x1b"
    assert cells(lean(text)) == cells(text)
    assert lean("nothing to save") == "nothing to save"
