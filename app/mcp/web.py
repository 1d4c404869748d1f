"""Streamable HTTP on loopback: stateless, behind a token, for clients that do not start a process.

Who calls: ``serving``. What may not come in: tools, any address but loopback. Stateless, because whoever serves over HTTP is often
restarted under its clients: there is no session to lose.

Every request needs the token of ``.mog/run/http.token`` (0600). A page in a browser cannot have it; Host and Origin are checked all
the same, so that a name that was rebound to loopback is turned away before anything is looked at.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import re
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from uvicorn.protocols.http.h11_impl import H11Protocol

from mog.app.mcp.options import Options
from mog.app.mcp.owner import Owner
from mog.app.mcp.place import TOKEN, Place, read_private, write_private
from mog.app.mcp.server import Server
from mog.app.mcp.station import Station
from mog.app.present import clean
from mog.engine import roots
from mog.engine.errors import NoWorkspace, UsageError

if TYPE_CHECKING:
    from mog.engine.executor.registry import TaskRegistry

PATH = "/mcp"
LARGEST_BODY = 1024 * 1024
AT_ONCE = 64  # connections; the next one is answered with 503
TO_ASK = 10.0  # seconds from a connection to the head of its first request
GRACE = 1
_TOKEN = re.compile(r"[0-9a-f]{64}")
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


async def serve(folder: Path, options: Options, registry: TaskRegistry | None) -> None:
    """Listen until cancelled. Raises NoWorkspace: there is no workspace. UsageError: the port is taken."""
    root = roots.around(folder)
    if root is None:
        raise NoWorkspace("there is no workspace here or above", where=str(folder), way_out="run `mog init` first")
    place = Place(root)
    bound = _bound(options.port)
    port = bound.getsockname()[1]
    owner = None if options.read_only else Owner.take(place)
    token = secrets.token_hex(32) if options.read_only else token_of(place)
    station = Station(root, options, registry, owner)
    server = Server(station.desk, options, session="http", stateless=True)
    app = Guard(_app(server, port), port, token)
    config = uvicorn.Config(
        app, log_config=None, lifespan="on", limit_concurrency=AT_ONCE, timeout_graceful_shutdown=GRACE, timeout_keep_alive=30,
        access_log=False, server_header=False, http=_Timed, ws="none",
    )  # fmt: skip
    web = _Quiet(config)
    await station.start()
    station.settle()
    server.start_news()
    _tell(port, place, token, options)
    running = asyncio.ensure_future(web.serve([bound]))
    try:
        await asyncio.shield(running)
    except asyncio.CancelledError:
        web.should_exit = True
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(running), 2 * GRACE)
        raise
    finally:
        running.cancel()
        server.stop_news()
        await station.close()
        bound.close()


def token_of(place: Place) -> str:
    """The token of a workspace; made when there is none that can be believed."""
    path = place.prepare() / TOKEN
    with contextlib.suppress(OSError, UnicodeDecodeError):
        found = read_private(path).decode("ascii").strip()
        if _TOKEN.fullmatch(found):
            return found
    made = secrets.token_hex(32)
    write_private(path, made.encode("ascii"))
    return made


class Guard:
    """What stands before the protocol: Host, Origin, token, in this order."""

    def __init__(self, app: Any, port: int, token: str) -> None:
        names = ("127.0.0.1", "localhost", "[::1]")
        self._app = app
        self._hosts = frozenset(f"{name}:{port}".encode() for name in names)
        self._origins = frozenset(f"http://{name}:{port}".encode() for name in names)
        self._token = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Turn a request away, or hand it on."""
        if scope["type"] == "http":
            refused = self._refused(scope["headers"])
            if refused:
                await _answer(send, *refused)
                return
        elif scope["type"] != "lifespan":
            return
        await self._app(scope, receive, send)

    def _refused(self, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        hosts = [value for name, value in headers if name == b"host"]
        origins = [value for name, value in headers if name == b"origin"]
        tokens = [value for name, value in headers if name == b"authorization"]
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return 421, "this server has no such host"
        if any(origin not in self._origins for origin in origins):
            return 403, "this origin is not served"
        if len(tokens) != 1 or not hmac.compare_digest(tokens[0], self._token):
            return 401, "a bearer token is wanted: .mog/run/http.token"
        return None


class _Timed(H11Protocol):
    """A connection that asks soon or is hung up on: the few there are must not be held by who has no token."""

    def connection_made(self, transport: Any) -> None:
        """Begin to count."""
        super().connection_made(transport)
        self.loop.call_later(TO_ASK, self._look)

    def _look(self) -> None:
        if self.cycle is None:
            self.transport.close()


class _Quiet(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is captured."""
        yield


def _app(server: Server, port: int) -> Any:
    names = ("127.0.0.1", "localhost", "[::1]")
    return server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, max_request_body_size=LARGEST_BODY,
        transport_security=TransportSecuritySettings(
            allowed_hosts=[f"{name}:{port}" for name in names], allowed_origins=[f"http://{name}:{port}" for name in names]
        ),
    )  # fmt: skip


def _bound(port: int) -> socket.socket:
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if sys.platform != "win32":
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        bound.bind(("127.0.0.1", port))
        bound.listen(AT_ONCE)  # who reads the address below and connects at once waits, and is not refused
    except OSError as error:
        bound.close()
        raise UsageError(
            f"port {port} cannot be had: {error.strerror}", where="--port", way_out="name another, or 0"
        ) from error
    return bound


def _tell(port: int, place: Place, token: str, options: Options) -> None:
    """Where it listens, for the person who started it."""
    where = f"token {token}" if options.read_only else f"its token is in {clean(str(place.folder / TOKEN))}"
    sys.stderr.write(f"mog: http://127.0.0.1:{port}{PATH}, {where}\n")
    sys.stderr.flush()


async def _answer(send: Send, status: int, text: str) -> None:
    body = text.encode()
    headers = [(b"content-type", b"text/plain"), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    headers += [(b"www-authenticate", b"Bearer")] if status == 401 else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
