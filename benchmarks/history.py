"""What reading a history costs beside git itself: commits a second of ``git log`` alone, and of mog, which reads the same log.

Usage: ``python -m benchmarks.history CLONE [--window 4000] [--runs 5]``; prints the rows of ``docs/results/history.md``. Both
read the same commits with the same options, in turn, so the ratio holds on a loaded machine. The clone is read and nothing is
written into it.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mog.engine.code import history


def seconds(work: Callable[[], object]) -> float:
    """Wall time of one call."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def git_alone(root: Path, window: int) -> None:
    """git's own log with the options that mog gives it, thrown away."""
    command = ["git", *history._LOG, f"--max-count={window}", "HEAD", "--"]
    subprocess.run(command, cwd=root, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def measure(root: Path, window: int, runs: int) -> list[str]:
    """Rows of one repository: rates, their ratio, what the cache saves, what one file costs."""
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder)
        alone, ours = [], []
        for _ in range(runs):
            (kept / "history.json").unlink(missing_ok=True)
            alone.append(seconds(lambda: git_alone(root, window)))
            ours.append(seconds(lambda: history.load(root, kept, window=window)))
        found = history.load(root, kept, window=window)
        again = statistics.median(seconds(lambda: history.load(root, kept, window=window)) for _ in range(runs))
        size = (kept / "history.json").stat().st_size
    said = found.coverage
    read = said.commits + said.huge + said.roots
    ratios = sorted(a / b for a, b in zip(alone, ours, strict=True))
    path = max(found._by_path, key=found.touched)
    asked = seconds(lambda: (found.churn(path), found.partners(path))) * 1000
    return [
        f"| {root.name} | {read:,} | {read / statistics.median(alone):,.0f} | {read / statistics.median(ours):,.0f} | "
        f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f}) | {again * 1000:.0f} | {size / 1e6:.2f} | {asked:.1f} |"
    ]


def main() -> None:
    """Measure one clone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path, nargs="+")
    parser.add_argument("--window", type=int, default=4_000)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    print(
        "| repository | commits | git alone, commits/s | mog, commits/s | ratio (least–most)"
        " | from the cache, ms | cache, MB | one file, ms |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for clone in given.clone:
        print("\n".join(measure(clone.absolute(), given.window, given.runs)))


if __name__ == "__main__":
    main()
