"""How much a reader would have had to read: the whole text of the sources behind some nodes. Called by the walker.

What may not come in: invented baselines. A source that states its length (attribute ``chars``, or its ``text``) counts with
it; of any other only the claims lifted from it are known, which is less than the whole and said to be so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mog.engine.graph import GraphNode
from mog.engine.reason.index import MeshView
from mog.engine.reason.walks import tokens_of_length

MAX_NODES = 32  # nodes whose sources are counted
KEPT = 4_096


@dataclass(frozen=True, slots=True)
class Reading:
    """Tokens of the sources, and whether their lengths were known (``text``) or only their claims' (``claims``)."""

    tokens: int
    basis: str


class Sources:
    """Lengths of sources, kept until the mesh changes."""

    def __init__(self, mesh: MeshView) -> None:
        self._mesh = mesh
        self._revision = -1
        self._known: dict[str, Reading] = {}

    def reading(self, nodes: Iterable[str]) -> Reading:
        """What a reader of the sources of ``nodes`` (the first 32) would read. The mesh's lock is held."""
        if self._revision != self._mesh.revision or len(self._known) > KEPT:
            self._known, self._revision = {}, self._mesh.revision
        found = sorted({source for id in list(nodes)[:MAX_NODES] for source in self._of(id)})
        readings = [self._one(source) for source in found]
        if not readings:
            return Reading(0, "")
        whole = all(reading.basis == "text" for reading in readings)
        return Reading(sum(reading.tokens for reading in readings), "text" if whole else "claims")

    def _of(self, id: str) -> set[str]:
        ends = (edge.dst for edge in self._mesh.graph.out_edges(id, ("derived_from", "cites")))
        nodes = [self._mesh.graph.get(end) for end in ends]
        return {node.id for node in nodes if node is not None and node.type == "source"}

    def _one(self, source: str) -> Reading:
        known = self._known.get(source)
        if known is None:
            node = self._mesh.graph.get(source)
            known = self._known[source] = self._measure(node) if node is not None else Reading(0, "claims")
        return known

    def _measure(self, node: GraphNode) -> Reading:
        chars, text = node.attrs.get("chars"), node.attrs.get("text")
        if isinstance(chars, int) and chars >= 0:
            return Reading(tokens_of_length(chars), "text")
        if isinstance(text, str):
            return Reading(tokens_of_length(len(text)), "text")
        lifted = (self._mesh.graph.get(edge.src) for edge in self._mesh.graph.in_edges(node.id, ("derived_from",)))
        total = sum(len(claim.label) for claim in lifted if claim is not None and claim.type == "claim")
        return Reading(tokens_of_length(total), "claims")
