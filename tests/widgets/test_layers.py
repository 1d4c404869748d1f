"""The layered layout and its pages: nothing lost, nothing on top of anything, and every line leads where a link leads."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from mog.app.present import clean
from mog.styles import themes
from mog.widgets.canvas import Frame, Page, draw_page, page_of, pages_of
from mog.widgets.fit import plain, spans
from mog.widgets.ink import Ink
from mog.widgets.lanes import Gap, Hop
from mog.widgets.layers import BARS, Box, Layout, Link, arrange, spread
from mog.widgets.strips import draw
from mog.widgets.view import Cell, Line

NAMES = st.text(max_size=12).map(clean)
INK = Ink(themes.variables("dark"))
ASCII_INK = Ink(themes.variables("dark"), ascii_only=True)
RIGHT, LEFT, UP, DOWN = (0, 1), (0, -1), (-1, 0), (1, 0)
ARMS = {
    "┘": (LEFT, UP), "┐": (LEFT, DOWN), "└": (RIGHT, UP), "┌": (RIGHT, DOWN), "┴": (LEFT, RIGHT, UP),
    "┬": (LEFT, RIGHT, DOWN), "┤": (LEFT, UP, DOWN), "├": (RIGHT, UP, DOWN), "┼": (LEFT, RIGHT, UP, DOWN), "│": (UP, DOWN),
}  # fmt: skip


def key(number: int) -> str:
    return f"k{number:02}"


@st.composite
def graphs(draw_from: st.DrawFn) -> tuple[list[Box], list[Link]]:
    """A small graph with whatever goes wrong in graphs: loops, cycles, doubles, ends that are not there."""
    count = draw_from(st.integers(1, 14))
    layered = draw_from(st.booleans())
    boxes = [
        Box(key(i), (Cell("[m]", "code"), Cell(" "), Cell(draw_from(NAMES), give="head")),
            draw_from(st.integers(-2, 3)) if layered else None, draw_from(st.integers(0, 1)))
        for i in range(count)
    ]  # fmt: skip
    ends = st.integers(0, count).map(key)
    links = st.lists(st.builds(Link, ends, ends, st.sampled_from(BARS), st.booleans()), max_size=30)
    return boxes, draw_from(links)


FRAMES = st.builds(Frame, st.integers(24, 170), st.integers(1, 12), st.tuples(st.integers(-1, 4), st.integers(-1, 3)))


def whole(layout: Layout, width: int) -> Page:
    """A page with every row."""
    return draw_page(layout, Frame(width, max(1, layout.rows)))


def cells_of(line: Line, width: int) -> Iterator[tuple[str, str]]:
    """(glyph, key of the box that stands there) for each cell of a canvas line."""
    for (_, room), row in zip(spans(line, width), line, strict=True):
        if row.key:
            yield from [("", row.key)] * room
        else:
            text = "".join(cell.text for cell in row.cells)
            yield from [(char, "") for char in text.ljust(room)]


def trace(grid: Sequence[Sequence[tuple[str, str]]], row: int, x: int) -> set[str]:
    """Keys of the boxes that somebody arrives at who follows the lines from a cell to the right, and never turns back left."""
    found, seen, todo = set(), set(), [(row, x, RIGHT)]
    while todo:
        at = todo.pop()
        if at in seen or not (0 <= at[0] < len(grid) and 0 <= at[1] < len(grid[at[0]])):
            continue
        seen.add(at)
        (y, x, way), (glyph, box) = at, grid[at[0]][at[1]]
        if box:
            found.add(box)
        elif glyph in "─═·←→│" and way == RIGHT:
            todo.append((y + way[0], x + way[1], way))
        elif glyph in ARMS and (-way[0], -way[1]) in ARMS[glyph]:
            ways = [arm for arm in ARMS[glyph] if arm not in (LEFT, (-way[0], -way[1]))]
            todo += [(y + arm[0], x + arm[1], arm) for arm in ways]
    return found


@settings(max_examples=60, deadline=None)
@given(graphs(), FRAMES)
def test_every_box_stands_once_on_a_page_or_is_counted_hidden(
    graph: tuple[list[Box], list[Link]], frame: Frame
) -> None:
    layout = arrange(*graph)
    page = draw_page(layout, frame)
    shown = [row.key for line in page.lines.all() for row in line if row.key]
    assert len(shown) == len(set(shown))
    assert len(shown) + page.hidden == len(graph[0])
    assert len(page.lines) <= frame.height


@settings(max_examples=50, deadline=None)
@given(graphs())
def test_no_two_places_are_one_and_boxes_keep_the_columns_they_ask_for(graph: tuple[list[Box], list[Link]]) -> None:
    layout = arrange(*graph)
    places = list(zip(layout.layer, layout.row, strict=True))
    assert len(places) == len(set(places))
    assert all(0 <= layer < layout.columns and 0 <= row < layout.rows for layer, row in places)
    asked = [(box.layer, layout.layer[i]) for i, box in enumerate(layout.boxes) if box.layer is not None]
    assert all((a < b) == (x < y) for a, x in asked for b, y in asked)


@settings(max_examples=50, deadline=None)
@given(graphs(), st.integers(24, 170), st.integers(1, 6))
def test_the_pages_together_show_every_box(graph: tuple[list[Box], list[Link]], width: int, height: int) -> None:
    layout = arrange(*graph)
    across, down = pages_of(layout, Frame(width, height))
    pages = [draw_page(layout, Frame(width, height, (x, y))) for x in range(across) for y in range(down)]
    assert {row.key for page in pages for line in page.lines.all() for row in line if row.key} == {
        b.key for b in graph[0]
    }
    for box in graph[0]:
        at = page_of(layout, Frame(width, height), box.key)
        page = draw_page(layout, Frame(width, height, at))
        assert page.at == at and page.lines.find(box.key) is not None


@settings(max_examples=120, deadline=None)
@given(graphs(), FRAMES, st.integers(0, 14).map(key), st.booleans())
def test_following_the_lines_leads_to_the_ends_of_links_and_nowhere_else(
    graph: tuple[list[Box], list[Link]], frame: Frame, selected: str, faint: bool
) -> None:
    page = draw_page(arrange(*graph), frame, selected, faint=faint)
    grid = [list(cells_of(line, frame.width)) for line in page.lines.all()]
    real = {frozenset((link.tail, link.head)) for link in graph[1]}
    for y, row in enumerate(grid):
        ends = {box: x + 1 for x, (_, box) in enumerate(row) if box}
        for box, x in ends.items():
            reached = trace(grid, y, x)
            assert reached == {right for left, right in page.pairs if left == box}
            assert all(frozenset((box, far)) in real for far in reached)


def test_the_tracer_sees_a_line_that_leads_astray() -> None:
    gap = Gap(7)
    assert gap.add(Hop(0, 2)) and gap.add(Hop(1, 1))
    marks = gap.marks()
    drawn = [[(marks[y][x].glyph if x in marks[y] else " ", "") for x in range(7)] + [("", key(y))] for y in range(3)]
    assert [trace(drawn, y, 0) for y in range(3)] == [{key(2)}, {key(1)}, set()]
    joined = [[("┼" if glyph == "│" else glyph, box) for glyph, box in row] for row in drawn]
    assert trace(joined, 0, 0) == {key(1), key(2)}


@settings(max_examples=50, deadline=None)
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter(graph: tuple[list[Box], list[Link]], shuffler: random.Random) -> None:
    boxes, links = list(graph[0]), list(graph[1])
    shuffler.shuffle(boxes)
    shuffler.shuffle(links)
    assert arrange(boxes, links) == arrange(*graph)


@settings(max_examples=60, deadline=None)
@given(graphs(), FRAMES, st.integers(0, 14).map(key))
def test_lines_are_as_wide_as_the_page_whatever_the_names_are(
    graph: tuple[list[Box], list[Link]], frame: Frame, selected: str
) -> None:
    page = draw_page(arrange(*graph), frame, selected, heads=["hop 漢字\u0301"] * 3)
    for line in page.lines.all():
        for ink in (INK, ASCII_INK):
            assert cell_len(draw(line, frame.width, ink, cursor=0).text) == frame.width
        assert cell_len(plain(line, frame.width)) <= frame.width


@settings(max_examples=50, deadline=None)
@given(graphs())
def test_links_are_counted_once_a_pair_and_loops_apart(graph: tuple[list[Box], list[Link]]) -> None:
    layout = arrange(*graph)
    known = {box.key for box in graph[0]}
    real = [(link.tail, link.head) for link in graph[1] if {link.tail, link.head} <= known]
    assert len(layout.routes) == len({frozenset(pair) for pair in real if pair[0] != pair[1]})
    assert layout.loops == {tail for tail, head in real if tail == head}


def test_links_of_the_selected_box_come_first_and_what_is_not_drawn_is_marked() -> None:
    boxes = [Box(key(i), (Cell(key(i)),), layer=0 if i < 20 else 1) for i in range(40)]
    links = [Link(key(i), key(20 + j)) for i in range(20) for j in range(20) if (i * 7 + j * 3) % 4 == 0]
    layout = arrange(boxes, links)
    for box in (key(3), key(11), key(33)):
        page = draw_page(layout, Frame(80, 40), box)
        wanted = {(link.tail, link.head) for link in links if box in (link.tail, link.head)}
        assert wanted <= set(page.pairs) < {(link.tail, link.head) for link in links}
    beside = arrange([Box("a", (Cell("a"),), layer=0), Box("b", (Cell("b"),), layer=0)], [Link("a", "b")])
    marks = {row.key: row.mark for line in draw_page(beside, Frame(80, 4), "a").lines.all() for row in line if row.key}
    assert marks == {"a": " ", "b": "→"}


def test_a_cycle_of_three_stands_in_three_columns_with_one_head_turned_round() -> None:
    boxes = [Box(name, (Cell(name),)) for name in "abc"]
    layout = arrange(boxes, [Link("a", "b"), Link("b", "c"), Link("c", "a")])
    page = draw_page(layout, Frame(120, 3), "c")
    text = "\n".join(plain(line, 120) for line in page.lines.all())
    assert layout.columns == 3 and text.count("→") == 2 and text.count("←") == 1


def test_a_chain_of_four_thousand_is_laid_out_without_recursion() -> None:
    boxes = [Box(f"{i:05}", (Cell(str(i)),)) for i in range(4000)]
    layout = arrange(boxes, [Link(f"{i:05}", f"{i + 1:05}") for i in range(3999)])
    page = draw_page(layout, Frame(160, 40, page_of(layout, Frame(160, 40), "02000")))
    assert (layout.columns, layout.rows) == (4000, 1) and page.left + page.right == 3995


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-5, 40), max_size=20), st.integers(0, 20))
def test_spread_keeps_order_and_room(wishes: list[float], more: int) -> None:
    rows = spread(wishes, len(wishes) + more)
    assert rows == sorted(set(rows)) and all(0 <= row < len(wishes) + more for row in rows)


@pytest.mark.parametrize(("width", "many"), [(7, 5), (3, 1)])
def test_a_gap_takes_no_more_turning_lines_than_it_has_lanes(width: int, many: int) -> None:
    gap = Gap(width)
    taken = [gap.add(Hop(i, 19 - i)) for i in range(10)]
    assert sum(taken) == many


FRAME = """\
  [m] api.create ──────────────┐
  [m] cli.quote ···············┤                                  ┌──→  [m] Line.net
  [m] jobs.bill ───────────────┴──→■ [m] Cart.total ──────────────┴──→  [m] round_cents"""


def test_a_frame_reads_as_it_is_drawn() -> None:
    names = ["api.create", "jobs.bill", "cli.quote", "Cart.total", "Line.net", "round_cents"]
    boxes = [Box(n, (Cell("[m]"), Cell(" "), Cell(n)), mark="■" if n == "Cart.total" else " ") for n in names]
    links = [Link(n, "Cart.total", "·" if n == "cli.quote" else "─") for n in names[:3]]
    layout = arrange(boxes, [*links, Link("Cart.total", "Line.net"), Link("Cart.total", "round_cents")])
    page = whole(layout, 100)
    assert "\n".join(plain(line, 100) for line in page.lines.all()) == FRAME
