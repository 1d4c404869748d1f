"""Evidence-path search: best first over typed edges, scoring neighbours before any budget is spent. Called by the walker.

What may not come in: what seeds are, what a question means, what is shown. A search reads one state of the mesh, under its
lock, and leaves nothing behind. At a hub it looks at the neighbours that share words with the question, found by the
index, so a thousand others cost nothing and hide nothing.

``hidden=True`` searches as if nothing were pruned, retired or fallen: what is only found then was lost on the way.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mog.engine.graph import GraphEdge
from mog.engine.reason.index import MeshView
from mog.engine.reason.relevance import FLOOR, MAX_RANKED, RELATION_BONUS, ROLES, Relevance
from mog.engine.reason.walks import ANSWERING, ASSERTING, COSTS, PROJECT_COST, REVERSED, Left, Step

PULL = 2.0  # cost that a node saves by fitting the question wholly
PLAIN_LOOKED = 4_096  # neighbours looked at for them
PLAIN_SHARE = 8  # of the places at a hub, one in eight goes to neighbours that share no word
MAX_TARGETS = 256  # texts that might be the answer, kept in mind to know when to stop
HALO = 32  # best fitting texts whose own neighbours are worth reaching
HALO_EDGES = 16
HALO_SHARE = 0.5
LINKS = ("mentions", "about", "produces")  # edges that say what a claim or decision is about


@dataclass(frozen=True, slots=True)
class Limits:
    """How far a search goes: edges of a path, nodes expanded, neighbours taken at one node."""

    hop_budget: int = 6
    max_expand: int = 260
    fanout: int = 64


@dataclass(frozen=True, slots=True)
class Found:
    """A claim or decision that was reached. ``score``: how well it fits, 0..1. ``rank``: the same with all marks, to compare."""

    node: str
    type: str
    score: float
    rank: float
    cost: float
    hops: int


@dataclass(frozen=True, slots=True)
class Hub:
    """A node of which not all neighbours were taken."""

    node: str
    degree: int
    taken: int


class Liveness:
    """What may be walked, asked once a node and search."""

    def __init__(self, mesh: MeshView, everything: bool = False) -> None:
        self._mesh = mesh
        self._everything = everything
        self._known: dict[str, bool] = {}

    def walkable(self, id: str) -> bool:
        if self._everything:
            return True
        found = self._known.get(id)
        if found is None:
            found = self._known[id] = self._mesh.walkable(id)
        return found

    def live(self, edge: GraphEdge) -> bool:
        """As ``Mesh.live``."""
        if self._everything:
            return True
        bound = not edge.assumption or self._mesh.stands(edge.assumption)
        return bound and self.walkable(edge.src) and self.walkable(edge.dst)


class Search:
    """One search. ``subjects``: seed entity → mask of the words it stands for."""

    def __init__(
        self, mesh: MeshView, relevance: Relevance, subjects: Mapping[str, int], limits: Limits, hidden: bool = False
    ) -> None:
        self._graph = mesh.graph
        self._relevance = relevance
        self._subjects = subjects
        self._limits = limits
        self.liveness = Liveness(mesh, hidden)
        self._came: dict[str, tuple[str, GraphEdge | None]] = {}
        self._cost: dict[str, float] = {}
        self._hops: dict[str, int] = {}
        self._closed: set[str] = set()
        self._frontier: list[tuple[float, str]] = []
        self._headings: dict[str, int] = {}
        self._added: dict[str, float] = {}
        self._roles = self._roles_to_subjects()
        self._targets = self._ranked_targets()
        self._promise = self._promises()
        self._pull = self._pulls()
        self.candidates: list[Found] = []
        self._most = 0.0
        self.nearest: Found | None = None
        self.lost: Found | None = None
        self.hubs: list[Hub] = []
        self._refused: set[str] = set()
        self._unread: set[str] = set()
        self.expanded = 0
        self.out_of_budget = False
        self.cut_by_hops = False

    def run(self, seeds: Iterable[tuple[str, bool]]) -> Found | None:
        """The best answer reachable from ``seeds`` (id, whether it may itself be the answer), or None."""
        answering_seeds = set()
        for id, may_answer in seeds:
            self._offer(id, "", None, 0.0, 0)
            if may_answer:
                answering_seeds.add(id)
        while self._frontier and not self.out_of_budget and not self._settled():
            _, id = heapq.heappop(self._frontier)
            if id not in self._closed:
                self._close(id, answering_seeds)
        self._judge_open()
        return self._best()

    def path(self, id: str) -> tuple[Step, ...]:
        """Steps from a seed to a node that was reached."""
        steps: list[Step] = []
        while id:
            before, edge = self._came[id]
            node = self._graph.get(id)
            assert node is not None
            score = round(self.score(id, node.type) if node.type in ANSWERING else self._relevance.pull(id), 4)
            if edge is None:
                steps.append(Step(id, node.type, node.label, score=score))
            else:
                steps.append(Step(id, node.type, node.label, edge.kind, edge.id, edge.src == id, score))
            id = before
        return tuple(reversed(steps))

    def left(self) -> Left:
        """What was met and not taken. To be asked after ``run``."""
        refused = self._refused - self._cost.keys()
        unread = self._unread - self._cost.keys() - refused
        answering = {id for id in self._cost if self._hops[id] and self._type(id) in ANSWERING}
        good = {found.node for found in self.candidates}
        waiting = self._cost.keys() - self._closed - answering - good
        crowded = sum(hub.degree - hub.taken for hub in self.hubs)
        return Left(len(refused), len(unread), len(answering - good), max(0, len(good) - 1), crowded, len(waiting))

    def _type(self, id: str) -> str:
        node = self._graph.get(id)
        return node.type if node is not None else ""

    # -- the search

    def _offer(self, id: str, before: str, edge: GraphEdge | None, cost: float, hops: int) -> None:
        if id in self._closed or cost >= self._cost.get(id, math.inf):
            return
        self._cost[id], self._hops[id], self._came[id] = cost, hops, (before, edge)
        heapq.heappush(self._frontier, (round(cost - PULL * self._pull.get(id, 0.0), 9), id))

    def _close(self, id: str, answering_seeds: set[str]) -> None:
        if self.expanded >= self._limits.max_expand:
            self.out_of_budget = True
            return
        self._closed.add(id)
        self.expanded += 1
        node = self._graph.get(id)
        if node is None:
            return
        if node.type in ANSWERING and (self._hops[id] or id in answering_seeds):
            self._judge(id, node.type)
        if self._hops[id] < self._limits.hop_budget:
            self._expand(id)
        else:
            self.cut_by_hops = True

    def _judge_open(self) -> None:
        """What was reached and not expanded can answer too. What shares no word only tells one dead end from another."""
        reached = self._cost.keys() - self._closed
        all_tell = self.out_of_budget and not self.candidates
        for id in sorted(reached if all_tell else reached & self._pull.keys()):
            node = self._graph.get(id)
            if node is not None and node.type in ANSWERING and self._hops[id]:
                self._judge(id, node.type)

    def _judge(self, id: str, type: str) -> None:
        score = self.score(id, type)
        found = Found(id, type, score, self._rank(id, score), self._cost[id], self._hops[id])
        if found.score >= FLOOR:
            self.candidates.append(found)
            self._most = max(self._most, found.rank)
        elif self.nearest is None or _order(found) < _order(self.nearest):
            self.nearest = found

    def score(self, id: str, type: str) -> float:
        """How well a node answers; a link to a subject counts as its name."""
        score = self._fit(id, type, self._hops.get(id, 1))
        return min(1.0, score + RELATION_BONUS) if score and self._names_relation(id, type) else score

    def _fit(self, id: str, type: str, hops: int = 1) -> float:
        return self._relevance.score(id, type, self._linked(id), hops, self._heading(id), self._aside(id, type))

    def _aside(self, id: str, type: str) -> int:
        """Words that only the reasons of a decision have; its title is what it answers, unless it was asked why."""
        node = self._graph.get(id)
        if node is None or type != "decision" or self._relevance.asked.kind == "why":
            return 0
        return self._relevance.mask(id) & ~self._relevance.words(node.label)

    def _rank(self, id: str, score: float) -> float:
        """A score with what the role of the node and its wording add or take."""
        added = self._added.get(id)
        if added is None:
            role, node = self._roles.get(id, ""), self._graph.get(id)
            marks = self._relevance.marks(node.label, node.type, role) if node is not None else 0.0
            added = self._added[id] = self._relevance.tie(role) + marks
        return score + added

    def _names_relation(self, id: str, type: str) -> bool:
        """Whether the question names the type of the node, or of an edge that led to it."""
        asked = self._relevance.relations
        if not asked or type in asked:
            return bool(asked)
        return any(kind in asked for kind in self._led_by(id))

    def _led_by(self, id: str) -> Iterator[str]:
        """Types of the edges that led to a node; without its scores, which ask this."""
        while id in self._came:
            id, edge = self._came[id]
            if edge is not None:
                yield edge.kind

    def _linked(self, id: str) -> int:
        """Words of the subjects that a node has an edge to, or was reached from."""
        found = self._subjects.get(self._came.get(id, ("", None))[0], 0)
        for edge in self._graph.out_edges(id, LINKS) if self._subjects else ():
            found |= self._subjects.get(edge.dst, 0)
        return found

    def _heading(self, id: str) -> int:
        """Words of the question in the headings a text stands under, in any of its sources."""
        found = 0
        for edge in self._graph.out_edges(id, ("derived_from",)):
            heading = edge.attrs.get("heading")
            if isinstance(heading, str) and heading:
                known = self._headings.get(heading)
                if known is None:
                    known = self._headings[heading] = self._relevance.words(heading)
                found |= known
        return found

    def _expand(self, id: str) -> None:
        edges = list(self._readable(id))
        toll = math.log2(1 + len(edges)) / 6  # leaving a hub tells little, so it costs
        taken = 0
        for edge, other in self._likeliest(id, edges):
            if taken >= self._limits.fanout:
                break
            if not self._may_read(edge, id):
                self._unread.add(other)
                continue
            if not self.liveness.live(edge):
                self._refused.add(other)
                self._miss(other)
                continue
            taken += 1
            cost = self._cost[id] + COSTS.get(edge.kind, PROJECT_COST) + toll
            self._offer(other, id, edge, cost, self._hops[id] + 1)
        if len(edges) > self._limits.fanout:
            self.hubs.append(Hub(id, len(edges), taken))

    def _readable(self, id: str) -> Iterator[tuple[GraphEdge, str]]:
        for edge in self._graph.out_edges(id):
            if edge.dst not in self._closed:
                yield edge, edge.dst
        for edge in self._graph.in_edges(id):
            if (edge.kind in REVERSED or edge.kind not in COSTS) and edge.src not in self._closed:
                yield edge, edge.src

    def _likeliest(self, id: str, edges: list[tuple[GraphEdge, str]]) -> list[tuple[GraphEdge, str]]:
        """All edges of an ordinary node; of a hub those to nodes that fit the question, and a few others."""
        if len(edges) <= self._limits.fanout:
            return edges
        hot = [pair for pair in edges if pair[1] in self._pull]
        plain = self._plain(id, edges)
        best = heapq.nsmallest(8 * self._limits.fanout, hot, key=self._liking)
        keep = self._limits.fanout - len(plain)
        return best[:keep] + plain + best[keep:]

    def _liking(self, pair: tuple[GraphEdge, str]) -> tuple[bool, float, tuple[float, str, str]]:
        """Order of neighbours: what could rank highest, then what fits best, then the cheapest."""
        promise = self._promise.get(pair[1])
        return promise is None, -(self._pull[pair[1]] if promise is None else promise), _cheapest(pair)

    def _plain(self, id: str, edges: list[tuple[GraphEdge, str]]) -> list[tuple[GraphEdge, str]]:
        """A few neighbours that share no word, half of them claims or decisions: what tells one dead end from another."""
        places = max(2, self._limits.fanout // PLAIN_SHARE)
        pairs = [pair for pair in edges[:PLAIN_LOOKED] if pair[1] not in self._pull and self._may_read(pair[0], id)]
        types = {other: node.type for _, other in pairs if (node := self._graph.get(other)) is not None}
        answering = [pair for pair in pairs if types.get(pair[1]) in ANSWERING]
        others = [pair for pair in pairs if types.get(pair[1]) not in ANSWERING]
        few = heapq.nsmallest(places // 2, others, key=_cheapest)
        return heapq.nsmallest(places - len(few), answering, key=_cheapest) + few

    def _may_read(self, edge: GraphEdge, at: str) -> bool:
        """Backwards only to who asserted something; an assumption is reached by what it is about, a fold by its other end."""
        if edge.src == at or edge.kind == "resolves_to":
            return True
        node = self._graph.get(edge.src)
        return node is not None and (node.type in ASSERTING or (edge.kind == "about" and node.type == "assumption"))

    def _miss(self, id: str) -> None:
        """Remember the best fitting node that could not be walked to."""
        node = self._graph.get(id)
        if node is None or node.type not in ANSWERING or self.liveness.walkable(id):
            return
        score = self.score(id, node.type)
        found = Found(id, node.type, score, self._rank(id, score), 0.0, 0)
        if found.score >= FLOOR and (self.lost is None or _order(found) < _order(self.lost)):
            self.lost = found

    # -- what is worth reaching

    def _roles_to_subjects(self) -> dict[str, str]:
        """Texts that a subject is defined by, or that stand in its section → that role."""
        found: dict[str, str] = {}
        for subject in self._subjects:
            for edge in self._graph.in_edges(subject, LINKS):
                if edge.role in ROLES and ROLES[edge.role] > ROLES.get(found.get(edge.src, ""), 0.0):
                    found[edge.src] = edge.role
        return found

    def _ranked_targets(self) -> list[tuple[float, bool, str]]:
        """Heap of (-most it could rank, whether that is exact, id) of the claims and decisions that share most words."""
        rows = []
        tied = sorted(self._roles, key=lambda id: (-self._relevance.pull(id), -ROLES[self._roles[id]], id))
        for id in dict.fromkeys([*self._relevance.ranked(limit=MAX_TARGETS), *tied[:MAX_TARGETS]]):
            node = self._graph.get(id)
            if node is not None and node.type in ANSWERING:
                rows.append((-self._relevance.bound(id, node.type, self._roles.get(id, "")), False, id))
        heapq.heapify(rows)
        return rows

    def _promises(self) -> dict[str, float]:
        """What the most promising targets rank at most; from here on the heap of targets has that for them."""
        first = heapq.nsmallest(2 * HALO, self._targets)
        found = {id: self._at_most(id, type) for _, _, id in first if (type := self._walkable_type(id))}
        rest = [row for row in self._targets if row[2] not in found]
        self._targets = [*((-most, True, id) for id, most in found.items()), *rest]
        heapq.heapify(self._targets)
        return found

    def _walkable_type(self, id: str) -> str:
        return self._type(id) if self.liveness.walkable(id) else ""

    def _pulls(self) -> dict[str, float]:
        """What draws the search: texts that fit, and at half the strength the neighbours of those that fit best."""
        pulls = {id: self._relevance.pull(id) for id in self._relevance.ranked(MAX_RANKED)}
        for id, role in self._roles.items():
            pulls[id] = pulls.get(id, 0.0) + self._relevance.tie(role)
        best = sorted(self._promise, key=lambda id: (-self._promise[id], id))
        for id in itertools.islice(best, HALO):
            near = (*self._graph.out_edges(id)[:HALO_EDGES], *self._graph.in_edges(id)[:HALO_EDGES])
            for other in (edge.dst if edge.src == id else edge.src for edge in near):
                pulls[other] = max(pulls.get(other, 0.0), HALO_SHARE * pulls.get(id, 0.0))
        return pulls

    def _settled(self) -> bool:
        """Whether nothing that was not reached yet could beat the best answer so far."""
        return self._most > self._highest_open() and self._most > 0

    def _highest_open(self) -> float:
        """Least upper bound of what is still open; exact scores are only worked out for nodes that come to the top."""
        while self._targets:
            bound, exact, id = self._targets[0]
            if id in self._closed or not (exact or self.liveness.walkable(id)):
                heapq.heappop(self._targets)
            elif self._hops.get(id):  # reached, and judged at the end when nobody looks at it before
                heapq.heappop(self._targets)
                self._most = max(self._most, self._reached_rank(id))
            elif exact:
                return -bound
            else:
                node = self._graph.get(id)
                most = self._at_most(id, node.type) if node is not None else 0.0
                heapq.heapreplace(self._targets, (-most, True, id))
        return 0.0

    def _reached_rank(self, id: str) -> float:
        node = self._graph.get(id)
        score = self.score(id, node.type) if node is not None else 0.0
        return self._rank(id, score) if score >= FLOOR else 0.0

    def _at_most(self, id: str, type: str) -> float:
        """What a text that is still open ranks at most, whichever way it is reached."""
        fit = self._fit(id, type)
        extra = RELATION_BONUS if self._relevance.relations else 0.0
        return self._rank(id, fit + extra) if fit else 0.0

    def _best(self) -> Found | None:
        """Highest rank to two digits; then the path over more types of edges, the cheaper; then the finer differences."""
        return min(self.candidates, key=self._before, default=None)

    def _before(self, found: Found) -> tuple[float, int, float, float, int, str]:
        sources = len(self._graph.out_edges(found.node, ("derived_from",)))
        return -round(found.rank, 2), -self._kinds(found.node), found.cost, -found.rank, -sources, found.node

    def _kinds(self, id: str) -> int:
        return len({step.kind for step in self.path(id)} - {""})


def _cheapest(pair: tuple[GraphEdge, str]) -> tuple[float, str, str]:
    return COSTS.get(pair[0].kind, PROJECT_COST), pair[1], pair[0].id


def _order(found: Found) -> tuple[float, float, str]:
    return -found.rank, found.cost, found.node
