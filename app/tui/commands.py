"""The command palette: every key's action and every theme, by words.

Who calls: the toolkit, when ctrl+p is pressed. What may not come in: actions that no key has.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.types import IgnoreReturnCallbackType

from mog.app.tui.keys import KEYS
from mog.styles.themes import NAMES


class KeyCommands(Provider):
    """Commands of the screen below the palette."""

    def _all(self) -> Iterator[tuple[str, str, IgnoreReturnCallbackType]]:
        for key in KEYS:
            yield key.says, f"key {key.shown}", partial(self.screen.run_action, key.action)
        for name in NAMES:
            yield f"theme {name}", f": theme {name}", partial(self._theme, name)

    def _theme(self, name: str) -> None:
        self.app.theme = name

    async def discover(self) -> Hits:
        for says, key, call in self._all():
            yield DiscoveryHit(says, call, help=key)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for says, key, call in self._all():
            if (score := matcher.match(says)) > 0:
                yield Hit(score, matcher.highlight(says), call, help=key)
