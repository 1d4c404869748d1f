"""``python -m benchmarks.index``: what indexing costs, beside the floor, the bars and (``--peer``) peers in the same run.

Every figure comes from the real ``mog`` command or a real ``Workspace`` in a child process. Corpora are fetched by
package name into the user's cache folder and committed into fresh repositories. Prints the tables and writes
docs/results/index.md.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import edits, peers, report
from benchmarks.corpora import CORPORA, Corpus, CorpusMissing, many_files, pristine, repository, run_git
from benchmarks.figures import BARS, SYMPY_PEERS, Bar
from benchmarks.measure import CommandFailed, Cost, disk_bytes, run
from benchmarks.mog import mog_json

MB = 1_000_000
VARIED = (
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
    {"PYTHONHASHSEED": "2", "LC_ALL": "C", "TZ": "America/New_York"},
)
BARRED_CORPORA = ("django", "sympy")


@dataclass(slots=True)
class Results:
    """What one corpus gave: figures that have a bar, and everything worth saying beside them."""

    corpus: Corpus
    figures: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    floor: dict[str, float] = field(default_factory=dict)
    peers: list[peers.PeerResult] = field(default_factory=list)


def child(module: str, *args: str) -> dict[str, Any]:
    """Run one of the helper modules in a process of its own and decode what it printed."""
    cost = run([sys.executable, "-m", f"benchmarks.{module}", *args], cwd=report.REPOSITORY)
    document: dict[str, Any] = json.loads(cost.out)
    return document


def floor(corpus: Corpus, root: Path) -> dict[str, Any]:
    """Raw parse of the same files in one process."""
    return child("floor", str(root), *corpus.suffixes)


def full_index(results: Results, root: Path, repeats: int) -> None:
    """Index from nothing under changing hash seeds, locales and zones, between two measurements of the floor."""
    floors = [floor(results.corpus, root)]
    costs: list[Cost] = []
    hashes: set[str] = set()
    last: dict[str, Any] = {}
    for number in range(repeats):
        pristine(root)
        cost, last = mog_json(root, "index", env=VARIED[number % len(VARIED)])
        costs.append(cost)
        hashes.add(last["facts_hash"])
        report.say(f"  full index: {cost.cpu:.2f} CPU-s, {cost.wall:.2f} s, {cost.rss / MB:.0f} MB")
    floors.append(floor(results.corpus, root))
    results.floor = min(floors, key=lambda figures: figures["parse"])
    results.figures["full"] = statistics.median(cost.cpu for cost in costs)
    results.figures["rss"] = max(cost.rss for cost in costs) / MB
    results.figures["disk"] = disk_bytes(root / ".mog") / MB
    results.notes += [_counts(last), _ratio(results, costs), _determinism(hashes, repeats)]


def _counts(last: dict[str, Any]) -> str:
    calls = ", ".join(f"{count:,} {tier}" for tier, count in last["calls_by_tier"].items())
    edges = sum(last["edges"].values())
    return f"{last['files']:,} files, {last['symbols']:,} symbols, {edges:,} edges; calls: {calls}."


def _ratio(results: Results, costs: Sequence[Cost]) -> str:
    parse, files = results.floor["parse"], results.floor["files"]
    factor = results.figures["full"] / parse
    walls = ", ".join(f"{cost.wall:.1f}" for cost in costs)
    runs = ", ".join(f"{cost.cpu:.2f}" for cost in costs)
    biggest = max(cost.maxrss for cost in costs) / MB
    return (
        f"Floor in the same run: raw tree-sitter parse of its {files:,} code files {parse:.2f} CPU-s on one core; "
        f"the full index is {factor:.1f} × that. CPU-s of the runs: {runs}; wall: {walls} s. "
        f"Largest single process, shared pages included: {biggest:.0f} MB."
    )


def _determinism(hashes: set[str], repeats: int) -> str:
    same = "one facts hash" if len(hashes) == 1 else f"**{len(hashes)} different facts hashes**"
    return f"{repeats} full indexes under different hash seeds, locales and time zones: {same}."


def no_change(results: Results, root: Path) -> None:
    """Index again with nothing changed."""
    costs = [mog_json(root, "index")[0].cpu for _ in range(5)]
    results.figures["none"] = statistics.median(costs)
    results.notes.append("No-change runs: " + ", ".join(f"{cost:.2f}" for cost in costs) + " CPU-s.")


def cold_edits(results: Results, root: Path) -> None:
    """Edit one file, index with a new process, take it back; the hash must come back too."""
    _, before = mog_json(root, "index")
    said = []
    for kind in edits.KINDS:
        edits.apply(results.corpus, root, kind)
        cost, _ = mog_json(root, "index")
        run_git(root, "checkout", "-q", "--", ".")
        back, after = mog_json(root, "index")
        if after["facts_hash"] != before["facts_hash"]:
            said.append(f"**the facts hash did not come back after the {kind} edit**")
        said.append(f"{edits.SAID[kind]} {cost.cpu:.2f} (undone {back.cpu:.2f})")
        if kind == "append":
            results.figures["edit"] = cost.cpu
    results.notes.append("One edited file, cold command, CPU-s: " + "; ".join(said) + ".")


def live_edits(results: Results, root: Path, count: int) -> None:
    """Save → new generation in a live process; idle share afterwards."""
    answer = child("live", results.corpus.name, str(root), str(count))
    took = sorted(answer["ms"])
    p95 = took[min(len(took) - 1, int(len(took) * 0.95))]
    results.figures |= {"live": statistics.median(took), "idle": answer["idle"]}
    results.notes.append(
        f"Live, {count} edits (watcher: {answer['watcher']}): p50 {statistics.median(took):.0f} ms, p95 {p95:.0f} ms, "
        f"most {took[-1]:.0f} ms; idle afterwards {answer['idle']:.2f} % of one core."
    )
    run_git(root, "checkout", "-q", "--", ".")


def warm_questions(results: Results, root: Path) -> None:
    """Search, callers, closures in one warm process."""
    mog_json(root, "index")
    answer = child("warm", str(root))
    for key in ("search", "callers", "closure"):
        if answer[key]:
            results.figures[key] = statistics.median(answer[key])
    large = ", ".join(f"{size:,} nodes {took:.1f} ms" for size, took in sorted(answer["large"])[-3:])
    results.notes.append(
        f"{len(answer['search'])} searches: median {statistics.median(answer['search']):.2f} ms, "
        f"most {max(answer['search']):.1f} ms, the first of the process {answer['first']:.0f} ms; "
        f"{len(answer['closure'])} closures under 5,000 nodes" + (f"; larger ones: {large}." if large else ".")
    )


def measure(corpus: Corpus, options: argparse.Namespace) -> Results:
    """Everything about one corpus."""
    results = Results(corpus)
    root = repository(corpus)
    report.say(f"{corpus.name} {corpus.version}")
    full_index(results, root, options.repeats)
    for step in (no_change, cold_edits):
        step(results, root)
    live_edits(results, root, options.edits)
    warm_questions(results, root)
    if options.peer:
        results.peers = [peers.measure(peer, corpus, root) for peer in peers.PEERS]
    pristine(root)
    return results


def clean_files(count: int) -> tuple[float, str]:
    """No-change run over ``count`` clean files: CPU-s and a sentence."""
    root = many_files(count)
    report.say(f"{count:,} clean files")
    mog_json(root, "index")
    costs = [mog_json(root, "index")[0].cpu for _ in range(3)]
    git = run(["git", "status", "--porcelain"], cwd=root).cpu
    runs = ", ".join(f"{cost:.2f}" for cost in costs)
    return statistics.median(
        costs
    ), f"No-change over {count:,} clean files: {runs} CPU-s; `git status` alone {git:.2f}."


def million(nodes: int) -> tuple[dict[str, float], str]:
    """The synthetic closure: figures and a sentence."""
    folder = Path(tempfile.mkdtemp(prefix="mog-bench-"))
    try:
        built = child("scale", "build", str(folder), str(nodes))
        asked = child("scale", "ask", str(folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    note = (
        f"{nodes:,} nodes, {4 * nodes:,} edges through the store: written in {built['nodes'] + built['edges']:.1f} "
        f"CPU-s, arrays {built['arrays']:.1f}; {built['disk'] / nodes:.0f} B a node on disk, {asked['resident']:.0f} B "
        f"resident; opened in {asked['open'] * 1000:.1f} ms; closure of {asked['reached']:.0%} of it "
        f"{asked['warm']:.2f} CPU-s ({asked['cold']:.2f} the first time); an ordinary one "
        f"({asked['small_size']:.0f} nodes) {asked['small'] * 1000:.1f} ms."
    )
    return {"million": asked["warm"], "node": asked["resident"]}, note


def figure(bar: Bar, value: float) -> str:
    """A value with its unit, with as many digits as it deserves."""
    return f"{value:,.0f} {bar.unit}" if value >= 100 else f"{value:.2f} {bar.unit}"


def bar_rows(figures: dict[str, float], named: dict[str, str] | None = None) -> list[list[str]]:
    """Rows of the main table for the figures that were measured."""
    rows = []
    for key, bar in BARS.items():
        if key in figures:
            peer = bar.peer if named is None else named.get(key, "")
            goals = [f"≤ {bar.target:g}", f"≤ {bar.aim:g}"]
            rows.append([bar.what, figure(bar, figures[key]), *goals, bar.verdict(figures[key]), peer])
    return rows


def peer_table(results: Results) -> str:
    """Peers in the same run, ours first."""
    ours = results.figures
    rows = [
        [
            "**mog**",
            *(f"{ours[key]:.2f}" for key in ("full", "none", "edit")),
            f"{ours['rss']:.0f}",
            f"{ours['disk']:.0f}",
        ]
    ]
    for peer in results.peers:
        if peer.full and peer.none and peer.edit:
            costs = [f"{cost.cpu:.2f}" for cost in (peer.full, peer.none, peer.edit)]
            rows.append([peer.label, *costs, f"{peer.full.rss / MB:.0f}", f"{peer.disk / MB:.0f}"])
        else:
            rows.append([peer.label, peer.why_not, "", "", "", ""])
    head = ["same run, same corpus", "full CPU-s", "no change", "one edit", "peak MB", "disk MB"]
    return report.table(head, rows) + "\n\nProcessor time of daemons that a peer leaves behind is not in its figures."


def section(results: Results) -> str:
    """The part of the page about one corpus."""
    name = results.corpus.name
    named = None if name == "django" else SYMPY_PEERS if name == "sympy" else {}
    head = ["what", "measured", "target", "aim", "", "best peers"]
    parts = [
        f"## {name} {results.corpus.version}",
        report.table(head, bar_rows(results.figures, named)),
        "\n".join(f"- {note}" for note in results.notes),
    ]
    return "\n\n".join([*parts, peer_table(results)] if results.peers else parts)


def document(measured: Sequence[Results], scale: dict[str, float], notes: Sequence[str], host: str) -> str:
    """The page for docs/results/."""
    parts = [
        "# Cost of the code graph",
        f"Made by `python -m benchmarks.index`. {host}. Processor seconds count every descendant; memory is the peak "
        "of the anonymous memory summed over the process tree, sampled every 20 ms. The machine is shared and its "
        "clock drifts: compare ratios within one run.",
        *map(section, measured),
    ]
    if scale:
        head = ["what", "measured", "target", "aim", "", "best peers"]
        parts += ["## Scale", report.table(head, bar_rows(scale)), "\n".join(f"- {note}" for note in notes)]
    return "\n\n".join(parts)


def scale_part(options: argparse.Namespace) -> tuple[dict[str, float], list[str]]:
    """The synthetic figures, unless switched off."""
    figures: dict[str, float] = {}
    notes = []
    if options.nodes:
        found, note = million(options.nodes)
        figures |= found
        notes.append(note)
    if options.clean_files:
        figures["clean"], note = clean_files(options.clean_files)
        notes.append(note)
    return figures, notes


def shortfalls(measured: Sequence[Results], scale: dict[str, float]) -> list[str]:
    """Targets that were missed, where a target binds."""
    binding = [(r.corpus.name, r.figures) for r in measured if r.corpus.name in BARRED_CORPORA] + [("scale", scale)]
    return [
        f"{name}: {BARS[key].what}"
        for name, figures in binding
        for key, value in figures.items()
        if value > BARS[key].target
    ]


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.index", description=__doc__.partition("\n")[0])
    parser.add_argument("--corpus", choices=[*CORPORA, "all", "none"], default="all")
    parser.add_argument("--peer", action="store_true", help="install peers into the cache folder and time them too")
    parser.add_argument("--repeats", type=int, default=3, help="full indexes")
    parser.add_argument("--edits", type=int, default=20, help="live edits")
    parser.add_argument("--nodes", type=int, default=1_000_000, help="synthetic closure; 0 leaves it out")
    parser.add_argument("--clean-files", type=int, default=100_000, help="clean files; 0 leaves it out")
    parser.add_argument("--no-write", action="store_true", help="print only")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 when every binding target is met, 1 when one is missed, 2 when it could not run."""
    options = arguments(argv)
    names = list(CORPORA) if options.corpus == "all" else [name for name in CORPORA if name == options.corpus]
    host = report.machine()
    try:
        measured = [measure(CORPORA[name], options) for name in names]
        scale, notes = scale_part(options)
    except (CorpusMissing, CommandFailed) as error:
        report.say(str(error))
        return 2
    text = document(measured, scale, notes, host)
    print(text)
    if not options.no_write:
        report.write("index", text)
    missed = shortfalls(measured, scale)
    report.say("\n".join(["missed:", *missed]) if missed else "every target is met")
    return int(bool(missed))


if __name__ == "__main__":
    raise SystemExit(main())
