"""A process that watches a workspace: after each change of the index it prints how its first pin stands, as the pane of drift asks.

Who calls: tests/engine/test_two_watchers.py starts it. What may not come in: assertions. It ends with its input.
``busy`` as second word: meanwhile it asks and indexes without a pause, as a server with a hurried agent does.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from pathlib import Path

from mog.engine.errors import MogError
from mog.engine.model import Change
from mog.engine.workspace import Workspace


def main(root: Path, busy: bool) -> None:
    """Say ``ready`` when the watches stand, then a word after each change of the index."""
    with Workspace.open(root) as workspace:
        before = workspace.pins()[0].freshness  # as whoever shows something asked once before it listens
        workspace.find("pkg/base.py::Base.run")

        def heard(change: Change) -> None:
            if change.kind == "index":
                print(workspace.pins()[0].freshness.value, flush=True)
            elif change.kind == "watch" and change.detail == "live":
                print("ready", before.value, flush=True)

        workspace.subscribe(heard)
        workspace.start_watch()
        ended = threading.Event()
        if busy:
            threading.Thread(target=_hurry, args=(workspace, ended), daemon=True).start()
        sys.stdin.read()
        ended.set()


def _hurry(workspace: Workspace, ended: threading.Event) -> None:
    while not ended.wait(0.02):
        with contextlib.suppress(MogError):  # the other one writes the index just now
            workspace.search("run step helper")
            workspace.index(workers=1)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:] == ["busy"])
