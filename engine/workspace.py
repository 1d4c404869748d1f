"""``Workspace``: the one door to the engine. Every surface asks it, and nothing else of the engine.

What lives here: opening a folder, handing each call to the room that answers it, the change feed. What may not come in: rules,
SQL, parsing, text for people. Calls are safe from any thread; readers never wait for the writer.
"""

from __future__ import annotations

import contextlib
import os
import secrets as entropy
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mog.engine import ontology as ontologies
from mog.engine.code import git
from mog.engine.code.indexer import Indexer, Outcome
from mog.engine.config import EngineConfig
from mog.engine.errors import IndexMissing, NotFound, NoWorkspace, StoreDamaged, UsageError
from mog.engine.feed import Feed
from mog.engine.model import (
    Change,
    Check,
    Freshness,
    GrammarInfo,
    ImpactAnswer,
    IndexReport,
    IndexStamp,
    MapAnswer,
    Neighborhood,
    Node,
    Pin,
    PinState,
    Progress,
    SearchAnswer,
    Status,
    Tier,
    VerifyReport,
)
from mog.engine.roots import find_root as find_root  # its callers know it from here too

if TYPE_CHECKING:
    import networkx as nx

    from mog.engine.beliefs import Beliefs
    from mog.engine.code.history import History
    from mog.engine.code.live import LiveIndex
    from mog.engine.code.view import CodeView
    from mog.engine.executor.registry import TaskRegistry
    from mog.engine.graph import ContextGraph
    from mog.engine.lookout import Lookout
    from mog.engine.memory.notes import Notes
    from mog.engine.memory.working_set import WorkingSet, WorkingSets
    from mog.engine.retrieval.context import Context
    from mog.engine.retrieval.model import Item
    from mog.engine.store.nx_snap import Snap
    from mog.engine.work import Work

__all__ = ["Workspace"]

ALL_TIERS = tuple(Tier)
_IGNORED = "*\n!GRAPH.md\n!contracts/\n!contracts/**\n!plans/\n!plans/**\n"


class Workspace:
    """A repository or folder with its ``.mog``: index, pins, live updates.

    Open it with :meth:`open`; close it, or use ``with``.
    """

    def __init__(
        self, root: Path, config: EngineConfig, registry: TaskRegistry | None = None, *, caches: bool = True
    ) -> None:
        self.root = root
        self.config = config
        self._caches = caches
        self._registry = registry
        self.mog_dir = root / ".mog"
        self.ontology = ontologies.load_project(self.mog_dir)
        self._feed = Feed()
        self._local = threading.local()
        self._guard = threading.RLock()
        self._readers: list[Any] = []
        self._beliefs: Beliefs | None = None
        self._context: Context | None = None
        self._memory: Notes | None = None
        self._sets: WorkingSets | None = None
        self._live: LiveIndex | None = None
        self._lookout: Lookout | None = None
        self._own_indexer: Indexer | None = None
        self._history: History | None = None

    # opening and closing

    @classmethod
    def open(
        cls, start: Path | None = None, *, config: EngineConfig | None = None,
        configure: Callable[[Path], EngineConfig] | None = None, registry: TaskRegistry | None = None, caches: bool = True,
    ) -> Workspace:  # fmt: skip
        """The workspace around ``start`` (default: the current folder): nearest folder with ``.mog``, ``mog.yaml`` or ``.git``.

        Args:
            config: settings. configure: makes settings once the root is known; wins over ``config``.
            registry: workers and auditors of a program that embeds the engine.
            caches: whether searches keep words and handles on disk; False: in memory, for a process that may write nothing.

        Raises:
            NoWorkspace: none of the three is there. ConfigError: a setting or ``.mog/GRAPH.md`` cannot be used.
            StoreDamaged: ``.mog`` is a link or no folder.
        """
        root = find_root((start or Path.cwd()).absolute())
        return cls(root, configure(root) if configure else config or EngineConfig(), registry, caches=caches)

    @classmethod
    def init(cls, start: Path) -> list[str]:
        """Make a folder a workspace: ``.mog`` with its ``.gitignore``, and ``.mogignore``. Nothing is overwritten.

        Returns the paths written, relative to the root.
        """
        try:
            root = find_root(start.absolute())
        except NoWorkspace:
            root = start.absolute()
        wanted = {
            ".mog/.gitignore": _IGNORED,
            ".mogignore": "# Files mog leaves out, besides those git ignores. The rules are those of .gitignore.\n",
        }
        _make_folder(root / ".mog")
        return [name for name, text in wanted.items() if _write_new(root / name, text)]

    def close(self) -> None:
        """Stop watching and close every store."""
        self.stop_watch()
        with self._guard:
            readers, self._readers = self._readers, []
            self._local = threading.local()
            self._context = None
            if self._sets is not None:
                self._sets.close()
            if self._memory is not None:
                self._memory.close()
            self._sets = self._memory = None
            if self._beliefs is not None:
                self._beliefs.close()
                self._beliefs = None
        for reader in readers:
            reader.close()

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # the index

    def has_index(self) -> bool:
        """Whether an index was published."""
        try:
            self._view()
        except IndexMissing:
            return False
        return True

    def index(
        self, *, full: bool = False, workers: int | None = None, progress: Callable[[Progress], None] | None = None
    ) -> IndexReport:
        """Bring the index up to the disk.

        Raises:
            HeldByOther: another process indexes. GitRefused: git refuses or fails. ProviderError: no grammar loads at all.
        """
        wall, cpu = time.perf_counter(), _cpu()
        outcome = self._indexer().run(full=full, workers=workers or 0, progress=progress)
        self._announce(outcome)
        status = self._view().report()
        return IndexReport(
            **status, parsed=outcome.parsed, relinked=outcome.relinked, changed=outcome.changed,
            seconds=time.perf_counter() - wall, cpu_seconds=_cpu() - cpu,
        )  # fmt: skip

    def status(self) -> Status:
        """What is indexed, what is not and why, and how many files differ from the index now."""
        from mog.engine.code.status import describe

        return describe(self.root, self.mog_dir, self._view_or_none(), self._indexer(), len(self._pins_only()), self.watcher)

    # questions

    def find(self, target: str) -> Node:
        """The one node ``target`` means: id, locator, path, ``path::name``, ``path:line``, qualified or bare name.

        Raises:
            NotFound, AmbiguousTarget (with candidates), IndexMissing.
        """
        with self._reading() as view:
            return view.find(target)

    def search(self, query: str, *, limit: int = 20, kind: str = "") -> SearchAnswer:
        """Nodes whose name, parts, signature, documentation or text match, best first."""
        with self._reading() as view:
            return view.search(query, limit, (kind,) if kind else (), self._same)

    def neighbors(
        self, target: str, *, kinds: Collection[str] = (), direction: str = "both",
        tiers: Sequence[str | Tier] = ALL_TIERS, limit: int = 200, history: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> Neighborhood:  # fmt: skip
        """A node with its edges, exact totals, and the pins on it; with ``history`` what changed in the same commits too."""
        from mog.engine.retrieval import reach

        wanted = {Tier[tier] if isinstance(tier, str) else tier for tier in tiers}
        with self._reading() as view:
            node = view.find(target)
            hood = view.neighborhood(node, kinds, direction, wanted, limit, self._same)
            hood = reach.whole(view, hood, self._doors(history, progress))
        pins = (state for state in self.pins() if node.locator in (state.pin.anchor.locator, state.now_at))
        return replace(hood, pins=tuple(pins))

    def impact(
        self, *targets: str, depth: int = 8, limit: int = 200, after: int = 0, maybe: bool = False, tests: bool = False,
        changed: str = "", history: bool = False, progress: Callable[[Progress], None] | None = None,
    ) -> ImpactAnswer:  # fmt: skip
        """What deserves a look when all of ``targets`` change; certain edges only unless ``maybe``.

        Args:
            after: rows left out before the page of ``limit`` rows. tests: only tests.
            changed: in place of targets what git says is changed now: ``files`` (each whole) or ``lines`` (the symbols they are in).
            history: also what changed in the same commits; the first such question reads ``git log``.

        Raises:
            NotFound, AmbiguousTarget: as ``find``. UsageError: no target, or no git to ask. GitRefused.
        """
        from mog.engine.retrieval import reach

        doors = self._doors(history, progress)
        with self._reading() as view:
            seeds = self._changed(view, changed, doors) if changed else reach.named(view, targets)
            return reach.impact(view, seeds, reach.Ask(depth, limit, after, maybe, tests), doors)

    def _changed(self, view: CodeView, how: str, doors: Any) -> Any:
        from mog.engine.code import changed
        from mog.engine.retrieval import reach

        if how not in ("files", "lines"):
            raise UsageError(f"nothing is changed by {how!r:.20}", way_out="`files` or `lines`")
        return reach.changed(view, changed.now(self.root), whole=how == "files", doors=doors)

    def _doors(self, history: bool, progress: Callable[[Progress], None] | None) -> Any:
        from mog.engine.retrieval.reach import Doors

        past = partial(self.history, progress=progress) if history else None
        return Doors(self._same, self.beliefs.disk.holding, past, self.config.min_co_change)

    def history(self, *, progress: Callable[[Progress], None] | None = None) -> History:
        """Which files changed in the same commits, as of the commit that is checked out."""
        from mog.engine.code import history

        window = self.config.co_change_window
        found = history.load(self.root, self._make_mog(), window=window, remembered=self._history, progress=progress)
        self._history = found
        return found

    def map(self, *, limit: int = 25) -> MapAnswer:
        """Files that others lean on most."""
        with self._reading() as view:
            return view.map(limit)

    def source(self, target: str) -> tuple[str, Freshness]:
        """Text of a node as it is on disk now, and whether its file is as the index has it.

        Raises:
            PolicyDenied: it is gated. NotFound: it is gone, or is no file or symbol.
        """
        with self._reading() as view:
            node = view.find(target)
            row = view.db.file_by_path(os.fsencode(node.path)) if node.path else None
        return self.beliefs.disk.source(node.path, node.qual), self._same(row)

    def export_edges(self, kind: str) -> Iterator[dict[str, str]]:
        """Every edge of one type as ``caller``, ``callee`` (``path:line`` of definitions), ``name`` as written, ``tier``."""
        from mog.engine.code.export import edges

        with self._reading() as view:
            yield from edges(view, kind)

    # as networkx

    def view(self, *, kinds: Iterable[str] | None = None, tiers: Iterable[Tier] | None = None) -> Snap:
        """The code graph of this generation as a frozen networkx graph on the arrays: ``nx.ancestors(view, node.key)``.

        Nodes are ``Node.key`` integers; edges are those of the given types and tiers (None: all).
        """
        from mog.engine.store import nx_backend

        with self._reading() as view:
            return nx_backend.view(view.graph, kinds=kinds, tiers=tiers)

    def subgraph(self, target: str, *, depth: int = 1, limit: int = 2_000) -> nx.MultiDiGraph[int]:
        """A real networkx graph of what lies within ``depth`` hops of ``target``, nearest first, at most ``limit`` nodes.

        Nodes are ``Node.key`` with attributes ``locator``, ``type``, ``kind``; edges have ``kind`` and ``tier``.
        """
        with self._reading() as view:
            return view.subgraph(view.find(target), depth, limit)

    def reasons(self) -> ContextGraph:
        """The reason layer: each pin an observation, joined by ``about`` to the code it stands on now."""
        from mog.engine.beliefs import observations

        return observations(self.ontology, self.config.project, self.pins(), self._find_or_none)

    def _find_or_none(self, target: str) -> Node | None:
        try:
            return self.find(target)
        except (NotFound, IndexMissing):
            return None

    # beliefs

    @property
    def beliefs(self) -> Beliefs:
        """What is believed in this clone, seen from this worktree: pins, claims, decisions, assumptions, evidence."""
        from mog.engine.beliefs import Beliefs, Place

        with self._guard:
            if self._beliefs is None:
                folder = self._ledger_dir()
                _make_folder(folder)
                place = Place(self.root, folder, partial(clone_key, folder), self._paths, self._find_or_none, _now)
                self._beliefs = Beliefs(place, self.ontology, self.config)
            return self._beliefs

    # context

    @property
    def context(self) -> Context:
        """Bounded answers for agents and people: search, expand, handles, catalog, pack and scope."""
        from mog.engine.retrieval.context import Context

        def notes(query: str, locators: Sequence[str], budget: int) -> tuple[Item, ...]:
            return self.memory.items(query, budget, places=locators)

        with self._guard:
            if self._context is None:
                folder = self._make_mog() if self._caches else self.mog_dir
                disk = self.beliefs.disk
                self._context = Context(self.root, folder, self._reading, disk, self.config, notes, caches=self._caches)
            return self._context

    @property
    def memory(self) -> Notes:
        """What people, agents and tools wanted kept, held against the disk."""
        from mog.engine.memory.notes import Notes

        with self._guard:
            if self._memory is None:
                self._memory = Notes(self.beliefs, self.config, self._reading)
            return self._memory

    @property
    def working_sets(self) -> WorkingSets:
        """What was served to whom, by session."""
        from mog.engine.memory import served_now
        from mog.engine.memory.working_set import WorkingSets

        with self._guard:
            if self._sets is None:
                judge = served_now.judge(self.context.text, self.memory.recall)
                self._sets = WorkingSets(self._make_mog(), self.config, judge)
            return self._sets

    def working_set(self, session: str, window: int = 0) -> WorkingSet:
        """The working set of one session; see ``WorkingSets.session``."""
        return self.working_sets.session(session, window)

    @property
    def work(self) -> Work:
        """The plans of this repository and what became of them."""
        from mog.engine.work import CodeDoor, Work

        refresh = CodeDoor(lambda progress: self.index(progress=progress), self._reading)
        return Work(self.beliefs.place, self.beliefs, self.config, refresh, self._registry)

    def pin(self, locator: str, note: str) -> PinState:
        """Anchor a note to a symbol or file as it is on disk now.

        Raises:
            NotFound, AmbiguousTarget: no such target. PolicyDenied: the note holds a credential. HeldByOther.
        """
        state = self.beliefs.pin(self._place(locator), note)
        self._feed.say(Change("pins", self._generation(), detail=f"pinned {state.pin.anchor.locator}"))
        return state

    def unpin(self, pin_id: str) -> Pin:
        """Take a pin away. Raises NotFound."""
        pin = self.beliefs.unpin(pin_id)
        self._feed.say(Change("pins", self._generation(), detail=f"unpinned {pin.anchor.locator}"))
        return pin

    def pins(self) -> tuple[PinState, ...]:
        """Every pin with what the disk says about it now."""
        return self.beliefs.states() if self.ledger_path.exists() else ()

    def verify(self, *, fix: bool = False) -> VerifyReport:
        """Compare every anchor with the disk; ``fix`` records the new place of what moved."""
        report = self.beliefs.verify(fix, self._stamp())
        if report.fixed:
            self._feed.say(Change("pins", self._generation(), detail=f"{report.fixed} pins follow what they were put on"))
        return report

    # upkeep

    def doctor(self, *, repair: bool = False) -> tuple[Check, ...]:
        """Check stores, grammars, git and watcher limits; ``repair`` rebuilds what can be rebuilt."""
        from mog.engine.doctor import examine

        return examine(self, repair=repair)

    def grammars(self) -> tuple[GrammarInfo, ...]:
        """Every language of the index or of the core set: where its grammar comes from and whether it loads."""
        from mog.engine.code.status import grammars

        view = self._view_or_none()
        return grammars(view.languages() if view else {})

    def add_grammar(self, language: str) -> GrammarInfo:
        """Download a grammar: the only call that may use the network. Raises ProviderError."""
        from mog.engine.code import grammars
        from mog.engine.code.status import grammars as listed

        grammars.add(language)
        return next(info for info in listed({language: 0}) if info.language == language)

    # live

    def subscribe(self, callback: Callable[[Change], None]) -> Callable[[], None]:
        """Call ``callback`` after each change, on a worker thread; the returned function ends it."""
        return self._feed.subscribe(callback)

    def start_watch(self) -> None:
        """Keep the index up to the disk from now on."""
        from mog.engine.code.live import LiveIndex

        with self._guard:
            if self._live is None and self.config.watch != "off":
                self._live = LiveIndex(self._indexer(), self.config, self._announce, self._feed)
                self._lookout = self._look_out()
                self._live.start()

    def stop_watch(self) -> None:
        """Stop watching."""
        with self._guard:
            live, self._live = self._live, None
            lookout, self._lookout = self._lookout, None
        if live is not None:
            live.stop()
        if lookout is not None:
            lookout.stop()

    def _look_out(self) -> Lookout:
        from mog.engine.lookout import Lookout

        def say(detail: str, paths: tuple[str, ...]) -> None:
            self._feed.say(Change("beliefs", self._generation(), paths, detail))

        lookout = Lookout(self.beliefs, self.config.recheck == "at_once", say)
        lookout.start()
        return lookout

    @property
    def watcher(self) -> str:
        """``live``, ``polling: <why>`` or ``off``."""
        return self._live.state if self._live is not None else "off"

    # inside

    def _make_mog(self) -> Path:
        _make_folder(self.mog_dir)
        _write_new(self.mog_dir / ".gitignore", _IGNORED)
        return self.mog_dir

    def _indexer(self) -> Indexer:
        self._make_mog()
        with self._guard:
            if self._own_indexer is None:
                self._own_indexer = Indexer(self.root, self.mog_dir, self.ontology, self.config)
            return self._own_indexer

    def _view(self) -> CodeView:
        """This thread's view of the newest generation."""
        from mog.engine.code.view import CodeView
        from mog.engine.store.index_db import IndexDB

        held: CodeView | None = getattr(self._local, "view", None)
        if held is None:
            reader = IndexDB.open(self.mog_dir / "index.db", write=False)
            with self._guard:
                self._readers.append(reader)
        else:
            reader = held.db
        if held is None or held.outdated():
            held = CodeView(reader, self.ontology, held)
            self._local.view = held
        return held

    @contextlib.contextmanager
    def _reading(self) -> Iterator[CodeView]:
        view = self._view()
        with view.db.read():
            yield self._view()

    def _view_or_none(self) -> CodeView | None:
        return self._view() if self.has_index() else None

    def _stamp(self) -> IndexStamp:
        view = self._view_or_none()
        return view.stamp if view else IndexStamp(0, "", False)

    def _generation(self) -> int:
        return self._stamp().generation

    def _same(self, row: Any) -> Freshness:
        return self.beliefs.disk.file_freshness(row)

    def _place(self, target: str) -> Any:
        from mog.engine.ids import Locator, parse_locator

        view = self._view_or_none()
        if view is None:
            return parse_locator(target)
        node = self.find(target)
        return Locator(node.type, node.path, node.qual)

    @property
    def ledger_path(self) -> Path:
        """Where the event log of this clone is (it may not exist yet)."""
        return self._ledger_dir() / "ledger.db"

    def _ledger_dir(self) -> Path:
        """Beliefs live once per clone: a linked worktree uses the ``.mog`` of the main one."""
        if (self.root / ".git").is_file():
            common = git.common_dir(self.root)
            if common is not None and common.name == ".git" and common.parent != self.root:
                return common.parent / ".mog"
        return self.mog_dir

    def _pins_only(self) -> tuple[Pin, ...]:
        return self.beliefs.pins() if self.ledger_path.exists() else ()

    def _paths(self) -> Iterable[str]:
        """Paths in which a moved body may stand: those of the index while it follows the disk, else of a listing."""
        view = self._view_or_none() if self._live is not None else None
        return view.paths() if view else self._indexer().files()

    def _announce(self, outcome: Outcome) -> None:
        if outcome.changed:
            self._feed.say(Change("index", outcome.generation, outcome.paths))
            if self._lookout is not None:
                self._lookout.changed()


def clone_key(folder: Path) -> bytes:
    """The secret of this clone (32 bytes, ``.mog/key``, mode 0600): keys digests of gated content.

    Made when the first such digest is asked for. An empty file, left by a full disk, has keyed nothing and is made anew.
    """
    path = folder / "key"
    if path.is_file() and not path.is_symlink() and path.stat().st_size == 0:
        path.unlink()
    with contextlib.suppress(FileExistsError):
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
        with open(os.open(path, flags, 0o600), "wb") as handle:
            handle.write(entropy.token_bytes(32))
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with open(fd, "rb") as handle:
        key = handle.read(64)
    if len(key) != 32:
        raise StoreDamaged("the key of this clone is damaged", where=str(path), way_out="delete it and run `mog index --full`")
    return key


def _make_folder(path: Path) -> None:
    path.mkdir(mode=0o700, exist_ok=True)
    if path.is_symlink():
        raise StoreDamaged(".mog is a link", where=str(path), way_out="remove it and run the command again")


def _write_new(path: Path, text: str) -> bool:
    try:
        with path.open("x", encoding="utf-8") as handle:
            handle.write(text)
    except FileExistsError:
        return False
    return True


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
