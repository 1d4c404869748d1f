"""The palettes, as data, and the choice of one for a terminal.

Who calls: ``app/tui`` registers each as a theme whose variables are ``$mog-<role>``; tests measure their contrast.
What may not come in: the toolkit at import, and colours that no role owns.

Each role of text is readable (WCAG 2, at least 4.5 : 1) on body, top line and cursor row; ``rule`` on the first two.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.theme import Theme

_TABLE = """
role        dark    light   contrast deuter  tritan
bg          11151a  fbfbf8  000000   101418  121417
panel       1c232b  ecebe5  000000   1b222a  1e2227
cur         2b3a4a  d3e2f2  ffff00   2a3948  34393f
hot         7fb8e8  1f4e79  ffffff   6fb6f0  ff9e9e
hot-text    0b1117  ffffff  000000   0a1016  160c0c
text        d7dde3  1d2329  ffffff   dbe1e7  dfe2e5
muted       a0acb8  525b64  e0e0e0   98a4b0  a2a7ac
rule        8793a0  5f6871  c8c8c8   8793a0  8e9398
key         8cc6f2  0f4f8a  7fdfff   8cc6f2  6fd0d8
attn        ffd166  8a3d00  ffe600   f0e442  ffffff
reason      e8d9b5  5a4510  fff2c2   e8d9b5  e8d9d9
code        b5cdf0  23457f  cfe3ff   b5cdf0  b8d8dc
standing    96cda8  1a6e4f  5dffc1   7fe5fb  29b2c9
weakened    eecb26  6b4200  ffd24d   fffea0  fee7fb
fallen      ff7f65  b3121a  ff7f6c   ff8a3d  ff8168
contested   c989f6  7a1f8a  eba5ff   edcdcd  cf8aff
stale       60bdc9  0b5568  abe5f0   51a8ff  daf6ed
unverified  d1d6da  5a636c  ffffff   9da3ac  a1a3a9
"""


def _palettes() -> dict[str, dict[str, str]]:
    rows = [line.split() for line in _TABLE.strip().splitlines()]
    names = rows[0][1:]
    return {name: {row[0]: f"#{row[i + 1]}" for row in rows[1:]} for i, name in enumerate(names)}


PALETTES: Mapping[str, Mapping[str, str]] = _palettes()
"""Theme → role → colour, for the themes that set their own colours."""

# the cursor row of high contrast is one colour: black on yellow
CURSOR_TEXT = {"contrast": "#000000"}

_DEFAULT = "ansi_default"
_ANSI_DARK = {
    "key": "ansi_bright_cyan",
    "attn": "ansi_bright_yellow",
    "standing": "ansi_bright_green",
    "weakened": "ansi_bright_yellow",
    "fallen": "ansi_bright_red",
    "contested": "ansi_bright_magenta",
    "stale": "ansi_bright_cyan",
}
# on a light ground only red keeps its contrast; the words say the rest
_ANSI_LIGHT = {"attn": "ansi_red", "fallen": "ansi_red"}

FLAT: Mapping[str, Mapping[str, str]] = {"ansi-dark": _ANSI_DARK, "ansi-light": _ANSI_LIGHT, "mono": {}}
"""Themes on the terminal's own grounds: marks only (``mono``: nothing) has a colour."""

NAMES = (*PALETTES, *FLAT)


def palette(name: str) -> dict[str, str]:
    """Role → colour of a theme that sets its own colours, ``cur-text`` where its cursor row has one colour for all text.

    Raises:
        KeyError: there is no such theme.
    """
    over = {"cur-text": CURSOR_TEXT[name]} if name in CURSOR_TEXT else {}
    return {**PALETTES[name], **over}


def painted(colours: Mapping[str, str]) -> dict[str, str]:
    """``mog-<role>`` and ``mog-mode`` of a palette."""
    return {"mog-mode": "color", **_prefixed(colours)}


def variables(name: str) -> dict[str, str]:
    """``mog-<role>`` and ``mog-mode`` of a theme.

    Raises:
        KeyError: there is no theme of that name.
    """
    if name in PALETTES:
        return painted(palette(name))
    flat = {role: FLAT[name].get(role, _DEFAULT) for role in PALETTES["dark"]}
    return {"mog-mode": "mono" if name == "mono" else "ansi", **_prefixed(flat)}


def _prefixed(colours: Mapping[str, str]) -> dict[str, str]:
    return {f"mog-{role}": colour for role, colour in colours.items()}


def theme(name: str, own: Mapping[str, str] | None = None, *, dark: bool | None = None) -> Theme:
    """A theme of the toolkit with our variables; its own roles are filled from the same palette.

    Args:
        own: variables of a theme that is not one of ``NAMES``. dark: whether its ground is dark.
    """
    from textual.theme import BUILTIN_THEMES, Theme

    flat, own = name in FLAT, variables(name) if own is None else own
    colour = {key[4:]: value for key, value in own.items()}
    base = BUILTIN_THEMES["ansi-light" if name == "ansi-light" else "ansi-dark"].variables if flat else {}
    return Theme(
        name=name,
        primary=colour["key"],
        secondary=colour["code"],
        warning=colour["attn"],
        error=colour["fallen"],
        success=colour["standing"],
        accent=colour["hot"],
        foreground=colour["text"],
        background=colour["bg"],
        surface=colour["bg"],
        panel=colour["panel"],
        dark=name not in ("light", "ansi-light") if dark is None else dark,
        ansi=flat,
        variables={**base, **own},
    )


def choose(environ: Mapping[str, str], wanted: str = "", more: Collection[str] = ()) -> str:
    """Name of the theme for this terminal: what was asked for, else what the environment can show.

    ``NO_COLOR`` (https://no-color.org) gives ``mono``, a console of 16 colours ``ansi-dark``, a light background, as
    ``COLORFGBG`` tells it, the light twin. ``more``: names of themes of the person's own.
    """
    if environ.get("NO_COLOR"):
        return "mono"
    if wanted in NAMES or wanted in more:
        return wanted
    light = environ.get("COLORFGBG", "").rpartition(";")[2] in ("7", "15")
    term = environ.get("TERM", "")
    if term in ("linux", "xterm", "screen", "vt100", "vt220") and not environ.get("COLORTERM"):
        return "ansi-light" if light else "ansi-dark"
    return "light" if light else "dark"
