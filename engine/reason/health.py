"""What quietly makes a graph useless, counted: the signals of ``mog health``. Called by the command line and, later, a pane.

What may not come in: writes, repairs, opinions without a count. None of the signals is an error of the program; each says
how many, shows at most twelve, and names what to do. Counts are exact, whatever is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from mog.engine.reason.records import GraphEdge, GraphNode, Label
from mog.engine.reason.telemetry import TelemetryReport

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh

MAX_ITEMS = 12
STALE_AFTER = 1_000  # events
SEVERITIES = ("info", "warn", "error")
_ORIGINS = ("derived_from", "cites")


class NearMiss(Protocol):
    """A mention that nearly meant an entity (``resolver.Resolution``)."""

    @property
    def mention(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Signal:
    """One condition.

    Attributes:
        kind: its name. severity: info, warn or error. count: exact.
        detail: what is counted, in a sentence. remedy: what to do, in a sentence.
        items: ids, or short texts, of at most twelve of them, in order.
    """

    kind: str
    severity: str
    count: int
    detail: str
    remedy: str
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class HealthReport:
    """All signals and the worst severity among those that count something.

    Attributes:
        status: ok, warn or error.
        nodes_live, edges_live: what a walk may pass. nodes_total: of the reason layer, fallen and retired ones included.
        edge_types_used: types among the live edges.
    """

    status: str
    nodes_live: int
    nodes_total: int
    edges_live: int
    edge_types_used: int
    signals: tuple[Signal, ...]


def check(
    mesh: Mesh, *, near_misses: Iterable[NearMiss] = (), telemetry: TelemetryReport | None = None,
    stale_after: int = STALE_AFTER,
) -> HealthReport:  # fmt: skip
    """Look at everything once.

    Args:
        near_misses: of the resolver. telemetry: what walks did; without it dead ends are not spoken of.
        stale_after: events without a word about an assumption, after which it is called stale.
    """
    with mesh.locked():
        look = _Look(mesh)
        signals = [
            look.untyped(), look.orphans(), look.gaps(), _near(near_misses), look.mute(), look.stale(stale_after),
            look.contradictions(), _dead_ends(telemetry), look.fallen(), look.labelled(Label.contested),
            look.labelled(Label.unverified), look.drift(),
        ]  # fmt: skip
        said = tuple(s for s in signals if s is not None and (s.count or s.kind == "untyped_edges"))
        worst = max((SEVERITIES.index(s.severity) for s in said if s.count), default=0)
        kinds = {edge.kind for edge in look.edges}
        return HealthReport(
            ("ok", "warn", "error")[worst], len(look.live), len(look.nodes), len(look.edges), len(kinds), said
        )


def _signal(kind: str, severity: str, items: Sequence[str], detail: str, remedy: str) -> Signal:
    return Signal(kind, severity, len(items), detail, remedy, tuple(items[:MAX_ITEMS]))


class _Look:
    """One pass over a mesh: its nodes of the reason layer, their labels, and the edges between live ones."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        tables, types = mesh.tables, mesh.ontology
        self.nodes = sorted((n for n in tables.nodes.values() if types.node(n.type).layer == "reason"), key=lambda n: n.id)
        self.label = {n.id: mesh.label(n.id) for n in self.nodes}
        self.retired = tables.rows["retired"]
        self.live = [n for n in self.nodes if self.label[n.id] is not Label.fallen and n.id not in self.retired]
        self.live_ids = {n.id for n in self.live}
        self.edges = [e for e in tables.edges.values() if self._is_live(e)]
        self.judged = {(j.evidence, j.target) for j in tables.rows["judgement"].values()}
        self.heard = {evidence for evidence, _ in self.judged}

    def _is_live(self, edge: GraphEdge) -> bool:
        """Both ends may be walked; a node of the code layer always may."""
        bound = not edge.assumption or self.label.get(edge.assumption) is not Label.fallen
        return bound and all(end in self.live_ids or end not in self.label for end in (edge.src, edge.dst))

    # -- structure

    def untyped(self) -> Signal:
        count = sum(1 for e in self.mesh.tables.edges.values() if e.kind not in self.mesh.ontology.edge_types)
        detail = "edges without a type of GRAPH.md"
        return Signal("untyped_edges", "error" if count else "info", count, detail, "none is needed: they cannot be written")

    def orphans(self) -> Signal:
        tables = self.mesh.tables
        spoken_of = {id for pair in self.judged for id in pair} | {p for g in self._grounds() for p in g}
        tied = (tables.out, tables.into, tables.anchored)
        found = [n.id for n in self.live if n.id not in spoken_of and not any(n.id in side for side in tied)]
        remedy = "link them, anchor them, or retract them"
        return _signal("orphans", "warn", found, "live nodes that nothing is linked to", remedy)

    def _grounds(self) -> Iterator[tuple[str, ...]]:
        for ground in self.mesh.tables.rows["ground"].values():
            yield (ground.conclusion, *ground.all_of, *ground.none_of)

    def gaps(self) -> Signal:
        found = [n.id for n in self.live if n.type in ("claim", "decision") and not self._has_source(n)]
        detail = "claims and decisions without a source that still stands"
        return _signal("provenance_gap", "error", found, detail, "ingest the source again, or retract them")

    def _has_source(self, node: GraphNode) -> bool:
        nodes = self.mesh.tables.nodes
        named = [node.provenance.source_id] if node.provenance else []
        out = self.mesh.tables.out.get(node.id, ())
        named += [e.dst for e in out if e.kind in _ORIGINS and nodes[e.dst].type == "source"]
        return any(id in self.live_ids for id in named)

    def mute(self) -> Signal:
        nodes = self.mesh.tables.nodes
        said = {e.dst for e in self.edges if e.kind == "mentions" and nodes[e.src].type == "claim"}
        found = [n.id for n in self.live if n.type == "entity" and n.id not in said]
        detail = "entities that no live claim mentions"
        return _signal("missing_relationships", "warn", found, detail, "ingest what is said about them, or prune them")

    # -- beliefs

    def stale(self, after: int) -> Signal:
        last = {n.id: n.at for n in self.live if n.type == "assumption"}
        tables = self.mesh.tables
        for j in tables.rows["judgement"].values():
            self._later(last, j.target, j.at)
        for a in tables.rows["anchor"].values():
            self._later(last, a.node, a.at)
        for e in self.edges:
            self._later(last, e.dst, tables.nodes[e.src].at)
        found = sorted((id for id, at in last.items() if tables.seq - at > after), key=lambda id: (last[id], id))
        detail = f"assumptions that nothing was said about for more than {after} events"
        return _signal("stale_assumptions", "warn", found, detail, "look at them again: judge evidence, or supersede them")

    @staticmethod
    def _later(last: dict[str, int], id: str, at: int) -> None:
        if id in last:
            last[id] = max(last[id], at)

    def contradictions(self) -> Signal:
        found = sorted(
            f"{e.src} contradicts {e.dst}"
            for e in self.edges
            if e.kind == "contradicts" and (e.src, e.dst) not in self.judged and not self._settled(e)
        )
        remedy = "judge the evidence, supersede the loser, or record a decision that rests on both"
        return _signal("open_contradictions", "warn", found, "contradictions that nobody judged or decided", remedy)

    def _settled(self, edge: GraphEdge) -> bool:
        """One supersedes the other, or one decision that stands weighed both."""
        if any(e.kind == "supersedes" for e in self._between(edge.src, edge.dst)):
            return True
        return bool(self._weighed(edge.src) & self._weighed(edge.dst))

    def _between(self, a: str, b: str) -> Iterator[GraphEdge]:
        tables = self.mesh.tables
        for one, other in ((a, b), (b, a)):
            yield from (e for e in tables.out.get(one, ()) if e.dst == other)

    def _weighed(self, id: str) -> set[str]:
        """Live decisions that a node supports, or that rest on it or name it as their reason."""
        tables = self.mesh.tables
        ends = [e.src for e in tables.into.get(id, ()) if e.kind in ("derived_from", "depends_on", "justified_by")]
        ends += [e.dst for e in tables.out.get(id, ()) if e.kind == "supports"]
        return {end for end in ends if end in self.live_ids and tables.nodes[end].type == "decision"}

    def fallen(self) -> Signal:
        found = [id for id, label in self.label.items() if label is Label.fallen and id not in self.retired]
        detail = "nodes that no longer stand, kept for their history"
        return _signal("fallen", "info", found, detail, "do the work again on ground that stands")

    def labelled(self, label: Label) -> Signal:
        found = [n.id for n in self.live if self.label[n.id] is label]
        if label is Label.contested:
            return _signal("contested", "info", found, "nodes that stand and are contradicted", "see open_contradictions")
        detail = "nodes that rest on work that failed"
        return _signal("unverified", "warn", found, detail, "repair what failed and run it again")

    def drift(self) -> Signal:
        found = [n.id for n in self.live if n.type == "evidence" and n.kind == "drift" and n.id not in self.heard]
        detail = "changes of code under a belief that no auditor has judged"
        return _signal("drift_pending", "warn", found, detail, "run `mog recheck`")


def _near(misses: Iterable[NearMiss]) -> Signal:
    best: dict[str, NearMiss] = {}
    for miss in misses:
        if miss.mention not in best or best[miss.mention].score < miss.score:
            best[miss.mention] = miss
    ranked = sorted(best.values(), key=lambda miss: (-miss.score, miss.mention))
    items = [f"{miss.mention}: {miss.reason}" for miss in ranked]
    detail = "names that nearly meant an entity"
    return _signal("unresolved_entities", "warn", items, detail, "teach the alias, or say that it is another thing")


def _dead_ends(telemetry: TelemetryReport | None) -> Signal | None:
    if telemetry is None:
        return None
    count = sum(telemetry.dead_ends.values())
    detail = "walks that ended nowhere" + "".join(f"; {reason} {n}" for reason, n in telemetry.dead_ends.items())
    asked = tuple(dict.fromkeys(question for question, reason, _ in reversed(telemetry.recent) if reason))
    remedy = "each reason has its own: ask `mog ask` for the boundary it names"
    return Signal("dead_ends", "warn", count, detail, remedy, asked[:MAX_ITEMS])
