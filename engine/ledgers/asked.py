"""Who asked for what is recorded: a few words kept with each event of a call that came over a protocol.

Who calls: a surface, around a call that writes; the log, when it records. What may not come in: meaning. The words are part of
the event, so that after a crash it can be told whether a call was recorded: an event that carries its key is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mog.engine.ledgers.commit import Step
    from mog.engine.ledgers.events import Event, EventLog

FIELD = "asked"
LOOKED_BACK = 5_000  # events
_ASKED: ContextVar[Mapping[str, str] | None] = ContextVar("asked", default=None)


@contextmanager
def asking(**words: str) -> Iterator[None]:
    """Events recorded inside, by this thread, carry these words; empty ones are left out."""
    token = _ASKED.set({name: word for name, word in words.items() if word})
    try:
        yield
    finally:
        _ASKED.reset(token)


def stamped(step: Step) -> Step:
    """A step with the words of the call that is under way."""
    words = _ASKED.get()
    return replace(step, data={**step.data, FIELD: dict(words)}) if words else step


def answered(log: EventLog, key: str) -> tuple[Event, ...]:
    """Events of the call with that key among the last few thousand; none: nothing of it was recorded. Raises StoreDamaged."""
    if not log.path.exists():
        return ()
    first = max(0, log.head().seq - LOOKED_BACK)
    return tuple(event for event in log.events(first) if _key(event) == key)


def _key(event: Event) -> str:
    words = event.data.get(FIELD)
    return str(words.get("key", "")) if isinstance(words, Mapping) else ""
