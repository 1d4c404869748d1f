"""``python -m benchmarks.mcp_kill --times 200``: processes of ``mog serve --mcp`` end in the middle of reads and of writes.

Each round has a server that owns the workspace and two that bridge to it, each with a client that has calls open when one of them
is killed, quits, stops, or loses its client. Afterwards every client that still has a process is answered, and the ledger is read
back from the disk: a write whose answer came is there once, one whose answer never came at most once. Prints the table and, with
``--write``, puts it into docs/results/mcp-kill.md. What may not come in: how a handover is made.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.mcp_latency import ready
from benchmarks.mcp_world import LEGACY, MODERN, Gone, Raw, apart, echo, left_behind, made
from mog.app.mcp.place import Place
from mog.engine.workspace import Workspace

#: A hang is more than five seconds; on a machine so busy that a server with one tool needs more than two to start, more than two and
#: a half times that.
HANG, BUSY, TIMES = 5.0, 2.0, 2.5
GIVE_UP = 30.0
EVERY = 1_000_000  # notes: a round that lasts a minute records hundreds
#: What is answered while a stopped process has the call, or the ledger in the middle of a commit.
UNKNOWN = ("it may record it yet", "another process is writing to the ledger")
STOPPED = 4.0
_BENCH = """
import sys
from pathlib import Path
from mog.app.mcp.hosting import Hosting
from mog.engine.workspace import Workspace
with Workspace.open(Path(sys.argv[1])) as workspace:
    hosting = Hosting(workspace)
    hosting.begin()
    workspace.start_watch()
    print("owner" if hosting.state().owner else "nobody", flush=True)
    sys.stdin.readline()
    hosting.close()
    workspace.stop_watch()
"""


@dataclass
class Outcome:
    """What rounds of one kind came to.

    Attributes:
        waits: seconds from the fault, or from the call after it, to each answer. unknown: writes that a stopped process has begun, of
            which the client reads that they may be recorded yet; they must not be there twice either.
    """

    rounds: int = 0
    calls: int = 0
    acknowledged: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    unknown: int = 0
    lost: int = 0
    twice: int = 0
    hangs: int = 0
    session: int = 0
    stray: int = 0
    orphans: int = 0
    waits: list[float] = field(default_factory=list)

    @property
    def faults(self) -> int:
        """Everything that must not be."""
        return self.lost + self.twice + self.hangs + self.session + self.stray + self.orphans + sum(self.refused.values())


class Round:
    """Three clients of one repository and what was asked of them."""

    def __init__(self, root: Path, mode: str, outcome: Outcome, rng: random.Random, hang: float = HANG) -> None:
        self.root, self.mode, self.outcome, self.rng, self.hang = root, mode, outcome, rng, hang
        self.clients: list[Raw] = []
        self.open: list[tuple[Raw, int, str]] = []
        self.acknowledged: set[str] = set()
        self.doomed: set[int] = set()
        self._numbers = itertools.count()
        self._tag = f"{rng.getrandbits(48):012x}"

    def client(self) -> Raw:
        """One more client, opened; the first owns the workspace."""
        one = Raw(self.root, era=self.rng.choice((LEGACY, MODERN)))
        self.clients.append(one)
        one.open()
        return one

    def begin(self, client: Raw) -> None:
        """Begin one call of the mode."""
        note = ""
        if self.mode == "writes":
            note = f"{self._tag} {next(self._numbers)}"
            given: dict[str, Any] = {"target": f"f{self.rng.randrange(12)}", "note": note}
            name = "pin" if self.rng.random() < 0.5 else "remember"
            given = given if name == "pin" else {"kind": "observation", "text": f"{note} was seen", "about": ["f1"]}
        else:
            name, given = self.rng.choice((("impact", {"target": "f1"}), ("why", {"target": "f2"}), ("recall", {})))
        self.outcome.calls += 1
        self.open.append((client, client.begin("tools/call", {"name": name, "arguments": given}), note))

    def settle(self, since: float, wait: float = GIVE_UP) -> None:
        """Collect every answer that can still come; those of a client whose own server was killed cannot."""
        left, self.open = self.open, []
        for client, id, note in left:
            try:
                message = client.answer(id, 0.05 if client.process.pid in self.doomed else wait)
            except (TimeoutError, Gone):
                self.outcome.hangs += client.process.pid not in self.doomed
                continue
            waited = time.monotonic() - since
            if client.process.pid not in self.doomed:
                self.outcome.waits.append(waited)
                self.outcome.hangs += waited > self.hang
            self._heard(message, note)

    def _heard(self, message: dict[str, Any], note: str) -> None:
        text = str(message)
        self.outcome.session += "session not found" in text.lower()
        if any(words in text for words in UNKNOWN):
            self.outcome.unknown += 1
        elif "error" in message or message["result"].get("isError"):
            self.outcome.refused[text[-160:]] += 1
        elif note:
            self.acknowledged.add(note)

    def again(self) -> None:
        """Every living client is answered once more."""
        for client in self.clients:
            if client.process.pid not in self.doomed:
                began = time.monotonic()
                self.begin(client)
                self.settle(began)

    def check(self) -> None:
        """Read the ledger back, and end what still runs."""
        self.outcome.acknowledged += len(self.acknowledged)
        notes = Counter(_recorded(self.root, self._tag))
        self.outcome.lost += sum(note not in notes for note in self.acknowledged)
        doubled = [note for note, count in notes.items() if count > 1]
        self.outcome.twice += len(doubled)
        for note in doubled:
            report.say(f"twice: {note}: {_events(self.root, note)}")
        for client in self.clients:
            self.outcome.stray += len(client.stray)
            if client.process.pid not in self.doomed:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    client.close(self.hang)
        until = time.monotonic() + self.hang
        while left_behind(self.root) and time.monotonic() < until:
            time.sleep(0.05)
        self.outcome.orphans += len(left_behind(self.root))
        for client in self.clients:
            client.__exit__()


def _recorded(root: Path, tag: str) -> Iterator[str]:
    with Workspace.open(root) as workspace:
        texts = [state.pin.note for state in workspace.pins()]
        if workspace.ledger_path.exists():
            texts += [note.text.removesuffix(" was seen") for note in workspace.memory.newest(limit=EVERY).notes]
    yield from (text for text in texts if text.startswith(tag))


def _events(root: Path, note: str) -> list[tuple[int, Any]]:
    """Numbers of the events that hold a note, and what they say of the call."""
    with Workspace.open(root) as workspace:
        events = [event for event in workspace.beliefs.log.events() if note in str(event.data)]
        return [(event.seq, event.data.get("asked")) for event in events]


# -- faults


Fault = Callable[[Round, float], None]


def owner_of(round: Round) -> Raw:
    """The client whose server owns the workspace now."""
    until = time.monotonic() + GIVE_UP
    while time.monotonic() < until:
        address = Place(round.root).address()
        found = [one for one in round.clients if address is not None and one.process.pid == address.pid]
        if found:
            return found[0]
        time.sleep(0.02)
    raise RuntimeError("nobody owns the workspace")


def burst(round: Round) -> None:
    """Calls on every client, then a moment that may be none."""
    for _ in range(3):
        for client in round.clients:
            round.begin(client)
    time.sleep(round.rng.choice((0.0, 0.002, 0.005, 0.01, 0.03, 0.1)))


def owner_killed(round: Round, _: float) -> None:
    """SIGKILL to the server that owns the workspace."""
    victim = owner_of(round)
    burst(round)
    _end(round, victim, victim.process.kill)


def bridge_killed(round: Round, _: float) -> None:
    """SIGKILL to one that bridges."""
    victim = next(one for one in round.clients if one is not owner_of(round))
    burst(round)
    _end(round, victim, victim.process.kill)


def client_dropped(round: Round, _: float) -> None:
    """A client goes away in the middle of its calls: its pipes close, nobody tells its server."""
    victim = round.rng.choice(round.clients)
    burst(round)
    _end(round, victim, lambda: _drop(victim))


def server_restarted(round: Round, _: float) -> None:
    """The owner is told to end and another server starts at once; the others stay connected."""
    victim = owner_of(round)
    burst(round)
    _end(round, victim, lambda: victim.process.send_signal(signal.SIGTERM))
    round.client()


def stopped(round: Round, seconds: float) -> None:
    """The owner does not run for a while and then goes on; what its own client waits for comes afterwards."""
    victim = owner_of(round)
    others = [one for one in round.clients if one is not victim]
    burst(round)
    os.kill(victim.process.pid, signal.SIGSTOP)
    began, asleep = time.monotonic(), [call for call in round.open if call[0] is victim]
    try:
        round.open = [call for call in round.open if call[0] is not victim]
        round.settle(began)
        while time.monotonic() - began < seconds:
            for client in others:
                sent = time.monotonic()
                round.begin(client)
                round.settle(sent)
            time.sleep(0.25)
    finally:
        os.kill(victim.process.pid, signal.SIGCONT)
    round.open += asleep
    round.settle(time.monotonic())


def workbench_quit(round: Round, _: float) -> None:
    """A program with a screen owns the workspace and quits, or is killed, while agents ask."""
    bench = round.workbench  # type: ignore[attr-defined]
    burst(round)
    began = time.monotonic()
    if round.rng.random() < 0.5:
        bench.kill()
    else:
        bench.stdin.close()
    round.settle(began)
    bench.wait(HANG)


def _end(round: Round, victim: Raw, how: Callable[[], None]) -> None:
    round.doomed.add(victim.process.pid)
    began = time.monotonic()
    how()
    round.settle(began)
    try:
        victim.process.wait(round.hang)
    except subprocess.TimeoutExpired:
        round.outcome.hangs += 1


def _drop(victim: Raw) -> None:
    assert victim.process.stdin is not None and victim.process.stdout is not None
    with contextlib.suppress(OSError):
        victim.process.stdin.close()


FAULTS: dict[str, Fault] = {
    "owner killed": owner_killed, "workbench quit": workbench_quit, "bridge killed": bridge_killed,
    "client dropped mid-call": client_dropped, "server restarted": server_restarted, "stopped and continued": stopped,
}  # fmt: skip


def play(
    root: Path, fault: str, mode: str, outcome: Outcome, rng: random.Random, *, seconds: float = STOPPED, hang: float = HANG
) -> None:
    """One round."""
    outcome.rounds += 1
    round = Round(root, mode, outcome, rng, hang)
    bench = _workbench(root) if fault == "workbench quit" else None
    try:
        round.workbench = bench  # type: ignore[attr-defined]
        for _ in range(2 if bench else 3):
            round.client()
        for client in round.clients:
            client.call("why", target="f0")
        time.sleep(rng.choice((0.0, 0.5, 1.5)))  # whether or not a bridge has made itself the heir
        FAULTS[fault](round, seconds)
        round.again()
    finally:
        round.check()
        if bench is not None and bench.poll() is None:
            bench.kill()
            bench.wait(HANG)


def _workbench(root: Path) -> subprocess.Popen[str]:
    vector = [sys.executable, "-c", _BENCH, str(root)]
    bench = subprocess.Popen(vector, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert bench.stdout is not None
    if bench.stdout.readline().strip() != "owner":
        raise RuntimeError("the workbench does not own the workspace")
    return bench


# -- the table


def rows(outcomes: dict[tuple[str, str], Outcome]) -> Iterator[Sequence[str]]:
    """One line a fault and mode."""
    for (fault, mode), one in outcomes.items():
        waits = sorted(one.waits) or [0.0]
        shown = (
            one.rounds, one.calls, one.acknowledged, one.lost, one.twice, one.hangs, one.session, one.stray, one.orphans,
            one.unknown, sum(one.refused.values()), f"{waits[len(waits) // 2]:.2f}", f"{waits[-1]:.2f}",
        )  # fmt: skip
        yield [fault, mode, *map(str, shown)]


HEAD = (
    "what ends", "in", "rounds", "calls", "acknowledged writes", "lost", "twice", "hangs", "session not found", "stray lines",
    "orphans", "told that it is held", "refused", "wait p50 s", "longest s",
)  # fmt: skip


def run(
    times: int, seconds: float, seed: int, kinds: Sequence[str] = tuple(FAULTS)
) -> tuple[dict[tuple[str, str], Outcome], list[float]]:
    """``times`` rounds shared out over faults and modes; a new repository after a dozen, and a look at how busy the machine is."""
    starts: list[float] = []
    outcomes = {(fault, mode): Outcome() for fault in kinds for mode in ("reads", "writes")}
    rng = random.Random(seed)
    with apart() as folder:
        for number, (kind, one) in zip(range(times), itertools.cycle(outcomes.items()), strict=False):
            root = folder / f"repo{number // 12}"
            if not root.exists():
                made(root)
                if not starts:  # what runs first compiles what it loads
                    ready(root), ready(root, echo(folder))
                starts.append(ready(root, echo(folder)))
            before = one.faults
            play(root, *kind, one, rng, seconds=seconds, hang=_limit(starts[-1]))
            if one.faults != before:
                report.say(f"round {number}: {' '.join(kind)}: {dict(one.refused)} {one}"[:600])
            if number % 12 == 11:
                report.say(f"{number + 1} rounds")
    return outcomes, starts


def _limit(start: float) -> float:
    return HANG if start <= BUSY else TIMES * start


def _range(starts: Sequence[float]) -> str:
    ordered = sorted(starts)
    return f"{ordered[0]:.1f} to {ordered[-1]:.1f} (p50 {ordered[len(ordered) // 2]:.1f})"


def main(argv: Sequence[str] | None = None) -> int:
    """Exit 1 when anything was lost, hung, strayed or stayed."""
    reader = argparse.ArgumentParser(prog="python -m benchmarks.mcp_kill", description=__doc__.partition("\n")[0] if __doc__ else "")
    reader.add_argument("--times", type=int, default=200)
    reader.add_argument("--stopped", type=float, default=STOPPED, help="seconds for which a process is stopped")
    reader.add_argument("--seed", type=int, default=1)
    reader.add_argument("--only", choices=FAULTS, action="append")
    reader.add_argument("--write", action="store_true", help="put the table into docs/results/mcp-kill.md")
    given = reader.parse_args(argv)
    machine = report.machine()
    outcomes, starts = run(given.times, given.stopped, given.seed, tuple(given.only or FAULTS))
    text = f"{report.table(HEAD, rows(outcomes))}\n\nMeanwhile a server with one tool was ready in {_range(starts)} s."
    print(text)
    if given.write:
        command = f"python -m benchmarks.mcp_kill --times {given.times} --stopped {given.stopped:g}"
        report.write("mcp-kill", f"# Processes of `mog serve --mcp` that end\n\n`{command}` on {machine}.\n\n{text}\n")
    return int(any(one.faults for one in outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
