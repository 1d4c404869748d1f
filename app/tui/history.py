"""Where one has been in the graph, to go back and on.

Who calls: the graph's pane. What may not come in: widgets, the workspace.
"""

from __future__ import annotations

from dataclasses import dataclass, field


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
