"""Health of what is believed as rows: signals with counts that unfold to the records they name, and what walks did.

Who calls: the pane of health, below its account of the index. What may not come in: the toolkit, questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui import reason_rows
from mog.app.tui.reason_asks import BeliefHealth, Known
from mog.app.tui.rows import Thing, head, note
from mog.app.tui.walk_rows import dead_end_words, record_row
from mog.widgets.view import BLANK, Cell, Line, Row

if TYPE_CHECKING:
    from mog.engine.reason.health import Signal
    from mog.engine.reason.telemetry import TelemetryReport

MARKS: Mapping[str, tuple[str, str]] = {"error": ("× ", "fallen"), "warn": ("▼ ", "weakened"), "info": ("· ", "muted")}
PREFIX = "signal:"
BAR = 8
EDGES = 6


def belief_rows(health: BeliefHealth, opened: frozenset[str], things: dict[str, Thing]) -> list[Line | Row]:
    """The rows below the account of the index; ``opened``: sections that are unfolded."""
    report = health.report
    rows: list[Line | Row] = [BLANK, head("beliefs", report.status)]
    rows.append(note(f"  {report.nodes_live:,} of {plural(report.nodes_total, 'record')} count", "text"))
    types = plural(report.edge_types_used, "type")
    rows.append(note(f"  {plural(report.edges_live, 'edge')} of {types}", "text"))
    for signal in report.signals:
        if signal.count:
            rows += _signal(signal, health.known, opened, things)
    return rows + _walks(health.walks)


def _signal(signal: Signal, known: Known, opened: frozenset[str], things: dict[str, Thing]) -> list[Line | Row]:
    key = f"{PREFIX}{signal.kind}"
    things[key] = key
    glyph, role = MARKS.get(signal.severity, ("· ", "muted"))
    cells = (Cell(glyph, role, True), Cell(clean(signal.kind).replace("_", " "), "text", False, "tail"))
    words = (f"{signal.count:,} {clean(signal.detail)}", f"{clean(signal.remedy)}; enter unfolds")
    rows: list[Line | Row] = [Row(key, cells, (Cell(f"{signal.count:,}"),), words=words)]
    if key not in opened:
        return rows
    for number, item in enumerate(signal.items):
        rows += _item(item, f"{key}:{number}", known, things)
    left = signal.count - len(signal.items)
    return rows + ([note(f"    +{left:,} hidden; mog health lists more")] if left > 0 else [])


def _item(item: str, key: str, known: Known, things: dict[str, Thing]) -> list[Line | Row]:
    """A record, a contradiction between two, or words."""
    one, verb, other = item.partition(" contradicts ")
    if verb and one in known.nodes and other in known.nodes:
        first = record_row(f"{key}:a", one, known, (Cell("    "),), things)
        return [first, record_row(f"{key}:b", other, known, (Cell("      contradicts ", "attn"),), things)]
    if item in known.nodes:
        return [record_row(key, item, known, (Cell("    "),), things)]
    return [note(f"    {reason_rows.clip(item)}")]


def _walks(walks: TelemetryReport) -> list[Line | Row]:
    if not walks.walks:
        return [BLANK, head("walks", "none yet"), note("  2 and a ask a question", "muted")]
    rows: list[Line | Row] = [BLANK, head("walks", f"{walks.walks:,}")]
    rows.append(note(f"  {walks.resolved:,} of {walks.walks:,} answered", "text"))
    most = max(walks.hop_histogram.values(), default=0)
    for hops, count in walks.hop_histogram.items():
        bar = "█" * max(1, round(BAR * count / most))
        median = "  median" if hops == walks.median_hops else ""
        rows.append(
            Row(
                "", (Cell(f"  {plural(hops, 'hop'):<8}", "muted"), Cell(bar, "standing")), (Cell(f"{count:,}{median}"),)
            )
        )
    for reason, count in walks.dead_ends.items():
        rows.append(Row("", (Cell(f"  {dead_end_words(reason)}", "muted", False, "tail"),), (Cell(f"{count:,}"),)))
    if walks.tokens_read:
        rows.append(note(f"  {walks.tokens_walked:,} tokens walked, sources {walks.tokens_read:,}", "text"))
    busiest = sorted(walks.traversals.items(), key=lambda item: (-item[1], item[0]))
    if busiest:
        said = ", ".join(f"{clean(kind)} {count:,}" for kind, count in busiest[:EDGES])
        more = f", +{len(busiest) - EDGES} hidden" if len(busiest) > EDGES else ""
        rows.append(note(f"  {said}{more}"))
    return rows
