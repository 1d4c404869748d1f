"""The workbench as a program: themes, style sheets, signals, palette. Everything else is on its screens.

Who calls: ``app.py``, which has made sure of a terminal first; tests drive it headless.
What may not come in: state, questions to the workspace.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from textual import events
from textual.app import App
from textual.binding import BindingType
from textual.driver import Driver
from textual.screen import Screen
from textual.types import CSSPathType

import mog.styles
from mog.app.tui.options import PLAIN, Options
from mog.app.tui.past import Past
from mog.app.tui.port import Agents, Desk
from mog.app.tui.screens.home import Home
from mog.styles import themes
from mog.widgets.entry import Entry
from mog.widgets.lean import lean
from mog.widgets.shelf import mode_of

STYLES = Path(mog.styles.__file__).parent

GONE_SECONDS, GONE = 1.0, 129
"""Seconds between two looks at the terminal, and the exit code when it is gone: that of its signal."""


class Workbench(App[None], inherit_bindings=False):
    """The app.

    Args:
        workspace: what the panes ask.
        index_first: build the index before anything else, with progress on the top line.
        environ: environment to choose theme and glyphs from.
        theme: name of a theme; "" takes the one of ``options``, else chooses one for the terminal.
        motion: whether changed rows are bold for a moment.
        options: what the person chose: keys, themes, what is kept between two runs.
        agents: serves agents while the workbench is open; begun and closed by it.
    """

    TITLE = "mog"
    CSS_PATH: ClassVar[CSSPathType | None] = [STYLES / f"{name}.tcss" for name in ("home", "chooser", "approval")]
    BINDINGS: ClassVar[list[BindingType]] = []
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        workspace: Desk,
        *,
        index_first: bool = False,
        environ: Mapping[str, str] = os.environ,
        theme: str = "",
        motion: bool = True,
        options: Options = PLAIN,
        agents: Agents | None = None,
    ) -> None:
        past, own = Past(options), [one.name for one in options.own]
        chosen = themes.choose(environ, theme or past.theme or environ.get("TEXTUAL_THEME", ""), own)
        super().__init__(ansi_color=True if chosen in themes.FLAT else None)
        self.options = options
        self.ascii_only = wants_ascii(environ) if options.glyphs == "auto" else options.glyphs == "ascii"
        for name in themes.NAMES:
            self.register_theme(themes.theme(name))
        for one in options.own:
            self.register_theme(themes.theme(one.name, themes.painted(one.palette), dark=one.dark))
        self.set_keymap(options.keymap.moved)
        # not assigned: its watcher would parse the style sheets once more before the first paint
        self.set_reactive(App.theme, chosen)
        self.stylesheet.set_variables(self.get_css_variables())
        self._home = Home(
            workspace, past, options.keymap, index_first=index_first, motion=motion and options.motion, agents=agents
        )

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Our roles for themes that are not ours."""
        return themes.variables("dark")

    def get_driver_class(self) -> type[Driver]:
        """The toolkit's driver for this terminal, which writes the same in fewer bytes."""
        return type("LeanDriver", (_Lean, super().get_driver_class()), {})

    def on_mount(self) -> None:
        self._restore_on_signals()
        if not self.is_headless and os.name != "nt":
            self.set_interval(GONE_SECONDS, lambda: self._leave(GONE) if hung_up(0) else None)
        lend_stderr()
        self.theme_changed_signal.subscribe(self, lambda _: self._colour_mode())

    def get_default_screen(self) -> Screen[None]:
        """The home screen is the first and only one below the others."""
        return self._home

    async def on_event(self, event: events.Event) -> None:
        """Letters typed ahead, while a line of text was about to open, go into that line and not to a key's action."""
        if isinstance(event, events.Key) and not event.is_forwarded and self._too_small(event.key):
            return
        if isinstance(event, events.Key) and event.is_forwarded and event.is_printable:
            entry = self.focused
            if isinstance(entry, Entry):
                entry.replace(event.character or "", *sorted(entry.selection))
                return
        await super().on_event(event)

    def on_resize(self, event: events.Resize) -> None:
        """Help and palette leave a screen that has become too small; what it needs is said by the home screen."""
        if mode_of(*event.size) == "tiny" and getattr(self.screen, "passing", False):
            self.pop_screen()

    def _too_small(self, key: str) -> bool:
        """Below the smallest size no key acts, wherever the focus is, but those that quit."""
        if mode_of(*self.size) != "tiny":
            return False
        for action in ("quit", "cancel"):
            if any(key in one.keys.split(",") for one in self.options.keymap.table if one.action == action):
                self.call_later(self._home.run_action, action)
        return True

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


class _Lean:
    """Before a driver of the toolkit."""

    def write(self, data: str) -> None:
        """Write what looks the same."""
        super().write(lean(data))  # type: ignore[misc]


def hung_up(descriptor: int) -> bool:
    """Whether a terminal is gone. The signal of that reaches its session alone; who is not of it would read nothing for ever."""
    looking = select.poll()
    looking.register(descriptor, 0)
    return any(found & (select.POLLHUP | select.POLLERR | select.POLLNVAL) for _, found in looking.poll(0))


def lend_stderr() -> None:
    """Give the toolkit's stand-in for ``sys.stderr`` the real descriptor.

    Python hands it to the tracker it starts beside worker processes; the stand-in's own answer, -1, makes that start fail
    and with it every index built while the workbench is open.
    """
    real = sys.__stderr__
    if real is not None and sys.stderr is not real:
        setattr(sys.stderr, "fileno", real.fileno)  # noqa: B010


def wants_ascii(environ: Mapping[str, str]) -> bool:
    """Whether glyphs are drawn as ascii: asked for by ``MOG_GLYPHS=ascii``, or the locale, as far as one is set, has no others."""
    asked = environ.get("MOG_GLYPHS", "")
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    _, dot, charset = locale.partition(".")
    plain = locale in ("C", "POSIX") or (bool(dot) and "utf" not in charset.lower())
    return asked == "ascii" or (asked != "unicode" and plain)
