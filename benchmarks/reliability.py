"""``python -m benchmarks.reliability [kills|flips|writers|readers|faults|lying|crashes|power|enospc …]``: what a ledger survives.

Every row makes faults below or beside a real ledger and holds what is left against what its writers had been told. No
part named: all of them. Prints the table and writes docs/results/reliability.md.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks import ledger_crashes, ledger_disk, ledger_faults, report
from benchmarks.ledger_faults import CannotRun, Outcome

EVERY = range(1, 2000)
FAULTS = (
    ("fsync", "error=EIO"), ("fdatasync", "error=EIO"), ("pwrite64", "error=ENOSPC"), ("pwrite64", "error=EIO"),
    ("ftruncate", "error=EIO"), ("rename", "error=EIO"), ("link", "error=EIO"), ("unlink", "error=EIO"),
    ("fsync", "signal=KILL"), ("fdatasync", "signal=KILL"), ("pwrite64", "signal=KILL"), ("ftruncate", "signal=KILL"),
    ("rename", "signal=KILL"), ("link", "signal=KILL"), ("unlink", "signal=KILL"),
)  # fmt: skip
Part = Callable[[Path, argparse.Namespace], Outcome]
PARTS: dict[str, tuple[str, Part]] = {
    "kills": ("SIGKILL of a writer", lambda folder, o: ledger_faults.kills(folder, o.kills)),
    "flips": ("one bit flipped", lambda folder, o: ledger_faults.flips(folder, o.flips)),
    "writers": (
        "commits of 8 writers at once, 1 reader beside", lambda folder, o: ledger_faults.writers(folder, 8, o.commits)
    ),
    "readers": ("commits of 1 writer, 4 readers beside", lambda folder, o: ledger_faults.writers(folder, 1, o.commits, 4)),
    "faults": ("the k-th sync, write or rename fails or kills", lambda folder, o: ledger_disk.faults(folder, EVERY, FAULTS)),
    "lying": ("syncs that lie, then SIGKILL", lambda folder, o: ledger_disk.lying_sync(folder, o.lies)),
    "crashes": (
        "every state a crash can leave, in order and out of order",
        lambda folder, o: ledger_crashes.crashes(folder, 12, o.orders),
    ),
    "power": ("power cut on ext4", lambda folder, o: ledger_disk.power(folder, o.cuts)),
    "enospc": ("a file system filled to the end", lambda folder, o: ledger_disk.enospc(folder, o.rounds)),
}


def row(name: str, options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """One row of the table, and what went wrong."""
    what, part = PARTS[name]
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="mog-reliability-", dir=options.folder or None) as folder:
        try:
            found = part(Path(folder), options)
        except CannotRun as error:
            return [what, "–", f"cannot run here: {error}", "", ""], []
    counts = ", ".join(f"{key} {value:,}" for key, value in sorted(found.counts.items()))
    report.say(f"{name}: {found.tries:,} in {time.perf_counter() - began:.0f} s; {counts}; wrong: {found.wrong[:5]}")
    return [what, f"{found.tries:,}", counts, f"{len(found.wrong)}", f"{time.perf_counter() - began:.0f} s"], found.wrong


def document(rows: Sequence[Sequence[str]], wrong: Sequence[str], host: str) -> str:
    """The page for docs/results/."""
    parts = [
        "# What a ledger survives",
        f"Made by `python -m benchmarks.reliability`. {host}. Wrong means: an acknowledged event that is not there, one that "
        "was said not to be recorded and is, a ledger that does not verify or load, a writer that does not go on, a changed "
        "bit that changes an answer and is not reported.",
        report.table(["fault", "tries", "what became of them", "wrong", "took"], rows),
    ]
    return "\n\n".join([*parts, *([f"Wrong: {'; '.join(wrong[:20])}"] if wrong else [])])


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reliability", description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[], help="which faults; all when none is named")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--flips", type=int, default=2000)
    parser.add_argument("--commits", type=int, default=1000, help="of each writer")
    parser.add_argument("--lies", type=int, default=20)
    parser.add_argument("--orders", type=int, default=6, help="out-of-order states for every call")
    parser.add_argument("--cuts", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=20, help="small file systems to fill")
    parser.add_argument("--folder", default="", help="where to work; by default the system's folder for such files")
    parser.add_argument("--no-write", action="store_true", help="print only")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the faults; 0 when nothing went wrong, 1 when something did."""
    options = arguments(argv)
    host = report.machine()
    rows, wrong = [], []
    for name in options.parts or PARTS:
        made, bad = row(name, options)
        rows.append(made)
        wrong += [f"{name}: {what}" for what in bad]
    text = document(rows, wrong, host)
    print(text)
    if not options.no_write:
        report.write("reliability", text)
    return int(bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
