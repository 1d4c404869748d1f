"""The operations on the state: each checks GRAPH.md and its own rule, then changes records. Called by the writer and the fold.

What may not come in: clocks, files, labels, the order of anything but the arguments. An operation is a JSON list, name
first. Those that take something away carry what they take, so each has an exact inverse (``inverse``), and undoing an
event is an event like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mog.engine import ids
from mog.engine.errors import NotFound, OntologyError, StoreDamaged, UsageError
from mog.engine.model import Anchor, Node
from mog.engine.ontology import Ontology
from mog.engine.reason.records import (
    NO_ATTRS,
    WORK,
    Anchored,
    GraphEdge,
    GraphNode,
    Ground,
    Judgement,
    Retirement,
    anchor_of,
    provenance_of,
    thaw,
)
from mog.engine.reason.tables import Tables
from mog.engine.values import freeze, plain, settled

MAX_LABEL_BYTES = 16_000
MAX_TEXT_BYTES = 65_536  # of evidence, which is kept as it was said
MAX_ATTRS = 256
EVENT_TYPE = "decision"  # GRAPH.md rule 9
HOWS = ("superseded", "retracted", "withdrawn", "pruned")
VERDICTS = ("contradicts", "dismissed")
MARKS = ("failed", "ungrounded")

Op = list[Any]


def apply(tables: Tables, ontology: Ontology, op: Op) -> None:
    """Apply one operation.

    Raises:
        OntologyError: GRAPH.md forbids it. NotFound: it names what is not there. UsageError: a value that cannot be meant.
        StoreDamaged: it is of no known form.
    """
    try:
        name, *args = op
        act = _ACTS[name]
        act(tables, ontology, *args)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        known = op[0] if isinstance(op, list | tuple) and op else op
        way_out = "upgrade mog, or run `mog doctor`"
        raise StoreDamaged(f"an operation of no known form: {known!r:.60}", where="ledger.db", way_out=way_out) from error


# -- nodes


def put_node(tables: Tables, ontology: Ontology, new: GraphNode) -> GraphNode:
    """Add a node, or see it again: type, kind and label must agree, attributes are merged in.

    Raises: as ``apply``.
    """
    old = tables.nodes.get(new.id)
    node = replace(new, label=text(new.label, _limit(new.type)), attrs=frozen_attrs(new.attrs), at=old.at if old else tables.seq)
    if old is not None:
        node = replace(node, attrs=_again(old, node), provenance=old.provenance or node.provenance)
    _check(tables, ontology, node)
    if node != old:
        tables.put("node", node.id, node)
    return tables.nodes[node.id]


def derive_id(tables: Tables, ontology: Ontology, repo: str, type: str, kind: str, label: str) -> str:
    """The id that type, kind and label give; of a decision, which is an event, the first that is free."""
    if ontology.node(type).layer == "code":
        raise OntologyError(f"a {type} needs the id the index gave it", where=label, way_out="pass id=")
    label, ordinal = text(label, _limit(type)), 0
    if type == EVENT_TYPE:
        while ids.node_uid(repo, type, kind, "", label, ordinal).hex() in tables.nodes:
            ordinal += 1
    return ids.node_uid(repo, type, kind, "", label, ordinal).hex()


def code_node(ontology: Ontology, code: Node, anchor: Anchor) -> GraphNode:
    """The node of the reason graph that stands for a code node: its id and what its type must carry."""
    attrs = {"locator": anchor.locator, "span_hash": anchor.span_hash, "content_hash": anchor.span_hash}
    carried = ontology.node(code.type).must_carry
    kept = {name: value for name, value in attrs.items() if name == "locator" or name in carried}
    return GraphNode(code.id, code.type, code.kind, ids.escape(code.qual or code.name or code.path), kept)


def _again(old: GraphNode, new: GraphNode) -> Mapping[str, Any]:
    if (old.type, old.kind, old.label) != (new.type, new.kind, new.label):
        raise ids.collision(old.id, f"{old.type} {old.label}", f"{new.type} {new.label}")
    if old.type == EVENT_TYPE:
        way_out = "record another decision that supersedes it"
        raise OntologyError("a decision is an event and is never changed", where=old.id, way_out=way_out)
    if all(name in old.attrs and old.attrs[name] == value for name, value in new.attrs.items()):
        return old.attrs
    merged: Mapping[str, Any] = freeze({**old.attrs, **new.attrs})
    return merged


def _check(tables: Tables, ontology: Ontology, node: GraphNode) -> None:
    carried = set(node.attrs) - {"provenance"} | ({"provenance"} if node.provenance else set())
    ontology.check_node(node.type, node.kind, carried)
    if node.provenance is not None:
        source = tables.nodes.get(node.provenance.source_id)
        if source is None or source.type != "source":
            what = f"provenance names {node.provenance.source_id!r}, which is no source here"
            raise OntologyError(what, where=node.label[:60], way_out="add the source first")


def _node(tables: Tables, ontology: Ontology, id: str, type: str, kind: str, label: str, attrs: Any, lifted: Any) -> None:
    put_node(tables, ontology, GraphNode(id, type, kind, label, attrs, provenance_of(lifted)))


def _set_attrs(tables: Tables, ontology: Ontology, id: str, new: Mapping[str, Any], old: Mapping[str, Any]) -> None:
    node = existing(tables, id)
    if node.type == EVENT_TYPE:
        raise OntologyError("a decision is an event and is never changed", where=id, way_out="record another that supersedes it")
    left = {name: value for name, value in node.attrs.items() if name in new or name not in old}
    changed = replace(node, attrs=frozen_attrs({**left, **new}))
    _check(tables, ontology, changed)
    tables.put("node", id, changed)


# -- edges


def put_edge(
    tables: Tables, ontology: Ontology, kind: str, src: str, dst: str, role: str = "", attrs: Mapping[str, Any] | None = None
) -> GraphEdge:
    """Add an edge; the same edge again is the first. Raises as ``apply``."""
    row = ontology.check_edge(kind, existing(tables, src).type, existing(tables, dst).type)
    if src == dst:
        raise OntologyError(f"{kind} from a node to itself", where=src, way_out="name two different nodes")
    id = ids.edge_uid(kind, src, dst, text(role)).hex()
    known = tables.edges.get(id)
    if known is not None:
        return known
    edge = GraphEdge(id, row.symbol, src, dst, role, row.weight, frozen_attrs(attrs))
    _check_binding(tables, edge.assumption)
    tables.put("edge", id, edge)
    return edge


def _edge(tables: Tables, ontology: Ontology, kind: str, src: str, dst: str, role: str, attrs: Any) -> None:
    put_edge(tables, ontology, kind, src, dst, role, attrs)


def _unedge(tables: Tables, ontology: Ontology, kind: str, src: str, dst: str, role: str, attrs: Any) -> None:
    edge = tables.edges.get(ids.edge_uid(kind, src, dst, role).hex())
    if edge is None:
        raise NotFound(f"no edge {kind} from {src} to {dst}", way_out="it was dropped already")
    tables.put("edge", edge.id, None)


def has_ground(tables: Tables, ontology: Ontology, node: str) -> bool:
    """Whether a node has a ground, recorded or of an edge."""
    backward = any(ontology.edge(e.kind).invalidation == "backward" for e in tables.out.get(node, ()))
    forward = any(ontology.edge(e.kind).invalidation == "forward" for e in tables.into.get(node, ()))
    return backward or forward or node in tables.grounds


def _edge_attrs(tables: Tables, ontology: Ontology, edge_id: str, new: Mapping[str, Any], old: Mapping[str, Any]) -> None:
    edge = tables.edges.get(edge_id)
    if edge is None:
        raise NotFound(f"no edge {edge_id!r}", way_out="name an edge that stands")
    if thaw(edge.attrs) != old:
        raise UsageError("the edge changed since it was read", where=edge_id, way_out="read it again")
    changed = replace(edge, attrs=frozen_attrs(new))
    _check_binding(tables, changed.assumption)
    tables.put("edge", edge_id, changed)


def _check_binding(tables: Tables, assumption: str) -> None:
    if assumption and existing(tables, assumption).type != "assumption":
        raise OntologyError("an edge can only be bound to an assumption", where=assumption, way_out="name an assumption")


# -- grounds, judgements, retirement


def _ground(
    tables: Tables, ontology: Ontology, id: str, conclusion: str, all_of: Any, none_of: Any, origin: str, note: str
) -> None:
    for node in (conclusion, *all_of, *none_of):
        existing(tables, node)
    if conclusion in (*all_of, *none_of):
        raise UsageError("a ground that rests on its own conclusion", where=conclusion, way_out="name other premises")
    if not all_of and not none_of:
        raise UsageError("a ground with no premise", where=conclusion, way_out="name what it rests on")
    ground = Ground(id, conclusion, tuple(all_of), tuple(none_of), text(origin), text(note))
    known = tables.rows["ground"].get(id)
    if known is not None and replace(known, note=ground.note) != ground:
        raise ids.collision(id, known, ground)
    tables.put("ground", id, ground)


def _unground(tables: Tables, ontology: Ontology, id: str, conclusion: str, *_: Any) -> None:
    if id not in tables.rows["ground"]:
        raise NotFound(f"no ground {id!r}", way_out="it was dropped already")
    tables.put("ground", id, None)


def _judge(
    tables: Tables, ontology: Ontology, id: str, evidence: str, target: str, verdict: str, auditor: str, reason: str
) -> None:
    if existing(tables, evidence).type != "evidence":
        raise OntologyError("only evidence can be judged", where=evidence, way_out="record evidence first (GRAPH.md rule 7)")
    if ontology.node(existing(tables, target).type).layer != "reason":
        raise OntologyError("a judgement is about what is believed, not about code", where=target, way_out="name a belief")
    if verdict not in VERDICTS or not text(auditor).strip():
        raise UsageError("a judgement needs a verdict and an auditor", where=verdict, way_out=f"one of {', '.join(VERDICTS)}")
    if evidence in tables.rows["retired"]:
        raise UsageError("the evidence no longer counts", where=evidence, way_out="record evidence that stands")
    tables.put("judgement", id, Judgement(id, evidence, target, verdict, auditor, text(reason), tables.seq))


def _unjudge(tables: Tables, ontology: Ontology, id: str, *_: Any) -> None:
    if id not in tables.rows["judgement"]:
        raise NotFound(f"no judgement {id!r}", way_out="it was taken back already")
    tables.put("judgement", id, None)


def _retire(tables: Tables, ontology: Ontology, id: str, how: str, reason: str, by: str) -> None:
    node = existing(tables, id)
    if how not in HOWS:
        raise UsageError(f"a node is not {how!r}", way_out=f"one of {', '.join(HOWS)}")
    if how == "pruned" and (ontology.node(node.type).layer == "code" or node.type == "evidence"):
        raise OntologyError(f"a {node.type} is never pruned", where=id, way_out="GRAPH.md rule 5")
    old = tables.rows["retired"].get(id)
    if old is not None:
        raise UsageError(f"it is {old.how} already", where=id, way_out="restore it first")
    tables.put("retired", id, Retirement(id, how, text(reason), text(by), tables.seq))


def _restore(tables: Tables, ontology: Ontology, id: str, how: str, *_: Any) -> None:
    old = tables.rows["retired"].get(id)
    if old is None or old.how != how:
        raise UsageError("it is not retired that way", where=id, way_out="see `mog explain`")
    tables.put("retired", id, None)


def _mark(tables: Tables, ontology: Ontology, id: str, new: str, old: str) -> None:
    existing(tables, id)
    if (new or old) not in MARKS:
        raise UsageError(f"no mark {new or old!r}", way_out=f"one of {', '.join(MARKS)}")
    marks = set(tables.rows["mark"].get(id, ())) - {old} | ({new} if new else set())
    tables.put("mark", id, tuple(sorted(marks)) or None)


# -- side records


def _anchor(tables: Tables, ontology: Ontology, id: str, node: str, data: Mapping[str, Any]) -> None:
    if ontology.node(existing(tables, node).type).layer != "reason":
        raise OntologyError("only what is believed is anchored", where=node, way_out="name a belief")
    old = tables.rows["anchor"].get(id)
    tables.put("anchor", id, Anchored(id, node, anchor_of(data), old.at if old else tables.seq))


def _unanchor(tables: Tables, ontology: Ontology, id: str, *_: Any) -> None:
    if id not in tables.rows["anchor"]:
        raise NotFound(f"no anchor {id!r}", way_out="it was taken away already")
    tables.put("anchor", id, None)


def _alias(tables: Tables, ontology: Ontology, normal: str, entity: str, old: str) -> None:
    if entity and existing(tables, entity).type != "entity":
        raise OntologyError("an alias names an entity", where=entity, way_out="name an entity")
    tables.put("alias", text(normal), entity or None)


def _split(tables: Tables, ontology: Ontology, normal: str, entity: str, on: bool) -> None:
    if existing(tables, entity).type != "entity":
        raise OntologyError("a split keeps a name from an entity", where=entity, way_out="name an entity")
    tables.put("split", f"{entity} {text(normal)}", True if on else None)


def _record(tables: Tables, ontology: Ontology, table: str, key: str, new: Any, old: Any) -> None:
    if table not in WORK:
        raise UsageError(f"no table {table!r} of work", way_out=f"one of {', '.join(WORK)}")
    if thaw(tables.rows[table].get(key)) != old:
        raise UsageError("the record changed since it was read", where=f"{table} {key}"[:80], way_out="read it again")
    tables.put(table, text(key), None if new is None else freeze(settled(new, table)))


_ACTS: dict[str, Callable[..., None]] = {
    "node": _node,
    "attrs": _set_attrs,
    "edge": _edge,
    "unedge": _unedge,
    "edge_attrs": _edge_attrs,
    "ground": _ground,
    "unground": _unground,
    "judge": _judge,
    "unjudge": _unjudge,
    "retire": _retire,
    "restore": _restore,
    "mark": _mark,
    "anchor": _anchor,
    "unanchor": _unanchor,
    "alias": _alias,
    "split": _split,
    "record": _record,
}
_OPPOSITES = {"edge": "unedge", "ground": "unground", "judge": "unjudge", "retire": "restore", "anchor": "unanchor"}
_OPPOSITES |= {back: there for there, back in _OPPOSITES.items()}
_SWAPPED = ("attrs", "edge_attrs", "mark", "alias", "record")


def inverse(op: Op) -> Op:
    """The operation that takes ``op`` back. A node is never deleted (GRAPH.md rule 3): it is withdrawn."""
    name, *args = op
    if name == "node":
        return ["retire", args[0], "withdrawn", "undone", ""]
    if name in _SWAPPED:
        return [name, *args[:-2], args[-1], args[-2]]
    return ["split", *args[:2], not args[2]] if name == "split" else [_OPPOSITES[name], *args]


# -- shared checks


def existing(tables: Tables, id: str) -> GraphNode:
    """The node with this id. Raises NotFound."""
    found = tables.nodes.get(id)
    if found is None:
        raise NotFound(f"no node {id!r:.80}", way_out="look it up by name first")
    return found


def text(value: str, limit: int = MAX_LABEL_BYTES) -> str:
    """``value`` when it is valid Unicode of at most ``limit`` bytes. Raises UsageError."""
    label: str = plain(value, "label")
    if not isinstance(value, str):
        raise UsageError("text expected", where=repr(value)[:60], way_out="give text")
    if len(label.encode("utf-8")) > limit:
        raise UsageError(f"a label beyond {limit} bytes", where=label[:60], way_out="keep long text in a source")
    return label


def _limit(type: str) -> int:
    return MAX_TEXT_BYTES if type == "evidence" else MAX_LABEL_BYTES


def frozen_attrs(attrs: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Attributes checked and made read-only. Raises UsageError."""
    if not attrs:
        return NO_ATTRS
    if len(attrs) > MAX_ATTRS:
        raise UsageError(f"more than {MAX_ATTRS} attributes", way_out="group them")
    frozen: Mapping[str, Any] = freeze(settled(attrs, "attrs"))
    return frozen
