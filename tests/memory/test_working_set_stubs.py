"""Stubs: one line, within its tokens for any title, and no title can pass for a stub or end one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from set_kit import item

from mog.app.present import clean
from mog.engine.memory import set_stubs
from mog.engine.memory.set_records import Entry, Pinned, Place
from mog.engine.model import Freshness
from mog.engine.retrieval import estimator
from mog.engine.retrieval.model import Zoom


def entry(title: str = "f, a.py", tokens: int = 3_200, digits: int = 12) -> Entry:
    """An evicted thing."""
    ref = "ws_" + "0123456789abcdef" * 2
    return Entry(
        ref[: 3 + digits], "sym:a.py::f", Place.evicted, Zoom.L2, tokens, 4 * tokens, "function", title, "repo", "", Freshness.fresh,
        1.0, 0, 1, 1, 2, Pinned.no, b"x",
    )  # fmt: skip


def test_a_stub_names_what_it_stands_for_its_cost_and_the_way_back() -> None:
    wanted = '[evicted ws_0123456789ab · "f, a.py" · 3.2k tokens · recall: mog ws recall ws_0123456789ab]'
    assert set_stubs.line(entry()) == wanted


@given(
    st.text(max_size=400) | st.text(alphabet='"[]\\·…ﷺ\u202e\u3164\ufe0f\U0001f469\u200d\n\x1b', max_size=200),
    st.integers(0, 10**12), st.sampled_from([12, 16, 24, 32]), st.integers(0, 60),
)  # fmt: skip
def test_whatever_the_title_a_stub_is_one_safe_line_within_its_tokens(title: str, tokens: int, digits: int, most: int) -> None:
    line = set_stubs.line(entry(title, tokens, digits), most)
    assert estimator.tokens(line) <= max(most, set_stubs.LEAST)
    assert line == clean(line)
    assert line.count("[") == line.count("]") == 1 and line.count('"') in (0, 2)
    assert line.count(entry(digits=digits).ref) == 2


@given(st.text(max_size=300))
def test_a_default_stub_costs_at_most_forty_tokens(title: str) -> None:
    assert estimator.tokens(set_stubs.line(entry(title, 10**9, 32))) <= 40


@pytest.mark.parametrize(
    ("tokens", "told"),
    [(0, "0"), (999, "999"), (1_000, "1.0k"), (3_249, "3.2k"), (9_999, "10.0k"), (12_900, "12k"), (2_500_000, "2.5M")],
)
def test_amounts_are_short(tokens: int, told: str) -> None:
    assert set_stubs.amount(tokens) == told


def test_a_title_is_the_name_and_file_or_the_first_words_of_a_note() -> None:
    assert set_stubs.title(item("Cart.total")) == "Cart.total, a.py"
    note = item("note:1", "[note:1 · constraint]\n\n> Tokens live an hour.\n> more", label="user")
    assert set_stubs.title(note) == "Tokens live an hour."
    assert set_stubs.title(item("note:2", "[note:2]\n", label="user")) == "note:2"
