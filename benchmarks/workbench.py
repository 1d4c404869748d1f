"""``python -m benchmarks.workbench``: the workbench in a terminal of its own, on Django: start, keys, bytes, a long ledger.

Start is from the process until the first screen can be used, beside an empty app of the same toolkit, the two by turns in one run.
A key's latency is until the last byte after it; once with nothing else going on, once with an agent in another process that asks
without a pause. ``--repo`` measures an indexed repository that is there already (a copy of it is served, so nothing of it changes).
What may not come in: rules about what a screen shows. Latencies depend on the machine; ratios and bytes do not.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks import corpora, report
from benchmarks.mcp_world import Raw, apart, copied
from mog.app.tui.panes import REGISTRY
from mog.engine.ledgers.events import EventLog, Step
from mog.engine.pins import PinStore
from mog.engine.workspace import Workspace

sys.path.append(str(report.REPOSITORY / "tests" / "pty"))
from pty_terminal import Terminal, environment

SIZE = (160, 45)
STARTS, PRESSES = 7, 60
MOVES = ("j", "j", "k", "l", "k", "h", "j")
GRAPH = ("l", "\r", ",", ".", "\t", "1", "t", "t", "t", "z", "z", "\x04", "\x15", "G", "g")
USABLE = re.compile(r"» 1 Graph.*\bin \d", re.DOTALL)
EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("usable")
Empty().run()
"""
EVENTS = 100_000
BATCH = 2_000


def p95(values: Sequence[float]) -> float:
    """The value that nineteen of twenty stay below."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]


def workbench(root: Path, *more: str) -> list[str]:
    """The command of the workbench as at a first start, without the tour."""
    return [sys.executable, "-P", "-m", "mog", "tui", "--fresh", "--repo", str(root), *more]


@contextlib.contextmanager
def terminal(command: Sequence[str], cwd: Path, usable: Callable[[str], bool]) -> Iterator[tuple[Terminal, float]]:
    """A program in a terminal, and the seconds until its screen could be used."""
    began = time.perf_counter()
    opened = Terminal(list(command), SIZE, environment(MOG_TUI_TOUR="off", MOG_TUI_THEME="dark"), cwd=cwd)
    try:
        took = _until(opened, usable, began)
        yield opened, took
    finally:
        if opened.process.poll() is None:
            opened.process.kill()
            opened.process.wait()
        os.close(opened.master)


def _until(opened: Terminal, usable: Callable[[str], bool], began: float, limit: float = 120.0) -> float:
    while time.perf_counter() - began < limit:
        if opened.read(quiet=0.01, limit=0.05):
            at = time.perf_counter()
            if usable(opened.screen()):
                return at - began
        if opened.process.poll() is not None:
            break
    raise RuntimeError(f"the screen was never usable:\n{opened.screen()}")


def starts(root: Path, times: int) -> tuple[list[float], list[float]]:
    """Seconds until ours and until the empty app can be used, by turns."""
    ours, theirs = [], []
    for _ in range(times):
        with terminal([sys.executable, "-P", "-c", EMPTY], root, lambda shown: "usable" in shown) as (_, took):
            theirs.append(took)
        with terminal(workbench(root), root, lambda shown: bool(USABLE.search(shown))) as (_, took):
            ours.append(took)
    return ours, theirs


Sample = tuple[float, int]


def keys(root: Path, presses: int) -> dict[str, list[Sample]]:
    """(milliseconds, bytes) of each key: moves of the cursor, keys of the graph, changes of pane."""
    with terminal(workbench(root), root, lambda shown: bool(USABLE.search(shown))) as (opened, _):
        opened.read(quiet=1.5, limit=20)
        moves = [sample for at in range(presses) for sample in opened.latencies(MOVES[at % len(MOVES)], 1)]
        graph = [sample for at in range(presses) for sample in opened.latencies(GRAPH[at % len(GRAPH)], 1)]
        digits = [entry.digit for entry in REGISTRY.values() if entry.digit.isdigit()]
        changes = [sample for at in range(presses) for sample in opened.latencies(digits[at % len(digits)], 1)]
    return {"cursor": moves, "graph": graph, "pane": changes}


@contextlib.contextmanager
def agent(root: Path) -> Iterator[subprocess.Popen[bytes]]:
    """An agent in another process, with a server of its own, that asks without a pause."""
    child = subprocess.Popen(
        [sys.executable, "-m", "benchmarks.workbench", "--agent", str(root)],
        cwd=report.REPOSITORY, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert child.stdout is not None
        child.stdout.readline()
        yield child
    finally:
        child.terminate()
        child.wait()


def asking(root: Path) -> int:
    """The agent: a line when its first answer is here, then on and on."""
    questions = ("where is a queryset evaluated", "how are migrations ordered", "who checks the csrf token", "template loaders")
    with Raw(root) as client:
        client.open()
        for number in range(10**9):
            client.call("search_context", query=questions[number % len(questions)], budget=1_000)
            if not number:
                print("asking", flush=True)
    return 0


def long_ledger(root: Path, count: int) -> None:
    """``count`` events: notes that are pinned and taken out again, so that nothing of them is left to compare with the disk."""
    with Workspace.open(root) as workspace:
        target = workspace.map(limit=1).rows[0].path
        one = workspace.pin(f"file:{target}", "the first of many").pin
        path = workspace.ledger_path
    when = "2031-02-11T12:41:07Z"
    with EventLog(path) as log:
        store, step = PinStore(log), next(log.events(one.seq - 1, 1))
        for batch in range(count // (2 * BATCH)):
            told = [Step(step.type, {**step.data, "note": f"note {batch} {number}"}) for number in range(BATCH)]
            log.commit(told, when=when)
            there = [pin.id for pin in store.all() if pin.id != one.id]
            log.commit([Step("pin.removed", {"pin": ident}) for ident in there], when=when)


def ledger(root: Path, presses: int) -> tuple[float, list[Sample]] | None:
    """Seconds until a ledger of many events is drawn after its digit, and its keys; ``None`` where there is no such pane."""
    if "ledger" not in REGISTRY:
        return None
    long_ledger(root, EVENTS)
    with terminal(workbench(root), root, lambda shown: bool(USABLE.search(shown))) as (opened, _):
        opened.read(quiet=1.5, limit=20)
        began = time.perf_counter()
        opened.send(REGISTRY["ledger"].digit)
        ready = _until(opened, lambda shown: "» 7 Ledger" in shown and "100,0" in shown, began)
        opened.read(quiet=1.0, limit=20)
        pressed = ("j", "\x1b[6~", "j", "\x1b[5~", "G", "k", "g")
        samples = [sample for at in range(presses) for sample in opened.latencies(pressed[at % len(pressed)], 1)]
    return ready, samples


def rows(measured: dict[str, dict[str, list[Sample]]]) -> Iterator[Sequence[str]]:
    """p50 and p95 of each kind of key in each circumstance, and the bytes of the largest."""
    for what, kinds in measured.items():
        for kind, samples in kinds.items():
            times, sizes = [ms for ms, _ in samples], [size for _, size in samples]
            most = f"{max(sizes):,}"
            yield [kind, what, f"{statistics.median(times):.1f}", f"{p95(times):.1f}", f"{statistics.median(sizes):,.0f}", most]


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was measured; ``--write`` puts it into docs/results/workbench.md."""
    reader = argparse.ArgumentParser(prog="python -m benchmarks.workbench")
    reader.add_argument("--repo", type=Path)
    reader.add_argument("--starts", type=int, default=STARTS)
    reader.add_argument("--presses", type=int, default=PRESSES)
    reader.add_argument("--write", action="store_true")
    reader.add_argument("--agent", type=Path, help=argparse.SUPPRESS)
    given = reader.parse_args(argv)
    if given.agent:
        return asking(given.agent)
    machine = report.machine()
    with apart() as folder:
        root = copied(given.repo or corpora.repository(corpora.CORPORA["django"]), folder / "repo")
        ours, theirs = starts(root, given.starts)
        measured = {"idle": keys(root, given.presses)}
        with agent(root):
            measured["an agent asks without a pause"] = keys(root, given.presses)
        long = ledger(root, given.presses)
    text = _told(ours, theirs, measured, long)
    print(text)
    if given.write:
        head = f"# The workbench in a terminal, 160 × 45, on Django\n\n`python -m benchmarks.workbench` on {machine}."
        report.write("workbench", f"{head}\n\n{text}")
    return 0


def _told(
    ours: list[float], theirs: list[float], measured: dict[str, dict[str, list[Sample]]], long: tuple[float, list[Sample]] | None
) -> str:  # fmt: skip
    ratio = statistics.median(ours) / statistics.median(theirs)
    pairs = statistics.median(mine / other for mine, other in zip(ours, theirs, strict=True))
    every = {what: [ms for samples in kinds.values() for ms, _ in samples] for what, kinds in measured.items()}
    lines = [
        f"Start until usable, p50 of {len(ours)} starts each, by turns: {statistics.median(ours):.2f} s; an empty app of the toolkit"
        f" {statistics.median(theirs):.2f} s; ratio of the medians {ratio:.2f}, median of the ratios {pairs:.2f}.",
        "",
        report.table(("keys", "with", "p50 ms", "p95 ms", "bytes p50", "bytes most"), rows(measured)),
        "",
        "Key to last byte, p95 over all of them: " + ", ".join(f"{what} {p95(times):.0f} ms" for what, times in every.items()) + ".",
        "",
    ]
    if long is None:
        lines.append("A ledger of 100,000 events: not measured, there is no pane of the ledger.")
    else:
        ready, samples = long
        lines.append(
            f"A ledger of {EVENTS:,} events: drawn {ready:.2f} s after its digit; key to last byte p95"
            f" {p95([ms for ms, _ in samples]):.0f} ms."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
