"""The readers and writers of the v1 formats: whatever the format forbids is refused, by file and field, and typed."""

from __future__ import annotations

import copy
import json
import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from v1_kit import RandomV1, demo, earlier

from mog.engine.errors import MogError, StoreDamaged, UsageError
from mog.engine.reason.v1 import fields
from mog.engine.reason.v1.graph import read_graph, write_graph
from mog.engine.reason.v1.records import edge_id
from mog.engine.reason.v1.resolver import read_resolver, write_resolver

LIFTED = {"source_id": "s", "span": [0, 4], "extractor": "rule", "checks": ["seen"], "recorded_at_build": 1}
CARRIED: dict[str, dict[str, Any]] = {
    "source": {"origin": "a.md", "retrieved_at": "2026-01-08"},
    "entity": {"canonical": "E", "aliases": []},
    "evidence": {"kind": "audit"},
    "decision": {"rationale": "why"},
    "assumption": {"status": "active", "version": 1},
    "claim": {},
}


def node(id: str, type: str, **over: Any) -> dict[str, Any]:
    row = {
        "id": id, "type": type, "label": f"label {id}", "attrs": dict(CARRIED[type]), "provenance": None, "embedded": False,
        "embedding": None, "build": 1, "walks": 0, "pruned": False, "invalidated": False,
    }  # fmt: skip
    if type in ("claim", "decision"):
        row["provenance"] = dict(LIFTED)
    return {**row, **over}


def edge(src: str, type: str, dst: str, **over: Any) -> dict[str, Any]:
    row = {
        "id": edge_id(src, type, dst), "src": src, "dst": dst, "type": type, "assumption_id": None, "evidence_ids": [],
        "weight": 1.0, "build": 1, "traversals": 0, "invalidated": False,
    }  # fmt: skip
    return {**row, **over}


def assumption(id: str, **over: Any) -> dict[str, Any]:
    row = {
        "id": id, "statement": f"label {id}", "status": "active", "version": 1, "created_by": "team", "created_at_build": 1,
        "supersedes": None, "superseded_by": None, "rejected_at_build": None, "evidence_ids": [],
    }  # fmt: skip
    return {**row, **over}


def graph() -> dict[str, Any]:
    nodes = [
        node("s", "source"), node("c", "claim", embedded=True, embedding=[0.0, -0.0, 0.5]), node("e", "entity"),
        node("v", "evidence"), node("d", "decision"), node("a", "assumption"), node("b", "assumption"),
    ]  # fmt: skip
    nodes[6]["attrs"]["version"] = 2
    nodes[5]["attrs"]["status"] = "superseded"
    edges = [
        edge("c", "derived_from", "s"), edge("d", "derived_from", "c"), edge("d", "depends_on", "b", assumption_id="b"),
        edge("d", "produces", "e", evidence_ids=["v"]), edge("b", "supersedes", "a"), edge("v", "contradicts", "a"),
    ]  # fmt: skip
    records = [
        assumption("a", status="superseded", superseded_by="b", evidence_ids=["v"]),
        assumption("b", version=2, supersedes="a"),
    ]
    return {
        "schema": "contextmesh.graph", "version": 1, "build": 3, "nodes": nodes, "edges": edges, "assumptions": records,
    }  # fmt: skip


def resolver() -> dict[str, Any]:
    return {
        "schema": "contextmesh.resolver", "version": 1, "threshold": 0.62, "canonical": {"e": "E", "f": "F"},
        "aliases": {"e one": "e", "f": "f"}, "blocks": {"e": ["e", "f"], "none": []},
        "log": [
            {"mention": "E", "canonical_id": "e", "canonical_label": "E", "score": 1.0, "reason": "alias table"},
            {"mention": "x", "canonical_id": None, "canonical_label": None, "score": 0.0, "reason": "no candidate"},
        ],
    }  # fmt: skip


def text(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


def changed(value: Any, path: str, new: Any) -> Any:
    """A copy with the item at a dotted path replaced; ``DROP`` takes it away, ``ADD`` appends to a list."""
    top = copy.deepcopy(value)
    *steps, last = [int(p) if p.isdigit() else p for p in path.split(".")]
    at = top
    for step in steps:
        at = at[step]
    if new is DROP:
        del at[last]
    else:
        at[last] = new
    return top


DROP = object()


def test_a_graph_comes_out_as_it_went_in() -> None:
    whole = read_graph(text(graph()), "g.json")
    assert [n.id for n in whole.nodes] == ["s", "c", "e", "v", "d", "a", "b"]
    expected = json.dumps(graph(), sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    assert write_graph(whole) == expected.encode()


def test_a_resolver_comes_out_as_it_went_in() -> None:
    expected = json.dumps(resolver(), sort_keys=True, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    assert write_resolver(read_resolver(text(resolver()), "r.json")) == expected.encode()


def _fields(value: Any, path: str = "") -> list[str]:
    """Dotted path of every field of every record, attributes excepted: they are free."""
    if path.endswith("attrs") or ".attrs." in path:
        return []
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        found += _fields(item, f"{path}.{key}" if path else str(key))
    return found


@pytest.mark.parametrize("path", [p for p in _fields(graph()) if not p.split(".")[-1].isdigit()])
def test_every_field_of_a_graph_is_required(path: str) -> None:
    with pytest.raises(MogError) as caught:
        read_graph(text(changed(graph(), path, DROP)), "g.json")
    assert "g.json" in caught.value.where


FREE = ("canonical.", "aliases.", "blocks.", "log.0", "log.1")


@pytest.mark.parametrize("path", [p for p in _fields(resolver()) if not p.startswith(FREE) or p.startswith("log.0.")])
def test_every_field_of_a_resolver_is_required(path: str) -> None:
    with pytest.raises(MogError):
        read_resolver(text(changed(resolver(), path, DROP)), "r.json")


BAD_GRAPHS: list[tuple[str, Any, str]] = [
    ("build", True, "build"), ("build", -1, "build"), ("build", 1.0, "build"), ("build", "1", "build"), ("build", 2**53, "build"),
    ("nodes", {}, "nodes"), ("edges", None, "edges"), ("assumptions", "x", "assumptions"), ("nodes.0", [], "nodes[0]"),
    ("nodes.0.extra", 1, "nodes[0]"), ("edges.0.extra", 1, "edges[0]"), ("assumptions.0.extra", 1, "assumptions[0]"),
    ("extra", 1, "g.json"), ("nodes.0.id", 1, "nodes[0].id"), ("nodes.0.type", "module", "nodes[0].type"),
    ("nodes.0.type", None, "nodes[0].type"), ("nodes.0.label", None, "nodes[0].label"), ("nodes.0.attrs", None, "nodes[0].attrs"),
    ("nodes.0.attrs", [], "nodes[0].attrs"), ("nodes.0.attrs", {"origin": "a"}, "nodes[0].attrs"),
    ("nodes.1.provenance", None, "nodes[1].provenance"), ("nodes.1.provenance", {}, "nodes[1].provenance"),
    ("nodes.1.provenance", [], "nodes[1].provenance"), ("nodes.1.provenance.source_id", "gone", "source_id"),
    ("nodes.1.provenance.source_id", "e", "source_id"), ("nodes.1.provenance.span", [1], "span"),
    ("nodes.1.provenance.span", [1, 2, 3], "span"), ("nodes.1.provenance.span", "ab", "span"),
    ("nodes.1.provenance.span", [True, 2], "span[0]"), ("nodes.1.provenance.span", [1.0, 2], "span[0]"),
    ("nodes.1.provenance.span", [-1, 2], "span[0]"), ("nodes.1.provenance.span", [5, 2], "span"),
    ("nodes.1.provenance.extractor", None, "extractor"), ("nodes.1.provenance.checks", "abc", "checks"),
    ("nodes.1.provenance.checks", None, "checks"), ("nodes.1.provenance.checks", [1], "checks[0]"),
    ("nodes.1.provenance.recorded_at_build", -1, "recorded_at_build"),
    ("nodes.1.provenance.recorded_at_build", True, "recorded_at_build"), ("nodes.1.embedded", False, "embedded"),
    ("nodes.0.embedded", True, "embedded"), ("nodes.1.embedded", "true", "embedded"), ("nodes.1.embedded", 1, "embedded"),
    ("nodes.1.embedding", "abc", "embedding"), ("nodes.1.embedding", [0.5, "x"], "embedding[1]"),
    ("nodes.1.embedding", [0.5, True], "embedding[1]"), ("nodes.1.embedding", [0.5, None], "embedding[1]"),
    ("nodes.1.embedding", [10**350], "embedding"), ("nodes.0.walks", -1, "walks"), ("nodes.0.walks", False, "walks"),
    ("nodes.0.build", None, "build"), ("nodes.0.pruned", "false", "pruned"), ("nodes.0.pruned", 0, "pruned"),
    ("nodes.0.invalidated", None, "invalidated"), ("nodes.1.id", "s", "nodes[1].id"), ("edges.0.src", "gone", "edges[0].src"),
    ("edges.0.dst", "gone", "edges[0].dst"), ("edges.0.type", "likes", "edges[0].type"), ("edges.0.type", "cites", "edges[0]"),
    ("edges.0.id", "edge:x", "edges[0].id"), ("edges.0.assumption_id", "gone", "edges[0].assumption_id"),
    ("edges.0.assumption_id", "c", "edges[0].assumption_id"), ("edges.0.assumption_id", 1, "edges[0].assumption_id"),
    ("edges.0.evidence_ids", ["gone"], "edges[0].evidence_ids[0]"), ("edges.0.evidence_ids", None, "edges[0].evidence_ids"),
    ("edges.0.evidence_ids", "v", "edges[0].evidence_ids"), ("edges.0.weight", True, "weight"), ("edges.0.weight", "1", "weight"),
    ("edges.0.weight", None, "weight"), ("edges.0.build", -1, "build"), ("edges.0.traversals", 1.5, "traversals"),
    ("edges.0.invalidated", 1, "invalidated"), ("edges.1", edge("c", "derived_from", "s"), "edges[1]"),
    ("edges.1", edge("d", "depends_on", "d"), "edges[1]"), ("assumptions.0.id", "c", "assumptions[0].id"),
    ("assumptions.0.id", "gone", "assumptions[0].id"), ("assumptions.1.id", "a", "assumptions[1].id"),
    ("assumptions.0.statement", "other", "assumptions[0].statement"), ("assumptions.0.status", "active", "assumptions[0].status"),
    ("assumptions.0.status", "dead", "assumptions[0].status"), ("assumptions.1.version", 1, "assumptions[1].version"),
    ("assumptions.1.version", 0, "assumptions[1].version"), ("assumptions.1.version", True, "assumptions[1].version"),
    ("nodes.5.attrs.status", "active", "assumptions[0].status"), ("nodes.6.attrs.version", 3, "assumptions[1].version"),
    ("assumptions.0.created_by", None, "created_by"), ("assumptions.0.created_at_build", -1, "created_at_build"),
    ("assumptions.0.superseded_by", "gone", "superseded_by"), ("assumptions.0.superseded_by", "c", "superseded_by"),
    ("assumptions.0.superseded_by", None, "assumptions[1].supersedes"),
    ("assumptions.1.supersedes", None, "assumptions[0].superseded_by"), ("assumptions.0.superseded_by", "a", "superseded_by"),
    ("assumptions.0.rejected_at_build", True, "rejected_at_build"), ("assumptions.0.evidence_ids", ["gone"], "evidence_ids[0]"),
    ("assumptions.0.evidence_ids", None, "evidence_ids"), ("assumptions", [assumption("b", version=2)], "nodes[5]"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "new", "names"), BAD_GRAPHS, ids=[f"{p}={n!r:.20}" for p, n, _ in BAD_GRAPHS])
def test_what_the_graph_format_forbids_is_refused_by_field(path: str, new: Any, names: str) -> None:
    with pytest.raises(StoreDamaged) as caught:
        read_graph(text(changed(graph(), path, new)), "g.json")
    assert names in caught.value.where and "g.json" in caught.value.where and caught.value.way_out


def test_a_live_edge_under_a_rejected_assumption_is_refused() -> None:
    bad = graph()
    bad["nodes"][6]["attrs"]["status"] = bad["assumptions"][1]["status"] = "rejected"
    with pytest.raises(StoreDamaged, match="rejected"):
        read_graph(text(bad), "g.json")
    bad["edges"][2]["invalidated"] = True
    read_graph(text(bad), "g.json")


def test_an_explicit_decision_with_another_digest_is_refused() -> None:
    bad = graph()
    bad["nodes"][4]["attrs"] |= {"decision_identity": "explicit", "decision_payload_digest": "0" * 64}
    with pytest.raises(StoreDamaged, match="digest"):
        read_graph(text(bad), "g.json")


BAD_RESOLVERS: list[tuple[str, Any]] = [
    ("threshold", 1.5), ("threshold", -0.1), ("threshold", True), ("threshold", "0.62"), ("threshold", None),
    ("canonical", []), ("canonical.e", None), ("aliases", []), ("aliases.f", "gone"), ("aliases.f", 1), ("blocks", []),
    ("blocks.e", "e"), ("blocks.e", ["gone"]), ("blocks.e", [1]), ("log", {}), ("log.0", None), ("log.0.mention", None),
    ("log.0.canonical_id", None), ("log.0.canonical_label", None), ("log.0.canonical_id", "gone"),
    ("log.0.canonical_label", "F"), ("log.0.score", None), ("log.0.score", "1"), ("log.0.score", True), ("log.0.reason", 1),
    ("log.0.extra", 1), ("extra", 1),
]  # fmt: skip


@pytest.mark.parametrize(("path", "new"), BAD_RESOLVERS, ids=[f"{p}={n!r:.20}" for p, n in BAD_RESOLVERS])
def test_what_the_resolver_format_forbids_is_refused(path: str, new: Any) -> None:
    with pytest.raises(StoreDamaged) as caught:
        read_resolver(text(changed(resolver(), path, new)), "r.json")
    assert "r.json" in caught.value.where


@pytest.mark.parametrize("path,new", [("schema", "contextmesh.session"), ("schema", None), ("version", 2), ("version", True),
                                      ("version", "1"), ("version", 1.0)])  # fmt: skip
def test_another_format_or_version_is_a_wrong_file(path: str, new: Any) -> None:
    for value, read in ((graph(), read_graph), (resolver(), read_resolver)):
        with pytest.raises(UsageError):
            read(text(changed(value, path, new)), "x.json")


def spoilt(old: bytes, new: bytes) -> bytes:
    return text(graph()).replace(old, new, 1)


HOSTILE = {
    "not json": b"{",
    "empty": b"",
    "invalid utf-8": b'{"a": "\xff"}',
    "bom": b"\xef\xbb\xbf{}",
    "null": b"null",
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "nan": spoilt(b'"weight": 1.0', b'"weight": NaN'),
    "infinity": spoilt(b'"weight": 1.0', b'"weight": -Infinity'),
    "beyond a double": spoilt(b'"weight": 1.0', b'"weight": 1e999'),
    "huge integer": spoilt(b'"build": 3', b'"build": ' + b"9" * 5000),
    "large integer": spoilt(b'"build": 3', b'"build": 99999999999999999999'),
    "twin keys": spoilt(b'"build": 3', b'"build": 3, "build": 3'),
    "twin attributes": spoilt(b'"origin": "a.md"', b'"origin": "a.md", "origin": "b.md"'),
    "deep attributes": spoilt(b'"a.md"', b"[" * 90 + b"]" * 90),
    "lone surrogate": spoilt(b'"a.md"', b'"\\ud800"'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused_typed(name: str) -> None:
    for read in (read_graph, read_resolver):
        with pytest.raises((StoreDamaged, UsageError)):
            read(HOSTILE[name], "x.json")


@given(st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
))  # fmt: skip
def test_the_writer_writes_what_the_standard_encoder_writes(value: Any) -> None:
    assert fields.pretty(value) == (json.dumps(value, sort_keys=True, indent=2, ensure_ascii=False) + "\n").encode()


# -- the earlier package as the judge


@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_what_the_earlier_package_refuses_is_refused_here(seed: int) -> None:
    rng = random.Random(seed)
    value = json.loads(RandomV1(seed % 40).graph.to_json())
    for _ in range(rng.randint(1, 2)):
        _spoil(value, rng)
    try:
        earlier().Graph.from_dict(copy.deepcopy(value))
        refused = False
    except Exception:
        refused = True
    try:
        read_graph(text(value), "g.json")
        assert not refused
    except MogError as error:
        assert error.where and error.way_out


def _spoil(value: Any, rng: random.Random) -> None:
    """Change one place: drop, swap with another record's, or set to something of another type."""
    rows = rng.choice([value[name] for name in ("nodes", "edges", "assumptions") if value[name]])
    row = rng.choice(rows)
    key = rng.choice(sorted(row))
    act = rng.randrange(4)
    if act == 0:
        del row[key]
    elif act == 1:
        row[key] = rng.choice(rows).get(key)
    elif act == 2:
        row[key] = rng.choice([None, True, -1, 1.5, "x", [], {}, ["x"], {"x": 1}, 2**60])
    else:
        rows.append(copy.deepcopy(row))


def test_the_demo_of_the_earlier_package_is_read_and_written_to_the_byte() -> None:
    result = demo()
    for one, read, write in ((result.graph, read_graph, write_graph), (result.resolver, read_resolver, write_resolver)):
        data = one.to_json().encode()
        assert write(read(data, "demo")) == data


def test_minus_zero_and_whole_floats_survive_reading() -> None:
    vector = read_graph(text(graph()), "g").nodes[1].embedding
    assert vector is not None and math.copysign(1, vector[1]) < 0 and all(type(x) is float for x in vector)
