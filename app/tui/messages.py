"""What can happen to the workbench from outside the keyboard: answers of jobs, failures, events of the change feed.

Who calls: ``workers.py`` posts them from worker threads, the home screen handles them.
What may not come in: behaviour.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textual.message import Message

from mog.engine import model as m


@dataclass(frozen=True, slots=True)
class Question:
    """A question for a worker thread, and who takes its answer or its error on the screen's thread."""

    call: Callable[[], Any]
    then: Callable[[Any], None]
    failed: Callable[[BaseException], bool] | None = None


@dataclass
class Answered(Message):
    """A job ended well."""

    job: str
    question: Question
    answer: Any


@dataclass
class Failed(Message):
    """A job ended with an error; it is shown, never swallowed."""

    job: str
    question: Question
    error: BaseException


@dataclass
class Ended(Message):
    """A job's thread is free again; what was asked meanwhile may start."""

    job: str


@dataclass
class Fed(Message):
    """One event of the workspace's change feed."""

    change: m.Change


@dataclass
class Told(Message):
    """A thread has news for a pane; ``call`` takes them on the screen's thread."""

    name: str
    call: Callable[[], None]


@dataclass
class Progressed(Message):
    """Indexing goes on."""

    progress: m.Progress
