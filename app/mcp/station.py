"""What a process has when it answers itself: a desk, and the workspace's lock and socket as soon as they are to be had.

Who calls: ``serving`` (stdio), ``web`` (HTTP), and ``hosting`` for a screen that serves agents while it is open. What may not come
in: the client's side, the protocol's package at import.

A process without the lock answers all the same: reads are snapshots, and the ledger lets in one writer at a time whoever it is. It
watches nothing, and takes the lock over when it comes free.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mog.app.mcp import links
from mog.app.mcp.desk import Desk
from mog.app.mcp.links import Link
from mog.app.mcp.options import Options
from mog.app.mcp.owner import Owner
from mog.app.mcp.place import Place
from mog.engine.errors import MogError

if TYPE_CHECKING:
    from mog.engine.executor.registry import TaskRegistry
    from mog.engine.workspace import Workspace

TRY_EVERY = 1.0  # seconds between two tries for the lock
LOOK_EVERY = 1.0  # seconds between two looks at the ledger of other processes
SETTLE = 0.2  # seconds in which a client that connects gets its list of tools before anything heavy begins
GRACE = 0.5


class Station:
    """A desk on this event loop.

    Args:
        owner: the lock, when it was had already. regent: the lock of the regent; bridges are served, files are not watched.
        homeless: ``root`` is no workspace; nothing is made there, and every question is answered with that.
        workspace: as of ``Desk``.
    """

    def __init__(
        self, root: Path, options: Options, registry: TaskRegistry | None, owner: Owner | None, *, regent: Owner | None = None,
        homeless: bool = False, workspace: Workspace | None = None,
    ) -> None:  # fmt: skip
        self.place = Place(root)
        self.options = options
        self.desk = Desk(root, options, registry, workspace)
        self._owner = owner
        self._regent = regent
        self._may_own = owner is not None or not (options.read_only or options.demo or homeless)
        self._is_settled = False
        self._tasks: set[asyncio.Task[Any]] = set()

    async def start(self) -> None:
        """As the owner, listen at once: who connects waits for the desk like our own client."""
        if self._owner is not None:
            await self._own(self._owner)
        elif self._may_own:
            self._begin(self._succeed())
        if self._regent is not None:
            await self._regent.listen(self._serve)
        self._begin(self._look())

    async def link(self, said: dict[str, Any]) -> Link:
        """A connection to this desk from inside the process."""
        here, there = await links.pair()
        self._begin(self._serve(there, said))
        return here

    async def _serve(self, link: Link, said: dict[str, Any]) -> None:
        keeping = asyncio.ensure_future(link.keep())  # loading takes seconds on a busy machine, and a silent owner is passed over
        try:
            host = await _loaded("mog.app.mcp.host")
            keeping.cancel()
            await asyncio.gather(keeping, return_exceptions=True)
            asyncio.get_running_loop().call_later(SETTLE, self.settle)
            await host.serve(self.desk, self.options, link, said)
        finally:
            keeping.cancel()
            link.close()

    async def _own(self, owner: Owner) -> None:
        self._owner = owner
        with contextlib.suppress(OSError, MogError):  # without a socket others answer themselves
            await owner.listen(self._serve)
        if self._is_settled:
            self._live()

    @property
    def owns(self) -> bool:
        """Whether this process has the lock of the workspace."""
        return self._owner is not None

    @property
    def connections(self) -> int:
        """How many clients of other processes are connected."""
        return self._owner.connections if self._owner is not None else 0

    def settle(self) -> None:
        """The first client has its list of tools by now: open the workspace, and as the owner keep its index up."""
        if not self._is_settled:
            self._is_settled = True
            self.desk.begin()
            if self._owner is not None:
                self._live()

    def _live(self) -> None:
        threading.Thread(target=self.desk.live, name="mog-live", daemon=True).start()

    async def _succeed(self) -> None:
        """Take the lock when its holder is gone."""
        while self._owner is None:
            await asyncio.sleep(TRY_EVERY)
            with contextlib.suppress(MogError, OSError):
                owner = Owner.take(self.place)
                if owner is not None:
                    await self._own(owner)

    async def _look(self) -> None:
        """Tell listeners what other processes recorded: the feed of the workspace knows only its own."""
        seen: object = None
        while True:
            await asyncio.sleep(LOOK_EVERY)
            found = _marks(self.desk.ledger)
            if found != seen and seen is not None:
                self.desk.told("beliefs")
            seen = found

    def _begin(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """Give the workspace back and close the desk, without waiting for what is still computed."""
        for held in (self._owner, self._regent):
            if held is not None:
                held.close()
        for task in list(self._tasks):
            task.cancel()
        closing = threading.Thread(target=self.desk.close, name="mog-close", daemon=True)
        closing.start()
        until = asyncio.get_running_loop().time() + GRACE
        while closing.is_alive() and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.01)


async def _loaded(name: str) -> Any:
    """A module, imported on a thread: the event loop goes on saying that this process runs."""
    if name in sys.modules and not getattr(sys.modules[name].__spec__, "_initializing", False):
        return sys.modules[name]
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(found: Any) -> None:
        if not done.done():
            done.set_result(found)

    def work() -> None:
        try:
            found: Any = importlib.import_module(name)
        except BaseException as error:
            found = error
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, found)

    threading.Thread(target=work, name="mog-import", daemon=True).start()
    found = await done
    if isinstance(found, BaseException):
        raise found
    return found


def _marks(ledger: Path | None) -> tuple[object, ...]:
    """What changes about the files of a ledger when somebody writes to it."""
    found: list[object] = []
    for path in (ledger, ledger.with_name(ledger.name + "-wal")) if ledger is not None else ():
        try:
            at = path.stat()
            found.append((at.st_mtime_ns, at.st_size))
        except OSError:
            found.append(None)
    return tuple(found)
