"""scan.py, over time: what is said to be unchanged is unchanged, and the quick answer equals a listing from nothing."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from mog.engine.code import scan
from mog.engine.code.content import Reader


def _git(folder: Path, *arguments: str, check: bool = True) -> None:
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "init.defaultBranch=main")
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=check, stdin=subprocess.DEVNULL, capture_output=True
    )


class Index:
    """The least an indexer does with scan results: rows, contents, state."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.rows: dict[str, scan.Known] = {}
        self.contents: dict[str, bytes | None] = {}
        self.state = b""
        self.read: list[str] = []
        self.last: scan.ScanResult | None = None

    def update(self) -> scan.ScanResult:
        result = scan.list_files(self.root, known=self.rows, state=self.state)
        self.read = []
        for path in result.removed:
            del self.rows[path], self.contents[path]
        for path, row in result.restamped:
            assert path in self.rows
            self.rows[path] = row
        with Reader(self.root) as reader:
            for entry in result.entries:
                content = reader.read(entry.path)
                self.read.append(entry.path)
                self.rows[entry.path] = (entry.oid if content.blob == entry.oid else None, *content.stat)
                self.contents[entry.path] = content.data
        self.state = result.state
        self.last = result
        return result

    def check(self) -> None:
        """Same files, same bytes and same account as a scan that knows nothing."""
        fresh = scan.list_files(self.root)
        assert self.last is not None
        assert sorted(self.rows) == sorted(entry.path for entry in fresh.entries)
        with Reader(self.root) as reader:
            assert {path: reader.read(path).data for path in self.rows} == self.contents
        assert (self.last.seen, self.last.skipped, self.last.examples) == (fresh.seen, fresh.skipped, fresh.examples)
        assert (self.last.ref, self.last.dirty, self.last.files) == (fresh.ref, fresh.dirty, fresh.files)
        assert fresh.seen == fresh.files + sum(fresh.skipped.values())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    for path in ("pkg/a.py", "pkg/b.py", "pkg/sub/c.py", "docs/d.md", "lock/package-lock.json", "img.png"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{path}\n")
    _git(root, "init", "-q")
    (root / ".gitignore").write_text("*.log\nout/\n")
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "one")
    return root


def _age(root: Path, seconds: float = 100.0) -> None:
    """Move every time stamp that can be moved into the past, index included, and let the clock tick."""
    then = time.time() - seconds
    for folder, _, files in os.walk(root):
        for name in files:
            os.utime(os.path.join(folder, name), (then, then), follow_symlinks=False)
    _git(root, "update-index", "-q", "--refresh", check=False)
    time.sleep(0.05)


def test_a_second_scan_of_a_quiet_tree_neither_lists_nor_reads(root: Path) -> None:
    index = Index(root)
    _age(root)
    assert len(index.update().entries) == 6
    result = index.update()
    assert result.fast and not result.entries and not result.removed and result.unchanged == 6
    index.check()


def test_an_edit_in_place_is_the_only_thing_read_and_a_revert_is_seen(root: Path) -> None:
    index = Index(root)
    _age(root)
    index.update()
    before = (root / "pkg/a.py").read_bytes()
    (root / "pkg/a.py").write_text("changed\n")
    result = index.update()
    assert result.fast and index.read == ["pkg/a.py"] and result.dirty
    index.check()
    time.sleep(0.05)
    (root / "pkg/a.py").write_bytes(before)
    index.update()
    index.check()


def test_a_dirty_file_is_read_once(root: Path) -> None:
    index = Index(root)
    _age(root)
    (root / "pkg/a.py").write_text("changed\n")
    (root / "pkg/new.py").write_text("new\n")
    time.sleep(0.05)
    index.update()
    index.update()
    assert index.read == []


def test_committing_a_dirty_file_reads_nothing(root: Path) -> None:
    index = Index(root)
    _age(root)
    (root / "pkg/a.py").write_text("changed\n")
    time.sleep(0.05)
    index.update()
    _git(root, "commit", "-qam", "two")
    _age(root / ".git")
    result = index.update()
    assert index.read == [] and [path for path, _ in result.restamped] == ["pkg/a.py"]
    index.check()
    assert index.update().restamped == []


def test_a_same_size_edit_within_the_tick_is_not_missed(root: Path) -> None:
    index = Index(root)
    (root / "pkg/new.py").write_text("one\n")
    for number in range(20):
        (root / "pkg/new.py").write_text(f"{number:03}\n")
        index.update()
        assert index.contents["pkg/new.py"] == f"{number:03}\n".encode()


def test_a_forged_time_stamp_is_not_believed(root: Path) -> None:
    index = Index(root)
    (root / "pkg/new.py").write_text("one\n")
    _age(root)
    index.update()
    info = (root / "pkg/new.py").stat()
    (root / "pkg/new.py").write_text("two\n")
    os.utime(root / "pkg/new.py", ns=(info.st_atime_ns, info.st_mtime_ns))
    index.update()
    assert index.contents["pkg/new.py"] == b"two\n"


def test_files_hidden_from_git_by_assume_unchanged_are_still_compared(root: Path) -> None:
    index = Index(root)
    _git(root, "update-index", "--assume-unchanged", "pkg/a.py")
    _age(root)
    index.update()
    (root / "pkg/a.py").write_text("changed behind git's back\n")
    index.update()
    assert index.contents["pkg/a.py"] == b"changed behind git's back\n"
    index.check()


def test_a_new_ignore_rule_removes_what_it_names(root: Path) -> None:
    index = Index(root)
    (root / "pkg/new.py").write_text("new\n")
    _age(root)
    index.update()
    (root / ".gitignore").write_text("*.log\nout/\nnew.py\n")
    assert index.update().removed == ["pkg/new.py"]
    index.check()
    (root / ".mogignore").write_text("/docs/\n")
    assert index.update().removed == ["docs/d.md"]
    index.check()
    (root / ".mogignore").write_text("")
    index.update()
    index.check()


def test_rules_outside_the_tree_count_too(root: Path) -> None:
    index = Index(root)
    (root / "pkg/new.py").write_text("new\n")
    _age(root)
    index.update()
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text("new.py\n")
    assert index.update().removed == ["pkg/new.py"]
    index.check()


def test_another_exclude_is_another_listing(root: Path) -> None:
    first = scan.list_files(root)
    rows: dict[str, scan.Known] = {entry.path: tuple(entry[4:]) for entry in first.entries}  # type: ignore[misc]
    result = scan.list_files(root, exclude=["pkg/"], known=rows, state=first.state)
    assert result.removed == ["pkg/a.py", "pkg/b.py", "pkg/sub/c.py"] and result.skipped["config"] == 3


@pytest.mark.parametrize("state", [b"", b"nonsense", b"x\x9c\x03\x00\x00\x00\x00\x01"])
def test_a_damaged_state_only_costs_a_listing(root: Path, state: bytes) -> None:
    result = scan.list_files(root, known={}, state=state)
    assert not result.fast and result.files == 6


NAMES = (
    "pkg/a.py",
    "pkg/b.py",
    "pkg/sub/c.py",
    "pkg/n 1.py",
    "new/deep/e.ts",
    "x.log",
    "out/f.py",
    "docs/d.md",
    "top.py",
)


def _write(root: Path, pick: random.Random) -> None:
    path = root / pick.choice(NAMES)
    if path.is_symlink() or path.is_dir():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{pick.randrange(3)}\n")


def _replace(root: Path, pick: random.Random) -> None:
    """As editors save: a new file moved over the old one."""
    path = root / pick.choice(NAMES)
    if path.parent.is_dir() and not path.is_dir():
        (path.parent / "save~").write_text(f"{pick.randrange(3)}\n")
        os.replace(path.parent / "save~", path)


def _delete(root: Path, pick: random.Random) -> None:
    (root / pick.choice(NAMES)).unlink(missing_ok=True)


def _link(root: Path, pick: random.Random) -> None:
    path = root / pick.choice(NAMES)
    if path.parent.is_dir() and not path.is_dir():
        path.unlink(missing_ok=True)
        path.symlink_to("/etc/hostname" if pick.random() < 0.5 else "a.py")


def _pipe(root: Path, pick: random.Random) -> None:
    path = root / pick.choice(("pipe", "pkg/pipe", "out/pipe"))
    if path.parent.is_dir() and not path.exists():
        os.mkfifo(path)


def _rename_folder(root: Path, pick: random.Random) -> None:
    for old, new in (("pkg/sub", "pkg/moved"), ("pkg/moved", "pkg/sub")):
        if (root / old).is_dir() and not (root / new).exists():
            (root / old).rename(root / new)
            return


def _commit(root: Path, pick: random.Random) -> None:
    _git(root, "add", "-A")
    _git(root, "commit", "-qm", "more", check=False)


def _stage(root: Path, pick: random.Random) -> None:
    _git(root, "add", "-A", "pkg", check=False)


def _switch(root: Path, pick: random.Random) -> None:
    name = pick.choice(("one", "two"))
    _git(root, "checkout", "-q", "-f", "-B" if pick.random() < 0.5 else "--force", name, check=False)


def _revert(root: Path, pick: random.Random) -> None:
    _git(root, "checkout", "-f", "-q", "--", ".", check=False)


def _refresh(root: Path, pick: random.Random) -> None:
    _git(root, "status", "-s", check=False)


def _toggle_rule(root: Path, pick: random.Random) -> None:
    (root / pick.choice((".gitignore", ".mogignore", "pkg/.gitignore"))).write_text(
        pick.choice(("*.log\nout/\n", "*.log\n", "b.py\n!a.py\n", "deep/\n"))
    )


def _hide(root: Path, pick: random.Random) -> None:
    _git(root, "update-index", pick.choice(("--assume-unchanged", "--no-assume-unchanged")), "pkg/a.py", check=False)


def _pause(root: Path, pick: random.Random) -> None:
    time.sleep(0.03)


STEPS = [
    _write,
    _write,
    _write,
    _replace,
    _delete,
    _link,
    _rename_folder,
    _commit,
    _stage,
    _switch,
    _revert,
    _refresh,
    _toggle_rule,
    _hide,
]
STEPS += [_pause] if os.name == "nt" else [_pause, _pipe]


@pytest.mark.parametrize("seed", range(4))
def test_any_history_ends_where_a_fresh_scan_starts(root: Path, seed: int) -> None:
    pick = random.Random(seed)
    index = Index(root)
    index.update()
    for _ in range(25):
        steps = [pick.choice(STEPS) for _ in range(pick.randrange(1, 4))]
        for step in steps:
            step(root, pick)
        index.update()
        try:
            index.check()
        except AssertionError as error:
            raise AssertionError(f"after {[step.__name__ for step in steps]}: {error}") from error
