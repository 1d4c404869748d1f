"""Search and packs in a warm process: the list, the list reordered, a pack of 4,000 tokens, and where hubs are in the way.

    python -m benchmarks.context [--corpus django] [--write]

Who calls: a person. Questions are made from the corpus alone: names, the words of names, and first sentences of documentation.
What may not come in: accuracy (``mog eval run localization``), a process per question (``benchmarks.mcp_latency``).
"""

from __future__ import annotations

import argparse
import gc
import resource
import time
from collections.abc import Callable, Sequence
from statistics import quantiles

from benchmarks import report
from benchmarks.corpora import CORPORA, pristine, repository
from benchmarks.warm import symbols, words
from mog.engine.retrieval.weights import SPREAD
from mog.engine.workspace import Workspace

BUDGET, HUBS = 4_000, 20
LONG = 40
TARGETS = {"list": 10.0, f"pack of {BUDGET:,} tokens": 50.0}


def questions(workspace: Workspace) -> list[str]:
    """Names, the words of names, and first sentences of documentation."""
    nodes = symbols(workspace)
    told = [workspace.find(node.id).doc for node in nodes]
    sentences = [doc.partition(". ")[0] for doc in told if len(doc.split()) > 3]
    return [*(node.name for node in nodes[::2]), *(words(node.name) for node in nodes[1::2]), *sentences]


def times(ask: Callable[[str], object], asked: Sequence[str]) -> tuple[list[float], list[float]]:
    """(wall, processor) milliseconds of each question, asked once before the clock runs."""
    wall, cpu = [], []
    for question in asked:
        ask(question)
        began, used = time.perf_counter(), time.process_time()
        ask(question)
        cpu.append((time.process_time() - used) * 1000)
        wall.append((time.perf_counter() - began) * 1000)
    return wall, cpu


def row(name: str, wall: Sequence[float], cpu: Sequence[float]) -> list[str]:
    """p50, p95 and the slowest, beside the target for p95."""
    at = quantiles(wall, n=20)
    target = TARGETS.get(name)
    verdict = "" if target is None else f"≤ {target:.0f} " + ("met" if at[18] <= target else "**short**")
    return [name, f"{at[9]:.1f}", f"{at[18]:.1f}", f"{max(wall):.1f}", f"{quantiles(cpu, n=20)[18]:.1f}", verdict]


def hubs(workspace: Workspace) -> str:
    """What is found beside the best-connected symbols, whose neighbours are more than are ever followed."""
    rows = workspace.map(limit=HUBS * 4).rows
    nodes = [node for one in rows for node in one.top[:1] if node.type == "symbol"][:HUBS]
    near, blind, capped = [], 0, 0
    for node in nodes:
        pack = workspace.context.search(node.name, budget=BUDGET)
        beside = sum(1 for item in pack.items if item.path)
        near.append(beside)
        blind += beside == 0 and len(pack.items) < 2
        capped += any("not followed" in note for note in pack.boundary.notes)
    return (
        f"{len(nodes)} hubs asked for by name (at most {SPREAD.fan} neighbours of a node are followed, the best first): on"
        f" average {sum(near) / max(1, len(near)):.1f} items of a pack came over a link, {blind} packs held nothing beside the"
        f" hub, {capped} said how many neighbours were not followed."
    )


def measured(workspace: Workspace) -> tuple[list[list[str]], str]:
    """Rows of the table, and what the first question cost."""
    context = workspace.context
    began, used = time.perf_counter(), _cpu()
    context.ranked("where is the request handled")
    first = f"{time.perf_counter() - began:.1f} s wall, {_cpu() - used:.1f} CPU-s"
    asked = questions(workspace)
    said = " ".join(asked).split()
    texts = [" ".join(said[at : at + LONG]) for at in range(0, len(said) - LONG, LONG // 2)]
    gc.collect()
    rows = [
        row("list", *times(lambda text: context.ranked(text), asked)),
        row(f"list, texts of {LONG} words, reordered by the trees", *times(lambda text: context.ranked(text), texts)),
        row(f"pack of {BUDGET:,} tokens", *times(lambda text: context.search(text, budget=BUDGET), asked)),
        row("pack, spread by PageRank", *times(lambda text: context.search(text, budget=BUDGET, spread="ppr"), asked)),
    ]
    return rows, f"The first question after a full index reads every file once: {first}. {len(asked)} questions."


def _cpu() -> float:
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in both)


def main() -> None:
    """Index the corpus, ask, print; ``--write`` keeps the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", choices=sorted(CORPORA), default="django")
    parser.add_argument("--write", action="store_true", help="write docs/results/context.md")
    options = parser.parse_args()
    corpus = CORPORA[options.corpus]
    root = repository(corpus)
    pristine(root)
    Workspace.init(root)
    with Workspace.open(root) as workspace:
        workspace.index()
        rows, first = measured(workspace)
        page = "\n\n".join([
            f"# Search and packs in process, {corpus.package} {corpus.version}",
            report.table(["warm", "p50, ms", "p95, ms", "slowest", "CPU p95, ms", "target of p95"], rows),
            first, hubs(workspace), f"Machine: {report.machine()}. Again: `python -m benchmarks.context --write`.",
        ])  # fmt: skip
    print(page)
    if options.write:
        report.write("context", page)


if __name__ == "__main__":
    main()
