"""What a walk is: its records, the costs of its steps, the estimate of its tokens. Called by the walker and whoever shows one.

What may not come in: searching, logic of standing, text for one surface. A walk is immutable and says everything that was
needed to judge it: where it began, every edge it read and in which direction, what it left out, and what it cost.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from mog.engine.reason.dead_ends import Reason
from mog.engine.reason.records import Label
from mog.engine.reason.resolver import Resolution

ANSWERING = ("claim", "decision")  # types that assert something and so can be an answer
ASSERTING = ("claim", "decision", "evidence")  # types worth reaching against the direction of an edge

# Cost of one step before hubs are priced: cheap edges are those that carry provenance. Edge types of a project cost
# PROJECT_COST in both directions.
COSTS: Mapping[str, float] = MappingProxyType(
    {
        "resolves_to": 0.3, "derived_from": 0.6, "about": 0.6, "supports": 0.7, "cites": 0.8, "justified_by": 0.8,
        "contradicts": 0.9, "mentions": 1.0, "depends_on": 1.0, "produces": 1.1, "supersedes": 1.2,
    }
)  # fmt: skip
PROJECT_COST = 1.0
# Edge types that are also read backwards, towards whoever asserted something; one that is not listed reads forwards only.
REVERSED = ("mentions", "supports", "derived_from", "produces", "about", "resolves_to")


@dataclass(frozen=True, slots=True)
class Seed:
    """Where a walk began.

    Attributes:
        node, type, label: the node.
        how: ``named`` (a mention resolved to it), ``code`` (a mention is its name in the code), or ``words`` (no mention
            resolved, and its text shares words with the question).
        mention: the mention, "" for ``words``.
        score: how sure it is, 0..1: of the name that was meant, or the share of the question that its words are.
    """

    node: str
    type: str
    label: str
    how: str
    mention: str = ""
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """One node of a path and the edge that led to it; the first has no edge.

    Attributes:
        reverse: the edge was read against its direction.
        score: how well the node fits the question, 0..1: for a claim or decision as an answer, else the words it shares.
    """

    node: str
    type: str
    label: str
    kind: str = ""
    edge: str = ""
    reverse: bool = False
    score: float = 0.0


@dataclass(frozen=True, slots=True)
class Left:
    """What a walk came to and did not take, exact counts of nodes; no node is counted under two of them.

    Attributes:
        pruned: they no longer count, or the only edge to them rests on an assumption that fell.
        wrong_type: the only edge to them is not read in this direction, towards a node of their type.
        unfit: claims and decisions that were reached and do not answer.
        second: claims and decisions that answer, less well.
        crowded: edges of nodes that have too many neighbours to look at all (``Note`` ``hub``).
        open: other nodes that were reached and not looked at, because the answer was certain or the budget spent.
    """

    pruned: int = 0
    wrong_type: int = 0
    unfit: int = 0
    second: int = 0
    crowded: int = 0
    open: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """A boundary of a walk, apart from its outcome.

    Attributes:
        kind: ``hub`` (neighbours left out), ``budget`` (nodes left to expand), ``hops`` (paths cut at the hop budget),
            ``ambiguous`` (a mention means several entities), ``blocked`` (a mention means something that no longer
            counts), ``fallen`` (a closer match no longer counts), ``common`` (words that are in too many texts to tell),
            ``cut`` (a question too long to read whole).
        text: one sentence.
        nodes: ids it speaks of.
    """

    kind: str
    text: str
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """A question and where it led.

    Attributes:
        question: as it was asked.
        seeds: where the search began. resolutions: every mention and what it means.
        answer_id: the node that answers, None at a dead end. answer: its label. standing: its label of standing.
        against: ids of what stands and contradicts the answer without having been judged.
        score: how well the answer fits, 0..1.
        path: steps from a seed to the answer; at ``wrong_node_type`` to what came nearest.
        tail: steps from the answer on to what justifies it; not counted in ``hops``.
        evidence: ids that the answer is derived from, cites, is justified or supported by.
        cost: of the path. hops: edges of the path. expanded: nodes looked at, of ``budget`` at most.
        left: what was met and not taken.
        dead_end: the reason, None when there is an answer. detail: one sentence about it. blocker: the node in the way.
        notes: boundaries.
        tokens_walked: tokens of the labels of path and tail.
        tokens_read: tokens of the whole sources that the candidates come from: what a reader would have read.
        read_from: ``text`` when every source states its length, ``claims`` when only its claims are known (a lower bound).
    """

    question: str
    seeds: tuple[Seed, ...] = ()
    resolutions: tuple[Resolution, ...] = ()
    answer_id: str | None = None
    answer: str = ""
    standing: Label | None = None
    against: tuple[str, ...] = ()
    score: float = 0.0
    path: tuple[Step, ...] = ()
    tail: tuple[Step, ...] = ()
    evidence: tuple[str, ...] = ()
    cost: float = 0.0
    hops: int = 0
    expanded: int = 0
    budget: int = 0
    left: Left = Left()
    dead_end: Reason | None = None
    detail: str = ""
    blocker: str = ""
    notes: tuple[Note, ...] = ()
    tokens_walked: int = 0
    tokens_read: int = 0
    read_from: str = ""

    @property
    def resolved(self) -> bool:
        """Whether there is an answer."""
        return self.answer_id is not None


def estimate_tokens(text: str) -> int:
    """Tokens of a text as every figure of a walk counts them: characters / 4, rounded up."""
    return tokens_of_length(len(text))


def tokens_of_length(characters: int) -> int:
    """``estimate_tokens`` of a text of that many characters."""
    return math.ceil(characters / 4)
