"""``python -m benchmarks.beliefs``: what beliefs cost, and whether their labels are exact; contextmesh-graph beside it.

Graphs of 1,000, 10,000 and 100,000 nodes, each measured in a fresh process; labels against clingo after each of 100,000 random
writes. Prints the tables and writes docs/results/beliefs.md. Parts: ``labels store logic ids``; all when none is named.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import report

SIZES = (1_000, 10_000, 100_000)
EARLIER_SIZES = (1_000, 4_000)
TIMEOUT = 1_800


def child(*args: str) -> Any:
    """JSON that a module of ours printed in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", *args], cwd=report.REPOSITORY, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT,
        check=True,
    )  # fmt: skip
    return json.loads(done.stdout)


def store(sizes: Sequence[int]) -> str:
    """Loading, previews, writes, memory and disk by size."""
    ours: dict[int, dict[str, Any]] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            report.say(f"{size:,} nodes")
            ours[size] = child("benchmarks.belief_costs", "build", folder, str(size))
            ours[size] |= child("benchmarks.belief_costs", "ask", folder)
    theirs = {size: child("benchmarks.belief_costs", "earlier", str(size)) for size in EARLIER_SIZES if size <= max(sizes)}
    head = ["", *(f"{size:,}" for size in ours), *(f"earlier, {size:,}" for size in theirs), "target"]
    rows = [[name, *_cells(ours.values(), key), *_cells(theirs.values(), key), target] for name, key, target in _ROWS]
    edges = ", ".join(f"{o['edges'] / o['nodes']:.1f}" for o in ours.values())
    return "\n".join(
        [
            "## Cost by size", "", report.table(head, rows), "",
            f"Edges a node: {edges}. Times in milliseconds unless said, median / 95th percentile; the ledger was opened by a",
            "fresh process. To persist one ask, mog writes counts outside the ledger; the earlier package writes its whole graph.",
            "", *_SYNCS,
        ]
    )  # fmt: skip


_SYNCS = (
    "A commit makes one sync, of the write-ahead log: what it acknowledges is on the disk then, and the copying into the",
    "database waits (once in about a hundred commits, with a sync of the log and one of the file). The witness is one write of",
    "512 bytes outside of the folder, without a sync: after a power cut it may remember an earlier head, which refuses nothing.",
    "Beside each commit, in turn on the same file system: the bare fsync is one append of as many bytes as a commit writes to",
    "its log, and an fsync; SQLite's least commit updates the one row of a database with the same settings.",
)
_ROWS = (
    ("open: read records, s", "load_s", ""),
    ("open: derive labels, s", "labels_s", ""),
    ("memory a node, bytes", "memory_per_node", "≤ 3,000"),
    ("disk a node, bytes", "disk_per_node", "≤ 1,000"),
    ("preview", "preview_ms", "p95 ≤ 50 at 10k, ≤ 150 at 100k"),
    ("reject", "reject_ms", ""),
    ("withdraw", "withdraw_ms", ""),
    ("commit of one record", "commit_ms", ""),
    ("… processor time", "commit_cpu_ms", ""),
    ("bare fsync", "fsync_ms", ""),
    ("SQLite's least commit", "least_ms", ""),
    ("commit / bare fsync", "to_fsync", "≤ 2"),
    ("commit / SQLite's least", "to_least", ""),
    ("bytes synced a commit", "written_per_commit", "∝ change"),
    ("bytes kept a commit", "bytes_per_commit", "∝ change"),
    ("persist one ask", "persist_ask_ms", "≤ 5"),
    ("build, s", "build_s", ""),
)


def _cells(results: Any, key: str) -> list[str]:
    return [_said(result.get(key)) for result in results]


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value['p50']:.2f} / {value['p95']:.2f}"
    if value is None:
        return "–"
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def logic() -> str:
    """Shapes, previews and memory of the label engine alone."""
    previews = child("benchmarks.standing", "previews")
    shapes = child("benchmarks.standing", "shapes", "--peer")
    lines = ["## The label engine alone", "", _rows_of(previews), "", _rows_of(shapes)]
    note = "Milliseconds of processor time; peak in bytes. Targets: chain ≤ 20 ms and 5 MB, star ≤ 150 ms."
    return "\n".join([*lines, "", note])


def _rows_of(rows: Any) -> str:
    rows = rows if isinstance(rows, list) else [rows]
    return report.table(list(rows[0]), [[_said(v) if isinstance(v, float) else str(v) for v in row.values()] for row in rows])


def ids(count: int = 1_000_000) -> str:
    """Ids of edges on one hub, and of nodes whose labels share a long beginning: how many before one is refused."""
    from mog.engine import ids as uids

    edges = len({uids.edge_uid("mentions", "a hub", str(i)) for i in range(count)})
    nodes = len({uids.node_uid("repo", "claim", "statement", "", "x" * 60 + str(i)) for i in range(count)})
    rows = [["edges on one hub", f"{edges:,}", "≥ 10⁶", "5,986"], ["nodes sharing 60 characters", f"{nodes:,}", "≥ 10⁶", "3,019"]]
    head = ["different ids", "before the first refusal", "target", "earlier package, median"]
    return "\n".join(["## Ids", "", report.table(head, rows)])


def labels(operations: int, writes: int) -> str:
    """Exactness: the label engine alone, and whole meshes with previews, undo and replay."""
    found = child("benchmarks.standing", "labels", "--operations", str(operations))
    mesh = child("benchmarks.beliefs", "mesh", "--writes", str(writes))
    rows = [
        ["label engine", f"{found['operations']:,}", f"{found['refused']:,}", f"{found['flips']:,}", str(found["mismatches"])],
        ["mesh on a ledger", f"{mesh['operations']:,}", f"{mesh['refused']:,}", f"{mesh['flips']:,}", str(mesh["mismatches"])],
    ]
    head = ["", "random writes", "refused", "labels moved", "mismatches"]
    return "\n".join(
        [
            "## Labels against clingo", "", report.table(head, rows), "",
            "After every write all labels are those of an answer-set solver that starts from nothing; a refused write left",
            "nothing behind. On the mesh each write was previewed first (the preview equals the effect, and takes itself back",
            "exactly), and at the end of each graph the ledger was replayed (same records, same state root after each event).",
        ]
    )  # fmt: skip


def mesh_writes(writes: int) -> dict[str, int]:
    """Random writes to meshes on ledgers; AssertionError at the first that is not as it should be."""
    sys.path.append(str(report.REPOSITORY / "tests" / "helpers"))
    import belief_world

    from mog.engine.ledgers.events import EventLog
    from mog.engine.ontology import load
    from mog.engine.reason.mesh import Mesh, folder

    ours, done, refused, flips, seed = load(), 0, 0, 0, 0
    while done < writes:
        seed += 1
        with tempfile.TemporaryDirectory() as place, EventLog(Path(place) / "ledger.db") as log:
            mesh = Mesh(log, ours, "repo", clock=lambda: "2026-01-31T12:00:00Z")
            chance = belief_world.Chance(mesh, random.Random(seed), size=random.Random(-seed).choice((8, 16, 30)))
            for _ in range(200):
                before = chance.labels()
                refused += not chance.step()
                after = chance.labels()
                flips += sum(before.get(id) != label for id, label in after.items())
                standing = {id for id, label in after.items() if label != "fallen"}
                assert standing == belief_world.standing(mesh), f"graph {seed}"
                done += 1
            check = log.verify(folder(ours))
            assert check.ok, check
    return {"operations": done, "refused": refused, "flips": flips, "mismatches": 0}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beliefs", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=["labels", "store", "logic", "ids", "mesh", []])
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--writes", type=int, default=4_000, help="random writes to whole meshes")
    parser.add_argument("--no-write", action="store_true", help="leave docs/results alone")
    options = parser.parse_args(argv)
    if options.parts == ["mesh"]:
        print(json.dumps(mesh_writes(options.writes)))
        return 0
    wanted = options.parts or ["store", "logic", "ids", "labels"]
    makers = {
        "store": lambda: store(options.sizes),
        "logic": logic,
        "ids": ids,
        "labels": lambda: labels(options.operations, options.writes),
    }
    parts = [makers[part]() for part in wanted]
    title = "# Beliefs: cost and exactness\n\n`python -m benchmarks.beliefs`; " + report.machine() + "."
    text = "\n\n".join([title, *parts])
    print(text)
    if not options.no_write and not options.parts:
        report.write("beliefs", text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
