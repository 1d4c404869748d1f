"""What a worker and an auditor are handed: inputs, ground and the graph, each read of which is written down. Made by ``work``.

What may not come in: writes. What is handed out cannot be changed, so no task can alter what another one gave.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mog.engine.errors import NotFound, PolicyDenied, UsageError
from mog.engine.executor.model import Task, Verdict
from mog.engine.executor.traces import FILE, GRAPH, INPUT, MAX_READS, Read, digest, settle
from mog.engine.reason.mesh import Mesh
from mog.engine.reason.records import GraphEdge, GraphNode, Label, node_json, thaw

MAX_FILE_BYTES = 64 * 1024 * 1024
OWN = ("decision", "evidence", "source")
"""Types of nodes that a runner records about its own work."""

Source = Callable[..., Any]
"""Reads something by its key (strings): bytes, plain JSON, or None for what is not there."""


@dataclass(frozen=True, slots=True)
class Assumed:
    """An assumption a task stands on."""

    id: str
    statement: str


class Reads:
    """What one execution read so far; the first digest of each thing counts. Safe from any thread."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, tuple[str, ...]], str] = {}
        self._lock = threading.Lock()

    def note(self, kind: str, key: tuple[str, ...], seen: str) -> None:
        """Write one read down. Raises UsageError after 4,000 different ones."""
        with self._lock:
            self._seen.setdefault((kind, key), seen)
            if len(self._seen) > MAX_READS:
                raise UsageError(f"a task reads more than {MAX_READS:,} things", way_out="read fewer, larger things")

    def all(self) -> tuple[Read, ...]:
        """Every read, by kind and key."""
        with self._lock:
            return tuple(Read(kind, key, seen) for (kind, key), seen in sorted(self._seen.items()))


class Inputs(Mapping[str, Mapping[str, Any]]):
    """Outputs of the tasks a task needs, by name, read-only all the way down. Looking one up is a read of it."""

    def __init__(self, outputs: Mapping[str, tuple[Mapping[str, Any], str]], reads: Reads) -> None:
        self._outputs, self._reads = outputs, reads

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        output, seen = self._outputs[name]
        self._reads.note(INPUT, (name,), seen)
        return output

    def __iter__(self) -> Iterator[str]:
        return iter(self._outputs)

    def __len__(self) -> int:
        return len(self._outputs)


class GraphView:
    """The beliefs of a mesh as a task may read them; what the plan itself recorded of its work is not among them.

    A plan's own decisions change with every run, so work that read them would never come to rest: what another task of the
    plan gave is read through ``inputs``. Every answer is noted, what is not there included.
    """

    def __init__(self, mesh: Mesh, plan: str, reads: Reads) -> None:
        self._mesh, self._plan, self._reads = mesh, plan, reads

    def _read(self, *key: str) -> Any:
        found, seen = look(self._mesh, self._plan, key)
        self._reads.note(GRAPH, key, seen)
        return found

    def get(self, id: str) -> GraphNode | None:
        """The node with this id, or None."""
        found: GraphNode | None = self._read("node", id)
        return found

    def node(self, id: str) -> GraphNode:
        """The node with this id. Raises NotFound."""
        found = self.get(id)
        if found is None:
            raise NotFound(f"no node {id!r:.80}", way_out="look it up by name first")
        return found

    def find(self, target: str) -> str:
        """Id of the one node that a text means, "" when none or several do."""
        found: str | None = self._read("find", target)
        return found or ""

    def nodes(self, type: str = "") -> tuple[GraphNode, ...]:
        """All nodes, or those of one type, by id."""
        found: tuple[GraphNode, ...] = self._read("nodes", type)
        return found

    def edges(self, kind: str = "") -> tuple[GraphEdge, ...]:
        """All edges, or those of one type, by id."""
        found: tuple[GraphEdge, ...] = self._read("edges", kind)
        return found

    def out_edges(self, id: str, kinds: Collection[str] = ()) -> tuple[GraphEdge, ...]:
        """Edges that leave a node, by id; none when there is no such node."""
        found: tuple[GraphEdge, ...] = self._read("out_edges", id, *sorted(set(kinds)))
        return found

    def in_edges(self, id: str, kinds: Collection[str] = ()) -> tuple[GraphEdge, ...]:
        """Edges that reach a node, by id; none when there is no such node."""
        found: tuple[GraphEdge, ...] = self._read("in_edges", id, *sorted(set(kinds)))
        return found

    def label(self, id: str) -> Label | None:
        """The label of a node, None when there is no such node."""
        found: Label | None = self._read("label", id)
        return found

    def stands(self, id: str) -> bool:
        """Whether a node is believed; False when there is no such node."""
        return bool(self._read("stands", id))


def look(mesh: Mesh, plan: str, key: tuple[str, ...]) -> tuple[Any, str]:
    """The answer to one question of a ``GraphView`` as the mesh is now, and its digest."""
    what, *words = key
    with mesh.locked():
        if what in ("nodes", "edges"):
            return _many(_listed(mesh, plan, what, words[0]))
        if what in ("out_edges", "in_edges"):
            return _many(_around(mesh, plan, what, words[0], words[1:]))
        return _one(mesh, what, words[0])


def _one(mesh: Mesh, what: str, word: str) -> tuple[Any, str]:
    if what == "find":
        try:
            found = mesh.find(word)
        except (NotFound, UsageError):
            return None, digest(None)
        return found, digest(found)
    node = mesh.graph.get(word)
    if what == "node":
        return node, digest(node and _said(node))
    if node is None:
        return None, digest(None)
    answer = mesh.label(word) if what == "label" else mesh.stands(word)
    return answer, digest(answer)


def _listed(mesh: Mesh, plan: str, what: str, type: str) -> list[Any]:
    if what == "nodes":
        return [n for n in mesh.graph.nodes(type) if not _is_own(n, plan)]
    return [e for e in mesh.graph.edges(type) if _is_foreign(mesh, e, plan)]


def _around(mesh: Mesh, plan: str, what: str, id: str, kinds: Collection[str]) -> list[Any]:
    if id not in mesh.graph:
        return []
    edges = mesh.graph.out_edges(id, kinds) if what == "out_edges" else mesh.graph.in_edges(id, kinds)
    return [e for e in edges if _is_foreign(mesh, e, plan)]


def _many(found: list[Any]) -> tuple[Any, str]:
    ordered = tuple(sorted(found, key=lambda record: str(record.id)))
    return ordered, digest([_said(record) for record in ordered])


def _said(record: GraphNode | GraphEdge) -> Any:
    """What a record says, without the number of the event that recorded it."""
    if isinstance(record, GraphNode):
        return settle(node_json(record)[:-1], "node")
    return settle(
        [record.id, record.kind, record.src, record.dst, record.role, record.weight, thaw(record.attrs)], "edge"
    )


def _is_own(node: GraphNode, plan: str) -> bool:
    return node.type in OWN and node.attrs.get("plan") == plan


def _is_foreign(mesh: Mesh, edge: GraphEdge, plan: str) -> bool:
    graph = mesh.graph
    return not (_is_own(graph.node(edge.src), plan) or _is_own(graph.node(edge.dst), plan))


def file_source(root: Path | None) -> Source:
    """Reads files below ``root`` for ``RunContext.file``; the bytes, or None when there is none.

    Raises: PolicyDenied: a path that leads out of it. UsageError: no root, or a file beyond 64 MiB.
    """

    def read(path: str) -> bytes | None:
        if root is None:
            raise UsageError("this plan has no folder to read files from", where=path, way_out="give the runner a root")
        home, place = root.resolve(), (root / path).resolve()
        if not place.is_relative_to(home):
            raise PolicyDenied(
                "the path leads out of the folder of the plan", where=path, way_out="name a file below it"
            )
        if not place.is_file():
            return None
        if place.stat().st_size > MAX_FILE_BYTES:
            raise UsageError(f"a file beyond {MAX_FILE_BYTES:,} bytes", where=path, way_out="read a smaller one")
        return place.read_bytes()

    return read


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a worker is handed.

    Attributes:
        task: what it is. attempt: number of this execution, from 1. retry: how often it was tried before in this round.
        inputs: outputs of the tasks it needs. graph: the beliefs, each read of which is noted.
        assumptions: what it stands on; ``assumption`` is the first.
    """

    task: Task
    attempt: int
    inputs: Inputs
    graph: GraphView
    assumptions: tuple[Assumed, ...] = ()
    retry: int = 0
    _reads: Reads = field(default_factory=Reads, repr=False)
    _sources: Mapping[str, Source] = field(default_factory=dict, repr=False)
    _stop: threading.Event = field(default_factory=threading.Event, repr=False)

    @property
    def assumption(self) -> Assumed | None:
        """The first assumption of the task, None when it has none."""
        return self.assumptions[0] if self.assumptions else None

    @property
    def stopping(self) -> bool:
        """True once nobody waits for the result any more; long work looks now and then."""
        return self._stop.is_set()

    def read(self, kind: str, *key: str) -> Any:
        """What a source of the runner answers, noted; None for what is not there. Raises UsageError for an unknown kind."""
        source = self._sources.get(kind)
        if source is None:
            known = ", ".join(sorted(self._sources)) or "none"
            raise UsageError(f"nothing reads a {kind!r}", where=self.task.name, way_out=f"known: {known}")
        found = source(*key)
        found = found if found is None or isinstance(found, bytes) else settle(found, kind)
        self._reads.note(kind, key, digest(found))
        return found

    def file(self, path: str) -> bytes:
        """Content of a file below the plan's root, noted. Raises NotFound, and as ``file_source``."""
        found: bytes | None = self.read(FILE, path)
        if found is None:
            raise NotFound("there is no such file", where=path, way_out="name a file below the root of the plan")
        return found


@dataclass(frozen=True, slots=True)
class AuditContext:
    """What an auditor is handed: the output, read-only, and the ground it has to hold on."""

    task: Task
    output: Mapping[str, Any]
    assumptions: tuple[Assumed, ...]
    graph: GraphView

    @property
    def assumption(self) -> Assumed | None:
        """The first assumption of the task, None when it has none."""
        return self.assumptions[0] if self.assumptions else None

    def ok(self, reason: str) -> Verdict:
        """The output holds."""
        return Verdict(True, reason)

    def fail(self, reason: str) -> Verdict:
        """The work is wrong: this task fails, and nothing falls."""
        return Verdict(False, reason)

    def disproved(self, reason: str, *, evidence: str = "", assumption: str = "") -> Verdict:
        """The ground is false: the assumption is rejected, and everything that stands on it falls. See ``Verdict``."""
        return Verdict(False, reason, True, evidence, assumption)
