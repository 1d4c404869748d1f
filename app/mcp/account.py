"""What was shown to each conversation, counted in its working set after the answer has left, not before.

Who calls: ``tools_packs`` when it has shown something, ``desk`` around each call and at its end. What may not come in: choosing what
is evicted (the engine does), text of answers. Nobody need wait for counting: it begins when no call is open and none came for a
while, or when it has waited long. What a conversation is shown within a moment is one turn. What was evicted meanwhile is said with
the next answer of that conversation.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mog.engine.errors import MogError

if TYPE_CHECKING:
    from mog.engine.memory.set_records import Stub, Turned
    from mog.engine.memory.working_set import WorkingSet
    from mog.engine.retrieval.model import Item

MOMENT = 0.2  # seconds of a turn
QUIET = 0.05  # seconds without a call, after which counting takes no time from the next one
PATIENCE = 2.0  # seconds after its moment that a turn waits for quiet
SESSIONS = 256
BEHIND = 2_000  # items that may wait; beyond them an answer waits too
NEWS = 64
FOREVER = 3_600.0


class Account:
    """The counting of one desk. Safe from any thread.

    Args:
        of: the working set of a conversation by its name.
    """

    def __init__(self, of: Callable[[str], WorkingSet]) -> None:
        self._of = of
        self._changed = threading.Condition()
        self._waiting: dict[str, list[Item]] = {}
        self._due: dict[str, float] = {}
        self._busy = ""
        self._open = 0
        self._ended = 0.0
        self._hurry = False
        self._closed = False
        self._thread: threading.Thread | None = None
        self._free: dict[str, int] = {}
        self._news: dict[str, list[Stub]] = {}
        self._warned: dict[str, tuple[str, ...]] = {}

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Around each call: while one is open, counting can wait."""
        with self._changed:
            self._open += 1
        try:
            yield
        finally:
            with self._changed:
                self._open -= 1
                self._ended = time.monotonic()

    def room(self, session: str, wanted: int) -> int:
        """Tokens of ``wanted`` that a pack may cost, so that the set stays within its budget after it."""
        with self._changed:
            free = self._free.get(session, -1) - sum(item.tokens for item in self._waiting.get(session, ()))
        return wanted if free >= wanted else min(wanted, self._of(session).room())

    def shown(self, session: str, items: Sequence[Item]) -> None:
        """Count these, soon. Waits only where counting is far behind."""
        from mog.engine.memory.set_scores import relevances

        kept = [replace(item, score=share) for item, share in zip(items, relevances(items), strict=True)]
        with self._changed:
            if self._closed or not kept:
                return
            self._changed.wait_for(lambda: self._closed or not self._behind(), timeout=2.0)
            self._waiting.setdefault(session, []).extend(kept)
            self._due.setdefault(session, time.monotonic() + MOMENT)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="mog-account", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def settle(self, session: str = "", seconds: float = 5.0) -> None:
        """Wait until what was shown is counted: of one conversation, or of all."""
        with self._changed:
            self._hurry = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._waits(session), timeout=seconds)

    def news(self, session: str) -> tuple[list[Stub], tuple[str, ...]]:
        """Stubs of what was evicted since this was asked last, and what the set has to say; each is told once."""
        with self._changed:
            return self._news.pop(session, []), self._warned.pop(session, ())

    def heard(self, turned: Turned) -> None:
        """Take in what a change of a set did."""
        with self._changed:
            for table in (self._free, self._news, self._warned):
                while len(table) >= SESSIONS and turned.session not in table:
                    del table[next(iter(table))]
            self._free[turned.session] = turned.budget - turned.used
            self._news[turned.session] = [*self._news.get(turned.session, ()), *turned.evicted][-NEWS:]
            self._warned[turned.session] = turned.warnings

    def close(self, seconds: float = 0.3) -> None:
        """Count what waits, as far as that is quick, and end."""
        if self._thread is not None:
            self.settle(seconds=seconds)
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _waits(self, session: str) -> bool:
        return bool(self._waiting.get(session) or self._busy == session) if session else bool(self._waiting or self._busy)

    def _work(self) -> None:
        while (session := self._next()) is not None:
            with self._changed:
                items = self._waiting.pop(session, [])
                self._due.pop(session, None)
            with contextlib.suppress(MogError):  # what cannot be counted is telemetry; the answer has left
                self.heard(self._of(session).serve(items))
            with self._changed:
                self._busy = ""
                self._hurry = self._hurry and bool(self._waiting)
                self._changed.notify_all()

    def _behind(self) -> bool:
        return sum(map(len, self._waiting.values())) >= BEHIND

    def _left(self, session: str) -> float:
        """Seconds until it is to be looked at again whether a turn can be counted; 0 when it can be now."""
        now, due = time.monotonic(), self._due[session]
        if now < due and not self._behind():
            return due - now
        if now >= due + PATIENCE or self._behind():
            return 0.0
        return QUIET if self._open else max(0.0, self._ended + QUIET - now)

    def _next(self) -> str | None:
        """The conversation whose turn is over, once one is; None at the end. Each has a moment of its own."""
        with self._changed:
            while not self._closed:
                session = next(iter(self._waiting), "")
                left = self._left(session) if session else FOREVER
                if session and (self._hurry or left <= 0):
                    self._busy = session
                    return session
                self._changed.wait(left)
        return None
