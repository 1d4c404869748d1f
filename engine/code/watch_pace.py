"""The watcher's sense of time: when a burst is over, when to poll again, which file systems keep quiet.

Who calls: ``engine/code/watch.py`` alone. What may not come in: a clock, a thread, the disk; everything is told.
"""

from __future__ import annotations

from collections import deque

GIT_LOCK_PATIENCE = 30.0
"""Seconds for which git's own lock holds a batch back; an older lock is a leftover of a dead git."""
IDLE_SHARE = 1 / 125
"""Share of one core that polling may use once nothing changes."""


class Coalescer:
    """When to hand on what arrived. Pure: every method is told the time, in seconds.

    Up to ``burst`` events within ``window`` go out at once. More are a burst: they go out after ``quiet`` seconds
    without another, or ``longest`` seconds after the first of them. Nothing waits more than ``patience`` seconds.
    """

    def __init__(
        self,
        *,
        burst: int = 16,
        window: float = 1.0,
        quiet: float = 0.2,
        longest: float = 1.0,
        patience: float = GIT_LOCK_PATIENCE,
    ) -> None:
        self.quiet, self._patience = quiet, patience
        self._burst, self._window, self._longest = burst, window, longest
        self._recent: deque[tuple[float, int]] = deque()
        self._first: float | None = None
        self._last = 0.0
        self._is_burst = False
        self._not_before = 0.0

    def add(self, events: int, now: float) -> None:
        """Count ``events`` that arrived at ``now``."""
        self._recent.append((now, events))
        while self._recent[0][0] < now - self._window:
            self._recent.popleft()
        self._first = now if self._first is None else self._first
        self._last = now
        self._is_burst = self._is_burst or sum(count for _, count in self._recent) > self._burst

    def postpone(self, until: float) -> None:
        """Hand nothing on before ``until``."""
        self._not_before = max(self._not_before, until)

    def due(self) -> float | None:
        """The moment to hand on what is pending; None when nothing is."""
        if self._first is None:
            return None
        ready = min(self._last + self.quiet, self._first + self._longest) if self._is_burst else self._first
        return max(ready, min(self._not_before, self._first + self._patience))

    def sent(self) -> None:
        """What was pending has been handed on."""
        self._first, self._is_burst, self._not_before = None, False, 0.0


def next_poll(interval: float, cost: float, changed: bool, base: float) -> float:
    """Seconds until the next poll, doubling while nothing changes up to where ``cost`` is `IDLE_SHARE` of the time."""
    return base if changed else min(max(interval * 2, base), max(base, cost / IDLE_SHARE))


def file_system_of(path: str, mountinfo: str) -> str:
    """Type of the file system that holds ``path``, from the text of Linux's ``/proc/self/mountinfo`` (proc(5))."""
    best, kind = "", ""
    for line in mountinfo.splitlines():
        fields, _, tail = line.partition(" - ")
        mount = fields.split(" ")[4].encode().decode("unicode_escape") if fields.count(" ") >= 4 else ""
        under = path == mount or path.startswith(mount.rstrip("/") + "/")
        if mount and under and len(mount) >= len(best):
            best, kind = mount, tail.split(" ")[0]
    return kind
