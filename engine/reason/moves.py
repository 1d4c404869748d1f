"""Rows of a blast radius: what moved by whom, and what only weakened.

Who calls: ``radius`` makes them, surfaces read them. What may not come in: how they are found.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True, slots=True)
class Move:
    """A node that fell or rose.

    Attributes:
        id: the node.
        hop: steps from where the change began; 0 for what the change itself names.
        parent: the node that moved it; at hop 0 the defeater, or "" when it was retired or a ground of it rewritten.
        via: the ground that was lost (a fall) or met (a rise) through the parent; "" through a defeater.
    """

    id: str
    hop: int
    parent: str
    via: str


@dataclass(frozen=True, slots=True)
class Weakening:
    """A node that lost a ground and stands all the same.

    Attributes:
        id: the node.
        lost: the ground it lost, the first by id.
        because: the first met ground by id that does not rest on the node itself; "" when it needs none any more.
    """

    id: str
    lost: str
    because: str


class Moves(Sequence[Move]):
    """Rows in order of hop, then id; kept as columns, made into rows when asked for."""

    __slots__ = ("_at", "_hops", "_ids", "_parents", "_vias")

    def __init__(
        self,
        ids: Sequence[str] = (),
        hops: Iterable[int] = (),
        parents: Sequence[str] = (),
        vias: Sequence[str] = (),
    ) -> None:
        self._ids, self._hops, self._parents, self._vias = ids, array("i", hops), parents, vias
        self._at: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self._ids)

    @overload
    def __getitem__(self, at: int) -> Move: ...
    @overload
    def __getitem__(self, at: slice) -> list[Move]: ...
    def __getitem__(self, at: int | slice) -> Move | list[Move]:
        if isinstance(at, slice):
            return [self[one] for one in range(*at.indices(len(self)))]
        return Move(self._ids[at], self._hops[at], self._parents[at], self._vias[at])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Moves):
            return NotImplemented
        mine = (self._ids, self._hops, self._parents, self._vias)
        return mine == (other._ids, other._hops, other._parents, other._vias)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Moves({list(self)!r})"

    def find(self, node: str) -> Move | None:
        """The row of a node, if it has one."""
        if self._at is None:
            self._at = {name: at for at, name in enumerate(self._ids)}
        at = self._at.get(node)
        return None if at is None else self[at]

    def hops(self) -> tuple[tuple[int, int], ...]:
        """(hop, how many) in order of hop."""
        return tuple(sorted(Counter(self._hops).items()))

    def at_hop(self, hop: int) -> list[Move]:
        """The rows of one hop."""
        return self[bisect_left(self._hops, hop) : bisect_right(self._hops, hop)]

    def ids(self) -> Sequence[str]:
        """The nodes alone, in the same order."""
        return tuple(self._ids)
