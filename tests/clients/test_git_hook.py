"""``mog hook``: the post-commit block comes and goes without a trace, in every place where git looks for hooks."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from client_world import World, put

from mog.app.cli.run import run
from mog.app.clients import githook

pytestmark = pytest.mark.skipif(os.name == "nt", reason="hooks are shell scripts")
THEIRS = "#!/bin/sh\n# team hook\nset -eu\necho theirs >> ran.txt\nexec true\n"


@pytest.fixture
def clone(world: World, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit; the current folder."""
    monkeypatch.setenv("PATH", f"{world.programs}{os.pathsep}/usr/bin{os.pathsep}/bin")
    (world.project / ".git").rmdir()
    (world.project / "a.py").write_text("def f():\n    return 1\n")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        git(world.project, *command)
    return world.project


def git(folder: Path, *command: str) -> None:
    subprocess.run(["git", *command], cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)


def hook_of(folder: Path) -> Path:
    return put(folder / "post-commit", THEIRS.encode())


def spy(world: World, body: str) -> Path:
    """A program in the place of mog that leaves a file when it is through."""
    left = world.home / "left"
    (world.programs / "mog").write_text(
        f'#!/bin/sh\n{body}\necho "$PWD $* ${{GIT_DIR-unset}}" > {left}.new && mv {left}.new {left}\n'
    )
    return left


def arrived(path: Path) -> str:
    until = time.monotonic() + 60
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    return path.read_text()


def test_a_hook_of_others_is_kept_and_given_back(clone: Path) -> None:
    path = hook_of(clone / ".git/hooks")
    path.chmod(0o755)
    assert run(["hook", "install", "-q"]) == 0
    once = path.read_text()
    assert once.startswith("#!/bin/sh\n" + githook.BEGIN)
    assert once.endswith(THEIRS.partition("\n")[2])
    assert run(["hook", "install", "-q"]) == 0
    assert path.read_text() == once
    assert path.stat().st_mode & 0o777 == 0o755
    assert run(["hook", "uninstall", "-q"]) == 0
    assert path.read_text() == THEIRS
    assert run(["hook", "uninstall", "-q"]) == 1


def test_a_hook_that_was_not_there_is_made_and_deleted(clone: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["hook"]) == 1
    assert run(["hook", "install", "-q"]) == 0
    path = clone / ".git/hooks/post-commit"
    assert os.access(path, os.X_OK)
    subprocess.run(["sh", "-n", path], check=True, timeout=60)
    capsys.readouterr()
    assert run(["hook", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"path": str(path), "state": "installed", "shared": False}
    assert run(["hook", "uninstall", "-q"]) == 0
    assert not path.exists()


def test_a_commit_starts_the_index_and_both_hooks_run(world: World, clone: Path) -> None:
    left = spy(world, "")
    hook_of(clone / ".git/hooks").chmod(0o755)
    assert run(["hook", "install", "-q"]) == 0
    git(clone, "commit", "-q", "--allow-empty", "-m", "second")
    assert (clone / "ran.txt").read_text() == "theirs\n"
    assert arrived(left).split() == [str(clone), "index", "--quiet", "unset"]


def test_a_commit_does_not_wait_for_the_index(world: World, clone: Path) -> None:
    """The program stays until it is let go; a commit that waited for it, or for its streams, would never return."""
    go = world.home / "go"
    left = spy(world, f'while [ ! -e "{go}" ]; do sleep 0.05; done')
    assert run(["hook", "install", "-q"]) == 0
    git(clone, "commit", "-q", "--allow-empty", "-m", "second")
    assert not left.exists()
    go.touch()
    assert "index" in arrived(left)


@pytest.mark.parametrize("body", ["exit 3", "kill -9 $$"])
def test_a_failing_or_missing_mog_fails_no_commit(world: World, clone: Path, body: str) -> None:
    spy(world, body)
    assert run(["hook", "install", "-q"]) == 0
    git(clone, "commit", "-q", "--allow-empty", "-m", "second")
    (world.programs / "mog").unlink()
    git(clone, "commit", "-q", "--allow-empty", "-m", "third")


def test_a_worktree_uses_the_hook_of_the_clone(world: World, clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    git(clone, "worktree", "add", "-q", str(world.home / "tree"))
    monkeypatch.chdir(world.home / "tree")
    left = spy(world, "")
    assert run(["hook", "install", "-q"]) == 0
    assert (clone / ".git/hooks/post-commit").exists()
    git(world.home / "tree", "commit", "-q", "--allow-empty", "-m", "there")
    assert arrived(left).split() == [str(world.home / "tree"), "index", "--quiet", "unset"]


def test_hooks_in_the_work_tree_name_the_program_and_no_path(
    world: World, clone: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(clone, "config", "core.hooksPath", ".githooks")
    assert run(["hook", "install"]) == 0
    text = (clone / ".githooks/post-commit").read_text()
    assert "mog_program=mog\n" in text
    assert str(world.programs) not in text
    assert "needs mog on PATH" in capsys.readouterr().err
    assert not (clone / ".git/hooks/post-commit").exists()


def test_hooks_that_serve_other_repositories_too_are_refused(world: World, clone: Path) -> None:
    shared = world.home / "hooks"
    shared.mkdir()
    git(clone, "config", "core.hooksPath", str(shared))
    for verb in ("install", "uninstall", "status"):
        assert run(["hook", verb]) == 6
    assert list(shared.iterdir()) == []


def test_a_hook_that_links_out_of_the_clone_is_refused(world: World, clone: Path) -> None:
    target = hook_of(world.home)
    (clone / ".git/hooks").mkdir(exist_ok=True)
    (clone / ".git/hooks/post-commit").symlink_to(target)
    assert run(["hook", "install"]) == 6
    assert target.read_text() == THEIRS


@pytest.mark.parametrize(
    ("text", "mode"),
    [("#!/usr/bin/env python3\nprint(1)\n", 0o755), ("\x7fELF\udcff", 0o755), (THEIRS, 0o644)],
    ids=["python", "binary", "not executable"],
)
def test_a_hook_that_cannot_take_the_block_is_left_alone(clone: Path, text: str, mode: int) -> None:
    path = put(clone / ".git/hooks/post-commit", text.encode("utf-8", "surrogateescape"))
    path.chmod(mode)
    before = path.read_bytes()
    assert run(["hook", "install"]) == 3
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "first", ["#!/bin/bash", "#!/usr/bin/env bash", "#! /bin/sh -e", "#!/usr/bin/env -S zsh -f", ": no first line"]
)
def test_every_shell_takes_the_block(clone: Path, first: str) -> None:
    text = f"{first}\necho hi\n"
    path = put(clone / ".git/hooks/post-commit", text.encode())
    path.chmod(0o755)
    assert run(["hook", "install", "-q"]) == 0
    assert run(["hook", "uninstall", "-q"]) == 0
    assert path.read_text() == text


def test_without_git_there_is_no_hook(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world.home)
    assert run(["hook", "install"]) == 2
