"""Which nodes stand in which column: beliefs by type, files by how deep their imports go.

Who calls: ``panels.py``. What may not come in: markup, places on the picture.
"""

from __future__ import annotations

from collections.abc import Sequence

from mog.app.page.draw import Column, Dot, Line, graph
from mog.app.page.facts import Facts
from mog.engine.model import MapRow
from mog.engine.reason.survey import Spot

ORDER = ("entity", "source", "claim", "evidence", "assumption", "decision")  # most edges join neighbours
NAMES = {"source": "Sources", "claim": "Claims", "decision": "Decisions", "assumption": "Assumptions", "evidence": "Evidence",
         "entity": "Entities", "code": "Code", "other": "Others"}  # fmt: skip
MARKS = {"standing": "●", "weakened": "▼", "contested": "≠", "unverified": "?", "fallen": "×"}
LAYERS, PER_LAYER = 6, 24


def beliefs(facts: Facts) -> str:
    """Beliefs by type, with the code that they are about."""
    types, survey = facts.ontology.node_types, facts.survey
    rows: dict[str, list[Dot]] = {}
    left: dict[str, int] = {}
    for spot in survey.spots:
        rows.setdefault(_column(spot.type, types[spot.type].layer), []).append(_dot(spot))
    for type, count in survey.hidden.items():
        name = _column(type, types[type].layer)
        left[name] = left.get(name, 0) + count
    columns = [
        Column(NAMES[name], tuple(rows[name]), left.get(name, 0)) for name in (*ORDER, "other", "code") if name in rows
    ]
    lines = [Line(tie.src, tie.dst, tie.kind, tie.live, tie.walks or 0) for tie in survey.ties]
    return graph(columns, lines, "Beliefs, and what they rest on")


def _column(type: str, layer: str) -> str:
    return "code" if layer == "code" else type if type in ORDER else "other"


def _dot(spot: Spot) -> Dot:
    if spot.retired:
        mark, role, state = "○", "quiet", spot.retired
    elif spot.standing:
        mark, role, state = MARKS[spot.standing], spot.standing, spot.standing
    else:
        mark, role, state = "■", "code-ink", ""
    side = f"{spot.walks}×" if spot.walks else ""
    told = ", ".join(filter(None, (spot.kind or spot.type, state, f"walked {spot.walks} times" if spot.walks else "")))
    told = f"{spot.type}, {told}" if spot.kind != spot.type else told
    return Dot(spot.id, mark, role, spot.type, _name(spot), told, side, spot.label)


def _name(spot: Spot) -> str:
    """Of code the end of the locator, which tells it from others."""
    return spot.label.rpartition("/")[2] if not spot.standing and "/" in spot.label else spot.label


def code(facts: Facts) -> str:
    """Files, those that need others left of what they need."""
    assert facts.map is not None
    rows = facts.map.rows
    depth = depths(len(rows), facts.imports)
    deepest = min(LAYERS - 1, max(depth, default=0))
    layers = [
        [number for number, at in enumerate(depth) if min(at, deepest) == layer] for layer in range(deepest, -1, -1)
    ]
    columns: list[Column] = []
    free = LAYERS - len(layers)
    for layer, mine in zip(range(deepest, -1, -1), layers, strict=True):
        name = (
            "needs nothing here" if layer == 0 else f"{layer} deep" if layer < LAYERS - 1 else f"{layer} or more deep"
        )
        extra = min(free, (len(mine) - 1) // PER_LAYER)  # a layer that is too long for a column may have more of them
        free -= extra
        for part in range(1 + extra):
            dots = tuple(_file(number, rows[number]) for number in mine[part * PER_LAYER : (part + 1) * PER_LAYER])
            left = len(mine) - (extra + 1) * PER_LAYER if part == extra else 0
            columns.append(Column(name if part == 0 else "", dots, max(0, left)))
    lines = [Line(str(a), str(b), "imports") for a, b in facts.imports]
    more = facts.map.boundary.omitted
    note = f'<p class="more">+{more:,} files hidden, that less leans on</p>' if more else ""
    return graph(columns, lines, "Files, and which others they need") + note


def _file(number: int, row: MapRow) -> Dot:
    folder, _, base = row.path.rpartition("/")
    name = f"{folder.rpartition('/')[2]}/{base}" if folder else base
    rank = int(row.rank)
    told = f"{row.language or 'file'}, {rank:,} references"
    return Dot(str(number), "■", "code-ink", "file", name, told, f"{rank:,}" if rank else "", row.path)


def depths(count: int, needs: Sequence[tuple[int, int]]) -> list[int]:
    """How long the longest chain of needs from each file is; an edge back into a chain that is being followed counts nothing."""
    out: list[list[int]] = [[] for _ in range(count)]
    for a, b in needs:
        out[a].append(b)
    found: list[int] = [-1] * count
    for start in range(count):
        stack: list[tuple[int, int]] = [(start, 0)]
        on = set()
        while stack:
            node, at = stack.pop()
            if at == 0:
                if found[node] >= 0:
                    continue
                on.add(node)
            ahead = next(
                (i for i in range(at, len(out[node])) if found[out[node][i]] < 0 and out[node][i] not in on), None
            )
            if ahead is not None:
                stack += [(node, ahead + 1), (out[node][ahead], 0)]
                continue
            found[node] = 1 + max((found[end] for end in out[node] if found[end] >= 0), default=-1)
            on.discard(node)
    return found
