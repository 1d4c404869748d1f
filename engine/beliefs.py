"""What people pinned, held against the disk: the room where pins (``pins``) and freshness (``code/freshness``) meet.

Called by ``workspace``. What may not come in: the index (it is not needed to judge an anchor), verdicts, surfaces.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from mog.engine.code import freshness, secrets
from mog.engine.config import EngineConfig
from mog.engine.graph import ContextGraph
from mog.engine.ids import Locator, node_uid, parse_locator
from mog.engine.ledgers.events import EventLog
from mog.engine.model import Freshness, IndexStamp, Node, Pin, PinState, VerifyReport
from mog.engine.ontology import Ontology
from mog.engine.pins import PinStore


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


class Beliefs:
    """Pins of one clone, judged against one worktree. Safe from any thread.

    Args:
        root: the worktree. folder: ``.mog`` that holds ``ledger.db``.
        key: gives the secret of the clone. paths: gives where a body may stand.
    """

    def __init__(
        self, root: Path, folder: Path, key: Callable[[], bytes], config: EngineConfig, paths: Callable[[], Iterable[str]]
    ) -> None:
        self.disk = freshness.Disk(root, key, config)
        self._log = EventLog(folder / "ledger.db")
        self._store = PinStore(self._log, lambda text: secrets.contains_secret(text) is not None)
        self._paths = paths
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the ledger."""
        self._log.close()
        self.disk.close()

    def pins(self) -> tuple[Pin, ...]:
        """Every pin as recorded."""
        return self._store.all()

    def states(self) -> tuple[PinState, ...]:
        """Every pin with what the disk says now."""
        with self._lock:
            return tuple(freshness.judge(self.disk, pin, self._paths) for pin in self._store.all())

    def pin(self, place: Locator, note: str, when: str) -> PinState:
        """Anchor a note to a place as it is on disk."""
        with self._lock:
            pin = self._store.add(note, freshness.make_anchor(self.disk, place, self._paths), when)
            return freshness.judge(self.disk, pin, self._paths)

    def unpin(self, pin_id: str, when: str) -> Pin:
        """Take a pin away."""
        return self._store.remove(pin_id, when)

    def verify(self, fix: bool, when: str, stamp: IndexStamp) -> VerifyReport:
        """Judge every pin; with ``fix`` those that moved are anchored where they are now."""
        states = self.states()
        fixed = [self._follow(state, when) for state in states if fix and state.freshness is Freshness.moved]
        counts = Counter(state.freshness for state in states)
        unknown = counts[Freshness.unknown] + counts[Freshness.gated]
        return VerifyReport(
            states, len(states), counts[Freshness.fresh], counts[Freshness.drifted], counts[Freshness.moved],
            counts[Freshness.missing], unknown, len(fixed), stamp,
        )  # fmt: skip

    def _follow(self, state: PinState, when: str) -> Pin:
        with self._lock:
            anchor = freshness.make_anchor(self.disk, parse_locator(state.now_at), self._paths)
            return self._store.move(state.pin.id, anchor, when)
