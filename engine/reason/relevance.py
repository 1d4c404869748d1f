"""How well a text answers a question: its words, weighed by how rare they are. Called by the search and the walker.

What may not come in: vectors, anything that is not a word of the question or of the text. A question has a subject (what
its mentions resolved to) and a predicate (every other word). Being linked to the subject counts as naming it, so "it
timed out" can answer; but a text that has no word of the predicate answers nothing that was asked.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterable, Mapping
from types import MappingProxyType

from mog.engine.ontology import Ontology
from mog.engine.reason import terms, wording
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
MAX_TERMS, MAX_RANKED = 48, 4_096
HEADING_SHARE = 0.5  # weight of a word of the predicate that only the heading over a text has
ASIDE_SHARE = 0.6  # the same of one that is only in the reasons of a decision, when they are not what is asked for
# how a text is tied to the subject, by the role of its edge, in parts of the score; whole where nothing else is asked
ROLES: Mapping[str, float] = MappingProxyType({"defines": 0.2, "topic": 0.12})
ROLE_LEAST = 0.3  # share of it that is left where something else is asked
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
        self._ranked: list[str] | None = None
        self.asked = wording.asked(question)
        idle = LIGHT | self.asked.idle
        self._light = sum(1 << i for i, t in enumerate(self.terms) if t in idle or t in relations)
        self.relations = frozenset(relations[t] for t in self.terms if t in relations)
        self.predicate = (1 << len(self.terms)) - 1
        self.subjects = 0
        self.names: tuple[str, ...] = ()
        self._spoken = terms.tokens(question)[: 4 * MAX_TERMS]
        self._pairs: frozenset[tuple[str, str]] = frozenset()
        self.total = 0.0

    def _weigh(self, token: str) -> float:
        known = self._postings.count(token) > 0
        return self._postings.weight(token) * (1.0 if known else UNKNOWN_SHARE)

    def subject(self, texts: Iterable[str]) -> int:
        """Mask of the words of ``texts``, spellings of one subject; they no longer count as predicate."""
        spelled = tuple(texts)
        self.names = tuple(dict.fromkeys((*self.names, *(text.removesuffix("()") for text in spelled))))
        mask = self.words(" ".join(spelled))
        self.predicate &= ~mask
        self.subjects |= mask
        return mask

    def words(self, text: str) -> int:
        """Mask of the question's words that a text has."""
        found = set(terms.tokens(text))
        return sum(1 << i for i, t in enumerate(self.terms) if t in found)

    def settle(self) -> None:
        """No more subjects will come: words that say nothing are left out, unless there are no others."""
        self._ranked = None
        telling = self.predicate & ~self._light
        if telling or self.subjects:
            self.predicate = telling
        self.total = self.weight(self.predicate | self.subjects)
        telling_terms = {t for i, t in enumerate(self.terms) if self.predicate >> i & 1}
        pairs = itertools.pairwise(self._spoken)
        self._pairs = frozenset(pair for pair in pairs if not telling_terms.isdisjoint(pair))

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

    def score(
        self, node: str, type: str, linked: int = 0, hops: int = 1, heading: int = 0, aside: int = 0
    ) -> float:  # fmt: skip
        """How well a node answers, 0..1.

        Args:
            linked: words of the subjects that the node has an edge to. hops: edges from the nearest seed.
            heading: words of the question that are in the headings over the text. aside: words of the predicate that are
                in the text and not in what it is shown as.
        """
        mask = self.mask(node) & self.whole
        if not self.total:
            return 0.0
        if self.predicate and not mask & self.predicate:
            if not any(w for i, w in enumerate(self._known) if self.predicate >> i & 1):
                return 0.0  # no text anywhere says what is asked
            covered = ALONE * self.weight(mask) / self.total
            return covered if covered >= ALONE * ALONE_LEAST else 0.0
        said = mask | linked
        above = HEADING_SHARE * self.weight(heading & self.predicate & ~said)
        above -= (1 - ASIDE_SHARE) * self.weight(aside & self.predicate & ~linked)
        length = self._postings.length(self._postings.place(node)) if mask else 1
        density = min(1.0, mask.bit_count() / max(1, length))
        bonus = DECISION_BONUS if type == "decision" else 0.0
        covered = (self.weight(said) + above) / self.total
        fit = min(1.0, (1 - DENSITY_SHARE) * covered + DENSITY_SHARE * density + bonus)
        return fit if linked or mask & self.subjects or not self.subjects else fit * _far(hops)

    def tie(self, role: str) -> float:
        """What a node gains by the role of its edge to a subject: most where nothing but what it is or does is asked."""
        most = ROLES.get(role, 0.0)
        if not most or not self.total:
            return 0.0
        besides = self.weight(self.predicate) / self.total if self.asked.defines else 1.0
        return most * (ROLE_LEAST + (1 - ROLE_LEAST) * (1 - besides))

    def marks(self, label: str, type: str, role: str = "") -> float:
        """What a text gains or loses by how it is built and what the question asks for; at most ``wording.MOST``."""
        built = wording.shape(label, bool(role)) + wording.suits(self.asked, label, type)
        named = wording.speaks_of(self.asked, label, self.names, bool(role))
        return built + named + wording.together(self._pairs, label)

    def bound(self, node: str, type: str, role: str = "") -> float:
        """What a node comes to at most, marks and all, whatever it is linked to and stands under."""
        bonus = (RELATION_BONUS if self.relations else 0.0) + self.tie(role) + wording.MOST
        return self.score(node, type, self.subjects, heading=self.predicate) + bonus

    def ranked(self, limit: int) -> list[str]:
        """Nodes that share words with the predicate (with the question, when there is none), most weight first.

        Ties go to the shorter text, then to the id. At most ``MAX_RANKED``. Asked for after ``settle``.
        """
        if self._ranked is None:
            wanted = self.predicate or self.whole
            rows = []
            for place, mask in self._masks.items():
                shared = mask & wanted
                key = self._postings.key(place) if shared else None
                if key is not None:
                    rows.append((-self.weight(shared), self._postings.length(place), key))
            self._ranked = [key for _, _, key in heapq.nsmallest(MAX_RANKED, rows)]
        return self._ranked[:limit]


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
