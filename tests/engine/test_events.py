"""The event log beside a list: what was recorded is what is read, one writer at a time, every changed bit is found."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mog.engine.errors import HeldByOther, StoreDamaged, UsageError
from mog.engine.ledgers.events import APPLICATION_ID, MAX_BODY_BYTES, VERSION, EventLog, Head

WHEN = "2026-01-31T12:00:00Z"
posix = pytest.mark.skipif(os.name != "posix", reason="modes and links differ elsewhere")


@pytest.fixture
def log(tmp_path):
    with EventLog(tmp_path / ".mog" / "ledger.db") as made:
        yield made


def filled(log: EventLog, count: int = 5) -> EventLog:
    for i in range(count):
        log.append("note.added", {"n": i, "text": "é" * i}, when=WHEN)
    return log


def sql(log: EventLog, statement: str, *values: object) -> None:
    log.close()
    db = apsw.Connection(str(log.path))
    db.execute(statement, values)
    db.close()


# -- recording and reading


def test_reading_creates_nothing(tmp_path):
    with EventLog(tmp_path / ".mog" / "ledger.db") as log:
        assert log.head() == Head(0, "00" * 32)
        assert list(log.events()) == [] and log.verify().ok
    assert list(tmp_path.iterdir()) == []


def test_what_was_recorded_is_what_is_read(log):
    data = {"b": [1, -0.5, True, None, "é\n\x1b"], "a": {"": {}}}
    event = log.append("pin.added", data, when=WHEN)
    (read,) = log.events()
    assert read == event
    assert (read.seq, read.type, read.recorded_at) == (1, "pin.added", WHEN)
    assert read.data["a"] == {"": {}} and read.data["b"] == (1, -0.5, True, None, "é\n\x1b")
    assert log.head() == Head(1, event.digest)


def test_the_digest_is_the_documented_formula(log):
    first, second = filled(log, 2).events()
    body = '{"data":{"n":1,"text":"é"},"type":"note.added","v":1}'.encode()
    chained = b"mog.event.1" + bytes.fromhex(first.digest) + (2).to_bytes(8, "big") + body
    assert second.digest == hashlib.sha256(chained).hexdigest()


def test_wall_time_is_no_part_of_the_chain(tmp_path):
    heads = set()
    for name, when in (("a", WHEN), ("b", "1999-12-31T23:59:59Z"), ("c", "")):
        with EventLog(tmp_path / name / "ledger.db") as log:
            log.append("note.added", {"x": 1}, when=when)
            heads.add(log.head().digest)
    assert len(heads) == 1


def test_all_events_of_one_call_are_recorded_together(log):
    events = log.append_all([("a.b", {"i": i}) for i in range(3)], when=WHEN)
    assert [e.seq for e in events] == [1, 2, 3]
    with pytest.raises(UsageError):
        log.append_all([("a.b", {}), ("a.b", {"bad": {1}})], when=WHEN)
    assert log.head().seq == 3
    assert log.append_all([], when=WHEN) == ()


def test_events_are_read_from_a_number_on_and_across_pages(log):
    log.append_all([("a.b", {"i": i}) for i in range(1100)], when=WHEN)
    assert [e.seq for e in log.events()] == list(range(1, 1101))
    assert [e.data["i"] for e in log.events(1090)] == list(range(1090, 1100))
    assert [e.seq for e in log.events(510, 5)] == [511, 512, 513, 514, 515]
    assert [e.seq for e in log.events(limit=600)] == list(range(1, 601))
    assert list(log.events(1100)) == []


@pytest.mark.parametrize(
    ("kind", "data", "when"),
    [
        ("Bad", {}, WHEN),
        ("", {}, WHEN),
        ("a." * 40 + "b", {}, WHEN),
        ("a.b", {"x": float("nan")}, WHEN),
        ("a.b", {"x": 2**53}, WHEN),
        ("a.b", {"x": "\udcff"}, WHEN),
        ("a.b", {"x": b"bytes"}, WHEN),
        ("a.b", {"x": "y" * MAX_BODY_BYTES}, WHEN),
        ("a.b", {}, "jetzt\n"),
        ("a.b", {}, "9" * 65),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_the_file_is_touched(log, kind, data, when):
    with pytest.raises(UsageError) as caught:
        log.append(kind, data, when=when)
    assert caught.value.way_out
    assert not log.path.exists()


@posix
def test_the_file_is_for_its_owner_only(tmp_path):
    folder = tmp_path / ".mog"
    folder.mkdir(mode=0o755)
    old = os.umask(0)
    try:
        with EventLog(folder / "ledger.db") as log:
            log.append("a.b", {}, when=WHEN)
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert {stat.S_IMODE(p.stat().st_mode) for p in folder.iterdir()} == {0o600}
            log.path.chmod(0o644)
            log.append("a.b", {}, when=WHEN)
            assert stat.S_IMODE(log.path.stat().st_mode) == 0o600
    finally:
        os.umask(old)


def test_the_file_says_what_it_is(log):
    filled(log, 1).close()
    db = apsw.Connection(str(log.path))
    assert db.pragma("application_id") == APPLICATION_ID
    assert db.pragma("user_version") == VERSION
    assert db.pragma("journal_mode") == "wal"
    db.close()


def test_a_commit_is_synced(log):
    filled(log, 1)
    assert log._file.writer is not None and log._file.writer.pragma("synchronous") == 2


# -- two writers, and readers


def test_a_second_writer_is_refused_at_once_and_reads_on(log):
    filled(log, 2)
    other = apsw.Connection(str(log.path))
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(HeldByOther) as caught:
        log.append("a.b", {}, when=WHEN)
    assert caught.value.way_out
    assert [e.seq for e in log.events()] == [1, 2]
    other.execute("ROLLBACK")
    assert log.append("a.b", {}, when=WHEN).seq == 3
    other.close()


def test_a_stale_writer_is_refused(log):
    before = log.head()
    with EventLog(log.path) as other:
        other.append("a.b", {}, when=WHEN, expected=before)
    with pytest.raises(HeldByOther, match="moved on"):
        log.append("a.b", {}, when=WHEN, expected=before)
    assert log.append("a.b", {}, when=WHEN, expected=log.head()).seq == 2


def test_a_reader_sees_the_last_commit_of_another(log):
    filled(log, 1)
    with EventLog(log.path) as other:
        other.append("a.b", {}, when=WHEN)
        assert log.head() == other.head()
        assert [e.seq for e in log.events()] == [1, 2]


WRITER = """
import sys
from pathlib import Path
from mog.engine.errors import HeldByOther
from mog.engine.ledgers.events import EventLog
done = refused = 0
with EventLog(Path(sys.argv[1])) as log:
    while done < 25:
        try:
            log.append("a.b", {"by": sys.argv[2]}, when="")
            done += 1
        except HeldByOther:
            refused += 1
print(done)
"""


def test_processes_that_write_at_once_lose_nothing(log):
    args = [sys.executable, "-c", WRITER, str(log.path)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    writers = [subprocess.Popen([*args, name], **pipes) for name in "abc"]  # type: ignore[call-overload]
    for writer in writers:
        out, err = writer.communicate(timeout=120)
        assert (out.strip(), err) == (b"25", b"")
    assert log.verify().events == 75
    for name in "abc":
        assert sum(e.data["by"] == name for e in log.events()) == 25


KILLED = """
import sys
from pathlib import Path
from mog.engine.ledgers.events import EventLog
with EventLog(Path(sys.argv[1])) as log:
    while True:
        print(log.append("a.b", {"x": "y" * 500}, when="").seq, flush=True)
"""


def test_what_a_killed_writer_acknowledged_is_there(log):
    for _ in range(3):
        args = [sys.executable, "-c", KILLED, str(log.path)]
        child = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        assert child.stdout is not None
        told = [int(child.stdout.readline()) for _ in range(20)]
        child.kill()
        told += [int(line) for line in child.stdout.read().split(b"\n")[:-1]]
        child.wait(60)
        child.stdout.close()
        assert log.head().seq >= told[-1]
        assert log.verify().ok


def test_threads_of_one_log_take_turns(log):
    errors: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(10):
                log.append("a.b", {}, when=WHEN)
                assert len(list(log.events())) >= 1
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert errors == [] and log.verify().events == 30


# -- a commit that fails


class Failing:
    """A connection whose COMMIT reports an error, before or after it took place."""

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
def test_after_a_commit_error_the_log_says_what_is_there(log, happened):
    filled(log, 2)
    log._file.writer = Failing(log._file.writer, happened)  # type: ignore[assignment, arg-type]
    if happened:
        assert log.append("a.b", {}, when=WHEN).seq == 3
    else:
        with pytest.raises(StoreDamaged, match="nothing was recorded"):
            log.append("a.b", {}, when=WHEN)
    assert log.head().seq == 2 + happened and log.verify().ok
    assert log.append("a.b", {}, when=WHEN).seq == 3 + happened


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit on file sizes")
def test_a_value_the_disk_refuses_leaves_the_log_as_it_was(log):
    resource = pytest.importorskip("resource")
    filled(log, 2)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(StoreDamaged) as caught:
            log.append("a.b", {"x": random.Random(1).randbytes(200_000).hex()}, when=WHEN)
        assert caught.value.way_out
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    assert log.verify().events == 2
    assert log.append("a.b", {}, when=WHEN).seq == 3


# -- files that cannot be believed


@pytest.mark.parametrize("content", [b"not a database" * 100, b"\0" * 4096, b"SQLite format 3\0" + b"\xff" * 4000])
def test_a_foreign_file_is_refused_and_left_alone(log, content):
    log.path.parent.mkdir()
    log.path.write_bytes(content)
    for ask in (log.head, log.verify, lambda: log.append("a.b", {}, when=WHEN)):
        with pytest.raises(StoreDamaged) as caught:
            ask()
        assert caught.value.way_out and str(log.path) in caught.value.where
    assert log.path.read_bytes() == content


def test_a_foreign_database_is_refused_and_left_alone(log):
    log.path.parent.mkdir()
    sql(log, "CREATE TABLE events(x)")
    before = log.path.read_bytes()
    for ask in (log.head, lambda: log.append("a.b", {}, when=WHEN)):
        with pytest.raises(StoreDamaged, match="not a ledger"):
            ask()
    assert log.path.read_bytes() == before


def test_a_later_format_is_refused(log):
    sql(filled(log), "PRAGMA user_version = 3")
    for ask in (log.head, lambda: log.append("a.b", {}, when=WHEN)):
        with pytest.raises(StoreDamaged, match="later") as caught:
            ask()
        assert "upgrade" in caught.value.way_out


@pytest.mark.parametrize(
    "plant",
    [
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END",
        "CREATE VIEW v AS SELECT 1",
        "CREATE INDEX i ON events(seal)",
        "DROP TABLE head",
    ],
)
def test_a_planted_schema_is_refused(log, plant):
    sql(filled(log), plant)
    with pytest.raises(StoreDamaged, match="not ours"):
        log.append("a.b", {}, when=WHEN)


@posix
@pytest.mark.parametrize("at", ["ledger.db", "."])
def test_links_are_not_followed(tmp_path, at):
    with EventLog(tmp_path / "elsewhere" / "ledger.db") as real:
        filled(real, 1)
        target = real.path if at == "ledger.db" else real.path.parent
    place = tmp_path / ".mog"
    if at == "ledger.db":
        place.mkdir()
        place = place / at
    place.symlink_to(target)
    with EventLog(tmp_path / ".mog" / "ledger.db") as log:
        for ask in (log.head, lambda: log.append("a.b", {}, when=WHEN)):
            with pytest.raises(StoreDamaged, match="link"):
                ask()


@posix
def test_a_repository_reached_through_a_link_is_fine(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    with EventLog(tmp_path / "alias" / ".mog" / "ledger.db") as log:
        assert filled(log, 2).head().seq == 2


@posix
def test_a_pipe_is_refused_and_not_waited_for(log):
    log.path.parent.mkdir()
    os.mkfifo(log.path)
    for ask in (log.head, lambda: log.append("a.b", {}, when=WHEN)):
        with pytest.raises(StoreDamaged):
            ask()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="rights do not bind here")
def test_a_folder_one_may_only_read_can_be_read(log):
    filled(log).close()
    log.path.parent.chmod(0o500)
    try:
        assert log.head().seq == 5
        with pytest.raises(StoreDamaged):
            log.append("a.b", {}, when=WHEN)
    finally:
        log.path.parent.chmod(0o700)


def test_a_file_that_was_replaced_is_another_ledger(log, tmp_path):
    filled(log, 4)
    with EventLog(tmp_path / "other" / "ledger.db") as other:
        filled(other, 2)
    shutil.rmtree(log.path.parent)
    assert log.head().seq == 0
    shutil.copytree(other.path.parent, log.path.parent)
    assert log.head().seq == 2
    assert log.append("a.b", {}, when=WHEN).seq == 3


# -- changed bits


def rows(log: EventLog) -> list[tuple[int, bytes, bytes, str, bytes]]:
    log.close()
    db = apsw.Connection(str(log.path))
    found = db.execute("SELECT seq, body, digest, recorded_at, seal FROM events ORDER BY seq").fetchall()
    db.close()
    return found


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    with EventLog(tmp_path_factory.mktemp("sound") / "ledger.db") as log:
        yield rows(filled(log)), log.path


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_a_flipped_bit_in_any_column_is_found_and_named(sound, data):
    events, path = sound
    seq = data.draw(st.integers(1, len(events)), "event")
    column = data.draw(st.sampled_from(("body", "digest", "recorded_at", "seal")), "column")
    value = events[seq - 1][("seq", "body", "digest", "recorded_at", "seal").index(column)]
    raw = bytearray(value.encode() if isinstance(value, str) else value)
    at = data.draw(st.integers(0, len(raw) * 8 - 1), "bit")
    raw[at // 8] ^= 1 << at % 8
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "ledger.db"
        shutil.copy(path, copy)
        with EventLog(copy) as log:
            how = "CAST(? AS TEXT)" if column == "recorded_at" else "?"
            sql(log, f"UPDATE events SET {column} = {how} WHERE seq = ?", bytes(raw), seq)
            with pytest.raises(StoreDamaged):
                list(log.events())
            try:
                check = log.verify()
            except StoreDamaged:
                return  # not text any more
            assert check.damaged_at == seq and check.reason and check.events == seq - 1


@pytest.mark.parametrize(
    ("change", "damaged_at"),
    [
        ("DELETE FROM events WHERE seq = 3", 3),
        ("DELETE FROM events WHERE seq = 5", 5),
        ("DELETE FROM events WHERE seq = 1", 1),
        ("DELETE FROM events", 1),
        ("UPDATE events SET seq = 9 WHERE seq = 5", 5),
        ("INSERT INTO events SELECT 6, body, digest, recorded_at, seal FROM events WHERE seq = 5", 6),
        ("INSERT INTO events SELECT 0, body, digest, recorded_at, seal FROM events WHERE seq = 5", 1),
        ("UPDATE events SET body = (SELECT body FROM events WHERE seq = 1) WHERE seq = 2", 2),
        ("UPDATE head SET seq = 4", 6),
        ("UPDATE head SET digest = zeroblob(32)", 6),
        ("DELETE FROM head", 6),
    ],
)
def test_a_dropped_moved_or_added_row_is_found(log, change, damaged_at):
    sql(filled(log), change)
    check = log.verify()
    assert not check.ok and check.damaged_at == damaged_at and check.reason
    with pytest.raises(StoreDamaged) as caught:
        list(log.events())
    assert caught.value.way_out
    with pytest.raises(StoreDamaged):
        log.append("a.b", {}, when=WHEN) if damaged_at > 4 else list(log.events())


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_flipped_bit_anywhere_in_the_file_changes_no_answer_in_silence(sound, data):
    events, path = sound
    raw = bytearray(path.read_bytes())
    at = data.draw(st.integers(0, len(raw) * 8 - 1))
    raw[at // 8] ^= 1 << at % 8
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "ledger.db").write_bytes(raw)
        with EventLog(Path(folder) / "ledger.db") as log:
            try:
                found = list(log.events())
            except StoreDamaged as error:
                assert error.way_out
            else:
                expected = [(seq, digest.hex(), when) for seq, _, digest, when, _ in events]
                assert [(e.seq, e.digest, e.recorded_at) for e in found] == expected


def test_a_body_that_is_not_canonical_is_found_by_the_check(log):
    filled(log, 1)
    body = b'{"type":"a.b","data":{},"v":1}'
    digest = hashlib.sha256(b"mog.event.1" + bytes(32) + (1).to_bytes(8, "big") + body).digest()
    seal = hashlib.sha256(b"mog.seal.1" + digest).digest()[:8]
    sql(log, "UPDATE events SET body = ?, digest = ?, recorded_at = '', seal = ?", body, digest, seal)
    sql(log, "UPDATE head SET digest = ?", digest)
    assert "canonical" in log.verify().reason


@pytest.mark.parametrize("number", [2.0**53, 1e20, 1e21, -9007199254740994.0, 5e-324, 0.1, -0.0, 2**53 - 1])
def test_a_number_that_was_recorded_can_be_read_and_checked(log, number):
    log.append("a.b", {"x": number}, when=WHEN)
    assert next(log.events()).data["x"] == number
    assert log.verify().ok


@pytest.mark.parametrize(
    "body",
    [b"1e999", b"1" * 5000, b"[" * 99_999, b'{"a":1,"a":2}', b"NaN", b"\xff", b"null", b'{"data":[],"type":"a","v":1}'],
)
def test_a_body_of_no_known_form_is_a_typed_error(log, body):
    filled(log, 1)
    digest = hashlib.sha256(b"mog.event.1" + bytes(32) + (1).to_bytes(8, "big") + body).digest()
    seal = hashlib.sha256(b"mog.seal.1" + digest).digest()[:8]
    sql(log, "UPDATE events SET body = ?, digest = ?, recorded_at = '', seal = ?", body, digest, seal)
    sql(log, "UPDATE head SET digest = ?", digest)
    assert log.verify().damaged_at == 1
    with pytest.raises(StoreDamaged):
        list(log.events())


def test_the_head_can_be_rebuilt_but_not_over_a_broken_chain(log):
    sql(filled(log), "DELETE FROM head")
    assert log.repair_head().seq == 5
    assert log.verify().ok and log.append("a.b", {}, when=WHEN).seq == 6
    sql(log, "UPDATE events SET body = x'00' WHERE seq = 2")
    with pytest.raises(StoreDamaged, match="event 2"):
        log.repair_head()


# -- beside a list

plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)  # fmt: skip


def thawed(value: object) -> object:
    if hasattr(value, "keys"):
        return {k: thawed(v) for k, v in value.items()}  # type: ignore[attr-defined]
    return [thawed(v) for v in value] if isinstance(value, tuple) else value


class BesideAList(RuleBasedStateMachine):
    """Two logs on one file, one of them sometimes with a stale head, and a foreign lock that comes and goes."""

    @initialize()
    def begin(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        path = Path(self.folder.name) / ".mog" / "ledger.db"
        self.logs = [EventLog(path), EventLog(path)]
        self.model: list[tuple[str, object]] = []
        self.heads = [Head()]
        self.lock: apsw.Connection | None = None

    def teardown(self) -> None:
        if hasattr(self, "logs"):
            self.unlock()
            for log in self.logs:
                log.close()
            self.folder.cleanup()

    @rule(which=st.integers(0, 1), kind=st.sampled_from(("a.b", "x")), data=st.dictionaries(st.text(max_size=4), plain))
    def append(self, which: int, kind: str, data: dict[str, object]) -> None:
        if self.lock is not None:
            with pytest.raises(HeldByOther):
                self.logs[which].append(kind, data, when=WHEN)
            return
        event = self.logs[which].append(kind, data, when=WHEN, expected=self.heads[-1])
        self.model.append((kind, data))
        self.heads.append(Head(event.seq, event.digest))

    @rule(which=st.integers(0, 1), back=st.integers(1, 5))
    def append_on_a_stale_head(self, which: int, back: int) -> None:
        if len(self.heads) > back:
            with pytest.raises(HeldByOther):
                self.logs[which].append("x", {}, when=WHEN, expected=self.heads[-1 - back])

    @rule()
    def somebody_locks(self) -> None:
        if self.lock is None and self.model:
            self.lock = apsw.Connection(str(self.logs[0].path))
            self.lock.execute("BEGIN IMMEDIATE")

    @rule()
    def unlock(self) -> None:
        if self.lock is not None:
            self.lock.close()
            self.lock = None

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.logs[which].close()

    @rule(which=st.integers(0, 1), after=st.integers(0, 10))
    def read_from(self, which: int, after: int) -> None:
        if after <= len(self.model):
            assert [e.seq for e in self.logs[which].events(after)] == list(range(after + 1, len(self.model) + 1))

    @invariant()
    def both_read_the_list(self) -> None:
        for log in getattr(self, "logs", ()):
            assert [(e.type, thawed(e.data)) for e in log.events()] == self.model
            assert log.head() == self.heads[-1]
            assert log.verify().events == len(self.model) and log.verify().ok


TestBesideAList = BesideAList.TestCase
TestBesideAList.settings = settings(max_examples=20, stateful_step_count=15, deadline=None)
