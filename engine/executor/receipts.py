"""The run ledger of a plan: what happened, entry by entry, in the chain of ``contextmesh.runledger v1``; receipts of disproofs.

Who calls: the executor writes through ``plan_state``; surfaces and the format of the earlier package read. What may not
come in: clocks, lists of everything that was preserved. The chain is kept so that an export is byte for byte what the
earlier package would have written; that nobody changed it is the Merkle log's to prove (``engine/ledgers``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from mog.engine.errors import StoreDamaged
from mog.engine.executor import keys
from mog.engine.executor.model import Event, Receipt
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.radius import Radius
from mog.engine.reason.records import thaw

GENESIS = "0" * 64
_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a run ledger. ``node_id`` and ``assumption_id`` are "" where the format has null."""

    seq: int
    round: int
    event: str
    task: str
    detail: str
    node_id: str = ""
    assumption_id: str = ""
    data: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    digest: str = ""

    @property
    def kind(self) -> Event:
        """What happened, the words that the format does not have included."""
        return Event(str(self.data.get("kind", self.event)))

    def row(self) -> dict[str, Any]:
        """The entry as the format has it."""
        found = {name: getattr(self, name) for name in ("seq", "round", "event", "task", "detail", "digest")}
        return {
            **found,
            "node_id": self.node_id or None,
            "assumption_id": self.assumption_id or None,
            "data": thaw(self.data),
        }

    def computed(self, previous: str) -> str:
        """Its digest: SHA-256 over the canonical JSON of its fields and the digest before it."""
        body = {name: value for name, value in self.row().items() if name != "digest"}
        text = json.dumps({**body, "previous": previous}, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return hashlib.sha256(text.encode("utf-8")).hexdigest()


def entry_of(row: Mapping[str, Any], where: str = "") -> Entry:
    """The entry of its row. Raises StoreDamaged when it is of no known form."""
    try:
        more = {"node_id": row["node_id"] or "", "assumption_id": row["assumption_id"] or ""}
        return Entry(**{**row, **more})
    except (KeyError, TypeError) as error:
        raise StoreDamaged("a run entry is of no known form", where=where, way_out="run `mog doctor`") from error


def receipt_data(radius: Radius) -> dict[str, Any]:
    """What a ``disproved`` entry keeps of a radius: counts, and digests of the two sets; never the sets."""
    preserved = radius.preserved(limit=max(1, radius.preserved_count))
    return {
        "fell": len(radius.falls),
        "hops": [list(pair) for pair in radius.counts],
        "weakened": len(radius.weakens),
        "fell_digest": set_digest(radius.falls.ids()),
        "preserved": radius.preserved_count,
        "preserved_digest": set_digest(preserved),
    }


def receipt_of(data: Mapping[str, Any]) -> Receipt:
    """The receipt of the data of a ``disproved`` entry."""
    words = ("assumption_id", "assumption", "evidence_id", "reason", "disproved_by", "fell_digest", "preserved_digest")
    counts = {name: _count(data.get(name, 0)) for name in ("fell", "weakened", "preserved")}
    found: dict[str, Any] = {name: str(data.get(name, "")) for name in words} | counts
    found["fell"] = counts["fell"] or _count(data.get("invalidated", 0))
    return Receipt(**found, hops=tuple((int(hop), int(n)) for hop, n in data.get("hops", ())))


def _count(value: Any) -> int:
    """A count, or of what the earlier package wrote out in full: how much it is."""
    return len(value) if isinstance(value, Mapping | tuple | list) else int(value)


def set_digest(ids: Any) -> str:
    """SHA-256 over sorted ids, each ended by a line feed."""
    return hashlib.sha256("".join(f"{id}\n" for id in sorted(ids)).encode("utf-8")).hexdigest()


class RunLedger:
    """Reads of the run ledger of one plan. Every method may be called from any thread."""

    def __init__(self, mesh: Mesh, plan: str) -> None:
        self._mesh, self.plan = mesh, plan

    def __len__(self) -> int:
        return int(self._head().get("entries", 0))

    def _head(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._mesh.tables.rows["task"].get(keys.plan(self.plan)) or {}
        return found

    @property
    def head(self) -> str:
        """Digest of the last entry; 64 zeros when there is none."""
        return str(self._head().get("head", GENESIS))

    def entries(self, after: int = 0, limit: int = 0) -> Iterator[Entry]:
        """Entries with numbers above ``after``, in order; all, or at most ``limit``. Raises StoreDamaged at a gap."""
        with self._mesh.locked():
            rows, last = self._mesh.tables.rows["run"], len(self)
            stop = min(last, after + limit) if limit else last
            names = [keys.run(self.plan, seq) for seq in range(after + 1, stop + 1)]
            found = [(name, rows.get(name)) for name in names]
        for name, row in found:
            if row is None:
                raise StoreDamaged("an entry is missing", where=f"run {name}", way_out="run `mog doctor`")
            yield entry_of(row, f"run {name}")

    def of(self, task: str) -> tuple[Entry, ...]:
        """Entries about one task."""
        return tuple(entry for entry in self.entries() if entry.task == task)

    def count(self, event: Event | str) -> int:
        """How often something happened."""
        return sum(entry.kind == event for entry in self.entries())

    def receipts(self) -> tuple[Receipt, ...]:
        """Every ground that was found false, read from the ledger alone."""
        return tuple(receipt_of(e.data) for e in self.entries() if e.event == Event.disproved)

    def verify(self, expect_head: str = "") -> int:
        """Recompute the chain; how many entries it has.

        Args:
            expect_head: a head that was kept elsewhere; the chain must end there.

        Raises:
            StoreDamaged: an entry that is not what its digest says, missing, or out of order; another head.
        """
        previous, count = GENESIS, 0
        for entry in self.entries():
            count += 1
            if entry.seq != count or entry.computed(previous) != entry.digest:
                where = f"run {keys.run(self.plan, count)}"
                raise StoreDamaged(f"entry {count} is not what was recorded", where=where, way_out="run `mog doctor`")
            previous = entry.digest
        if previous != self.head or (expect_head and expect_head != previous):
            what = f"the ledger ends at {previous[:12]}, not at {(expect_head or self.head)[:12]}"
            raise StoreDamaged(what, where=f"plan {self.plan}"[:80], way_out="restore the ledger from a copy")
        return count
