"""Bodies of the four controlled writes. Each is one commit a step, or several that each stand by themselves.

Who calls: ``desk``, on a thread, after an approval. What may not come in: a verdict (evidence carries none, auditors judge), code by
any way but a registered key, running work that is neither pending nor stale.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mog.app.mcp.answers import Answer, Row, brief, paged
from mog.app.mcp.names import record, short, spoken
from mog.app.present import meant
from mog.engine.errors import UsageError
from mog.engine.reason import commands

if TYPE_CHECKING:
    from mog.app.mcp.desk import Ask
    from mog.engine.reason.mesh import Mesh
    from mog.engine.work import Ran, Rechecked

MAX_DEPTH = 8


def submit_evidence(ask: Ask) -> Answer:
    """An observation from a source that is on record. It says nothing about what it contradicts."""
    given, beliefs = ask.given, ask.workspace.beliefs
    source = meant(beliefs.find, given["source_id"])
    metadata = given.get("metadata", {})
    if _depth(metadata) > MAX_DEPTH:
        raise UsageError(f"metadata may be {MAX_DEPTH} levels deep", where="metadata", way_out="flatten it")
    key, attrs = given.get("external_id", ""), {"metadata": metadata} if metadata else {}
    if ask.events:
        made = [op[1] for event in ask.events for op in event.data.get("ops", ()) if op[0] == "node"]
        return _submitted(beliefs.mesh, made[0] if made else "", [event.seq for event in ask.events], before=True)
    effect = commands.evidence(
        beliefs.mesh, given["text"], source=source, key=key, attrs=attrs, by=f"agent:{ask.client.name}"[:80].rstrip(":")
    )
    return _submitted(beliefs.mesh, str(effect.result), list(effect.events))


def _submitted(mesh: Mesh, id: str, events: list[int], *, before: bool = False) -> Answer:
    row = record(mesh, id, words=200)
    notes = ["it was recorded before the server changed hands"] if before else []
    said = [
        f"recorded as {short(id)}; nothing follows from it until an auditor judges"
        if events
        else f"it was on record: {short(id)}"
    ]
    return Answer(said, {"id": id, "events": events}, (), [Row(spoken(row), row)], 1, notes=notes, path=[id])


def _depth(value: Any, at: int = 0) -> int:
    if at > MAX_DEPTH or not isinstance(value, dict | list):
        return at
    return max((_depth(one, at + 1) for one in (value.values() if isinstance(value, dict) else value)), default=at + 1)


def recheck(ask: Ask) -> Answer:
    """Auditors that may run judge what changed; plans are audited again on evidence that is on record. Runs no task."""
    from mog.engine.beliefs import PERSON

    workspace = ask.workspace
    report = workspace.beliefs.recheck(progress=ask.going_on)
    plans = workspace.work.recheck(progress=ask.going_on)
    mesh = workspace.beliefs.mesh
    rows = [*_judged(mesh, report), *(row for one in plans for row in _audited(one))]
    waiting = {one.name for one in report.waiting} | {one.name for plan in plans for one in plan.waiting}
    data = {
        "drifts": len(report.drifts),
        "judged": len(report.receipts),
        "open": len(report.open),
        "waiting": len(waiting),
    }
    data["failed"] = len(report.failed)
    said = [f"{data['judged']} judged, {data['open']} open, {data['waiting']} commands wait for a word"]
    notes = [f"a {PERSON} runs `mog allow {name}` first" for name in sorted(waiting)[:6]]
    first, left = paged(rows, ask.given.get("page", ""))
    return Answer(said, data, (), left, len(rows), first, notes)


def _judged(mesh: Mesh, report: Any) -> Iterator[Row]:
    for one in report.receipts:
        row = {"what": "judged", "verdict": one.verdict, "auditor": one.auditor, "reason": brief(one.reason)}
        row |= {
            "target": record(mesh, one.target, words=80),
            "evidence": short(one.evidence),
            "events": list(one.events),
        }
        row |= {"falls": len(one.radius.falls), "weakens": len(one.radius.weakens)}
        line = f"{one.auditor} finds that it {one.verdict}: {spoken(row['target'])}; {row['falls']} fall"
        yield Row(line, row)
    for question in report.open:
        target = record(mesh, question.pending.target, words=80)
        row = {
            "what": "open",
            "target": target,
            "evidence": short(question.pending.evidence),
            "why": [brief(w) for w in question.why],
        }
        yield Row(f"open: {spoken(target)}; {'; '.join(row['why'])}", row)
    for outcome in report.failed:
        row = {"what": "failed", "auditor": outcome.auditor, "reason": brief(outcome.reason)}
        yield Row(f"{outcome.auditor} failed: {row['reason']}", row)


def _audited(one: Rechecked) -> Iterator[Row]:
    if one.problem:
        yield Row(
            f"plan {one.plan}: {brief(one.problem, 200)}",
            {"what": "plan", "plan": one.plan, "problem": brief(one.problem, 200)},
        )
    if one.report is None:
        return
    for name, why in one.report.stale.items():
        yield Row(
            f"{one.plan}/{name} is stale: {brief(why)}",
            {"what": "stale", "task": f"{one.plan}/{name}", "why": brief(why)},
        )
    for name, why in one.report.failed.items():
        yield Row(
            f"{one.plan}/{name} failed its audit: {brief(why)}",
            {"what": "failed", "task": f"{one.plan}/{name}", "why": brief(why)},
        )


def repair(ask: Ask) -> Answer:
    """Other ground, products or registered code for one task; it runs again at the next resume."""
    from mog.engine.work import _Call

    given, call = ask.given, _Call(ask.workspace.work, ask.going_on)
    plan, task = call.task(given["task"])
    runner = call.runner(plan)
    if not ask.events:
        call.declare(runner)
        runner.repair(
            task, assumes=given["assumes"], worker_key=given.get("worker_key", ""), auditor_key=given.get("auditor_key", ""),
            produces=given.get("produces"), rationale=given.get("rationale"),
        )  # fmt: skip
    done = runner[task]
    data = {
        "plan": plan,
        "task": done.name,
        "state": done.state.value,
        "assumes": list(done.assumes[:8]),
        "detail": done.detail,
    }
    said = [f"{plan}/{done.name} stands on other ground and runs at the next resume"]
    notes = ["it was recorded before the server changed hands"] if ask.events else []
    rows = [Row(f"assumes {brief(text)}", {"assumes": brief(text)}) for text in done.assumes]
    return Answer(said, {"task": data, "events": [event.seq for event in ask.events]}, (), rows, len(rows), notes=notes)


def resume(ask: Ask) -> Answer:
    """One round of every plan: what is pending or stale."""
    done = list(ask.workspace.work.resume(progress=ask.going_on))
    rows = [row for one in done for row in _ran(one)]
    complete = bool(done) and all(one.complete for one in done)
    waiting = sorted({waits.name for one in done for waits in one.waiting})
    said = ["no plan is declared here"] if not done else ["complete" if complete else "not complete"]
    notes = [f"a person runs `mog allow {name}` first" for name in waiting[:6]]
    first, left = paged(rows, ask.given.get("page", ""))
    return Answer(said, {"complete": complete, "waiting": len(waiting)}, (), left, len(rows), first, notes)


def _ran(one: Ran) -> Iterator[Row]:
    if one.report is None:
        yield Row(f"{one.plan}: nothing ran, commands wait for a word", {"plan": one.plan, "ran": False})
        return
    report = one.report
    for name in report.executed:
        yield Row(f"{one.plan}/{name} ran", {"task": f"{one.plan}/{name}", "what": "ran"})
    for what in ("failed", "blocked", "unverified"):
        found = getattr(report, what, {})
        for name in found:
            why = brief(str(found[name])) if isinstance(found, dict) else ""
            yield Row(
                f"{one.plan}/{name} {what}{': ' + why if why else ''}",
                {"task": f"{one.plan}/{name}", "what": what, "why": why},
            )
