"""Which workspace a server answers for: folders inside one, links to one, worktrees, several at once, and places that cannot be one."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from mcp_kit import Raw, served

from mog.app.mcp.place import Place, read_private
from mog.engine.errors import StoreDamaged
from mog.engine.roots import around, find_root
from mog.engine.workspace import Workspace

HAS_LINKS = hasattr(os, "symlink") and os.name != "nt"
pytestmark = pytest.mark.skipif(not HAS_LINKS, reason="needs links")


def notes(server: Raw) -> set[str]:
    """Notes of the pins that a server knows."""
    return {item["note"] for item in server.call("why", target="gate.py::parse")["structuredContent"]["items"] if "note" in item}


def test_a_folder_inside_and_a_link_to_the_root_are_the_same_workspace(repo: Path, tmp_path: Path) -> None:
    (repo / "sub" / "deep").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(repo)
    with served(repo) as owner, served(repo / "sub" / "deep") as inside, served(link) as linked:
        assert not owner.call("pin", target="gate.py::parse", note="once")["isError"]
        assert notes(inside) == notes(linked) == {"once"}
        address = Place(repo).address()
        assert address is not None
        assert address.pid == owner.process.pid
        assert not (repo / "sub" / ".mog").exists()


def test_two_repositories_at_once_stay_apart_and_their_worktrees_together(repo: Path, make_repo: Any, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "gate.py").write_text("def parse(token):\n    return token\n")
    tree = tmp_path / "tree"
    subprocess.run(["git", "worktree", "add", "-q", str(tree)], cwd=repo, check=True, stdin=subprocess.DEVNULL, timeout=60)
    for root in (other, tree):
        Workspace.init(root)
        with Workspace.open(root) as workspace:
            workspace.index(workers=1)
    with served(repo) as main, served(tree) as linked, served(other) as apart:
        linked.ask("resources/subscribe", {"uri": "mog://health"})
        assert not main.call("pin", target="gate.py::parse", note="of the clone")["isError"]
        assert not apart.call("pin", target="gate.py::parse", note="of another")["isError"]
        assert linked.notice("notifications/resources/updated")["params"]["uri"] == "mog://health"
        assert notes(main) == notes(linked) == {"of the clone"}
        assert notes(apart) == {"of another"}
        pids = {address.pid for root in (repo, tree, other) if (address := Place(root).address()) is not None}
        assert pids == {main.process.pid, linked.process.pid, apart.process.pid}


def test_a_folder_that_is_no_workspace_gets_a_clear_answer_and_stays_empty(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with served(empty, "--tools", "core,mesh,context,write", "--allow-writes") as server:
        for name, arguments in (
            ("impact", {"target": "x"}), ("search_context", {"query": "x"}), ("mesh_find", {}), ("pin", {"target": "x", "note": "y"}),
        ):  # fmt: skip
            result = server.call(name, **arguments)
            assert result["isError"]
            assert "mog init" in result["content"][0]["text"]
            assert "no workspace" in result["structuredContent"]["what"] or "neither" in result["structuredContent"]["what"].lower()
        failed = server.answer(server.begin("resources/read", {"uri": "mog://health"}))
        assert "mog init" in failed["error"]["message"]
    assert list(empty.iterdir()) == []


def test_a_workspace_without_an_index_says_so_where_nothing_may_be_written(make_repo: Any) -> None:
    root = make_repo({"gate.py": "def parse(token):\n    return token\n"})
    before = sorted(root.rglob("*"))
    with served(root, "--checkpoint", "never") as server:
        result = server.call("impact", target="parse")
        assert result["isError"]
        assert "mog index" in result["content"][0]["text"]
    assert sorted(root.rglob("*")) == before


@pytest.mark.parametrize("where", [".mog", ".mog/run", ".mog/run/owner.lock", "dangling", "file"])
def test_a_place_that_leads_elsewhere_is_refused_and_nothing_is_made_there(tmp_path: Path, where: str) -> None:
    repo = tmp_path / "repo"
    (repo / ".mog").mkdir(parents=True, mode=0o700)
    away = tmp_path / "away"
    away.mkdir(mode=0o755)
    spot = repo / (where if where.startswith(".mog") else ".mog/run")
    if where == ".mog/run/owner.lock":
        spot.parent.mkdir(exist_ok=True)
    shutil.rmtree(spot, ignore_errors=True)
    if where == "file":
        spot.write_text("no folder")
    else:
        spot.symlink_to(tmp_path / "nowhere" if where == "dangling" else away / "theirs" if where.endswith("lock") else away)
    with Raw(repo) as server:
        server.process.stdin.close()  # type: ignore[union-attr]
        code = server.process.wait(30)
    assert code in (0, 2, 8, 9)
    assert b"Traceback" not in server.errors
    assert list(away.iterdir()) == []
    assert stat.S_IMODE(away.stat().st_mode) == 0o755
    assert not (tmp_path / "nowhere").exists()


def test_a_root_is_the_nearest_above_and_never_below_what_was_named(tmp_path: Path) -> None:
    (tmp_path / "a" / ".mog").mkdir(parents=True)
    (tmp_path / "a" / "b" / ".git").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c").mkdir()
    assert around(tmp_path / "a" / "b" / "c") == tmp_path / "a" / "b"
    assert around(tmp_path / "a" / "d") == tmp_path / "a"
    assert find_root(tmp_path / "a" / "b" / "c" / ".." / "..") == tmp_path / "a"
    with served(tmp_path / "a" / "b" / "c" / ".." / ".." / "..") as server:
        assert "mog init" in server.call("impact", target="x")["content"][0]["text"]
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_sockets_and_notes_of_the_owner_are_this_persons_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    short = tempfile.TemporaryDirectory(prefix="m")  # of mode 0700; a path below tmp_path is too long for a socket
    request.addfinalizer(short.cleanup)
    monkeypatch.setenv("XDG_RUNTIME_DIR", short.name)
    for root in (Path(short.name) / "r", tmp_path / ("long" * 30)):
        place = Place(root)
        place.prepare()
        bound, address = place.bind()
        with bound:
            place.publish(address)
            path = Path(address.path)
            assert stat.S_ISSOCK(path.stat().st_mode)
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
            assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
            assert len(os.fsencode(path)) <= 100
            assert stat.S_IMODE((place.folder / "owner.address").stat().st_mode) == 0o600
        place.withdraw(address)
        assert place.address() is None
    place = Place(tmp_path / "tcp", unix=False)
    place.prepare()
    bound, address = place.bind()
    with bound:
        assert bound.getsockname()[0] == "127.0.0.1"
        assert (address.path, len(address.token)) == ("", 32)


def test_a_runtime_folder_that_somebody_else_prepared_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (tmp_path / "runtime").mkdir(mode=0o700)
    (tmp_path / "runtime" / "mog").symlink_to(theirs)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "runtime"))
    place = Place(tmp_path / ("long" * 30))
    place.prepare()
    bound, address = place.bind()
    with bound:
        assert bound.family is socket.AF_INET
        assert address.path == ""
    assert list(theirs.iterdir()) == []


@pytest.mark.parametrize("kind", ["link", "readable", "hard link", "pipe", "large"])
def test_an_address_that_a_checkout_brought_is_not_believed(tmp_path: Path, kind: str) -> None:
    place = Place(tmp_path)
    path = place.prepare() / "owner.address"
    note = b'{"path": "/evil/sock", "port": 1, "token": "", "pid": 1}'
    other = tmp_path / "other"
    other.write_bytes(note)
    other.chmod(0o600)
    if kind == "link":
        path.symlink_to(other)
    elif kind == "hard link":
        os.link(other, path)
    elif kind == "pipe":
        os.mkfifo(path, 0o600)
    else:
        path.write_bytes(b" " * 5_000 + note if kind == "large" else note)
        path.chmod(0o644 if kind == "readable" else 0o600)
    assert place.address() is None
    if kind != "large":
        with pytest.raises(OSError, match=r"."):
            read_private(path)


def test_a_run_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs to give a folder away")
    place = Place(tmp_path)
    os.chown(place.prepare(), 12_345, 12_345)
    with pytest.raises(StoreDamaged, match="somebody else"):
        place.prepare()
