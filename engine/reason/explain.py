"""Why a node has the standing it has, and what came before and after it. Called by ``workspace``; only reads.

What may not come in: writes, text for people beyond the words of the records, files.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mog.engine.reason.mesh import Mesh
from mog.engine.reason.records import Anchored, GraphNode, Ground, Judgement, Label, Retirement

if TYPE_CHECKING:
    from mog.engine.reason.minimal import Strength

__all__ = ["Explanation", "Lineage", "Reason", "Version", "about", "explain", "lineage"]


@dataclass(frozen=True, slots=True)
class Reason:
    """One ground of a node.

    Attributes:
        ground: its id. origin: who gave it (``edges``: compiled from edges). note: in the words of whoever gave it.
        met: whether it holds. standing, missing: its premises that stand, and those that do not.
        defeated_by: of its defeaters, those that stand.
    """

    ground: str
    origin: str
    note: str
    met: bool
    standing: tuple[GraphNode, ...]
    missing: tuple[GraphNode, ...]
    defeated_by: tuple[GraphNode, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a node stands or has fallen.

    Attributes:
        given: it has no ground and needs none.
        reasons: its grounds, those that hold first.
        defeated_by: judgements that contradict it on evidence that stands. judgements: all about it.
        contradicted_by: what stands, contradicts it and was not judged.
        strength: what it would take to fell it.
    """

    node: GraphNode
    label: Label
    given: bool
    retired: Retirement | None
    marks: tuple[str, ...]
    reasons: tuple[Reason, ...]
    defeated_by: tuple[Judgement, ...]
    judgements: tuple[Judgement, ...]
    contradicted_by: tuple[GraphNode, ...]
    anchors: tuple[Anchored, ...]
    strength: Strength


@dataclass(frozen=True, slots=True)
class Version:
    """One record of a lineage; ``depth`` counts from the oldest."""

    node: GraphNode
    label: Label
    retired: Retirement | None
    judgements: tuple[Judgement, ...]
    supersedes: tuple[str, ...]
    depth: int


@dataclass(frozen=True, slots=True)
class Lineage:
    """Everything a record superseded and everything that superseded it, oldest first."""

    of: str
    versions: tuple[Version, ...]


def explain(mesh: Mesh, id: str) -> Explanation:
    """Why ``id`` stands or has fallen. Raises NotFound."""
    with mesh.locked():
        node = mesh.graph.node(id)
        reasons = tuple(_reason(mesh, ground) for ground in mesh.grounds(id))
        judgements = mesh.judgements(id)
        against = tuple(j for j in judgements if j.verdict == "contradicts" and mesh.stands(j.evidence))
        return Explanation(
            node, mesh.label(id), not reasons, mesh.retired(id), mesh.marks(id),
            tuple(sorted(reasons, key=lambda r: (not r.met, r.ground))), against, judgements,
            tuple(mesh.graph.node(other) for other in mesh.contradicting(id)), mesh.anchors(id), mesh.strength(id),
        )  # fmt: skip


def _reason(mesh: Mesh, ground: Ground) -> Reason:
    premises = [mesh.graph.node(id) for id in ground.all_of]
    up = tuple(node for node in premises if mesh.stands(node.id))
    down = tuple(node for node in premises if not mesh.stands(node.id))
    defeated = tuple(mesh.graph.node(id) for id in ground.none_of if mesh.stands(id))
    return Reason(ground.id, ground.origin, ground.note, mesh.met(ground), up, down, defeated)


def about(mesh: Mesh, code_id: str, locator: str) -> tuple[str, ...]:
    """Ids of what is said about a code node: by an ``about`` edge, or by an anchor at its locator; in order."""
    with mesh.locked():
        edges = mesh.graph.in_edges(code_id, ("about",)) if code_id in mesh.graph else ()
        anchored = {a.node for a in mesh.anchors() if a.anchor.locator == locator}
        return tuple(sorted({edge.src for edge in edges} | anchored))


def lineage(mesh: Mesh, id: str) -> Lineage:
    """The versions of a record, along ``supersedes`` in both directions. Raises NotFound."""
    with mesh.locked():
        mesh.graph.node(id)
        found = _related(mesh, id)
        depths: dict[str, int] = {}
        for one in sorted(found, key=lambda i: (mesh.graph.node(i).at, i)):
            depths[one] = max((depths.get(old, 0) + 1 for old in _older(mesh, one)), default=0)
        versions = (
            Version(
                mesh.graph.node(one), mesh.label(one), mesh.retired(one), mesh.judgements(one),
                tuple(sorted(_older(mesh, one))), depth,
            )
            for one, depth in depths.items()
        )  # fmt: skip
        return Lineage(id, tuple(sorted(versions, key=lambda v: (v.depth, v.node.at, v.node.id))))


def _older(mesh: Mesh, id: str) -> list[str]:
    return [edge.dst for edge in mesh.graph.out_edges(id, ("supersedes",))]


def _related(mesh: Mesh, id: str) -> set[str]:
    found, rim = {id}, [id]
    while rim:
        at = rim.pop()
        beside = _older(mesh, at) + [edge.src for edge in mesh.graph.in_edges(at, ("supersedes",))]
        rim += [other for other in beside if other not in found]
        found.update(beside)
    return found
