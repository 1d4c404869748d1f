"""The witness: what was last seen of each ledger, remembered outside of its folder. Called by the log.

What may not come in: judgement about which of two histories is right. Whoever can write the folder of a ledger can put
an older or another history there that is sound in itself; held against what was seen before, it is refused. One small
file a ledger, in the person's own state folder. It sees nothing that happened before it first looked.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

from mog.engine.errors import StoreDamaged
from mog.engine.ledgers import files, schema, small_files
from mog.engine.ledgers.checkpoints import Checkpoint

VARIABLE = "MOG_WITNESS_DIR"


def default_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Where witnesses keep their files: ``MOG_WITNESS_DIR``, else the person's own state folder."""
    chosen = (os.environ if environ is None else environ).get(VARIABLE, "")
    if chosen:
        return Path(chosen).absolute()
    import platformdirs

    return Path(platformdirs.user_state_dir("mog", appauthor=False)) / "witness"


class Witness:
    """Remembers the last checkpoint of every ledger it is shown."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()

    def last(self, ledger: str) -> Checkpoint | None:
        """What was last seen of a ledger. Raises StoreDamaged when the file is not what was written."""
        path = self._path(ledger)
        raw = small_files.read(path)
        if raw is None:
            return None
        text, _, total = raw.strip().rpartition(b"\n")
        try:
            if hashlib.sha256(text).hexdigest().encode("ascii") != total:
                raise ValueError("its sum differs")
            return Checkpoint(**json.loads(text))
        except (ValueError, TypeError) as error:
            way_out = "check the ledger with `mog ledger verify`, then remove this file"
            raise StoreDamaged(f"the witness's own file was changed ({error})", where=str(path), way_out=way_out) from error

    def check(self, now: Checkpoint, root_at: Callable[[int], bytes], before: Checkpoint | None = None) -> None:
        """Hold a ledger against what was seen of it.

        Args:
            now: what it is.
            root_at: gives the Merkle root that its first so many events had.
            before: what was seen, when it was read already; a state that is read later has all of it.

        Raises:
            StoreDamaged: it has fewer events than it had (rollback), or others than it had (fork).
        """
        before = before or self.last(now.ledger)
        if before is None or (before.size <= now.size and root_at(before.size).hex() == before.root):
            return
        if now.size < before.size:
            what = f"rolled back: the ledger has {now.size} events, {before.size} were seen before"
        else:
            what = f"forked: the first {before.size} events of the ledger are not those that were seen before"
        raise StoreDamaged(what, where=str(self._path(now.ledger)), way_out=_WAY_OUT)

    def keep(self, now: Checkpoint) -> None:
        """Remember what a ledger is. Raises StoreDamaged when the file cannot be written."""
        text = json.dumps(asdict(now), sort_keys=True).encode("utf-8")
        content = text + b"\n" + hashlib.sha256(text).hexdigest().encode("ascii") + b"\n"
        small_files.overwrite(self._path(now.ledger), content.rjust(small_files.SECTOR))

    def forget(self, ledger: str) -> None:
        """Forget a ledger, for somebody who put an older copy back on purpose. Raises StoreDamaged."""
        path = self._path(ledger)
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise small_files.unusable(path, "cannot be removed", error) from error

    def _path(self, ledger: str) -> Path:
        if not schema.is_id(ledger):
            raise StoreDamaged("the name of the ledger was changed", where=ascii(ledger), way_out=files.WAY_OUT)
        return self.folder / f"{ledger}.json"


_WAY_OUT = "look into it; if an older copy was put back on purpose, remove this file"
