"""Plain text twins: any record of ``engine/model.py`` as lines a person reads, each line a tuple of (text, role) spans.

Who calls: ``app/cli/output.py`` joins the spans (and may colour them by role); a pane's text twin does the same.
What may not come in: escape sequences, widths of a terminal, questions to the workspace. All text is cleaned.

Roles: "" plain · ``chip`` node kind · ``name`` · ``muted`` · ``state`` freshness · ``attn`` something to look at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from mog.app.present import Block, clean
from mog.engine import model as m

Span = tuple[str, str]
Line = tuple[Span, ...]

CHIPS = {"function": "f", "class": "c", "method": "m", "const": "k", "field": "d", "test": "t", "config_key": "g"}


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Marks of one character set; tiers and freshness by name."""

    tiers: Mapping[str, str]
    states: Mapping[str, str]
    into: str
    out: str
    focus: str
    quote: tuple[str, str]
    ellipsis: str


UNICODE = Glyphs(
    tiers={"certain": "──", "hierarchy": "══", "candidate": "··", "unknown": "··"},
    states={"fresh": "=", "drifted": "±", "moved": "→", "missing": "¬", "gated": "░", "unknown": "?"},
    into="←",
    out="→",
    focus="■",
    quote=("“", "”"),
    ellipsis="…",
)
ASCII = Glyphs(
    tiers={"certain": "--", "hierarchy": "==", "candidate": "..", "unknown": ".."},
    states={"fresh": "=", "drifted": "%", "moved": ">", "missing": "_", "gated": "#", "unknown": "?"},
    into="<",
    out=">",
    focus="#",
    quote=('"', '"'),
    ellipsis="...",
)
SEEDS = 12
TIER_WORDS = {"certain": "", "hierarchy": "by base", "candidate": "maybe", "unknown": "not resolved"}


def as_lines(record: object, glyphs: Glyphs = UNICODE) -> list[Line]:
    """A record as lines, safe to print.

    Raises:
        TypeError: the record has no plain form.
    """
    shape = _LINES.get(type(record))
    if shape is None:
        raise TypeError(f"no plain form for {type(record).__name__}")
    return [safe(line) for line in shape(record, glyphs)]


def safe(line: Line) -> Line:
    """The same line with every span cleaned; the tabs of a ``Block`` are its own."""
    return tuple((Block(clean(text, keep="\t")) if isinstance(text, Block) else clean(text), role) for text, role in line)


def text_of(line: Line) -> str:
    """The line without its roles."""
    return "".join(text for text, _ in line).rstrip()


def chip(node: m.Node) -> str:
    """Kind of a node in three cells: ``[f]`` function, ``[F]`` file, ``<?>`` not bound."""
    if node.type == "unresolved":
        return "<?>"
    if node.type == "entity":
        return "[E]"
    if node.type in ("file", "container"):
        return f"[{'F' if node.type == 'file' else 'R'}]"
    return f"[{CHIPS.get(node.kind, 's')}]"


def place(node: m.Node) -> str:
    """``path:line-end`` of a node; "" where it has none."""
    if not node.path:
        return ""
    if node.line and node.end_line > node.line:
        return f"{node.path}:{node.line}-{node.end_line}"
    return f"{node.path}:{node.line}" if node.line else node.path


def plural(count: int, one: str, many: str = "") -> str:
    """``1 file``, ``2 files``, ``1,234 files``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def listing(counts: Mapping[str, int]) -> str:
    """``python 12, text 3``: largest first, names as tie-breakers."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {count:,}" for name, count in ordered)


def size(count: int) -> str:
    """Bytes in the unit a person would choose (powers of 1000)."""
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count} B"


def _named(node: m.Node, glyphs: Glyphs, freshness: m.Freshness = m.Freshness.fresh) -> Line:
    """``[m] Cart.total ± drifted  shop/cart.py:41-67``; fresh is the state nobody needs to read."""
    name = node.qual or node.path or node.name
    spans: list[Span] = [(chip(node), "chip"), (f" {name}", "name")]
    if node.gated:
        spans.append((f" {glyphs.states['gated']} gated", "state"))
    elif freshness not in (m.Freshness.fresh, m.Freshness.unknown):
        spans.append((f" {glyphs.states[freshness.value]} {freshness.value}", "state"))
    if node.type == "symbol":
        spans.append((f"  {place(node)}", "muted"))
    elif node.type == "entity":
        spans.append((f"  {node.signature}", "muted"))
    return tuple(spans)


def _node(node: m.Node, glyphs: Glyphs) -> list[Line]:
    return [_named(node, glyphs)]


def _hit(hit: m.Hit, glyphs: Glyphs) -> list[Line]:
    lines = [_named(hit.node, glyphs, hit.freshness)]
    if hit.node.signature:
        lines.append((("    " + _short(hit.node.signature, 110, glyphs), "muted"),))
    return lines


def _short(text: str, width: int, glyphs: Glyphs) -> str:
    return text if len(text) <= width else text[: width - len(glyphs.ellipsis)] + glyphs.ellipsis


def _boundary(boundary: m.Boundary, glyphs: Glyphs) -> list[Line]:
    """What the answer does not show; nothing when it shows all."""
    parts = []
    if boundary.omitted:
        parts.append(f"{boundary.omitted:,} omitted by --limit")
    if boundary.maybe:
        parts.append(f"{boundary.maybe:,} maybe (lower tiers)")
    if boundary.unknown:
        parts.append(f"{plural(boundary.unknown, 'site')} with a receiver that is not known")
    if boundary.capped:
        parts.append(f"{plural(boundary.capped, 'call site')} with too many candidates to draw")
    if boundary.gated:
        parts.append(f"{boundary.gated:,} gated")
    lines: list[Line] = [(("not shown: " + ", ".join(parts), "attn"),)] if parts else []
    return lines + [((f"note: {note}", "attn"),) for note in boundary.notes]


def _stamp(stamp: m.IndexStamp, glyphs: Glyphs) -> list[Line]:
    if not stamp.generation:
        return [(("no index yet: run `mog index`", "attn"),)]
    where = f" on {stamp.ref}" if stamp.ref else ""
    tree = ", with changes that are not committed" if stamp.dirty else ""
    unread: list[Line] = [((f"the first index is not whole yet: {stamp.unread:,} files not read", "attn"),)] if stamp.unread else []
    return [((f"index {stamp.generation}{where}{tree}", "muted"),), *unread]


def _search(answer: m.SearchAnswer, glyphs: Glyphs) -> list[Line]:
    lines = [line for hit in answer.hits for line in _hit(hit, glyphs)]
    left, right = glyphs.quote
    count = f"{len(answer.hits)} of {answer.total:,}" if answer.hits else "nothing"
    foot: Line = ((f"{count} for {left}{answer.query}{right}", "muted"),)
    return [*lines, foot, *_boundary(answer.boundary, glyphs), *_stamp(answer.index, glyphs)]


def _edge(edge: m.Edge, glyphs: Glyphs) -> list[Line]:
    bar = glyphs.tiers[edge.tier.name]
    arrow = f"{bar}{glyphs.out}" if edge.outgoing else f"{glyphs.into}{bar}"
    spans: list[Span] = [(f"  {edge.kind:<11.11} ", "muted"), (f"{arrow} ", "muted")]
    spans.extend(_named(edge.other, glyphs, edge.freshness))
    word = TIER_WORDS[edge.tier.name]
    if edge.other.type == "unresolved" and edge.count > 1:
        spans.append((f"  {edge.count:,} times", "muted"))
    if word:
        spans.append((f"  {word}", "attn"))
    if edge.known_by:
        spans.append((f"  {edge.known_by}", "muted"))
    return [tuple(spans)]


def _side(word: str, totals: Mapping[tuple[str, m.Tier], int], edges: Iterable[m.Edge], glyphs: Glyphs) -> list[Line]:
    tiers: dict[str, int] = {}
    for (_, tier), count in sorted(totals.items(), key=lambda item: item[0][1]):
        tiers[tier.name] = tiers.get(tier.name, 0) + count
    words = {"candidate": "maybe", "unknown": "not resolved"}
    parts = "  ".join(f"{count:,} {words.get(tier, tier)}" for tier, count in tiers.items())
    head: Line = ((f"{word} {sum(tiers.values()):,}", "name"), (f"   {parts}" if parts else "", "muted"))
    return [head, *(line for edge in edges for line in _edge(edge, glyphs))]


def _neighborhood(answer: m.Neighborhood, glyphs: Glyphs) -> list[Line]:
    node = answer.node
    lines: list[Line] = [((f"{glyphs.focus} ", "name"), *_named(node, glyphs, answer.freshness))]
    lines += [((f"  {text}", "muted"),) for text in (node.signature, node.doc) if text]
    lines.append(((f"  id {node.id}  {node.locator}", "muted"),))
    lines += _side("in", answer.totals_in, answer.edges_in, glyphs)
    lines += _side("out", answer.totals_out, answer.edges_out, glyphs)
    if answer.pins:
        lines.append(((f"pinned {len(answer.pins)}", "name"),))
        lines += [line for state in answer.pins for line in _pin_state(state, glyphs)]
    lines += _along(answer.co_changed, answer.history, glyphs)
    return [*lines, *_boundary(answer.boundary, glyphs), *_stamp(answer.index, glyphs)]


def _along(files: Iterable[m.CoChanged], history: str, glyphs: Glyphs) -> list[Line]:
    """What changed in the same commits, and how far the history reaches."""
    lines = [line for one in files for line in _co_changed(one, glyphs)]
    head: list[Line] = [(("changed together", "name"), (f"   {history}", "muted"))] if lines else []
    return [*head, *lines] if lines or not history else [((history, "muted"),)]


def _co_changed(one: m.CoChanged, glyphs: Glyphs) -> list[Line]:
    return [((f"  {one.together:>3} of {one.commits:<4}", "muted"), (f" {one.path}", "name"))]


def _use(one: m.Named, glyphs: Glyphs) -> list[Line]:
    return [((f"  {one.count:>3} in ", "muted"), *_named(one.node, glyphs))]


def _reached(item: m.Reached, glyphs: Glyphs) -> list[Line]:
    bar = glyphs.tiers[item.tier.name]
    spans: list[Span] = [(f"  {item.depth:>2} ", "muted"), *_named(item.node, glyphs, item.freshness)]
    if item.via is not None and item.depth > 1:
        spans.append((f"  {glyphs.into}{bar} {item.kind} {item.via.qual or item.via.name or item.via.path}", "muted"))
    elif item.kind:
        spans.append((f"  {item.kind}", "muted"))
    return [tuple(spans)]


def _impact(answer: m.ImpactAnswer, glyphs: Glyphs) -> list[Line]:
    seeds = answer.seeds or (answer.seed,)
    lines: list[Line] = [((f"{glyphs.focus} ", "name"), *_named(seed, glyphs)) for seed in seeds[:SEEDS]]
    if len(seeds) > SEEDS:
        lines.append(((f"  and {plural(len(seeds) - SEEDS, 'more seed')}", "muted"),))
    hops = "  ".join(f"hop {hop}: {count:,}" for hop, count in enumerate(answer.per_depth, start=1))
    total = f"{plural(answer.total, 'node')} in {plural(answer.files, 'file')} may deserve a look"
    lines.append(((f"  {total}", "name"), (f"   {hops}" if hops else "", "muted")))
    lines += [line for item in answer.reached for line in _reached(item, glyphs)]
    lines += [*_tests(answer, glyphs), *_surfaces_of(answer, glyphs)]
    if answer.named:
        lines.append(((f"used by name at {plural(answer.named_total, 'site')}", "name"),))
        lines += [line for one in answer.named for line in _use(one, glyphs)]
    if answer.importers_total:
        through = f"   {answer.importers_all:,} through others too" if answer.importers_all > answer.importers_total else ""
        lines.append(((f"imported by {plural(answer.importers_total, 'file')}", "name"), (through, "muted")))
        lines += [(("     ", ""), *_named(node, glyphs)) for node in answer.importers]
    lines += _along(answer.co_changed, answer.history, glyphs)
    if answer.maybe_total:
        lines.append(((f"{plural(answer.maybe_total, 'more node')} by links that are not certain (--maybe)", "attn"),))
    if answer.next:
        lines.append(((f"more: --after {answer.next}", "muted"),))
    return [*lines, *_boundary(answer.boundary, glyphs), *_stamp(answer.index, glyphs)]


def _tests(answer: m.ImpactAnswer, glyphs: Glyphs) -> list[Line]:
    if not answer.tests_total:
        return []
    shown = f", {len(answer.tests)} shown" if len(answer.tests) < answer.tests_total else ""
    files = f"   in {plural(answer.test_files_total, 'file')}" if answer.test_files_total else ""
    head: Line = ((f"tests {answer.tests_total:,}{shown}", "name"), (files, "muted"))
    return [head, *((("     ", ""), *_named(node, glyphs)) for node in answer.tests)]


def _surfaces_of(answer: m.ImpactAnswer, glyphs: Glyphs) -> list[Line]:
    """Routes, pages, jobs, … that a change reaches."""
    if not answer.surfaces_by_role:
        return []
    head: Line = ((f"surfaces {sum(answer.surfaces_by_role.values()):,}", "name"), (f"   {listing(answer.surfaces_by_role)}", "muted"))
    return [head, *((("     ", ""), *_named(node, glyphs)) for node in answer.surfaces)]


def _surface(row: m.Surface, glyphs: Glyphs) -> list[Line]:
    behind = row.behind[0] if row.behind else None
    named = f"{behind.qual}  {place(behind)}" if behind is not None and behind.qual else ", ".join(row.files[:2])
    more = f" and {row.behind_total - 1} more" if row.behind_total > 1 else ""
    used = f"   {listing(row.used)}" if row.used else ""
    return [((f"{row.node.signature:<10} ", "chip"), (row.node.name, "name"), (f"  {named}{more}{used}", "muted"))]


def _pack(one: m.PackState, glyphs: Glyphs) -> list[Line]:
    why = f", named in {one.manifest}" if one.manifest else ""
    unread = f", {one.unread:,} not read" if one.unread else ""
    return [((f"  {one.title}: {one.found:,} in {plural(one.files, 'file')}{unread}{why}", "muted"),)]


def _contracts(answer: m.ContractsAnswer, glyphs: Glyphs) -> list[Line]:
    lines = [line for row in answer.rows for line in _surface(row, glyphs)]
    lines.append(((f"{plural(answer.total, 'surface')}", "name"), (f"   {listing(answer.by_role)}", "muted")))
    lines += [line for one in answer.packs for line in _pack(one, glyphs)]
    if answer.next:
        lines.append(((f"more: --after {answer.next}", "muted"),))
    return [*lines, *_boundary(answer.boundary, glyphs), *_stamp(answer.index, glyphs)]


def _pin(pin: m.Pin, glyphs: Glyphs) -> list[Line]:
    left, right = glyphs.quote
    return [((f"{pin.id}  ", "muted"), (pin.anchor.locator, "name"), (f"  {left}{pin.note}{right}", ""))]


def _pin_state(state: m.PinState, glyphs: Glyphs) -> list[Line]:
    mark: Span = (f"{glyphs.states[state.freshness.value]} {state.freshness.value:<8}", "state")
    lines: list[Line] = [(mark, *_pin(state.pin, glyphs)[0])]
    if state.reason and state.freshness is not m.Freshness.fresh:
        now = f", now at {state.now_at}" if state.now_at and state.now_at != state.pin.anchor.locator else ""
        lines.append(((f"    {state.reason}{now}", "muted"),))
    return lines


def _verify(report: m.VerifyReport, glyphs: Glyphs) -> list[Line]:
    off = [state for state in report.states if state.freshness is not m.Freshness.fresh]
    lines = [line for state in off for line in _pin_state(state, glyphs)]
    counts = {name: getattr(report, name) for name in ("fresh", "drifted", "moved", "missing", "unknown")}
    parts = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count or name == "fresh")
    fixed = f", {report.fixed:,} re-anchored" if report.fixed else ""
    rate = f"  drift rate {report.drift_rate:.1%}" if report.checked else ""
    foot: Line = ((f"{plural(report.checked, 'anchor')} checked: {parts}{fixed}", "name"), (rate, "muted"))
    return [*lines, foot, *_stamp(report.index, glyphs)]


def _health(health: m.ScanHealth, glyphs: Glyphs) -> list[Line]:
    """The honest account: what has no symbols, what was skipped and why, what is withheld, what warns."""
    lines: list[Line] = [((f"languages  {listing(health.languages) or 'none'}", "muted"),)]
    if health.text_only:
        lines.append(((f"text only  {plural(health.text_only, 'file')}", "muted"),))
        lines += [((f"           {count:,} {reason}", "attn"),) for reason, count in health.no_symbols.items()]
    for reason, count in sorted(health.skipped.items(), key=lambda item: (-item[1], item[0])):
        examples = ", ".join(health.examples.get(reason, ())[:3])
        lines.append(((f"skipped    {count:,} {reason}", "attn"), (f"  {examples}" if examples else "", "muted")))
    if health.gated or health.gated_symbols:
        withheld = f"{plural(health.gated, 'file')}, {plural(health.gated_symbols, 'symbol')}"
        lines.append(((f"gated      {withheld}: names kept, bytes withheld", "attn"),))
    if health.problem_count:
        lines.append(((f"problems   {plural(health.problem_count, 'file')} parsed in part", "attn"),))
        shown = list(health.problems.items())[:5]
        lines += [((f"           {path}: {reason}", "muted"),) for path, reason in shown]
    if not health.git:
        lines.append((("no git here: the folder was walked", "attn"),))
    if health.scip is not None:
        lines += _scip(health.scip, glyphs)
    return lines + [((f"warning    {text}", "attn"),) for text in health.warnings]


_UNUSED = {
    "written_later": "files were written after the index: make it anew",
    "other_bytes": "files hold other bytes than were indexed: make it anew",
    "not_indexed": "documents are no source files of this index",
    "unreadable": "documents cannot be read",
}


def _scip(scip: m.ScipHealth, glyphs: Glyphs) -> list[Line]:
    """What SCIP indexes give, what of them is not used and why, what could not be read."""
    used, total = scip.documents.get("used", 0), sum(scip.documents.values())
    said = f"{used:,} of {plural(total, 'document')} used, {scip.edges:,} edges, {scip.dropped:,} of ours replaced"
    lines: list[Line] = [((f"scip       {', '.join(scip.indexes)}", "muted"),), ((f"           {said}", "muted"),)]
    for state, sentence in _UNUSED.items():
        if scip.documents.get(state):
            shown = ", ".join(scip.examples.get(state, ()))
            lines.append(((f"           {scip.documents[state]:,} {sentence}", "attn"), (f"  {shown}", "muted")))
    return lines + [((f"           {count:,} {what}", "attn"),) for what, count in list(scip.problems.items())[:5]]


def _scip_export(made: m.ScipExport, glyphs: Glyphs) -> list[Line]:
    """What is in a written index, and what could not be placed in it."""
    places = f"{made.definitions:,} definitions, {made.calls:,} calls, {made.references:,} references"
    lines: list[Line] = [((f"{made.documents:,} documents, {made.symbols:,} symbols, {places}", "muted"),)]
    if made.unplaced:
        lines.append(((f"{made.unplaced:,} calls and references left out: they may stand in several places", "attn"),))
    if made.changed:
        lines.append(((f"{made.changed:,} files changed since they were indexed: no places, run `mog index`", "attn"),))
    return lines


def _graph_counts(files: int, symbols: int, edges: Mapping[str, int], tiers: Mapping[str, int]) -> list[Line]:
    lines: list[Line] = [((f"{plural(files, 'file')}, {plural(symbols, 'symbol')}", "name"),)]
    lines.append(((f"edges      {listing(edges) or 'none'}", "muted"),))
    words = {"candidate": "maybe", "unknown": "not resolved"}
    parts = ", ".join(f"{tiers[name]:,} {words.get(name, name)}" for name in m.Tier.__members__ if tiers.get(name))
    return lines + ([((f"calls      {parts}", "muted"),)] if parts else [])


def _index_report(report: m.IndexReport, glyphs: Glyphs) -> list[Line]:
    lines = _graph_counts(report.files, report.symbols, report.edges, report.calls_by_tier)
    lines += _health(report.health, glyphs)
    did = f"{report.parsed:,} parsed, {report.relinked:,} linked" if report.changed else "nothing changed"
    took = f"{report.seconds:.2f} s, {report.cpu_seconds:.2f} CPU-s"
    lines.append(((f"index {report.generation}: {did}, {took}, facts {report.facts_hash[:12]}", "muted"),))
    return lines


def _age(seconds: float) -> str:
    for unit, step in (("d", 86400.0), ("h", 3600.0), ("min", 60.0)):
        if seconds >= step:
            return f"{seconds / step:.0f} {unit}"
    return f"{seconds:.0f} s"


def _status(status: m.Status, glyphs: Glyphs) -> list[Line]:
    lines: list[Line] = [((status.root, "name"),)]
    if not status.indexed:
        return [*lines, *_stamp(m.IndexStamp(0, "", False), glyphs)]
    lines += _graph_counts(status.files, status.symbols, status.edges, status.calls_by_tier)
    lines += _health(status.health, glyphs)
    unread = "not read yet: the first index is being built, or was not finished"
    why = unread if status.index.unread else "changed since: run `mog index`"
    pending = f"{plural(status.pending, 'file')} {why}" if status.pending else "up to date"
    lines.append(((f"index      {pending}", "attn" if status.pending else "muted"),))
    parts = f"{plural(status.pins, 'pin')}, {size(status.bytes_on_disk)} on disk, {_age(status.age_seconds)} old"
    lines.append(((f"store      {parts}, watcher {status.watcher}", "muted"),))
    return [*lines, *_stamp(status.index, glyphs)]


def _map_row(row: m.MapRow, glyphs: Glyphs) -> list[Line]:
    lines: list[Line] = [(("[F]", "chip"), (f" {row.path}", "name"), (f"  {plural(row.symbols, 'symbol')}", "muted"))]
    if row.past is not None:
        lines[0] = (*lines[0], (f"  {_changed_by(row.past.commits, row.past.authors, row.past.last)}", "muted"))
    return lines + [(("    ", ""), *_named(node, glyphs)) for node in row.top]


def _changed_by(commits: int, authors: int, last: str) -> str:
    return f"{plural(commits, 'commit')} by {plural(authors, 'author')}, last {last}" if commits else "no commit known"


def _written_along(one: m.Along, glyphs: Glyphs) -> list[Line]:
    return [((f"  {one.together:>3} of {one.commits:<4}", "muted"), (f" {one.path}", ""), (f"  {one.qual}", "name"))]


def _past(past: m.Past, glyphs: Glyphs) -> list[Line]:
    """What the history says, in three lines and a list."""
    if not past.commits and not past.line_commits:
        return [((past.said, "muted"),), *(((note, "muted"),) for note in past.notes)]
    when = f", first {past.first}, {past.lately} in the latest 90 days" if past.first else ""
    lines: list[Line] = [(("history", "name"), (f"   {_changed_by(past.commits, past.authors, past.last)}{when}", ""))]
    if past.line_commits:
        lines.append((("  lines", "muted"), (f"   {_changed_by(past.line_commits, past.line_authors, past.line_last)}", "")))
    lines += [line for one in past.along for line in _written_along(one, glyphs)]
    return [*lines, *(((note, "muted"),) for note in (*past.notes, past.said) if note)]


def _map(answer: m.MapAnswer, glyphs: Glyphs) -> list[Line]:
    lines = [line for row in answer.rows for line in _map_row(row, glyphs)]
    told = next((row.past.said for row in answer.rows if row.past is not None), "")
    lines += [((told, "muted"),)] if told else []
    return [*lines, *_boundary(answer.boundary, glyphs), *_stamp(answer.index, glyphs)]


def _check(check: m.Check, glyphs: Glyphs) -> list[Line]:
    role = "muted" if check.state == "ok" else "attn"
    way_out = f"  {glyphs.out} {check.way_out}" if check.way_out else ""
    return [((f"{check.state:<9} ", role), (check.name, "name"), (f"  {check.detail}", ""), (way_out, "attn"))]


def _grammar(info: m.GrammarInfo, glyphs: Glyphs) -> list[Line]:
    what = "symbols" if info.loads and info.symbols else "text only"
    version = f" {info.version}" if info.version else ""
    spans: list[Span] = [(f"{info.language:<14} ", "name"), (f"{what:<10}", "" if what == "symbols" else "attn")]
    return [(*spans, (f"{info.provider}{version}  {plural(info.files, 'file')}", "muted"))]


def _progress(progress: m.Progress, glyphs: Glyphs) -> list[Line]:
    of = f" of {progress.total:,}" if progress.total else ""
    return [((f"{progress.stage} {progress.done:,}{of}", "muted"),)]


def _change(change: m.Change, glyphs: Glyphs) -> list[Line]:
    paths = f"  {', '.join(change.paths)}" if change.paths else ""
    return [((f"{change.kind} {change.generation}  {change.detail}{paths}", "muted"),)]


def _anchor(anchor: m.Anchor, glyphs: Glyphs) -> list[Line]:
    return [((f"{anchor.locator}  {anchor.span_hash[:12]}", "muted"),)]


_LINES: dict[type, Callable[[Any, Glyphs], list[Line]]] = {
    m.Node: _node,
    m.Edge: _edge,
    m.Boundary: _boundary,
    m.Hit: _hit,
    m.SearchAnswer: _search,
    m.Neighborhood: _neighborhood,
    m.CoChanged: _co_changed,
    m.Past: _past,
    m.Along: _written_along,
    m.Named: _use,
    m.Reached: _reached,
    m.ImpactAnswer: _impact,
    m.Anchor: _anchor,
    m.Pin: _pin,
    m.PinState: _pin_state,
    m.VerifyReport: _verify,
    m.ScanHealth: _health,
    m.ScipHealth: _scip,
    m.ScipExport: _scip_export,
    m.IndexReport: _index_report,
    m.Status: _status,
    m.MapRow: _map_row,
    m.MapAnswer: _map,
    m.Surface: _surface,
    m.ContractsAnswer: _contracts,
    m.PackState: _pack,
    m.Check: _check,
    m.GrammarInfo: _grammar,
    m.IndexStamp: _stamp,
    m.Progress: _progress,
    m.Change: _change,
}
