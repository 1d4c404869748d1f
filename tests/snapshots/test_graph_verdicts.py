"""May a planner rely on the graph? Healthy, warning or blocked by what was lost; current or stale by what the disk says now."""

from __future__ import annotations

import contextlib
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from snapshot_kit import FILES, opened

from mog.engine.code import grammars
from mog.engine.config import EngineConfig
from mog.engine.errors import GitRefused
from mog.engine.snapshots import verdict as verdicts
from mog.engine.snapshots.model import HealthReport, Stale
from mog.engine.workspace import Workspace

MANY = {f"src/m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(30)}


@pytest.fixture
def shop(make_repo: Any) -> Iterator[Workspace]:
    with opened(make_repo(FILES)) as workspace:
        yield workspace


def report(root: Path, **settings: Any) -> HealthReport:
    with opened(root, **settings) as workspace:
        return workspace.context_graph.health()


def codes(reasons: Any) -> list[str]:
    return [one.code for one in reasons]


def test_a_repository_that_is_all_there_is_healthy(shop: Workspace) -> None:
    found = shop.context_graph.health()
    assert (found.status, found.blockers, found.warnings) == ("healthy", (), ())
    assert found.coverage["core_files"] == 5 and found.coverage["symbols"] == 7


def test_a_language_without_a_grammar_is_a_warning_that_names_it(make_repo: Any) -> None:
    found = report(make_repo({**FILES, "app/main.zig": "pub fn main() void {}\n"}))
    (reason,) = found.warnings
    assert found.status == "warning" and ":zig" in reason.code and reason.count == 1
    assert reason.way_out and "zig" in reason.detail


def test_a_core_grammar_that_does_not_load_is_a_warning(make_repo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from mog.engine.code import extract

    real = extract.supported
    monkeypatch.setattr(extract, "supported", lambda language: language != "javascript" and real(language))
    assert grammars.info("javascript").loads
    found = report(make_repo({**FILES, "app/ui.js": "export function draw() { return 1 }\n"}))
    assert found.status == "warning" and codes(found.warnings) == ["context_graph_grammar_missing:javascript"]
    assert "mog grammars add javascript" in found.warnings[0].way_out


def test_one_odd_script_among_many_files_is_a_note(make_repo: Any) -> None:
    many = {f"src/m{n}.py": "x = 1\n\n\ndef f():\n    return x\n" for n in range(60)}
    found = report(make_repo({**many, "src/odd.zig": "pub fn main() void {}\n"}))
    assert found.status == "healthy" and any(":zig" in code for code in codes(found.notes))


def test_a_core_that_was_cut_by_a_limit_is_blocked(make_repo: Any) -> None:
    large = "def core():\n    return 1\n" + "# " + "x" * 3_000 + "\n"
    found = report(make_repo({**FILES, "app/engine.py": large}), max_file_bytes=2_000)
    (blocker,) = found.blockers
    assert found.status == "blocked" and blocker.code == "context_graph_limit_reached_before_core_code"
    assert "app/engine.py" in blocker.detail and "index.max_file_bytes" in blocker.way_out
    assert found.coverage["core_files_cut"] == 1


@pytest.mark.parametrize("path", ["tests/big.py", "docs/big.py", "examples/big.py"])
def test_a_limit_that_cut_something_else_is_a_warning(make_repo: Any, path: str) -> None:
    found = report(make_repo({**FILES, path: "x = 1\n" + "# " + "x" * 3_000 + "\n"}), max_file_bytes=2_000)
    assert found.status == "warning" and codes(found.warnings) == ["context_graph_limit_reached"]


def test_a_small_loss_of_the_core_is_a_warning_and_no_blocker(make_repo: Any) -> None:
    many = {name: text + "# " + "y" * 1_900 + "\n" for name, text in MANY.items()}
    found = report(make_repo({**many, "src/one.py": "x = 1\n" + "# " + "x" * 2_400 + "\n"}), max_file_bytes=2_300)
    assert found.status == "warning" and codes(found.warnings) == ["context_graph_limit_reached"]


def test_nothing_indexed_is_blocked(make_repo: Any) -> None:
    assert codes(report(make_repo({})).blockers) == ["context_graph_no_indexed_files"]


def test_a_repository_of_prose_is_a_warning(make_repo: Any) -> None:
    assert codes(report(make_repo({"README.md": "# Hello\n"})).warnings) == ["context_graph_no_core_surfaces_indexed"]


def test_many_partial_parses_are_a_warning(make_repo: Any) -> None:
    found = report(make_repo({**FILES, "app/broken.py": "def f(:\n", "app/worse.py": "class (:\n"}))
    assert found.status == "warning" and codes(found.warnings) == ["context_graph_partial_parses"]


@pytest.mark.parametrize(
    ("path", "core"),
    [("src/a.py", True), ("a.go", True), ("tests/test_a.py", False), ("docs/conf.py", False), ("examples/a.py", False),
     ("a.css", False),
     ("scripts/x.sh", False), ("third_party/a.c", False)],
)  # fmt: skip
def test_what_counts_as_the_program_itself(path: str, core: bool) -> None:
    from mog.engine.code.languages_map import language_of

    assert verdicts.is_core(path, language_of(path)) is core


# stale


def status(workspace: Workspace, **how: Any) -> Stale:
    return workspace.context_graph.stale(**how)


def test_current_until_a_file_differs_and_again_when_it_does_not(shop: Workspace) -> None:
    assert status(shop) == Stale("current")
    file = shop.root / "app/db.py"
    before = file.read_text()
    file.write_text(before + "# more\n")
    (shop.root / "app/new.py").write_text("y = 1\n")
    found = status(shop)
    assert (found.status, found.changed_total) == ("partially_stale", 2) and "2 files differ" in found.reasons[0]
    file.write_text(before)
    (shop.root / "app/new.py").unlink()
    assert status(shop).status == "current"


def test_another_commit_makes_it_stale_until_it_is_indexed(shop: Workspace) -> None:
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "next"], cwd=shop.root, check=True, timeout=60)
    found = status(shop)
    assert found.status == "stale" and "commit checked out" in found.reasons[0]
    shop.index(workers=1)
    assert status(shop).status == "current"


def test_another_branch_at_the_same_commit_is_the_same_graph(shop: Workspace) -> None:
    before = shop.context_graph.identity()
    subprocess.run(["git", "checkout", "-q", "-b", "feature"], cwd=shop.root, check=True, timeout=60)
    assert status(shop).status == "current"
    shop.index(workers=1)
    assert shop.context_graph.identity() == before


def test_other_settings_make_it_stale(shop: Workspace) -> None:
    with Workspace.open(shop.root, config=EngineConfig(project="shop", max_file_bytes=1_000_000)) as other:
        found = status(other)
    assert found.status == "stale" and "settings changed" in found.reasons[0]


def test_an_index_that_cannot_be_believed_is_unsafe(shop: Workspace) -> None:
    shop.close()
    arrays = next((shop.mog_dir / "csr").glob("*.csr"))
    data = bytearray(arrays.read_bytes())
    data[-1] ^= 0xFF
    arrays.chmod(0o600)
    arrays.write_bytes(bytes(data))
    with Workspace.open(shop.root, config=EngineConfig(project="shop")) as again:
        assert status(again, checks=True).status == "unsafe"
        assert again.context_graph.snapshot(index=False).stale.status == "unsafe"


def test_a_ledger_that_cannot_be_believed_is_unsafe(shop: Workspace) -> None:
    shop.pin("archive", "a note")
    shop.close()
    with contextlib.closing(sqlite3.connect(shop.ledger_path)) as db, db:
        db.execute("UPDATE events SET digest = zeroblob(length(digest))")
    with Workspace.open(shop.root, config=EngineConfig(project="shop")) as again:
        assert status(again, checks=True).status == "unsafe"


def test_where_nothing_can_be_compared_it_is_unknown(shop: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    from mog.engine.code.indexer import Indexer

    def refuse(*_: object) -> int:
        raise GitRefused("dubious ownership", where="here", way_out="allow it")

    monkeypatch.setattr(Indexer, "differing", refuse)
    assert status(shop).status == "unknown"


def test_without_an_index_it_is_unknown(make_repo: Any) -> None:
    with Workspace.open(make_repo(FILES)) as workspace:
        assert status(workspace).status == "unknown"
