"""A drill while it is played: answers, peeks, reveal, repairs; and a series of drills with its running score.

Who calls: surfaces, through ``room``. What may not come in: keys, clocks, files, the real store: everything is asked of the
copy that the series was opened with, and the one thing that leaves is the finished drill, handed to ``keep``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from mog.engine.drills import repair as repairing
from mog.engine.drills import sample, scoring, truth
from mog.engine.drills.records import Choice, Drill, Outcome, Repair, Rerun, Revealed, Row, Score, Support
from mog.engine.drills.repair import Suggestion
from mog.engine.drills.truth import Fallout
from mog.engine.errors import MogError, UsageError
from mog.engine.reason.overlay import Overlay

QUESTIONS = 12
MOST_QUESTIONS = 60

Keep = Callable[[Revealed], None]


def make(copy: Overlay, choice: Choice, seed: str = "", questions: int = QUESTIONS) -> tuple[Drill, Fallout]:
    """A drill of one record, and its fall. The same copy, seed and number give the same drill.

    Raises: UsageError: nothing rests on it, or a number that cannot be meant. NotFound, OntologyError: as a preview.
    """
    if not 1 <= questions <= MOST_QUESTIONS:
        raise UsageError(f"{questions} questions", way_out=f"1 to {MOST_QUESTIONS}")
    with copy.locked():
        found = truth.fallout(copy, choice.node.id)
        if not found.counts.dependants:
            raise UsageError("nothing rests on it", where=choice.node.text[:60], way_out="list others with `mog drill`")
        ids = sample.pick(choice.node.id, found.dependants(), found.outcome, found.hop, questions, seed)
        asked = tuple(truth.question(copy, id) for id in ids)
        truths = tuple(truth.truth(copy, found, id) for id in ids)
        return Drill(choice, seed, copy.head.seq, asked, truths, found.counts), found


@dataclass
class Game:
    """One drill in play. Not safe from several threads.

    Attributes:
        drill: what is asked. answers: by number of the question, from 0. peeked: questions whose grounds were looked at.
        repairs: what is supposed besides, in order. revealed: set by ``reveal``.
        unkept: why the history could not keep it, "" when it could.
    """

    copy: Overlay
    drill: Drill
    found: Fallout
    keep: Keep | None = None
    answers: dict[int, Outcome] = field(default_factory=dict)
    peeked: set[int] = field(default_factory=set)
    repairs: list[Repair] = field(default_factory=list)
    revealed: Revealed | None = None
    unkept: str = ""

    @property
    def done(self) -> int:
        """How many questions are answered."""
        return len(self.answers)

    @property
    def blanks(self) -> tuple[int, ...]:
        """Numbers of the questions that are not."""
        return tuple(at for at in range(len(self.drill.questions)) if at not in self.answers)

    def answer(self, at: int, said: Outcome | None) -> None:
        """Answer a question, or with None take the answer back. Raises UsageError: no such question, or it is revealed."""
        self._check(at)
        if said is None:
            self.answers.pop(at, None)
        else:
            self.answers[at] = said

    def peek(self, at: int) -> tuple[Support, ...]:
        """The grounds of a record; before the reveal that costs half its point. Raises UsageError: no such question."""
        self._check(at, late=True)
        if self.revealed is None:
            self.peeked.add(at)
        return self.drill.questions[at].supports

    def reveal(self) -> Revealed:
        """What is so, and the score. The first time it is handed to the history; that it could not be kept is no error."""
        if self.revealed is None:
            told = zip(self.drill.questions, self.drill.truths, strict=True)
            rows = tuple(Row(asked, self.answers.get(at), at in self.peeked, so) for at, (asked, so) in enumerate(told))
            self.revealed = Revealed(self.drill, rows, scoring.score((r.truth.outcome, r.said, r.peeked) for r in rows))
            self._hand_over(self.revealed)
        return self.revealed

    def _hand_over(self, done: Revealed) -> None:
        try:
            if self.keep is not None:
                self.keep(done)
        except MogError as error:
            self.unkept = str(error)

    def suggest(self) -> Suggestion | None:
        """The repair that saves most, supposed besides those there are; None where nothing falls. Raises UsageError: too early."""
        self._check_revealed()
        return repairing.suggest(self.copy, self.found, self.repairs)

    def repair(self, repair: Repair) -> Rerun:
        """Suppose one more repair, and run the fall again. Raises UsageError: too early; NotFound, OntologyError: not possible."""
        self._check_revealed()
        done = repairing.rerun(self.copy, self.found, [*self.repairs, repair])
        self.repairs.append(repair)
        return done

    def rerun(self) -> Rerun:
        """The fall with the repairs as they are. Raises UsageError: too early."""
        self._check_revealed()
        return repairing.rerun(self.copy, self.found, self.repairs)

    def undo_repair(self) -> Rerun:
        """Take the last repair back. Raises UsageError: there is none."""
        if not self.repairs:
            raise UsageError("no repair to take back", way_out="repair something first")
        self.repairs.pop()
        return self.rerun()

    def _check(self, at: int, *, late: bool = False) -> None:
        if not 0 <= at < len(self.drill.questions):
            raise UsageError(f"no question {at + 1}", way_out=f"1 to {len(self.drill.questions)}")
        if self.revealed is not None and not late:
            raise UsageError("it is revealed already", way_out="go on with the next drill")

    def _check_revealed(self) -> None:
        if self.revealed is None:
            raise UsageError("a repair before the reveal", way_out="reveal it first")


class Series:
    """Several drills on one copy, one after the other. Drills are made when they come up."""

    def __init__(
        self,
        copy: Overlay,
        choices: Sequence[Choice],
        *,
        seed: str = "",
        questions: int = QUESTIONS,
        keep: Keep | None = None,
    ) -> None:
        self.copy, self.choices, self.seed, self.questions = copy, tuple(choices), seed, questions
        self._keep, self._at, self._games = keep, 0, dict[int, Game]()

    def __len__(self) -> int:
        return len(self.choices)

    @property
    def place(self) -> int:
        """Number of the drill at hand, from 1."""
        return self._at + 1

    @property
    def game(self) -> Game:
        """The drill at hand. Raises as ``make``."""
        return self._made(self._at)

    def next(self) -> Game | None:
        """Go on, whether or not this one was revealed; None after the last."""
        if self._at + 1 >= len(self.choices):
            return None
        game = self._made(self._at + 1)
        self._at += 1
        return game

    def _made(self, at: int) -> Game:
        if at not in self._games:
            drill, found = make(self.copy, self.choices[at], self.seed, self.questions)
            self._games[at] = Game(self.copy, drill, found, self._keep)
        return self._games[at]

    @property
    def scores(self) -> tuple[Score, ...]:
        """Scores of the drills that were revealed, in order."""
        return tuple(one.revealed.score for _, one in sorted(self._games.items()) if one.revealed is not None)

    @property
    def score(self) -> float | None:
        """Their mean, None before the first."""
        return scoring.mean(one.value for one in self.scores)
