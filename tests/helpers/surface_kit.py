"""Surfaces of an index as plain text, for tests of the rule packs."""

from __future__ import annotations

from pathlib import Path

from mog.engine.workspace import Workspace


def surfaces(root: Path, role: str = "") -> dict[str, str]:
    """``role name`` → qualified name (or path) of what stands behind it, "" where only a file announces it; after indexing ``root``."""
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        answer = workspace.contracts(role=role, limit=1_000)
    return {
        f"{row.node.signature} {row.node.name}": next((one.qual or one.path for one in row.behind), "")
        for row in answer.rows
    }


def picture(root: Path, full: bool = False) -> dict[str, object]:
    """Everything an index says about surfaces: rows, users, packs, edges by name, and the hash of the whole graph."""
    with Workspace.open(root) as workspace:
        report = workspace.index(workers=1, full=full)
        answer = workspace.contracts(limit=1_000)
        kinds = ("implements", "declares", "touches", "configures", "references")
        edges = sorted(str(sorted(row.items())) for kind in kinds for row in workspace.export_edges(kind))
        rows = [
            (row.node.id, row.node.name, row.files, [one.locator for one in row.behind], dict(row.used))
            for row in answer.rows
        ]
        found = [hit.node.locator for hit in workspace.search("users", limit=50, kind="surface").hits]
    packs = [(one.name, one.files, one.found, one.unread) for one in answer.packs]
    return {"hash": report.facts_hash, "rows": rows, "packs": packs, "edges": edges, "found": sorted(found)}
