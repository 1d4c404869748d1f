"""The index of a living process: each batch of the watcher becomes one update, in order, on the watcher's thread.

Called by ``workspace``. What may not come in: events of the file system (``watch``), rules of indexing, surfaces.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection
from functools import cache
from itertools import chain, repeat

from mog.engine.code.indexer import Indexer, Outcome
from mog.engine.code.scip.sources import is_source
from mog.engine.code.watch import Batch, Watcher
from mog.engine.code.watch_scope import Scope
from mog.engine.config import EngineConfig
from mog.engine.errors import HeldByOther, MogError
from mog.engine.feed import Feed
from mog.engine.model import Change

HELD_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)


class LiveIndex:
    """Keeps an index up to the disk while it runs.

    Args:
        announce: called with the outcome of every update that published. feed: gets ``watch`` changes of its state.
    """

    def __init__(self, indexer: Indexer, config: EngineConfig, announce: Callable[[Outcome], None], feed: Feed) -> None:
        self._indexer = indexer
        self._announce = announce
        self._feed = feed
        self._trouble = ""
        self._stopping = threading.Event()
        self._scope = scope = Scope(indexer.root, config.exclude)
        self._scip = config.scip
        self._watcher = Watcher(
            indexer.root,
            self._update,
            list_dirs=scope.list_dirs,
            ignored=self._ignored,
            on_state=self._state_changed,
            catch_up=True,
            poll=config.watch == "poll",
            poll_interval=config.poll_seconds,
        )

    @property
    def state(self) -> str:
        """``live``, ``polling: <why>``, ``off``, or what keeps updates from happening."""
        return f"{self._watcher.state}; {self._trouble}" if self._trouble else self._watcher.state

    def start(self) -> None:
        """Begin to watch; what changed since the last index is caught up with first."""
        self._watcher.start()

    def stop(self) -> None:
        """Stop; waits for an update that is running."""
        self._stopping.set()
        self._watcher.stop()

    def _ignored(self, paths: Collection[str]) -> set[str]:
        """What is of no interest; an index of SCIP is, though git usually ignores it."""
        return {path for path in self._scope.ignored(paths) if not is_source(path, self._scip)}

    def _state_changed(self, state: str) -> None:
        self._feed.say(Change("watch", 0, detail=state))

    def _update(self, batch: Batch) -> None:
        """One update. While another process writes the index it waits, says so, and then brings up everything."""
        for pause in chain(HELD_PAUSES, repeat(HELD_PAUSES[-1])):
            try:
                outcome = self._bring_up(batch)
            except HeldByOther as held:
                batch = Batch(overflow=True, reason="another process wrote the index")
                if pause == HELD_PAUSES[-1]:
                    self._complain(held)
                if self._stopping.wait(pause):
                    return
            except MogError as error:
                self._complain(error)
                return
            else:
                self._complain(None)
                self._announce(outcome)
                _warm_up()
                return

    def _bring_up(self, batch: Batch) -> Outcome:
        named = bool(batch.paths) and not (batch.overflow or batch.rescan_dirs or batch.git)
        outcome = self._indexer.run_paths(batch.paths) if named else None
        return outcome if outcome is not None else self._indexer.run()

    def _complain(self, error: MogError | None) -> None:
        trouble = error.what if error else ""
        if trouble != self._trouble:
            self._trouble = trouble
            self._state_changed(self.state)


@cache
def _warm_up() -> None:
    """Load once, off every critical path, what the first edit would otherwise wait for: parser, extractors, linker."""
    from mog.engine.code import extract, publish  # noqa: F401

    for language in extract.LANGUAGES:
        extract.supported(language)
