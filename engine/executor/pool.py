"""A bounded pool of daemon threads whose jobs may be abandoned. Used by ``rounds``.

What lives here: threads, tickets, results. What may not come in: tasks, the mesh. A thread cannot be stopped from outside:
a job that takes too long is given up, its result is dropped when it comes, and another thread takes its place.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import Any

Job = Callable[[], Any]


class Pool:
    """At most ``size`` jobs at a time that somebody waits for. Jobs do not raise: what they raise is their result."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._jobs: queue.SimpleQueue[tuple[int, Job] | None] = queue.SimpleQueue()
        self._results: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._waited: set[int] = set()
        self._tickets = 0
        self._threads = 0

    def submit(self, job: Job) -> int:
        """Start a job as soon as a thread is free; its ticket."""
        if self._threads < min(self._size, len(self._waited) + 1):
            self._spawn()
        self._tickets += 1
        self._waited.add(self._tickets)
        self._jobs.put((self._tickets, job))
        return self._tickets

    def next(self, timeout: float | None) -> tuple[int, Any] | None:
        """A finished job that somebody waits for, as (ticket, result), or None after ``timeout`` seconds."""
        while True:
            try:
                ticket, result = self._results.get(timeout=timeout)
            except queue.Empty:
                return None
            if ticket in self._waited:
                self._waited.discard(ticket)
                return ticket, result

    def abandon(self, ticket: int) -> None:
        """Wait for a job no longer. The thread it holds is not counted any more."""
        if ticket in self._waited:
            self._waited.discard(ticket)
            self._threads -= 1

    def close(self) -> None:
        """Let idle threads end; those at work end after their job."""
        self._jobs.put(None)

    def _spawn(self) -> None:
        self._threads += 1
        threading.Thread(target=self._serve, name="mog-task", daemon=True).start()

    def _serve(self) -> None:
        while (taken := self._jobs.get()) is not None:
            ticket, job = taken
            try:
                result = job()
            except BaseException as error:  # whoever waits decides what it means
                result = error
            abandoned = ticket not in self._waited
            self._results.put((ticket, result))
            if abandoned:
                return
        self._jobs.put(None)  # for the next thread
