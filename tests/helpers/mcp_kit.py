"""A client of ``mog serve --mcp`` that speaks the protocol's lines itself, so that a test sees every byte of stdout.

Who calls: tests/mcp/ and benchmarks/mcp_*.py. What may not come in: the protocol's package, assertions about one tool.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

LEGACY, MODERN = "2025-11-25", "2026-07-28"
WAIT = 60.0


class Gone(Exception):
    """The server closed its stdout."""


class Raw:
    """One server process and what it said. ``stray``: lines on stdout that are no message. ``command``: another server."""

    def __init__(
        self, root: Path, *arguments: str, env: dict[str, str] | None = None, era: str = LEGACY, command: Sequence[str] = ()
    ) -> None:
        vector = [*command] or [sys.executable, "-m", "mog", "serve", "--mcp", "--repo", str(root), *arguments]
        self.era = era
        self.process = subprocess.Popen(
            vector,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=root,
            env=os.environ | (env or {}),
        )
        self.stray: list[bytes] = []
        self.errors = b""
        self.notices: list[dict[str, Any]] = []
        self._answers: dict[str, dict[str, Any]] = {}
        self._changed = threading.Condition()
        self._next = 0
        self._ended = False
        self._questions: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._complain, daemon=True).start()

    # speaking

    def open(self, *, elicits: bool = False) -> dict[str, Any]:
        """Shake hands, as far as the era has that; what the server says of itself."""
        if self.era == MODERN:
            return self.ask("server/discover", {})
        capabilities = {"elicitation": {}} if elicits else {}
        info = {"name": "raw", "version": "1"}
        result = self.ask("initialize", {"protocolVersion": LEGACY, "capabilities": capabilities, "clientInfo": info})
        self.say({"method": "notifications/initialized"})
        return result

    def begin(self, method: str, params: dict[str, Any]) -> int:
        """Send a request and do not wait; its id."""
        self._next += 1
        if self.era == MODERN:
            meta = {"io.modelcontextprotocol/protocolVersion": MODERN, "io.modelcontextprotocol/clientCapabilities": {}}
            meta["io.modelcontextprotocol/clientInfo"] = {"name": "raw", "version": "1"}
            params = {**params, "_meta": {**meta, **params.get("_meta", {})}}
        self.say({"id": self._next, "method": method, "params": params})
        return self._next

    def say(self, message: dict[str, Any]) -> None:
        """One line to the server."""
        self.send(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def send(self, line: bytes) -> None:
        """Bytes and a line end."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(line + b"\n")
            self.process.stdin.flush()

    def ask(self, method: str, params: dict[str, Any], wait: float = WAIT) -> dict[str, Any]:
        """Result of a request; raises AssertionError for a protocol error, TimeoutError, Gone."""
        answer = self.answer(self.begin(method, params), wait)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def call(self, tool: str, wait: float = WAIT, **arguments: Any) -> dict[str, Any]:
        """Result of a tool."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments}, wait)

    def answer(self, id: int, wait: float = WAIT) -> dict[str, Any]:
        """The answer to a request that was begun. Raises TimeoutError, Gone."""
        until = time.monotonic() + wait
        with self._changed:
            while str(id) not in self._answers:
                if self._ended:
                    raise Gone(self.errors.decode(errors="replace")[-2000:])
                left = until - time.monotonic()
                if left <= 0:
                    raise TimeoutError(f"no answer to {id} within {wait} s")
                self._changed.wait(left)
            return self._answers.pop(str(id))

    def question(self, wait: float = WAIT) -> dict[str, Any]:
        """The next request of the server to us."""
        return self._questions.get(timeout=wait)

    def notice(self, method: str, wait: float = WAIT) -> dict[str, Any]:
        """The next notification of a kind, taken out of the list. Raises TimeoutError."""
        until = time.monotonic() + wait
        with self._changed:
            while True:
                for at, found in enumerate(self.notices):
                    if found["method"] == method:
                        return self.notices.pop(at)
                left = until - time.monotonic()
                if left <= 0 or self._ended:
                    raise TimeoutError(f"no {method} within {wait} s")
                self._changed.wait(left)

    # ending

    def close(self, wait: float = 15.0) -> int:
        """Close stdin and wait; the exit code."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        return self.process.wait(wait)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait(15)

    def __enter__(self) -> Raw:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(15)

    # inside

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            try:
                message = json.loads(line)
                assert message["jsonrpc"] == "2.0"
            except (ValueError, KeyError, TypeError, AssertionError):
                self.stray.append(line)
                continue
            with self._changed:
                if "method" in message and "id" in message:
                    self._questions.put(message)
                elif "method" in message:
                    self.notices.append(message)
                else:
                    self._answers[str(message["id"])] = message
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _complain(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.errors += line


@contextlib.contextmanager
def served(root: Path, *arguments: str, era: str = LEGACY, **more: Any) -> Iterator[Raw]:
    """A server that was opened."""
    with Raw(root, *arguments, era=era, **more) as client:
        client.open()
        yield client


def pins(root: Path) -> list[str]:
    """Notes of the pins on record, read by a process of its own kind: the engine, from the disk."""
    from mog.engine.workspace import Workspace

    with Workspace.open(root) as workspace:
        return [state.pin.note for state in workspace.pins()]
