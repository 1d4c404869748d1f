"""Rows of the panes around the graph: health, map, search results.

Who calls: the home screen and the plain-text twins. What may not come in: the toolkit, questions to the workspace.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mog.app.plain import plural, size
from mog.app.present import clean
from mog.app.tui.rows import (
    Sheet,
    Thing,
    describe,
    head,
    name_cells,
    note,
    prose,
    teach,
)
from mog.engine import model as m
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.app.tui.port import Agents

# -- health ------------------------------------------------------------------------------------------------------------


def agents_rows(agents: Agents | None, width: int) -> tuple[list[Row], list[Row]]:
    """Who serves agents here: rows for the top where it is not this workbench, for the end where it is; none where nobody would."""
    if agents is None:
        return [], []
    found = agents.state()
    if found.trouble:
        rows = [head("agents", "not served from here"), *prose(found.trouble, width - 4, "attn", 3)]
    elif found.owner:
        rows = [head("agents", f"{plural(found.clients, 'client')}, from here")]
    elif found.other:
        pid, _, command = found.other.partition(" ")
        said = f"process {pid} ({command}) serves them. This workbench stands beside it, and takes over when it goes."
        rows = [head("agents", "served by another"), *prose(said, width - 4, "muted", 3)]
    else:
        rows = [head("agents", "not served yet")]
    return ([*rows, BLANK], []) if found.trouble or (found.other and not found.owner) else ([], [BLANK, *rows])


def health_sheet(
    status: m.Status | None,
    grammars: Sequence[m.GrammarInfo],
    opened: frozenset[str],
    watcher: str,
    failures: Sequence[str] = (),
    width: int = 40,
) -> Sheet:
    """What was indexed, what was not and why, what is withheld, and whether the watcher is awake."""
    broken = [row for text in failures for row in _prose_row("▼ ", "fallen", text, width)]
    if status is None:
        return Sheet(Lines(broken) if broken else teach("No account yet.", width=width - 4), title_right="?")
    health = status.health
    things: dict[str, Thing] = {}
    lines: list[Line | Row] = [*broken, *_verdict(status, watcher, width)]
    lines += _skipped(health, opened, things)
    lines += _problems(health, opened, things)
    lines += _languages(health, grammars)
    lines += _stored(status, width)
    right = f"{health.indexed:,} of {health.seen:,}" if health.seen else f"{status.files:,} files"
    reasons = len(health.warnings) + len(failures)
    return Sheet(Lines(lines), things, f"{plural(reasons, 'warning')}" if reasons else "", right)


def _prose_row(mark: str, role: str, text: str, width: int, key: str = "") -> list[Row]:
    first, *rest = prose(text, max(16, width - 6), "text", 6) or [BLANK]
    return [Row(key, (Cell(mark, role, True), *first.cells)), *(Row("", (Cell("  "), *row.cells)) for row in rest)]


def watch_cells(watcher: str) -> tuple[Cell, Cell]:
    """Mark and words of the watcher's state: ``● live``, ``▼ polling: why``, ``▼ live; why``, ``· off``."""
    said = clean(watcher) or "?"
    state, why = watch_state(said)
    if state == "live" and not why:
        return (Cell("● ", "standing", True), Cell("live"))
    if state in ("live", "polling"):
        return (Cell("▼ ", "weakened", True), Cell(said, "text", False, "tail"))
    return (Cell("· " if state == "off" else "? ", "unverified", True), Cell(said, "text", False, "tail"))


def watch_state(watcher: str) -> tuple[str, str]:
    """State and reason: (``polling``, ``the watch limit is reached``)."""
    cut = min((watcher.find(mark) for mark in ":;" if mark in watcher), default=len(watcher))
    return watcher[:cut].strip(), watcher[cut + 1 :].strip()


def _verdict(status: m.Status, watcher: str, width: int) -> list[Line | Row]:
    rows: list[Line | Row] = []
    for text in status.health.warnings:
        rows += _prose_row("▼ ", "weakened", text, width)
    if not status.health.git:
        rows += _prose_row("▼ ", "weakened", "no git here: the folder was walked", width)
    mark, word = watch_cells(watcher)
    said = "watching, saved files show at once" if word.text == "live" else f"watcher {word.text}"
    rows.append(Row("", (mark, Cell(said, "text", False, "tail"))))
    if status.pending:
        why = "not read yet" if status.index.unread else "changed since, r indexes"
        rows.append(Row("", (Cell("≈ ", "stale", True), Cell(f"{plural(status.pending, 'file')} {why}"))))
    return rows


def _skipped(health: m.ScanHealth, opened: frozenset[str], things: dict[str, Thing]) -> list[Line | Row]:
    total = sum(health.skipped.values())
    rows: list[Line | Row] = [BLANK, _count_row("skipped", total, "nothing was left out" if not total else "")]
    for reason, count in sorted(health.skipped.items(), key=lambda item: (-item[1], item[0])):
        key = f"skip:{reason}"
        things[key] = key
        words = (f"{plural(count, 'file')} not indexed: {clean(reason)}", "enter shows examples")
        rows.append(Row(key, (Cell(f"  {clean(reason)}", "text", False, "tail"),), (Cell(f"{count:,}"),), words=words))
        if key in opened:
            rows += [note(clean(path), "muted", 4) for path in health.examples.get(reason, ())]
    rows.append(
        _count_row("text only", health.text_only, "no grammar, or a kind without symbols" if health.text_only else "")
    )
    for reason, count in health.no_symbols.items():
        rows.append(_count_row(f"  {clean(reason)}", count, ""))
    gated = f"{plural(health.gated, 'file')}, {plural(health.gated_symbols, 'symbol')}"
    rows.append(
        Row("", (Cell("gated", "text", True), Cell("  bytes withheld", "muted", False, "drop")), (Cell(f"░ {gated}"),))
    )
    return rows


def _count_row(word: str, count: int, hint: str) -> Row:
    cells = (Cell(word, "text", True), Cell(f"  {hint}" if hint else "", "muted", False, "drop"))
    return Row("", cells, (Cell(f"{count:,}", "text", True),))


def _problems(health: m.ScanHealth, opened: frozenset[str], things: dict[str, Thing]) -> list[Line | Row]:
    rows: list[Line | Row] = [_count_row("read in part", health.problem_count, "")]
    shown = list(health.problems.items())
    if "problems" not in opened:
        shown = shown[:3]
    for path, reason in shown:
        key = f"problem:{path}"
        things[key] = m.Node(0, "", "file", "source", path, "", path)
        folder, slash, base = clean(path).rpartition("/")
        name = (Cell("  "), Cell(f"{folder}{slash}", "muted", False, "path"), Cell(base, "text", False, "head"))
        cells = (*name, Cell(f"  {clean(reason)}", "muted", False, "drop"))
        rows.append(Row(key, cells, words=(clean(path), f"{clean(reason)}. o opens it"), copy=clean(path)))
    rest = health.problem_count - len(shown)
    if rest > 0:
        things["problems"] = "problems"
        rows.append(Row("problems", (Cell(f"  +{rest:,} hidden", "muted"),), words=("enter shows the first 200", "")))
    return rows


def _languages(health: m.ScanHealth, grammars: Sequence[m.GrammarInfo]) -> list[Line | Row]:
    known: Mapping[str, m.GrammarInfo] = {g.language: g for g in grammars}
    rows: list[Line | Row] = [BLANK, _count_row("languages", len(health.languages), "")]
    for language, files in sorted(health.languages.items(), key=lambda item: (-item[1], item[0])):
        info = known.get(language)
        how, role = _grammar_words(info)
        words = (f"{clean(language)}: {plural(files, 'file')}, {how or 'grammar not asked'}", "")
        cells = (
            Cell(f"  {clean(language)}", "text", False, "tail"),
            Cell(f"  {how}" if how else "", role, False, "drop"),
        )
        rows.append(Row(f"lang:{language}", cells, (Cell(f"{files:,}"),), words=words))
    return rows


def _grammar_words(info: m.GrammarInfo | None) -> tuple[str, str]:
    if info is None:
        return "", "muted"
    if not info.loads:
        return "no grammar: text only", "attn"
    return (
        (f"{clean(info.provider)} {clean(info.version)}".strip(), "muted") if info.symbols else ("text only", "muted")
    )


def short_ref(ref: str) -> str:
    """``main 4f2a19c`` of ``main@4f2a19c0…``: a full commit id is cut to what a person compares."""
    return " ".join(word[:7] if len(word) == 40 else word for word in clean(ref).replace("@", " ").split())


def _stored(status: m.Status, width: int) -> list[Line | Row]:
    edges = sum(status.edges.values())
    ref = f" of {short_ref(status.index.ref)}" if status.index.ref else ""
    tree = " with edits" if status.index.dirty else ""
    rows: list[Line | Row] = [BLANK, head(f"index {status.index.generation:,}", f"{ref}{tree}".strip())]
    rows.append(
        note(f"  {plural(status.files, 'file')}, {plural(status.symbols, 'symbol')}, {plural(edges, 'edge')}", "text")
    )
    tiers = [f"{status.calls_by_tier[name]:,} {word}" for name, word in _TIERS if status.calls_by_tier.get(name)]
    if tiers:
        rows.append(note(f"  calls: {', '.join(tiers)}", "text"))
    digest = f", facts {status.facts_hash[:8]}" if status.facts_hash else ""
    rows.append(note(f"  {size(status.bytes_on_disk)} on disk{digest}", "muted"))
    return rows


_TIERS = (("certain", "certain"), ("hierarchy", "hierarchy"), ("candidate", "maybe"), ("unknown", "not resolved"))


# -- map and search ----------------------------------------------------------------------------------------------------


def map_sheet(answer: m.MapAnswer | None, width: int) -> Sheet:
    """Files that most of the repository leans on, each with the symbols it is known for."""
    if answer is None:
        return Sheet(teach("The map of the repository comes with its index.", width=width - 4), title_right="?")
    if not answer.rows:
        return Sheet(teach("Nothing to map: no file has symbols.", "8 says what was indexed.", width=width - 4))
    things: dict[str, Thing] = {}
    lines: list[Line | Row] = []
    for row in answer.rows:
        lines += _map_rows(row, things)
    total = len(answer.rows) + answer.boundary.omitted
    if answer.boundary.omitted:
        lines.append(note(f"+{answer.boundary.omitted:,} files hidden: / searches all"))
    right = f"{len(answer.rows):,} of {total:,} files" if answer.boundary.omitted else plural(total, "file")
    return Sheet(Lines(lines), things, title_right=right)


def _map_rows(row: m.MapRow, things: dict[str, Thing]) -> list[Row]:
    key = f"file:{row.path}"
    things[key] = row
    folder, slash, base = clean(row.path).rpartition("/")
    cells = (Cell(f"{folder}{slash}", "muted", False, "path"), Cell(base, "text", True, "head"))
    words = (clean(row.path), f"{clean(row.language)}, {plural(row.symbols, 'symbol')}")
    rows = [Row(key, cells, (Cell(f"{row.symbols:,}", "muted"),), words=words, copy=clean(row.path))]
    for node in row.top[:3]:
        inner = f"{key}:{node.id}"
        things[inner] = node
        about = clean(node.signature or node.doc)
        mine = (Cell("  "), *name_cells(node, with_path=False))
        rows.append(Row(inner, mine, words=(describe(node), about), copy=clean(node.locator)))
    return rows


def search_sheet(answer: m.SearchAnswer | None, kind: str, took_ms: float, width: int) -> Sheet:
    """Search results, best first; the title says how many there are and what is looked for."""
    kinds = f"kind: {kind or 'all'} (tab)"
    if answer is None:
        text = "Type a name, a part of one, or words of its documentation."
        return Sheet(
            teach(text, "tab changes the kind, enter opens, esc goes back.", width=width - 4), title_note=kinds
        )
    if not answer.hits:
        gated = f" {answer.boundary.gated:,} results are gated." if answer.boundary.gated else ""
        text = f"Nothing answers to “{clean(answer.query)}”.{gated}"
        how = "tab looks at all kinds. 8 says what was not indexed." if kind else "8 says what was not indexed."
        return Sheet(teach(text, how, width=width - 4), title_note=kinds, title_right="0")
    things: dict[str, Thing] = {}
    rows = []
    for hit in answer.hits:
        key = f"hit:{hit.node.id}"
        things[key] = hit.node
        rows.append(_hit_row(key, hit))
    rest = answer.total - len(answer.hits)
    if rest > 0:
        rows.append(note(f"+{rest:,} hidden: type more of the name"))
    right = f"{len(answer.hits):,} of {answer.total:,}, {took_ms:.0f} ms"
    return Sheet(Lines(rows), things, title_note=kinds, title_right=right)


def _hit_row(key: str, hit: m.Hit) -> Row:
    node = hit.node
    folder, slash, base = clean(node.path).rpartition("/") if node.type == "symbol" else ("", "", "")
    line = f":{node.line}" if node.line else ""
    right = (Cell(f"{folder}{slash}", "muted", False, "path"), Cell(f"{base}{line}", "muted", False, "drop"))
    words = (describe(node), clean(node.signature or node.doc))
    return Row(
        key,
        name_cells(node, hit.freshness, with_path=False),
        right if base else (),
        words=words,
        copy=clean(node.locator),
    )


def candidates_sheet(target: str, candidates: Sequence[str], width: int) -> Sheet:
    """The nodes that answer to an ambiguous name, as rows to choose from."""
    rows = [
        Row(f"at:{c}", (Cell(clean(c), "text", False, "head"),), words=(clean(c),), copy=clean(c)) for c in candidates
    ]
    things: dict[str, Thing] = {f"at:{c}": c for c in candidates}
    lines = [note(f"{plural(len(rows), 'node')} answer to “{clean(target)}”", "text"), *rows]
    return Sheet(Lines(lines), things, title_note="which one?", title_right=f"{len(rows):,}")
