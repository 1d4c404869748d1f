"""A live process with a watcher: save → the graph answers with the edit. Run as a child by ``benchmarks.index``.

Usage: ``python -m benchmarks.live CORPUS FOLDER EDITS``; prints one JSON object with milliseconds. The clock starts
before the file is written and stops when the new generation is announced; each announced graph is then asked for the
new symbol.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path

from benchmarks import edits
from benchmarks.corpora import CORPORA, Corpus
from mog.engine.errors import NotFound
from mog.engine.model import Change
from mog.engine.workspace import Workspace

PATIENCE = 30.0
IDLE_SECONDS = 5.0


class Ear:
    """Remembers when the change feed last announced an index."""

    def __init__(self) -> None:
        self.generation = 0
        self.heard = 0.0
        self._news = threading.Condition()

    def __call__(self, change: Change) -> None:
        if change.kind == "index":
            with self._news:
                self.generation, self.heard = change.generation, time.perf_counter()
                self._news.notify_all()

    def after(self, generation: int) -> float:
        """Wait for a generation newer than ``generation``; the moment it was announced. Raises TimeoutError."""
        with self._news:
            if not self._news.wait_for(lambda: self.generation > generation, PATIENCE):
                raise TimeoutError(f"no new generation within {PATIENCE:.0f} s of a save")
            return self.heard


def one_edit(corpus: Corpus, root: Path, workspace: Workspace, ear: Ear, number: int) -> float:
    """Append one function and wait for it; milliseconds from before the save to the announcement."""
    before = ear.generation
    began = time.perf_counter()
    edits.apply(corpus, root, "append", number)
    milliseconds = (ear.after(before) - began) * 1000
    symbol = f"bench_added_{number}" if corpus.leaf.endswith(".py") else f"benchAdded{number}"
    try:
        workspace.find(symbol)
    except NotFound as error:
        raise SystemExit(f"generation {ear.generation} was announced without the edit it is for: {error}") from error
    return milliseconds


def main(corpus: Corpus, root: Path, count: int) -> None:
    """Measure ``count`` edits a second apart, then the idle share of one core with the tree left dirty."""
    ear = Ear()
    workspace = Workspace.open(root)
    ear.generation = workspace.index().generation
    workspace.subscribe(ear)
    workspace.start_watch()
    time.sleep(2.0)
    took = []
    for number in range(count):
        took.append(one_edit(corpus, root, workspace, ear, number))
        time.sleep(0.7)
    time.sleep(3.0)
    began = time.process_time()
    time.sleep(IDLE_SECONDS)
    idle = (time.process_time() - began) / IDLE_SECONDS * 100
    print(json.dumps({"ms": took, "idle": idle, "watcher": workspace.watcher}))
    workspace.stop_watch()
    workspace.close()


if __name__ == "__main__":
    main(CORPORA[sys.argv[1]], Path(sys.argv[2]), int(sys.argv[3]))
