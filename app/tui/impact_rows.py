"""Rows of the impact before a patch: files that are marked, what they reach, tests, what is believed about all that.

Who calls: ``panes/impact.py``. What may not come in: the toolkit, questions to the workspace. Attention, not truth: what is
reached deserves a look; what would fall is said apart, by the beliefs on the way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mog.app.present import clean
from mog.app.tui import reason_rows as rr
from mog.app.tui.fall_counts import cost_words, short_bars
from mog.app.tui.rows import MARKS, Reason, Sheet, Thing, describe, name_cells, note, prose, teach
from mog.engine import model as m
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.engine.breaks import Preview

FILES, LISTED = 60, 40
"""Files that are listed, and rows of each section before it is unfolded."""
WORDS = {"modified": "±", "added": "•", "deleted": "×", "renamed": "→", "": "·"}


Found = list[tuple[Row, Thing]]


@dataclass(frozen=True, slots=True)
class Marked:
    """A file or name that may change: how git sees it ("" for one that was typed), and whether it is marked."""

    target: str
    state: str = ""
    marked: bool = True


@dataclass(frozen=True, slots=True)
class Reach:
    """What the engine said of the marked files: reach, tests, beliefs on the way and what would fall with them.

    ``lines``: it is about the symbols whose lines git says are changed, not about marked files as a whole.

    Attributes:
        answer: ``None`` when nothing is marked. missing: marked ones that the index does not know.
        beliefs: ids of what is believed about what changes, ``near``: about what is only reached. labels: how they stand.
        preview: what would fall if the beliefs about what changes did.
    """

    answer: m.ImpactAnswer | None
    missing: tuple[str, ...] = ()
    beliefs: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    labels: Mapping[str, str] | None = None
    preview: Preview | None = None
    lines: bool = False


def impact_sheet(files: Sequence[Marked], reach: Reach | None, unfolded: frozenset[str], width: int) -> Sheet:
    """Files first, then what they reach."""
    rows: list[Line | Row] = []
    things: dict[str, Thing] = {}
    rows += _file_rows(files)
    things |= {f"file:{one.target}": one for one in files}
    if reach is None or reach.answer is None:
        said = (
            "Working out what they reach …"
            if reach is None and any(one.marked for one in files)
            else "Nothing is marked."
        )
        rows += [BLANK, note(said), note("enter marks the file at >, and a asks")]
        return Sheet(Lines(rows), things, _note(files), "?")
    for section in (_changes, _reached, _tests, _surfaces, _beliefs, _near):
        found = section(reach, unfolded, width)
        rows += [BLANK, *(row for row, _ in found)] if found else []
        things |= {row.key: thing for row, thing in found if row.key and thing is not None}
    rows += _missing(reach, width)
    how = "changed lines, " if reach.lines else ""
    return Sheet(Lines(rows), things, f"{how}{_note(files)}", f"{reach.answer.total:,} reached")


def _note(files: Sequence[Marked]) -> str:
    return f"{sum(one.marked for one in files):,} of {len(files):,} marked"


def _changes(reach: Reach, unfolded: frozenset[str], width: int) -> Found:
    """What changes itself: marked files as a whole, or the symbols whose lines git says are changed."""
    answer = reach.answer
    seeds = answer.seeds if answer is not None else ()
    if not seeds or all(one.type == "file" for one in seeds):
        return []
    rows = [_node_row(f"seed:{one.id}", one, m.Freshness.unknown, "changes") for one in seeds]
    return _section(
        "seeds", f"changed lines are in {len(seeds):,}", "v asks about whole files", rows, len(seeds), unfolded
    )


def _file_rows(files: Sequence[Marked]) -> list[Row]:
    rows = []
    for one in files[:FILES]:
        mark = Cell("■ " if one.marked else "· ", "key" if one.marked else "muted", one.marked)
        state = clean(one.state) or "typed"
        cells = (mark, Cell(clean(one.target), "text", False, "path" if "/" in one.target else "head"))
        words = (f"{clean(one.target)}: {state}", "enter takes the mark off" if one.marked else "enter marks it")
        rows.append(
            Row(f"file:{one.target}", cells, (Cell(f"{WORDS.get(one.state, '±')} {state}", "stale"),), words=words)
        )
    rows += [note(f"+{len(files) - FILES:,} hidden", indent=2)] if len(files) > FILES else []
    words = ("another: a path, path::name or path:line that may change", "enter asks for it")
    return [*rows, Row("another", (Cell("  another …", "key"),), words=words)]


def _section(name: str, head: str, right: str, rows: Found, total: int, unfolded: frozenset[str]) -> Found:
    """A heading, its rows, and how many more; enter on the heading or on that line unfolds."""
    cells = (Cell(head, "text", True), Cell(f"  {right}" if right else "", "muted", False, "drop"))
    shown = rows if name in unfolded else rows[:LISTED]
    hidden = total - len(shown)
    found: Found = [(Row(f"head:{name}", cells, words=(head, right or "enter folds and unfolds")), name), *shown]
    if hidden > 0:
        more = "enter shows them" if len(rows) > len(shown) else "mog impact lists them by page"
        found.append((Row(f"more:{name}", (Cell(f"  +{hidden:,} hidden", "muted"),), words=(more,)), name))
    return found


def _node_row(key: str, node: m.Node, freshness: m.Freshness, right: str) -> tuple[Row, Thing]:
    mark = MARKS[freshness][0] if freshness not in (m.Freshness.fresh, m.Freshness.unknown) else ""
    cells = (Cell("  "), *name_cells(node, freshness))
    return Row(
        key, cells, (Cell(right, "muted", False, "drop"),), words=(describe(node), f"{right} {mark}".strip())
    ), node


def _reached(reach: Reach, unfolded: frozenset[str], width: int) -> Found:
    answer = reach.answer
    assert answer is not None
    hops = "  ".join(f"hop {hop}: {count:,}" for hop, count in enumerate(answer.per_depth, start=1))
    head = f"reached {answer.total:,} in {answer.files:,} file{'' if answer.files == 1 else 's'}"
    rows = [
        _node_row(
            f"reach:{one.node.id}",
            one.node,
            one.freshness,
            f"{one.kind}, hop {one.depth}" if one.kind else f"hop {one.depth}",
        )
        for one in answer.reached
    ]
    found = _section("reached", head, hops, rows, answer.total, unfolded)
    if answer.maybe_total:
        found.append((note(f"{answer.maybe_total:,} more by links that are not certain", "attn", 2), None))
    if answer.boundary.unknown:
        found.append(
            (note(f"{answer.boundary.unknown:,} call sites with a receiver that is not known", "attn", 2), None)
        )
    return found


def _tests(reach: Reach, unfolded: frozenset[str], width: int) -> Found:
    answer = reach.answer
    assert answer is not None
    rows = [_node_row(f"test:{one.id}", one, m.Freshness.unknown, "test") for one in answer.tests]
    files = f"in {answer.test_files_total:,} files" if answer.test_files_total != 1 else "in 1 file"
    if not answer.tests_total:
        none = Cell("  none besides what is marked reaches it by a certain link", "attn", False, "tail")
        return [(Row("head:tests", (Cell("tests 0", "text", True), none)), None)]
    return _section("tests", f"tests {answer.tests_total:,}", files, rows, answer.tests_total, unfolded)


def _surfaces(reach: Reach, unfolded: frozenset[str], width: int) -> Found:
    """Routes, pages, actions, workflows: what the rule packs found in the code, and what somebody recorded of such."""
    answer = reach.answer
    assert answer is not None
    nodes = reach.preview.outlook.nodes if reach.preview else {}
    found = [
        id
        for id in (*reach.beliefs, *reach.near)
        if (node := nodes.get(id)) and (node.type, node.kind) == ("entity", "surface")
    ]
    total = len(found) + sum(answer.surfaces_by_role.values())
    if not total:
        return [(note("pages and workflows: not known, nothing here says which code implements them"), None)]
    rows: Found = [_node_row(f"surface:{one.id}", one, m.Freshness.unknown, one.signature) for one in answer.surfaces]
    rows += [(rr.row(f"surface:{id}", nodes[id], lead=(Cell("  "),)), rr.thing(nodes[id])) for id in found]
    roles = "  ".join(f"{role}: {count:,}" for role, count in answer.surfaces_by_role.items())
    return _section("surfaces", f"routes, pages and workflows {total:,}", roles, rows, total, unfolded)


def _beliefs(reach: Reach, unfolded: frozenset[str], width: int) -> Found:
    rows = _belief_rows(reach, reach.beliefs, "belief")
    head = f"believed about what changes {len(reach.beliefs):,}"
    if not rows:
        return [(Row("head:beliefs", (Cell(head, "text", True),)), None)]
    found = _section("beliefs", head, "", rows, len(reach.beliefs), unfolded)
    if reach.preview is not None:
        found.append((note("if none of it held any more:", indent=2), None))
        found.append((short_bars(reach.preview.outlook), None))
        found += [(row, None) for row in prose(cost_words(reach.preview.cost), width - 4, "muted", 3)]
    return found


def _near(reach: Reach, unfolded: frozenset[str], width: int) -> Found:
    rows = _belief_rows(reach, reach.near, "near")
    return (
        _section("near", f"believed about what is reached {len(rows):,}", "", rows, len(rows), unfolded) if rows else []
    )


def _belief_rows(reach: Reach, ids: Sequence[str], kind: str) -> Found:
    nodes, labels = (reach.preview.outlook.nodes if reach.preview else {}), reach.labels or {}
    return [
        (
            rr.row(f"{kind}:{id}", nodes[id], labels.get(id, ""), lead=(Cell("  "),)),
            Reason(id, nodes[id].type, nodes[id].label),
        )
        for id in ids
        if id in nodes and (nodes[id].type, nodes[id].kind) != ("entity", "surface")
    ]


def _missing(reach: Reach, width: int) -> list[Row]:
    if not reach.missing:
        return []
    named = ", ".join(clean(one) for one in reach.missing[:6])
    return [BLANK, *prose(f"not in the index, so nothing is known of their reach: {named}", width - 4, "attn", 4)]


def empty(problem: str, width: int) -> Sheet:
    """What stands where no file is listed."""
    lead = problem or "No file differs from the commit that is checked out."
    how = "Type :impact and a path, path::name or path:line to see what a change there would reach; v lists changed files again."
    rows = teach(lead, how, width=min(64, width - 4))
    words = ("another: a path, path::name or path:line that may change", "enter asks for it")
    lines = [rows.line(at) for at in range(len(rows))]
    return Sheet(Lines([*lines, BLANK, Row("another", (Cell("  another …", "key"),), words=words)]))
