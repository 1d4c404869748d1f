"""Records that share most of their words with a text that is about to be recorded.

Who calls: ``workspace``, for the person who is asked whether to record it. What may not come in: verdicts; a likeness is shown, never
resolved.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mog.engine.memory import wording

if TYPE_CHECKING:
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.records import GraphNode

TYPES = frozenset({"claim", "assumption", "decision", "evidence"})
LEAST = 0.4  # share of words in common
LOOKED_AT = 4_000  # records, the newest
LONGEST = 4_000  # characters that are looked at


def nearest(mesh: Mesh, text: str, limit: int = 3) -> tuple[tuple[GraphNode, float], ...]:
    """Standing records most like a text, with the share of all words of the two that they have in common (0..1), most first.

    Source: Jaccard, as for notes (``wording.overlap``).
    """
    mine = wording.said("", 0, "", text[:LONGEST])
    with mesh.locked():
        known = [one for one in mesh.tables.nodes.values() if one.type in TYPES]
        known = sorted(known, key=lambda one: -one.at)[:LOOKED_AT]
        found = [(one, wording.overlap(mine, wording.said(one.id, 0, "", one.label[:LONGEST]))) for one in known]
        kept = [(one, share) for one, share in found if share >= LEAST and mesh.stands(one.id)]
    return tuple(sorted(kept, key=lambda row: (-row[1], row[0].id))[:limit])
