"""Streamable HTTP on loopback: stateless, behind a token, for clients that do not start a process.

Who calls: ``serving``. What may not come in: tools, any address but loopback. Stateless, because whoever serves over HTTP is often
restarted under its clients: there is no session to lose.

A conversation has a name all the same, so that each client has a working set of its own: ``Mog-Session`` where a client's configuration
sends that header, else the ``Mcp-Session-Id`` that an ``initialize`` is answered with, else what the client calls itself. A name is a
name and no key: no request is refused because its session is not known, and nothing is kept for one here.

Every request needs the token of ``.mog/run/http.token`` (0600). A page in a browser cannot have it; Host and Origin are checked all
the same, so that a name that was rebound to loopback is turned away before anything is looked at.
"""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp.server.transport_security import TransportSecuritySettings

from mog.app import asgi
from mog.app.asgi import AT_ONCE, Doorkeeper, Headers, Send
from mog.app.loopback import Gate, listening
from mog.app.mcp.options import Options
from mog.app.mcp.owner import Owner
from mog.app.mcp.place import TOKEN, Place
from mog.app.mcp.server import ANONYMOUS, CONVERSATION, Server, named_after
from mog.app.mcp.station import Station
from mog.app.present import clean
from mog.engine import roots
from mog.engine.errors import NoWorkspace

if TYPE_CHECKING:
    from mog.engine.executor.registry import TaskRegistry

PATH = "/mcp"
LARGEST_BODY = 1024 * 1024
NAMED, GIVEN, VERSION = b"mog-session", b"mcp-session-id", b"mcp-protocol-version"
_NAME = re.compile(rb"[A-Za-z0-9._-]{1,40}")
Receive = Callable[[], Awaitable[Any]]


async def serve(folder: Path, options: Options, registry: TaskRegistry | None) -> None:
    """Listen until cancelled. Raises NoWorkspace: there is no workspace. UsageError: the port is taken."""
    root = roots.around(folder)
    if root is None:
        raise NoWorkspace("there is no workspace here or above", where=str(folder), way_out="run `mog init` first")
    place = Place(root)
    bound = listening(options.port, AT_ONCE)
    port = bound.getsockname()[1]
    owner = None if options.read_only else Owner.take(place)
    token = secrets.token_hex(32) if options.read_only else token_of(place)
    station = Station(root, options, registry, owner)
    server = Server(station.desk, options, session=ANONYMOUS, stateless=True)
    app = Guard(_app(server, port), port, token)
    web = asgi.Quiet(asgi.configured(app))
    await station.start()
    station.settle()
    server.start_news()
    _tell(port, place, token, options)
    try:
        await asgi.running(web, bound)
    finally:
        server.stop_news()
        await station.close()
        bound.close()


def token_of(place: Place) -> str:
    """The token of a workspace; made when there is none that can be believed."""
    return asgi.token_of(place.prepare() / TOKEN)


class Guard:
    """What stands before the protocol: Host, Origin, token, in this order."""

    def __init__(self, app: Any, port: int, token: str) -> None:
        self._app = app
        self._door = Doorkeeper(port, token, ".mog/run/http.token")

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        """Turn a request away, or hand it on."""
        if scope["type"] == "http":
            headers: Headers = scope["headers"]
            refused = self._door.refused(headers) or _not_served(scope["method"], headers)
            if refused:
                await asgi.answer(send, refused[0], refused[1].encode())
                return
            scope = {**scope, CONVERSATION: conversation(headers)}
            send = _naming(send) if _is_opening(headers) else send
        elif scope["type"] != "lifespan":
            return
        await self._app(scope, receive, send)


def _not_served(method: str, headers: Headers) -> tuple[int, str] | None:
    if method == "GET":  # a stream of news for a session; without sessions nothing would ever come on it
        return 405, "there is no stream to listen to: POST subscriptions/listen (2026-07-28)"
    named = [value for name, value in headers if name == NAMED]
    if len(named) > 1 or not all(map(_NAME.fullmatch, named)):
        return 400, "Mog-Session is one name of at most 40 letters, digits, dots, hyphens and underscores"
    return None


def conversation(headers: Headers) -> str:
    """Name of the conversation that a request belongs to, "" when its headers do not say one."""
    for wanted, kind in ((NAMED, "http:"), (GIVEN, "http-")):
        values = [value for name, value in headers if name == wanted]
        if len(values) == 1:
            return kind + (values[0].decode("ascii") if wanted == NAMED else named_after(values[0]))
    return ""


def _is_opening(headers: Headers) -> bool:
    """Whether a request may be the first of a client of the earlier era, which has no session and no agreed version yet."""
    return not any(name in (NAMED, GIVEN, VERSION) for name, _ in headers)


def _naming(send: Send) -> Send:
    """Have the answer name a session, by which the client's later requests are known."""

    async def named(message: Any) -> None:
        if message["type"] == "http.response.start" and message["status"] == 200:
            message = {**message, "headers": [*message["headers"], (GIVEN, secrets.token_hex(16).encode())]}
        await send(message)

    return named


def _app(server: Server, port: int) -> Any:
    gate = Gate(port)
    return server.streamable_http_app(
        streamable_http_path=PATH, stateless_http=True, max_request_body_size=LARGEST_BODY,
        transport_security=TransportSecuritySettings(allowed_hosts=[*gate.hosts], allowed_origins=[*gate.origins]),
    )  # fmt: skip


def _tell(port: int, place: Place, token: str, options: Options) -> None:
    """Where it listens, for the person who started it."""
    where = f"token {token}" if options.read_only else f"its token is in {clean(str(place.folder / TOKEN))}"
    sys.stderr.write(f"mog: http://127.0.0.1:{port}{PATH}, {where}\n")
    sys.stderr.flush()
