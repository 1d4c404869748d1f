"""Answers of retrieval as JSON objects, safe to print: packs, the catalog, the prompt pack, scopes, handles.

Who calls: ``app/cli`` and, for structured results, ``app/mcp``. What may not come in: asking the workspace, writing to a stream.
Keys are listed in docs/json.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from mog.app.present import Block, JsonObject, clean_tree
from mog.engine.model import Node
from mog.engine.retrieval.model import Hop, Item, Pack

if TYPE_CHECKING:
    from mog.engine.retrieval.handles import Handle
    from mog.engine.retrieval.shapes import Catalog, PromptPack, Scope


def pack(made: Pack) -> JsonObject:
    """A pack: what was asked, the items with their texts, what they cost, what was left out and how to get it."""
    return clean_tree(  # type: ignore[no-any-return]
        {
            "index": _plain(made.index),
            "query": made.query,
            "items": [item(one) for one in made.items],
            "budget": made.budget,
            "tokens": made.tokens,
            "bytes": made.size,
            "estimator": made.estimator,
            "found": made.found,
            "omitted": dict(made.omitted),
            "needed": made.needed,
            "page": made.page,
            "warnings": list(made.warnings),
            "boundary": _plain(made.boundary),
        }
    )


def item(one: Item) -> JsonObject:
    """One item of a pack."""
    return {
        "id": one.id, "kind": one.kind, "zoom": one.zoom.name, "freshness": one.freshness.value, "tier": one.tier.name,
        "label": one.label, "pinned": one.pinned, "tokens": one.tokens, "bytes": one.size, "text": Block(one.text),
        "score": round(one.score, 4) if one.score != float("inf") else None,
        "parts": {name: round(value, 4) for name, value in one.parts.items()}, "path": [_hop(hop) for hop in one.path],
        "provenance": one.provenance, "warnings": list(one.warnings),
    }  # fmt: skip


def _hop(hop: Hop) -> JsonObject:
    return {"from": hop.node.locator, "edge": hop.kind, "tier": hop.tier.name, "outgoing": hop.outgoing}


def shape(made: Catalog | PromptPack | Scope) -> JsonObject:
    """A catalog, prompt pack or scope, with its own field names."""
    return clean_tree(_plain(made))  # type: ignore[no-any-return]


def record(made: object) -> JsonObject:
    """A record of snapshots (a snapshot, a version, a report, an annotation) with its own field names."""
    return clean_tree(_plain(made))  # type: ignore[no-any-return]


def handle(made: Handle) -> JsonObject:
    """A handle and what it stands for."""
    return clean_tree({"handle": made.name, "query": made.query, "pinned": list(made.pinned)})  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    """Records, mappings and sequences as plain JSON values."""
    if isinstance(value, Node):
        return value.locator
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(one) for one in value]
    return value
