"""Questions to the workspace run here, on threads; they only post messages.

Who calls: the home screen starts jobs and handles ``Answered``, ``Failed`` and ``Ended``.
What may not come in: widgets, state of a screen. One thread a group at most: a newer question of a group replaces one
that waits, so holding a key down asks for the first and the last, never for all.
"""

from __future__ import annotations

import threading
import time
from functools import partial
from typing import Any

from textual.screen import Screen

from mog.app.tui.messages import Answered, Ended, Failed, Progressed, Question
from mog.engine import model as m
from mog.engine.errors import Cancelled


class Jobs:
    """Jobs of one screen, by group.

    Args:
        screen: receives the messages.
    """

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen
        self._running: set[str] = set()
        self._waiting: dict[str, Question] = {}
        self.stopped = threading.Event()

    def start(self, job: str, question: Question) -> None:
        """Run a question on a thread, or remember it as the next of its group; a closed screen starts nothing."""
        if self.stopped.is_set():
            return
        if job in self._running:
            self._waiting[job] = question
            return
        self._running.add(job)
        self._screen.run_worker(
            partial(self._run, job, question), name=job, group=job, thread=True, exit_on_error=False, exclusive=False
        )

    def running(self, job: str) -> bool:
        """Whether a job of that group runs."""
        return job in self._running

    def ended(self, job: str) -> None:
        """A thread is free: start what waits for it."""
        self._running.discard(job)
        if waiting := self._waiting.pop(job, None):
            self.start(job, waiting)

    def stop(self) -> None:
        """No more jobs; those that report progress end at their next report."""
        self.stopped.set()
        self._waiting.clear()

    def _run(self, job: str, question: Question) -> None:
        post = self._screen.post_message
        try:
            answer = question.call()
        except BaseException as error:
            post(Failed(job, question, error))
        else:
            post(Answered(job, question, answer))
        post(Ended(job))


class ProgressTap:
    """The progress callback of a long job: at most five reports a second, and the way to stop it.

    Raises:
        Cancelled: from the call, when the job was asked to stop.
    """

    def __init__(self, screen: Screen[Any], stopped: threading.Event, every: float = 0.2) -> None:
        self._screen, self._stopped, self._every = screen, stopped, every
        self.cancelled = threading.Event()
        self._last, self._stage = 0.0, ""

    def __call__(self, progress: m.Progress) -> None:
        if self.cancelled.is_set() or self._stopped.is_set():
            raise Cancelled(
                "indexing was stopped", way_out="r in pane 8 starts it again; the index before it still serves"
            )
        now = time.monotonic()
        if progress.stage != self._stage or now - self._last >= self._every:
            self._last, self._stage = now, progress.stage
            self._screen.post_message(Progressed(progress))
