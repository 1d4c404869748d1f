"""Bodies of the core tools but those that answer with packs: impact, why, notes, pins, verify.

Who calls: ``desk``, on a thread. What may not come in: ranking, rules, caps (``answers`` cuts), anything a person alone may do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mog.app.mcp.answers import Answer, Row, brief, offset, paged
from mog.app.mcp.names import code, count, of_node, short, spoken
from mog.app.present import Block, meant, restore
from mog.engine.errors import NotFound, UsageError
from mog.engine.model import Freshness, PinState

if TYPE_CHECKING:
    from mog.app.mcp.desk import Ask
    from mog.engine.memory.records import Note, Recalled, Remembered
    from mog.engine.model import ImpactAnswer
    from mog.engine.reason.explain import Explanation

AGENT = "agent"
NEWEST = 200
LISTED = 5
ROWS = 60  # of an impact that may be asked for a page; fewer fit


# -- reach


def impact(ask: Ask) -> Answer:
    """What deserves a look, nearest first; on the first page also tests, importers and what changed along, each counted."""
    given = ask.given
    target, changed = given.get("target", ""), given.get("changed", "")
    if bool(target) == bool(changed):
        raise UsageError("it takes a target, or changed", where="impact", way_out="name code, or give changed: files or lines")
    ask.desk.need_index()
    first = offset(given.get("page", ""))

    def asked(*targets: str) -> ImpactAnswer:
        return ask.workspace.impact(
            *targets, depth=given["depth"], limit=ROWS, after=first, maybe=given.get("maybe", False), tests=given.get("tests", False),
            changed=changed, history=given.get("history", False) and not ask.desk.options.read_only, progress=ask.going_on,
        )  # fmt: skip

    return _impact(meant(asked, target) if target else asked())


def _impact(found: ImpactAnswer) -> Answer:
    limits, first = found.boundary, found.after
    beside = _beside(found) if not first else {}
    data = {
        "seed": found.seed.locator, "reached": found.total, "files": found.files, "tests": found.tests_total,
        "per_depth": list(found.per_depth[:12]), "unknown": limits.unknown, "maybe": found.maybe_total, "capped": limits.capped,
        **({"seeds": len(found.seeds)} if len(found.seeds) > 1 else {}), **beside,
    }  # fmt: skip
    said = [
        f"{found.total} reached in {found.files} files, {found.tests_total} tests; by depth {data['per_depth']};"
        " rows are certain and fresh unless they say otherwise"
    ]
    told = [f"of {brief(found.seed.locator, 200)}" + (f" and {len(found.seeds) - 1} more" if len(found.seeds) > 1 else "")]
    told += [f"{name.replace('_', ' ')}: {', '.join(map(str, rows))}" for name, rows in beside.items() if isinstance(rows, list)]
    notes = [brief(note, 200) for note in limits.notes]
    if found.maybe_total or limits.capped:
        notes.append(f"not counted: {found.maybe_total} more by weaker links (maybe), {limits.capped} capped calls")
    path = [seed.locator for seed in found.seeds[:4]] + [one.node.locator for one in found.reached[:8]]
    return Answer(said, data, told, map(_reached, found.reached), found.total, first, notes, path)


def _beside(found: ImpactAnswer) -> dict[str, Any]:
    """What no closure over symbols shows: its first few, and how many there are."""
    parts: dict[str, Any] = {
        "test_files": (found.test_files, found.test_files_total),
        "importers": ([node.locator for node in found.importers], found.importers_total),
        "used_by_name": ([f"{one.node.locator} x{one.count}" for one in found.named], found.named_total),
        "changed_along": ([f"{one.path} {one.together}/{one.commits}" for one in found.co_changed], len(found.co_changed)),
    }
    shown: dict[str, Any] = {}
    for name, (rows, total) in parts.items():
        if total:
            shown |= {name: [brief(row, 100) for row in rows[:LISTED]], f"{name}_total": total}
    return shown


def _reached(one: Any) -> Row:
    data = {**code(one.node), "depth": one.depth, "edge": one.kind}
    marks = [one.tier.name] * (one.tier.name != "certain") + [one.freshness.value] * (one.freshness is not Freshness.fresh)
    data |= {"tier": one.tier.name} if one.tier.name != "certain" else {}
    data |= {"freshness": one.freshness.value} if one.freshness is not Freshness.fresh else {}
    if one.via and one.depth > 1:
        data["via"] = one.via.locator
    return Row(f"{one.depth} {brief(one.node.locator, 160)} {one.kind}" + "".join(f" [{mark}]" for mark in marks), data)


# -- beliefs about code


def why(ask: Ask) -> Answer:
    """What is believed about code or a record, and why; of code also what is pinned there. Known code may have neither."""
    workspace, target = ask.workspace, ask.given["target"]
    code_node = workspace.beliefs.place.find(restore(target))
    beliefs: Sequence[Explanation]
    try:
        beliefs = meant(workspace.beliefs.why, target)
    except NotFound:
        if code_node is None:
            raise
        beliefs = ()
    where = code_node.locator if code_node is not None else ""
    pins = [one for one in workspace.pins() if where and where in (one.pin.anchor.locator, one.now_at)]
    total = len(beliefs) + len(pins)
    every: list[Explanation | PinState] = [*beliefs, *pins]
    first, left = paged(every, ask.given.get("page", ""))
    rows = (_pin_row(one) if isinstance(one, PinState) else _explained(one) for one in left)
    said = [f"{count(len(beliefs), 'belief')}, {count(len(pins), 'pin')}"]
    notes = [] if total else ["the code is known; nothing was recorded about it"]
    told = [f"about {brief(where, 200)}"] if where else []
    return Answer(said, {"about": where}, told, rows, total, first, notes, [one.node.id for one in beliefs[:8]])


def _explained(one: Explanation) -> Row:
    row = of_node(one.node, str(one.label))
    grounds: list[dict[str, Any]] = [
        {
            "met": reason.met, "stand": [brief(n.label, 60) for n in reason.standing[:LISTED]],
            "missing": [brief(n.label, 60) for n in reason.missing[:LISTED]],
            "premises": len(reason.standing) + len(reason.missing), **({"note": brief(reason.note)} if reason.note else {}),
        }
        for reason in one.reasons[:LISTED]
    ]  # fmt: skip
    against = [brief(node.label, 60) for node in one.contradicted_by[:LISTED]]
    judged = [f"{j.auditor}: {brief(j.reason, 60)}" for j in one.defeated_by[:LISTED]]
    data = {**row, "given": one.given, "grounds": grounds, "grounds_total": len(one.reasons)}
    data |= {"contradicted_by": against, "contradicted_by_total": len(one.contradicted_by)} if against else {}
    data |= {"defeated_by": judged} if judged else {}
    data |= {"at": [a.anchor.locator for a in one.anchors[:LISTED]]} if one.anchors else {}
    lines = [spoken(row)]
    for ground in grounds:
        sure = "holds" if ground["met"] else "unmet"
        lines.append(f"  ground {sure}: {'; '.join([*ground['stand'], *(f'MISSING {m}' for m in ground['missing'])])}")
    lines += [f"  contradicted by {words}" for words in against] + [f"  judged false by {words}" for words in judged]
    return Row(Block("\n".join(lines)), data)


# -- notes


def remember(ask: Ask) -> Answer:
    """Keep a note as an agent's, with an agent's limits."""
    if ask.events:
        return _remembered_before(ask)
    given = ask.given
    done = ask.workspace.memory.remember(
        given["kind"], given["text"], anchors=given.get("about", ()), because=given.get("because", ""), key=given.get("key", ""),
        origin=AGENT, by=_printable(ask.client.name), session=_printable(ask.client.session),
    )  # fmt: skip
    return _remembered(done)


def _printable(name: str) -> str:
    return "".join(char for char in name if char.isprintable())[:120]


def _remembered(done: Remembered) -> Answer:
    note = done.note
    how = "as a proposal until a person promotes it" if note.proposed else f"as {note.record}"
    said = [f"remembered {note.ref} {how}" if done.events else f"it was remembered before: {note.ref}"]
    data = {"id": note.ref, "events": list(done.events), "proposed": note.proposed}
    rows = (_alike(one) for one in done.alike)
    notes = [
        *done.warnings,
        *([f"{len(done.alike)} notes say nearly the same or the opposite; nothing was merged"] * bool(done.alike)),
    ]
    return Answer(said, data, (), rows, len(done.alike), 0, notes, [note.id])


def _alike(one: Any) -> Row:
    row = _note_row(one.note)
    word = "reads like the opposite" if one.against else "nearly the same"
    return Row(f"{word}: {row.text}", {**row.data, "share": round(one.share, 2), "against": one.against})


def _remembered_before(ask: Ask) -> Answer:
    ids = [op[1] for event in ask.events for op in event.data.get("ops", ()) if op[0] == "node"]
    notes = [ask.workspace.memory.recall(id) for id in ids if _is_note(ask, id)]
    told = f"remembered note:{notes[0].id}" if notes else "remembered"
    data: dict[str, Any] = {"id": notes[0].ref if notes else "", "events": [event.seq for event in ask.events]}
    data["proposed"] = bool(notes) and notes[0].proposed
    return Answer([told], data, rows=(), total=0, notes=["it was recorded before the server changed hands"])


def _is_note(ask: Ask, id: str) -> bool:
    try:
        return bool(ask.workspace.memory.recall(id).text == ask.given.get("text"))
    except NotFound:
        return False


def recall(ask: Ask) -> Answer:
    """Notes that answer, best first; without words the newest; one by its ref."""
    query, page = ask.given.get("query", ""), ask.given.get("page", "")
    memory = ask.workspace.memory
    if not ask.workspace.ledger_path.exists():
        return notes_answer("nothing was ever remembered here", (), 0, 0, page)
    if query.startswith("note:"):
        return notes_answer("one note", (memory.recall(query),), 1, 0, "")
    found: Recalled = memory.search(query, limit=NEWEST) if query.strip() else memory.newest(limit=NEWEST)
    return notes_answer(f"{count(found.total, 'note')} found", found.notes, found.total, found.hidden, page)


def notes_answer(said: str, notes: tuple[Note, ...], total: int, hidden: int, page: str) -> Answer:
    """Notes as rows; a single one with all its anchors."""
    first, left = paged(notes, page)
    told = [f"{hidden} more were replaced, taken back or have fallen"] if hidden else []
    rows = (_note_row(note, whole=total == 1) for note in left)
    return Answer([said], {"hidden": hidden}, (), rows, total, first, told, [note.id for note in left[:8]])


def _note_row(note: Note, *, whole: bool = False) -> Row:
    data: dict[str, Any] = {
        "id": note.ref[:5] + short(note.id),
        "kind": note.kind,
        "by": note.by,
        "standing": note.standing.value,
    }
    data |= {"text": Block(note.text), "freshness": note.freshness.value}
    for name, value in (
        ("proposed", note.proposed),
        ("pinned", note.pinned),
        ("gone", note.gone),
        ("because", note.because),
    ):
        if value:
            data[name] = value
    if note.contradicted_by:
        data["contradicted_by"] = [short(id) for id in note.contradicted_by[:LISTED]]
    changes = [_held(one) for one in note.anchors[: 16 if whole else 3]]
    if changes:
        data["about"] = changes
    marks = [
        note.kind,
        note.by,
        note.standing.value,
        *(["proposal"] * note.proposed),
        *([note.gone] if note.gone else []),
    ]
    stale = "".join(
        f" | {one['at']} {one['freshness']}{' ' + one['changed'] if one.get('changed') else ''}" for one in changes
    )
    return Row(Block(f"{data['id']} [{', '.join(marks)}] {note.text}{stale}"), data)


def _held(one: Any) -> dict[str, Any]:
    row: dict[str, Any] = {"at": one.locator, "freshness": one.freshness.value}
    if one.now_at and one.now_at != one.locator:
        row["now_at"] = one.now_at
    if one.changed is not None:
        row["changed"] = " ".join(
            part for part in (one.changed.since.value, one.changed.commit[:10], one.changed.date) if part
        )
    return row


# -- pins


def pin(ask: Ask) -> Answer:
    """Anchor a note to code as it is now."""
    workspace = ask.workspace
    if ask.events:
        seqs = {event.seq for event in ask.events}
        state = next((one for one in workspace.pins() if one.pin.seq in seqs), None)
        told = ["it was recorded before the server changed hands"]
        return _pinned(state, told) if state else Answer(["pinned, and taken away since"], {"id": ""}, notes=told)
    return _pinned(meant(lambda name: workspace.pin(name, ask.given["note"]), ask.given["target"]), ())


def _pinned(state: PinState, notes: Any) -> Answer:
    row = _pin_row(state)
    return Answer(
        [f"pinned {state.pin.id}"], {"id": state.pin.id}, rows=[row], total=1, notes=notes, path=[state.pin.id]
    )


def unpin(ask: Ask) -> Answer:
    """Take a pin away; the ledger keeps that it was there."""
    id = ask.given["id"]
    if not ask.events:
        ask.workspace.unpin(id)
    return Answer([f"unpinned {id}"], {"id": id}, rows=(), total=0, path=[id])


def _pin_row(state: PinState) -> Row:
    data: dict[str, Any] = {"id": state.pin.id, "at": state.pin.anchor.locator, "freshness": state.freshness.value}
    data["note"] = brief(state.pin.note, 400)
    if state.reason:
        data["reason"] = state.reason
    if state.now_at and state.now_at != state.pin.anchor.locator:
        data["now_at"] = state.now_at
    moved = f" now at {data['now_at']}" if "now_at" in data else ""
    line = f"{state.pin.id} {state.freshness.value} {brief(state.pin.anchor.locator, 160)}{moved}: {data['note']}"
    return Row(line, data)


def verify(ask: Ask) -> Answer:
    """Every pin and every anchored belief held against the disk; what is not fresh is listed. Records nothing."""
    workspace = ask.workspace
    report = workspace.verify()
    anchored = workspace.ledger_path.exists() and bool(workspace.beliefs.mesh.anchors())
    looked: Sequence[Any] = workspace.beliefs.bridge.look() if anchored else ()
    off = [_pin_row(state) for state in report.states if state.freshness is not Freshness.fresh]
    mesh = workspace.beliefs.mesh if anchored else None
    off += [_drift_row(one, mesh) for one in looked if one.freshness is not Freshness.fresh]
    counts = {state.value: sum(one.freshness is state for one in (*report.states, *looked)) for state in Freshness}
    checked = report.checked + len(looked)
    shown = {name: count for name, count in counts.items() if count or name in ("drifted", "missing")}
    first, rows = paged(off, ask.given.get("page", ""))
    said = [f"{checked} checked: " + ", ".join(f"{count} {name}" for name, count in shown.items())]
    return Answer(said, {"checked": checked, **shown}, (), rows, len(off), first)


def _drift_row(one: Any, mesh: Any) -> Row:
    target = mesh.graph.get(one.target) if mesh is not None else None
    words = brief(target.label) if target is not None else ""
    data = {
        "id": short(one.target),
        "at": one.anchor.anchor.locator,
        "freshness": one.freshness.value,
        "reason": one.reason,
    }
    data["belief"] = words
    return Row(f"{data['id']} {one.freshness.value} {brief(one.anchor.anchor.locator, 160)}: {words}", data)
