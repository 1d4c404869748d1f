"""A warm process: search, callers and reverse closures on an index that stands. Run as a child by ``benchmarks.index``.

Usage: ``python -m benchmarks.warm FOLDER``; prints one JSON object with milliseconds. Questions are drawn from the
corpus itself: every second query is a symbol's name, the others are the words of one.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from mog.engine.model import Node
from mog.engine.workspace import Workspace

QUERIES = 50
TYPICAL = 5_000


def symbols(workspace: Workspace) -> list[Node]:
    """Symbols of the files the map ranks highest, distinct names, spread evenly."""
    rows = workspace.map(limit=400).rows
    found = {node.name: node for row in rows for node in row.top if node.type == "symbol" and len(node.name) > 3}
    nodes = list(found.values())
    return nodes[:: max(1, len(nodes) // QUERIES)][:QUERIES]


def words(name: str) -> str:
    """``RelatedFieldWidget`` and ``related_field_widget`` as three words."""
    return " ".join(re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", name)) or name


def timed(ask: Callable[[], object]) -> float:
    """Milliseconds of one question."""
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000


def closures(workspace: Workspace, nodes: Sequence[Node]) -> tuple[list[float], list[tuple[int, float]]]:
    """Milliseconds of the typical closures, and (size, milliseconds) of the larger ones."""
    typical, large = [], []
    for node in nodes:
        workspace.impact(node.id, depth=64)
        began = time.perf_counter()
        total = workspace.impact(node.id, depth=64).total
        took = (time.perf_counter() - began) * 1000
        if total < TYPICAL:
            typical.append(took)
        else:
            large.append((total, took))
    return typical, large


def main(root: Path) -> None:
    """Ask everything once unmeasured, then measured."""
    workspace = Workspace.open(root)
    nodes = symbols(workspace)
    queries = [node.name if number % 2 else words(node.name) for number, node in enumerate(nodes)]
    began = time.perf_counter()
    workspace.search(queries[0])
    first = (time.perf_counter() - began) * 1000
    for query in queries:
        workspace.search(query)
    search = [timed(lambda query=query: workspace.search(query)) for query in queries]  # type: ignore[misc]
    callers = [
        timed(lambda node=node: workspace.neighbors(node.id, kinds=("calls",), direction="in"))  # type: ignore[misc]
        for node in nodes
    ]
    typical, large = closures(workspace, nodes)
    print(json.dumps({"first": first, "search": search, "callers": callers, "closure": typical, "large": large}))
    workspace.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
