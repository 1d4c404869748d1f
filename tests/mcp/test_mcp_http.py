"""The HTTP server on loopback: who is turned away, with what, and that nothing of it ends the server for those who may come in."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import socket
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp_http_kit import LEGACY, MODERN, Site, site

from mog.app import asgi, loopback
from mog.app.mcp import web
from mog.app.mcp.place import Place

PING = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()
ALL = ("--tools", "core,mesh,context,write")


def works(server: Site) -> bool:
    """Whether an honest client is answered, in both eras."""
    return all(server.ask("tools/list", era=era).result["tools"] for era in (LEGACY, MODERN))


def without(head: dict[str, str], name: str) -> dict[str, str]:
    """Headers less one."""
    return {key: value for key, value in head.items() if key != name}


def test_strangers_are_turned_away_before_anything_is_read(repo: Path) -> None:
    with site(repo) as server:
        right, port, token = server.right(), server.port, server.token
        wanted: list[tuple[int, dict[str, str]]] = [
            (200, {}), (200, {"Host": f"localhost:{port}"}), (200, {"Host": f"[::1]:{port}"}),
            (200, {"Origin": f"http://127.0.0.1:{port}"}), (200, {"Origin": f"http://localhost:{port}"}),
            (421, {"Host": "evil.example"}), (421, {"Host": f"evil.example:{port}"}), (421, {"Host": "127.0.0.1"}),
            (421, {"Host": "127.0.0.1:1"}), (421, {"Host": f"127.0.0.1:{port}.evil.example"}), (421, {"Host": ""}),
            (421, {"Host": f"x@127.0.0.1:{port}"}), (421, {"Host": f"127.0.0.{2}:{port}"}),
            (403, {"Origin": "null"}), (403, {"Origin": "http://evil.example"}), (403, {"Origin": f"https://localhost:{port}"}),
            (403, {"Origin": "http://localhost"}), (403, {"Origin": f"http://localhost:{port}.evil.example"}), (403, {"Origin": ""}),
            (403, {"Origin": "file://"}), (401, {"Authorization": ""}), (401, {"Authorization": token}),
            (401, {"Authorization": "Bearer"}), (401, {"Authorization": "Bearer " + "0" * 64}),
            (401, {"Authorization": f"Bearer {token[:-1]}"}), (401, {"Authorization": f"Bearer {token}0"}),
            (401, {"Authorization": f"Basic {token}"}), (401, {"Authorization": "Bearer \xff\xfe"}),
        ]  # fmt: skip
        for status, head in wanted:
            answer = server.send({**right, **head}, PING)
            assert answer.status == status, (status, head, answer)
            assert status == 200 or (token.encode() not in answer.body and len(answer.body) < 80)
        for name, status in (("Host", 421), ("Authorization", 401)):
            assert server.send(without(right, name), PING).status in (400, status)
        assert server.send({**without(right, "Authorization"), "Origin": "null"}, PING).status == 403
        assert "access-control-allow-origin" not in server.send(right, PING).headers
        for path in ("/", "/mcp/x", "/.mog/run/http.token", "/mcp/../../etc/passwd", f"/mcp?token={token}"):
            assert server.send(without(right, "Authorization"), PING, path=path).status == 401
        kept = repo / ".mog" / "run" / "http.token"
        assert [stat.S_IMODE(path.stat().st_mode) for path in (kept, kept.parent)] == [0o600, 0o700]
        assert re.fullmatch(r"[0-9a-f]{64}", token)
        assert token not in server.told
        if Path("/proc/self").exists():
            assert token.encode() not in Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
        assert works(server)


def test_requests_that_no_client_sends_are_refused_and_end_nothing(repo: Path) -> None:
    with site(repo) as server:
        line = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        inside = line + f"Authorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
        inside += "Accept: application/json, text/event-stream\r\nConnection: close\r\n"
        chunk = b"10000\r\n" + b" " * 65_536 + b"\r\n"
        strange: list[tuple[bytes, bytes]] = [
            (b"400", f"{line}Host: evil.example\r\nContent-Length: 0\r\n\r\n".encode()),
            (b"401", f"{line}Authorization: Bearer {server.token}\r\nAuthorization: Bearer x\r\nContent-Length: 0\r\n\r\n".encode()),
            (b"403", f"{line}Origin: http://localhost:{server.port}\r\nOrigin: null\r\nContent-Length: 0\r\n\r\n".encode()),
            (b"421", b"POST /mcp HTTP/1.0\r\nContent-Length: 0\r\n\r\n"),
            (b"400", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n"),
            (b"400", line.encode() + b"X: " + b"y" * 200_000 + b"\r\n\r\n"),
            (b"401", f"{line}Content-Length: 999999999999\r\n\r\n".encode() + b" " * 10_000),
            (b"413", f"{inside}Transfer-Encoding: chunked\r\n\r\n".encode() + chunk * 32 + b"0\r\n\r\n"),
            (b"413", f"{inside}Content-Length: {web.LARGEST_BODY + 1}\r\n\r\n".encode() + b" " * (web.LARGEST_BODY + 1)),
        ]  # fmt: skip
        for status, data in strange:
            with contextlib.suppress(ConnectionError):
                answer = server.raw(data, wait=10)
                assert answer.split(b" ")[1:2] == [status], (status, data[:200], answer[:200])
        for body in (b"", b"{", b"[]", b"[" * 300_000, b'{"a":' * 150_000, b"\xff\xfe", b'{"jsonrpc":"2.0","id":1}', b"1" * 900_000):
            assert 400 <= server.send(server.right(), body).status < 500, body[:40]
        upgrade = inside.replace("POST", "GET").replace("Connection: close", "Connection: Upgrade\r\nUpgrade: websocket")
        upgrade += "Sec-WebSocket-Key: eA==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        assert b" 101 " not in server.raw(upgrade.encode(), wait=0.5)
        for method in ("PUT", "OPTIONS", "DELETE", "PATCH", "TRACE"):
            assert server.send(server.right(), method=method).status == 405
        assert server.send({**server.right(), "Content-Type": "text/plain"}, PING).status in (400, 415)
        held = [socket.create_connection(("127.0.0.1", server.port), timeout=10) for _ in range(web.AT_ONCE)]
        time.sleep(0.3)
        assert server.send(server.right(), PING).status == 503
        for one in held:
            one.close()
        until = time.monotonic() + 10
        while server.send(server.right(), PING).status != 200 and time.monotonic() < until:
            time.sleep(0.05)
        assert works(server)


def test_no_session_is_kept_and_none_is_missed(repo: Path) -> None:
    info = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
    with site(repo) as server:
        opened = [server.ask("initialize", info) for _ in range(20)]
        assert all("mcp-session-id" not in answer.headers for answer in opened)
        assert server.send(server.right(Mcp_Session_Id="of-a-server-that-is-gone"), PING).status == 200
        token, port = server.token, server.port
        assert server.end() == 143
    with site(repo, "--port", str(port)) as again:
        assert again.token == token
        assert again.send(again.right(Mcp_Session_Id="of-a-server-that-is-gone"), PING).status == 200


async def test_who_connects_and_asks_nothing_is_hung_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    import uvicorn

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.sleep(0.4)
        await asgi.answer(send, 200, b"late, and answered")

    monkeypatch.setattr(asgi, "TO_ASK", 0.2)
    bound = loopback.listening(0, 8)
    server = asgi.Quiet(uvicorn.Config(app, log_config=None, lifespan="off", http=asgi.Timed, ws="none"))
    running = asyncio.ensure_future(server.serve([bound]))
    try:
        for head, wanted in ((b"", b""), (b"GET / HTTP/1.1\r\nHos", b""), (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200")):
            reader, writer = await asyncio.open_connection(*bound.getsockname())
            writer.write(head)
            assert (await asyncio.wait_for(reader.read(), 10))[:12] == wanted
            writer.close()
    finally:
        server.should_exit = True
        await running


@pytest.mark.parametrize("spoil", ["readable", "link", "hard link", "short", "not hex", "folder of others"])
def test_a_token_that_cannot_be_believed_is_made_anew(tmp_path: Path, spoil: str) -> None:
    place = Place(tmp_path)
    first, path = web.token_of(place), place.folder / "http.token"
    assert web.token_of(place) == first
    spoils[spoil](path)
    second = web.token_of(place)
    if spoil != "folder of others":
        assert second != first
    assert web.token_of(place) == second
    assert (stat.S_IMODE(path.lstat().st_mode), path.lstat().st_nlink, path.is_symlink()) == (0o600, 1, False)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def _linked(path: Path) -> None:
    other = path.with_name("theirs")
    path.rename(other)
    path.symlink_to(other)


spoils: dict[str, Callable[[Path], Any]] = {
    "readable": lambda path: path.chmod(0o644), "link": _linked, "hard link": lambda path: os.link(path, path.with_name("again")),
    "short": lambda path: path.write_text("0"), "not hex": lambda path: path.write_text("x" * 64),
    "folder of others": lambda path: path.parent.chmod(0o755),
}  # fmt: skip


def test_a_server_that_only_reads_keeps_its_token_out_of_the_folder(repo: Path) -> None:
    with site(repo, "--checkpoint", "never") as server:
        assert server.token in server.told
        assert works(server)
        names = {tool["name"] for tool in server.ask("tools/list").result["tools"]}
        assert "pin" not in names
    assert not (repo / ".mog" / "run" / "http.token").exists()


def test_a_folder_without_a_workspace_and_a_port_that_is_taken_are_said(tmp_path: Path, repo: Path) -> None:
    vector = [sys.executable, "-m", "mog", "serve", "--mcp", "--transport", "http", "--repo"]
    ran = subprocess.run([*vector, str(tmp_path)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert "mog init" in ran.stderr
    with site(repo) as server:
        ran = subprocess.run(
            [*vector, str(repo), "--port", str(server.port)], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL
        )
        assert ran.returncode == 2
        assert "another" in ran.stderr
        assert works(server)


def test_it_answers_before_its_index_is_ready_and_says_so(make_repo: Any) -> None:
    root = make_repo({f"m{n}.py": f"def f{n}():\n    return {n}\n" for n in range(60)})
    with site(root) as server:
        assert len(server.ask("tools/list").result["tools"]) == 9
        first = server.call("impact", target="f1")
        assert not first["isError"] or "built" in str(first) or "no index" in str(first)
        until = time.monotonic() + 60
        while (last := server.call("impact", target="f1"))["isError"] and time.monotonic() < until:
            time.sleep(0.1)
        assert last["structuredContent"]["index"]["state"] == "ready"


def test_a_listening_client_hears_which_resource_changed(repo: Path) -> None:
    wanted = {"resourceSubscriptions": ["mog://health", "contextmesh://session"]}
    heard: list[bytes] = []
    with site(repo) as server:
        thread = threading.Thread(target=lambda: heard.extend(_stream(server, wanted)), daemon=True)
        thread.start()
        until = time.monotonic() + 20
        while not any(b"acknowledged" in line for line in server.__dict__.setdefault("lines", [])) and time.monotonic() < until:
            time.sleep(0.05)
        assert not server.call("pin", target="parse", note="heard of")["isError"]
        thread.join(20)
    told = {json.loads(line.removeprefix(b"data:"))["params"].get("uri") for line in heard if b"resources/updated" in line}
    assert told == {"mog://health", "contextmesh://session"}


def test_a_subscription_that_could_tell_nobody_is_refused(repo: Path) -> None:
    """Without a session the earlier era has no stream on which news could come."""
    with site(repo) as server:
        refused = server.ask("resources/subscribe", {"uri": "mog://health"})
    assert b"subscriptions/listen" in refused.body and b'"error"' in refused.body


def _stream(server: Site, wanted: dict[str, Any]) -> list[bytes]:
    """Lines of a listening stream until both addresses were told."""
    import http.client

    meta: dict[str, Any] = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
    meta["io.modelcontextprotocol/clientInfo"] = {"name": "raw", "version": "1"}
    said = {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": {"_meta": meta, "notifications": wanted}}
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    head = server.right(MCP_Protocol_Version=MODERN, Mcp_Method="subscriptions/listen")
    link.request("POST", "/mcp", json.dumps(said), head)
    lines: list[bytes] = server.__dict__.setdefault("lines", [])
    answer = link.getresponse()
    while not all(any(uri.encode() in line and b"updated" in line for line in lines) for uri in wanted["resourceSubscriptions"]):
        lines.append(answer.readline())
    link.close()
    return lines
