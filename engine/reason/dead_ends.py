"""The four ways a walk can end without an answer, which one it was, and how often. Called by the walker and by health.

What may not come in: a fifth reason, boundaries of the search (hub sizes, budgets: notes of a walk), the size of a graph
or any node that does not lie between the question and an answer.

    entity_unresolved  nothing that the question names is known, and no text shares enough words with it
    pruned_too_early   there was an answer, or a way to one, through a node that was pruned, retired, or has fallen
    wrong_node_type    claims or decisions were reached, and none of them answers this
    no_typed_edge      no edge leads from what the question names to a claim or decision
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

KEPT = 256


class Reason(StrEnum):
    """Why a walk has no answer."""

    no_typed_edge = "no_typed_edge"
    entity_unresolved = "entity_unresolved"
    wrong_node_type = "wrong_node_type"
    pruned_too_early = "pruned_too_early"


REMEDIES: Mapping[Reason, str] = MappingProxyType(
    {
        Reason.no_typed_edge: "ingest a source that says something about it, or link what is known to it",
        Reason.entity_unresolved: "name it as the graph does, or add an alias or a source that mentions it",
        Reason.wrong_node_type: "ask with other words, or record a claim or decision that answers this",
        Reason.pruned_too_early: "look at what fell or was pruned: restore it, or record what replaces it",
    }
)


@dataclass(frozen=True, slots=True)
class Reached:
    """What a search without an answer came to, the facts a reason is decided on.

    Attributes:
        seeds: how many nodes the search began at, those that are blocked not counted.
        blocked: entities that the question names and that may not be walked.
        asserting: a claim or decision was reached, at least one edge away or by its words.
        hidden: an answer would be found if nothing were pruned, retired or fallen.
    """

    seeds: int
    blocked: bool = False
    asserting: bool = False
    hidden: bool = False


def reason_for(reached: Reached) -> Reason:
    """The reason a search without an answer ended; the first that applies in the order of the module's text."""
    if reached.hidden or (reached.blocked and not reached.seeds):
        return Reason.pruned_too_early
    if not reached.seeds:
        return Reason.entity_unresolved
    return Reason.wrong_node_type if reached.asserting else Reason.no_typed_edge


@dataclass(frozen=True, slots=True)
class DeadEnd:
    """One walk that ended without an answer; ``blocker`` is the node in the way, "" when there is none."""

    question: str
    reason: Reason
    detail: str
    blocker: str = ""

    @property
    def remedy(self) -> str:
        """What to do about it, one sentence."""
        return REMEDIES[self.reason]


class DeadEndLedger:
    """Counts of dead ends by reason, and the last 256 of them. In memory, any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[Reason] = Counter()
        self._last: deque[DeadEnd] = deque(maxlen=KEPT)

    def record(self, dead_end: DeadEnd) -> None:
        """Count one."""
        with self._lock:
            self._counts[dead_end.reason] += 1
            self._last.append(dead_end)

    def counts(self) -> dict[Reason, int]:
        """Every reason with its count, none left out."""
        with self._lock:
            return {reason: self._counts[reason] for reason in Reason}

    def last(self) -> tuple[DeadEnd, ...]:
        """The last dead ends, oldest first."""
        with self._lock:
            return tuple(self._last)
