"""The real workbench beside a real agent: what it asks is seen, what it may write is said there; it goes on when the person leaves."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_kit import Raw, served
from sdk_client import SdkClient
from textual.pilot import Pilot

from mog.app.mcp.hosting import Hosting
from mog.app.tui.panes.approvals import BY
from mog.app.tui.screens.approval import Approval
from mog.app.tui.screens.home import Home
from mog.app.tui.workbench import Workbench
from mog.engine.workspace import Workspace

EVIDENCE = {"text": "A token with three parts was seen", "source_id": "said by person"}
pytestmark = pytest.mark.long
ENV = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}


@asynccontextmanager
async def workbench(root: Path, *, close: bool = True) -> AsyncIterator[tuple[Pilot[None], Home, Hosting]]:
    """The workbench on a repository, once it serves agents or stands beside who does."""
    with Workspace.open(root) as workspace:
        hosting = Hosting(workspace)
        app = Workbench(workspace, environ=ENV, theme="dark", motion=False, agents=hosting)
        try:
            async with app.run_test(size=(120, 36)) as pilot:
                home = app.screen
                assert isinstance(home, Home)
                await until(pilot, lambda: hosting.state().owner or bool(hosting.state().other))
                yield pilot, home, hosting
        finally:
            if close:
                await asyncio.to_thread(hosting.close)
            workspace.stop_watch()


async def until(pilot: Pilot[None], holds: Callable[[], Any], seconds: float = 150.0) -> None:
    """Wait for a condition, drawing meanwhile."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come true"
        await pilot.pause(0.05)


def top(home: Home) -> str:
    return home.query_one("#top").text  # type: ignore[attr-defined,no-any-return]


async def ready(pilot: Pilot[None]) -> Approval:
    """The approvals view, once its keys are alive."""
    await until(pilot, lambda: isinstance(pilot.app.screen, Approval))
    screen = pilot.app.screen
    assert isinstance(screen, Approval)
    await until(pilot, lambda: screen.check_action("commit", ()) and screen._content.request is not None)
    return screen


async def test_what_an_agent_asks_is_seen_as_it_asks_and_what_it_holds(repo: Path) -> None:
    async with workbench(repo) as (pilot, home, hosting):
        with SdkClient(repo) as agent:
            told = await asyncio.to_thread(agent.call, "search_context", query="where are tokens checked")
            assert not told["failed"] and told["data"]["index"]["state"] == "ready"
            await until(pilot, lambda: "agent ●" in top(home))
            assert hosting.state().clients == 1
            await pilot.press("9")
            text = home.pane("traffic").text(80)
            assert "where are tokens checked" in text and "tok" in text
            await until(pilot, lambda: "set " in top(home))
            await pilot.press("5")
            assert "verify_token" in home.pane("ws").text(100)
            await until(pilot, lambda: "1 client" in home.pane("health").text(100))


@pytest.mark.parametrize("beside", [False, True])
async def test_a_write_waits_for_the_person_and_its_event_says_who_allowed_it(repo: Path, beside: bool) -> None:
    with served(repo) if beside else SdkClient(repo) as first:
        if beside:
            first.call("verify")
        async with workbench(repo) as (pilot, home, hosting):
            assert hosting.state().owner is not beside
            if beside:
                await until(pilot, lambda: "stands beside" in " ".join(home.pane("health").text(200).split()))
            with SdkClient(repo, "--tools", "write") as agent:
                write = agent.begin("mesh_submit_evidence", **EVIDENCE)
                await until(pilot, lambda: "A 1 waits" in top(home))
                assert not isinstance(pilot.app.screen, Approval)
                await pilot.press("A")
                screen = await ready(pilot)
                assert EVIDENCE["text"] in screen.query_one("#approval").text(100)  # type: ignore[attr-defined]
                await pilot.press("enter")  # Later comes first: nothing is decided
                assert isinstance(pilot.app.screen, Home)
                await pilot.press("A")
                await ready(pilot)
                await pilot.press("a", "enter")
                done = await asyncio.to_thread(agent.answer, write)
                assert not done["failed"], done["text"]
                await until(pilot, lambda: "waits" not in top(home) and isinstance(pilot.app.screen, Home))
    with Workspace.open(repo) as workspace:
        asked = [event.data["asked"] for event in workspace.beliefs.log.events() if "asked" in event.data]
    assert [(one["tool"], one["approved"]) for one in asked] == [("mesh_submit_evidence", BY)]


async def test_a_refused_write_records_nothing_and_tells_the_agent_why(repo: Path) -> None:
    async with workbench(repo) as (pilot, home, _):
        with SdkClient(repo, "--tools", "write", era="auto") as agent:
            before = (repo / ".mog" / "ledger.db").read_bytes()
            write = agent.begin("mesh_submit_evidence", **EVIDENCE)
            await until(pilot, lambda: "A 1 waits" in top(home))
            await pilot.press("A")
            await ready(pilot)
            await pilot.press("w", "enter", *"not seen", "enter")
            done = await asyncio.to_thread(agent.answer, write)
            assert done["failed"] and "refused by the person, at the workbench: not seen" in done["text"]
            assert (repo / ".mog" / "ledger.db").read_bytes() == before
            await until(pilot, lambda: home.has_pane("traffic") and "PolicyDenied" in home.pane("traffic").text(120))


async def test_a_request_that_is_given_up_leaves_the_queue_and_nobody_waits_for_a_workbench_that_is_left(repo: Path) -> None:
    evidence = {"name": "mesh_submit_evidence", "arguments": EVIDENCE}
    async with workbench(repo, close=False) as (pilot, home, hosting):
        with Raw(repo, "--tools", "write") as agent:
            await asyncio.to_thread(agent.open)
            dropped = agent.begin("tools/call", evidence)
            await until(pilot, lambda: "A 1 waits" in top(home))
            agent.say({"method": "notifications/cancelled", "params": {"requestId": dropped}})
            await until(pilot, lambda: "waits" not in top(home))
            assert not list((repo / ".mog" / "run" / "asking").glob("*.ask"))
            left = agent.begin("tools/call", evidence)
            await until(pilot, lambda: "A 1 waits" in top(home))
            home.end()
            await asyncio.to_thread(hosting.close)
            done = (await asyncio.to_thread(agent.answer, left))["result"]
            assert done["isError"] and "mog tui" in done["content"][0]["text"]


async def test_a_client_goes_on_when_the_workbench_is_left(repo: Path) -> None:
    with served(repo) as early:
        early.call("impact", target="parse")
        async with workbench(repo, close=False) as (_pilot, _home, hosting):
            assert not hosting.state().owner
            early.kill()
            with served(repo) as agent:
                while not hosting.state().owner:  # the workbench took over from the server that is gone, or the next server did
                    if (await asyncio.to_thread(agent.call, "impact", target="parse"))["isError"] or agent.process.poll() is not None:
                        pytest.fail("the client was not served")
                    if hosting.state().other:
                        break
                reads = [agent.begin("tools/call", {"name": "impact", "arguments": {"target": "parse"}}) for _ in range(3)]
                await asyncio.to_thread(hosting.close)
                for number in reads:
                    assert not (await asyncio.to_thread(agent.answer, number))["result"]["isError"]
                assert not (await asyncio.to_thread(agent.call, "pin", target="parse", note="after the workbench"))["isError"]
                assert agent.stray == [] and agent.close() == 0


def test_hosting_loads_nothing_of_the_protocol_until_a_client_comes(repo: Path) -> None:
    import subprocess

    code = (
        "import sys, time\nfrom pathlib import Path\nfrom mog.engine.workspace import Workspace\n"
        "from mog.app.mcp.hosting import Hosting\n"
        f"with Workspace.open(Path({str(repo)!r})) as ws:\n    h = Hosting(ws)\n    h.begin()\n    assert h.state().owner\n"
        "    time.sleep(0.5)\n    print('mcp' in sys.modules or 'pydantic' in sys.modules)\n    h.close()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, timeout=120, text=True)
    assert done.stdout.strip() == "False", done.stderr
