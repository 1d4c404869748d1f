"""``Breaks``: suppose something is not so, look at what that does, and say it with evidence. Reached as ``workspace.breaks``.

What lives here: joining the outlook of beliefs with the tasks that would run again; evidence on offer; one verdict with what it
did, and the way back. What may not come in: a verdict of our own, a second path to the ledger: every write is one that
``mog invalidate``, ``mog evidence`` and ``mog recheck`` make.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from mog.engine.errors import UsageError
from mog.engine.executor import fallout
from mog.engine.executor.fallout import Cost
from mog.engine.ids import escape
from mog.engine.model import Freshness, Node
from mog.engine.reason import auditors
from mog.engine.reason import drift as drifting
from mog.engine.reason.auditors import PERSON, AuditRequest
from mog.engine.reason.outlook import Outlook, outlook

if TYPE_CHECKING:
    from mog.engine.beliefs import Beliefs
    from mog.engine.reason.radius import Radius
    from mog.engine.reason.records import GraphNode

VERDICTS = ("contradicts", "holds")
AUDITORS = "auditors"
NOTHING = Cost()


@dataclass(frozen=True, slots=True)
class Preview:
    """What breaking some beliefs would do, and what would have to run again."""

    outlook: Outlook
    cost: Cost


@dataclass(frozen=True, slots=True)
class Judge:
    """Somebody besides the person who may judge: an auditor, its command line, and whether that waits for a word."""

    name: str
    command: tuple[str, ...] = ()
    waits: bool = False


@dataclass(frozen=True, slots=True)
class Offer:
    """Evidence that may be judged against a belief.

    Attributes:
        id: the record, or what its id will be when it is recorded. recorded: it is in the ledger already.
        kind: ``drift`` (the code it is anchored to changed) or the kind of a record. text: what it says.
        locator: code that changed, "" for none. reason: how. judges: auditors that judge it.
    """

    id: str
    recorded: bool
    kind: str
    text: str
    locator: str = ""
    freshness: Freshness = Freshness.unknown
    reason: str = ""
    judges: tuple[Judge, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said: which evidence (an ``Offer``, or ``words`` to record), what it means, who judges, and why.

    Attributes:
        verdict: ``contradicts`` or ``holds``; not used where the auditors judge. by: ``person`` or ``auditors``.
    """

    target: str
    offer: Offer | None = None
    words: str = ""
    verdict: str = "contradicts"
    by: str = PERSON
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Done:
    """What a verdict did.

    Attributes:
        verdict: ``contradicts``, ``holds``, or "" when nobody could say. auditor, reason: who said so, and why.
        events: numbers of everything recorded, in order. back: those that ``undo`` takes back.
        receipt: digest of the last of them. radius: what moved, ``None`` when nothing was judged.
        cost: tasks that went stale. open: why the question stays open. waiting: commands that wait for a word.
    """

    target: str
    verdict: str
    auditor: str
    reason: str
    events: tuple[int, ...]
    back: tuple[int, ...]
    receipt: str
    radius: Radius | None
    cost: Cost = NOTHING
    open: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()


class Breaks:
    """Previews and verdicts of one clone, seen from one worktree. Safe from any thread.

    Writes raise as those of ``Beliefs``; then nothing was recorded.
    """

    def __init__(
        self, beliefs: Beliefs, seconds: Callable[[], Mapping[str, float]], say: Callable[[str], None]
    ) -> None:
        """``seconds``: what tasks took, by ``plan/task``. ``say``: tells the change feed."""
        self._beliefs, self._seconds, self._say = beliefs, seconds, say

    # looking

    def preview(self, *targets: str) -> Preview:
        """What contradicting these records together would do. Records nothing. Raises NotFound, UsageError."""
        mesh = self._beliefs.mesh
        ids = tuple(dict.fromkeys(self._beliefs.find(one) for one in targets))
        with mesh.locked():
            plans = fallout.states(mesh)
            before = fallout.fallen(plans)
            after: list[fallout.Fallen] = []
            found = outlook(mesh, ids, lambda: after.append(fallout.fallen(plans)) if plans else None)
        cost = fallout.cost(plans, before, after[0], self._seconds()) if plans else Cost()
        return Preview(found, cost)

    def about(self, *nodes: Node) -> tuple[str, ...]:
        """Ids of what is believed about code and what lies inside it, by anchor or by ``about``; in order."""
        mesh = self._beliefs.mesh
        places, files = {node.locator for node in nodes}, {escape(node.path) for node in nodes if node.type == "file"}
        with mesh.locked():
            tables = mesh.tables
            found = {one.node for one in mesh.anchors() if _inside(one.anchor.locator, places, files)}
            for node in nodes:
                edges = mesh.graph.in_edges(node.id, ("about",)) if node.id in mesh.graph else ()
                found |= {edge.src for edge in edges}
            return tuple(sorted(id for id in found if drifting.counts(tables, id)))

    def places(self, target: str) -> tuple[str, ...]:
        """Locators of the code that a record is anchored to."""
        return tuple(one.anchor.locator for one in self._beliefs.mesh.anchors(self._beliefs.find(target)))

    def labels(self, ids: Sequence[str]) -> Mapping[str, str]:
        """How records stand. Raises NotFound."""
        mesh = self._beliefs.mesh
        with mesh.locked():
            return {id: mesh.label(id).value for id in ids}

    def offers(self, target: str) -> tuple[Offer, ...]:
        """Evidence that bears on a belief and that nobody judged, recorded or only seen on disk. Records nothing."""
        bridge, target = self._beliefs.bridge, self._beliefs.find(target)
        graph = bridge.mesh.graph
        pending = [one for one in bridge.pending() if one.target == target]
        found = [self._recorded(graph.node(one.evidence), one.request) for one in pending]
        for state in bridge.look():
            if state.target == target and state.freshness in drifting.GONE:
                id = drifting.drift_id(state.anchor.id, state.new, bridge.mesh.worktree)
                found += [] if id in graph else [self._seen(state, id)]
        return tuple(found)

    def _recorded(self, node: GraphNode, request: AuditRequest) -> Offer:
        place = str(node.attrs.get("locator", ""))
        return Offer(node.id, True, node.kind, node.label, place, judges=self._judges(request))

    def _seen(self, state: drifting.Drift, id: str) -> Offer:
        place = state.anchor.anchor.locator
        judges = self._judges(self._request(state.target, "drift", place))
        return Offer(
            id, False, "drift", f"{place} {state.freshness.value}", place, state.freshness, state.reason, judges
        )

    def judges(self, target: str) -> tuple[Judge, ...]:
        """Auditors that would judge an observation against a belief."""
        target = self._beliefs.find(target)
        anchored = self._beliefs.mesh.anchors(target)
        place = anchored[0].anchor.locator if anchored else ""
        return self._judges(self._request(target, "observation", place))

    def _request(self, target: str, kind: str, place: str) -> AuditRequest:
        label = self._beliefs.mesh.graph.node(target).label
        return AuditRequest({"id": target, "label": label}, {"kind": kind}, {"locator": place} if place else {})

    def _judges(self, request: AuditRequest) -> tuple[Judge, ...]:
        bridge = self._beliefs.bridge
        everyone = bridge.registry.joined(auditors.load(bridge.trust.root))
        covering = [one for one in everyone if one.judges.covers(request)]
        waiting = {one.name for one in bridge.trust.waiting(one.command for one in covering if one.command)}
        return tuple(
            Judge(one.name, one.command.argv if one.command else (), one.command is not None and one.name in waiting)
            for one in covering
        )

    # saying

    def apply(self, verdict: Verdict) -> Done:
        """Record evidence and a judgement, or have the auditors judge.

        Raises:
            UsageError: no reason, no words, no such verdict, or evidence that no longer counts.
        """
        _check(verdict)
        mesh = self._beliefs.mesh
        before = fallout.fallen(fallout.states(mesh))
        done = self._by_auditors(verdict) if verdict.by == AUDITORS else self._by_person(verdict)
        plans = fallout.states(mesh)
        cost = fallout.cost(plans, before, fallout.fallen(plans), self._seconds())
        self._say(f"judged: {done.verdict or 'open'}")
        return replace(done, receipt=self._receipt(done.events), cost=cost)

    def _by_person(self, said: Verdict) -> Done:
        known, target = self._beliefs, self._beliefs.find(said.target)
        if said.offer is None and said.verdict == "contradicts":
            effect = known.reject(target, evidence=said.words, reason=said.reason)
            return Done(target, said.verdict, PERSON, said.reason, effect.events, effect.events, "", effect.radius)
        events: tuple[int, ...] = ()
        if said.offer is None:
            effect = known.evidence(said.words)
            evidence, events = str(effect.result), effect.events
        else:
            evidence = said.offer.id
            if not said.offer.recorded:
                known.bridge.observe()
        receipt = known.judge(evidence, target, said.verdict, said.reason)
        every = (*events, *receipt.events)
        return Done(target, said.verdict, PERSON, said.reason, every, every, "", receipt.radius)

    def _by_auditors(self, said: Verdict) -> Done:
        known, target = self._beliefs, self._beliefs.find(said.target)
        words = known.evidence(said.words, contradicts=[target]).events if said.offer is None else ()
        report = known.bridge.recheck(targets=[target])
        events = (*words, *(seq for one in report.receipts for seq in one.events))
        waiting = tuple(one.name for one in report.waiting)
        if not report.receipts:
            why = tuple(reason for one in report.open if one.pending.target == target for reason in one.why)
            return Done(
                target, "", "", "", events, events, "", None, open=why or ("nothing was to be judged",), waiting=waiting
            )
        last = next((one for one in report.receipts if one.verdict == "contradicts"), report.receipts[-1])
        return Done(target, last.verdict, last.auditor, last.reason, events, events, "", last.radius, waiting=waiting)

    def undo(self, done: Done) -> Done:
        """Take back what a verdict recorded, last first: labels return to exactly what they were. Undoing that does it again.

        Raises: UsageError: what it did was changed since.
        """
        effects = [self._beliefs.undo(seq, reason="taken back") for seq in reversed(done.back)]
        events = tuple(seq for effect in effects for seq in effect.events)
        self._say("a verdict was taken back")
        radius = effects[0].radius if effects else None
        return replace(done, events=events, back=events, receipt=self._receipt(events), radius=radius)

    def _receipt(self, events: Sequence[int]) -> str:
        found = next(self._beliefs.log.events(events[-1] - 1, 1), None) if events else None
        return found.digest if found else ""


def _check(said: Verdict) -> None:
    if said.verdict not in VERDICTS or said.by not in (PERSON, AUDITORS):
        raise UsageError(f"no verdict {said.verdict!r:.20} by {said.by!r:.20}", way_out=" or ".join(VERDICTS))
    if said.offer is None and not said.words.strip():
        raise UsageError("no evidence", where=said.target, way_out="choose some, or write what was seen")
    if said.by == PERSON and not said.reason.strip():
        raise UsageError("a verdict without a reason", where=said.target, way_out="say why")


def _inside(locator: str, places: set[str], files: set[str]) -> bool:
    """Whether an anchor stands at one of these places, or inside: a method of a class, a function of a file."""
    if drifting.path_of(locator) in files:
        return True
    head, mark, name = locator.partition("::")
    while name:
        if f"{head}{mark}{name}" in places:
            return True
        name = name.rpartition(".")[0]
    return locator in places
