"""A live workspace: what is saved is answered, pins drift on the spot, and a quiet tree stays quiet."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import projects
import pytest

from mog.engine.config import EngineConfig
from mog.engine.errors import NotFound
from mog.engine.model import Change, Freshness
from mog.engine.store.lock import WriterLock
from mog.engine.workspace import Workspace

PATIENCE = 20.0
WHOLE = dict.fromkeys(projects.VERSIONS, 0)


class Ear:
    """Collects changes of the feed and waits for conditions."""

    def __init__(self) -> None:
        self.changes: list[Change] = []
        self._news = threading.Condition()

    def __call__(self, change: Change) -> None:
        with self._news:
            self.changes.append(change)
            self._news.notify_all()

    def until(self, true: Callable[[], bool]) -> None:
        """Wait until a condition holds; it is tried after every change and every tenth of a second."""
        deadline = time.monotonic() + PATIENCE
        with self._news:
            while not true():
                if time.monotonic() > deadline:
                    pytest.fail(f"not within {PATIENCE} s; heard {self.changes}")
                self._news.wait(0.1)

    def indexes(self) -> int:
        """How many generations were announced."""
        return sum(change.kind == "index" for change in self.changes)


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
def live(tmp_path: Path, ear: Ear) -> Iterator[Workspace]:
    root = tmp_path / "project"
    projects.begin(root, WHOLE)
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        workspace.subscribe(ear)
        workspace.start_watch()
        ear.until(lambda: workspace.watcher == "live")
        yield workspace


def knows(workspace: Workspace, target: str) -> Callable[[], bool]:
    def ask() -> bool:
        try:
            workspace.find(target)
        except NotFound:
            return False
        return True

    return ask


def test_saved_edit_is_answered(live: Workspace, ear: Ear) -> None:
    projects.put(live.root, "app.py", "def brand_new():\n    return 1\n")
    ear.until(knows(live, "brand_new"))
    assert ear.indexes() == 1
    assert not knows(live, "app.py::main")()


def test_atomic_save_new_file_and_deletion(live: Workspace, ear: Ear) -> None:
    projects.put(live.root, ".app.py.tmp", "def swapped_in():\n    return 1\n")
    os.replace(live.root / ".app.py.tmp", live.root / "app.py")
    ear.until(knows(live, "swapped_in"))
    projects.put(live.root, "fresh/module.py", "def in_new_folder():\n    return 1\n")
    ear.until(knows(live, "in_new_folder"))
    (live.root / "app.py").unlink()
    ear.until(lambda: not knows(live, "swapped_in")())


def test_renamed_folder_moves_its_symbols(live: Workspace, ear: Ear) -> None:
    (live.root / "pkg").rename(live.root / "kit")
    ear.until(knows(live, "kit/base.py::Base.run"))
    assert not knows(live, "pkg/base.py::Base.run")()


def test_branch_switch_is_judged_once(live: Workspace, ear: Ear) -> None:
    before = live.status().index.ref
    projects.git(live.root, "checkout", "-q", "side")
    ear.until(lambda: live.status().index.ref != before)
    time.sleep(1.0)
    assert ear.indexes() <= 2


def test_live_index_equals_a_rebuild(live: Workspace, ear: Ear) -> None:
    for path in ("pkg/base.py", "pkg/util.py", "web/base.ts"):
        projects.put(live.root, path, projects.text_of(path, 1))
    (live.root / "pkg/sub.py").rename(live.root / "pkg/extra.py")
    ear.until(lambda: live.status().pending == 0)
    reached = live.status().facts_hash
    live.stop_watch()
    assert live.index(full=True).facts_hash == reached


def test_pin_drifts_and_comes_back(live: Workspace, ear: Ear) -> None:
    live.pin("pkg/base.py::Base.run", "steps once")
    original = (live.root / "pkg/base.py").read_text()
    projects.put(live.root, "pkg/base.py", original.replace("self.step()", "self.step() + 1"))
    ear.until(lambda: live.pins()[0].freshness is Freshness.drifted)
    projects.put(live.root, "pkg/base.py", original)
    ear.until(lambda: live.pins()[0].freshness is Freshness.fresh)


def test_quiet_dirty_tree_announces_nothing(live: Workspace, ear: Ear) -> None:
    projects.put(live.root, "app.py", "dirty = 1\n")
    ear.until(lambda: ear.indexes() == 1)
    heard = len(ear.changes)
    time.sleep(1.5)
    assert len(ear.changes) == heard


def test_file_that_is_skipped_announces_nothing(live: Workspace, ear: Ear) -> None:
    (live.root / "blob.py").write_bytes(b"\x00\x01" * 1000)
    time.sleep(1.5)
    quiet = ear.indexes()
    projects.put(live.root, "app.py", "def after_blob():\n    return 1\n")
    ear.until(knows(live, "after_blob"))
    assert (quiet, ear.indexes()) == (0, 1)


def test_writer_elsewhere_delays_but_loses_nothing(live: Workspace, ear: Ear) -> None:
    with WriterLock(live.mog_dir / "lock"):
        projects.put(live.root, "app.py", "def behind_the_lock():\n    return 1\n")
        time.sleep(2.5)
        assert not knows(live, "behind_the_lock")()
    ear.until(knows(live, "behind_the_lock"))


def test_index_deleted_under_a_live_process_comes_back(live: Workspace, ear: Ear) -> None:
    for path in live.mog_dir.glob("index.db*"):
        path.unlink()
    projects.put(live.root, "app.py", "def after_deletion():\n    return 1\n")
    ear.until(lambda: live.has_index() and knows(live, "after_deletion")())
    assert knows(live, "pkg/base.py::Base.run")()


def test_polling_reaches_the_same(tmp_path: Path, ear: Ear) -> None:
    root = tmp_path / "project"
    projects.begin(root, WHOLE)
    with Workspace.open(root, config=EngineConfig(watch="poll", poll_seconds=0.1)) as workspace:
        workspace.index(workers=1)
        workspace.subscribe(ear)
        workspace.start_watch()
        projects.put(root, "app.py", "def seen_by_polling():\n    return 1\n")
        ear.until(knows(workspace, "seen_by_polling"))
        assert workspace.watcher.startswith("polling")


def test_edit_between_index_and_watch_is_caught_up_with(tmp_path: Path, ear: Ear) -> None:
    root = tmp_path / "project"
    projects.begin(root, WHOLE)
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        projects.put(root, "app.py", "def in_the_gap():\n    return 1\n")
        workspace.subscribe(ear)
        workspace.start_watch()
        ear.until(knows(workspace, "in_the_gap"))
