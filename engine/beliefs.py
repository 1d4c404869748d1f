"""``Beliefs``: what people and agents said about a clone, seen from one worktree. Reached as ``workspace.beliefs``.

What lives here: handing each call to the room of ``reason`` that answers it; pins held against the disk. What may not come
in: rules, logic, text for people. The index is asked only to find a place by name; no belief depends on it.
"""

from __future__ import annotations

import contextlib
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mog.engine.code import freshness, git
from mog.engine.config import EngineConfig
from mog.engine.errors import NotFound, StoreDamaged, UsageError
from mog.engine.graph import ContextGraph
from mog.engine.ids import Locator, locator, node_uid, parse_locator, parse_without_index
from mog.engine.ledgers.events import EventLog
from mog.engine.ledgers.witness import Witness
from mog.engine.model import Anchor, Freshness, IndexStamp, Node, Pin, PinState, Progress, VerifyReport
from mog.engine.ontology import Ontology
from mog.engine.pins import PinStore

if TYPE_CHECKING:
    from mog.engine.memory.changes import Changes
    from mog.engine.memory.records import Changed
    from mog.engine.policy.trust import Command, TrustStore, Waiting
    from mog.engine.reason.auditors import AuditorRegistry
    from mog.engine.reason.bridge import Bridge, ChangeReport, Receipt, RecheckReport
    from mog.engine.reason.drift import Drift
    from mog.engine.reason.explain import Explanation, Lineage
    from mog.engine.reason.health import HealthReport
    from mog.engine.reason.mend import Mend
    from mog.engine.reason.mesh import Effect, Mesh
    from mog.engine.reason.near import Around, Believed
    from mog.engine.reason.prose.report import IngestReport
    from mog.engine.reason.radius import Radius
    from mog.engine.reason.survey import Survey
    from mog.engine.reason.telemetry import Telemetry
    from mog.engine.reason.temporal import DecisionHistory, Reconstruction
    from mog.engine.reason.walker import Walker
    from mog.engine.reason.walks import Walk

PERSON = "person"


@dataclass(frozen=True, slots=True)
class Place:
    """What ``Beliefs`` needs to know of a workspace.

    Attributes:
        root: the worktree. folder: ``.mog`` of the clone, which holds ``ledger.db``.
        disk: the worktree's files; whoever gave it closes it. key: gives the secret of the clone. paths: lists where a body may stand.
        find: the index's node for what a person typed, or None; never an error.
        now: wall time, ISO 8601.
    """

    root: Path
    folder: Path
    disk: freshness.Disk
    key: Callable[[], bytes]
    paths: Callable[[], Iterable[str]]
    find: Callable[[str], Node | None]
    now: Callable[[], str]


class Beliefs:
    """Beliefs and pins of one clone, judged against one worktree. Safe from any thread.

    Writes raise HeldByOther when another process writes, StoreDamaged when the ledger cannot be written, OntologyError,
    NotFound and UsageError when a rule forbids them, PolicyDenied when a text is shaped like a credential; then nothing
    was recorded.
    """

    def __init__(
        self, place: Place, ontology: Ontology, config: EngineConfig, registry: AuditorRegistry | None = None
    ) -> None:
        self.disk = place.disk
        self.log = EventLog(place.folder / "ledger.db", fold=partial(_folder, ontology), witness=Witness())
        self.place = place
        self._ontology = ontology
        self._config = config
        self._registry = registry
        self._pins = PinStore(self.log, _looks_secret)
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the ledger."""
        self.log.close()
        if "_changes" in self.__dict__:
            self._changes.close()

    @contextlib.contextmanager
    def looking(self) -> Iterator[freshness.Disk]:
        """The files of the worktree, for the while of a ``with`` to this thread alone."""
        with self._lock:
            yield self.disk

    # rooms, opened when first needed

    @cached_property
    def mesh(self) -> Mesh:
        """The reason layer."""
        from mog.engine.reason.mesh import Mesh

        return Mesh(
            self.log, self._ontology, self._config.project, worktree=self._worktree, looks_secret=_looks_secret,
            clock=self.place.now,
        )  # fmt: skip

    @cached_property
    def walker(self) -> Walker:
        """Asks questions of the mesh."""
        from mog.engine.reason.walker import Walker

        return Walker(self.mesh)

    @cached_property
    def telemetry(self) -> Telemetry:
        """Counts of walks, outside the ledger."""
        from mog.engine.reason.telemetry import Telemetry

        return Telemetry(self.place.folder / "run" / "telemetry.json")

    @cached_property
    def bridge(self) -> Bridge:
        """Holds anchored beliefs against the disk."""
        from mog.engine.reason.bridge import Bridge

        return Bridge(self.mesh, self.disk, self.place.paths, self.trust, self._registry, self._lock)

    @cached_property
    def trust(self) -> TrustStore:
        """Which commands of the repository a person allowed."""
        from mog.engine.policy.trust import TrustStore

        repo = self._repo
        return TrustStore(self.place.root, repo.common_dir if repo else self.place.root, self.place.key)

    @cached_property
    def _repo(self) -> git.Repo | None:
        return git.open_repo(self.place.root)

    @cached_property
    def _worktree(self) -> str:
        from mog.engine.reason.drift import worktree_name

        repo = self._repo
        return worktree_name(repo.git_dir if repo else None, repo.common_dir if repo else None)

    # saying

    def find(self, target: str) -> str:
        """The id of the one belief a person means: an id, its first digits, or a label. Raises NotFound, UsageError."""
        return self.mesh.find(target)

    def assume(self, statement: str, *, kind: str = "ground", about: Sequence[str] = (), by: str = PERSON) -> Effect:
        """Take something as true; ``about`` names code by locator, name, or ``path:10-20``."""
        from mog.engine.reason import commands

        return commands.assume(self.mesh, statement, kind=kind, anchors=self._anchors(about), by=by)

    def claim(
        self, statement: str, *, source: str = "", kind: str = "statement", rests_on: Sequence[Collection[str]] = (),
        about: Sequence[str] = (), by: str = PERSON,
    ) -> Effect:  # fmt: skip
        """State something; each list in ``rests_on`` is one more reason for it."""
        from mog.engine.reason import commands

        grounds = [self._found(premises) for premises in rests_on]
        return commands.claim(
            self.mesh, statement, source=self.find(source) if source else "", kind=kind, grounds=grounds,
            anchors=self._anchors(about), by=by,
        )  # fmt: skip

    def decide(
        self, title: str, rationale: str, *, source: str = "", key: str = "", rests_on: Collection[str] = (),
        produces: Collection[str] = (), supersedes: str = "", move: Collection[str] = (), about: Sequence[str] = (),
        by: str = PERSON,
    ) -> Effect:  # fmt: skip
        """Record a decision, what it rests on (assumptions, claims, decisions) and what it brings into being."""
        from mog.engine.reason import commands

        by_type: dict[str, list[str]] = {"assumption": [], "claim": [], "decision": []}
        for id in self._found(rests_on):
            type = self.mesh.graph.node(id).type
            if type not in by_type:
                way_out = "name assumptions, claims or decisions"
                raise UsageError(f"a decision does not rest on a {type}", where=id, way_out=way_out)
            by_type[type].append(id)
        return commands.decide(
            self.mesh, title, rationale, source=self.find(source) if source else "", key=key, claims=by_type["claim"],
            assumptions=by_type["assumption"], decisions=by_type["decision"], produces=self._found(produces),
            supersedes=self.find(supersedes) if supersedes else "", move=self._found(move), anchors=self._anchors(about), by=by,
        )  # fmt: skip

    def evidence(
        self, text: str, *, kind: str = "observation", source: str = "", key: str = "", contradicts: Collection[str] = (),
        supports: Collection[str] = (), about: Sequence[str] = (), by: str = PERSON,
    ) -> Effect:  # fmt: skip
        """Record an observation. What it contradicts stays contested until an auditor judges."""
        from mog.engine.reason import commands

        return commands.evidence(
            self.mesh, text, kind=kind, source=self.find(source) if source else "", key=key, by=by,
            contradicts=self._found(contradicts), supports=self._found(supports), anchors=self._anchors(about),
        )  # fmt: skip

    def ground(
        self, conclusion: str, all_of: Collection[str], none_of: Collection[str] = (), *, note: str = ""
    ) -> Effect:
        """Give one more reason for a conclusion."""
        from mog.engine.reason import commands

        found = self._found(all_of), self._found(none_of)
        return commands.ground(self.mesh, self.find(conclusion), *found, note=note)

    def supersede(
        self, old: str, new: str, *, move: Collection[str] = (), drop: Collection[str] = (), everything: str = "",
        reason: str = "", by: str = PERSON,
    ) -> Effect:  # fmt: skip
        """Replace a record; see ``commands.supersede``. ``new`` is a record, or the words of one to make."""
        from mog.engine.reason import commands

        try:
            new = self.find(new)
        except NotFound:
            pass  # words of a new record
        return commands.supersede(
            self.mesh, self.find(old), new, move=self._found(move), drop=self._found(drop), everything=everything,
            reason=reason, by=by,
        )  # fmt: skip

    def retract(self, target: str, *, reason: str, by: str = PERSON) -> Effect:
        """Take back a claim, source, decision or entity that should not have been recorded."""
        from mog.engine.reason import commands

        return commands.retract(self.mesh, self.find(target), reason=reason, by=by)

    def withdraw(self, target: str, *, reason: str, by: str = PERSON) -> Effect:
        """Take back evidence, or undo a retraction: labels return to what they would have been."""
        from mog.engine.reason import commands

        return commands.withdraw(self.mesh, self.find(target), reason=reason, by=by)

    def invalidate(self, target: str) -> Radius:
        """What would fall if this were contradicted. Records nothing."""
        from mog.engine.reason import commands

        return commands.reject_preview(self.mesh, self.find(target))

    def reject(self, target: str, *, evidence: str, reason: str, auditor: str = PERSON) -> Effect:
        """Judge that evidence contradicts a belief; ``evidence`` is a record, or words to record first, in the same commit."""
        from mog.engine.reason import commands

        try:
            evidence = self.find(evidence)
        except NotFound:
            pass  # words of new evidence
        return commands.reject(self.mesh, self.find(target), evidence=evidence, auditor=auditor, reason=reason)

    def undo(self, seq: int, *, reason: str = "") -> Effect:
        """Take one event back; see ``Mesh.undo``."""
        return self.mesh.undo(seq, reason=reason)

    # asking

    def ask(self, question: str) -> Walk:
        """The best-grounded answer to a question, with the walk that found it, or why there is none."""
        walk = self.walker.ask(question)
        self.telemetry.record(walk)
        if self.log.path.exists():
            with contextlib.suppress(StoreDamaged):  # counts of walks are no reason to withhold an answer
                self.telemetry.save()
        return walk

    def missing(self, walk: Walk) -> tuple[Mend, ...]:
        """What might turn a dead end into an answer, most likely first; records nothing."""
        from mog.engine.reason import mend

        return mend.proposals(self.mesh, self.walker, walk)

    def mend(self, proposal: Mend, words: str = "", *, by: str = PERSON) -> Effect:
        """Record one of ``missing``; see ``reason.mend``."""
        from mog.engine.reason import mend

        return mend.mend(self.mesh, proposal, words, by=by)

    def explain(self, target: str) -> Explanation:
        """Why a belief stands or has fallen. Raises NotFound, UsageError."""
        from mog.engine.reason.explain import explain

        return explain(self.mesh, self.find(target))

    def lineage(self, target: str) -> Lineage:
        """What a belief superseded and what superseded it. Raises NotFound, UsageError."""
        from mog.engine.reason.explain import lineage

        return lineage(self.mesh, self.find(target))

    def why(self, target: str) -> tuple[Explanation, ...]:
        """What is believed about a piece of code, or about one node; standing beliefs first. Raises NotFound."""
        from mog.engine.reason.explain import about, explain

        node = self.place.find(target)
        ids = about(self.mesh, node.id, node.locator) if node else about(self.mesh, "", target)
        if not ids:
            ids = (self.find(target),)
        found = [explain(self.mesh, id) for id in ids]
        return tuple(sorted(found, key=lambda e: (e.label == "fallen", e.node.type, e.node.label)))

    def about(self, place: Node) -> tuple[Believed, ...]:
        """What is believed about a piece of code or its file, and whether what it is anchored to is as it was."""
        from mog.engine.reason import drift, near

        file = self.place.find(locator("file", place.path)) if place.type == "symbol" else None
        places = [(one.id, one.locator, one is file) for one in (place, file) if one is not None]
        with self._lock:
            return near.believed(self.mesh, places, lambda one: drift.judge(self.disk, one, self.place.paths))

    def around(self, *targets: str, depth: int = 2, limit: int = 200) -> Around:
        """What stands around beliefs, ``depth`` edges away. Raises NotFound, UsageError."""
        from mog.engine.reason import near

        return near.around(self.mesh, [self.find(target) for target in targets], depth, limit)

    def as_of(self, question: str, date: str) -> Reconstruction:
        """The answer as it would have been on a day (YYYY-MM-DD), and what was not known yet. Raises UsageError."""
        from mog.engine.reason.temporal import explain_as_of

        return explain_as_of(self.mesh, question, date, walker=self.walker)

    def reconstruct(self, target: str, date: str | None = None, *, depth: int = 3) -> DecisionHistory:
        """What a decision stood on when it was made, and what came later. Raises NotFound, UsageError."""
        from mog.engine.reason.temporal import reconstruct_decision

        return reconstruct_decision(self.mesh, self.find(target), date, depth=depth)

    def health(self) -> HealthReport:
        """What is wrong or thin in the graph."""
        from mog.engine.reason.health import check

        return check(self.mesh, near_misses=self.walker.resolver.near_misses, telemetry=self.telemetry.report())

    def survey(self) -> Survey:
        """Everything that is believed, counted, and as much of it as fits on a page."""
        from mog.engine.reason.survey import survey
        from mog.engine.reason.telemetry import KEPT_EDGES, KEPT_NODES

        return survey(self.mesh, self.telemetry.report(max(KEPT_EDGES, KEPT_NODES)))

    def ingest(
        self, paths: Sequence[Path], *, commits: int = 0, progress: Callable[[Progress], None] | None = None
    ) -> IngestReport:
        """Read folders, files, issue exports and the last ``commits`` commits; each path is one commit of the ledger.

        Raises: NotFound: a path that is not there. GitRefused.
        """
        from mog.engine.reason.prose import collect, pipeline
        from mog.engine.reason.prose.report import IngestReport

        def tell(stage: str, done: int, total: int) -> None:
            if progress is not None:
                progress(Progress(stage, done, total))

        report = IngestReport()
        for found in collect.collections(self.place.root, paths, commits):
            report.add(
                pipeline.ingest(
                    self.mesh, found.documents, collection=found.name, complete=found.complete, progress=tell
                )
            )
        return report

    # holding against the disk

    def recheck(self, *, progress: Callable[[Progress], None] | None = None) -> RecheckReport:
        """Look at what beliefs are anchored to; have auditors that may run judge what changed."""
        return self.bridge.recheck(progress=progress)

    def since(self, drift: Drift) -> Changed:
        """The commit that changed the code under an anchor, or that none did; ``unknown`` where git cannot say."""
        with self._lock:
            self._changes.anew()
            return self._changes.of(drift, "")

    @cached_property
    def _changes(self) -> Changes:
        from mog.engine.memory.changes import Changes

        return Changes(self.place.root, self.place.key, self._config)

    def judge(self, evidence: str, target: str, verdict: str, reason: str) -> Receipt:
        """The verdict of the person at the keyboard: ``contradicts`` or ``holds``. Never for a program."""
        return self.bridge.judge_as_person(self.find(evidence), self.find(target), verdict, reason)

    def on_change(self, *, at_once: bool = False) -> ChangeReport:
        """What the watcher calls when files changed and it was quiet for a moment."""
        from mog.engine.reason.bridge import ChangeReport

        if not self.log.path.exists():
            return ChangeReport()
        repo = self._repo
        return self.bridge.on_change(at_once=at_once, git_dir=repo.git_dir if repo else None)

    def waiting(self) -> tuple[Waiting, ...]:
        """Commands of the repository that may not run until somebody allows them."""
        return tuple(self.trust.waiting(self._commands()))

    def allow(self, name: str, digest: str = "") -> Waiting | None:
        """Give the word for one command; what waited, or None when it was allowed. Raises NotFound, PolicyDenied.

        ``digest``: what the person was shown; when given, the command must still be that.
        """
        for command in self._commands():
            if command.name == name:
                return self.trust.allow(command, digest)
        raise NotFound(f"no command {name!r} is declared here", way_out="list them with `mog allow`")

    def revoke(self, name: str) -> int:
        """Take every word for a command back; how many there were."""
        return self.trust.revoke(name)

    def _commands(self) -> tuple[Command, ...]:
        from mog.engine.executor import plan_file
        from mog.engine.reason import auditors

        return (*auditors.commands_of(self.place.root), *plan_file.commands_of(self.place.root))

    def _found(self, targets: Iterable[str]) -> list[str]:
        return [self.find(target) for target in targets]

    def _anchors(self, places: Sequence[str]) -> list[tuple[Anchor, Node | None]]:
        return [self._anchor(place) for place in places]

    def _anchor(self, place: str) -> tuple[Anchor, Node | None]:
        from mog.engine.reason import lines

        node = self.place.find(place)
        if node is None and lines.parse(place) is None:
            parse_without_index(place)
        return self.bridge.make_anchor(node.locator if node else place), node

    # pins

    def pins(self) -> tuple[Pin, ...]:
        """Every pin as recorded."""
        return self._pins.all()

    def states(self) -> tuple[PinState, ...]:
        """Every pin with what the disk says now."""
        with self._lock:
            return tuple(freshness.judge(self.disk, pin, self.place.paths) for pin in self._pins.all())

    def pin(self, place: Locator, note: str) -> PinState:
        """Anchor a note to a place as it is on disk."""
        with self._lock:
            pin = self._pins.add(note, freshness.make_anchor(self.disk, place, self.place.paths), self.place.now())
            return freshness.judge(self.disk, pin, self.place.paths)

    def unpin(self, pin_id: str) -> Pin:
        """Take a pin away."""
        return self._pins.remove(pin_id, self.place.now())

    def verify(self, fix: bool, stamp: IndexStamp) -> VerifyReport:
        """Judge every pin; with ``fix`` those that moved are anchored where they are now."""
        states = self.states()
        fixed = [self._follow(state) for state in states if fix and state.freshness is Freshness.moved]
        counts = Counter(state.freshness for state in states)
        unknown = counts[Freshness.unknown] + counts[Freshness.gated]
        return VerifyReport(
            states, len(states), counts[Freshness.fresh], counts[Freshness.drifted], counts[Freshness.moved],
            counts[Freshness.missing], unknown, len(fixed), stamp,
        )  # fmt: skip

    def _follow(self, state: PinState) -> Pin:
        with self._lock:
            anchor = freshness.make_anchor(self.disk, parse_locator(state.now_at), self.place.paths)
            return self._pins.move(state.pin.id, anchor, self.place.now())


def observations(
    ontology: Ontology, repo: str, states: Iterable[PinState], find: Callable[[str], Node | None]
) -> ContextGraph:
    """A reason graph of pins: each an ``evidence`` of kind ``observation``, ``about`` the node it stands on, if any."""
    graph = ContextGraph(ontology, repo)
    for state in states:
        uid = node_uid(repo, "evidence", "observation", "", state.pin.id).hex()
        node = graph.add_node("evidence", state.pin.note, kind="observation", id=uid, attrs={"pin": state.pin.id})
        code = find(state.now_at or state.pin.anchor.locator)
        if code is not None:
            graph.bind(node.id, code, state.pin.anchor)
    return graph


def _folder(ontology: Ontology) -> Any:
    from mog.engine.reason.mesh import folder

    return folder(ontology)


def _looks_secret(text: str) -> bool:
    from mog.engine.code import secrets

    return secrets.contains_secret(text) is not None
