"""Layout of rows, strips and their differences, styles of every theme."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.color import ColorType

from mog.styles import themes
from mog.styles.contrast import contrast, pairs
from mog.widgets.fit import columns, cut_head, cut_path, cut_tail, fit, plain, share, title_row, width_of
from mog.widgets.ink import GROUNDS, Ink
from mog.widgets.strips import ASCII, changed, draw
from mog.widgets.view import BLANK, ROLES, Cell, Lines, Row, Title, gone

WORDS = st.text(st.sampled_from("abc /:…漢字─●"), max_size=30)
CELLS = st.builds(
    Cell, WORDS, st.sampled_from(ROLES), st.booleans(), st.sampled_from(["", "path", "head", "tail", "drop"])
)
ROWS = st.builds(Row, WORDS, st.lists(CELLS, max_size=5).map(tuple), st.lists(CELLS, max_size=3).map(tuple))
INK = Ink(themes.variables("dark"))


@settings(max_examples=200, deadline=None)
@given(ROWS, st.integers(1, 120))
def test_a_fitted_row_fills_exactly_its_width(row: Row, width: int) -> None:
    assert width_of(fit(row, width)) == width


@settings(max_examples=100, deadline=None)
@given(st.lists(ROWS, min_size=1, max_size=3), st.integers(40, 160))
def test_a_drawn_line_is_as_wide_as_its_pane_and_has_no_style_of_none(rows: list[Row], width: int) -> None:
    strip = draw(tuple(rows), width, INK, cursor=0, middle=width // 4)
    assert cell_len(strip.text) == width
    assert all(segment.style is not None for segment in strip)


@settings(max_examples=200, deadline=None)
@given(WORDS, st.integers(0, 20))
def test_cut_texts_never_pass_the_width(text: str, width: int) -> None:
    for cut in (cut_tail, cut_head, cut_path):
        assert cell_len(cut(text, width)) <= width


def test_paths_lose_folders_before_names_lose_letters() -> None:
    row = Row("", (Cell("shop/api/orders.py::", "muted", False, "path"), Cell("create_order", give="head")))
    assert "".join(c.text for c in fit(row, 26)) == "orders.py::create_order   "
    assert "".join(c.text for c in fit(row, 14)) == "create_order  "
    assert "".join(c.text for c in fit(row, 8)) == "…e_order"


def test_a_title_keeps_its_name_and_drops_its_note_first() -> None:
    row = title_row(Title("8", "Health", "1 warning", "9,741 of 9,800"), False)
    assert plain((row,), 40).startswith("  8 Health  1 warning ─")
    assert plain((row,), 29) == "  8 Health ── 9,741 of 9,800"


@settings(max_examples=200, deadline=None)
@given(st.lists(ROWS, min_size=2, max_size=2), st.integers(20, 80))
def test_changed_covers_every_cell_that_differs(rows: list[Row], width: int) -> None:
    old, new = (draw((row,), width, INK) for row in rows)
    span = changed(old, new)
    start, end = span or (width, width)
    joined = [*old.crop(0, start), *new.crop(start, end), *old.crop(end, width)]
    assert "".join(s.text for s in joined) == new.text


def test_equal_strips_have_no_difference_even_where_blanks_have_other_colours() -> None:
    one = draw((Row("", (Cell("a"), Cell("   ", "muted"))),), 20, INK)
    two = draw((Row("", (Cell("a"), Cell("   ", "attn"))),), 20, INK)
    assert changed(one, two) is None


def test_share_gives_small_sections_all_and_the_rest_equally() -> None:
    assert share([3, 50, 40], 23) == [3, 10, 10]
    assert share([0, 5], 20) == [0, 5]
    assert share([9, 9], 1) == [2, 2]


def test_columns_leave_one_cell_for_each_rule() -> None:
    for count, width in itertools.product((1, 2, 3), (60, 61, 150)):
        spots = columns(count, width, 30)
        assert sum(w for _, w in spots) + count - 1 == width
        assert all(x + w + 1 == nx for (x, w), (nx, _) in itertools.pairwise(spots))


def test_a_kept_row_stands_where_it_stood() -> None:
    rows = [Row(f"r{i}", (Cell(str(i)),)) for i in range(5)]
    lines = Lines([rows[0], rows[1], rows[3]]).keeping(rows[2], 2, 0)
    assert [line[0].key for line in lines.all()] == ["r0", "r1", "r2", "r3"]
    assert lines.line(2)[0] == gone(rows[2])
    beside = Lines([(BLANK, rows[1])]).keeping(rows[0], 0, 0)
    assert beside.find("r0") == (0, 0)


def test_ascii_twins_are_one_cell_each() -> None:
    assert all(len(str(twin)) == 1 and str(twin).isascii() for twin in ASCII.values())


# -- themes ------------------------------------------------------------------------------------------------------------


def _hex(ink: Ink, role: str, ground: str) -> tuple[str, str]:
    style = ink.style(role, ground, False)
    assert style.color and style.bgcolor and style.color.triplet and style.bgcolor.triplet
    return style.color.triplet.hex, style.bgcolor.triplet.hex


@pytest.mark.parametrize("name", list(themes.PALETTES))
def test_every_text_role_is_readable_on_every_ground(name: str) -> None:
    ink = Ink(themes.variables(name))
    ratios = {pair: contrast(*_hex(ink, *pair)) for pair in itertools.product(ROLES, GROUNDS)}
    assert min(ratios.values()) >= 4.5, min(ratios.items(), key=lambda item: item[1])
    measured = {(role, ground): ratio for role, ground, ratio in pairs(themes.palette(name))}
    assert measured == pytest.approx(ratios), "what a person is warned of is what is drawn"


@pytest.mark.parametrize("name", list(themes.FLAT))
def test_flat_themes_leave_grounds_to_the_terminal(name: str) -> None:
    ink = Ink(themes.variables(name))
    for role, ground in itertools.product(ROLES, GROUNDS):
        style = ink.style(role, ground, False)
        assert style.bgcolor is None
        assert style.color is None or (name != "mono" and style.color.type is ColorType.STANDARD)
        assert ground not in ("cur", "hot") or style.reverse


@pytest.mark.parametrize("name", themes.NAMES)
def test_marks_differ_from_text_by_weight_where_colour_is_missing(name: str) -> None:
    ink = Ink(themes.variables(name))
    if ink.mode != "color":
        assert ink.style("stale", "bg", False).bold


@pytest.mark.parametrize(
    ("environ", "wanted", "chosen"),
    [
        ({"TERM": "xterm-256color"}, "", "dark"),
        ({"TERM": "xterm-256color", "COLORFGBG": "0;15"}, "", "light"),
        ({"TERM": "linux"}, "", "ansi-dark"),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "tritan", "mono"),
        ({"TERM": "xterm-256color"}, "tritan", "tritan"),
        ({"TERM": "xterm-256color"}, "no such theme", "dark"),
    ],
)
def test_choosing_a_theme(environ: dict[str, str], wanted: str, chosen: str) -> None:
    assert themes.choose(environ, wanted) == chosen
