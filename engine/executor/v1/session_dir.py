"""A ``contextmesh.session`` folder, versions 1 and 2, read: the newest generation whose files all hold, or a refusal.

Called by ``engine/executor/session``. A generation is taken whole or not at all. When the newest one is damaged and an older
one is whole, the older one is taken and said so; a later version, a link or a missing registry is never passed over so.
What may not come in: writes, the mesh.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from mog.engine.errors import StoreDamaged, UsageError
from mog.engine.executor.v1 import folder as files
from mog.engine.executor.v1.execution import check_execution, read_execution
from mog.engine.executor.v1.manifest import POINTER, SUMS_SCHEMA, file_name, generation_of, read_manifest
from mog.engine.executor.v1.records import ExecutionV1, ManifestV1, RunLedgerV1
from mog.engine.executor.v1.runledger import digest, read_runledger
from mog.engine.reason.v1 import fields
from mog.engine.reason.v1.fields import damaged
from mog.engine.reason.v1.graph import read_graph
from mog.engine.reason.v1.records import GraphV1, ResolverV1
from mog.engine.reason.v1.resolver import read_resolver

ATTEMPTS = 4
_PAUSE = 0.05


@dataclass(frozen=True, slots=True)
class SessionV1:
    """One generation of a session, whole: records, and the bytes they were read from.

    Attributes:
        execution, ledger: None together, when the session has no plan.
        texts: file name → its bytes, of the manifest's companions.
        fell_back: why a newer generation was passed over; "" when this is the newest.
        summed: whether the digests of the files were written beside them and hold.
    """

    manifest: ManifestV1
    graph: GraphV1
    resolver: ResolverV1
    execution: ExecutionV1 | None
    ledger: RunLedgerV1 | None
    texts: Mapping[str, bytes]
    fell_back: str = ""
    summed: bool = False


def read_session(path: Path) -> SessionV1:
    """The newest generation of a folder whose files all hold.

    Raises:
        UsageError: no session there, a version from the future, or something other than a plain file in the place of one.
        StoreDamaged: no generation is whole; the error is that of the newest.
    """
    folder = files.opened(path)
    for attempt in range(ATTEMPTS):
        before = generations(folder)
        try:
            return _newest(folder, before)
        except StoreDamaged:
            if generations(folder) == before or attempt + 1 == ATTEMPTS:
                raise
            time.sleep(_PAUSE * (attempt + 1))  # a writer moved the folder on meanwhile
    raise AssertionError("unreachable")


def generations(folder: Path) -> tuple[int, ...]:
    """Numbers of the manifests in a folder, newest first."""
    found = (generation_of(entry.name) for entry in folder.iterdir())
    return tuple(sorted((n for n in found if n is not None), reverse=True))


def _newest(folder: Path, numbers: tuple[int, ...]) -> SessionV1:
    names = [file_name("session", n) for n in numbers]
    if files.kind_of(folder / POINTER):
        names.append(POINTER)
    if not names:
        raise UsageError("no session in this folder", where=str(folder), way_out="name a folder that holds session.json")
    first: StoreDamaged | None = None
    for name in names:
        try:
            return read_generation(folder, name, "" if first is None else str(first))
        except StoreDamaged as error:
            first = first or error
    assert first is not None
    raise first


def read_generation(path: Path, name: str, fell_back: str = "") -> SessionV1:
    """One generation by the name of its manifest. Raises as ``read_session``."""
    text = files.read_file(path, name)
    manifest = read_manifest(text, name)
    if generation_of(name) not in (None, manifest.generation):
        raise damaged(f"the manifest says it is generation {manifest.generation}", f"{name}: generation")
    texts = {file: files.read_file(path, file) for file in manifest.names}
    sums = sums_name(manifest.generation)
    there = bool(files.kind_of(path / sums))
    if there:
        _check_sums(files.read_file(path, sums), {**texts, name: text}, name, sums)
    return replace(assemble(manifest, texts), fell_back=fell_back, summed=there)


def assemble(manifest: ManifestV1, texts: Mapping[str, bytes]) -> SessionV1:
    """A generation of its files' bytes, held against each other. Raises StoreDamaged, UsageError."""
    graph = read_graph(texts[manifest.graph], manifest.graph)
    resolver = read_resolver(texts[manifest.resolver], manifest.resolver)
    check_agreement(graph, resolver, manifest.resolver)
    if manifest.execution is None or manifest.ledger is None:
        return SessionV1(manifest, graph, resolver, None, None, texts)
    ledger = read_runledger(texts[manifest.ledger], manifest.ledger, expect_head=manifest.ledger_head)
    execution = read_execution(texts[manifest.execution], manifest.execution)
    check_execution(execution, graph, manifest.execution)
    check_history(execution, ledger, graph, manifest.ledger)
    return SessionV1(manifest, graph, resolver, execution, ledger, texts)


# -- what only holds between files


def check_agreement(graph: GraphV1, resolver: ResolverV1, where: str = "resolver") -> None:
    """Every name of the resolver is an entity of the graph under that label. Raises StoreDamaged."""
    nodes = {node.id: node for node in graph.nodes}
    for id, label in resolver.canonical.items():
        node, at = nodes.get(id), f"{where}: canonical[{id!r:.80}]"
        if node is None:
            raise damaged("no node of the graph", at)
        if node.type != "entity":
            raise damaged(f"a node of type {node.type}, not entity", at)
        if node.label != label:
            raise damaged(f"called {label!r:.80} here and {node.label!r:.80} in the graph", at)


def check_history(execution: ExecutionV1, ledger: RunLedgerV1, graph: GraphV1, where: str = "runledger") -> None:
    """Every entry is about a task of the plan, a round it reached, and nodes of the graph. Raises StoreDamaged."""
    names = {task.name for task in execution.tasks}
    nodes = {node.id for node in graph.nodes}
    grounds = {record.id for record in graph.assumptions}
    for i, entry in enumerate(ledger.entries):
        at = f"{where}: entries[{i}]"
        if entry.task not in names:
            raise damaged(f"about {entry.task!r:.80}, which is no task of the plan", f"{at}.task")
        if entry.round > execution.round:
            raise damaged(f"round {entry.round} of a plan that reached {execution.round}", f"{at}.round")
        if entry.node_id is not None and entry.node_id not in nodes:
            raise damaged(f"{entry.node_id!r:.80} is no node of the graph", f"{at}.node_id")
        if entry.assumption_id is not None and entry.assumption_id not in grounds:
            raise damaged(f"{entry.assumption_id!r:.80} is no assumption of the graph", f"{at}.assumption_id")


# -- digests beside a generation, which the format itself has no place for


def sums_name(generation: int) -> str:
    """Name of the file of digests that mog writes beside a generation; the earlier package passes it over."""
    return file_name("sums", generation)


def write_sums(manifest_text: bytes, texts: Mapping[str, bytes]) -> bytes:
    """Digests of a generation's files and of its manifest."""
    found = {name: hashlib.sha256(data).hexdigest() for name, data in texts.items()}
    row = {"schema": SUMS_SCHEMA, "version": 1, "files": found, "manifest": hashlib.sha256(manifest_text).hexdigest()}
    return fields.pretty(row)


def _check_sums(data: bytes, texts: Mapping[str, bytes], manifest: str, where: str) -> None:
    top = fields.schema(fields.load(data, where), SUMS_SCHEMA, ("files", "manifest"), where)
    sums = fields.record(top["files"], sorted(set(texts) - {manifest}), f"{where}: files")
    said = {**sums, manifest: top["manifest"]}
    for file, text in texts.items():
        if digest(said[file], f"{where}: {file}") != hashlib.sha256(text).hexdigest():
            raise damaged(f"the digest in {where} is another: the file was changed since it was written", file)
