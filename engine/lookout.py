"""``Lookout``: holds anchored beliefs against the disk while files change. Started by ``workspace`` with the watcher.

What lives here: when to look and when to look again. What may not come in: what a look means (``reason/bridge``), the
index, surfaces. It never queues behind another writer for long: what it cannot record now, the next look records.
"""

from __future__ import annotations

import threading
from collections.abc import Callable

from mog.engine.beliefs import Beliefs
from mog.engine.errors import HeldByOther, MogError

PAUSE = 0.5  # seconds until the next look, when git was at work or another process was writing
TRIES = 120


class Lookout:
    """One thread that looks after files changed, and again while a look had to be put off."""

    def __init__(self, beliefs: Beliefs, at_once: bool, say: Callable[[str, tuple[str, ...]], None]) -> None:
        """``say`` gets a sentence and the locators concerned after each look that recorded something or went wrong."""
        self._beliefs = beliefs
        self._at_once = at_once
        self._say = say
        self._wake = threading.Event()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="mog-lookout", daemon=True)

    def start(self) -> None:
        """Begin; the first look is at the first change."""
        self._thread.start()

    def changed(self) -> None:
        """Files changed. Returns at once; changes during a look cause one more."""
        self._wake.set()

    def stop(self) -> None:
        """End, after a look that is under way."""
        self._stopped.set()
        self._wake.set()
        self._thread.join(timeout=10)

    def _run(self) -> None:
        left = 0
        while True:
            self._wake.wait(PAUSE if left else None)
            if self._stopped.is_set():
                return
            left = TRIES if self._wake.is_set() else left - 1
            self._wake.clear()
            if self._look():
                left = 0

    def _look(self) -> bool:
        """Whether the look is done; False when it has to be tried again."""
        try:
            report = self._beliefs.on_change(at_once=self._at_once)
        except HeldByOther:
            return False
        except MogError as error:
            self._say(f"beliefs could not be looked at: {error}", ())
            return True
        changed = [one for one in report.drifts if one.change]
        judged = len(report.recheck.receipts) if report.recheck else 0
        if changed or judged or report.problem:
            told = [f"{len(changed)} anchors changed"] if changed else []
            told += [f"{judged} judged"] if judged else []
            told += [report.problem] if report.problem else []
            self._say(", ".join(told), tuple(one.anchor.anchor.locator for one in changed))
        return not report.postponed
