"""Which folders are watched and which files are of interest: the same that the scan would list."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from mog.engine.code.watch_scope import Scope


def git(root: Path, *args: str) -> None:
    subprocess.run(["git", *args], cwd=root, check=True, stdin=subprocess.DEVNULL, capture_output=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path / "r"
    for folder in ("src/deep", "node_modules/a", "build/out", ".venv/lib", "kept/node_modules", "nested/.git", "empty"):
        (top / folder).mkdir(parents=True)
    (top / "src" / "a.py").write_text("a = 1\n")
    (top / "kept" / "node_modules" / "tracked.js").write_text("x\n")
    (top / ".gitignore").write_text("build/\n*.log\n")
    git(top, "init", "-q")
    git(top, "add", "-f", "src", ".gitignore", "kept")
    return top


def dirs(scope: Scope, *prefixes: str) -> set[str]:
    return set(scope.list_dirs(prefixes or ("",)))


def test_ignored_and_built_in_folders_are_left_out(root: Path) -> None:
    assert dirs(Scope(root)) == {"", "src", "src/deep", "kept", "kept/node_modules", "empty"}


def test_below_an_ignored_folder_there_is_nothing(root: Path) -> None:
    scope = Scope(root)
    assert dirs(scope, "build/out", "node_modules/a", "nested") == set()
    assert dirs(scope, "src/deep", "no/such") == {"src/deep"}


def test_own_rules_and_configuration_count(root: Path) -> None:
    (root / ".mogignore").write_text("deep/\n")
    assert "src/deep" not in dirs(Scope(root))
    assert "empty" not in dirs(Scope(root, ["empty/"]))


def test_files_ignored_by_git_or_rules(root: Path) -> None:
    (root / ".mogignore").write_text("*.tmp\n")
    scope = Scope(root)
    dirs(scope)
    assert scope.ignored(["src/a.py", "x.log", "src/new.py", "a.tmp"]) == {"x.log", "a.tmp"}


def test_ignored_file_that_becomes_tracked_is_of_interest(root: Path) -> None:
    scope = Scope(root)
    dirs(scope)
    (root / "x.log").write_text("x")
    assert scope.ignored(["x.log"]) == {"x.log"}
    git(root, "add", "-f", "x.log")
    assert scope.ignored(["x.log"]) == set()


def test_answers_are_remembered(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scope = Scope(root)
    dirs(scope)
    scope.ignored(["x.log"])
    monkeypatch.setattr(scope, "_git", lambda *_, **__: pytest.fail("asked again"))
    assert scope.ignored(["x.log"]) == {"x.log"}


def test_plain_folder_needs_no_git(tmp_path: Path) -> None:
    (tmp_path / "a" / "node_modules").mkdir(parents=True)
    scope = Scope(tmp_path)
    assert dirs(scope) == {"", "a"}
    assert scope.ignored(["a/x.log"]) == set()


def test_broken_rules_hide_nothing(root: Path) -> None:
    (root / ".mogignore").write_text("[\n" + "**/" * 50 + "x\n")
    assert "src" in dirs(Scope(root))


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / "link").symlink_to(tmp_path / "outside")
    assert "link" not in dirs(Scope(root))
