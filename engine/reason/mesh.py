"""``Mesh``: the reason layer of one clone, read and written. Everything that asks or says what is believed comes through here.

What lives here: one lock, the tables, their labels, the commit. What may not come in: rules (``ops``), logic (``standing``),
prose, auditors, surfaces. Other processes write to the same ledger: every call first takes in what they said.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from mog.engine.errors import NotFound, PolicyDenied, StoreDamaged, UsageError
from mog.engine.graph import GraphReader
from mog.engine.heap import uncollected
from mog.engine.ledgers.events import Event, EventLog, Head, Put, Step
from mog.engine.ontology import Ontology
from mog.engine.reason import ops
from mog.engine.reason.compile import Compiled
from mog.engine.reason.radius import Radius
from mog.engine.reason.radius import radius as measure
from mog.engine.reason.records import Anchored, GraphEdge, Ground, Judgement, Label, Retirement, decode, encode, thaw
from mog.engine.reason.tables import Tables
from mog.engine.reason.writer import Writer

if TYPE_CHECKING:
    from mog.engine.reason.minimal import Strength

MAX_EVENT_BYTES = 512 * 1024
_REMEMBERED = 4096  # how many changed records ``changed_since`` looks back on


@dataclass(frozen=True, slots=True)
class Effect:
    """What a commit did: the ids the change returned, the events recorded (none when nothing changed), and its radius."""

    result: Any
    events: tuple[int, ...]
    radius: Radius


class Mesh:
    """What is believed in one clone, seen from one worktree. Every method may be called from any thread.

    Args:
        log: the ledger. repo: identity that goes into derived ids. worktree: see ``Compiled``.
        seed_rule: labels by reachability alone, as in ContextMesh.
        looks_secret: says whether a text is shaped like a credential; such a text is refused.
        clock: wall time for people, ISO 8601; no part of the state.
    """

    def __init__(
        self, log: EventLog, ontology: Ontology, repo: str = "", *, worktree: str = "", seed_rule: bool = False,
        looks_secret: Callable[[str], bool] | None = None, clock: Callable[[], str] | None = None,
    ) -> None:  # fmt: skip
        self.log = log
        self.ontology = ontology
        self.repo = repo
        self.worktree = worktree
        self.seed_rule = seed_rule
        self.revision = 0
        self._looks_secret = looks_secret
        self._clock = clock or _now
        self._lock = threading.RLock()
        self._writer: Writer | None = None
        self._held = 0
        self._reset()

    def _reset(self) -> None:
        self._tables = Tables()
        self._compiled = Compiled(self._tables, self.ontology, worktree=self.worktree, seed_rule=self.seed_rule)
        self._graph = GraphReader(self.ontology, self._tables, self._lock)
        self._head = Head()
        self._changes: deque[tuple[int, str]] = deque(maxlen=_REMEMBERED)
        self._forgot = self.revision

    # -- reading

    @property
    def tables(self) -> Tables:
        """The records, brought up to the ledger; for rooms of ``reason``, which hold ``locked()`` while they read."""
        with self._lock:
            self._look()
            return self._tables

    @property
    def graph(self) -> GraphReader:
        """Nodes and edges, brought up to the ledger."""
        with self.locked():
            return self._graph

    @contextlib.contextmanager
    def locked(self) -> Iterator[Mesh]:
        """Several reads of one state: nothing changes in between, whoever writes to the ledger meanwhile."""
        with self._lock:
            self._look()
            self._held += 1
            try:
                yield self
            finally:
                self._held -= 1

    @property
    def head(self) -> Head:
        """Where the ledger stood when it was last looked at."""
        with self.locked():
            return self._head

    def stands(self, id: str) -> bool:
        """Whether a node is believed. Raises NotFound."""
        with self.locked():
            self._node(id)
            return self._compiled.stands(id)

    def label(self, id: str) -> Label:
        """Its label. Raises NotFound."""
        with self.locked():
            self._node(id)
            return self._compiled.label(id)

    def contradicting(self, id: str) -> tuple[str, ...]:
        """Ids of what stands, contradicts a node and was not judged, in order. Raises NotFound."""
        with self.locked():
            self._node(id)
            return tuple(sorted(set(self._compiled.contradicting(id))))

    def walkable(self, id: str) -> bool:
        """Whether a walk may pass a node: it stands and was not pruned. Raises NotFound."""
        return self.stands(id) and self.retired(id) is None

    def live(self, edge: GraphEdge) -> bool:
        """Whether an edge may be walked: both ends are walkable, and the assumption it is bound to stands."""
        with self.locked():
            bound = not edge.assumption or self._compiled.stands(edge.assumption)
            return bound and self.walkable(edge.src) and self.walkable(edge.dst)

    def retired(self, id: str) -> Retirement | None:
        """Why a node no longer counts, or None."""
        with self.locked():
            found: Retirement | None = self._tables.rows["retired"].get(id)
            return found

    def grounds(self, id: str) -> tuple[Ground, ...]:
        """Every ground of a node, recorded and compiled from edges. Raises NotFound."""
        with self.locked():
            self._node(id)
            return self._compiled.grounds(id)

    def strength(self, id: str) -> Strength:
        """What it would take to fell a node: its assumptions and what it rests on at the end. Raises NotFound."""
        from mog.engine.reason import minimal

        with self.locked():
            self._node(id)
            self._compiled.flush()
            nodes = self._tables.nodes
            return minimal.strength(self._compiled.standing, id, also=lambda n: n in nodes and nodes[n].type == "assumption")

    def met(self, ground: Ground) -> bool:
        """Whether all its premises stand and none of its defeaters does."""
        with self.locked():
            self._compiled.flush()
            return self._compiled.standing.met(ground.id)

    def judgements(self, target: str = "") -> tuple[Judgement, ...]:
        """Judgements about one node, or all, in order of ids."""
        with self.locked():
            found = self._tables.judged.get(target, {}) if target else self._tables.rows["judgement"]
            return tuple(found[id] for id in sorted(found))

    def anchors(self, node: str = "") -> tuple[Anchored, ...]:
        """Anchors of one node, or all, in order of ids."""
        with self.locked():
            found = self._tables.anchored.get(node, {}) if node else self._tables.rows["anchor"]
            return tuple(found[id] for id in sorted(found))

    def marks(self, id: str) -> tuple[str, ...]:
        """Marks of a node (``failed``, ``ungrounded``)."""
        with self.locked():
            found: tuple[str, ...] = self._tables.rows["mark"].get(id, ())
            return found

    @property
    def aliases(self) -> Mapping[str, str]:
        """Learned names in the resolver's normal form → entity id; a copy."""
        with self.locked():
            return dict(self._tables.rows["alias"])

    @property
    def splits(self) -> frozenset[tuple[str, str]]:
        """(name in normal form, entity id) that were said not to be the same."""
        with self.locked():
            parts = (key.partition(" ") for key in self._tables.rows["split"])
            return frozenset((normal, entity) for entity, _, normal in parts)

    def changed_since(self, revision: int) -> frozenset[str] | None:
        """Ids of the nodes touched since a revision; None when that is too long ago to say."""
        with self.locked():
            if revision < self._forgot:
                return None
            return frozenset(id for at, id in self._changes if at > revision)

    def find(self, target: str) -> str:
        """The one node a person means: an id, the beginning of one (8 digits or more), or a label.

        Raises:
            NotFound: nothing answers. UsageError: several do.
        """
        with self.locked():
            nodes = self._tables.nodes
            if target in nodes:
                return target
            found = [id for id, node in nodes.items() if node.label == target or (len(target) >= 8 and id.startswith(target))]
            standing = [id for id in found if self._compiled.stands(id)]
            if len(standing or found) == 1:
                return (standing or found)[0]
        if not found:
            raise NotFound(f"nothing is called {target!r:.80}", way_out="ask for it: `mog ask`, or list with `mog health`")
        listed = ", ".join(sorted(found)[:5])
        raise UsageError(f"{len(found)} nodes are called {target!r:.80}", way_out=f"use an id: {listed}")

    # -- writing

    @contextlib.contextmanager
    def writing(self, verb: str, **context: Any) -> Iterator[Writer]:
        """One commit: everything said inside is recorded together, or, when anything fails, nothing is. Nested calls join.

        Args:
            verb: type of the event, such as ``claimed``. context: plain JSON kept with it, for people.

        Raises:
            HeldByOther: another process writes. StoreDamaged: the ledger cannot be written; then nothing was recorded.
            OntologyError, NotFound, UsageError: a rule forbids it.
        """
        with self._lock:
            if self._writer is not None:
                yield self._writer
                return
            batch = self._begin(verb, context)
            try:
                yield batch.writer
                batch.settle()
                batch.commit()
            except BaseException:
                batch.rollback()
                raise
            finally:
                self._writer = None

    def apply(self, verb: str, change: Callable[[Writer], Any], **context: Any) -> Effect:
        """Commit a change and say what it did. Raises as ``writing``."""
        with self._lock:
            if self._writer is not None:
                raise UsageError("a commit is open already", way_out="use its writer")
            batch = self._begin(verb, context)
            try:
                result = change(batch.writer)
                found = batch.radius()
                return Effect(result, batch.commit(), found)
            except BaseException:
                batch.rollback()
                raise
            finally:
                self._writer = None

    def preview(
        self, change: Callable[[Writer], Any], look: Callable[[Compiled, Radius], None] | None = None
    ) -> Radius:
        """What a change would do: it is made, looked at and taken back. Raises as ``writing``, and records nothing.

        Args:
            look: called while the change is made, with its labels settled; a room of the engine reads what it needs there.
        """
        with self._lock:
            batch = self._begin("previewed", {})
            try:
                change(batch.writer)
                found = batch.radius()
                if look is not None:
                    look(self._compiled, found)
                return found
            finally:
                batch.rollback()
                self._writer = None

    def undo(self, seq: int, *, reason: str = "") -> Effect:
        """Take one event back by recording its inverse. Nodes it made are withdrawn, not deleted (GRAPH.md rule 3).

        Raises: NotFound: no such event. UsageError: what it did was changed since. And as ``writing``.
        """
        event = next(self.log.events(seq - 1, 1), None) if seq > 0 else None
        if event is None or "ops" not in event.data:
            raise NotFound(f"no event {seq} that can be undone", way_out="list them with `mog ledger list`")
        back = [ops.inverse(thaw(op)) for op in reversed(event.data["ops"])]
        made = {op[1] for op in event.data["ops"] if op[0] == "node"}

        def change(writer: Writer) -> None:
            for op in back:
                if not (op[0] == "retire" and op[1] in made and op[1] in self._tables.rows["retired"]):
                    self.do(writer, op)

        return self.apply("undone", change, event=seq, reason=reason)

    def do(self, writer: Writer, op: ops.Op) -> None:
        """Apply one operation for the open commit; one that changes nothing is not recorded."""
        if writer is not self._writer or self._batch is None:
            raise UsageError("this commit is closed", way_out="open another with `writing`")
        self._batch.do(op)

    def refuse_secret(self, *texts: str) -> None:
        """Raise PolicyDenied when a text is shaped like a credential."""
        if self._looks_secret is not None and any(self._looks_secret(text) for text in texts):
            raise PolicyDenied("the text is shaped like a credential", way_out="write what it is, not its value")

    def _begin(self, verb: str, context: Mapping[str, Any]) -> _Batch:
        self._refresh()
        self._compiled.flush()
        self._batch: _Batch | None = _Batch(self, verb, context)
        self._writer = self._batch.writer
        return self._batch

    # -- coming up to the ledger

    def _look(self) -> None:
        """Come up to the ledger, unless a writer or a reader holds the state as it is."""
        if self._writer is None and not self._held:
            self._refresh()

    def _refresh(self) -> None:
        head = self.log.head()
        if head == self._head:
            self._head = head  # with its roots
            return
        if self._head.seq == 0 or head.seq <= self._head.seq or not self._continues():
            self._load()
            return
        for event in self.log.events(self._head.seq, head.seq - self._head.seq):  # not what came since: it is not in head
            self._replay(event)
            self._head = Head(event.seq, event.digest)
        self._head = head

    def _continues(self) -> bool:
        known = next(self.log.events(self._head.seq - 1, 1), None)
        return known is not None and known.digest == self._head.digest

    def _load(self) -> None:
        self._reset()
        with uncollected():
            self._head, rows = self.log.load()
            for table, key, body in rows:
                self._tables.put(table, key, decode(table, key, body))
        self._tables.seq = self._head.seq
        self.revision += 1
        self._forgot = self.revision

    def _replay(self, event: Event) -> None:
        self._tables.begin()
        try:
            fold(self._tables, self.ontology, event)
            self._noted(self._tables.touched())
            self._tables.end()
        except BaseException:
            self._tables.rollback()
            raise

    def _noted(self, touched: Iterator[tuple[str, str]]) -> None:
        self.revision += 1
        for table, key in touched:
            for id in self._nodes_of(table, key):
                if len(self._changes) == _REMEMBERED:
                    self._forgot = self._changes[0][0]
                self._changes.append((self.revision, id))

    def _nodes_of(self, table: str, key: str) -> tuple[str, ...]:
        record = self._tables.rows[table].get(key)
        if table == "edge" and record is not None:
            return (record.src, record.dst)
        if table == "alias":
            return (record,) if record else ()
        return (key,) if table in ("node", "retired", "mark") else ()

    def _node(self, id: str) -> None:
        ops.existing(self._tables, id)


class _Batch:
    """One open commit: operations as they were applied, cut into events that are not too large."""

    def __init__(self, mesh: Mesh, verb: str, context: Mapping[str, Any]) -> None:
        self._mesh, self._verb, self._context = mesh, verb, dict(context)
        self._steps: list[Step] = []
        self._ops: list[ops.Op] = []
        self._size = 0
        self._since = 0
        self.writer = Writer(mesh)
        mesh._tables.begin()
        mesh._tables.seq = mesh._head.seq + 1
        self._watch = mesh._compiled.standing.begin()

    def do(self, op: ops.Op) -> None:
        tables = self._mesh._tables
        before = tables.journal_length
        ops.apply(tables, self._mesh.ontology, op)
        if tables.journal_length > before:
            self._ops.append(op)
            self.writer.ops.append(op)
            self._size += 64 + len(repr(op))
            if self._size > MAX_EVENT_BYTES:
                self._cut()

    def _cut(self) -> None:
        tables = self._mesh._tables
        puts = []
        for table, key in sorted(tables.touched(self._since)):
            record = tables.rows[table].get(key)
            puts.append(Put(table, key, None if record is None else encode(table, record)))
        self._steps.append(Step(self._verb, {**self._context, "ops": self._ops}, tuple(puts)))
        self._ops, self._size, self._since = [], 0, tables.journal_length
        tables.seq += 1

    def settle(self) -> None:
        """Bring labels up; a loop through a defeater is refused here."""
        self._mesh._compiled.flush()

    def radius(self) -> Radius:
        """What the batch did to labels so far."""
        self.settle()
        return measure(self._mesh._compiled.standing, self._watch)

    def commit(self) -> tuple[int, ...]:
        mesh = self._mesh
        if self._ops:
            self._cut()
        events: tuple[Event, ...] = ()
        if self._steps:
            events = mesh.log.commit(self._steps, when=mesh._clock(), expected=mesh._head)
            mesh._noted(mesh._tables.touched())
            mesh._head = Head(events[-1].seq, events[-1].digest)  # not the log's: another may have written since
        mesh._tables.end()
        self._close()
        return tuple(event.seq for event in events)

    def rollback(self) -> None:
        if self._mesh._batch is self:
            self._mesh._tables.rollback()
            self._mesh._compiled.flush()
            self._close()

    def _close(self) -> None:
        self._mesh._tables.seq = self._mesh._head.seq
        self._mesh._compiled.standing.end()
        self._mesh._batch = None


def fold(tables: Tables, ontology: Ontology, event: Event) -> None:
    """Apply an event to tables. Events without operations (pins) have their own readers.

    Raises: StoreDamaged: an operation that the rules forbid; an event like that was not written by mog.
    """
    tables.seq = event.seq
    for op in event.data.get("ops", ()):
        try:
            ops.apply(tables, ontology, thaw(op))
        except (UsageError, NotFound) as error:
            what = f"event {event.seq} ({event.type}) breaks a rule: {error.what}"
            raise StoreDamaged(what, where="ledger.db", way_out="restore the ledger from a copy") from error


def folder(ontology: Ontology) -> Callable[[Event], list[Put]]:
    """A fold from the first event on, for ``EventLog.verify`` and ``rebuild``: what each event changes."""
    tables = Tables()

    def step(event: Event) -> list[Put]:
        tables.begin()
        fold(tables, ontology, event)
        puts = []
        for table, key in sorted(tables.touched()):
            record = tables.rows[table].get(key)
            puts.append(Put(table, key, None if record is None else encode(table, record)))
        tables.end()
        return puts

    return step


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
