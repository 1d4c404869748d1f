"""The records of a drill: what is asked, what is so and why, how it was answered. Shared by the rooms of ``drills``.

Who calls: this package and, to show them, surfaces. What may not come in: behaviour beyond arithmetic, the mesh, files. All
text is as it was recorded in the store, so it is strangers' text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """What becomes of a dependant when the assumption turns out false."""

    falls = "falls"
    weakens = "weakens"
    survives = "survives"


class Because(StrEnum):
    """Why a dependant falls, weakens or survives.

    Attributes:
        only_ground: it rests on the assumption directly, and on nothing else.
        every_ground: it rests on the assumption directly, and each of its grounds breaks.
        rests_on: it falls through another one that falls (``by``).
        defeated: something that stands because of this contradicts it (``by``).
        held_by: a ground that is not touched carries it (``support``).
        through: what it rests on (``by``) survives itself.
        unmet: the ground that would break did not hold before; another one carries it (``support``).
        spared: what would contradict it (``by``) does not come to stand.
        given: it needs no ground.
    """

    only_ground = "only_ground"
    every_ground = "every_ground"
    rests_on = "rests_on"
    defeated = "defeated"
    held_by = "held_by"
    through = "through"
    unmet = "unmet"
    spared = "spared"
    given = "given"


@dataclass(frozen=True, slots=True)
class Named:
    """A record of the reason layer: id, type, kind and its words; "" for all but the id where the record is gone."""

    id: str
    type: str = ""
    kind: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Support:
    """One ground of a record: all of these stand and none of those does; whether it is met now."""

    id: str
    all_of: tuple[Named, ...]
    none_of: tuple[Named, ...]
    note: str
    met: bool


@dataclass(frozen=True, slots=True)
class Why:
    """The reason of one row. ``grounds`` counts all its grounds; ``chain`` leads from the assumption to it, both included."""

    because: Because
    by: Named | None = None
    support: Support | None = None
    grounds: int = 0
    chain: tuple[Named, ...] = ()


@dataclass(frozen=True, slots=True)
class Truth:
    """What becomes of one dependant, how many steps from the assumption, and why."""

    outcome: Outcome
    hop: int
    why: Why


@dataclass(frozen=True, slots=True)
class Question:
    """One dependant that is asked about.

    Attributes:
        node: the record. detail: more of its words (a decision's rationale), "" when there is none.
        supports: its grounds, for whoever peeks.
    """

    node: Named
    detail: str
    supports: tuple[Support, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason why an assumption is worth a drill: which, what it adds to the risk, and the words for it."""

    kind: str
    weight: float
    text: str


@dataclass(frozen=True, slots=True)
class Choice:
    """An assumption that can be drilled.

    Attributes:
        node: the record. version: of the assumption, 1 when it says none.
        about: locators it is anchored to. risk: sum of the weights. reasons: largest first.
        dependants: what would be touched; ``capped`` says that it was not counted further. single: those of them that
            stand on one ground only.
        played: how often it was drilled. missed: share of wrong answers in these, the late ones weighing more; None before.
    """

    node: Named
    version: int
    about: tuple[str, ...]
    risk: float
    reasons: tuple[Reason, ...]
    dependants: int
    single: int
    capped: bool = False
    played: int = 0
    missed: float | None = None


@dataclass(frozen=True, slots=True)
class Choices:
    """What there is to drill, riskiest first.

    Attributes:
        items: the first so many. total: of how many. idle: assumptions on which nothing rests.
        head: number of the event they were weighed at.
        problems: what they were weighed without, and why: the disk, the history.
    """

    items: tuple[Choice, ...]
    total: int
    idle: int
    head: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tasks:
    """Tasks of plans that would have to run again, as ``plan/task`` in order; ``total`` counts the tasks of all plans."""

    stale: tuple[str, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Counts:
    """What becomes of all dependants, asked about or not."""

    falls: int
    weakens: int
    survives: int
    tasks: Tasks

    @property
    def dependants(self) -> int:
        """All of them."""
        return self.falls + self.weakens + self.survives


@dataclass(frozen=True, slots=True)
class Drill:
    """One assumption to suppose false, with what is asked.

    Attributes:
        choice: the assumption and why it was chosen. seed: chose the questions and their order.
        head: number of the event that the copy was taken at.
        questions: at most a dozen or so of the dependants. truths: the answers, in the same order; not for showing before
            they are revealed. counts: of all dependants, likewise.
    """

    choice: Choice
    seed: str
    head: int
    questions: tuple[Question, ...]
    truths: tuple[Truth, ...]
    counts: Counts

    @property
    def node(self) -> Named:
        """The assumption."""
        return self.choice.node

    @property
    def sampled(self) -> bool:
        """Whether there are more dependants than questions."""
        return len(self.questions) < self.counts.dependants


@dataclass(frozen=True, slots=True)
class Recall:
    """Points for one outcome: ``right`` answers in halves, of ``asked``."""

    right: float
    asked: int


@dataclass(frozen=True, slots=True)
class Score:
    """What a drill scored: 0 to 100, the mean of the recalls of the outcomes that occur."""

    value: float
    recalls: Mapping[Outcome, Recall]

    @property
    def rounded(self) -> int:
        """For a title."""
        return int(self.value + 0.5)


@dataclass(frozen=True, slots=True)
class Row:
    """One question with its answer (None: left blank) and what is so."""

    question: Question
    said: Outcome | None
    peeked: bool
    truth: Truth

    @property
    def right(self) -> bool:
        """Whether the answer is right; a blank is wrong."""
        return self.said is self.truth.outcome


@dataclass(frozen=True, slots=True)
class Revealed:
    """A drill that was played: rows in the order asked, and the score."""

    drill: Drill
    rows: tuple[Row, ...]
    score: Score

    @property
    def wrong(self) -> tuple[Row, ...]:
        """The rows that were not answered right."""
        return tuple(row for row in self.rows if not row.right)


@dataclass(frozen=True, slots=True)
class Repair:
    """Something that is supposed on the copy.

    Attributes:
        kind: ``ground`` (``node`` also rests on ``rests_on``), ``evidence`` (``node`` also rests on a new observation, in
            ``words``), ``supersede`` (``words`` take the place of ``node``; those in ``rests_on`` follow, or all that rest on
            it when none is named).
        node: id of the record that is repaired.
    """

    kind: str
    node: str
    words: str = ""
    rests_on: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rerun:
    """A drill after repairs, beside the same drill before them.

    Attributes:
        repairs: what was supposed, in order. node: the record the last of them is about.
        before, after: what becomes of the dependants. saved: records that no longer fall, in order; at most ``LISTED``.
    """

    repairs: tuple[Repair, ...]
    node: Named
    before: Counts
    after: Counts
    saved: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    """One answer as it is kept: words of the record as they were, what was so, what was said, steps from the assumption."""

    id: str
    type: str
    text: str
    truth: Outcome
    said: Outcome | None
    peeked: bool
    hop: int

    @property
    def right(self) -> bool:
        """Whether it was right."""
        return self.said is self.truth


@dataclass(frozen=True, slots=True)
class Played:
    """A drill as it is kept in the history.

    Attributes:
        at: wall time, ISO 8601. id, text: the assumption. head: event it was played at. seed, score: of the drill.
        dependants: how many there were. rows: the answers.
    """

    at: str
    id: str
    text: str
    head: int
    seed: str
    dependants: int
    score: float
    rows: tuple[Answered, ...]


@dataclass(frozen=True, slots=True)
class Weak:
    """A dependant that is misjudged: what was said of it, what is so.

    Attributes:
        assumption, node: the records; ``text`` "" where nothing is kept of it. asked, missed: how often.
        said, truth: at the last miss. weight: misses, each further answer about it makes the earlier ones count less.
        gone: the record does not stand any more.
    """

    assumption: Named
    node: Named
    asked: int
    missed: int
    said: Outcome | None
    truth: Outcome
    weight: float
    gone: bool = False


@dataclass(frozen=True, slots=True)
class Habit:
    """How often what is so was taken for something else: ``said`` None is a blank."""

    truth: Outcome
    said: Outcome | None
    count: int
    asked: int


@dataclass(frozen=True, slots=True)
class WeakSpots:
    """Where predictions go wrong: single records, heaviest first, and habits, most frequent first."""

    items: tuple[Weak, ...]
    total: int
    habits: tuple[Habit, ...]
    far: Recall
    near: Recall


@dataclass(frozen=True, slots=True)
class History:
    """Drills that were played, oldest first.

    Attributes:
        played: those that can be read. unreadable: lines that cannot; they stay in the file as they are.
    """

    played: tuple[Played, ...]
    unreadable: int = 0

    @property
    def mean(self) -> float | None:
        """Mean score, None before the first drill."""
        return sum(one.score for one in self.played) / len(self.played) if self.played else None


__all__ = [
    "Answered", "Because", "Choice", "Choices", "Counts", "Drill", "Habit", "History", "Named", "Outcome", "Played",
    "Question", "Reason", "Recall", "Repair", "Rerun", "Revealed", "Row", "Score", "Support", "Tasks", "Truth", "Weak",
    "WeakSpots", "Why",
]  # fmt: skip
