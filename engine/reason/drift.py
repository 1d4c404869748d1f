"""Drift evidence: what the state of an anchor on disk means for the record. Called by ``bridge``, ``workspace`` and health.

What may not come in: verdicts, auditors, the index. Freshness alone rejects nothing (GRAPH.md rule 10).

The evidence has an id over (anchor, new hash, worktree), so it is made once. When the code is again as it was recorded it is
withdrawn, and when the same drift comes back it is restored with the judgements about it. Evidence that was judged to
contradict stays while the code goes on changing, until the newer state is judged: an edit is no acquittal.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mog.engine import ids
from mog.engine.code import freshness
from mog.engine.errors import MogError
from mog.engine.model import Anchor, Freshness, Pin
from mog.engine.reason import lines
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.records import ADVISORY, Anchored, GraphNode, Retirement
from mog.engine.reason.tables import Tables
from mog.engine.reason.writer import Writer

ANCHORED = ("assumption", "claim", "decision")
BY = "bridge"
MAIN = "main"
GONE = (Freshness.drifted, Freshness.missing)
_DRIFT = b"mog.drift.1"
_AS_RECORDED = (Freshness.fresh, Freshness.moved)
_BUSY = ("index.lock", "HEAD.lock", "rebase-merge", "rebase-apply")


@dataclass(frozen=True, slots=True)
class Drift:
    """One anchor of a belief and what the disk says about it.

    Attributes:
        anchor: the anchor. target: the belief it belongs to.
        freshness, reason, now_at, lines: as of a pin (``model.PinState``).
        new: hash of what stands there now, "" when nothing does or it cannot be compared.
        evidence: id of the drift evidence that stands for it, "" when there is none.
        change: what was recorded about that evidence just now: ``minted``, ``restored``, ``withdrawn`` or "".
    """

    anchor: Anchored
    target: str
    freshness: Freshness
    reason: str
    new: str = ""
    now_at: str = ""
    lines: tuple[int, int] | None = None
    evidence: str = ""
    change: str = ""


def counts(tables: Tables, id: str) -> bool:
    """Is this a belief that can be anchored, and still on record (not superseded, retracted or withdrawn)?

    Advice is none: that the code under it moved is said where it is shown. To be asked while the mesh is locked.
    """
    node, retired = tables.nodes.get(id), _retired(tables, id)
    anchored = node is not None and node.type in ANCHORED and node.kind != ADVISORY
    return anchored and (retired is None or retired.how == "pruned")


def _retired(tables: Tables, id: str) -> Retirement | None:
    found: Retirement | None = tables.rows["retired"].get(id)
    return found


def judge(disk: freshness.Disk, anchored: Anchored, files: Callable[[], Iterable[str]]) -> Drift:
    """One anchor against the disk. ``files`` lists where moved code may stand."""
    anchor = anchored.anchor
    if anchor.kind == lines.KIND:
        found = lines.judge(disk, anchor, files)
        return Drift(anchored, anchored.node, found.freshness, found.reason, found.new, found.now_at, found.lines)
    state = freshness.judge(disk, Pin(anchored.id, "", anchor, anchored.at, ""), files)
    new = _hash_now(disk, anchor) if state.freshness is Freshness.drifted else ""
    return Drift(anchored, anchored.node, state.freshness, state.reason, new, state.now_at, state.lines)


def _hash_now(disk: freshness.Disk, anchor: Anchor) -> str:
    place = ids.parse_locator(anchor.locator)
    if place.type == "file":
        return disk.file_hash(place.path) or ""
    span = (disk.spans(place.path) or {}).get(place.name)
    return span.span_hash if span else ""


def evidence_by_anchor(mesh: Mesh) -> dict[str, list[GraphNode]]:
    """Anchor id → drift evidence of this worktree, withdrawn ones too, in the order it was recorded."""
    found: dict[str, list[GraphNode]] = {}
    for node in mesh.tables.nodes.values():
        if (
            node.type == "evidence"
            and node.kind == "drift"
            and node.attrs.get("worktree") == mesh.worktree
            and "anchor" in node.attrs
        ):
            found.setdefault(str(node.attrs["anchor"]), []).append(node)
    return found


def record(mesh: Mesh, states: Sequence[Drift]) -> tuple[Drift, ...]:
    """Record what the states mean for drift evidence, in one commit, or none when nothing changed. Raises as ``Mesh.writing``.

    Returns the states, each with its evidence and what became of it.
    """
    with mesh.locked():
        tables, mine = mesh.tables, evidence_by_anchor(mesh)
        plans = [Plan.of(tables, mesh.worktree, state, mine.pop(state.anchor.id, [])) for state in states]
        known = {anchored.id for anchored in mesh.anchors()}
        orphans = [
            n.id
            for anchor, nodes in mine.items()
            if anchor not in known
            for n in nodes
            if _retired(tables, n.id) is None
        ]
        if orphans or any(plan.writes for plan in plans):
            with mesh.writing("drifted", worktree=mesh.worktree) as writer:
                for plan in plans:
                    plan.write(writer)
                for id in orphans:
                    writer.retire(id, "withdrawn", reason="its anchor was taken away", by=BY)
    return tuple(plan.result() for plan in plans)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the state of one anchor means for its drift evidence."""

    drift: Drift
    current: str
    make: str
    retire: tuple[str, ...]
    reason: str

    @classmethod
    def of(cls, tables: Tables, worktree: str, drift: Drift, mine: Collection[GraphNode]) -> Plan:
        """``mine``: drift evidence of this anchor in this worktree, withdrawn ones too."""
        counting = [node.id for node in mine if _retired(tables, node.id) is None]
        if drift.freshness in _AS_RECORDED:
            return cls(drift, "", "", tuple(counting), "the code is again as it was recorded")
        if drift.freshness not in GONE or (drift.freshness is Freshness.drifted and not drift.new):
            return cls(drift, "", "", (), "")
        current = drift_id(drift.anchor.id, drift.new, worktree)
        retired = _retired(tables, current)
        known = any(node.id == current for node in mine)
        make = "" if current in counting else "minted" if not known else "restored" if _by_us(retired) else ""
        if known and not make and current not in counting:
            current = ""  # a person withdrew it, and it stays so
        judgements = tables.judged.get(drift.target, {}).values()
        judged = any(j.evidence == current for j in judgements)
        kept = set() if judged or not current else {j.evidence for j in judgements if j.verdict == "contradicts"}
        older = tuple(id for id in counting if id != current and id not in kept)
        return cls(drift, current, make, older, "the code changed again")

    @property
    def writes(self) -> bool:
        """Is anything to be recorded?"""
        return bool(self.make or self.retire)

    def write(self, writer: Writer) -> None:
        """Record it in an open commit."""
        for id in self.retire:
            writer.retire(id, "withdrawn", reason=self.reason, by=BY)
        if self.make == "restored":
            writer.restore(self.current)
        elif self.make == "minted":
            _mint(writer, self.drift, self.current)

    def result(self) -> Drift:
        """The state with its evidence and what became of it."""
        change = self.make or ("withdrawn" if self.retire else "")
        return replace(self.drift, evidence=self.current, change=change)


def drift_id(anchor: str, new: str, worktree: str) -> str:
    """The id of the evidence that an anchor drifted to a hash ("" when nothing is left) in a worktree; 32 hex digits."""
    return ids.digest(_DRIFT, anchor, new, worktree).hex()


def worktree_name(git_dir: Path | None, common_dir: Path | None) -> str:
    """What a worktree is called inside its clone: ``main``, or ``worktree:`` and the name git gave a linked one."""
    if git_dir is None or common_dir is None or os.path.realpath(git_dir) == os.path.realpath(common_dir):
        return MAIN
    return f"worktree:{ids.escape(git_dir.name)}"


def busy(git_dir: Path) -> bool:
    """Does git write in this worktree just now, or walk it through a rebase?"""
    return any(os.path.lexists(git_dir / name) for name in _BUSY)


def _mint(writer: Writer, drift: Drift, id: str) -> None:
    place = drift.anchor.anchor.locator
    gone = drift.freshness is Freshness.missing
    text = f"what was recorded at {place} is gone" if gone else f"{place} is no longer as it was recorded"
    attrs: dict[str, Any] = {"anchor": drift.anchor.id, "locator": place, "old": drift.anchor.anchor.span_hash}
    attrs |= {"new": drift.new, "worktree": writer.mesh.worktree, "bears_on": [drift.target]}
    writer.evidence(text, kind="drift", attrs=attrs, id=id)
    for edge in writer.mesh.graph.out_edges(drift.target, ("about",)):
        code = writer.mesh.graph.node(edge.dst)
        if path_of(str(code.attrs.get("locator", ""))) == path_of(place):
            writer.edge("about", id, code.id)


def _by_us(retired: Retirement | None) -> bool:
    return retired is not None and retired.how == "withdrawn" and retired.by == BY


def path_of(locator: str) -> str:
    """The path in a locator, escaped; "" when it has none."""
    try:
        found = lines.parse(locator) or ids.parse_locator(locator)
    except MogError:
        return ""
    return ids.escape(found.path)
