"""git.py: a repository is opened without running anything from it, and a refusal says the way out."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mog.engine.code import git, scan
from mog.engine.errors import GitRefused

posix_only = pytest.mark.skipif(os.name == "nt", reason="shell scripts and ownership are POSIX")


def _git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "init.defaultBranch=main")
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    _git(root, "init", "-q")
    (root / "a.py").write_text("x = 1\n")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "one")
    return root


def _script(path: Path, marker: Path) -> Path:
    path.write_text(f'#!/bin/sh\necho ran >> "{marker}"\ncat\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_top_and_common_dir_are_found_from_below(repo: Path) -> None:
    (repo / "pkg").mkdir()
    assert git.top(repo / "pkg") == repo
    assert git.common_dir(repo / "pkg") == Path(os.path.realpath(repo / ".git"))


def test_a_folder_without_git_has_no_top(tmp_path: Path) -> None:
    assert git.top(tmp_path) is None


def test_head_names_branch_and_commit(repo: Path) -> None:
    head = git.head_ref(repo)
    assert (head.branch, head.commit) == ("main", _git(repo, "rev-parse", "--short", "HEAD"))
    _git(repo, "checkout", "-q", "--detach")
    assert git.head_ref(repo).branch == ""


def test_head_before_the_first_commit(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    assert str(git.head_ref(tmp_path)) == "main"
    assert not git.staged(tmp_path)


def test_staged_changes_are_seen(repo: Path) -> None:
    assert not git.staged(repo)
    (repo / "a.py").write_text("x = 2\n")
    assert not git.staged(repo)
    _git(repo, "add", "a.py")
    assert git.staged(repo)


def test_a_worktree_shares_the_common_dir(repo: Path, tmp_path: Path) -> None:
    _git(repo, "worktree", "add", "-q", str(tmp_path / "side"), "-b", "side")
    found = git.open_repo(tmp_path / "side")
    assert found is not None
    assert found.top == tmp_path / "side"
    assert os.path.samefile(found.common_dir, repo / ".git")
    assert not os.path.samefile(found.git_dir, repo / ".git")


def test_a_worktree_of_a_bare_repository_opens(repo: Path, tmp_path: Path) -> None:
    _git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    _git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "side"))
    assert [entry.path for entry in scan.list_files(tmp_path / "side").entries] == ["a.py"]


def test_a_bare_repository_is_refused_with_the_way_out(repo: Path, tmp_path: Path) -> None:
    _git(tmp_path, "clone", "-q", "--bare", str(repo), "bare.git")
    with pytest.raises(GitRefused, match="bare") as caught:
        scan.list_files(tmp_path / "bare.git")
    assert "clone" in caught.value.way_out


def test_dubious_ownership_is_refused_with_the_command(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repo / ".gitignore").write_text("private.txt\n")
    (repo / "private.txt").write_text("mine\n")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(GitRefused) as caught:
        scan.list_files(repo)
    assert f"git config --global --add safe.directory {repo}" in caught.value.way_out


def test_a_damaged_repository_is_refused_and_not_walked(repo: Path) -> None:
    (repo / ".git" / "HEAD").unlink()
    with pytest.raises(GitRefused) as caught:
        scan.list_files(repo)
    assert caught.value.way_out and caught.value.where


def test_a_damaged_index_is_refused(repo: Path) -> None:
    (repo / ".git" / "index").write_bytes(b"DIRC nonsense nonsense nonsense nonsense")
    with pytest.raises(GitRefused):
        scan.list_files(repo)


def test_git_missing_is_refused_only_where_there_is_a_repository(
    repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    (plain / "b.py").write_text("y = 1\n")
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    with pytest.raises(GitRefused, match="no git program") as caught:
        scan.list_files(repo)
    assert "install git" in caught.value.way_out
    assert [entry.path for entry in scan.list_files(plain).entries] == ["b.py"]


@posix_only
def test_a_relative_path_entry_runs_nothing(repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _script(repo / "git", tmp_path / "marker")
    monkeypatch.chdir(repo)
    monkeypatch.setenv("PATH", os.pathsep.join(("", ".", os.environ["PATH"])))
    scan.list_files(repo)
    assert not (tmp_path / "marker").exists()


def test_a_work_tree_somewhere_else_is_refused(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    _git(repo, "config", "core.worktree", str(tmp_path / "elsewhere"))
    with pytest.raises(GitRefused, match="elsewhere") as caught:
        scan.list_files(repo)
    assert "core.worktree" in caught.value.way_out


@posix_only
def test_a_stalled_git_is_killed_and_refused(repo: Path) -> None:
    os.mkfifo(repo / ".gitignore")
    with pytest.raises(GitRefused, match="did not answer"):
        git.Child(repo, ("ls-files", "-o", "--exclude-standard")).finish(timeout=0.5)


def test_redirecting_variables_are_dropped(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "other"
    other.mkdir()
    _git(other, "init", "-q")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "nothing"))
    assert git.top(repo) == repo
    assert [entry.path for entry in scan.list_files(repo).entries] == ["a.py"]


@posix_only
@pytest.mark.parametrize("place", ["local", "included"])
def test_nothing_the_repository_configures_is_run(repo: Path, tmp_path: Path, place: str) -> None:
    marker = tmp_path / "marker"
    program = str(_script(tmp_path / "evil.sh", marker))
    settings = [
        ("core.fsmonitor", program),
        ("core.hooksPath", str(tmp_path)),
        ("core.pager", program),
        ("core.sshCommand", program),
        ("core.alternateRefsCommand", program),
        ("diff.external", program),
        ("diff.x.textconv", program),
        ("diff.x.command", program),
        ("filter.x.clean", program),
        ("filter.x.process", program),
        ("filter.a=b.clean", program),
        ("alias.ls-files", f"!{program}"),
        ("alias.rev-parse", f"!{program}"),
        ("credential.helper", f"!{program}"),
    ]
    if place == "included":
        target = tmp_path / "more.cfg"
        _git(repo, "config", "include.path", str(target))
    for name, value in settings:
        where = ("-f", str(tmp_path / "more.cfg")) if place == "included" else ("--local",)
        _git(repo, "config", *where, name, value)
    shutil.copy(program, tmp_path / "post-index-change")
    (repo / ".gitattributes").write_text("*.py filter=x diff=x\n*.txt filter=a=b diff=x\n")
    # Younger than git's index: git cannot decide by time stamps and compares content, through the filter.
    (repo / "b.txt").write_text("new\n")
    (repo / "c.txt").write_text("untracked\n")
    young = time.time() + 1000
    for name in ("a.py", "b.txt"):
        os.utime(repo / name, (young, young))
    subprocess.run(["git", "-c", "core.fsmonitor=", "add", "a.py", "b.txt"], cwd=repo, check=True)
    marker.unlink(missing_ok=True)
    result = scan.list_files(repo)
    scan.list_files(repo, known={}, state=result.state)
    assert not marker.exists()
    assert {"a.py", "b.txt", "c.txt"} <= {entry.path for entry in result.entries}


@posix_only
def test_the_guard_test_can_fail(repo: Path, tmp_path: Path) -> None:
    """Negative control: plain git does run such a filter when it compares content."""
    marker = tmp_path / "marker"
    _git(repo, "config", "filter.x.clean", str(_script(tmp_path / "evil.sh", marker)))
    (repo / ".gitattributes").write_text("*.py filter=x\n")
    os.utime(repo / "a.py")
    subprocess.run(["git", "status"], cwd=repo, check=True, stdout=subprocess.DEVNULL)
    assert marker.exists()


def test_person_wide_filters_are_left_alone(repo: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "global.cfg").write_text('[filter "mine"]\n\tclean = cat\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "global.cfg"))
    _git(repo, "config", "filter.theirs.clean", "false")
    found = git.open_repo(repo)
    assert found is not None
    settings = git.without_filters(found)
    assert "filter.theirs.clean" in settings and not any("mine" in key for key in settings)


def test_errors_of_git_never_lose_their_reason(repo: Path) -> None:
    with pytest.raises(GitRefused) as caught:
        git.run(repo, "ls-files", "--no-such-option")
    assert "ls-files" in caught.value.what and caught.value.way_out


@pytest.mark.skipif(sys.platform != "linux", reason="needs a path with a line break")
def test_a_path_with_a_line_break_is_refused_not_misread(tmp_path: Path) -> None:
    root = tmp_path / "a\nb"
    root.mkdir()
    _git(root, "init", "-q")
    with pytest.raises(GitRefused, match="line break"):
        git.open_repo(root)
