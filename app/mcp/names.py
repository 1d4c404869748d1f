"""What tool bodies share: how a record or a piece of code stands in a row. No tool lives here.

Who calls: ``tools_*`` and ``resources``. What may not come in: rules of standing, caps.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, TypeVar

from mog.app.mcp.answers import brief

if TYPE_CHECKING:
    from mog.engine.model import Node
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.records import GraphNode

T = TypeVar("T")
DIGITS = 12
WORDS = 120
_UID = re.compile(r"[0-9a-f]{32}")


def short(id: str) -> str:
    """The first digits of an id, enough to ask again with; an id that came from elsewhere in full."""
    return id[:DIGITS] if _UID.fullmatch(id) else id


def standing(mesh: Mesh, id: str) -> str:
    """Label of a record, "" when there is no such record."""
    return str(mesh.label(id)) if mesh.graph.get(id) is not None else ""


def record(mesh: Mesh, id: str, *, words: int = WORDS) -> dict[str, Any]:
    """A record in a row: id, type, kind, standing, words."""
    found = mesh.graph.get(id)
    if found is None:
        return {"id": short(id), "type": "", "text": ""}
    return of_node(found, standing(mesh, id), words=words)


def of_node(node: GraphNode, label: str, *, words: int = WORDS) -> dict[str, Any]:
    """A record whose label is known, in a row."""
    row = {"id": short(node.id), "type": node.type}
    if node.kind not in ("", node.type):
        row["kind"] = node.kind
    return {**row, "standing": label, "text": brief(node.label, words)}


def spoken(row: dict[str, Any]) -> str:
    """A record's row as the middle of a line: ``claim 4f2a19c0de12 [standing] words``."""
    kind = f"{row['type']}:{row['kind']}" if row.get("kind") else row["type"]
    return f"{kind} {row['id']} [{row.get('standing') or '-'}] {row['text']}"


def code(node: Node) -> dict[str, Any]:
    """A piece of code in a row."""
    row: dict[str, Any] = {"at": node.locator, "kind": node.kind}
    if node.line:
        row["line"] = node.line
    return row


def count(number: int, word: str) -> str:
    """``1 note``, ``2 notes``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
