"""One writer at a time: refused at once, named, freed by death, and never through a planted file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mog.engine.errors import HeldByOther, StoreDamaged
from mog.engine.store.lock import WriterLock, holder

posix = pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
HOLD = """
import sys
from pathlib import Path
from mog.engine.store.lock import WriterLock
lock = WriterLock(Path(sys.argv[1]), "mog index")
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".mog" / "lock"


def hold(path: Path) -> subprocess.Popen[bytes]:
    """Another process that holds the lock until its stdin closes or it is killed."""
    child = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout is not None and child.stdout.readline().strip() == b"held"
    return child


def test_two_objects_of_one_process_exclude_each_other(path: Path) -> None:
    with WriterLock(path), pytest.raises(HeldByOther):
        WriterLock(path).acquire()
    with WriterLock(path) as again:
        assert again.held
        with pytest.raises(HeldByOther):
            again.acquire()
        assert again.held


def test_the_refusal_names_process_and_command(path: Path) -> None:
    child = hold(path)
    try:
        with pytest.raises(HeldByOther) as refused:
            WriterLock(path).acquire()
        assert str(child.pid) in refused.value.what
        assert "mog index" in refused.value.what
        assert refused.value.way_out
        assert holder(path) == f"{child.pid} mog index"
    finally:
        child.communicate(timeout=30)
    assert holder(path) == ""


def test_the_death_of_the_holder_frees_the_lock(path: Path) -> None:
    child = hold(path)
    child.kill()
    child.communicate(timeout=30)
    with WriterLock(path) as lock:
        assert lock.held


def test_a_foreign_note_decides_nothing_and_is_shown_harmless(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(f"{os.getpid()} \x1b[2Jevil\n".encode())
    lock = WriterLock(path)
    lock.acquire()
    path.write_bytes(b"12345 \x1b[2Jevil\n")
    with pytest.raises(HeldByOther) as refused:
        WriterLock(path).acquire()
    assert "\x1b" not in str(refused.value)
    lock.release()
    lock.release()


@posix
def test_planted_files_are_refused_and_stay_as_they_are(tmp_path: Path, path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    path.parent.mkdir()
    plants = (lambda: path.symlink_to(victim), lambda: os.link(victim, path), lambda: os.mkfifo(path), path.mkdir)
    for plant in plants:
        plant()
        with pytest.raises(StoreDamaged) as refused:
            WriterLock(path).acquire()
        assert refused.value.way_out
        assert victim.read_text() == "precious"
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


@posix
def test_a_linked_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".mog").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StoreDamaged):
        WriterLock(tmp_path / ".mog" / "lock").acquire()
    assert list((tmp_path / "elsewhere").iterdir()) == []


@posix
def test_the_lock_file_is_private(path: Path) -> None:
    with WriterLock(path):
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
