"""Drills as JSON objects, safe to print.

Who calls: ``app/cli/drill.py`` and the drill screen. What may not come in: asking the workspace, writing to a stream, the
answers of a drill that is not revealed (``asked`` has none). Keys are listed in docs/json.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mog.app.present import JsonObject, clean_tree

if TYPE_CHECKING:
    from mog.engine.drills.records import (
        Choice,
        Choices,
        Counts,
        Drill,
        History,
        Named,
        Played,
        Recall,
        Repair,
        Rerun,
        Revealed,
        Row,
        Score,
        Support,
        Truth,
        WeakSpots,
        Why,
    )
    from mog.engine.drills.repair import Suggestion


def choices(found: Choices) -> JsonObject:
    """What there is to drill, riskiest first."""
    document = {
        "items": [_choice(one) for one in found.items], "total": found.total, "idle": found.idle, "head": found.head,
        "problems": list(found.problems),
    }  # fmt: skip
    return clean_tree(document)  # type: ignore[no-any-return]


def asked(drill: Drill) -> JsonObject:
    """A drill as it is asked, without its answers."""
    return clean_tree(_asked(drill))  # type: ignore[no-any-return]


def answered(drill: Drill) -> JsonObject:
    """A drill with its answers, as nobody has played it."""
    document = _asked(drill)
    for row, truth in zip(document["questions"], drill.truths, strict=True):
        row |= _truth(truth)
    return clean_tree({**document, "counts": _counts(drill.counts)})  # type: ignore[no-any-return]


def revealed(done: Revealed, suggestion: Suggestion | None = None, unkept: str = "") -> JsonObject:
    """A drill that was played: each row with what was said and what is so, the score, the repair that saves most."""
    drill = done.drill
    document = {
        **_asked(drill), "questions": [_row(row) for row in done.rows], "counts": _counts(drill.counts),
        **_score(done.score), "repair": _suggestion(suggestion), "unkept": unkept,
    }  # fmt: skip
    return clean_tree(document)  # type: ignore[no-any-return]


def rerun(found: Rerun) -> JsonObject:
    """A drill after repairs, beside the same before."""
    return clean_tree(_rerun(found))  # type: ignore[no-any-return]


def history(found: History, limit: int = 0) -> JsonObject:
    """Drills that were played, newest first."""
    rows = [_played(one) for one in reversed(found.played)]
    shown = rows[:limit] if limit else rows
    document = {
        "items": shown, "total": len(rows), "mean": None if found.mean is None else round(found.mean, 2),
        "unreadable": found.unreadable,
    }  # fmt: skip
    return clean_tree(document)  # type: ignore[no-any-return]


def weak(found: WeakSpots) -> JsonObject:
    """Records that are misjudged, and habits."""
    items = [
        {
            "assumption": _named(one.assumption), **_named(one.node), "asked": one.asked, "missed": one.missed,
            "said": one.said or "", "outcome": one.truth, "weight": round(one.weight, 4), "gone": one.gone,
        }
        for one in found.items
    ]  # fmt: skip
    habits = [{"outcome": h.truth, "said": h.said or "", "count": h.count, "asked": h.asked} for h in found.habits]
    document = {
        "items": items,
        "total": found.total,
        "habits": habits,
        "near": _recall(found.near),
        "far": _recall(found.far),
    }
    return clean_tree(document)  # type: ignore[no-any-return]


# -- parts


def _named(found: Named) -> JsonObject:
    return {"id": found.id, "type": found.type, "kind": found.kind, "text": found.text}


def _support(found: Support) -> JsonObject:
    all_of, none_of = ([_named(one) for one in ids] for ids in (found.all_of, found.none_of))
    return {"id": found.id, "all_of": all_of, "none_of": none_of, "note": found.note, "met": found.met}


def _choice(found: Choice) -> JsonObject:
    return {
        **_named(found.node), "version": found.version, "about": list(found.about), "risk": round(found.risk, 4),
        "reasons": [{"kind": r.kind, "weight": round(r.weight, 4), "text": r.text} for r in found.reasons],
        "dependants": found.dependants, "single": found.single, "capped": found.capped, "played": found.played,
        "missed": None if found.missed is None else round(found.missed, 4),
    }  # fmt: skip


def _asked(drill: Drill) -> JsonObject:
    questions = [
        {**_named(one.node), "detail": one.detail, "grounds": [_support(ground) for ground in one.supports]}
        for one in drill.questions
    ]
    return {
        "assumption": _choice(drill.choice), "seed": drill.seed, "head": drill.head, "questions": questions,
        "dependants": drill.counts.dependants,
    }  # fmt: skip


def _truth(found: Truth) -> JsonObject:
    return {"outcome": found.outcome, "hop": found.hop, "why": _why(found.why)}


def _why(found: Why) -> JsonObject:
    return {
        "because": found.because, "by": _named(found.by) if found.by else None,
        "support": _support(found.support) if found.support else None, "grounds": found.grounds,
        "chain": [_named(one) for one in found.chain],
    }  # fmt: skip


def _row(row: Row) -> JsonObject:
    said = {"said": row.said or "", "peeked": row.peeked, "right": row.right}
    return {**_named(row.question.node), "detail": row.question.detail, **said, **_truth(row.truth)}


def _score(found: Score) -> JsonObject:
    return {"score": round(found.value, 2), "recalls": {str(o): _recall(one) for o, one in found.recalls.items()}}


def _recall(found: Recall) -> JsonObject:
    return {"right": found.right, "asked": found.asked}


def _counts(found: Counts) -> JsonObject:
    tasks = {"tasks": list(found.tasks.stale), "tasks_total": found.tasks.total}
    return {"falls": found.falls, "weakens": found.weakens, "survives": found.survives, **tasks}


def _repair(found: Repair) -> JsonObject:
    return {"kind": found.kind, "node": found.node, "words": found.words, "rests_on": list(found.rests_on)}


def _rerun(found: Rerun) -> JsonObject:
    return {
        "repairs": [_repair(one) for one in found.repairs], "node": _named(found.node), "before": _counts(found.before),
        "after": _counts(found.after), "saved": [_named(one) for one in found.saved],
    }  # fmt: skip


def _suggestion(found: Suggestion | None) -> JsonObject | None:
    return None if found is None else {**_repair(found.repair), "rerun": _rerun(found.rerun)}


def _played(found: Played) -> JsonObject:
    rows = [
        {
            "id": one.id, "type": one.type, "text": one.text, "outcome": one.truth, "said": one.said or "",
            "peeked": one.peeked, "hop": one.hop,
        }
        for one in found.rows
    ]  # fmt: skip
    return {
        "at": found.at, "assumption": {"id": found.id, "text": found.text}, "head": found.head, "seed": found.seed,
        "dependants": found.dependants, "score": found.score, "rows": rows,
    }  # fmt: skip
