"""Killed writers, many writers, failing, lying, full and powerless disks, in small numbers; the large ones are a benchmark.

``python -m benchmarks.reliability`` runs the same with a thousand kills, every k and three hundred power cuts.
"""

from __future__ import annotations

import os
import threading

import apsw
import pytest
from ledger_kit import WHEN, benchmark, fold, step

from mog.engine.errors import HeldByOther
from mog.engine.ledgers.events import EventLog

faults, disk, crashes = benchmark("ledger_faults"), benchmark("ledger_disk"), benchmark("ledger_crashes")
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks its writers")


def outcome(make):
    """What a series of faults gave; skipped with the reason where this machine cannot make them."""
    try:
        return make()
    except faults.CannotRun as error:
        pytest.skip(str(error))


@forks
def test_what_a_killed_writer_acknowledged_is_there_and_the_next_goes_on(tmp_path):
    found = faults.kills(tmp_path, 25)
    assert found.wrong == [] and found.tries == 25 and found.counts["acknowledged"] >= 25


@forks
@pytest.mark.parametrize("processes", [2, 8])
def test_writers_at_once_lose_nothing_and_are_refused_not_queued(tmp_path, processes):
    found = faults.writers(tmp_path, processes, 12)
    assert found.wrong == [] and found.tries == processes * 12


@forks
def test_readers_beside_a_writer_meet_no_error(tmp_path):
    found = faults.writers(tmp_path, 1, 60, readers=4)
    assert found.wrong == [] and found.counts["refused"] == 0 and found.counts["reads"] > 4


def test_a_writer_that_is_in_the_way_is_refused_not_waited_for(tmp_path):
    with EventLog(tmp_path / "ledger.db") as log:
        log.commit([step(("t", "a", "1"))], when=WHEN)
        other = apsw.Connection(str(log.path))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(HeldByOther) as caught:
            log.commit([step(("t", "a", "2"))], when=WHEN)
        assert caught.value.way_out and log.get("t", "a") == b"1" and len(list(log.load()[1])) == 1
        other.execute("ROLLBACK")
        other.close()
        log.commit([step(("t", "a", "2"))], when=WHEN)
        assert log.get("t", "a") == b"2"


def test_threads_of_one_log_commit_and_load_in_turn(tmp_path):
    errors: list[BaseException] = []
    with EventLog(tmp_path / "ledger.db") as log:

        def work(name: int) -> None:
            try:
                for i in range(8):
                    log.commit([step(("t", f"{name}", f"{i}"))], when=WHEN)
                    assert len(list(log.load()[1])) >= 1
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert errors == [] and log.verify(fold()).events == 24


@pytest.mark.parametrize(
    ("call", "how", "ks"),
    [
        ("fdatasync", "error=EIO", (1, 3, 4)), ("fsync", "error=EIO", (1, 3)), ("pwrite64", "error=ENOSPC", (2, 9, 31)),
        ("pwrite64", "signal=KILL", (4, 30)), ("rename", "error=EIO", (1,)), ("link", "signal=KILL", (1,)),
    ],
)  # fmt: skip
def test_a_call_that_fails_is_answered_truly(tmp_path, call, how, ks):
    found = outcome(lambda: sum_of(disk.faults(tmp_path, [k], [(call, how)]) for k in ks))
    assert found.wrong == [] and found.tries >= 1


def sum_of(parts):
    found = faults.Outcome()
    for part in parts:
        found.tries += part.tries
        found.wrong += part.wrong
    return found


def test_a_sync_that_fails_in_a_library_is_answered_truly(tmp_path):
    found = outcome(lambda: disk.shim_faults(tmp_path, (2, 4, 6)))
    assert found.wrong == [] and found.tries == 3


def test_syncs_that_lie_lose_nothing_while_the_system_lives(tmp_path):
    found = outcome(lambda: disk.lying_sync(tmp_path, 1))
    assert found.wrong == [] and found.tries == 2


def test_a_full_disk_refuses_and_then_goes_on(tmp_path):
    found = outcome(lambda: disk.enospc(tmp_path, 2))
    assert found.wrong == [] and found.counts["refused"] >= 2


@forks
def test_a_power_cut_loses_nothing_that_was_acknowledged(tmp_path):
    found = outcome(lambda: disk.power(tmp_path, 3))
    assert found.wrong == [] and found.tries == 3


def test_no_state_that_a_crash_can_leave_loses_what_was_acknowledged(tmp_path):
    found = outcome(lambda: crashes.crashes(tmp_path, 3, 1))
    assert found.wrong == [] and found.tries > 50 and found.counts["acknowledged"] == 3


def test_without_syncs_such_states_do_lose_it(tmp_path):
    found = outcome(lambda: crashes.crashes(tmp_path, 2, 1, deaf=True))
    assert any("acknowledged and not there" in what for what in found.wrong)
