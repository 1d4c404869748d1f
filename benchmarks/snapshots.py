"""Snapshots: time, peak memory and verdict of a document, a comparison, an impact query and an annotation request, each in a process.

    python -m benchmarks.snapshots [--corpus django] [--corpus sympy] [--symbols 1000000] [--write]

Who calls: a person. A synthetic graph of the size asked for stands beside the corpora. What may not come in: accuracy of links.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from pathlib import Path

from benchmarks import report, scale
from benchmarks.corpora import CORPORA, cache_dir, pristine, repository, run_git
from benchmarks.measure import Cost
from benchmarks.mog import mog, mog_json
from mog.engine.roots import folder_mark
from mog.engine.store import snapshot
from mog.engine.store.index_db import IndexDB
from mog.engine.store.schema import SPACE_EDGE, FileRow, NodeRow
from mog.engine.workspace import Workspace

LEAST_MEMORY = 700 * 1_000_000  # bytes that a snapshot of a million symbols may need


def many_symbols(count: int) -> Path:
    """A folder with an index of ``count`` functions, a thousand to a file, each with four calls, written through the store.

    The files themselves are not there: what is measured is what a graph of that size costs, not the indexer.
    """
    root = cache_dir() / "repos" / f"graph-{count}"
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    (root / ".mog").mkdir()
    Workspace.init(root)
    scale.build(root / ".mog", count)
    files = range(1, -(-count // scale.PER_FILE) + 1)
    with IndexDB.open(root / ".mog" / "index.db", write=True) as db, db.transaction():
        first = db.next_node()
        db.nodes_insert([_file_node(first + number, number) for number in files])
        db.files_put([_file_row(first + number, number) for number in files])
        kinds = {str(db.code(SPACE_EDGE, "calls")): scale.FAN_OUT * count}
        db.meta_set(
            {
                "made_with": ["", "", "", folder_mark(root)],
                "facts_hash": f"{count:064x}",
                "edge_counts": kinds,
                "scan": {},
            }
        )
        snapshot.publish(db, compact=True)
    return root


def _file_node(key: int, number: int) -> NodeRow:
    return NodeRow(key, "file", number, -1, f"m{number}.py", "", "source", 0, 0, (1 << 120 | number).to_bytes(16), 0)


def _file_row(key: int, number: int) -> FileRow:
    path = f"src/p{number % 40:02d}/m{number}.py".encode()
    return FileRow(number, path, key, "python", "source", "", 60_000, 0, 0, 0, None, None, number.to_bytes(16), None)


def measured_alone(name: str, root: Path) -> list[list[str]]:
    """The row of a graph whose files are not there."""
    out = cache_dir() / "snapshot.json"
    cost, made = mog_json(root, "context", "snapshot", "--as-is", "--out", str(out), "--quiet")
    counts = f"{made['nodes']:,} nodes, {made['edges']:,} edges, {out.stat().st_size / 1e6:.0f} MB"
    out.unlink()
    return [_row(name, "snapshot with its document", cost, counts)]


def measured(name: str, root: Path) -> list[list[str]]:
    """Rows of one repository: what was run, what it cost, what it said."""
    out = cache_dir() / "snapshot.json"
    index = mog(root, "index", "--quiet")
    snapshot, made = mog_json(root, "context", "snapshot", "--as-is", "--out", str(out), "--quiet")
    counts = f"{made['symbols']:,} symbols, {made['nodes']:,} nodes, {made['edges']:,} edges"
    said = f"{made['health']['status']}, {made['stale']['status']}; {out.stat().st_size / 1e6:.0f} MB"
    digest, seed = made["identity"]["identity_digest"], _seed(out)
    query = out.with_name("query.json")
    asked = {
        "snapshot_digest": digest,
        "seeds": [seed],
        "allowed_edge_types": ["calls", "inherits", "references"],
        "max_depth": 8,
    }
    query.write_text(json.dumps({**asked, "max_results": 500}))
    impact, found = mog_json(root, "context", "impact", "--query", str(query))
    request, items = mog_json(root, "context", "annotate", "request")
    _edit(root)
    mog(root, "context", "snapshot", "--quiet")
    compared, difference = mog_json(root, "context", "versions", made["identity"]["facts_hash"])
    out.unlink()
    query.unlink()
    changes = "nodes: " + ", ".join(f"{count} {what}" for what, count in difference["nodes"].items() if count)
    return [
        _row(name, f"full index: {counts}", index, ""), _row(name, "snapshot with its document", snapshot, said),
        _row(name, "impact query, depth 8, from the symbol most is said to call", impact, f"{found['total']:,} nodes reached"),
        _row(name, "annotation request", request, f"{len(items['items'])} items"),
        _row(name, "two versions compared", compared, changes),
    ]  # fmt: skip


def _seed(document: Path) -> str:
    """The id of the symbol with the most calls into it, from the document as a reader would take it: line by line."""
    calls: dict[str, int] = {}
    with document.open(encoding="ascii") as lines:
        for line in lines:
            if line.startswith('{"edge_type":"calls"') and '"tier":"certain"' in line:
                target = json.loads(line.rstrip().removesuffix(","))["target_node_id"]
                calls[target] = calls.get(target, 0) + 1
    return max(sorted(calls), key=lambda one: calls[one])


def _edit(root: Path) -> None:
    """One function more in the first module."""
    path = sorted(root.rglob("*.py"))[0]
    path.write_text(path.read_text(encoding="utf-8") + "\n\ndef one_more_of_these():\n    return 1\n", encoding="utf-8")


def _row(name: str, what: str, cost: Cost, said: str) -> list[str]:
    return [
        name,
        what,
        f"{cost.cpu:.1f}",
        f"{cost.wall:.1f}",
        f"{cost.rss / 1e6:.0f}",
        f"{cost.maxrss / 1e6:.0f}",
        said,
    ]


def main() -> None:
    """Measure, print; ``--write`` keeps the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", action="append", choices=[*sorted(CORPORA), "none"])
    parser.add_argument(
        "--symbols", type=int, default=1_000_000, help="functions of the synthetic graph; 0 leaves it out"
    )
    parser.add_argument("--write", action="store_true", help="write docs/results/snapshots.md")
    options = parser.parse_args()
    rows: list[list[str]] = []
    for name in [name for name in options.corpus or ["django", "sympy"] if name != "none"]:
        root = repository(CORPORA[name])
        pristine(root)
        report.say(f"{name} …")
        rows += measured(f"{CORPORA[name].package} {CORPORA[name].version}", root)
        report.say("\n".join(map(" | ".join, rows[-5:])))
        run_git(root, "reset", "-q", "--hard")
    if options.symbols:
        report.say(f"{options.symbols:,} symbols …")
        rows += measured_alone(f"synthetic, {options.symbols:,}", many_symbols(options.symbols))
    page = _page(rows)
    print(page)
    if options.write:
        report.write("snapshots", page)


def _page(rows: Sequence[Sequence[str]]) -> str:
    head = ["repository", "what", "CPU-s", "wall, s", "peak MB, anonymous", "peak MB, resident", "what it said"]
    largest = max((float(row[4]) for row in rows if row[1].startswith("snapshot")), default=0.0)
    verdict = "met" if largest * 1e6 <= LEAST_MEMORY else "**short**"
    return "\n\n".join([
        "# Snapshots of the code graph",
        report.table(head, rows),
        f"Each row is a process of its own. A snapshot may need {LEAST_MEMORY / 1e6:.0f} MB at a million symbols; the largest here"
        f" needed {largest:.0f} MB: {verdict}. Resident memory counts pages of the mapped index too, which the system takes back when"
        " it wants them. The snapshot checks the stores (every page, row and array) before it says `current`; that is part of it.",
        f"Machine: {report.machine()}. Again: `python -m benchmarks.snapshots --write`.",
    ])  # fmt: skip


if __name__ == "__main__":
    main()
