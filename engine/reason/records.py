"""The records of the reason layer and their stored form. Shared by every room of ``reason`` and by ``engine/graph``.

What may not come in: rules, files, anything derived. A label is never part of a record. The stored form is canonical
JSON of plain values; what it holds was checked when it was written, and is checked again when events are replayed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from sys import intern
from types import MappingProxyType
from typing import Any

import msgspec

from mog.engine import ids
from mog.engine.errors import StoreDamaged
from mog.engine.model import Anchor
from mog.engine.values import freeze

NO_ATTRS: Mapping[str, Any] = MappingProxyType({})
WORK = ("task", "trace", "run")
"""Tables of the executor: plain JSON, whose meaning is its own."""
ADVISORY = "annotation"
"""Kind of a claim that somebody's model made of code: advice. No walk answers with it, and its drift is nobody's evidence."""
ANCHOR_TEXTS = ("locator", "kind", "span_hash", "body_hash", "grammar")


class Label(StrEnum):
    """What standing a node has; of several that apply, the first in this order."""

    fallen = "fallen"
    unverified = "unverified"
    contested = "contested"
    weakened = "weakened"
    standing = "standing"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a claim or decision came from: a source node, the span in it, what lifted it and what checked it."""

    source_id: str
    span: tuple[int, int] | None = None
    extractor: str = "rule"
    checks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GraphNode:
    """A node of the graph; ``attrs`` is read-only plain JSON, ``at`` the number of the event that recorded it (0: none)."""

    id: str
    type: str
    kind: str
    label: str
    attrs: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRS)
    provenance: Provenance | None = None
    at: int = 0


@dataclass(frozen=True, slots=True)
class GraphEdge:
    """An edge of the graph; ``role`` tells apart edges of one type between the same two nodes."""

    id: str
    kind: str
    src: str
    dst: str
    role: str = ""
    weight: float = 0.5
    attrs: Mapping[str, Any] = field(default_factory=lambda: NO_ATTRS)

    @property
    def assumption(self) -> str:
        """Id of the assumption the edge is bound to; "" when it is bound to none."""
        bound = self.attrs.get("assumption", "")
        return bound if isinstance(bound, str) else ""


@dataclass(frozen=True, slots=True)
class Ground:
    """One reason a conclusion may stand: all of these stand and none of those does (GRAPH.md rule 2).

    ``origin`` says who gave it; grounds that edges compile to have the origin ``edges`` and are not stored.
    """

    id: str
    conclusion: str
    all_of: tuple[str, ...]
    none_of: tuple[str, ...] = ()
    origin: str = "person"
    note: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an auditor found about a piece of evidence: it contradicts its target, or it does not (``dismissed``)."""

    id: str
    evidence: str
    target: str
    verdict: str
    auditor: str
    reason: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class Retirement:
    """Why a node no longer counts: superseded, retracted or withdrawn. A pruned one still counts, but is not walked."""

    node: str
    how: str
    reason: str = ""
    by: str = ""
    at: int = 0


@dataclass(frozen=True, slots=True)
class Anchored:
    """A node of the reason layer bound to code as it was when it was recorded."""

    id: str
    node: str
    anchor: Anchor
    at: int = 0


# -- the stored form


def thaw(value: Any) -> Any:
    """Plain JSON of a frozen value."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return {k: thaw(v) for k, v in value.items()}
    return [thaw(v) for v in value] if isinstance(value, list | tuple) else value


def node_json(node: GraphNode) -> list[Any]:
    """Plain JSON of a node: id, type, kind, label, attributes, provenance, number of the event."""
    p = node.provenance
    lifted = None if p is None else [p.source_id, list(p.span) if p.span else None, p.extractor, list(p.checks)]
    return [node.id, node.type, node.kind, node.label, thaw(node.attrs), lifted, node.at]


def provenance_of(value: Any) -> Provenance | None:
    """The provenance of its JSON."""
    if value is None:
        return None
    source, span, extractor, checks = value
    start_end = (int(span[0]), int(span[1])) if span is not None else None
    return Provenance(intern(source), start_end, intern(extractor), tuple(str(check) for check in checks))


def _node_of(key: str, value: Any) -> GraphNode:
    _, type, kind, label, attrs, lifted, at = value
    return GraphNode(key, intern(type), intern(kind), label, freeze(attrs) if attrs else NO_ATTRS, provenance_of(lifted), at)


def _edge_json(edge: GraphEdge) -> list[Any]:
    return [edge.kind, edge.src, edge.dst, edge.role, edge.weight, thaw(edge.attrs)]


def _edge_of(key: str, value: Any) -> GraphEdge:
    kind, src, dst, role, weight, attrs = value
    ends = intern(src), intern(dst)  # each id stands in many edges
    return GraphEdge(key, intern(kind), *ends, intern(role), float(weight), freeze(attrs) if attrs else NO_ATTRS)


def anchor_json(anchor: Anchor) -> dict[str, Any]:
    """JSON of an anchor; its terms are words of the file's bytes, so what is not UTF-8 in them is escaped."""
    data: dict[str, Any] = {name: getattr(anchor, name) for name in ANCHOR_TEXTS}
    return {**data, "terms": [ids.escape(term) for term in anchor.terms], "twins": list(anchor.twins)}


def anchor_of(data: Mapping[str, Any]) -> Anchor:
    """The anchor of its JSON. Raises KeyError, TypeError or ValueError when it is of no known form."""
    locator, kind, span_hash, body_hash, grammar = (_text(data[name]) for name in ANCHOR_TEXTS)
    terms = tuple(ids.unescape(_text(term)) for term in data["terms"])
    return Anchor(locator, kind, span_hash, body_hash, grammar, terms, tuple(_text(twin) for twin in data["twins"]))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, not {type(value).__name__}")
    return value


def _fields(record: Any) -> list[Any]:
    return [list(v) if isinstance(v, tuple) else v for v in (getattr(record, n) for n in type(record).__slots__)]


def _ground_of(key: str, value: Any) -> Ground:
    id, conclusion, all_of, none_of, origin, note = value
    return Ground(id, conclusion, tuple(all_of), tuple(none_of), origin, note)


_FORMS: dict[str, tuple[Callable[[Any], Any], Callable[[str, Any], Any]]] = {
    "node": (node_json, _node_of),
    "edge": (_edge_json, _edge_of),
    "ground": (_fields, _ground_of),
    "judgement": (_fields, lambda _, v: Judgement(*v)),
    "retired": (_fields, lambda _, v: Retirement(*v)),
    "anchor": (
        lambda a: [a.id, a.node, anchor_json(a.anchor), a.at],
        lambda _, v: Anchored(v[0], v[1], anchor_of(v[2]), v[3]),
    ),
    "mark": (list, lambda _, v: tuple(v)),
    "alias": (str, lambda _, v: str(v)),
    "split": (bool, lambda _, v: bool(v)),
    **dict.fromkeys(WORK, (thaw, lambda _, v: freeze(v))),
}
TABLES = tuple(_FORMS)
_text_of = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode


def encode(table: str, value: Any) -> bytes:
    """The stored form of a record: JSON with sorted keys, no spaces, UTF-8."""
    return _text_of(_FORMS[table][0](value)).encode("utf-8")


def decode(table: str, key: str, body: bytes) -> Any:
    """The record of a stored form. Raises StoreDamaged when it is of no known form."""
    try:
        return _FORMS[table][1](intern(key), msgspec.json.decode(body))
    except (KeyError, TypeError, ValueError, IndexError, RecursionError) as error:
        what = f"a {table} record is of no known form"
        raise StoreDamaged(what, where="ledger.db", way_out="run `mog doctor --repair`") from error
