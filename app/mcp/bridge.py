"""The bridge: a client's stdio on one side, whoever serves the workspace on the other, and no seam the client could see.

Who calls: ``serving``. What may not come in: the protocol's package, answers of our own beyond "it is gone".

It remembers what a new server needs to go on: how the client opened (its ``initialize``), what it subscribed to, and every request
that has no answer yet. When the link breaks, or its other end stops running, the next server is opened the same way, its opening
answers are kept back, and the open requests are asked again. A request that was answered is never sent again. A call that writes goes
out with a key of its own, by which the next server finds out whether it was recorded (``claims``, ``ledgers/asked``).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from mog.app.mcp.links import Link
from mog.app.mcp.place import runs
from mog.app.mcp.streams import TooLong, Wire
from mog.app.mcp.table import WRITES

CALL_META = "mog/call"
#: Seconds without a sign of life while a request is open: of a process that is stopped, of one whose state the system does not
#: tell, of one that runs and is slow. After the first, the next server may begin to get ready.
STOPPED, PATIENCE, SLOW = 0.2, 2.0, 10.0
BEAT = 0.25
MINE = "mog:"  # ids of requests of our own begin so; those of a server are told apart by the number of its link
Message = dict[str, Any]
Connect = Callable[[bool], Awaitable[tuple[Link, bool]]]


@dataclass(slots=True)
class Open:
    """A request without an answer: as it was said, whether it writes, and whether it was sent to a server before."""

    message: Message
    writes: bool = False
    sent: int = 0


@dataclass(slots=True)
class _State:
    """What a new server has to be told."""

    opening: Message | None = None
    opened: bool = False
    initialized: Message | None = None
    watched: dict[str, None] = field(default_factory=dict)
    requests: dict[str, Open] = field(default_factory=dict)
    listening: set[str] = field(default_factory=set)


class Bridge:
    """One client from its first message to its last.

    Args:
        connect: gives a link to whoever serves, and whether that is a process of its own; called again with True when the one
            it gave before does not answer, and must be passed over. alarm: told when it may soon be called.
    """

    def __init__(self, wire: Wire, connect: Connect, alarm: Callable[[], None] = lambda: None) -> None:
        self._wire = wire
        self._connect = connect
        self._alarm = alarm
        self._state = _State()
        self._link: Link | None = None
        self._remote = False
        self._number = 0
        self._own: set[str] = set()

    async def run(self) -> None:
        """Until the client is gone."""
        talk = asyncio.ensure_future(self._follow())
        listen = asyncio.ensure_future(self._listen())
        gone = asyncio.ensure_future(self._wire.gone.wait())
        try:
            await asyncio.wait({talk, listen, gone}, return_when=asyncio.FIRST_COMPLETED)
            if listen.done() and not talk.done():
                await self._finish(talk)
            if talk.done() and not talk.cancelled():
                talk.result()
        finally:
            for task in (talk, listen, gone):
                task.cancel()
            if self._link is not None:
                self._link.close()
            await asyncio.gather(talk, listen, gone, return_exceptions=True)

    async def _finish(self, talk: asyncio.Task[None]) -> None:
        """The client closed its side: what it asked is still answered, for a moment."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while any(key not in self._state.listening for key in self._state.requests) and not talk.done():
                    await asyncio.sleep(0.01)

    # from the client

    async def _listen(self) -> None:
        while True:
            try:
                line = await self._wire.line()
            except TooLong as error:
                self._say({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": str(error)}})
                continue
            if line is None:
                return
            await self._heard(line)

    async def _heard(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._say({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "this is no JSON"}})
            return
        if not isinstance(message, dict):
            self._say(
                {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "one message a line, not a batch"}}
            )
            return
        if "method" not in message:
            await self._answered(message)
        elif "id" in message:
            await self._asked(message, line)
        else:
            await self._noticed(message, line)

    async def _asked(self, message: Message, line: bytes) -> None:
        method, params = message["method"], message.get("params")
        open = Open(message)
        if method == "initialize":
            self._state.opening = message
        elif method == "subscriptions/listen":
            self._state.listening.add(_key(message["id"]))
        elif method == "tools/call" and isinstance(params, dict) and params.get("name") in WRITES:
            open.writes = True
            meta = params.get("_meta")
            message = {**message, "params": {**params, "_meta": {**(meta if isinstance(meta, dict) else {})}}}
            message["params"]["_meta"][CALL_META] = {"key": secrets.token_hex(16)}
            open.message, line = message, _line(message)
        self._state.requests[_key(message["id"])] = open
        if self._link is not None:
            open.sent = self._number
            await self._link.send(line)

    async def _noticed(self, message: Message, line: bytes) -> None:
        if message["method"] == "notifications/initialized":
            self._state.initialized = message
        elif message["method"] == "notifications/cancelled" and isinstance(message.get("params"), dict):
            key = _key(message["params"].get("requestId"))
            self._state.requests.pop(key, None)
            self._state.listening.discard(key)
        if self._link is not None:
            await self._link.send(line)

    async def _answered(self, message: Message) -> None:
        """The client's answer to a server: only the server that asked gets it."""
        number, _, rest = str(message.get("id", "")).partition(":")
        if self._link is not None and number == str(self._number):
            with contextlib.suppress(ValueError):
                await self._link.send(_line({**message, "id": json.loads(rest)}))

    # from the server

    async def _follow(self) -> None:
        """Link after link, each until it breaks."""
        pass_over = False
        while True:
            link, self._remote = await self._connect(pass_over)
            self._number += 1
            talk = asyncio.ensure_future(self._take_up(link))
            pass_over = await self._until_broken(link)
            self._link = None
            talk.cancel()
            link.close()

    async def _until_broken(self, link: Link) -> bool:
        """Hand on what a server says until it is gone; whether it is there still and does not run."""
        reading = asyncio.ensure_future(self._hand_on(link))
        asked = 0.0  # when the ping went out that is not answered yet
        try:
            while not reading.done():
                await asyncio.wait({reading}, timeout=BEAT if self._remote else None)
                now = asyncio.get_running_loop().time()
                if link.heard > asked:
                    asked = 0.0
                if not self._remote or not self._state.requests:
                    asked = 0.0
                elif not asked:
                    asked = now
                    await link.ping()
                elif now - asked > STOPPED:
                    running = runs(link.pid)
                    if not running and now - asked > (STOPPED if running is False else PATIENCE):
                        return True
                    if now - asked > SLOW:
                        return True
                    self._alarm()
        finally:
            reading.cancel()
        return False

    async def _hand_on(self, link: Link) -> None:
        while (line := await link.line()) is not None:
            try:
                message = json.loads(line)
            except ValueError:
                continue
            if "method" in message and "id" in message:
                self._say({**message, "id": f"{self._number}:{json.dumps(message['id'])}"})
            elif "method" in message:
                self._noted(message, line)
            else:
                self._settle(message, line)

    def _noted(self, message: Message, line: bytes) -> None:
        if message["method"] == "notifications/subscriptions/acknowledged":
            meta = (message.get("params") or {}).get("_meta") or {}
            id = _key(meta.get("io.modelcontextprotocol/subscriptionId"))
            open = self._state.requests.get(id)
            if open is not None and open.message.get("acknowledged"):
                return
            if open is not None:
                open.message = {**open.message, "acknowledged": True}
        self._wire.send(line)

    def _settle(self, message: Message, line: bytes) -> None:
        """An answer: to the client when it waits for it, to nobody when it was for us or came twice."""
        id = message.get("id")
        if isinstance(id, str) and id in self._own:
            self._own.discard(id)
            return
        open = self._state.requests.pop(_key(id), None)
        if open is None:
            return
        self._state.listening.discard(_key(id))
        if "result" in message:
            self._remember(open.message)
        self._wire.send(line)

    def _remember(self, asked: Message) -> None:
        params = asked.get("params")
        uri = params.get("uri") if isinstance(params, dict) else None
        if asked["method"] == "initialize":
            self._state.opened = True
        elif asked["method"] == "resources/subscribe" and isinstance(uri, str):
            self._state.watched[uri] = None
        elif asked["method"] == "resources/unsubscribe" and isinstance(uri, str):
            self._state.watched.pop(uri, None)

    # going on elsewhere

    async def _take_up(self, link: Link) -> None:
        """Open a new server as the client opened the first, then ask it what is still open."""
        state = self._state
        if state.opening is not None and state.opened:
            await self._ask_own(link, state.opening)
            if state.initialized is not None:
                await link.send(_line(state.initialized))
            for uri in state.watched:
                await self._ask_own(link, {"method": "resources/subscribe", "params": {"uri": uri}})
        while waiting := [open for open in state.requests.values() if open.sent != self._number]:
            await self._ask_again(link, waiting[0])
        self._link = link

    async def _ask_again(self, link: Link, open: Open) -> None:
        """Send a request that has no answer; one that writes says that it comes again."""
        message = {name: value for name, value in open.message.items() if name != "acknowledged"}
        if open.writes and open.sent:
            params = message["params"]
            call = {**params["_meta"][CALL_META], "again": True}
            message = {**message, "params": {**params, "_meta": {**params["_meta"], CALL_META: call}}}
        open.sent = self._number
        await link.send(_line(message))
        if message["method"] == "initialize" and self._state.initialized is not None:
            await link.send(_line(self._state.initialized))

    async def _ask_own(self, link: Link, message: Message) -> None:
        id = f"{MINE}{secrets.token_hex(8)}"
        self._own.add(id)
        await link.send(_line({**message, "jsonrpc": "2.0", "id": id}))

    def _say(self, message: Message) -> None:
        self._wire.send(_line(message))


def _key(id: object) -> str:
    return json.dumps(id)


def _line(message: Message) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
