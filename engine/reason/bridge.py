"""From bytes to beliefs: drift becomes evidence, an auditor judges it, and only that verdict can make a belief fall.

Who calls: ``workspace.py`` for ``recheck``, anchoring, and the watcher after files changed. What may not come in: a verdict
of our own, running what nobody allowed (``policy/trust``), the index. Freshness alone rejects nothing (GRAPH.md rule 10).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mog.engine import ids
from mog.engine.code import freshness
from mog.engine.errors import ConfigError, HeldByOther, PolicyDenied, StoreDamaged, UsageError
from mog.engine.model import Anchor, Freshness, Node, Progress
from mog.engine.policy.trust import TrustStore, Waiting
from mog.engine.reason import auditors, drift, lines
from mog.engine.reason.auditors import PERSON, Auditor, AuditorRegistry, AuditRequest, Outcome
from mog.engine.reason.drift import Drift
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.radius import Radius
from mog.engine.reason.records import GraphNode, thaw
from mog.engine.reason.writer import Writer

_VERBS = {"contradicts": "contradicts", "holds": "dismissed"}


@dataclass(frozen=True, slots=True)
class Pending:
    """Evidence that bears on a belief and that nobody judged yet."""

    evidence: str
    target: str
    request: AuditRequest


@dataclass(frozen=True, slots=True)
class Receipt:
    """One judgement that was recorded: who, by which command (its digest, "" for a function or person), on what, why, and its
    effect. ``verdict`` is ``contradicts`` or ``holds``; ``events`` are the numbers in the ledger.
    """

    auditor: str
    command: str
    evidence: str
    target: str
    verdict: str
    reason: str
    events: tuple[int, ...]
    radius: Radius


@dataclass(frozen=True, slots=True)
class Open:
    """A pending question that is still open, and why: no auditor, one that waits, one that failed or does not know."""

    pending: Pending
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RecheckReport:
    """What a recheck did.

    Attributes:
        drifts: every anchor that is not as recorded, or whose evidence changed.
        receipts: judgements recorded, in order. open: questions that stay open.
        failed: answers that count for nothing. waiting: commands that would have been asked and may not run.
    """

    drifts: tuple[Drift, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    open: tuple[Open, ...] = ()
    failed: tuple[Outcome, ...] = ()
    waiting: tuple[Waiting, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """What a change of files led to.

    Attributes:
        drifts, recheck: as of ``observe`` and ``recheck`` (None when none ran).
        postponed: git is at work; look again when it is done.
        problem: why a recheck that was wanted could not run.
    """

    drifts: tuple[Drift, ...] = ()
    recheck: RecheckReport | None = None
    postponed: bool = False
    problem: str = ""


@dataclass
class _Round:
    """What a recheck gathers while it goes on."""

    receipts: list[Receipt] = field(default_factory=list)
    open: list[Open] = field(default_factory=list)
    failed: list[Outcome] = field(default_factory=list)
    waiting: dict[str, Waiting] = field(default_factory=dict)


class Bridge:
    """The bridge of one worktree. Every method may be called from any thread.

    Args:
        mesh: beliefs, seen from this worktree (``worktree_name``).
        disk: files of the worktree; guarded by ``lock`` where others use it too.
        files: lists where moved code may stand. trust: which commands may run. registry: functions the program brings.
    """

    def __init__(
        self, mesh: Mesh, disk: freshness.Disk, files: Callable[[], Iterable[str]], trust: TrustStore,
        registry: AuditorRegistry | None = None, lock: threading.RLock | None = None,
    ) -> None:  # fmt: skip
        self.mesh = mesh
        self.trust = trust
        self.registry = registry or AuditorRegistry()
        self._disk = disk
        self._files = files
        self._lock = lock or threading.RLock()

    # anchoring

    def make_anchor(self, place: str) -> Anchor:
        """Anchor of a symbol, file or range of lines as it is on disk now.

        Args:
            place: ``sym:path::name``, ``file:path``, ``path:10-20`` or ``lines:path:10-20``.

        Raises:
            UsageError: no locator. NotFound: nothing is there. PolicyDenied: it is gated.
        """
        with self._lock:
            found = lines.parse(place)
            if found is not None:
                return lines.make(self._disk, found, self._files)
            return freshness.make_anchor(self._disk, _code_place(place), self._files)

    def anchor(self, target: str, place: str, code: Node | None = None) -> str:
        """Anchor a belief to code as it is now; the id of the anchor.

        Args:
            code: the index's node of that symbol or file, where it is known: the belief is then ``about`` it.

        Raises:
            UsageError: the target is no assumption, claim or decision. And as ``make_anchor`` and ``Mesh.writing``.
        """
        node = self.mesh.graph.node(target)
        if node.type not in drift.ANCHORED:
            way_out = "anchor an assumption, claim or decision; pin a note to code instead"
            raise UsageError(f"a {node.type} is not anchored", where=target, way_out=way_out)
        made = self.make_anchor(place)
        with self.mesh.writing("anchored", target=target, locator=made.locator) as writer:
            return writer.about(target, made, code)

    # freshness

    def look(self) -> tuple[Drift, ...]:
        """Every anchor of a belief that counts, judged against the disk; nothing is recorded."""
        with self.mesh.locked():
            tables = self.mesh.tables
            wanted = [a for a in self.mesh.anchors() if drift.counts(tables, a.node)]
        with self._lock:
            return tuple(drift.judge(self._disk, anchored, self._files) for anchored in wanted)

    def observe(self) -> tuple[Drift, ...]:
        """Judge every anchor and record what that means for drift evidence, in one commit, or none when nothing changed.

        Returns every anchor that is not as recorded, or whose evidence changed. Raises as ``Mesh.writing``.
        """
        found = drift.record(self.mesh, self.look())
        return tuple(one for one in found if one.change or one.freshness is not Freshness.fresh)

    # judging

    def pending(self) -> tuple[Pending, ...]:
        """Evidence that counts here and bears on a belief that counts, not judged yet; by evidence, then target."""
        with self.mesh.locked():
            pairs = sorted(set(self._drift_pairs()) | set(self._contradicting_pairs()))
            return tuple(Pending(e, t, self._request(e, t)) for e, t in pairs if self._unjudged(e, t))

    def _drift_pairs(self) -> Iterator[tuple[str, str]]:
        for nodes in drift.evidence_by_anchor(self.mesh).values():
            for node in nodes:
                yield from ((node.id, str(target)) for target in node.attrs.get("bears_on", ()))

    def _contradicting_pairs(self) -> Iterator[tuple[str, str]]:
        tables = self.mesh.tables
        for edge in tables.edges.values():
            if edge.kind == "contradicts" and tables.nodes[edge.src].type == "evidence":
                yield edge.src, edge.dst

    def _unjudged(self, evidence: str, target: str) -> bool:
        if any(j.evidence == evidence for j in self.mesh.tables.judged.get(target, {}).values()):
            return False
        return drift.counts(self.mesh.tables, target) and self.mesh.stands(evidence)

    def _request(self, evidence: str, target: str) -> AuditRequest:
        seen, belief = self.mesh.graph.node(evidence), self.mesh.graph.get(target)
        anchored = self.mesh.anchors(target)
        about = seen.attrs.get("anchor")
        anchor = next((a for a in anchored if a.id == about), anchored[0] if anchored else None)
        place: dict[str, Any] = {}
        if anchor is not None:
            old = anchor.anchor.span_hash
            place = {
                "locator": anchor.anchor.locator,
                "path": drift.path_of(anchor.anchor.locator),
                "old": old,
                "new": seen.attrs.get("new", ""),
            }
        return AuditRequest(_plain(belief) if belief else {}, _plain(seen), place, self.mesh.worktree)

    def recheck(
        self, *, targets: Collection[str] = (), progress: Callable[[Progress], None] | None = None
    ) -> RecheckReport:
        """Look at the disk, then have every pending question judged by the auditors that may answer it.

        Auditors are asked in the order of their names; a contradiction ends the question, ``holds`` counts when nobody that
        judges it waits, failed or does not know. Each judgement is one commit. What an auditor does wrong, and an auditor that
        waits, leaves everything as it was.

        Args:
            targets: only questions about these beliefs; all when empty.
            progress: called before each question; what it raises ends the recheck, and what was judged stays judged.

        Raises:
            ConfigError: the declarations cannot be used. StoreDamaged: trust or ledger. HeldByOther: another process writes.
        """
        everyone = self.registry.joined(auditors.load(self.trust.root))
        drifts = self.observe()
        done = _Round()
        questions = [pending for pending in self.pending() if not targets or pending.target in targets]
        for number, pending in enumerate(questions):
            if progress is not None:
                progress(Progress("judging", number, len(questions)))
            self._question(pending, [a for a in everyone if a.judges.covers(pending.request)], done)
        waiting = tuple(done.waiting[name] for name in sorted(done.waiting))
        return RecheckReport(drifts, tuple(done.receipts), tuple(done.open), tuple(done.failed), waiting)

    def _question(self, pending: Pending, judges: Collection[Auditor], done: _Round) -> None:
        holds: list[Outcome] = []
        why: list[str] = [] if judges else ["no auditor judges it"]
        for auditor in judges:
            outcome = self._answer(auditor, pending, done)
            if outcome is None:
                why.append(f"{auditor.name} waits for `mog allow`")
            elif outcome.verdict == "contradicts":
                holds, why = [outcome], []
                break
            elif outcome.verdict == "holds":
                holds.append(outcome)
            else:
                why.append(f"{auditor.name}: {outcome.reason or outcome.verdict}")
        if not why:
            receipt = self._record(pending, holds[0])
            if receipt is not None:
                done.receipts.append(receipt)
                return
            why.append("it changed while it was judged")
        done.open.append(Open(pending, tuple(why)))

    def _answer(self, auditor: Auditor, pending: Pending, done: _Round) -> Outcome | None:
        """One auditor's answer, None when it may not be asked."""
        try:
            outcome = auditors.ask(auditor, pending.request, self.trust.root, self.trust)
        except PolicyDenied:
            assert auditor.command is not None
            for waiting in self.trust.waiting([auditor.command]):
                done.waiting[waiting.name] = waiting
            return None
        if outcome.verdict == auditors.FAILED:
            done.failed.append(outcome)
        return outcome

    def _record(self, pending: Pending, outcome: Outcome) -> Receipt | None:
        """Record a verdict; None when the evidence is no longer about the code as it is, or no longer counts."""
        if not self._still(pending):
            return None
        try:
            self.mesh.refuse_secret(outcome.reason)
        except PolicyDenied:
            outcome = replace(outcome, reason="its reason is shaped like a credential and was left out")
        return self._judged(
            pending.evidence, pending.target, outcome.verdict, outcome.auditor, outcome.reason, outcome.command
        )

    def _still(self, pending: Pending) -> bool:
        about = self.mesh.graph.node(pending.evidence).attrs.get("anchor")
        anchored = next((a for a in self.mesh.anchors(pending.target) if a.id == about), None)
        if anchored is None:
            return about is None
        with self._lock:
            state = drift.judge(self._disk, anchored, self._files)
        return (
            state.freshness in drift.GONE
            and drift.drift_id(anchored.id, state.new, self.mesh.worktree) == pending.evidence
        )

    def judge_as_person(self, evidence: str, target: str, verdict: str, reason: str) -> Receipt:
        """The verdict of the person at the keyboard; never for a protocol or program.

        Args:
            verdict: ``contradicts`` or ``holds``. reason: in their words, required.

        Raises:
            UsageError: no reason, no such verdict, or evidence that no longer counts. And as ``Mesh.writing``.
        """
        if verdict not in _VERBS:
            raise UsageError(f"no verdict {verdict!r}", way_out=f"one of {', '.join(_VERBS)}")
        if not reason.strip():
            raise UsageError("a verdict without a reason", way_out="say why: --reason TEXT")
        self.mesh.refuse_secret(reason)
        receipt = self._judged(evidence, target, verdict, PERSON, reason, "")
        if receipt is None:
            raise UsageError(
                "the evidence no longer counts", where=evidence, way_out="see `mog recheck` for what is pending"
            )
        return receipt

    def _judged(
        self, evidence: str, target: str, verdict: str, auditor: str, reason: str, command: str
    ) -> Receipt | None:
        def change(writer: Writer) -> str:
            if not self.mesh.stands(evidence):
                return ""
            judgement = writer.judge(evidence, target, _VERBS[verdict], auditor=auditor, reason=reason)
            self._retire_older(writer, evidence)
            return judgement

        effect = self.mesh.apply(
            "rechecked", change, auditor=auditor, command=command, evidence=evidence, target=target
        )
        if not effect.result:
            return None
        return Receipt(auditor, command, evidence, target, verdict, reason, effect.events, effect.radius)

    def _retire_older(self, writer: Writer, evidence: str) -> None:
        """A newer state was judged, so what was found about older states of the same anchor counts no more."""
        anchor = self.mesh.tables.nodes[evidence].attrs.get("anchor")
        for node in drift.evidence_by_anchor(self.mesh).get(str(anchor), []) if anchor else []:
            if node.id != evidence and node.id not in self.mesh.tables.rows["retired"]:
                writer.retire(node.id, "withdrawn", reason="a newer state of the code was judged", by=drift.BY)

    # when files change

    def on_change(self, *, at_once: bool = False, git_dir: Path | None = None) -> ChangeReport:
        """What the watcher calls when files changed and it was quiet for a moment.

        A branch switch, merge or rebase that is under way is not looked at until it is done, so it is judged once.

        Args:
            at_once: have auditors judge too (the setting); those not allowed wait as ever.
            git_dir: the git folder of this worktree.

        Raises: as ``observe``. A recheck that cannot run is a ``problem`` in the report.
        """
        if git_dir is not None and drift.busy(git_dir):
            return ChangeReport(postponed=True)
        drifts = self.observe()
        if not at_once or not self.pending():
            return ChangeReport(drifts)
        try:
            report = self.recheck()
        except (ConfigError, PolicyDenied, StoreDamaged, HeldByOther) as error:
            return ChangeReport(drifts, problem=str(error))
        return ChangeReport(drifts, report)


def _code_place(text: str) -> ids.Locator:
    place = ids.parse_locator(text)
    if place.type not in ("symbol", "file"):
        raise UsageError(
            "only a symbol, a file or lines can be anchored to", where=text, way_out="write sym:path::name or file:path"
        )
    return place


def _plain(node: GraphNode) -> Mapping[str, Any]:
    return {"id": node.id, "type": node.type, "kind": node.kind, "label": node.label, "attrs": thaw(node.attrs)}
