"""Snapshots, verdicts, versions, impact reports and annotations as lines a person reads.

Who calls: ``app/cli``. What may not come in: widths of a terminal, questions to the workspace. Everything is cleaned.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mog.app.plain import Line, listing, plural, safe, size

if TYPE_CHECKING:
    from mog.engine.snapshots.model import (
        Affected,
        Annotation,
        AnnotationRequest,
        Applied,
        Difference,
        HealthReport,
        ImpactReport,
        Reason,
        Snapshot,
        Stale,
        Version,
    )

SHOWN = 40


def snapshot(made: Snapshot) -> list[Line]:
    """What was registered: identity, counts, whether it can be relied on."""
    where = f"  {made.path}, {size(made.size)}" if made.path else ""
    lines: list[Line] = [
        ((f"{made.graph_id}  {made.health.status}  {made.stale.status}", "name"), (where, "muted")),
        ((f"snapshot  {made.identity.identity_digest}", "muted"),),
        ((f"facts     {made.identity.facts_hash}", "muted"),),
        ((f"advice    {made.identity.advisory_hash or 'none'}  {plural(made.annotations, 'annotation')}", "muted"),),
        ((f"{plural(made.nodes, 'node')}: {listing(made.node_counts)}", ""),),
        ((f"{plural(made.edges, 'edge')}: {listing(made.edge_counts)}", ""),),
    ]
    return _safe([*lines, *_stale(made.stale), *_reasons(made.health)])


def health(report: HealthReport, stale: Stale) -> list[Line]:
    """The verdict and why."""
    return _safe([((f"{report.status}  {stale.status}", "name"),), *_stale(stale), *_reasons(report)])


def _stale(stale: Stale) -> list[Line]:
    return [((f"{stale.status}: {reason}", "attn"),) for reason in stale.reasons]


def _reasons(report: HealthReport) -> list[Line]:
    lines = [line for one in report.blockers for line in _reason("blocked", one, "attn")]
    lines += [line for one in report.warnings for line in _reason("warning", one, "attn")]
    return lines + [((f"note     {one.detail}", "muted"), (f"  {one.code}", "muted")) for one in report.notes]


def _reason(word: str, one: Reason, role: str) -> list[Line]:
    lines: list[Line] = [((f"{word}  ", role), (one.detail, ""), (f"  {one.code}", "muted"))]
    return lines + ([((f"         {one.way_out}", "muted"),)] if one.way_out else [])


def versions(found: Sequence[Version]) -> list[Line]:
    """A line for each recorded version, the newest first."""
    if not found:
        return [(("no version was recorded yet: run `mog context snapshot`", "muted"),)]
    return _safe(_version(one) for one in reversed(found))


def _version(one: Version) -> Line:
    commit = one.commit[:12] or "no commit"
    marks = ("+" if one.dirty else " ") + ("" if one.kept else "  counts only")
    counts = f"{plural(one.nodes, 'node')}, {plural(one.edges, 'edge')}, {plural(one.files, 'file')}"
    return (
        (f"{commit}{marks}", "name"),
        (f"  facts {one.facts_hash[:12]}  index {one.generation}  {counts}  {one.status}", "muted"),
    )


def difference(found: Difference) -> list[Line]:
    """What differs between two versions, counts first."""
    lines: list[Line] = [_version(found.before), _version(found.after)]
    if found.same:
        return _safe([*lines, (("no node and no edge differs", ""),)])
    for sort, counts in (("nodes", found.nodes), ("edges", found.edges)):
        lines.append(((f"{sort}: ", "name"), (", ".join(f"{counts[change]:,} {change}" for change in counts), "")))
        for change, mark in (("added", "+"), ("removed", "-"), ("changed", "~")):
            shown = found.examples.get(f"{sort}.{change}", ())
            lines += [((f"  {mark} {line}", ""),) for line in shown]
            more = counts[change] - len(shown)
            lines += [((f"  {mark} {more:,} more", "muted"),)] if more > 0 else []
    return _safe(lines)


def impact(report: ImpactReport) -> list[Line]:
    """An impact report, nearest first; each with the way that leads there."""
    total = f"{plural(report.total, 'node')} in {plural(report.files_total, 'file')} may deserve a look"
    sure = ", ".join(f"{count:,} {name}" for name, count in report.by_authority.items())
    lines: list[Line] = [((", ".join(report.seeds), "name"),), ((total, "name"), (f"   {sure}", "muted"))]
    lines += [line for one in report.affected for line in _affected(one)]
    more = report.total - len(report.affected)
    notes = [f"{more:,} more are not shown"] if more > 0 else []
    notes += ["the search ended at its bound: counts are a floor"] if report.capped else []
    notes += [f"{plural(report.unresolved, 'name')} beside these could not be bound"] if report.unresolved else []
    notes += [f"{path} was parsed in part ({why})" for path, why in list(report.degraded.items())[:8]]
    notes += [f"the graph is {report.stale_status}"] if report.stale_status != "current" else []
    lines += [((note, "attn"),) for note in notes]
    return _safe([*lines, ((f"report {report.report_digest}", "muted"),)])


def _affected(one: Affected) -> list[Line]:
    sure = "" if one.authority == "exact" else f"  {one.authority}: {one.degradation_reason}"
    head: Line = (
        (f"  {one.distance:>2} ", "muted"),
        (one.locator, "name"),
        (f" [{one.kind}]", "muted"),
        (sure, "attn"),
    )
    steps = [f"{kind} {place}" for kind, place in zip(one.relationship_types[1:], one.path[1:-1], strict=False)]
    way = f"     {one.relationship_types[0] if one.relationship_types else ''} of {one.path[0]}"
    return [head, ((way + "".join(f", then {step}" for step in steps), "muted"),)] if one.distance > 1 else [head]


def request(asked: AnnotationRequest, path: str) -> list[Line]:
    """What is to be described, and where the file is."""
    lines: list[Line] = [
        ((f"{plural(len(asked.items), 'symbol')} to describe", "name"), (f"  {path}" if path else "", "muted"))
    ]
    lines += [
        ((f"  {one.locator}", ""), (f"  {one.contract_role or one.contract_layer}", "muted"))
        for one in asked.items[:SHOWN]
    ]
    return _safe([*lines, *_counted("left out", asked.omitted)])


def applied(done: Applied) -> list[Line]:
    """What applying a file did."""
    head = f"{plural(len(done.applied), 'annotation')} recorded, {len(done.unchanged)} known already, {done.replaced} replaced"
    lines: list[Line] = [((head, "name"),)]
    lines += [((f"  {place}", ""),) for place in done.applied[:SHOWN]]
    lines += [*_counted("ignored", done.ignored), *_counted("made to fit", done.cut)]
    return _safe([*lines, *(((f"! {warning}", "attn"),) for warning in done.warnings)])


def advised(found: Iterable[Annotation]) -> list[Line]:
    """Annotations, each under what it is about, with what it is worth."""
    from mog.engine.snapshots import shown

    lines: list[Line] = []
    for one in found:
        state = "current" if not one.stale else f"stale: {one.reason or 'the code changed'}"
        worth = (
            f"  advice by {one.annotator}, not verified; {state}; confidence {one.confidence:g}; risk {one.risk_level}"
        )
        lines.append(((one.locator, "name"), (worth, "attn" if one.stale else "muted")))
        lines += [((f"  > {line}", ""),) for line in shown.said(one)]
    return _safe(lines)


def _counted(title: str, counts: Mapping[str, int]) -> list[Line]:
    return [((f"{title}: {listing(counts)}", "muted"),)] if counts else []


def _safe(lines: Iterable[Line]) -> list[Line]:
    return [safe(line) for line in lines]
