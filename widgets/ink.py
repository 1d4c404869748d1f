"""From roles to terminal styles: the one place where a role of the theme becomes a colour, a weight or a reversal.

Who calls: ``strips.py`` and ``lines.py`` on every paint (styles are cached). Themes define ``$mog-<role>`` variables.
What may not come in: colours of our own, and a style of ``None`` (it breaks the toolkit's colour filters).

``$mog-mode`` says how a theme works: ``color`` sets every ground; ``ansi`` uses the terminal's own grounds, colour on
marks only and reversal for cursor and focused title; ``mono`` sends no colour at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from rich.color import Color
from rich.style import Style

MARKS = frozenset({"standing", "weakened", "fallen", "contested", "stale", "unverified", "attn", "key"})
GROUNDS = ("bg", "panel", "cur", "hot")


class Ink:
    """Styles of one theme.

    Args:
        variables: the theme's variables, ``mog-<role>`` → colour name, and ``mog-mode``.
        ascii_only: draw with the ascii twin of each glyph.
    """

    def __init__(self, variables: Mapping[str, str], *, ascii_only: bool = False) -> None:
        self._vars = {name[4:]: value for name, value in variables.items() if name.startswith("mog-")}
        self.mode = self._vars.get("mode", "mono")
        self.ascii_only = ascii_only
        self.style = lru_cache(256)(self._style)

    def _style(self, role: str, ground: str = "bg", bold: bool = False) -> Style:
        """Style of ``role`` text on ``ground`` (``bg panel cur hot``)."""
        return self._flat(role, ground, bold) if self.mode != "color" else self._painted(role, ground, bold)

    def _painted(self, role: str, ground: str, bold: bool) -> Style:
        over = self._vars.get(f"{ground}-text", "")
        # a rule is too faint for the cursor's row
        name = self._vars.get("muted" if (role, ground) == ("rule", "cur") else role, "")
        return Style(color=_color(over or name), bgcolor=_color(self._vars.get(ground, "")), bold=bold or None)

    def _flat(self, role: str, ground: str, bold: bool) -> Style:
        reverse = ground in ("cur", "hot") or (role == "attn" and self.mode == "mono")
        colour = "" if reverse or self.mode == "mono" else self._vars.get(role, "")
        strong = bold or role in MARKS or ground == "hot"
        return Style(color=_color(colour), bold=strong or None, reverse=reverse or None)


def _color(name: str) -> Color | None:
    if not name or name in ("ansi_default", "default"):
        return None
    return Color.parse(name.removeprefix("ansi_"))
