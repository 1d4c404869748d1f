"""The part of the made-up workspace that belongs to beliefs: no ledger, so panes about beliefs show what would fill them.

Who calls: ``fake_workspace.py``. Tests about beliefs use the real engine (``reason_story.py``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class NoLedger:
    """A clone in which nothing was recorded yet."""

    root: Path

    @property
    def mog_dir(self) -> Path:
        return self.root / ".mog"

    @property
    def ledger_path(self) -> Path:
        return self.mog_dir / "ledger.db"

    @property
    def beliefs(self) -> Any:
        raise AssertionError("asked for beliefs where no ledger is")
