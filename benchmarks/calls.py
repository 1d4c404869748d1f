"""``python -m benchmarks.calls``: is the call graph of django, or of another truth, right? Judged against calls recorded at run time.

Fetches django 5.2.19 by package name, commits it into a fresh repository, indexes it with the ``mog`` command, exports
the call edges and scores them by tier; prints the table and writes docs/results/calls.md.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks import report
from benchmarks.corpora import CORPORA, CorpusMissing, pristine, repository
from benchmarks.measure import CommandFailed
from benchmarks.mog import mog, mog_json
from benchmarks.scoring import CallEdge, Score, Truth, caller_lists, of_tiers, score, worst_names

DEFAULT_TRUTH = report.REPOSITORY.parent / "shared" / "data" / "calls-django.json.gz"
STEPS = (
    ("certain", ("certain",)),
    ("certain + hierarchy", ("certain", "hierarchy")),
    ("certain + hierarchy + candidate", ("certain", "hierarchy", "candidate")),
)
KINDS = ("name", "self", "attr", "super")
PEERS = (
    ("scip-python 0.6.6", ".971", ".710", ".581", ".68 / .99"),
    ("codebase-memory-mcp, confidence ≥ .9", ".955", ".467", ".382", ".24 / .97"),
    ("codebase-memory-mcp, all", ".643", ".776", ".635", ".61 / .90"),
    ("@colbymchenry/codegraph 1.6.1", ".743", ".730", ".597", ".49 / .97"),
    ("code-review-graph 2.3.9", ".960", ".497", ".406", ".26 / 1.0"),
    ("graphify 0.9.96", ".958", ".602", ".492", ".44 / .97"),
    ("mogestrator 0.1.2", ".365", ".776", ".670", ".55 / .78"),
)
GOALS = (
    ("certain: strict precision", "certain", "precision", 0.97, 0.98),
    ("certain: site recall", "certain", "site_recall", 0.76, 0.82),
    ("with candidates: site recall", "certain + hierarchy + candidate", "site_recall", 0.88, 0.92),
)


def read_truth(path: Path) -> Truth:
    """Decode the truth file. Exits with a sentence when it is not there."""
    if not path.exists():
        sys.exit(f"no truth file at {path.name}: give its place with --truth (it is not part of this repository)")
    with gzip.open(path, "rt", encoding="utf-8") as handle:
        return Truth.of(json.load(handle))


def read_edges(lines: Iterable[str]) -> list[CallEdge]:
    """Edges from JSON Lines as ``mog export edges --kind calls --jsonl`` writes them, those to nowhere left out."""
    rows = (json.loads(line) for line in lines if line.strip())
    return [CallEdge(r["caller"], r["callee"], r["name"], r["tier"]) for r in rows if r.get("callee")]


def export_edges(root: Path) -> list[CallEdge]:
    """Index the repository from nothing and export its call edges with the real command."""
    pristine(root)
    report.say("indexing django …")
    cost, counts = mog_json(root, "index")
    report.say(f"  {counts['files']} files, {counts['symbols']} symbols, {cost.cpu:.1f} CPU-s")
    return read_edges(mog(root, "export", "edges", "--kind", "calls", "--jsonl").out.splitlines())


def figure(value: float) -> str:
    """Three digits without the leading zero."""
    return f"{value:.3f}".replace("0.", ".", 1)


def tier_rows(edges: Sequence[CallEdge], truth: Truth) -> list[list[str]]:
    """One row a step of tiers: precision, site recall, edge recall, caller lists, edges drawn."""
    rows = []
    for label, tiers in STEPS:
        chosen = of_tiers(edges, tiers)
        all_sites, callers = score(chosen, truth), caller_lists(chosen, truth)
        lists = f"{callers.recall:.2f} / {callers.precision:.2f}".replace("0.", ".")
        recalls = [figure(all_sites.precision), figure(all_sites.site_recall), figure(all_sites.edge_recall)]
        rows.append([f"**mog** {label}", *recalls, lists, f"{len(chosen):,}"])
    return rows


def kind_rows(edges: Sequence[CallEdge], truth: Truth) -> list[list[str]]:
    """Site recall and precision at written callees by how the call is written (external sites have no kind)."""
    rows = []
    for label, tiers in STEPS:
        scores = [score(of_tiers(edges, tiers), truth, kind) for kind in KINDS]
        rows.append(
            [label, *(f"{figure(s.site_recall)} / {figure(s.edge_recall)} / {figure(s.precision)}" for s in scores)]
        )
    return rows


def goal_rows(edges: Sequence[CallEdge], truth: Truth) -> list[list[str]]:
    """Measured against target and aim."""
    tiers = dict(STEPS)
    rows = []
    for label, step, attribute, target, aim in GOALS:
        value = getattr(score(of_tiers(edges, tiers[step]), truth), attribute)
        verdict = "aim met" if value >= aim else "target met" if value >= target else "**short**"
        rows.append([label, figure(value), f"≥ {figure(target)}", f"≥ {figure(aim)}", verdict])
    return rows


def verdicts(edges: Sequence[CallEdge], truth: Truth) -> str:
    """How many judged edges were wrong and why, a tier at a time."""
    parts = []
    for _, tiers in STEPS:
        own: Score = score(of_tiers(edges, tiers[-1:]), truth)
        parts.append(f"{tiers[-1]}: {own.right} right, {own.wrong} wrong target, {own.external} at external sites")
    return "Judged edges by tier: " + "; ".join(parts) + "."


def document(edges: Sequence[CallEdge], truth: Truth) -> str:
    """The page for docs/results/."""
    head = ["", "strict precision", "site recall", "edge recall", "30 caller lists, recall / precision", "edges drawn"]
    named = truth.corpus or "django 5.2.19"
    peers = [[*peer, ""] for peer in PEERS] if "django" in named else []
    beside = ", beside the peers\n\nPeers were measured on the same truth with the whole sdist in scope." if peers else ""
    return "\n\n".join(
        [
            f"# Call graph of {named} against calls seen at run time",
            f"Made by `python -m benchmarks.calls`. {len(truth.sites):,} sites and "
            f"{sum(map(len, truth.sites.values())):,} edges that its own tests ran, and {len(truth.external):,} "
            "sites that only ever left the package: an edge drawn there counts as wrong. Sites that did not run are "
            "not judged.",
            report.table(["what", "measured", "target", "aim", ""], goal_rows(edges, truth)),
            f"## By tier{beside}",
            report.table(head, tier_rows(edges, truth) + peers),
            "## By how the call is written\n\nSite recall / edge recall / precision among callees inside the package.",
            report.table(["tiers", *KINDS], kind_rows(edges, truth)),
            verdicts(edges, truth),
        ]
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met, 1 when one falls short, 2 when it could not run."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calls", description=__doc__.partition("\n")[0])
    parser.add_argument("--truth", type=Path, default=DEFAULT_TRUTH, help="calls-django.json.gz")
    parser.add_argument("--edges", type=Path, help="score this export instead of indexing")
    parser.add_argument("--worst", action="store_true", help="also list the names with most wrong certain edges")
    parser.add_argument("--no-write", action="store_true", help="print only")
    options = parser.parse_args(argv)
    truth = read_truth(options.truth)
    try:
        if options.edges:
            edges = read_edges(options.edges.read_text(encoding="utf-8").splitlines())
        else:
            edges = export_edges(repository(CORPORA["django"]))
    except (CorpusMissing, CommandFailed) as error:
        report.say(str(error))
        return 2
    text = document(edges, truth)
    print(text)
    if options.worst:
        print(worst_names(of_tiers(edges, ("certain",)), truth))
    if not options.no_write and not options.edges:
        report.write("calls", text)
    return int("**short**" in text)


if __name__ == "__main__":
    raise SystemExit(main())
