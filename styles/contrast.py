"""How well text is told from its ground: the ratio of WCAG 2, for every role on every ground of a palette.

Who calls: ``app/tui`` warns about a person's own theme, tests judge ours. What may not come in: a colour, the toolkit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

LEAST = 4.5
GROUNDS = ("bg", "panel", "cur", "hot")
"""What text stands on: the body, the top line, the cursor's row, the title of the pane in use."""


class Pair(NamedTuple):
    """A role on a ground and its contrast ratio, 1 to 21."""

    role: str
    ground: str
    ratio: float


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb``, 0 to 1 (WCAG 2.2)."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2.2 contrast ratio of two colours, 1 to 21."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def pairs(palette: Mapping[str, str]) -> Iterator[Pair]:
    """Every role of text on every ground it is drawn on, as ``widgets/ink.py`` draws it.

    A ground with a text colour of its own paints all text with it, and a rule on the cursor's row is drawn as muted text.
    """
    roles = [role for role in palette if role not in GROUNDS and not role.endswith("-text")]
    for ground in GROUNDS:
        over = palette.get(f"{ground}-text", "")
        for role in roles:
            drawn = "muted" if (role, ground) == ("rule", "cur") else role
            yield Pair(role, ground, contrast(over or palette[drawn], palette[ground]))


def weak(palette: Mapping[str, str]) -> list[Pair]:
    """Pairs below ``LEAST``, the worst first."""
    return sorted((pair for pair in pairs(palette) if pair.ratio < LEAST), key=lambda pair: pair.ratio)
