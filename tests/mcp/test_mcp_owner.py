"""One owner, many bridges: nothing a client could see when the owner is killed, leaves, stops or comes back."""

from __future__ import annotations

import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp_kit import LEGACY, MODERN, Raw, pins, served

HEIR = 20.0  # seconds in which a bridge makes itself the heir, on a busy machine


def prepared(root: Path) -> None:
    """Wait until one of the bridges is ready to take over."""
    until = time.monotonic() + HEIR
    lock = root / ".mog" / "run" / "heir.lock"
    while time.monotonic() < until and not (lock.exists() and lock.read_text().strip()):
        time.sleep(0.05)
    time.sleep(1.0)


def impact(client: Raw) -> int:
    """Begin a read."""
    return client.begin("tools/call", {"name": "impact", "arguments": {"target": "parse"}})


def pin(client: Raw, note: str) -> int:
    """Begin a write."""
    return client.begin("tools/call", {"name": "pin", "arguments": {"target": "parse", "note": note}})


@pytest.mark.parametrize("era", [LEGACY, MODERN])
def test_a_killed_owner_is_followed_by_a_bridge_that_answers_what_was_open(repo: Path, era: str) -> None:
    with served(repo) as owner, served(repo, era=era) as bridge, served(repo) as other:
        kept = bridge.call("pin", target="parse", note="kept")["structuredContent"]["id"]
        prepared(repo)
        reads = [impact(bridge) for _ in range(4)]
        write = pin(bridge, "in flight")
        owner.kill()
        assert all(not bridge.answer(id)["result"]["isError"] for id in reads)
        assert not bridge.answer(write)["result"]["isError"]
        assert not other.call("impact", target="parse")["isError"]
        assert kept in str(bridge.call("verify")) or bridge.call("unpin", id=kept)
        assert (bridge.stray, other.stray) == ([], [])
        assert other.close() == 0
        assert bridge.close() == 0
    assert pins(repo).count("in flight") == 1


def test_an_owner_that_does_not_run_is_passed_over_and_what_it_had_is_done_once(repo: Path) -> None:
    with served(repo) as owner, served(repo) as first, served(repo, era=MODERN) as second:
        first.call("impact", target="parse")
        second.call("impact", target="parse")
        prepared(repo)
        os.kill(owner.process.pid, signal.SIGSTOP)
        try:
            ids = [(client, impact(client), pin(client, f"stopped {at}")) for at, client in enumerate((first, second))]
            for client, read, write in ids:
                assert not client.answer(read)["result"]["isError"]
                assert not client.answer(write)["result"]["isError"]
        finally:
            os.kill(owner.process.pid, signal.SIGCONT)
        assert not owner.call("impact", target="parse")["isError"]
        assert sorted(note for note in pins(repo) if note.startswith("stopped")) == ["stopped 0", "stopped 1"]
        assert (owner.stray, first.stray, second.stray) == ([], [], [])


def test_a_client_that_leaves_ends_its_server_and_nothing_is_left_behind(
    repo: Path, processes: Callable[[int], set[int]]
) -> None:
    with served(repo) as owner, served(repo) as bridge:
        bridge.call("impact", target="parse")
        assert owner.close() == 0
        assert not bridge.call("impact", target="parse")["isError"]
        assert processes(bridge.process.pid) == set()
        assert bridge.close() == 0
    run = repo / ".mog" / "run"
    assert not (run / "owner.sock").exists()
    assert not (run / "owner.address").exists()


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_a_signal_ends_a_server_cleanly(repo: Path, name: str) -> None:
    with served(repo) as server:
        impact(server)
        number = getattr(signal, name)
        server.process.send_signal(number)
        assert server.process.wait(15) == 128 + number
        assert server.stray == []


def test_nobody_else_can_look_into_the_run_folder(repo: Path) -> None:
    (repo / ".mog" / "run").mkdir(exist_ok=True)
    (repo / ".mog" / "run").chmod(0o755)
    (repo / ".mog" / "run" / "owner.address").write_text('{"path": "/evil/sock", "port": 0, "token": "", "pid": 1}')
    with served(repo) as server:
        server.call("impact", target="parse")
        for path in (repo / ".mog" / "run").rglob("*"):
            assert stat.S_IMODE(path.lstat().st_mode) & 0o077 == 0, path
        assert stat.S_IMODE((repo / ".mog" / "run").stat().st_mode) == 0o700


def test_what_is_no_message_is_answered_and_ends_nothing(repo: Path) -> None:
    with served(repo) as server:
        for line in (b"{", b"[]", b"\xff\xfe", b'{"jsonrpc":"2.0","id":1', b"x" * 5_000_000):
            server.send(line)
        assert not server.call("impact", target="parse")["isError"]
        assert server.stray == []


def test_a_folder_that_is_no_workspace_gets_a_clear_answer(tmp_path: Path) -> None:
    with Raw(tmp_path) as server:
        server.open()
        result = server.call("impact", target="x")
        assert result["isError"]
        assert "mog init" in result["content"][0]["text"]
        assert server.close() == 0
    assert list(tmp_path.iterdir()) == []


def test_a_server_answers_before_its_index_is_ready_and_says_so(make_repo) -> None:  # type: ignore[no-untyped-def]
    root = make_repo({f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(60)})
    with Raw(root) as server:
        server.open()
        assert len(server.ask("tools/list", {})["tools"]) == 9
        first = server.call("impact", target="f1")
        assert not first["isError"] or "being built" in str(first) or "no index" in str(first)
        until = time.monotonic() + 60
        while (last := server.call("impact", target="f1"))["isError"] and time.monotonic() < until:
            time.sleep(0.1)
        assert last["structuredContent"]["index"]["state"] == "ready"
        (root / "m1.py").write_text("def f1():\n    return f2()\n\n\ndef f2():\n    return 1\n")
        while "f1" not in str(server.call("impact", target="m1.py::f2")) and time.monotonic() < until:
            time.sleep(0.1)
        assert server.stray == []


def test_a_controlled_write_asks_the_person_through_the_client(repo: Path) -> None:
    given = {"text": "Three parts were seen", "source_id": "said by person"}
    with Raw(repo, "--tools", "write") as server:
        server.open(elicits=True)
        for action, content in (("decline", None), ("accept", {"approve": False}), ("accept", {"approve": True})):
            id = server.begin("tools/call", {"name": "mesh_submit_evidence", "arguments": given})
            asked = server.question()
            assert "mesh_submit_evidence" in asked["params"]["message"]
            answer = {"action": action} | ({"content": content} if content is not None else {})
            server.say({"id": asked["id"], "result": answer})
            result = server.answer(id)["result"]
            assert result["isError"] == (content != {"approve": True})
        assert server.close() == 0
    with served(repo, "--tools", "write") as silent:
        refused = silent.call("mesh_submit_evidence", **given)
        assert "--allow-writes" in refused["content"][0]["text"]


def test_a_subscriber_hears_of_what_others_record_also_from_the_next_server(repo: Path) -> None:
    with served(repo) as owner, served(repo) as bridge:
        bridge.ask("resources/subscribe", {"uri": "mog://health"})
        owner.call("pin", target="parse", note="one")
        assert bridge.notice("notifications/resources/updated")["params"]["uri"] == "mog://health"
        owner.kill()
        bridge.call("impact", target="parse")
        with served(repo) as next_one:
            bridge.notices.clear()
            next_one.call("pin", target="parse", note="two")
            assert bridge.notice("notifications/resources/updated")["params"]["uri"] == "mog://health"
            assert bridge.stray == []
