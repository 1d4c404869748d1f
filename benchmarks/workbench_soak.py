"""``python -m benchmarks.workbench_soak``: ten minutes of edits, an agent's questions and key presses against one workbench.

Counted: exceptions (a screen that says so, a process that ended), how the memory of the workbench grows after its first tenth, and
edits that the drift pane never showed: every edit changes a function under a pin and is taken back later, and the top line has to
say so each time. ``--repo`` takes an indexed repository (a copy of it is used), ``--minutes`` another time.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import report
from benchmarks.mcp_world import apart, copied, made
from benchmarks.measure import status_bytes
from benchmarks.workbench import USABLE, Terminal, agent, p95, terminal, workbench
from mog.engine.workspace import Workspace

MINUTES = 10.0
GROWTH = 1.25
"""How much larger the memory may be at the end than after the first tenth, when caches are filled."""
KEYS = (
    *"jklh,.tzz48M", *"2356790", *"1bmmnwsvGgyec", "\r", "\t",
    "/f", "\x1b", "f", "\x1b", "?", "\x1b", "\x10", "\x1b", ":dr", "\x1b", "1",
)  # fmt: skip
FAILED = re.compile(r"This pane failed|8: \d+ failed|Traceback|Error:")
DRIFTED = re.compile(r"± (\d+)")
SEEN_WITHIN = 20.0
KEPT_BYTES = 400_000


class Soak:
    """What happened so far.

    Attributes:
        failed: screens that said so. missed: edits that were not shown. shown: seconds until an edit was.
        presses: keys. rss: bytes over time.
    """

    def __init__(self, root: Path, file: Path) -> None:
        self.root, self.file = root, file
        self.whole = file.read_text(encoding="utf-8")
        self.failed: list[str] = []
        self.missed = 0
        self.shown: list[float] = []
        self.presses = 0
        self.rss: list[int] = []

    def edit(self, drifts: bool, number: int) -> None:
        """Change the function under the pin, or take the change back."""
        changed = self.whole.replace("return ", f"return {number} and ", 1)
        self.file.write_text(changed if drifts else self.whole, encoding="utf-8")

    def round(self, opened: Terminal, number: int) -> None:
        """Some keys, an edit, and whether the top line said so."""
        for key in random.Random(number).sample(KEYS, 12):
            opened.send(key)
            opened.read(quiet=0.05, limit=0.5)
            self.presses += 1
        for key in ("\x1b", "\x1b", "\x0c"):  # out of help, palette or a prompt; then all is drawn again, for the eyes below
            opened.send(key)
            opened.read(quiet=0.15, limit=1.0)
        drifts = number % 2 == 0
        self.edit(drifts, number)
        self._look(opened, drifts)
        if FAILED.search(opened.screen()):
            self.failed.append(opened.screen())
        opened.raw = opened.raw[-KEPT_BYTES:]
        self.rss.append(status_bytes("RssAnon", opened.process.pid))

    def _look(self, opened: Terminal, drifts: bool) -> None:
        """Wait until the top line says what the edit did."""
        began = time.monotonic()
        while time.monotonic() - began < SEEN_WITHIN:
            opened.read(quiet=0.1, limit=0.5)
            if (found := DRIFTED.search(_top(opened.screen()))) and (found[1] != "0") == drifts:
                self.shown.append(time.monotonic() - began)
                return
            if opened.process.poll() is not None:
                return
        self.missed += 1
        report.say(f"after {self.presses} keys an edit was not shown:\n{opened.screen()}")


def _top(screen: str) -> str:
    return screen.partition("\n")[0]


def soak(root: Path, minutes: float) -> Soak:
    """Run it."""
    with Workspace.open(root) as workspace:
        node = next(node for row in workspace.map(limit=20).rows for node in row.top if node.kind == "function")
        workspace.pin(node.locator, "the one that is edited")
    run = Soak(root, root / node.path)
    ends = time.monotonic() + minutes * 60
    with agent(root), terminal(workbench(root), root, lambda shown: bool(USABLE.search(shown))) as (opened, _):
        opened.read(quiet=1.5, limit=20)
        number = 0
        while time.monotonic() < ends and opened.process.poll() is None:
            run.round(opened, number)
            number += 1
        if opened.process.poll() is not None:
            run.failed.append(f"the workbench ended with {opened.process.returncode}")
        run.edit(False, 0)
    return run


def main(argv: Sequence[str] | None = None) -> int:
    """Print what was counted; ``--write`` puts it into docs/results/workbench-soak.md. Exit code 1 when something is wrong."""
    reader = argparse.ArgumentParser(prog="python -m benchmarks.workbench_soak")
    reader.add_argument("--repo", type=Path)
    reader.add_argument("--minutes", type=float, default=MINUTES)
    reader.add_argument("--write", action="store_true")
    given = reader.parse_args(argv)
    machine = report.machine()
    with apart() as folder:
        root = copied(given.repo, folder / "repo") if given.repo else made(folder / "repo", 200)
        run = soak(root, given.minutes)
    settled = run.rss[len(run.rss) // 10]
    growth = run.rss[-1] / settled
    text = "\n".join(
        [
            f"{given.minutes:g} minutes, {run.presses:,} keys, {len(run.shown) + run.missed:,} edits,"
            " an agent that asked without a pause.",
            "",
            f"- screens that said a pane had failed, or an end of the program: {len(run.failed)}",
            f"- edits that the top line never showed within {SEEN_WITHIN:g} s: {run.missed}",
            f"- from an edit to the top line: p95 {p95(run.shown):.1f} s" if run.shown else "- no edit was shown",
            f"- memory after the first tenth {settled / 2**20:.0f} MiB, at the end {run.rss[-1] / 2**20:.0f} MiB, × {growth:.2f}",
            f"- memory by tenths, MiB: {', '.join(f'{run.rss[len(run.rss) * at // 10] / 2**20:.0f}' for at in range(10))}",
        ]
    )
    print(text)
    for screen in run.failed[:2]:
        report.say(screen)
    if given.write:
        report.write("workbench-soak", f"# A soak of the workbench\n\n`python -m benchmarks.workbench_soak` on {machine}.\n\n{text}")
    return int(bool(run.failed or run.missed) or growth > GROWTH)


if __name__ == "__main__":
    sys.exit(main())
