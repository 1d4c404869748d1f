"""What is kept of calls: the record of traffic, and the working set of each conversation with what comes back from it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp_kit import served

from mog.app.mcp.desk import Ask, Client, Desk
from mog.app.mcp.options import Options
from mog.app.mcp.table import BY_NAME
from mog.engine.traffic import KEPT, Call, Traffic
from mog.engine.workspace import Workspace

TOKEN = "ghp_" + "FAKE" * 9


@pytest.fixture
def desk(repo: Path) -> Iterator[Desk]:
    """A desk on the repository."""
    desk = Desk(repo, Options())
    yield desk
    desk.close()


def answered(desk: Desk, name: str, session: str = "talk", **given: object):  # type: ignore[no-untyped-def]
    """One call of a conversation."""
    return desk._answered(BY_NAME[name], given, Ask(desk, Client("c 1", Options(), session), given), False)


def call(at: int, **more: object) -> Call:
    """A call of a tool."""
    return Call(f"2026-01-01T00:00:{at % 60:02d}Z", "c 1", "s", "impact", **more)  # type: ignore[arg-type]


def test_every_call_is_kept_with_who_asked_what_and_what_it_cost(repo: Path) -> None:
    with served(repo) as client:
        client.call("impact", target="parse")
        client.call("why", target="nowhere at all")
        client.call("recall", query=f"the token {TOKEN}")
        assert client.close() == 0
    traffic = Traffic(repo / ".mog")
    secret, missing, impact = traffic.last(3)
    assert (impact.client, impact.tool, impact.outcome) == ("raw 1", "impact", "ok")
    assert impact.arguments == {"target": "parse"}
    assert any("gate.py" in one for one in impact.path)
    assert impact.tokens > 50
    assert impact.ms > 0
    assert impact.generation > 0
    assert missing.outcome == "NotFound"
    assert impact.session == missing.session != ""
    assert TOKEN not in str(secret.arguments)
    assert {(one.tool, one.calls, one.failed) for one in traffic.totals()} == {("impact", 1, 0), ("why", 1, 1), ("recall", 1, 0)}
    assert stat.S_IMODE(traffic.path.stat().st_mode) == 0o600
    traffic.close()


def test_the_record_is_bounded_and_the_newest_stay(tmp_path: Path) -> None:
    traffic = Traffic(tmp_path, kept=100)
    for number in range(500):
        traffic.record(call(number, tokens=number, arguments={"x": "y" * 10_000}))
    rows = traffic.last(KEPT)
    assert [row.tokens for row in rows[:3]] == [499, 498, 497]
    assert 100 <= len(rows) <= 164
    assert max(len(str(row.arguments)) for row in rows) < 2_100
    assert [row.tokens for row in traffic.last(2, before=rows[1].seq)] == [497, 496]
    traffic.close()


def test_a_record_that_cannot_be_used_fails_no_call(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "elsewhere").write_text("", encoding="utf-8")
    os.symlink(tmp_path / "elsewhere", tmp_path / "run" / "traffic.db")
    traffic = Traffic(tmp_path)
    traffic.record(call(1))
    assert traffic.trouble
    assert traffic.last() == ()
    assert (tmp_path / "elsewhere").read_text(encoding="utf-8") == ""


def test_what_was_evicted_comes_back_byte_for_byte_after_its_file_changed(desk: Desk, repo: Path) -> None:
    shown = answered(desk, "expand", target="gate.py::verify_token")
    text = shown.data["items"][0]["text"]
    desk.account.settle()
    working = desk.workspace.working_set("talk")
    for number in range(4):  # what was served in the last turns never leaves
        working.name_again([f"nothing {number}"])
    desk.account.heard(working.evict(0))
    (repo / "gate.py").write_text("def verify_token(token):\n    return None\n", encoding="utf-8")
    told = answered(desk, "search_context", query="parse")
    (line,) = told.data["evicted"]
    assert line in told.text
    ref = next(word for word in line.split() if word.startswith("ws_"))
    assert f"expand {ref}" in line
    back = answered(desk, "expand", target=ref)
    assert back.data["items"][0]["text"] == text
    assert "verify_token(token)" in text
    assert any("since then" in note for note in back.data["notes"])
    assert "evicted" not in answered(desk, "search_context", query="parse").data


def test_conversations_have_working_sets_of_their_own_which_survive_a_handover(repo: Path) -> None:
    with served(repo) as owner, served(repo) as bridge:
        owner.call("expand", target="gate.py::parse")
        bridge.call("expand", target="gate.py::parse")
        until = time.monotonic() + 20
        while time.monotonic() < until and len(_held(repo)) < 2:
            time.sleep(0.05)
        owner.kill()
        bridge.call("expand", target="gate.py::Gate")
        assert bridge.close() == 0
    held = _held(repo)
    assert len(held) == 2
    assert sorted(any("Gate" in id for id in ids) for ids in held) == [False, True]
    assert all(any(id.endswith("parse") for id in ids) for ids in held)


def _held(root: Path) -> list[set[str]]:
    """Ids of what each conversation holds, read from the disk."""
    with Workspace.open(root) as workspace:
        names = {row.name for row in workspace.working_sets.sessions()}
        return [{one.entry.id for one in workspace.working_set(name).state().items} for name in names]


def test_counting_falls_behind_without_holding_up_answers_and_is_complete_when_asked_for(desk: Desk) -> None:
    for _ in range(12):
        assert not answered(desk, "search_context", query="token gate", budget=600).failed
    desk.account.settle()
    state = desk.workspace.working_set("talk").state()
    assert state.totals.servings >= 1
    assert state.totals.hits >= 1
    assert desk.account.room("talk", 500) == 500
