"""``python -m benchmarks.mcp_idle``: what a server costs that nobody asks, and what is left in memory after 10,000 calls.

The server owns an indexed Django and watches it. Processor time is that of the process and its children, over a minute in which
nobody says anything. Memory is read after a warm-up and after each fifth of the calls; they go through a mix of tools. Linux only
(proc(5)). What may not come in: what an answer says.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import corpora, measure, report
from benchmarks.mcp_latency import questions, symbols_of
from benchmarks.mcp_world import Raw, apart, copied

SECONDS, CALLS, PARTS = 60.0, 10_000, 5


def cpu(pid: int) -> float:
    """Processor seconds of a process and its children so far."""
    ticks = 0
    for one in measure.tree_of(pid):
        fields = Path(f"/proc/{one}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / float(os.sysconf("SC_CLK_TCK"))


def idle(pid: int, seconds: float) -> float:
    """Share of a core that a process uses while nobody asks."""
    before, began = cpu(pid), time.monotonic()
    time.sleep(seconds)
    return (cpu(pid) - before) / (time.monotonic() - began)


def mixed(targets: Sequence[str]) -> Any:
    """Calls without end: beliefs and notes, between them callers, bodies, and searches with a small budget."""
    asked = questions(targets)
    for number in itertools.count():
        one = targets[number % len(targets)]
        yield from (("why", {"target": one}), ("recall", {}), ("why", {"target": one}))
        yield "expand", {"target": one, "budget": 512}
        if number % 4 == 0:
            yield "impact", {"target": one, "depth": 1}
            yield "search_context", {"query": f"{asked[number % len(asked)]} {number % 7}", "budget": 512}


def grown(client: Raw, targets: Sequence[str], calls: int) -> list[tuple[int, int]]:
    """(calls so far, anonymous bytes) after each part."""
    found, source = [], mixed(targets)
    for number, (name, given) in zip(range(1, calls + 1), source, strict=False):
        result = client.call(name, wait=300, **given)
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        if number % (calls // PARTS) == 0 or number == calls // 20:
            found.append((number, measure.status_bytes("RssAnon", client.process.pid)))
            report.say(f"{number} calls, {found[-1][1] / 1e6:.0f} MB")
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was measured; ``--write`` puts it into docs/results/mcp-idle.md."""
    reader = argparse.ArgumentParser(prog="python -m benchmarks.mcp_idle")
    reader.add_argument("--repo", type=Path)
    reader.add_argument("--seconds", type=float, default=SECONDS)
    reader.add_argument("--calls", type=int, default=CALLS)
    reader.add_argument("--write", action="store_true")
    given = reader.parse_args(argv)
    machine = report.machine()
    with apart() as folder:
        root = copied(given.repo or corpora.repository(corpora.CORPORA["django"]), folder / "repo")
        targets = symbols_of(root)
        with Raw(root) as client:
            client.open()
            client.call("search_context", query=questions(targets)[0], wait=300)
            time.sleep(10)  # the watcher settles
            before = idle(client.process.pid, given.seconds)
            memory = grown(client, targets, given.calls)
            after = idle(client.process.pid, given.seconds)
            client.close()
    text = _told(before, after, memory, given.seconds)
    print(text)
    if given.write:
        report.write("mcp-idle", f"# `mog serve --mcp` at rest\n\n`python -m benchmarks.mcp_idle` on {machine}.\n\n{text}")
    return 0


def _told(before: float, after: float, memory: list[tuple[int, int]], seconds: float) -> str:
    table = report.table(("calls", "anonymous memory, MB"), ([f"{calls:,}", f"{size / 1e6:.1f}"] for calls, size in memory))
    return (
        f"Idle over {seconds:.0f} s each: {before * 100:.2f} % of a core before the calls, {after * 100:.2f} % after them.\n\n{table}"
    )


if __name__ == "__main__":
    sys.exit(main())
