"""``index.db``: rows come back as they went in, snapshots hold, a deleted database is noticed."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest
from store_kit import create, edge_blob, edit, index_path, node, uid

from mog.engine.errors import HeldByOther, IndexMissing, StoreDamaged
from mog.engine.store import blobs, snapshot
from mog.engine.store.index_db import SPACE_EDGE, SPACE_KIND, FileRow, IndexDB, discard

posix = pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be deleted there")


def file_row(number: int, path: bytes, *, facts: bytes | None = None) -> FileRow:
    return FileRow(number, path, number, "python", "source", "", 10, 20, 30, 40, b"o" * 20, facts, None, b"l" * 16)


def publish(db: IndexDB, path: bytes) -> None:
    with db.transaction():
        db.files_put([file_row(db.next_file(), path)])
        db.publish()


def test_a_new_index_is_private_and_there_is_none_before(tmp_path: Path) -> None:
    with pytest.raises(IndexMissing):
        IndexDB.open(index_path(tmp_path), write=False)
    with pytest.raises(IndexMissing):
        IndexDB.open(index_path(tmp_path), write=True)
    create(tmp_path).close()
    if sys.platform != "win32":
        assert index_path(tmp_path).stat().st_mode & 0o777 == 0o600
        assert index_path(tmp_path).parent.stat().st_mode & 0o777 == 0o700


def test_file_rows_come_back_with_undecodable_paths(tmp_path: Path) -> None:
    rows = [file_row(1, b"a.py"), file_row(2, b"\xff\xfe\n.py", facts=b"f" * 20)]
    with create(tmp_path) as db:
        with db.transaction():
            db.files_put(rows)
            db.files_touch([(11, 21, 31, 41, None, 1)])
        assert db.file_rows() == [rows[0]._replace(size=11, mtime_ns=21, ctime_ns=31, inode=41, oid=None), rows[1]]
        assert db.file_by_path(b"\xff\xfe\n.py") == db.file(2) == rows[1]
        assert db.file_by_path(b"nothing") is None
        assert [stat[:3] for stat in db.file_stats()] == [(b"a.py", 1, "source"), (b"\xff\xfe\n.py", 2, "source")]
        assert db.next_file() == 3


def test_nodes_at_many_places_are_those_of_these_files_alone(tmp_path: Path) -> None:
    """More files, and more places in one of them, than one statement takes."""
    rows = [node(key, f"n{key}", file=1 + key % 250)._replace(ord=key // 250) for key in range(1, 1_000)]
    rows += [node(key, f"n{key}", file=300)._replace(ord=key) for key in range(1_000, 1_700)]
    wanted = {row.file: [row.ord] for row in rows[:400]} | {300: range(1_000, 1_700), 999: [1]}
    with create(tmp_path) as db:
        with db.transaction():
            db.nodes_insert(rows)
        found = db.nodes_at(wanted)
        assert db.nodes_at({}) == []
    assert sorted(row.key for row in found) == [row.key for row in rows if row.ord in wanted.get(row.file, ())]


def test_nodes_are_found_by_key_name_prefix_id_and_file(tmp_path: Path) -> None:
    rows = [
        node(1, "Widget", kind="class"),
        node(2, "save", kind="method", qual="Widget.save"),
        node(3, "save", kind="method", qual="Widget.save#2"),
        node(4, "Save", file=2),
        node(5, "a.py", file=2, qual="")._replace(type="file", kind="source", ord=-1),
    ]
    with create(tmp_path) as db:
        with db.transaction():
            db.nodes_insert(rows)
        assert db.node(2) == rows[1]
        assert db.nodes([5, 1, 99]) == {1: rows[0], 5: rows[4]}
        assert db.nodes_by_name("save") == rows[1:3]
        assert db.nodes_by_name("save", nocase=True) == rows[1:4]
        assert db.nodes_by_prefix("sA") == rows[1:4]
        assert db.nodes_by_uid(uid(4)) == [rows[3]]
        assert db.nodes_by_qual(1, "Widget.save#2") == [rows[2]]
        assert db.nodes_of_file(2) == [rows[4], rows[3]]
        assert db.node_rows() == rows
        assert db.node_keys(above=4) == [4, 5]


def test_node_keys_are_not_given_twice_before_a_rebuild(tmp_path: Path) -> None:
    with create(tmp_path) as db:
        with db.transaction():
            db.nodes_insert([node(1), node(2)])
            db.nodes_delete([2])
        assert db.next_node() == 3
        assert db.dead_nodes() == [2]
        with db.transaction():
            db.nodes_update([node(1, "renamed")])
            db.nodes_insert([node(2, "back")])
        assert db.dead_nodes() == []
        assert [row.name for row in db.node_rows()] == ["renamed", "back"]
        with db.transaction():
            db.clear()
        assert db.next_node() == 1


def test_names_that_no_text_column_can_hold_are_kept_visible(tmp_path: Path) -> None:
    with create(tmp_path) as db:
        with db.transaction():
            db.nodes_insert([node(1, "bad\udc80name"), node(2, "naïve"), node(3, "日本")])
        assert [row.name for row in db.node_rows()] == ["bad\\udc80name", "naïve", "日本"]
        assert db.nodes_by_name("bad\udc80name") == db.node_rows()[:1]


def test_many_and_few_names_are_numbered_alike(tmp_path: Path) -> None:
    with create(tmp_path) as db:
        with db.transaction():
            few = db.name_ids(["b", "a", "B"])
        with db.transaction():
            many = db.name_ids(["a", "B", "b", *(f"name{n}" for n in range(3_000))])
            again = db.name_ids(["name7", "new"])
        assert {name: many[name] for name in few} == few
        assert again["name7"] == many["name7"]
        assert len({*many.values(), again["new"]}) == len(many) + 1
        assert db.names_text([few["B"], again["new"]]) == {few["B"]: "B", again["new"]: "new"}


def test_codes_are_learned_by_the_writer_and_seen_by_open_readers(tmp_path: Path) -> None:
    with create(tmp_path) as db, IndexDB.open(index_path(tmp_path), write=False) as reader:
        with reader.read():
            assert reader.codes(SPACE_KIND) == {}
        with db.transaction():
            db.nodes_insert([node(1, kind="function")])
        assert reader.node(1) == node(1, kind="function")
        with pytest.raises(KeyError):
            reader.code(SPACE_KIND, "class")
        with db.transaction():
            numbers = [db.code(SPACE_EDGE, f"kind{n}") for n in range(63)]
        assert max(numbers) == 63
        with pytest.raises(StoreDamaged), db.transaction():
            db.code(SPACE_EDGE, "one too many")


def test_facts_are_kept_for_a_revert_and_pruned_oldest_first(tmp_path: Path) -> None:
    with create(tmp_path) as db:
        blob = blobs.pack_facts({"v": 1, "text": "\u00e9\udc80", "syms": [["f"]]})
        with db.transaction():
            db.facts_put([(bytes([n]) * 20, blob) for n in range(4)])
            db.files_put([file_row(1, b"a.py", facts=bytes([0]) * 20)])
        assert db.facts_get(bytes([3]) * 20) == {"v": 1, "text": "\u00e9?", "syms": [["f"]]}
        assert db.facts_have([bytes([3]) * 20, b"x"]) == {bytes([3]) * 20}
        assert db.facts_have([bytes([3]) * 20, *(b"%d" % n for n in range(600))]) == {bytes([3]) * 20}
        with db.transaction():
            assert db.facts_prune(spare=len(blob)) == 2
        assert db.facts_have([bytes([n]) * 20 for n in range(4)]) == {bytes([0]) * 20, bytes([3]) * 20}
        with pytest.raises(KeyError):
            db.facts_get(b"absent")


@pytest.mark.parametrize(
    "blob", [b"", b"nonsense", blobs.squeeze(b"\x91\x01"), blobs.squeeze(b"\x81"), blobs.squeeze(b"\x80")[:-2]]
)
def test_facts_that_do_not_decode_are_damage(tmp_path: Path, blob: bytes) -> None:
    with create(tmp_path) as db:
        with db.transaction():
            db.facts_put([(b"k" * 20, blob)])
        with pytest.raises(StoreDamaged):
            db.facts_get(b"k" * 20)


@pytest.mark.parametrize("extra", [0, 50])
def test_files_reading_finds_exactly_the_readers(tmp_path: Path, extra: int) -> None:
    with create(tmp_path) as db:
        with db.transaction():
            db.reads_put((file, blobs.pack_reads([f"key{file}", "shared", "other"])) for file in range(1, 30))
            db.reads_put([(30, b"")])
        padding = {blobs.read_key(f"nobody{n}") for n in range(extra)}
        assert db.files_reading({blobs.read_key("key7"), *padding}) == [7]
        assert db.files_reading({blobs.read_key("shared"), *padding}) == list(range(1, 30))
        assert db.files_reading(padding) == []


def test_a_file_goes_with_all_that_is_its_own(tmp_path: Path) -> None:
    with create(tmp_path) as db:
        with db.transaction():
            db.files_put([file_row(1, b"a.py"), file_row(2, b"b.py")])
            db.nodes_insert([node(1, file=1), node(2, file=2)])
            db.fts_put([(1, "n1", "", "", "", "", "zebra"), (2, "n2", "", "", "", "", "zebra")])
            db.edges_put((file, edge_blob(db, [(file, file, "calls", 0)])) for file in (1, 2))
            db.reads_put((file, blobs.pack_reads(["k"])) for file in (1, 2))
        with db.transaction():
            db.files_delete([1])
        assert [key for key, _ in db.search("zebra")] == [2]
        assert (db.node(1), db.file(1), db.edges_get(1)) == (None, None, b"")
        assert db.files_reading({blobs.read_key("k")}) == [2]


def test_writes_belong_in_a_transaction_and_a_failed_one_leaves_nothing(tmp_path: Path) -> None:
    with create(tmp_path) as db:
        with pytest.raises(RuntimeError):
            db.files_put([file_row(1, b"a.py")])
        with pytest.raises(ZeroDivisionError), db.transaction():
            db.nodes_insert([node(1, "gone")])
            raise ZeroDivisionError
        assert db.node_rows() == []
        with db.transaction():
            db.nodes_insert([node(1, "here")])
        assert [row.name for row in db.node_rows()] == ["here"]


def test_a_second_writer_is_refused_at_once_and_readers_go_on(tmp_path: Path) -> None:
    with create(tmp_path) as db, IndexDB.open(index_path(tmp_path), write=False) as reader:
        other = IndexDB.open(index_path(tmp_path), write=True)
        with db.transaction():
            db.meta_set({"x": 1})
            with pytest.raises(HeldByOther), other.transaction():
                other.meta_set({"x": 2})
            assert reader.meta_get("x") is None
        assert reader.meta_get("x") == 1
        other.close()


def test_a_reader_keeps_its_snapshot_while_the_writer_publishes(tmp_path: Path) -> None:
    with create(tmp_path) as db, IndexDB.open(index_path(tmp_path), write=False) as reader:
        publish(db, b"a.py")
        with reader.read():
            before = reader.generation
            publish(db, b"b.py")
            with reader.read():
                assert (reader.generation, len(reader.file_rows())) == (before, 1)
        assert (reader.generation, len(reader.file_rows())) == (before + 1, 2)


def test_threads_may_share_one_reader(tmp_path: Path) -> None:
    with create(tmp_path) as db, IndexDB.open(index_path(tmp_path), write=False) as reader:
        publish(db, b"a.py")
        wrong: list[object] = []

        def look() -> None:
            for _ in range(50):
                with reader.read():
                    rows, generation = len(reader.file_rows()), reader.generation
                if rows != generation:
                    wrong.append((rows, generation))

        threads = [threading.Thread(target=look) for _ in range(4)]
        for thread in threads:
            thread.start()
        for number in range(20):
            publish(db, b"%d.py" % number)
        for thread in threads:
            thread.join()
        assert wrong == []


@posix
def test_a_database_deleted_under_readers_and_writer_is_noticed(tmp_path: Path) -> None:
    path = index_path(tmp_path)
    db = create(tmp_path)
    publish(db, b"old.py")
    reader = IndexDB.open(path, write=False)
    assert len(reader.file_rows()) == 1
    path.unlink()
    with pytest.raises(IndexMissing):
        reader.file_rows()
    with pytest.raises(IndexMissing), db.transaction():
        pass
    with create(tmp_path) as fresh:
        assert fresh.file_rows() == []
        for name in (b"new.py", b"newer.py"):
            publish(fresh, name)
        assert [row[1] for row in reader.file_rows()] == [b"new.py", b"newer.py"]
        assert reader.generation == 2


@posix
def test_a_database_deleted_inside_a_transaction_is_not_called_published(tmp_path: Path) -> None:
    db = create(tmp_path)
    with pytest.raises(IndexMissing), db.transaction():
        db.meta_set({"x": 1})
        index_path(tmp_path).unlink()


def test_discard_removes_everything_and_follows_no_link(tmp_path: Path) -> None:
    db = create(tmp_path)
    with db.transaction():
        db.nodes_insert([node(1)])
        snapshot.publish(db)
    db.close()
    discard(index_path(tmp_path))
    assert [path for path in index_path(tmp_path).parent.rglob("*") if path.is_file()] == []
    if sys.platform != "win32":
        victim = tmp_path / "victim"
        victim.mkdir()
        (victim / "1.csr").write_text("precious")
        (index_path(tmp_path).parent / "csr").rmdir()
        os.symlink(victim, index_path(tmp_path).parent / "csr")
        os.symlink(victim / "1.csr", index_path(tmp_path))
        discard(index_path(tmp_path))
        assert (victim / "1.csr").read_text() == "precious"


def test_an_unchanged_blob_is_not_written_and_a_changed_one_keeps_what_the_arrays_have(tmp_path: Path) -> None:
    with create(tmp_path) as db:
        with db.transaction():
            db.nodes_insert([node(1), node(2)])
            first = edge_blob(db, [(1, 2, "calls", 0)])
            db.edges_put([(1, first)])
            snapshot.publish(db)
        with db.transaction():
            assert db.edges_put([(1, first)]) == 0
        edit(db, {1: [(2, 1, "calls", 0)]})
        edit(db, {1: []})
        edit(db, {7: [(1, 1, "calls", 1)]})
        assert [(file, before) for file, before, _ in db.overlay()] == [(1, first), (7, b"")]
        assert db.overlay_edges() == 2


def test_a_read_only_folder_can_be_read(tmp_path: Path) -> None:
    from mog.engine.store.connection import open_immutable

    with create(tmp_path) as db:
        publish(db, b"a.py")
        db.checkpoint()
    still = open_immutable(index_path(tmp_path))
    assert still.execute("SELECT count(*) FROM files").fetchall() == [(1,)]
    still.close()
