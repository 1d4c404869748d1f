"""Parts of the workbench that need no screen: keys, pace, places, history, editor, plain twins, imports."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_workspace import PINS, STAMP, TOTAL, FakeWorkspace, unbound

from mog.app.tui import drift_rows, keys, panes, plain, side_rows, top
from mog.app.tui.drift_asks import Account
from mog.app.tui.editor import command
from mog.app.tui.graph_rows import LEVELS, Room, graph_sheet
from mog.app.tui.history import History
from mog.app.tui.keymap import FORBIDDEN
from mog.app.tui.pace import Pace
from mog.app.tui.rows import Sheet, first_words, teach
from mog.app.tui.screens.home import Home
from mog.engine import model as m
from mog.engine.errors import UsageError
from mog.widgets.fit import plain as plain_line
from mog.widgets.fit import width_of
from mog.widgets.shelf import Wish, mode_of, plan

WISH = Wish("graph", stack={"drift": 9, "health": 30}, left="map", left_wants=20)
ALL_TIERS = tuple(tier.name for tier in LEVELS[2][1])


def hood(**more: object) -> m.Neighborhood:
    return replace(FakeWorkspace().neighbors(TOTAL.id, tiers=ALL_TIERS, limit=200), **more)  # type: ignore[arg-type]


def text_of(shown: m.Neighborhood, room: Room) -> str:
    sheet = graph_sheet(shown, room)
    return "\n".join(plain_line(line, room.width, sheet.middle) for line in sheet.lines.all())


# -- keys --------------------------------------------------------------------------------------------------------------


def test_each_key_has_one_meaning_and_none_is_a_terminals_own() -> None:
    named = [name for binding in keys.bindings() for name in binding.key.split(",")]
    assert len(named) == len(set(named))
    assert not set(named) & set(FORBIDDEN)
    assert not [name for name in named if "alt+" in name]


def test_every_binding_has_an_action_and_an_id_for_a_keymap() -> None:
    for binding in keys.bindings():
        assert binding.id and hasattr(Home, f"action_{binding.action.partition('(')[0]}"), binding


def test_every_letter_says_something() -> None:
    letters = {name for binding in keys.bindings() for name in binding.key.split(",") if len(name) == 1}
    missing = set("abcdefghijklmnopqrstuvwxyz") - letters
    assert not missing, missing


@pytest.mark.parametrize("pane", sorted(panes.REGISTRY))
def test_the_foot_line_fits_the_narrowest_screen(pane: str) -> None:
    *_, last = top.foot_rows(pane, panes.make(pane, plain.Still(FakeWorkspace())).foot)
    assert width_of(last.cells) + width_of(last.right) + 3 <= 50


@pytest.mark.parametrize("pane", sorted(panes.REGISTRY))
def test_a_pane_is_what_the_registry_says(pane: str) -> None:
    content = panes.make(pane, plain.Still(FakeWorkspace()))
    assert (content.name, content.digit, content.title) == (
        pane,
        panes.REGISTRY[pane].digit,
        panes.REGISTRY[pane].title,
    )
    known = {*keys.WHY_NOT, "pin", "drill"}
    known |= {keys.in_mode(mode, one) for mode in keys.MODES for key in keys.MODES[mode] for one in key.keys.split(",")}
    assert {name.removeprefix("act_") for name in dir(content) if name.startswith("act_")} <= known


def test_the_top_line_fits_the_narrowest_screen() -> None:
    workspace = FakeWorkspace()
    host = plain.Still(workspace)
    for name in panes.GLANCES:
        host.content(name).ask()
    rows = top.top_rows(
        "shop", workspace.status(), "live", None, lambda step: [host.content(n).glance(step) for n in panes.GLANCES]
    )
    assert width_of(rows[-1].cells) + 3 <= 50


# -- pace and places ---------------------------------------------------------------------------------------------------


def test_a_change_after_quiet_is_at_once_and_a_burst_is_five_a_second() -> None:
    pace = Pace(0.2)
    assert pace.ask(10.0) == 0.0
    assert pace.ask(10.05) == pytest.approx(0.15)
    assert pace.ask(10.1) is None
    pace.painted(10.2)
    assert pace.ask(10.21) == pytest.approx(0.19)
    assert pace.ask(30.0) == 0.0


@pytest.mark.parametrize("width", range(50, 260, 7))
@pytest.mark.parametrize("height", [12, 18, 24, 60])
def test_places_fill_the_shelf_and_never_overlap(width: int, height: int) -> None:
    boxes = plan(width, height, mode_of(width, height), WISH)
    cells = [(x + i, y + j) for x, y, w, h in boxes.values() for i in range(w) for j in range(h)]
    assert len(cells) == len(set(cells)) == width * height


@pytest.mark.parametrize("size", [(80, 24), (120, 36), (200, 50)])
def test_a_centre_that_took_the_left_pane_is_as_wide_as_both(size: tuple[int, int]) -> None:
    boxes = plan(*size, mode_of(*size), Wish("map", stack={"drift": 9, "health": 30}))
    assert set(boxes) == {"map", "drift", "health", "rule-2"}
    assert sum(w * h for _, _, w, h in boxes.values()) == size[0] * size[1]


def test_what_is_shown_grows_with_the_width() -> None:
    shown = {size: set(plan(*size, mode_of(*size), WISH)) for size in ((60, 18), (80, 24), (120, 36))}
    assert shown[60, 18] == {"graph"}
    assert shown[80, 24] == {"graph", "map", "drift", "health", "rule-2"}
    assert shown[120, 36] == shown[80, 24] | {"rule-1"}


def test_history_goes_back_and_forgets_what_lay_ahead() -> None:
    history = History()
    for node in "abcb":
        history.visit(node)
    assert (history.step(-1), history.step(-1)) == ("c", "b")
    history.visit("z")
    assert history.ids == ["a", "b", "z"] and history.step(1) is None


@pytest.mark.parametrize("width", [80, 120, 180])
def test_without_a_left_pane_the_centre_takes_its_cells(width: int) -> None:
    with_left = plan(width, 36, mode_of(width, 36), WISH)
    without = plan(width, 36, mode_of(width, 36), replace(WISH, left=""))
    spare = with_left["map"][2] + 1 if "rule-1" in with_left else 0
    assert not {"", "map", "rule-1"} & set(without)
    assert without["graph"] == (0, 0, with_left["graph"][2] + spare, 36)


# -- graph rows --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [40, 48, 66, 90, 119, 120, 160])
@pytest.mark.parametrize("height", [8, 12, 20, 40])
def test_the_focus_view_says_every_count_at_every_size(width: int, height: int) -> None:
    text = text_of(hood(), Room(width, height, level=2))
    assert "in 9" in text and "out 7" in text and "believed about it 2" in text
    hidden = sum(int(part.split(" hidden")[0].rsplit("+", 1)[1]) for part in text.split("\n") if " hidden" in part)
    drawn = sum(text.count(mark) for mark in ("─→ ", "──→", "←──", "═→", "←══", "·→", "··→", "←··"))
    assert hidden or drawn


def test_no_callers_is_said_only_when_every_tier_and_receiver_is_empty() -> None:
    empty = hood(edges_in=(), totals_in={})
    assert "nothing, in any tier" in text_of(empty, Room(80, 20))
    for boundary in (m.Boundary(unknown=2), m.Boundary(maybe=1), m.Boundary(capped=3)):
        assert "nothing" not in text_of(replace(empty, boundary=boundary), Room(80, 20)), boundary
    maybe = hood(edges_in=(), totals_in={("calls", m.Tier.candidate): 4})
    assert "4 maybe (t)" in text_of(maybe, Room(80, 20))


def test_names_that_are_not_bound_are_counted_by_reason_and_unfold() -> None:
    folded = text_of(hood(), Room(80, 40))
    assert "<?> 2 receivers not known" in folded and "<?> 1 external name" in folded and "quantize" not in folded
    assert "quantize" in text_of(hood(), Room(80, 40, open=frozenset({"open:out"})))


def test_totals_beyond_what_was_loaded_are_hidden_not_lost() -> None:
    many = hood(totals_in={("calls", m.Tier.certain): 5_000})
    assert "in 5,000" in text_of(many, Room(80, 24)) and "+4,99" in text_of(many, Room(80, 24))


def test_gated_nodes_keep_their_name_and_show_no_bytes() -> None:
    gated = replace(TOTAL, gated=True, signature="", doc="")
    text = text_of(hood(node=gated), Room(80, 24))
    assert "Cart.total" in text and "░ gated: name kept, bytes withheld" in text


def test_unbound_focus_says_so() -> None:
    text = text_of(hood(node=unbound("requests.get", "external")), Room(80, 24))
    assert "<?> requests.get" in text and "not bound to anything" in text


# -- sides and plain twins ---------------------------------------------------------------------------------------------


def test_drift_puts_what_no_longer_holds_first() -> None:
    states = [line[0].cells[0].text for line in drift_rows.drift_sheet(Account(PINS), 32).lines.all() if line[0].key]
    assert states == ["± ", "¬ ", "→ ", "= ", "= "]


def test_empty_panes_teach_the_next_key() -> None:
    assert "p on a symbol" in " ".join(line[0].text for line in drift_rows.drift_sheet(Account(), 60).lines.all())
    assert "Type a name" in " ".join(line[0].text for line in side_rows.search_sheet(None, "", 0, 60).lines.all())


def test_health_accounts_for_everything_that_is_not_in_the_index() -> None:
    status = FakeWorkspace().status()
    sheet = side_rows.health_sheet(status, (), frozenset({"skip:binary"}), "polling: watch limit", (), 80)
    text = "\n".join(plain_line(line, 80) for line in sheet.lines.all())
    for words in ("skipped", "47", "docs/logo.png", "░ 2 files, 3 symbols", "shop/broken.py", "polling: watch limit"):
        assert words in text, words


@pytest.mark.parametrize("pane", ["graph", "map", "drift", "health", "4", None])
@pytest.mark.parametrize("width", [60, 100])
def test_plain_twins_fit_and_hold_no_escape(pane: str | None, width: int) -> None:
    text = plain.report(FakeWorkspace(), pane, width)
    assert "\x1b" not in text and max(len(line) for line in text.splitlines()) <= width


def test_plain_twin_without_an_index_teaches() -> None:
    assert "mog index builds one" in plain.report(FakeWorkspace(indexed=False), "graph", 80)
    with pytest.raises(UsageError, match="no pane"):
        plain.report(FakeWorkspace(), "nonsense", 80)


def test_search_shows_what_is_hidden() -> None:
    answer = m.SearchAnswer("total", FakeWorkspace().search("total").hits, 40, m.Boundary(), STAMP)
    sheet = side_rows.search_sheet(answer, "", 3.2, 60)
    assert sheet.title_right == "4 of 40, 3 ms" and "+36 hidden" in sheet.lines.all()[-1][0].text


def test_beside_others_only_a_lesson_is_cut_and_never_an_account() -> None:
    status = replace(FakeWorkspace().status(), health=m.ScanHealth(indexed=3, seen=3, git=True))
    account = side_rows.health_sheet(status, (), frozenset(), "live", (), 32)
    assert not account.things and first_words(account) is account, "nothing on it can be opened, and all of it is told"
    lesson = Sheet(teach("Nothing is here yet.", "And this is how it fills.", width=28))
    assert [row.text for line in first_words(lesson).lines.all() for row in line] == ["Nothing is here yet."]  # type: ignore[attr-defined]


# -- editor and imports ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("editor", "argv"),
    [
        ("vim", ["vim", "+41", "{file}"]),
        ("code --wait", ["code", "--wait", "--goto", "{file}:41"]),
        ("/usr/bin/hx", ["/usr/bin/hx", "{file}:41"]),
    ],
)
def test_editors_open_at_the_line(editor: str, argv: list[str], tmp_path: Path) -> None:
    file = tmp_path / "-rf.py"
    assert command({"EDITOR": editor}, file, 41) == [part.format(file=file) for part in argv]


def test_visual_wins_over_editor_and_none_is_told(tmp_path: Path) -> None:
    assert command({"EDITOR": "ed", "VISUAL": "vi"}, tmp_path, 0) == ["vi", str(tmp_path)]
    assert command({}, tmp_path, 1) is None


def _modules(code: str) -> set[str]:
    text = f"import sys\n{code}\nprint(' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", text], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True
    )
    return set(done.stdout.decode().split())


def test_the_door_imports_no_toolkit_and_the_workbench_nothing_heavy() -> None:
    assert "textual" not in _modules("import mog.app.tui.app, mog.app.tui.plain")
    loaded = _modules("import mog.app.tui.workbench")
    assert not loaded & {"networkx", "mcp", "numpy", "apsw", "tree_sitter", "multiprocessing.pool"}
    assert "mog.engine.workspace" not in loaded


def test_every_screen_has_its_style_sheet_and_every_sheet_a_screen() -> None:
    from mog.app.tui import screens
    from mog.app.tui.workbench import STYLES

    assert screens.__file__
    # help and palette are choosers, and look as those do
    found = {path.stem for path in Path(screens.__file__).parent.glob("*.py")} - {"__init__", "help", "palette"}
    assert found == {path.stem for path in STYLES.glob("*.tcss")}


def test_no_colour_is_named_outside_the_theme_tables() -> None:
    import re

    from mog import widgets
    from mog.app.tui.workbench import STYLES

    assert widgets.__file__
    sources = [*Path(widgets.__file__).parent.glob("*.py"), *STYLES.glob("*.tcss")]
    assert not [path.name for path in sources if re.search(r"#[0-9a-fA-F]{6}\b", path.read_text("utf-8"))]
