"""Pins follow what they were put on, and say what happened to it, also after the index was thrown away."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mog_process
import projects
import pytest

from mog.engine.model import Freshness
from mog.engine.workspace import Workspace

MOVED = (
    "def pay(order):\n"
    "    total = sum(line.price for line in order.lines)\n"
    "    return charge(order.card, total, 'once')\n"
)
BODY = "def unrelated():\n    return 0\n\n\n" + MOVED
TARGET = "shop.py::pay"


def edit(root: Path) -> None:
    projects.put(root, "shop.py", BODY.replace("'once'", "'twice'"))


def revert(root: Path) -> None:
    edit(root)
    projects.put(root, "shop.py", BODY)


def reindent(root: Path) -> None:
    projects.put(root, "shop.py", BODY.replace("    ", "  ").replace("def unrelated", "# why\ndef unrelated"))


def move(root: Path) -> None:
    projects.put(root, "shop.py", BODY.replace(MOVED, ""))
    projects.put(root, "till.py", "import os\n\n\n" + MOVED)


def rename(root: Path) -> None:
    projects.put(root, "shop.py", BODY.replace("def pay", "def settle"))


def rename_file(root: Path) -> None:
    (root / "shop.py").rename(root / "store.py")


def remove(root: Path) -> None:
    projects.put(root, "shop.py", BODY.replace(MOVED, ""))


CASES: list[tuple[Callable[[Path], None], Freshness, str]] = [
    (edit, Freshness.drifted, "shop.py::pay"),
    (revert, Freshness.fresh, "shop.py::pay"),
    (reindent, Freshness.fresh, "shop.py::pay"),
    (move, Freshness.moved, "till.py::pay"),
    (rename, Freshness.moved, "shop.py::settle"),
    (rename_file, Freshness.moved, "store.py::pay"),
    (remove, Freshness.missing, ""),
]
NAMES = [case[0].__name__ for case in CASES]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A repository with one pinned function."""
    root = tmp_path / "shop"
    projects.begin(root, {"notes.md": 0})
    projects.put(root, "shop.py", BODY)
    projects.git(root, "add", "shop.py")
    projects.git(root, "commit", "-q", "-m", "shop")
    with Workspace.open(root) as workspace:
        workspace.index()
        assert workspace.pin(TARGET, "charged once, never twice").freshness is Freshness.fresh
    return root


def delete_index(root: Path) -> None:
    for path in (root / ".mog").glob("index.db*"):
        path.unlink()


def state(root: Path) -> tuple[Freshness, str]:
    """Freshness of the only pin, and where its code is now."""
    with Workspace.open(root) as workspace:
        (only,) = workspace.verify().states
    return only.freshness, only.now_at.removeprefix("sym:")


@pytest.mark.parametrize(("change", "freshness", "place"), CASES, ids=NAMES)
class TestPins:
    def test_with_the_index(self, shop: Path, change: Callable[[Path], None], freshness: Freshness, place: str) -> None:
        change(shop)
        got = state(shop)
        assert got[0] is freshness
        assert place in ("", got[1])

    def test_reindexing_settles_nothing(
        self, shop: Path, change: Callable[[Path], None], freshness: Freshness, place: str
    ) -> None:
        change(shop)
        with Workspace.open(shop) as workspace:
            workspace.index()
        assert state(shop)[0] is freshness

    def test_after_the_index_was_deleted(
        self, shop: Path, change: Callable[[Path], None], freshness: Freshness, place: str
    ) -> None:
        delete_index(shop)
        change(shop)
        assert state(shop)[0] is freshness
        with Workspace.open(shop) as workspace:
            workspace.index()
        assert state(shop)[0] is freshness

    def test_on_the_command_line(
        self, shop: Path, change: Callable[[Path], None], freshness: Freshness, place: str
    ) -> None:
        change(shop)
        document = mog_process.run_json(shop, "verify")
        assert (document["checked"], document[freshness.value]) == (1, 1)
        strict = mog_process.run(shop, "verify", "--strict")
        assert strict.returncode == (4 if freshness in (Freshness.drifted, Freshness.missing) else strict.returncode)


def test_fix_follows_a_move_once(shop: Path) -> None:
    move(shop)
    with Workspace.open(shop) as workspace:
        assert workspace.verify(fix=True).fixed == 1
    assert state(shop) == (Freshness.fresh, "till.py::pay")


def test_branch_switch_and_back_is_fresh_again(shop: Path) -> None:
    projects.git(shop, "checkout", "-q", "-b", "other")
    edit(shop)
    projects.git(shop, "commit", "-qam", "twice")
    assert state(shop)[0] is Freshness.drifted
    projects.git(shop, "checkout", "-q", "main")
    assert state(shop)[0] is Freshness.fresh


def test_copy_beside_the_original_is_no_move(shop: Path) -> None:
    projects.put(shop, "copy.py", MOVED)
    assert state(shop)[0] is Freshness.fresh


def test_two_candidates_are_not_guessed_between(shop: Path) -> None:
    remove(shop)
    projects.put(shop, "one.py", MOVED)
    projects.put(shop, "two.py", MOVED)
    assert state(shop)[0] in (Freshness.missing, Freshness.unknown)
