"""One process that serves: takes its streams, finds or becomes the owner, ends when its client does or a signal comes.

Who calls: ``mog serve --mcp`` and ``main``. What may not come in: answers, the protocol's package at import.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mog.app.mcp import links, streams
from mog.app.mcp.bridge import SLOW, Bridge
from mog.app.mcp.links import Link
from mog.app.mcp.options import Options
from mog.app.mcp.owner import Owner
from mog.app.mcp.place import HEIR, REGENT, Address, Place, runs
from mog.app.mcp.station import Station
from mog.app.mcp.streams import Wire
from mog.app.told import leave as leave
from mog.app.told import until_told
from mog.engine import roots
from mog.engine.errors import HeldByOther, UsageError

if TYPE_CHECKING:
    from mog.engine.executor.registry import TaskRegistry
    from mog.engine.store.lock import WriterLock

STARTING = 3.0  # seconds in which a new owner has to say where it listens
BEHIND = 0.1  # seconds that other bridges give the heir to take over first
PREPARE_AFTER, ASK_AGAIN = 0.5, 5.0
PRELOADED = (
    "host", "tools_core", "tools_packs", "tools_mesh", "mog.engine.workspace", "mog.engine.beliefs", "mog.engine.reason.mesh",
    "mog.engine.traffic", "mog.engine.code.live", "mog.engine.code.view", "mog.engine.retrieval.context",
)  # fmt: skip


def serve(options: Options, *, registry: TaskRegistry | None = None) -> int:
    """Serve until the client goes or a signal comes; 0, or 128 and the number of the signal.

    Raises:
        UsageError: ``--repo`` names no folder. StoreDamaged: the run folder cannot be used. ConfigError: a plan needs a key that the
            registry does not bring.
    """
    sys.setswitchinterval(0.0005)
    start = options.repo if options.repo is not None else Path.cwd()
    if not start.is_dir():
        raise UsageError("--repo names no folder", where=str(start), way_out="give an existing folder")
    with _demo(options) if options.demo else contextlib.nullcontext(start) as folder:
        if registry is not None:
            _bound(folder, registry)
        if options.transport == "http":
            from mog.app.mcp import web

            return asyncio.run(until_told(web.serve(folder, options, registry)))
        fds = streams.claim()
        return asyncio.run(until_told(_stdio(fds, folder, options, registry)))


async def _stdio(fds: tuple[int, int], folder: Path, options: Options, registry: TaskRegistry | None) -> None:
    wire = Wire(*fds)
    finder = Finder(folder, options, registry)
    try:
        await Bridge(wire, finder.connect, finder.hurry).run()
    finally:
        await finder.close()
        await wire.drain()


class Finder:
    """Finds who serves a workspace, and serves it itself when nobody does.

    A program with a registry of its own is never bridged: another process would run other code under its keys.
    """

    def __init__(self, folder: Path, options: Options, registry: TaskRegistry | None) -> None:
        root = roots.around(folder)
        self._root = root or folder.absolute()
        self._homeless = root is None
        self._options, self._registry = options, registry
        self._place = Place(self._root)
        self._said = {**options.said(), "session": secrets.token_hex(4)}  # one conversation, whoever serves it
        self._station: Station | None = None
        self._heir: WriterLock | None = None
        self._preparing: asyncio.Task[None] | None = None
        self._hurried = asyncio.Event()
        self._passed: set[Address] = set()
        self._last: Address | None = None

    async def connect(self, pass_over: bool = False) -> tuple[Link, bool]:
        """A link, and whether it is to another process. ``pass_over``: the one given last does not answer."""
        if pass_over and self._last is not None:
            self._passed.add(self._last)
        if self._station is not None or self._alone:
            return await self._at_home(None)
        if self._last is not None and self._heir is None:
            await asyncio.sleep(BEHIND)
        until = asyncio.get_running_loop().time() + STARTING
        while True:
            owner = Owner.take(self._place)
            if owner is not None or self._registry is not None:
                return await self._at_home(owner)
            link = await self._try(self._place)
            if link is not None:
                return link, True
            address, now = self._place.address(), asyncio.get_running_loop().time()
            if address in self._passed or now > until + (SLOW if address is not None and runs(address.pid) else 0):
                return await self._without_owner()
            await asyncio.sleep(0.02)

    async def _without_owner(self) -> tuple[Link, bool]:
        """The owner is there and does not run: one of its bridges serves the others meanwhile."""
        place = Place(self._root, REGENT)
        for _ in range(10):
            regent = Owner.take(place)
            if regent is not None:
                return await self._at_home(None, regent)
            link = await self._try(place)
            if link is not None:
                return link, True
            await asyncio.sleep(0.1)
        return await self._at_home(None)

    async def _try(self, place: Place) -> Link | None:
        """A link to whoever has a role, None when there is nobody to be had."""
        address = place.address()
        if address is None or address in self._passed:
            return None
        try:
            link = await links.connect(address, self._said)
        except TimeoutError:
            if not runs(address.pid):
                self._passed.add(address)
            return None
        if link is not None:
            self._last = address
            if self._preparing is None:
                self._preparing = asyncio.ensure_future(self._prepare())
        return link

    async def _prepare(self) -> None:
        """Of the bridges to one owner one is the heir: it loads beforehand what serving needs, and so takes over at once."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PREPARE_AFTER):
                await self._hurried.wait()
        heir = Place(self._root, HEIR).lock()
        while not heir.held:
            try:
                heir.acquire()
            except HeldByOther:
                await asyncio.sleep(ASK_AGAIN)
        self._heir = heir
        threading.Thread(target=_preload, name="mog-preload", daemon=True).start()

    def hurry(self) -> None:
        """Whoever serves us does not answer, so that the heir had better be ready."""
        self._hurried.set()

    @property
    def _alone(self) -> bool:
        """Nobody else is asked: nothing may be written in the folder, or it is a demonstration or no workspace."""
        return self._options.read_only or self._options.demo or self._homeless

    async def _at_home(self, owner: Owner | None, regent: Owner | None = None) -> tuple[Link, bool]:
        if self._station is None:
            if self._preparing is not None:
                self._preparing.cancel()
            self._station = Station(
                self._root, self._options, self._registry, owner, regent=regent, homeless=self._homeless
            )
            await self._station.start()
            if self._heir is not None:
                self._heir.release()
        return await self._station.link(self._said), False

    async def close(self) -> None:
        """Give back what was taken."""
        if self._preparing is not None:
            self._preparing.cancel()
        if self._heir is not None:
            self._heir.release()
        if self._station is not None:
            await self._station.close()


def _preload() -> None:
    import importlib

    for name in PRELOADED:
        importlib.import_module(name if "." in name else f"mog.app.mcp.{name}")


def _bound(folder: Path, registry: TaskRegistry) -> None:
    """Refuse to serve a session that needs a key which nobody brings."""
    from mog.app import config as configuration
    from mog.engine.workspace import Workspace

    def configure(root: Path) -> object:
        return configuration.load(root, os.environ).engine

    with contextlib.suppress(UsageError), Workspace.open(folder, configure=configure, registry=registry) as workspace:  # type: ignore[arg-type]
        if workspace.ledger_path.exists():
            for plan in workspace.work.names():
                workspace.work.runner(plan)


@contextmanager
def _demo(options: Options) -> Iterator[Path]:
    """A folder that goes away with the server; the desk makes the graph in it when it opens."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="mog-demo-", ignore_cleanup_errors=True) as name:
        root = Path(name).resolve() / "parcel-desk"
        (root / ".mog").mkdir(parents=True, mode=0o700)
        yield root


__all__ = ["Finder", "leave", "serve"]
