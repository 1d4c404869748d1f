"""Themes of a person's own, from ``tui.themes``: roles over one of ours, checked, and measured for contrast.

Who calls: ``options.py`` before the toolkit is loaded. What may not come in: the toolkit, files.
A colour too close to its ground is a warning, not a refusal: eyes and screens differ.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mog.app.present import clean
from mog.engine.errors import ConfigError
from mog.styles import contrast, themes

FIELD = "tui.themes"
BASE = "base"
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
_NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
_ROLES = (*themes.PALETTES["dark"], "cur-text")


@dataclass(frozen=True, slots=True)
class OwnTheme:
    """A theme of a person's own.

    Attributes:
        palette: role → colour. dark: whether its ground is dark.
        warning: "" or a sentence about text that is hard to read in it.
    """

    name: str
    palette: Mapping[str, str]
    dark: bool
    warning: str = ""


def own_themes(wanted: Mapping[str, Mapping[str, str]], origin: str = "") -> tuple[OwnTheme, ...]:
    """Themes from ``name → {base, role: colour, …}``.

    Raises:
        ConfigError: a name of ours or no name, an unknown base or role, a value that is no ``#rrggbb``.
    """
    return tuple(_made(name, roles, origin) for name, roles in wanted.items())


def _made(name: str, roles: Mapping[str, str], origin: str) -> OwnTheme:
    field = f"{FIELD}.{clean(name)}"
    if not _NAME.fullmatch(name) or name in themes.NAMES:
        what = "is a theme of mog" if name in themes.NAMES else "is no name"
        raise ConfigError(
            f"{field}: {what}", where=origin, way_out="lower-case letters, digits and -, and none of ours"
        )
    base = roles.get(BASE, "dark")
    if base not in themes.PALETTES:
        raise _unknown(f"{field}.{BASE}", base, themes.PALETTES, origin)
    palette = {
        **themes.palette(base),
        **{role: _colour(field, role, value, origin) for role, value in roles.items() if role != BASE},
    }
    return OwnTheme(name, palette, contrast.luminance(palette["bg"]) < 0.5, _warning(name, palette))


def _colour(field: str, role: str, value: str, origin: str) -> str:
    if role not in _ROLES:
        raise _unknown(field, role, _ROLES, origin)
    if not _COLOUR.fullmatch(value):
        raise ConfigError(
            f"{field}.{role}: {clean(value)!r} is no colour", where=origin, way_out='write "#rrggbb", in quotes'
        )
    return value.lower()


def _unknown(field: str, word: str, known: Iterable[str], origin: str) -> ConfigError:
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.4)
    nearest = f"; the nearest is {close[0]}" if close else ""
    return ConfigError(
        f"{field}: {clean(word)!r} is not known{nearest}", where=origin, way_out=f"one of {', '.join(known)}"
    )


def _warning(name: str, palette: Mapping[str, str]) -> str:
    found = contrast.weak(palette)
    if not found:
        return ""
    worst = found[0]
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return f"theme {name}: {worst.role} on {worst.ground} has a contrast of {worst.ratio:.1f}:1, {contrast.LEAST} is readable{more}"
