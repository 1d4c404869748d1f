"""How well a text answers a question: its words, weighed by how rare they are. Called by the search and the walker.

What may not come in: vectors, anything that is not a word of the question or of the text. A question has a subject (what
its mentions resolved to) and a predicate (every other word). Being linked to the subject counts as naming it, so "it
timed out" can answer; but a text that has no word of the predicate answers nothing that was asked.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping

from mog.engine.ontology import Ontology
from mog.engine.reason import terms
from mog.engine.reason.index import Postings

FLOOR = 0.18  # a score from here on is an answer
DECISION_BONUS = 0.03  # at equal fit a decision says more: it carries its reason
DENSITY_SHARE = 0.1  # of the score: the share of the text's words that the question has
UNKNOWN_SHARE = 0.5  # weight of a word that no text has, in parts of the weight of the rarest possible word
ALONE, ALONE_LEAST = (
    0.6,
    0.5,
)  # a text that only names the subject answers when it has half the question's weight, at 0.6 of it
FAR_STEP, FAR_LEAST = 0.2, 0.4  # a text that neither names nor links a subject loses by every edge beyond the first
MAX_TERMS = 48
RELATION_BONUS = 0.1  # the path has an edge, or ends at a node, of a type that the question names
# words that ask and say nothing of what is asked about; they count only where there is nothing else
_LIGHT = "happen learn say tell mean find show report describe explain know think conclude state come matter change"
LIGHT = frozenset(token for word in _LIGHT.split() for token in terms.tokens(word))


class Relevance:
    """Scores of one question over one state of the label index."""

    def __init__(self, question: str, postings: Postings, relations: Mapping[str, str]) -> None:
        """``relations``: stem of a word that names an edge or node type → that type (see ``relation_words``)."""
        self._postings = postings
        found = tuple(dict.fromkeys(terms.tokens(question)))[:MAX_TERMS]
        self.common = tuple(t for t in found if postings.common(t))
        self.terms = tuple(t for t in found if t not in self.common) or self.common[:1]
        self._weights = [self._weigh(t) for t in self.terms]
        self._known = [postings.count(t) > 0 for t in self.terms]
        self._masks = postings.masks(self.terms)
        self._sums: dict[int, float] = {}
        self._light = sum(1 << i for i, t in enumerate(self.terms) if t in LIGHT or t in relations)
        self.relations = frozenset(relations[t] for t in self.terms if t in relations)
        self.predicate = (1 << len(self.terms)) - 1
        self.subjects = 0
        self.total = 0.0

    def _weigh(self, token: str) -> float:
        known = self._postings.count(token) > 0
        return self._postings.weight(token) * (1.0 if known else UNKNOWN_SHARE)

    def subject(self, texts: Iterable[str]) -> int:
        """Mask of the words of ``texts``; they no longer count as predicate."""
        mask = self.words(" ".join(texts))
        self.predicate &= ~mask
        self.subjects |= mask
        return mask

    def words(self, text: str) -> int:
        """Mask of the question's words that a text has."""
        found = set(terms.tokens(text))
        return sum(1 << i for i, t in enumerate(self.terms) if t in found)

    def settle(self) -> None:
        """No more subjects will come: words that say nothing are left out, unless there are no others."""
        telling = self.predicate & ~self._light
        if telling or self.subjects:
            self.predicate = telling
        self.total = self.weight(self.predicate | self.subjects)

    @property
    def whole(self) -> int:
        """Mask of all words that count."""
        return self.predicate | self.subjects

    def weight(self, mask: int) -> float:
        """Sum of the weights of the words in a mask."""
        found = self._sums.get(mask)
        if found is None:
            found = self._sums[mask] = sum(w for i, w in enumerate(self._weights) if mask >> i & 1)
        return found

    def mask(self, node: str) -> int:
        """Words of the question that the text of a node has."""
        return self._masks.get(self._postings.place(node), 0)

    def pull(self, node: str) -> float:
        """Share of the predicate's weight in the text of a node, 0..1; of the whole question when there is no predicate."""
        wanted = self.predicate or self.whole
        whole = self.weight(wanted)
        return self.weight(self.mask(node) & wanted) / whole if whole else 0.0

    def score(self, node: str, type: str, linked: int = 0, hops: int = 1) -> float:
        """How well a node answers, 0..1.

        Args:
            linked: words of the subjects that the node has an edge to. hops: edges from the nearest seed.
        """
        mask = self.mask(node) & self.whole
        if not self.total:
            return 0.0
        if self.predicate and not mask & self.predicate:
            if not any(w for i, w in enumerate(self._known) if self.predicate >> i & 1):
                return 0.0  # no text anywhere says what is asked
            covered = ALONE * self.weight(mask) / self.total
            return covered if covered >= ALONE * ALONE_LEAST else 0.0
        covered = self.weight(mask | linked) / self.total
        length = self._postings.length(self._postings.place(node)) if mask else 1
        density = min(1.0, mask.bit_count() / max(1, length))
        bonus = DECISION_BONUS if type == "decision" else 0.0
        fit = min(1.0, (1 - DENSITY_SHARE) * covered + DENSITY_SHARE * density + bonus)
        return fit if linked or mask & self.subjects or not self.subjects else fit * _far(hops)

    def bound(self, node: str, type: str) -> float:
        """What a node scores at most, whatever it is linked to."""
        bonus = RELATION_BONUS if self.relations else 0.0
        return min(1.0, self.score(node, type, self.subjects) + bonus)

    def ranked(self, limit: int) -> list[str]:
        """Nodes that share words with the predicate (with the question, when there is none), most weight first.

        Ties go to the shorter text, then to the id.
        """
        wanted = self.predicate or self.whole
        rows = []
        for place, mask in self._masks.items():
            shared = mask & wanted
            key = self._postings.key(place)
            if key is not None and shared:
                rows.append((-self.weight(shared), self._postings.length(place), key))
        return [key for _, _, key in heapq.nsmallest(limit, rows)]


def _far(hops: int) -> float:
    return max(FAR_LEAST, 1 - FAR_STEP * max(0, hops - 1))


def shares_enough(words: int, asked: int) -> bool:
    """Whether ``words`` in common tie a text to a question of ``asked`` words when nothing it names is known."""
    return words >= min(2, asked) and words > 0


def relation_words(ontology: Ontology) -> dict[str, str]:
    """Stem → symbol for the words that name the edge and node types of the reason layer ("depends" → ``depends_on``)."""
    symbols = [row.symbol for row in ontology.edge_types.values() if row.layer == "reason"]
    symbols += [row.symbol for row in ontology.node_types.values() if row.layer == "reason"]
    return {found[0]: symbol for symbol in symbols if (found := terms.tokens(symbol))}
