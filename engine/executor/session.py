"""A session: plans, run ledgers, graph, resolver and settings of walks, all in the one ledger. Saved, loaded, exported, imported.

Called by the command line and by embedders. ``save`` and ``load`` copy the ledger; ``export`` and ``import_`` speak
``contextmesh.session`` with the earlier package. A plan whose code nobody brought is refused before anything is served. What
may not come in: scheduling, other people's code.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mog.engine.errors import UsageError
from mog.engine.executor import keys
from mog.engine.executor.model import Task
from mog.engine.executor.session_copy import copy_ledger
from mog.engine.executor.session_summary import (
    LEDGER,
    SETTINGS,
    PlanSummary,
    Settings,
    Summary,
    inspect,
    ledger_rows,
    settings_of,
    tasks_in,
)
from mog.engine.executor.v1 import store
from mog.engine.executor.v1.execution import Keys, require_keys, write_execution
from mog.engine.executor.v1.manifest import walker_json
from mog.engine.executor.v1.records import GENESIS, plan_source
from mog.engine.executor.v1.renamed import renamed
from mog.engine.executor.v1.runledger import write_runledger
from mog.engine.executor.v1.session_dir import SessionV1, read_session
from mog.engine.executor.v1.session_write import Contents, Written, write_session
from mog.engine.ledgers.events import EventLog, Head
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.v1.from_mesh import export_graph
from mog.engine.reason.v1.graph import read_graph, write_graph
from mog.engine.reason.v1.into_mesh import import_graph
from mog.engine.reason.v1.names import export_resolver, import_resolver

if TYPE_CHECKING:
    from mog.engine.reason.v1.into_mesh import GraphImport
    from mog.engine.reason.v1.names import ResolverImport
    from mog.engine.reason.v1.records import GraphV1
    from mog.engine.reason.writer import Writer

__all__ = [
    "Exported", "Imported", "PlanSummary", "Saved", "Settings", "Summary", "configure", "export", "import_", "inspect", "load",
    "require_registry", "save", "settings",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Saved:
    """A copy of the ledger: where, what it is called, where it stood there before and stands now."""

    folder: Path
    ledger: str
    before: Head
    head: Head


@dataclass(frozen=True, slots=True)
class Exported:
    """A session written for the earlier package, reason → records it has no place for, and what is said in another way."""

    written: Written
    plan: str
    left_out: Mapping[str, int]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Imported:
    """A session taken in.

    Attributes:
        generation: of the folder. fell_back: why a newer one was passed over, "" when none was.
        plan: its name, "" when there is none or it was left out.
        graph, resolver: what their imports did. changed: whether anything was recorded.
    """

    generation: int
    fell_back: str
    plan: str
    graph: GraphImport
    resolver: ResolverImport
    changed: bool


# -- settings


def settings(mesh: Mesh) -> Settings:
    """Settings of the session. Raises StoreDamaged when they are of no known form."""
    with mesh.locked():
        return settings_of(mesh.tables.rows["run"].get(SETTINGS))


def configure(mesh: Mesh, new: Settings) -> None:
    """Record settings of the session. Raises StoreDamaged for what is none, and as ``Mesh.writing``."""
    with mesh.writing("configured") as writer:
        _configure(writer, new)


def _configure(writer: Writer, new: Settings) -> None:
    value = {"walker": walker_json(new.walker), "rounds": new.rounds}
    settings_of(value)  # what could not be read back is not recorded
    if new != settings(writer.mesh):
        writer.record("run", SETTINGS, value)


# -- copies of the ledger


def save(log: EventLog, folder: Path) -> Saved:
    """Copy the ledger as it is committed now into a folder that is empty or holds an older state of it.

    Raises: as ``session_copy.copy_ledger``.
    """
    return _copied(log.path, folder / LEDGER, folder)


def load(folder: Path, log: EventLog, registry: Keys | None) -> Saved:
    """Bring a saved session back: into an empty workspace, or one that stands at an older state of it.

    Raises:
        ConfigError: a plan names code that the registry does not bring; then nothing was touched.
        UsageError, StoreDamaged, HeldByOther: as ``session_copy.copy_ledger``.
    """
    _, rows = ledger_rows(folder / LEDGER)
    _require(tasks_in(rows), registry, str(folder))
    return _copied(folder / LEDGER, log.path, folder)


def _copied(source: Path, target: Path, folder: Path) -> Saved:
    done = copy_ledger(source, target)
    return Saved(folder, done.ledger, done.before, done.head)


def require_registry(mesh: Mesh, registry: Keys | None) -> None:
    """Fail before anything is served when a plan of the store names code that the registry does not bring.

    Raises:
        ConfigError: naming what is missing.
    """
    with mesh.locked():
        found = tasks_in(("task", key, row) for key, row in mesh.tables.rows["task"].items())
    _require(found, registry, "plans of the ledger")


def _require(found: Iterable[Task], registry: Keys | None, where: str) -> None:
    coded = [task for task in found if not task.unbindable]  # the others never come back, as `inspect` says
    if coded:
        require_keys(coded, registry, where)


# -- the earlier package's folder


@dataclass(frozen=True, slots=True)
class _Packed:
    contents: Contents
    plan: str
    graph: GraphV1
    digests: frozenset[str]
    left_out: Mapping[str, int]
    notes: tuple[str, ...]

    def allow(self, live: SessionV1) -> None:
        """Raise UsageError unless a folder holds an older state of what is to be written there."""
        mine = {node.id for node in self.graph.nodes}
        plan = live.execution.plan if live.execution else ""
        head = live.ledger.head if live.ledger else GENESIS
        same = (not plan or plan == self.plan) and head in self.digests
        if not same or any(node.id not in mine for node in live.graph.nodes):
            what = "another session stands there, or one that went another way"
            raise UsageError(what, where=f"generation {live.manifest.generation}", way_out="name an empty folder")


def export(mesh: Mesh, folder: Path, *, plan: str = "", expected: int | None = None) -> Exported:
    """Write the session as ``contextmesh.session v2``, so that the earlier package loads it and goes on.

    Args:
        plan: which one, when there are several. expected: generation the folder must stand at, whatever it holds; by default
            it must be empty or hold an older state of this session.

    Raises:
        UsageError: several plans and none named, a plan the format cannot hold, a folder that holds another session.
        NotFound, StoreDamaged, HeldByOther: as ``store.give_plan`` and ``session_write.write_session``.
    """
    packed = _pack(mesh, plan)
    allow = packed.allow if expected is None else None
    written = write_session(folder, packed.contents, expected=expected, allow=allow)
    return Exported(written, packed.plan, packed.left_out, (*packed.notes, *written.notes))


def _pack(mesh: Mesh, plan: str) -> _Packed:
    """The texts of the files, all of one state."""
    with mesh.locked():
        name, others = _choose(mesh, plan)
        graph, resolver, now = export_graph(mesh), export_resolver(mesh), settings(mesh)
        left_out = Counter(graph.left_out) + Counter(resolver.left_out) + Counter({"plan": others})
        counts = dict(sorted(left_out.items()))
        records = read_graph(graph.data)
        if not name:
            contents = Contents(now.rounds, now.walker, graph.data, resolver.data)
            return _Packed(contents, "", records, frozenset({GENESIS}), counts, graph.notes)
        source = str(mesh.tables.rows["task"].get(keys.plan(name), {}).get("source", ""))
        moved = renamed(records, source or plan_source(name), plan_source(name))
        given = store.give_plan(mesh, name, moved)
    text = graph.data if moved is records else write_graph(moved)
    execution, ledger = write_execution(given.execution), write_runledger(given.ledger)
    contents = Contents(now.rounds, now.walker, text, resolver.data, execution, ledger, given.ledger.head)
    digests = frozenset({GENESIS, *(entry.digest for entry in given.ledger.entries)})
    return _Packed(contents, name, moved, digests, counts, (*graph.notes, *given.notes))


def _choose(mesh: Mesh, plan: str) -> tuple[str, int]:
    """The plan that is meant, "" for none, and how many others there are."""
    names = store.plans(mesh)
    if not plan and len(names) > 1:
        way_out = f"name one: {', '.join(names)}"[:300]
        raise UsageError(f"{len(names)} plans, and the format holds one", way_out=way_out)
    chosen = plan or (names[0] if names else "")
    return chosen, len(set(names) - {chosen})


def import_(mesh: Mesh, folder: Path, registry: Keys | None = None, *, plan: bool = True) -> Imported:
    """Take a session of the earlier package in, in one commit; the same one again changes nothing.

    Args:
        registry: must bring the code of the plan. plan: False leaves plan and run ledger out, and then none is needed.

    Raises:
        ConfigError: code that nobody brought. UsageError: no session, a version from the future, ids that stand for something
        else here.
        StoreDamaged: no generation is whole. OntologyError: this repository's GRAPH.md forbids what it holds.
    """
    session = read_session(folder)
    names = session.manifest
    execution, ledger = (session.execution, session.ledger) if plan else (None, None)
    if execution is not None:
        require_keys(execution.tasks, registry, names.execution or "")
    before = mesh.head
    with mesh.writing("imported", format=f"contextmesh.session v{names.version}", file=folder.name) as writer:
        graph = import_graph(mesh, session.texts[names.graph], names.graph)
        resolver = import_resolver(mesh, session.texts[names.resolver], names.resolver)
        _configure(writer, Settings(names.walker, names.rounds))
        if execution is not None and ledger is not None:
            store.take_plan(writer, execution, ledger, names.execution or "")
    name = execution.plan if execution else ""
    return Imported(names.generation, session.fell_back, name, graph, resolver, mesh.head != before)
