"""Whether anything was ever annotated in a clone: a look at new events, so that who annotates nothing pays nothing more.

Who calls: ``room``, before it loads what reads annotations. What may not come in: the reason layer, records.
"""

from __future__ import annotations

from mog.engine.ledgers.events import EventLog

VERB = "annotated"


class Seen:
    """Follows one event log; remembers how far it looked."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._seq, self._digest, self._found = 0, "", False

    def any(self) -> bool:
        """Whether an event recorded advice. Raises StoreDamaged."""
        if not self._log.path.exists():
            return False
        head = self._log.head()
        if self._found and head.seq >= self._seq:
            return True
        if (head.seq, head.digest) != (self._seq, self._digest):
            after = self._seq if head.seq > self._seq else 0
            self._found = any(event.type == VERB for event in self._log.events(after))
            self._seq, self._digest = head.seq, head.digest
        return self._found
