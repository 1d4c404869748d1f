"""When to paint: at once after a quiet moment, five times a second in a burst.

Who calls: the home screen, for every event of the change feed. What may not come in: clocks and timers of its own.
"""

from __future__ import annotations


class Pace:
    """Decides how long a repaint waits (seconds).

    Args:
        every: least time between two repaints of a burst.
    """

    def __init__(self, every: float = 0.2) -> None:
        self.every = every
        self._last = float("-inf")
        self._due: float | None = None

    def ask(self, now: float) -> float | None:
        """Something changed at ``now``: 0.0 paints at once, a delay paints later, ``None``: a paint is due already."""
        if self._due is not None and now < self._due:
            return None
        wait = self._last + self.every - now
        if wait <= 0:
            self._last, self._due = now, None
            return 0.0
        self._due = self._last + self.every
        return wait

    def painted(self, now: float) -> None:
        """The late paint happened."""
        self._last, self._due = now, None
