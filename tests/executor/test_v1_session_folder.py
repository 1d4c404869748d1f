"""Folders of ``contextmesh.session``: versions, generations, damage, planted files, locks, crashes, with the earlier package."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from session_kit import earlier_sessions, lay, small_texts, small_world, states, texts

from mog.engine.errors import HeldByOther, MogError, StoreDamaged, UsageError
from mog.engine.executor.v1 import folder as files
from mog.engine.executor.v1 import session_write
from mog.engine.executor.v1.manifest import MAX_GENERATION, generation_of, read_manifest
from mog.engine.executor.v1.records import WalkerV1
from mog.engine.executor.v1.session_dir import generations, read_session
from mog.engine.executor.v1.session_write import Contents, write_session


@functools.cache
def small_walker() -> WalkerV1:
    return read_manifest(small_texts()["session.json"]).walker


def contents(rounds: int = 2) -> Contents:
    """The small session; ``rounds`` tells one state of it from another."""
    t = small_texts()
    return Contents(
        rounds, small_walker(), t["graph-000001.json"], t["resolver-000001.json"], t["execution-000001.json"],
        t["runledger-000001.json"], json.loads(t["session.json"])["ledger_head"],
    )  # fmt: skip


def earlier(folder: Path) -> Any:
    em, world = earlier_sessions(), small_world()[0]
    return em.Session.load(folder, registry=world.fill(em.Registry()))


def numbers(folder: Path) -> list[int]:
    return list(generations(folder))


# -- both versions


def test_what_the_earlier_package_writes_is_written_again_to_the_byte(tmp_path: Path) -> None:
    write_session(tmp_path / "s", contents())
    assert texts(tmp_path / "s") == small_texts()
    assert states(earlier(tmp_path / "s").runner) == states(small_world()[1].runner)


def test_a_session_without_a_plan(tmp_path: Path) -> None:
    c = contents()
    write_session(tmp_path / "s", Contents(c.rounds, c.walker, c.graph, c.resolver))
    found = read_session(tmp_path / "s")
    assert found.execution is None and found.ledger is None and found.manifest.names == found.manifest.names[:2]
    assert earlier_sessions().Session.load(tmp_path / "s").runner is None


def version_1(folder: Path) -> Path:
    t = small_texts()
    manifest = json.loads(t["session.json"])
    manifest["version"] = 1
    for key in ("execution", "ledger", "ledger_head"):
        del manifest[key]
    text = json.dumps(manifest, sort_keys=True, indent=2).encode() + b"\n"
    names = ("graph-000001.json", "resolver-000001.json")
    return lay(folder, {"session.json": text, "session-000001.json": text, **{n: t[n] for n in names}})


def test_version_1_is_read_and_the_next_write_makes_it_version_2(tmp_path: Path) -> None:
    where = version_1(tmp_path / "s")
    found = read_session(where)
    assert (found.manifest.version, found.execution, found.manifest.walker.hop_budget) == (1, None, 3)
    done = write_session(where, contents())
    assert (done.generation, done.kept) == (2, 1)
    assert read_session(where).manifest.version == 2 and earlier(where).generation == 2


def test_only_the_pointer_of_an_old_folder_is_enough(tmp_path: Path) -> None:
    where = version_1(tmp_path / "s")
    (where / "session-000001.json").unlink()
    assert read_session(where).manifest.generation == 1
    assert write_session(where, contents()).generation == 2


def test_a_version_from_the_future_is_refused_and_no_older_one_is_taken_instead(tmp_path: Path) -> None:
    write_session(tmp_path, contents())
    write_session(tmp_path, contents(3))
    path = tmp_path / "session-000002.json"
    path.write_bytes(path.read_bytes().replace(b'"version": 2', b'"version": 3'))
    with pytest.raises(UsageError, match="from the future"):
        read_session(tmp_path)
    with pytest.raises(UsageError, match="from the future"):
        write_session(tmp_path, contents(4))


# -- generations


def test_the_generation_before_is_kept_and_the_one_before_that_is_not(tmp_path: Path) -> None:
    for rounds in (1, 2, 3):
        done = write_session(tmp_path, contents(rounds))
    assert (done.generation, done.kept, numbers(tmp_path)) == (3, 2, [3, 2])
    assert "graph-000001.json" in done.removed and "session-000001.json" in done.removed
    assert earlier(tmp_path).rounds == 3


def test_the_same_state_again_is_no_new_generation(tmp_path: Path) -> None:
    assert write_session(tmp_path, contents()).written
    again = write_session(tmp_path, contents())
    assert not again.written and again.generation == 1 and numbers(tmp_path) == [1]


def test_a_folder_that_moved_on_is_not_written_over(tmp_path: Path) -> None:
    write_session(tmp_path, contents(1))
    write_session(tmp_path, contents(2))
    with pytest.raises(HeldByOther, match="generation 2"):
        write_session(tmp_path, contents(3), expected=1)
    assert write_session(tmp_path, contents(3), expected=2).generation == 3


def test_the_earlier_package_goes_on_in_our_folder_and_we_in_its(tmp_path: Path) -> None:
    write_session(tmp_path, contents(1))
    loaded = earlier(tmp_path)
    loaded.rounds = 9
    loaded.checkpoint()
    found = read_session(tmp_path)
    assert (found.manifest.generation, found.manifest.rounds, found.summed) == (2, 9, False)
    assert write_session(tmp_path, contents(10)).generation == 3
    with pytest.raises(earlier_sessions().SessionError, match="another writer"):
        loaded.checkpoint()


@pytest.mark.parametrize("name", ["graph", "resolver", "execution", "runledger"])
def test_a_damaged_generation_is_passed_over_for_the_one_before_and_that_is_said(name: str, tmp_path: Path) -> None:
    write_session(tmp_path, contents(1))
    write_session(tmp_path, contents(2))
    path = tmp_path / f"{name}-000002.json"
    path.write_bytes(path.read_bytes()[:-40])
    found = read_session(tmp_path)
    assert found.manifest.generation == 1 and path.name in found.fell_back
    path.unlink()
    assert read_session(tmp_path).manifest.generation == 1


def test_a_write_sets_a_damaged_generation_aside_and_passes_its_number(tmp_path: Path) -> None:
    write_session(tmp_path, contents(1))
    write_session(tmp_path, contents(2))
    (tmp_path / "graph-000002.json").unlink()
    done = write_session(tmp_path, contents(3))
    assert (done.generation, done.kept) == (3, 1) and "resolver-000002.json" in done.set_aside
    assert (tmp_path / "damaged-resolver-000002.json").is_file()
    assert earlier(tmp_path).rounds == 3


def test_a_folder_of_which_no_generation_is_whole_is_neither_read_nor_written_over(tmp_path: Path) -> None:
    write_session(tmp_path, contents(1))
    (tmp_path / "graph-000001.json").write_bytes(b"{}")
    for act in (read_session, lambda where: write_session(where, contents(2))):
        with pytest.raises(MogError, match="graph-000001"):
            act(tmp_path)
    assert (tmp_path / "graph-000001.json").read_bytes() == b"{}"


# -- planted files


def test_a_planted_manifest_of_a_high_number_blocks_nothing(tmp_path: Path) -> None:
    """The earlier package refuses to save into such a folder for ever."""
    write_session(tmp_path, contents(1))
    planted = tmp_path / "session-999999.json"
    planted.write_bytes((tmp_path / "session.json").read_bytes())
    found = read_session(tmp_path)
    assert found.manifest.generation == 1 and "session-999999.json" in found.fell_back
    done = write_session(tmp_path, contents(2))
    assert done.generation == 2 and done.set_aside == ("session-999999.json",)
    loaded = earlier(tmp_path)
    assert loaded.generation == 2
    loaded.rounds = 7
    loaded.checkpoint()


def test_a_planted_manifest_that_agrees_with_its_name_is_passed(tmp_path: Path) -> None:
    write_session(tmp_path, contents(1))
    text = (tmp_path / "session.json").read_text().replace('"generation": 1', '"generation": 500').replace("000001", "000500")
    (tmp_path / "session-000500.json").write_text(text)
    assert read_session(tmp_path).manifest.generation == 1
    assert write_session(tmp_path, contents(2)).generation == 501
    assert earlier(tmp_path).rounds == 2


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_planted_links_lead_nowhere(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    where = tmp_path / "s"
    where.mkdir()
    names = ("graph-000001.json", "resolver-000001.json", "execution-000001.json", "runledger-000001.json", files.LOCK_NOTE)
    for name in names:
        (where / name).symlink_to(victim)
    assert write_session(where, contents()).generation == 1
    assert victim.read_text() == "mine" and not (where / "graph-000001.json").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_a_lock_that_is_no_file_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / files.LOCK
    if kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(UsageError, match=r"session\.lock"):
        write_session(tmp_path, contents())
    assert not (tmp_path / "elsewhere").exists() and numbers(tmp_path) == []


def test_names_that_are_no_manifest() -> None:
    found = {"session-000001.json": 1, "session-1000000.json": 1_000_000, "session-999999999.json": 999_999_999}
    none = ["session-000000.json", "session-1.json", "session-0000001.json", "session-00001a.json", "session.json",
            "session-000001.json.bak", "xsession-000001.json", "session-\u0661\u0661\u0661\u0661\u0661\u0661.json",
            "session-1234567890.json"]  # fmt: skip
    assert {name: generation_of(name) for name in found} == found
    assert [generation_of(name) for name in none] == [None] * len(none)


# -- the millionth generation


def at_generation(folder: Path, number: int) -> Path:
    t = small_texts()
    name = f"{number:06d}"
    text = t["session.json"].decode().replace('"generation": 1', f'"generation": {number}').replace("000001", name)
    given = {key.replace("000001", name): data for key, data in t.items() if not key.startswith("session")}
    return lay(folder, {**given, "session.json": text.encode(), f"session-{name}.json": text.encode()})


def test_the_millionth_generation_is_written_where_the_earlier_package_finds_it(tmp_path: Path) -> None:
    where = at_generation(tmp_path / "s", 999_999)
    done = write_session(where, contents(5))
    assert (done.generation, done.kept) == (1_000_000, 0)
    assert read_session(where).manifest.rounds == 5 and earlier(where).generation == 1_000_000
    assert write_session(where, contents(6)).generation == 1_000_001
    assert read_session(where).manifest.rounds == 6 and earlier(where).rounds == 6


def test_a_folder_at_the_last_number_is_refused(tmp_path: Path) -> None:
    where = at_generation(tmp_path / "s", MAX_GENERATION)
    assert read_session(where).manifest.generation == MAX_GENERATION
    with pytest.raises(UsageError, match="no number left"):
        write_session(where, contents(5))


# -- one writer at a time


def test_the_lock_is_the_one_of_the_earlier_package(tmp_path: Path) -> None:
    em = earlier_sessions()
    write_session(tmp_path, contents(1))
    with em.lock(tmp_path), pytest.raises(HeldByOther, match=f"process {os.getpid()}"):
        write_session(tmp_path, contents(2))
    loaded = earlier(tmp_path)
    with files.writing(tmp_path), pytest.raises(em.LockedError, match=f"pid {os.getpid()}"):
        loaded.checkpoint()
    assert write_session(tmp_path, contents(2)).generation == 2


def test_a_lock_of_a_process_that_died_is_free(tmp_path: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from mog.engine.executor.v1 import folder as f\n"
        "with f.writing(Path(sys.argv[1])):\n print('held', flush=True); os._exit(9)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.DEVNULL, capture_output=True, timeout=60
    )
    assert b"held" in done.stdout and done.returncode == 9
    assert write_session(tmp_path, contents()).generation == 1


# -- a write that is cut off anywhere


class Cut(BaseException):
    """The power goes."""


def steps_of(monkeypatch: pytest.MonkeyPatch, stop: int) -> list[str]:
    """Have the write end before its ``stop``-th change to the disk; the list says which changes there were."""
    seen: list[str] = []

    def counted(name: str, act: Any) -> Any:
        def do(*args: Any, **more: Any) -> Any:
            seen.append(name)
            if len(seen) == stop:
                raise Cut(name)
            return act(*args, **more)

        return do

    for name in ("fsync", "replace", "unlink"):
        monkeypatch.setattr(os, name, counted(name, getattr(os, name)))
    monkeypatch.setattr(Path, "unlink", counted("unlink", Path.unlink))
    return seen


def test_a_write_cut_off_at_any_step_leaves_the_old_state_or_the_new_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        where = tmp_path / "whole"
        write_session(where, contents(1))
        write_session(where, contents(2))
        every = steps_of(patch, 0)
        write_session(where, contents(3))
    assert every.count("fsync") >= 9 and every.count("replace") >= 8 and "unlink" in every
    seen = set()
    for stop in range(1, len(every) + 1):
        where = tmp_path / f"cut{stop}"
        write_session(where, contents(1))
        write_session(where, contents(2))
        with monkeypatch.context() as patch, pytest.raises(Cut):
            steps_of(patch, stop)
            write_session(where, contents(3))
        ours, theirs = read_session(where), earlier(where)
        assert ours.manifest.rounds == theirs.rounds and ours.fell_back == ""
        seen.add(ours.manifest.rounds)
        assert write_session(where, contents(4)).generation == theirs.generation + 1
        assert not [p.name for p in where.iterdir() if p.name.startswith(".staging-")]
    assert seen == {2, 3}


def test_names_that_reach_the_disk_in_another_order_leave_an_older_generation(tmp_path: Path) -> None:
    """Without the manifest's companions (a crash of a writer that syncs its folder once) the generation before is taken."""
    write_session(tmp_path, contents(1))
    write_session(tmp_path, contents(2))
    for lost in ("graph-000002.json", "resolver-000002.json", "execution-000002.json", "runledger-000002.json"):
        data = (tmp_path / lost).read_bytes()
        (tmp_path / lost).unlink()
        assert read_session(tmp_path).manifest.generation == 1
        (tmp_path / lost).write_bytes(data)


def test_a_pointer_that_cannot_be_written_is_a_note_and_the_commit_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the earlier package this wedges every later save of the process."""
    write_session(tmp_path, contents(1))
    real = files.place

    def place(folder: Path, name: str, data: bytes) -> None:
        if name == "session.json":
            raise StoreDamaged("no space", where=name)
        real(folder, name, data)

    with monkeypatch.context() as patch:
        patch.setattr(files, "place", place)
        done = write_session(tmp_path, contents(2))
    assert done.generation == 2 and "pointer" in done.notes[0]
    assert earlier(tmp_path).rounds == 2 and write_session(tmp_path, contents(3), expected=2).generation == 3


def test_a_folder_that_cannot_be_synced_is_not_called_safe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_session(tmp_path, contents(1))
    calls = []

    def settle(folder: Path) -> None:
        calls.append(folder)
        if len(calls) == 2:
            raise StoreDamaged("cannot be synced (Input/output error)", where=str(folder))

    with monkeypatch.context() as patch:
        patch.setattr(session_write.files, "settle", settle)
        with pytest.raises(StoreDamaged, match="generation 2 is written, and it cannot be told"):
            write_session(tmp_path, contents(2))
    assert not write_session(tmp_path, contents(2)).written and read_session(tmp_path).manifest.generation == 2


def test_contents_that_contradict_each_other_are_never_committed(tmp_path: Path) -> None:
    c = contents()
    forged = c.execution.replace(b"clocks agree", b"clocks differ")  # type: ignore[union-attr]
    with pytest.raises(StoreDamaged, match=r"tasks\[3\]"):
        write_session(tmp_path, Contents(c.rounds, c.walker, c.graph, c.resolver, forged, c.ledger, c.ledger_head))
    assert numbers(tmp_path) == [] and not (tmp_path / "session.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_what_is_written_is_for_the_owner_alone(tmp_path: Path) -> None:
    where = tmp_path / "s"
    write_session(where, contents())
    modes = {p.name: p.stat().st_mode & 0o077 for p in where.iterdir() if p.suffix == ".json"}
    assert set(modes.values()) == {0}


def test_a_reader_beside_a_writer_sees_whole_generations(tmp_path: Path) -> None:
    write_session(tmp_path, contents(1))
    program = (
        "import sys; from pathlib import Path; from mog.engine.executor.v1.session_dir import read_session as r\n"
        "p = Path(sys.argv[1]); seen = [r(p).manifest.rounds for _ in range(60)]\n"
        "assert seen == sorted(seen), seen; print(len(set(seen)))"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as reader:
        rounds = 1
        while reader.poll() is None and rounds < 400:
            rounds += 1
            write_session(tmp_path, contents(rounds))
        out, _ = reader.communicate(timeout=60)
    assert reader.returncode == 0 and out.strip().isdigit()
