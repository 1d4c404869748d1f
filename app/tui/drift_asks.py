"""What the pane of drift asks: pins and anchored beliefs against the disk, what was judged about a drift, a verdict of the person.

Who calls: ``panes/drift.py``, on worker threads. What may not come in: the toolkit, rows. Looking records nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from mog.engine import model as m

if TYPE_CHECKING:
    from mog.app.tui.port import Desk
    from mog.engine.memory.records import Changed
    from mog.engine.reason.bridge import Receipt, RecheckReport
    from mog.engine.reason.drift import Drift
    from mog.engine.reason.mesh import Mesh
    from mog.engine.reason.records import Anchored, GraphNode, Judgement

WORST = (
    m.Freshness.drifted, m.Freshness.missing, m.Freshness.moved, m.Freshness.gated, m.Freshness.unknown, m.Freshness.fresh,
)  # fmt: skip
DATED = 40
"""Anchors that git is asked about at one look."""


@dataclass(frozen=True, slots=True)
class Held:
    """A belief and one of its anchors against the disk.

    Attributes:
        evidence: id of the drift evidence that counts for it, "" while none is recorded. since: when that was recorded, ISO 8601.
        judgement: the verdict about that evidence, None while it is open.
    """

    node: GraphNode
    label: str
    drift: Drift
    evidence: str = ""
    since: str = ""
    judgement: Judgement | None = None

    @property
    def open(self) -> bool:
        """Whether it drifted and nobody judged that yet."""
        return self.drift.freshness in (m.Freshness.drifted, m.Freshness.missing) and self.judgement is None


@dataclass(frozen=True, slots=True)
class Place:
    """Code that beliefs are anchored to, with the worst state of their anchors there; ``changed``: since which commit."""

    locator: str
    kind: str
    freshness: m.Freshness
    reason: str
    now_at: str
    line: int
    held: tuple[Held, ...]
    changed: Changed | None = None

    @property
    def types(self) -> Mapping[str, int]:
        """How many beliefs of each type are anchored there."""
        return Counter(one.node.type for one in self.held)


@dataclass(frozen=True, slots=True)
class Account:
    """Everything that is held against the disk: pins as recorded, places of beliefs with the worst first."""

    pins: tuple[m.PinState, ...] = ()
    places: tuple[Place, ...] = field(default=())

    def count(self, *states: m.Freshness) -> int:
        """How many anchors, of pins and beliefs, are in one of these states."""
        pins = sum(state.freshness in states for state in self.pins)
        return pins + sum(one.drift.freshness in states for place in self.places for one in place.held)

    @property
    def total(self) -> int:
        """All anchors."""
        return self.count(*m.Freshness)


def account(desk: Desk) -> Account:
    """Every pin and every anchor of a belief that counts, as the disk is now."""
    return Account(desk.pins(), places(desk))


def verified(desk: Desk) -> tuple[Account, m.VerifyReport]:
    """The same, after everything was compared anew and drift evidence recorded or withdrawn. Raises HeldByOther."""
    report = desk.verify()
    if not desk.ledger_path.exists():
        return Account(report.states), report
    if desk.beliefs.mesh.anchors():
        desk.beliefs.bridge.observe()
    return Account(report.states, places(desk)), report


def places(desk: Desk) -> tuple[Place, ...]:
    """Places of beliefs, those that are not as recorded first; empty where nothing was recorded."""
    if not desk.ledger_path.exists():
        return ()
    beliefs = desk.beliefs
    if not beliefs.mesh.anchors():
        return ()
    drifts = beliefs.bridge.look()
    with beliefs.mesh.locked():
        by_place: dict[str, list[Held]] = {}
        for one in drifts:
            if (node := beliefs.mesh.graph.get(one.target)) is not None:
                by_place.setdefault(one.anchor.anchor.locator, []).append(_held(beliefs.mesh, node, one))
    found = sorted((_place(held) for held in by_place.values()), key=lambda p: (WORST.index(p.freshness), p.locator))
    return tuple(_dated(desk, place) if number < DATED else place for number, place in enumerate(found))


def places_of(desk: Desk, anchors: Iterable[Anchored]) -> Mapping[str, Place]:
    """Anchor id → its place as the disk is now, with the belief that has this anchor; not to be asked while the mesh is held."""
    from mog.engine.reason.drift import judge

    beliefs = desk.beliefs
    with beliefs.looking() as disk:
        drifts = [judge(disk, one, beliefs.place.paths) for one in anchors]
    with beliefs.mesh.locked():
        held = [_held(beliefs.mesh, node, one) for one in drifts if (node := beliefs.mesh.graph.get(one.target)) is not None]
    found = [(one.drift.anchor.id, _place([one])) for one in held]
    return {id: _dated(desk, place) if number < DATED else place for number, (id, place) in enumerate(found)}


def _held(mesh: Mesh, node: GraphNode, one: Drift) -> Held:
    from mog.engine.reason.drift import GONE, drift_id

    label = mesh.label(node.id).value
    if one.freshness not in GONE:
        return Held(node, label, one)
    id = drift_id(one.anchor.id, one.new, mesh.worktree)
    evidence = mesh.graph.get(id)
    if evidence is None or not mesh.stands(id):
        return Held(node, label, one)
    judged = next((judgement for judgement in mesh.judgements(node.id) if judgement.evidence == id), None)
    event = next(mesh.log.events(evidence.at - 1, 1), None) if evidence.at else None
    return Held(node, label, one, id, event.recorded_at if event else "", judged)


def _place(held: Sequence[Held]) -> Place:
    worst = min(held, key=lambda one: WORST.index(one.drift.freshness)).drift
    anchor, line = worst.anchor.anchor, worst.lines[0] if worst.lines else 0
    return Place(anchor.locator, anchor.kind, worst.freshness, worst.reason, worst.now_at, line, tuple(held))


def _dated(desk: Desk, place: Place) -> Place:
    from dataclasses import replace

    if place.freshness in (m.Freshness.fresh, m.Freshness.gated, m.Freshness.unknown):
        return place
    worst = next(one.drift for one in place.held if one.drift.freshness is place.freshness)
    return replace(place, changed=desk.beliefs.since(worst))


# -- judging


@dataclass(frozen=True, slots=True)
class Audited:
    """A recheck of some beliefs: its report, and the places as they are afterwards."""

    report: RecheckReport
    account: Account


def audit(desk: Desk, targets: Iterable[str]) -> Audited:
    """Have the auditors that may run judge what drifted under these beliefs. Raises as ``Bridge.recheck``."""
    report = desk.beliefs.bridge.recheck(targets=tuple(targets))
    return Audited(report, account(desk))


def judge(desk: Desk, held: Held, verdict: str, reason: str) -> Receipt:
    """The verdict of the person at the keyboard: ``contradicts`` or ``holds``. Raises UsageError, HeldByOther, PolicyDenied."""
    return desk.beliefs.judge(held.evidence, held.node.id, verdict, reason)
