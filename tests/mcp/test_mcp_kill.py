"""A few rounds of ``python -m benchmarks.mcp_kill``: nothing acknowledged is lost, nothing hangs, strays or stays behind."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

from benchmarks.mcp_kill import GIVE_UP, Outcome, play
from benchmarks.mcp_world import apart, made

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc and POSIX signals"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """A repository for all rounds."""
    assert sys.platform != "win32"
    with apart() as folder:
        yield made(folder / "repo")


@pytest.mark.parametrize(
    ("fault", "mode"),
    [("workbench quit", "writes"), ("server restarted", "writes"), ("client dropped mid-call", "writes"), ("bridge killed", "reads")],
)
def test_what_ends_in_the_middle_of_calls_loses_nothing(world: Path, fault: str, mode: str) -> None:
    outcome = Outcome()
    play(world, fault, mode, outcome, random.Random(fault), hang=GIVE_UP)
    assert (outcome.lost, outcome.twice, outcome.session, outcome.stray, outcome.orphans) == (0, 0, 0, 0, 0)
    assert not outcome.refused
    assert max(outcome.waits) < GIVE_UP
    assert outcome.calls > len(outcome.waits) / 2
    assert bool(outcome.acknowledged) == (mode == "writes")
