"""Edges held against what a type checker resolved. Pure: values in, values out. Called by ``benchmarks.static_calls`` and its tests.

What may not come in: files, processes, mog itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

OWN = frozenset(("static", "interface"))


class Edge(Protocol):
    """What is asked of an edge: ``path:line`` of both definitions, and the name as written."""

    @property
    def caller(self) -> str: ...
    @property
    def callee(self) -> str: ...
    @property
    def name(self) -> str: ...


@dataclass(frozen=True, slots=True)
class StaticTruth:
    """Pairs of caller and callee (``path:line``) that a checker resolved; (caller, name) of what it met but could not type; callers
    of which it knows all."""

    edges: frozenset[tuple[str, str]]
    untyped: frozenset[tuple[str, str]]
    callers: frozenset[str]


def read_truth(lines: Iterable[str]) -> StaticTruth:
    """Decode the records of a truth file. Raises KeyError and ValueError for what is none."""
    rows = [json.loads(line) for line in lines if line.strip()]
    return StaticTruth(
        frozenset((row["caller"], row["callee"]) for row in rows if row["kind"] in OWN),
        frozenset((row["caller"], row["name"]) for row in rows if row["kind"] == "unknown"),
        frozenset(row["caller"] for row in rows),
    )


def judged(edges: Iterable[Edge], truth: StaticTruth) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """Right and wrong pairs; an edge whose caller the checker did not read, or whose name it could not type there, is not judged."""
    right, wrong = set(), set()
    for edge in edges:
        pair = (edge.caller, edge.callee)
        if pair in truth.edges:
            right.add(pair)
        elif edge.caller in truth.callers and (edge.caller, edge.name) not in truth.untyped:
            wrong.add(pair)
    return right, wrong
