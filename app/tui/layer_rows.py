"""The layered view: what lies around a node, a walk on its way, a blast radius by hops, as boxes and links on pages.

Who calls: the graph pane and the plain-text twin, with answers of the engine and the room there is.
What may not come in: the toolkit, questions to the workspace, layout (``widgets/layers.py``). Outside text is cleaned on the
way into cells. Nothing is left out without being counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from mog.app.plain import plural
from mog.app.present import clean
from mog.app.tui.graph_rows import LINKS
from mog.app.tui.reason_rows import STANDING, reason_cells, reason_chip, reason_words
from mog.app.tui.rows import Reason, Sheet, Thing, chip_cell, describe, mark_cells, name_of
from mog.engine import model as m
from mog.widgets.canvas import Frame, Page, draw_page, page_of, pages_of
from mog.widgets.layers import Box, Layout, Link, arrange
from mog.widgets.view import BLANK, Cell, Line, Lines, Row

if TYPE_CHECKING:
    from mog.engine.reason import near
    from mog.engine.reason.radius import Radius
    from mog.engine.reason.records import GraphNode, Label
    from mog.engine.retrieval.around import Around

NODES = 240
"""Nodes asked for: what a few pages hold."""
_WORDS = 4


@dataclass(frozen=True, slots=True)
class Drawing:
    """What is to be drawn.

    Attributes:
        boxes, links: the graph; keys of boxes are keys of rows. things: what each row stands for.
        center: key of the node it is about. said: a sentence of exact totals. hidden: nodes that belong to it and were not asked for.
        heads: what stands above each column, where columns mean something.
        steps: keys of a path drawn on it, in order.
    """

    boxes: tuple[Box, ...]
    links: tuple[Link, ...]
    things: Mapping[str, Thing]
    center: str
    said: str
    hidden: int = 0
    heads: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()


@dataclass
class Chart:
    """A drawing and its layout, made once; pages of it for any room, page and cursor."""

    drawing: Drawing
    faint: bool = True
    _pages: dict[tuple[object, ...], tuple[Sheet, Page]] = field(default_factory=dict)

    @cached_property
    def layout(self) -> Layout:
        """Where everything lies."""
        return arrange(self.drawing.boxes, self.drawing.links)

    def at(self, width: int, height: int, key: str, here: tuple[int, int] = (-1, -1)) -> tuple[int, int]:
        """The page that shows a box, ``here`` if that page shows it."""
        return page_of(self.layout, self._frame(width, height, here), key)

    def pages(self, width: int, height: int) -> tuple[int, int]:
        """How many pages there are: to the right, and down."""
        return pages_of(self.layout, self._frame(width, height, (0, 0)))

    def nearest(self, width: int, height: int, at: tuple[int, int], key: str) -> str:
        """Key of the box on a page that is nearest to another box, by columns and then rows; "" for a page without boxes."""
        page, layout, here = self.page(width, height, at, key)[1], self.layout, self.layout.number(key)
        shown = {row.key for line in page.lines.all() for row in line if row.key}
        column, row = (layout.layer[here], layout.row[here]) if here is not None else self._middle
        boxes = (
            (abs(layout.layer[i] - column), abs(layout.row[i] - row), box.key) for i, box in enumerate(layout.boxes)
        )
        return min((place for place in boxes if place[2] in shown), default=(0, 0, ""))[2]

    def at_edge(self, width: int, height: int, at: tuple[int, int], key: str, step: int) -> bool:
        """Whether a box stands in the last column of a page to that side (-1 left, 1 right)."""
        first, last = self.page(width, height, at, key)[1].columns
        here = self.layout.number(key)
        return here is not None and self.layout.layer[here] == (first if step < 0 else last)

    def sheet(self, width: int, height: int, at: tuple[int, int], selected: str) -> Sheet:
        """One page as rows: a line of totals, column heads, the page, a line of what is hidden where."""
        return self.page(width, height, at, selected)[0]

    def page(self, width: int, height: int, at: tuple[int, int], selected: str) -> tuple[Sheet, Page]:
        """``sheet`` with the page it was made from."""
        asked = (width, height, at, selected)
        if asked not in self._pages:
            if len(self._pages) > 64:
                self._pages.clear()
            self._pages[asked] = self._draw(width, height, at, selected)
        return self._pages[asked]

    def _frame(self, width: int, height: int, at: tuple[int, int]) -> Frame:
        return Frame(width, max(1, height - 2 - bool(self.drawing.heads)), at, self._middle)

    @cached_property
    def _middle(self) -> tuple[int, int]:
        number = self.layout.number(self.drawing.center)
        return (0, 0) if number is None else (self.layout.layer[number], self.layout.row[number])

    def _draw(self, width: int, height: int, at: tuple[int, int], selected: str) -> tuple[Sheet, Page]:
        frame = self._frame(width, height, at)
        page = draw_page(
            self.layout, frame, selected or self.drawing.center, heads=self.drawing.heads, faint=self.faint
        )
        body: list[Line | Row] = list(page.lines.all())
        blank = [BLANK] * (frame.height + bool(self.drawing.heads) - len(body))
        first = _wide(self.drawing.said, _where(page), width)
        lines = [first, *body, *blank, _hidden_row(page, self.drawing.hidden, width)]
        return Sheet(Lines(lines), self.drawing.things, "layers"), page


def _wide(text: str, right: str, width: int) -> Row:
    """A line with a part at the right edge, which goes where there is no room for both."""
    fits = len(text) + len(right) + 6 <= width
    return Row("", (Cell(text, "text", False, "tail"),), (Cell(right, "muted"),) if right and fits else ())


def _where(page: Page) -> str:
    across, down = page.pages
    parts = [f"page {page.at[0] + 1} of {across}"] if across > 1 else []
    parts += [f"{page.at[1] + 1} of {down} down"] if down > 1 else []
    return ", ".join(parts)


def _hidden_row(page: Page, beyond: int, width: int) -> Row:
    """``+41 hidden: 12 left (H), 29 right (L)      14 of 60 links drawn``: exact, with the key that shows it."""
    links = f"{len(page.pairs):,} of {plural(page.links, 'link')} drawn"
    long, short = hidden_words(page, beyond)
    return replace(_wide(long if len(long) + 6 <= width else short, links, width), words=(long, links))


def hidden_words(page: Page, beyond: int) -> tuple[str, str]:
    """What is not on a page, by where it is: in words with keys, and by keys alone."""
    parts = (
        (page.left, "left", "H"),
        (page.right, "right", "L"),
        (page.above, "above", "pgup"),
        (page.below, "below", "pgdn"),
    )
    hidden = page.hidden + beyond
    if not hidden:
        return "all of it is here", "all of it is here"
    told = [f"{count:,} {where} ({key})" for count, where, key in parts if count]
    keyed = [f"{key} {count:,}" for count, _, key in parts if count]
    if beyond:
        told, keyed = [*told, f"{beyond:,} farther than this view loads"], [*keyed, f"farther {beyond:,}"]
    return f"+{hidden:,} hidden: {', '.join(told)}", f"+{hidden:,} hidden: {', '.join(keyed)}"


# -- code around a node ------------------------------------------------------------------------------------------------


def of_around(found: Around, believed: Sequence[near.Believed] = ()) -> Drawing:
    """What leads to a node and what it leads to; what is believed about it leads to it too."""
    hops = {found.center.id: 0} | {one.node.id: one.hop for one in found.near}
    keys = {found.center.id: "node"} | {one.node.id: f"at:{one.node.id}" for one in found.near}
    nodes = {found.center.id: found.center} | {one.node.id: one.node for one in found.near}
    states = {found.center.id: found.freshness} | {one.node.id: one.freshness for one in found.near}
    spoken = _spoken(found, nodes)
    things: dict[str, Thing] = {keys[id]: node for id, node in nodes.items()}
    boxes = [replace(_code_box(keys[id], node, states[id], spoken[id]), layer=hops[id]) for id, node in nodes.items()]
    links = [Link(keys[tie.tail], keys[tie.head], LINKS[tie.tier]) for tie in found.ties]
    for one in (one for one in believed if one.retired is None):
        key = f"at:{one.node.id}"
        things[key] = _reason(one.node)
        boxes.append(replace(_reason_box(key, one.node, one.label, one.freshness), layer=-1))
        links.append(Link(key, "node"))
    said = f"{_cone(found.before.per_hop, 'lead here')}   {_cone(found.after.per_hop, 'it leads to')}"
    said += f"   {plural(found.unbound, 'name')} not bound" if found.unbound else ""
    heads = _hops_of(min(box.layer or 0 for box in boxes), max(box.layer or 0 for box in boxes))
    return Drawing(tuple(boxes), tuple(links), things, "node", said, found.boundary.omitted, heads)


def _hops_of(first: int, last: int) -> tuple[str, ...]:
    """``2 hops to it``, ``1 hop to it``, ``here``, ``1 hop on``: what stands above columns that are hops."""
    words = {hop: f"{plural(abs(hop), 'hop')} {'to it' if hop < 0 else 'on'}" for hop in range(first, last + 1)}
    return tuple((words | {0: "here"}).values())


def _cone(per_hop: Sequence[int], words: str) -> str:
    hops = " + ".join(f"{count:,}" for count in per_hop) or "0"
    return f"{hops} {words}"


def _spoken(found: Around, nodes: Mapping[str, m.Node]) -> dict[str, str]:
    """Node id → what it leads to and what leads to it among these, in words."""
    out: defaultdict[str, dict[str, None]] = defaultdict(dict)
    into: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for tie in found.ties:
        if tie.tail == tie.head:
            out[tie.tail][f"{clean(tie.kind)} itself"] = None
        else:
            out[tie.tail][f"{clean(tie.kind)} {name_of(nodes[tie.head])}"] = None
            into[tie.head][f"{name_of(nodes[tie.tail])} {clean(tie.kind)} it"] = None
    return {id: "; ".join(part for part in (_few(out[id]), _few(into[id])) if part) for id in nodes}


def _few(said: Iterable[str]) -> str:
    every = list(said)
    more = f" +{len(every) - _WORDS:,}" if len(every) > _WORDS else ""
    return ", ".join(every[:_WORDS]) + more


def _code_box(key: str, node: m.Node, freshness: m.Freshness, spoken: str) -> Box:
    state = m.Freshness.gated if node.gated else freshness
    cells = (chip_cell(node), Cell(" "), *mark_cells(state), *_short(node))
    mark = "■" if key == "node" else " "
    words = (describe(node), spoken or "no link to any of these")
    return Box(key, cells, order=0, mark=mark, words=words, copy=clean(node.locator))


def _short(node: m.Node) -> tuple[Cell, ...]:
    """A name for a narrow column: no path for a symbol, folders of a file first to give way."""
    if node.type == "file":
        folder, slash, base = clean(node.path).rpartition("/")
        return (Cell(f"{folder}{slash}", "muted", False, "path"), Cell(base, "text", False, "head"))
    return (Cell(clean(node.qual or node.name), "text", False, "head"),)


# -- beliefs -----------------------------------------------------------------------------------------------------------


def of_beliefs(found: near.Around, said: str = "") -> Drawing:
    """What stands around one or more records; code they are about is drawn with its own chips."""
    center = f"at:{found.nodes[0].node.id}" if found.nodes else ""
    boxes: list[Box] = []
    things: dict[str, Thing] = {}
    for met in found.nodes:
        key = f"at:{met.node.id}"
        things[key] = _thing(met.node)
        box = _any_box(key, met.node, met.label)
        boxes.append(replace(box, mark="■" if met.hop == 0 else " "))
    links = [Link(f"at:{edge.src}", f"at:{edge.dst}", "·" if edge.kind == "mentions" else "─") for edge in found.edges]
    said = said or _cone(found.per_hop, "around it")
    return Drawing(tuple(boxes), tuple(links), things, center, said, found.hidden)


_UNKNOWN = m.Freshness.unknown


def _reason(node: GraphNode) -> Reason:
    return Reason(node.id, node.type, node.label)


def _thing(node: m.Node | GraphNode) -> m.Node | Reason:
    """What a row stands for: a node of the code, as far as the reason layer knows one it is bound to, or a record."""
    if isinstance(node, m.Node):
        return node
    locator = node.attrs.get("locator")
    if node.type not in ("symbol", "file", "container") or not isinstance(locator, str):
        return _reason(node)
    path, _, qual = locator.partition(":")[2].partition("::")
    return m.Node(0, node.id, node.type, node.kind, qual.rpartition(".")[2] or path.rpartition("/")[2], qual, path)


def _any_box(key: str, node: m.Node | GraphNode, label: Label | None) -> Box:
    thing = _thing(node)
    if isinstance(thing, m.Node):
        return _code_box(key, thing, _UNKNOWN, "")
    assert not isinstance(node, m.Node), "a record"
    return _reason_box(key, node, label)


def _reason_box(key: str, node: GraphNode, label: Label | None, freshness: m.Freshness = _UNKNOWN) -> Box:
    words = (reason_words(node, label), "w says why, b what would fall with it")
    return Box(key, reason_cells(node, label, freshness), order=1, words=words, copy=clean(node.label))


# -- a path ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stop:
    """One step of a path: a record or a code node, and how it was reached.

    Attributes:
        kind: type of the edge from the step before; "" for the first. reverse: it was read against its direction.
    """

    thing: m.Node | GraphNode
    label: Label | None = None
    kind: str = ""
    reverse: bool = False


def with_path(drawing: Drawing, stops: Sequence[Stop], *, answer: int = -1) -> Drawing:
    """A path drawn on a drawing: its steps stand in columns of their own order, what was drawn before stays around them.

    Args:
        answer: which step is the answer; what comes after it justifies it. -1: the last.
    """
    if not stops:
        return drawing
    same = {thing.id: key for key, thing in drawing.things.items() if isinstance(thing, m.Node | Reason)}
    keys = [same.get(stop.thing.id, f"at:{stop.thing.id}") for stop in stops]
    layer = {key: i for i, key in reversed(list(enumerate(keys)))}
    layer |= _beside(drawing.links, layer)
    old = {box.key: box for box in drawing.boxes}
    boxes = [replace(box, layer=layer.get(box.key, len(stops))) for box in drawing.boxes if box.key not in keys]
    boxes += [
        _stop_box(key, stop, old.get(key), layer[key], stops)
        for key, stop in dict(zip(keys, stops, strict=True)).items()
    ]
    steps = [_step(one, two, stop) for one, two, stop in zip(keys, keys[1:], stops[1:], strict=False) if one != two]
    drawn = {(link.tail, link.head) for link in steps}
    links = [link for link in drawing.links if (link.tail, link.head) not in drawn]
    things = {**drawing.things, **{key: _thing(stop.thing) for key, stop in zip(keys, stops, strict=True)}}
    end = len(stops) - 1 if answer < 0 else answer
    first = min(layer.values())
    heads = tuple(_head_of(at, end, len(stops)) for at in range(first, max(layer.values()) + 1))
    said = f"{plural(end, 'hop')}, {plural(len(stops), 'step')} drawn strongly"
    return Drawing(tuple(boxes), (*steps, *links), things, keys[0], said, drawing.hidden, heads, tuple(keys))


def _step(one: str, two: str, stop: Stop) -> Link:
    return Link(two, one, path=True) if stop.reverse else Link(one, two, path=True)


def _beside(links: Iterable[Link], layer: Mapping[str, int]) -> dict[str, int]:
    """Columns of what is linked with a step: after it what it leads to, before it what leads to it."""
    out: dict[str, int] = {}
    for link in sorted(
        links, key=lambda link: (layer.get(link.tail, 1 << 30), layer.get(link.head, 1 << 30), link.tail, link.head)
    ):
        if link.tail in layer and link.head not in layer:
            out.setdefault(link.head, layer[link.tail] + 1)
        elif link.head in layer and link.tail not in layer:
            out.setdefault(link.tail, layer[link.head] - 1)
    return out


def _stop_box(key: str, stop: Stop, old: Box | None, layer: int, stops: Sequence[Stop]) -> Box:
    thing = stop.thing
    made = old or _any_box(key, thing, stop.label)
    way = "against its direction" if stop.reverse else "along its direction"
    how = f"reached by {clean(stop.kind)}, {way}" if stop.kind else "the walk begins here"
    return replace(made, layer=layer, order=-1, mark="■" if stop is stops[0] else "•", words=(made.words[0], how))


def _head_of(at: int, end: int, count: int) -> str:
    if at < 0 or at >= count:
        return ""
    name = "seed" if at == 0 else f"hop {at}" if at <= end else "because"
    return f"{name}: the answer" if at == end else name


# -- a blast radius ----------------------------------------------------------------------------------------------------


def of_radius(
    radius: Radius, target: GraphNode, nodes: Mapping[str, GraphNode], premises: Mapping[str, Sequence[str]]
) -> Drawing:
    """What would fall by hops: columns are hops, marks say what becomes of each; the target stands at hop 0.

    Args:
        nodes: records by id, as many as the caller looked up; rows without one are counted as hidden.
        premises: id of a node that weakens → premises of the ground it lost.
    """
    falls = {move.id: move for move in radius.falls if move.id in nodes}
    roots = [move for move in falls.values() if move.hop == 0] or []
    boxes = (
        [] if any(move.id == target.id for move in roots) else [_fate(target, "×", "fallen", 0, "what is asked about")]
    )
    links = []
    for move in falls.values():
        boxes.append(_fate(nodes[move.id], "×", "fallen", move.hop, "falls: no other ground holds"))
        parent = move.parent if move.parent in falls else target.id if move.hop else ""
        if parent:
            links.append(Link(f"at:{parent}", f"at:{move.id}", role="fallen"))
    weak = [row for row in radius.weakens if row.id in nodes]
    for row in weak:
        causes = [id for id in premises.get(row.id, ()) if id in falls or id == target.id]
        hop = 1 + max((falls[id].hop if id in falls else 0 for id in causes), default=0)
        boxes.append(_fate(nodes[row.id], "▼", "weakened", hop, "weakens: it lost a ground and stands by another"))
        links += [Link(f"at:{id}", f"at:{row.id}", "·", role="weakened") for id in causes]
    hidden = len(radius.falls) - len(falls) + len(radius.weakens) - len(weak)
    things: dict[str, Thing] = {box.key: _reason(nodes.get(box.key[3:], target)) for box in boxes}
    heads = _hop_heads(radius, boxes)
    said = f"× {len(radius.falls):,} fall   ▼ {len(radius.weakens):,} weaken   ● {radius.preserved_count:,} stand as before"
    marked = tuple(replace(box, mark="■") if box.key == f"at:{target.id}" else box for box in boxes)
    return Drawing(marked, tuple(links), things, f"at:{target.id}", said, hidden, heads)


def _fate(node: GraphNode, glyph: str, role: str, hop: int, words: str) -> Box:
    cells = (
        Cell(f"{glyph} ", role, True),
        reason_chip(node),
        Cell(" "),
        Cell(clean(node.label), "text", False, "tail"),
    )
    said = (reason_words(node, None), f"hop {hop}: {words}" if hop else words)
    return Box(f"at:{node.id}", cells, layer=hop, order=0 if glyph == "×" else 1, words=said, copy=clean(node.label))


def _hop_heads(radius: Radius, boxes: Sequence[Box]) -> tuple[str, ...]:
    """``hop 1  × 120  ▼ 3`` above each column: falls exact, weakened as far as they are drawn."""
    falls = dict(radius.counts)
    weak = Counter(box.layer for box in boxes if box.cells[0].role == "weakened")
    last = max((box.layer or 0 for box in boxes), default=0)
    heads = []
    for hop in range(last + 1):
        parts = [f"× {falls[hop]:,}"] if falls.get(hop) else []
        parts += [f"▼ {weak[hop]:,}"] if weak[hop] else []
        heads.append("  ".join([f"hop {hop}", *parts]))
    return tuple(heads)


__all__ = ["NODES", "STANDING", "Chart", "Drawing", "Stop", "of_around", "of_beliefs", "of_radius", "with_path"]
