"""With an index of SCIP in the tree, too, an index reached by edits is the one built from nothing: whatever changes, file or index."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections import Counter
from pathlib import Path

import projects
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scip_maker import guessed, settle, touch_after, write

from mog.engine.model import Change, IndexReport
from mog.engine.workspace import Workspace

Op = projects.Op
KINDS = ("calls", "inherits", "references", "tested_by")
WHOLE = dict.fromkeys(projects.VERSIONS, 0)
NAMES = ("index.scip", "web.scip")

scip_ops = st.one_of(
    st.builds(Op, st.just("scip"), st.sampled_from(NAMES), st.integers(0, 2)),
    st.builds(Op, st.just("no_scip"), st.sampled_from(NAMES)),
    st.builds(Op, st.just("older"), projects.places),
    st.builds(Op, st.just("younger"), projects.places),
    st.builds(Op, st.just("settle"), st.sampled_from(NAMES)),
)
sequences = st.lists(st.one_of(scip_ops, projects.ops), min_size=1, max_size=7)


def apply(root: Path, op: Op) -> None:
    """One step; those about indexes are ours."""
    file, index = root / op.path, root / NAMES[0]
    if op.what == "scip":
        paths = [p for p in root.rglob("*") if p.suffix in (".py", ".ts", ".tsx") and ".mog" not in p.parts]
        texts = {p.relative_to(root).as_posix(): p.read_text() for p in paths}
        chosen = {path: text for at, (path, text) in enumerate(sorted(texts.items())) if op.version == 0 or at % 2 == op.version - 1}
        write(root, guessed(chosen), op.path)
    elif op.what == "no_scip":
        file.unlink(missing_ok=True)
    elif op.what == "younger" and file.is_file() and index.is_file():
        touch_after(file, index)
    elif op.what == "older" and file.is_file():
        import os

        os.utime(file, ns=(10**18, 10**18))
    elif op.what == "settle" and file.is_file():
        settle(root, file)
    elif op.what not in ("scip", "no_scip", "younger", "older", "settle"):
        projects.apply(root, op)


def edges(workspace: Workspace, report: IndexReport) -> tuple[str, Counter[tuple[object, ...]], object]:
    """The hash, all edges with how they are known, and what is said of the indexes."""
    found = Counter((kind, *sorted(row.items())) for kind in KINDS for row in workspace.export_edges(kind))
    return report.facts_hash, found, report.health.scip


def check(start: dict[str, int], steps: list[Op], each: bool) -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "project"
        projects.begin(root, start)
        with Workspace.open(root) as workspace:
            report = workspace.index(workers=1)
            for step in steps:
                apply(root, step)
                if each:
                    report = workspace.index(workers=1)
            reached = edges(workspace, report if each else workspace.index(workers=1))
        shutil.rmtree(root / ".mog" / "csr")
        (root / ".mog" / "index.db").unlink()
        with Workspace.open(root) as workspace:
            rebuilt = edges(workspace, workspace.index(workers=1))
        assert reached == rebuilt


@given(start=projects.beginnings, steps=sequences)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example(start=WHOLE, steps=[Op("scip", "index.scip"), Op("put", "pkg/base.py", 1), Op("scip", "index.scip")])
@example(start=WHOLE, steps=[Op("scip", "index.scip"), Op("put", "pkg/util.py", 3)])
@example(start=WHOLE, steps=[Op("scip", "index.scip"), Op("younger", "pkg/base.py"), Op("older", "pkg/base.py")])
@example(start=WHOLE, steps=[Op("scip", "index.scip"), Op("delete", "pkg/util.py"), Op("revert", "pkg/util.py")])
@example(start=WHOLE, steps=[Op("scip", "index.scip"), Op("delete", "pkg/util.py")])
@example(start=WHOLE, steps=[Op("scip", "index.scip"), Op("rename_folder", "pkg", 0, "moved")])
@example(start=WHOLE, steps=[Op("scip", "index.scip", 1), Op("scip", "web.scip", 2), Op("no_scip", "index.scip")])
@example(start=WHOLE, steps=[Op("scip", "index.scip"), Op("commit"), Op("switch", "side"), Op("settle", "index.scip")])
def test_indexed_after_each_step(start: dict[str, int], steps: list[Op]) -> None:
    check(start, steps, each=True)


@given(start=projects.beginnings, steps=sequences)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_indexed_once_after_all(start: dict[str, int], steps: list[Op]) -> None:
    check(start, steps, each=False)


def test_an_index_really_changes_edges_here(tmp_path: Path) -> None:
    root = tmp_path / "project"
    projects.begin(root, WHOLE)
    with Workspace.open(root) as workspace:
        _, before, _ = edges(workspace, workspace.index(workers=1))
        apply(root, Op("scip", "index.scip"))
        _, after, health = edges(workspace, workspace.index(workers=1))
    assert before != after
    assert health is not None


def test_named_paths_come_to_the_same(tmp_path: Path) -> None:
    """The watcher's way in: single files, their dates alone, and the index itself, which asks for a whole run."""
    root = tmp_path / "project"
    projects.begin(root, WHOLE)
    apply(root, Op("scip", "index.scip"))
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        touch_after(root / "pkg/base.py", root / "index.scip")
        assert workspace._indexer().run_paths(["pkg/base.py"]) is not None
        assert workspace._indexer().run_paths(["index.scip"]) is None
        report = workspace.index(workers=1)
        assert not report.changed
        reached = edges(workspace, report)
        assert edges(workspace, workspace.index(full=True, workers=1)) == reached


def test_an_index_that_git_ignores_is_seen_while_watching(tmp_path: Path) -> None:
    root = tmp_path / "project"
    projects.begin(root, WHOLE)
    projects.put(root, ".gitignore", "*.scip\n")
    heard = threading.Condition()
    changes: list[Change] = []

    def listen(change: Change) -> None:
        with heard:
            changes.append(change)
            heard.notify_all()

    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        workspace.subscribe(listen)
        workspace.start_watch()
        with heard:
            assert heard.wait_for(lambda: workspace.watcher == "live", 30)
        apply(root, Op("scip", "index.scip"))
        with heard:
            assert heard.wait_for(lambda: workspace.status().health.scip is not None, 30)
        reached = edges(workspace, workspace.index(workers=1))
        assert edges(workspace, workspace.index(full=True, workers=1)) == reached
