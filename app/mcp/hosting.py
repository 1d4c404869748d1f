"""Serving agents from a program with a screen, while it is open: a station on a thread of its own, on the screen's workspace.

Who calls: ``mog tui``, which hands it to the workbench. What may not come in: the toolkit, the protocol's package at import (a
station loads it when the first client connects).

There is one workspace and one watcher: the screen's. The screen's program indexes, watches and closes it; the station answers from it,
and what its clients write reaches the screen by the workspace's own change feed. Where somebody else owns the workspace this program
stands beside, and takes over when the owner goes.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from mog.app.mcp.options import Options
from mog.engine.errors import MogError, UsageError

if TYPE_CHECKING:
    from mog.app.mcp.station import Station
    from mog.app.mcp.table import Tool
    from mog.engine.executor.registry import TaskRegistry
    from mog.engine.traffic import Call
    from mog.engine.workspace import Workspace

STARTING = 10.0  # seconds
READER = Options(sets=("core", "mesh", "context"), checkpoint="never")


@dataclass(frozen=True, slots=True)
class Hosted:
    """Who serves agents here.

    Attributes:
        owner: this program does. clients: connected to it. other: who does instead, as its lock says, "" when nobody is known.
        trouble: why this program cannot.
    """

    owner: bool = False
    clients: int = 0
    other: str = ""
    trouble: str = ""


class Hosting:
    """The station of a screen, and the thread it lives on. ``begin`` and ``close`` may be called from any thread."""

    def __init__(self, workspace: Workspace, registry: TaskRegistry | None = None) -> None:
        self._workspace, self._registry = workspace, registry
        self._station: Station | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._trouble = ""

    def begin(self) -> None:
        """Take the lock and listen, or stand beside whoever has it. Raises nothing; ``state`` says what went wrong."""
        from mog.app.mcp.owner import Owner
        from mog.app.mcp.place import Place
        from mog.app.mcp.station import Station

        with self._lock:
            if self._closed or self._station is not None:
                return
            try:
                owner = Owner.take(Place(self._workspace.root))
            except (MogError, OSError) as error:
                self._trouble = str(error)
                return
            self._station = Station(self._workspace.root, Options(), self._registry, owner, workspace=self._workspace)
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="mog-host", daemon=True)
            self._thread.start()
            started = asyncio.run_coroutine_threadsafe(self._station.start(), self._loop)
            with contextlib.suppress(TimeoutError):
                started.result(STARTING)

    def state(self) -> Hosted:
        """Who serves; costs a look at the lock's file where it is somebody else."""
        station = self._station
        if station is None:
            return Hosted(trouble=self._trouble)
        if station.owns:
            return Hosted(True, station.connections)
        from mog.engine.store.lock import holder

        return Hosted(other=holder(station.place.lock().path))

    def replay(self, call: Call) -> Call:
        """Ask a read of the record once more, now; nothing is written for it.

        Returns the call as it is now, with its ``told``, ``path`` and ``marks``.

        Raises:
            UsageError: it wrote, or was not kept whole. MogError: what the question is answered with now.
        """
        from mog.app.mcp import answers
        from mog.app.mcp.desk import Desk

        tool, given = _again(call)
        desk = (
            self._station.desk
            if self._station is not None
            else Desk(self._workspace.root, Options(), None, self._workspace)
        )
        sent, seconds = desk.asked_again(tool, given, READER)
        made = replace(
            call, at=datetime.now(UTC).isoformat(timespec="milliseconds"), seq=0, path=sent.path, tokens=sent.tokens
        )
        outcome = str(sent.data.get("error", "failed")) if sent.failed else "ok"
        return replace(
            made, ms=round(seconds * 1_000, 3), outcome=outcome, told=answers.told(sent), marks=desk.marks(sent.path)
        )

    def close(self) -> None:
        """Hang up, so that the bridges take over at once, and give the lock back."""
        with self._lock:
            self._closed = True
            station, loop, thread = self._station, self._loop, self._thread
        if station is None or loop is None or thread is None:
            return
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(station.close(), loop).result(STARTING)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(2)


def _again(call: Call) -> tuple[Tool, dict[str, object]]:
    """The tool and the arguments of a call that can be asked again. Raises UsageError."""
    from mog.app.mcp.resources import tool_of
    from mog.app.mcp.table import BY_NAME

    tool = BY_NAME.get(call.tool) or tool_of(call.tool)
    if tool is None:
        raise UsageError(f"this mog has no tool {call.tool!r:.60}", way_out="only what it can ask is asked again")
    if tool.writes:
        raise UsageError("it wrote something, and a replay writes nothing", where=call.tool, way_out="replay reads")
    if not call.whole:
        raise UsageError("its arguments were not kept whole", where=call.tool, way_out="ask it anew with mog")
    return tool, dict(call.arguments)
