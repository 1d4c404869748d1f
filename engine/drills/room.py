"""``Drills``: predicting what falls, as practice. Reached as ``workspace.drills``.

What lives here: joining beliefs, the disk and the history, and handing each call to the room that answers it. What may not
come in: rules of standing, writing to the ledger: beliefs are read once, into a copy, and all of a drill happens there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mog.engine.drills import risk, sample, weak
from mog.engine.drills.history import HistoryFile
from mog.engine.drills.play import QUESTIONS, Series
from mog.engine.drills.records import Answered, Choice, Choices, History, Played, Revealed, WeakSpots
from mog.engine.drills.risk import Known, Past
from mog.engine.errors import MogError, NotFound, StoreDamaged, UsageError
from mog.engine.reason.overlay import Overlay

if TYPE_CHECKING:
    from mog.engine.beliefs import Beliefs
    from mog.engine.reason.drift import Drift

LISTED = 20
SERIES = 10


class Drills:
    """Drills of one clone, seen from one worktree. Safe from any thread; a series it gives is not.

    Every method raises StoreDamaged when the ledger cannot be read. Nothing but the history is ever written.
    """

    def __init__(self, beliefs: Beliefs) -> None:
        self._beliefs = beliefs
        self._file = HistoryFile(beliefs.place.folder)

    def choices(self, limit: int = LISTED) -> Choices:
        """Assumptions that can be drilled, riskiest first, each with its reasons; 0: all of them."""
        return risk.weigh(self._copy(), self._known(), limit)

    def series(
        self, target: str = "", *, seed: str = "", drills: int = SERIES, questions: int = QUESTIONS, keep: bool = True
    ) -> Series:
        """Drills to be played: of one record, or of the riskiest assumptions; with a ``seed`` risk only makes one likelier.

        Args:
            target: a record as a person means it. drills: how many at most. questions: in each at most.
            keep: whether finished drills go into the history.

        Raises:
            NotFound: no such record, or nothing to drill. UsageError: it does not stand, several answer, or a bad number.
        """
        if drills < 1:
            raise UsageError(f"{drills} drills", way_out="1 or more")
        copy = self._copy()
        chosen = self._one(copy, copy.find(target)) if target else self._chosen(copy, seed, drills)
        return Series(copy, chosen, seed=seed, questions=questions, keep=self._keep if keep else None)

    def history(self) -> History:
        """Drills that were played. Raises StoreDamaged: the file cannot be used; it is left as it is."""
        return self._file.load()

    def weak(self, limit: int = LISTED) -> WeakSpots:
        """Records that are misjudged, and habits of misjudging. Raises as ``history``."""
        mesh, played = self._beliefs.mesh, self.history().played
        with mesh.locked():
            graph = mesh.graph
            return weak.spots(played, lambda id: id in graph and mesh.stands(id), limit)

    # inside

    def _copy(self) -> Overlay:
        return Overlay(self._beliefs.mesh)

    def _one(self, copy: Overlay, id: str) -> Sequence[Choice]:
        node = copy.graph.node(id)
        if not copy.stands(id):
            raise UsageError(
                "it does not stand, so nothing falls with it", where=node.label[:60], way_out="choose another"
            )
        if copy.ontology.node(node.type).layer != "reason":
            raise UsageError("code is not believed", where=node.label[:60], way_out="drill a belief about it")
        return (risk.weighed(copy, node, self._known()),)

    def _chosen(self, copy: Overlay, seed: str, drills: int) -> Sequence[Choice]:
        found = {one.node.id: one for one in risk.weigh(copy, self._known()).items}
        if not found:
            way_out = "record an assumption with `mog assume`, and decisions that rest on it with `mog decide`"
            raise NotFound(
                "there is nothing to drill: no assumption that stands has anything resting on it", way_out=way_out
            )
        return [
            found[id]
            for id in sample.draw({id: max(one.risk, risk.LEAST_RISK) for id, one in found.items()}, drills, seed)
        ]

    def _known(self) -> Known:
        problems: list[str] = []
        past: dict[str, Past] = {}
        drifts: dict[str, list[Drift]] = {}
        try:
            past = weak.past(self._file.load().played)
        except StoreDamaged as error:
            problems.append(f"weighed without the history: {error}")
        try:
            for one in self._beliefs.bridge.look() if self._beliefs.mesh.anchors() else ():
                drifts.setdefault(one.target, []).append(one)
        except MogError as error:
            problems.append(f"weighed without a look at the disk: {error}")
        return Known(drifts, past, self._day, tuple(problems))

    def _day(self, seq: int) -> str:
        event = next(self._beliefs.log.events(seq - 1, 1), None)
        return event.recorded_at[:10] if event is not None else ""

    def _keep(self, done: Revealed) -> None:
        self._file.add(played(done, self._beliefs.place.now()))


def played(done: Revealed, at: str) -> Played:
    """A finished drill as it is kept."""
    rows = tuple(
        Answered(
            row.question.node.id, row.question.node.type, row.question.node.text, row.truth.outcome, row.said, row.peeked,
            row.truth.hop,
        )
        for row in done.rows
    )  # fmt: skip
    drill = done.drill
    return Played(
        at, drill.node.id, drill.node.text, drill.head, drill.seed, drill.counts.dependants, done.score.value, rows
    )


__all__ = ["Drills", "played"]
