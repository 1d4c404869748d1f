"""What the page says, asked of the workspace once: records of the engine, nothing of them changed.

Who calls: ``app/cli/export.py``. What may not come in: markup, text for people, bytes of files. docs/page.md says which panel
shows which answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mog.engine import attest
from mog.engine.ids import locator
from mog.engine.model import Freshness
from mog.engine.traffic import Traffic

if TYPE_CHECKING:
    from mog.engine.attest import Glance
    from mog.engine.ledgers.events import Event
    from mog.engine.model import MapAnswer, PinState, Status
    from mog.engine.ontology import Ontology
    from mog.engine.reason.drift import Drift
    from mog.engine.reason.health import HealthReport
    from mog.engine.reason.survey import Survey
    from mog.engine.reason.telemetry import TelemetryReport
    from mog.engine.traffic import Call, Total
    from mog.engine.workspace import Workspace

FILES = 96
LATEST = 10
CALLS = 10


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything one page shows.

    Attributes:
        name: of the folder. written: wall time, ISO 8601, UTC.
        map: files that others lean on most, None without an index. imports: (importer, imported) among them, by position.
        names: id → label of beliefs that ``drifts`` speak of.
        ledger: None before the first event. events: the last ones, newest first.
        calls: the last ones, newest first. totals: over all calls that are kept.
    """

    name: str
    written: str
    ontology: Ontology
    status: Status
    map: MapAnswer | None
    imports: tuple[tuple[int, int], ...]
    pins: tuple[PinState, ...]
    drifts: tuple[Drift, ...]
    names: dict[str, str]
    survey: Survey
    walks: TelemetryReport
    health: HealthReport
    ledger: Glance | None
    events: tuple[Event, ...]
    calls: tuple[Call, ...]
    totals: tuple[Total, ...]

    @property
    def off(self) -> int:
        """Anchors that are not as they were recorded."""
        return sum(one.freshness is not Freshness.fresh for one in self.pins) + sum(
            one.freshness is not Freshness.fresh for one in self.drifts
        )


def gather(workspace: Workspace, written: str) -> Facts:
    """Ask everything. Records nothing. Raises StoreDamaged: the ledger does not hold. GitRefused."""
    status, beliefs = workspace.status(), workspace.beliefs
    files = workspace.map(limit=FILES) if status.indexed else None
    drifts = beliefs.bridge.look()
    graph = beliefs.mesh.graph
    recorded = beliefs.log.head().seq > 0
    calls, totals = _traffic(workspace)
    return Facts(
        name=workspace.root.name,
        written=written,
        ontology=workspace.ontology,
        status=status,
        map=files,
        imports=_imports(workspace, [row.path for row in files.rows]) if files is not None else (),
        pins=workspace.pins(),
        drifts=drifts,
        names={one.target: graph.node(one.target).label for one in drifts},
        survey=beliefs.survey(),
        walks=beliefs.telemetry.report(),
        health=beliefs.health(),
        ledger=attest.glance(beliefs.log) if recorded else None,
        events=_latest(workspace) if recorded else (),
        calls=calls,
        totals=totals,
    )


def _imports(workspace: Workspace, paths: Sequence[str]) -> tuple[tuple[int, int], ...]:
    """Which of these files need which others of them, by position."""
    at = {workspace.find(locator("file", path)).key: number for number, path in enumerate(paths)}
    view = workspace.view(kinds=("imports",))
    found = ((at[key], at[end]) for key in at for end in view.row(key) if end in at and end != key)
    return tuple(sorted(found))


def _latest(workspace: Workspace) -> tuple[Event, ...]:
    log = workspace.beliefs.log
    return tuple(log.events(max(0, log.head().seq - LATEST), LATEST))[::-1]


def _traffic(workspace: Workspace) -> tuple[tuple[Call, ...], tuple[Total, ...]]:
    record = Traffic(workspace.mog_dir)
    try:
        return record.last(CALLS), record.totals()
    finally:
        record.close()
