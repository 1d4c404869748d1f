"""Two processes watch one workspace: whichever brings the index up, both hear of every edit and of every edit taken back."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import projects
import pytest
import watching

from mog.engine.code.indexer import Indexer
from mog.engine.config import EngineConfig
from mog.engine.model import Change, Freshness
from mog.engine.workspace import Workspace

PATIENCE = 40.0
PLACE = "pkg/base.py"
ROUNDS = 6


class Peer:
    """A process of ``watching`` and the words it printed."""

    def __init__(self, root: Path, *words: str) -> None:
        command = [sys.executable, watching.__file__, str(root), *words]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said: list[str] = []
        self._news = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.said.append(line.strip())
                self._news.notify_all()

    def until_said(self, word: str) -> None:
        """Wait until that is the last word."""
        with self._news:
            if not self._news.wait_for(lambda: bool(self.said) and self.said[-1] == word, PATIENCE):
                pytest.fail(f"not {word!r} within {PATIENCE} s, but {self.said}")

    def end(self) -> None:
        self.process.communicate(timeout=PATIENCE)


@contextlib.contextmanager
def peers(root: Path, *each: str) -> Iterator[list[Peer]]:
    """Processes, each started when the one before it watches."""
    found: list[Peer] = []
    try:
        for word in each:
            found.append(Peer(root, *[word] * bool(word)))
            found[-1].until_said("ready fresh")
        yield found
    finally:
        for one in found:
            one.end()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    projects.begin(root, dict.fromkeys(projects.VERSIONS, 0))
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        workspace.pin(f"{PLACE}::Base.run", "steps once")
    return root


def edited(root: Path, number: int) -> None:
    projects.put(root, PLACE, projects.text_of(PLACE, 0).replace("self.step()", f"self.step() + {number}"))


def whole(root: Path) -> None:
    projects.put(root, PLACE, projects.text_of(PLACE, 0))


@pytest.mark.parametrize("each", [("", ""), ("busy", ""), ("", "busy")], ids=["idle", "first busy", "second busy"])
def test_both_show_every_edit_and_every_revert(root: Path, each: tuple[str, str]) -> None:
    with peers(root, *each) as found:
        for number in range(1, ROUNDS + 1):
            edited(root, number)
            for one in found:
                one.until_said("drifted")
            whole(root)
            for one in found:
                one.until_said("fresh")


class Heard:
    """Collects the generations that a workspace announced."""

    def __init__(self, workspace: Workspace) -> None:
        self.generations: list[int] = []
        workspace.subscribe(self._hear)

    def _hear(self, change: Change) -> None:
        if change.kind == "index":
            self.generations.append(change.generation)

    def until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not true():
            assert time.monotonic() < deadline, self.generations
            time.sleep(0.02)


def elsewhere(root: Path) -> int:
    """What a second program publishes."""
    with Workspace.open(root) as other:
        report = other.index(workers=1)
        assert report.changed
        return report.generation


@pytest.mark.parametrize("back", [False, True], ids=["an edit", "its revert"])
def test_slower_watcher_says_what_the_other_published(root: Path, monkeypatch: pytest.MonkeyPatch, back: bool) -> None:
    published, run = threading.Event(), Indexer.run
    if back:
        edited(root, 1)
        elsewhere(root)
    with Workspace.open(root) as workspace:
        mine = workspace._indexer()

        def late(self: Indexer, **how: Any) -> object:
            assert self is not mine or published.wait(PATIENCE)
            return run(self, **how)

        monkeypatch.setattr(Indexer, "run", late)
        heard = Heard(workspace)
        workspace.find(f"{PLACE}::Base.run")
        workspace.start_watch()
        heard.until(lambda: workspace.watcher == "live")  # what it does first waits in ``late``, without the lock
        whole(root) if back else edited(root, 1)
        generation = elsewhere(root)
        assert not heard.generations
        published.set()
        heard.until(lambda: heard.generations == [generation])


def test_publication_between_the_first_answer_and_the_watch_is_said(root: Path) -> None:
    with Workspace.open(root) as workspace:
        heard = Heard(workspace)
        workspace.find(f"{PLACE}::Base.run")
        edited(root, 1)
        generation = elsewhere(root)
        workspace.start_watch()
        heard.until(lambda: heard.generations == [generation])


def test_who_does_not_watch_notices_what_another_published(root: Path) -> None:
    with Workspace.open(root, config=EngineConfig(watch="off")) as workspace:
        heard = Heard(workspace)
        assert workspace.pins()[0].freshness is Freshness.fresh
        workspace.find(f"{PLACE}::Base.run")
        edited(root, 1)
        first = elsewhere(root)
        workspace.notice()
        heard.until(lambda: heard.generations == [first])
        whole(root)
        second = elsewhere(root)
        workspace.notice()
        workspace.notice()
        heard.until(lambda: heard.generations == [first, second])


def test_own_publication_is_said_once(root: Path) -> None:
    with Workspace.open(root, config=EngineConfig(watch="off")) as workspace:
        heard = Heard(workspace)
        workspace.find(f"{PLACE}::Base.run")
        edited(root, 1)
        mine = workspace.index(workers=1).generation
        workspace.notice()
        whole(root)
        theirs = elsewhere(root)
        workspace.notice()
        heard.until(lambda: theirs in heard.generations)
        assert heard.generations == [mine, theirs]


def test_first_index_made_by_another_is_noticed(tmp_path: Path) -> None:
    root = tmp_path / "new"
    projects.begin(root, dict.fromkeys(projects.VERSIONS, 0))
    with Workspace.open(root, config=EngineConfig(watch="off")) as workspace:
        heard = Heard(workspace)
        assert not workspace.has_index()
        workspace.notice()
        generation = elsewhere(root)
        workspace.notice()
        heard.until(lambda: heard.generations == [generation])
