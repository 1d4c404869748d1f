"""``python -m benchmarks.static_calls FOLDER --truth FILE``: call edges held against what a type checker resolves.

FOLDER is a checkout with git; the truth is a file of JSON Lines (``benchmarks/truth/go_calls.go`` makes one of any Go module, that
of cobra at ``adbc881`` lies beside it). Indexes with the real ``mog`` command and prints right and wrong edges by tier. The figures of
docs/results/languages.md are from here.
"""

from __future__ import annotations

import argparse
import gzip
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import report
from benchmarks.calls import figure, read_edges
from benchmarks.measure import CommandFailed
from benchmarks.mog import mog, mog_json
from benchmarks.scoring import CallEdge
from benchmarks.static_scoring import StaticTruth, judged, read_truth

TRUTH = Path(__file__).parent / "truth" / "calls-cobra.jsonl.gz"
TIERS = (("certain",), ("certain", "hierarchy"), ("certain", "hierarchy", "candidate"))


def rows(edges: Sequence[CallEdge], truth: StaticTruth) -> list[list[str]]:
    """One row a step of tiers: right, wrong, precision, recall."""
    found = []
    for tiers in TIERS:
        right, wrong = judged((edge for edge in edges if edge.tier in tiers), truth)
        precision = len(right) / max(1, len(right) + len(wrong))
        recall = len(right) / max(1, len(truth.edges))
        found.append([" + ".join(tiers), f"{len(right):,}", f"{len(wrong):,}", figure(precision), figure(recall)])
    return found


def main() -> None:
    """Index, export, judge, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--truth", type=Path, default=TRUTH)
    args = parser.parse_args()
    try:
        with gzip.open(args.truth, "rt", encoding="utf-8") as handle:
            truth = read_truth(handle)
        mog_json(args.folder, "index")
        edges = read_edges(mog(args.folder, "export", "edges", "--kind", "calls", "--jsonl").out.splitlines())
    except (OSError, CommandFailed) as failed:
        sys.exit(f"cannot judge: {failed}")
    report.say(report.table(["tiers", "right", "wrong", "precision", "recall"], rows(edges, truth)))


if __name__ == "__main__":
    main()
