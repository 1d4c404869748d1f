"""Since when the code under a note is another: the commit, the working tree, another branch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import remembering
from remembering import CART, FILES, Memory

from mog.engine.memory.records import Changed, Since
from mog.engine.model import Freshness

PATH = "shop/cart.py"


def body(number: int) -> str:
    """The file with another ``total``; 0 is the first."""
    return FILES[PATH].replace("sum(lines)", f"sum(lines) + {number}" if number else "sum(lines)")


@pytest.fixture
def here(make_repo: Any) -> Iterator[Memory]:
    with remembering.memory(make_repo(FILES)) as memory:
        yield memory


def said(here: Memory, anchor: str = CART) -> Any:
    """A function that tells what became of a note remembered now."""
    id = here.notes.remember("fact", f"about {anchor}", anchors=[anchor]).note.id

    def ask() -> tuple[Freshness, Changed | None]:
        held = here.notes.recall(id).anchors[0]
        return held.freshness, held.changed

    return ask


def test_fresh_code_has_no_change(here: Memory) -> None:
    assert said(here)() == (Freshness.fresh, None)


def test_the_first_commit_after_the_recording_that_changed_it_is_named(here: Memory) -> None:
    here.edit(PATH, body(0) + "\n\ndef other():\n    return 1\n")
    here.commit("beside, before")
    ask = said(here)
    here.edit(PATH, body(0).replace("len(lines)", "len(lines) + 1"))
    here.commit("beside")
    here.edit(PATH, body(1))
    culprit = here.commit("Add one")
    here.edit(PATH, body(2))
    here.commit("Add two")
    freshness, changed = ask()
    assert freshness is Freshness.drifted
    assert changed is not None
    assert (changed.since, changed.commit, changed.subject, changed.again) == (Since.commit, culprit, "Add one", False)


def test_what_was_reverted_on_the_way_does_not_count(here: Memory) -> None:
    ask = said(here)
    commits = []
    for number in (1, 0, 2):
        here.edit(PATH, body(number))
        commits.append(here.commit(f"{number}"))
        assert (ask()[1] is None) == (number == 0)
    assert ask()[1].commit == commits[2]


def test_what_is_not_committed_is_in_the_working_tree(here: Memory) -> None:
    ask = said(here)
    here.edit(PATH, body(1))
    assert ask()[1] == Changed(Since.working_tree)
    culprit = here.commit()
    assert ask()[1].commit == culprit
    here.edit(PATH, body(2))
    assert (ask()[1].commit, ask()[1].again) == (culprit, True)


def test_a_note_on_code_that_was_not_committed_yet(here: Memory) -> None:
    here.edit(PATH, body(1))
    ask = said(here)
    here.commit("as it was remembered")
    assert ask() == (Freshness.fresh, None)
    here.edit(PATH, body(2))
    assert ask()[1] == Changed(Since.working_tree)
    culprit = here.commit()
    assert ask()[1].commit == culprit


def test_a_file_that_git_never_saw(here: Memory) -> None:
    here.edit("new.py", "def fresh():\n    return 1\n")
    ask = said(here, "sym:new.py::fresh")
    here.edit("new.py", "def fresh():\n    return 2\n")
    assert ask()[1] == Changed(Since.working_tree)


@pytest.mark.parametrize(("move", "freshness"), [(True, Freshness.moved), (False, Freshness.missing)])
def test_the_commit_that_moved_or_deleted_a_file_is_named(here: Memory, move: bool, freshness: Freshness) -> None:
    ask = said(here)
    text = (here.root / PATH).read_text()
    (here.root / PATH).unlink()
    if move:
        here.edit("shop/basket.py", text)
    culprit = here.commit()
    found = ask()
    assert (found[0], found[1].commit) == (freshness, culprit)


def test_another_branch_is_judged_by_its_own_history(here: Memory) -> None:
    here.git("branch", "old")
    here.edit(PATH, body(1))
    here.commit("one")
    ask = said(here)
    here.git("checkout", "-q", "old")
    assert ask()[1].since is Since.elsewhere
    here.git("checkout", "-q", "main")
    assert ask() == (Freshness.fresh, None)
    here.git("checkout", "-q", "-b", "side")
    here.edit(PATH, body(2))
    culprit = here.commit("two")
    assert ask()[1].commit == culprit


def test_of_a_merge_the_commit_that_made_the_change_is_named(here: Memory) -> None:
    ask = said(here)
    here.git("checkout", "-q", "-b", "topic")
    here.edit(PATH, body(1))
    culprit = here.commit("topic")
    here.git("checkout", "-q", "main")
    here.edit(PATH, body(0) + "\n\ndef other():\n    return 1\n")
    here.commit("beside")
    here.git("merge", "-q", "--no-edit", "topic")
    assert len(here.git("rev-list", "--parents", "-n1", "HEAD").split()) == 3
    assert ask()[1].commit == culprit


def test_more_commits_than_are_looked_at_are_not_guessed_about(here: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mog.engine.memory.changes.MAX_COMMITS", 3)
    ask = said(here)
    for number in range(1, 6):
        here.edit(PATH, body(number))
        here.commit()
    assert ask()[1].since is Since.unknown


def test_a_whole_file_and_a_range_of_lines_are_dated_too(here: Memory) -> None:
    asks = [said(here, "file:shop/cart.py"), said(here, "lines:shop/cart.py:1-3")]
    here.edit(PATH, body(1))
    culprit = here.commit()
    assert [ask()[1].commit for ask in asks] == [culprit, culprit]


def test_without_git_nothing_is_dated(tmp_path: Any) -> None:
    (tmp_path / "mog.yaml").write_text("version: 1\n")
    (tmp_path / "a.py").write_text("def f():\n    return 1\n")
    with remembering.memory(tmp_path) as here:
        ask = said(here, "sym:a.py::f")
        here.edit("a.py", "def f():\n    return 2\n")
        assert ask() == (Freshness.drifted, Changed(Since.unknown))


def test_a_workspace_below_the_top_of_its_repository(make_repo: Any) -> None:
    root = make_repo({f"part/{name}": text for name, text in FILES.items()} | {"part/mog.yaml": "version: 1\n"})
    with remembering.memory(root / "part") as here:
        ask = said(here)
        here.edit(PATH, body(1))
        culprit = here.commit()
        assert ask()[1].commit == culprit
