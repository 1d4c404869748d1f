"""Pane 0 on the real engine: plans as they are, running what fell, the word for commands, stopping, repairing; and pane I."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_breaks import believed
from fake_workspace import FakeWorkspace
from planning import JOIN, allow_all, ran, task, write_plan
from test_tui_home import foot, opened, press, settle

from mog.app.tui import work_rows
from mog.app.tui.panes.base import Prompt
from mog.app.tui.panes.impact import Impact
from mog.app.tui.panes.work import Tasks
from mog.app.tui.plain import Still, report
from mog.app.tui.rows import Reason
from mog.engine.config import EngineConfig
from mog.engine.executor.model import Beat
from mog.engine.workspace import Workspace
from mog.widgets.fit import plain

GROUND = "the input is one word"
SLOW = "import sys, time, pathlib; pathlib.Path('started').write_text('x'); time.sleep(60)"


class Desk:
    """A repository with a plan: ``a`` stands on an assumption, ``b`` reads what ``a`` gives, ``c`` needs ``a``, ``d`` fails."""

    def __init__(self, root: Path, workspace: Workspace) -> None:
        self.root, self.workspace = root, workspace
        self.still = Still(workspace)
        self.said: list[str] = []
        self.asked: list[Prompt] = []
        self.still.say = self.said.append  # type: ignore[method-assign]
        self.still.prompt = self.asked.append  # type: ignore[method-assign]
        self.pane: Tasks = self.still.content("work")
        self.pane.ask()

    def text(self, width: int = 80) -> list[str]:
        """The pane as text."""
        source = self.pane.sheet(width, 30).lines
        return [plain(source.line(at), width) for at in range(len(source))]

    def row(self, name: str) -> str:
        """The line of a task."""
        source = self.pane.sheet(80, 30).lines
        found = source.find(f"task:checks/{name}")
        assert found is not None
        return plain(source.line(found[0]), 80)

    def run(self) -> None:
        """``a`` with every command allowed."""
        allow_all(self.workspace)
        self.pane.ask()
        self.pane.act_go_ahead()


@pytest.fixture
def desk(make_repo: Callable[..., Path]) -> Iterator[Desk]:
    root = make_repo({"tools/join.py": JOIN, "in/one": "1", "in/code": "3", "mog.yaml": ""})
    fails = "import sys; print('the last words'); sys.exit(int(open('in/code').read()))"
    write_plan(
        root,
        task("a", "tools/join.py", "a", "one", inputs={"files": ["in/one"]}, outputs=["out/a"], assumes=[GROUND]),
        task("b", "tools/join.py", "b", "x", inputs={"tasks": ["a"]}, outputs=["out/b"], pure=True),
        task("c", "tools/join.py", "c", "y", needs=["a"], outputs=["out/c"]),
        task("d", "-c", fails, inputs={"files": ["in/code"]}),
        name="checks",
    )
    with Workspace.open(root, config=EngineConfig(watch="off")) as workspace:
        yield Desk(root, workspace)


def test_tasks_stand_in_layers_with_what_a_run_would_do(desk: Desk) -> None:
    text = desk.text()
    assert desk.pane.sheet(80, 30).title_right == "4 of 4 to run"
    assert text[0].startswith("  checks  · 4 never ran") and text[0].endswith("it never ran")
    assert text.index("  layer 1 of 2") < text.index("  layer 2 of 2")
    assert "b ←── a" in "\n".join(text)
    desk.pane.act_zoom()
    assert not any("layer" in line for line in desk.text())


def test_nothing_runs_without_a_word_and_what_was_shown_is_what_is_allowed(desk: Desk) -> None:
    assert sum("waits" in line for line in desk.text()) == 4 and "tools/join.py a one" in "\n".join(desk.text(160))
    desk.pane.act_go_ahead()
    (prompt,) = desk.asked
    assert "4 commands" in prompt.label and "type allow" in prompt.hint
    prompt.done("yes")
    assert "refused, nothing ran" in desk.said[-1] and "mog allow" in desk.said[-1] and ran(desk.root) == []
    (desk.root / "tools/join.py").write_text(JOIN + "# changed since it was shown\n")
    prompt.done("allow")
    assert "changed since it was shown" in desk.said[-1] and ran(desk.root) == []
    desk.pane.ask()
    desk.pane.act_go_ahead()
    desk.asked[-1].done("allow")
    assert ran(desk.root) == ["a", "b", "c"]


def test_a_round_says_what_ran_and_what_failed(desk: Desk) -> None:
    desk.run()
    assert desk.pane.round is not None and desk.pane.round.ended == "not complete: 3 ran, 1 failed"
    assert desk.row("a").startswith("  √") and "ran, " in desk.row("a")
    assert desk.row("d").startswith("  ×") and "exit code 3" in desk.row("d") and desk.row("d").endswith("failed")
    desk.pane.opened(None, "task:checks/d")
    assert any("| the last words" in line for line in desk.text())
    assert desk.pane.seconds["checks/a"] > 0


def test_an_unchanged_output_stops_its_dependants_early(desk: Desk) -> None:
    desk.run()
    ran(desk.root)
    (desk.root / "in/one").write_text("1\n\n")
    desk.pane.ask()
    assert "content in/one changed" in desk.row("a") and desk.row("a").endswith("stale")
    assert desk.row("b").endswith("may run")
    desk.pane.act_go_ahead()
    assert ran(desk.root) == ["a", "c"]
    assert "output unchanged: its dependant stops early" in desk.row("a") and "stopped early" in desk.row("b")


def test_what_falls_goes_stale_and_runs_again_on_other_ground(desk: Desk) -> None:
    desk.run()
    found = desk.workspace.beliefs.find(GROUND)
    blast = desk.still.content("blast")
    blast.elsewhere("break_it", Reason(found, "assumption", GROUND), found)
    told = blast.told
    assert {one.name for one in told.preview.cost.reruns} == {"a", "b", "c"} and told.preview.cost.tasks == 4
    assert [one.name for one in told.preview.cost.reruns if one.blocked] == ["a"]
    assert [one.name for one in told.preview.cost.reruns if one.early] == ["b"]
    assert told.preview.cost.seconds == pytest.approx(sum(desk.pane.seconds[f"checks/{name}"] for name in "abc"))
    blast.act_go_ahead()
    blast._write("it holds two words")
    blast.opened(None, "verdict:contradicts")
    assert {one.name for one in blast.breaking.done.cost.reruns} == {"a", "b", "c"} and blast.breaking.matches
    desk.pane.ask()
    assert desk.row("a").endswith("blocked") and "its ground was rejected" in desk.row("a")
    desk.still.thing = ("checks", "a")
    desk.pane.act_redo()
    assert "other ground for a" in desk.asked[-1].label
    desk.asked[-1].done("the input is a line")
    assert "has other ground" in desk.said[-1]
    ran(desk.root)
    desk.pane.act_go_ahead()
    assert ran(desk.root)[0] == "a" and desk.row("a").startswith("  √")
    desk.pane.opened(None, "task:checks/a")
    assert "the input is a line" in "\n".join(desk.text())


def test_receipts_are_the_entries_of_the_run_ledger(desk: Desk) -> None:
    desk.run()
    desk.still.thing = ("checks", "a")
    desk.pane.act_inspect()
    entries = desk.workspace.work.ledger("checks").of("a")
    text = "\n".join(desk.text())
    assert len(entries) == 2 and all(entry.digest[:8] in text for entry in entries) and "executed" in text


def test_a_plan_that_cannot_be_used_says_why(desk: Desk) -> None:
    (desk.root / "plan.yaml").write_text("version: 1\ntasks: [{name: a, argvv: [x]}]\n")
    desk.pane.ask()
    text = "\n".join(desk.text())
    assert "cannot be used" in text and "argvv" in text
    (desk.root / "plan.yaml").unlink()
    desk.pane.ask()
    assert "declares no plan" in "\n".join(desk.text()) and desk.pane.sheet(80, 30).title_right == "idle"


def test_running_tasks_are_counted_and_bold(desk: Desk) -> None:
    desk.pane.round = work_rows.Round("checks", ("a", "b"))
    desk.pane._heard(Beat("a", "begun", "it never ran", done=0, total=4))
    row = desk.row("a")
    assert row.startswith("  •") and "since " in row and row.endswith("running")
    assert desk.pane.sheet(80, 30).title_right == "running, 0 of 4 looked at"
    desk.pane._heard(Beat("a", "executed", "", 1.25, True, 1, 4))
    assert desk.pane.sheet(80, 30).title_right == "running, 1 of 4 looked at" and desk.row("a").startswith("  √")
    assert not any("%" in line for line in desk.text())


def test_hostile_words_of_a_plan_are_shown_safe(make_repo: Callable[..., Path]) -> None:
    from rich.cells import cell_len

    bad = "x\x1b[2J\u202eecno\u202c\u200b " + "long " * 400
    root = make_repo({"mog.yaml": ""})
    write_plan(root, task("a", "-c", f"import sys; sys.exit({bad!r})", assumes=["long " * 100]))
    with Workspace.open(root, config=EngineConfig(watch="off")) as workspace:
        desk = Desk(root, workspace)
        desk.run()
        desk.pane.unfolded = frozenset({f"{view.name}/a" for view in desk.pane.views or ()})
        for width in (32, 60, 100):
            for line in desk.text(width):
                assert cell_len(line) <= width and not any(char in line for char in "\x1b\u202e\u202c\u200b")


async def test_a_round_is_live_and_is_stopped_with_x(make_repo: Callable[..., Path]) -> None:
    root = make_repo({"mog.yaml": ""})
    write_plan(root, task("slow", "-c", SLOW), task("after", "-c", "pass", needs=["slow"]), name="checks")
    with Workspace.open(root, config=EngineConfig(watch="off")) as workspace:
        workspace.index(workers=1)
        async with opened(workspace, size=(100, 30)) as (pilot, home, _):  # type: ignore[arg-type]
            await press(pilot, "0")
            assert home.current == "work" and "waits" in home.here.text()
            await press(pilot, "a", *"allow", "enter")
            for _ in range(400):
                if (root / "started").exists() and "• slow" in home.here.text():
                    break
                await pilot.pause(0.05)
            assert "• slow" in home.here.text() and home.jobs.running("run")
            await pilot.press("q")
            await pilot.pause()
            assert "a plan runs" in foot(home)
            await pilot.press("x")
            await pilot.pause()
            assert home.content("work").round.stopping
            for _ in range(400):
                if not home.jobs.running("run"):
                    break
                await pilot.pause(0.05)
            await settle(pilot)
            assert "it was stopped" in home.here.text() and "after ←── slow" in home.here.text()
            assert home.content("work").round.ended.startswith("not complete")


def test_the_plain_twins_take_name_and_digit() -> None:
    text = report(FakeWorkspace(), "0", 80)
    assert text.startswith("  0 Work") and report(FakeWorkspace(), "work", 80) == text
    assert report(FakeWorkspace(), "impact", 80).startswith("  I Impact")


def test_an_executor_can_be_stopped_before_it_begins(desk: Desk) -> None:
    allow_all(desk.workspace)
    stop = threading.Event()
    stop.set()
    done = desk.workspace.work.run("checks", stop=stop)
    assert ran(desk.root) == [] and not done.complete


# -- impact before a patch


@pytest.fixture
def patch(make_repo: Callable[..., Path]) -> Iterator[tuple[Still, Impact, dict[str, str]]]:
    files = {
        "shop/__init__.py": "", "shop/money.py": "def round_cents(amount):\n    return int(amount)\n",
        "shop/cart.py": "from shop.money import round_cents\n\n\nclass Cart:\n    def total(self):\n        return round_cents(1)\n",
        "tests/test_cart.py": "from shop.cart import Cart\n\n\ndef test_total():\n    assert Cart().total() == 1\n", "mog.yaml": "",
    }  # fmt: skip
    root = make_repo(files)
    with Workspace.open(root, config=EngineConfig(watch="off")) as workspace:
        workspace.index(workers=1)
        ids = believed(workspace)
        (root / "shop/money.py").write_text("def round_cents(amount):\n    return round(amount)\n")
        workspace.index(workers=1)
        still = Still(workspace)
        pane = still.content("impact")
        pane.ask()
        yield still, pane, ids


def shown(pane: Impact, width: int = 80) -> str:
    source = pane.sheet(width, 40).lines
    return "\n".join(plain(source.line(at), width) for at in range(len(source)))


def test_changed_files_are_listed_with_what_they_reach_tests_and_beliefs(
    patch: tuple[Still, Impact, dict[str, str]],
) -> None:
    _, pane, ids = patch
    text = shown(pane)
    assert "■ shop/money.py" in text and "± modified" in text
    assert "shop/cart.py::Cart.total" in text and "hop 1: 2" in text and "tests 1  in 1 file" in text
    assert "believed about what changes 0" in text and "believed about what is reached 1" in text
    pane.narrow("shop/cart.py")
    text = shown(pane)
    assert "■ shop/cart.py" in text and "believed about what changes 1" in text and "× 4 ████" in text
    assert pane.reach is not None and pane.reach.beliefs == (ids["totals round once, last"],)


def test_marks_are_taken_off_and_unknown_files_are_said(patch: tuple[Still, Impact, dict[str, str]]) -> None:
    still, pane, _ = patch
    assert pane.files is not None
    pane.opened(pane.files[0], "file:shop/money.py")
    assert "· shop/money.py" in shown(pane) and "Nothing is marked" in shown(pane)
    pane.narrow("shop/new.py round_cents")
    text = shown(pane)
    assert "not in the index, so nothing is known of their reach: shop/new.py" in text and "Cart.total" in text
    still.thing = pane.files[0]
    pane.act_take_out()
    assert "shop/new.py" not in shown(pane)


def test_changed_lines_name_their_symbols(patch: tuple[Still, Impact, dict[str, str]]) -> None:
    _, pane, _ = patch
    pane.act_filter()
    text = shown(pane)
    assert "changed lines are in 1" in text and "shop/money.py::round_cents" in text


def test_without_git_names_can_be_typed(tmp_path: Path) -> None:
    (tmp_path / "mog.yaml").write_text("")
    (tmp_path / "a.py").write_text("def f():\n    return 1\n\n\ndef g():\n    return f()\n")
    with Workspace.open(tmp_path, config=EngineConfig(watch="off")) as workspace:
        workspace.index(workers=1)
        pane = Still(workspace).content("impact")
        pane.ask()
        assert "no git here" in shown(pane)
        pane.narrow("f")
        assert "a.py::g" in shown(pane)


async def test_impact_is_reached_by_colon_with_paths_and_by_the_palette() -> None:
    async with opened() as (pilot, home, _):
        await press(pilot, "colon", *"impact shop/cart.py", "enter")
        assert home.current == "impact" and "■ shop/cart.py" in home.here.text()
        await press(pilot, "escape", "I")
        assert home.current == "impact"
        from mog.app.tui.keys import KEYS

        assert any(key.action == "pane('impact')" and "impact" in key.says for key in KEYS)


def test_git_that_refuses_is_said(patch: tuple[Still, Impact, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    _, pane, _ = patch
    assert subprocess.run(["git", "status"], cwd=pane.host.desk.root, capture_output=True, check=False).returncode == 0
    from mog.engine.errors import GitRefused

    def refuse(_: Path) -> None:
        raise GitRefused("git refuses this folder", way_out="own it")

    monkeypatch.setattr("mog.engine.code.changed.now", refuse)
    pane.files = None
    pane.ask()
    assert "git refuses this folder" in shown(pane)
