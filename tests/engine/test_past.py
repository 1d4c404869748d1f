"""How often a file changed, when and by how many; what still stands of commits in symbols; nobody is named."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from mog.engine.code import history
from mog.engine.workspace import Workspace

DAY = 86_400
START = 1_700_000_000  # 2023-11-14


def git(root: Path, *arguments: str, **environment: str) -> None:
    surroundings = {**os.environ, **environment}
    subprocess.run(["git", *arguments], cwd=root, check=True, stdin=subprocess.DEVNULL, env=surroundings, capture_output=True)


def commit(root: Path, files: dict[str, str], day: int, who: str = "one") -> None:
    for name, text in files.items():
        (root / name).write_text(text)
    stamp = f"{START + day * DAY} +0000"
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "x", GIT_AUTHOR_DATE=stamp, GIT_COMMITTER_DATE=stamp, GIT_AUTHOR_EMAIL=f"{who}@example.invalid",
        GIT_AUTHOR_NAME=who)  # fmt: skip


A = "def f():\n    return {0}\n\n\ndef g():\n    return {1}\n"
B = "def h():\n    return {0}\n\n\ndef k():\n    return {1}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", "-b", "main", ".")
    (tmp_path / ".gitignore").write_text(".mog/\n")
    commit(tmp_path, {"a.py": A.format(0, 0), "b.py": B.format(0, 0)}, 0)
    commit(tmp_path, {"a.py": A.format(1, 0), "b.py": B.format(0, 1)}, 200, "two")
    commit(tmp_path, {"a.py": A.format(1, 2), "b.py": B.format(2, 1)}, 201, "one")
    commit(tmp_path, {"a.py": A.format(3, 2)}, 250, "two")
    return tmp_path


def load(root: Path) -> history.History:
    (root / ".mog").mkdir(exist_ok=True)
    return history.load(root, root / ".mog")


def test_a_file_is_known_by_commits_people_and_days(root: Path) -> None:
    churn = load(root).churn("a.py")  # the first commit has no parent and does not count
    assert (churn.commits, churn.authors, churn.lately) == (3, 2, 3)
    assert (churn.first, churn.last) == (START + 200 * DAY, START + 250 * DAY)
    assert load(root).churn("gone.py") == (0, 0, 0, 0, 0)


def test_days_of_long_ago_are_not_lately(root: Path) -> None:
    commit(root, {"b.py": B.format(9, 9)}, 330)
    churn = load(root).churn("a.py")
    assert (churn.commits, churn.lately) == (3, 1)


def test_a_rename_carries_the_past_along(root: Path) -> None:
    git(root, "mv", "a.py", "c.py")
    commit(root, {}, 260)
    assert load(root).churn("c.py").commits == 4
    assert load(root).churn("a.py").commits == 0


def test_continuing_counts_the_same_people_as_reading_anew(root: Path) -> None:
    load(root)
    commit(root, {"a.py": A.format(7, 7)}, 300, "three")
    commit(root, {"a.py": A.format(8, 7)}, 301, "one")
    continued = load(root)
    (root / ".mog" / "history.json").unlink()
    assert continued == load(root)
    assert continued.churn("a.py")[:2] == (5, 3)


def test_nobody_is_named_in_what_is_kept(root: Path) -> None:
    load(root)
    stored = (root / ".mog" / "history.json").read_text()
    assert "example.invalid" not in stored and '"two"' not in stored
    assert len(json.loads(stored)["people"]) == 2


def test_a_forged_time_is_no_error(root: Path) -> None:
    tree = subprocess.run(["git", "rev-parse", "HEAD^{tree}"], cwd=root, check=True, capture_output=True, text=True).stdout.strip()
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True).stdout.strip()
    raw = f"tree {tree}\nparent {head}\nauthor \x01 <\x02> 99999999999999 +0000\ncommitter x <x> 0 +0000\n\nx\n"
    command = ["git", "hash-object", "-t", "commit", "-w", "--stdin", "--literally"]
    made = subprocess.run(command, cwd=root, input=raw.encode(), check=True, capture_output=True)
    git(root, "update-ref", "HEAD", made.stdout.decode().strip())
    assert load(root).churn("a.py").commits == 3


class TestSymbols:
    def test_a_symbol_is_known_by_the_lines_it_has_now(self, root: Path) -> None:
        with Workspace.open(root) as workspace:
            workspace.index(workers=1)
            f, g = workspace.past("a.py::f"), workspace.past("a.py::g")
        assert (f.line_commits, f.line_authors, f.line_last) == (2, 2, "2024-07-21")  # the first commit and the last
        assert (g.line_commits, g.line_last) == (2, "2024-06-02")
        assert (f.commits, f.authors) == (3, 2)
        assert f.notes == ("by lines that still stand: 2 of the 3 commits of the file",)

    def test_symbols_with_lines_of_the_same_commits_are_found(self, root: Path) -> None:
        with Workspace.open(root) as workspace:
            workspace.index(workers=1)
            workspace.config = workspace.config.__class__(min_co_change=1)
            found = workspace.past("a.py::g").along
        assert [(one.path, one.qual, one.together) for one in found] == [("b.py", "h", 1)]

    def test_a_shift_of_lines_on_disk_is_followed(self, root: Path) -> None:
        with Workspace.open(root) as workspace:
            workspace.index(workers=1)
            (root / "a.py").write_text("# new\n# new\n" + A.format(3, 2))
            assert workspace.past("a.py::g").line_last == "2024-06-02"

    def test_a_file_that_is_not_committed_has_no_lines(self, root: Path) -> None:
        (root / "new.py").write_text("def n(): ...\n")
        with Workspace.open(root) as workspace:
            workspace.index(workers=1)
            past = workspace.past("new.py::n")
        assert (past.commits, past.line_commits) == (0, 0)
        assert any("lines are not known" in note for note in past.notes)


def test_a_map_says_it_where_it_is_asked(root: Path) -> None:
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        assert {row.past for row in workspace.map().rows} == {None}
        rows = {row.path: row.past for row in workspace.map(history=True).rows}
    assert rows["a.py"] is not None and (rows["a.py"].commits, rows["a.py"].last) == (3, "2024-07-21")
    assert "4 commits" not in rows["a.py"].said and "3 commits (all of them)" in rows["a.py"].said


def test_without_git_it_says_why(tmp_path: Path) -> None:
    (tmp_path / ".mog").mkdir()
    (tmp_path / "a.py").write_text("def f(): ...\n")
    with Workspace.open(tmp_path) as workspace:
        workspace.index(workers=1)
        assert "no git" in workspace.past("a.py::f").said


def test_a_shallow_clone_says_that_it_is_cut_off(root: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    clone = tmp_path_factory.mktemp("clones") / "shallow"
    command = ["git", "clone", "-q", "--depth=2", f"file://{root}", str(clone)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True)
    with Workspace.open(clone) as workspace:
        workspace.index(workers=1)
        assert "shallow clone" in workspace.past("a.py").said


def test_git_that_is_killed_or_fails_is_a_typed_error(root: Path) -> None:
    from mog.engine.code import git as runner
    from mog.engine.errors import GitRefused

    with pytest.raises(GitRefused):
        list(runner.Child(root, ("log", "--no-such-option")).pieces())
    with pytest.raises(GitRefused):
        list(runner.Child(root, ("cat-file", "--batch-check", "--batch-all-objects"), settings=None).pieces(timeout=0.0))
