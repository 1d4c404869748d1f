"""``Overlay``: a copy of a mesh in memory, for questions that begin with "suppose". Made by the drills.

What lives here: taking the records as they are, and a log that refuses every commit. What may not come in: files, and any
way back to the mesh it was copied from. Previews work as on the mesh itself, because it is one; nothing can be recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from mog.engine.errors import UsageError
from mog.engine.heap import uncollected
from mog.engine.ledgers.events import Event, EventLog, Head, Step
from mog.engine.ledgers.records import Row
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.standing import Standing


class Overlay(Mesh):
    """What was believed at one event, frozen. Copying costs a look at every table; labels are worked out at the first question.

    ``preview`` and every read work; whatever commits raises UsageError.
    """

    def __init__(self, base: Mesh) -> None:
        with base.locked():
            self._copied = {table: dict(rows) for table, rows in base.tables.rows.items()}
            head = base.head
        super().__init__(_Sealed(head), base.ontology, base.repo, worktree=base.worktree, seed_rule=base.seed_rule)

    def _load(self) -> None:
        self._reset()
        with uncollected():
            for table, rows in self._copied.items():
                for key, record in rows.items():
                    self._tables.put(table, key, record)
        self._head = self.log.head()
        self._tables.seq = self._head.seq
        self._copied = {}

    @property
    def standing(self) -> Standing:
        """What rests on what, brought up to the records; for whoever walks it while the copy is ``locked()``."""
        with self.locked():
            self._compiled.flush()
            return self._compiled.standing


class _Sealed(EventLog):
    """A ledger that stays where it is: it has a head, gives no events and takes none."""

    def __init__(self, head: Head) -> None:
        super().__init__(Path(os.devnull))
        self._at = head

    def head(self) -> Head:
        return self._at

    def events(self, after: int = 0, limit: int = 0) -> Iterator[Event]:
        return iter(())

    def load(self) -> tuple[Head, Iterator[Row]]:
        return self._at, iter(())

    def commit(self, steps: Iterable[Step], *, when: str, expected: Head | None = None) -> tuple[Event, ...]:
        raise UsageError("a copy of what is believed takes no commit", way_out="say it to the workspace itself")


__all__ = ["Overlay"]
