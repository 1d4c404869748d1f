"""The panels of the page, one function each: the answers of the engine as markup, with their sense in a sentence.

Who calls: ``render.py``, in the order of ``PANELS``. What may not come in: questions to the workspace, scripts. Every panel
has an empty state that says what would be there, and says how many rows it left out. docs/page.md has their queries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from mog.app.page import draw
from mog.app.page.facts import Facts
from mog.app.page.graphs import beliefs, code
from mog.app.page.markup import hidden, isolated, said, table, tag, teach
from mog.app.plain import listing, plural, size
from mog.app.present_ledger import row as event_row
from mog.engine.model import Freshness, PinState
from mog.engine.reason.dead_ends import REMEDIES, Reason
from mog.engine.reason.drift import Drift
from mog.engine.reason.survey import Tie
from mog.engine.reason.walker import HOP_BUDGET

STANDINGS = ("standing", "weakened", "contested", "unverified", "fallen")
MARKS = {"standing": "●", "weakened": "▼", "contested": "≠", "unverified": "?", "fallen": "×"}
RETIRED = ("superseded", "retracted", "withdrawn", "pruned")
FRESH = {"fresh": ("=", "quiet"), "drifted": ("±", "stale"), "moved": ("→", "stale"), "missing": ("¬", "fallen"),
         "gated": ("░", "quiet"), "unknown": ("?", "unverified")}  # fmt: skip
SEVERE = {"error": ("×", "fallen"), "warn": ("▼", "weakened"), "info": ("·", "quiet")}
ROWS = 12
NUMBER = "number"
_BACK_TICKS = re.compile(r"`([^`<>]+)`")


def mark(glyph: str, role: str, words: str) -> str:
    """A mark with the words it stands for."""
    return tag("span", tag("i", glyph, aria_hidden="true") + " " + words, class_=f"state {role}")


# -- what there is


def counts(facts: Facts) -> str:
    """The header's numbers, each with what it is made of."""
    status, survey, walks = facts.status, facts.survey, facts.walks
    rate = f"{walks.resolved_rate:.0%} answered" if walks.resolved_rate is not None else "nothing asked yet"
    live, total = facts.health.nodes_live, survey.total()
    calls, tokens = sum(one.calls for one in facts.totals), sum(one.tokens for one in facts.totals)
    rows = [
        ("files", _known(facts, status.files), f"{status.health.gated:,} gated"),
        ("symbols", _known(facts, status.symbols), f"{plural(len(status.health.languages), 'language')}"),
        (
            "code links",
            _known(facts, sum(status.edges.values())),
            f"{status.calls_by_tier.get('unknown', 0):,} not resolved",
        ),
        ("beliefs", f"{live:,}", f"live, of {total:,}"),
        ("belief links", f"{facts.health.edges_live:,}", f"{_untyped(facts):,} untyped"),
        ("walks", f"{walks.walks:,}", rate),
        ("drifted", f"{facts.off:,}", f"of {plural(len(facts.pins) + len(facts.drifts), 'anchor')}"),
        ("events", f"{facts.ledger.head.seq if facts.ledger else 0:,}", "in the ledger"),
        ("agent calls", f"{calls:,}", f"{tokens:,} tokens"),
    ]
    return "".join(
        tag("div", tag("dt", name) + tag("dd", tag("b", number) + tag("span", more))) for name, number, more in rows
    )


def _untyped(facts: Facts) -> int:
    return sum(one.count for one in facts.health.signals if one.kind == "untyped_edges")


def _known(facts: Facts, count: int) -> str:
    return f"{count:,}" if facts.status.indexed else "?"


def build(facts: Facts) -> str:
    """Two paths: bytes into a code graph, prose into beliefs; what stands after each stage, and what was left behind."""
    return tag("div", _path("Code", _code_stages(facts)) + _path("Beliefs", _belief_stages(facts)), class_="paths")


Stage = tuple[str, str, int, str, int]  # name, what it does, what came through, what that is, what was left behind


def _path(name: str, stages: list[Stage]) -> str:
    steps = []
    for title, caption, count, unit, dropped in stages:
        share = count / (count + dropped) if count + dropped else 0.0
        drop = (
            tag("span", f"{dropped:,} left", class_="drop")
            if dropped
            else tag("span", "none left", class_="drop quiet")
        )
        inner = tag("b", title) + tag("strong", f"{count:,}") + tag("span", unit, class_="unit")
        inner += draw.bar(share, "walk", f"{count:,} kept, {dropped:,} left") + drop + tag("small", caption)
        steps.append(tag("li", inner))
    return tag("section", tag("h3", name) + tag("ol", "".join(steps), class_="path"), aria_label=f"{name}, by stage")


def _code_stages(facts: Facts) -> list[Stage]:
    status, health = facts.status, facts.status.health
    tiers = status.calls_by_tier
    sure = tiers.get("certain", 0) + tiers.get("hierarchy", 0)
    loose = tiers.get("candidate", 0) + tiers.get("unknown", 0)
    return [
        (
            "scan",
            "what git lists",
            max(0, health.seen - sum(health.skipped.values())),
            "files",
            sum(health.skipped.values()),
        ),
        ("gate", "secrets keep their names only", max(0, status.files - health.gated), "files readable", health.gated),
        (
            "extract",
            "definitions by grammar",
            max(0, status.files - health.text_only),
            "files parsed",
            health.text_only,
        ),
        ("symbols", "spans that can be bound", status.symbols, "symbols", health.gated_symbols),
        ("link", "calls that are certain", sure, "calls bound", loose),
        ("publish", f"generation {status.index.generation:,}", sum(status.edges.values()), "links", 0),
    ]


def _belief_stages(facts: Facts) -> list[Stage]:
    survey, signals = facts.survey, {one.kind: one.count for one in facts.health.signals}
    live = {
        type: sum(found.get(label, 0) for label in STANDINGS if label != "fallen")
        for type, found in survey.nodes.items()
    }
    gone = {type: sum(found.values()) - live[type] for type, found in survey.nodes.items()}
    indexed = live.get("claim", 0) + live.get("entity", 0)
    pruned = survey.total("pruned")
    return [
        ("chunk", "texts that were read", live.get("source", 0), "sources", gone.get("source", 0)),
        ("extract", "sentences that state something", live.get("claim", 0), "claims", gone.get("claim", 0)),
        ("resolve", "names into entities", live.get("entity", 0), "entities", signals.get("unresolved_entities", 0)),
        ("link", "typed edges, by GRAPH.md", sum(survey.edges.values()), "live edges", survey.dead_edges),
        ("embed", "words into the index", indexed, "texts", 0),
        ("prune", "what nothing linked", survey.total() - pruned, "nodes kept", pruned),
    ]


def standing(facts: Facts) -> str:
    """Type by label: how much of what was recorded still stands."""
    survey = facts.survey
    if not survey.total():
        return teach("Nothing is believed yet. Read prose, or say something:", "mog ingest docs/")
    heads = [("type", ""), *((f"{MARKS[name]} {name}", NUMBER) for name in STANDINGS), ("retired", NUMBER)]
    rows = []
    for type, found in sorted(survey.nodes.items(), key=lambda item: (-sum(item[1].values()), item[0])):
        retired = sum(found.get(how, 0) for how in RETIRED)
        cells = [tag("span", f"{found[name]:,}", class_=name) if found.get(name) else _zero() for name in STANDINGS]
        rows.append([said(type), *cells, f"{retired:,}" if retired else _zero()])
    return table(heads, rows, "What stands, by type")


def _zero() -> str:
    return tag("span", "0", class_="quiet")


# -- the graph


def graph(facts: Facts) -> str:
    """The picture of beliefs and that of the code; the script switches, filters and follows edges."""
    views = ""
    if facts.survey.spots:
        views += tag("div", beliefs(facts) + _graph_note(facts), class_="view scroll", id="view-beliefs", tabindex="0")
    else:
        empty = teach("No beliefs yet: the first assumption, claim or ingested text is drawn here.", "mog assume TEXT")
        views += tag("div", empty, class_="view", id="view-beliefs")
    if facts.map is not None and facts.map.rows:
        views += tag("div", code(facts), class_="view scroll", id="view-code", tabindex="0")
    else:
        views += tag("div", teach("There is no index yet.", "mog index"), class_="view", id="view-code")
    return views


def _graph_note(facts: Facts) -> str:
    survey = facts.survey
    left = sum(survey.hidden.values())
    words = [f"+{left:,} nodes hidden ({listing(survey.hidden)})"] if left else []
    words += [f"+{survey.ties_hidden:,} edges hidden"] if survey.ties_hidden else []
    return tag("p", "; ".join(words), class_="more") if words else ""


# -- what walks did


def hops(facts: Facts) -> str:
    """How long the paths of answers were, against the budget."""
    found = facts.walks.hop_histogram
    if not found:
        return teach("No question was answered yet.", "mog ask 'WORDS'")
    last = max(HOP_BUDGET, *found)
    bins = [(str(number), found.get(number, 0)) for number in range(min(last, 12) + 1)]
    longer = sum(count for number, count in found.items() if number > 12)
    bins += [("13+", longer)] if longer else []
    median = str(facts.walks.median_hops)
    spoken = ", ".join(f"{name}: {count:,}" for name, count in bins if count)
    asked = f"{facts.walks.resolved:,} of {plural(facts.walks.walks, 'walk')} found an answer."
    words = f"Median {median}. A path may take {HOP_BUDGET} hops; {asked}"
    return draw.columns(bins, median, f"Hops of answered walks: {spoken}") + tag("p", words, class_="note")


def cost(facts: Facts) -> str:
    """Tokens of answers beside tokens of the whole sources they came from: measured, both."""
    walks = facts.walks
    if not walks.tokens_read:
        return teach(
            "Nothing measured yet: an answer that comes from a source says what both would cost.", "mog ask 'WORDS'"
        )
    ratio = walks.tokens_read / max(1, walks.tokens_walked)
    rows = ""
    for words, tokens, role in (
        ("walked", walks.tokens_walked, "walk"),
        ("read whole", walks.tokens_read, "read-fill"),
    ):
        share = tokens / max(walks.tokens_read, walks.tokens_walked)
        rows += tag("dt", words) + tag(
            "dd", draw.bar(share, role, f"{tokens:,} tokens {words}") + tag("b", f"{tokens:,}")
        )
    times = (
        f"{ratio:.1f} times less" if ratio >= 1.05 else "no less" if ratio >= 0.95 else f"{1 / ratio:.1f} times more"
    )
    words = f"The answers took {tag('b', times)} than reading their sources would. Estimated tokens of texts that were there."
    note = tag("p", words, class_="note")
    series = ""
    if walks.costs:
        series = draw.two_lines(walks.costs, f"The last {plural(len(walks.costs), 'walk')}: tokens walked and read")
        legend = mark("●", "walk-ink", "walked") + mark(
            "●", "quiet", f"sources read whole; last {len(walks.costs)}, logarithmic"
        )
        series += tag("p", legend, class_="legend")
    return tag("dl", rows, class_="bars") + note + series


def dead_ends(facts: Facts) -> str:
    """The four reasons, all of them always, and the last questions that ended so."""
    found = facts.walks.dead_ends
    most = max([1, *found.values()])
    rows = ""
    for reason in Reason:
        count = found.get(reason, 0)
        head = tag("b", reason.replace("_", " ")) + tag(
            "span", f"{count:,}", class_=NUMBER if count else "number quiet"
        )
        rows += tag("li", head + draw.bar(count / most, "attn-fill", f"{count:,}") + tag("small", REMEDIES[reason]))
    asked = [(question, reason) for question, reason, _ in reversed(facts.walks.recent) if reason]
    asked = list(dict.fromkeys(asked))
    lines = "".join(
        tag("li", f"“{isolated(question, 90)}” {tag('small', said(reason.replace('_', ' ')))}")
        for question, reason in asked[:6]
    )
    last = tag("h3", "Asked in vain") + tag("ul", lines, class_="asked") + hidden(len(asked) - 6) if asked else ""
    return tag("ul", rows, class_="reasons") + last


def edges(facts: Facts) -> str:
    """Every edge type in use: its layer, how many, how often walked."""
    live = Counter(dict(facts.survey.edges)) + Counter(
        {kind: count for kind, count in facts.status.edges.items() if count}
    )
    walked, types = facts.walks.traversals, facts.ontology.edge_types
    used = [kind for kind in types if live.get(kind) or walked.get(kind)]
    if not used:
        return teach("No edge of any type yet.", "mog index")
    most = max([1, *(walked.get(kind, 0) for kind in used)])
    used.sort(key=lambda kind: (-walked.get(kind, 0), -live.get(kind, 0), kind))
    rows = []
    for kind in used:
        count, row = walked.get(kind, 0), types[kind]
        fall = tag("span", row.invalidation, class_="quiet" if row.invalidation == "none" else "")
        picture = draw.bar(count / most, "walk", f"{count:,} traversals")
        numbers = f"{live.get(kind, 0):,}", f"{count:,}" if count else _zero()
        rows.append([f"<code>{said(kind, 40)}</code>", row.layer, fall, *numbers, picture])
    heads = (("edge", ""), ("layer", ""), ("a fall travels", ""), ("edges", NUMBER), ("walked", NUMBER), ("", "wide"))
    idle = len(types) - len(used)
    note = tag(
        "p", f"{plural(idle, 'type')} of GRAPH.md not in use. Edges without a type: {_untyped(facts):,}.", class_="note"
    )
    return table(heads, rows, "Edge types and their traffic") + note


def traversals(facts: Facts) -> str:
    """A cell for each live edge between beliefs, darker the more it was walked."""
    grid = facts.survey.grid
    if not grid:
        return teach("Edges between beliefs are drawn here, one cell each.", "mog ingest docs/")
    names = {spot.id: spot.label for spot in facts.survey.spots}

    def words(tie: Tie) -> str:
        ends = (said(names.get(id, id[:10]), 48) for id in (tie.src, tie.dst))
        return f" {said(tie.kind, 40)} ".join(ends)

    cells = [(tie.walks, words(tie) if tie.walks else "") for tie in grid]
    kinds = Counter(tie.kind for tie in grid)
    walked = sum(1 for tie in grid if tie.walks)
    picture = draw.grid(cells, f"{plural(len(grid), 'edge')}, {walked:,} of them walked")
    steps = "".join(tag("span", tag("i", "", class_=f"swatch h{at}") + words) for at, words in
                    (("0", "never"), ("1", "once"), ("2", "2–4"), ("3", "5–16"), ("4", "more"), ("x", "not known")))  # fmt: skip
    order = tag(
        "p", "In this order: " + said(", ".join(f"{kind} {kinds[kind]:,}" for kind in kinds), 600), class_="note"
    )
    return (
        picture
        + tag("p", steps, class_="legend")
        + order
        + hidden(facts.survey.grid_hidden, "edges hidden, walked less than these")
    )


# -- what moved, what is recorded


def drift(facts: Facts) -> str:
    """Every anchor that is not as it was recorded, of pins and of beliefs."""
    found = [(one.freshness, one.pin.anchor.locator, one.pin.note, _why(one)) for one in facts.pins]
    found += [(one.freshness, one.anchor.anchor.locator, facts.names[one.target], _why(one)) for one in facts.drifts]
    if not found:
        return teach("Nothing is anchored to code yet. A pin drifts when the bytes under it do.", "mog pin PLACE NOTE")
    sums = Counter(one[0].value for one in found)
    chips = "".join(mark(*FRESH[name], f"{sums[name]:,} {name}") for name in FRESH if sums.get(name) or name == "fresh")
    off = sorted(
        (one for one in found if one[0] is not Freshness.fresh),
        key=lambda one: (list(FRESH).index(one[0].value), one[1]),
    )
    rows = ""
    for state, place, words, why in off[:ROWS]:
        where = f" <code>{said(place, 72)}</code> “{isolated(words, 110)}” "
        rows += tag("li", mark(*FRESH[state.value], state.value) + where + tag("small", said(why, 120)))
    return tag("p", chips, class_="chips") + tag("ul", rows, class_="rows") + hidden(len(off) - ROWS)


def _why(one: PinState | Drift) -> str:
    return f"now {one.now_at}" if one.freshness is Freshness.moved and one.now_at else one.reason


def ledger(facts: Facts) -> str:
    """Head, signature, witness, and the last events."""
    seen = facts.ledger
    if seen is None:
        return teach("No event is recorded yet.", "mog assume TEXT")
    signed = (
        f"signed up to event {seen.signature.checkpoint.size:,}"
        if seen.signature
        else "not signed yet: mog ledger checkpoint"
    )
    rows = [
        ("head", f"event {seen.head.seq:,} {tag('code', seen.head.digest[:16])}"),
        ("Merkle root", tag("code", seen.head.root[:16])),
        ("state root", tag("code", seen.head.state[:16])),
        ("signature", said(signed)),
        ("witness", said(seen.witness)),
    ]
    terms = "".join(tag("dt", name) + tag("dd", value) for name, value in rows)
    wrong = "".join(tag("p", mark("×", "fallen", said(problem, 300)), class_="note") for problem in seen.problems)
    items = []
    for event in facts.events:
        row = event_row(event)
        when, type = str(row["recorded_at"])[:16].replace("T", " "), said(str(row["type"]), 24)
        items.append([f"{row['seq']:,}", said(when), f"<code>{type}</code>", isolated(str(row["summary"]), 90)])
    listed = table((("event", NUMBER), ("recorded", "time"), ("type", ""), ("what", "")), items, "The last events")
    more = hidden(seen.head.seq - len(facts.events), "older events")
    note = tag("p", "<code>mog ledger verify</code> reads every event; this page did not.", class_="note")
    return tag("dl", terms, class_="terms") + wrong + listed + more + note


def health(facts: Facts) -> str:
    """Signals of the graph, worst first, and warnings of the scan."""
    rows = [
        [mark(*SEVERE["warn"], "warn"), isolated(text, 200), "", ""] for text in facts.status.health.warnings[:ROWS]
    ]
    order = ("error", "warn", "info")
    for one in sorted(facts.health.signals, key=lambda one: (order.index(one.severity), -one.count)):
        level = one.severity if one.count else "info"
        words = mark(*SEVERE[level], one.severity if one.count else "none")
        signal = tag("b", said(one.kind.replace("_", " "))) + " " + _typed(one.detail)
        rows.append([words, signal, f"{one.count:,}", _typed(one.remedy)])
    return table((("", ""), ("signal", ""), ("", NUMBER), ("what to do", "")), rows, "Signals")


def _typed(text: str) -> str:
    """A sentence of our own, with what is to be typed set off."""
    return _BACK_TICKS.sub(r"<code>\1</code>", said(text, 400))


def agents(facts: Facts) -> str:
    """What agents asked: sums by tool, and the last calls."""
    if not facts.totals:
        return teach("No agent has asked anything yet.", "mog mcp install")
    most = max([1, *(one.tokens for one in facts.totals)])
    sums = [
        [isolated(one.client, 24), f"<code>{said(one.tool, 40)}</code>", f"{one.calls:,}", f"{one.failed:,}" if one.failed else _zero(),
         f"{one.tokens:,}", f"{one.ms / max(1, one.calls):,.0f}", draw.bar(one.tokens / most, "walk", f"{one.tokens:,} tokens")]
        for one in facts.totals[:ROWS]
    ]  # fmt: skip
    heads = (
        ("client", ""),
        ("tool", ""),
        ("calls", NUMBER),
        ("failed", NUMBER),
        ("tokens", NUMBER),
        ("ms each", NUMBER),
        ("", "wide"),
    )
    lines = "".join(_call(one.at, one.tool, one.arguments, one.outcome, one.tokens) for one in facts.calls)
    more = hidden(sum(one.calls for one in facts.totals) - len(facts.calls), "older calls")
    last = tag("h3", "Last asked") + tag("ul", lines, class_="asked") + more
    return table(heads, sums, "Calls by tool") + hidden(len(facts.totals) - ROWS) + last


def _call(at: str, tool: str, arguments: Mapping[str, object], outcome: str, tokens: int) -> str:
    asked = next((value for value in arguments.values() if isinstance(value, str)), "")
    state = "" if outcome == "ok" else mark("×", "fallen", said(outcome, 40)) + " "
    words = f"{said(at[11:19])} <code>{said(tool, 40)}</code> {state}“{isolated(asked, 90)}” "
    return tag("li", words + tag("small", f"{tokens:,} tokens"))


Panel = tuple[str, str, str, Callable[[Facts], str], str, str]


def panels() -> Iterator[Panel]:
    """Every panel: id, title, its sense in a sentence, the function, the command that says the same, its width of twelve."""
    yield (
        "build",
        "Build path",
        "What each stage let through, and what it left behind",
        build,
        "mog status; mog health",
        "12",
    )
    yield "graph", "Graph", "What rests on what, and which code needs which", graph, "mog lineage; mog neighbors", "12"
    yield "hops", "Hop budget", "How long the paths to answers were", hops, "mog ask", "4"
    yield "cost", "Walked, not read", "What answers cost beside what they save", cost, "mog ask", "4"
    yield "dead-ends", "Dead ends", "Why a question had no answer", dead_ends, "mog health", "4"
    yield "edges", "Edge ledger", "Types of edges, and how often walks took them", edges, "mog health; mog status", "7"
    yield "traversals", "Traversal grid", "One cell an edge between beliefs", traversals, "mog ask", "5"
    yield "drift", "Drift", "Which bytes moved under what was said of them", drift, "mog verify; mog recheck", "6"
    yield "standing", "Standing", "How much of what was recorded still holds", standing, "mog health", "6"
    yield "ledger", "Ledger", "Where the record stands, and who vouches for it", ledger, "mog ledger verify", "6"
    yield "health", "Health", "What deserves a look", health, "mog health; mog doctor", "6"
    yield "agents", "Agents", "What was asked over the protocol, and what it cost", agents, "mog traffic", "12"


def stored(facts: Facts) -> str:
    """Size and hash of the index, in words."""
    status = facts.status
    return f"{size(status.bytes_on_disk)} of index, facts {status.facts_hash[:8]}" if status.indexed else "no index"
