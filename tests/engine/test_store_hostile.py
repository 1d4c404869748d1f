"""Databases foreign, planted, torn or flipped, and a writer that is killed: typed errors or the old generation."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import apsw
import pytest
from store_kit import build, create, edit, index_path, node

from mog.engine.errors import IndexMissing, MogError, StoreDamaged
from mog.engine.store import schema, snapshot
from mog.engine.store.fts import FtsRow
from mog.engine.store.index_db import IndexDB
from mog.engine.store.integrity import integrity
from mog.engine.store.snapshot import CodeSnapshot

posix = pytest.mark.skipif(sys.platform == "win32", reason="no such files or signals there")


def foreign(path: Path, *statements: str) -> None:
    """A database somebody else made."""
    path.parent.mkdir(exist_ok=True)
    db = apsw.Connection(str(path))
    for statement in statements:
        db.execute(statement)
    db.close()


@pytest.mark.parametrize("write", [False, True])
def test_foreign_and_damaged_files_are_refused_with_the_way_out(tmp_path: Path, write: bool) -> None:
    path = index_path(tmp_path)
    foreign(path, "CREATE TABLE t(x)", "INSERT INTO t VALUES(1)")
    with pytest.raises(StoreDamaged) as refused:
        IndexDB.open(path, write=write)
    assert "any time" in refused.value.way_out
    path.write_bytes(b"this is no database, " * 1_000)
    with pytest.raises(StoreDamaged):
        IndexDB.open(path, write=write)


@pytest.mark.parametrize("version", [schema.USER_VERSION + 1, 0])
def test_another_version_asks_for_a_rebuild(tmp_path: Path, version: int) -> None:
    create(tmp_path).close()
    foreign(index_path(tmp_path), f"PRAGMA user_version = {version}")
    with pytest.raises(IndexMissing) as refused:
        IndexDB.open(index_path(tmp_path), write=True)
    assert "rebuilt" in refused.value.way_out


def test_a_file_whose_making_was_cut_short_is_no_index_yet(tmp_path: Path) -> None:
    index_path(tmp_path).parent.mkdir()
    index_path(tmp_path).touch()
    with pytest.raises(IndexMissing):
        IndexDB.open(index_path(tmp_path), write=False)
    with create(tmp_path) as db:
        assert db.generation == 0


@pytest.mark.parametrize(
    "plant",
    [
        "CREATE TRIGGER t AFTER INSERT ON nodes BEGIN DELETE FROM files; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE TABLE extra(x)",
        "DROP INDEX nodes_uid",
    ],
)
def test_a_planted_schema_is_refused(tmp_path: Path, plant: str) -> None:
    create(tmp_path).close()
    foreign(index_path(tmp_path), plant)
    with pytest.raises(StoreDamaged):
        IndexDB.open(index_path(tmp_path), write=False)


@posix
def test_links_pipes_and_folders_in_place_of_the_database_are_refused(tmp_path: Path) -> None:
    path = index_path(tmp_path)
    create(tmp_path).close()
    real = path.rename(tmp_path / "real.db")
    for plant in (
        lambda: path.symlink_to(real),
        lambda: os.mkfifo(path),
        path.mkdir,
        lambda: path.symlink_to("/nowhere"),
    ):
        plant()
        for write in (False, True):
            with pytest.raises(StoreDamaged) as refused:
                IndexDB.open(path, write=write, create=write)
            assert refused.value.way_out
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    shutil.rmtree(path.parent)
    path.parent.symlink_to(tmp_path)
    with pytest.raises(StoreDamaged):
        create(tmp_path)


@posix
def test_a_workspace_reached_through_a_link_works(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    create(tmp_path / "link").close()
    with IndexDB.open(index_path(real), write=False) as db:
        assert db.generation == 0


def test_a_write_ahead_log_left_from_a_deleted_database_is_not_replayed(tmp_path: Path) -> None:
    path = index_path(tmp_path)
    db = build(tmp_path, 50, {1: [(1, 2, "calls", 0)]})
    shutil.copy(f"{path}-wal", tmp_path / "wal")
    db.close()
    path.unlink()
    shutil.copy(tmp_path / "wal", f"{path}-wal")
    with create(tmp_path) as fresh:
        assert fresh.node_rows() == []
        assert [check.state for check in integrity(fresh) if check.name == "pages"] == ["ok"]


def exercise(path: Path) -> None:
    """Everything a reader asks."""
    with IndexDB.open(path, write=False) as db:
        db.meta_all(), db.file_rows(), db.node_rows(), db.reads_all(), db.overlay()
        db.search("name text", 5)
        db.nodes_by_name("name3"), db.nodes_by_prefix("na")
        graph = CodeSnapshot.load(db)
        graph.closure([1], direction_by_kind={"calls": "both"}, tiers=range(4))
        integrity(db)


def test_flipped_and_torn_databases_give_typed_errors_only(tmp_path: Path) -> None:
    path = index_path(tmp_path)
    db = build(tmp_path, 120, {file: [(n, n % 120 + 1, "calls", 0) for n in range(1, 121)] for file in (1, 2)})
    with db.transaction():
        db.fts_put(FtsRow(n, f"name{n}", body="some text of a body") for n in range(1, 121))
        db.facts_put([(b"k" * 20, b"x" * 5_000)])
    edit(db, {1: [(3, 4, "imports", 1)]})
    snapshot.tidy(db)
    db.close()
    good = path.read_bytes()
    chosen = random.Random(11)
    refused = 0
    for trial in range(250):
        bad = bytearray(good)
        if trial % 5 == 0:
            bad = bad[: chosen.randrange(len(bad))]
        for _ in range(chosen.choice([1, 3, 40]) if bad else 0):
            bad[chosen.randrange(len(bad))] = chosen.randrange(256)
        for suffix in ("-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        path.write_bytes(bad)
        try:
            exercise(path)
        except MogError:
            refused += 1
    assert refused > 25


def test_doctor_names_what_is_wrong_and_goes_on(tmp_path: Path) -> None:
    with build(tmp_path, 3, {1: [(1, 2, "calls", 0)]}) as db:
        with db.transaction():
            db.files_put([(1, b"a.py", 1, "python", "source", "", 1, 1, 1, 1, None, None, None, None)])
            snapshot.publish(db)
        assert {check.state for check in integrity(db)} == {"ok"}
        edit(db, {1: [(1, 3, "calls", 0)]})
        assert {check.state for check in integrity(db)} == {"ok"}
        with db.transaction():
            db.nodes_delete([3])
            db.nodes_insert([node(9, file=77)])
            db.files_put([(2, b"b.py", 1, "python", "source", "", 1, 1, 1, 1, None, b"gone", None, None)])
            db.fts_put([FtsRow(55, "nobody")])
            db.publish()
        found = {check.name: check for check in integrity(db)}
        assert {name for name, check in found.items() if check.state == "damaged"} == {"rows", "edges", "search"}
        assert "1 files without facts" in found["rows"].detail
        arrays = db.directory / "csr" / "1.csr"
        good = arrays.read_bytes()
        arrays.write_bytes(good[:200] + bytes([good[200] ^ 1]) + good[201:])
        assert {check.name: check.state for check in integrity(db)}["arrays"] == "damaged"


def test_doctor_sees_arrays_that_hold_other_edges(tmp_path: Path) -> None:
    with build(tmp_path, 3, {1: [(1, 2, "calls", 0)]}) as db:
        db.close()
    foreign(index_path(tmp_path), "UPDATE edges SET blob = x'01000000030000000100000001000000'")
    with IndexDB.open(index_path(tmp_path), write=False) as db:
        assert {check.name: check.state for check in integrity(db)}["arrays"] == "damaged"


PUBLISH = textwrap.dedent("""
    import os, signal, sys
    from pathlib import Path
    from mog.engine.store import blobs, connection, csr, snapshot
    from mog.engine.store.index_db import SPACE_EDGE, IndexDB

    moment = sys.argv[2]
    die = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
    db = IndexDB.open(Path(sys.argv[1]), write=True)
    if moment == "before the rename":
        os.replace = die
    elif moment == "before the folder is synced":
        csr._sync_folder = die
    elif moment == "before the commit":
        IndexDB._require_same_file = lambda self: die() if self._in_transaction else None
    with db.transaction():
        db.edges_put([(1, blobs.pack_edges([(2, 1, blobs.edge_code(db.code(SPACE_EDGE, "calls"), 0), 1)] * 3))])
        snapshot.publish(db, compact=True)
    if moment == "after the commit":
        die()
    snapshot.tidy(db)
    die()
""")
MOMENTS = ("before the rename", "before the folder is synced", "before the commit", "after the commit", "at the end")


@posix
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_publication_leaves_the_old_generation_or_the_new_one(tmp_path: Path, moment: str) -> None:
    build(tmp_path, 3, {1: [(1, 2, "calls", 0)]}).close()
    path = index_path(tmp_path)
    with IndexDB.open(path, write=False) as reader:
        held = CodeSnapshot.load(reader)
        done = subprocess.run([sys.executable, "-c", PUBLISH, str(path), moment], stdin=subprocess.DEVNULL, timeout=60)
        assert done.returncode == -9
        published = moment in ("after the commit", "at the end")
        graph = CodeSnapshot.load(reader, held)
        assert graph.generation == (2 if published else 1)
        assert [end for end, _, _ in graph.out(2)] == ([1, 1, 1] if published else [])
        assert [end for end, _, _ in held.out(1)] == [2]
    with IndexDB.open(path, write=True) as db:
        edit(db, {1: [(3, 3, "calls", 0)]}, compact=True)
        snapshot.tidy(db)
        assert [end for end, _, _ in CodeSnapshot.load(db).out(3)] == [3]
        assert {check.state for check in integrity(db) if check.name in ("arrays", "pages")} == {"ok"}
        assert len(list((path.parent / "csr").iterdir())) == 1
