"""Tables for the terminal and for docs/results/, and a description of the machine without names or paths.

Who calls: the benchmarks. What may not come in: measuring.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
RESULTS = REPOSITORY / "docs" / "results"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table whose columns are aligned, so that it reads in a terminal too."""
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in cells
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def machine() -> str:
    """Cores, memory, processor, system and versions in one paragraph; no host name, no paths."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    facts = [
        f"{cores} cores",
        _memory(),
        _processor(),
        f"{platform.system()} {platform.machine()}",
        f"Python {platform.python_version()}",
        f"tree-sitter {version('tree-sitter')}",
        _load(),
    ]
    return ", ".join(fact for fact in facts if fact)


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (AttributeError, ValueError, OSError):
        return ""


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def _load() -> str:
    """How busy the machine was with other work, which is why ratios inside one run are what counts."""
    return f"load average {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""


def write(name: str, text: str) -> None:
    """Write docs/results/``name``.md."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text.rstrip() + "\n", encoding="utf-8")


def say(text: str) -> None:
    """Narration on stderr; results go to stdout."""
    print(text, file=sys.stderr, flush=True)
