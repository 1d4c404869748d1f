"""How walked things are: of each id or locator a short word that is another one as soon as it is no longer as it was.

Who calls: ``workspace`` for whoever records what an answer walked, and for whoever compares later. What may not come in: verdicts,
text, reading files. A mark of code says which bytes its *file* had in the index; of a belief how it stands. It is cheap, because it
is made of every answer; it tells that a file changed, not which symbol of it.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mog.engine.errors import NotFound, UsageError
from mog.engine.ids import parse_locator

if TYPE_CHECKING:
    from mog.engine.code.view import CodeView
    from mog.engine.model import Node
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.records import GraphNode

GONE = "gone"
_ID = re.compile(r"(?:note:)?([0-9a-f]{32})")
CODE = ("sym:", "file:")


def belief_of(target: str) -> str:
    """The id of a belief or note that a target is, "" for anything else."""
    match = _ID.fullmatch(target)
    return match[1] if match else ""


def of_code(view: CodeView, target: str) -> str:
    """Which bytes the file of a locator has in the index, ``gone`` when it is not there, "" for what is no code."""
    if not target.startswith(CODE):
        return ""
    try:
        row = view.file_at(parse_locator(target).path)
    except (UsageError, UnicodeEncodeError, ValueError):
        return ""
    if row is None:
        return GONE
    digest = row.facts or row.oid or row.digest
    return digest[:8].hex() if digest else f"{row.size}.{row.mtime_ns}"[:32]


def of_belief(mesh: Mesh, target: str) -> str:
    """How a belief stands, ``gone`` when there is none of that id."""
    try:
        return str(mesh.label(belief_of(target)))
    except (NotFound, KeyError):
        return GONE


def now(targets: Sequence[str], view: CodeView | None, mesh: Mesh | None) -> tuple[str, ...]:
    """A mark for each target; "" where nothing is known, or nobody is there to ask."""
    found = []
    for target in targets:
        if belief_of(target):
            found.append(of_belief(mesh, target) if mesh is not None else "")
        else:
            found.append(of_code(view, target) if view is not None else "")
    return tuple(found)


def named(targets: Sequence[str], view: CodeView | None, mesh: Mesh | None) -> dict[str, Node | GraphNode]:
    """The node of the code or the record that each target is; those that are not there are left out. Decodes no documentation."""
    found: dict[str, Node | GraphNode] = {}
    for target in targets:
        id = belief_of(target)
        if id and mesh is not None:
            with contextlib.suppress(NotFound, KeyError):
                found[target] = mesh.graph.node(id)
        if target not in found and view is not None:
            node = view.named(target)
            if node is not None:
                found[target] = node
    return found
