"""Killed while a plan runs, is saved and is exported, in small numbers; ``python -m benchmarks.executor_crashes`` does more."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mog.engine.executor import Runner
from mog.engine.ledgers.events import EventLog

ROOT = Path(__file__).resolve().parents[2]


def benchmark(name: str) -> Any:
    """A module of ``benchmarks``, found by its place, whatever folder the tests start in."""
    if "benchmarks" not in sys.modules:
        init = ROOT / "benchmarks" / "__init__.py"
        spec = importlib.util.spec_from_file_location("benchmarks", init, submodule_search_locations=[str(init.parent)])
        assert spec is not None and spec.loader is not None
        module = sys.modules["benchmarks"] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return importlib.import_module(f"benchmarks.{name}")


crashes, faults = benchmark("executor_crashes"), benchmark("ledger_faults")
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks its writers")


def outcome(make: Callable[[], Any]) -> Any:
    """What the crashes gave; skipped with the reason where this machine cannot make them."""
    try:
        return make()
    except faults.CannotRun as error:
        pytest.skip(str(error))


def written(folder: Path) -> Any:
    """What a writer said that came to its end, as if it had been killed there."""
    said: list[str] = []
    crashes.write(folder, 1, said.append)
    return crashes.Heard().hear("".join(f"{line}\n" for line in said))


@forks
def test_a_plan_killed_at_a_random_moment_goes_on_where_it_was(tmp_path: Path) -> None:
    found = crashes.kills(tmp_path, 15)
    assert found.wrong == [] and found.tries == 15
    assert found.counts["acknowledged"] and found.counts["tasks run again"] and found.counts["tasks left alone"]
    assert list(tmp_path.iterdir()) == [tmp_path / "template"]


@forks
@pytest.mark.parametrize(
    ("call", "ks"), [("fdatasync", (2, 9)), ("fsync", (3, 14)), ("pwrite64", (40, 130)), ("rename", (4, 7))]
)
def test_a_plan_killed_at_a_call_to_the_disk_goes_on_where_it_was(call: str, ks: tuple[int, ...], tmp_path: Path) -> None:
    found = outcome(lambda: crashes.every(tmp_path, call, ks, ("a repaired plan",)))
    assert found.wrong == [] and found.tries == len(ks)
    assert found.counts["copies loaded"] == found.counts["sessions loaded"] == len(ks)


@forks
def test_no_call_is_hit_beyond_the_last(tmp_path: Path) -> None:
    found = outcome(lambda: crashes.every(tmp_path, "rename", (60_000,), ("nothing",)))
    assert found.tries == 0


# -- the judge sees what must not be


def test_the_judge_finds_nothing_wrong_with_what_is_whole(tmp_path: Path) -> None:
    judge = crashes.Judge(tmp_path / "w", written(tmp_path / "w"))
    judge.judge()
    assert judge.wrong == [] and judge.counts["copies loaded"] == judge.counts["sessions loaded"] == 1


def test_the_judge_sees_a_lost_acknowledgement_and_a_lost_save(tmp_path: Path) -> None:
    heard = written(tmp_path / "w")
    seq = max(heard.acknowledged) + 1
    heard.acknowledged[seq], heard.saved = "0" * 64, (seq, "0" * 64)
    heard.exported += 1
    judge = crashes.Judge(tmp_path / "w", heard)
    judge.judge()
    text = "\n".join(judge.wrong)
    for what in ("the ledger", "the saved copy"):
        assert f"{what}: acknowledged and not there: [{seq}]" in text
    assert "generation 2 was exported, 1 is there" in text and judge.counts["lost"] == 2


@pytest.mark.parametrize("missing", ["saved", "out"])
def test_the_judge_sees_a_session_that_cannot_be_loaded(missing: str, tmp_path: Path) -> None:
    heard = written(tmp_path / "w")
    (tmp_path / "w" / missing).rename(tmp_path / "elsewhere")
    judge = crashes.Judge(tmp_path / "w", heard)
    judge.judge()
    assert judge.counts["unloadable"] == 1 and "UsageError" in judge.wrong[0]


def test_the_judge_sees_work_beyond_the_stale_closure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = written(tmp_path / "w")
    resume = Runner.resume

    def too_much(runner: Runner) -> Any:
        runner.repair("ship", rationale="for no reason")
        return resume(runner)

    monkeypatch.setattr(Runner, "resume", too_much)
    judge = crashes.Judge(tmp_path / "w", heard)
    judge.judge()
    assert judge.counts["beyond the stale closure"] and any("['ship']" in what for what in judge.wrong)


def test_what_has_to_run_is_worked_out_without_traces(tmp_path: Path) -> None:
    written(tmp_path / "w")
    with EventLog(tmp_path / "w" / "ledger.db") as log:
        mesh, code = crashes.mesh_of(log), crashes.Code()
        runner = Runner(mesh, code.registry(), crashes.PLAN)
        runner.resume()
        assert crashes.needed(mesh, runner).must == set()
        runner.repair("routes", assumes="otherwise")
        now = crashes.needed(mesh, runner)
        assert "routes" in now.must <= {"routes", "pages", "jobs", "ship"}
        crashes.reject(mesh, runner, "jobs")
        assert crashes.needed(mesh, runner).cannot == {"jobs", "ship"}
