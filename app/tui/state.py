"""What the home screen knows: the node in focus, where one has been, what was asked and what was answered.

Who calls: the home screen, which is its only writer. What may not come in: widgets, the workspace.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mog.engine import model as m

KINDS = ("", "function", "class", "method", "const", "test", "file")


@dataclass(slots=True)
class History:
    """Nodes that were in focus, oldest first, and which of them is in focus now."""

    ids: list[str] = field(default_factory=list)
    at: int = -1
    limit: int = 200

    def visit(self, node_id: str) -> None:
        """A new focus: what lay ahead is forgotten."""
        if self.ids and self.at >= 0 and self.ids[self.at] == node_id:
            return
        self.ids = [*self.ids[: self.at + 1], node_id][-self.limit :]
        self.at = len(self.ids) - 1

    def step(self, by: int) -> str | None:
        """The node before (-1) or after (+1), ``None`` at the end."""
        if 0 <= self.at + by < len(self.ids):
            self.at += by
            return self.ids[self.at]
        return None


@dataclass(slots=True)
class State:
    """State of the home screen. ``None`` means: not asked yet, shown as ``?``."""

    hood: m.Neighborhood | None = None
    wanted: str = ""
    level: int = 1
    sides: bool = True
    open: frozenset[str] = frozenset()
    history: History = field(default_factory=History)
    status: m.Status | None = None
    pins: tuple[m.PinState, ...] | None = None
    map: m.MapAnswer | None = None
    grammars: Sequence[m.GrammarInfo] = ()
    hits: m.SearchAnswer | None = None
    took_ms: float = 0.0
    kind: str = ""
    hit_at: int = -1
    watcher: str = "off"
    progress: m.Progress | None = None
    failures: dict[str, str] = field(default_factory=dict)
    health_open: frozenset[str] = frozenset()
    lost: str = ""

    def toggle(self, section: str) -> None:
        """Fold or unfold a section of the graph."""
        self.open = self.open ^ {section}

    def counts(self) -> dict[m.Freshness, int]:
        """Pins by freshness."""
        out = dict.fromkeys(m.Freshness, 0)
        for state in self.pins or ():
            out[state.freshness] += 1
        return out
