"""The workbench as a program: themes, style sheets, signals, palette. Everything else is on its screens.

Who calls: ``app.py``, which has made sure of a terminal first; tests drive it headless.
What may not come in: state, questions to the workspace.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.command import Provider
from textual.screen import Screen
from textual.types import CSSPathType

import mog.styles
from mog.app.tui.port import Desk
from mog.app.tui.screens.home import Home
from mog.styles import themes
from mog.widgets.entry import Entry

STYLES = Path(mog.styles.__file__).parent


def _commands() -> type[Provider]:
    from mog.app.tui.commands import KeyCommands

    return KeyCommands


class Workbench(App[None], inherit_bindings=False):
    """The app.

    Args:
        workspace: what the panes ask.
        index_first: build the index before anything else, with progress on the top line.
        environ: environment to choose theme and glyphs from.
        theme: name of a theme; "" chooses one for the terminal.
        motion: whether changed rows are bold for a moment.
    """

    TITLE = "mog"
    CSS_PATH: ClassVar[CSSPathType | None] = [STYLES / "home.tcss", STYLES / "help.tcss"]
    BINDINGS: ClassVar[list[BindingType]] = []
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {_commands}
    ENABLE_COMMAND_PALETTE = True
    COMMAND_PALETTE_BINDING = "ctrl+p"

    def __init__(
        self,
        workspace: Desk,
        *,
        index_first: bool = False,
        environ: Mapping[str, str] = os.environ,
        theme: str = "",
        motion: bool = True,
    ) -> None:
        chosen = themes.choose(environ, theme or environ.get("TEXTUAL_THEME", ""))
        super().__init__(ansi_color=True if chosen in themes.FLAT else None)
        self.ascii_only = wants_ascii(environ)
        for name in themes.NAMES:
            self.register_theme(themes.theme(name))
        # not assigned: its watcher would parse the style sheets once more before the first paint
        self.set_reactive(App.theme, chosen)
        self.stylesheet.set_variables(self.get_css_variables())
        self._home = Home(workspace, index_first=index_first, motion=motion)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our roles for themes that are not ours."""
        return themes.variables("dark")

    def on_mount(self) -> None:
        self._restore_on_signals()
        lend_stderr()
        self.theme_changed_signal.subscribe(self, lambda _: self._colour_mode())

    def get_default_screen(self) -> Screen[None]:
        """The home screen is the first and only one below the others."""
        return self._home

    async def on_event(self, event: events.Event) -> None:
        """Letters typed ahead, while a line of text was about to open, go into that line and not to a key's action."""
        if isinstance(event, events.Key) and event.is_forwarded and event.is_printable:
            entry = self.focused
            if isinstance(entry, Entry):
                entry.insert_text_at_cursor(event.character or "")
                return
        await super().on_event(event)

    def _colour_mode(self) -> None:
        self.ansi_color = True if self.theme in themes.FLAT else None

    def _restore_on_signals(self) -> None:
        """SIGTERM and SIGHUP leave through the front door, so that the terminal is as it was; code 128 + n."""
        if os.name == "nt":
            return
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._leave, 128 + number)

    def _leave(self, code: int) -> None:
        self._home.end()
        self.exit(return_code=code)


def lend_stderr() -> None:
    """Give the toolkit's stand-in for ``sys.stderr`` the real descriptor.

    Python hands it to the tracker it starts beside worker processes; the stand-in's own answer, -1, makes that start fail
    and with it every index built while the workbench is open.
    """
    real = sys.__stderr__
    if real is not None and sys.stderr is not real:
        setattr(sys.stderr, "fileno", real.fileno)  # noqa: B010


def wants_ascii(environ: Mapping[str, str]) -> bool:
    """Whether glyphs are drawn as ascii: asked for by ``MOG_GLYPHS=ascii``, or the locale cannot encode them."""
    asked = environ.get("MOG_GLYPHS", "")
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    _, dot, charset = locale.partition(".")
    return asked == "ascii" or (asked != "unicode" and bool(dot) and "utf" not in charset.lower())
