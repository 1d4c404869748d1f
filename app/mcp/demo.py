"""The graph that ``--demo`` serves: the parcel desk of ``mog demo``, made anew in a folder that goes away with the server.

Who calls: ``desk``, before it opens the workspace. What may not come in: the repository the server was started in.
"""

from __future__ import annotations

import os
from pathlib import Path

APART = {"MOG_TRUST_DIR": "trust", "MOG_KEYS_DIR": "keys", "MOG_WITNESS_DIR": "witness"}


def make(root: Path) -> None:
    """Write the files, read the notes, believe what the story believes, in an empty folder.

    Keys, trust and witness of this person stay out of it: for the rest of this process they are folders of the demonstration.
    """
    from mog.engine.reason import demo as story
    from mog.engine.workspace import Workspace

    os.environ.update({name: str(root.parent / below) for name, below in APART.items()})
    (root / "mog.yaml").write_text(f"project: {story.PROJECT}\n", encoding="utf-8")
    for path, text in {**story.FILES, story.CODE: story.BEFORE}.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("utf-8"))
    Workspace.init(root)
    with Workspace.open(root) as workspace:
        workspace.index(workers=1)
        beliefs = workspace.beliefs
        beliefs.ingest([root / "notes"])
        beliefs.assume(story.WAIT)
        beliefs.decide(story.PRINT, "A queue at the counter costs less than a second visit", rests_on=[story.WAIT])
        beliefs.decide(story.SPARE, "One label at a time is fast enough", rests_on=[story.PRINT])
        beliefs.assume(story.LIMIT, about=[story.PLACE])
