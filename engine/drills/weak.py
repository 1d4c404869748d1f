"""Where predictions go wrong, read from the history. Called by ``room``. What may not come in: files, the mesh, clocks.

A miss counts 1, and less by a third with each later drill that asked about the same record again; a record that was answered
right in its last two is not weak any more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from mog.engine.drills.records import Answered, Habit, Named, Outcome, Played, Recall, Weak, WeakSpots
from mog.engine.drills.risk import Past

FADES = 2 / 3
LEARNED = 2
FAR = 2  # steps from the assumption, from here on


@dataclass(slots=True)
class _Kept:
    """Every answer about one record, oldest first."""

    assumption: Named
    node: Named
    answers: list[Answered] = field(default_factory=list)

    @property
    def weight(self) -> float:
        if all(one.right for one in self.answers[-LEARNED:]) and len(self.answers) >= LEARNED:
            return 0.0
        return faded(not one.right for one in self.answers)


def faded(missed: Iterable[bool]) -> float:
    """Misses, oldest first, each weighing less by a third with every later answer."""
    weight = 0.0
    for miss in missed:
        weight = weight * FADES + miss
    return weight


def spots(played: Sequence[Played], stands: Callable[[str], bool], most: int = 20) -> WeakSpots:
    """Weak records, heaviest first, and habits. ``stands`` says whether a record is still believed."""
    kept: dict[tuple[str, str], _Kept] = {}
    for drill in played:
        for row in drill.rows:
            here = kept.setdefault(
                (drill.id, row.id),
                _Kept(Named(drill.id, "assumption", "", drill.text), Named(row.id, row.type, "", row.text)),
            )
            here.answers.append(row)
    weak = sorted(
        (one for one in kept.values() if one.weight > 0), key=lambda k: (-k.weight, k.assumption.id, k.node.id)
    )
    answers = [row for drill in played for row in drill.rows]
    return WeakSpots(
        tuple(_spot(one, stands) for one in weak[:most]), len(weak), _habits(answers),
        _recall(row for row in answers if row.hop >= FAR), _recall(row for row in answers if row.hop < FAR),
    )  # fmt: skip


def _spot(kept: _Kept, stands: Callable[[str], bool]) -> Weak:
    missed = [one for one in kept.answers if not one.right]
    gone = not stands(kept.node.id) or not stands(kept.assumption.id)
    last = missed[-1]
    return Weak(kept.assumption, kept.node, len(kept.answers), len(missed), last.said, last.truth, kept.weight, gone)


def _habits(answers: Sequence[Answered]) -> tuple[Habit, ...]:
    asked = Counter(one.truth for one in answers)
    wrong = Counter((one.truth, one.said) for one in answers if not one.right)
    found = [Habit(truth, said, count, asked[truth]) for (truth, said), count in wrong.items()]
    order = {outcome: at for at, outcome in enumerate(Outcome)}
    return tuple(sorted(found, key=lambda h: (-h.count, order[h.truth], -1 if h.said is None else order[h.said])))


def _recall(rows: Iterable[Answered]) -> Recall:
    found = [row.right for row in rows]
    return Recall(float(sum(found)), len(found))


def past(played: Sequence[Played]) -> dict[str, Past]:
    """What the history says of each assumption: how often, and the share missed, each drill weighing more than the one before."""
    by: dict[str, list[Played]] = {}
    for drill in played:
        by.setdefault(drill.id, []).append(drill)
    return {id: Past(len(drills), _missed(drills)) for id, drills in by.items()}


def _missed(drills: Sequence[Played]) -> float | None:
    """Mean share of wrong answers, an older drill weighing less by a third than the next."""
    shares = [sum(not row.right for row in one.rows) / len(one.rows) for one in drills if one.rows]
    weights = [FADES**age for age in range(len(shares) - 1, -1, -1)]
    return sum(s * w for s, w in zip(shares, weights, strict=True)) / sum(weights) if shares else None
