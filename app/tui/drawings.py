"""What other panes have drawn in the layers of the graph: a walk on its way, the path of an agent's question, a blast radius.

Who calls: the graph pane, on a thread. What may not come in: the toolkit, layout, pages; how a drawing looks is said in
``layer_rows.py``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mog.app.tui.layer_rows import NODES, Drawing, Stop, of_around, of_beliefs, of_radius, with_path
from mog.engine import model as m
from mog.engine.errors import AmbiguousTarget, IndexMissing, NotFound
from mog.engine.reason.records import GraphNode

if TYPE_CHECKING:
    from mog.app.tui.port import Desk
    from mog.engine.beliefs import Beliefs
    from mog.engine.reason.walks import Walk

BESIDE = 60
"""Nodes drawn around a path."""


def walk_drawing(beliefs: Beliefs, walk: Walk) -> Drawing:
    """A walk on what stands around its steps: to the answer, and on to what justifies it.

    Raises:
        NotFound: the walk has no path, or its steps are no longer on record.
    """
    steps = [*walk.path, *walk.tail]
    known = [(step, beliefs.mesh.graph.get(step.node)) for step in steps]
    stops = [
        Stop(node, beliefs.mesh.label(node.id) if _reasons(beliefs, node) else None, step.kind, step.reverse)
        for step, node in known
        if node is not None
    ]
    if not stops:
        raise NotFound("this walk has no path to draw", way_out="a walk that found an answer has one")
    found = beliefs.around(*dict.fromkeys(str(stop.thing.id) for stop in stops), depth=1, limit=BESIDE)
    drawing = with_path(of_beliefs(found), stops, answer=min(len(walk.path), len(stops)) - 1)
    return drawing


def _reasons(beliefs: Beliefs, node: GraphNode) -> bool:
    return beliefs.mesh.ontology.node(node.type).layer == "reason"


def path_drawing(desk: Desk, path: Sequence[str], tiers: Sequence[str]) -> Drawing:
    """The nodes that a question of an agent touched, in order, on what lies around the first of them that is code.

    Raises:
        NotFound: none of them is known here any more.
    """
    stops = [stop for one in path if (stop := _stop(desk, one)) is not None]
    if not stops:
        raise NotFound("nothing on this path is known here any more", way_out="r asks the question again")
    code = next((stop.thing for stop in stops if isinstance(stop.thing, m.Node)), None)
    if code is None:
        return with_path(of_beliefs(desk.beliefs.around(stops[0].thing.id, depth=1, limit=BESIDE)), stops)
    around = desk.around(code.id, depth=1, limit=BESIDE, tiers=tiers)
    return with_path(of_around(around, desk.believed(code.id)), stops)


def _stop(desk: Desk, target: str) -> Stop | None:
    """A node of the code, else a record; ``None`` for what is neither any more."""
    with contextlib.suppress(NotFound, AmbiguousTarget, IndexMissing):
        return Stop(desk.find(target))
    node = desk.beliefs.mesh.graph.get(target)
    return Stop(node, desk.beliefs.mesh.label(node.id)) if node is not None else None


def radius_drawing(beliefs: Beliefs, target: str, limit: int = NODES) -> Drawing:
    """What would fall and weaken if a record were contradicted, by hops; records nothing.

    Raises:
        NotFound, UsageError: as ``Beliefs.invalidate``.
    """
    radius = beliefs.invalidate(target)
    graph, found = beliefs.mesh.graph, beliefs.find(target)
    weak = radius.weakens[: max(limit // 4, limit - len(radius.falls))]
    falls = radius.falls[: limit - len(weak)]
    nodes = {id: graph.node(id) for id in (found, *(move.id for move in falls), *(row.id for row in weak))}
    premises = {row.id: next((g.all_of for g in beliefs.mesh.grounds(row.id) if g.id == row.lost), ()) for row in weak}
    return of_radius(radius, graph.node(found), nodes, premises)
