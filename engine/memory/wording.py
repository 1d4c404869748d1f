"""Words of notes: what two notes share, whether one denies the other, and how well a note answers a query.

Who calls: ``notes``. What may not come in: the ledger, the disk, standing. Terms are those of the code search
(``retrieval/words``), so that a note about ``parseConfig`` is found by "parse config".
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mog.engine.memory.limits import NOTES, NoteWeights
from mog.engine.retrieval import words

_NO = frozenset("not no never nor without cannot avoid forbidden neither none".split())
_WORD = re.compile(r"[^\W\d_]+(?:['’]t)?")
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


@dataclass(frozen=True, slots=True)
class Said:
    """A note as far as its words go.

    Attributes:
        id, seq: of the note. thread: notes of one thread that follow each other are neighbours; "" has no neighbours that a query
            does not name itself. text: words. place: words of its anchors' paths and names.
    """

    id: str
    seq: int
    thread: str
    text: Mapping[str, int] = field(default_factory=dict)
    place: Mapping[str, int] = field(default_factory=dict)


def said(id: str, seq: int, thread: str, text: str, places: Iterable[str] = ()) -> Said:
    """The words of a note."""
    return Said(id, seq, thread, Counter(words.tokens(text)), Counter(term for place in places for term in words.tokens(place)))


@dataclass(frozen=True, slots=True)
class Score:
    """What words give a note: its own, and what the notes before and after it lend."""

    words: float
    near: float


class Index:
    """BM25 over notes (Robertson and Zaragoza, 2009), with the words of their anchors as a lighter field."""

    def __init__(self, notes: Sequence[Said], weights: NoteWeights = NOTES) -> None:
        """``notes`` in the order they were said."""
        self._notes = notes
        self._weights = weights
        self._lengths = [sum(note.text.values()) for note in notes]
        self._mean = sum(self._lengths) / len(notes) if notes else 1.0
        self._beside = _neighbours(notes)
        self._postings: dict[str, list[tuple[int, float]]] = {}
        for at, note in enumerate(notes):
            for term in {**note.text, **note.place}:
                count = note.text.get(term, 0) + weights.place * note.place.get(term, 0)
                self._postings.setdefault(term, []).append((at, count))

    def scores(self, query: str) -> dict[str, Score]:
        """Note id → score, of every note that shares a word with the query, or stands beside one in its thread."""
        own = self._own(query)
        near = self._near(own)
        return {self._notes[at].id: Score(own.get(at, 0.0), near.get(at, 0.0)) for at in sorted(own.keys() | near.keys())}

    def _own(self, query: str) -> dict[int, float]:
        found: dict[int, float] = {}
        for term in dict.fromkeys(words.tokens(query)):
            postings = self._postings.get(term, ())
            rarity = math.log(1 + (len(self._notes) - len(postings) + 0.5) / (len(postings) + 0.5))
            for at, count in postings:
                found[at] = found.get(at, 0.0) + rarity * self._saturated(count, at)
        return found

    def _saturated(self, count: float, at: int) -> float:
        w = self._weights
        length = 1 - w.b + w.b * self._lengths[at] / (self._mean or 1.0)
        return count * (w.k1 + 1) / (count + w.k1 * length)

    def _near(self, own: Mapping[int, float]) -> dict[int, float]:
        if not self._weights.near:
            return {}
        lent: dict[int, float] = {}
        for at, score in own.items():
            for beside in self._beside[at]:
                if self._notes[at].thread or beside in own:
                    lent[beside] = lent.get(beside, 0.0) + self._weights.near * score
        return lent


def _neighbours(notes: Sequence[Said]) -> list[tuple[int, ...]]:
    """Of each note the one before and the one after it in its thread."""
    threads: dict[str, list[int]] = {}
    for at, note in enumerate(notes):
        threads.setdefault(note.thread, []).append(at)
    found: list[tuple[int, ...]] = [()] * len(notes)
    for thread in threads.values():
        for place, at in enumerate(thread):
            found[at] = tuple(thread[max(0, place - 1) : place] + thread[place + 1 : place + 2])
    return found


def overlap(one: Said, other: Said) -> float:
    """Share of the words of two notes that they have in common (Jaccard), 0..1."""
    both = one.text.keys() | other.text.keys()
    return len(one.text.keys() & other.text.keys()) / len(both) if both else 0.0


def denies(one: str, other: str) -> bool:
    """Whether two texts that share their words read like opposites: only one says no, or they differ in a number."""
    return _negative(one) != _negative(other) or set(_NUMBER.findall(one)) != set(_NUMBER.findall(other))


def _negative(text: str) -> bool:
    spoken = (word.lower().replace("’", "'") for word in _WORD.findall(text))
    return any(word in _NO or word.endswith("n't") for word in spoken)
