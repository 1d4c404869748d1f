"""``Snapshots`` of a workspace: documents and versions of the code graph, verdicts, impact queries, advisory annotations.

What lives here: handing each call to the room that answers it. Reached as ``workspace.context_graph`` by every surface. What may not
come in: rules, text for one surface, a model. Safe from any thread; a call works on one generation.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mog.engine.code import git
from mog.engine.errors import IndexMissing, MogError, PolicyDenied, UsageError
from mog.engine.model import Check, Freshness, Node, Progress, ScanHealth
from mog.engine.snapshots.model import (
    SNAPSHOT,
    UNKNOWN,
    UNSAFE,
    Annotation,
    AnnotationRequest,
    Applied,
    Difference,
    HealthReport,
    Identity,
    ImpactQuery,
    ImpactReport,
    Snapshot,
    Stale,
    Version,
)
from mog.engine.snapshots.parts import Part, Passed

if TYPE_CHECKING:
    from mog.engine.beliefs import Beliefs
    from mog.engine.code.freshness import Disk
    from mog.engine.code.indexer import Indexer
    from mog.engine.code.view import CodeView
    from mog.engine.config import EngineConfig
    from mog.engine.retrieval.model import Advice, Item
    from mog.engine.snapshots.advice import Advised
    from mog.engine.snapshots.document import Written
    from mog.engine.snapshots.seen import Seen
    from mog.engine.snapshots.versions import Versions
    from mog.engine.store.schema import FileRow

USER = "user"
Telling = Callable[[Progress], None]


class Door:
    """What this room needs of a workspace.

    Attributes:
        root, mog_dir: the worktree and its ``.mog``. reading: a view of the newest generation, held while it is used.
        index: brings the index up to the disk. ledger: where the event log is, if there is one. checks: the stores, checked.
        search: nodes that answer words.
    """

    def __init__(
        self, root: Path, mog_dir: Path, config: EngineConfig, reading: Callable[[], AbstractContextManager[CodeView]],
        disk: Callable[[], Disk], indexer: Callable[[], Indexer], index: Callable[[Telling | None], object],
        beliefs: Callable[[], Beliefs], ledger: Callable[[], Path], checks: Callable[[], tuple[Check, ...]],
        search: Callable[[str], Iterable[Node]],
    ) -> None:  # fmt: skip
        self.root, self.mog_dir, self.config = root, mog_dir, config
        self.reading, self.disk, self.indexer, self.index = reading, disk, indexer, index
        self.beliefs, self.ledger, self.checks, self.search = beliefs, ledger, checks, search


class Snapshots:
    """The code graph as documents for planners."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._app = door.config.project or door.root.name
        self._lock = threading.RLock()
        self._held: Advised | None = None
        self._seen: Seen | None = None

    @property
    def app_id(self) -> str:
        """Name of the graph: the configured project, else the folder's."""
        return self._app

    # snapshots

    def snapshot(
        self, out: Path | IO[bytes] | None = None, *, index: bool = True, progress: Telling | None = None
    ) -> Snapshot:
        """Register the graph as it is: its identity, verdict and counts; with ``out`` the whole document.

        Args:
            out: a file to write (put in place at once, 0600) or a stream. index: bring the index up to the disk first.

        Raises:
            IndexMissing: there is none, and it was not to be made. UsageError: ``out`` cannot be written. And as ``index``.
        """
        if index:
            self._door.index(progress)
        with self._door.reading() as view, ExitStack() as held:
            keeping = self._versions.writer()
            held.callback(keeping.drop)
            target = Part(out) if isinstance(out, Path) else Passed(out)
            held.callback(target.drop)
            made, written = self._written(view, (keeping.write, target.write), progress)
            self._versions.record(self._version(view, made), keeping)
            target.settle()
        return replace(made, path=str(out) if isinstance(out, Path) else "", size=written.size)

    def _written(
        self, view: CodeView, sinks: tuple[Callable[[bytes], object], ...], progress: Telling | None
    ) -> tuple[Snapshot, Written]:
        """The document through every sink, and what it says of itself."""
        from mog.engine.snapshots import document
        from mog.engine.snapshots.stream import GraphStream

        made = self._described(view)
        written, ref = document.Written(), f"repo:{self._app}"
        advice = (_plain(one) for one in self._recorded())
        total = made.nodes
        for piece in document.chunks(_head(made, ref), GraphStream(view, ref), advice, written):
            for sink in sinks:
                sink(piece)
            if progress is not None:
                progress(Progress("writing", min(total, sum(written.node_counts.values())), total))
        return replace(
            made, node_counts=dict(sorted(written.node_counts.items())), edge_counts=dict(sorted(written.edge_counts.items())),
            nodes=written.nodes, edges=written.edges, graph_digest=written.graph_digest,
        ), written  # fmt: skip

    def _described(self, view: CodeView) -> Snapshot:
        """Everything but the graph itself; nodes as the index counts them."""
        from mog.engine.snapshots import digests, staleness, verdict

        report = view.report()
        scan: ScanHealth = report["health"]
        advice = list(self._recorded())
        nodes = int(view.db.rows("SELECT count(*) FROM nodes")[0][0])
        stale = staleness.judged(self._door.root, view, self._door.indexer(), self._fresh, self._door.checks())
        return Snapshot(
            SNAPSHOT, f"graph_{self._app}_{view.stamp.generation}", self._app, float(view.meta.get("published_at", 0.0)),
            view.stamp.generation, digests.identity(view, self._app, advice), stale, verdict.verdict(view, scan), scan, {},
            dict(report["edges"]), int(report["files"]), int(report["symbols"]), nodes, sum(report["edges"].values()), len(advice), "",
        )  # fmt: skip

    def _version(self, view: CodeView, made: Snapshot) -> Version:
        from mog.engine.snapshots.staleness import commit_of

        ref = str(view.db.meta_get("ref", ""))
        return Version(
            _full(self._door.root, commit_of(ref)), ref, bool(view.db.meta_get("dirty", False)), made.identity.facts_hash,
            made.graph_digest, made.identity.identity_digest, made.generation, made.nodes, made.edges, made.files, made.symbols,
            made.health.status, datetime.now(UTC).isoformat(timespec="seconds"),
        )  # fmt: skip

    def identity(self) -> Identity:
        """What the newest generation is, as digests. Raises IndexMissing."""
        from mog.engine.snapshots import digests

        with self._door.reading() as view:
            return digests.identity(view, self._app, self._recorded())

    def health(self) -> HealthReport:
        """The verdict on the newest generation. Raises IndexMissing."""
        from mog.engine.snapshots import verdict

        with self._door.reading() as view:
            return verdict.verdict(view, view.report()["health"])

    def stale(self, *, checks: bool = False) -> Stale:
        """Whether the newest generation can be trusted; never an error. ``checks``: look through the stores too."""
        from mog.engine.errors import StoreDamaged
        from mog.engine.snapshots import staleness

        try:
            with self._door.reading() as view:
                found = self._door.checks() if checks else ()
                return staleness.judged(self._door.root, view, self._door.indexer(), self._fresh, found)
        except IndexMissing as error:
            return Stale(UNKNOWN, (error.what,))
        except StoreDamaged as error:
            return Stale(UNSAFE, (error.what,))

    # versions

    @property
    def _versions(self) -> Versions:
        from mog.engine.snapshots.versions import Versions

        self._door.indexer()  # makes .mog with its .gitignore
        return Versions(self._door.mog_dir / "versions")

    def versions(self) -> tuple[Version, ...]:
        """Recorded versions, the newest last. Raises StoreDamaged."""
        return self._versions.all()

    def compare(self, before: str, after: str = "latest") -> Difference:
        """What differs between two recorded versions, named by commit, digest or ``latest``.

        Raises: NotFound, UsageError, StoreDamaged.
        """
        kept = self._versions
        return self._with_names(kept.compare(kept.find(before), kept.find(after)))

    def _with_names(self, found: Difference) -> Difference:
        """Edges of the examples with locators in place of ids, where the index still has their ends."""
        if not any(name.startswith("edges.") for name in found.examples):
            return found
        with contextlib.suppress(IndexMissing), self._door.reading() as view:

            def named(line: str) -> str:
                return " ".join(
                    node.locator if len(word) == 32 and (node := view.named(word)) else word for word in line.split(" ")
                )

            rows = {
                name: tuple(map(named, lines)) if name.startswith("edges.") else lines
                for name, lines in found.examples.items()
            }
            return replace(found, examples=rows)
        return found

    # impact

    def impact(self, query: ImpactQuery | Mapping[str, Any] | bytes) -> ImpactReport:
        """The answer to an impact query: a record, a JSON value, or the bytes of one.

        Raises:
            UsageError: it cannot be meant. SnapshotMoved: it was made for another snapshot. NotFound, AmbiguousTarget: a seed.
        """
        from mog.engine.snapshots import digests, impact, staleness
        from mog.engine.snapshots import query as queries

        with self._door.reading() as view:
            if isinstance(query, bytes):
                asked = queries.read(query, view.ontology)
            elif isinstance(query, ImpactQuery):
                asked = queries.checked(query, view.ontology)
            else:
                asked = queries.made(query, view.ontology)
            digest = digests.identity(view, self._app).identity_digest
            status = staleness.judged(self._door.root, view, self._door.indexer(), self._fresh).status
            return impact.report(view, asked, digest, status, self._fresh)

    def _fresh(self, row: FileRow | None) -> Freshness:
        return self._door.disk().file_freshness(row)

    # annotations

    def _any(self) -> bool:
        """Whether anything was annotated here; where nothing was, no mesh is loaded for the question."""
        from mog.engine.snapshots.seen import Seen

        if not self._door.ledger().exists():
            return False
        with self._lock:
            self._seen = self._seen or Seen(self._door.beliefs().log)
            return self._seen.any()

    def _recorded(self) -> Iterator[Annotation]:
        return self._advised.all_recorded() if self._any() else iter(())

    @property
    def _advised(self) -> Advised:
        from mog.engine.snapshots.advice import Advised

        with self._lock:
            if self._held is None:
                self._held = Advised(self._door.beliefs(), self._door.reading)
            return self._held

    def annotation_request(
        self, targets: Collection[str] = (), *, query: str = "", limit: int = 40, again: bool = False
    ) -> AnnotationRequest:
        """What to have described: at most 40 symbols. The file goes out and comes back; nothing here asks a model.

        Args:
            targets: names, locators, paths, or folders that end in a slash; none: what matters most. query: what a search finds.
            again: symbols whose advice is fresh too.

        Raises: UsageError, NotFound, AmbiguousTarget, IndexMissing.
        """
        from mog.engine.snapshots import annotate

        if targets and query:
            raise UsageError("targets and a query were given", where="annotate", way_out="give one of them")
        doors = annotate.Doors(self._door.search, self._door.disk(), self._advised_places)
        status = self.stale().status
        with self._door.reading() as view:
            return annotate.request(view, self._app, status, annotate.Ask(tuple(targets), query, limit, again), doors)

    def _advised_places(self) -> frozenset[str]:
        return frozenset(one.locator for one in self.annotations() if not one.stale)

    def apply_annotations(self, data: bytes, *, annotator: str = "", origin: str = USER) -> Applied:
        """Record what came back: advice of symbols whose code is still the one that was described.

        Args:
            annotator: who said it; "" as the file says. origin: ``user``, or a program, which the configuration may refuse.

        Raises:
            UsageError: the file is none. PolicyDenied: programs may not record here. HeldByOther, StoreDamaged. IndexMissing.
        """
        from mog.engine.snapshots import wording
        from mog.engine.snapshots.digests import advisory_hash

        if origin != USER and self._door.config.agent_memory == "refuse":
            way_out = "a person sets memory.agents: allow in mog.yaml"
            raise PolicyDenied("programs may not record here", where="memory.agents", way_out=way_out)
        answer = wording.read(data)
        with self._door.reading() as view:
            facts, generation = str(view.meta.get("facts_hash", "")), view.stamp.generation
        ignored = Counter(answer.ignored)
        placed = self._advised.place(answer.items, bool(answer.graph_hash) and answer.graph_hash == facts, ignored)
        who = wording.annotator_of(annotator or answer.annotator)
        done, events = self._advised.record(
            placed, who, ignored, request_graph=answer.graph_hash, generation=answer.generation
        )
        warnings = tuple(_warned(answer, facts, generation))
        return Applied(
            tuple(done.applied), tuple(done.unchanged), done.replaced, dict(sorted((+ignored).items())),
            dict(sorted(answer.cut.items())), answer.generation, generation, events,
            advisory_hash(self._recorded()), warnings,
        )  # fmt: skip

    def annotations(self, *locators: str) -> tuple[Annotation, ...]:
        """Advice that counts, of these symbols or of all, each held against the disk. Costs nothing where nothing was annotated."""
        return self._advised.of(locators) if self._any() else ()

    def advice(self, locators: Sequence[str]) -> tuple[Advice, ...]:
        """The same as catalogs, packs and scopes show it, in the order asked for. ``workspace.context`` asks."""
        from mog.engine.snapshots import shown

        found = {one.locator: one for one in self.annotations(*locators)} if locators else {}
        return tuple(shown.advice(found[place]) for place in dict.fromkeys(locators) if place in found)

    def items(self, locators: Sequence[str], budget: int) -> tuple[Item, ...]:
        """The same as items of a pack, within a budget of tokens."""
        from mog.engine.snapshots import shown

        return shown.items(self.annotations(*locators), budget) if locators else ()

    def judged(self, ref: str) -> Annotation | None:
        """The annotation of a record (``annotation:<id>``) as it is now; None when it no longer counts."""
        record = ref.removeprefix("annotation:")
        return next((one for one in self.annotations() if one.record == record), None)


def _warned(answer: Any, facts: str, generation: int) -> Iterator[str]:
    from mog.engine.snapshots import wording

    if answer.graph_hash != facts:
        made_for = f"generation {answer.generation}" if answer.generation else "an unknown generation"
        yield f"the request was made for {made_for} of another graph; the index is at {generation}. What changed since was left out"
    suspicious = sum(map(wording.gives_orders, answer.items))
    if suspicious:
        yield f"{suspicious} items read like orders to whoever reads them; they are kept as plain text and obeyed by nobody"


def _head(made: Snapshot, ref: str) -> dict[str, Any]:
    """What the document says before the graph."""
    source = {
        "source_ref_id": ref, "kind": "repo", "uri": made.app_id, "ref": made.identity.ref,
        "checksum": made.identity.source_manifest_digest,
    }  # fmt: skip
    return {
        "schema": made.schema, "graph_id": made.graph_id, "app_id": made.app_id, "generation": made.generation,
        "indexed_at": made.indexed_at, "identity": asdict(made.identity), "graph_hash": made.identity.facts_hash,
        "stale_status": made.stale.status, "stale_reasons": list(made.stale.reasons), "health_report": asdict(made.health),
        "scan_health": _scan(made.scan_health), "source_refs": [source],
    }  # fmt: skip


def _scan(health: ScanHealth) -> dict[str, Any]:
    return {
        "seen": health.seen, "indexed": health.indexed, "text_only": health.text_only, "skipped": dict(health.skipped),
        "no_symbols": dict(health.no_symbols), "gated": health.gated, "gated_symbols": health.gated_symbols,
        "languages": dict(health.languages), "problem_count": health.problem_count, "git": health.git,
    }  # fmt: skip


def _plain(one: Annotation) -> dict[str, Any]:
    """Advice as it stands in a document: as recorded; whether it is fresh is asked of the disk, not of a file."""
    said = asdict(one)
    for name in ("freshness", "reason"):
        said.pop(name)
    return said


def _full(root: Path, commit: str) -> str:
    """The whole id of a commit; as given where git does not know it (any more)."""
    if not commit:
        return ""
    with contextlib.suppress(MogError):
        found = (
            git.run(root, "rev-parse", "-q", "--verify", f"{commit}^{{commit}}", accept=(0, 1, 128))
            .strip()
            .decode("ascii", "replace")
        )
        return found or commit
    return commit
