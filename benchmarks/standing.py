"""Standing, blast radius and smallest losses: exactness against an answer-set solver, latency, memory.

Who calls: ``benchmarks.beliefs``; alone with ``python -m benchmarks.standing labels|previews|shapes|memory|strength``.
What may not come in: the graph and the store; what they add is measured in ``benchmarks.beliefs``.

Times are processor time of this thread: the machine is shared. A preview is what the workbench does: apply, work out
the whole radius, take back.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks import report
from mog.engine.reason.minimal import strength
from mog.engine.reason.radius import Radius, radius
from mog.engine.reason.standing import Standing

sys.path.append(str(report.REPOSITORY / "tests" / "helpers"))

SHAPES = {"chain": 4_000, "star": 50_000}


@dataclass(frozen=True, slots=True)
class Labels:
    """A long random run. ``operations`` counts single writes, refused ones included; every one is followed by a check."""

    operations: int
    refused: int
    flips: int
    mismatches: int
    first: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Previews:
    """Milliseconds of previews of losing one given node, and how many nodes fell and weakened by it."""

    nodes: int
    grounds: int
    load_ms: float
    p50: float
    p95: float
    most: float
    falls_p50: int
    falls_most: int
    weakens_mean: float


@dataclass(frozen=True, slots=True)
class Shape:
    """One extreme shape: milliseconds until the radius is there, milliseconds to take the change back, peak bytes."""

    name: str
    nodes: int
    radius_ms: float
    back_ms: float
    peak: int
    earlier_ms: float | None


def labels(operations: int = 100_000, seed: int = 1) -> Labels:
    """Random writes over 4 to 40 nodes with cycles, alternatives, defeaters, withdrawals, dropped grounds, retiring and
    superseding. After every write the engine's labels and grounds are compared with a solver that starts from nothing,
    and its refusals with networkx."""
    import standing_twin

    began, rng = time.perf_counter(), random.Random(seed)
    done = refused = flips = mismatches = 0
    first = ""
    while done < operations:
        graph = rng.randrange(2**32)
        twin = standing_twin.Twin(f"n{at:02}" for at in range(rng.choice((4, 8, 12, 20, 30))))
        run = random.Random(graph)
        for _ in range(250):
            for op in twin.random_change(run):
                before = twin.labels()
                try:
                    twin.attempt(op)
                    twin.check()
                except AssertionError as error:
                    mismatches, first = mismatches + 1, first or f"graph {graph}, {op}: {error}"
                flips += len(before ^ twin.labels())
                done += 1
        refused += twin.refused
    return Labels(done, refused, flips, mismatches, first, time.perf_counter() - began)


def reasoning(nodes: int, seed: int = 3) -> Standing:
    """A tenth of the nodes given, the rest with one ground (seven in ten) or two, of one to three premises near by."""
    rng, standing = random.Random(seed), Standing()
    names = [f"{at:032x}" for at in range(nodes)]
    with standing.bulk():
        for at, node in enumerate(names):
            standing.add(node)
            if at >= nodes // 10:
                for turn in range(rng.choices((1, 2), (7, 3))[0]):
                    near = range(max(0, at - nodes // 5), at)
                    standing.ground(
                        f"g{at}.{turn}", node, [names[rng.choice(near)] for _ in range(rng.choice((1, 2, 3)))]
                    )
    return standing


def preview(standing: Standing, node: str) -> tuple[Radius, float, float]:
    """The radius of losing a node, milliseconds until it is there, milliseconds to take the loss back."""
    began = time.thread_time()
    watch = standing.begin()
    standing.force_out(node, True)
    found = radius(standing, watch)
    there = time.thread_time()
    standing.force_out(node, False)
    standing.end()
    return found, (there - began) * 1e3, (time.thread_time() - there) * 1e3


def previews(nodes: int, count: int = 200, seed: int = 5) -> Previews:
    """Previews of given nodes chosen at random."""
    began = time.thread_time()
    standing = reasoning(nodes)
    load = (time.thread_time() - began) * 1e3
    given = [node for node, n in standing.slot.items() if not standing.ground_count[n]]
    gc.collect()
    rows = [preview(standing, node) for node in random.Random(seed).choices(given, k=count)]
    took = sorted(there + back for _, there, back in rows)
    falls = sorted(len(found.falls) for found, _, _ in rows)
    weakens = sum(len(found.weakens) for found, _, _ in rows) / count
    p95 = took[int(count * 0.95)]
    return Previews(
        nodes, len(standing.ground_slot), load, took[count // 2], p95, took[-1], falls[count // 2], falls[-1], weakens
    )


def shaped(name: str, size: int) -> Standing:
    """A chain, or a star, of ``size`` nodes that rest on node "0"."""
    standing = Standing()
    standing.add("0")
    for at in range(1, size + 1):
        standing.add(str(at))
        standing.ground(f"g{at}", str(at), [str(at - 1) if name == "chain" else "0"])
    return standing


def shape(name: str, *, peer: bool = False, repeats: int = 5) -> Shape:
    """The best of some previews of losing the root, and the peak of one more."""
    standing = shaped(name, SHAPES[name])
    gc.collect()
    rows = [preview(standing, "0")[1:] for _ in range(repeats)]
    tracemalloc.start()
    try:
        preview(standing, "0")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    earlier = earlier_shape(name) if peer else None
    return Shape(name, SHAPES[name], min(there for there, _ in rows), min(back for _, back in rows), peak, earlier)


def earlier_shape(name: str) -> float:
    """Milliseconds of ``blast_radius`` of the earlier package on the same shape; it plans only and takes nothing back."""
    from contextmesh.assumptions import AssumptionLedger
    from contextmesh.decisions import DecisionLog
    from contextmesh.graph import ContextGraph
    from contextmesh.model import EdgeType, NodeType

    graph = ContextGraph()
    ledger, log = AssumptionLedger(graph), DecisionLog(graph)
    source = graph.add_node(NodeType.SOURCE, "s", attrs={"origin": "x", "retrieved_at": "2026-01-01"}).id
    root = ledger.assume("root").id
    last = ""
    for at in range(SHAPES[name]):
        made = log.decide(f"{at} decides", "because", source_id=source, id=f"{at:06}-d").id
        if last and name == "chain":
            graph.add_edge(made, EdgeType.DEPENDS_ON, last)
        else:
            ledger.depends(made, root)
        last = made
    began = time.thread_time()
    found = ledger.blast_radius(root)
    took = (time.thread_time() - began) * 1e3
    if len(found) != SHAPES[name]:
        raise RuntimeError(f"the earlier package found {len(found)} of {SHAPES[name]} nodes")
    return took


def bytes_per_node(nodes: int = 100_000, premises: int = 4) -> float:
    """Memory of standing alone for a node with one ground of ``premises`` premises; the texts of ids are the caller's."""
    rng = random.Random(1)
    names, gids = [f"{at:032x}" for at in range(nodes)], [f"g{at:031x}" for at in range(nodes)]
    wanted = [rng.sample(names[max(0, at - 2000) : at], premises) if at >= premises else [] for at in range(nodes)]
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        standing = Standing()
        for node, gid, all_of in zip(names, gids, wanted, strict=True):
            standing.add(node)
            if all_of:
                standing.ground(gid, node, all_of)
        return (tracemalloc.get_traced_memory()[0] - before) / nodes
    finally:
        tracemalloc.stop()


def strengths(nodes: int, count: int = 100, seed: int = 7) -> dict[str, Any]:
    """Milliseconds of the question "what would it take", and how often the work allowed ran out."""
    standing = reasoning(nodes)
    took, needs, cut = [], {}, 0
    for node in random.Random(seed).choices(list(standing.slot), k=count):
        began = time.thread_time()
        found = strength(standing, node)
        took.append((time.thread_time() - began) * 1e3)
        needs[found.needs] = needs.get(found.needs, 0) + 1
        cut += found.truncated
    took.sort()
    return {"nodes": nodes, "p50": took[count // 2], "p95": took[int(count * 0.95)], "truncated": cut, "needs": needs}


PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "labels": lambda options: asdict(labels(options.operations, options.seed)),
    "previews": lambda options: [asdict(previews(nodes)) for nodes in options.nodes],
    "shapes": lambda options: [asdict(shape(name, peer=options.peer)) for name in SHAPES],
    "memory": lambda options: {"bytes_per_node": bytes_per_node(max(options.nodes))},
    "strength": lambda options: [strengths(nodes) for nodes in options.nodes],
}


def main(argv: Sequence[str] | None = None) -> int:
    """Print one part as JSON; 1 when a label was wrong."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.standing", description=__doc__.partition("\n")[0])
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--operations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--peer", action="store_true", help="run the earlier package beside it")
    options = parser.parse_args(argv)
    found = PARTS[options.part](options)
    print(json.dumps(found, indent=2, default=str))
    return int(isinstance(found, dict) and bool(found.get("mismatches")))


if __name__ == "__main__":
    raise SystemExit(main())
