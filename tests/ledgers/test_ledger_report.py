"""The full check and the repair: every changed bit is found and named, and what is derived comes back from the events."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import pytest
from ledger_kit import WHEN, benchmark, changed, fold, sql, step

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.ledgers.checkpoints import Checkpoint
from mog.engine.ledgers.events import EventLog

faults, world = benchmark("ledger_faults"), benchmark("ledger_world")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    with EventLog(folder / "ledger.db") as log:
        world.fill(log, 60)
        log.checkpoint(world.SIGNER)
        world.fill(log, 10, 60)
        whole = world.contents(log)
    return folder / "ledger.db", whole


@pytest.fixture
def log(sound, tmp_path):
    shutil.copy(sound[0], tmp_path / "ledger.db")
    with EventLog(tmp_path / "ledger.db") as copy:
        yield copy


def test_a_sound_ledger_passes(log, sound):
    report = log.verify(world.fold())
    assert report.ok and report.events == 70 and report.records == len(sound[1][4]) and report.flaws == ()


DAMAGE = {
    "UPDATE nodes SET data = CAST(data || x'00' AS BLOB) WHERE id = (SELECT max(id) FROM nodes)": "record",
    "UPDATE nodes SET count = count + 1 WHERE id = (SELECT max(id) FROM nodes)": "record",
    "UPDATE nodes SET count = count + 1 WHERE id = (SELECT min(id) FROM nodes)": "record",
    "DELETE FROM nodes WHERE id = (SELECT max(id) FROM nodes)": "record",
    "INSERT INTO nodes SELECT id + 1, count, data FROM nodes WHERE id = (SELECT max(id) FROM nodes)": "record",
    "INSERT INTO nodes VALUES(5, 1, x'00')": "record",
    "INSERT INTO nodes SELECT id + (7 << 52), count, data FROM nodes LIMIT 1": "record",
    "UPDATE tables SET root = zeroblob(32) WHERE id = 1": "record",
    "UPDATE tables SET count = count + 1 WHERE id = 1": "record",
    "UPDATE tables SET name = 'other' WHERE id = 1": "record",
    "DELETE FROM tables WHERE id = 2": "record",
    "UPDATE states SET root = zeroblob(32) WHERE seq = 5": "tree",
    "DELETE FROM states WHERE seq = 5": "state",
    "INSERT INTO states VALUES(71, zeroblob(32))": "state",
    "UPDATE subtrees SET hash = zeroblob(32) WHERE level = 3 AND idx = 2": "tree",
    "DELETE FROM subtrees WHERE level = 4 AND idx = 0": "tree",
    "INSERT INTO subtrees VALUES(9, 9, zeroblob(32))": "tree",
    "UPDATE head SET root = zeroblob(32)": "tree",
    "UPDATE head SET state = zeroblob(32)": "head",
    "UPDATE head SET ledger = replace('0' || substr(ledger, 2), ledger, '1' || substr(ledger, 2))": "head",
    "UPDATE head SET seq = 3": "head",
    "DELETE FROM head": "head",
    "UPDATE checkpoint SET note = replace(note, 'state ', 'state f')": "checkpoint",
    "UPDATE checkpoint SET public = zeroblob(32)": "checkpoint",
}


@pytest.mark.parametrize(("damage", "part"), DAMAGE.items())
def test_derived_damage_is_found_named_and_repaired(log, sound, damage, part):
    changed(log, damage)
    report = log.verify(world.fold())
    assert not report.ok and report.damaged_at == 71 and report.events == 70 and report.repairable
    assert part in {flaw.part for flaw in report.flaws} and all(flaw.where and flaw.what for flaw in report.flaws)
    assert not log.verify().ok, "the replay is not needed to find it"
    events = changed(log, "SELECT * FROM events")
    log.rebuild(world.fold())
    assert changed(log, "SELECT * FROM events") == events
    assert log.verify(world.fold()).ok and world.contents(log)[:6] == sound[1][:6]
    assert part == "checkpoint" or world.contents(log) == sound[1]  # the name too, which its checkpoint was signed for


def test_a_checkpoint_over_other_events_is_evidence_and_stays(log):
    lie = world.SIGNER.sign(Checkpoint(log.id, 5, "00" * 32, "00" * 32))
    changed(log, "UPDATE checkpoint SET note = ?", lie)
    log.rebuild(world.fold())
    assert [flaw.what for flaw in log.verify().flaws] == ["the checkpoint was signed over other events"]


COLUMNS = [
    ("events", "body"), ("events", "digest"), ("events", "recorded_at"), ("events", "seal"), ("states", "root"),
    ("subtrees", "level"), ("subtrees", "idx"), ("subtrees", "hash"), ("tables", "name"), ("tables", "count"),
    ("tables", "root"), ("nodes", "count"), ("nodes", "data"), ("head", "ledger"), ("head", "seq"), ("head", "digest"),
    ("head", "root"), ("head", "state"), ("checkpoint", "public"), ("checkpoint", "note"),
]  # fmt: skip


@pytest.mark.parametrize(("table", "column"), COLUMNS)
def test_a_value_of_another_type_is_a_typed_error(small, tmp_path, table, column):
    """A changed bit can change the type that SQLite sees; here the schema is loosened for a moment to do it on purpose."""
    for value in (None, 2.5, b"\xff" * 40) if column != "recorded_at" else (None, b"\xff", -1):
        copy = tmp_path / "ledger.db"
        shutil.copy(small, copy)
        _loosely(copy, table, f"UPDATE {table} SET {column} = ? WHERE rowid = (SELECT max(rowid) FROM {table})", value)
        with EventLog(copy) as bad:
            asked = [
                bad.head, bad.verify, lambda: list(bad.events()), lambda: list(bad.load()[1]), lambda: bad.prove(12),
                lambda: bad.consistency(9), lambda: bad.id, lambda: bad.signature(()), lambda: world.fill(bad, 1, 99),
                lambda: bad.rebuild(world.fold()), lambda: bad.verify(world.fold()),
            ]  # fmt: skip
            for ask in asked:
                try:
                    found = ask()
                except StoreDamaged as error:
                    assert error.way_out
                else:
                    assert table != "events" or ask not in (asked[2], asked[9]), found
                    assert table != "events" or not getattr(found, "ok", False)


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("small") / "ledger.db"
    with EventLog(path) as log:
        world.fill(log, 12)
        log.checkpoint(world.SIGNER)
    return path


def _loosely(path: Path, table: str, statement: str, value: object) -> None:
    keep = sql(path, "SELECT sql FROM sqlite_schema WHERE name = ?", table)[0][0]
    loose = keep.replace(" STRICT, WITHOUT ROWID", "").replace(" STRICT", "").replace(" NOT NULL", "")
    if "WITHOUT ROWID" in keep:  # such a table cannot be made loose in place
        rows = sql(path, f"SELECT * FROM {table}")
        sql(path, f"UPDATE {table} SET hash = zeroblob(3) WHERE level = ?", rows[-1][0])
        return
    db = apsw.Connection(str(path))
    for text, change in ((loose, True), (keep, False)):
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_schema SET sql = ? WHERE name = ?", (text, table))
        db.execute("PRAGMA writable_schema = RESET")
        if change:
            try:
                db.execute(statement, (value,))
            except apsw.ConstraintError:
                pass  # it is a key
    db.close()


def test_a_changed_record_is_named(log):
    table, key, body = max(log.load()[1])
    text = log._file.read(lambda db, _: [tuple(row) for row in db.execute("SELECT id, data FROM nodes")], [])
    import zlib

    for at, data in text:
        plain = zlib.decompress(data[1:], -15) if data[:1] == b"\1" else data[1:]
        if key.encode() + body in plain:
            changed(log, "UPDATE nodes SET data = ? WHERE id = ?", b"\0" + plain.replace(body, body[:-1] + b"?"), at)
    assert f"{table} {key}" in {flaw.where for flaw in log.verify().flaws}
    told = [flaw for flaw in log.verify(world.fold()).flaws if flaw.what == "it was changed"]
    assert [flaw.where for flaw in told] == [f"{table} {key}"]


def test_records_that_add_up_but_are_not_what_events_give_are_found_by_replay(tmp_path):
    with EventLog(tmp_path / "ledger.db") as log:
        log.commit([step(("t", "a", "1"))], when=WHEN)
        event = step(("t", "a", "2"))
        log.commit([type(event)(event.type, event.data, step(("t", "a", "lie")).puts)], when=WHEN)
        assert log.verify().ok
        report = log.verify(fold())
        assert [flaw.where for flaw in report.flaws] == ["event 2", "t a"] and report.repairable
        log.rebuild(fold())
        assert log.verify(fold()).ok and log.get("t", "a") == b"2"


def test_events_that_do_not_hold_are_never_rebuilt_from(log):
    changed(log, "UPDATE events SET recorded_at = 'never' WHERE seq = 7")
    before = changed(log, "SELECT * FROM nodes")
    report = log.verify(world.fold())
    assert (report.damaged_at, report.events, report.repairable) == (7, 6, False)
    assert [str(flaw) for flaw in report.flaws] == ["event 7: its time was changed"]
    with pytest.raises(StoreDamaged, match="event 7"):
        log.rebuild(world.fold())
    assert changed(log, "SELECT * FROM nodes") == before


def test_damaged_pages_of_records_are_found_and_the_events_salvaged(log, sound, tmp_path):
    """``nodes`` is made a tree that SQLite cannot walk; nothing can be repaired in such a file."""
    (root,) = changed(log, "SELECT rootpage FROM sqlite_schema WHERE name = 'nodes'")[0]
    raw = bytearray(log.path.read_bytes())
    raw[(root - 1) * 4096 : (root - 1) * 4096 + 8] = b"\x05\xff\xff\xff\xff\xff\xff\xff"
    log.path.write_bytes(raw)
    report = log.verify(world.fold())
    assert not report.ok and report.repairable and any("pages" in flaw.what for flaw in report.flaws)
    with pytest.raises(StoreDamaged):
        log.rebuild(world.fold())
    head = log.salvage(tmp_path / "new.db", world.fold())
    with EventLog(tmp_path / "new.db") as new:
        assert new.head() == head and new.verify(world.fold()).ok
        assert world.contents(new)[:6] == sound[1][:6] and new.id == sound[1][-1]


def test_what_is_salvaged_ends_before_the_first_event_that_does_not_hold(log, tmp_path):
    changed(log, "UPDATE events SET recorded_at = 'never' WHERE seq = 31")
    assert log.salvage(tmp_path / "new.db", world.fold()).seq == 30
    with EventLog(tmp_path / "new.db") as new:
        assert new.verify(world.fold()).ok
    with pytest.raises(UsageError):
        log.salvage(tmp_path / "new.db")
    changed(log, "UPDATE events SET seal = x'00' WHERE seq = 1")
    with pytest.raises(StoreDamaged, match="no event"):
        log.salvage(tmp_path / "other.db")


def test_without_a_fold_the_tree_comes_back_and_records_do_not(log, sound):
    changed(log, "DELETE FROM subtrees")
    log.rebuild()
    assert log.verify(world.fold()).ok and world.contents(log) == sound[1]
    changed(log, "UPDATE tables SET root = zeroblob(32)")
    with pytest.raises(StoreDamaged, match="records"):
        log.rebuild()


def test_the_quick_check_at_load_sees_a_wrong_top(log):
    for damage in ("UPDATE head SET root = zeroblob(32)", "UPDATE tables SET count = count + 1", "DELETE FROM subtrees"):
        saved = log.path.read_bytes()
        changed(log, damage)
        with pytest.raises(StoreDamaged) as caught:
            log.load()
        assert caught.value.way_out
        log.close()
        log.path.write_bytes(saved)
    list(log.load()[1])


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="the world forks")
def test_flipped_bits_change_no_answer_in_silence(tmp_path):
    found = faults.flips(tmp_path, 120)
    assert found.wrong == [] and found.tries == 120
    assert any("found" in what for what in found.counts) and any("repaired" in what for what in found.counts)


def test_the_judge_of_flips_can_say_no(tmp_path, sound):
    """A checker that never complains checks nothing."""
    shutil.copy(sound[0], tmp_path / "ledger.db")
    (tmp_path / "witness").mkdir()
    with EventLog(tmp_path / "ledger.db") as log:
        world.fill(log, 1, 99)
    assert faults.ask_ledger(tmp_path, sound[1]).startswith("!")
    assert world.judge(tmp_path / "ledger.db", world.Told({1: "00"}))
    assert world.judge(tmp_path / "ledger.db", world.Told(refused={99}))
    assert world.judge(Path(tmp_path / "none.db"), world.Told({1: "00"}))
