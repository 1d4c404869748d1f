"""A client of the protocol's own SDK, in a process of its own: lines of JSON in, lines of JSON out.

Who calls: tests that watch a client from the other side; ``python sdk_client.py ROOT ERA [flags of the server]`` is the client itself.
What may not come in: assertions. It starts ``mog serve --mcp`` as any agent does, and cannot be asked for an approval.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any


class SdkClient:
    """One agent. ``call`` waits for the answer; ``begin`` and ``answer`` do it in two steps, so that something can happen between."""

    def __init__(self, root: Path, *flags: str, era: str = "legacy") -> None:
        vector = [sys.executable, str(Path(__file__).resolve()), str(root), era, *flags]
        self._process = subprocess.Popen(
            vector, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=root
        )
        self._answers: dict[int, dict[str, Any]] = {}
        self._changed = threading.Condition()
        self._next = 0
        self._ended = False
        threading.Thread(target=self._read, daemon=True).start()

    def begin(self, tool: str, **arguments: Any) -> int:
        """Ask; the number of the question."""
        self._next += 1
        self._say({"id": self._next, "tool": tool, "arguments": arguments})
        return self._next

    def cancel(self, number: int) -> None:
        """Give a question up."""
        self._say({"cancel": number})

    def answer(self, number: int, wait: float = 200.0) -> dict[str, Any]:
        """``failed``, ``text``, ``data``, ``progress`` (how many notifications came). Raises TimeoutError."""
        with self._changed:
            if not self._changed.wait_for(lambda: number in self._answers or self._ended, wait) or number not in self._answers:
                raise TimeoutError(f"no answer to {number}: {self._errors()}")
            return self._answers.pop(number)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Ask and wait."""
        return self.answer(self.begin(tool, **arguments))

    def close(self) -> int:
        """Close stdin, so that client and server end; the exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(30)

    def __enter__(self) -> SdkClient:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(15)

    def _say(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = json.loads(line)
            with self._changed:
                self._answers[found["id"]] = found
                self._changed.notify_all()
        with self._changed:
            self._ended = True
            self._changed.notify_all()

    def _errors(self) -> str:
        assert self._process.stderr is not None
        return self._process.stderr.read()[-2_000:] if self._ended else "the client still runs"


async def _main(root: str, era: str, flags: list[str]) -> None:
    import asyncio

    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    vector = ["-m", "mog", "serve", "--mcp", "--repo", root, *flags]
    server = stdio_client(StdioServerParameters(command=sys.executable, args=vector, env=dict(os.environ)))
    tasks: dict[int, asyncio.Task[None]] = {}

    async with Client(server, mode=era) as client:

        async def ask(message: dict[str, Any]) -> None:
            heard = []

            async def told(progress: float, total: float | None, message: str | None) -> None:
                heard.append(message)

            try:
                result = await client.call_tool(message["tool"], message["arguments"], progress_callback=told)
            except asyncio.CancelledError:
                return
            text = "".join(getattr(part, "text", "") for part in result.content)
            answer = {"id": message["id"], "failed": bool(result.is_error), "text": text, "data": result.structured_content}
            sys.stdout.write(json.dumps({**answer, "progress": heard}) + "\n")
            sys.stdout.flush()

        while line := await asyncio.to_thread(sys.stdin.readline):
            message = json.loads(line)
            if "cancel" in message:
                tasks[message["cancel"]].cancel()
            else:
                tasks[message["id"]] = asyncio.ensure_future(ask(message))


if __name__ == "__main__":
    import asyncio

    asyncio.run(_main(sys.argv[1], sys.argv[2], sys.argv[3:]))
