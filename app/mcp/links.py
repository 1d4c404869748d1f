"""Connections between a bridge and the owner of a workspace: an opening word from each side, then one message a line.

Who calls: ``bridge`` (the client's side), ``owner`` (the other). What may not come in: what a message means.

Lines that begin with ``!`` are between the two of us: ``!ping n`` is answered with ``!pong n`` by the event loop itself, so that
silence means that the process does not run, not that an answer takes long.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import socket
from collections import deque
from collections.abc import Mapping
from typing import Any

from mog.app.mcp.place import Address
from mog.app.mcp.streams import LONGEST

VERSION = 1
LIMIT = 4 * LONGEST
HELLO_SECONDS = 2.0
KEPT = 64  # lines that wait for somebody who is not ready
PING, PONG = b"!ping", b"!pong"


class Link:
    """One connection, from either side. ``pid``: the process at the other end, as far as it is known."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, pid: int = 0) -> None:
        self._reader, self._writer = reader, writer
        self.pid = pid
        self._closed = False
        self._kept: deque[bytes] = deque()
        self.heard = asyncio.get_running_loop().time()

    async def line(self) -> bytes | None:
        """The next line without its end, None when the other side is gone. Pings are answered here and not returned."""
        return self._kept.popleft() if self._kept else await self._next()

    async def keep(self) -> None:
        """Answer pings and keep what else comes for ``line``, until cancelled: for whoever is not ready to read yet."""
        while len(self._kept) < KEPT and (found := await self._next()) is not None:
            self._kept.append(found)

    async def _next(self) -> bytes | None:
        while True:
            try:
                found = await self._reader.readuntil(b"\n")
            except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
                return None
            self.heard = asyncio.get_running_loop().time()
            if found.startswith(PING):
                await self.send(PONG + found[len(PING) :].rstrip(b"\n"))
            elif not found.startswith(PONG):
                return found[:-1]

    async def send(self, line: bytes) -> bool:
        """One line out; whether the connection took it."""
        if self._closed:
            return False
        try:
            self._writer.write(line + b"\n")
            await self._writer.drain()
        except (OSError, RuntimeError):
            return False
        return True

    async def ping(self) -> None:
        """Ask whether the other side runs; ``heard`` says when it last said anything."""
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.write(PING + b" 1\n")

    def close(self) -> None:
        """Hang up, without waiting for the other side; what was sent before is still delivered."""
        self._closed = True
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.close()


async def pair() -> tuple[Link, Link]:
    """The two ends of a connection inside this process."""
    here, there = socket.socketpair()
    ends = [Link(*await asyncio.open_connection(sock=end, limit=LIMIT)) for end in (here, there)]
    return ends[0], ends[1]


async def connect(address: Address, said: Mapping[str, Any]) -> Link | None:
    """A connection to an owner that took our opening word; None when nobody is there.

    Raises:
        TimeoutError: somebody is there and does not answer.
    """
    try:
        async with asyncio.timeout(HELLO_SECONDS):
            return await _opened(address, said)
    except TimeoutError:
        raise
    except (OSError, ValueError):
        return None


async def _opened(address: Address, said: Mapping[str, Any]) -> Link | None:
    if address.path:
        reader, writer = await asyncio.open_unix_connection(address.path, limit=LIMIT)
    else:
        reader, writer = await asyncio.open_connection("127.0.0.1", address.port, limit=LIMIT)
    link = Link(reader, writer, address.pid)
    try:
        await link.send(json.dumps({"mog": VERSION, "token": address.token, **said}).encode())
        answer = json.loads(await link.line() or b"{}")
    except BaseException:
        link.close()
        raise
    if answer.get("mog") != VERSION or not answer.get("ok"):
        link.close()
        return None
    return link


async def greeted(link: Link, token: str) -> dict[str, Any] | None:
    """The opening word of a client that knows the token, answered; None (and the line hung up) for anybody else."""
    try:
        async with asyncio.timeout(HELLO_SECONDS):
            said = json.loads(await link.line() or b"{}")
    except (TimeoutError, ValueError):
        said = {}
    known = isinstance(said, dict) and hmac.compare_digest(str(said.get("token", "")).encode(), token.encode())
    ok = known and said.get("mog") == VERSION
    await link.send(json.dumps({"mog": VERSION, "ok": ok}).encode())
    if not ok:
        link.close()
        return None
    found: dict[str, Any] = said
    return found
