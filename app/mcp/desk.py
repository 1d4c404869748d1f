"""The desk: one open workspace and what answers from it. Every connection of a process asks the same desk.

Who calls: ``server`` with a tool, its arguments and who asks. What may not come in: the protocol's package, streams, sockets. Nothing
here computes on the event loop: the workspace is opened, indexed and asked on threads.

A desk answers before the index is ready, and says how far it is.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mog.app import config as configuration
from mog.app.mcp import answers, arguments
from mog.app.mcp.account import Account
from mog.app.mcp.answers import Answer, Sent
from mog.app.mcp.claims import Claims
from mog.app.mcp.crew import Crew
from mog.app.mcp.options import Options
from mog.app.mcp.table import Tool, cap_of
from mog.engine.errors import Cancelled, HeldByOther, IndexMissing, MogError, PolicyDenied, WorkspaceError
from mog.engine.model import Change, IndexStamp, Progress

if TYPE_CHECKING:
    from mog.engine.executor.registry import TaskRegistry
    from mog.engine.ledgers.chain import Event
    from mog.engine.traffic import Traffic
    from mog.engine.workspace import Workspace

FIRST_INDEX = 4.0  # seconds a question waits for an index that is being built
TURN_SECONDS = 2.0  # a write waits so long while others write


@dataclass(frozen=True, slots=True)
class Client:
    """Who asks: name and version as it says, what its command line allows it, the conversation as far as it is known.

    ``approved``, ``refused``: of a controlled write, how a person allowed it, or why not.
    """

    name: str = ""
    options: Options = field(default_factory=Options)
    session: str = ""
    approved: str = ""
    refused: str = ""


@dataclass(slots=True)
class Ask:
    """One call, for the body of a tool.

    Attributes:
        given: checked arguments. key: of a call that writes, "" else. events: what was recorded of it before, when it is a
            repetition and was recorded. tell: progress. cancelled: the client no longer waits.
    """

    desk: Desk
    client: Client
    given: Mapping[str, Any]
    key: str = ""
    events: tuple[Event, ...] = ()
    tell: Callable[[Progress], None] = lambda _: None
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def workspace(self) -> Workspace:
        """The open workspace."""
        return self.desk.workspace

    def going_on(self, progress: Progress) -> None:
        """Progress of a long call. Raises Cancelled when nobody waits for it any more."""
        if self.cancelled.is_set():
            raise Cancelled("the client cancelled it", way_out="what was recorded stays recorded")
        self.tell(progress)


class Desk:
    """Opened by ``begin`` on a thread; until then every question waits for it.

    Args:
        root: the workspace. options: of the process, not of a client: nothing is written when they are read-only. registry: as of
            ``Workspace.open``. workspace: of a program with a screen, which opened it, watches, indexes and closes it; None: the desk
            opens one of its own, and as the owner keeps its index up (``live``).
    """

    def __init__(
        self, root: Path, options: Options, registry: TaskRegistry | None = None, workspace: Workspace | None = None
    ) -> None:
        self.root = root
        self.options = options
        self.crew = Crew()
        self.claims = Claims(root / ".mog" / "run")
        self.account = Account(lambda session: self.workspace.working_set(session))
        self.owns = False
        self._registry = registry
        self._lent = workspace
        self._workspace: Workspace | None = None
        self._traffic: Traffic | None = None
        self._started = False
        self._opened = threading.Event()
        self._indexed = threading.Event()
        self._trouble: MogError | None = None
        self._building = "starting"
        self._listeners: list[Callable[[Change], None]] = []
        self._lock = threading.Lock()
        self._gaps: tuple[int, dict[str, int]] = (-1, {})
        self._unsubscribe: Callable[[], None] = lambda: None

    # opening and closing

    def begin(self) -> None:
        """Open the workspace on a thread, once; a question begins it too."""
        with self._lock:
            started, self._started = self._started, True
        if not started:
            threading.Thread(target=self._open, name="mog-open", daemon=True).start()

    def _open(self) -> None:
        """What goes wrong here is what every question is answered with."""
        try:
            from mog.engine.traffic import Traffic
            from mog.engine.workspace import Workspace

            if self.options.demo:
                from mog.app.mcp import demo

                demo.make(self.root)
            self._workspace = self._lent or Workspace.open(
                self.root, configure=lambda root: configuration.load(root, os.environ).engine, registry=self._registry,
                caches=not self.options.read_only,
            )  # fmt: skip
            self._traffic = None if self.options.read_only else Traffic(self._workspace.mog_dir)
            self._unsubscribe = self._workspace.subscribe(self._changed)
            if self._workspace.has_index():
                self._ready()
            elif self.options.read_only:
                self._building = "there is no index, and this server may not write one"
        except MogError as error:
            self._trouble = error
        except OSError as error:
            self._trouble = WorkspaceError(str(error), where=str(self.root), way_out="check the folder and its rights")
        finally:
            self._opened.set()

    def live(self) -> None:
        """Bring the index up to the disk and keep it there; on a thread, by the owner. Returns when the index is there."""
        self.begin()
        self._opened.wait()
        if self._workspace is None or self.options.read_only:
            return
        self.owns = True
        if self._lent is not None:
            self._building = self._building and "the index is being built by the workbench"
            return
        try:
            new = not self._workspace.has_index()
            if new:
                self._build()
            self._workspace.start_watch()
        except MogError as error:
            self._building = f"the index could not be built: {error}"
            return
        if new:
            with contextlib.suppress(MogError):  # a search says itself what is wrong
                self._workspace.context.prepare()

    def _build(self) -> None:
        def tell(progress: Progress) -> None:
            of = f" of {progress.total:,}" if progress.total else ""
            self._building = f"the index is being built: {progress.stage} {progress.done:,}{of}"

        assert self._workspace is not None
        self._building = "the index is being built"
        with contextlib.suppress(HeldByOther):
            self._workspace.index(progress=tell)
        if self._workspace.has_index():
            self._ready()

    def _ready(self) -> None:
        self._building = ""
        self._indexed.set()

    def close(self) -> None:
        """Close everything; what is still computed is not waited for."""
        self.crew.close()
        self.account.close()
        if self._workspace is not None:
            if self.options.checkpoint == "on-exit":
                self.save_counts()
            self._unsubscribe()
            if self._lent is None:
                self._workspace.close()
        if self._traffic is not None:
            self._traffic.close()

    @property
    def workspace(self) -> Workspace:
        """The open workspace; waits for it. Raises what kept it from opening."""
        self.begin()
        self._opened.wait()
        if self._trouble is not None:
            raise self._trouble
        assert self._workspace is not None
        if self.options.read_only and not self._workspace.mog_dir.is_dir():
            what = "nothing was indexed or recorded here, and this server writes nothing"
            raise IndexMissing(
                what, where=str(self.root), way_out="run `mog index`, or serve without --checkpoint never"
            )
        return self._workspace

    @property
    def ledger(self) -> Path | None:
        """Where the ledger of this clone is; None until the workspace is open."""
        return self._workspace.ledger_path if self._workspace is not None else None

    # news

    def listen(self, listener: Callable[[Change], None]) -> Callable[[], None]:
        """Have every change told, on any thread; the returned function ends it."""
        with self._lock:
            self._listeners.append(listener)

        def end() -> None:
            with self._lock, contextlib.suppress(ValueError):
                self._listeners.remove(listener)

        return end

    def told(self, kind: str) -> None:
        """Say that something changed which the feed of the workspace does not see: a write of a client of ours.

        Whoever lent us the workspace hears it too.
        """
        if self._lent is not None:
            self._lent.tell(kind)
        else:
            self._changed(Change(kind, 0))

    def _changed(self, change: Change) -> None:
        if change.kind == "index" and not self._indexed.is_set():
            self._ready()
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener(change)

    # the state that answers

    def stamp(self) -> dict[str, Any]:
        """Which index and ledger answer, how far the index is, and what it does not cover."""
        workspace = self._workspace
        if workspace is None:
            return {"generation": 0, "ref": "", "state": str(self._trouble or self._building)}
        with contextlib.suppress(MogError):
            at = workspace._stamp()
            found: dict[str, Any] = {"generation": at.generation, "ref": at.ref, "dirty": at.dirty}
            some = f"the index is being built: {at.unread:,} files not read yet" if at.unread else "ready"
            found["state"] = self._building or (some if at.generation else "no index")
            found["watch"] = workspace.watcher
            return found | self._coverage(at)
        return {"generation": 0, "ref": "", "state": self._building or "unknown"}

    def _coverage(self, at: IndexStamp) -> dict[str, Any]:
        """Files the index knows nothing or little of; counted once a generation."""
        if not at.generation:
            return {}
        if self._gaps[0] != at.generation and self._workspace is not None:
            health = self._workspace._view().report()["health"]
            counts = {"skipped": sum(health.skipped.values()), "no_symbols": sum(health.no_symbols.values())}
            counts |= {"gated": health.gated, "problems": health.problem_count}
            self._gaps = (at.generation, {name: count for name, count in counts.items() if count})
        return {"gaps": self._gaps[1]} if self._gaps[1] else {}

    def need_index(self) -> None:
        """Wait a little for an index that is being built. Raises IndexMissing, with how far it is."""
        self.begin()
        self._opened.wait()
        if self._indexed.is_set() or self._trouble is not None:
            return
        self._indexed.wait(FIRST_INDEX)
        if not self._indexed.is_set() and not self.workspace.has_index():
            way_out = "ask again in a moment; mesh tools and notes answer already" if self.owns else "run `mog index`"
            raise IndexMissing(self._building or "there is no index yet", where=str(self.root), way_out=way_out)

    def save_counts(self) -> None:
        """Write the counts of walks, as far as that may be."""
        if self._workspace is not None and not self.options.read_only and self._workspace.ledger_path.exists():
            with contextlib.suppress(MogError):
                self._workspace.beliefs.telemetry.save()

    # answering

    async def call(
        self, tool: Tool, given: Mapping[str, Any], client: Client, *, key: str = "", again: bool = False,
        tell: Callable[[Progress], None] = lambda _: None,
    ) -> Sent:  # fmt: skip
        """One call of a tool: answered, refused, or, after its time, left. Never raises but when the caller is cancelled."""
        began, warm = time.perf_counter(), self._opened.is_set()
        cancelled = threading.Event()

        def job() -> Sent:
            sent = self._answered(tool, given, Ask(self, client, given, key, (), tell, cancelled), again)
            self._record(tool.name, given, client, sent, began, warm)
            return sent

        try:
            with self.account.answering():
                return await self.crew.run(job, tool.seconds)
        except TimeoutError:
            cancelled.set()
            return answers.failure(_late(tool), {"generation": 0, "state": self._building or "busy"})
        except asyncio.CancelledError:
            cancelled.set()
            raise
        except MogError as error:
            return answers.failure(error, {"generation": 0, "state": self._building or "busy"})

    def _answered(self, tool: Tool, given: Mapping[str, Any], ask: Ask, again: bool) -> Sent:
        """On a thread: the answer cut to its cap, or the failure."""
        try:
            _ = self.workspace
            ask.given = checked = arguments.checked(tool, given)
            body: Callable[[Ask], Answer] = _body(tool.body)
            with self._writing(tool, ask, again) if tool.writes else contextlib.nullcontext():
                answer = self._in_turn(body, ask) if tool.writes else body(ask)
            return answers.fit(answer, self.stamp(), cap_of(tool, checked))
        except MogError as error:
            return answers.failure(error, self.stamp())
        except RecursionError:
            return answers.failure(
                MogError("it is nested too deep", where=tool.name, way_out="ask for less"), self.stamp()
            )
        except Exception as fault:  # the last line of defence: a fault of ours must not end the connection
            what = f"a fault in mog: {type(fault).__name__}: {fault}"[:300]
            return answers.failure(
                MogError(what, where=tool.name, way_out="it is not your question; please report it"), self.stamp()
            )

    def _in_turn(self, body: Callable[[Ask], Answer], ask: Ask) -> Answer:
        """A body that writes, once more while somebody else is writing and nothing of it is recorded."""
        from mog.engine.ledgers import asked

        until = time.monotonic() + TURN_SECONDS
        while True:
            try:
                return body(ask)
            except HeldByOther:
                log = self.workspace.beliefs.log
                if time.monotonic() > until or ask.cancelled.is_set() or (ask.key and asked.answered(log, ask.key)):
                    raise
            time.sleep(random.uniform(0.005, 0.05))

    @contextlib.contextmanager
    def _writing(self, tool: Tool, ask: Ask, again: bool) -> Iterator[None]:
        """Around a body that writes: it may, it was not done before, and what it records says who asked."""
        from mog.engine.ledgers import asked

        self._may_write(tool, ask.client)
        words = {"by": ask.client.name[:80], "tool": tool.name, "key": ask.key, "approved": ask.client.approved}
        with self.claims.carrying(ask.key) if ask.key else contextlib.nullcontext(False) as begun:
            if begun or again:
                ask.events = asked.answered(self.workspace.beliefs.log, ask.key)
            with asked.asking(**words):
                yield

    def _may_write(self, tool: Tool, client: Client) -> None:
        if self.options.read_only or client.options.read_only:
            raise PolicyDenied(
                "this server only reads", where=tool.name, way_out="start it with --checkpoint every-ask"
            )
        if tool.approved and self.options.demo:
            raise PolicyDenied(
                "a demonstration refuses controlled writes", where=tool.name, way_out="serve a repository of yours"
            )
        if tool.approved and client.refused:
            raise PolicyDenied(client.refused, where=tool.name, way_out="ask the person before you try it again")
        if tool.approved and not client.approved:
            way_out = "the person opens the workbench (`mog tui`) and approves it there, or when the client asks; or restarts the"
            way_out += " server with --allow-writes"
            raise PolicyDenied("it needs an approval", where=tool.name, way_out=way_out)

    def _record(
        self, name: str, given: Mapping[str, Any], client: Client, sent: Sent, began: float, warm: bool
    ) -> None:
        if self._traffic is None or client.options.read_only:
            return
        from mog.engine.traffic import MAX_PATH, Call

        outcome = str(sent.data.get("error", "failed")) if sent.failed else "ok"
        generation = sent.data.get("index", {}).get("generation", 0)
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        ms = round((time.perf_counter() - began) * 1_000, 3)
        path = sent.path[:MAX_PATH]
        made = Call(at, client.name, client.session, name, given, outcome, sent.tokens, ms, path, generation, warm)
        self._traffic.record(replace(made, told=answers.told(sent), marks=self.marks(path)))

    def asked_again(self, tool: Tool, given: Mapping[str, Any], options: Options) -> tuple[Sent, float]:
        """A question once more, on this thread, for the person who looks at the record: nothing of it is recorded or counted."""
        began = time.perf_counter()
        sent = self._answered(tool, given, Ask(self, Client("replay", options), given), False)
        return sent, time.perf_counter() - began

    def marks(self, path: Sequence[str]) -> tuple[str, ...]:
        """How what was walked is now; what cannot be told is left out, for traffic is no reason to fail."""
        with contextlib.suppress(MogError):
            return self.workspace.marks(path) if path else ()
        return ()


def _late(tool: Tool) -> MogError:
    what = f"it takes longer than {tool.seconds:.0f} seconds and goes on without you"
    way_out = (
        "look whether it was recorded before you repeat it"
        if tool.writes
        else "ask for less: a smaller budget, a narrower target"
    )
    return MogError(what, where=tool.name, way_out=way_out)


def _body(name: str) -> Any:
    module, _, function = name.partition(":")
    found = importlib.import_module(f"mog.app.mcp.{module if module == 'resources' else f'tools_{module}'}")
    return getattr(found, function)
