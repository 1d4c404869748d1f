"""Answers of the belief engine as lines a person reads: why something stands, where a walk went, what drifted.

Who calls: ``app/cli/beliefs.py``; later a pane's text twin. What may not come in: escape sequences, widths of a terminal,
questions to the workspace. All text is cleaned. Lines of a change (falls, weakens, rises) are in ``plain_radius``.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from mog.app import plain_radius
from mog.app.plain import Glyphs, Line, Span, plural, safe
from mog.app.plain_radius import Marks, called, marks_of, named, quoted, shorten, spoken, strength
from mog.app.present_beliefs import Anchors, Change, Checked, Names
from mog.engine.model import Freshness
from mog.engine.policy.trust import Waiting
from mog.engine.reason.bridge import Open, Receipt
from mog.engine.reason.drift import Drift
from mog.engine.reason.explain import Explanation, Lineage, Reason, Version
from mog.engine.reason.health import HealthReport, Signal
from mog.engine.reason.prose.report import IngestReport
from mog.engine.reason.records import ADVISORY, Judgement, Label, Retirement
from mog.engine.reason.walks import Step, Walk

SKIPPED = 20


def as_lines(record: object, glyphs: Glyphs, names: Names) -> list[Line]:
    """An answer about beliefs as lines, safe to print.

    Raises:
        TypeError: the record has no plain form.
    """
    shape = _LINES.get(type(record))
    if shape is None:
        raise TypeError(f"no plain form for {type(record).__name__}")
    return [safe(line) for line in shape(record, marks_of(glyphs), names)]


# -- why


def _explanation(answer: Explanation, marks: Marks, names: Names) -> list[Line]:
    lines: list[Line] = [named(answer.node, answer.label, marks), (("  " + standing_of(answer), "muted"),)]
    if answer.node.kind == ADVISORY:
        lines.append((("  advice by a model: not verified, and no answer of a walk", "attn"),))
    lines += [line for one in answer.defeated_by for line in _judged(one, marks, names)]
    shown = {one.id for one in answer.defeated_by}
    lines += [line for reason in answer.reasons for line in _reason(reason, marks)]
    for other in answer.contradicted_by:
        lines.append((("  contradicted by  ", "attn"), *named(other, names.label(other.id), marks)))
    lines += [line for one in answer.judgements if one.id not in shown for line in _judged(one, marks, names)]
    lines += [((f"  about {anchor.anchor.locator}", "muted"),) for anchor in answer.anchors]
    return [*lines, *strength(answer.strength, marks, names)] if answer.label is not Label.fallen else lines


def standing_of(answer: Explanation) -> str:
    """The label of an answer in a sentence."""
    if answer.label is Label.fallen:
        return _why_fallen(answer)
    unmet, count = sum(not reason.met for reason in answer.reasons), len(answer.reasons)
    if answer.given:
        held = "stands: it is given, nothing has to hold it up"
    elif unmet:
        held = f"stands, though {unmet} of {plural(count, 'ground')} {'does' if unmet == 1 else 'do'} not hold"
    else:
        held = f"stands on {plural(count, 'ground')}"
    if answer.label is Label.contested:
        held += "; what contradicts it was not judged yet"
    if answer.label is Label.unverified:
        held += "; it rests on work that failed"
    return held


def _why_fallen(answer: Explanation) -> str:
    if answer.retired is not None and answer.retired.how != "pruned":
        return _retired(answer.retired)
    if answer.defeated_by:
        return "fallen: evidence was judged to contradict it"
    if "ungrounded" in answer.marks or not answer.reasons:
        return "fallen: it lost its last ground"
    count = len(answer.reasons)
    return "fallen: its ground does not hold" if count == 1 else f"fallen: none of its {count} grounds holds"


def _retired(found: Retirement) -> str:
    by = f" by {found.by}" if found.by else ""
    return f"{found.how}{by}" + (f": {found.reason}" if found.reason else "")


def _reason(reason: Reason, marks: Marks) -> list[Line]:
    word = "holds" if reason.met else "does not hold"
    note = f"  {quoted(reason.note, marks)}" if reason.note else ""
    whose = "" if reason.origin == "edges" else f", given by {reason.origin}"
    lines: list[Line] = [((f"  ground {word}{whose}{note}", "" if reason.met else "attn"),)]
    lines += [(("    ", ""), *named(node, Label.standing, marks, brief=True)) for node in reason.standing]
    lines += [(("    ", ""), *named(node, Label.fallen, marks, brief=True)) for node in reason.missing]
    return lines + [(("    not while ", "attn"), *named(node, None, marks, brief=True)) for node in reason.defeated_by]


def _judged(found: Judgement, marks: Marks, names: Names) -> list[Line]:
    verdict = "contradicted by" if found.verdict == "contradicts" else "holds against"
    said = f"  {found.auditor}" + (f": {quoted(found.reason, marks)}" if found.reason else "")
    return [((f"  {verdict} ", "attn"), *spoken(found.evidence, names, marks), (said, "muted"))]


def _lineage(answer: Lineage, marks: Marks, names: Names) -> list[Line]:
    lines: list[Line] = []
    for version in answer.versions:
        lines += _version(version, marks, names, "  " * version.depth)
    count = len(answer.versions)
    return [*lines, ((f"{plural(count, 'version')}" if count > 1 else "the only version", "muted"),)]


def _version(version: Version, marks: Marks, names: Names, indent: str) -> list[Line]:
    lines: list[Line] = [((indent, ""), *named(version.node, version.label, marks))]
    at = f"event {version.node.at}" if version.node.at else "imported"
    gone = f", {_retired(version.retired)}" if version.retired else ""
    lines.append(((f"{indent}  {at}{gone}", "muted"),))
    return lines + [((indent, ""), *line) for one in version.judgements for line in _judged(one, marks, names)]


# -- walks


def _walk(walk: Walk, marks: Marks, names: Names) -> list[Line]:
    lines = _answered(walk, marks, names) if walk.answer_id else _dead_end(walk, marks, names)
    lines += [((f"note: {note.text}", "attn"),) for note in walk.notes]
    if walk.tokens_read:
        least = "at least " if walk.read_from == "claims" else ""
        read = f"; reading the sources would take {least}{walk.tokens_read:,}"
    else:
        read = ""
    looked = f"{plural(walk.expanded, 'node')} looked at"
    return [*lines, ((f"{plural(walk.tokens_walked, 'token')} walked{read}; {looked}", "muted"),)]


def _answered(walk: Walk, marks: Marks, names: Names) -> list[Line]:
    lines: list[Line] = [spoken(walk.answer_id or "", names, marks)]
    lines.append(((f"  {plural(walk.hops, 'hop')}, score {walk.score:.2f}", "muted"),))
    lines += [(("  contradicted by  ", "attn"), *spoken(id, names, marks)) for id in walk.against]
    lines += _path(walk, marks, names)
    if walk.tail:
        lines.append((("  which rests on", "muted"),))
        lines += [_step(step, marks, names) for step in walk.tail]
    sources = [id for id in walk.evidence if id not in {step.node for step in walk.tail}]
    if sources:
        lines.append((("  sources", "muted"),))
        lines += [(("    ", ""), *spoken(id, names, marks)) for id in sources]
    return lines


def _dead_end(walk: Walk, marks: Marks, names: Names) -> list[Line]:
    from mog.engine.reason.dead_ends import REMEDIES

    assert walk.dead_end is not None
    lines: list[Line] = [((f"no answer: {walk.dead_end.value.replace('_', ' ')}", "attn"),)]
    lines += [((f"  {walk.detail}", ""),)] if walk.detail else []
    if walk.blocker:
        lines.append((("  in the way  ", "attn"), *spoken(walk.blocker, names, marks)))
    if walk.path:
        lines.append((("  nearest", "muted"),))
        lines += _path(walk, marks, names)
    for one in walk.resolutions:
        if one.entity is None and one.near:
            near = ", ".join(f"{quoted(n.label, marks)} ({n.reason})" for n in one.near[:2])
            lines.append(((f"  {quoted(one.mention, marks)} is near {near}", "muted"),))
    return [*lines, ((f"  what to do: {REMEDIES[walk.dead_end]}", ""),)]


def _path(walk: Walk, marks: Marks, names: Names) -> list[Line]:
    seeds = {seed.node: seed for seed in walk.seeds}
    lines = []
    for step in walk.path:
        how = ""
        if not step.kind and step.node in seeds:
            seed = seeds[step.node]
            how = f"  {seed.how} {quoted(seed.mention, marks)}" if seed.mention else f"  by its {seed.how}"
        lines.append((*_step(step, marks, names), (how, "muted")))
    return lines


def _step(step: Step, marks: Marks, names: Names) -> Line:
    arrow = marks.back if step.reverse else marks.on
    edge = f"{arrow} {step.kind:<12.12} " if step.kind else ""
    return (("    ", ""), (edge, "muted"), *spoken(step.node, names, marks, step.label))


# -- code under beliefs


def _checked(checked: Checked, marks: Marks, names: Names) -> list[Line]:
    report = checked.report
    receipts = (*checked.own, *report.receipts)
    lines = [line for drift in report.drifts for line in _drift(drift, marks, names)]
    lines += [line for receipt in receipts for line in _receipt(receipt, marks, names)]
    lines += [line for question in report.open for line in _open(question, marks, names)]
    lines += [((f"failed      {one.auditor}: {one.reason}", "attn"),) for one in report.failed]
    lines += [line for one in report.waiting for line in _waiting(one, marks, names)]
    counts = {"judged": len(receipts), "open": len(report.open), "waiting for a word": len(report.waiting)}
    parts = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    off = sum(drift.freshness.value not in ("fresh", "moved") for drift in report.drifts)
    head = f"{plural(off, 'anchor')} not as recorded" if off else "every anchor is as it was recorded"
    return [*lines, ((head, "name"), (f": {parts}" if parts else "", "muted"))]


def _drift(drift: Drift, marks: Marks, names: Names) -> list[Line]:
    glyph = marks.states[drift.freshness.value]
    word = f"{glyph} {drift.freshness.value:<8} "
    lines: list[Line] = [((word, "state"), (drift.anchor.anchor.locator, "name"))]
    now = f", now at {drift.now_at}" if drift.now_at and drift.now_at != drift.anchor.anchor.locator else ""
    change = f", evidence {drift.change}" if drift.change else ""
    reason = f"{drift.reason}{now}{change}"
    lines += [((f"    {reason}", "muted"),)] if reason else []
    return [*lines, (("    under ", "muted"), *spoken(drift.target, names, marks))]


def _anchors(anchors: Anchors, marks: Marks, names: Names) -> list[Line]:
    off = [drift for drift in anchors.drifts if drift.freshness.value != "fresh"]
    lines = [line for drift in off for line in _drift(drift, marks, names)]
    counts = ", ".join(f"{anchors.count(state):,} {state.value}" for state in Freshness if anchors.count(state))
    count = plural(len(anchors.drifts), "anchor")
    way_out = "   see `mog recheck`" if anchors.off else ""
    return [*lines, ((f"{count} of beliefs checked: {counts}", "name"), (way_out, "muted"))]


def _receipt(receipt: Receipt, marks: Marks, names: Names) -> list[Line]:
    word = "contradicted" if receipt.verdict == "contradicts" else "holds"
    reason = f": {quoted(receipt.reason, marks)}" if receipt.reason else ""
    head: Line = ((f"judged      {receipt.auditor}{reason} {marks.on} {word}", "name"),)
    change = Change(receipt.radius, receipt.target, receipt.events, written=True, limit=20)
    return [head, *((("  ", ""), *line) for line in plain_radius.change(change, marks, names))]


def _open(question: Open, marks: Marks, names: Names) -> list[Line]:
    pending = question.pending
    lines: list[Line] = [(("open        ", "attn"), *spoken(pending.target, names, marks))]
    lines.append((("    against it ", "muted"), *spoken(pending.evidence, names, marks)))
    lines += [((f"    {why}", "muted"),) for why in question.why]
    way_out = f"mog recheck --judge {shorten(pending.evidence)}=contradicts --reason TEXT   (or =holds)"
    return [*lines, ((f"    judge it: {way_out}", "muted"),)]


def _waiting(found: Waiting, marks: Marks, names: Names | None = None) -> list[Line]:
    argv = shlex.join(found.argv)
    lines: list[Line] = [(("waits       ", "attn"), (found.name, "name"), (f"  {argv}", ""))]
    changed = f": {', '.join(found.changed)}" if found.changed else ""
    why = {"new": "nobody allowed it yet", "changed": "it changed since it was allowed"}.get(found.why, found.why)
    lines.append(((f"    {found.kind} of {found.file}; {why}{changed}", "muted"),))
    return [*lines, ((f"    look at it, then: mog allow {found.name}", "muted"),)]


def words_given(given: Sequence[Waiting], left: Sequence[Waiting], glyphs: Glyphs) -> list[Line]:
    """What was allowed just now, and what still waits."""
    lines: list[Line] = [(("allowed     ", ""), (one.name, "name"), (f"  {shlex.join(one.argv)}", "")) for one in given]
    lines += [line for one in left for line in _waiting(one, marks_of(glyphs))]
    return lines or [(("nothing waits for a word", "muted"),)]


# -- the whole


def _ingest(report: IngestReport, marks: Marks, names: Names) -> list[Line]:
    lines: list[Line] = []
    for name in ("documents", "claims", "entities", "decisions", "edges"):
        counts = {what: count for what, count in sorted(getattr(report, name).items()) if count}
        if counts:
            lines.append(
                ((f"{name:<10} ", "muted"), (", ".join(f"{count:,} {what}" for what, count in counts.items()), ""))
            )
    for stage in report.stages.values():
        if stage.dropped and stage.notes:
            lines.append(((f"{stage.name:<10} {stage.dropped:,} left out: {'; '.join(stage.notes)}", "muted"),))
    shown = report.skipped[:SKIPPED]
    lines += [((f"skipped    {one.where}", "attn"), (f"  {one.reason}", "muted")) for one in shown]
    more = len(report.skipped) - len(shown)
    lines += [((f"           {more:,} more: --json", "muted"),)] if more else []
    return lines if report.changed else [*lines, (("nothing changed", "name"),)]


def _health(report: HealthReport, marks: Marks, names: Names) -> list[Line]:
    nodes = f"{plural(report.nodes_live, 'node')} of {report.nodes_total:,} count"
    edges = f"{plural(report.edges_live, 'edge')} of {plural(report.edge_types_used, 'type')}"
    lines: list[Line] = [((f"{report.status}: {nodes}, {edges}", "name"),)]
    return lines + [line for signal in report.signals for line in _signal(signal, marks, names)]


def _signal(signal: Signal, marks: Marks, names: Names) -> list[Line]:
    role = "attn" if signal.severity != "info" and signal.count else "muted"
    head = f"{signal.severity:<6}{signal.count:>5,}  {signal.kind.replace('_', ' ')}"
    lines: list[Line] = [((head, role), (f"  {signal.detail}", "muted"))]
    if not signal.count:
        return lines
    lines += [(("             ", ""), *_item(item, marks, names)) for item in signal.items]
    more = signal.count - len(signal.items)
    lines += [((f"             {more:,} more", "muted"),)] if more > 0 and signal.items else []
    return [*lines, ((f"             {marks.on} {signal.remedy}", "muted"),)] if signal.remedy else lines


def _item(item: str, marks: Marks, names: Names) -> Iterable[Span]:
    """A record, a contradiction between two, or words."""
    one, verb, other = item.partition(" contradicts ")
    if verb and names.node(one) is not None and names.node(other) is not None:
        return ((f"{called(one, names, marks)} contradicts {called(other, names, marks)}", ""),)
    return spoken(item, names, marks) if names.node(item) is not None else ((item, ""),)


_LINES: dict[type, Callable[[Any, Marks, Names], list[Line]]] = {
    Change: plain_radius.change,
    Explanation: _explanation,
    Lineage: _lineage,
    Walk: _walk,
    Checked: _checked,
    Anchors: _anchors,
    Waiting: _waiting,
    HealthReport: _health,
    IngestReport: _ingest,
}
