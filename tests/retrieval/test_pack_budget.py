"""The promise of a pack, held for random texts, budgets and zooms: never above the budget, and everything found is accounted for."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from mog.app import plain_context
from mog.app.plain import ASCII, text_of
from mog.app.present import clean
from mog.engine.model import Freshness, IndexStamp, Node, Tier
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Found, Hop, Item, Rendered, Zoom
from mog.engine.retrieval.pack import cost, fill, printed

STAMP = IndexStamp(1, "main", False)
HOSTILE = "a\x1b[31m\u202e\udcff\n\t\r\u200b\u3164\U000e0041\ufe0f\u00a0é漢😀"
TEXTS = st.one_of(
    st.text(max_size=20), st.text(st.sampled_from(HOSTILE), max_size=30), st.integers(0, 900).map(lambda n: "x = 1\n\x1b" * n)
)


def node(key: int, qual: str, path: str = "a.py", kind: str = "function", type_: str = "symbol") -> Node:
    return Node(key, f"{key:032x}", type_, kind, qual.rpartition(".")[2], qual, path)


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[Found], dict[tuple[int, Zoom], Rendered], list[Item]]:
    """Found things with a rendering at every zoom (longer ones further up or not), some gated or gone, and ready items."""
    found, texts = [], {}
    for key in range(draw(st.integers(0, 8))):
        qual = draw(st.sampled_from(["f", "C", "C.m", "C.m.inner", "D.x", HOSTILE])) + draw(st.sampled_from(["", f"{key}"]))
        place, kind = draw(st.sampled_from(["a.py", "b\n.py", HOSTILE])), draw(st.sampled_from(["function", "class", "method"]))
        one = node(key, qual, place, kind)
        path = tuple(Hop(one, "calls", tier, False) for tier in draw(st.lists(st.sampled_from(list(Tier)), max_size=2)))
        found.append(Found(one, draw(st.floats(0, 9)), {"words": 1.0}, path))
        for zoom in Zoom:
            gated = draw(st.integers(0, 9)) == 0
            state = draw(st.sampled_from([Freshness.fresh, Freshness.fresh, Freshness.drifted, Freshness.missing]))
            warnings = draw(st.sampled_from([(), ("the file changed",), (HOSTILE,)]))
            texts[key, zoom] = Rendered("" if gated else draw(TEXTS), zoom, state, gated, warnings)
    said = draw(st.lists(TEXTS, max_size=3))
    notes = [Item(f"note:{n}", "constraint", text, Zoom.L2, 0, 0, Freshness.fresh, label="user") for n, text in enumerate(said)]
    return found, texts, notes


@settings(max_examples=50, deadline=None)
@given(answers(), st.integers(0, 4_000), st.sampled_from([None, *Zoom]), st.integers(1, 14))
def test_no_pack_exceeds_its_budget_as_it_is_printed(
    answer: tuple[list[Found], dict[tuple[int, Zoom], Rendered], list[Item]], budget: int, zoom: Zoom | None, limit: int
) -> None:
    found, texts, notes = answer
    made = fill("q", found, lambda one, level: texts[one.key, level], budget, STAMP, zoom=zoom, first=notes, limit=limit)
    shown = [clean(printed(item), keep="\n\t") for item in made.items]
    assert sum(item.tokens for item in made.items) <= made.budget
    assert estimator.tokens("".join(shown)) <= made.tokens <= made.budget
    assert [estimator.size(text) <= item.size for text, item in zip(shown, made.items, strict=True)] == [True] * len(shown)
    assert len(made.items) + sum(made.omitted.values()) == made.found == len(found) + len(notes)
    assert len(made.items) <= limit
    assert all(item.provenance or item.label == "user" for item in made.items)
    assert [item.tier for item in made.items if item.node] == [
        max((hop.tier for hop in item.path), default=Tier.certain) for item in made.items if item.node
    ]
    assert not any(item.node and texts[item.node.key, item.zoom].gated and item.text for item in made.items)
    assert bool(made.needed) <= bool(made.omitted.get("budget"))


@settings(max_examples=200, deadline=None)
@given(st.one_of(TEXTS, st.text(st.characters(exclude_categories=()), max_size=60)))
@example(HOSTILE)
@example("\u115f\u2800\ufe01\U000e0100")
def test_a_text_costs_at_least_what_a_surface_prints_of_it(text: str) -> None:
    assert cost(text) >= estimator.size(clean(text, keep="\n\t"))


@settings(max_examples=60)
@given(st.text(st.characters(categories=("Lu", "Ll", "Lt", "Nd", "Po")), max_size=60))
def test_an_ordinary_text_costs_its_bytes(text: str) -> None:
    assert cost(text) == estimator.size(text)


def test_the_command_line_prints_exactly_what_was_paid_for() -> None:
    texts = {Zoom.L1: Rendered("def f():\n\treturn 1", Zoom.L1, Freshness.fresh)}
    made = fill("q", [Found(node(1, "f"), 1.0)], lambda _, level: texts[level], 500, STAMP, zoom=Zoom.L1)
    lines = [text_of(line) for line in plain_context.pack(made, ASCII)]
    assert "\n".join(lines).startswith(printed(made.items[0]))


def test_a_name_cannot_begin_a_line_of_its_own() -> None:
    evil = node(1, "f", "a\nsym:b.py::g [function, L2, fresh]\n.py")
    made = fill("q", [Found(evil, 1.0)], lambda *_: Rendered("x", Zoom.L1, Freshness.fresh), 500, STAMP)
    assert printed(made.items[0]).count("\n") == 2


def test_the_mark_of_a_pinned_thing_is_paid_for() -> None:
    made = fill("q", [Found(node(1, "f"), float("inf"))], lambda *_: Rendered("x", Zoom.L1, Freshness.fresh), 500, STAMP)
    item = made.items[0]
    assert item.pinned and ", pinned]" in printed(item) and item.size == estimator.size(printed(item))
