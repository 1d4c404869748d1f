"""Plans, rounds and sessions as lines a person reads: what each task is, why it runs, what happened.

Who calls: ``app/cli`` for verbs about plans and sessions; later a pane's text twin. What may not come in: escape sequences,
widths of a terminal, questions to the workspace. Lines are cleaned where they are written.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from mog.app.plain import Glyphs, Line, listing, plural
from mog.app.plain_radius import Marks, marks_of
from mog.app.present_plan import layers
from mog.engine.executor.model import Receipt, TaskState
from mog.engine.executor.plan_file import PlanFile
from mog.engine.executor.plan_why import Because
from mog.engine.executor.receipts import Entry
from mog.engine.policy.trust import Waiting
from mog.engine.work import Note, PlanView, Ran, Rechecked, TaskView

if TYPE_CHECKING:
    from mog.engine.executor.session import Exported, Imported, Saved, Summary

_ACTIONS = {"run": "runs", "check": "may run", "keep": "stays", "blocked": "blocked"}
LISTED = 12
FAILED_LINES = 12


# -- plans


def listed(found: Iterable[PlanView]) -> list[Line]:
    """Every plan in one line."""
    lines: list[Line] = []
    for one in found:
        states = [task.standing.state.value for task in one.tasks]
        counts = ", ".join(f"{states.count(state)} {state}" for state in TaskState if state in states)
        done = "complete" if one.complete else counts
        where = one.file or "no file declares it"
        lines.append(((one.name, "name"), (f"  {where}  ", "muted"), (f"{plural(len(one.tasks), 'task')}: {done}", "")))
    return lines or [(("no plan", "muted"),)]


def checked(plans: Sequence[PlanFile], notes: Sequence[Note]) -> list[Line]:
    """Plan files that can be used, and what deserves a look in them."""
    lines: list[Line] = [
        ((one.name, "name"), (f"  {one.file}  {plural(len(one.tasks), 'task')}", "muted")) for one in plans
    ]
    return lines + [((f"look at   {note.plan}/{note.task}: ", "attn"), (note.text, "")) for note in notes]


def view(found: PlanView, glyphs: Glyphs, *, commands: bool = True) -> list[Line]:
    """A plan: each task with its state, what a run would do and why."""
    marks = marks_of(glyphs)
    lines = [line for task in found.tasks for line in _task(task, marks, commands)]
    waiting = len(found.waiting)
    if waiting:
        text = f"{plural(waiting, 'command')} {'waits' if waiting == 1 else 'wait'} for your word: `mog allow`"
        lines.append(((text, "attn"),))
    doing = [task.planned.action for task in found.tasks]
    counts = ", ".join(f"{doing.count(action)} {word}" for action, word in _ACTIONS.items() if action in doing)
    where = f"  {found.file}" if found.file else ""
    rounds = f"  round {found.round}" if found.round else "  it never ran"
    return [*lines, ((found.name, "name"), (f"{where}{rounds}: {counts}", "muted"))]


def _task(task: TaskView, marks: Marks, commands: bool) -> list[Line]:
    standing, record = task.standing, task.standing.task
    state = "unverified" if standing.unverified else standing.state.value
    action = _ACTIONS.get(task.planned.action, task.planned.action)
    quiet = task.planned.action == "keep"
    loud = ("muted", "muted") if quiet else ("state", "attn")
    head: Line = ((f"{state:<11}", loud[0]), (record.name, "name"), (f"  {action}", loud[1]))
    why = "" if quiet or task.because else task.planned.why
    lines: list[Line] = [(*head, (f": {_first(why)}" if why else "", "muted"))]
    if commands and task.declared is not None:
        lines.append(((f"           {shlex.join(task.declared.command.argv)}", "muted"),))
    if commands:
        lines += [((f"           on  {statement}", "muted"),) for statement in record.assumes]
    if standing.state is TaskState.failed:
        lines += _said(record.detail)
    return lines + (because(task.because, marks) if not quiet else [])


def _first(text: str) -> str:
    return text.partition("\n")[0]


def _said(text: str) -> list[Line]:
    """The end of what a command said."""
    return [((f"           | {line}", ""),) for line in text.splitlines()[1:][-FAILED_LINES:]]


def because(found: Sequence[Because], marks: Marks) -> list[Line]:
    """Reasons why a task runs again, each with the path that leads from it to what changed."""
    lines: list[Line] = []
    for one in found[:LISTED]:
        what = " ".join(one.key) if one.kind == "content" else f"{one.kind} {' '.join(one.key)}"
        said = {"changed": "changed", "new": "is new", "gone": "is gone"}.get(one.change, one.change)
        chain = f"  {f' {marks.on} '.join(one.chain)}" if len(one.chain) > 1 else f"  by {one.by}" if one.by else ""
        lines.append(((f"           because {what} {said}", ""), (chain, "muted")))
    more = len(found) - LISTED
    return lines + ([((f"           {more} more reasons: --json", "muted"),)] if more > 0 else [])


def waits(found: Waiting) -> list[Line]:
    """A command that waits for a word."""
    changed = f": {', '.join(found.changed)}" if found.changed else ""
    why = {"new": "nobody allowed it yet", "changed": "it changed since it was allowed"}.get(found.why, found.why)
    head: Line = (("waits      ", "attn"), (found.name, "name"), (f"  {shlex.join(found.argv)}", ""))
    return [head, ((f"           {found.kind} of {found.file}; {why}{changed}", "muted"),)]


def graph(found: PlanView, glyphs: Glyphs) -> list[Line]:
    """Tasks by layer, with what each needs and stands on."""
    depth, into = layers(found), f"{glyphs.into}{glyphs.tiers['certain']}"
    lines: list[Line] = []
    for layer in sorted(set(depth.values())):
        lines.append(((f"layer {layer}", "muted"),))
        for task in (one for one in found.tasks if depth[one.name] == layer):
            record = task.standing.task
            needs = f"  {into} {', '.join(record.needs)}" if record.needs else ""
            lines.append((("  ", ""), (record.name, "name"), (needs, ""), (f"  {task.standing.state.value}", "muted")))
            lines += [((f"      on  {statement}", "muted"),) for statement in record.assumes]
    return lines


# -- rounds


def ran(found: Ran, glyphs: Glyphs) -> list[Line]:
    """What a round did."""
    if found.report is None:
        lines = [line for one in found.waiting[:LISTED] for line in waits(one)]
        text = f"{found.plan}: nothing ran; {plural(len(found.waiting), 'command')} "
        text += "waits" if len(found.waiting) == 1 else "wait"
        return [*lines, ((f"{text} for your word: look at them, then `mog allow`", "attn"),)]
    report, marks = found.report, marks_of(glyphs)
    done = {*report.executed, *report.failed}
    lines = _layers([[name for name in layer if name in done] for layer in report.layers])
    for name in report.executed:
        told = found.because.get(name, ())
        lines += [*_row("ran", name, "" if told else report.why.get(name, ""), ""), *because(told, marks)]
    for name, count in found.left.items():
        lines.append(((f"           {name} left {plural(count, 'process', 'processes')} behind, which were ended", "attn"),))
    for name, why in report.failed.items():
        lines += [*_row("failed", name, why, "attn"), *_said(why), *because(found.because.get(name, ()), marks)]
    for word, rows in (("blocked", report.blocked), ("stale", report.stale)):
        lines += [line for name, why in rows.items() for line in _row(word, name, why, "attn")]
    lines += [line for name in report.unverified for line in _row("unverified", name, "it rests on work that failed", "attn")]
    lines += [line for name in report.cancelled for line in _row("stopped", name, "", "attn")]
    lines += [line for one in report.receipts for line in receipt(one)]
    return [*lines, _sum(found)]


def _layers(found: Sequence[Sequence[str]]) -> list[Line]:
    """What ran together, where that is worth a line."""
    found = [layer for layer in found if layer]
    if len(found) < 2:
        return []
    shown = [", ".join(layer[:LISTED]) + (f" and {len(layer) - LISTED} more" if len(layer) > LISTED else "") for layer in found]
    return [((f"layer {number:<5}", "muted"), (names, "")) for number, names in enumerate(shown, 1)]


def _row(word: str, name: str, why: str, role: str) -> list[Line]:
    return [((f"{word:<11}", role), (name, "name"), (f"  {_first(why)}" if why else "", "muted"))]


def _sum(found: Ran) -> Line:
    report = found.report
    assert report is not None
    counts = {
        "ran": len(report.executed), "kept": len(report.cached), "spared": len(report.cut_off), "failed": len(report.failed),
        "blocked": len(report.blocked), "stale": len(report.stale), "unverified": len(report.unverified),
    }  # fmt: skip
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    end = "complete" if report.complete else "not complete"
    return ((f"{found.plan}: {end}", "name"), (f"  round {report.round}: {told or 'nothing to do'}", "muted"))


def receipt(found: Receipt) -> list[Line]:
    """A ground that was found false, and what that did."""
    hops = ", ".join(f"hop {hop}: {count}" for hop, count in found.hops)
    falls = f"{found.fell} fell ({hops}), {found.weakened} weakened, {found.preserved} preserved"
    return [
        (("false      ", "attn"), (found.assumption, "name")),
        ((f"           found by {found.disproved_by}: {_first(found.reason)}", ""),),
        ((f"           {falls}", "muted"),),
    ]


def rechecked(found: Rechecked, glyphs: Glyphs) -> list[Line]:
    """What a recheck found in one plan; nothing when all of it holds and nobody asked more."""
    marks = marks_of(glyphs)
    if found.problem:
        return [(("failed     ", "attn"), (f"{found.plan or 'plans'}: {found.problem}", ""))]
    lines = [line for one in found.waiting for line in waits(one)]
    report = found.report
    stale: Mapping[str, str] = report.stale if report else dict.fromkeys(found.because, "what it read changed")
    for name, why in stale.items():
        told = found.because.get(name, ())
        lines += [*_row("stale", f"{found.plan}/{name}", "" if told else why, "attn"), *because(told, marks)]
    for name, why in (report.failed if report else {}).items():
        lines += [*_row("failed", f"{found.plan}/{name}", why, "attn"), *_said(why)]
    lines += [line for one in (report.receipts if report else ()) for line in receipt(one)]
    held = f", {len(report.held)} audited again and held" if report and report.held else ""
    if stale or held or lines:
        way_out = "   run them: `mog resume`" if stale else ""
        lines.append(((f"plan {found.plan}: {plural(len(stale), 'task')} stale{held}", "name"), (way_out, "muted")))
    return lines


def entries(found: Sequence[Entry], head: str, total: int, after: int) -> list[Line]:
    """Entries of a run ledger, and where it ends."""
    lines: list[Line] = []
    for one in found:
        row: Line = ((f"{one.seq:>7,}  ", "name"), (f"round {one.round:<4} ", "muted"), (f"{one.kind.value:<12}", "state"))
        lines.append((*row, (f"{one.task}  ", "name"), (_first(one.detail), "")))
    left = total - min(after, total) - len(found)
    lines += [((f"{plural(left, 'later entry', 'later entries')}: --after, --limit", "attn"),)] if left > 0 else []
    return [*lines, ((f"{plural(total, 'entry', 'entries')}, head {head}", "muted"),)]


def repaired(plan: str, name: str, assumes: Sequence[str]) -> list[Line]:
    """What a repair did."""
    lines: list[Line] = [(("repaired   ", ""), (f"{plan}/{name}", "name"))]
    lines += [((f"           on  {statement}", "muted"),) for statement in assumes]
    return [*lines, (("           it runs at the next `mog resume`", "muted"),)]


# -- sessions


def saved(found: Saved, verb: str) -> list[Line]:
    """A copy of the ledger."""
    if found.before == found.head:
        return [((f"nothing to do: it stands at event {found.head.seq:,} already", "muted"),)]
    return [((f"{verb}  ", ""), (str(found.folder), "name"), (f"  {plural(found.head.seq, 'event')}", "muted"))]


def exported(found: Exported) -> list[Line]:
    """A session written for the earlier package."""
    written = found.written
    word = "written" if written.written else "it said the same already"
    lines: list[Line] = [((f"{written.folder}", "name"), (f"  generation {written.generation}: {word}", "muted"))]
    lines += [((f"left out   {listing(found.left_out)}", "attn"),)] if found.left_out else []
    return lines + [((f"note: {note}", "attn"),) for note in found.notes]


def imported(found: Imported) -> list[Line]:
    """A session that was taken in."""
    word = "taken in" if found.changed else "it was here already"
    plan = f", plan {found.plan}" if found.plan else ""
    lines: list[Line] = [((f"generation {found.generation}{plan}: {word}", "name"),)]
    return lines + ([((f"note: {found.fell_back}", "attn"),)] if found.fell_back else [])


def summary(found: Summary) -> list[Line]:
    """What a folder holds."""
    lines: list[Line] = [((found.form, "name"), (f"  at {found.position:,}  {found.head[:12]}", "muted"))]
    for name, counts in (("nodes", found.nodes), ("records", found.kept)):
        lines += [((f"{name:<11}", "muted"), (listing(counts), ""))] if counts else []
    for plan in found.plans:
        lines.append((("plan       ", "muted"), (plan.name, "name"), (f"  round {plan.round}: {listing(plan.states)}", "")))
        lines += [((f"           needs {', '.join(plan.keys)}", "muted"),)] if plan.keys else []
        lines += [((f"           {why}", "attn"),) for why in plan.unbindable]
    return lines + ([((f"note: {found.fell_back}", "attn"),)] if found.fell_back else [])
