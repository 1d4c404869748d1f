"""What other processes write, noticed: a thread that looks at times and sizes of a few files, twice a second.

Who calls: the home screen, while it is open. What may not come in: reading what was written, the toolkit. A look costs a few calls of
the system; nothing is opened.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

EVERY = 0.5  # seconds


class Outside:
    """The looking of one screen.

    Args:
        look: by kind of change, what differs when something of that kind was written. say: told each kind that differs, on this thread.
    """

    def __init__(
        self, look: Callable[[], Mapping[str, object]], say: Callable[[str], None], every: float = EVERY
    ) -> None:
        self._look, self._say, self._every = look, say, every
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mog-outside", daemon=True)

    def start(self) -> None:
        """Begin; what is there now is where it starts from."""
        self._thread.start()

    def stop(self) -> None:
        """End, without waiting for a look that is under way."""
        self._ended.set()

    def _run(self) -> None:
        before = dict(self._look())
        while not self._ended.wait(self._every):
            found = dict(self._look())
            changed = [kind for kind, mark in found.items() if mark != before.get(kind)]
            before = found
            for kind in changed:
                self._say(kind)
