"""Work in the air: starts tries, tries again, gives up on those that take too long. Used by ``rounds`` and ``rechecks``.

What may not come in: the store, what a result means. Everything here is called on the caller's thread; jobs run in the pool,
or, when there is one worker and no time limit, at once where they are started.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Event as Signal
from typing import Any

from mog.engine.executor.desk import Flight
from mog.engine.executor.model import Beat
from mog.engine.executor.pool import Job, Pool
from mog.engine.executor.work import OUTPUT, TIME, WORKER, Tried, raised
from mog.engine.model import Progress

_TICK = 0.2  # seconds between looks at the signal to stop
_AHEAD = 256  # results that may wait for an earlier one


@dataclass
class Settings:
    """How a round works: threads, seconds that running work gets after a stop, who is told of progress, the signal to stop.

    ``beat`` hears of every task as it begins and as it is recorded, on the thread of the caller. ``watched``: somebody else may
    set ``stop``, so no task runs on the caller's thread, where nobody would look.
    """

    workers: int = 1
    grace: float = 5.0
    progress: Callable[[Progress], None] | None = None
    stop: Signal = field(default_factory=Signal)
    beat: Callable[[Beat], None] | None = None
    watched: bool = False


class Crew:
    """Flights in the air: starts them, tries again, gives up on those that take too long. On the caller's thread alone."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = Pool(settings.workers)
        self._flying: dict[int, tuple[Flight, Callable[[], Job], bool]] = {}
        self._done: dict[int, Any] = {}
        self._stopped_at: float | None = None

    @property
    def is_free(self) -> bool:
        """Whether another flight may start."""
        return len(self._flying) < self._settings.workers and len(self._done) < _AHEAD

    def start(self, flight: Flight, make: Callable[[], Job], retries: bool = True) -> None:
        """Start a flight; ``make`` makes the job of each try."""
        if self._settings.workers == 1 and flight.task.timeout is None and not self._settings.watched:
            self._inline(flight, make, retries)
            return
        flight.ticket = self._pool.submit(make())
        timeout = flight.task.timeout
        flight.deadline = None if timeout is None else time.monotonic() + timeout
        self._flying[flight.ticket] = (flight, make, retries)

    def _inline(self, flight: Flight, make: Callable[[], Job], retries: bool) -> None:
        result = make()()
        while retries and self._again(flight, result):
            result = make()()
        self._done[id(flight)] = result

    def has(self, flight: Flight) -> bool:
        """Whether a flight came to its end."""
        return id(flight) in self._done

    def take(self, flight: Flight) -> Any:
        """How it ended."""
        return self._done.pop(id(flight))

    def wait(self, limit: float = _TICK) -> None:
        """Wait a moment for any flight to end, or to have taken too long."""
        if not self._flying:
            return
        now = time.monotonic()
        soonest = min((f.deadline for f, _, _ in self._flying.values() if f.deadline is not None), default=now + limit)
        self._next(max(0.0, min(limit, soonest - now)))
        for flight, make, retries in [f for f in self._flying.values() if _late(f[0])]:
            del self._flying[flight.ticket]
            self._pool.abandon(flight.ticket)
            flight.stop.set()
            flight.stop = Signal()
            self._land(flight, make, retries, Tried(TIME, f"it took longer than {flight.task.timeout:g} seconds"))

    def _next(self, timeout: float) -> bool:
        landed = self._pool.next(timeout)
        if landed is None:
            return False
        flight, make, retries = self._flying.pop(landed[0])
        result = landed[1]
        self._land(
            flight, make, retries, Tried(WORKER, raised(result)) if isinstance(result, BaseException) else result
        )
        return True

    def drain(self) -> None:
        """Take in what is finished, without waiting."""
        while self._flying and self._next(0.0):
            pass

    def _land(self, flight: Flight, make: Callable[[], Job], retries: bool, result: Any) -> None:
        if retries and self._again(flight, result):
            self.start(flight, make)
        else:
            self._done[id(flight)] = result

    def _again(self, flight: Flight, result: Any) -> bool:
        """Whether a try is to be followed by another: it failed in a way that may pass, and tries are left."""
        if not isinstance(result, Tried) or result.broke == OUTPUT or self._settings.stop.is_set():
            return False
        verdict = result.verdict
        wrong = verdict is None or not (verdict.ok or verdict.disproves)
        if not wrong or len(flight.tries) >= flight.task.retries:
            return False
        flight.tries.append(result.reason)
        return True

    def waits(self, grace: float) -> bool:
        """After a stop: whether to go on waiting for what is in the air. Everybody there is told first."""
        if self._stopped_at is None:
            self._stopped_at = time.monotonic()
            for flight, _, _ in self._flying.values():
                flight.stop.set()
        if self._flying and time.monotonic() < self._stopped_at + grace:
            self.wait()
        return bool(self._flying) and time.monotonic() < self._stopped_at + grace

    def abandon(self) -> None:
        """Wait for nobody any more."""
        for ticket, (flight, _, _) in self._flying.items():
            self._pool.abandon(ticket)
            flight.stop.set()
        self._flying.clear()

    def close(self) -> None:
        """Let the threads end."""
        self._pool.close()


def _late(flight: Flight) -> bool:
    return flight.deadline is not None and time.monotonic() >= flight.deadline
