"""The owner of a workspace: whoever holds its lock, watches its files and serves everybody else's connections.

Who calls: ``station``. What may not come in: the client's side, what a message means.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from mog.app.mcp import links
from mog.app.mcp.links import Link
from mog.app.mcp.place import Address, Place
from mog.engine.errors import HeldByOther, MogError
from mog.engine.store.lock import WriterLock

MOST = 64  # connections at a time
Serve = Callable[[Link, dict[str, Any]], Awaitable[None]]


class Owner:
    """The held lock and, once ``listen`` was called, the socket. Made by ``take``."""

    def __init__(self, place: Place, lock: WriterLock) -> None:
        self.place = place
        self._lock = lock
        self._address: Address | None = None
        self._server: asyncio.Server | None = None
        self._open: dict[asyncio.Task[None], Link] = {}

    @classmethod
    def take(cls, place: Place) -> Owner | None:
        """Become the owner; None when somebody else is. Raises StoreDamaged when the run folder cannot be used."""
        place.prepare()
        lock = place.lock()
        try:
            lock.acquire()
        except HeldByOther:
            return None
        return cls(place, lock)

    async def listen(self, serve: Serve) -> None:
        """Take connections from now on; ``serve`` gets each with what its client said. Raises MogError, OSError."""

        async def taken(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            link = Link(reader, writer)
            said = await links.greeted(link, address.token) if len(self._open) < MOST else None
            if said is None:
                link.close()
                return
            task = asyncio.ensure_future(_served(serve, link, said))
            self._open[task] = link
            task.add_done_callback(lambda task: self._open.pop(task, None))

        bound, address = self.place.bind()
        start: Any = asyncio.start_unix_server if address.path else asyncio.start_server
        self._server = await start(taken, sock=bound, limit=links.LIMIT)
        self.place.publish(address)
        self._address = address

    @property
    def connections(self) -> int:
        """How many clients are connected besides our own."""
        return len(self._open)

    def close(self) -> None:
        """Give the workspace back: stop listening, hang up, let the lock go, so that a bridge can take over at once."""
        if self._server is not None:
            self._server.close()
        if self._address is not None:
            self.place.withdraw(self._address)
        for task, link in list(self._open.items()):
            link.close()  # first, so that nobody hears of calls that end unanswered: a bridge asks them again elsewhere
            task.cancel()
        self._lock.release()


async def _served(serve: Serve, link: Link, said: dict[str, Any]) -> None:
    """One connection to its end; what goes wrong in it is its own."""
    with contextlib.suppress(MogError, OSError, asyncio.CancelledError):
        await serve(link, said)
    link.close()
