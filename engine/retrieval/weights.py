"""Every weight of retrieval, in one place: ranking, spread, packs. Numbers are round; where they come from is said beside them.

Who calls: ``rank``, ``spread``, ``pack``. What may not come in: code. "dev" is the development set of issue localisation
(docs/results/localization.md), on which the ranking weights were chosen; the others are judgement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class RankWeights:
    """Ranking of documents for a query.

    Attributes:
        fields: BM25F weight of a field (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009).
        b: how much the length of a field counts against it. k1: saturation of a term in a document.
        k3: saturation of a term in the query. title: times a word of the title counts.
        code, prose: times a word counts that stands in code, or in the text after the title.
        file: share of the file's own score that its symbols get.
        owner: share of the score of what is around a symbol (class, function, at the top the file's own words) that it gets.
        file_own: times a file's own score counts for it, beside that of its best document.
        file_mention: times that a mention of a file counts for the file itself.
        mentions: what a mention of full strength is worth, as a share of the best score by words, by ``mentions.KINDS``.
        tests: what a test's score is multiplied with, unless the query speaks of tests.
        kinds: what the score of a kind of document is multiplied with.
        meaning: of embeddings, where they are on: standard deviations of score for one of nearness (``embed.MAX_WEIGHT`` at most).
    """

    fields: Mapping[str, float] = field(
        default_factory=lambda: {"name": 2.0, "owner": 3.0, "sig": 0.5, "doc": 0.5, "body": 1.0, "path": 5.0}
    )
    b: Mapping[str, float] = field(
        default_factory=lambda: {"name": 0.3, "owner": 0.3, "sig": 0.75, "doc": 0.75, "body": 0.75, "path": 0.5}
    )
    k1: float = 2.0
    k3: float = 8.0
    title: float = 10.0
    code: float = 0.2
    prose: float = 1.0
    file: float = 0.4
    owner: float = 0.1
    file_own: float = 1.0
    file_mention: float = 1.0
    mentions: Mapping[str, float] = field(
        default_factory=lambda: {
            "title_name": 0.3, "name": 0.2, "code_name": 0.05, "dotted": 0.4, "path": 0.3, "module": 0.05, "place": 0.4,
            "frame": 0.4, "whole": 10.0,
        }
    )
    tests: float = 0.5
    kinds: Mapping[str, float] = field(
        default_factory=lambda: {"function": 1.0, "method": 1.0, "class": 0.9, "other": 0.7, "file": 0.6, "text": 0.6}
    )
    meaning: float = 0.05


@dataclass(frozen=True, slots=True)
class SpreadWeights:
    """Spreading from seeds along edges.

    Attributes:
        seeds: results that are spread from. hops: steps at most. decay: what is left after a step.
        least: scores below it are not followed. expand: nodes expanded at most in one hop, best first. fan: neighbours
        kept of one
            node, best first. crowd: edges that a row may have before they are damped by their number.
        tiers: factor of an edge by its tier. share: what the spread adds to a score that was found by words (reference: 0.2).
    """

    seeds: int = 8
    hops: int = 2
    decay: float = 0.5
    least: float = 0.01
    expand: int = 200
    fan: int = 64
    crowd: int = 16
    tiers: Mapping[str, float] = field(
        default_factory=lambda: {"certain": 1.0, "hierarchy": 0.6, "candidate": 0.3, "unknown": 0.0}
    )
    share: float = 0.2


@dataclass(frozen=True, slots=True)
class PackWeights:
    """What goes into a pack.

    Attributes:
        bodies: results that may be shown as bodies where they fit. body_share: a body that needs more than this share of the
            budget is shown as a signature. signature_share: share of the budget that signatures may take before bodies.
        outline_share: a class whose signatures need more than this share of the budget is shown as the names of its members.
    """

    bodies: int = 3
    body_share: float = 0.34
    signature_share: float = 0.6
    outline_share: float = 0.125


RANK = RankWeights()
SPREAD = SpreadWeights()
PACK = PackWeights()
