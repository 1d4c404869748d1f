"""Faults for the ledger: killed writers, changed bits, many writers, failing disks, power cuts, full disks.

Called by ``benchmarks.reliability`` with large counts and by the tests of the ledger with small ones. What may not come
in: knowledge of how the ledger is stored; it is judged by what it says and by what its writers were told.
"""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import random
import select
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import ledger_world as world
from mog.engine.errors import HeldByOther, MogError
from mog.engine.ledgers import verify_ledger
from mog.engine.ledgers.checkpoints import key_line, read_note
from mog.engine.ledgers.events import EventLog
from mog.engine.ledgers.witness import Witness


@dataclass(slots=True)
class Outcome:
    """What a series of faults gave.

    Attributes:
        tries: how many faults were made.
        counts: what became of them.
        wrong: what must not have happened, in words; empty when all is well.
    """

    tries: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


class CannotRun(Exception):
    """This machine cannot make that fault; the text says why."""


# -- processes that are forked, so that a thousand of them cost little


class Forked:
    """A child process that runs ``work(say)`` and whose lines are heard through a pipe."""

    def __init__(self, work: Callable[[Callable[[str], None]], None]) -> None:
        self._read, write = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._read)
            code = 1
            try:
                work(lambda line: _say(write, line))
                code = 0
            except BaseException as error:
                _say(write, f"crashed {error!r}")
            finally:
                os._exit(code)
        os.close(write)
        self._heard = b""

    def hear(self, lines: int) -> bool:
        """Wait for so many lines; False when the child ended before."""
        while self._heard.count(b"\n") < lines:
            more = os.read(self._read, 65536)
            if not more:
                return False
            self._heard += more
        return True

    def so_far(self) -> str:
        """Everything that was said up to this moment."""
        while select.select([self._read], [], [], 0)[0]:
            more = os.read(self._read, 65536)
            if not more:
                break
            self._heard += more
        return self._heard.decode("utf-8", "replace")

    def end(self, kill: bool = False) -> str:
        """Wait for the end, or bring it about; everything that was said."""
        if kill:
            os.kill(self.pid, signal.SIGKILL)
        while more := os.read(self._read, 65536):
            self._heard += more
        os.close(self._read)
        os.waitpid(self.pid, 0)
        return self._heard.decode("utf-8", "replace")


def _say(pipe: int, line: str) -> None:
    os.write(pipe, f"{line}\n".encode())


def need_fork() -> None:
    """Raises CannotRun where processes cannot be forked."""
    if not hasattr(os, "fork"):
        raise CannotRun("needs fork")


def kills(folder: Path, count: int, seed: int = 1) -> Outcome:
    """SIGKILL a writer at a random moment after its first acknowledgement; the next one goes on with the same ledger."""
    need_fork()
    found, chance = Outcome(), random.Random(seed)
    for number in range(count):
        path = folder / f"kills-{number // 25}" / "ledger.db"
        first = 10_000 * (number % 25)
        child = Forked(lambda say, path=path, first=first: world.write(path, first, 0, folder / "witness", say))  # type: ignore[misc]
        child.hear(1 + chance.randrange(12))
        time.sleep(chance.random() * 0.004)
        told = world.Told().hear(child.end(kill=True))
        found.tries += 1
        found.counts["acknowledged"] += len(told.acknowledged)
        found.wrong += world.judge(path, told, folder / "witness")
        if number % 25 == 24:
            shutil.rmtree(path.parent)
    return found


def writers(folder: Path, processes: int, commits: int, readers: int = 1) -> Outcome:
    """Processes that write at once and try again when refused, beside others that read."""
    need_fork()
    found, path = Outcome(), folder / "ledger.db"
    with EventLog(path) as log:
        log.commit([world.step(0, "first")], when=world.WHEN)
    writing = [Forked(lambda say, by=f"w{n}": _insist(path, commits, by, say)) for n in range(processes)]  # type: ignore[misc]
    reading = [Forked(lambda say: _look(path, processes * commits + 1, say)) for _ in range(readers)]
    waits: list[float] = []
    for child in [*writing, *reading]:
        for line in child.end().splitlines():
            word, *rest = line.split()
            if word == "refused":
                found.counts["refused"] += int(rest[0])
                waits.append(float(rest[1]))
            elif word == "read":
                found.counts["reads"] += int(rest[0])
                for name, value in zip(("reader p99, µs", "without waiting for a core, µs"), rest[1:], strict=True):
                    found.counts[name] = max(found.counts[name], int(float(value) * 1000))
            else:
                found.wrong.append(line)
    found.tries = processes * commits
    found.counts["longest refusal, µs"] = int(max(waits) * 1000)
    with EventLog(path) as log:
        by = Counter(event.data["by"] for event in log.events())
        found.wrong += [f"{name} has {n} events" for name, n in by.items() if name != "first" and n != commits]
        report = log.verify(world.fold())
        found.wrong += [] if report.ok and report.events == found.tries + 1 else [f"{report.events}: {report.reason}"]
    return found


def _insist(path: Path, commits: int, by: str, say: Callable[[str], None]) -> None:
    refused, longest = 0, 0.0
    with EventLog(path) as log:
        for number in range(commits):
            while True:
                began = time.perf_counter()
                try:
                    log.commit([world.step(number, by)], when=world.WHEN)
                    break
                except HeldByOther:
                    refused += 1
                    longest = max(longest, time.perf_counter() - began)
                    time.sleep(0.001)
    say(f"refused {refused} {longest * 1000}")


def _look(path: Path, until: int, say: Callable[[str], None]) -> None:
    took, own = [], []
    with EventLog(path) as log:
        seq = 0
        while seq < until:
            began, used = time.perf_counter(), time.thread_time()
            seq = log.head().seq
            list(log.events(max(0, seq - 5)))
            took.append((time.perf_counter() - began) * 1000)
            own.append((time.thread_time() - used) * 1000)
            if len(took) % 50 == 0:
                sum(1 for _ in log.load()[1])
            time.sleep(0.002)
    say(f"read {len(took)} {_p99(took)} {_p99(own)}")


def _p99(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.99)]


# -- changed bits


def flips(folder: Path, count: int, seed: int = 1) -> Outcome:
    """Flip one bit of one file and read everything: it is as before, or the damage is reported."""
    found, chance = Outcome(), random.Random(seed)
    sources = _flip_sources(folder)
    for _ in range(count):
        source = chance.choice(sources)
        target = chance.choice(source.files)
        copy = folder / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(source.folder, copy)
        raw = bytearray((copy / target).read_bytes())
        bit = chance.randrange(len(raw) * 8)
        raw[bit // 8] ^= 1 << bit % 8
        (copy / target).write_bytes(raw)
        found.tries += 1
        said = source.ask(copy)
        found.counts[f"{target.rpartition('/')[2][:10]}: {said}"] += 1
        if said.startswith("!"):
            found.wrong.append(f"{source.folder.name}/{target} bit {bit}: {said}")
    return found


@dataclass(frozen=True, slots=True)
class _Source:
    folder: Path
    files: tuple[str, ...]
    ask: Callable[[Path], str]


def _flip_sources(folder: Path) -> list[_Source]:
    """A closed ledger, one whose writer was killed (with a write-ahead log), and proofs with their checkpoints."""
    closed, killed, proofs = (folder / name for name in ("closed", "killed", "proofs"))
    for at in (closed, killed):
        with EventLog(at / "ledger.db", witness=Witness(at / "witness")) as log:
            world.fill(log, 60)
            log.checkpoint(world.SIGNER)
            world.fill(log, 12, 60)
            if at is killed:
                shutil.copytree(at, folder / "as killed", ignore=shutil.ignore_patterns("*-shm"))
    killed = folder / "as killed"
    _write_proofs(closed / "ledger.db", proofs)
    found = []
    for at, name in ((closed, "ledger.db"), (killed, "ledger.db-wal")):
        with EventLog(at / "ledger.db") if at is closed else _opened(folder, at) as log:
            whole = world.contents(log)
        witness = next((at / "witness").iterdir()).name
        files = ("ledger.db",) * 6 + (f"witness/{witness}",) if at is closed else (name,) * 3
        found.append(_Source(at, files, lambda copy, whole=whole: ask_ledger(copy, whole)))  # type: ignore[misc]
    names = tuple(path.name for path in sorted(proofs.iterdir()))
    return [*found, found[0], _Source(proofs, names, ask_proofs)]


@contextlib.contextmanager
def _opened(folder: Path, at: Path) -> Iterator[EventLog]:
    copy = folder / "looked at"
    shutil.copytree(at, copy)
    with EventLog(copy / "ledger.db") as log:
        yield log


def ask_ledger(folder: Path, whole: tuple[object, ...]) -> str:
    """What a ledger with a changed bit says; with ``!`` in front when that must not be."""
    try:
        with EventLog(folder / "ledger.db", witness=Witness(folder / "witness")) as log:
            report = log.verify(world.fold())
            if report.ok:
                return "as before" if world.contents(log) == whole else "! another content, and nothing was said"
            named = bool(report.flaws) and all(flaw.where and flaw.what for flaw in report.flaws)
            if not named:
                return "! found, but not named"
            if not report.repairable:
                return "found in an event"
    except MogError as error:
        return "found at open" if error.way_out else "! no way out"
    return _repaired(folder, whole)


def _repaired(folder: Path, whole: tuple[object, ...]) -> str:
    how, path = "repaired", folder / "ledger.db"
    try:
        with EventLog(path) as log:
            try:
                log.rebuild(world.fold())
            except MogError:
                how, path = "salvaged", folder / "new.db"
                log.salvage(path, world.fold())
        with EventLog(path) as log:
            now, still = world.contents(log), log.verify(world.fold()).reason
    except MogError as error:
        return f"! cannot be repaired: {error}"
    return f"found, {how}" if not still and now[:6] == whole[:6] else f"! {how} into something else: {still}"


def _write_proofs(ledger: Path, folder: Path) -> None:
    folder.mkdir()
    with EventLog(ledger) as log:
        signature = log.signature(())
        assert signature is not None
        (folder / "old").write_text(signature.note, encoding="utf-8")
        (folder / "new").write_text(log.checkpoint(world.SIGNER), encoding="utf-8")
        for name, proof in (("inclusion", log.prove(33)), ("consistency", log.consistency(signature.checkpoint.size))):
            (folder / f"{name}.json").write_text(json.dumps(proof), encoding="utf-8")


def ask_proofs(folder: Path) -> str:
    """What the stand-alone verifier says of proofs with a changed bit."""
    try:
        ledger = read_note((folder / "new").read_text(encoding="utf-8")).checkpoint.ledger
    except (MogError, UnicodeDecodeError):
        return "found in the checkpoint"
    key, old, new = key_line(ledger, world.SIGNER.public), str(folder / "old"), str(folder / "new")
    questions = (["inclusion", str(folder / "inclusion.json"), new], ["consistency", str(folder / "consistency.json"), old, new])
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        codes = [verify_ledger.main([*question, "--key", key]) for question in questions]
    return "found by the verifier" if any(codes) else "as before" if _same_proofs(folder) else "! accepted"


def _same_proofs(folder: Path) -> bool:
    """Whether what was accepted still says the same: a bit of white space, or one that base64 does not use."""
    for name in ("inclusion.json", "consistency.json"):
        now, was = (json.loads((at / name).read_text(encoding="utf-8")) for at in (folder, folder.with_name("proofs")))
        hashes = {"prev", "state_before", "state_after", "path"} & was.keys()
        if any(_decoded(now[key]) != _decoded(was[key]) for key in hashes):
            return False
        if any(now[key] != was[key] for key in was.keys() - hashes):
            return False
    return True


def _decoded(value: str | list[str]) -> list[bytes]:
    return [base64.b64decode(text) for text in ([value] if isinstance(value, str) else value)]
