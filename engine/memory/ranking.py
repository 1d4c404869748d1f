"""Which notes answer a query, best first: words, what was said beside them, age, pins, staleness.

Who calls: ``notes``. What may not come in: writes, the text of answers. Age is counted in notes said since, never in days.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from mog.engine.memory.limits import NOTES, NoteWeights
from mog.engine.memory.reading import Reading
from mog.engine.memory.records import Note, Recalled

POOL = 32


def search(
    reading: Reading, query: str, *, limit: int, kinds: Collection[str] = (), places: Collection[str] = (), gone: bool = False
) -> Recalled:
    """The notes that answer.

    The best 32, or three times ``limit``, are held against their own files before they are ordered; of what is served, code
    that is not where it was is looked for elsewhere too.
    """
    with reading.mesh.locked():
        known, counting = reading.known(), reading.counting()
        base = _base(reading, query, places, False)
        hidden = _base(reading, query, (), True)
        base |= hidden if gone else {}
        wanted = {id: parts for id, parts in base.items() if not kinds or known[id].kind in kinds}
        order = sorted(wanted, key=lambda id: (-sum(wanted[id].values()), -reading.words(id).seq, id))
    ages = {id: len(counting) - 1 - at for at, id in enumerate(counting)}
    left = 0 if gone else sum(not kinds or known[id].kind in kinds for id in hidden)

    def weighed(note: Note) -> Note:
        return _weighed(note, wanted[note.id], ages.get(note.id, len(ages)), NOTES)

    pool = sorted(map(weighed, reading.notes(order[: max(POOL, 3 * limit)])), key=_order)
    served = sorted((weighed(reading.explained(note)) for note in pool[:limit]), key=_order)
    return Recalled(query, tuple(served), len(wanted), left)


def _order(note: Note) -> tuple[float, int, str]:
    return (-note.score, -note.seq, note.id)


def newest(reading: Reading, *, limit: int, kinds: Collection[str] = (), gone: bool = False) -> Recalled:
    """The notes said last, the last one first."""
    with reading.mesh.locked():
        wanted = [id for id, told in reading.known().items() if not kinds or told.kind in kinds]
        found = [id for id in wanted if gone or reading.counts(id)]
    notes = map(reading.explained, reading.notes(found[: -limit - 1 : -1]))
    hidden = len(wanted) - len(found)
    return Recalled("", tuple(notes), len(found), hidden)


def _base(reading: Reading, query: str, places: Collection[str], gone: bool) -> dict[str, dict[str, float]]:
    """Note → what words, neighbours and place give it, of those that get anything; ``gone``: of notes that do not count."""
    found = reading.index(gone).scores(query)
    parts = {id: {"words": score.words, "near": score.near} for id, score in found.items()}
    if places:
        most = max((score.words for score in found.values()), default=0.0) or 1.0
        for id in reading.counting(gone):
            if any(one.anchor.locator in places for one in reading.mesh.anchors(id)):
                parts.setdefault(id, {"words": 0.0, "near": 0.0})["here"] = NOTES.here * most
    return parts


def _weighed(note: Note, base: Mapping[str, float], age: int, weights: NoteWeights) -> Note:
    """A note with its score; factors are written as what they add or take, so that the parts add up."""
    factors = {"age": weights.oldest + (1 - weights.oldest) * 0.5 ** (age / weights.half)}
    factors |= {"pinned": weights.pinned} if note.pinned else {}
    factors |= {"stale": weights.stale} if note.stale else {}
    parts = {name: value for name, value in base.items() if value}
    score = sum(parts.values())
    for name, factor in factors.items():
        parts[name] = score * (factor - 1)
        score *= factor
    return replace(note, score=score, parts=parts)
