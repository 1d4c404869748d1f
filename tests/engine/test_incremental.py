"""An index reached by edits is the index of the tree as it stands, in any order, process or surroundings."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import mog_process
import projects
import pytest
from hypothesis import HealthCheck, example, given, settings

from mog.engine.errors import HeldByOther
from mog.engine.model import IndexReport
from mog.engine.store.lock import WriterLock
from mog.engine.workspace import Workspace

KINDS = ("calls", "imports", "inherits", "references", "tested_by", "defines", "contains")
WHOLE = dict.fromkeys(projects.VERSIONS, 0)
QUERIES = ("helper", "Shape", "step", "only_here", "draw")


@dataclass(frozen=True)
class Picture:
    """Everything that can be told about an index: its hash, its edges, what a few searches find."""

    facts_hash: str
    edges: Counter[tuple[object, ...]]
    found: dict[str, list[str]]

    def against(self, other: Picture) -> dict[str, object]:
        """What differs; empty when nothing does."""
        told: dict[str, object] = {}
        if extra := sorted(map(str, (self.edges - other.edges).elements())):
            told["edges too many"] = extra
        if lacking := sorted(map(str, (other.edges - self.edges).elements())):
            told["edges lacking"] = lacking
        for query in self.found:
            if self.found[query] != other.found[query]:
                told[f"search {query}"] = (self.found[query], other.found[query])
        if self.facts_hash != other.facts_hash:
            told["facts hash"] = (self.facts_hash, other.facts_hash)
        return told


def picture(workspace: Workspace, report: IndexReport) -> Picture:
    """Take the picture of an index."""
    edges = Counter((kind, *sorted(row.items())) for kind in KINDS for row in workspace.export_edges(kind))
    hits = {query: workspace.search(query, limit=100).hits for query in QUERIES}
    return Picture(
        report.facts_hash, edges, {query: sorted(hit.node.locator for hit in found) for query, found in hits.items()}
    )


def rebuilt(root: Path) -> Picture:
    """The picture of an index built from nothing over the same tree."""
    shutil.rmtree(root.parent / "aside", ignore_errors=True)
    shutil.move(root / ".mog", root.parent / "aside")
    with Workspace.open(root) as workspace:
        return picture(workspace, workspace.index(workers=1))


def check_sequence(start: dict[str, int], steps: list[projects.Op], each: bool) -> None:
    """Edit, index (after each step or once at the end), compare with a rebuild."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "project"
        projects.begin(root, start)
        with Workspace.open(root) as workspace:
            report = workspace.index(workers=1)
            for step in steps:
                projects.apply(root, step)
                if each:
                    report = workspace.index(workers=1)
            reached = picture(workspace, report if each else workspace.index(workers=1))
        assert reached.against(rebuilt(root)) == {}


class TestOrderOfEdits:
    @given(start=projects.beginnings, steps=projects.sequences)
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @example(start=WHOLE, steps=[projects.Op("switch", "side"), projects.Op("switch", "main")])
    @example(start=WHOLE, steps=[projects.Op("rename_folder", "pkg", 0, "moved"), projects.Op("revert", "pkg/base.py")])
    @example(start=WHOLE, steps=[projects.Op("delete", "pkg/base.py"), projects.Op("revert", "pkg/base.py")])
    @example(start=WHOLE, steps=[projects.Op("rename", "pkg/util.py", 0, "lib/util.py"), projects.Op("commit")])
    def test_indexed_after_each_step(self, start: dict[str, int], steps: list[projects.Op]) -> None:
        check_sequence(start, steps, each=True)

    @given(start=projects.beginnings, steps=projects.sequences)
    @settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    def test_indexed_once_after_all(self, start: dict[str, int], steps: list[projects.Op]) -> None:
        check_sequence(start, steps, each=False)

    @pytest.mark.parametrize("path", sorted(projects.VERSIONS))
    def test_every_version_and_back(self, tmp_path: Path, path: str) -> None:
        root = tmp_path / "project"
        projects.begin(root, WHOLE)
        with Workspace.open(root) as workspace:
            first = workspace.index(workers=1)
            for version in range(len(projects.VERSIONS[path])):
                projects.apply(root, projects.Op("put", path, version))
                workspace.index(workers=1)
            projects.apply(root, projects.Op("put", path, 0))
            back = picture(workspace, workspace.index(workers=1))
        assert back.facts_hash == first.facts_hash
        assert back.against(rebuilt(root)) == {}

    def test_edit_reads_one_file_and_a_comment_relinks_nobody(self, tmp_path: Path) -> None:
        root = tmp_path / "project"
        projects.begin(root, WHOLE)
        with Workspace.open(root) as workspace:
            workspace.index(workers=1)
            with (root / "pkg/base.py").open("a", encoding="utf-8") as handle:
                handle.write("# a comment\n")
            report = workspace.index(workers=1)
        assert (report.parsed, report.relinked) == (1, 1)

    def test_no_change_publishes_no_generation(self, tmp_path: Path) -> None:
        root = tmp_path / "project"
        projects.begin(root, WHOLE)
        with Workspace.open(root) as workspace:
            first = workspace.index(workers=1)
            os.utime(root / "app.py")
            again = workspace.index(workers=1)
        assert (again.changed, again.generation, again.parsed) == (False, first.generation, again.parsed)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    projects.begin(root, WHOLE)
    return root


def many_modules(root: Path, count: int = 240) -> None:
    """Enough files that an index takes a while and needs worker processes."""
    function = "def f{here}_{n}(x):\n    return f{following}_{n}(x) + helper(x)\n\n\n"
    for number in range(count):
        following = (number + 1) % count
        body = "".join(function.format(here=number, n=n, following=following) for n in range(40))
        projects.put(root, f"big/m{number}.py", f"from pkg.util import helper\n\n\n{body}")
    projects.git(root, "add", "-A", "--", ".", ":!.mog")
    projects.git(root, "commit", "-q", "-m", "many")


class TestDeterminism:
    def test_surroundings_do_not_matter(self, project: Path) -> None:
        many_modules(project, 60)
        told = []
        for seed, workers, locale, zone in (
            ("0", "1", "C", "UTC"),
            ("1", "2", "C.UTF-8", "Asia/Tokyo"),
            ("31337", "1", "POSIX", "America/St_Johns"),
        ):
            shutil.rmtree(project / ".mog", ignore_errors=True)
            env = {"PYTHONHASHSEED": seed, "LC_ALL": locale, "TZ": zone}
            document = mog_process.run_json(project, "index", "--workers", workers, env=env)
            exported = mog_process.run(project, "export", "edges", "--kind", "calls", "--jsonl", env=env).stdout
            told.append((document["facts_hash"], document["symbols"], document["edges"], sorted(exported.splitlines())))
        assert told[1:] == told[:-1]

    def test_full_flag_changes_nothing(self, project: Path) -> None:
        with Workspace.open(project) as workspace:
            first = picture(workspace, workspace.index())
            assert picture(workspace, workspace.index(full=True)).against(first) == {}


class TestProcesses:
    def test_second_writer_is_refused_and_told_who_holds_it(self, project: Path) -> None:
        with Workspace.open(project) as workspace:
            workspace.index()
        with WriterLock(project / ".mog" / "lock", command="patient holder"):
            done = mog_process.run(project, "index", "--full")
            with Workspace.open(project) as workspace, pytest.raises(HeldByOther):
                workspace.index(full=True)
        assert done.returncode == HeldByOther.exit_code
        assert str(os.getpid()).encode() in done.stderr
        assert b"patient holder" in done.stderr

    def test_three_at_once_corrupt_nothing(self, project: Path) -> None:
        many_modules(project)
        running = [mog_process.start(project, "index", "--full", "--json") for _ in range(3)]
        ended = [(process.communicate(timeout=120), process.returncode) for process in running]
        codes = sorted(code for _, code in ended)
        assert codes[0] == 0
        assert set(codes) <= {0, HeldByOther.exit_code}, ended
        assert all(b"process" in err for (_, err), code in ended if code)
        with Workspace.open(project) as workspace:
            reached = picture(workspace, workspace.index())
            assert [check.name for check in workspace.doctor() if check.state == "damaged"] == []
        assert reached.against(rebuilt(project)) == {}

    @pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is Unix")
    def test_killed_index_leaves_the_previous_one_serving(self, project: Path) -> None:
        with Workspace.open(project) as workspace:
            before = workspace.index()
        many_modules(project)
        began = time.monotonic()
        shutil.copytree(project, project.parent / "twin")
        mog_process.run_json(project.parent / "twin", "index")
        whole = time.monotonic() - began
        for part in (0.1, 0.3, 0.45, 0.6, 0.75, 0.9):
            process = mog_process.start(project, "index")
            time.sleep(whole * part)
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert mog_process.run(project, "status").returncode == 0
            with Workspace.open(project) as workspace:
                assert workspace.find("pkg/base.py::Base.run").name == "run"
                assert workspace.status().index.generation >= before.generation
                if workspace.status().index.generation > before.generation:
                    break
        with Workspace.open(project) as workspace:
            reached = picture(workspace, workspace.index())
        assert reached.against(rebuilt(project)) == {}

    def test_reader_keeps_its_answers_while_another_process_writes(self, project: Path) -> None:
        with Workspace.open(project) as workspace:
            workspace.index()
            many_modules(project, 120)
            process = mog_process.start(project, "index")
            answers = set()
            while process.poll() is None:
                answers.add(workspace.find("pkg/base.py::Base.run").line)
                workspace.search("helper")
            assert process.returncode == 0
            assert answers == {2}
            assert workspace.find("big/m7.py::f7_3").name == "f7_3"


class TestDeletion:
    def test_index_can_be_deleted_at_any_time(self, project: Path) -> None:
        with Workspace.open(project) as workspace:
            first = picture(workspace, workspace.index())
        for name in ("index.db", "index.db-wal", "index.db-shm"):
            (project / ".mog" / name).unlink(missing_ok=True)
        with Workspace.open(project) as workspace:
            assert not workspace.has_index()
            assert picture(workspace, workspace.index()).against(first) == {}

    def test_arrays_can_be_deleted(self, project: Path) -> None:
        with Workspace.open(project) as workspace:
            first = picture(workspace, workspace.index())
        shutil.rmtree(project / ".mog" / "csr")
        with Workspace.open(project) as workspace:
            assert picture(workspace, workspace.index(full=True)).against(first) == {}

    def test_index_of_another_version_is_rebuilt(self, project: Path) -> None:
        with Workspace.open(project) as workspace:
            first = picture(workspace, workspace.index())
        with sqlite3.connect(project / ".mog" / "index.db") as connection:
            connection.execute("PRAGMA user_version = 9999")
        with Workspace.open(project) as workspace:
            assert picture(workspace, workspace.index()).against(first) == {}
