"""What a pack prefers: signatures first, bodies of the best few, names of what is large, each thing once."""

from __future__ import annotations

from mog.engine.model import Freshness, IndexStamp, Node
from mog.engine.retrieval.model import Found, Item, Pack, Rendered, Zoom
from mog.engine.retrieval.pack import fill

STAMP = IndexStamp(1, "main", False)
SIZES = {Zoom.L0: 10, Zoom.L1: 40, Zoom.L2: 400, Zoom.L3: 4_000}


def node(key: int, qual: str, kind: str = "function", path: str = "a.py") -> Node:
    return Node(key, f"{key:032x}", "file" if kind == "source" else "symbol", kind, qual.rpartition(".")[2], qual, path)


def packed(nodes: list[Node], budget: int, *, zoom: Zoom | None = None, sizes: dict[str, dict[Zoom, int]] | None = None,
           first: tuple[Item, ...] = (), limit: int = 50) -> Pack:  # fmt: skip
    def render(one: Node, level: Zoom) -> Rendered:
        size = (sizes or {}).get(one.qual, SIZES)[level]
        return Rendered(f"{one.qual} " + "y" * size, level, Freshness.fresh)

    found = [Found(one, 10.0 - at) for at, one in enumerate(nodes)]
    return fill("q", found, render, budget, STAMP, zoom=zoom, first=first, limit=limit)


def zooms(made: Pack) -> list[tuple[str, str]]:
    return [(item.node.qual if item.node else item.id, item.zoom.name) for item in made.items]


def test_the_best_few_are_bodies_and_the_rest_signatures() -> None:
    made = packed([node(n, f"f{n}", path=f"{n}.py") for n in range(20)], 4_000)
    assert [zoom for _, zoom in zooms(made)] == ["L2"] * 6 + ["L1"] * 14  # nothing else was found, so there was room for more
    made = packed([node(n, f"f{n}", path=f"{n}.py") for n in range(80)], 1_200)
    assert [zoom for _, zoom in zooms(made)][:5] == ["L2", "L2", "L2", "L1", "L1"]


def test_signatures_come_before_bodies_where_there_is_little_room() -> None:
    made = packed([node(n, f"f{n}", path=f"{n}.py") for n in range(20)], 300)
    assert len(made.items) > 8 and {zoom for _, zoom in zooms(made)[3:]} == {"L1"}


def test_a_body_that_would_take_a_third_of_the_budget_stays_a_signature() -> None:
    made = packed([node(1, "big"), node(2, "small", path="b.py")], 1_000, sizes={"big": {**SIZES, Zoom.L2: 1_800}})
    assert zooms(made) == [("big", "L1"), ("small", "L2")]


def test_a_class_with_many_signatures_is_shown_as_its_names_until_asked_for() -> None:
    sizes = {"C": {Zoom.L0: 60, Zoom.L1: 3_000, Zoom.L2: 9_000, Zoom.L3: 9_000}}
    assert zooms(packed([node(1, "C", "class")], 4_000, sizes=sizes)) == [("C", "L0")]
    assert zooms(packed([node(1, "C", "class")], 4_000, sizes=sizes, zoom=Zoom.L1)) == [("C", "L1")]


def test_what_does_not_fit_as_the_first_thing_is_shown_lower_and_what_it_needs_is_said() -> None:
    made = packed([node(1, "f")], 64, zoom=Zoom.L3)
    assert zooms(made) == [("f", "L1")]
    nothing = packed([node(1, "f")], 64, zoom=Zoom.L0, sizes={"f": {Zoom.L0: 900}})
    assert not nothing.items and nothing.omitted == {"budget": 1} and nothing.needed > 64


def test_a_method_inside_a_class_that_is_shown_whole_is_counted_as_a_duplicate() -> None:
    nodes = [node(1, "C", "class"), node(2, "C.m", "method"), node(3, "D.m", "method"), node(4, "C.m", "method", "b.py")]
    made = packed(nodes, 9_000, zoom=Zoom.L2)
    assert zooms(made) == [("C", "L2"), ("D.m", "L2"), ("C.m", "L2")]
    assert made.omitted == {"duplicate": 1}


def test_a_closure_is_no_duplicate_of_the_signature_of_its_function() -> None:
    nodes = [node(1, "f"), node(2, "f.inner")]
    assert zooms(packed(nodes, 900, zoom=Zoom.L1)) == [("f", "L1"), ("f.inner", "L1")]
    assert zooms(packed(nodes, 900, zoom=Zoom.L2)) == [("f", "L2")]


def test_a_method_found_before_its_class_gives_way_to_the_body_of_the_class() -> None:
    sizes = {"C": {**SIZES, Zoom.L2: 600}, "C.m": {**SIZES, Zoom.L2: 9_000}}
    made = packed([node(2, "C.m", "method"), node(1, "C", "class")], 2_000, sizes=sizes)
    assert zooms(made) == [("C", "L2")] and made.omitted == {"duplicate": 1}


def test_the_best_method_keeps_its_body_though_its_class_was_found_first() -> None:
    sizes = {"C": {**SIZES, Zoom.L2: 90_000}}
    made = packed([node(1, "C", "class"), node(2, "C.m", "method")], 2_000, sizes=sizes)
    assert zooms(made) == [("C", "L1"), ("C.m", "L2")]


def test_ready_items_come_first_and_are_never_changed() -> None:
    note = Item("note:1", "constraint", "never round twice", Zoom.L2, 0, 0, Freshness.fresh, label="user")
    made = packed([node(1, "f")], 400, first=(note,))
    assert made.items[0].text == note.text and made.items[0].label == "user"
    large = Item("note:2", "failure", "z" * 4_000, Zoom.L2, 0, 0, Freshness.fresh, label="agent")
    made = packed([node(1, "f")], 400, first=(large,))
    assert zooms(made)[0][0] == "f" and made.omitted == {"budget": 1} and made.needed > 1_000


def test_what_is_shown_is_a_beginning_of_what_was_found() -> None:
    nodes = [node(n, f"f{n}", path=f"{n}.py") for n in range(30)]
    for limit, budget in ((5, 4_000), (50, 300)):
        made = packed(nodes, budget, zoom=Zoom.L1, limit=limit)
        count = len(made.items)
        assert [name for name, _ in zooms(made)] == [f"f{n}" for n in range(count)] and 0 < count < 30
        assert made.omitted == {"limit" if limit == 5 else "budget": 30 - count}
