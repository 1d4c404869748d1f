"""Marks of walked things: the same while they are as they were, another one as soon as they are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mog.engine.marks import GONE
from mog.engine.workspace import Workspace


def test_a_mark_of_code_changes_with_its_file_and_comes_back_with_its_bytes(make_repo: Any) -> None:
    root: Path = make_repo({"a.py": "def f():\n    return 1\n", "b.py": "def g():\n    return 2\n"})
    targets = ("sym:a.py::f", "file:b.py", "sym:c.py::h", "no such", "note:zz")
    with Workspace.open(root) as workspace:
        assert workspace.marks(targets) == ("", "", "", "", "")  # nothing is indexed: nothing is known
        workspace.index(workers=1)
        first = workspace.marks(targets)
        assert first[0] and first[1] and first[2:] == (GONE, "", "")
        (root / "a.py").write_text("def f():\n    return 3\n")
        workspace.index(workers=1)
        second = workspace.marks(targets)
        assert second[0] != first[0] and second[1:] == first[1:]
        (root / "a.py").write_text("def f():\n    return 1\n")
        (root / "b.py").unlink()
        workspace.index(workers=1)
        third = workspace.marks(targets)
        assert third[0] == first[0] and third[1] == GONE


def test_a_mark_of_a_belief_is_how_it_stands_and_names_come_with_it(make_repo: Any) -> None:
    root: Path = make_repo({"a.py": "def f():\n    return 1\n"})
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        beliefs = workspace.beliefs
        ground = str(beliefs.assume("it returns one").result)
        choice = str(beliefs.decide("Keep it", "short", rests_on=[ground]).result)
        assert workspace.marks((ground, choice, "f" * 32)) == ("standing", "standing", GONE)
        seen = str(beliefs.evidence("it returned two").result)
        beliefs.reject(ground, evidence=seen, reason="seen")
        assert workspace.marks((ground, choice)) == ("fallen", "fallen")
        named = workspace.named((choice, "sym:a.py::f", "sym:nowhere.py::x"))
        assert {target: getattr(one, "label", getattr(one, "qual", "")) for target, one in named.items()} == {
            choice: "Keep it",
            "sym:a.py::f": "f",
        }


def test_texts_with_most_of_their_words_on_record_are_found(make_repo: Any) -> None:
    root: Path = make_repo({"a.py": "def f():\n    return 1\n"})
    with Workspace.open(root) as workspace:
        assert workspace.alike("prices arrive in minor units") == ()
        workspace.beliefs.assume("Prices are in minor units")
        workspace.beliefs.assume("Tokens have two parts")
        ((found, share),) = workspace.alike("prices arrive in minor units")
        assert found.label == "Prices are in minor units" and 0.4 <= share < 1
        assert workspace.alike("") == ()


def test_one_thing_is_evicted_by_hand_and_comes_back(make_repo: Any) -> None:
    root: Path = make_repo({"a.py": "def f():\n    return 1\n\n\ndef g():\n    return 2\n"})
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        held = workspace.working_set("talk")
        pack = workspace.context.expand("f")
        held.serve(pack.items)
        before = workspace.written()["served"]
        (row,) = held.state().items
        held.put_out(row.entry.ref)
        assert held.state().items == () and [one.ref for one in held.state().stubs] == [row.entry.ref]
        assert workspace.written()["served"] != before
        assert held.recall(row.entry.ref).item.text == pack.items[0].text
