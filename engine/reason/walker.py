"""Answers a question by walking: mentions → seeds → evidence path → answer, or one of four dead ends. Called by ``workspace``.

What may not come in: vectors, a guess when there is no path, durable writes. Walks are telemetry: the last 256 are kept in
memory, and nothing that a later answer depends on is changed by asking.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from mog.engine.errors import UsageError
from mog.engine.graph import GraphNode
from mog.engine.reason import dead_ends, terms
from mog.engine.reason.dead_ends import DeadEnd, DeadEndLedger, Reached, Reason
from mog.engine.reason.index import LabelIndex, MeshView, alias_texts
from mog.engine.reason.relevance import FLOOR, Relevance, relation_words, shares_enough
from mog.engine.reason.resolver import ACCEPT, SAME, Resolution, Resolver
from mog.engine.reason.search import Found, Limits, Liveness, Search
from mog.engine.reason.sources import Sources
from mog.engine.reason.walks import ANSWERING, Note, Seed, Step, Walk, estimate_tokens

KEPT_WALKS = 256
HOP_BUDGET = 6  # edges a path may have, unless the caller says otherwise
MAX_QUESTION = 4_000  # characters
MAX_TAIL = 3
MAX_EVIDENCE = 64
MAX_LITERAL_SEEDS = 5
LITERAL_FLOOR = 0.3  # share of the question's weight a text must have to stand in for a name
ELSEWHERE_FLOOR = 0.5  # the same of what the question says beside a name that no longer counts
MAX_HUB_NOTES = 3


@dataclass(slots=True)
class _Start:
    """What a question's mentions came to."""

    resolutions: list[Resolution] = field(default_factory=list)
    seeds: dict[str, Seed] = field(default_factory=dict)
    subjects: dict[str, int] = field(default_factory=dict)
    blocked: list[tuple[str, GraphNode]] = field(default_factory=list)
    closed: int = 0  # words of what is blocked
    unknown: int = 0  # words of names that mean nothing here
    notes: list[Note] = field(default_factory=list)


class Walker:
    """Asks questions of one mesh. Every method may be called from any thread.

    Attributes:
        resolver: what mentions mean. dead_ends: counts and last dead ends. walks: the last 256 walks, oldest first.
    """

    def __init__(self, mesh: MeshView, resolver: Resolver | None = None) -> None:
        self._mesh = mesh
        self.resolver = Resolver(mesh) if resolver is None else resolver  # an empty one is false
        self._labels = LabelIndex(mesh)
        self._relations = relation_words(mesh.ontology)
        self._sources = Sources(mesh)
        self._lock = threading.Lock()
        self._walks: deque[Walk] = deque(maxlen=KEPT_WALKS)
        self.dead_ends = DeadEndLedger()

    @property
    def walks(self) -> tuple[Walk, ...]:
        with self._lock:
            return tuple(self._walks)

    def ask(self, question: str, *, hop_budget: int = HOP_BUDGET, max_expand: int = 260, fanout: int = 64) -> Walk:
        """Walk to an answer.

        Args:
            hop_budget: edges a path may have. max_expand: nodes looked at. fanout: neighbours taken at one node.

        Raises:
            UsageError: an empty question, or a limit below 1.
        """
        if not question.strip():
            raise UsageError("an empty question", way_out="ask in words")
        if min(hop_budget, max_expand, fanout) < 1:
            raise UsageError("a limit below 1", way_out="leave the limits out")
        with self._mesh.locked():
            walk = self._walk(question, Limits(hop_budget, max_expand, fanout))
        self._keep(walk)
        return walk

    def look(self, question: str) -> Walk:
        """The walk that ``ask`` would take now, counted and kept nowhere. Raises UsageError on an empty question."""
        if not question.strip():
            raise UsageError("an empty question", way_out="ask in words")
        with self._mesh.locked():
            return self._walk(question, Limits())

    def alike(self, question: str, limit: int = 8) -> tuple[str, ...]:
        """Ids of the claims and decisions that count and share words with a question, best first."""
        with self._mesh.locked():
            relevance = Relevance(question[:MAX_QUESTION], self._labels.refresh(), self._relations)
            relevance.settle()
            nodes = ((id, self._mesh.graph.get(id)) for id in relevance.ranked(limit=64))
            found = [id for id, node in nodes if node and node.type in ANSWERING and self._mesh.walkable(id)]
            return tuple(found[:limit])

    def _keep(self, walk: Walk) -> None:
        with self._lock:
            self._walks.append(walk)
        if walk.dead_end is not None:
            self.dead_ends.record(DeadEnd(walk.question, walk.dead_end, walk.detail, walk.blocker))

    # -- one walk

    def _walk(self, question: str, limits: Limits) -> Walk:
        text = question[:MAX_QUESTION]
        relevance = Relevance(text, self._labels.refresh(), self._relations)
        start = self._start(text, relevance)
        if not start.seeds:
            self._literal_seeds(start, relevance)
        search = Search(self._mesh, relevance, start.subjects, limits)
        best = search.run((seed.node, seed.how == "words") for seed in start.seeds.values())
        walk = Walk(
            question, tuple(start.seeds.values()), tuple(start.resolutions), expanded=search.expanded,
            budget=limits.max_expand, left=search.left(),
            notes=tuple(_notes(start, search, relevance, self._mesh)),
        )  # fmt: skip
        if best is None:
            return self._dead_end(walk, start, search, relevance, limits)
        return self._answered(walk, best, search, relevance)

    def _answered(self, walk: Walk, best: Found, search: Search, relevance: Relevance) -> Walk:
        path = search.path(best.node)
        tail = tuple(self._tail(best.node, search.liveness, relevance))
        reading = self._sources.reading([f.node for f in sorted(search.candidates, key=lambda f: (-f.rank, f.node))])
        lost = search.lost if search.lost and search.lost.rank > best.rank else None
        return replace(
            walk, answer_id=best.node, answer=path[-1].label, standing=self._mesh.label(best.node),
            against=self._mesh.contradicting(best.node), score=round(best.score, 4), path=path, tail=tail,
            evidence=self._evidence(best.node, search.liveness), cost=round(best.cost, 3), hops=best.hops,
            tokens_walked=sum(estimate_tokens(step.label) for step in (*path, *tail)),
            tokens_read=reading.tokens, read_from=reading.basis,
            notes=(*walk.notes, *([self._fallen_note(lost.node)] if lost else [])),
        )  # fmt: skip

    def _fallen_note(self, id: str) -> Note:
        node = self._mesh.graph.get(id)
        label = node.label if node else id
        return Note("fallen", f"a closer match, {label!r:.120}, is not walkable: {self.why_blocked(id)}", (id,))

    # -- seeds

    def _start(self, text: str, relevance: Relevance) -> _Start:
        start = _Start()
        mentions = terms.mentions(text, self.resolver.knows)
        for mention in mentions:
            found = self.resolver.resolve(mention)
            doubtful = len(mentions) > 1 or mention.endswith("()")
            start.resolutions.append(found)
            for id in _meant(found):
                folded = doubtful and self._only_folded(mention, id)
                self._seed(start, relevance, id, mention, "named", found.score, folded)
            if found.ambiguous:
                ids = tuple(near.entity for near in found.near if near.score >= ACCEPT)
                start.notes.append(Note("ambiguous", f"{mention!r:.80} means {len(ids)} entities, all were tried", ids))
            if found.entity is None and not found.ambiguous:
                coded = list(self._code_named(mention))
                for id in coded:
                    self._seed(start, relevance, id, mention, "code", SAME)
                start.unknown |= 0 if coded else relevance.words(mention)
        for mention, node in start.blocked:
            why = self.why_blocked(node.id)
            start.notes.append(Note("blocked", f"{mention!r:.80} means {node.label!r:.80}, {why}", (node.id,)))
        if len(text) == MAX_QUESTION:
            start.notes.append(Note("cut", f"only the first {MAX_QUESTION:,} characters of the question were read"))
        relevance.settle()
        return start

    def _seed(
        self, start: _Start, relevance: Relevance, id: str, mention: str, how: str, score: float, doubtful: bool = False
    ) -> None:  # fmt: skip
        """A seed. A doubtful one is begun at, but its words stay what is asked, so it need not be linked."""
        node = self._mesh.graph.get(id)
        if node is None:
            return
        if not self._mesh.walkable(id):
            start.blocked.append((mention, node))
            start.closed |= relevance.subject((mention, node.label))
            return
        start.seeds.setdefault(id, Seed(id, node.type, node.label, how, mention, round(score, 4)))
        if doubtful:
            return
        start.subjects[id] = start.subjects.get(id, 0) | relevance.subject((mention, node.label))

    def _only_folded(self, mention: str, id: str) -> bool:
        """Whether a plain word met a name that is written otherwise: databases and DATABASES, get and GET."""
        node, word = self._mesh.graph.get(id), mention.removesuffix("()")
        if node is None or not (word.isalpha() and word.islower()):
            return False
        names = (node.label, *alias_texts(node))
        return not any((name.isalpha() and name[1:].islower()) or " " in name for name in names)

    def _code_named(self, mention: str) -> Iterator[str]:
        """Nodes of the code layer that have exactly this name, at most a few."""
        asked = terms.normal(mention)
        wanted = terms.tokens(mention)
        postings = self._labels.refresh()
        places = postings.places(min(wanted, key=lambda t: (postings.count(t), t))) if wanted else ()
        found = 0
        for place in places[:1_000]:
            node = self._mesh.graph.get(postings.key(place) or "")
            if node is None or self._mesh.ontology.node(node.type).layer != "code" or found >= MAX_LITERAL_SEEDS:
                continue
            if terms.normal(node.label) == asked or terms.normal(node.label.rpartition(".")[2]) == asked:
                found += 1
                yield node.id

    def _literal_seeds(self, start: _Start, relevance: Relevance) -> None:
        """Nothing named may be walked: the texts that share most words with the question."""
        for id in self._elsewhere(start, relevance) if start.blocked else self._literal(start, relevance):
            node = self._mesh.graph.get(id)
            if node is not None and self._mesh.walkable(id):
                share = (
                    relevance.weight(relevance.mask(id) & relevance.whole) / relevance.total if relevance.total else 0.0
                )
                start.seeds[id] = Seed(id, node.type, node.label, "words", score=round(share, 4))
            if len(start.seeds) >= MAX_LITERAL_SEEDS:
                break

    def _literal(self, start: _Start, relevance: Relevance) -> Iterator[str]:
        """Nothing named is known: texts with two words of the question at least, and a fair share of its weight."""
        asked = relevance.whole.bit_count()
        for id in relevance.ranked(limit=64):
            mask = relevance.mask(id) & relevance.whole
            enough = relevance.total and relevance.weight(mask) / relevance.total >= LITERAL_FLOOR
            names_all = mask & start.unknown == start.unknown  # as "Payment Gateway Tests" is no Payment Gateway
            if enough and names_all and shares_enough(mask.bit_count(), asked):
                yield id

    def _elsewhere(self, start: _Start, relevance: Relevance) -> Iterator[str]:
        """What is named no longer counts: texts that say most of the rest and are not about what is named."""
        closed = {node.id for _, node in start.blocked}
        for id in relevance.ranked(limit=64) if relevance.predicate else ():
            if self._mesh.graph.get(id) is None:
                continue
            about = any(edge.dst in closed for edge in self._mesh.graph.out_edges(id))
            if relevance.pull(id) >= ELSEWHERE_FLOOR and not about and not relevance.mask(id) & start.closed:
                yield id

    # -- what justifies an answer

    def _tail(self, id: str, liveness: Liveness, relevance: Relevance) -> Iterator[Step]:
        seen = {id}
        for _ in range(MAX_TAIL):
            step = self._justification(id, liveness, relevance, seen)
            if step is None:
                return
            yield step
            if step.type == "source":
                return
            id = step.node
            seen.add(id)

    def _justification(self, id: str, liveness: Liveness, relevance: Relevance, seen: set[str]) -> Step | None:
        graph = self._mesh.graph
        node = graph.get(id)
        if node is not None and node.type == "decision":
            choices = [graph.in_edges(id, ("supports",)), graph.out_edges(id, ("depends_on",))]
        else:
            choices = []
        for edges in (*choices, graph.out_edges(id, ("derived_from",)), graph.out_edges(id, ("cites",))):
            ends = [(edge.src if edge.dst == id else edge.dst, edge) for edge in edges if liveness.live(edge)]
            ranked = sorted((-relevance.pull(other), other, edge.id, edge) for other, edge in ends if other not in seen)
            if ranked:
                _, other, edge_id, edge = ranked[0]
                found = graph.get(other)
                assert found is not None
                return Step(other, found.type, found.label, edge.kind, edge_id, edge.dst == id)
        return None

    def _evidence(self, id: str, liveness: Liveness) -> tuple[str, ...]:
        graph = self._mesh.graph
        out = [e.dst for e in graph.out_edges(id, ("derived_from", "cites", "justified_by")) if liveness.live(e)]
        into = [e.src for e in graph.in_edges(id, ("supports",)) if liveness.live(e)]
        return tuple(sorted({*out, *into}))[:MAX_EVIDENCE]

    # -- dead ends

    def _dead_end(self, walk: Walk, start: _Start, search: Search, relevance: Relevance, limits: Limits) -> Walk:
        blockers = [node for _, node in start.blocked]
        hidden = () if not start.seeds else self._hidden(start, relevance, limits, search)
        literal = "" if start.seeds or blockers else self._hidden_literal(start, relevance)
        reached = Reached(len(start.seeds), bool(blockers), search.nearest is not None, bool(hidden or literal))
        reason = dead_ends.reason_for(reached)
        blocker = hidden[0] if hidden else literal or (blockers[0].id if blockers else "")
        walk = replace(walk, dead_end=reason)
        if reason is Reason.pruned_too_early:
            return replace(walk, blocker=blocker, detail=self._blocked_detail(blocker, hidden[1] if hidden else ""))
        if reason is Reason.entity_unresolved:
            return replace(walk, detail=_unresolved_detail(start.resolutions))
        if reason is Reason.wrong_node_type and search.nearest is not None:
            path = search.path(search.nearest.node)
            detail = f"what was reached does not answer this; nearest: {path[-1].label!r:.120}"
            return replace(walk, path=path, hops=search.nearest.hops, cost=round(search.nearest.cost, 3), detail=detail)
        return replace(walk, detail=_nowhere_detail(start, search))

    def _hidden(
        self, start: _Start, relevance: Relevance, limits: Limits, search: Search
    ) -> tuple[str, str] | tuple[()]:
        """(first node in the way, the answer behind it) of a walk that would succeed if nothing had fallen."""
        everything = Search(self._mesh, relevance, start.subjects, limits, hidden=True)
        best = everything.run((seed.node, seed.how == "words") for seed in start.seeds.values())
        for found in [best, *everything.candidates] if best else []:
            for step in everything.path(found.node):
                if not search.liveness.walkable(step.node):
                    return step.node, found.node
                edge = next((e for e in self._mesh.graph.in_edges(step.node) if e.id == step.edge), None)
                edge = edge or next((e for e in self._mesh.graph.out_edges(step.node) if e.id == step.edge), None)
                if edge is not None and not search.liveness.live(edge) and edge.assumption:
                    return edge.assumption, found.node
        return ()

    def _hidden_literal(self, start: _Start, relevance: Relevance) -> str:
        """A claim or decision that the words of the question name, and that may not be walked; "" when there is none."""
        for id in self._literal(start, relevance):
            node = self._mesh.graph.get(id)
            if node is not None and node.type in ANSWERING and relevance.score(id, node.type) >= FLOOR:
                return id
        return ""

    def _blocked_detail(self, blocker: str, answer: str) -> str:
        node = self._mesh.graph.get(blocker)
        said = f"{node.label!r:.120}" if node else blocker
        behind = self._mesh.graph.get(answer) if answer and answer != blocker else None
        way = f"the way to {behind.label!r:.120} leads through " if behind else ""
        return f"{way}{said}, {self.why_blocked(blocker)}"

    def why_blocked(self, id: str) -> str:
        """Why a node may not be walked, a few words: retired and how, what replaced it, or fallen."""
        retired = self._mesh.retired(id)
        if retired is None:
            return "which has fallen: nothing it rests on stands"
        if retired.how == "superseded":
            after = [self._mesh.graph.get(e.src) for e in self._mesh.graph.in_edges(id, ("supersedes",))]
            by = sorted(node.label for node in after if node is not None)
            return f"which was superseded by {by[0]!r:.120}" if by else "which was superseded"
        return f"which was {retired.how}" + (f": {retired.reason:.120}" if retired.reason else "")


def _meant(found: Resolution) -> tuple[str, ...]:
    if found.ambiguous:
        return tuple(near.entity for near in found.near if near.score >= ACCEPT)
    return (found.entity,) if found.entity is not None else ()


def _notes(start: _Start, search: Search, relevance: Relevance, mesh: MeshView) -> Iterator[Note]:
    yield from start.notes
    for hub in search.hubs[:MAX_HUB_NOTES]:
        node = mesh.graph.get(hub.node)
        label = node.label if node else hub.node
        text = f"{label!r:.80} has {hub.degree:,} neighbours; the {hub.taken} that fit the question best were looked at"
        yield Note("hub", text, (hub.node,))
    if len(search.hubs) > MAX_HUB_NOTES:
        yield Note("hub", f"{len(search.hubs) - MAX_HUB_NOTES} more nodes had too many neighbours to look at all")
    if search.out_of_budget:
        yield Note("budget", f"stopped after {search.expanded} nodes")
    if search.cut_by_hops and not search.candidates:
        yield Note("hops", "some paths went on beyond the hop budget")
    if relevance.common:
        yield Note("common", f"in too many texts to tell anything: {', '.join(relevance.common[:8])}")


def _unresolved_detail(resolutions: list[Resolution]) -> str:
    missed = [found.mention for found in resolutions if found.entity is None]
    if not missed:
        return "the question names nothing that is known, and no text shares enough words with it"
    near = next((f"; {found.mention!r:.60}: {found.reason}" for found in resolutions if found.near), "")
    return f"nothing known is called {', '.join(f'{m!r:.60}' for m in missed[:4])}{near}"


def _nowhere_detail(start: _Start, search: Search) -> str:
    seeds = ", ".join(f"{seed.label!r:.60}" for seed in list(start.seeds.values())[:4])
    if search.expanded <= len(start.seeds):
        return f"no edge leads on from {seeds}"
    return f"no claim or decision within reach of {seeds}; {search.expanded} nodes looked at"
