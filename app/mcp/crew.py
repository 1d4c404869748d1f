"""Threads that compute, so that the event loop never does: a few that live on, more only while some are stuck.

Who calls: ``desk``. What may not come in: what is computed. The threads stay the same ones, because each keeps its own view of the
index open; they are daemons, so that a question nobody waits for any more does not keep the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from mog.engine.errors import HeldByOther

T = TypeVar("T")
STEADY, MOST, WAITING = 4, 32, 256
QUEUED_SECONDS = 40.0  # a call waits so long for a thread


class _Job:
    """A function on its way: waiting, taken up by a thread, done. Made on the event loop that waits for it."""

    def __init__(self, lock: threading.Lock, function: Callable[[], Any]) -> None:
        self._lock, self._function = lock, function
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()
        self._taken = self._over = self.left = False
        self.begun: asyncio.Future[None] = self._loop.create_future()
        self.done: asyncio.Future[Any] = self._loop.create_future()

    def __call__(self) -> None:
        """On a thread."""
        with self._lock:
            if self._over:
                return
            self._taken = True
        self._hand(self.begun, None)
        try:
            value, error = self._context.run(self._function), None
        except BaseException as found:
            value, error = None, found
        with self._lock:
            self._over = True
        self._hand(self.done, value, error)

    def give_up(self) -> bool:
        """Do not begin it; False when a thread has it already."""
        with self._lock:
            self._over = self._over or not self._taken
            return not self._taken

    def leave(self) -> bool:
        """Nobody waits for it any more; whether it still occupies its thread. The lock is held."""
        self.left = not self._over
        return self.left

    def _hand(self, future: asyncio.Future[Any], value: Any, error: BaseException | None = None) -> None:
        def settle() -> None:
            if not future.done():
                future.set_result(value) if error is None else future.set_exception(error)

        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(settle)


class Crew:
    """A pool of threads. ``run`` may be called from any event loop.

    The thread that worked last works next: it has its view of the index, and what that remembers, at hand.
    """

    def __init__(self, steady: int = STEADY, most: int = MOST) -> None:
        self._steady, self._most = steady, most
        self._jobs: deque[_Job] = deque()
        self._idle: list[queue.SimpleQueue[_Job | None]] = []
        self._lock = threading.Lock()
        self._threads = self._stuck = 0
        self._closed = False

    async def run(self, function: Callable[[], T], seconds: float) -> T:
        """What ``function`` returns or raises, computed on a thread; its time begins when a thread takes it up.

        Raises:
            TimeoutError: it takes longer; it goes on, and nobody gets what it returns. HeldByOther: too much is waiting already.
        """
        job = _Job(self._lock, function)
        self._put(job)
        try:
            async with asyncio.timeout(QUEUED_SECONDS):
                await job.begun
        except (TimeoutError, asyncio.CancelledError) as error:
            if job.give_up():
                if isinstance(error, asyncio.CancelledError):
                    raise
                raise HeldByOther("too many calls are waiting", way_out="ask again in a moment") from error
        try:
            async with asyncio.timeout(seconds):
                found: T = await job.done
                return found
        except (TimeoutError, asyncio.CancelledError):
            with self._lock:
                if job.leave():
                    self._stuck += 1
                    if self._jobs and self._may_grow():
                        self._grow(self._jobs.popleft())
            raise

    def close(self) -> None:
        """End idle threads; one that computes ends after it."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for inbox in idle:
            inbox.put(None)

    @property
    def threads(self) -> int:
        """How many there are."""
        return self._threads

    def _put(self, job: _Job) -> None:
        with self._lock:
            if self._closed or len(self._jobs) >= WAITING:
                what = "the server is ending" if self._closed else "too many calls are waiting"
                raise HeldByOther(what, way_out="ask again in a moment")
            if self._idle:
                self._idle.pop().put(job)
            elif self._may_grow():
                self._grow(job)
            else:
                self._jobs.append(job)

    def _may_grow(self) -> bool:
        return self._threads < min(self._most, self._steady + self._stuck)

    def _grow(self, job: _Job) -> None:
        self._threads += 1
        threading.Thread(target=self._work, args=(job,), name="mog-answers", daemon=True).start()

    def _work(self, job: _Job | None) -> None:
        inbox: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        while job is not None:
            job()
            with self._lock:
                self._stuck -= job.left
                job = self._jobs.popleft() if self._jobs else None
                if job is None and (self._closed or self._threads > self._steady + self._stuck):
                    self._threads -= 1
                    return
                if job is None:
                    self._idle.append(inbox)
            job = job or inbox.get()
        with self._lock:
            self._threads -= 1
