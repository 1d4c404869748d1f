"""What the pane of the ledger asks: where it stands, a page of events, one event whole with its proof, which events are of a kind.

Who calls: ``panes/ledger.py``, on worker threads. What may not come in: the mesh (a page must not load everything that is
believed), rows, the toolkit.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mog.engine.errors import MogError, NotFound

if TYPE_CHECKING:
    from mog.app.tui.port import Desk
    from mog.engine.attest import LedgerReport
    from mog.engine.ledgers.events import Event, EventLog
    from mog.engine.reason.records import GraphNode

VERDICTS = {"contradicts": "refuted", "dismissed": "held"}
NAMES = {
    "node": "node", "edge": "edge", "ground": "ground", "anchor": "anchor", "judge": "verdict", "retire": "retired",
    "restore": "restored", "alias": "name", "mark": "mark", "attrs": "changed",
}  # fmt: skip
MAX_OPS = 400


@dataclass(frozen=True, slots=True)
class Entry:
    """One event in a list.

    Attributes:
        about: the record it is about, None where it is about none that is kept. more: how many other records it made.
        words: what it is about otherwise.
        by: whose word it is. effects: what it did to the records, in a few words. verdict: ``refuted``, ``held`` or "".
    """

    seq: int
    at: str
    type: str
    about: GraphNode | None
    words: str
    by: str
    effects: str
    verdict: str
    more: int = 0


@dataclass(frozen=True, slots=True)
class Whole:
    """One event as it was recorded.

    Attributes:
        facts: (name, value) of its data, JSON where it is no text. ops: what it did, one line each, at most ``MAX_OPS``; total.
        proof: what the inclusion proof shows; proved: whether it holds.
    """

    entry: Entry
    digest: str
    facts: tuple[tuple[str, str], ...]
    ops: tuple[str, ...]
    total: int
    proof: str
    proved: bool


def head(desk: Desk) -> int:
    """Number of the last event, 0 where nothing was recorded."""
    return desk.beliefs.log.head().seq if desk.ledger_path.exists() else 0


def entries(desk: Desk, seqs: Iterable[int]) -> tuple[Entry, ...]:
    """These events, each checked against the chain. Raises StoreDamaged."""
    log = desk.beliefs.log
    return tuple(
        _entry(log, event) for first, count in _runs(sorted(set(seqs))) for event in log.events(first - 1, count)
    )


def _runs(seqs: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(first, how many) of each run of numbers without a gap."""
    at = 0
    while at < len(seqs):
        end = at + 1
        while end < len(seqs) and seqs[end] == seqs[end - 1] + 1:
            end += 1
        yield seqs[at], end - at
        at = end


def _entry(log: EventLog, event: Event) -> Entry:
    data = event.data
    ops: Sequence[Any] = data.get("ops", ())
    judged = next((op for op in ops if op[0] == "judge"), None)
    verdict = VERDICTS.get(str(judged[4]), str(judged[4])) if judged else ""
    by = str(data.get("by") or data.get("auditor") or "")
    about = _about(log, ops, judged, data)
    words = "" if about else str(data.get("note") or data.get("reason") or data.get("id") or "")
    more = 0 if judged else max(0, sum(op[0] == "node" for op in ops) - 1)
    return Entry(event.seq, event.recorded_at, event.type, about, words, by, effects(ops), verdict, more)


def _about(log: EventLog, ops: Sequence[Any], judged: Any, data: Any) -> GraphNode | None:
    """What a verdict is about; else the record made that says most; else the first record that is named."""
    from mog.engine.reason.records import GraphNode, decode

    def kept(id: object) -> GraphNode | None:
        body = log.get("node", id) if isinstance(id, str) and id else None
        return decode("node", str(id), body) if body is not None else None

    if judged is not None:
        return kept(judged[3])
    made = [op for op in ops if op[0] == "node"]
    if made:
        best = min(made, key=lambda op: op[2] == "source")
        return GraphNode(str(best[1]), str(best[2]), str(best[3]), str(best[4]))
    named = (part for op in ops[:8] for part in op[1:4])
    return next((found for id in (data.get("target"), *named) if (found := kept(id)) is not None), None)


def effects(ops: Sequence[Any]) -> str:
    """``2 nodes 1 edge``: what an event did, by sort of operation."""
    counts = Counter(NAMES.get(str(op[0]), str(op[0])) for op in ops)
    return " ".join(f"{count:,} {name}{_many(name, count)}" for name, count in counts.items())


def _many(name: str, count: int) -> str:
    return "" if count == 1 or name.endswith("ed") else "s"


def whole(desk: Desk, seq: int) -> Whole:
    """One event whole, and whether it is proved to be in the ledger. Raises NotFound, StoreDamaged."""
    from mog.engine.reason.records import thaw

    log = desk.beliefs.log
    event = next(log.events(seq - 1, 1), None) if seq > 0 and desk.ledger_path.exists() else None
    if event is None:
        raise NotFound(f"no event {seq}", way_out=f"the ledger has {head(desk):,} events")
    data = thaw(event.data)
    ops = data.pop("ops", [])
    facts = tuple((str(name), _word(value)) for name, value in sorted(data.items()))
    lines = tuple(" ".join(_word(part) for part in op) for op in ops[:MAX_OPS])
    proof, proved = _proof(log, seq)
    return Whole(_entry(log, event), event.digest, facts, lines, len(ops), proof, proved)


def _proof(log: EventLog, seq: int) -> tuple[str, bool]:
    try:
        found = log.prove(seq)
    except MogError as error:
        return str(error), False
    return (
        f"in the tree of {found['size']:,} events, {len(found['path'])} hashes to the root {log.head().root[:12]}",
        True,
    )


def _word(value: object) -> str:
    import json

    return value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False, sort_keys=True)


class Kinds:
    """Numbers of the events of each kind, brought up to the ledger when asked; a first look reads every event once."""

    def __init__(self) -> None:
        self._seqs: dict[str, array[int]] = {}
        self._last = 0

    def look(self, desk: Desk) -> dict[str, array[int]]:
        """Kind → numbers in order, a copy of each list. Raises StoreDamaged."""
        for event in desk.beliefs.log.events(self._last) if desk.ledger_path.exists() else ():
            self._seqs.setdefault(event.type, array("q")).append(event.seq)
            self._last = event.seq
        return {kind: seqs[:] for kind, seqs in sorted(self._seqs.items())}


def verify(desk: Desk) -> LedgerReport | None:
    """Everything held against everything: chain, tree, replay, checkpoint, witness; None where there is no ledger."""
    from mog.engine import attest
    from mog.engine.reason.mesh import folder

    if not desk.ledger_path.exists():
        return None
    mesh = desk.beliefs.mesh
    return attest.report(desk.beliefs.log, lambda: folder(mesh.ontology))
