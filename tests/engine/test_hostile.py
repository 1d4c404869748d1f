"""Repositories that mean harm or are merely odd: never an abort, every skip counted, nothing read outside."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import hostile_tree
import mog_process
import pytest

from mog.engine.errors import GitRefused, MogError, NotFound, NoWorkspace, StoreDamaged
from mog.engine.model import IndexReport
from mog.engine.workspace import Workspace

posix = pytest.mark.skipif(sys.platform == "win32", reason="such names and files do not exist there")
VERBS = (
    ("index",),
    ("status",),
    ("map",),
    ("search", "named"),
    ("search", "control"),
    ("show", "good_one"),
    ("impact", "good_one"),
    ("neighbors", "good_one"),
    ("verify",),
    ("doctor",),
    ("grammars",),
    ("export", "edges", "--kind", "calls", "--jsonl"),
    ("export", "edges", "--kind", "imports", "--jsonl"),
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, IndexReport, Workspace]]:
    """The hostile repository, indexed once for the whole file."""
    patch = pytest.MonkeyPatch()
    for role in ("AUTHOR", "COMMITTER"):
        patch.setenv(f"GIT_{role}_NAME", "A Person")
        patch.setenv(f"GIT_{role}_EMAIL", "person@example.invalid")
    patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    root = hostile_tree.build(tmp_path_factory.mktemp("hostile"))
    with Workspace.open(root) as workspace:
        yield root, workspace.index(workers=2), workspace
    patch.undo()


def found(workspace: Workspace, name: str) -> bool:
    try:
        workspace.find(name)
    except NotFound:
        return False
    return True


class TestHostileRepository:
    def test_ordinary_code_in_it_is_indexed(self, built: tuple[Path, IndexReport, Workspace]) -> None:
        _, report, workspace = built
        assert report.symbols > 0
        assert workspace.find("src/good.py::good_one").name == "good_one"

    def test_everything_seen_is_indexed_or_skipped_with_a_reason(
        self, built: tuple[Path, IndexReport, Workspace]
    ) -> None:
        health = built[1].health
        assert health.seen == health.indexed + sum(health.skipped.values())
        assert all(health.skipped.values())
        assert set(health.examples) == set(health.skipped)

    @posix
    @pytest.mark.parametrize(
        "path", ["src/pipe.py", "src/sock.py", "src/loop", "src/ping", "src/dangling.py", "src/escape.py"]
    )
    def test_no_regular_file_is_a_counted_skip(self, built: tuple[Path, IndexReport, Workspace], path: str) -> None:
        root, _, workspace = built
        assert os.path.lexists(root / path)
        assert not found(workspace, path)

    @posix
    def test_nothing_outside_the_root_is_read(self, built: tuple[Path, IndexReport, Workspace]) -> None:
        root, _, workspace = built
        word = hostile_tree.OUTSIDE_WORD
        assert workspace.search(word).total == 0
        assert not any(word.encode() in file.read_bytes() for file in (root / ".mog").rglob("*") if file.is_file())

    def test_inner_repositories_are_left_out_and_counted(self, built: tuple[Path, IndexReport, Workspace]) -> None:
        _, report, workspace = built
        assert not found(workspace, "inside_nested")
        assert not found(workspace, "inside_submodule")
        assert report.health.skipped.get("submodule") == 1

    @posix
    def test_every_odd_name_is_indexed(self, built: tuple[Path, IndexReport, Workspace]) -> None:
        workspace = built[2]
        assert {name for name in (f"named_{n}" for n in range(7)) if not found(workspace, name)} == set()
        assert found(workspace, "far_down")
        assert workspace.find("named_0").path == "src/bad\udcff.py"

    @pytest.mark.parametrize("name", ["with_bom", "with_crlf", "latin", "invalid", "before_nul", "control"])
    def test_texts_in_odd_encodings_are_read_or_counted(
        self, built: tuple[Path, IndexReport, Workspace], name: str
    ) -> None:
        _, report, workspace = built
        said = {path for paths in report.health.examples.values() for path in paths} | set(report.health.problems)
        assert found(workspace, name) or any(name.split("_")[-1] in path for path in said)

    def test_byte_order_mark_and_line_ends_shift_no_line(self, built: tuple[Path, IndexReport, Workspace]) -> None:
        workspace = built[2]
        assert [workspace.find(name).line for name in ("with_bom", "with_crlf")] == [1, 1]

    @pytest.mark.parametrize("suffix", ["py", "ts", "tsx", "json"])
    def test_deep_nesting_is_survived(self, built: tuple[Path, IndexReport, Workspace], suffix: str) -> None:
        root, report, workspace = built
        skipped = {path for paths in report.health.examples.values() for path in paths}
        deep = [f"deep/{path.name}" for path in (root / "deep").glob(f"*.{suffix}")]
        assert deep
        assert [path for path in deep if not found(workspace, path) and path not in skipped] == []

    def test_hundred_megabytes_are_not_read(self, built: tuple[Path, IndexReport, Workspace]) -> None:
        _, report, workspace = built
        told = {path: reason for reason, paths in report.health.examples.items() for path in paths}
        told |= dict(report.health.problems)
        assert "big_sparse.py" in told or found(workspace, "big_sparse.py")
        assert sum(file.stat().st_size for file in workspace.mog_dir.rglob("*") if file.is_file()) < 30_000_000

    def test_a_class_that_is_its_own_parent_ends(self, built: tuple[Path, IndexReport, Workspace]) -> None:
        workspace = built[2]
        assert workspace.impact("src/own_parent.py::A", depth=50).total >= 0
        assert workspace.impact("src/ring_a.py::Ring", depth=50).total >= 0

    def test_no_change_run_changes_nothing(self, built: tuple[Path, IndexReport, Workspace]) -> None:
        _, report, workspace = built
        again = workspace.index()
        assert (again.changed, again.parsed, again.facts_hash) == (False, 0, report.facts_hash)

    @pytest.mark.parametrize("verb", VERBS, ids=" ".join)
    @pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
    def test_no_raw_control_byte_reaches_a_screen(
        self, built: tuple[Path, IndexReport, Workspace], verb: tuple[str, ...], form: tuple[str, ...]
    ) -> None:
        done = mog_process.run(built[0], *verb, *form)
        assert done.returncode in (0, 1), done.stderr.decode(errors="replace")
        assert mog_process.raw_controls(done.stdout + done.stderr) == []
        assert b"Traceback" not in done.stderr

    @posix
    def test_an_odd_target_is_answered_without_raw_bytes(self, built: tuple[Path, IndexReport, Workspace]) -> None:
        for target in ("src/bad\udcff.py", "src/esc\x1b[31mred.py", "no\x1b[2Jthing", "src/rtl\u202egnp.py::bidi"):
            done = mog_process.run(built[0], "show", target)
            assert done.returncode in (0, 1, 2)
            assert mog_process.raw_controls(done.stdout + done.stderr) == []


class TestFolders:
    def test_empty_repository(self, tmp_path: Path) -> None:
        hostile_tree.git(tmp_path, "init", "-q")
        with Workspace.open(tmp_path) as workspace:
            report = workspace.index()
        assert (report.files, report.symbols) == (0, 0)

    def test_repository_without_a_commit(self, tmp_path: Path) -> None:
        hostile_tree.git(tmp_path, "init", "-q")
        (tmp_path / "a.py").write_text("def uncommitted():\n    return 1\n")
        with Workspace.open(tmp_path) as workspace:
            assert workspace.index().symbols == 1

    def test_folder_without_git_is_walked_and_says_so(self, tmp_path: Path) -> None:
        (tmp_path / "a.py").write_text("def walked():\n    return 1\n")
        Workspace.init(tmp_path)
        with Workspace.open(tmp_path) as workspace:
            health = workspace.index().health
            assert found(workspace, "walked")
        assert not health.git
        assert any("git" in warning for warning in health.warnings)

    def test_nothing_at_all_is_no_workspace(self, tmp_path: Path) -> None:
        with pytest.raises(NoWorkspace) as caught:
            Workspace.open(tmp_path)
        assert "mog init" in caught.value.way_out

    def test_shallow_clone(self, tmp_path: Path) -> None:
        origin = hostile_tree.new_repo(tmp_path / "origin", {"a.py": "def first():\n    return 1\n"})
        hostile_tree.git(origin, "commit", "-q", "--allow-empty", "-m", "second")
        hostile_tree.git(tmp_path, "clone", "-q", "--depth", "1", origin.as_uri(), "shallow")
        with Workspace.open(tmp_path / "shallow") as workspace:
            assert workspace.index().symbols == 1

    def test_linked_worktree_has_its_own_index(self, tmp_path: Path) -> None:
        main = hostile_tree.new_repo(tmp_path / "main", {"a.py": "def in_main():\n    return 1\n"})
        hostile_tree.git(main, "worktree", "add", "-q", "-b", "other", str(tmp_path / "linked"))
        (tmp_path / "linked" / "b.py").write_text("def in_linked():\n    return 1\n")
        with Workspace.open(main) as one, Workspace.open(tmp_path / "linked") as two:
            one.index()
            two.index()
            assert (found(one, "in_linked"), found(two, "in_linked")) == (False, True)

    def test_dubious_ownership_is_refused_with_the_way_out(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        root = hostile_tree.new_repo(tmp_path / "theirs", {"a.py": "def theirs():\n    return 1\n"})
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        with Workspace.open(root) as workspace, pytest.raises(GitRefused) as caught:
            workspace.index()
        assert "safe.directory" in caught.value.way_out
        done = mog_process.run(root, "index")
        assert done.returncode == GitRefused.exit_code
        assert b"safe.directory" in done.stderr

    def test_broken_git_folder_is_refused_not_walked(self, tmp_path: Path) -> None:
        root = hostile_tree.new_repo(tmp_path / "broken", {"a.py": "def broken():\n    return 1\n"})
        (root / ".git" / "HEAD").write_bytes(b"\x00\x01nonsense")
        with pytest.raises(MogError) as caught, Workspace.open(root) as workspace:
            workspace.index()
        assert caught.value.way_out

    @posix
    def test_unreadable_file_is_counted(self, tmp_path: Path) -> None:
        if os.geteuid() == 0:
            pytest.skip("root may read everything")
        root = hostile_tree.new_repo(tmp_path / "r", {"a.py": "x = 1\n", "b.py": "y = 1\n"})
        (root / "b.py").chmod(0)
        with Workspace.open(root) as workspace:
            health = workspace.index().health
        assert any("b.py" in paths for paths in health.examples.values())

    @posix
    def test_mog_folder_that_is_a_link_is_refused(self, tmp_path: Path) -> None:
        root = hostile_tree.new_repo(tmp_path / "r", {"a.py": "x = 1\n"})
        (tmp_path / "elsewhere").mkdir()
        (root / ".mog").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(StoreDamaged), Workspace.open(root) as workspace:
            workspace.index()
        assert list((tmp_path / "elsewhere").iterdir()) == []

    @posix
    @pytest.mark.parametrize("name", ["index.db", "lock", "csr", "key", ".gitignore"])
    def test_store_file_that_is_a_link_writes_nothing_outside(self, tmp_path: Path, name: str) -> None:
        root = hostile_tree.new_repo(tmp_path / "r", {"a.py": "def f():\n    return 1\n"})
        (root / ".mog").mkdir()
        victim = tmp_path / "victim"
        victim.mkdir() if name == "csr" else victim.write_bytes(b"precious")
        (root / ".mog" / name).symlink_to(victim)
        try:
            with Workspace.open(root) as workspace:
                workspace.index()
        except MogError as error:
            assert error.way_out
        assert (list(victim.iterdir()) == []) if name == "csr" else victim.read_bytes() == b"precious"

    def test_garbage_index_is_replaced_or_refused_with_the_way_out(self, tmp_path: Path) -> None:
        root = hostile_tree.new_repo(tmp_path / "r", {"a.py": "def f():\n    return 1\n"})
        (root / ".mog").mkdir()
        (root / ".mog" / "index.db").write_bytes(b"not a database at all" * 500)
        try:
            with Workspace.open(root) as workspace:
                assert workspace.index().symbols == 1
        except StoreDamaged as error:
            assert error.way_out

    def test_files_that_vanish_while_they_are_indexed(self, tmp_path: Path) -> None:
        files: dict[str, str | bytes] = {f"m{n}.py": f"def f{n}():\n    return 1\n" for n in range(40)}
        root = hostile_tree.new_repo(tmp_path / "r", files)
        with Workspace.open(root) as workspace:
            report = workspace.index(workers=1, progress=lambda _: shutil.rmtree(root / "gone", ignore_errors=True))
            for n in range(0, 40, 2):
                (root / f"m{n}.py").unlink()
            assert workspace.index().files == report.files - 20
