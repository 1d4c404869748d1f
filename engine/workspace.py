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
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mog.engine import ontology as ontologies
from mog.engine.code import git
from mog.engine.config import EngineConfig
from mog.engine.errors import IndexMissing, NotFound, NoWorkspace, StoreDamaged, UsageError
from mog.engine.feed import Feed
from mog.engine.model import (
    Change,
    Check,
    ContractsAnswer,
    Freshness,
    GrammarInfo,
    ImpactAnswer,
    IndexReport,
    IndexStamp,
    MapAnswer,
    Neighborhood,
    Node,
    Past,
    Pin,
    PinState,
    Progress,
    ScipExport,
    SearchAnswer,
    Status,
    Tier,
    VerifyReport,
)
from mog.engine.roots import find_root as find_root  # its callers know it from here too

if TYPE_CHECKING:
    import networkx as nx

    from mog.engine.approvals import Approvals
    from mog.engine.beliefs import Beliefs
    from mog.engine.breaks import Breaks
    from mog.engine.code.changed import Changed
    from mog.engine.code.freshness import Disk
    from mog.engine.code.history import History
    from mog.engine.code.indexer import Indexer, Outcome
    from mog.engine.code.live import LiveIndex
    from mog.engine.code.outline import Outline
    from mog.engine.code.view import CodeView
    from mog.engine.drills.room import Drills
    from mog.engine.executor.registry import TaskRegistry
    from mog.engine.graph import ContextGraph
    from mog.engine.lookout import Lookout
    from mog.engine.memory.notes import Notes
    from mog.engine.memory.working_set import WorkingSet, WorkingSets
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.near import Believed
    from mog.engine.reason.records import GraphNode
    from mog.engine.retrieval.around import Around
    from mog.engine.retrieval.context import Context
    from mog.engine.retrieval.model import Item
    from mog.engine.snapshots.room import Snapshots
    from mog.engine.store.nx_snap import Snap
    from mog.engine.traffic import Traffic
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
        self._held_disk: Disk | None = None
        self._context: Context | None = None
        self._memory: Notes | None = None
        self._snapshots: Snapshots | None = None
        self._sets: WorkingSets | None = None
        self._traffic: Traffic | None = None
        self._watched_ledger: Path | None = None
        self._told: int | None = None  # generation that the change feed told last, or that the first answer came from
        self._index_then: object = None
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
            self._sets = self._memory = self._snapshots = None
            if self._traffic is not None:
                self._traffic.close()
                self._traffic = None
            if self._beliefs is not None:
                self._beliefs.close()
                self._beliefs = None
            if self._held_disk is not None:
                self._held_disk.close()
                self._held_disk = None
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
            self._served_first(0)
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
        outcome = self._indexer().run(full=full, workers=workers or 0, progress=progress, early=self._announce)
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

    def around(
        self, target: str, *, depth: int = 2, limit: int = 200, tiers: Sequence[str | Tier] = (Tier.certain,)
    ) -> Around:
        """What leads to a node and what it leads to, ``depth`` hops each way, with the links among them; see ``Around``.

        Raises:
            NotFound, AmbiguousTarget: as ``find``. UsageError: a depth or limit below 1, or the repository as a whole.
        """
        from mog.engine.retrieval import around

        wanted = {Tier[tier] if isinstance(tier, str) else tier for tier in tiers}
        with self._reading() as view:
            return around.around(view, view.find(target), depth, limit, wanted, self._same)

    def outline(self, target: str = "", *, after: int = 0, limit: int = 200) -> Outline:
        """Children of a folder ("" or a path that ends in a slash), file or symbol, one page of them; see ``Outline``."""
        from mog.engine.code import outline

        with self._reading() as view:
            return outline.outline(view, target, after, limit, self._same)

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

    def changed(self) -> tuple[Changed, ...]:
        """Files that git says differ from the commit checked out, by path. Raises UsageError: no git here. GitRefused."""
        from mog.engine.code import changed

        return tuple(changed.now(self.root))

    def _changed(self, view: CodeView, how: str, doors: Any) -> Any:
        from mog.engine.code import changed
        from mog.engine.retrieval import reach

        if how not in ("files", "lines"):
            raise UsageError(f"nothing is changed by {how!r:.20}", way_out="`files` or `lines`")
        return reach.changed(view, changed.now(self.root), whole=how == "files", doors=doors)

    def _doors(self, history: bool, progress: Callable[[Progress], None] | None) -> Any:
        from mog.engine.retrieval.reach import Doors

        past = partial(self.history, progress=progress) if history else None
        return Doors(self._same, self._disk.holding, past, self.config.min_co_change)

    def history(self, *, progress: Callable[[Progress], None] | None = None) -> History:
        """Which files changed in the same commits, as of the commit that is checked out."""
        from mog.engine.code import history

        window = self.config.co_change_window
        found = history.load(self.root, self._make_mog(), window=window, remembered=self._history, progress=progress)
        self._history = found
        return found

    def touched(self, commit: str) -> tuple[str, ...]:
        """Paths that a commit touched. Raises UsageError, NotFound, GitRefused."""
        from mog.engine.code import changed

        return changed.of_commit(self.root, commit)

    def past(self, target: str, *, progress: Callable[[Progress], None] | None = None) -> Past:
        """What the history says of a file or symbol: see ``Past``. Raises NotFound, AmbiguousTarget as ``find``."""
        from mog.engine.retrieval import past

        held = self.history(progress=progress)
        node = self.find(target)
        if node.type != "symbol" or node.gated:
            return past.of_file(node.path, held)
        return past.of_symbol(self.root, node, held, self._places, self.config.min_co_change)

    def _places(self, path: str) -> list[tuple[int, int, str]]:
        """(first line, last line, qualified name) of the symbols of a file as it is on disk."""
        return [(span.line, span.end_line, span.qual) for span in (self._disk.spans(path) or {}).values() if not span.gated]

    def map(
        self, *, limit: int = 25, history: bool = False, progress: Callable[[Progress], None] | None = None
    ) -> MapAnswer:
        """Files that others lean on most; with ``history`` how often each changed, when, and by how many."""
        with self._reading() as view:
            answer = view.map(limit)
        if not history:
            return answer
        from mog.engine.retrieval import past

        held = self.history(progress=progress)
        return replace(answer, rows=tuple(replace(row, past=past.of_file(row.path, held)) for row in answer.rows))

    def contracts(self, *, role: str = "", limit: int = 200, after: int = 0) -> ContractsAnswer:
        """Routes, pages, models, jobs, commands, … that the rule packs found: of one role or of all, what stands behind each, and
        which packs were active.

        Raises:
            NotFound: no surface has that role. ConfigError: a pack of ``.mog/contracts`` cannot be read.
        """
        from mog.engine.contracts import answer, pack

        packs = pack.load(os.fspath(self.mog_dir / "contracts"))
        with self._reading() as view:
            return answer.contracts(view, packs, self.root, role, limit, after)

    def source(self, target: str) -> tuple[str, Freshness]:
        """Text of a node as it is on disk now, and whether its file is as the index has it.

        Raises:
            PolicyDenied: it is gated. NotFound: it is gone, or is no file or symbol.
        """
        with self._reading() as view:
            node = view.find(target)
            row = view.db.file_by_path(os.fsencode(node.path)) if node.path else None
        return self._disk.source(node.path, node.qual), self._same(row)

    def marks(self, targets: Sequence[str]) -> tuple[str, ...]:
        """How each id or locator is now, as a word that differs when it is no longer so; ``marks.GONE``, "" for not known."""
        from mog.engine import marks

        with self._mesh_for(targets) as mesh:
            return marks.now(targets, self._view_or_none(), mesh)

    def named(self, targets: Sequence[str]) -> Mapping[str, Node | GraphNode]:
        """The node or the record that each id or locator is; those that are not there are left out."""
        from mog.engine import marks

        with self._mesh_for(targets) as mesh:
            return marks.named(targets, self._view_or_none(), mesh)

    def alike(self, text: str, limit: int = 3) -> tuple[tuple[GraphNode, float], ...]:
        """Standing records that share most of their words with a text, and which share; most first."""
        from mog.engine.memory import alike

        return alike.nearest(self.beliefs.mesh, text, limit) if self.ledger_path.exists() and text.strip() else ()

    @contextlib.contextmanager
    def _mesh_for(self, targets: Sequence[str]) -> Iterator[Mesh | None]:
        """The mesh, locked, where one of the targets may be a record of it; what holds none costs no look at the ledger."""
        from mog.engine import marks

        if any(marks.belief_of(target) for target in targets) and self.ledger_path.exists():
            with self.beliefs.mesh.locked() as mesh:
                yield mesh
        else:
            yield None

    def written(self) -> Mapping[str, object]:
        """By kind of change: what differs when somebody, also another process, wrote traffic, working sets, the ledger, requests."""
        from mog.engine.traffic import looked_at

        run, served = self.mog_dir / "run", self.mog_dir / "served.db"
        # of a linked worktree git is asked, once
        ledger = self._watched_ledger = self._watched_ledger or self.ledger_path
        said = looked_at(ledger, ledger.with_name("ledger.db-wal"))
        return {
            "traffic": looked_at(run / "traffic.db", run / "traffic.db-wal"),
            "served": looked_at(served, served.with_name("served.db-wal")),
            "beliefs": said,
            "pins": said,
            "walks": looked_at(ledger.parent / "run" / "telemetry.json"),  # one for all worktrees of a clone
            "waiting": looked_at(run / "asking"),
        }

    def export_edges(self, kind: str) -> Iterator[dict[str, str]]:
        """Every edge of one type as ``caller``, ``callee`` (``path:line`` of definitions), ``name`` as written, ``tier``."""
        from mog.engine.code.export import edges

        with self._reading() as view:
            yield from edges(view, kind)

    def export_scip(self, made: ScipExport) -> Iterator[bytes]:
        """The graph as a SCIP index, in pieces; ``made`` counts what is in them."""
        from mog.engine.code.scip.export import Exporter

        with self._reading() as view:
            exporter = Exporter(view, self.root, self.config.project, self.config.max_file_bytes)
            exporter.made = made
            yield from exporter.messages()

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
                key = partial(clone_key, folder)
                place = Place(self.root, folder, self._disk, key, self._paths, self._find_or_none, _now)
                self._beliefs = Beliefs(place, self.ontology, self.config)
            return self._beliefs

    def believed(self, target: str) -> tuple[Believed, ...]:
        """What is believed about a piece of code or its file, with the state of each anchor there. Raises NotFound, AmbiguousTarget."""
        return self.beliefs.about(self.find(target)) if self.ledger_path.exists() else ()

    def believed_counts(self) -> Mapping[str, int]:
        """Locator → how many records and pins are about it, wherever there are any."""
        from mog.engine.reason import near

        if not self.ledger_path.exists():
            return {}
        pinned = Counter(pin.anchor.locator for pin in self.beliefs.pins())
        return pinned + Counter(near.counts(self.beliefs.mesh))

    # context

    @property
    def context(self) -> Context:
        """Bounded answers for agents and people: search, expand, handles, catalog, pack and scope."""
        from mog.engine.retrieval.context import Context

        def notes(query: str, locators: Sequence[str], budget: int) -> tuple[Item, ...]:
            said = self.memory.items(query, budget, places=locators)
            return (*said, *self.context_graph.items(locators, budget - sum(item.tokens for item in said)))

        with self._guard:
            if self._context is None:
                folder = self._make_mog() if self._caches else self.mog_dir
                self._context = Context(
                    self.root, folder, self._reading, self._disk, self.config, notes, caches=self._caches,
                    advice=lambda places: self.context_graph.advice(places),
                )  # fmt: skip
            return self._context

    @property
    def context_graph(self) -> Snapshots:
        """The code graph as documents for planners: snapshots, versions, verdicts, impact queries, advisory annotations."""
        from mog.engine.snapshots.room import Door, Snapshots

        def search(words: str) -> list[Node]:
            return [hit.node for hit in self.context.ranked(words, limit=200).hits]

        with self._guard:
            if self._snapshots is None:
                door = Door(
                    self.root, self.mog_dir, self.config, self._reading, lambda: self._disk, self._indexer,
                    lambda progress: self.index(progress=progress), lambda: self.beliefs, lambda: self.ledger_path, self._store_checks,
                    search,
                )  # fmt: skip
                self._snapshots = Snapshots(door)
            return self._snapshots

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
                judge = served_now.judge(self.context.text, self.memory.recall, self.context_graph.judged)
                self._sets = WorkingSets(self._make_mog(), self.config, judge)
            return self._sets

    def working_set(self, session: str, window: int = 0) -> WorkingSet:
        """The working set of one session; see ``WorkingSets.session``."""
        return self.working_sets.session(session, window)

    @property
    def traffic(self) -> Traffic:
        """What agents asked, whoever served them."""
        from mog.engine.traffic import Traffic

        with self._guard:
            if self._traffic is None:
                self._traffic = Traffic(self.mog_dir)
            return self._traffic

    @property
    def approvals(self) -> Approvals:
        """What agents want written and a person has to allow first."""
        from mog.engine.approvals import Approvals

        return Approvals(self.mog_dir)

    @property
    def work(self) -> Work:
        """The plans of this repository and what became of them."""
        from mog.engine.work import CodeDoor, Work

        refresh = CodeDoor(lambda progress: self.index(progress=progress), self._reading)
        return Work(self.beliefs.place, self.beliefs, self.config, refresh, self._registry)

    @property
    def drills(self) -> Drills:
        """Predicting what falls, as practice on a copy of what is believed."""
        from mog.engine.drills.room import Drills

        return Drills(self.beliefs)

    @property
    def breaks(self) -> Breaks:
        """What would fall if something were not so, and saying that it is not."""
        from mog.engine.breaks import Breaks
        from mog.engine.executor import durations

        known = self.beliefs
        took = partial(durations.load, known.place.folder / "run" / "durations.json")
        return Breaks(known, took, lambda detail: self._feed.say(Change("beliefs", self._generation(), detail=detail)))

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

    def _store_checks(self) -> tuple[Check, ...]:
        from mog.engine.doctor import stores

        return stores(self)

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

    def tell(self, kind: str, detail: str = "") -> None:
        """Say on the change feed what it cannot see by itself: a write of somebody who uses this workspace."""
        self._feed.say(Change(kind, 0, detail=detail))

    def notice(self) -> None:
        """Say on the change feed that another process published, where it did. For who has time to ask often and may not be watching:
        unless the files of the index were written since, it costs two looks at their times.
        """
        from mog.engine.traffic import looked_at

        index = looked_at(self.mog_dir / "index.db", self.mog_dir / "index.db-wal")
        if index != self._index_then:
            self._index_then, generation = index, self._generation()
            if self._is_news(generation):
                self._feed.say(Change("index", generation))

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
        from mog.engine.code.indexer import Indexer

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
            self._served_first(held.stamp.generation)
        return held

    @contextlib.contextmanager
    def _reading(self) -> Iterator[CodeView]:
        view = self._view()
        with view.db.read():
            view = self._view()
            try:
                yield view
            except NotFound as error:
                if not view.stamp.unread:
                    raise
                what = f"{error.what}; {view.stamp.unread:,} files are not read yet"
                raise NotFound(what, where=error.where, way_out=error.way_out or "ask again when the index is built") from error

    def _view_or_none(self) -> CodeView | None:
        return self._view() if self.has_index() else None

    def _stamp(self) -> IndexStamp:
        view = self._view_or_none()
        return view.stamp if view else IndexStamp(0, "", False)

    def _generation(self) -> int:
        return self._stamp().generation

    @property
    def _disk(self) -> Disk:
        """The files of this worktree, without the reason layer: it takes longer to load than most questions take."""
        from mog.engine.code.freshness import Disk

        with self._guard:
            if self._held_disk is None:
                self._held_disk = Disk(self.root, self._key, self.config)
            return self._held_disk

    def _key(self) -> bytes:
        folder = self._ledger_dir()
        _make_folder(folder)
        return clone_key(folder)

    def _same(self, row: Any) -> Freshness:
        return self._disk.file_freshness(row)

    def _place(self, target: str) -> Any:
        from mog.engine.ids import Locator, parse_without_index

        view = self._view_or_none()
        if view is None:
            return parse_without_index(target)
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
        """Say what this process published, or another: of two that watch, the slower one finds the index up to date already."""
        if self._is_news(outcome.generation) or outcome.changed:
            self._feed.say(Change("index", outcome.generation, outcome.paths))
        if outcome.changed and self._lookout is not None:
            self._lookout.changed()

    def _served_first(self, generation: int) -> None:
        if self._told is None:
            with self._guard:
                self._told = generation if self._told is None else self._told

    def _is_news(self, generation: int) -> bool:
        """Whether answers came from another generation, and nobody was told since; from now on somebody was."""
        with self._guard:
            news = self._told not in (None, generation)
            self._told = generation
        return news


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
