"""The arrays: both builders agree, a row is what the records say, a file that was tampered with is refused."""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from store_kit import Edge, build, index_path

from mog.engine.errors import StoreDamaged
from mog.engine.store import blobs, closure, csr
from mog.engine.store.snapshot import CodeSnapshot

posix = pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
RECORDS = st.lists(
    st.tuples(st.integers(0, 19), st.integers(0, 19), st.integers(0, 63), st.integers(0, 3)), max_size=60
)
EDGES: dict[int, list[Edge]] = {
    1: [(1, 2, "calls", 0), (1, 2, "calls", 0), (1, 3, "imports", 2), (2, 2, "calls", 1)],
    2: [(3, 1, "tested_by", 3)],
}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    build(tmp_path, 4, EDGES).close()
    return csr.path_of(index_path(tmp_path).parent, 1)


@settings(max_examples=60, deadline=None)
@given(RECORDS)
def test_both_builders_make_the_rows_the_records_say(records: list[tuple[int, int, int, int]]) -> None:
    stored = blobs.pack_edges((src, dst, blobs.edge_code(kind, tier), 0) for src, dst, kind, tier in records)
    small = csr._sorted_small(stored, 20)
    for rows, near, far in zip(small, (0, 1), (1, 0), strict=True):
        ptr = memoryview(rows.ptr).cast("i")
        ends = memoryview(rows.end).cast("i") if records else []
        for node in range(20):
            found = list(zip(ends[ptr[node] : ptr[node + 1]], rows.byte[ptr[node] : ptr[node + 1]], strict=True))
            wanted = sorted((record[far], record[2] | record[3] << 6) for record in records if record[near] == node)
            assert found == wanted
    if records:
        large = csr._sorted_large(stored, 20)
        for one, two in zip(small, large, strict=True):
            assert [bytes(one.ptr), bytes(one.end), bytes(one.byte)] == [
                bytes(two.ptr),
                bytes(two.end),
                bytes(two.byte),
            ]


def test_rows_alive_bits_and_size(built: Path) -> None:
    arrays = csr.open_csr(built)
    ends, steps = arrays.row(1)
    assert (list(ends), [step >> 6 for step in steps]) == ([2, 2, 3], [0, 0, 2])
    assert list(arrays.row(2, incoming=True)[0]) == [1, 1, 2]
    assert [list(arrays.row(node)[0]) for node in (-1, 0, 4, 5, 10**9)] == [[]] * 5
    assert [arrays.alive(node) for node in (-1, 0, 1, 4, 5)] == [False, False, True, True, False]
    arrays.verify()


def test_a_node_with_four_edges_costs_at_most_sixty_bytes(tmp_path: Path) -> None:
    count = 3_000
    chosen = random.Random(1)
    edges: list[Edge] = [(src, chosen.randint(1, count), "calls", 0) for src in range(1, count + 1) for _ in range(4)]
    build(tmp_path, count, {1: edges}).close()
    assert csr.path_of(index_path(tmp_path).parent, 1).stat().st_size / count <= 60


def test_one_node_is_looked_up_without_numpy(built: Path) -> None:
    import subprocess

    code = (
        "import sys; from pathlib import Path; from mog.engine.store import csr, snapshot, index_db;"
        "assert list(csr.open_csr(Path(sys.argv[1])).row(1)[0]) == [2, 2, 3];"
        "db = index_db.IndexDB.open(Path(sys.argv[1]).parent.parent / 'index.db', write=False);"
        "s = snapshot.CodeSnapshot.load(db); assert s.closure([1], direction_by_kind={'calls': 'out'}).nodes == [2];"
        "db.search('n1'); print(sorted({'numpy', 'networkx', 'multiprocessing'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(built)], capture_output=True, timeout=60, check=True, stdin=-3
    )
    assert done.stdout.split() == [b"[]"]


@pytest.mark.parametrize("records", [[(0, 20, 0, 0)], [(-1, 3, 0, 0)], [(3, -2, 0, 0)]])
@pytest.mark.parametrize("builder", [csr._sorted_small, csr._sorted_large])
def test_an_edge_that_leads_outside_is_refused(records: list[tuple[int, int, int, int]], builder: object) -> None:
    with pytest.raises(ValueError):
        builder(blobs.pack_edges(records), 20)  # type: ignore[operator]


def touch_everything(path: Path) -> Counter[tuple[int, int, int]]:
    """Read every row by both ways, and walk from every node."""
    arrays = csr.open_csr(path)
    rows = Counter(
        (node, end, step) for node in range(arrays.nodes) for end, step in zip(*arrays.row(node), strict=True)
    )
    rows.update(
        (end, node, step)
        for node in range(arrays.nodes)
        for end, step in zip(*arrays.row(node, incoming=True), strict=True)
    )
    arrays.arrays()
    arrays.verify()
    return rows


def test_every_flipped_bit_is_found_or_changes_nothing(built: Path) -> None:
    good = built.read_bytes()
    before = touch_everything(built)
    chosen = random.Random(7)
    silent = 0
    for at in [*range(0, 128 * 8, 3), *(chosen.randrange(len(good) * 8) for _ in range(400))]:
        bad = bytearray(good)
        bad[at >> 3] ^= 1 << (at & 7)
        built.write_bytes(bad)
        try:
            silent += touch_everything(built) != before
        except StoreDamaged:
            continue
    assert silent == 0


def test_flipped_rows_never_crash_a_walk_that_does_not_verify(tmp_path: Path) -> None:
    chosen = random.Random(3)
    edges: list[Edge] = [(chosen.randint(1, 400), chosen.randint(1, 400), "calls", 0) for _ in range(1_500)]
    db = build(tmp_path, 400, {1: edges})
    path = csr.path_of(index_path(tmp_path).parent, 1)
    good = path.read_bytes()
    for _ in range(150):
        bad = bytearray(good)
        for _ in range(chosen.randint(1, 4)):
            bad[chosen.randrange(128, len(good))] = chosen.randrange(256)
        path.write_bytes(bad)
        for threshold in (0, 10**9):
            try:
                graph = CodeSnapshot.load(db)
                wide, closure._WIDE, closure._WORTH_LOADING = closure._WIDE, threshold, threshold
                try:
                    graph.closure([1], direction_by_kind={"calls": "both"})
                    graph.degree(2)
                finally:
                    closure._WIDE, closure._WORTH_LOADING = wide, 20_000
            except StoreDamaged:
                continue


@pytest.mark.parametrize("size", [0, 1, 127, 128, 300, -1])
def test_a_file_cut_short_or_grown_is_refused(built: Path, size: int) -> None:
    good = built.read_bytes()
    built.write_bytes(good[:size] if size >= 0 else good + b"\0" * 64)
    with pytest.raises(StoreDamaged) as refused:
        csr.open_csr(built)
    assert "any time" in refused.value.way_out


def test_arrays_of_another_publication_are_refused(tmp_path: Path, built: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    build(other, 4, {1: [(1, 4, "calls", 0)]}).close()
    shutil.copy(csr.path_of(index_path(other).parent, 1), built)
    from mog.engine.store.index_db import IndexDB

    with IndexDB.open(index_path(tmp_path), write=False) as db, pytest.raises(StoreDamaged):
        CodeSnapshot.load(db)
    built.unlink()
    with IndexDB.open(index_path(tmp_path), write=False) as db, pytest.raises(StoreDamaged):
        CodeSnapshot.load(db)


@posix
def test_links_pipes_and_folders_are_refused(tmp_path: Path, built: Path) -> None:
    moved = built.rename(tmp_path / "moved")
    for plant in (lambda: built.symlink_to(moved), lambda: os.mkfifo(built), built.mkdir):
        plant()
        with pytest.raises(StoreDamaged):
            csr.open_csr(built)
        built.rmdir() if built.is_dir() and not built.is_symlink() else built.unlink()
    shutil.move(moved, built)
    built.parent.rename(tmp_path / "arrays")
    built.parent.symlink_to(tmp_path / "arrays")
    with pytest.raises(StoreDamaged):
        csr.open_csr(built)


@posix
def test_writing_follows_no_planted_link(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    arrays = tmp_path / ".mog" / "csr"
    arrays.mkdir(parents=True)
    (arrays / "1.csr").symlink_to(victim)
    (arrays / f"1.csr.{os.getpid()}.tmp").symlink_to(victim)
    build(tmp_path, 2, {}).close()
    assert victim.read_text() == "precious"
    assert not (arrays / "1.csr").is_symlink()
    shutil.rmtree(arrays)
    arrays.symlink_to(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / ".mog").mkdir()
    (other / ".mog" / "csr").symlink_to(tmp_path)
    with pytest.raises(StoreDamaged):
        build(other, 2, {})


def test_cleanup_keeps_the_current_generation(built: Path) -> None:
    for name in ("0.csr", "7.csr", "1.csr.99.tmp"):
        (built.parent / name).write_bytes(b"old")
    csr.cleanup(built.parent.parent, 1)
    assert [path.name for path in built.parent.iterdir()] == ["1.csr"]
