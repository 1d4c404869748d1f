"""Edges held against what a type checker resolves: what is right, wrong and not judged."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
TRUTH = BENCHMARKS / "truth" / "calls-cobra.jsonl.gz"
if TYPE_CHECKING:
    from benchmarks import static_scoring
else:  # by file, so that the tests do not depend on the folder pytest was started in
    SPEC = importlib.util.spec_from_file_location("bench_static_scoring", BENCHMARKS / "static_scoring.py")
    static_scoring = sys.modules["bench_static_scoring"] = importlib.util.module_from_spec(SPEC)
    SPEC.loader.exec_module(static_scoring)

judged, read_truth = static_scoring.judged, static_scoring.read_truth


class Edge(NamedTuple):
    caller: str
    callee: str
    name: str


LINES = [
    {"caller": "a.go:1", "callee": "b.go:2", "name": "Run", "kind": "static", "line": 1},
    {"caller": "a.go:1", "callee": "b.go:9", "name": "Get", "kind": "interface", "line": 2},
    {"caller": "a.go:1", "name": "Stop", "kind": "unknown", "line": 3},
    {"caller": "a.go:1", "name": "Println", "kind": "external", "line": 4},
]


def test_an_edge_is_right_wrong_or_not_judged() -> None:
    truth = read_truth([json.dumps(line) for line in LINES])
    edges = [
        Edge("a.go:1", "b.go:2", "Run"),
        Edge("a.go:1", "c.go:3", "Println"),  # the checker says that this leaves the module
        Edge("a.go:1", "c.go:4", "Stop"),  # the checker does not know this one
        Edge("z.go:1", "b.go:2", "Run"),  # a caller that it did not read
    ]
    assert judged(edges, truth) == ({("a.go:1", "b.go:2")}, {("a.go:1", "c.go:3")})


def test_the_committed_truth_is_of_a_whole_project() -> None:
    with gzip.open(TRUTH, "rt", encoding="utf-8") as handle:
        truth = read_truth(handle)
    assert len(truth.edges) == 1545 and len(truth.callers) > 300
    assert all(place.partition(":")[0].endswith(".go") for pair in truth.edges for place in pair)
