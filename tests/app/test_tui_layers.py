"""Layers, outline, co-change and beliefs of the graph pane: rows, and keys that lead through them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import fake_around
from fake_workspace import CALLERS, CART, EVERYTHING, LEGACY, PINS, ROUND, STAMP, TOTAL, FakeWorkspace, node
from test_tui_home import foot, opened, press

from mog.app.tui.drawings import path_drawing, radius_drawing, walk_drawing
from mog.app.tui.graph_rows import Room, graph_sheet
from mog.app.tui.layer_rows import Chart, Stop, of_around, of_beliefs, of_radius, with_path
from mog.app.tui.outline_rows import PAGE, Tree, branch_at, parent_key
from mog.app.tui.plain import report
from mog.app.tui.rows import Reason, Sheet
from mog.engine import model as m
from mog.engine.code.outline import Branch, Outline
from mog.engine.errors import NotFound, StoreDamaged
from mog.engine.reason.near import Believed
from mog.engine.reason.records import GraphNode, Label, Retirement
from mog.engine.workspace import Workspace
from mog.widgets.fit import plain

ONCE = GraphNode("a" * 32, "assumption", "ground", "totals round once, last")
CENTS = GraphNode("c" * 32, "claim", "statement", "cart and invoice agree")
OLD = GraphNode("d" * 32, "claim", "statement", "totals round twice")
BELIEVED = (
    Believed(ONCE, Label.standing, None, m.Freshness.drifted, "body changed, 6 lines"),
    Believed(CENTS, Label.contested, None, m.Freshness.fresh, "", True),
    Believed(OLD, Label.fallen, Retirement("d" * 32, "superseded"), m.Freshness.fresh, ""),
)


def text_of(sheet: Sheet, width: int) -> str:
    return "\n".join(plain(sheet.lines.line(i), width, sheet.middle) for i in range(len(sheet.lines)))


def chart(depth: int = 2, limit: int = 50, believed: tuple[Believed, ...] = ()) -> Chart:
    workspace = FakeWorkspace()
    tiers = ("certain", "hierarchy")
    return Chart(of_around(fake_around.around(TOTAL, workspace.edges, depth, limit, tiers, STAMP), believed))


# -- layers ------------------------------------------------------------------------------------------------------------


def test_what_lies_around_a_node_stands_by_hops_and_totals_are_exact() -> None:
    made = chart()
    text = text_of(made.sheet(120, 24, (0, 0), "node"), 120)
    first, heads, *_ = text.splitlines()
    assert first.strip() == "7 lead here   3 it leads to   3 names not bound"
    assert heads.split("  ")[1:2] == ["1 hop to it"] and "here" in heads and "1 hop on" in heads
    assert text.count("[m] Cart.total") == 1 and "■ [m] Cart.total" in text
    assert "══" in text and "┼──→■" in text


@pytest.mark.parametrize("size", [(60, 15), (80, 20), (120, 30), (160, 40)])
def test_a_page_fits_and_names_what_it_hides(size: tuple[int, int]) -> None:
    made = chart(believed=BELIEVED)
    boxes = {box.key for box in made.drawing.boxes}
    sheet, page = made.page(*size, made.at(*size, "node"), "node")
    keys = {row.key for line in page.lines.all() for row in line if row.key}
    text = text_of(sheet, size[0])
    assert len(sheet.lines) <= size[1] and all(len(line) <= size[0] for line in text.splitlines())
    assert len(keys) + page.hidden == len(boxes)
    assert (f"+{page.hidden} hidden" in text) if page.hidden else ("all of it is here" in text)
    assert f"{len(page.pairs)} of {page.links} links drawn" in text


def test_what_calls_itself_says_so_in_words() -> None:
    edges = [(TOTAL, TOTAL, "calls", m.Tier.certain, "total"), (TOTAL, ROUND, "calls", m.Tier.certain, "round_cents")]
    made = Chart(of_around(fake_around.around(TOTAL, edges, 1, 9, ["certain"], STAMP)))
    box = next(box for box in made.drawing.boxes if box.key == "node")
    assert "calls itself" in box.words[1] and made.layout.loops == {"node"}


def test_beliefs_stand_before_what_they_are_about_and_those_taken_back_do_not() -> None:
    made = chart(believed=BELIEVED)
    text = text_of(made.sheet(160, 30, (0, 0), "node"), 160)
    assert "(A) ● ± totals round o" in text and "(C) ≠ cart and invoice" in text and "twice" not in text
    assert made.drawing.things[f"at:{ONCE.id}"] == Reason(ONCE.id, "assumption", ONCE.label)


def test_nodes_beyond_the_answer_are_counted() -> None:
    made = chart(limit=4)
    sheet = made.sheet(160, 30, (0, 0), "node")
    assert "6 farther than this view loads" in text_of(sheet, 160)


def test_a_walk_stands_in_its_own_order_with_the_answer_named() -> None:
    seed = Stop(GraphNode("e" * 32, "entity", "thing", "VAT table"))
    code = Stop(ROUND, kind="about", reverse=True)
    answer = Stop(GraphNode("f" * 32, "decision", "decision", "freeze-vat"), Label.standing, "supports")
    because = Stop(ONCE, Label.weakened, "depends_on")
    made = Chart(with_path(chart().drawing, [seed, code, answer, because], answer=2))
    width, height = 200, 30
    text = text_of(made.sheet(width, height, made.at(width, height, made.drawing.center), made.drawing.center), width)
    assert "seed" in text and "hop 2: the answer" in text and "because" in text
    row = next(line for line in text.splitlines() if "VAT table" in line)
    assert row.index("VAT table") < row.index("round_cents") < row.index("freeze-vat")
    assert made.drawing.steps[1] == f"at:{ROUND.id}"
    assert {box.layer for box in made.drawing.boxes if box.key in made.drawing.steps} == {0, 1, 2, 3}


def test_a_radius_has_a_column_for_each_hop_and_says_what_becomes_of_each(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True, stdin=subprocess.DEVNULL)
    known = Workspace.open(tmp_path).beliefs
    base, other = (str(known.assume(text).result) for text in ("prices are cents", "the gateway is exact"))
    first = str(known.decide("store integers", "floats lose", rests_on=[base]).result)
    second = str(known.decide("no cents column", "one form", rests_on=[first]).result)
    held = str(known.claim("refunds match", rests_on=[[base], [other]]).result)
    radius = known.invalidate(base)
    graph = known.mesh.graph
    ids = [*(move.id for move in radius.falls), *(row.id for row in radius.weakens)]
    grounds = {ground.id: ground.all_of for id in ids for ground in known.mesh.grounds(id)}
    drawing = of_radius(
        radius,
        graph.node(base),
        {id: graph.node(id) for id in ids},
        {row.id: grounds[row.lost] for row in radius.weakens},
    )
    made = Chart(drawing)
    text = text_of(made.sheet(160, 20, (0, 0), ""), 160)
    layers = {box.key: box.layer for box in drawing.boxes}
    assert [layers[f"at:{id}"] for id in (base, first, second, held)] == [0, 1, 2, 1]
    assert "hop 1  × 1  ▼ 1" in text and "hop 2  × 1" in text and f"× {len(radius.falls)} fall" in text
    assert "▼ (C) refunds match" in text and "× (D) no cents column" in text
    cut = of_radius(radius, graph.node(base), {base: graph.node(base)}, {})
    assert cut.hidden == len(ids) - 1 and "farther" in text_of(Chart(cut).sheet(160, 9, (0, 0), ""), 160)
    around = of_beliefs(known.around(base, depth=2))
    assert "● store integers" in text_of(Chart(around).sheet(160, 20, (0, 0), ""), 160)


# -- outline -----------------------------------------------------------------------------------------------------------


def asked(workspace: FakeWorkspace, tree: Tree, target: m.Node) -> None:
    """Ask along the way to a node."""
    way = tree.way_to(target)
    while way is not None:
        tree.put(workspace.outline(way[0], after=way[1]))
        way = tree.way_to(target)


def test_the_outline_asks_only_for_what_is_unfolded() -> None:
    workspace, tree = FakeWorkspace(), Tree()
    asked(workspace, tree, TOTAL)
    assert workspace.calls.count("outline") == 4
    text = "\n".join(plain(tree.source().line(i), 80) for i in range(len(tree.source())))
    shown = [line.split()[:3] for line in text.splitlines()]
    assert ["-", "[F]", "cart.py"] in shown and ["[m]", "total", "6"] in shown and ["+", "tests/", "1"] in shown
    key = f"out:{TOTAL.id}"
    assert tree.source().find(key) and parent_key(tree.source(), key) == f"out:{CART.id}"
    folder = branch_at(tree.source(), "out:shop/")
    assert isinstance(folder, Branch) and tree.fold(folder) and len(tree.source()) == 2


def test_a_branch_of_a_million_costs_what_is_in_view() -> None:
    class Counted(Tree):
        made = 0

    many = [Branch(node("a.py", f"f{i}", line=i + 1), "a.py", f"f{i}", 0, i) for i in range(PAGE)]
    tree = Counted()
    tree.put(Outline("", tuple(many), 1_000_000, 0, PAGE, STAMP))
    source = tree.source()
    assert len(source) == PAGE + 1
    assert plain(source.line(PAGE), 60).strip() == "+999,800 hidden"
    assert source.find("more:") == (PAGE, 0) and len(list(source.things)) == PAGE + 1
    tree.put(Outline("", tuple(many), 1_000_000, PAGE * 7, 0, STAMP))
    assert len(tree.source()) == PAGE + 1, "a page that does not follow is not appended"


def test_beliefs_freshness_and_doubt_are_in_the_row() -> None:
    tree = Tree()
    drifted = Branch(TOTAL, TOTAL.path, "total", 0, 6, 1, m.Freshness.drifted)
    tree.put(Outline("", (drifted,), 1, 0, 0, STAMP))
    tree.notes = {TOTAL.locator: 3}
    row = tree.source().line(0)[0]
    assert plain((row,), 60).split() == ["[m]", "±", "total", "3", "about", "it", "6", "callers", "1", "maybe"]
    assert "drifted" in row.words[1] and "3 records" in row.words[1]


# -- beside the focus --------------------------------------------------------------------------------------------------


def focus_text(along: bool, believed: tuple[Believed, ...] = BELIEVED, why: str = "") -> str:
    hood = FakeWorkspace().neighbors(TOTAL.id, tiers=["certain"], limit=50, history=along)
    return text_of(graph_sheet(hood, Room(80, 40, along=along, sides=False), believed, why), 80)


def test_what_is_believed_stands_with_standing_and_freshness_and_the_rest_is_counted() -> None:
    text = focus_text(along=False)
    assert "believed about it 4" in text and "+1 hidden: 1 superseded or taken back" in text
    assert "(A) ● ± totals round once, last" in text and "drifted" in text and "(C) ≠ cart and invoice agree" in text


def test_what_is_not_known_of_beliefs_is_not_said_to_be_nothing() -> None:
    assert "? what is believed is not known: the ledger is damaged" in focus_text(False, (), "the ledger is damaged")


def test_co_change_says_in_how_many_commits_and_how_many_files_more() -> None:
    text = focus_text(along=True)
    assert "co-changes ≈≈  [F] shop/tax.py  in 7 of 9 commits" in text
    assert "changed along 14" in text and "+12 hidden" in text and "120 commits" in text


# -- keys --------------------------------------------------------------------------------------------------------------


async def test_z_steps_through_focus_layers_and_outline_and_esc_leads_back() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "z")
        assert home.here.title.note.startswith("layers") and "1 hop to it" in home.here.text()
        assert home.here.cursor == "node"
        await press(pilot, "z")
        assert home.here.title.note == "outline" and home.here.cursor == f"out:{TOTAL.id}"
        await press(pilot, "z")
        assert home.here.title.note == "focus"
        await press(pilot, "z", "escape")
        assert home.here.title.note == "focus"


async def test_without_a_node_in_focus_z_says_why_not() -> None:
    async with opened(FakeWorkspace(indexed=False, pins=())) as (pilot, home, _):
        await press(pilot, "z")
        assert "no node is in focus" in foot(home) and home.content("graph").view == "focus"


async def test_layers_draw_the_links_of_the_box_at_the_cursor_and_enter_brings_it_into_focus() -> None:
    async with opened(size=(160, 45)) as (pilot, home, _):
        await press(pilot, "m", "z")
        before = home.here.text()
        await press(pilot, "l")
        assert home.here.cursor != "node" and home.content("graph").layers.selected == home.here.cursor
        assert home.here.text() != before or home.here.source
        target = home.sheets["graph"].node(home.here.cursor)
        await press(pilot, "enter")
        assert target is not None and home.content("graph").hood.node.id == target.id
        assert home.here.title.note.startswith("layers") and home.here.cursor == "node"
        await press(pilot, "comma")
        assert home.content("graph").hood.node.id == TOTAL.id and home.here.title.note.startswith("layers")


async def test_pages_turn_with_capitals_and_hold_the_cursor_near() -> None:
    async with opened(size=(60, 18)) as (pilot, home, _):
        await press(pilot, "z")
        pages = home.content("graph").layers
        assert pages.chart.pages(*pages._room)[0] > 1
        await press(pilot, "L")
        assert home.here.cursor and pages.selected == home.here.cursor
        for _ in range(6):
            await press(pilot, "L")
        assert "nothing lies to the right" in foot(home)
        for _ in range(6):
            await press(pilot, "H")
        assert "nothing lies to the left" in foot(home)


async def test_h_and_l_walk_over_the_edge_of_a_page_to_the_last_column() -> None:
    async with opened(size=(60, 18)) as (pilot, home, _):
        await press(pilot, "z")
        layers = home.content("graph").layers
        for _ in range(8):
            await press(pilot, "l")
        layout = layers.chart.layout
        assert layout.layer[layout.number(home.here.cursor)] == layout.columns - 1
        assert "nothing stands to the right" in foot(home)


async def test_rows_below_the_page_come_with_the_next_page() -> None:
    workspace = FakeWorkspace()
    workspace.edges = [(node("a.py", f"caller_{i}"), TOTAL, "calls", m.Tier.certain, "total") for i in range(60)]
    async with opened(workspace, size=(80, 24)) as (pilot, home, _):
        await press(pilot, "z", "h")
        layers = home.content("graph").layers
        assert layers.chart.pages(*layers._room)[1] > 1 and "pgdn 2" in home.here.text()
        seen: set[str] = set()
        await press(pilot, "k", *["pageup"] * 8)
        for _ in range(24):
            source = home.here.source
            seen |= {row.key for i in range(len(source)) for row in source.line(i) if row.key}
            await press(pilot, "pagedown")
        assert len(seen) == 61


async def test_tiers_and_hops_ask_again_and_the_title_says_them() -> None:
    async with opened(size=(160, 45)) as (pilot, home, _workspace):
        await press(pilot, "m", "z")
        assert "legacy" not in home.here.text() and "2 hops (v)" in home.here.title.note
        await press(pilot, "t")
        assert "certain + hierarchy + maybe (t)" in home.here.title.right
        assert f"at:{LEGACY.id}" in home.sheets["graph"].things
        await press(pilot, "v")
        assert "3 hops (v)" in home.here.title.note


async def test_the_outline_folds_unfolds_and_opens() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "z", "z")
        await press(pilot, "h")
        assert home.here.cursor == f"out:{CART.id}"
        await press(pilot, "h")
        assert home.here.source.find(f"out:{TOTAL.id}") is None
        await press(pilot, "l")
        assert home.here.source.find(f"out:{TOTAL.id}")
        await press(pilot, "g")
        assert home.here.cursor == "out:shop/"
        await press(pilot, "enter")
        assert len(home.here.source) == 2
        await press(pilot, "enter", "j", "l")
        assert home.here.source.find("out:shop/api/") is not None
        home.here.go(f"out:{CART.id}")
        await press(pilot, "enter")
        assert home.content("graph").hood.node.id == CART.id and home.here.title.note == "focus"


async def test_an_unfolded_branch_that_is_gone_leaves_and_the_rest_stays() -> None:
    async with opened() as (pilot, home, workspace):
        await press(pilot, "z", "z")
        workspace.nodes = {id: one for id, one in workspace.nodes.items() if one.path != "shop/cart.py"}
        home.content("graph").outlined.ask()
        await press(pilot)
        text = home.here.text()
        assert "cart.py" not in text and "money.py" in text


async def test_capital_t_shows_what_changed_along() -> None:
    async with opened(size=(160, 45)) as (pilot, home, _):
        await press(pilot, "m", "T")
        assert "co-changes ≈≈  [F] shop/tax.py" in home.here.text()
        await press(pilot, "T")
        assert "co-changes" not in home.here.text()


async def test_a_ledger_that_cannot_be_read_leaves_the_graph_standing() -> None:
    workspace = FakeWorkspace()
    workspace.fail["believed"] = StoreDamaged("the ledger is damaged", way_out="mog doctor")
    async with opened(workspace, size=(160, 45)) as (pilot, home, _):
        await press(pilot, "m")
        text = home.here.text()
        assert "what is believed is not known" in text and "create_order" in text
        await press(pilot, "z")
        assert "the ledger is damaged" in home.here.text()


async def test_another_pane_may_have_a_walk_drawn_and_esc_leads_back() -> None:
    async with opened(size=(160, 45)) as (pilot, home, _):
        drawing = chart(believed=BELIEVED).drawing
        stops = [Stop(ONCE, Label.standing), Stop(TOTAL, kind="about"), Stop(ROUND, kind="calls")]
        home.content("graph").see(lambda: with_path(drawing, stops), "walk of 2 hops")
        await press(pilot)
        assert "walk of 2 hops" in home.here.title.right and "hop 2: the answer" in home.here.text()
        await press(pilot, "escape")
        assert home.here.title.note == "focus" and home.here.row is not None
        await press(pilot, "z")
        assert "walk" not in home.here.title.right and "1 hop to it" in home.here.text()


def test_the_plain_twin_is_the_focus_view_with_what_is_believed() -> None:
    workspace = FakeWorkspace(pins=PINS)
    workspace.beliefs_about = {TOTAL.locator: BELIEVED}
    text = report(workspace, "graph", 100)  # type: ignore[arg-type]
    assert "(A) ● ± totals round once, last" in text and CALLERS[0].qual in text
    assert len(EVERYTHING) > 10


# -- drawn for other panes ---------------------------------------------------------------------------------------------


@pytest.fixture
def known(tmp_path: Path) -> Workspace:
    """A function with an assumption about it, and what rests on that."""
    (tmp_path / "cart.py").write_text("def total(a):\n    return net(a)\n\n\ndef net(a):\n    return a\n")
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True, stdin=subprocess.DEVNULL)
    workspace = Workspace.open(tmp_path)
    workspace.index(workers=1)
    base = str(workspace.beliefs.assume("prices arrive in minor units", about=["total"]).result)
    workspace.beliefs.decide("store cents as integers", "floats lose cents", rests_on=[base])
    return workspace


def test_a_walk_is_drawn_from_its_steps_to_what_justifies_it(known: Workspace) -> None:
    walk = known.beliefs.ask("why store cents as integers")
    assert walk.resolved
    made = Chart(walk_drawing(known.beliefs, walk))
    text = text_of(made.sheet(160, 20, (0, 0), made.drawing.center), 160)
    assert "(D) ● store cents as integers" in text and "the answer" in text
    assert len(made.drawing.steps) == len(walk.path) + len(walk.tail)
    with pytest.raises(NotFound):
        walk_drawing(known.beliefs, known.beliefs.ask("who approved the gift card rule"))


def test_the_path_of_a_question_is_drawn_and_what_is_gone_is_left_out(known: Workspace) -> None:
    base = known.beliefs.mesh.graph.nodes("assumption")[0].id
    made = Chart(path_drawing(known, ["sym:cart.py::total", base, "sym:gone.py::x", "sym:cart.py::net"], ["certain"]))
    assert [made.drawing.things[key] for key in made.drawing.steps] == [
        known.find("total"), Reason(base, "assumption", "prices arrive in minor units"), known.find("net"),
    ]  # fmt: skip
    alone = path_drawing(known, [base], ["certain"])
    assert alone.steps and alone.center == f"at:{base}"
    with pytest.raises(NotFound):
        path_drawing(known, ["sym:gone.py::x"], ["certain"])


def test_a_radius_is_a_preview_and_counts_what_it_cuts(known: Workspace) -> None:
    base = known.beliefs.mesh.graph.nodes("assumption")[0].id
    for i in range(12):
        known.beliefs.decide(f"rule {i}", "because", rests_on=[base])
    before = known.beliefs.mesh.head
    whole, cut = (radius_drawing(known.beliefs, base, limit) for limit in (240, 8))
    assert known.beliefs.mesh.head == before
    assert whole.hidden == 0 and len(whole.boxes) == 14 and "× 14 fall" in whole.said
    assert cut.hidden + len(cut.boxes) == 14 and "× 14 fall" in cut.said


async def test_walk_path_and_radius_come_into_the_graph_on_request(known: Workspace) -> None:
    base = known.beliefs.mesh.graph.nodes("assumption")[0].id
    async with opened(known, size=(160, 45)) as (pilot, home, _):  # type: ignore[arg-type]
        graph = home.content("graph")
        graph.see_radius(base)
        await press(pilot)
        assert "blast radius" in home.here.title.right and "hop 1  × 1" in home.here.text()
        graph.see_walk(known.beliefs.ask("why store cents as integers"))
        await press(pilot)
        assert "walk: " in home.here.title.right and "the answer" in home.here.text()
        graph.see_path(["sym:cart.py::total", "sym:cart.py::net"])
        await press(pilot)
        assert "path of 2 nodes" in home.here.title.right and "seed" in home.here.text()
        graph.see_path(["sym:gone.py::x"])
        await press(pilot)
        assert "nothing on this path is known" in home.here.text()
        await press(pilot, "escape")
        assert home.here.title.note == "focus"
