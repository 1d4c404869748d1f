"""The change feed: who wants to know gets every ``Change``, in order, on one worker thread.

Called by ``workspace``. What may not come in: what a change means, surfaces. A callback that raises is dropped from the feed and
its error is kept for ``errors``; it never stops the others.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

from mog.engine.model import Change

Callback = Callable[[Change], None]


class Feed:
    """Ordered delivery off the caller's thread. The thread starts with the first subscriber and ends with the last."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._callbacks: list[Callback] = []
        self._queue: queue.SimpleQueue[Change | None] | None = None
        self.errors: list[Exception] = []

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Add a callback; the returned function takes it away and may be called more than once."""
        with self._lock:
            self._callbacks.append(callback)
            if self._queue is None:
                self._queue = queue.SimpleQueue()
                threading.Thread(target=self._deliver, args=(self._queue,), name="mog-feed", daemon=True).start()
        return lambda: self._remove(callback)

    def say(self, change: Change) -> None:
        """Hand on a change; returns at once."""
        with self._lock:
            if self._queue is not None:
                self._queue.put(change)

    def _remove(self, callback: Callback) -> None:
        with self._lock:
            if callback in self._callbacks:
                self._callbacks.remove(callback)
            if not self._callbacks and self._queue is not None:
                self._queue.put(None)
                self._queue = None

    def _deliver(self, changes: queue.SimpleQueue[Change | None]) -> None:
        while (change := changes.get()) is not None:
            with self._lock:
                callbacks = list(self._callbacks)
            for callback in callbacks:
                try:
                    callback(change)
                except Exception as error:  # a broken listener must not silence the others
                    self.errors.append(error)
                    self._remove(callback)
