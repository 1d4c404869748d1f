"""The first index of a large repository serves what was read of it before all is read, says so, and ends where any other does."""

from __future__ import annotations

from pathlib import Path

import pytest

from mog.engine.code import indexer
from mog.engine.errors import NotFound
from mog.engine.model import IndexStamp, Progress
from mog.engine.workspace import Workspace

FILES = 30
ALL = FILES + 1  # with what `mog init` adds
READ = 5


class Stopped(BaseException):
    """What a killed process does not survive."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "EARLY_FILES", ALL)
    monkeypatch.setattr(indexer, "EARLY_READ", READ)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    for number in range(FILES):
        below = f"from m{number - 1:02d} import f{number - 1:02d}\n" if number else ""
        body = f"f{number - 1:02d}()" if number else "0"
        (root / f"m{number:02d}.py").write_text(f"{below}def f{number:02d}():\n    return {body}\n", encoding="utf-8")
    Workspace.init(root)
    return root


def test_what_was_read_is_served_with_the_count_of_what_was_not(repo: Path) -> None:
    seen: list[IndexStamp] = []
    with Workspace.open(repo) as workspace, Workspace.open(repo) as other:

        def look(progress: Progress) -> None:
            if progress == Progress("reading", READ + 1, ALL):
                answer = other.search("f00")
                seen.append(answer.index)
                assert [hit.node.name for hit in answer.hits] == ["f00"]
                with pytest.raises(NotFound, match=f"{ALL - READ} files are not read yet"):
                    other.find("f29")

        report = workspace.index(workers=1, progress=look)
        assert [stamp.unread for stamp in seen] == [ALL - READ]
        assert report.files == ALL and other.search("f29").index.unread == 0
        assert other.impact("f00", depth=50).total >= FILES - 1


def test_it_ends_where_an_index_without_it_ends(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Workspace.open(repo) as workspace:
        early = workspace.index(workers=1)
    monkeypatch.setattr(indexer, "EARLY_FILES", 10**9)
    with Workspace.open(repo) as workspace:
        assert workspace.index(full=True, workers=1).facts_hash == early.facts_hash
        assert not workspace.index(workers=1).changed


def test_one_that_never_got_whole_is_not_taken_for_up_to_date(repo: Path) -> None:
    with Workspace.open(repo) as workspace:

        def stop(progress: Progress) -> None:
            if progress.stage == "reading" and progress.done > READ:
                raise Stopped

        with pytest.raises(Stopped):
            workspace.index(workers=1, progress=stop)
    with Workspace.open(repo) as workspace:
        assert workspace.search("f00").index.unread == ALL - READ
        assert workspace.status().pending >= ALL - READ
        assert workspace.index(workers=1).files == ALL
        assert workspace.search("f00").index.unread == 0


def test_an_index_that_is_there_serves_until_the_new_one_is_whole(repo: Path) -> None:
    with Workspace.open(repo) as workspace:
        workspace.index(workers=1)
        seen = []
        workspace.index(full=True, workers=1, progress=lambda _: seen.append(workspace.search("f29").index.unread))
        assert set(seen) == {0}


def test_a_small_repository_is_served_at_once(repo: Path) -> None:
    (repo / "m29.py").unlink()
    with Workspace.open(repo) as workspace:
        assert workspace.index(workers=1).generation == 1
