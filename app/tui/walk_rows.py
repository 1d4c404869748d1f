"""A walk as rows: what was asked, the answer, how it was reached with the score of every step, and what was left aside.

Who calls: the pane of walks, the pane of dead ends for what it says in common. What may not come in: the toolkit, questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui import reason_rows
from mog.app.tui.reason_asks import Known, Told
from mog.app.tui.rows import Reason, Sheet, Thing, head, note, prose, quoted
from mog.engine.reason.dead_ends import REMEDIES
from mog.engine.reason.mend import ALIAS, ANSWER, EDGE, RESTORE, Mend
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.engine.reason.walks import Left, Seed, Step, Walk

NARROW = 60
HOW = {"named": "named", "code": "its name in the code", "words": "shares words"}


def clock(at: str) -> str:
    """``12:41`` of a time in ISO 8601."""
    return clean(at[11:16])


def score_cell(score: float) -> Cell:
    """``0.61  ``."""
    return Cell(f"{score:.2f}  ", "muted")


def dead_end_words(reason: str) -> str:
    """``no typed edge``."""
    return clean(reason).replace("_", " ")


def arrow(reverse: bool) -> str:
    """The line of an edge, head where it points: against the way that was walked, or along it."""
    return "←──" if reverse else "──→"


def walk_sheet(told: Told, width: int) -> Sheet:
    """A walk, or a dead end and why."""
    walk = told.walk
    things: dict[str, Thing] = {"asked": "asked"}
    lines: list[Line | Row] = [*_asked(told, width), BLANK]
    lines += _answer(walk, told.known, things) if walk.resolved else _nowhere(told, things, width)
    lines += _walked(walk, told.known, things, width)
    lines += _aside(walk, told, width)
    return Sheet(Lines(lines), things, title_right=_outcome(walk, width))


def _outcome(walk: Walk, width: int) -> str:
    if not walk.resolved:
        return f"dead end: {dead_end_words(walk.dead_end or '')}" if width >= NARROW else "dead end"
    short = plural(walk.hops, "hop")
    return f"answered, {short}, {plural(walk.tokens_walked, 'token')}" if width >= NARROW else short


def _asked(told: Told, width: int) -> list[Row]:
    who = Cell(f"{clean(told.by)} {clock(told.at)}".strip(), "muted", False, "drop")
    words = (f"asked: “{reason_rows.clip(told.walk.question)}”", "r asks it again, a asks another question")
    row = Row(
        "asked", quoted(reason_rows.clip(told.walk.question)), (who,), words=words, copy=clean(told.walk.question)
    )
    if not told.changed:
        return [row]
    said = "told another way when it was asked; this is the walk it takes now"
    return [row, *(Row("", (Cell("± ", "stale", True), *line.cells)) for line in prose(said, max(20, width - 6)))]


def _named(
    id: str, type: str, text: str, known: Known, lead: tuple[Cell, ...], right: str, key: str, also: str,
    things: dict[str, Thing],
) -> Row:  # fmt: skip
    """A record of a walk as a row; of one that is gone since, the words that were told."""
    things[key] = Reason(id, type, text)
    told = (Cell(right, "muted", False, "drop"),) if right else ()
    node = known.nodes.get(id)
    if node is not None and node.type == type:
        return reason_rows.row(key, node, known.label(id), lead=lead, right=told, also=also)
    cells = (*lead, *reason_rows.name_cells(type, text, known.label(id)))
    return Row(key, cells, told, words=(reason_rows.sentence(type, text), also), copy=clean(text))


def record_row(
    key: str, id: str, known: Known, lead: tuple[Cell, ...], things: dict[str, Thing], also: str = ""
) -> Row:
    """A record of which only the id is told."""
    node = known.nodes.get(id)
    if node is None:
        return note(f"{''.join(cell.text for cell in lead)}a record that is gone")
    things[key] = reason_rows.thing(node)
    return reason_rows.row(key, node, known.label(id), lead=lead, also=also)


def _answer(walk: Walk, known: Known, things: dict[str, Thing]) -> list[Line | Row]:
    answer = walk.answer_id or ""
    type = walk.path[-1].type
    right, also = f"score {walk.score:.2f}", "the answer; w says why it stands, i what is recorded"
    rows: list[Line | Row] = [_named(answer, type, walk.answer, known, (), right, "answer", also, things)]
    lead = (Cell("  contradicted by ", "attn"),)
    return rows + [record_row(f"against:{id}", id, known, lead, things, "nobody judged it yet") for id in walk.against]


def _nowhere(told: Told, things: dict[str, Thing], width: int) -> list[Line | Row]:
    walk = told.walk
    assert walk.dead_end is not None
    said = f"no answer: {dead_end_words(walk.dead_end)}"
    rows: list[Line | Row] = [Row("end", (Cell(said, "text", True, "tail"),), words=(said, REMEDIES[walk.dead_end]))]
    rows += prose(walk.detail, max(20, width - 4), limit=4)
    if walk.blocker:
        rows.append(record_row("blocker", walk.blocker, told.known, (Cell("in the way ", "attn"),), things))
    rows += prose(REMEDIES[walk.dead_end], max(20, width - 4), "muted", 3)
    return rows + mend_rows(told.mends, told.known, things)


def _walked(walk: Walk, known: Known, things: dict[str, Thing], width: int) -> list[Line | Row]:
    narrow = width < NARROW
    rows: list[Line | Row] = [BLANK, head("walked" if walk.resolved or not walk.path else "walked to the nearest")]
    start = walk.path[0].node if walk.path else ""
    rows += [_seed(seed, known, narrow, things) for seed in walk.seeds if seed.node == start or not start]
    rows += [_step(step, hop, known, narrow, things, walk) for hop, step in enumerate(walk.path[1:], 1)]
    others = [seed for seed in walk.seeds if start and seed.node != start]
    rows += [head("began also at")] if others else []
    rows += [_seed(seed, known, narrow, things) for seed in others]
    rows += [head("which rests on")] if walk.tail else []
    rows += [_step(step, hop, known, narrow, things, walk, "tail") for hop, step in enumerate(walk.tail, 1)]
    sources = [id for id in walk.evidence if id not in {step.node for step in walk.tail}]
    rows += [head("sources", f"{len(sources):,}")] if sources else []
    return rows + [record_row(f"source:{id}", id, known, (Cell("  "),), things) for id in sources]


def _seed(seed: Seed, known: Known, narrow: bool, things: dict[str, Thing]) -> Row:
    lead = () if narrow else (Cell("seed   ", "muted"),)
    name = reason_rows.clip(seed.mention, 60)
    right = "" if narrow else f"“{name}” {HOW.get(seed.how, '')}".strip() if name else HOW.get(seed.how, "")
    also = f"the walk began here: “{name}” in the question means it" if name else "it shares words with the question"
    key = f"seed:{seed.node}"
    return _named(seed.node, seed.type, seed.label, known, (*lead, score_cell(seed.score)), right, key, also, things)


def _step(
    step: Step, hop: int, known: Known, narrow: bool, things: dict[str, Thing], walk: Walk, part: str = "hop"
) -> Row:  # fmt: skip
    hops = Cell(f"{hop} " if narrow else f"{part if part == 'hop' else '   '} {hop:<3}", "muted")
    kind = "" if narrow else f"{clean(step.kind)[:12]} "
    score = score_cell(step.score) if part == "hop" else Cell("" if narrow else "      ")
    lead = (hops, score, Cell(f"{arrow(step.reverse)} ", "rule"), Cell(kind, "muted"))
    way = "against its direction" if step.reverse else "along it"
    also = f"reached by {clean(step.kind)}, read {way}" + (f", fits {step.score:.2f}" if part == "hop" else "")
    last = part == "hop" and step.node == walk.answer_id
    right = "the answer" if last and not narrow else ""
    return _named(step.node, step.type, step.label, known, lead, right, f"{part}:{hop}:{step.node}", also, things)


def left_parts(left: Left) -> list[str]:
    """What was not taken, in words with exact counts; zero is left out."""
    named = (
        (left.pruned, "no longer count"),
        (left.wrong_type, "wrong type"),
        (left.unfit, "do not answer"),
        (left.second, "answer less well"),
        (left.crowded, "beside a hub"),
        (left.open, "not looked at"),
    )
    return [f"{count:,} {word}" for count, word in named if count]


def _aside(walk: Walk, told: Told, width: int) -> list[Line | Row]:
    room = max(20, width - 4)
    parts = left_parts(walk.left)
    left = walk.left
    total = left.pruned + left.wrong_type + left.unfit + left.second + left.crowded + left.open
    said = f"not taken {total:,}" + (f": {', '.join(parts)}" if parts else "")
    rows: list[Line | Row] = [BLANK, *prose(said, room, "text", 4)]
    rows.append(
        note(f"{walk.expanded:,} of {walk.budget:,} expanded" if walk.budget else f"{walk.expanded:,} expanded")
    )
    if walk.tokens_read:
        least = "at least " if walk.read_from == "claims" else ""
        said = f"{plural(walk.tokens_walked, 'token')} walked; its sources are {least}{walk.tokens_read:,}"
        rows += prose(said, room, "muted", 3)
    for one in walk.notes:
        first, *rest = prose(one.text, max(16, room - 2), "text", 4) or [BLANK]
        rows += [
            Row("", (Cell("▼ ", "weakened", True), *first.cells)),
            *(Row("", (Cell("  "), *r.cells)) for r in rest),
        ]
    return rows


# -- what might be missing


def mend_rows(mends: Sequence[Mend], known: Known, things: dict[str, Thing], key: str = "mend") -> list[Line | Row]:
    """Proposals, each a row: ``a`` records it."""
    rows: list[Line | Row] = []
    for number, one in enumerate(mends):
        name = f"{key}:{number}"
        things[name] = one
        said = mend_words(one, known)
        cells = (Cell("+ ", "key", True), Cell(said, "text", False, "tail"))
        rows.append(
            Row(name, cells, words=(f"proposal: {said}", "a records it; nothing is recorded unasked"), copy=said)
        )
    return rows


def mend_words(one: Mend, known: Known) -> str:
    """A proposal in a sentence."""
    target = named_in_words(one.target, known)
    name = reason_rows.clip(one.name, 60)
    if one.kind == ALIAS:
        return f"learn that “{name}” means {target} ({one.score:.2f} alike)"
    if one.kind == EDGE:
        return f"link {named_in_words(one.source, known)} ── {clean(one.edge)} ──→ {target}"
    if one.kind == RESTORE:
        return f"let {target} count again"
    assert one.kind == ANSWER, one.kind
    about = target or (f"“{name}”" if name else "")
    return "say what answers it" + (f", a claim that mentions {about}" if about else ", as a claim of yours")


def named_in_words(id: str, known: Known) -> str:
    """``(E) Label Printer``; "" for none."""
    node = known.nodes.get(id)
    if node is None:
        return "a record that is gone" if id else ""
    return f"{reason_rows.chip_of(node.type)} {reason_rows.clip(node.label, 60)}"
