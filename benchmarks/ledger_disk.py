"""Disks that fail, lie, fill up or lose power below a ledger. Called as ``benchmarks.ledger_faults``.

What may not come in: faults that need more than strace, or root and mount. Where a machine lacks these, CannotRun says so.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks import ledger_world as world
from benchmarks.ledger_faults import CannotRun, Forked, Outcome, need_fork
from mog.engine.errors import MogError, StoreDamaged
from mog.engine.ledgers.events import EventLog

CHILD = Path(__file__).with_name("ledger_world.py")
_COMMITS = 6


# -- the k-th call fails


def faults(folder: Path, ks: Sequence[int], kinds: Sequence[tuple[str, str]]) -> Outcome:
    """Make the k-th call of each kind fail, or the process die at it, for every k until there are no more such calls.

    ``kinds`` are (which call, what becomes of the k-th): ``("fdatasync", "error=EIO")``, ``("pwrite64", "signal=KILL")``.
    """
    if shutil.which("strace") is None:
        raise CannotRun("strace is not installed")
    found = Outcome()
    for call, how in kinds:
        for k in ks:
            at = folder / f"{call}-{how.partition('=')[2]}-{k}"
            hit = _fault(at, call, f"{how}:when={k}", found)
            shutil.rmtree(at)
            if not hit:
                break
    return found


def _fault(folder: Path, call: str, how: str, found: Outcome) -> bool:
    folder.mkdir(parents=True)
    path, witness, trace = folder / "ledger.db", folder / "witness", folder / "trace"
    command = ["strace", "-f", "-qq", "-o", str(trace), "-e", f"trace={call}", "-e", f"inject={call}:{how}"]
    command += [sys.executable, "-P", str(CHILD), "write", str(path), "0", str(_COMMITS), str(witness)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    seen = trace.read_text(encoding="utf-8", errors="replace")
    if not seen:
        raise CannotRun(f"strace cannot trace here: {done.stderr[-200:]!r}")
    killed = "killed by SIGKILL" in seen
    if "INJECTED" not in seen and not killed:
        return False
    told = world.Told().hear(done.stdout.decode("utf-8", "replace"))
    found.tries += 1
    found.counts["killed" if killed else "refused" if told.refused | told.unknown else "went on"] += 1
    found.counts["not yet told"] += len(told.unknown)
    wrong = [] if told.ended or killed else [f"the writer broke: {done.stderr[-500:]!r}"]
    if not killed and len(told.refused | told.unknown) > 1:
        wrong.append(f"one fault, and {len(told.refused | told.unknown)} commits refused")
    found.wrong += [f"{call} {how}: {what}" for what in [*wrong, *world.judge(path, told, witness)]]
    return True


def lying_sync(folder: Path, count: int) -> Outcome:
    """Syncs that do nothing and say they did, and a SIGKILL: what the system still has in memory must be there."""
    found = Outcome()
    for number in range(count):
        _fault(folder / f"lying-{number}", "fsync,fdatasync", "retval=0", found)
        _fault(folder / f"killed-{number}", "pwrite64", f"signal=KILL:when={7 + 9 * number}", found)
    return found


# -- real file systems


@contextmanager
def mounted(folder: Path, *how: str) -> Iterator[Path]:
    """``mount how folder`` for a while. Raises CannotRun when that is not possible."""
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("mount") is None:
        raise CannotRun("needs root and mount")
    folder.mkdir(parents=True, exist_ok=True)
    done = run("mount", *how, str(folder))
    if done.returncode:
        raise CannotRun(f"mount says {done.stderr.decode('utf-8', 'replace').strip()}")
    try:
        yield folder
    finally:
        run("umount", str(folder))


def run(*command: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command of the system."""
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False
    )


def enospc(folder: Path, rounds: int) -> Outcome:
    """Fill a small file system to the last byte; then give it room, and go on with the same object."""
    found = Outcome()
    for number in range(rounds):
        size = 600 + 37 * number
        with mounted(folder / "small", "-t", "tmpfs", "-o", f"size={size}k", "tmpfs") as disk:
            _fill(disk, found, number)
    return found


def _fill(disk: Path, found: Outcome, number: int) -> None:
    told = world.Told()
    with EventLog(disk / "ledger.db") as log:
        refused = 0
        for n in range(4000):
            try:
                told.acknowledged[n] = log.commit([world.step(n)], when=world.WHEN)[0].digest
            except StoreDamaged as error:
                refused += 1
                (told.unknown if "it cannot be told" in error.what else told.refused).add(n)
                if refused == 3:
                    break
        found.tries += 1
        found.counts["commits before it was full"] += len(told.acknowledged)
        found.counts["refused"] += refused
        try:
            still = {event.data["n"]: event.digest for event in log.events()}
        except MogError as error:
            found.wrong.append(f"a full disk, and reading fails: {error}")
            still = {}
        if not refused or any(still.get(n) != digest for n, digest in told.acknowledged.items()):
            found.wrong.append(f"round {number}: {refused} refused, {len(still)} of {len(told.acknowledged)} read back")
        run("mount", "-o", "remount,size=64m", str(disk))
        try:
            told.acknowledged[9999] = log.commit([world.step(9999)], when=world.WHEN)[0].digest
        except MogError as error:
            found.wrong.append(f"there is room again, and the same object says: {error}")
    found.wrong += world.judge(disk / "ledger.db", told)


def power(folder: Path, cuts: int, seed: int = 1) -> Outcome:
    """Cut the power: freeze the disk below the file system of a writer, copy it, and look at the copy after its recovery.

    The ledger lies on an ext4 image on an outer ext4 image. Freezing the outer one stops every write to the inner disk at
    one moment, which a copy of a changing file would not.
    """
    need_fork()
    for tool in ("mkfs.ext4", "fsfreeze"):
        if shutil.which(tool) is None:
            raise CannotRun(f"{tool} is not installed")
    found, chance = Outcome(), random.Random(seed)
    with _image(folder / "outer.img", folder / "outer", 160) as outer, _image(outer / "inner.img", folder / "inner", 48) as inner:
        for number in range(cuts):
            path = inner / f"run-{number // 20}" / "ledger.db"
            child = Forked(lambda say, p=path, n=number: world.write(p, 10_000 * n, 0, None, say))  # type: ignore[misc]
            child.hear(1 + chance.randrange(30))
            time.sleep(chance.random() * 0.01)
            told, copied = _cut(child, outer, folder / "copy.img")
            found.tries += 1
            found.counts["acknowledged"] += len(told.acknowledged)
            found.wrong += copied or _after_the_cut(folder, path.relative_to(inner), told, number)
            if number % 20 == 19:
                shutil.rmtree(path.parent)
    return found


@contextmanager
def _image(file: Path, at: Path, megabytes: int) -> Iterator[Path]:
    with file.open("wb") as made:
        made.truncate(megabytes << 20)
    run("mkfs.ext4", "-q", "-F", str(file))
    with mounted(at, "-o", "loop", str(file)) as disk:
        yield disk


def _cut(child: Forked, outer: Path, copy: Path) -> tuple[world.Told, list[str]]:
    """What was acknowledged before the cut, and what went wrong with making it. The writer is ended afterwards."""
    heard = child.so_far()
    frozen = run("fsfreeze", "-f", str(outer))
    try:
        copied = run("cp", "--sparse=always", str(outer / "inner.img"), str(copy))
    finally:
        run("fsfreeze", "-u", str(outer))
    child.end(kill=True)
    failed = [done.stderr.decode("utf-8", "replace") for done in (frozen, copied) if done.returncode]
    return world.Told().hear(heard), failed


def _after_the_cut(folder: Path, ledger: Path, told: world.Told, number: int) -> list[str]:
    with mounted(folder / "after", "-o", "loop", str(folder / "copy.img")) as disk:
        return [f"cut {number}: {what}" for what in world.judge(disk / ledger, told)]


# -- a library in front of the calls, where strace is not there


SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>
static long left = -1;
static int fails(void) {
  if (left < 0) { const char *k = getenv("FAULT_AT"); left = k ? atol(k) : 0; }
  if (left > 0 && --left == 0) { errno = EIO; return 1; }
  return 0;
}
int fsync(int fd) { return fails() ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fsync"))(fd); }
int fdatasync(int fd) { return fails() ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd); }
"""


def shim_faults(folder: Path, ks: Sequence[int]) -> Outcome:
    """As ``faults`` for syncs, with a library of our own in front of them. Raises CannotRun without a C compiler."""
    if shutil.which("gcc") is None or sys.platform != "linux":
        raise CannotRun("needs gcc on Linux")
    source, library = folder / "shim.c", folder / "shim.so"
    source.write_text(SHIM, encoding="utf-8")
    if run("gcc", "-shared", "-fPIC", "-O1", "-o", str(library), str(source), "-ldl").returncode:
        raise CannotRun("gcc cannot build a library here")
    found = Outcome()
    for k in ks:
        path = folder / f"shim-{k}" / "ledger.db"
        command = [sys.executable, "-P", str(CHILD), "write", str(path), "0", str(_COMMITS), ""]
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120,
            env={**os.environ, "LD_PRELOAD": str(library), "FAULT_AT": str(k)},
        )  # fmt: skip
        told = world.Told().hear(done.stdout.decode("utf-8", "replace"))
        found.tries += 1
        found.counts["refused" if told.refused | told.unknown else "went on"] += 1
        found.wrong += [] if told.ended else [f"the writer broke: {done.stderr[-500:]!r}"]
        found.wrong += [f"sync {k}: {what}" for what in world.judge(path, told)]
    return found
