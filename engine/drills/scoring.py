"""The score of a drill. Called by ``play`` and by the history. What may not come in: the mesh, files, text.

Each outcome that occurs has a recall: right answers of those asked. The score is their mean, so one answer for everything
scores 33 where all three occur, whatever their numbers. A blank is wrong. An answer that was peeked at counts half.
"""

from __future__ import annotations

from collections.abc import Iterable

from mog.engine.drills.records import Outcome, Recall, Score

PEEKED = 0.5
Answer = tuple[Outcome, Outcome | None, bool]


def score(answers: Iterable[Answer]) -> Score:
    """The score of (what is so, what was said or None, whether it was peeked at); 0 for no answers at all."""
    points = {outcome: [0.0, 0] for outcome in Outcome}
    for truth, said, peeked in answers:
        points[truth][0] += (PEEKED if peeked else 1.0) if said is truth else 0.0
        points[truth][1] += 1
    recalls = {outcome: Recall(right, int(asked)) for outcome, (right, asked) in points.items()}
    shares = [one.right / one.asked for one in recalls.values() if one.asked]
    return Score(100.0 * sum(shares) / len(shares) if shares else 0.0, recalls)


def mean(scores: Iterable[float]) -> float | None:
    """Mean of the scores of a series, None for none."""
    found = list(scores)
    return sum(found) / len(found) if found else None
