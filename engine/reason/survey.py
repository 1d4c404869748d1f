"""The reason layer as one bounded picture: exact counts of everything, and the few nodes and edges that fit on a page.

Who calls: ``Beliefs.survey``, for ``mog export html``. What may not come in: writes, text for a surface, coordinates. One pass
under one lock, so that all numbers are of one state; whatever is left out is counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mog.engine.reason.records import GraphEdge, GraphNode, Label
from mog.engine.reason.telemetry import TelemetryReport

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh

PER_TYPE = 24
TIES = 600
CELLS = 1_008
_TROUBLE = (Label.fallen, Label.contested, Label.unverified, Label.weakened)


@dataclass(frozen=True, slots=True)
class Spot:
    """One node of the picture.

    Attributes:
        standing: its label; "" for a node of the code layer, which has none. retired: how it was retired, or "".
        walks: how often walks passed it, at most. degree: live edges.
    """

    id: str
    type: str
    kind: str
    label: str
    standing: str
    retired: str
    walks: int
    degree: int


@dataclass(frozen=True, slots=True)
class Tie:
    """One edge of the picture, or of the grid; ``walks``: how often walks took it, at most; None when that is not known."""

    kind: str
    src: str
    dst: str
    walks: int | None
    live: bool


@dataclass(frozen=True, slots=True)
class Survey:
    """The picture.

    Attributes:
        seq: event of the ledger that it shows.
        nodes: type → label (or ``superseded``, ``retracted``, ``withdrawn``, ``pruned``) → nodes of the reason layer; exact.
        edges: type → live edges; exact. dead_edges: edges that no walk may take.
        spots: the nodes that matter most, by type. hidden: type → nodes left out.
        ties: edges between spots. ties_hidden: how many of those were left out.
        grid: live edges of the reason layer, by type, those walked most first. grid_hidden: edges left out of it.
    """

    seq: int
    nodes: Mapping[str, Mapping[str, int]]
    edges: Mapping[str, int]
    dead_edges: int
    spots: tuple[Spot, ...]
    hidden: Mapping[str, int]
    ties: tuple[Tie, ...]
    ties_hidden: int
    grid: tuple[Tie, ...]
    grid_hidden: int

    def total(self, *labels: str) -> int:
        """Nodes of the reason layer with one of these labels; of all, when none is given."""
        return sum(n for found in self.nodes.values() for label, n in found.items() if not labels or label in labels)


def survey(
    mesh: Mesh, telemetry: TelemetryReport, *, per_type: int = PER_TYPE, ties: int = TIES, cells: int = CELLS
) -> Survey:
    """Look at everything once; ``telemetry`` should hold every busy edge and node that is kept."""
    with mesh.locked():
        look = _Look(mesh, telemetry)
        spots, hidden = look.spots(per_type)
        between, ties_hidden = look.ties({spot.id for spot in spots}, ties)
        grid, grid_hidden = look.grid(cells)
        edges = Counter(edge.kind for edge in look.live)
        return Survey(
            mesh.tables.seq, look.counts(), dict(sorted(edges.items())), len(look.edges) - len(look.live), spots, hidden,
            between, ties_hidden, grid, grid_hidden,
        )  # fmt: skip


class _Look:
    """What one pass gathers."""

    def __init__(self, mesh: Mesh, telemetry: TelemetryReport) -> None:
        tables, self.types = mesh.tables, mesh.ontology
        self.node_walks = {busy.id: busy.count for busy in telemetry.busiest_nodes}
        self.edge_walks = {busy.id: busy.count for busy in telemetry.busiest_edges}
        # while no walk was ever counted twice over, what is not in the table was not walked
        self.all_kept = all(busy.over == 0 for busy in telemetry.busiest_edges)
        self.nodes = tables.nodes
        self.retired = {id: one.how for id, one in tables.rows["retired"].items()}
        self.label = {
            id: mesh.label(id) for id, node in tables.nodes.items() if self.types.node(node.type).layer == "reason"
        }
        self.edges = tuple(tables.edges.values())
        self.live = [edge for edge in self.edges if self._is_live(edge)]
        self.live_ids = {edge.id for edge in self.live}
        self.degree = Counter(end for edge in self.live for end in (edge.src, edge.dst))

    def _is_live(self, edge: GraphEdge) -> bool:
        bound = not edge.assumption or self.label.get(edge.assumption) is not Label.fallen
        return bound and all(
            self.label.get(end) is not Label.fallen and end not in self.retired for end in (edge.src, edge.dst)
        )

    def counts(self) -> dict[str, dict[str, int]]:
        found: dict[str, Counter[str]] = {}
        for id, label in self.label.items():
            found.setdefault(self.nodes[id].type, Counter())[self.retired.get(id, str(label))] += 1
        return {type: dict(sorted(counts.items())) for type, counts in sorted(found.items())}

    def spots(self, per_type: int) -> tuple[tuple[Spot, ...], dict[str, int]]:
        by_type: dict[str, list[GraphNode]] = {}
        for node in self.nodes.values():
            by_type.setdefault(node.type, []).append(node)
        shown: list[Spot] = []
        hidden: dict[str, int] = {}
        for type, nodes in by_type.items():
            nodes.sort(key=self._weight)
            shown += (self._spot(node) for node in nodes[:per_type])
            if len(nodes) > per_type:
                hidden[type] = len(nodes) - per_type
        return tuple(shown), hidden

    def _weight(self, node: GraphNode) -> tuple[bool, int, int, int, str]:
        """What is walked, then what is in trouble, then what hangs together with most; what was retired last."""
        label = self.label.get(node.id)
        trouble = _TROUBLE.index(label) if label in _TROUBLE else len(_TROUBLE)
        return node.id in self.retired, -self.node_walks.get(node.id, 0), trouble, -self.degree[node.id], node.id

    def _spot(self, node: GraphNode) -> Spot:
        label = self.label.get(node.id)
        return Spot(
            node.id, node.type, node.kind, node.label, str(label or ""), self.retired.get(node.id, ""),
            self.node_walks.get(node.id, 0), self.degree[node.id],
        )  # fmt: skip

    def ties(self, shown: set[str], most: int) -> tuple[tuple[Tie, ...], int]:
        found = [self._tie(edge) for edge in self.edges if edge.src in shown and edge.dst in shown]
        found.sort(key=lambda tie: (not tie.live, -(tie.walks or 0), tie.kind, tie.src, tie.dst))
        return tuple(found[:most]), max(0, len(found) - most)

    def grid(self, most: int) -> tuple[tuple[Tie, ...], int]:
        found = [self._tie(edge) for edge in self.live if self.types.edge_types[edge.kind].layer == "reason"]
        found.sort(key=lambda tie: (-(tie.walks or 0), tie.kind, tie.src, tie.dst))
        shown = sorted(found[:most], key=lambda tie: (tie.kind, -(tie.walks or 0), tie.src, tie.dst))
        return tuple(shown), max(0, len(found) - most)

    def _tie(self, edge: GraphEdge) -> Tie:
        walks = self.edge_walks.get(edge.id, 0 if self.all_kept else None)
        return Tie(edge.kind, edge.src, edge.dst, walks, edge.id in self.live_ids)
