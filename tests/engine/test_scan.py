"""scan.py, at one moment: what is listed, in which order, and that nothing found goes uncounted."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mog.engine.code import scan
from mog.engine.code.languages_map import binary_by_name, language_of, text_only_by_name
from mog.engine.code.order import Order, sort_key

posix_only = pytest.mark.skipif(os.name == "nt", reason="pipes, links and such names are POSIX")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only here are names any bytes")


def _git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "init.defaultBranch=main")
    command = ["git", *identity, "-c", "protocol.file.allow=always", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def _write(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def _commit(root: Path) -> None:
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "more")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    _git(root, "init", "-q")
    return root


def _paths(result: scan.ScanResult) -> set[str]:
    assert result.seen == result.files + sum(result.skipped.values())
    assert set(result.examples) == set(result.skipped)
    return {entry.path for entry in result.entries}


def test_clean_files_carry_the_blob_id_and_are_not_stated(repo: Path) -> None:
    _write(repo, "a.py")
    _commit(repo)
    (entry,) = scan.list_files(repo).entries
    expected = subprocess.run(
        ["git", "rev-parse", "HEAD:a.py"], cwd=repo, capture_output=True, text=True
    ).stdout.strip()
    assert entry.oid is not None and entry.oid.hex() == expected
    assert entry[5:] == (0, 0, 0, 0)


def test_dirty_and_untracked_files_carry_a_stat_and_no_blob_id(repo: Path) -> None:
    _write(repo, "a.py")
    _commit(repo)
    _write(repo, "b.py")
    (repo / "a.py").write_text("longer than before")
    for entry in scan.list_files(repo).entries:
        assert entry.oid is None and entry.size == (repo / entry.path).stat().st_size and entry.ctime_ns


def test_the_order_is_manifests_sources_others_docs_tests_scripts(repo: Path) -> None:
    expected = [
        "pyproject.toml",
        "thing/__init__.py",
        "thing/deep/core.py",
        "odd/stuff.py",
        "odd/stuff.csv",
        "docs/guide.md",
        "tests/test_core.py",
        "scripts/release.sh",
    ]
    _write(repo, *reversed(expected))
    _commit(repo)
    assert [entry.path for entry in scan.list_files(repo).entries] == expected


def test_entries_are_sorted_by_their_key(repo: Path) -> None:
    pick = random.Random(7)
    parts = ("src", "tests", "docs", "a", "b", "scripts", "lib", "x.py", "y.ts", "z.md", "package.json")
    _write(repo, *{"/".join(pick.choice(parts) for _ in range(pick.randrange(1, 4))) + f"/f{n}.py" for n in range(60)})
    entries = scan.list_files(repo).entries
    keys = [sort_key(entry.path, entry.priority) for entry in entries]
    assert len(entries) == 60 and keys == sorted(keys)


def test_languages_by_name_and_shebang() -> None:
    expected = {
        "a.py": "python",
        "a.pyi": "python",
        "a.jsx": "javascript",
        "a.mjs": "javascript",
        "a.ts": "typescript",
        "a.tsx": "tsx",
        "a.go": "go",
        "a.rs": "rust",
        "A.java": "java",
        "a.h": "c",
        "a.hpp": "cpp",
        "a.cs": "csharp",
        "a.rb": "ruby",
        "a.php": "php",
        "a.vue": "vue",
        "a.svelte": "svelte",
        "a.sh": "bash",
        "a.sql": "sql",
        "a.yml": "yaml",
        "a.toml": "toml",
        "a.json": "json",
        "Dockerfile": "dockerfile",
        "x/Dockerfile.dev": "dockerfile",
        "a.md": "markdown",
        "a.html": "html",
        "a.css": "css",
        "Makefile": "make",
        "a.txt": "text",
        "noext": "text",
        ".env": "dotenv",
        "A.PY": "python",
    }
    assert {path: language_of(path) for path in expected} == expected
    heads = {
        b"#!/usr/bin/env python3\n": "python",
        b"#!/bin/sh -e\n": "bash",
        b"#!/usr/bin/env -S node --x\n": "javascript",
        b"#!": "text",
    }
    assert {head: language_of("bin/tool", head) for head in heads} == heads


def test_lock_files_and_minified_assets_are_text_only(repo: Path) -> None:
    _write(repo, "a.js", "a.min.js", "package-lock.json", "uv.lock", "a.js.map")
    assert {entry.path: entry.parse for entry in scan.list_files(repo).entries} == {
        "a.js": True,
        "a.min.js": False,
        "package-lock.json": False,
        "uv.lock": False,
        "a.js.map": False,
    }
    assert text_only_by_name("x/Cargo.lock") and not text_only_by_name("x/locker.py")


def test_binary_by_name_is_counted_and_never_read(repo: Path) -> None:
    _write(repo, "a.png", "locale/de/LC_MESSAGES/django.mo", "model.mo")
    result = scan.list_files(repo)
    assert _paths(result) == {"model.mo"} and result.skipped == {"binary": 2}
    assert binary_by_name("A.PNG") and not binary_by_name("png")


def test_build_dist_target_and_vendor_are_kept(repo: Path) -> None:
    _write(repo, "build/a.py", "dist/b.py", "target/c.py", "vendor/d.py", "node_modules/mine/e.js")
    _commit(repo)
    assert len(_paths(scan.list_files(repo))) == 5


def test_built_in_excludes_count_as_one_each_when_untracked(repo: Path) -> None:
    _write(
        repo,
        "a.py",
        "node_modules/x/y.js",
        "node_modules/z.js",
        "pkg/__pycache__/a.pyc",
        "pkg/b.py",
        ".venv/lib/c.py",
        ".mog/index.db",
    )
    result = scan.list_files(repo)
    assert _paths(result) == {"a.py", "pkg/b.py"}
    assert result.examples == {"excluded": (".venv/", "node_modules/", "pkg/__pycache__/")}


def test_ignored_things_are_counted_folders_as_one(repo: Path) -> None:
    (repo / ".gitignore").write_text("*.log\nout/\n")
    _write(repo, "a.py", "a.log", "pkg/b.log", "pkg/c.py", "out/1", "out/2", "only/x.log", "empty/deeper/y.log")
    result = scan.list_files(repo)
    assert _paths(result) == {".gitignore", "a.py", "pkg/c.py"}
    assert result.examples == {"gitignored": ("a.log", "empty/deeper/y.log", "only/x.log", "out/", "pkg/b.log")}


def test_mogignore_adds_to_what_is_tracked_and_says_so(repo: Path) -> None:
    _write(repo, "gen/a.py", "gen/keep.py", "src/b.py", "src/deep/c.py")
    _commit(repo)
    (repo / ".mogignore").write_text("/gen/*\n!keep.py\n")
    (repo / "src/.mogignore").write_text("deep/\n")
    result = scan.list_files(repo, exclude=["*.txt"])
    assert _paths(result) == {".mogignore", "src/.mogignore", "gen/keep.py", "src/b.py"}
    assert result.skipped == {"mogignore": 2}


def test_an_empty_repository(repo: Path) -> None:
    result = scan.list_files(repo)
    assert (result.entries, result.seen, result.git, result.ref, result.dirty) == ([], 0, True, "main", False)


def test_a_folder_inside_a_repository_is_scanned_alone(repo: Path) -> None:
    _write(repo, "a.py", "pkg/b.py", "pkg/sub/c.py")
    _commit(repo)
    (repo / ".gitignore").write_text("*.log\n")
    _write(repo, "pkg/x.log", "pkg/new.py")
    (repo / "pkg/b.py").write_text("edited")
    result = scan.list_files(repo / "pkg")
    assert _paths(result) == {"b.py", "sub/c.py", "new.py"} and result.skipped == {"gitignored": 1}
    known: dict[str, scan.Known] = {entry.path: tuple(entry[4:]) for entry in result.entries}  # type: ignore[misc]
    assert scan.list_files(repo / "pkg", known=known, state=result.state).removed == []


def test_deleted_and_sparse_files_are_counted(repo: Path) -> None:
    _write(repo, "a.py", "b.py", "c.png", "d.py")
    _commit(repo)
    for name in ("a.py", "c.png"):
        (repo / name).unlink()
    _git(repo, "update-index", "--skip-worktree", "d.py")
    (repo / "d.py").unlink()
    result = scan.list_files(repo)
    assert _paths(result) == {"b.py"} and result.skipped == {"missing": 2, "not_checked_out": 1}


def test_a_conflict_is_listed_once(repo: Path) -> None:
    _write(repo, "a.py")
    _commit(repo)
    for branch in ("left", "right"):
        _git(repo, "checkout", "-q", "-b", branch, "main")
        (repo / "a.py").write_text(branch)
        _commit(repo)
    subprocess.run(["git", "merge", "-q", "left"], cwd=repo, capture_output=True)
    result = scan.list_files(repo)
    assert [(entry.path, entry.oid) for entry in result.entries] == [("a.py", None)]
    assert _paths(result) == {"a.py"}


def test_an_added_but_unstaged_file_has_no_blob_id(repo: Path) -> None:
    _write(repo, "a.py")
    _git(repo, "add", "-N", "a.py")
    (entry,) = scan.list_files(repo).entries
    assert entry.oid is None and entry.size == 4


def test_nested_repositories_and_submodules_are_not_entered(repo: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    _git(other, "init", "-q")
    _write(other, "x.py")
    _commit(other)
    _write(repo, "a.py", "keep/b.py")
    _git(repo, "submodule", "add", "-q", str(other), "keep/sub")
    _commit(repo)
    _git(repo, "clone", "-q", str(other), "inner")
    (repo / "fresh").mkdir()
    _git(repo / "fresh", "init", "-q")
    _write(repo / "fresh", "y.py")
    _git(repo, "worktree", "add", "-q", "wt")
    result = scan.list_files(repo)
    assert _paths(result) == {".gitmodules", "a.py", "keep/b.py"}
    assert result.examples == {"nested_repository": ("fresh/", "inner/", "wt/"), "submodule": ("keep/sub",)}
    assert _paths(scan.list_files(repo / "wt")) == {".gitmodules", "a.py", "keep/b.py"}
    assert _paths(scan.list_files(repo / "keep" / "sub")) == {"x.py"}


def test_a_shallow_clone(repo: Path, tmp_path: Path) -> None:
    _write(repo, "a.py")
    _commit(repo)
    _write(repo, "b.py")
    _commit(repo)
    _git(tmp_path, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    assert _paths(scan.list_files(tmp_path / "shallow")) == {"a.py", "b.py"}


@posix_only
def test_links_pipes_and_sockets_are_counted_and_never_followed(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _write(repo, "pkg/real.py", "pkg/was.py", "gone/file.py")
    (repo / "pkg/link.py").symlink_to("real.py")
    (repo / "loop").symlink_to(".")
    (repo / "escape").symlink_to("/etc/passwd")
    (repo / "broken").symlink_to("nowhere")
    _commit(repo)
    (repo / "new_link").symlink_to("/etc")
    (repo / "pkg/was.py").unlink()
    os.mkfifo(repo / "pkg/was.py")
    os.mkfifo(repo / "pipe")
    (repo / "lonely/deep").mkdir(parents=True)
    os.mkfifo(repo / "lonely/deep/pipe")
    monkeypatch.chdir(repo)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock")
        (repo / "gone/file.py").unlink()
        (repo / "gone").rmdir()
        (repo / "gone").symlink_to("/etc")
        result = scan.list_files(repo)
    assert _paths(result) == {"pkg/real.py"}
    assert result.examples == {
        "missing": ("gone/file.py",),
        "special": ("lonely/deep/pipe", "pipe", "pkg/was.py", "sock"),
        "symlink": ("broken", "escape", "gone", "loop", "new_link"),
    }
    assert result.skipped["symlink"] == 6


@posix_only
def test_a_link_replaced_by_a_file_is_a_file(repo: Path) -> None:
    _write(repo, "a.py")
    (repo / "b.py").symlink_to("a.py")
    _commit(repo)
    (repo / "b.py").unlink()
    _write(repo, "b.py")
    result = scan.list_files(repo)
    assert _paths(result) == {"a.py", "b.py"} and not result.skipped


@linux_only
@pytest.mark.parametrize("track", [True, False])
@pytest.mark.parametrize("with_git", [True, False])
def test_names_of_any_bytes_survive(tmp_path: Path, track: bool, with_git: bool) -> None:
    names = [
        b"bad-\xff\xfe.py",
        b"line\nbreak.py",
        b"\x1b[2Jesc.py",
        b"-dash.py",
        b"tab\tq'\"uote.py",
        b":(top)x.py",
        b"*.py",
        b"\xe2\x80\xae.py",
    ]
    names += [b"a" * 250 + b".py", b" lead.py", b"#hash.py", b"back\\slash.py", b"deep/\xff/\n/x.py"]
    root = os.fsencode(tmp_path)
    for name in names:
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        with open(os.path.join(root, name), "wb") as stream:
            stream.write(name)
    if with_git:
        _git(tmp_path, "init", "-q")
        if track:
            _commit(tmp_path)
    result = scan.list_files(tmp_path)
    assert {os.fsencode(path) for path in _paths(result)} == set(names)
    known: dict[str, scan.Known] = {entry.path: tuple(entry[4:]) for entry in result.entries}  # type: ignore[misc]
    with open(os.path.join(root, names[0]), "ab") as stream:
        stream.write(b"more")
    again = scan.list_files(tmp_path, known=known, state=result.state)
    assert os.fsdecode(names[0]) in _paths_changed(again)


def _paths_changed(result: scan.ScanResult) -> set[str]:
    return {entry.path for entry in result.entries}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="needs a person whom permissions bind")
def test_a_folder_that_cannot_be_entered_is_counted(tmp_path: Path) -> None:
    _write(tmp_path, "a.py", "closed/b.py")
    (tmp_path / "closed").chmod(0)
    result = scan.list_files(tmp_path)
    (tmp_path / "closed").chmod(0o700)
    assert _paths(result) == {"a.py"} and result.examples == {"unreadable": ("closed/",)}


def test_a_folder_without_git_is_walked_and_says_so(tmp_path: Path) -> None:
    _write(tmp_path, "a.py", "src/b.py", "node_modules/c.js", ".mog/index.db", "x.png", "gen/d.py", "src/gen/e.py")
    (tmp_path / ".mogignore").write_text("/gen/\n")
    result = scan.list_files(tmp_path)
    assert _paths(result) == {".mogignore", "a.py", "src/b.py", "src/gen/e.py"}
    assert result.skipped == {"binary": 1, "excluded": 1, "mogignore": 1}
    assert not result.git and "no git here" in result.warnings[0] and result.ref == ""


def test_a_folder_of_repositories_says_what_to_do(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        _git(tmp_path / name, "init", "-q")
    result = scan.list_files(tmp_path)
    assert result.skipped == {"nested_repository": 2} and "run mog in one of them" in result.warnings[1]


@posix_only
def test_a_walk_does_not_follow_links(tmp_path: Path) -> None:
    _write(tmp_path, "pkg/a.py")
    (tmp_path / "pkg/up").symlink_to("..")
    (tmp_path / "out").symlink_to("/etc")
    os.mkfifo(tmp_path / "pipe")
    result = scan.list_files(tmp_path)
    assert _paths(result) == {"pkg/a.py"} and result.skipped == {"symlink": 2, "special": 1}


def test_a_walked_folder_is_compared_by_stat(tmp_path: Path) -> None:
    _write(tmp_path, "a.py", "b.py")
    for name in ("a.py", "b.py"):
        os.utime(tmp_path / name, (1, 1))
    first = scan.list_files(tmp_path)
    rows: dict[str, scan.Known] = {entry.path: (None, *_row(tmp_path / entry.path)) for entry in first.entries}
    (tmp_path / "a.py").write_text("changed")
    (tmp_path / "b.py").unlink()
    again = scan.list_files(tmp_path, known=rows)
    assert _paths(again) == {"a.py"} and again.removed == ["b.py"] and again.unchanged == 0


def _row(path: Path) -> tuple[int, int, int, int]:
    info = path.lstat()
    return info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino


def test_priorities_of_a_monorepo() -> None:
    order = Order(("thing",))
    paths = (
        "package.json",
        "packages/ui/package.json",
        "packages/ui/src/a.ts",
        "thing/x.py",
        "other/x.py",
        "other/x.csv",
        "x_test.go",
    )
    assert [order.priority(path, language_of(path)) for path in paths] == [0, 0, 20, 20, 50, 60, 80]


@posix_only
@pytest.mark.parametrize("seed", range(8))
def test_random_trees_against_a_naive_account(repo: Path, seed: int) -> None:
    """The generator knows what it made; the scan must say the same, tracked or not."""
    pick = random.Random(seed)
    (repo / ".gitignore").write_text("*.log\nout/\n")
    expected: dict[str, str] = {".gitignore": "file"}
    folders = ["", "pkg/", "pkg/sub/", "tests/", "build/", "a b/", "é/"]
    for number in range(40):
        folder = pick.choice(folders)
        kind = pick.choice(("file", "file", "file", "binary", "gitignored", "symlink", "special"))
        path = folder + {"binary": f"b{number}.png", "gitignored": f"l{number}.log"}.get(kind, f"f{number}.py")
        (repo / folder).mkdir(parents=True, exist_ok=True)
        if kind == "symlink":
            (repo / path).symlink_to(pick.choice(("nowhere", ".", "/etc", "f1.py")))
        elif kind == "special":
            os.mkfifo(repo / path)
        else:
            (repo / path).write_text(path)
        expected[path] = kind
        if number == 20:
            _commit(repo)
    _write(repo, "out/a.py", "out/deep/b.py")
    expected["out/"] = "gitignored"
    tracked = [
        path
        for path in subprocess.run(["git", "ls-files", "-z"], cwd=repo, capture_output=True, text=True).stdout.split(
            "\0"
        )
        if path
    ]
    for path in pick.sample(tracked, 3):
        if expected.get(path) == "file" and path != ".gitignore":
            (repo / path).unlink()
            expected[path] = "missing"
    result = scan.list_files(repo)
    assert _paths(result) == {path for path, kind in expected.items() if kind == "file"}
    counts = {kind: list(expected.values()).count(kind) for kind in set(expected.values()) - {"file"}}
    assert result.skipped == counts and result.seen == len(expected)
    assert all(expected[path] == reason for reason, paths in result.examples.items() for path in paths)
