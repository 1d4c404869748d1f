"""Caches of a server that may write nothing: what is there is read, what is made stays in memory.

Who calls: ``desk``, for a workspace that is served read-only. What may not come in: answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mog.engine.retrieval.handles import USUAL, Handle, Handles, Way
from mog.engine.retrieval.shelf import Shelf

if TYPE_CHECKING:
    from mog.engine.workspace import Workspace

KEPT = 256


class _Unsaved(Shelf):
    """Words of the files, never saved."""

    def _save(self) -> None:
        self._unsaved = 0


class _Remembered(Handles):
    """Handles of next pages, known to this process alone."""

    def __init__(self, mog_dir: object) -> None:
        super().__init__(mog_dir)  # type: ignore[arg-type]
        self._made: dict[str, Handle] = {}

    def _write(self, digest: str, body: bytes) -> None:
        return None

    def create(self, query: str, pinned: Sequence[str] = (), way: Way = USUAL) -> Handle:
        made = super().create(query, pinned, way)
        while len(self._made) >= KEPT:
            del self._made[next(iter(self._made))]
        self._made[made.name] = made
        return made

    def load(self, name: str) -> Handle:
        return self._made.get(name) or super().load(name)


def unwritten(workspace: Workspace) -> None:
    """Have the context of a workspace save nothing."""
    context = workspace.context
    context.handles = _Remembered(workspace.mog_dir)
    context._shelf = _Unsaved(workspace.mog_dir, workspace.config)
