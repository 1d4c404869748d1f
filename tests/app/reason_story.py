"""The story of ``mog demo`` as a real workspace: notes read, beliefs recorded, questions asked, code under a belief.

Who calls: tests of the panes about beliefs. Keys, trust and witness are those of the test run (``tests/conftest.py``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from mog.engine.reason import demo
from mog.engine.workspace import Workspace

NO_NAME = "Who feeds the lighthouse cat?"
NO_EDGE = "How high is the Harbour Crane?"
WRONG_TYPE = "Which ministry licensed the Label Printer?"
PRUNED = "Why do we buy no spare machine?"
ANSWERED = "What does the Refund Rule cover?"
MEASURED = "On Monday the carrier took nine seconds"


@contextlib.contextmanager
def apart(factory: pytest.TempPathFactory) -> Iterator[pytest.MonkeyPatch]:
    """The folders of ``tests/conftest.py`` for a fixture that is made before any test begins."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("KEYS", "WITNESS", "TRUST"):
            patch.setenv(f"MOG_{name}_DIR", str(factory.getbasetemp() / f"mog-{name.lower()}"))
        yield patch


def told(root: Path) -> Workspace:
    """A workspace in which the notes are read and the beliefs of the story recorded."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "mog.yaml").write_text(f"project: {demo.PROJECT}\n", encoding="utf-8")
    for path, text in (*demo.FILES.items(), (demo.CODE, demo.BEFORE)):
        file = root / path
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    Workspace.init(root)
    workspace = Workspace.open(root)
    beliefs = workspace.beliefs
    beliefs.ingest([root / "notes"])
    beliefs.assume(demo.WAIT)
    beliefs.decide(demo.PRINT, "A queue at the counter costs less than a second visit", rests_on=[demo.WAIT])
    beliefs.decide(demo.SPARE, "One label at a time is fast enough", rests_on=[demo.PRINT])
    beliefs.claim(demo.STAND, rests_on=[[demo.PRINT]])
    beliefs.assume(demo.LIMIT, about=[demo.PLACE])
    return workspace


def broken(workspace: Workspace) -> int:
    """Have a person judge that a measurement contradicts the assumption; the number of the event."""
    beliefs = workspace.beliefs
    effect = beliefs.reject(demo.WAIT, evidence=MEASURED, reason="measured at the counter, ten times in a row")
    return effect.events[-1]


def edit(root: Path) -> None:
    """Change the function that a belief is anchored to."""
    (root / demo.CODE).write_text(demo.AFTER, encoding="utf-8")


def revert(root: Path) -> None:
    """Write it as it was."""
    (root / demo.CODE).write_text(demo.BEFORE, encoding="utf-8")
