"""A write that is asked again: carried out once, whoever paused where."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from mog.app.mcp.claims import Claims
from mog.app.mcp.desk import Ask, Client, Desk
from mog.app.mcp.options import Options
from mog.app.mcp.table import BY_NAME
from mog.engine.errors import HeldByOther, UsageError
from mog.engine.store.lock import WriterLock

KEY = "0123456789abcdef" * 2


def test_who_comes_later_waits_and_is_told_that_it_was_begun(tmp_path: Path) -> None:
    first, second = Claims(tmp_path), Claims(tmp_path)
    seen: list[bool] = []

    def later() -> None:
        with second.carrying(KEY) as begun:
            seen.append(begun)

    with first.carrying(KEY) as begun:
        assert not begun
        thread = threading.Thread(target=later)
        thread.start()
        thread.join(0.2)
        assert seen == []
    thread.join(10)
    assert seen == [True]


def test_a_pause_before_the_lock_is_no_reason_to_do_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paused, other = Claims(tmp_path), Claims(tmp_path)
    acquire, stops = WriterLock.acquire, [True]

    def late(lock: WriterLock) -> None:
        if stops:
            stops.clear()
            with other.carrying(KEY) as begun:
                assert not begun
        acquire(lock)

    monkeypatch.setattr(WriterLock, "acquire", late)
    with paused.carrying(KEY) as begun:
        assert begun


def test_a_call_that_somebody_does_not_finish_is_said_to_be_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mog.app.mcp.claims.PATIENCE", 0.1)
    with Claims(tmp_path).carrying(KEY), pytest.raises(HeldByOther, match="may record it yet"), Claims(tmp_path).carrying(KEY):
        raise AssertionError("it was carried out twice")


def test_what_is_no_key_is_refused(tmp_path: Path) -> None:
    for key in ("", "../../x", "0" * 31, "g" * 32):
        with pytest.raises(UsageError), Claims(tmp_path).carrying(key):
            pass


@pytest.mark.parametrize("name", ["pin", "remember", "mesh_submit_evidence"])
def test_a_write_that_comes_again_is_answered_from_the_ledger(repo: Path, name: str) -> None:
    given = {
        "pin": {"target": "parse", "note": "once"}, "remember": {"kind": "observation", "text": "Seen once"},
        "mesh_submit_evidence": {"text": "Seen once", "source_id": "said by person"},
    }[name]  # fmt: skip
    client = Client("c 1", Options(), "s", "--allow-writes")
    desk = Desk(repo, Options())
    before = desk.workspace.beliefs.log.head().seq
    answers = [desk._answered(BY_NAME[name], given, Ask(desk, client, given, KEY), again) for again in (False, True, False)]
    assert desk.workspace.beliefs.log.head().seq == before + 1
    assert not any(one.failed for one in answers)
    assert len({one.data["id"] for one in answers}) == 1
    desk.close()
