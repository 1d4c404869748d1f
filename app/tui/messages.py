"""What can happen to the workbench from outside the keyboard: answers of jobs, failures, events of the change feed.

Who calls: ``workers.py`` posts them from worker threads, the home screen handles them and owns the state.
What may not come in: behaviour.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from textual.message import Message

from mog.engine import model as m


@dataclass
class Answered(Message):
    """A job ended well.

    Attributes:
        job: its group, e.g. ``focus``.
        asked: what was asked, to tell an answer that came too late.
        answer: what the workspace returned.
        took: seconds.
    """

    job: str
    asked: Any
    answer: Any
    took: float


@dataclass
class Failed(Message):
    """A job ended with an error; it is shown, never swallowed."""

    job: str
    asked: Any
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
class Progressed(Message):
    """Indexing goes on."""

    progress: m.Progress
