"""When something became known: two clocks that are never merged. Called by ``as_of`` and ``temporal``.

*Source time* is the date a source carries (``retrieved_at``, strictly YYYY-MM-DD); what comes from a source inherits it.
*Processing time* is the number of the event that recorded it. A source of January may be read in June, and an assumption
has no source at all. What may not come in: the clock of this machine, guesses. What has no date is ``undated``, and stays so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from mog.engine.errors import UsageError
from mog.engine.reason.records import GraphNode
from mog.engine.reason.v1.packing import extras_of

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh

_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")


class Horizon(StrEnum):
    """Where something lies, seen from a day: dated up to and on it, dated after it, or without a date."""

    then = "then"
    later = "later"
    undated = "undated"


@dataclass(frozen=True, slots=True)
class Dated:
    """When a node became known, and why that is said.

    Attributes:
        when: a day, or None.
        via: ``self``, ``provenance``, the type of the edge that led to the source, or ``none``.
        source: id of the source that carries the date, "" when there is none.
    """

    when: date | None = None
    via: str = "none"
    source: str = ""


def parse_day(value: object) -> date:
    """A day of ``YYYY-MM-DD``, or a date as it is. Raises UsageError on anything else."""
    if isinstance(value, date):
        return value
    found = day_of(value)
    if found is None:
        raise UsageError(f"{value!r:.40} is not a day", where="as of", way_out="write YYYY-MM-DD")
    return found


def day_of(value: object) -> date | None:
    """The same, None for what is not a day."""
    if not isinstance(value, str) or not _DATE.fullmatch(value):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def recorded_by(node: GraphNode, other: GraphNode) -> bool:
    """Whether ``node`` was recorded no later than ``other``: by event, and of two imported nodes by the build of their file."""
    one, two = extras_of(node.attrs), extras_of(other.attrs)
    if "at" in one and "at" in two:
        created = one.get("assumption", {}).get("created_at_build", 0) if node.type == "assumption" else one.get("build", 0)
        return bool(created <= two.get("build", 0))
    return node.at <= other.at


class Timeline:
    """Source time of the nodes of a mesh, found when asked for and then remembered. For one locked read of the mesh."""

    def __init__(self, mesh: Mesh) -> None:
        self._tables = mesh.tables
        self._known: dict[str, Dated] = {}

    def dated(self, id: str) -> Dated:
        """When a node became known; without a date for what is not there."""
        found = self._known.get(id)
        if found is None:
            node = self._tables.nodes.get(id)
            found = self._known[id] = self._find(node) if node is not None else Dated()
        return found

    def horizon(self, id: str, day: date) -> Horizon:
        """Where a node lies, seen from ``day``."""
        when = self.dated(id).when
        if when is None:
            return Horizon.undated
        return Horizon.then if when <= day else Horizon.later

    def _find(self, node: GraphNode) -> Dated:
        if node.type == "source":
            return Dated(day_of(node.attrs.get("retrieved_at")), "self", node.id)
        told = self._told(node)
        if node.type == "decision" and told:
            return told[0]  # it was made when its source says, however old what it cites
        found = told + self._linked(node)
        dated = [d for d in found if d.when is not None]
        if not dated and node.type == "entity":
            dated = [d for d in self._makers(node.id) if d.when is not None]
        if dated:
            return min(dated, key=lambda d: (d.when, d.source, d.via))
        return found[0] if found else Dated()

    def _told(self, node: GraphNode) -> list[Dated]:
        source = node.provenance.source_id if node.provenance else node.attrs.get("source")
        if not isinstance(source, str) or source not in self._tables.nodes:
            return []
        return [Dated(day_of(self._tables.nodes[source].attrs.get("retrieved_at")), "provenance", source)]

    def _linked(self, node: GraphNode) -> list[Dated]:
        found = []
        for edge in self._tables.out.get(node.id, ()):
            if edge.kind in ("derived_from", "cites") and self._tables.nodes[edge.dst].type == "source":
                day = day_of(self._tables.nodes[edge.dst].attrs.get("retrieved_at"))
                found.append(Dated(day, edge.kind, edge.dst))
        return found

    def _makers(self, entity: str) -> Iterable[Dated]:
        """What a decision brought into being was not there before the first such decision."""
        for edge in self._tables.into.get(entity, ()):
            if edge.kind == "produces":
                made = self.dated(edge.src)
                yield Dated(made.when, "produces", made.source)
