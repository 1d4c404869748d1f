"""Names a person typed, checked before the question is asked; a slip is answered with the nearest name there is.

Who calls: verbs that take an edge type, a node kind or a target. What may not come in: rules about those names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, TypeVar

from mog.app.present import restore
from mog.engine.errors import MogError, NotFound, UsageError

if TYPE_CHECKING:
    from mog.engine.workspace import Workspace

Answer = TypeVar("Answer")
LOOKED_AT = 60


def edge_types(workspace: Workspace, names: Iterable[str]) -> None:
    """Refuse a name that GRAPH.md has no edge type for.

    Raises:
        UsageError: with the nearest name.
    """
    for name in names:
        _known("edge type", name, workspace.ontology.edge_types)


def node_kind(workspace: Workspace, name: str) -> None:
    """Refuse a kind that no node type has; "" asks for all.

    Raises:
        UsageError: with the nearest name.
    """
    if name:
        _known("kind", name, {kind for row in workspace.ontology.node_types.values() for kind in row.kinds})


def aimed(workspace: Workspace, ask: Callable[[str], Answer], target: str) -> Answer:
    """``ask(target)``; where nothing answers, once more with the escapes of our own output turned back into characters.

    Raises:
        NotFound: neither spelling is known; the way out names the nearest node.
    """
    try:
        return ask(target)
    except NotFound as missing:
        spelled = restore(target)
        if spelled != target:
            return aimed(workspace, ask, spelled)
        near = _nearest_node(workspace, target)
        if near:
            raise NotFound(missing.what, where=missing.where, way_out=f"the nearest is {near}") from missing
        raise


def _known(what: str, name: str, names: Collection[str]) -> None:
    if name not in names:
        near = nearest(name, names)
        way_out = f"the nearest is {near}" if near else "there are " + ", ".join(sorted(names))
        raise UsageError(f"there is no {what} {name}", way_out=way_out)


def nearest(name: str, names: Iterable[str], cutoff: float = 0.5) -> str:
    """The name most like ``name``, "" when none is."""
    import difflib

    close = difflib.get_close_matches(name, list(names), n=1, cutoff=cutoff)
    return close[0] if close else ""


def _nearest_node(workspace: Workspace, target: str) -> str:
    """Among what search finds for the beginnings of the name's last words: the locator of the one spelled most like it."""
    for word in reversed(re.findall(r"\w{3,}", target)[-3:]):
        try:
            hits = workspace.search(word[: max(3, len(word) * 2 // 3)], limit=LOOKED_AT).hits
        except MogError:
            return ""
        nodes = [hit.node for hit in hits]
        spellings = {node.path: f"file:{node.path}" for node in nodes if node.path}
        spellings |= {name: node.locator for node in nodes for name in (node.locator, node.qual, node.name) if name}
        near = nearest(target, spellings, cutoff=0.7)
        if near:
            return spellings[near]
    return ""
