"""Who carries out a call that writes: a lock by the call's key, held while it is carried out, so that nobody does it twice.

Who calls: ``desk`` around a write. What may not come in: what is written. A call has a key from the bridge of its client. When an owner
dies or stops answering, the bridge sends the call again to another process; that one waits here for whoever carries it out, and asks
the ledger whether it was recorded (``ledgers/asked``). A process that is gone holds no lock, whoever still has its id.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mog.app.mcp.place import private_folder, runs
from mog.engine.errors import HeldByOther, UsageError
from mog.engine.store.lock import WriterLock, holder

KEPT_SECONDS = 3_600
PATIENCE = 2.5  # seconds for whoever carries it out to finish, as long as it runs
_KEY = re.compile(r"[0-9a-f]{32}")


class Claims:
    """The claims of one workspace, below ``.mog/run/calls``."""

    def __init__(self, run: Path) -> None:
        self._folder = run / "calls"
        self._tidied = 0.0

    @contextmanager
    def carrying(self, key: str) -> Iterator[bool]:
        """While a call is carried out here; whether somebody may have done so before, which the ledger knows.

        Raises:
            UsageError: it is no key. HeldByOther: a process that does not go on has the call, and may still record it.
        """
        if not _KEY.fullmatch(key):
            raise UsageError("a call's key has 32 hex digits", where="key", way_out="update the older of the two mogs")
        self._tidy()
        path = self._folder / key
        lock = WriterLock(path, "mog serve, a call")
        until = time.monotonic() + PATIENCE
        while not lock.held:
            try:
                lock.acquire()
            except HeldByOther as error:
                pid = holder(path).partition(" ")[0]
                if time.monotonic() > until or (pid.isdigit() and runs(int(pid)) is False):
                    raise _stuck(pid) from error
                time.sleep(0.02)
        try:
            yield not _first(path.with_suffix(".begun"))
        finally:
            lock.release()

    def _tidy(self) -> None:
        if time.monotonic() - self._tidied < KEPT_SECONDS and self._tidied:
            return
        self._tidied = time.monotonic()
        private_folder(self._folder, tighten=True)
        for path in self._folder.iterdir():
            with contextlib.suppress(OSError):
                if time.time() - path.lstat().st_mtime > KEPT_SECONDS:
                    path.unlink()


def _first(mark: Path) -> bool:
    """Whether nobody began this call before; asked with the lock in hand, so that no pause makes the answer old."""
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    try:
        os.close(os.open(mark, flags, 0o600))
    except FileExistsError:
        return False
    return True


def _stuck(pid: str) -> HeldByOther:
    what = f"process {pid or 'unknown'} has this call and does not go on; it may record it yet"
    return HeldByOther(what, way_out="look whether it was recorded, with recall or mesh_find, before you repeat it")
