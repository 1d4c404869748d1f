"""A snapshot is the graph, the same each time, written whole or not at all; versions say what differs between two commits."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from snapshot_kit import FILES, answered, opened

from mog.engine.errors import IndexMissing, NotFound, StoreDamaged, UsageError
from mog.engine.snapshots import versions as kept
from mog.engine.snapshots.document import line_of
from mog.engine.workspace import Workspace


@pytest.fixture
def shop(make_repo: Any) -> Iterator[Workspace]:
    with opened(make_repo(FILES)) as workspace:
        yield workspace


def written(workspace: Workspace, path: Path, **how: Any) -> dict[str, Any]:
    workspace.context_graph.snapshot(path, **how)
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


def commit(root: Path, message: str = "more") -> str:
    for command in (["add", "-A"], ["commit", "-q", "-m", message]):
        subprocess.run(["git", *command], cwd=root, check=True, timeout=60)
    return subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


def test_a_document_holds_every_node_and_edge_and_no_dangling_end(shop: Workspace, tmp_path: Path) -> None:
    document = written(shop, tmp_path / "s.json")
    nodes = {one["node_id"]: one for one in document["nodes"]}
    assert len(nodes) == len(document["nodes"]) == document["totals"]["nodes"]
    with shop._reading() as view:
        keys = {row.key: row.uid.hex() for row in view.db.node_rows()}
        edges = {(keys[key], keys[other], kind, tier.name) for key in keys for other, kind, tier in view.graph.out(key)}
    assert set(nodes) == set(keys.values())
    assert {(e["source_node_id"], e["target_node_id"], e["edge_type"], e["tier"]) for e in document["edges"]} == edges
    assert list(nodes) == sorted(nodes)
    method = next(one for one in nodes.values() if one["label"] == "Tasks.complete")
    assert (method["kind"], method["path"], method["line"]) == ("method", "app/services/tasks.py", 8)
    assert document["source_refs"][0]["checksum"] == document["identity"]["source_manifest_digest"]


def test_an_index_made_at_once_and_one_made_by_edits_give_the_same_graph(shop: Workspace, tmp_path: Path) -> None:
    first = written(shop, tmp_path / "a.json")
    file = shop.root / "app/db.py"
    for text in ("def save(row, more):\n    return 1\n\n\ndef load():\n    return save(1, 2)\n", FILES["app/db.py"]):
        file.write_text(text)
        shop.index(workers=1)
    second = written(shop, tmp_path / "b.json")
    shop.index(workers=1, full=True)
    third = written(shop, tmp_path / "c.json")
    for name in ("identity", "nodes", "edges", "totals"):
        assert first[name] == second[name] == third[name]


def test_a_document_of_hostile_names_is_ascii_and_valid(make_repo: Any, tmp_path: Path) -> None:
    names = {"a\u202eb.py": "def f():\n    pass\n", "n\x7fn.py": "def g():\n    pass\n", "l\nl.py": "x = 1\n"}
    with opened(make_repo(names)) as workspace:
        os.rename(os.fsencode(workspace.root / "l\nl.py"), os.path.join(os.fsencode(workspace.root), b"b\xff.py"))
        workspace.index(workers=1)
        path = tmp_path / "s.json"
        document = written(workspace, path)
    data = path.read_bytes()
    assert data.isascii() and not any((byte < 32 and byte != 10) or byte == 127 for byte in data)
    assert {"a\u202eb.py", "n\x7fn.py", "b\\udcff.py"} <= {one["path"] for one in document["nodes"]}


def test_one_encoder_does_what_the_other_does() -> None:
    from mog.engine.snapshots.document import _lines

    rows: list[dict[str, Any]] = [
        {"a": "plain", "n": 3, "g": True},
        {"a": 'q"\\/\x01\n'},
        {"a": "naïve"},
        {"a": "\x7f"},
        {"a": "\ud800"},
    ]
    assert list(_lines(rows)) == [line_of(row) for row in rows]
    assert [json.loads(line) for line in _lines(rows)] == rows


def test_annotations_stand_apart_and_change_no_digest_of_the_graph(shop: Workspace, tmp_path: Path) -> None:
    before = written(shop, tmp_path / "a.json")
    shop.context_graph.apply_annotations(answered(shop.context_graph.annotation_request()))
    after = written(shop, tmp_path / "b.json")
    assert after["totals"] == before["totals"] and len(after["annotations"]) == 6 and before["annotations"] == []
    assert after["identity"] | {"advisory_hash": ""} == before["identity"]
    assert "purpose" not in json.dumps(after["nodes"])


def test_what_is_gated_keeps_its_name_and_no_byte(make_repo: Any, tmp_path: Path) -> None:
    token = "ghp_" + "FAKE" * 9
    with opened(make_repo({"app/a.py": "x = 1\n", ".env": f"TOKEN={token}\n"})) as workspace:
        document = written(workspace, tmp_path / "s.json")
    gated = next(one for one in document["nodes"] if one["path"] == ".env")
    assert gated["gated"] is True and "checksum" not in gated
    assert token not in (tmp_path / "s.json").read_text()


def test_a_file_is_private_and_there_as_a_whole_or_not_at_all(shop: Workspace, tmp_path: Path) -> None:
    target = tmp_path / "s.json"
    target.write_text("old")
    written(shop, target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with pytest.raises(UsageError):
        shop.context_graph.snapshot(tmp_path / "nowhere" / "s.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repo", "s.json"]
    assert not list((shop.mog_dir / "versions").glob(".*"))


def test_a_link_in_the_place_of_a_document_is_replaced_and_not_followed(shop: Workspace, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("mine")
    (tmp_path / "s.json").symlink_to(tmp_path / "victim")
    written(shop, tmp_path / "s.json")
    assert (tmp_path / "victim").read_text() == "mine" and not (tmp_path / "s.json").is_symlink()


def test_without_an_index_one_is_made_unless_that_is_not_wanted(make_repo: Any) -> None:
    with Workspace.open(make_repo(FILES)) as workspace:
        with pytest.raises(IndexMissing):
            workspace.context_graph.snapshot(index=False)
        assert workspace.context_graph.snapshot().symbols == 7


# versions


def test_versions_are_recorded_by_commit_and_compared_exactly(shop: Workspace) -> None:
    graph = shop.context_graph
    graph.snapshot()
    (shop.root / "app/db.py").write_text(
        "def save(row, more=0):\n    return bool(row)\n\n\ndef load(row):\n    return save(row)\n"
    )
    head = commit(shop.root)
    graph.snapshot()
    first, second = graph.versions()
    assert second.commit == head and first.commit != head and len(first.commit) == 40 and not second.dirty
    found = graph.compare(first.commit[:10], "latest")
    assert (found.nodes, found.edges) == (
        {"added": 1, "removed": 0, "changed": 2},  # load; the file by its bytes, save by its signature
        {"added": 2, "removed": 0, "changed": 0},  # defined, and it calls save
    )
    assert found.examples["nodes.added"] == ("sym:app/db.py::load",)
    assert "sym:app/db.py::load calls sym:app/db.py::save (certain)" in found.examples["edges.added"]
    back = graph.compare("latest", first.facts_hash)
    assert back.nodes == {"added": 0, "removed": 1, "changed": 2} and back.edges["removed"] == 2
    assert graph.compare(head, head).same


def test_lines_that_only_moved_are_no_change(shop: Workspace) -> None:
    graph = shop.context_graph
    graph.snapshot()
    file = shop.root / "app/db.py"
    file.write_text("\n\n" + file.read_text())
    graph.snapshot()
    found = graph.compare(graph.versions()[0].facts_hash)
    assert found.nodes == {"added": 0, "removed": 0, "changed": 1} and found.examples["nodes.changed"] == (
        "file:app/db.py",
    )


def test_the_same_state_again_is_one_version(shop: Workspace) -> None:
    graph = shop.context_graph
    for _ in range(3):
        graph.snapshot()
    assert len(graph.versions()) == 1


def test_only_the_newest_documents_are_kept_and_the_rest_is_said(
    shop: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "KEPT", 2)
    graph = shop.context_graph
    for number in range(4):
        (shop.root / "app/db.py").write_text(f"def save(row):\n    return {number}\n")
        graph.snapshot()
    found = graph.versions()
    assert [one.kept for one in found] == [False, False, True, True]
    assert len(list((shop.mog_dir / "versions").glob("*.gz"))) == 2
    with pytest.raises(NotFound) as refused:
        graph.compare(found[0].facts_hash)
    assert "mog context snapshot" in refused.value.way_out


@pytest.mark.parametrize(
    ("name", "error"), [("../x", UsageError), ("ab", UsageError), ("abcd" * 10, NotFound), ("", UsageError)]
)
def test_a_name_that_is_no_version_is_refused(shop: Workspace, name: str, error: type[Exception]) -> None:
    shop.context_graph.snapshot()
    with pytest.raises(error):
        shop.context_graph.compare(name, "latest")


@pytest.mark.parametrize("spoil", ["list", "graph", "cut"])
def test_a_damaged_version_is_said_and_can_be_made_again(shop: Workspace, spoil: str) -> None:
    graph = shop.context_graph
    graph.snapshot()
    (shop.root / "app/db.py").write_text("def save(row):\n    return 2\n")
    graph.snapshot()
    first = graph.versions()[0]
    path = shop.mog_dir / "versions" / ("versions.json" if spoil == "list" else f"{first.facts_hash}.json.gz")
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2] if spoil != "graph" else b"no gzip")
    with pytest.raises(StoreDamaged) as damaged:
        graph.compare(first.facts_hash)
    assert ".mog/versions" in damaged.value.way_out
    for file in (shop.mog_dir / "versions").iterdir():
        file.unlink()
    assert graph.snapshot().nodes and len(graph.versions()) == 1
