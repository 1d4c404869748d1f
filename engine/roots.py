"""Where a workspace begins. The one place for that rule.

Who calls: ``workspace``, and surfaces that need the answer before they load it. What may not come in: imports of more than the
errors, anything that makes a folder.
"""

from __future__ import annotations

import os
from pathlib import Path

from mog.engine.errors import NoWorkspace

MARKS = (".mog", "mog.yaml", ".git")


def around(start: Path) -> Path | None:
    """Nearest folder at or above ``start`` that has one of ``MARKS``; None when there is none."""
    start = start.absolute()
    if ".." in start.parts:  # what is written before it is not above it
        start = start.resolve()
    return next((one for one in (start, *start.parents) if any(os.path.lexists(one / mark) for mark in MARKS)), None)


def find_root(start: Path) -> Path:
    """As ``around``. Raises NoWorkspace."""
    found = around(start)
    if found is None:
        what = "neither a repository nor a mog workspace here or above"
        raise NoWorkspace(what, where=str(start), way_out="run `mog init` in the folder to index")
    return found


def folder_mark(root: Path) -> str:
    """What tells this folder from a copy of it."""
    return str(root.stat().st_ino)
