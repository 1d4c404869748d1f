"""content.py: nothing outside the root is opened, and the bytes that offsets count in are well defined."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mog.engine.code import content
from mog.engine.code.content import Reader

posix_only = pytest.mark.skipif(os.name == "nt", reason="pipes and links are POSIX")


def test_reads_bytes_blob_id_and_stat(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg/a.py").write_bytes(b"x = 1\r\n")
    os.utime(tmp_path / "pkg/a.py", (1, 1))
    time.sleep(0.05)
    with Reader(tmp_path) as reader:
        read = reader.read("pkg/a.py")
    expected = subprocess.run(
        ["git", "hash-object", "--no-filters", "pkg/a.py"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (read.data, read.reason, read.blob.hex()) == (b"x = 1\r\n", "", expected.stdout.strip())
    assert read.stat.size == 7 and read.stat.mtime_ns == 1_000_000_000


def test_a_file_just_written_is_marked_unreliable(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes(b"x")
    with Reader(tmp_path) as reader:
        assert reader.read("a.py").stat.mtime_ns == 0


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig"])
def test_text_with_a_mark_is_decoded_not_binary(encoding: str) -> None:
    text = "name = 'Grüße 🙂'\n"
    assert content.normalise(text.encode(encoding)) == text.encode("utf-8")


def test_a_nul_in_the_first_8_kib_is_binary() -> None:
    assert content.sniff(b"a" * 8191 + b"\0") == ("", "binary")
    assert content.sniff(b"a" * 8192 + b"\0") == ("utf-8", "")
    assert content.normalise(b"\0") is None


@given(st.binary(max_size=64))
def test_normalise_never_raises_and_keeps_unmarked_text(data: bytes) -> None:
    out = content.normalise(data)
    if content.sniff(data)[0] == "utf-8":
        assert out == data


@pytest.mark.parametrize("mark", [b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff"])
def test_broken_wide_text_is_still_text(mark: bytes) -> None:
    assert isinstance(content.normalise(mark + b"\xd8\x00a\xdc"), bytes)


def test_minified_is_told_from_long(tmp_path: Path) -> None:
    assert content.machine_made(b"var a=1;" * 200_000)
    assert not content.machine_made(b"var a = 1;\n" * 200_000)
    assert not content.machine_made(b"var a=1;" * 100)


def test_too_large_files_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "big.py").write_bytes(b"x" * 101)
    with Reader(tmp_path, max_bytes=100) as reader:
        read = reader.read("big.py")
    assert (read.data, read.reason, read.blob, read.stat.size) == (None, "too_large", b"", 101)


@posix_only
def test_pipes_links_and_folders_are_reasons_not_errors(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("secret")
    root = tmp_path / "root"
    (root / "real").mkdir(parents=True)
    (root / "real/a.py").write_text("fine")
    os.mkfifo(root / "pipe")
    (root / "link.py").symlink_to(outside / "secret.py")
    (root / "folder").symlink_to(outside)
    (root / "inside").symlink_to("real")
    with Reader(root) as reader:
        reasons = {
            path: reader.read(path).reason
            for path in ("pipe", "link.py", "folder/secret.py", "inside/a.py", "real", "no", "no/x", "real/a.py/x")
        }
        assert reader.read("real/a.py").data == b"fine"
    assert reasons == {
        "pipe": "special",
        "link.py": "symlink",
        "folder/secret.py": "symlink",
        "inside/a.py": "symlink",
        "real": "special",
        "no": "vanished",
        "no/x": "vanished",
        "real/a.py/x": "vanished",
    }


@posix_only
def test_parent_steps_and_nul_do_not_escape(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    with Reader(tmp_path / "root") as reader:
        assert reader.read("a\0b").data is None
        assert reader.read("").data is None


@posix_only
def test_a_reader_leaks_no_descriptor(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a/b.py").write_text("x")
    probe = os.open(tmp_path, os.O_RDONLY)
    os.close(probe)
    for _ in range(20):
        with Reader(tmp_path) as reader:
            for path in ("a/b.py", "x/y", "a/none", "", "a"):
                reader.read(path)
    again = os.open(tmp_path, os.O_RDONLY)
    os.close(again)
    assert again == probe


def test_whole_second_stamps_stay_unreliable_longer() -> None:
    class Info:
        st_size, st_ino = 1, 1
        st_mtime_ns = st_ctime_ns = 10_000_000_000

    assert content.settled(Info(), 11_000_000_000).mtime_ns == 0  # type: ignore[arg-type]
    assert content.settled(Info(), 13_000_000_000).mtime_ns == 10_000_000_000  # type: ignore[arg-type]
    Info.st_mtime_ns += 1
    assert content.settled(Info(), 11_000_000_000).mtime_ns == 10_000_000_001  # type: ignore[arg-type]
