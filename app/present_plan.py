"""Plans, rounds and sessions as JSON objects, safe to print.

Who calls: ``app/cli`` for verbs about plans and sessions. What may not come in: asking the workspace, writing to a stream.
Keys of documents are listed in docs/json.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mog.app.present import JsonObject, clean_tree
from mog.engine.executor.model import Receipt
from mog.engine.executor.plan_file import PlanFile
from mog.engine.executor.plan_why import Because
from mog.engine.executor.receipts import Entry
from mog.engine.policy.trust import Waiting
from mog.engine.reason.records import thaw
from mog.engine.work import Note, PlanView, Ran, Rechecked, TaskView

if TYPE_CHECKING:
    from mog.engine.executor.session import Exported, Imported, Saved, Summary
    from mog.engine.ledgers.events import Head


def view(found: PlanView) -> JsonObject:
    """A plan with every task as it is now."""
    return clean_tree(  # type: ignore[no-any-return]
        {
            "plan": found.name,
            "file": found.file,
            "round": found.round,
            "complete": found.complete,
            "tasks": [_task(task) for task in found.tasks],
            "waiting": [waiting(one) for one in found.waiting],
        }
    )


def _task(found: TaskView) -> JsonObject:
    task, declared = found.standing.task, found.declared
    return {
        "name": found.name,
        "title": task.title,
        "state": found.standing.state.value,
        "unverified": found.standing.unverified,
        "blocked": found.standing.blocked,
        "action": found.planned.action,
        "why": found.planned.why,
        "because": [_because(one) for one in found.because],
        "waits": [one.name for one in found.waits],
        "assumes": list(task.assumes),
        "needs": list(task.needs),
        "produces": list(task.produces),
        "argv": list(declared.command.argv) if declared else [],
        "key": task.worker_key,
        "attempt": task.attempt,
        "decision": task.node_id,
        "detail": task.detail,
    }


def _because(found: Because) -> JsonObject:
    row = {"kind": found.kind, "key": list(found.key), "change": found.change}
    return {**row, "by": found.by, "chain": list(found.chain)}


def _becauses(found: Mapping[str, Iterable[Because]]) -> JsonObject:
    return {task: [_because(one) for one in reasons] for task, reasons in found.items()}


def waiting(found: Waiting) -> JsonObject:
    """A command that waits for a word."""
    row = {"name": found.name, "kind": found.kind, "file": found.file, "argv": list(found.argv)}
    return {**row, "why": found.why, "changed": list(found.changed), "digest": found.digest}


def listed(found: Iterable[PlanView]) -> JsonObject:
    """Every plan in a few words."""
    rows = [{"plan": one.name, "file": one.file, "round": one.round, "complete": one.complete, **_counts(one)} for one in found]
    return clean_tree({"items": rows})  # type: ignore[no-any-return]


def _counts(found: PlanView) -> JsonObject:
    states = [task.standing.state.value for task in found.tasks]
    return {"tasks": len(states), "states": {state: states.count(state) for state in sorted(set(states))}}


def checked(plans: Iterable[PlanFile], notes: Iterable[Note]) -> JsonObject:
    """Plan files that can be used, and what deserves a look in them."""
    rows = [{"plan": one.name, "file": one.file, "tasks": len(one.tasks)} for one in plans]
    return clean_tree({"plans": rows, "notes": [asdict(note) for note in notes]})  # type: ignore[no-any-return]


def graph(found: PlanView) -> JsonObject:
    """Tasks and what they need, with the layer in which each can run."""
    depth = layers(found)
    nodes = [
        {"name": t.name, "layer": depth[t.name], "state": t.standing.state.value, "assumes": list(t.standing.task.assumes)}
        for t in found.tasks
    ]
    edges = [{"from": need, "to": task.name} for task in found.tasks for need in task.standing.task.needs]
    return clean_tree({"plan": found.name, "nodes": nodes, "edges": edges})  # type: ignore[no-any-return]


def layers(found: PlanView) -> dict[str, int]:
    """Task → number of the layer in which it can run, from 1."""
    needs = {task.name: task.standing.task.needs for task in found.tasks}
    depth: dict[str, int] = {}
    while len(depth) < len(needs):
        ready = [name for name, wanted in needs.items() if name not in depth and all(one in depth for one in wanted)]
        if not ready:
            return {name: depth.get(name, 0) for name in needs}
        level = {name: 1 + max((depth[one] for one in needs[name]), default=0) for name in ready}
        depth |= level
    return depth


def ran(found: Ran) -> JsonObject:
    """One round."""
    report = found.report
    body: JsonObject = {"plan": found.plan, "complete": found.complete, "waiting": [waiting(one) for one in found.waiting]}
    if report is None:
        return clean_tree(body)  # type: ignore[no-any-return]
    body |= {
        "round": report.round,
        "layers": [list(layer) for layer in report.layers],
        "executed": report.executed,
        "cached": report.cached,
        "cut_off": report.cut_off,
        "failed": report.failed,
        "blocked": report.blocked,
        "stale": report.stale,
        "unverified": list(report.unverified),
        "cancelled": report.cancelled,
        "why": report.why,
        "because": _becauses(found.because),
        "receipts": [receipt(one) for one in report.receipts],
        "left": dict(found.left),
    }
    return clean_tree(body)  # type: ignore[no-any-return]


def receipt(found: Receipt) -> JsonObject:
    """A ground that was found false, and what that did."""
    return {**asdict(found), "hops": [{"hop": hop, "falls": count} for hop, count in found.hops]}


def rechecked(found: Rechecked) -> JsonObject:
    """What a recheck found in one plan."""
    report = found.report
    return clean_tree(  # type: ignore[no-any-return]
        {
            "plan": found.plan,
            "held": report.held if report else [],
            "stale": report.stale if report else {},
            "failed": report.failed if report else {},
            "receipts": [receipt(one) for one in report.receipts] if report else [],
            "because": _becauses(found.because),
            "waiting": [waiting(one) for one in found.waiting],
            "problem": found.problem,
        }
    )


def entries(found: Iterable[Entry], head: str, total: int) -> JsonObject:
    """Entries of a run ledger."""
    rows = [{**one.row(), "data": thaw(one.data)} for one in found]
    return clean_tree({"items": rows, "head": head, "entries": total})  # type: ignore[no-any-return]


# -- sessions


def saved(found: Saved) -> JsonObject:
    """A copy of the ledger."""
    row = {"folder": str(found.folder), "ledger": found.ledger, "changed": found.before != found.head}
    return clean_tree({**row, "before": _head(found.before), "head": _head(found.head)})  # type: ignore[no-any-return]


def _head(found: Head) -> JsonObject:
    return {"seq": found.seq, "digest": found.digest, "root": found.root, "state": found.state}


def exported(found: Exported) -> JsonObject:
    """A session written for the earlier package."""
    row: dict[str, Any] = {"plan": found.plan, "left_out": dict(found.left_out), "notes": list(found.notes)}
    written = found.written
    return clean_tree(  # type: ignore[no-any-return]
        {**row, "folder": str(written.folder), "generation": written.generation, "written": written.written}
    )


def imported(found: Imported) -> JsonObject:
    """A session that was taken in."""
    row = {"generation": found.generation, "fell_back": found.fell_back, "plan": found.plan, "changed": found.changed}
    return clean_tree(row)  # type: ignore[no-any-return]


def summary(found: Summary) -> JsonObject:
    """What a folder holds."""
    walker = found.settings.walker
    return clean_tree(  # type: ignore[no-any-return]
        {
            "form": found.form,
            "position": found.position,
            "head": found.head,
            "nodes": dict(found.nodes),
            "kept": dict(found.kept),
            "plans": [
                {
                    "plan": one.name, "round": one.round, "states": dict(one.states), "entries": one.entries, "head": one.head,
                    "keys": list(one.keys), "unbindable": list(one.unbindable),
                }
                for one in found.plans
            ],
            "walker": asdict(walker),
            "rounds": found.settings.rounds,
            "fell_back": found.fell_back,
        }
    )  # fmt: skip
