"""Questions that panes about beliefs ask: each is one call on a worker thread, and its answer holds all that is drawn of it.

Who calls: the contents of ``panes/``, through ``host.start``. What may not come in: the toolkit, rows, the screen's thread.
Nothing here makes a file: where no ledger is, the answer is empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from mog.app.present import meant
from mog.engine.errors import NotFound

if TYPE_CHECKING:
    from mog.app.tui.drift_asks import Place
    from mog.app.tui.port import Desk
    from mog.engine.reason.explain import Explanation, Version
    from mog.engine.reason.health import HealthReport
    from mog.engine.reason.mend import Mend
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.records import GraphEdge, GraphNode, Retirement
    from mog.engine.reason.telemetry import TelemetryReport
    from mog.engine.reason.walks import Walk
    from mog.engine.traffic import Call

ASK_TOOL = "mesh_ask"
LOOKED_AT = 200
EDGES = 60
CUT = 200  # characters of a question that telemetry remembers
WALKED_AGAIN = 24


@dataclass(frozen=True, slots=True)
class Known:
    """Records by id with their labels, as they stood when the question was answered."""

    nodes: Mapping[str, GraphNode] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)

    def label(self, id: str) -> str:
        """Its label, "" for a record that is gone or of the code."""
        return self.labels.get(id, "")


def known(mesh: Mesh, ids: Iterable[str]) -> Known:
    """The records of these ids that there are. To be asked while the mesh is held."""
    nodes = {id: node for id in ids if id and (node := mesh.graph.get(id)) is not None}
    reason = {id for id, node in nodes.items() if mesh.ontology.node(node.type).layer == "reason"}
    return Known(nodes, {id: mesh.label(id).value for id in reason})


# -- walks


@dataclass(frozen=True, slots=True)
class Told:
    """A question and the walk it takes now.

    Attributes:
        by: ``you``, or the agent that asked. at: when, ISO 8601.
        then: ids of the path that was told when it was asked; the walk may go elsewhere since.
        mends: what might be missing, for a dead end.
    """

    walk: Walk
    by: str
    at: str
    then: tuple[str, ...]
    known: Known
    mends: tuple[Mend, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the walk goes another way now than the one that was told (of a long one the beginning was kept)."""
        now = _path(self.walk)
        return bool(self.then or now) and now[: len(self.then) or None] != self.then


def _path(walk: Walk) -> tuple[str, ...]:
    return tuple(step.node for step in (*walk.path, *walk.tail))


def ask(desk: Desk, question: str) -> Told:
    """Ask, and count it. Raises as ``Beliefs.ask``."""
    beliefs = desk.beliefs
    walk = beliefs.ask(question)
    return told(desk, walk, "you", beliefs.place.now(), _path(walk))


def told(desk: Desk, walk: Walk, by: str, at: str, then: tuple[str, ...]) -> Told:
    """A walk with the records it speaks of."""
    beliefs = desk.beliefs
    with beliefs.mesh.locked():
        mends = beliefs.missing(walk)
        ids = [*_path(walk), *(seed.node for seed in walk.seeds), *walk.evidence, *walk.against, walk.blocker]
        ids += [walk.answer_id or "", *(id for mend in mends for id in (mend.target, mend.source))]
        ids += [id for note in walk.notes for id in note.nodes]
        return Told(walk, by, at, then, known(beliefs.mesh, ids), mends)


def last(desk: Desk, mine: Told | None) -> Told | None:
    """The last question, asked here, by an agent or, where neither is known, by anybody, with the walk it takes now.

    None when nobody asked or nothing is recorded.
    """
    if not desk.ledger_path.exists():
        return None
    call = next(asked_by_agents(desk), None)
    if call is not None and (mine is None or call.at > mine.at):
        question, by, at, then = str(call.arguments["question"]), f"agent {call.client}", call.at, tuple(call.path)
    elif mine is not None:
        question, by, at, then = mine.walk.question, mine.by, mine.at, mine.then
    else:
        recent = telemetry(desk).recent
        if not recent:
            return None
        question, by, at = recent[-1][0], "asked before", ""
        walk = desk.beliefs.walker.look(question)
        return told(desk, walk, by, at, _path(walk))
    return told(desk, desk.beliefs.walker.look(question), by, at, then)


def telemetry(desk: Desk) -> TelemetryReport:
    """Counts of walks, read anew: other processes count in the same file."""
    from mog.engine.reason.telemetry import Telemetry

    return Telemetry(desk.ledger_path.parent / "run" / "telemetry.json").report()


def asked_by_agents(desk: Desk) -> Iterator[Call]:
    """The latest calls of agents that asked a question in words, newest first."""
    from mog.engine.traffic import Traffic

    record = Traffic(desk.mog_dir)
    try:
        calls = record.last(LOOKED_AT)
    finally:
        record.close()
    for call in calls:
        question = call.arguments.get("question")
        if call.tool == ASK_TOOL and isinstance(question, str) and question.strip():
            yield call


# -- why a record stands, and what it is


@dataclass(frozen=True, slots=True)
class Why:
    """Why one record stands, that in a sentence (``said``), its versions, oldest first, and the records that are spoken of.

    ``places``: anchor id → the code under it as the disk is now.
    """

    explanation: Explanation
    said: str
    versions: tuple[Version, ...]
    known: Known
    places: Mapping[str, Place] = field(default_factory=dict)


def why(desk: Desk, target: str) -> tuple[Why, ...]:
    """What is believed about a piece of code, or why one record stands.

    Raises:
        NotFound: nothing is recorded here, or nothing answers. UsageError: several records do.
    """
    if not desk.ledger_path.exists():
        raise NotFound("nothing is recorded here yet", way_out="mog assume, mog claim and mog ingest begin it")
    from mog.app.tui import drift_asks

    beliefs = desk.beliefs
    found = meant(beliefs.why, target)
    places = drift_asks.places_of(desk, [anchor for one in found for anchor in one.anchors])
    with beliefs.mesh.locked():
        return tuple(_why(desk, one, places) for one in found)


def _why(desk: Desk, one: Explanation, places: Mapping[str, Place]) -> Why:
    from mog.app.plain_beliefs import standing_of

    mesh = desk.beliefs.mesh
    versions = desk.beliefs.lineage(one.node.id).versions
    ids = [node.id for reason in one.reasons for node in (*reason.standing, *reason.missing, *reason.defeated_by)]
    ids += [judged.evidence for judged in one.judgements] + [node.id for node in one.contradicted_by]
    ids += [*one.strength.ones, *(id for pair in one.strength.pairs for id in pair)]
    ids += [one.node.provenance.source_id] if one.node.provenance else []
    return Why(one, standing_of(one), versions if len(versions) > 1 else (), known(mesh, ids), places)


@dataclass(frozen=True, slots=True)
class Inspected:
    """A record as it is kept.

    Attributes:
        event: number, type and time of the event that recorded it; (0, "", "") when none is known.
        edges: at most ``EDGES`` of its edges, outgoing ones first. total: how many there are.
    """

    node: GraphNode
    label: str
    retired: Retirement | None
    marks: tuple[str, ...]
    anchors: tuple[str, ...]
    event: tuple[int, str, str]
    edges: tuple[GraphEdge, ...]
    total: int
    known: Known


def inspect(desk: Desk, target: str) -> Inspected:
    """One record whole. Raises NotFound, UsageError."""
    if not desk.ledger_path.exists():
        raise NotFound("nothing is recorded here yet", way_out="mog assume, mog claim and mog ingest begin it")
    beliefs = desk.beliefs
    mesh = beliefs.mesh
    id = meant(beliefs.find, target)
    with mesh.locked():
        node = mesh.graph.node(id)
        edges = [*mesh.graph.out_edges(id), *mesh.graph.in_edges(id)]
        kept = tuple(edges[:EDGES])
        ids = [end for edge in kept for end in (edge.src, edge.dst)]
        ids += [node.provenance.source_id] if node.provenance else []
        label = mesh.label(id).value if mesh.ontology.node(node.type).layer == "reason" else ""
        anchors = tuple(one.anchor.locator for one in mesh.anchors(id))
        more = mesh.retired(id), mesh.marks(id), anchors, _recorded(mesh, node.at)
        return Inspected(node, label, *more, kept, len(edges), known(mesh, ids))


def _recorded(mesh: Mesh, seq: int) -> tuple[int, str, str]:
    event = next(mesh.log.events(seq - 1, 1), None) if seq else None
    return (event.seq, event.type, event.recorded_at) if event is not None else (0, "", "")


# -- dead ends


@dataclass(frozen=True, slots=True)
class Dead:
    """A question that met a dead end, newest first in a list.

    Attributes:
        question: as it is remembered (the beginning of a long one). reason: of the last time. times: of the walks remembered.
        told: the walk it takes now, which may have an answer by now; None for one that was not looked at again.
    """

    question: str
    reason: str
    times: int
    at: str = ""
    by: str = ""
    told: Told | None = None

    @property
    def answered(self) -> bool:
        """Whether it has an answer by now."""
        return self.told is not None and self.told.walk.resolved


@dataclass(frozen=True, slots=True)
class DeadEnds:
    """Dead ends of this clone. ``counts``: reason → walks since counting began, ``walks``: all that were counted."""

    counts: Mapping[str, int]
    walks: int
    rows: tuple[Dead, ...]


def dead_ends(desk: Desk, here: Mapping[str, str]) -> DeadEnds:
    """Questions that met a dead end among the last walks, and where each leads now; ``here``: question → when it was asked here."""
    from mog.engine.reason.dead_ends import Reason

    if not desk.ledger_path.exists():
        return DeadEnds(dict.fromkeys(map(str, Reason), 0), 0, ())
    report = telemetry(desk)
    counts = {str(reason): report.dead_ends.get(str(reason), 0) for reason in Reason}
    agents = {str(call.arguments["question"])[:CUT]: call for call in reversed(list(asked_by_agents(desk)))}
    met: dict[str, Dead] = {}
    for question, reason, _ in report.recent:
        before = met.pop(question, None)
        if not reason and before is not None:
            met[question] = before  # it was answered since, and is shown as that
        elif reason:
            call = agents.get(question)
            at, by = (
                (call.at, f"agent {call.client}")
                if call
                else (here.get(question, ""), "you" if question in here else "")
            )
            met[question] = Dead(question, reason, (before.times if before else 0) + 1, at, by)
    rows = list(reversed(met.values()))
    looked = [_again(desk, one) for one in rows[:WALKED_AGAIN]]
    return DeadEnds(counts, report.walks, (*looked, *rows[WALKED_AGAIN:]))


def _again(desk: Desk, one: Dead) -> Dead:
    walk = desk.beliefs.walker.look(one.question)
    return replace(one, told=told(desk, walk, one.by, one.at, _path(walk)))


# -- health


@dataclass(frozen=True, slots=True)
class BeliefHealth:
    """The state of what is believed, with the records that its signals name, and what walks did."""

    report: HealthReport
    walks: TelemetryReport
    known: Known

    def count(self, kind: str) -> int:
        """Exact count of a signal, 0 for one that found nothing."""
        return next((signal.count for signal in self.report.signals if signal.kind == kind), 0)


def health(desk: Desk) -> BeliefHealth | None:
    """What deserves a look among what is believed; None where nothing is recorded."""
    if not desk.ledger_path.exists():
        return None
    beliefs = desk.beliefs
    report = beliefs.health()
    items = [item for signal in report.signals for item in signal.items]
    ids = [part for item in items for part in item.split(" contradicts ")]
    with beliefs.mesh.locked():
        named = known(beliefs.mesh, ids)
    return BeliefHealth(report, telemetry(desk), named)
