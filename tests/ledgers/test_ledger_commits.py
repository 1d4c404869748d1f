"""Commits with records: all or nothing, refused when stale, true answers after errors, and the step from the first format."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import apsw
import pytest
from ledger_kit import WHEN, changed, first_format, fold, sql, state_of, step

from mog.engine.errors import HeldByOther, MogError, StoreDamaged, UsageError
from mog.engine.ledgers.checkpoints import Signer
from mog.engine.ledgers.commit import Tail
from mog.engine.ledgers.events import VERSION, EventLog, Head, Put, Step

posix = pytest.mark.skipif(os.name != "posix", reason="modes and links differ elsewhere")
SEED = [("pin.added", {"puts": [["pin", "a", "1"], ["pin", "b", "2"]]}), ("pin.moved", {"puts": [["pin", "a", "3"]]}),
        ("pin.removed", {"puts": [["pin", "b", None]]})]  # fmt: skip


@pytest.fixture
def log(tmp_path):
    with EventLog(tmp_path / ".mog" / "ledger.db", fold=fold) as made:
        yield made


def loaded(log: EventLog) -> dict[tuple[str, str], bytes]:
    return {(table, key): body for table, key, body in log.load()[1]}


def test_a_commit_records_events_and_records_together(log):
    events = log.commit([step(("node", "a", "x")), step(("edge", "b", "y"), ("node", "a", None))], when=WHEN)
    assert [event.seq for event in events] == [1, 2] and list(log.events()) == list(events)
    assert loaded(log) == {("edge", "b"): b"y"}
    assert log.head() == Head(2, events[-1].digest) and log.head().state == state_of({("edge", "b"): b"y"})


def test_a_stale_commit_changes_nothing(log):
    before = log.head()
    log.commit([step(("node", "a", "x"))], when=WHEN, expected=before)
    with pytest.raises(HeldByOther, match="moved on"):
        log.commit([step(("node", "a", "z"))], when=WHEN, expected=before)
    assert loaded(log) == {("node", "a"): b"x"} and log.head().seq == 1


def test_a_bad_step_takes_the_good_ones_with_it(log):
    log.commit([step(("node", "a", "x"))], when=WHEN)
    with pytest.raises(UsageError):
        log.commit([step(("node", "a", "y")), Step("a.b", {}, (Put("No", "k", b""),))], when=WHEN)
    assert loaded(log) == {("node", "a"): b"x"} and log.verify(fold()).ok


def test_nothing_to_commit_is_nothing(log):
    assert log.commit([], when=WHEN) == ()
    assert log.head() == Head()


def test_a_large_event_is_kept_small_and_comes_back(log):
    data = {"ops": [{"op": "edge", "kind": "depends_on", "src": f"{i:032x}", "dst": f"{i + 1:032x}"} for i in range(2000)]}
    log.commit([Step("world.moved", data)], when=WHEN)
    event = next(log.events())
    assert len(event.data["ops"]) == 2000 and event.data["ops"][77]["src"] == f"{77:032x}"
    size = changed(log, "SELECT length(body), substr(body, 1, 1) FROM events")[0]
    assert size[0] < 60_000 and size[1] == b"\1"


def test_the_wall_time_is_no_part_of_root_or_tree(tmp_path):
    heads = set()
    for name, when in (("a", WHEN), ("b", "1999-12-31T23:59:59Z")):
        with EventLog(tmp_path / name / "ledger.db") as log:
            log.commit([step(("node", "a", "x"))], when=when)
            heads.add((log.head().digest, log.head().root, log.head().state))
    assert len(heads) == 1


# -- a commit that fails


class Breaking:
    """A connection whose COMMIT fails, before or after it took place; the disk may stay unusable."""

    def __init__(self, real: apsw.Connection, happened: bool) -> None:
        self.real, self.happened = real, happened

    def __getattr__(self, name: str) -> object:
        return getattr(self.real, name)

    def execute(self, statement: str, *values: object) -> object:
        if statement != "COMMIT":
            return self.real.execute(statement, *values)
        if self.happened:
            self.real.execute(statement)
        raise apsw.IOError("disk I/O error")


@pytest.mark.parametrize("happened", [True, False])
@pytest.mark.parametrize("settles", [True, False])
def test_the_answer_after_a_commit_error_is_true_or_open(log, monkeypatch, happened, settles):
    log.commit([step(("node", "a", "x"))], when=WHEN)
    log._file.writer = Breaking(log._file.writer, happened)  # type: ignore[assignment, arg-type]
    if not settles:
        monkeypatch.setattr("mog.engine.ledgers.files.drain", lambda db: False)
    change = step(("node", "a", "y"))
    if happened and settles:
        assert log.commit([change], when=WHEN)[0].seq == 2
    else:
        with pytest.raises(StoreDamaged, match="nothing was recorded" if settles else "cannot be told") as caught:
            log.commit([change], when=WHEN)
        assert caught.value.way_out
    monkeypatch.undo()
    assert loaded(log) == {("node", "a"): b"y" if happened else b"x"}
    assert log.commit([step(("node", "b", "z"))], when=WHEN)[0].seq == 2 + happened
    assert log.verify(fold()).ok


def test_a_file_that_was_replaced_in_the_last_moment_is_not_written_to(log, tmp_path, monkeypatch):
    log.commit([step(("node", "a", "x"))], when=WHEN)
    with EventLog(tmp_path / "other" / "ledger.db") as other:
        other.commit([step(("node", "b", "y"))], when=WHEN)
    log.close()  # so that it is opened again, and replaced after that
    real = log._file._writable

    def replaced(look: bool) -> apsw.Connection:
        db = real(look)
        other.path.replace(log.path)
        return db

    monkeypatch.setattr(log._file, "_writable", replaced)
    with pytest.raises(HeldByOther, match="replaced"):
        log.commit([step(("node", "a", "z"))], when=WHEN)
    monkeypatch.undo()
    assert loaded(log) == {("node", "b"): b"y"}
    assert log.commit([step(("node", "c", "z"))], when=WHEN)[0].seq == 2


def test_a_file_that_was_replaced_between_commits_is_another_ledger(log, tmp_path):
    log.commit([step(("node", "a", "x"))], when=WHEN)
    known = log.head()
    with EventLog(tmp_path / "other" / "ledger.db") as other:
        other.commit([step(("node", "b", "y"))], when=WHEN)
    other.path.replace(log.path)
    with pytest.raises(HeldByOther, match="moved on"):
        log.commit([step(("node", "a", "z"))], when=WHEN, expected=known)
    assert log.head() != known and loaded(log) == {("node", "b"): b"y"}
    assert log.commit([step(("node", "c", "z"))], when=WHEN)[0].seq == 2 and log.verify(fold()).ok


def test_commits_in_a_row_and_by_two_logs_in_turn_give_the_same_file(tmp_path):
    steps = [step(("node", f"{i % 7}", f"{i}"), ("edge", f"{i}", "e")) for i in range(40)]
    heads = []
    for logs in (1, 2):
        path = tmp_path / str(logs) / "ledger.db"
        writers = [EventLog(path) for _ in range(logs)]
        for i, change in enumerate(steps):
            writers[i % logs].commit([change], when=WHEN)
            assert len({writer.head() for writer in writers}) == 1
        heads.append(writers[0].head())
        assert writers[-1].verify(fold()).ok
        for writer in writers:
            writer.close()
    assert (heads[0].root, heads[0].state, heads[0].digest) == (heads[1].root, heads[1].state, heads[1].digest)


def test_what_another_wrote_meanwhile_is_seen_by_one_that_remembers_its_last_commit(log):
    log.commit([step(("node", "a", "x"))], when=WHEN)
    first = log.head()
    with EventLog(log.path) as other:
        other.commit([step(("node", "b", "y"))], when=WHEN)
    assert log.head().seq == 2
    with pytest.raises(HeldByOther, match="moved on"):
        log.commit([step(("node", "a", "z"))], when=WHEN, expected=first)
    assert log.commit([step(("node", "a", "z"))], when=WHEN, expected=log.head())[0].seq == 3
    assert loaded(log) == {("node", "a"): b"z", ("node", "b"): b"y"} and log.verify(fold()).ok


def test_an_error_in_the_middle_leaves_the_object_usable(log, monkeypatch):
    log.commit([step(("node", "a", "x"))], when=WHEN)

    def full(*_: object) -> None:
        raise apsw.FullError("database or disk is full")

    monkeypatch.setattr("mog.engine.ledgers.records.Records.write", full)
    with pytest.raises(StoreDamaged, match="full"):
        log.commit([step(("node", "a", "y"))], when=WHEN)
    monkeypatch.undo()
    assert loaded(log) == {("node", "a"): b"x"}
    assert log.commit([step(("node", "a", "z"))], when=WHEN)[0].seq == 2 and log.verify(fold()).ok


@pytest.mark.parametrize("error", [apsw.FullError("disk is full"), KeyboardInterrupt(), HeldByOther("held", where="", way_out="")])
def test_a_commit_that_ends_before_it_is_on_the_disk_is_not_remembered(log, monkeypatch, error):
    log.commit([step(("node", "a", "x"))], when=WHEN)
    before, real = log.head(), Tail.finish

    def finished(tail: Tail) -> Head:
        real(tail)  # everything is written and the new head is known; only COMMIT is lacking
        raise error

    monkeypatch.setattr(Tail, "finish", finished)
    with pytest.raises((MogError, KeyboardInterrupt)):
        log.commit([step(("node", "a", "y"))], when=WHEN)
    monkeypatch.undo()
    assert log.head() == before and log.head().root == before.root and loaded(log) == {("node", "a"): b"x"}
    assert log.commit([step(("node", "a", "z"))], when=WHEN, expected=before)[0].seq == 2 and log.verify(fold()).ok


@posix
def test_a_link_in_the_place_of_an_open_file_is_refused_and_the_lock_given_back(log, tmp_path):
    log.commit([step(("node", "a", "x"))], when=WHEN)
    away = tmp_path / "away.db"
    log.path.rename(away)
    log.path.symlink_to(away)
    for ask in (log.head, lambda: log.commit([step(("node", "a", "y"))], when=WHEN)):
        with pytest.raises(StoreDamaged, match="a link"):
            ask()
    log.path.unlink()
    away.rename(log.path)
    with EventLog(log.path) as other:
        assert other.commit([step(("node", "b", "y"))], when=WHEN)[0].seq == 2
    assert log.head().seq == 2 and log.commit([step(("node", "a", "z"))], when=WHEN)[0].seq == 3


def test_what_the_log_itself_writes_between_commits_is_seen(log):
    log.commit([step(("node", f"{i}", "x")) for i in range(9)], when=WHEN)
    assert log.rebuild(fold()) == log.head()
    log.commit([step(("node", "a", "y"))], when=WHEN)
    log.checkpoint(Signer(bytes(32)))
    assert log.commit([step(("node", "b", "z"))], when=WHEN)[0].seq == 11 and log.verify(fold()).ok


def test_a_commit_onto_a_damaged_tree_is_refused(log):
    log.commit([step(("node", f"{i}", "x")) for i in range(9)], when=WHEN)
    changed(log, "UPDATE subtrees SET hash = zeroblob(32) WHERE level = 3 AND idx = 0")
    with pytest.raises(StoreDamaged, match="Merkle tree") as caught:
        log.commit([step(("node", "a", "y"))], when=WHEN)
    assert "doctor" in caught.value.way_out and log.head().seq == 9
    log.rebuild()
    assert log.commit([step(("node", "a", "y"))], when=WHEN)[0].seq == 10 and log.verify(fold()).ok


def test_a_commit_onto_a_damaged_state_is_refused(log):
    log.commit([step(("node", "a", "x"))], when=WHEN)
    changed(log, "UPDATE tables SET root = zeroblob(32)")
    with pytest.raises(StoreDamaged, match="state root") as caught:
        log.commit([step(("node", "a", "y"))], when=WHEN)
    assert "doctor" in caught.value.way_out and log.head().seq == 1


# -- the first format


def test_a_file_of_the_first_format_is_read_as_it_stands(log):
    digests = first_format(log.path, SEED)
    before = log.path.read_bytes()
    assert [event.digest for event in log.events()] == digests
    assert log.head() == Head(3, digests[-1]) and log.head().root == "" and log.id == ""
    assert loaded(log) == {("pin", "a"): b"3"} and log.get("pin", "a") == b"3" and log.verify(fold()).ok
    with pytest.raises(UsageError, match="earlier format"):
        log.prove(1)
    log.close()
    assert log.path.read_bytes() == before


def test_the_first_write_upgrades_it_by_replay(log):
    digests = first_format(log.path, SEED)
    event = log.commit([step(("pin", "c", "4"))], when=WHEN, expected=Head(3, digests[-1]))[0]
    assert event.seq == 4 and [e.digest for e in log.events()][:3] == digests
    assert [e.recorded_at for e in log.events()] == [WHEN] * 4
    assert loaded(log) == {("pin", "a"): b"3", ("pin", "c"): b"4"}
    assert log.verify(fold()).ok and log.prove(2)["seq"] == 2 and log.id
    assert changed(log, "PRAGMA user_version") == [(VERSION,)]


def test_an_upgrade_equals_what_would_have_been_recorded(log, tmp_path):
    first_format(log.path, SEED)
    log.commit([step()], when=WHEN)
    with EventLog(tmp_path / "new" / "ledger.db") as new:
        for kind, data in SEED:
            new.commit([step(*map(tuple, data["puts"]), kind=kind)], when=WHEN)  # type: ignore[arg-type]
        new.commit([step()], when=WHEN)
        assert (log.head(), log.head().root, log.head().state) == (new.head(), new.head().root, new.head().state)


def test_a_damaged_file_of_the_first_format_is_not_upgraded(log):
    first_format(log.path, SEED)
    sql(log.path, "UPDATE events SET body = x'7b7d' WHERE seq = 2")
    with pytest.raises(StoreDamaged, match="event 2"):
        log.commit([step()], when=WHEN)
    assert sql(log.path, "PRAGMA user_version") == [(1,)] and log.verify().damaged_at == 2


def test_an_upgrade_that_cannot_be_committed_leaves_the_first_format(log):
    first_format(log.path, SEED)
    with pytest.raises(HeldByOther):
        log.commit([step(("pin", "c", "4"))], when=WHEN, expected=Head())
    assert sql(log.path, "PRAGMA user_version") == [(1,)] and len(list(log.events())) == 3


def test_a_head_of_the_first_format_can_be_set_right(log):
    digests = first_format(log.path, SEED)
    sql(log.path, "DELETE FROM head")
    assert not log.verify().ok
    assert log.repair_head() == Head(3, digests[-1]) and log.verify().ok
    assert log.rebuild(fold()).state == state_of({("pin", "a"): b"3"}) and log.verify(fold()).ok


# -- what stands in the way


@posix
@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
@pytest.mark.parametrize("what", ["link", "pipe", "folder"])
def test_what_is_planted_beside_the_ledger_is_refused(log, tmp_path, suffix, what):
    log.commit([step(("node", "a", "x"))], when=WHEN)
    log.close()
    victim, place = tmp_path / "victim", Path(f"{log.path}{suffix}")
    victim.write_bytes(b"precious")
    {"link": lambda: place.symlink_to(victim), "pipe": lambda: os.mkfifo(place), "folder": place.mkdir}[what]()
    for ask in (log.head, lambda: log.commit([step()], when=WHEN), lambda: log.load()):
        with pytest.raises(StoreDamaged) as caught:
            ask()
        assert caught.value.way_out and suffix in caught.value.where
    assert victim.read_bytes() == b"precious"


def test_a_rollback_journal_is_not_obeyed(log, tmp_path):
    """SQLite would play it back, and delete the file it names as its superior."""
    log.commit([step(("node", "a", "x"))], when=WHEN)
    log.close()
    Path(f"{log.path}-journal").write_bytes(b"\xd9\xd5\x05\xf9 \xa1c\xd7" + bytes(504))
    with pytest.raises(StoreDamaged, match="journal"):
        log.head()
    Path(f"{log.path}-journal").unlink()
    assert log.head().seq == 1


@posix
@pytest.mark.parametrize("umask", [0, 0o777 & ~0o700])
def test_everything_made_is_for_its_owner_only(log, umask):
    old = os.umask(umask)
    try:
        log.commit([step(("node", "a", "x"))], when=WHEN)
        made = [log.path.parent, *log.path.parent.iterdir()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in made} <= {0o700, 0o600}
        assert {path.name for path in made[1:]} <= {"ledger.db", "ledger.db-wal", "ledger.db-shm"}
    finally:
        os.umask(old)


def test_an_empty_file_becomes_a_ledger(log):
    log.path.parent.mkdir()
    log.path.touch()
    assert log.head() == Head() and list(log.load()[1]) == []
    assert log.commit([step(("node", "a", "x"))], when=WHEN)[0].seq == 1 and log.verify(fold()).ok


def test_a_ledger_says_who_it_is_from_its_first_commit_on(log):
    log.commit([step(("node", "a", "x"))], when=WHEN)
    shutil.copy(log.path, log.path.with_name("copy.db"))  # without the write-ahead log beside it
    with EventLog(log.path.with_name("copy.db")) as copy:
        assert copy.id == log.id and copy.head().seq == 1


def test_a_random_file_is_a_typed_error(log):
    log.path.parent.mkdir()
    for content in (b"x" * 5000, b"SQLite format 3\0" + b"\xff" * 4000, bytes(4096)):
        log.path.write_bytes(content)
        for ask in (log.head, log.verify, log.load, log.rebuild, lambda: log.commit([step()], when=WHEN), lambda: log.prove(1)):
            with pytest.raises(MogError) as caught:
                ask()
            assert caught.value.way_out
        log.close()
