"""What a person may choose about the workbench, checked: theme, keys, motion, mouse, glyphs, what is kept between two runs.

Who calls: ``mog`` and ``mog tui`` make it from the configuration, ``app.py`` runs with it.
What may not come in: the toolkit, the engine beyond its errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mog.app.config import Config
from mog.app.tui.keymap import PLAIN as UNMOVED
from mog.app.tui.keymap import Keymap, keymap
from mog.app.tui.own_themes import OwnTheme, own_themes
from mog.engine.errors import ConfigError
from mog.styles.themes import NAMES


@dataclass(frozen=True, slots=True)
class Options:
    """Choices for one run.

    Attributes:
        theme: name of a theme, "" chooses one for the terminal, or takes the one of the last run.
        own: themes of the person's own. keymap: the keys as the person has them.
        motion: whether what changed is bold for a moment. mouse: whether the mouse is listened to.
        glyphs: ``auto``, ``ascii`` or ``unicode``.
        tour: whether a first start shows it.
        kept: file that remembers where one was, ``None`` to remember nothing. fresh: do not go back there.
    """

    theme: str = ""
    own: tuple[OwnTheme, ...] = ()
    keymap: Keymap = UNMOVED
    motion: bool = True
    mouse: bool = True
    glyphs: str = "auto"
    tour: bool = True
    kept: Path | None = None
    fresh: bool = False

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences for the first screen: keys that somebody moved, themes that are hard to read."""
        moved = len(self.keymap.moved)
        said = [f"{moved} key{'s' * (moved > 1)} moved by {self.keymap.origin}: ? shows them"] if moved else []
        return (*said, *(own.warning for own in self.own if own.warning and own.name == self.theme))


PLAIN = Options()
"""Nothing was chosen."""


def from_config(config: Config) -> Options:
    """The choices of a configuration.

    Raises:
        ConfigError: a key or a theme that cannot be.
    """
    tui = config.tui
    own = own_themes(tui.themes, config.origin("tui.themes"))
    names = (*NAMES, *(one.name for one in own))
    if tui.theme and tui.theme not in names:
        raise ConfigError(
            f"tui.theme: there is no theme {tui.theme!r}",
            where=config.origin("tui.theme"),
            way_out=f"one of {', '.join(names)}",
        )
    moved = keymap(tui.keys, config.origin("tui.keys"))
    return Options(tui.theme, own, moved, tui.motion == "on", tui.mouse == "on", tui.glyphs, tui.tour == "on")
