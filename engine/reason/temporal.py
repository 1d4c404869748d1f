"""What was known then, what was decided on it, and what came afterwards. Called by the command line and by agents.

What may not come in: today's answer with the new parts crossed out. A question about the past is walked in the past
(``as_of``), so its path is one that somebody could have taken; hindsight is listed apart, each with the edge that links it,
and what has no date is listed as undated, never sorted to one side.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from mog.engine.errors import UsageError
from mog.engine.graph import GraphNode
from mog.engine.reason.as_of import AsOf
from mog.engine.reason.records import Label
from mog.engine.reason.timeline import Dated, Horizon, parse_day
from mog.engine.reason.walker import Walker
from mog.engine.reason.walks import Walk

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh

HINDSIGHT = ("contradicts", "supersedes", "supports")
AFTERWARDS = ("contradicts", "supersedes")
REASONS_OF_DECISION = ("depends_on", "derived_from", "cites", "justified_by")
REASONS = ("derived_from", "cites", "justified_by")
MAX_DEPTH = 16


@dataclass(frozen=True, slots=True)
class Placed:
    """One node, where it lies in time and why.

    Attributes:
        node, type, text: the node and its label.
        horizon: seen from the day that was asked about. dated: its source time, and where that comes from.
        at: its processing time, the number of the event that recorded it.
        standing: its label on the day; None when it was not known then.
        relation, through: the edge type that led to it (``ground`` for a recorded ground, ``judged`` for a judgement), and
            from which node; "" for a node that stands for itself. hops: edges from where the search began.
    """

    node: str
    type: str
    text: str
    horizon: Horizon
    dated: Dated
    at: int
    standing: Label | None = None
    relation: str = ""
    through: str = ""
    hops: int = 0


@dataclass(frozen=True, slots=True)
class Reconstruction:
    """The answer to a question as somebody could have had it on a day.

    Attributes:
        walk: how it would have been answered; at a dead end, which.
        then: what it passes. decision: decisions on it, and the assumptions they rest on, as they stood.
        later: what bears on any of that, and came afterwards. undated: the same, without a date.
        not_yet_known: what the question names, or today's walk passes, and was not known then.
    """

    question: str
    as_of: date
    walk: Walk
    then: tuple[Placed, ...] = ()
    decision: tuple[Placed, ...] = ()
    later: tuple[Placed, ...] = ()
    undated: tuple[Placed, ...] = ()
    not_yet_known: tuple[Placed, ...] = ()


@dataclass(frozen=True, slots=True)
class DecisionHistory:
    """Why a decision was made, and what became of its reasons.

    Attributes:
        as_of: from where it is looked at; None means today. It moves nothing between the lists, it sets the horizons.
        stood_on: reasons that had a date no later than the decision's own. Empty when the decision has none.
        later: reasons it could not have had, and what came for it or its reasons. undated: either, without a date.
    """

    decision: Placed
    as_of: date | None
    stood_on: tuple[Placed, ...] = ()
    later: tuple[Placed, ...] = ()
    undated: tuple[Placed, ...] = ()


class _PastWalker(Walker):
    """A walker of the past that reads the names and the index of today's: what was not known then is not found in the view."""

    def __init__(self, view: AsOf, today: Walker) -> None:
        super().__init__(view, today.resolver)
        self._labels = today._labels


def explain_as_of(mesh: Mesh, asked: str | Walk, as_of: str | date, *, walker: Walker | None = None) -> Reconstruction:
    """How a question would have been answered on a day, and what came afterwards.

    Args:
        asked: a question, or a walk of today whose question is asked again then.
        as_of: YYYY-MM-DD, inclusive. walker: today's, so that its index is used; one is made otherwise.

    Raises:
        UsageError: no such day, or an empty question.
    """
    question = asked if isinstance(asked, str) else asked.question
    today = walker or Walker(mesh)
    with mesh.locked():
        view = AsOf(mesh, parse_day(as_of))
        walk = _PastWalker(view, today).ask(question)
        return _Explained(mesh, view, walk, asked if isinstance(asked, Walk) else None).run()


class _Explained:
    def __init__(self, mesh: Mesh, view: AsOf, walk: Walk, today: Walk | None) -> None:
        self.mesh, self.view, self.walk, self.today = mesh, view, walk, today
        self.seen: set[str] = set()

    def run(self) -> Reconstruction:
        view = self.view
        passed = [step.node for step in (*self.walk.path, *self.walk.tail)] or [seed.node for seed in self.walk.seeds]
        path = [_placed(view, id) for id in self._new(passed)]
        choices = [p for p in path if p.type in ("decision", "assumption")]
        choices += list(self._rests_on(choices))
        after = list(self._afterwards())
        return Reconstruction(
            self.walk.question, view.day, self.walk,
            tuple(p for p in path if p.type not in ("decision", "assumption")), tuple(choices),
            tuple(p for p in after if p.horizon is not Horizon.undated),
            tuple(p for p in after if p.horizon is Horizon.undated),
            tuple(_placed(view, id) for id in self._not_known()),
        )  # fmt: skip

    def _new(self, ids: Iterable[str]) -> Iterator[str]:
        for id in ids:
            if id not in self.seen:
                self.seen.add(id)
                yield id

    def _rests_on(self, decisions: list[Placed]) -> Iterator[Placed]:
        """Assumptions under the decisions of the path, however far the walk's budget reached."""
        for decision in decisions:
            for edge in self.view.out_edges(decision.node, ("depends_on",)):
                for id in self._new([edge.dst]):
                    yield _placed(self.view, id, edge.kind, decision.node)

    def _afterwards(self) -> Iterator[Placed]:
        for at in sorted(self.seen):
            for id, relation in sorted(_bears_on(self.mesh, at, HINDSIGHT)):
                if not self.view.holds(id):
                    for new in self._new([id]):
                        yield _placed(self.view, new, relation, at)

    def _not_known(self) -> list[str]:
        named = [found.entity for found in self.walk.resolutions if found.entity]
        if self.today is not None:
            named += [step.node for step in (*self.today.path, *self.today.tail)]
        return [id for id in dict.fromkeys(named) if not self.view.holds(id)]


def reconstruct_decision(mesh: Mesh, id: str, as_of: str | date | None = None, *, depth: int = 3) -> DecisionHistory:
    """Back from a decision to everything it rests on, whether or not that fits a question.

    Args:
        as_of: from where to look, None for today. depth: edges to follow back, 1 to 16.

    Raises:
        NotFound: no such node. UsageError: it is no decision, no such day, or a depth that cannot be meant.
    """
    if not 1 <= depth <= MAX_DEPTH:
        raise UsageError(f"a depth of {depth}", way_out=f"1 to {MAX_DEPTH}")
    day = None if as_of is None else parse_day(as_of)
    with mesh.locked():
        node = mesh.graph.node(id)
        if node.type != "decision":
            raise UsageError(f"a {node.type}, not a decision", where=id, way_out="name a decision")
        view = AsOf(mesh, day or date.max)
        made = view.timeline.dated(id).when
        reasons = list(_back(mesh, view, id, depth))
        known = {id, *(p.node for p in reasons)}
        after = list(_forth(mesh, view, [id, *(p.node for p in reasons)], known, {p.node: p.hops for p in reasons}))
        early = [p for p in reasons if made is not None and p.dated.when is not None and p.dated.when <= made]
        late = [p for p in (*reasons, *after) if p.dated.when is not None and p not in early]
        undated = [p for p in (*reasons, *after) if p.dated.when is None]
        return DecisionHistory(_placed(view, id), day, tuple(early), tuple(late), tuple(undated))


def _back(mesh: Mesh, view: AsOf, root: str, depth: int) -> Iterator[Placed]:
    hops = {root: 0}
    todo = deque([root])
    while todo:
        at = todo.popleft()
        if hops[at] >= depth:
            continue
        for id, relation in _reasons(mesh, at):
            if id not in hops:
                hops[id] = hops[at] + 1
                todo.append(id)
                yield replace(_placed(view, id, relation, at), hops=hops[id])


def _reasons(mesh: Mesh, id: str) -> Iterator[tuple[str, str]]:
    node = mesh.tables.nodes[id]
    kinds = REASONS_OF_DECISION if node.type == "decision" else REASONS
    for edge in sorted(mesh.tables.out.get(id, ()), key=lambda e: (e.kind, e.dst)):
        if edge.kind in kinds:
            yield edge.dst, edge.kind
    for ground in sorted(mesh.tables.grounds.get(id, {}).values(), key=lambda g: g.id):
        for premise in ground.all_of:
            yield premise, "ground"


def _forth(mesh: Mesh, view: AsOf, reached: list[str], known: set[str], hops: dict[str, int]) -> Iterator[Placed]:
    for at in reached:
        for id, relation in sorted(_bears_on(mesh, at, AFTERWARDS)):
            if id not in known:
                known.add(id)
                yield replace(_placed(view, id, relation, at), hops=hops.get(at, 0) + 1)


def _bears_on(mesh: Mesh, id: str, kinds: tuple[str, ...]) -> set[tuple[str, str]]:
    """(node, how) of what was said about a node: edges that reach it, and judged evidence that no edge may link."""
    found = {(e.src, e.kind) for e in mesh.tables.into.get(id, ()) if e.kind in kinds}
    linked = {other for other, _ in found}
    judged = (j for j in mesh.tables.judged.get(id, {}).values() if j.verdict == "contradicts")
    return found | {(j.evidence, "judged") for j in judged if j.evidence not in linked}


def _placed(view: AsOf, id: str, relation: str = "", through: str = "") -> Placed:
    node: GraphNode = view.today(id)
    horizon, standing = view.timeline.horizon(id, view.day), view.label(id) if view.holds(id) else None
    return Placed(id, node.type, node.label, horizon, view.timeline.dated(id), node.at, standing, relation, through)
