"""``python -m benchmarks.walks``: are answers right at hubs and in random graphs, dead ends named rightly, names kept apart?

Everything is laid out through the writer of a real mesh over a ledger in a temporary folder, and again in contextmesh-graph
0.1.1 (a development dependency) in the same process. Prints the tables and writes docs/results/walks.md.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import merges, report
from benchmarks.boards import Board, EarlierBoard, MogBoard
from benchmarks.dead_end_cases import CASES
from mog.engine.reason import terms

SEED = 20_260_101
HUBS = (100, 250, 500, 1_000)
HUB_QUESTIONS, GRAPH_QUESTIONS, NAME_QUESTIONS, EARLIER_NAMES = 30, 40, 400, 4
GOALS = {
    "hub": ("right answers at a hub of 1,000 claims, of 30", "≥", 28.0),
    "graph": ("right answers in a random graph of 10,000 nodes, of 40", "≥", 35.0),
    "dead_ends": (f"dead ends named rightly, of {len(CASES)}", "≥", float(len(CASES))),
    "p50": ("resolving a name among 100,000, p50, ms", "≤", 2.0),
    "precision": (f"precision on {len(merges.PAIRS)} labelled mentions", "≥", 0.95),
}


@dataclass(slots=True)
class Results:
    """Figures of mog that have a goal, figures of the earlier package under the same keys, and the detail tables."""

    ours: dict[str, float] = field(default_factory=dict)
    earlier: dict[str, float] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions put to one board: how many were answered with the claim meant, and milliseconds each."""

    right: int
    of: int
    ms: tuple[float, ...]

    def __str__(self) -> str:
        return f"{self.right} of {self.of}, {statistics.median(self.ms):.1f} ms"


def vocabulary(rng: random.Random, size: int) -> list[str]:
    """Pronounceable words of two to four syllables, none twice, none that a question is made of."""
    found: dict[str, None] = {}
    while len(found) < size:
        word = "".join(rng.choice("bdfgklmnprstvz") + rng.choice("aeiou") for _ in range(rng.randint(2, 4)))
        if word not in terms.STOP:
            found[word] = None
    return list(found)


def ask(board: Board, questions: Sequence[tuple[str, str]]) -> Asked:
    """Put (question, label of the answer meant) to a board, after one question that warms it."""
    board.ask("What is quite unrelated?")
    right, took = 0, []
    for question, meant in questions:
        began = time.perf_counter()
        answer, _ = board.ask(question)
        took.append((time.perf_counter() - began) * 1000)
        right += answer == meant
    return Asked(right, len(questions), tuple(took))


def both(lay: Callable[[Board], list[tuple[str, str]]]) -> tuple[Asked, Asked | None]:
    """Lay the same out on both boards and ask."""
    with tempfile.TemporaryDirectory(prefix="mog-bench-") as folder:
        board = MogBoard(Path(folder))
        with board.mesh.writing("laid"):
            questions = lay(board)
        ours = ask(board, questions)
    try:
        earlier = EarlierBoard()
    except ImportError:
        return ours, None
    return ours, ask(earlier, lay(earlier))


def hub(size: int) -> Callable[[Board], list[tuple[str, str]]]:
    """One entity with ``size`` claims, each of eight words from a source of its own; a question has four of them."""

    def lay(board: Board) -> list[tuple[str, str]]:
        rng = random.Random(SEED + size)
        words = vocabulary(rng, 1_500)
        entity = board.entity("Order Router")
        said = []
        for i in range(size):
            chosen = rng.sample(words, 8)
            label = f"The Order Router {' '.join(chosen)}."
            board.claim(label, board.source(f"Report {i}"), entity)
            said.append((chosen, label))
        picked = rng.sample(said, HUB_QUESTIONS)
        return [(f"Why does the Order Router {' '.join(rng.sample(c, 4))}?", label) for c, label in picked]

    return lay


def random_graph(size: int) -> Callable[[Board], list[tuple[str, str]]]:
    """10 % sources, 20 % entities, 60 % claims, 5 % assumptions, 5 % decisions, four edges a node, ends drawn at random.

    A question names an entity that its claim mentions, and six of the claim's ten words; all names and claims are made of
    the same 400 words, each of which is a name by itself too: every word of a question is in hundreds of texts.
    """

    def lay(board: Board) -> list[tuple[str, str]]:
        rng = random.Random(SEED)
        words = vocabulary(rng, 400)
        sources = [board.source(f"Document {i}") for i in range(size // 10)]
        names = _names(rng, words, size // 5)
        entities = [board.entity(name) for name in names]
        assumptions = [board.assumption(" ".join(rng.sample(words, 6))) for _ in range(size // 20)]
        claims, said = [], []
        for _ in range(size * 6 // 10):
            chosen, about = rng.sample(words, 10), rng.randrange(len(entities))
            label = " ".join(chosen) + "."
            claims.append(board.claim(label, rng.choice(sources), entities[about], rng.choice(entities)))
            said.append((names[about], chosen, label))
        decisions = [
            board.decision(" ".join(rng.sample(words, 5)), " ".join(rng.sample(words, 10)), rng.choice(sources))
            for _ in range(size // 20)
        ]
        _more_edges(board, rng, claims, decisions, assumptions, entities, size)
        picked = rng.sample(said, GRAPH_QUESTIONS)
        return [(f"Why does {name} {' '.join(rng.sample(chosen, 6))}?", label) for name, chosen, label in picked]

    return lay


def _names(rng: random.Random, words: list[str], count: int) -> list[str]:
    """Every word by itself, then pairs of words, all different."""
    found: dict[str, None] = dict.fromkeys(word.capitalize() for word in words[:count])
    while len(found) < count:
        found[" ".join(word.capitalize() for word in rng.sample(words, 2))] = None
    return list(found)


def _more_edges(
    board: Board, rng: random.Random, claims: list[str], decisions: list[str], assumptions: list[str], entities: list[str],
    size: int,
) -> None:  # fmt: skip
    """Edges between claims, decisions, assumptions and entities, until there are about four a node."""
    pairs = (
        ("cites", claims, claims), ("supports", claims, decisions), ("depends_on", claims, assumptions),
        ("mentions", claims, entities),
    )  # fmt: skip
    for _ in range(4 * size - 3 * len(claims)):
        kind, left, right = rng.choice(pairs)
        src, dst = rng.choice(left), rng.choice(right)
        if src != dst:
            board.edge(kind, src, dst)


def walks_part(results: Results, hubs: Sequence[int], size: int) -> None:
    """Right answers at hubs and in a random graph."""
    rows = []
    for count in hubs:
        report.say(f"hub of {count:,}")
        ours, earlier = both(hub(count))
        rows.append([f"hub of {count:,} claims", str(ours), str(earlier or "not installed")])
        results.ours["hub"] = ours.right
        if earlier:
            results.earlier["hub"] = earlier.right
    report.say(f"random graph of {size:,}")
    ours, earlier = both(random_graph(size))
    rows.append([f"random graph of {size:,} nodes", str(ours), str(earlier or "not installed")])
    results.ours["graph"] = ours.right
    if earlier:
        results.earlier["graph"] = earlier.right
    head = ["exact claim found, median of the questions", "mog", "contextmesh-graph 0.1.1"]
    results.parts.append("## Answers\n\n" + report.table(head, rows))


def dead_ends_part(results: Results) -> None:
    """Each labelled case on both boards."""
    rows, right, theirs = [], 0, 0
    for case in CASES:
        with tempfile.TemporaryDirectory(prefix="mog-bench-") as folder:
            board = MogBoard(Path(folder))
            case.lay(board)
            ours = "".join(board.ask(case.question))
        earlier = _earlier_outcome(case.lay, case.question)
        right += ours == case.expected
        theirs += earlier == case.expected
        rows.append([case.name, case.expected, _mark(ours, case.expected), _mark(earlier, case.expected)])
    results.ours["dead_ends"] = right
    if theirs:
        results.earlier["dead_ends"] = theirs
    results.parts.append(
        "## Dead ends\n\n" + report.table(["case", "expected", "mog", "contextmesh-graph 0.1.1"], rows)
    )


def _earlier_outcome(lay: Callable[[Any], None], question: str) -> str:
    try:
        board = EarlierBoard()
    except ImportError:
        return "not installed"
    lay(board)
    return "".join(board.ask(question))


def _mark(got: str, expected: str) -> str:
    return "right" if got == expected else got


def names_part(results: Results, count: int) -> None:
    """Time to resolve among names that share their first words."""
    report.say(f"{count:,} names")
    rng = random.Random(SEED)
    names = [f"Service module_{i % 300:03d} handler_{i // 300:03d}" for i in range(count)]
    asked = [name.replace("_", "-").replace("Service", "services") for name in rng.sample(names, NAME_QUESTIONS // 2)]
    asked += [name + " tests" for name in rng.sample(names, NAME_QUESTIONS // 2)]
    rng.shuffle(asked)
    with tempfile.TemporaryDirectory(prefix="mog-bench-") as folder:
        board = MogBoard(Path(folder))
        with board.mesh.writing("laid") as w:
            for name in names:
                w.entity(name)
        resolver = board.walker.resolver
        began = time.perf_counter()
        resolver.resolve("warm")
        built = time.perf_counter() - began
        ours = _timed(lambda name: resolver.resolve(name).entity, asked)
    results.ours["p50"] = statistics.median(ours)
    rows = [["mog", *_spread(ours), f"{built:.1f}"]]
    theirs = _earlier_times(names, asked[:EARLIER_NAMES])
    if theirs:
        results.earlier["p50"] = statistics.median(theirs)
        rows.append(["contextmesh-graph 0.1.1", *_spread(theirs), ""])
    head = [
        f"{count:,} names, half the mentions in another spelling, half of no name",
        "p50 ms",
        "p95 ms",
        "most ms",
        "index s",
    ]
    results.parts.append("## Names\n\n" + report.table(head, rows))


def _timed(resolve: Callable[[str], object], names: Sequence[str]) -> list[float]:
    took = []
    for name in names:
        began = time.perf_counter()
        resolve(name)
        took.append((time.perf_counter() - began) * 1000)
    return sorted(took)


def _spread(took: Sequence[float]) -> list[str]:
    return [f"{value:.2f}" for value in (statistics.median(took), took[int(len(took) * 0.95)], took[-1])]


def _earlier_times(names: Sequence[str], asked: Sequence[str]) -> list[float]:
    try:
        from contextmesh.resolve import Resolver as EarlierResolver
    except ImportError:
        return []
    resolver = EarlierResolver()
    for number, name in enumerate(names):
        resolver.register(f"entity:{number}", name, [])
    return _timed(resolver.resolve, asked)


def merges_part(results: Results) -> None:
    """Precision and recall on the labelled merge set."""
    with tempfile.TemporaryDirectory(prefix="mog-bench-") as folder:
        board = MogBoard(Path(folder))
        with board.mesh.writing("laid") as w:
            for name in merges.NAMES:
                w.entity(name)
        found = merges.judge(lambda mention: board.walker.resolver.resolve(mention).label)
    results.ours["precision"] = found.precision
    rows = [["mog", *_judged(found)]]
    earlier = _earlier_merging()
    if earlier:
        results.earlier["precision"] = earlier.precision
        rows.append(["contextmesh-graph 0.1.1", *_judged(earlier)])
    head = [f"{len(merges.PAIRS)} mentions, {len(merges.NAMES)} names", "merges", "precision", "recall", "traps merged"]
    wrong = [
        f"- {mention!r} was taken for {taken!r}" + (f", not {meant!r}" if meant else "")
        for mention, taken, meant in found.wrong
    ]
    missed = [f"- {mention!r} was not seen to be {meant!r}" for mention, meant in found.missed]
    parts = [
        "## Merges",
        report.table(head, rows),
        "\n".join(["Wrong or missed by mog:", "", *(wrong + missed or ["- nothing"])]),
    ]
    results.parts.append("\n\n".join(parts))


def _judged(found: merges.Merging) -> list[str]:
    traps = sum((mention, "") in merges.TRAPS for mention, _, _ in found.wrong)
    return [str(found.merged), f"{found.precision:.3f}", f"{found.recall:.3f}", f"{traps} of {len(merges.TRAPS)}"]


def _earlier_merging() -> merges.Merging | None:
    try:
        from contextmesh.resolve import Resolver as EarlierResolver
    except ImportError:
        return None
    resolver = EarlierResolver()
    for number, name in enumerate(merges.NAMES):
        resolver.register(f"entity:{number}", name, [])
    return merges.judge(lambda mention: resolver.resolve(mention).canonical_label or "")


def met(key: str, value: float) -> bool:
    """Whether a figure reaches its goal."""
    _, sign, goal = GOALS[key]
    return value >= goal if sign == "≥" else value <= goal


def document(results: Results, host: str) -> str:
    """The page for docs/results/."""
    rows = []
    for key, (what, sign, goal) in GOALS.items():
        if key in results.ours:
            value, peer = results.ours[key], results.earlier.get(key)
            verdict = "target met" if met(key, value) else "**short**"
            rows.append(
                [what, _figure(value), f"{sign} {goal:g}", verdict, "not installed" if peer is None else _figure(peer)]
            )
    head = ["what", "measured", "target", "", "contextmesh-graph 0.1.1, same process"]
    parts = [
        "# Walks, dead ends and names",
        f"Made by `python -m benchmarks.walks`. {host}. Both systems get the same nodes, edges and questions, made from one "
        "seed. The machine is shared: compare times within one run. The labelled sets are `benchmarks/dead_end_cases.py` "
        "and `benchmarks/merges.py`; both were written here, so they show faults better than merits.",
        report.table(head, rows),
        *results.parts,
    ]
    return "\n\n".join(parts)


def _figure(value: float) -> str:
    return f"{value:g}" if value == int(value) else f"{value:.3f}"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; 0 when every target is met, 1 when one is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.walks", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=10_000, help="nodes of the random graph")
    parser.add_argument("--names", type=int, default=100_000, help="names to resolve among")
    parser.add_argument("--no-write", action="store_true", help="print only")
    options = parser.parse_args(argv)
    results, host = Results(), report.machine()
    merges_part(results)
    dead_ends_part(results)
    walks_part(results, HUBS, options.nodes)
    names_part(results, options.names)
    text = document(results, host)
    print(text)
    if not options.no_write:
        report.write("walks", text)
    missed = [GOALS[key][0] for key, value in results.ours.items() if not met(key, value)]
    report.say("\n".join(["missed:", *missed]) if missed else "every target is met")
    return int(bool(missed))


if __name__ == "__main__":
    raise SystemExit(main())
