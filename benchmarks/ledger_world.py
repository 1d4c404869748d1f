"""A small world of events for the ledger: what is written, what must be read back, who writes it and who judges.

Called by ``benchmarks.ledger_faults``, by the tests of the ledger (which load it by file), and as a child process:
``python -P ledger_world.py write LEDGER FIRST COUNT WITNESS`` commits events and says after each what became of it. What may
not come in: faults; those are made from outside.
"""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mog.engine.errors import HeldByOther, MogError, StoreDamaged
from mog.engine.ledgers.checkpoints import Signer
from mog.engine.ledgers.events import Event, EventLog, Fold, Put, Step
from mog.engine.ledgers.witness import Witness

WHEN = "2026-01-31T12:00:00Z"
NOT_RECORDED = "nothing was recorded"
SIGNER = Signer(bytes(range(32)))


def draw(*seed: object, below: int) -> int:
    """A number that looks random and is always the same."""
    return int.from_bytes(hashlib.sha256(repr(seed).encode()).digest()[:6], "big") % below


def step(number: int, by: str = "w") -> Step:
    """Event ``number`` of a writer: one to five changes of records, some of which take one away."""
    puts = []
    for i in range(1 + draw("count", by, number, below=5)):
        at = draw("key", by, number, i, below=400)
        key = hashlib.sha256(b"%d" % at).hexdigest()[:32] if at % 2 else f"{by} {at}"
        gone = draw("gone", by, number, i, below=4) == 0
        puts.append([("node", "edge", "mark")[at % 3], key, None if gone else f"body {number} of {by} " * (1 + at % 9)])
    data = {"n": number, "by": by, "puts": puts, "text": f"event {number} of {by}"}
    return Step("world.moved", data, tuple(puts_of(data)))


def puts_of(data: Mapping[str, Any]) -> Iterator[Put]:
    """What an event does to the records."""
    for table, key, body in data["puts"]:
        yield Put(table, key, None if body is None else body.encode())


def fold() -> Fold:
    """A fresh replay."""

    def changes(event: Event) -> Iterable[Put]:
        return puts_of(event.data)

    return changes


def fill(log: EventLog, count: int, first: int = 0) -> None:
    """Commit ``count`` events, one by one."""
    for number in range(first, first + count):
        log.commit([step(number)], when=WHEN)


@dataclass(slots=True)
class Told:
    """What a writing process said: acknowledged (number of the world → digest), said not to be recorded, other errors."""

    acknowledged: dict[int, str] = field(default_factory=dict)
    refused: set[int] = field(default_factory=set)
    unknown: set[int] = field(default_factory=set)
    crashed: list[str] = field(default_factory=list)
    ended: bool = False

    def hear(self, text: str) -> Told:
        """Take in whole lines; what was cut off at the end was not said."""
        for line in text.split("\n")[:-1]:
            word, _, rest = line.partition(" ")
            if word == "ack":
                number, digest = rest.split()
                self.acknowledged[int(number)] = digest
            elif word in ("no", "unknown"):
                (self.refused if word == "no" else self.unknown).add(int(rest.split(" ")[0]))
            elif word == "end":
                self.ended = True
            else:
                self.crashed.append(line)
        return self


def write(path: Path, first: int, count: int, witness: Path | None, say: Any) -> None:
    """Commit events and say what became of each; after an error go on with the next, on the same object."""
    with EventLog(path, witness=Witness(witness) if witness else None) as log:
        for number in range(first, first + count) if count else _for_ever(first):
            try:
                event = log.commit([step(number)], when=WHEN)[0]
                say(f"ack {number} {event.digest}")
            except (StoreDamaged, HeldByOther) as error:
                sure = isinstance(error, HeldByOther) or "it cannot be told" not in error.what
                say(f"{'no' if sure else 'unknown'} {number} {str(error)!a}")
    say("end")


def _for_ever(first: int) -> Iterator[int]:
    while True:
        yield first
        first += 1


def contents(log: EventLog) -> tuple[object, ...]:
    """Everything that can be read: head, events, records, checkpoint."""
    head, rows = log.load()
    signature = log.signature([SIGNER.public])
    events = [(e.seq, e.digest, e.type, e.data["n"], e.recorded_at) for e in log.events()]
    return (head.seq, head.digest, head.root, head.state, sorted(rows), events, signature and signature.note, log.id)


def judge(path: Path, told: Told, witness: Path | None = None) -> list[str]:
    """What is wrong with a ledger after a fault, given what its writer had said; nothing when all is well."""
    wrong = list(told.crashed)
    try:
        with EventLog(path, witness=Witness(witness) if witness else None) as log:
            report = log.verify(fold())
            if not report.ok:
                wrong.append(f"does not verify: {report.reason}")
            there = {event.data["n"]: event.digest for event in log.events() if event.data["by"] == "w"}
            lost = [n for n, digest in told.acknowledged.items() if there.get(n) != digest]
            wrong += [f"acknowledged and not there: {sorted(lost)}"] if lost else []
            false = sorted(told.refused & there.keys())
            wrong += [f"said not to be recorded and there: {false}"] if false else []
            log.commit([step(0, "afterwards")], when=WHEN)
    except MogError as error:
        wrong.append(f"cannot be used: {error}")
    return wrong


def main(arguments: list[str]) -> int:
    """The child process."""
    verb, path, first, count, witness = arguments
    if verb != "write":
        return 2
    write(Path(path), int(first), int(count), Path(witness) if witness else None, lambda line: print(line, flush=True))
    return 0


def timed(ask: Any) -> float:
    """Milliseconds of one call."""
    began = time.perf_counter()
    ask()
    return (time.perf_counter() - began) * 1000


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
