"""What became of served things, on a real repository: every change is seen, and what did not change is fresh."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import believing
import pytest
from believing import Said
from hypothesis import given
from hypothesis import strategies as st

from mog.app.cli import exit_codes
from mog.engine.memory.served_now import compared
from mog.engine.model import Freshness
from mog.engine.retrieval.model import Zoom
from mog.engine.workspace import Workspace

CART = "sym:shop/cart.py::total"


@pytest.fixture
def root(make_repo: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    made: Path = make_repo(believing.FILES)
    monkeypatch.chdir(made)
    return made


@pytest.fixture
def space(root: Path) -> Any:
    with Workspace.open(root) as workspace:
        workspace.index()
        yield workspace


def serve(space: Workspace, target: str = CART, zoom: Zoom = Zoom.L2) -> str:
    """The ref under which a thing was served."""
    return space.working_set("agent").serve(space.context.expand(target, zoom=zoom).items).refs[0]


def edit(root: Path, old: str, new: str) -> None:
    path = root / "shop" / "cart.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize("zoom", list(Zoom))
def test_what_did_not_change_is_fresh_and_comes_back_the_same(space: Workspace, zoom: Zoom) -> None:
    text = space.context.text(CART, zoom).text
    back = space.working_set("agent").recall(serve(space, zoom=zoom))
    assert (back.item.text, back.now.freshness, back.now.changed) == (text, Freshness.fresh, "")


def test_an_edit_is_told_and_a_revert_makes_it_fresh_again(space: Workspace, root: Path) -> None:
    ref = serve(space)
    edit(root, "return", "pass; return")
    back = space.working_set("agent").recall(ref)
    assert back.now.freshness is Freshness.drifted and back.now.changed == "it changed (1 line went, 1 line came)"
    assert "pass; return" not in back.item.text
    edit(root, "pass; return", "return")
    assert space.working_set("agent").recall(ref).now.freshness is Freshness.fresh


def test_an_edit_elsewhere_in_the_file_leaves_it_fresh(space: Workspace, root: Path) -> None:
    ref = serve(space, zoom=Zoom.L1)
    path = root / "shop" / "cart.py"
    path.write_text("BEFORE = 1\n\n\n" + path.read_text() + "\n\nAFTER = 1\n")
    space.index()
    assert space.working_set("agent").recall(ref).now.freshness is Freshness.fresh


def test_a_deleted_or_renamed_thing_is_missing_and_still_recalls(space: Workspace, root: Path) -> None:
    text, ref = space.context.text(CART, Zoom.L2).text, serve(space)
    edit(root, "def total", "def whole")
    for index in (False, True):
        if index:
            space.index()
        back = space.working_set("agent").recall(ref)
        assert back.now.freshness is Freshness.missing and back.now.changed and back.item.text == text


def test_a_commit_that_changes_no_line_leaves_a_whole_file_fresh(space: Workspace, root: Path) -> None:
    ref = serve(space, "file:shop/cart.py", Zoom.L3)
    edit(root, "return", "return 0 and")
    for text in (("return", "return 0 and"), ("return 0 and", "return")):
        edit(root, text[1], text[0]) if text[0] == "return" else None
        subprocess.run(["git", "commit", "-qam", "x", "--allow-empty"], cwd=root, check=True, stdin=subprocess.DEVNULL)
    assert space.working_set("agent").recall(ref).now.freshness is Freshness.fresh


def test_a_file_that_is_gated_by_now_is_not_recalled(space: Workspace, root: Path, capfdbinary: Any) -> None:
    ref = serve(space)
    edit(root, "return", 'key = "ghp_' + "FAKE" * 9 + '"\n    return')
    space.index()
    run = Said(capfdbinary, "ws", "recall", ref)
    assert run.code == exit_codes.POLICY
    assert Said(capfdbinary, "ws", "recall", ref).code == exit_codes.NOTHING


def test_a_note_that_was_taken_back_says_so(space: Workspace) -> None:
    note = space.memory.remember("task", "Round the total", anchors=[CART]).note
    agent = space.working_set("agent")
    refs = agent.serve(space.context.expand(CART).items).refs
    assert {row.entry.ref: row.kept for row in agent.state().items}[refs[0]] == "active_task"
    space.memory.forget(note.ref, reason="done")
    back = agent.recall(refs[0])
    assert back.now.freshness is Freshness.missing and "done" in back.now.changed and not back.now.active


@given(st.text("ab \n#", max_size=60), st.text("ab \n#", max_size=60), st.sampled_from(list(Zoom)))
def test_texts_that_differ_are_never_called_fresh(then: str, now: str, zoom: Zoom) -> None:
    assert (compared(then, now, zoom).freshness is Freshness.fresh) == (then == now)


def test_the_command_line_shows_recalls_evicts_pins_and_forgets(space: Workspace, capfdbinary: Any) -> None:
    assert Said(capfdbinary, "ws").code == exit_codes.NOTHING
    ref = serve(space)
    shown = Said(capfdbinary, "ws", "show", "--explain")
    assert shown.code == exit_codes.OK and "total, shop/cart.py" in shown.text and "relevance" in shown.text
    data = Said(capfdbinary, "ws", "show", "--json").json
    assert (data["session"], data["turn"], data["budget"]) == ("agent", 1, 120_000)
    assert [(one["ref"], one["kept"]) for one in data["items"]] == [(ref, "recent")]
    assert "over the mark" in Said(capfdbinary, "ws", "evict", "--to", "0").text
    assert "never evicted" in Said(capfdbinary, "ws", "pin", ref[:8]).text
    Said(capfdbinary, "ws", "unpin", CART)
    for _ in range(3):
        space.working_set("agent").name_again(())
    gone = Said(capfdbinary, "ws", "evict", "--to", "0%", "--json").json
    assert [one["ref"] for one in gone["evicted"]] == [ref]
    assert gone["evicted"][0]["line"] in Said(capfdbinary, "ws", "stubs").text
    back = Said(capfdbinary, "ws", "recall", ref, "--json").json
    assert back["text"] == space.context.text(CART, Zoom.L2).text and back["did"]["taken"] == [ref]
    assert [one["name"] for one in Said(capfdbinary, "ws", "sessions", "--json").json["items"]] == ["agent"]
    assert Said(capfdbinary, "ws", "clear").code == exit_codes.USAGE
    assert Said(capfdbinary, "ws", "clear", "agent").code == exit_codes.OK
    assert Said(capfdbinary, "ws", "recall", ref).code == exit_codes.NOTHING


@pytest.mark.parametrize("mark", ["x", "101%", "-3", "45 tokens"])
def test_a_mark_that_cannot_be_meant_is_refused(space: Workspace, capfdbinary: Any, mark: str) -> None:
    serve(space)
    assert Said(capfdbinary, "ws", "evict", f"--to={mark}").code == exit_codes.USAGE
