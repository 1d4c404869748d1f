"""Edges as plain records for scripts: one place for the contract of ``mog export edges``. Called by ``workspace``.

What may not come in: files, rendering. Lines are those of definitions; 0 stands for module level.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from mog.engine.code.view import CodeView
from mog.engine.model import Tier
from mog.engine.store import blobs
from mog.engine.store.schema import SPACE_EDGE


def edges(view: CodeView, kind: str) -> Iterator[dict[str, str]]:
    """Every edge of one type between things of the repository: ``caller``, ``callee`` (``path:line``), ``name``, ``tier``,
    and ``known_by`` for those that a SCIP index told.

    Raises:
        OntologyError: GRAPH.md has no such edge type.
    """
    view.ontology.edge(kind)
    number = next((code for code, word in view.db.codes(SPACE_EDGE).items() if word == kind), 0)
    places, names = _places(view), dict(view.db.rows("SELECT id, text FROM names"))
    for _, blob in view.db.edges_all():
        for src, dst, code, name in blobs.unpack_edges(blob):
            if code & 0xFF == number and src in places and dst in places:
                tier = Tier(blobs.tier_of(code)).name
                known = {"known_by": "scip"} if blobs.is_from_scip(code) else {}
                yield {"caller": places[src], "callee": places[dst], "name": names.get(name, ""), "tier": tier} | known


def _places(view: CodeView) -> dict[int, str]:
    """Key of a file or symbol → ``path:line``."""
    sql = "SELECT n.id, f.path, n.line FROM nodes n JOIN files f ON f.id = n.file"
    return {key: f"{os.fsdecode(path)}:{line}" for key, path, line in view.db.rows(sql)}


