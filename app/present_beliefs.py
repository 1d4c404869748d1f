"""Answers of the belief engine as JSON objects, safe to print, and the views both forms are made from.

Who calls: ``app/cli`` for verbs about beliefs; ``app/plain_beliefs.py`` builds lines from the same records. What may not come
in: asking the workspace (``Names`` is handed in), writing to a stream, adding to what a record says.

A node is ``{id, type, kind, text, standing}``: ``text`` are its words as recorded, ``standing`` its label ("" where nobody
asked). Keys of documents are listed in docs/json.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from mog.app.present import JsonObject, clean_tree
from mog.engine.model import Freshness
from mog.engine.policy.trust import Waiting
from mog.engine.reason.bridge import Open, Receipt, RecheckReport
from mog.engine.reason.drift import Drift
from mog.engine.reason.explain import Explanation, Lineage, Reason, Version
from mog.engine.reason.health import HealthReport
from mog.engine.reason.minimal import Strength
from mog.engine.reason.moves import Move, Weakening
from mog.engine.reason.prose.report import IngestReport
from mog.engine.reason.radius import Radius
from mog.engine.reason.records import GraphNode, Ground, Judgement, Label, Retirement
from mog.engine.reason.walks import Step, Walk


class Names(Protocol):
    """What an answer needs to know of the records it only has ids of. None: there is no such record (any more)."""

    def node(self, id: str) -> GraphNode | None: ...
    def label(self, id: str) -> Label | None: ...
    def ground(self, conclusion: str, id: str) -> Ground | None: ...


@dataclass(frozen=True, slots=True)
class Change:
    """A radius and what belongs to it on a screen.

    Attributes:
        radius: what moves. target: the node it was asked about, "" for none.
        events: numbers of the events that were recorded; a preview has none.
        result: id of what a commit made or touched, "" for none.
        written: it happened; else it is a preview.
        limit: rows of each list at most.
        strength: what it takes to fell the target, where that was asked.
        firm: of the first weakened nodes, what it took to fell them before.
        preserved: one page of ids that stood before and stand after; None when nobody asked.
    """

    radius: Radius
    target: str = ""
    events: tuple[int, ...] = ()
    result: str = ""
    written: bool = False
    limit: int = 100
    strength: Strength | None = None
    firm: Mapping[str, Strength] = field(default_factory=dict)
    preserved: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """A recheck, with the verdicts that the person gave in the same command."""

    report: RecheckReport
    own: tuple[Receipt, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Anchors:
    """Every anchor of a belief as the disk is now."""

    drifts: tuple[Drift, ...]

    def count(self, *states: Freshness) -> int:
        """How many are in one of these states."""
        return sum(drift.freshness in states for drift in self.drifts)

    @property
    def off(self) -> int:
        """How many are not as they were recorded; what moved was followed."""
        return self.count(Freshness.drifted, Freshness.missing)


def as_json(record: object, names: Names) -> JsonObject:
    """Any answer about beliefs as a JSON object, safe to print.

    Raises:
        TypeError: the record has no JSON form.
    """
    shape = _JSON.get(type(record))
    if shape is None:
        raise TypeError(f"no JSON form for {type(record).__name__}")
    return clean_tree(shape(record, names))  # type: ignore[no-any-return]


# -- nodes and grounds


def node(found: GraphNode, standing: str = "") -> JsonObject:
    """A node with its standing, "" when that was not asked."""
    return {"id": found.id, "type": found.type, "kind": found.kind, "text": found.label, "standing": standing}


def _named(id: str, names: Names, standing: str | None = None) -> JsonObject:
    found = names.node(id)
    if found is None:
        return {"id": id, "type": "", "kind": "", "text": "", "standing": standing or ""}
    return node(found, names.label(id) or "" if standing is None else standing)


def _nodes(found: Iterable[GraphNode], names: Names) -> list[JsonObject]:
    return [node(one, names.label(one.id) or "") for one in found]


def _ground(conclusion: str, id: str, names: Names) -> JsonObject:
    found = names.ground(conclusion, id)
    if found is None:
        return {"id": id, "all_of": [], "none_of": [], "origin": "", "note": ""}
    all_of, none_of = ([_named(one, names) for one in ids] for ids in (found.all_of, found.none_of))
    return {"id": id, "all_of": all_of, "none_of": none_of, "origin": found.origin, "note": found.note}


# -- what a change does


def _change(change: Change, names: Names) -> JsonObject:
    radius, limit = change.radius, change.limit
    hidden = sum(max(0, len(rows) - limit) for rows in (radius.falls, radius.weakens, radius.rises, radius.added))
    document: JsonObject = {
        "written": change.written,
        "events": list(change.events),
        "result": _named(change.result, names) if change.result and names.node(change.result) else None,
        "target": _named(change.target, names) if change.target else None,
        "falls": [_move(move, radius, names, "fallen") for move in radius.falls[:limit]],
        "falls_total": len(radius.falls),
        "weakens": [_weakening(row, change, names) for row in radius.weakens[:limit]],
        "weakens_total": len(radius.weakens),
        "rises": [_move(move, radius, names, "standing") for move in radius.rises[:limit]],
        "rises_total": len(radius.rises),
        "added": [_move(move, radius, names, "standing") for move in radius.added[:limit]],
        "per_hop": [{"hop": hop, "falls": count} for hop, count in radius.counts],
        "preserved_total": radius.preserved_count,
        "untouched_total": radius.preserved_count - len(radius.weakens),
        "omitted": hidden,
        "strength": strength(change.strength, names) if change.strength else None,
    }
    if change.preserved is not None:
        document["preserved"] = [_named(id, names) for id in change.preserved]
        document["next_after"] = change.preserved[-1] if change.preserved else ""
    return document


def _move(move: Move, radius: Radius, names: Names, standing: str) -> JsonObject:
    chain = [step.id for step in radius.chain(move.id)]
    row = _named(move.id, names, standing)
    return {**row, "hop": move.hop, "by": move.parent, "via": move.via, "chain": chain}


def _weakening(row: Weakening, change: Change, names: Names) -> JsonObject:
    because = _ground(row.id, row.because, names) if row.because else None
    firm = change.firm.get(row.id)
    return {
        **_named(row.id, names, None if change.written else "weakened"),
        "lost": _ground(row.id, row.lost, names),
        "because": because,
        "strength_before": strength(firm, names) if firm else None,
    }


def strength(found: Strength, names: Names) -> JsonObject:
    """What it takes to fell a node: ``needs`` losses (3: more than two, 0: nothing does, null: not known)."""
    return {
        "needs": found.needs,
        "grounds_met": found.met,
        "grounds": found.recorded,
        "ones": [_named(id, names) for id in found.ones],
        "pairs": [[_named(id, names) for id in pair] for pair in found.pairs],
        "support": [_named(id, names) for id in found.support],
        "truncated": found.truncated,
    }


# -- why


def _reason(reason: Reason, names: Names) -> JsonObject:
    return {
        "id": reason.ground,
        "origin": reason.origin,
        "note": reason.note,
        "met": reason.met,
        "stand": _nodes(reason.standing, names),
        "missing": _nodes(reason.missing, names),
        "defeated_by": _nodes(reason.defeated_by, names),
    }


def judgement(found: Judgement, names: Names) -> JsonObject:
    """Who judged which evidence how, and why."""
    return {
        "id": found.id,
        "evidence": _named(found.evidence, names),
        "verdict": found.verdict,
        "auditor": found.auditor,
        "reason": found.reason,
        "event": found.at,
    }


def _retired(found: Retirement | None) -> JsonObject | None:
    if found is None:
        return None
    return {"how": found.how, "reason": found.reason, "by": found.by, "event": found.at}


def _explanation(answer: Explanation, names: Names) -> JsonObject:
    return {
        **node(answer.node, answer.label),
        "given": answer.given,
        "retired": _retired(answer.retired),
        "marks": list(answer.marks),
        "grounds": [_reason(reason, names) for reason in answer.reasons],
        "defeated_by": [judgement(one, names) for one in answer.defeated_by],
        "judgements": [judgement(one, names) for one in answer.judgements],
        "contradicted_by": _nodes(answer.contradicted_by, names),
        "anchors": [{"id": one.id, "locator": one.anchor.locator, "event": one.at} for one in answer.anchors],
        "strength": strength(answer.strength, names),
    }


def _version(version: Version, names: Names) -> JsonObject:
    return {
        **node(version.node, version.label),
        "depth": version.depth,
        "supersedes": list(version.supersedes),
        "retired": _retired(version.retired),
        "judgements": [judgement(one, names) for one in version.judgements],
        "event": version.node.at,
    }


def _lineage(answer: Lineage, names: Names) -> JsonObject:
    return {"of": answer.of, "items": [_version(version, names) for version in answer.versions]}


# -- walks


def _step(step: Step, names: Names) -> JsonObject:
    row = {"id": step.node, "type": step.type, "text": step.label, "standing": names.label(step.node) or ""}
    return {
        **row,
        "edge": step.kind,
        "edge_id": step.edge,
        "direction": "in" if step.reverse else "out" if step.kind else "",
    }


def _walk(walk: Walk, names: Names) -> JsonObject:
    from mog.engine.reason.dead_ends import REMEDIES

    return {
        "question": walk.question,
        "resolved": walk.resolved,
        "answer": _named(walk.answer_id, names) if walk.answer_id else None,
        "score": round(walk.score, 4),
        "hops": walk.hops,
        "path": [_step(step, names) for step in walk.path],
        "tail": [_step(step, names) for step in walk.tail],
        "evidence": [_named(id, names) for id in walk.evidence],
        "contradicted_by": [_named(id, names) for id in walk.against],
        "dead_end": walk.dead_end or "",
        "detail": walk.detail,
        "blocker": _named(walk.blocker, names) if walk.blocker else None,
        "remedy": REMEDIES[walk.dead_end] if walk.dead_end else "",
        "seeds": [
            {"id": s.node, "type": s.type, "text": s.label, "how": s.how, "mention": s.mention} for s in walk.seeds
        ],
        "mentions": [_mention(one) for one in walk.resolutions],
        "notes": [{"kind": note.kind, "text": note.text, "ids": list(note.nodes)} for note in walk.notes],
        "expanded": walk.expanded,
        "tokens_walked": walk.tokens_walked,
        "tokens_read": walk.tokens_read,
        "read_from": walk.read_from,
    }


def _mention(found: Any) -> JsonObject:
    near = [{"id": n.entity, "text": n.label, "score": round(n.score, 4), "reason": n.reason} for n in found.near]
    row = {"mention": found.mention, "id": found.entity or "", "text": found.label, "score": round(found.score, 4)}
    return {**row, "reason": found.reason, "ambiguous": found.ambiguous, "near": near}


# -- code under beliefs


def _drift(drift: Drift, names: Names) -> JsonObject:
    return {
        "locator": drift.anchor.anchor.locator,
        "freshness": drift.freshness.value,
        "reason": drift.reason,
        "now_at": drift.now_at,
        "lines": list(drift.lines) if drift.lines else None,
        "target": _named(drift.target, names),
        "evidence": drift.evidence,
        "change": drift.change,
    }


def _anchors(anchors: Anchors, names: Names) -> JsonObject:
    off = [drift for drift in anchors.drifts if drift.freshness is not Freshness.fresh]
    counts = {state.value: anchors.count(state) for state in Freshness}
    return {"checked": len(anchors.drifts), **counts, "items": [_drift(drift, names) for drift in off]}


def _receipt(receipt: Receipt, names: Names) -> JsonObject:
    return {
        "auditor": receipt.auditor,
        "command": receipt.command,
        "verdict": receipt.verdict,
        "reason": receipt.reason,
        "evidence": _named(receipt.evidence, names),
        "effect": _change(Change(receipt.radius, receipt.target, receipt.events, written=True), names),
    }


def _open(question: Open, names: Names) -> JsonObject:
    pending = question.pending
    locator = str(pending.request.anchor.get("locator", ""))
    row = {"evidence": _named(pending.evidence, names), "target": _named(pending.target, names)}
    return {**row, "locator": locator, "why": list(question.why)}


def _checked(checked: Checked, names: Names) -> JsonObject:
    report = checked.report
    return {
        "drifts": [_drift(drift, names) for drift in report.drifts],
        "receipts": [_receipt(receipt, names) for receipt in (*checked.own, *report.receipts)],
        "open": [_open(question, names) for question in report.open],
        "failed": [{"auditor": one.auditor, "reason": one.reason, "command": one.command} for one in report.failed],
        "waiting": [waiting(one) for one in report.waiting],
    }


def waiting(found: Waiting, names: Names | None = None) -> JsonObject:
    """A command that waits for a word."""
    return {
        "name": found.name,
        "kind": found.kind,
        "file": found.file,
        "argv": list(found.argv),
        "why": found.why,
        "changed": list(found.changed),
        "digest": found.digest,
    }


# -- the whole


def _ingest(report: IngestReport, names: Names) -> JsonObject:
    counted = ("documents", "claims", "entities", "decisions", "edges")
    return {
        "changed": report.changed,
        **{name: dict(sorted(getattr(report, name).items())) for name in counted},
        "stages": [
            {"name": s.name, "caption": s.caption, "admitted": s.admitted, "dropped": s.dropped, "notes": list(s.notes)}
            for s in report.stages.values()
        ],
        "skipped": [{"where": one.where, "reason": one.reason} for one in report.skipped],
    }


def _health(report: HealthReport, names: Names) -> JsonObject:
    return {
        "status": report.status,
        "nodes_live": report.nodes_live,
        "nodes_total": report.nodes_total,
        "edges_live": report.edges_live,
        "edge_types_used": report.edge_types_used,
        "items": [
            {
                "kind": signal.kind,
                "severity": signal.severity,
                "count": signal.count,
                "detail": signal.detail,
                "remedy": signal.remedy,
                "items": [_item(item, names) for item in signal.items],
            }
            for signal in report.signals
        ],
    }


def _item(item: str, names: Names) -> JsonObject:
    found = names.node(item)
    return node(found, names.label(item) or "") if found else {"text": item}


_JSON: dict[type, Callable[[Any, Names], JsonObject]] = {
    Change: _change,
    Explanation: _explanation,
    Lineage: _lineage,
    Walk: _walk,
    Checked: _checked,
    Anchors: _anchors,
    Waiting: waiting,
    HealthReport: _health,
    IngestReport: _ingest,
}
