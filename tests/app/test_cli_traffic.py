"""``mog traffic``: the latest calls of agents as lines and as JSON, safe to print."""

from __future__ import annotations

import json
from pathlib import Path

import apsw
import pytest

from mog.app.cli.run import run as mog
from mog.engine.traffic import Call, Traffic
from mog.engine.workspace import Workspace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    Workspace.init(tmp_path)
    record = Traffic(tmp_path / ".mog")
    for number in range(30):
        outcome = "ok" if number % 3 else "NotFound"
        asked = {"target": f"f{number}\x1b[2J"}
        record.record(Call("2026-11-30T10:00:00Z", f"agent {number % 2}", "s", "impact", asked, outcome, 10, 2.0))
    record.close()
    return tmp_path


def test_the_newest_calls_come_first_and_nothing_steers_the_terminal(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mog(["traffic", "--repo", str(root), "--limit", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition("impact of ")[2][:3] for line in lines] == ["f29", "f28", "f27"]
    assert "NotFound" in lines[2] and "\x1b" not in "".join(lines)


def test_sums_by_client_and_tool(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mog(["traffic", "--totals", "--json", "--repo", str(root)]) == 0
    totals = json.loads(capsys.readouterr().out)["totals"]
    assert [(one["client"], one["calls"], one["failed"], one["tokens"]) for one in totals] == [
        ("agent 0", 15, 5, 150),
        ("agent 1", 15, 5, 150),
    ]


def test_without_a_call_the_way_to_one_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Workspace.init(tmp_path)
    assert mog(["traffic", "--repo", str(tmp_path)]) == 1
    assert "mog mcp install" in capsys.readouterr().out
    assert not (tmp_path / ".mog" / "run" / "traffic.db").exists()


@pytest.mark.parametrize("arguments", ["no json", "[1]", "5", "[" * 100_000])
def test_rows_that_somebody_else_wrote_are_said(root: Path, capsys: pytest.CaptureFixture[str], arguments: str) -> None:
    db = apsw.Connection(str(root / ".mog" / "run" / "traffic.db"))
    db.execute("UPDATE calls SET arguments = ? WHERE seq = 30", (arguments,))
    db.close()
    assert mog(["traffic", "--repo", str(root)]) == 1
    said = capsys.readouterr().out
    assert "traffic cannot be read" in said and "no agent" not in said


def test_a_record_that_is_none_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / ".mog" / "run" / "traffic.db").write_bytes(b"no database" * 100)
    assert mog(["traffic", "--repo", str(root)]) == 1
    assert "traffic cannot be read" in capsys.readouterr().out
