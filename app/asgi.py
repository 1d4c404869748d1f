"""What servers on loopback share: who is let in, a token in a private file, connections that must not be held open.

Who calls: ``mcp/web`` and ``http/server``. What may not come in: a protocol, what is served, any address but loopback. A page in a
browser cannot have the token; Host and Origin are checked all the same, so that a name that was rebound to loopback is turned away
before anything is looked at.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from mog.app.loopback import Gate, same
from mog.engine.store.private import read_private, write_private

AT_ONCE = 64  # connections; the next one is answered with 503
TO_ASK = 10.0  # seconds from a connection to the head of its first request
GRACE = 1
_TOKEN = re.compile(r"[0-9a-f]{64}")
_LOOKED_AT = (b"host", b"origin", b"authorization")
Headers = list[tuple[bytes, bytes]]
Send = Callable[[Any], Awaitable[None]]


class Doorkeeper:
    """Host, Origin, token, in this order. ``where``: the file in which a person finds the token, for the refusal."""

    def __init__(self, port: int, token: str, where: str) -> None:
        self._gate = Gate(port)
        self._token = f"Bearer {token}"
        self._where = where

    def refused(self, headers: Headers) -> tuple[int, str] | None:
        """Status and words for a request that is turned away, None for one that may go on."""
        given = [(name, value.decode("latin-1")) for name, value in headers]
        hosts, origins, tokens = ([value for name, value in given if name == wanted] for wanted in _LOOKED_AT)
        if refused := self._gate.refused(hosts, origins):
            return refused
        if len(tokens) != 1 or not same(tokens[0], self._token):
            return 401, f"a bearer token is wanted: {self._where}"
        return None


def token_of(path: Path) -> str:
    """The token in a private file; made when there is none that can be believed. The folder is there and private."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        found = read_private(path).decode("ascii").strip()
        if _TOKEN.fullmatch(found):
            return found
    made = secrets.token_hex(32)
    write_private(path, made.encode("ascii"))
    return made


class Timed(H11Protocol):
    """A connection that asks soon or is hung up on: the few there are must not be held by who has no token."""

    def connection_made(self, transport: Any) -> None:
        """Begin to count."""
        super().connection_made(transport)
        self.loop.call_later(TO_ASK, self._look)

    def _look(self) -> None:
        if self.cycle is None:
            self.transport.close()


class Quiet(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is captured."""
        yield


def configured(app: Any, lifespan: Literal["on", "off"] = "on") -> uvicorn.Config:
    """Settings of such a server: no log, no name of a program, few connections."""
    return uvicorn.Config(
        app, log_config=None, lifespan=lifespan, limit_concurrency=AT_ONCE, timeout_graceful_shutdown=GRACE, timeout_keep_alive=30,
        access_log=False, server_header=False, http=Timed, ws="none",
    )  # fmt: skip


async def running(web: uvicorn.Server, bound: Any) -> None:
    """Serve on a socket until cancelled; then requests get a moment to end."""
    task = asyncio.ensure_future(web.serve([bound]))
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        web.should_exit = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(task), 2 * GRACE)
        raise
    finally:
        task.cancel()


async def answer(send: Send, status: int, body: bytes, kind: bytes = b"text/plain") -> None:
    """A short answer that ends the connection: to who was turned away."""
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
