"""One open page: its child process, which is ``mog tui`` drawing into a pipe, from the first key to the last.

Who calls: ``server.py``. What may not come in: HTTP, tokens, who may ask.

The child gets a group of its own, so that one that has to be killed takes along what it started (git, indexing), and ctrl+c in
the terminal of the server reaches the server alone. When the server is killed the child sees the end of its input and leaves.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

from textual_serve.app_service import AppService
from textual_serve.download_manager import DownloadManager

DRIVER = "mog.app.web.driver:PipeDriver"
PRELUDE = b"__GANGLION__\n"
LARGEST = 16 * 1024 * 1024  # of one packet; more is no screen
TO_LEAVE = 3.0  # seconds: after it was asked, then after it was told
SAID = 4_000  # bytes kept of what the child says on stderr
_TERMINAL = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}  # what the page's terminal can show


class Session(AppService):
    """The packets of textual-serve between a browser and one child, without a shell and with an end.

    Attributes:
        code: exit code of the child once it ended, None before. said: the end of what it wrote on stderr, as it is.
    """

    def __init__(
        self,
        vector: Sequence[str],
        ground: str,
        downloads: DownloadManager,
        write: Callable[[bytes], Awaitable[None]],
        tell: Callable[[str], Awaitable[None]],
        close: Callable[[], Awaitable[object]],
    ) -> None:
        super().__init__("", write_bytes=write, write_str=tell, close=close, download_manager=downloads)  # type: ignore[arg-type]
        self._vector, self._ground = tuple(vector), ground
        self.code: int | None = None
        self.said = b""

    async def _open_app_process(self, width: int = 80, height: int = 24) -> Process:
        environment = self._build_environment(width, height) | _TERMINAL
        environment |= {"TEXTUAL_DRIVER": DRIVER, "COLORFGBG": self._ground}
        self._process = process = await asyncio.create_subprocess_exec(
            *self._vector, stdin=PIPE, stdout=PIPE, stderr=PIPE, env=environment, start_new_session=os.name != "nt"
        )
        self._stdin = process.stdin
        return process

    async def run(self) -> None:
        """Carry packets until the child ends; then the page is told."""
        assert self._process is not None and self._process.stdout is not None
        listening = asyncio.ensure_future(self._listen())
        try:
            await self._carry(self._process.stdout)
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            pass  # the child or the page is gone, or what comes is no packet
        finally:
            with contextlib.suppress(ConnectionError, RuntimeError):
                await self.remote_close()
            await self._end()
            await listening

    async def _carry(self, source: asyncio.StreamReader) -> None:
        while line := await source.readline():
            if line == PRELUDE:
                break
        while True:
            kind = await source.readexactly(1)
            size = int.from_bytes(await source.readexactly(4), "big")
            if size > LARGEST:
                raise ValueError("no packet")
            payload = await source.readexactly(size)
            if kind == b"D":
                await self.on_data(payload)
            elif kind == b"M":
                await self.on_meta(payload)
            elif kind == b"P":
                await self.on_packed(payload)
            else:
                raise ValueError("no packet")

    async def _listen(self) -> None:
        assert self._process is not None and self._process.stderr is not None
        while told := await self._process.stderr.read(4096):
            self.said = (self.said + told)[-SAID:]

    async def stop(self) -> None:
        """Ask the child to leave, and see to it that it does."""
        task, self._task = self._task, None
        if task is None:
            return
        await self.send_meta({"type": "quit"})
        await asyncio.wait({task}, timeout=TO_LEAVE)
        await self._end()
        await task

    async def _end(self) -> None:
        """The child is gone after this."""
        process = self._process
        assert process is not None
        if process.stdin is not None:
            process.stdin.close()
        for put_end in (None, process.terminate, partial(_kill, process)):
            if process.returncode is None and put_end is not None:
                with contextlib.suppress(ProcessLookupError):
                    put_end()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), TO_LEAVE)
        self.code = process.returncode


def _kill(process: Process) -> None:
    """Whatever became of a child that does not listen any more, and of what it started."""
    if sys.platform == "win32":
        process.kill()
    else:
        os.killpg(process.pid, signal.SIGKILL)
