"""Serves the workbench to a browser on this machine: a page of our own, the toolkit's terminal for it, a socket for each page.

Who calls: ``mog tui --serve``. What may not come in: any address but loopback, a page or font from elsewhere, a shell.

Everything that says or does something needs the token, which is made anew at each start and stands in the address that is
printed: the page has it as a parameter, the socket in its path. There is no cookie: a browser would show it to every other
server on loopback. Host and Origin are checked before it (``loopback.Gate``), so no page of another site can open a socket.
"""

from __future__ import annotations

import asyncio
import contextlib
import html
import importlib.resources
import secrets
import string
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

import textual_serve
from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.download_manager import DownloadManager

from mog.app.loopback import HOST, Gate, listening, same
from mog.app.present import clean
from mog.app.told import until_told
from mog.app.web.session import Session

AT_ONCE = 4  # pages; each is a process that indexes and watches
WAITING = 64  # connections
LARGEST_MESSAGE = 256 * 1024  # what a person pastes
LEAST, MOST = 1, 1_000  # cells of a terminal
GRACE = 2.0  # seconds that requests get when the server ends
OURS = {"workbench.css": "text/css", "workbench.js": "text/javascript"}
THEIRS = {
    "xterm.css": ("css/xterm.css", "text/css"),
    "textual.js": ("js/textual.js", "text/javascript"),
    "mono.ttf": ("fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
    "mono-italic.ttf": ("fonts/RobotoMono-Italic-VariableFont_wght.ttf", "font/ttf"),
}
GROUNDS = {"dark": "15;0", "light": "0;15"}  # as COLORFGBG tells a terminal's colours
Told = Callable[[str], None]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def serve(vector: Sequence[str], port: int, *, name: str, ready: Told, say: Told) -> int:
    """Serve until a signal comes; 128 and its number.

    Args:
        vector: program and arguments of the child. name: what the page is called, outside text.
        ready: called once with the address to open. say: called with what a person at the terminal should know.

    Raises:
        UsageError: the port cannot be had.
    """
    return asyncio.run(until_told(Served(vector, name, say).run(port, ready)))


class Served:
    """The pages, the sockets and the children of one server."""

    def __init__(self, vector: Sequence[str], name: str, say: Told) -> None:
        self._vector, self._name, self._say = tuple(vector), name, say
        self._token = secrets.token_urlsafe(32)
        self._downloads = DownloadManager()
        self._sessions: set[Session] = set()
        self._sockets: set[web.WebSocketResponse] = set()
        self._gate = Gate(0)
        self._files = {f"/static/{name}": found for name, found in _files().items()}

    async def run(self, port: int, ready: Told) -> None:
        """Listen until cancelled; then every child ends before this returns. Raises UsageError."""
        bound = listening(port, WAITING)
        port = bound.getsockname()[1]
        self._gate = Gate(port)
        runner = web.AppRunner(self._app(), access_log=None, handle_signals=False)
        await runner.setup()
        try:
            await web.SockSite(runner, bound, shutdown_timeout=GRACE).start()
            ready(f"http://{HOST}:{port}/?token={self._token}")
            await asyncio.Event().wait()
        finally:
            await self._part()
            await runner.cleanup()
            bound.close()

    async def _part(self) -> None:
        """Every child ends, then every socket."""
        await asyncio.gather(*(session.stop() for session in tuple(self._sessions)))
        away = (socket.close(code=WSCloseCode.GOING_AWAY) for socket in tuple(self._sockets))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.gather(*away, return_exceptions=True), GRACE)

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self._guard], client_max_size=0)
        app.add_routes(
            [web.get("/", self._page), web.get(f"/ws/{{token}}/{{ground:{'|'.join(GROUNDS)}}}", self._socket)]
        )
        app.add_routes([web.get(path, self._static) for path in self._files])
        return app

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Host, Origin, then whatever was asked for; every answer says what a browser may do with it."""
        head = request.headers
        refused = self._gate.refused(head.getall("Host", []), head.getall("Origin", []))
        if refused:
            return web.Response(status=refused[0], text=refused[1], headers=_SAFE)
        try:
            answer = await handler(request)
        except web.HTTPException as error:
            return web.Response(status=error.status, text=error.reason, headers=_SAFE)
        if not answer.prepared:
            answer.headers.update(_SAFE)
        return answer

    async def _page(self, request: web.Request) -> web.Response:
        if not same(request.query.get("token", ""), self._token):
            text = "open the address that `mog tui --serve` printed: it carries a token"
            return web.Response(status=401, text=text)
        socket = f"ws://{request.host}/ws/{self._token}"
        page = string.Template(_text("workbench.html")).substitute(name=html.escape(clean(self._name)), socket=socket)
        policy = {"Content-Security-Policy": _POLICY.format(socket=f"ws://{request.host}")}
        return web.Response(text=page, content_type="text/html", headers=policy)

    async def _static(self, request: web.Request) -> web.Response:
        body, kind = self._files[request.path]
        return web.Response(body=body, content_type=kind)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        if not same(request.match_info["token"], self._token):
            return web.Response(status=401, text="another token is wanted")
        if "Origin" not in request.headers:
            return web.Response(status=403, text="this origin is not served")
        if len(self._sessions) >= AT_ONCE:
            return web.Response(status=503, text=f"{AT_ONCE} pages are open already")
        socket = web.WebSocketResponse(heartbeat=15, max_msg_size=LARGEST_MESSAGE)
        ground = GROUNDS[request.match_info["ground"]]
        session = Session(self._vector, ground, self._downloads, socket.send_bytes, socket.send_str, socket.close)
        self._sessions.add(session)
        self._sockets.add(socket)
        try:
            await socket.prepare(request)
            await session.start(_cells(request, "width", 80), _cells(request, "height", 24))
            await _obey(socket, session)
        finally:
            await asyncio.shield(session.stop())
            self._sessions.discard(session)
            self._sockets.discard(socket)
            self._account(session)
        return socket

    def _account(self, session: Session) -> None:
        """A child that ended badly is no secret."""
        if session.code not in (0, None):
            last = session.said.decode(errors="replace").strip().splitlines()[-1:]
            self._say(f"a page ended with {session.code}" + "".join(f": {clean(line)[:300]}" for line in last))


async def _obey(socket: web.WebSocketResponse, session: Session) -> None:
    """Hand on what a page sends, until it is closed. What is no message of the terminal is passed over."""
    async for message in socket:
        if message.type is not WSMsgType.TEXT:
            continue
        try:
            what, *rest = message.json()
            if what == "stdin":
                await session.send_bytes(rest[0].encode())
            elif what == "resize":
                await session.set_terminal_size(_bounded(rest[0]["width"]), _bounded(rest[0]["height"]))
            elif what == "ping":
                await socket.send_json(["pong", rest[0]])
            elif what in ("focus", "blur"):
                await getattr(session, what)()
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            continue


def _bounded(cells: object) -> int:
    if not isinstance(cells, int):
        raise ValueError("no number of cells")
    return min(MOST, max(LEAST, cells))


def _cells(request: web.Request, side: str, usual: int) -> int:
    said = request.query.get(side, "")
    return _bounded(int(said)) if said.isascii() and said.isdecimal() and len(said) < 6 else usual


def _files() -> dict[str, tuple[bytes, str]]:
    """Everything that is served besides the page: name → bytes, media type. Nothing else of the disk can be asked for."""
    packaged = Path(textual_serve.__file__).parent / "static"
    theirs = {name: ((packaged / path).read_bytes(), kind) for name, (path, kind) in THEIRS.items()}
    return theirs | {name: (_text(name).encode(), kind) for name, kind in OURS.items()}


def _text(name: str) -> str:
    return importlib.resources.files("mog.app.web").joinpath(name).read_text(encoding="utf-8")


_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# the terminal writes style sheets of its own into the page, and its pictures are made in the page
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self' {socket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
