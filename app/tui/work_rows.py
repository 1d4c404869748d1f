"""Rows of the plans: tasks by layer with a mark and a word each, what a round is doing, why, and what waits for a word.

Who calls: ``panes/work.py``. What may not come in: the toolkit, questions to the workspace, clocks. Progress is a count, never a
share of an unknown whole. What commands and plan files say is cleaned here.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mog.app.plain import UNICODE
from mog.app.plain_radius import marks_of
from mog.app.present import clean
from mog.app.tui.fall_counts import span
from mog.app.tui.rows import Sheet, head, note, prose, teach
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.engine.executor.model import Beat
    from mog.engine.executor.receipts import Entry
    from mog.engine.policy.trust import Waiting
    from mog.engine.work import PlanView, TaskView

STATES: Mapping[str, tuple[str, str, str]] = {
    "done": ("√", "standing", "done"),
    "running": ("•", "attn", "running"),
    "stale": ("≈", "stale", "stale"),
    "check": ("≈", "stale", "may run"),
    "blocked": ("≈", "attn", "blocked"),
    "failed": ("×", "fallen", "failed"),
    "pending": ("·", "muted", "never ran"),
    "unverified": ("?", "unverified", "unverified"),
}
"""State of a task → mark, role and word."""
BEATS = {
    "begun": "running", "executed": "done", "failed": "failed", "disproved": "failed", "lost": "stale", "cut": "done",
    "keep": "done", "blocked": "", "fell": "stale",
}  # fmt: skip
"""What a round said of a task last → the state it is in; "" leaves it as it was."""
LISTED = 12


@dataclass(slots=True)
class Round:
    """A round that goes on, or the last one that ended here.

    Attributes:
        plan: its name. moving: tasks that were expected to run, or might have. beats: last news of each task.
        since: when a task began. ended: how it ended, "" while it goes on. stopping: it was asked to stop.
    """

    plan: str
    moving: Collection[str] = ()
    beats: dict[str, Beat] = field(default_factory=dict)
    since: dict[str, str] = field(default_factory=dict)
    ended: str = ""
    stopping: bool = False


@dataclass(frozen=True, slots=True)
class Open:
    """What is unfolded: tasks (``plan/task``), and the entries of the run ledger that were read for some of them."""

    tasks: Collection[str] = ()
    entries: Mapping[str, Sequence[Entry]] = field(default_factory=dict)
    outline: bool = False


def state_of(task: TaskView, round: Round | None) -> str:
    """The state of a task now, a round that goes on included; done work that a run would do again is stale."""
    standing, action = task.standing, task.planned.action
    was = "unverified" if standing.unverified else standing.state.value
    if was in ("done", "stale"):
        was = {"run": "stale", "keep": was}.get(action, action)
    beat = round.beats.get(task.name) if round and not round.ended else None
    return (BEATS.get(beat.what, "") or was) if beat else was


def counts(view: PlanView, round: Round | None = None) -> dict[str, int]:
    """State → how many tasks."""
    found = [state_of(task, round) for task in view.tasks]
    return {state: found.count(state) for state in STATES if state in found}


def work_sheet(
    views: Sequence[PlanView], round: Round | None, opened: Open, seconds: Mapping[str, float], width: int
) -> Sheet:
    """Every plan, its tasks by layer."""
    lines: list[Line | Row] = []
    things: dict[str, tuple[str, str]] = {}
    for view in views:
        mine = round if round is not None and round.plan == view.name else None
        if len(views) > 1 or not lines:
            lines += [*([BLANK] if lines else []), _plan_row(view, mine)]
            things[f"plan:{view.name}"] = (view.name, "")
        lines += waiting_rows(view.waiting, width)
        for row, task in _tasks(view, mine, opened, seconds, width):
            lines.append(row)
            if task:
                things[row.key] = (view.name, task)
    return Sheet(Lines(lines), things, _note(views), _right(views, round))


def _note(views: Sequence[PlanView]) -> str:
    return clean(views[0].file or views[0].name) if len(views) == 1 else f"{len(views)} plans"


def _right(views: Sequence[PlanView], round: Round | None) -> str:
    if round is not None and not round.ended:
        total = next((len(view.tasks) for view in views if view.name == round.plan), 0)
        begun = sum(beat.what != "begun" for beat in round.beats.values())
        return f"{'stopping' if round.stopping else 'running'}, {begun:,} of {total:,} looked at"
    wanted = sum(task.planned.action in ("run", "check") for view in views for task in view.tasks)
    total = sum(len(view.tasks) for view in views)
    return f"{wanted:,} of {total:,} to run" if wanted else "idle"


def _plan_row(view: PlanView, round: Round | None) -> Row:
    cells = [Cell(clean(view.name), "text", True, "tail"), Cell("  ")]
    for state, count in counts(view, round).items():
        glyph, role, word = STATES[state]
        cells += [Cell(f"{glyph} ", role, True), Cell(f"{count:,} {word}  ")]
    rounds = f"round {view.round:,}" if view.round else "it never ran"
    said = round.ended if round is not None else ""
    words = (
        f"plan {clean(view.name)}, {clean(view.file) or 'no file declares it'}, {rounds}",
        said or "a runs what fell or never ran",
    )
    return Row(f"plan:{view.name}", tuple(cells), (Cell(said or rounds, "muted", False, "tail"),), words=words)


def waiting_rows(waiting: Sequence[Waiting], width: int) -> list[Row]:
    """Commands that wait for a word: what would run, in full."""
    rows: list[Row] = []
    for one in waiting[:LISTED]:
        argv = clean(shlex.join(one.argv))
        why = {"new": "nobody allowed it yet", "changed": "it changed since it was allowed"}.get(
            one.why, clean(one.why)
        )
        words = (f"{clean(one.kind)} of {clean(one.file)}; {why}", argv)
        cells = (
            Cell("! ", "attn", True),
            Cell(f"{clean(one.name)}  ", "text", True, "tail"),
            Cell(argv, "text", False, "tail"),
        )
        rows.append(Row(f"wait:{one.name}", cells, (Cell("waits", "attn"),), words=words, copy=argv))
    hidden = len(waiting) - LISTED
    rows += [note(f"+{hidden:,} hidden", indent=2)] if hidden > 0 else []
    return [*rows, *prose("a asks for your word; nothing runs without it", width - 4, "muted")] if rows else []


def _tasks(
    view: PlanView, round: Round | None, opened: Open, seconds: Mapping[str, float], width: int
) -> list[tuple[Row, str]]:
    from mog.app.present_plan import layers

    depth = layers(view)
    rows: list[tuple[Row, str]] = []
    order = sorted(view.tasks, key=lambda task: depth[task.name]) if not opened.outline else view.tasks
    last, most = 0, max(depth.values(), default=0)
    for task in order:
        if not opened.outline and depth[task.name] != last:
            last = depth[task.name]
            rows.append((note(f"layer {last} of {most}"), ""))
        rows.append((task_row(view, task, round, seconds.get(f"{view.name}/{task.name}")), task.name))
        if f"{view.name}/{task.name}" in opened.tasks:
            rows += [(row, "") for row in details(view, task, opened.entries.get(f"{view.name}/{task.name}"), width)]
    return rows


def task_row(view: PlanView, task: TaskView, round: Round | None, took: float | None) -> Row:
    """``√ test cart   18 s   output unchanged: its 2 dependants stop early``."""
    state = state_of(task, round)
    glyph, role, word = STATES[state]
    said = news(view, task, round, took).removeprefix(f"it {word}: ")  # the word stands at the right edge
    needs = f" ←── {', '.join(map(clean, task.standing.task.needs))}" if task.standing.task.needs else ""
    cells = (
        Cell(f"{glyph} ", role, True), Cell(f"{clean(task.name)}", "text", state == "running", "tail"),
        Cell(needs, "muted", False, "drop"), Cell(f"  {said}" if said else "", "muted", False, "tail"),
    )  # fmt: skip
    right = Cell(word, role) if state != "done" else Cell(span(took) if took is not None else word, "muted")
    words = (f"{clean(task.name)}: {word}; {said}" if said else f"{clean(task.name)}: {word}", _what_a_run_does(task))
    return Row(f"task:{view.name}/{task.name}", cells, (right,), words=words)


_ACTIONS = {
    "run": "a run does it",
    "check": "a run does it if what it reads changes",
    "keep": "a run leaves it alone",
    "blocked": "it cannot run",
}


def _what_a_run_does(task: TaskView) -> str:
    why = clean(_first(task.planned.why))
    said = _ACTIONS.get(task.planned.action, clean(task.planned.action))
    way_out = "; r gives it other ground" if needs_ground(task) else ""
    return f"{said}{f': {why}' if why else ''}{way_out}"


def needs_ground(task: TaskView) -> bool:
    """Whether it cannot run before it is given other ground."""
    return task.planned.action == "blocked" and task.planned.why.startswith("its ground was")


def news(view: PlanView, task: TaskView, round: Round | None, took: float | None) -> str:
    """What is worth saying beside the name: of the round at hand, else why a run would do it."""
    beat = round.beats.get(task.name) if round else None
    if beat is None or (round is not None and round.ended and task.planned.action != "keep"):
        quiet = task.planned.action == "keep" or task.planned.why == "it never ran"
        return "" if quiet else clean(_first(task.planned.why))
    if beat.what == "begun":
        last = f", {span(took)} last time" if took is not None else ""
        since = round.since.get(task.name, "") if round else ""
        return (f"since {since}" if since else "now") + last
    if beat.what == "executed":
        return _unchanged(view, task, round) if beat.unchanged else f"ran, {span(beat.seconds)}"
    if beat.what in ("cut", "keep"):
        return "stopped early: what it reads is what it was" if round and task.name in round.moving else "untouched"
    return clean(_first(beat.why))


def _unchanged(view: PlanView, task: TaskView, round: Round | None) -> str:
    users = [one.name for one in view.tasks if task.name in one.standing.task.needs]
    moving = [name for name in users if name in round.moving and name in round.beats] if round else []
    early = sum(round.beats[name].what in ("cut", "keep") for name in moving) if round else 0
    if not early:
        return "output unchanged"
    return (
        f"output unchanged: its {early:,} dependants stop early"
        if early > 1
        else "output unchanged: its dependant stops early"
    )


def _first(text: str) -> str:
    return text.partition("\n")[0]


def details(view: PlanView, task: TaskView, entries: Sequence[Entry] | None, width: int) -> list[Row]:
    """A task unfolded: its command, what it stands on, why it runs, the end of what it said, its receipts."""
    from mog.app import plain_plan

    rows: list[Row] = []
    if task.declared is not None:
        rows.append(note(clean(shlex.join(task.declared.command.argv)), "code", 4))
    rows += [note(f"on  {clean(statement)}", "text", 4) for statement in task.standing.task.assumes[:LISTED]]
    told = plain_plan.because(task.because, marks_of(UNICODE))
    rows += [note(clean("".join(text for text, _ in line).strip()), "muted", 4) for line in told]
    said = task.standing.task.detail
    if task.standing.state.value == "failed":
        rows += [note(f"| {clean(line)}", "text", 4) for line in said.splitlines()[1:][-LISTED:]]
    elif said:
        rows.append(note(clean(_first(said)), "muted", 4))
    if entries is not None:
        rows += [_entry(one) for one in entries[-LISTED:]] or [note("no receipt: it never ran", indent=4)]
    return rows


def _entry(one: Entry) -> Row:
    said = clean(_first(one.detail))
    cells = (Cell(f"    {one.seq:>5,}  ", "muted"), Cell(f"{one.kind.value:<11} "), Cell(said, "muted", False, "tail"))
    words = (f"entry {one.seq:,} of round {one.round:,}: {one.kind.value}", said)
    return Row(f"entry:{one.task}:{one.seq}", cells, (Cell(one.digest[:8], "muted"),), words=words)


def no_plan(problem: str, width: int) -> Sheet:
    """What stands where there is no plan, or none that can be used."""
    if problem:
        return Sheet(Lines([head("The plans cannot be used."), *prose(problem, width - 4, "attn")]), title_right="?")
    lead = "This repository declares no plan."
    how = "A plan lists checks and builds with what they read and stand on, in plan.yaml or .mog/plans/; mog plan check reads it."
    why = "When a belief falls, only the tasks that rest on it run again."
    return Sheet(teach(lead, how, why, width=min(64, width - 4)), title_right="idle")
