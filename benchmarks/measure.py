"""What a command costs: processor seconds of it and all its descendants, peak memory summed over the tree, wall time.

Who calls: the benchmarks. What may not come in: knowledge of the commands. Unix only (``wait4``); memory needs Linux's
``/proc`` and falls back to the largest single process elsewhere, which the report says.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

SAMPLE_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Cost:
    """One run.

    Attributes:
        cpu: user and system seconds of the process and every descendant it waited for.
        wall: seconds.
        rss: bytes; peak over time of the anonymous memory summed over the tree (Linux), or ``maxrss`` elsewhere.
        maxrss: bytes; largest resident size of any single process, shared pages included.
        code: exit code.
        out, err: what it printed.
    """

    cpu: float
    wall: float
    rss: int
    maxrss: int
    code: int
    out: str
    err: str


class CommandFailed(Exception):
    """A measured command did not exit 0."""


def status_bytes(field: str, pid: int | str = "self") -> int:
    """One memory field of a process (``RssAnon``, ``VmRSS``, … of proc(5)) in bytes; 0 when it is gone or not Linux."""
    try:
        text = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    line = next((line for line in text.splitlines() if line.startswith(f"{field}:")), "- 0 kB")
    return int(line.split()[1]) * 1024


def tree_of(pid: int) -> list[int]:
    """The process and its living descendants."""
    found, stack = [], [pid]
    while stack:
        here = stack.pop()
        found.append(here)
        try:
            for task in os.listdir(f"/proc/{here}/task"):
                stack += map(int, Path(f"/proc/{here}/task/{task}/children").read_text(encoding="ascii").split())
        except OSError:
            continue
    return found


class Peak:
    """Samples the memory of a process tree on a thread until told to stop."""

    def __init__(self, pid: int) -> None:
        self._pid, self.bytes, self._done = pid, 0, threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self._thread.start()

    def _sample(self) -> None:
        while not self._done.is_set():
            self.bytes = max(self.bytes, sum(status_bytes("RssAnon", pid) for pid in tree_of(self._pid)))
            self._done.wait(SAMPLE_SECONDS)

    def stop(self) -> int:
        self._done.set()
        self._thread.join()
        return self.bytes


def run(
    command: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    timeout: float = 1800,
    check: bool = True,
) -> Cost:
    """Run a command to its end and say what it cost. Raises CommandFailed when it fails and ``check`` is set."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=os.environ | dict(env or {})
        )
        killer = threading.Timer(timeout, process.kill)
        killer.start()
        peak = Peak(process.pid)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        killer.cancel()
        cost = _cost(usage, wall, peak.stop(), process.returncode, _text(out), _text(err))
    if check and cost.code:
        raise CommandFailed(f"{' '.join(map(str, command[-4:]))} exited {cost.code}: {cost.err.strip()[-500:]}")
    return cost


def _text(handle: IO[bytes]) -> str:
    handle.seek(0)
    return handle.read().decode(errors="replace")


def _cost(usage: resource.struct_rusage, wall: float, sampled: int, code: int, out: str, err: str) -> Cost:
    biggest = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return Cost(usage.ru_utime + usage.ru_stime, wall, sampled or biggest, biggest, code, out, err)


def disk_bytes(folder: Path) -> int:
    """Bytes of all files under ``folder``."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
