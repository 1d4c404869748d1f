"""What is believed about a place in the code, and what stands around a belief. Called by ``beliefs``; only reads.

What may not come in: writes, files (a caller brings the judge of anchors), text for people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from mog.engine.errors import UsageError
from mog.engine.model import Freshness
from mog.engine.reason.drift import Drift
from mog.engine.reason.explain import about
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.records import Anchored, GraphEdge, GraphNode, Label, Retirement


@dataclass(frozen=True, slots=True)
class Believed:
    """A record about a place in the code.

    Attributes:
        node, label: the record and its standing. retired: how it was taken back, if it was.
        freshness, reason: of its anchor there against the disk; ``unknown`` and "" for one that is tied to it without an anchor.
        whole: it is about the whole file, not about the symbol that was asked for.
    """

    node: GraphNode
    label: Label
    retired: Retirement | None
    freshness: Freshness
    reason: str
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Met:
    """A node near a belief: ``hop`` edges away; ``label`` is None for a node of the code layer."""

    node: GraphNode
    label: Label | None
    hop: int


@dataclass(frozen=True, slots=True)
class Around:
    """What stands around some records.

    Attributes:
        nodes: the records themselves (hop 0), then nearest first. edges: among all of these.
        per_hop: nodes at hop 1, 2, …, those left out included.
    """

    nodes: tuple[Met, ...]
    edges: tuple[GraphEdge, ...]
    per_hop: tuple[int, ...]

    @property
    def hidden(self) -> int:
        """Nodes within the depth that are not named."""
        return sum(self.per_hop) - sum(1 for met in self.nodes if met.hop)


def believed(
    mesh: Mesh, places: Iterable[tuple[str, str, bool]], judge: Callable[[Anchored], Drift]
) -> tuple[Believed, ...]:
    """What is said about places: (id of the code node, locator, whether it is the whole file), each record once.

    What counts comes first, fallen and retired records last; within these by type and words.
    """
    found: dict[str, tuple[bool, tuple[Anchored, ...]]] = {}
    with mesh.locked():
        for id, locator, whole in places:
            for record in about(mesh, id, locator):
                anchors = tuple(one for one in mesh.anchors(record) if one.anchor.locator == locator)
                found.setdefault(record, (whole, anchors))
        known = {id: (mesh.graph.node(id), mesh.label(id), mesh.retired(id)) for id in found}
    out = []
    for id, (whole, anchors) in found.items():
        drift = judge(anchors[0]) if anchors else None
        state = (drift.freshness, drift.reason) if drift else (Freshness.unknown, "")
        out.append(Believed(*known[id], *state, whole))
    return tuple(sorted(out, key=_order))


def _order(one: Believed) -> tuple[object, ...]:
    return (one.retired is not None, one.label == Label.fallen, one.whole, one.node.type, one.node.label, one.node.id)


def counts(mesh: Mesh) -> Mapping[str, int]:
    """Locator → records that are about it and were not taken back, wherever something is."""
    with mesh.locked():
        pairs = {(one.anchor.locator, one.node) for one in mesh.anchors()}
        pairs |= {(str(mesh.graph.node(e.dst).attrs.get("locator", "")), e.src) for e in mesh.graph.edges("about")}
        return Counter(locator for locator, node in sorted(pairs) if locator and mesh.retired(node) is None)


def around(mesh: Mesh, seeds: Collection[str], depth: int, limit: int) -> Around:
    """What lies within ``depth`` edges of some records, in both directions, at most ``limit`` nodes besides them.

    Raises:
        NotFound: no such record. UsageError: a depth below 0 or a limit below 0.
    """
    if depth < 0 or limit < 0:
        raise UsageError("surroundings need a depth and a limit of 0 or more", way_out="use depth=2, limit=200")
    with mesh.locked():
        hops = {mesh.graph.node(seed).id: 0 for seed in seeds}
        per_hop, rim = [], list(hops)
        for hop in range(1, depth + 1):
            rim = sorted({other for one in rim for other in _beside(mesh, one) if other not in hops})
            if not rim:
                break
            hops.update(dict.fromkeys(rim, hop))
            per_hop.append(len(rim))
        shown = dict(list(hops.items())[: len(set(seeds)) + limit])
        nodes = tuple(_met(mesh, id, hop) for id, hop in shown.items())
        edges = (edge for id in shown for edge in mesh.graph.out_edges(id) if edge.dst in shown)
        return Around(nodes, tuple(sorted(edges, key=lambda e: (e.src, e.dst, e.kind, e.role))), tuple(per_hop))


def _beside(mesh: Mesh, id: str) -> list[str]:
    graph = mesh.graph
    return [edge.dst for edge in graph.out_edges(id)] + [edge.src for edge in graph.in_edges(id)]


def _met(mesh: Mesh, id: str, hop: int) -> Met:
    node = mesh.graph.node(id)
    return Met(node, mesh.label(id) if mesh.ontology.node(node.type).layer == "reason" else None, hop)
