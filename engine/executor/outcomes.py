"""What becomes of a task in the store, one commit each: executed, failed, its ground found false, fallen. Called by ``rounds``.

What lives here: decisions with what they rest on, supersession, marks, evidence, receipts, ledger entries. What may not come
in: threads, scheduling. An outcome counts only while the ground and the versions it was made from still stand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from mog.engine import ids
from mog.engine.executor import keys
from mog.engine.executor.desk import Desk, Flight
from mog.engine.executor.model import Event, Receipt, Task, TaskState, Verdict
from mog.engine.executor.plan_state import Commit
from mog.engine.executor.receipts import receipt_data, receipt_of
from mog.engine.executor.traces import INPUT, Trace
from mog.engine.executor.work import Tried
from mog.engine.reason.radius import Radius
from mog.engine.reason.writer import Writer

EXECUTED, FAILED, DISPROVED, LOST = "executed", "failed", "disproved", "lost"
_REVIVED = ("withdrawn", "pruned")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was recorded: executed, failed, disproved or lost (it no longer counted); the reason; the receipt of a disproof,
    and the tasks that fell with it, each with the reason."""

    what: str
    reason: str = ""
    receipt: Receipt | None = None
    fell: tuple[tuple[str, str], ...] = ()


class _Moved(Exception):
    """Somebody wrote between the look at a radius and its record."""


class Outcomes:
    """Writes for one plan."""

    def __init__(self, desk: Desk) -> None:
        self._desk, self._state, self._mesh = desk, desk.state, desk.mesh

    def record(self, flight: Flight, tried: Tried, round: int) -> Outcome:
        """Record how the last try of a task ended. Raises as ``PlanState.commit``."""
        verdict = tried.verdict
        if verdict is not None and verdict.ok:
            return self._executed(flight, tried, round)
        if verdict is not None and verdict.disproves:
            return self.disproved(flight.task, verdict, round, flight=flight, tried=tried)
        return self._failed(flight, tried, round)

    # -- executed

    def _executed(self, flight: Flight, tried: Tried, round: int) -> Outcome:
        moved = self._desk.reread(read for read in tried.reads if read.kind != INPUT)

        def change(c: Commit) -> Outcome:
            c.round(round)
            lost = self._lost(flight)
            if lost:
                return self._drop(c, flight, lost)
            task = self._decide(c, flight, tried)
            if not moved:
                c.save(task)
                return Outcome(EXECUTED, flight.why)
            why = f"{moved} while it ran"
            c.save(replace(task, state=TaskState.stale, detail=why))
            c.entry(Event.invalidated, task.name, why, node=task.node_id)
            return Outcome(LOST, why)

        return self._state.commit("ran", change, task=flight.task.name)

    def _lost(self, flight: Flight) -> str:
        """Why a result no longer counts; "" when it does."""
        if flight.task.name not in self._state or self._state.task(flight.task.name) != flight.task:
            return "the task was changed while it ran"
        for need, node in flight.needs.items():
            if (
                self._state.task(need).node_id != node
                or self._state.state(self._state.task(need)) is not TaskState.done
            ):
                return f"{need} changed while it ran"
        ground = self._state.grounded(flight.task)
        return f"while it ran: {ground}" if ground else ""

    def _drop(self, c: Commit, flight: Flight, why: str) -> Outcome:
        task = flight.task
        if task.name in self._state:
            if self._state.task(task.name) == task and task.state is not TaskState.pending:
                c.save(replace(task, state=TaskState.stale, detail=why))
            c.entry(Event.invalidated, task.name, why, node=task.node_id)
        return Outcome(LOST, why)

    def _decide(self, c: Commit, flight: Flight, tried: Tried) -> Task:
        task, w = flight.task, c.writer
        made = [self._made(w, label) for label in task.produces]
        rebuilt = [label for label, id in zip(task.produces, made, strict=True) if not self._mesh.stands(id)]
        attempt, key = self._free(task)
        node = w.decide(
            task.title, task.rationale or _rationale(task), source=c.begin(), key=key, assumptions=task.assumption_ids,
            decisions=tuple(flight.needs.values()), produces=made,
            attrs={"plan": task.plan, "task": task.name, "attempt": attempt, "output": tried.output_digest},
        )  # fmt: skip
        reason = self._tries(c, flight, tried)
        evidence = w.evidence(
            f"audit of {task.name}: {reason}",
            kind="audit",
            key=f"{key}/audit",
            attrs={"plan": task.plan, "task": task.name},
        )
        w.edge("justified_by", node, evidence)
        self._replace(w, task, node, made, tried)
        c.trace(
            task.name,
            Trace(node, self._desk.bound[task.name].worker.digest, tried.reads, tried.output, tried.output_digest),
        )
        detail = f"attempt {attempt}" + (f", supersedes {task.node_id}" if task.node_id else "")
        detail += f", rebuilt {', '.join(rebuilt)}" if rebuilt else ""
        ground = task.assumption_ids[0] if task.assumption_ids else ""
        c.entry(
            Event.executed, task.name, detail, node=node, assumption=ground, data={"why": self._state.said(flight.why)}
        )
        return replace(
            task, state=TaskState.done, attempt=attempt, node_id=node, evidence_id=evidence, artefacts=tuple(made),
            detail=reason, cause="",
        )  # fmt: skip

    def _free(self, task: Task) -> tuple[int, str]:
        """Number and key of the next decision: the next attempt, or, after an undo, the first that is not taken."""
        attempt = task.attempt + 1
        while self._decision(task, attempt) in self._mesh.graph:
            attempt += 1
        return attempt, _decision_key(task, attempt)

    def _decision(self, task: Task, attempt: int) -> str:
        key = _decision_key(task, attempt)
        return ids.node_uid(self._mesh.repo, "decision", "decision", "key", key).hex()

    @staticmethod
    def _made(w: Writer, label: str) -> str:
        id = w.entity(label)
        retired = w.mesh.retired(id)
        if retired is not None and retired.how in _REVIVED:
            w.restore(id)
        return id

    def _tries(self, c: Commit, flight: Flight, tried: Tried) -> str:
        """Entries of tries that failed and of the audit; the auditor's reason, fit to be kept."""
        task, ground = flight.task, flight.task.assumption_ids[0] if flight.task.assumption_ids else ""
        for number, why in enumerate(flight.tries, 1):
            c.entry(Event.retried, task.name, f"try {number} of {task.retries + 1}: {why}", assumption=ground)
        if tried.verdict is None:
            return self._state.said(tried.reason)
        reason = self._state.said(tried.verdict.reason)
        c.entry(Event.audited, task.name, f"{'holds' if tried.verdict.ok else 'fails'}: {reason}", assumption=ground)
        return reason

    def _replace(self, w: Writer, task: Task, node: str, made: list[str], tried: Tried) -> None:
        """Supersede the version before; what does not depend on how the two differ rests on the new one from now on."""
        old = task.node_id
        if not old or old not in self._mesh.graph:
            return
        same = self._mesh.graph.node(old).attrs.get("output") == tried.output_digest
        move = {d.node for d in w.dependants(old) if d.node in made or self._follows(d.node, task, same, tried)}
        w.mark(old, "failed", False)
        w.supersede(old, node, move=move, reason="its task ran again")

    def _follows(self, id: str, task: Task, same: bool, tried: Tried) -> bool:
        """Whether a dependant may rest on the new version as it is: a pure task by its trace, anybody else by the output."""
        node = self._mesh.graph.node(id)
        if node.type == "entity":
            return False
        if node.attrs.get("plan") != task.plan:
            return same
        name = str(node.attrs.get("task"))
        if (
            name not in self._state
            or self._state.task(name).node_id != id
            or not self._desk.pure(self._state.task(name))
        ):
            return False
        trace = self._state.trace(name)
        seen = trace.digest_of(INPUT, task.name) if trace is not None and trace.node_id == id else "unknown"
        return seen in ("", tried.output_digest)

    # -- failed

    def _failed(self, flight: Flight, tried: Tried, round: int) -> Outcome:
        def change(c: Commit) -> Outcome:
            c.round(round)
            task = flight.task
            if task.name not in self._state or self._state.task(task.name) != task:
                return self._drop(c, flight, "the task was changed while it ran")
            reason = self._tries(c, flight, tried)
            if tried.finished:
                digest = self._desk.bound[task.name].worker.digest
                c.trace(task.name, Trace("", digest, tried.reads, tried.output, tried.output_digest))
            self.fail(c, replace(task, attempt=task.attempt + tried.finished), reason)
            return Outcome(FAILED, reason)

        return self._state.commit("failed", change, task=flight.task.name)

    def fail(self, c: Commit, task: Task, reason: str) -> None:
        """Record that a task failed; what rests on its last decision becomes unverified."""
        if task.node_id and task.node_id in self._mesh.graph:
            c.writer.mark(task.node_id, "failed")
        c.save(replace(task, state=TaskState.failed, detail=reason))
        ground = task.assumption_ids[0] if task.assumption_ids else ""
        c.entry(Event.failed, task.name, reason, node=task.node_id, assumption=ground)

    def refuse(self, task: Task, reason: str, round: int, verdict: Verdict | None = None) -> Outcome:
        """Record that an audit of standing work does not hold, or could not be had. Nothing falls."""

        def change(c: Commit) -> Outcome:
            c.round(round)
            if self._state.task(task.name) != task:
                return Outcome(LOST, "the task was changed while it was audited")
            said = self._state.said(reason)
            if verdict is not None:
                ground = task.assumption_ids[0] if task.assumption_ids else ""
                c.entry(Event.audited, task.name, f"fails: {said}", node=task.node_id, assumption=ground)
            self.fail(c, task, said)
            return Outcome(FAILED, said)

        return self._state.commit("audited", change, task=task.name)

    # -- a ground is false

    def disproved(
        self, task: Task, verdict: Verdict, round: int, *, flight: Flight | None = None, tried: Tried | None = None,
        bound: bool = False,
    ) -> Outcome:  # fmt: skip
        """Reject an assumption by what an auditor found, and mark the tasks that fall with it.

        Args:
            flight, tried: the execution that was audited; None at a recheck. bound: only recorded evidence will do.
        """
        target, problem = self._target(task, verdict, bound)
        if problem and flight is not None and tried is not None:
            return self._failed(flight, replace(tried, verdict=Verdict(False, problem)), round)
        if problem:
            return self.refuse(task, problem, round, verdict)
        while True:
            try:
                return self._reject(task, verdict, target, round, flight, tried)
            except _Moved:
                continue

    def _target(self, task: Task, verdict: Verdict, bound: bool) -> tuple[str, str]:
        """The assumption that is false, and what is wrong with the verdict ("" when it can be recorded)."""
        known = {**dict(zip(task.assumes, task.assumption_ids, strict=True)), **{id: id for id in task.assumption_ids}}
        if not known:
            return "", f"its auditor says that its ground is false, but it has none: {verdict.reason}"
        target = known.get(verdict.assumption) if verdict.assumption else task.assumption_ids[0]
        if target is None:
            return "", f"its auditor names an assumption that is not its ground: {verdict.assumption}"
        node = self._mesh.graph.get(verdict.evidence) if verdict.evidence else None
        if verdict.evidence and (node is None or node.type != "evidence" or not self._mesh.stands(node.id)):
            return "", f"its auditor names evidence that is not recorded, or no longer counts: {verdict.evidence}"
        if bound and node is None:
            return "", f"its auditor names no recorded evidence: {verdict.reason}"
        return target, ""

    def _reject(
        self, task: Task, verdict: Verdict, target: str, round: int, flight: Flight | None, tried: Tried | None
    ) -> Outcome:
        reason = self._state.said(verdict.reason) or "no reason was given"

        def judge(w: Writer, seq: int) -> str:
            found = verdict.evidence or w.evidence(
                f"found by the audit of {task.name}: {reason}", kind="audit", key=f"{keys.run(task.plan, seq)}/found",
                attrs={"plan": task.plan, "task": task.name},
            )  # fmt: skip
            w.judge(found, target, "contradicts", auditor=task.auditor_key or f"auditor of {task.name}", reason=reason)
            return found

        with self._mesh.locked():
            radius = self._mesh.preview(lambda w: judge(w, 0))
            seen = self._mesh.revision
            counted = receipt_data(radius)

        def change(c: Commit) -> Outcome:
            if self._mesh.revision != seen:
                raise _Moved
            c.round(round)
            if flight is not None and (lost := self._lost(flight)):
                return self._drop(c, flight, lost)
            if self._state.task(task.name) != task:
                return Outcome(LOST, "the task was changed while it was audited")
            if flight is not None and tried is not None:
                self._tries(c, flight, tried)
                digest = self._desk.bound[task.name].worker.digest
                c.trace(task.name, Trace("", digest, tried.reads, tried.output, tried.output_digest))
            else:
                c.entry(Event.audited, task.name, f"fails: {reason}", node=task.node_id, assumption=target)
            evidence = judge(c.writer, c.next_seq)
            data = {
                "assumption_id": target, "assumption": self._mesh.graph.node(target).label, "evidence_id": evidence,
                "reason": reason, "disproved_by": task.name, **counted,
            }  # fmt: skip
            c.entry(Event.disproved, task.name, reason, node=evidence, assumption=target, data=data)
            finder = replace(task, attempt=task.attempt + (flight is not None))
            return Outcome(DISPROVED, reason, receipt_of(data), self._fell(c, radius, target, finder))

        return self._state.commit("disproved", change, task=task.name)

    def _fell(self, c: Commit, radius: Radius, target: str, finder: Task) -> tuple[tuple[str, str], ...]:
        """Tasks of this plan whose decision is in a radius, and the one whose audit found it, made stale."""
        graph = self._mesh.graph
        by_node = {task.node_id: task for task in self._state.tasks() if task.node_id}
        fell = {task.name: task for id in radius.falls.ids() if (task := by_node.get(id)) is not None}
        fell[finder.name] = finder
        found = []
        for task in sorted(fell.values(), key=lambda task: task.at):
            if task.state is TaskState.done or task is finder:
                move = radius.falls.find(task.node_id) if task.node_id else None
                parent = graph.get(move.parent) if move is not None else None
                why = f"stood on: {parent.label if parent else graph.node(target).label}"
                self.stale(c, task, why, target)
                found.append((task.name, why))
        return tuple(found)

    def stale(self, c: Commit, task: Task, why: str, ground: str = "") -> None:
        """Record that a task has fallen."""
        c.save(replace(task, state=TaskState.stale, detail=why))
        c.entry(Event.invalidated, task.name, why, node=task.node_id, assumption=ground)

    # -- fallen by somebody else's hand

    def notice(self, round: int, whys: Iterable[tuple[Task, str]]) -> None:
        """Record tasks that are found to have fallen."""
        found = list(whys)
        if not found:
            return

        def change(c: Commit) -> None:
            c.round(round)
            for task, why in found:
                if self._state.task(task.name) == task:
                    self.stale(c, task, why)

        self._state.commit("noticed", change)


def _decision_key(task: Task, attempt: int) -> str:
    return f"{keys.task(task.plan, task.name)}/{attempt}"


def _rationale(task: Task) -> str:
    return f"Done on the ground that {'; '.join(task.assumes)}" if task.assumes else "Done; it stands on no assumption"
