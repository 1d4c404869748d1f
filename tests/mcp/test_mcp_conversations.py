"""Clients of one HTTP server are conversations of their own, though the server keeps no session; both eras, the SDK's client."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_http_kit import MODERN, Site, site
from mcp_types import Implementation

from mog.app.mcp import web
from mog.engine.memory.set_records import SessionRow
from mog.engine.workspace import Workspace

QUESTIONS = ("where are tokens checked?", "where is text parsed?")


async def asked(server: Site, era: str, name: str, questions: tuple[str, ...], more: Mapping[str, str]) -> None:
    """A client of its own that asks, connection after connection: what it is known by must outlive each."""
    async with AsyncExitStack() as stack:
        head = {"Authorization": f"Bearer {server.token}", "Connection": "close", **more}
        http = await stack.enter_async_context(httpx2.AsyncClient(headers=head, timeout=60))
        transport = streamable_http_client(server.url, http_client=http)
        client = await stack.enter_async_context(Client(transport, mode=era, client_info=Implementation(name=name, version="1")))
        for question in questions:
            assert not (await client.call_tool("search_context", {"query": question, "budget": 600})).is_error


def sets(root: Path, count: int) -> tuple[SessionRow, ...]:
    """The working sets, once there are so many: they are counted after the answer has left."""
    until = time.monotonic() + 30
    while True:
        with Workspace.open(root) as workspace:
            found = workspace.working_sets.sessions()
        if len(found) >= count or time.monotonic() > until:
            return found
        time.sleep(0.1)


async def test_two_clients_have_a_working_set_each(repo: Path) -> None:
    left, right = {"Mog-Session": "left"}, {"Mog-Session": "right"}
    with site(repo) as server:
        await asked(server, "legacy", "same", QUESTIONS, {})
        await asked(server, "legacy", "same", QUESTIONS[:1], {})
        given = sets(repo, 2)
        assert len(given) == 2 and all(row.name.startswith("http-") for row in given)
        await asked(server, MODERN, "one", QUESTIONS, {})
        await asked(server, MODERN, "another", QUESTIONS[:1], {})
        called = sets(repo, 4)
        assert len(called) == 4 and all(row.name.startswith("http-") for row in called)
        for era in ("legacy", MODERN):
            await asked(server, era, "same", QUESTIONS, left)
            await asked(server, era, "same", QUESTIONS[:1], right)
        named = {row.name for row in sets(repo, 6)} - {row.name for row in called}
    assert named == {"http:left", "http:right"}


def test_no_request_is_refused_for_its_session_and_a_name_that_is_none_is(repo: Path) -> None:
    query = {"name": "search_context", "arguments": {"query": QUESTIONS[0], "budget": 600}}
    with site(repo) as server:
        opened = server.send(server.right(), b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}')
        assert len(opened.headers["mcp-session-id"]) == 32
        assert "mcp-session-id" not in server.ask("tools/list").headers
        for strange in ("x", "0" * 32, "a b; c", "e" * 5_000):
            assert server.send(server.right(Mcp_Session_Id=strange), _listed()).status == 200
        assert server.send(server.right(), method="GET").status == 405
        for name in ("", "a/b", "ä".encode().decode("latin-1"), "n" * 41, "two words"):
            assert server.send(server.right(Mog_Session=name), _listed()).status == 400, name
        assert not server.ask("tools/call", query).result.get("isError")
        assert sets(repo, 1)[0].name == "http"


def _listed() -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'


@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ([], ""), ([(b"mog-session", b"mine")], "http:mine"), ([(b"mcp-session-id", b"x"), (b"mog-session", b"mine")], "http:mine"),
        ([(b"mcp-session-id", b"x"), (b"mcp-session-id", b"y")], ""),
    ],
)  # fmt: skip
def test_what_a_conversation_is_called(headers: list[tuple[bytes, bytes]], wanted: str) -> None:
    assert web.conversation(headers) == wanted


def test_the_name_of_a_session_is_not_kept_as_it_came() -> None:
    name = web.conversation([(b"mcp-session-id", b"s" * 5_000)])
    assert name.startswith("http-") and len(name) == 17 and "s" * 8 not in name
    assert name != web.conversation([(b"mcp-session-id", b"t")])
