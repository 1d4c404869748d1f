"""The two streams of a client that started us: lines in, lines out, and nothing else ever on stdout.

Who calls: ``bridge``. What may not come in: the protocol beyond "one JSON text a line", questions to the engine.

The first thing a server does is to keep the real streams for itself and leave the process others: reads from fd 0 find nothing,
writes to fd 1 end on stderr. What a library prints, and what a child process prints or reads, cannot reach the client.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import sys
import threading

LONGEST = 4 * 1024 * 1024  # bytes of one message
_CHUNK = 1 << 16


class TooLong(Exception):
    """A message is larger than any that is read; it was skipped."""


class Wire:
    """Stdin and stdout of this process as they were when it started.

    Threads do the waiting, so that neither a client that says nothing nor one that reads nothing stops the event loop; they are
    daemons, so that they do not keep the process either.
    """

    def __init__(self, fd_in: int, fd_out: int) -> None:
        self._in, self._out = fd_in, fd_out
        self._lines: asyncio.Queue[bytes | TooLong | None] = asyncio.Queue(maxsize=1_000)
        self._wanted: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self.gone = asyncio.Event()
        self._writer = threading.Thread(target=self._write, name="mog-stdout", daemon=True)
        self._writer.start()
        threading.Thread(target=self._read, name="mog-stdin", daemon=True).start()

    async def line(self) -> bytes | None:
        """The next message without its line end; None at the end. Raises TooLong once for each that was skipped."""
        found = await self._lines.get()
        if isinstance(found, TooLong):
            raise found
        return found

    def send(self, line: bytes) -> None:
        """One message out, after those sent before. Returns at once."""
        self._wanted.put(line + b"\n")

    async def drain(self, seconds: float = 1.0) -> None:
        """Wait until everything was written, or the client does not read it."""
        self._wanted.put(None)
        until = self._loop.time() + seconds
        while self._writer.is_alive() and self._loop.time() < until:
            await asyncio.sleep(0.005)

    def _read(self) -> None:
        held, skipping = bytearray(), False
        while True:
            try:
                data = os.read(self._in, _CHUNK)
            except OSError:
                data = b""
            if not data:
                break
            held += data
            while (at := held.find(b"\n")) >= 0:
                line = bytes(held[:at])
                del held[: at + 1]
                if not skipping and line.strip():
                    self._hand(line)
                skipping = False
            if len(held) > LONGEST:
                if not skipping:
                    self._hand(TooLong(f"a message has more than {LONGEST} bytes"))
                held.clear()
                skipping = True
        self._hand(None)

    def _hand(self, item: bytes | TooLong | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            asyncio.run_coroutine_threadsafe(self._lines.put(item), self._loop).result()

    def _write(self) -> None:
        while (line := self._wanted.get()) is not None:
            try:
                left = memoryview(line)
                while left:
                    left = left[os.write(self._out, left) :]
            except OSError:
                with contextlib.suppress(RuntimeError):
                    self._loop.call_soon_threadsafe(self.gone.set)
                return


def claim() -> tuple[int, int]:
    """Take stdin and stdout for the protocol alone; descriptors to read from and write to."""
    with contextlib.suppress(ValueError, OSError):
        sys.stdout.flush()
    mine_in, mine_out = _above(0), _above(1)
    nowhere = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nowhere, 0)
    os.close(nowhere)
    os.dup2(2, 1)
    return mine_in, mine_out


def _above(fd: int) -> int:
    """A copy of a descriptor that no child inherits, never one of the first three."""
    made: list[int] = []
    try:
        while True:
            copy = os.dup(fd)
            if copy > 2:
                os.set_inheritable(copy, False)
                return copy
            made.append(copy)
    finally:
        for low in made:
            os.close(low)
