"""Reverse closure over a synthetic graph of 1M nodes and 4M edges in the real store. A child of ``benchmarks.index``.

Usage: ``python -m benchmarks.scale build|ask FOLDER [NODES]``; prints one JSON object. Edges are local for the most
part, one in four goes to a hub (Zipf), so that the closure of a hub is almost everything.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.measure import status_bytes
from mog.engine.store import blobs, snapshot
from mog.engine.store.index_db import IndexDB
from mog.engine.store.schema import SPACE_EDGE, NodeRow

PER_FILE = 1000
FAN_OUT = 4


def targets(nodes: int) -> Any:
    """An array of shape (nodes, 4): where each node's edges lead."""
    import numpy as np

    random = np.random.default_rng(7)
    near = np.arange(nodes)[:, None] - random.integers(1, 200, (nodes, FAN_OUT))
    hubs = (random.zipf(1.6, nodes) - 1) % max(1, nodes // 100)
    ends = np.where(near < 0, 0, near)
    ends[:, 0] = hubs
    return ends


def rows_of(nodes: int) -> Iterator[NodeRow]:
    """One function a node, a thousand to a file."""
    for key in range(1, nodes + 1):
        name = f"f{key % 5000}"
        yield NodeRow(
            key,
            "symbol",
            (key - 1) // PER_FILE + 1,
            key % PER_FILE,
            name,
            name,
            "function",
            1,
            2,
            key.to_bytes(16),
            0,
        )


def build(folder: Path, nodes: int) -> dict[str, float]:
    """Write the graph through the store; processor seconds of each step and bytes on disk."""
    import numpy as np

    ends = targets(nodes) + 1
    began = time.process_time()
    with IndexDB.open(folder / "index.db", write=True, create=True) as db, db.transaction():
        code = blobs.edge_code(db.code(SPACE_EDGE, "calls"), 0)
        name = db.name_ids(["f"])["f"]
        db.nodes_insert(rows_of(nodes))
        inserted = time.process_time()
        for first in range(0, nodes, PER_FILE):
            chunk = ends[first : first + PER_FILE]
            records = np.empty((chunk.size, 4), dtype="<i4")
            records[:, 0] = np.repeat(np.arange(first + 1, first + 1 + len(chunk)), FAN_OUT)
            records[:, 1] = chunk.ravel()
            records[:, 2:] = code, name
            db.edges_put([(first // PER_FILE + 1, records.tobytes())])
        stored = time.process_time()
        snapshot.publish(db, compact=True)
        published = time.process_time()
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    return {"nodes": inserted - began, "edges": stored - inserted, "arrays": published - stored, "disk": size}


def ask(folder: Path) -> dict[str, float]:
    """Open the graph, close over the largest hub and 200 ordinary nodes; seconds, and bytes a node in memory."""
    with IndexDB.open(folder / "index.db", write=False) as db:
        began = time.perf_counter()
        graph = snapshot.CodeSnapshot.load(db)
        opened = time.perf_counter() - began
        before = status_bytes("VmRSS")
        cold, total = _closure(graph, 1)
        resident = status_bytes("VmRSS") - before
        warm = [_closure(graph, 1)[0] for _ in range(5)]
        small = [_closure(graph, key) for key in range(graph.size - 2000, graph.size - 1000, 5)]
    nodes = graph.size - 1
    return {
        "open": opened,
        "cold": cold,
        "warm": statistics.median(warm),
        "small": statistics.median(seconds for seconds, _ in small),
        "small_size": statistics.median(size for _, size in small),
        "reached": total / nodes,
        "resident": resident / nodes,
        "nodes": nodes,
    }


def _closure(graph: snapshot.CodeSnapshot, key: int) -> tuple[float, int]:
    """Processor seconds of one reverse closure (it runs on one thread), and how many nodes it reached."""
    began = time.process_time()
    total = graph.closure([key], direction_by_kind={"calls": "in"}, limit=200).total
    return time.process_time() - began, total


def main(verb: str, folder: Path, nodes: int = 1_000_000) -> None:
    """Build or ask."""
    print(json.dumps(build(folder, nodes) if verb == "build" else ask(folder)))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), *map(int, sys.argv[3:]))
