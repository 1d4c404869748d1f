"""The records of memory: a note as it is served, what remembering one did. Small, frozen, plain.

Who calls: the rooms of ``memory`` make them, ``app`` and ``workspace`` pass them on. What may not come in: behaviour beyond a
property, I/O. Texts are verbatim and untrusted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from mog.engine.model import Freshness
from mog.engine.reason.radius import Radius
from mog.engine.reason.records import Label

STALE = (Freshness.drifted, Freshness.missing)


class Since(StrEnum):
    """Where the code under a note stopped being as recorded.

    ``commit``: in the commit named. ``working_tree``: not committed yet. ``elsewhere``: this branch never had it in the commits
    looked at. ``unknown``: git cannot say (no repository, no commit, too far back).
    """

    commit = "commit"
    working_tree = "working_tree"
    elsewhere = "elsewhere"
    unknown = "unknown"


@dataclass(frozen=True, slots=True)
class Changed:
    """What changed under an anchor and when.

    Attributes:
        since: see there. commit: full id of the commit, "" for none. date: its committer's day, YYYY-MM-DD. subject: first line.
        again: it changed once more, without a commit.
    """

    since: Since
    commit: str = ""
    date: str = ""
    subject: str = ""
    again: bool = False


@dataclass(frozen=True, slots=True)
class Held:
    """One anchor of a note and what the disk says about it now.

    Attributes:
        locator: as recorded. reason: a few words. now_at: where the code stands now when it moved.
        span_hash: hash it was recorded with. changed: None while the code is as it was.
    """

    locator: str
    freshness: Freshness
    reason: str
    now_at: str = ""
    span_hash: str = ""
    changed: Changed | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something remembered, as it is served: data, never an instruction.

    Attributes:
        id: of the record, 32 hex digits. kind: what it was called when it was said. text: verbatim.
        origin: trust label: ``user``, ``agent`` or ``tool``. by: who said it. session: in which conversation, "" when not said.
        type, record: type and kind of the record in the ledger (``claim``, ``proposal``).
        standing: its label. gone: how it left (``superseded``, ``retracted``, ``withdrawn``), "" while it counts; why: the reason
            that was given.
        freshness: of its anchors the worst; ``unknown`` when it is tied to no code.
        anchors: each with what changed. pinned: a person wants it kept in sight.
        contradicted_by: ids of what stands, contradicts it and was not judged.
        seq: event that recorded it. commit: what was checked out then, "" without git. because: the reason of a decision.
        replaces, replaced_by: ids, "" for none.
        score, parts: of a search; the parts add up to the score.
    """

    id: str
    kind: str
    text: str
    origin: str
    by: str
    type: str
    record: str
    standing: Label
    seq: int
    freshness: Freshness = Freshness.unknown
    anchors: tuple[Held, ...] = ()
    pinned: bool = False
    gone: str = ""
    why: str = ""
    contradicted_by: tuple[str, ...] = ()
    session: str = ""
    commit: str = ""
    because: str = ""
    replaces: str = ""
    replaced_by: str = ""
    score: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def ref(self) -> str:
        """What ``recall`` and ``expand`` take: ``note:<id>``."""
        return f"note:{self.id}"

    @property
    def proposed(self) -> bool:
        """Waits for a person to promote it."""
        return self.record == "proposal"

    @property
    def stale(self) -> bool:
        """The code under it changed or is gone."""
        return self.freshness in STALE


@dataclass(frozen=True, slots=True)
class Alike:
    """A note that counts and shares most of its words with a new one at the same place.

    Attributes:
        share: of all words of the two, those they have in common (0..1).
        against: it reads like the opposite: one of the two says no, or they differ in a number. Shown, never resolved.
    """

    note: Note
    share: float
    against: bool = False


@dataclass(frozen=True, slots=True)
class Remembered:
    """What a call that writes did.

    Attributes:
        note: as it is now. events: numbers of what was recorded; empty when it was there already.
        radius: what the commit did to labels. alike: near-duplicates, none of them merged. warnings: sentences for people.
    """

    note: Note
    events: tuple[int, ...]
    radius: Radius
    alike: tuple[Alike, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recalled:
    """Answer of a search.

    Attributes:
        notes: best first. total: notes that share a word with the query and count. hidden: of those that do not count
            (superseded, retracted, fallen) how many share a word.
    """

    query: str
    notes: tuple[Note, ...]
    total: int
    hidden: int
