"""``python -m benchmarks.executor_crashes``: SIGKILL during runs, saves and exports of a plan; what is left is held against it.

A forked writer runs rounds of a plan of eight tasks over a ledger on disk, finds grounds false, repairs, saves and exports, and
says after each commit what is recorded. It is killed at a random moment, or by strace at the k-th call of one kind, for every
k. Then a fresh process reads everything back and goes on. Prints the table and writes docs/results/executor-crashes.md. What
may not come in: how a ledger or a session is stored; what has to run is worked out here from the results, not from traces.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import report
from benchmarks.ledger_faults import CannotRun, Forked, Outcome, need_fork
from benchmarks.ledger_world import WHEN, draw
from mog.engine.errors import MogError, UsageError
from mog.engine.executor import Runner, TaskRegistry, session
from mog.engine.executor.model import REPAIRED, TaskState
from mog.engine.ledgers.events import Event, EventLog
from mog.engine.ontology import load
from mog.engine.reason.mesh import Mesh, folder

Say = Callable[[str], None]
OURS = load()
PLAN = "crash plan"
NEEDS: Mapping[str, tuple[str, ...]] = {
    "config": (), "schema": (), "hash": ("config",), "store": ("schema",), "routes": ("config", "schema"),
    "pages": ("hash", "routes"), "jobs": ("store", "routes"), "ship": ("pages", "jobs"),
}  # fmt: skip
"""Every task and what it needs, in the order of declaration."""
CALLS = ("fdatasync", "fsync", "pwrite64", "rename", "write", "ftruncate", "unlink", "link")
EVERY = range(1, 60_000)  # strace counts to 65,535
STARTS = ("nothing", "a repaired plan")
ROUNDS = {"nothing": 1, "a repaired plan": 2}
"""How long the writer goes on whose k-th call is hit."""
_AT_MOST = 120
_MANY_ACKNOWLEDGED = 28


# -- the plan


def value(name: str, statement: str, given: Mapping[str, int]) -> int:
    """What a task gives: 0, 1 or 2, so that a change often ends after a few tasks."""
    return draw(name, statement, sorted(given.items()), below=3)


@dataclass
class Code:
    """The code of the plan, and which tasks it was run for."""

    ran: Counter[str] = field(default_factory=Counter)
    saw: dict[str, str] = field(default_factory=dict)

    def registry(self) -> TaskRegistry:
        """What the two keys mean."""
        made = TaskRegistry()
        made.register_worker("crash.work", self._work, pure=True, version="1")
        made.register_auditor("crash.audit", self._audit)
        return made

    def _work(self, ctx: Any) -> dict[str, int]:
        name, statement = ctx.task.name, ctx.assumption.statement
        given = {need: ctx.inputs[need]["n"] for need in NEEDS[name]}
        self.ran[name] += 1
        self.saw[name] = json.dumps([statement, given], sort_keys=True)
        return {"n": value(name, statement, given)}

    def _audit(self, ctx: Any) -> Any:
        return ctx.ok(self.saw[ctx.task.name])


class Told(EventLog):
    """A ledger that says what was recorded, after it was."""

    say: Say = staticmethod(lambda _: None)

    def commit(self, *args: Any, **more: Any) -> tuple[Event, ...]:
        """As the ledger's, with a line ``ack SEQ DIGEST TASK`` for each event."""
        events = super().commit(*args, **more)
        for event in events:
            self.say(f"ack {event.seq} {event.digest} {event.data.get('task') or '-'}")
        return events


def mesh_of(log: EventLog) -> Mesh:
    """The beliefs of a ledger."""
    return Mesh(log, OURS, "crash", clock=lambda: WHEN)


def declare(runner: Runner) -> None:
    """Declare the whole plan in one commit."""
    with runner.declaring():
        for name, needs in NEEDS.items():
            runner.task(
                name, worker_key="crash.work", auditor_key="crash.audit", assumes=f"{name} may, at first", needs=needs,
                produces=[f"{name} thing"], pure=True,
            )  # fmt: skip


def reject(mesh: Mesh, runner: Runner, name: str) -> None:
    """Find the ground of a task false."""
    target = runner[name].assumption_ids[0]
    mesh.apply(
        "found",
        lambda w: w.judge(w.evidence(f"against {runner[name].assumes[0]}"), target, "contradicts", auditor="person"),
    )


# -- the process that is killed


def write(at: Path, rounds: int, say: Say) -> None:
    """Run, save, export and change, round after round (0: for ever); says what is recorded, saved and exported."""
    with contextlib.closing(Told(at / "ledger.db")) as log:
        log.say = say
        mesh = mesh_of(log)
        runner = Runner(mesh, Code().registry(), PLAN)
        if not runner.tasks:
            declare(runner)
        for number in range(rounds) if rounds else _for_ever():
            runner.run()
            if number % 2:  # then a copy holds work that is stale
                _change(mesh, runner)
            if rounds or number % 3 != 2:
                saved = session.save(log, at / "saved")
                say(f"saved {saved.head.seq} {saved.head.digest}")
            if rounds or number % 3 != 1:
                say(f"exported {session.export(mesh, at / 'out').written.generation}")
            if number % 2 == 0:
                _change(mesh, runner)
    say("end")


def _for_ever() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


def _change(mesh: Mesh, runner: Runner) -> None:
    """Put other ground under one task or two; sometimes the old one was found false before."""
    round, names = runner.round, list(NEEDS)
    chosen = {names[draw("which", round, i, below=5)] for i in range(1 + round % 2)}
    for name in sorted(chosen):
        if draw("false", round, name, below=2):
            reject(mesh, runner, name)
        runner.repair(name, assumes=f"{name} may, after round {round}")


@dataclass(slots=True)
class Heard:
    """What a writer said: seq → digest, the last save, the last export; whether it came to its end, other lines."""

    acknowledged: dict[int, str] = field(default_factory=dict)
    saved: tuple[int, str] = (0, "")
    exported: int = 0
    ended: bool = False
    crashed: list[str] = field(default_factory=list)

    def hear(self, text: str) -> Heard:
        """Take in whole lines; what was cut off at the end was not said."""
        for line in text.split("\n")[:-1]:
            word, *rest = line.split(" ")
            if word == "ack":
                self.acknowledged[int(rest[0])] = rest[1]
            elif word == "saved":
                self.saved = (int(rest[0]), rest[1])
            elif word == "exported":
                self.exported = int(rest[0])
            elif word == "end":
                self.ended = True
            else:
                self.crashed.append(line)
        return self


# -- what has to run


def seen(runner: Runner) -> dict[str, str]:
    """What every task saw when it was last accepted, from the run ledger."""
    holds = [e for e in runner.ledger.entries() if e.kind == "audited" and e.detail.startswith("holds: ")]
    return {entry.task: entry.detail.removeprefix("holds: ") for entry in holds}


@dataclass(slots=True)
class Needed:
    """The tasks that have to run now, those that cannot because a ground is false, those that may, and what each gives."""

    must: set[str] = field(default_factory=set)
    cannot: set[str] = field(default_factory=set)
    may: set[str] = field(default_factory=set)
    gives: dict[str, int] = field(default_factory=dict)


def needed(mesh: Mesh, runner: Runner) -> Needed:
    """Work it out: a task runs when it never did, was repaired, or would see something else than it saw."""
    found, saw = Needed(), seen(runner)
    for name, needs in NEEDS.items():
        task = runner[name]
        if mesh.judgements(task.assumption_ids[0]) or found.cannot & set(needs):
            found.cannot.add(name)
            continue
        given = {need: found.gives[need] for need in needs}
        now = json.dumps([task.assumes[0], given], sort_keys=True)
        found.gives[name] = value(name, task.assumes[0], given)
        never = task.state in (TaskState.pending, TaskState.failed) or task.cause == REPAIRED
        if never or saw.get(name) != now:
            found.must.add(name)
        if name in found.must or task.state is not TaskState.done or found.may & set(needs):
            found.may.add(name)
    return found


# -- the process that comes after


@dataclass(slots=True)
class Judge:
    """Looks at what a killed writer left in a folder, as a fresh process."""

    at: Path
    heard: Heard
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    def judge(self) -> None:
        """Load the copy, the exported session and the ledger; go on with each; save and export again."""
        self.wrong += self.heard.crashed
        self._guarded("the saved copy", self._saved)
        self._guarded("the exported session", self._exported)
        self._guarded("the ledger", self._ledger)

    def _guarded(self, what: str, look: Callable[[], None]) -> None:
        try:
            look()
        except (MogError, OSError) as error:
            self.counts["unloadable"] += 1
            self.wrong.append(f"{what}: {type(error).__name__}: {error}")

    def _lost(self, log: EventLog, told: Mapping[int, str], what: str) -> None:
        there = {event.seq: event.digest for event in log.events()}
        lost = sorted(seq for seq, digest in told.items() if there.get(seq) != digest)
        if lost:
            self.counts["lost"] += len(lost)
            self.wrong.append(f"{what}: acknowledged and not there: {lost}")

    def _ledger(self) -> None:
        with EventLog(self.at / "ledger.db") as log:
            whole = log.verify(folder(OURS))
            if not whole.ok:
                self.counts["unloadable"] += 1
                self.wrong.append(f"the ledger does not verify: {whole.reason}")
            self._lost(log, self.heard.acknowledged, "the ledger")
            mesh = mesh_of(log)
            code = Code()
            runner = Runner(mesh, code.registry(), PLAN)
            if len(runner.tasks) not in (0, len(NEEDS)):
                self.wrong.append(f"{len(runner.tasks)} of {len(NEEDS)} tasks, which were declared in one commit")
            if not runner.tasks:
                declare(runner)
            self._go_on(mesh, runner, code, "the ledger", exact=True)
            saved = session.save(log, self.at / "saved")
            if saved.head.seq != log.head().seq:
                self.wrong.append("the next save does not hold what is recorded")
            out = session.export(mesh, self.at / "out")
            least = self.heard.exported + out.written.written  # what says the same is not written again
            if session.inspect(self.at / "out").fell_back or out.written.generation < least:
                self.wrong.append("the next export is not the newest generation")

    def _saved(self) -> None:
        seq, digest = self.heard.saved
        with EventLog(self.at / "back" / "ledger.db") as log:
            code = Code()
            try:
                session.load(self.at / "saved", log, code.registry())
            except UsageError:  # nothing was saved yet
                if seq:
                    raise
                return
            self.counts["copies loaded"] += 1
            self._lost(log, {seq: digest} if seq else {}, "the saved copy")
            mesh = mesh_of(log)
            self._go_on(mesh, Runner(mesh, code.registry(), PLAN), code, "the saved copy", exact=True)

    def _exported(self) -> None:
        code = Code()
        with EventLog(self.at / "taken" / "ledger.db") as log:
            mesh = mesh_of(log)
            try:
                done = session.import_(mesh, self.at / "out", code.registry())
            except UsageError:  # nothing was exported yet
                if self.heard.exported:
                    raise
                return
            self.counts["sessions loaded"] += 1
            self.counts["older generation taken"] += bool(done.fell_back)
            if done.generation < self.heard.exported:
                self.wrong.append(f"generation {self.heard.exported} was exported, {done.generation} is there")
            self._go_on(mesh, Runner(mesh, code.registry(), PLAN), code, "the exported session", exact=False)

    def _go_on(self, mesh: Mesh, runner: Runner, code: Code, what: str, *, exact: bool) -> None:
        """Resume; what could not run because its ground is false is repaired, and runs then."""
        runner.ledger.verify()
        for again in range(2):
            now = needed(mesh, runner)
            self._resume(runner, code, now, what, exact)
            rejected = [t.name for t in runner.tasks if mesh.judgements(t.assumption_ids[0])]
            if again or not rejected:
                break
            self.counts["found between a finding and its repair"] += 1
            for name in rejected:
                runner.repair(name, assumes=f"{name} may, after the crash")
        if not runner.complete:
            self.wrong.append(f"{what}: not complete after it was resumed")

    def _resume(self, runner: Runner, code: Code, now: Needed, what: str, exact: bool) -> None:
        code.ran.clear()
        runner.resume()
        ran = set(code.ran)
        beyond = ran - (now.must if exact else now.may)
        self.counts["tasks run again"] += len(ran)
        self.counts["tasks left alone"] += len(NEEDS) - len(ran)
        self.counts["beyond the stale closure"] += len(beyond)
        self.wrong += [f"{what}: ran beyond the stale closure: {sorted(beyond)}"] if beyond else []
        missing, twice = sorted(now.must - ran), sorted(name for name, n in code.ran.items() if n > 1)
        self.wrong += [f"{what}: had to run and did not: {missing}"] if missing else []
        self.wrong += [f"{what}: ran twice: {twice}"] if twice else []
        other = sorted(name for name, n in now.gives.items() if runner.output(name).get("n") != n)
        self.wrong += [f"{what}: another result than that of running everything: {other}"] if other else []


def judged(at: Path, heard: Heard, found: Outcome, where: str) -> None:
    """Judge in a process of its own, and add what it says."""

    def work(say: Say) -> None:
        signal.alarm(_AT_MOST)
        gc.disable()  # it lives for a moment
        judge = Judge(at, heard)
        judge.judge()
        say(json.dumps([judge.counts, judge.wrong]))

    text = Forked(work).end().strip()
    found.tries += 1
    found.counts["acknowledged"] += len(heard.acknowledged)
    try:
        counts, wrong = json.loads(text)
    except ValueError:
        counts, wrong = {"unloadable": 1}, [f"the process that came after broke: {text[:600]!r}"]
    found.counts.update(counts)
    found.wrong += [f"{where}: {what}" for what in wrong]


# -- making crashes


def templates(at: Path) -> dict[str, Path]:
    """Folders a writer starts from: none, and one with a plan that was run, saved, exported and repaired."""
    made = at / "template"
    if not made.exists():
        text = Forked(lambda say: write(made, 1, say)).end()
        if not Heard().hear(text).ended:
            raise RuntimeError(f"the writer does not come to its end without a fault: {text[-800:]}")
    return {STARTS[0]: at / "none", STARTS[1]: made}


def _start(template: Path, at: Path) -> None:
    if template.exists():
        shutil.copytree(template, at)
    else:
        at.mkdir()


def kills(at: Path, count: int, seed: int = 1) -> Outcome:
    """SIGKILL a writer at a random moment after a random number of acknowledgements."""
    need_fork()
    found, chance, start = Outcome(), random.Random(seed), templates(at)
    for number in range(count):
        name = STARTS[number % 2]
        here = at / f"kill-{seed}-{number}"
        _start(start[name], here)
        child = Forked(lambda say, here=here: write(here, 0, say))  # type: ignore[misc]
        child.hear(chance.randrange(_MANY_ACKNOWLEDGED))
        time.sleep(chance.random() * 0.03)
        judged(here, Heard().hear(child.end(kill=True)), found, f"kill {number} of seed {seed}, from {name}")
        shutil.rmtree(here)
    return found


def every(at: Path, call: str, ks: Iterable[int], starts: Sequence[str] = STARTS) -> Outcome:
    """Kill a writer at its k-th call of one kind, until there are no more such calls. Raises CannotRun."""
    need_fork()
    if shutil.which("strace") is None:
        raise CannotRun("strace is not installed")
    found, start = Outcome(), templates(at)
    for name in starts:
        for k in ks:
            here = at / f"{call}-{k}"
            _start(start[name], here)
            heard = Heard().hear(_injected(here, call, k, ROUNDS[name]))
            if not heard.ended:
                judged(here, heard, found, f"{call} {k}, from {name}")
            shutil.rmtree(here)
            if heard.ended:
                break
    return found


def _injected(at: Path, call: str, k: int, rounds: int) -> str:
    """What a writer said that is killed at its k-th call: forked, held back until strace has taken hold of it."""
    gate, opened = os.pipe()

    def work(say: Say) -> None:
        os.close(opened)
        signal.alarm(_AT_MOST)
        os.read(gate, 1)
        write(at, rounds, say)

    child = Forked(work)
    os.close(gate)
    inject = ["-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={k}"]
    command = ["strace", "-f", "-qq", "-o", os.devnull, *inject, "-p", str(child.pid)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as tracer:
        held = _held(child.pid, tracer)
        if held:
            os.write(opened, b"g")
        os.close(opened)
        text = child.end(kill=not held)
        said = tracer.communicate(timeout=_AT_MOST)[1]
    if not held:
        raise CannotRun(f"strace cannot trace here: {said[-200:].decode('utf-8', 'replace')}")
    return text


def _held(pid: int, tracer: subprocess.Popen[bytes]) -> bool:
    """Wait until a process is traced; False when its tracer ends before."""
    status = Path("/proc") / str(pid) / "status"
    while tracer.poll() is None:
        if "TracerPid:\t0\n" not in status.read_text(encoding="utf-8"):
            return True
        time.sleep(0.001)
    return False


# -- the table


Part = tuple[str, Callable[[Path], Outcome]]


def parts(kills_wanted: int, calls: Sequence[str], lanes: int) -> list[Part]:
    """Rows of the table, each with its work, cut into pieces of which several are done at once."""
    pieces = max(1, lanes * 4)
    share = [kills_wanted // pieces + (i < kills_wanted % pieces) for i in range(pieces)]
    random_kills: list[Part] = [
        ("SIGKILL at a random moment", lambda at, n=n, i=i: kills(at, n, 1 + i))  # type: ignore[misc]
        for i, n in enumerate(share)
    ]
    at_calls: list[Part] = [
        (f"SIGKILL at the k-th {call}", lambda at, c=call, s=s, r=r: every(at, c, EVERY[r::lanes], (s,)))  # type: ignore[misc]
        for call in calls
        for s in STARTS
        for r in range(lanes)
    ]
    return [*at_calls, *random_kills]


def lane(at: Path, mine: Sequence[tuple[int, Part]], say: Say) -> None:
    """Do some parts, one after the other, and say what each gave."""
    for number, (_, part) in mine:
        began = time.perf_counter()
        try:
            found = part(at)
            said: list[Any] = [number, found.tries, found.counts, found.wrong, ""]
        except CannotRun as error:
            said = [number, 0, {}, [], str(error)]
        say(json.dumps([*said, time.perf_counter() - began]))


@dataclass(slots=True)
class Row:
    """One row: what became of its tries, why it cannot be made here, seconds of all lanes."""

    found: Outcome = field(default_factory=Outcome)
    cannot: str = ""
    took: float = 0.0


def measure(at: Path, made: Sequence[Part], lanes: int) -> dict[str, Row]:
    """Do all parts, several at once."""
    rows = {name: Row() for name, _ in made}
    running = []
    for i in range(lanes):
        (at / str(i)).mkdir()
        mine = list(enumerate(made))[i::lanes]
        running.append(Forked(lambda say, i=i, mine=mine: lane(at / str(i), mine, say)))  # type: ignore[misc]
    done = 0
    for each in running:
        for line in each.end().splitlines():
            number, tries, counts, wrong, cannot, took = json.loads(line)
            row, done = rows[made[number][0]], done + 1
            row.found.tries += tries
            row.found.counts.update(counts)
            row.found.wrong += wrong
            row.cannot, row.took = row.cannot or cannot, row.took + took
    if done < len(made):
        raise RuntimeError(f"{len(made) - done} parts did not come to their end")
    return rows


COLUMNS = ("acknowledged", "lost", "unloadable", "copies loaded", "sessions loaded", "tasks run again", "tasks left alone",
           "beyond the stale closure")  # fmt: skip


def document(rows: Mapping[str, Row], host: str) -> str:
    """The page for docs/results/."""
    table, whole = [], Outcome()
    for name, row in rows.items():
        if row.cannot:
            table.append([name, f"cannot run here: {row.cannot}", *[""] * (len(COLUMNS) + 2)])
            continue
        whole.tries += row.found.tries
        whole.counts.update(row.found.counts)
        whole.wrong += row.found.wrong
        table.append(_cells(name, row.found, f"{row.took:.0f} s"))
    table.append(_cells("all", whole, f"{sum(row.took for row in rows.values()):.0f} s"))
    found = [
        "# What a plan survives",
        f"Made by `python -m benchmarks.executor_crashes`. {host}. A writer runs a plan of {len(NEEDS)} pure tasks over a "
        "ledger on disk, round after round: run, save a copy, export a session, find grounds false, repair. After each kill a "
        "fresh process verifies the ledger, looks for everything that was acknowledged, loads the copy and the exported "
        "session, and resumes each of the three. What has to run is worked out from the grounds and the results, without "
        "the traces. Wrong also counts: a task that had to run and did not, one that ran twice, another result than that of "
        "running everything, a plan that is not complete, a next save or export that is refused.",
        report.table(["fault", "kills", *COLUMNS, "wrong", "took, all lanes"], table),
        f"Killed between a finding and its repair, so that tasks were blocked at first: "
        f"{whole.counts['found between a finding and its repair']:,}. Exported sessions of which an older generation was taken: "
        f"{whole.counts['older generation taken']:,}.",
    ]
    return "\n\n".join([*found, *([f"Wrong: {'; '.join(whole.wrong[:20])}"] if whole.wrong else [])])


def _cells(name: str, found: Outcome, took: str) -> list[str]:
    counts = [f"{found.counts[column]:,}" for column in COLUMNS]
    return [name, f"{found.tries:,}", *counts, f"{len(found.wrong):,}", took]


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.executor_crashes", description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=300, help="at random moments")
    parser.add_argument("--calls", nargs="*", choices=CALLS, default=CALLS, help="kinds of which every k-th is hit")
    parser.add_argument("--lanes", type=int, default=2, help="writers at once, each on a ledger of its own")
    parser.add_argument("--folder", default="", help="where to work; by default the system's folder for such files")
    parser.add_argument("--no-write", action="store_true", help="print only")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    """Make the crashes; 0 when nothing went wrong, 1 when something did."""
    options = arguments(argv)
    host = report.machine()
    with tempfile.TemporaryDirectory(prefix="mog-crashes-", dir=options.folder or None) as at:
        rows = measure(Path(at), parts(options.kills, options.calls, options.lanes), options.lanes)
    text = document(rows, host)
    print(text)
    if not options.no_write:
        report.write("executor-crashes", text)
    return int(any(row.found.wrong for row in rows.values()))


if __name__ == "__main__":
    raise SystemExit(main())
