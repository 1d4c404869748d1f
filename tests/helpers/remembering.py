"""A clone with something remembered in it, for tests of memory.

Who calls: tests/memory, tests/evals/test_staleness.py. What may not come in: assertions.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mog.engine.config import EngineConfig
from mog.engine.memory.notes import Notes
from mog.engine.workspace import Workspace

CART = "sym:shop/cart.py::total"
TAX = "sym:shop/tax.py::tax_of"
FILES = {
    "shop/cart.py": 'def total(lines):\n    """Sum."""\n    return sum(lines)\n\n\ndef count(lines):\n    return len(lines)\n',
    "shop/tax.py": "def tax_of(amount):\n    return amount // 5\n",
}


class Memory:
    """Notes of one worktree, and words to edit and commit."""

    def __init__(self, workspace: Workspace, notes: Notes) -> None:
        self.workspace, self.notes, self.root = workspace, notes, workspace.root
        self._stamp = 0

    def git(self, *words: str) -> str:
        """Output of one git command in the clone."""
        vector, quiet = ["git", *words], subprocess.DEVNULL
        done = subprocess.run(vector, cwd=self.root, check=True, stdin=quiet, capture_output=True, timeout=60)
        return done.stdout.decode().strip()

    def edit(self, path: str, text: str) -> None:
        """Write a file so that its times tell."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        self._stamp += 1_000_000_000
        stamp = target.stat().st_mtime_ns + self._stamp
        os.utime(target, ns=(stamp, stamp))

    def commit(self, message: str = "a change") -> str:
        """Commit everything; the full id."""
        self.git("add", "-A", ":!.mog")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


@contextmanager
def memory(root: Path, config: EngineConfig | None = None, *, index: bool = False) -> Iterator[Memory]:
    """The memory of a clone; ``index`` builds an index first."""
    with Workspace.open(root, config=config) as workspace:
        if index:
            workspace.index(workers=1)
        yield Memory(workspace, workspace.memory)
