"""Rows of the drill: what there is to drill, a drill as it is asked, what came out. For the screen and its twin in plain text.

Who calls: ``panes/drill.py``. What may not come in: the toolkit, questions to the workspace, keys.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from mog.app.plain import plural
from mog.app.plain_drill_words import because, ground, letter, made, plain_repair, reasons, saved, tally
from mog.app.present import clean
from mog.app.tui.rows import Sheet, Thing, head, note, prose, teach
from mog.engine.drills.records import Outcome
from mog.widgets.fit import cut_tail, wrap
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.engine.drills.play import Game
    from mog.engine.drills.records import Choice, Choices, Drill, History, Named, Question, Rerun, Revealed, WeakSpots
    from mog.engine.drills.records import Row as Told
    from mog.engine.drills.repair import Suggestion

WIDE = 66
"""Cells from which on each outcome has a column of its own."""
MARKS = {Outcome.falls: ("×", "fallen"), Outcome.weakens: ("▼", "weakened"), Outcome.survives: ("●", "standing")}
RULES = "All of one answer scores 33 where all three occur; a blank counts as wrong."
COPY = "a copy; the store is not touched"
BRIEF, SHORT = 40, 30
_COLUMN, _LAST = 10, 4


def _named(found: Named, *, bold: bool = False) -> tuple[Cell, ...]:
    return Cell(f"{clean(letter(found))} ", "reason"), Cell(clean(found.text or found.id), "text", bold, "tail")


# -- what there is


def list_sheet(
    choices: Choices | None, history: History | None, weak: WeakSpots | None, problem: str, width: int
) -> Sheet:
    """Assumptions to drill, riskiest first; scores so far; weak spots."""
    if choices is None:
        return Sheet(teach("Weighing the assumptions.", width=width - 4), title_right="?")
    if not choices.items:
        how = "An assumption needs something that rests on it: mog assume, then mog decide --rests-on. mog demo plays one."
        return Sheet(teach("There is nothing to drill yet.", how, width=width - 4), title_right="0")
    things: dict[str, Thing] = {f"choice:{one.node.id}": one for one in choices.items}
    lines: list[Line | Row] = [note("Suppose one of these turns out false.", "text")]
    for one in choices.items:
        lines += _choice(one, width)
    if (left := choices.total - len(choices.items)) > 0:
        lines.append(note(f"+{left:,} hidden", "muted", 2))
    lines += [*_weak(weak, width), *(note(clean(text), "attn") for text in (*choices.problems, problem) if text)]
    right = "never played" if history is None or history.mean is None else _mean(history)
    return Sheet(Lines(lines), things, title_note="riskiest first", title_right=right)


def _mean(history: History) -> str:
    return f"{plural(len(history.played), 'drill')} played, mean {history.mean:.0f}"


def _choice(one: Choice, width: int) -> list[Row]:
    why = clean(reasons(one))
    count = f"{'≥ ' if one.capped else ''}{plural(one.dependants, 'dependant')}"
    row = Row(
        f"choice:{one.node.id}", _named(one.node, bold=True), (Cell(count, "muted"),), copy=clean(one.node.id),
        words=(f"{clean(letter(one.node))} {cut_tail(clean(one.node.text), width)}", "enter drills it; d drills the riskiest ones"),
    )  # fmt: skip
    return [row, *_block(why, width, 4)]


def _block(text: str, width: int, indent: int, most: int = 2) -> list[Row]:
    """A few lines of prose below a row."""
    lines = wrap(text, max(20, width - indent - 4))
    cut = [*lines[: most - 1], f"{lines[most - 1]} …"] if len(lines) > most else lines
    return [note(line, "muted", indent) for line in cut]


def _weak(weak: WeakSpots | None, width: int) -> list[Row]:
    if weak is None or not weak.items:
        return []
    rows = [BLANK, head("weak spots", f"{weak.total:,}")]
    for one in weak.items[:8]:
        said = f"you said it {one.said}" if one.said else "you left it blank"
        glyph, role = MARKS[one.truth]
        cells = (Cell("  "), Cell(f"{glyph} ", role, True), *_named(one.node))
        rows.append(Row("", cells, (Cell(f"{said}, {one.missed} of {one.asked}", "muted", False, "drop"),)))
    return rows


# -- a drill as it is asked


def asked_sheet(game: Game, place: str, score: float | None, width: int) -> Sheet:
    """The questions, with what was answered so far."""
    drill = game.drill
    lines: list[Line | Row] = [note("Suppose this turns out false:", "text"), _assumption(drill)]
    done = Cell(f"{game.done} of {len(drill.questions)} done", "muted")
    ask = "What happens to each?" if width < WIDE else "What happens to each?   h falls   space weakens   l survives"
    lines.append(Row("", (Cell(ask, "text", False, "tail"),), (done,)))
    if width >= WIDE:
        lines.append(Row("", (), (*(Cell(f"{one:^{_COLUMN}}", "muted") for one in Outcome), Cell(" " * _LAST))))
    for at, one in enumerate(drill.questions):
        lines += _question(at, one, game.answers.get(at), game.peeked, width)
    lines += [BLANK, *prose(RULES, width - 4, "muted", 2)]
    things: dict[str, Thing] = {f"q:{at}": at for at in range(len(drill.questions))}
    right = f"score {score:.0f}" if score is not None else ""
    return Sheet(Lines(lines), things, title_note=f"{place}  {COPY}".strip(), title_right=right)


def _assumption(drill: Drill) -> Row:
    about = f"about {clean(drill.choice.about[0])}, " if drill.choice.about else ""
    every, asked = drill.counts.dependants, len(drill.questions)
    count = f"{asked:,} of {plural(every, 'dependant')}" if drill.sampled else plural(every, "dependant")
    return Row("", _named(drill.node, bold=True), (Cell(f"{about}{count}", "muted", False, "tail"),), mark="■")


def _question(at: int, one: Question, said: Outcome | None, peeked: Collection[int], width: int) -> list[Row]:
    status = "?" if said is None else ""
    right = _columns(said, status) if width >= WIDE else _word(said)
    words = (_spoken(one, width), _supports(one, at in peeked))
    row = Row(f"q:{at}", (Cell("  "), *_named(one.node)), right, words=words, copy=clean(one.node.id))
    return [row, *(_peek(one, width) if at in peeked else [])]


def _columns(said: Outcome | None, status: str) -> tuple[Cell, ...]:
    cells = []
    for one, (glyph, role) in MARKS.items():
        here = one is said
        cells.append(Cell(f"{glyph if here else '·':^{_COLUMN}}", role if here else "muted", here))
    return (*cells, Cell(f"{status:>2}{'':{_LAST - 2}}", "attn", True))


def _word(said: Outcome | None) -> tuple[Cell, ...]:
    if said is None:
        return (Cell("?", "attn", True),)
    glyph, role = MARKS[said]
    return (Cell(f"{glyph} ", role, True), Cell(f"{said.value:<8}"))


def _spoken(one: Question, width: int) -> str:
    detail = f": “{clean(one.detail)}”" if one.detail else ""
    return cut_tail(f"{clean(letter(one.node))} {clean(one.node.text)}{detail}", 2 * width)


def _supports(one: Question, seen: bool) -> str:
    count = plural(len(one.supports), "ground") if one.supports else "No ground"
    return f"{count}, looked at." if seen else f"{count}. You may look at them with w; that costs half its point."


def _peek(one: Question, width: int) -> list[Row]:
    if not one.supports:
        return [note("needs no ground", "muted", 6)]
    rows: list[Row] = []
    for support in one.supports:
        met = "" if support.met else "does not hold now: "
        rows += _block(clean(met + ground(support, BRIEF)), width, 6, 3)
    return rows


# -- what came out


def revealed_sheet(
    done: Revealed, place: str, scores: tuple[float | None, float | None], best: Suggestion | None, repaired: Rerun | None,
    nodes: Mapping[str, Named], looked: Collection[int], notes: Collection[str], width: int,
) -> Sheet:  # fmt: skip
    """Each row with what was said and what is so, wrong ones first; what a repair would save."""
    lines: list[Line | Row] = [_assumption(done.drill), note(_recalls(done), "text")]
    lines += _repairs(best, repaired, nodes, width)
    order = sorted(range(len(done.rows)), key=lambda at: done.rows[at].right)
    for at in order:
        lines += _told(at, done.rows[at], at in looked, width)
    lines += [BLANK, *prose(f"of all: {tally(done.drill.counts)}", width - 4, "muted", 2)]
    lines += [row for text in notes for row in prose(text, width - 4, "attn", 3)]
    was, now = scores
    right = f"{was:.0f} → {now:.0f}" if was is not None and now is not None else f"score {done.score.rounded}"
    things: dict[str, Thing] = {f"q:{at}": at for at in order}
    return Sheet(Lines(lines), things, title_note=f"{place}  revealed".strip(), title_right=right)


def _recalls(done: Revealed) -> str:
    parts = [f"{outcome} {one.right:g}/{one.asked}" for outcome, one in done.score.recalls.items() if one.asked]
    return f"score {done.score.rounded}   {'  '.join(parts)}"


def _told(at: int, row: Told, looked: bool, width: int) -> list[Row]:
    truth = row.truth
    glyph, role = MARKS[truth.outcome]
    cells = (Cell("  "), Cell(f"{glyph} ", role, True), *_named(row.question.node))
    why = clean(because(truth.why, BRIEF))
    said = "left blank" if row.said is None else f"you said {row.said}"
    peeked = ", peeked" if row.peeked else ""
    verdict = f"right{peeked}" if row.right else f"{said}{peeked}, it {truth.outcome}"
    right = (Cell(verdict, "muted" if row.right else "attn", not row.right),)
    words = (
        f"{clean(letter(row.question.node))} it {truth.outcome}, step {truth.hop}: {why}",
        "w shows the way it takes",
    )
    rows = [Row(f"q:{at}", cells, right, words=words)]
    if looked or not row.right:
        rows += _block(f"hop {truth.hop}, {why}", width, 6, 3)
    if looked:
        rows += _way(truth.why.chain, width)
    return rows


def _way(chain: Sequence[Named], width: int) -> list[Row]:
    """The records from the assumption to the row; of a long way its ends."""
    if not chain:
        return []
    ends = [*chain[:2], *chain[2:][-2:]]
    steps = [clean(f"{letter(one)} {cut_tail(one.text, SHORT)}") for one in ends]
    if len(chain) > len(ends):
        steps.insert(2, f"{len(chain) - len(ends):,} more")
    return _block(" → ".join(steps), width, 6, 3)


def _repairs(best: Suggestion | None, repaired: Rerun | None, nodes: Mapping[str, Named], width: int) -> list[Row]:
    rows: list[Row] = []
    if repaired is not None:
        for one in repaired.repairs:
            rows += prose(f"supposed: {made(one, nodes.get(one.node, repaired.node))}", width - 4, "text", 2)
        rows += prose(f"re-run: {saved(repaired)}", width - 4, "text", 2)
    if best is not None:
        rows += prose(f"repair: {plain_repair(best)}", width - 4, "text", 3)
    return rows
