"""Where no worker process starts, files are read in the process that asks: slower, and the same index and answers."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from mog.engine import pool
from mog.engine.code import ingest
from mog.engine.retrieval import shelf
from mog.engine.workspace import Workspace

SCRIPT = """
import sys
from pathlib import Path
from mog.engine.code import ingest
from mog.engine.workspace import Workspace
ingest.POOL_FROM_BYTES = 1
with Workspace.open(Path(sys.argv[1])) as workspace:  # no guard: each worker runs this again, and ends of it
    print(workspace.index(workers=2).facts_hash)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    for number in range(12):
        (root / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n", encoding="utf-8")
    Workspace.init(root)
    return root


@pytest.mark.parametrize("error", [OSError("no room"), NotImplementedError("no semaphores"), ImportError("none")], ids=repr)
@pytest.mark.parametrize("where", ["pool", "submit"])
def test_a_system_without_room_for_workers_gets_its_index(
    root: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, where: str
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(ingest, "POOL_FROM_BYTES", 1)
    monkeypatch.setattr(shelf, "POOL_FROM", 1)
    with Workspace.open(root) as workspace:
        usual = workspace.index(workers=1)
        monkeypatch.setattr(*((pool, "pool") if where == "pool" else (ProcessPoolExecutor, "submit")), refused)
        assert workspace.index(full=True, workers=2).facts_hash == usual.facts_hash
        assert workspace.context.search("f7").items[0].id == "sym:m7.py::f7"


def test_a_script_without_a_guard_around_its_main_part_gets_its_index(tmp_path: Path, root: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script), str(root)], check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120,
        env=dict(os.environ),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    with Workspace.open(root) as workspace:
        assert workspace.index(full=True, workers=1).facts_hash == done.stdout.strip()
