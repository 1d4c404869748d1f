"""``python -m benchmarks.mcp_latency``: when a server is ready, and how long warm calls take from another process, on Django.

Ready is from the start of the process until ``tools/list`` is answered over stdio, beside a server of the same SDK with one tool, the
two by turns in one run. Warm calls go to an owner that has settled after its start, each question once and once more, and to a server
that bridges to it; beside them the same questions asked of the engine inside a process, and the one tool. Ten clients then ask at
once, and every answer has to be theirs. ``--repo`` takes an indexed checkout instead of fetching one; it is copied. What may not come
in: what an answer says.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpora, report
from benchmarks.mcp_world import Raw, apart, copied, echo
from benchmarks.warm import symbols, words
from mog.engine.workspace import Workspace

STARTS = 15
CLIENTS, EACH, WARM = 10, 20, 10
SETTLED = 3.0  # seconds after which a server has brought its index up, and watches
BUDGET = 2_000


def ready(root: Path, command: Sequence[str] = ()) -> float:
    """Seconds until the tools of a new server are listed."""
    began = time.perf_counter()
    with Raw(root, command=command) as client:
        client.open()
        client.ask("tools/list", {})
        took = time.perf_counter() - began
        client.close()
    return took


def starts(root: Path, one_tool: Sequence[str], times: int) -> tuple[list[float], list[float], list[float]]:
    """Of ours, of the one tool, of ours as a bridge to a living owner; by turns."""
    ours, theirs = [], []
    for _ in range(times):
        ours.append(ready(root))
        theirs.append(ready(root, one_tool))
    with Raw(root) as owner:
        owner.open()
        owner.call("recall")
        bridged = [ready(root) for _ in range(times)]
        owner.close()
    return ours, theirs, bridged


def symbols_of(root: Path) -> list[str]:
    """Locators of symbols spread over the files that others lean on most."""
    with Workspace.open(root) as workspace:
        return [node.locator for node in symbols(workspace)]


def questions(locators: Sequence[str]) -> list[str]:
    """Words of symbols, as somebody asks who does not know the name."""
    return [words(locator.rpartition("::")[2].rpartition(".")[2]) for locator in locators]


def timed(call: Callable[[Any], object], each: Sequence[Any]) -> list[float]:
    """Milliseconds of one call for each but the first few, which warm it up."""
    for one in each[:WARM]:
        call(one)
    found = []
    for one in each[WARM:]:
        began = time.perf_counter()
        call(one)
        found.append((time.perf_counter() - began) * 1_000)
    return found


def engine(root: Path, targets: Sequence[str], asked: Sequence[str]) -> dict[str, list[float]]:
    """The same without any protocol."""
    with Workspace.open(root) as workspace:
        return {
            "callers": timed(lambda one: workspace.impact(one, depth=1, limit=60), targets),
            "search_context": timed(lambda one: workspace.context.search(one, budget=BUDGET), asked),
        }


def served(client: Raw, targets: Sequence[str], asked: Sequence[str]) -> dict[str, list[float]]:
    """Over stdio, from this process."""
    return {
        "callers": timed(lambda one: _right(client.call("impact", target=one, depth=1)), targets),
        "search_context": timed(lambda one: _right(client.call("search_context", query=one, budget=BUDGET)), asked),
    }


def _right(result: dict[str, Any]) -> dict[str, Any]:
    if result.get("isError"):
        raise RuntimeError(result["content"][0]["text"])
    return result


def at_once(root: Path, targets: Sequence[str]) -> tuple[int, int, int, float]:
    """Ten clients ask and write at once: answers that are the right ones, those that say it takes too long, of how many, seconds."""
    clients = [Raw(root) for _ in range(CLIENTS)]
    right: list[bool] = []
    late: list[bool] = []
    try:
        for client in clients:
            client.open()
        _right(clients[0].call("why", target=targets[0]))
        began = time.perf_counter()
        each = ((client, number, targets, right, late) for number, client in enumerate(clients))
        threads = [threading.Thread(target=_ask_all, args=given) for given in each]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        took = time.perf_counter() - began
    finally:
        for client in clients:
            client.close()
    with Workspace.open(root) as workspace:
        kept = sum(state.pin.note.startswith("at once") for state in workspace.pins())
    return sum(right) + kept, sum(late), CLIENTS * (EACH + 1), took


def _ask_all(client: Raw, number: int, targets: Sequence[str], right: list[bool], late: list[bool]) -> None:
    wanted = [targets[(number + at) % len(targets)] for at in range(EACH)]
    ids = [client.begin("tools/call", {"name": "impact", "arguments": {"target": one, "depth": 1}}) for one in wanted]
    written = client.begin("tools/call", {"name": "pin", "arguments": {"target": wanted[0], "note": f"at once {number}"}})
    for id, one in zip(ids, wanted, strict=True):
        result = client.answer(id, 300)["result"]
        late.append(bool(result.get("isError")) and "takes longer" in str(result))
        right.append(not result.get("isError") and result["structuredContent"]["seed"] == one)
    client.answer(written, 300)


def rows(parts: dict[str, dict[str, list[float]]]) -> Iterator[Sequence[str]]:
    """p50 and p95 of each question, each way."""
    for name in ("callers", "search_context"):
        for way, found in parts.items():
            ordered = sorted(found[name])
            yield [name, way, f"{statistics.median(ordered):.1f}", f"{ordered[len(ordered) * 95 // 100]:.1f}"]


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was measured; ``--write`` puts it into docs/results/mcp-latency.md."""
    reader = argparse.ArgumentParser(prog="python -m benchmarks.mcp_latency")
    reader.add_argument("--repo", type=Path)
    reader.add_argument("--starts", type=int, default=STARTS)
    reader.add_argument("--write", action="store_true")
    given = reader.parse_args(argv)
    machine = report.machine()
    with apart() as folder:
        root = copied(given.repo or corpora.repository(corpora.CORPORA["django"]), folder / "repo")
        one_tool = echo(folder)
        ours, theirs, bridged = starts(root, one_tool, given.starts)
        targets = symbols_of(root)
        asked = questions(targets)
        parts = {"engine, in process": engine(root, targets, asked)}
        with Raw(root) as owner, Raw(root) as bridge:
            owner.open()
            _right(owner.call("search_context", query=asked[0], budget=BUDGET))
            time.sleep(SETTLED)
            parts["owner, other process"] = served(owner, targets, asked)
            parts["owner, the same again"] = served(owner, targets, asked)
            bridge.open()
            parts["through a bridge"] = served(bridge, targets, asked)
            bridge.close()
            owner.close()
        with Raw(root, command=one_tool) as one:
            one.open()
            floor = timed(lambda text: one.call("echo", text=text), asked)
            one.close()
        many = at_once(root, targets)
    text = _told(ours, theirs, bridged, parts, floor, many)
    print(text)
    if given.write:
        head = f"# `mog serve --mcp`: ready and warm\n\n`python -m benchmarks.mcp_latency` on {machine}."
        report.write("mcp-latency", f"{head}\n\n{text}")
    return int(many[0] + many[1] != many[2])


def _told(
    ours: list[float], theirs: list[float], bridged: list[float], parts: dict[str, dict[str, list[float]]], floor: list[float],
    many: tuple[int, int, int, float],
) -> str:  # fmt: skip
    pairs = sorted(mine / other for mine, other in zip(ours, theirs, strict=True))
    ratio = statistics.median(ours) / statistics.median(theirs)
    lines = [
        f"Ready, p50 of {len(ours)} starts each, by turns: {statistics.median(ours):.2f} s; a server with one tool"
        f" {statistics.median(theirs):.2f} s; ratio of the medians {ratio:.2f}, median of the {len(pairs)} ratios"
        f" {statistics.median(pairs):.2f}; as a bridge to a living owner {statistics.median(bridged):.2f} s.",
        "",
        report.table(("question", "asked of", "p50 ms", "p95 ms"), rows(parts)),
        "",
        f"One call of the server with one tool: p50 {statistics.median(floor):.1f} ms.",
        f"Ten clients at once: of {many[2]} reads and writes {many[0]} were answered rightly and {many[1]} with word that it takes too"
        f" long, in {many[3]:.1f} s.",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
