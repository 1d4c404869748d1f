"""The records of retrieval: what was found, how it was rendered, what was packed. Small, frozen, plain.

Who calls: the rooms ``retrieval``, ``memory`` and ``evals`` make them, ``app`` renders them. What may not come in: behaviour
beyond a sum, I/O, JSON. Nothing here is sanitised; that happens once, at the store→view edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from mog.engine.model import Boundary, Freshness, IndexStamp, Node, Tier


class Zoom(IntEnum):
    """How much of a node is shown (DESIGN §10).

    ``L0`` repository map: path and names. ``L1`` skeleton: whole signature, decorators and documentation. ``L2`` body, with its
    callers and callees as L1 signatures. ``L3`` the whole file, with who changed which lines last.
    """

    L0 = 0
    L1 = 1
    L2 = 2
    L3 = 3


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the path that led to a node: from ``node`` along an edge of ``kind``; ``outgoing`` says with or against it."""

    node: Node
    kind: str
    tier: Tier
    outgoing: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A node that answers a query, and why it is here.

    Attributes:
        score: higher is better; comparable within one answer only.
        parts: what the score is made of, by the names of ``retrieval/weights.py`` and ``spread``. They add up to it unless a
            reranker set the score (then part ``rerank`` is the score).
        path: from the seed to this node; empty for a seed.
    """

    node: Node
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)
    path: tuple[Hop, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendered:
    """A node at one zoom: text, whether its file is as the index has it, and sentences of warning.

    ``gated`` nodes have an empty text at every zoom but L0.
    """

    text: str
    zoom: Zoom
    freshness: Freshness
    gated: bool = False
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One thing in a pack.

    Attributes:
        id: what ``expand`` and ``recall`` take: the locator of a node, the id of a note.
        kind: node kind (``method``, ``file``) or note kind (``constraint``, ``failure``).
        label: trust label: ``repo`` for bytes of the repository, ``user``, ``agent`` or ``tool`` for notes; all of it is data.
        tier: tier of the weakest hop on the path (certain for a seed).
        tokens, size: cost of ``text`` by the pack's estimator, and its UTF-8 bytes.
        provenance: how it came here, as words: ``fts``… see ``parts``; commit or event that a note came from.
    """

    id: str
    kind: str
    text: str
    zoom: Zoom
    tokens: int
    size: int
    freshness: Freshness
    label: str = "repo"
    tier: Tier = Tier.certain
    score: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    path: tuple[Hop, ...] = ()
    node: Node | None = None
    pinned: bool = False
    provenance: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Advice:
    """What somebody's model said of a symbol, as it is shown beside one: not verified, and said to be so.

    ``stale_status``: ``current`` while the code is the one it was said of, else ``stale``. ``trust``: always ``advisory``.
    """

    node_id: str
    locator: str
    purpose: str
    domain_concepts: tuple[str, ...]
    side_effects: tuple[str, ...]
    invariants: tuple[str, ...]
    risk_level: str
    test_targets: tuple[str, ...]
    confidence: float
    annotator: str
    stale_status: str
    trust: str = "advisory"


@dataclass(frozen=True, slots=True)
class Pack:
    """A bounded answer. ``tokens`` of the items together never exceed ``budget`` by ``estimator``.

    Attributes:
        omitted: reason → how many found things are not in ``items``: ``budget``, ``gated``, ``limit``, ``duplicate``.
            ``len(items) + sum(omitted.values()) == found``.
        found: how many things answered at all.
        page: what asks for the next page (``ctx://…#2``); "" when there is none.
        needed: tokens the first omitted item would need, so that a caller can ask again; 0 when nothing was cut by budget.
    """

    query: str
    items: tuple[Item, ...]
    budget: int
    tokens: int
    size: int
    estimator: str
    found: int
    omitted: Mapping[str, int]
    boundary: Boundary
    index: IndexStamp
    page: str = ""
    needed: int = 0
    warnings: tuple[str, ...] = ()
