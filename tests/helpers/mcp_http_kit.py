"""A server of ``mog serve --mcp --transport http`` in a process of its own, and requests to it as bytes that no client would send.

Who calls: tests/mcp/. What may not come in: the protocol's package, assertions about one tool.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

WAIT = 60.0
LEGACY, MODERN = "2025-11-25", "2026-07-28"
_TOLD = re.compile(r"http://127\.0\.0\.1:(\d+)/mcp, (?:token ([0-9a-f]{64})|its token is in (.+))")


@dataclass
class Reply:
    """Status, headers by lower-case name, body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def result(self) -> dict[str, Any]:
        """Result of the request, from a body of JSON or of one event. Raises AssertionError for a protocol error."""
        text = self.body.decode()
        if "event-stream" in self.headers.get("content-type", ""):
            text = [line for line in text.splitlines() if line.startswith("data:")][-1].removeprefix("data:")
        found = json.loads(text)
        assert "error" not in found, found
        result: dict[str, Any] = found["result"]
        return result


@dataclass
class Site:
    """One server: where it listens, its token, its process."""

    port: int
    token: str
    process: subprocess.Popen[bytes]
    told: str
    era: str = LEGACY
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where clients connect to."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def send(self, head: Mapping[str, str], body: bytes = b"", method: str = "POST", path: str = "/mcp") -> Reply:
        """One request with exactly these headers (and, unless given, a length)."""
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            link.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in ({"Content-Length": str(len(body))} | dict(head)).items():
                link.putheader(name, value)
            link.endheaders(body)
            answer = link.getresponse()
            return Reply(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())
        finally:
            link.close()

    def raw(self, data: bytes, wait: float = WAIT) -> bytes:
        """What comes back for bytes, until the server hangs up or says nothing for ``wait`` seconds."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=wait) as link:
            link.sendall(data)
            found = b""
            with contextlib.suppress(TimeoutError, ConnectionError):
                while more := link.recv(65_536):
                    found += more
            return found

    def right(self, **more: str) -> dict[str, str]:
        """The headers of an honest client."""
        head = {"Host": f"127.0.0.1:{self.port}", "Authorization": f"Bearer {self.token}"}
        head |= {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        return head | {name.replace("_", "-"): value for name, value in more.items()}

    def ask(self, method: str, params: Mapping[str, Any] | None = None, era: str = LEGACY) -> Reply:
        """One request of an honest client of an era; stateless, so nothing goes before it."""
        said = dict(params or {})
        head = self.right(MCP_Protocol_Version=era)
        if era == MODERN:
            meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
            said["_meta"] = {**meta, "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"}, **said.get("_meta", {})}
            head |= {"Mcp-Method": method} | ({"Mcp-Name": said["name"]} if "name" in said else {})
        return self.send(head, json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": said}).encode())

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Result of a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments}).result

    def end(self) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(15)


@contextlib.contextmanager
def site(root: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Iterator[Site]:
    """A server that listens."""
    vector = [sys.executable, "-m", "mog", "serve", "--mcp", "--transport", "http", "--repo", str(root), *arguments]
    process = subprocess.Popen(
        vector, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=root, env={**os.environ, **(env or {})}
    )
    try:
        assert process.stderr is not None
        told = process.stderr.readline().decode()
        found = _TOLD.search(told)
        assert found, told
        token = found[2] or Path(found[3].strip()).read_text(encoding="ascii").strip()
        yield Site(int(found[1]), token, process, told)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=15)
